"""The page of a report, rendered by a template that escapes every text."""

import base64
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from geo_patrol.config.schema import BoardConfig
from geo_patrol.errors import RecordingError, optional_import
from geo_patrol.replays.reader import ReplayReader
from geo_patrol.report import charts, maps
from geo_patrol.report.collect import MAX_GAMES, MAX_LISTED, Collected
from geo_patrol.sides import SIDES
from geo_patrol.versions import __version__

_CAUSES = {"shoot": "shot", "collide": "in a collision", "fuel": "out of fuel"}
_MAX_BOARDS = 4
"""Board shapes with heat maps."""


def write_report(readers: Iterable[ReplayReader], title: str, positions: int = 40) -> str:
    """Return an HTML page that summarises the games of replay files.

    Args:
        readers: of the files.
        title: of the page.
        positions: number of games of which positions are shown.

    Raises:
        RecordingError: no game follows the rules.
        MissingPackageError: the extra ``plots`` is not installed.
    """
    collected = Collected(positions)
    for reader in readers:
        for replay in reader:
            if collected.is_full:
                collected.cut_off = True
                break
            collected.add(replay, str(reader.path))
        for fault in reader.faults:
            collected.add_fault(f"{reader.path}: {fault}")
    if collected.games == 0:
        raise RecordingError(f"no game can be counted: {collected.faults[0]}")
    return _render(collected, title)


def _render(collected: Collected, title: str) -> str:
    with optional_import("plots"):
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - an extra
        from markupsafe import Markup  # noqa: PLC0415 - comes with it
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["image"] = _image
    environment.filters["svg"] = Markup  # our own drawings, whose texts ElementTree has escaped
    environment.filters["percent"] = "{:.1%}".format
    template = environment.from_string(files("geo_patrol.report").joinpath("page.html.j2").read_text("utf-8"))
    return template.render(
        title=title,
        version=__version__,
        collected=collected,
        agent_results=_agent_rows(collected),
        causes=_CAUSES,
        sides=SIDES,
        charts=_charts(collected),
        boards=_boards(collected),
        symbols=_symbols(collected),
        position=maps.position,
        max_games=MAX_GAMES,
        max_listed=MAX_LISTED,
    )


def _image(svg: str) -> str:
    """Return an SVG picture as a data URL: scripts in it cannot reach the page."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _charts(collected: Collected) -> dict[str, str]:
    images = {"curves": charts.score_curves(collected)}
    if collected.agent_results:
        images["wins"] = charts.win_rates(collected)
        images["lengths"] = charts.lengths(collected.turns)
    if collected.losses:
        images["losses"] = charts.losses(collected)
    return images


def _agent_rows(collected: Collected) -> list[dict[str, Any]]:
    """Return the rows of the table of agents."""
    rows = []
    for (name, where), results in sorted(collected.agent_results.items(), key=lambda item: item[0]):
        low, high = results.interval
        rows.append(
            {
                "name": name,
                "where": where,
                "results": results,
                "rate": results.wins / results.games,
                "interval": f"{100 * low:.1f} to {high:.1%}",
                "margin": f"{results.margin / results.games:+.1f}",
            }
        )
    return rows


def _boards(collected: Collected) -> list[dict[str, Any]]:
    """Draw the heat maps of the boards with the most games."""
    boards_by_games = sorted(collected.heat.items(), key=lambda item: -item[1].games)[:_MAX_BOARDS]
    boards = []
    for (inner, outer, goal), heat in boards_by_games:
        board = BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=goal)
        heat_maps = [
            (f"{side}'s Patrols", maps.heat_map(board, heat.presence[side], side, f"where {side}'s Patrols were"))
            for side in SIDES
        ]
        heat_maps.append(("satellites lost", maps.heat_map(board, heat.losses, "losses", "where satellites were lost")))
        boards.append({"name": f"rings {inner} to {outer}, goal ring {goal}", "games": heat.games, "maps": heat_maps})
    return boards


def _symbols(collected: Collected) -> list[str]:
    """Return the SVG symbols of the boards under the positions."""
    shown = [snapshot.game.config.board for listed in collected.listed for snapshot in listed.snapshots]
    return [maps.board_symbol(board) for board in {maps.board_id(board): board for board in shown}.values()]
