"""``geo-patrol print``: sheets to play on paper."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from geo_patrol.cli.options import ConfigOptions, print_changes, user_path
from geo_patrol.cli.output import InputError, bad_input, output_file

if TYPE_CHECKING:
    from geo_patrol.drawing.shapes import Drawing
    from geo_patrol.drawing.sheet import Paper


def print_sheets(
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=user_path,
            metavar="FILE.pdf|DIR",
            help="A PDF, or a folder for an SVG of each sheet.",
        ),
    ],
    scenario: ConfigOptions,
    mission: Annotated[
        str | None,
        typer.Option("--mission", "-m", metavar="NAME|PATH", help="A mission of the flight games, instead."),
    ] = None,
    paper: Annotated[Literal["a4", "letter"], typer.Option("--paper", help="Size of the paper.")] = "a4",
    sheets: Annotated[
        str | None, typer.Option("--sheets", metavar="A,B", help="Only some sheets, by the beginnings of their names.")
    ] = None,
) -> None:
    """Print what a game needs on paper: board, tokens, rules, order and score sheets, quick reference.

    For a mission of the flight games: handout, map, score sheet and, on the last page, the best flight.
    """
    from geo_patrol.drawing.sheet import PAPERS

    if output.suffix and output.suffix.lower() != ".pdf":
        raise InputError(f"{output} must be a file that ends in .pdf, or a folder")
    title, drawings = _draw(scenario, mission)
    chosen = _choose(drawings, sheets)
    if output.suffix:
        _write_pdf(output, title, chosen, PAPERS[paper])
    else:
        _write_svgs(output, title, chosen, PAPERS[paper])
    print(f"written: {output}: {', '.join(chosen)}")


def _draw(scenario: ConfigOptions, mission: str | None) -> "tuple[str, dict[str, Drawing]]":
    """Return the title and the sheets by name."""
    with bad_input():
        if mission is None:
            from geo_patrol import Game
            from geo_patrol.scenes.sheets import game_sheets

            game = Game(scenario.read(), seed=0)
            if game.hides_enemies:
                raise InputError(f"{game.config.title}: enemies are hidden in it, which no board on a table can do")
            return game.config.title, game_sheets(game)
        from geo_patrol.flight import load_mission, solve
        from geo_patrol.flight.mission import list_changes
        from geo_patrol.flight.pictures.sheets import mission_sheets

        loaded = load_mission(mission, scenario.overrides)
        print_changes(list_changes(load_mission(mission), loaded, scenario.overrides))
        return loaded.title, mission_sheets(loaded, solve(loaded))


def _choose(drawings: "dict[str, Drawing]", sheets: str | None) -> "dict[str, Drawing]":
    if sheets is None:
        return drawings
    beginnings = tuple(name.strip() for name in sheets.split(","))
    for beginning in beginnings:
        if not any(beginning and name.startswith(beginning) for name in drawings):
            raise InputError(f"--sheets {beginning!r}: there are {', '.join(drawings)}")
    return {name: drawing for name, drawing in drawings.items() if name.startswith(beginnings)}


def _write_pdf(output: Path, title: str, drawings: "dict[str, Drawing]", paper: "Paper") -> None:
    from geo_patrol.drawing.figures import pdf_bytes

    with output_file(str(output)) as stream:
        stream.buffer.write(pdf_bytes(list(drawings.values()), title, paper))


def _write_svgs(folder: Path, title: str, drawings: "dict[str, Drawing]", paper: "Paper") -> None:
    from geo_patrol.drawing.sheet import fit
    from geo_patrol.drawing.svg import svg_text

    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings.items():
        with output_file(str(folder / f"{name}.svg")) as stream:
            stream.write(svg_text(drawing, title=f"{title}: {name}", millimeters=fit(drawing, paper)))
