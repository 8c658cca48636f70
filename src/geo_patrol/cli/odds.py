"""``geo-patrol odds``: the exact odds of an engagement."""

import json as json_format
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from geo_patrol.base.errors import OrderError
from geo_patrol.base.sides import SIDES
from geo_patrol.base.versions import versions
from geo_patrol.cli import options, output

if TYPE_CHECKING:
    from geo_patrol.game.game import Game, OutcomeDistribution
    from geo_patrol.game.notation import Orders

_MAX_SAVED = 1_000_000
_SAVED = ".json"
_ROWS = 10

_Turn: TypeAlias = Annotated[
    int | None, typer.Option("--turn", "-t", metavar="N", min=1, help="Of a replay: the turn, from 1.")
]
_Number: TypeAlias = Annotated[int, typer.Option("--game", "-g", metavar="N", min=0, help="Of a replay: which game.")]
_Alpha: TypeAlias = Annotated[
    str | None,
    typer.Option("--alpha", metavar="ORDERS", help='Orders: "P1 shoot HVA; P2 guard"; of a replay, its own.'),
]
_Bravo: TypeAlias = Annotated[str | None, typer.Option("--bravo", metavar="ORDERS", help="Orders of bravo.")]


def odds(
    file: Annotated[
        Path,
        typer.Argument(
            parser=options.user_path, metavar="FILE", help="A replay, or a saved game: the JSON of Game.save."
        ),
    ],
    turn: _Turn = None,
    game: _Number = 0,
    alpha: _Alpha = None,
    bravo: _Bravo = None,
    json: options.Json = None,
) -> None:
    """Print how likely each result of an engagement is, exactly.

    The position is the engagement phase of a turn of a replay, or a saved game. Orders replace those of the replay.
    """
    output.check_output(json)
    ordered: tuple[Orders, Orders]
    if file.suffix == _SAVED:
        position, ordered = _read_saved(file, turn), (None, None)
    else:
        position, ordered = _read_replay(file, game, turn)
    orders = tuple(
        own if replacing is None else replacing for replacing, own in zip((alpha, bravo), ordered, strict=True)
    )
    try:
        distribution = position.outcome_distribution(*orders)
    except OrderError as error:
        raise output.InputError(str(error)) from None
    results = _summarize(position, distribution)
    data = {"format": "geo_patrol odds", "version": 1, "versions": versions(), "turn": position.turn}
    data |= {"orders": {side: str(o) for side, o in zip(SIDES, orders, strict=True)}} | results
    output.write_results(lambda: data, lambda: _print_odds(position, orders, results), json=json)


def _read_saved(file: Path, turn: int | None) -> "Game":
    """Return a saved game."""
    from geo_patrol.base.files import read_limited
    from geo_patrol.game.game import Game

    if turn is not None:
        raise output.InputError(f"--turn {turn}: a saved game is a single position")
    data = read_limited(file, _MAX_SAVED)
    if len(data) > _MAX_SAVED:
        raise output.InputError(f"{file}: larger than {_MAX_SAVED:,} bytes: not a saved game")
    try:
        saved = json_format.loads(data)
    except (ValueError, RecursionError) as error:
        raise output.InputError(f"{file}: not JSON ({error})") from None
    if not isinstance(saved, dict):
        raise output.InputError(f"{file}: not a saved game, which is the JSON of Game.save")
    return Game.restore(saved)


def _read_replay(file: Path, number: int, turn: int | None) -> "tuple[Game, tuple[Orders, Orders]]":
    """Return the engagement phase of a turn, and its orders."""
    from geo_patrol.replays import read_replay
    from geo_patrol.replays.files import ReplayReader, replay_timeline

    if turn is None:
        raise output.InputError(f"{file}: --turn N must say which turn's engagement is meant")
    with output.bad_input():
        timeline, _ = replay_timeline(read_replay(ReplayReader(file), number))
    for phase in timeline.phases:
        if phase.turn == turn and phase.name == "engagement":
            return phase.before, (list(phase.orders[0]), list(phase.orders[1]))
    raise output.InputError(
        f"--turn {turn}: game {number} has no engagement phase in that turn; it has {timeline[-1].turn}"
    )


def _summarize(position: "Game", distribution: "OutcomeDistribution") -> dict[str, Any]:
    """Return the probability that each satellite is destroyed, and that of each set of destroyed satellites."""
    before = position.as_games().destroyed[0]
    flags = (distribution.games.destroyed != 0) & (before == 0)
    names = [[str(satellite.id) for satellite in position.satellites(side)] for side in SIDES]
    single = {
        name: float(distribution.probabilities[flags[:, side, number]].sum())
        for side in range(len(SIDES))
        for number, name in enumerate(names[side])
    }
    together: dict[tuple[str, ...], float] = {}
    for flag, probability in zip(flags, distribution.probabilities.tolist(), strict=True):
        lost = tuple(names[side][number] for side, number in zip(*flag.nonzero(), strict=True))
        together[lost] = together.get(lost, 0.0) + probability
    ordered = sorted(together.items(), key=lambda item: -item[1])
    return {
        "positions": len(distribution.probabilities),
        "destroyed": {name: probability for name, probability in single.items() if probability > 0},
        "results": [{"destroyed": list(lost), "probability": probability} for lost, probability in ordered],
    }


def _print_odds(position: "Game", orders: "tuple[Orders, ...]", results: dict[str, Any]) -> None:
    """Print two tables: of satellites, and of the most likely results."""
    from geo_patrol.game.notation import read_orders

    texts = ["; ".join(map(str, read_orders(own))) or "no orders" for own in orders]
    console = output.print_heading(
        f"{position.config.title}, turn {position.turn}", f"alpha: {texts[0]}\nbravo: {texts[1]}"
    )
    table = output.plain_table("satellite", numbers=("destroyed",))
    for name, probability in results["destroyed"].items():
        table.add_row(name, f"{probability:.2%}")
    output.print_table(console, table)
    together = output.plain_table("destroyed together", numbers=("probability",))
    for result in islice(results["results"], _ROWS):
        together.add_row(", ".join(result["destroyed"]) or "nobody", f"{result['probability']:.2%}")
    output.print_table(console, together)
    rest = len(results["results"]) - _ROWS
    if rest > 0:
        console.print(f"and {rest:,} less likely results")
