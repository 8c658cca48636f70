"""The page of a report: what has been collected, laid out by a template that escapes every text."""

import base64
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from geo_patrol.config.schema import BoardConfig
from geo_patrol.errors import RecordingError, optional_import
from geo_patrol.evaluation.statistics import wilson_interval
from geo_patrol.replays.reader import ReplayReader
from geo_patrol.report import charts, maps
from geo_patrol.report.collect import MAX_GAMES, MAX_LISTED, Collected, Collector
from geo_patrol.sides import SIDES
from geo_patrol.versions import __version__

_CAUSES = {"shoot": "shot", "collide": "in a collision", "fuel": "out of fuel"}
_MAX_BOARDS = 4
"""Shapes of boards with heat maps of their own."""


def write_report(readers: Iterable[ReplayReader], title: str, positions: int = 40) -> str:
    """Sum up the games of replay files as an HTML page.

    Args:
        readers: of the files.
        title: of the page.
        positions: of how many games positions are shown.

    Raises:
        RecordingError: there is no game that can be counted.
        MissingPackageError: the extra ``plots`` is not installed.
    """
    collector = Collector(positions)
    for reader in readers:
        for replay in reader:
            if collector.is_full:
                collector.collected.cut_off = True
                break
            collector.add(replay, str(reader.path))
        for fault in reader.faults:
            collector.collected.complain(f"{reader.path}: {fault}")
    collected = collector.collected
    if collected.games == 0:
        raise RecordingError(f"no game can be counted: {collected.faults[0]}")
    return _render(collected, title)


def _render(collected: Collected, title: str) -> str:
    with optional_import("plots"):
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - an extra
        from markupsafe import Markup  # noqa: PLC0415 - comes with it
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["image"] = _image
    environment.filters["drawing"] = Markup  # our own drawings, whose texts ElementTree has escaped
    environment.filters["share"] = lambda part: f"{part:.1%}"
    template = environment.from_string(files("geo_patrol.report").joinpath("page.html.j2").read_text("utf-8"))
    return template.render(
        title=title,
        version=__version__,
        collected=collected,
        standings=_standings(collected),
        engagements=_engagements(collected),
        causes=_causes(collected),
        sides=SIDES,
        charts=_charts(collected),
        boards=_boards(collected),
        symbols=_symbols(collected),
        position=maps.position,
        max_games=MAX_GAMES,
        max_listed=MAX_LISTED,
    )


def _image(svg: str) -> str:
    """Return an SVG picture as the address of an image: what is in it cannot reach the page."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _charts(collected: Collected) -> dict[str, str]:
    drawn = {"curves": charts.score_curves(collected)}
    if collected.standings:
        drawn["wins"] = charts.win_rates(collected)
        drawn["lengths"] = charts.lengths(collected.turns)
    if collected.losses:
        drawn["losses"] = charts.losses(collected)
    return drawn


def _standings(collected: Collected) -> list[dict[str, Any]]:
    """Return the rows of the table of agents."""
    rows = []
    for (name, where), standing in sorted(collected.standings.items(), key=lambda item: item[0]):
        low, high = wilson_interval(standing.wins, standing.games)
        rows.append(
            {
                "name": name,
                "where": where,
                "standing": standing,
                "rate": standing.wins / standing.games,
                "interval": f"{100 * low:.1f} to {high:.1%}",
                "margin": f"{standing.margin / standing.games:+.1f}",
            }
        )
    return rows


def _engagements(collected: Collected) -> list[dict[str, Any]]:
    return [
        {"side": side, "action": action, "tries": int(tries), "successes": int(successes)}
        for (side, action), (tries, successes) in sorted(collected.engagements.items())
    ]


def _causes(collected: Collected) -> list[tuple[str, int, int]]:
    return [
        (words, collected.causes["alpha", cause], collected.causes["bravo", cause]) for cause, words in _CAUSES.items()
    ]


def _boards(collected: Collected) -> list[dict[str, Any]]:
    """Draw the heat maps of the boards with the most games."""
    most = sorted(collected.heat.items(), key=lambda item: -item[1].games)[:_MAX_BOARDS]
    boards = []
    for (inner, outer, goal), heat in most:
        board = BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=goal)
        drawn = [
            (f"{side}'s Patrols", maps.heat_map(board, heat.presence[side], side, f"where {side}'s Patrols were"))
            for side in SIDES
        ]
        drawn.append(("satellites lost", maps.heat_map(board, heat.losses, "losses", "where satellites were lost")))
        boards.append({"name": f"rings {inner} to {outer}, goal ring {goal}", "games": heat.games, "maps": drawn})
    return boards


def _symbols(collected: Collected) -> list[str]:
    """Return the empty boards that the positions are drawn on."""
    shown = [snapshot.game.config.board for listed in collected.listed for snapshot in listed.snapshots]
    return [maps.board_symbol(board) for board in {maps.board_id(board): board for board in shown}.values()]
