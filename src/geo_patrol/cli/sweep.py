"""``geo-patrol sweep``: how win rates depend on the values of a scenario."""

from typing import Annotated, TypeAlias

import typer

from geo_patrol.cli import options, output
from geo_patrol.cli.study import StudyPlaying

_Vary: TypeAlias = Annotated[
    list[str],
    typer.Option("--vary", "-v", metavar="KEY=VALUES", help="Such as bravo.patrols.ammo=0..4; may be repeated."),
]
_Parquet: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--parquet", parser=options.named_file, metavar="FILE", help="Write the same as Parquet; needs the extra study."
    ),
]


def sweep(
    *,
    vary: _Vary,
    agents: Annotated[
        tuple[str, str],
        typer.Option("--agents", "-a", metavar="AGENT AGENT", help="Two agents; may be the same one."),
    ] = ("scripted", "scripted"),
    scenario: options.ConfigOptions,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Games per cell, even: half with sides swapped.")
    ] = 200,
    seed: options.Seed = None,
    csv: options.CellsCsv = None,
    parquet: _Parquet = None,
    playing: StudyPlaying,
) -> None:
    """Play a match for every combination of varied values: the short form of a study.

    VALUES: 60,80,100 or 0..4 (all integers) or 0..1..0.25 (with a step), or relative: +10%,+20%.
    """
    from geo_patrol.evaluation.campaign import read_seed
    from geo_patrol.studies.study import plan_sweep

    with output.bad_input():
        plan = plan_sweep(agents, vary, scenario.config, scenario.overrides or [], games, read_seed(seed, playing.out))
    if parquet is not None:
        output.check_parquet()
    playing.play(plan, csv=csv, parquet=parquet)
