"""Boards of a report as SVG: heat maps by sector, and positions."""

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from geo_patrol.board import sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.game import Game
from geo_patrol.rendering.svg_writer import elements
from geo_patrol.scenes.geometry import middle_angle
from geo_patrol.scenes.paper import (
    INK,
    PAPER,
    SIZE,
    board_shapes,
    caption,
    geometry_of,
    goal_shapes,
    number_shapes,
    satellite_shapes,
)
from geo_patrol.scenes.shapes import Polygon, Shape, Text

_LOSSES = "#8e2f6e"
_COLOURS = {"alpha": "#1f4fa3", "bravo": "#b86e00", "losses": _LOSSES}
_LABELLED_RING = 5
"""Boards up to this outer ring have percentages in their sectors."""


def heat_map(board: BoardConfig, counts: Counter[int], kind: str, title: str) -> str:
    """Return a heat map of counts over the sectors, with alpha's goal sector on the right.

    Args:
        board: of the games.
        counts: by sector relative to alpha's goal.
        kind: "alpha", "bravo" or "losses", which sets the colour.
        title: for screen readers.
    """
    total = counts.total()
    highest = max(counts.values(), default=1)
    strength = {
        sector: (count / highest) ** 0.6 for sector, count in counts.items()
    }  # small counts must be visible, too
    fills = {sector: _mix_with_white(_COLOURS[kind], weight) for sector, weight in strength.items()}
    shapes: list[Shape] = [*board_shapes(board, fills), *_goals(board)]
    if board.outer_ring <= _LABELLED_RING:
        shapes += _percentages(board, counts, total, strength)
    return _picture(shapes, title)


def _mix_with_white(colour: str, weight: float) -> str:
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (channel - 255) * (0.06 + 0.94 * weight)):02x}" for channel in channels)


def _goals(board: BoardConfig) -> Iterable[Shape]:
    geometry = geometry_of(board)
    for side, azimuth in (("alpha", 0), ("bravo", 1 << (board.goal_ring - 1))):
        outline = geometry.outline(int(sector_at(board.goal_ring, azimuth)), inset=3)
        yield Polygon(outline, None, PAPER, 11)  # separates the frame from a sector of its own colour
        yield Polygon(outline, None, _COLOURS[side], 5)


def _percentages(board: BoardConfig, counts: Counter[int], total: int, strength: dict[int, float]) -> Iterable[Shape]:
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        distance = (geometry.inner_edge(ring) + geometry.outer_edge(ring)) / 2
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            if counts[sector] * 1000 >= total > 0:
                ink = PAPER if strength[sector] > 0.55 else INK
                text = f"{counts[sector] / total:.1%}"
                position = geometry.point((distance, middle_angle(sector)))
                yield Text(position, text, geometry.ring_width * 0.2, ink, "center")


def position(game: Game) -> str:
    """Return a picture of a position."""
    board = game.config.board
    numbers = number_shapes(board) if board.outer_ring > _LABELLED_RING else ()
    return _picture([*numbers, *goal_shapes(game), *satellite_shapes(game)], caption(game), uses=board_id(board))


def board_id(board: BoardConfig) -> str:
    """Return the id of a board's symbol."""
    return f"board-{board.inner_ring}-{board.outer_ring}"


def board_symbol(board: BoardConfig) -> str:
    """Return an empty board as an SVG symbol, once in a page, that positions on it refer to."""
    root = ET.Element("svg", {"width": "0", "height": "0", "aria-hidden": "true", "class": "symbols"})
    symbol = ET.SubElement(root, "symbol", {"id": board_id(board), "viewBox": f"0 0 {SIZE:g} {SIZE:g}"})
    symbol.extend(elements([*board_shapes(board), *number_shapes(board)]))
    return ET.tostring(root, encoding="unicode")


def _picture(shapes: Iterable[Shape], title: str, uses: str | None = None) -> str:
    root = ET.Element("svg", {"viewBox": f"0 0 {SIZE:g} {SIZE:g}", "role": "img"})
    ET.SubElement(root, "title").text = title
    if uses is not None:
        ET.SubElement(root, "use", {"href": f"#{uses}", "width": f"{SIZE:g}", "height": f"{SIZE:g}"})
    root.extend(elements(shapes))
    return ET.tostring(root, encoding="unicode")
