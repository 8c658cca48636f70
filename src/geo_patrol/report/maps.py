"""Boards of a report, as SVG: heat maps by sector, and positions."""

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
"""Up to this ring the shares are written into the sectors."""


def heat_map(board: BoardConfig, counts: Counter[int], kind: str, title: str) -> str:
    """Draw how a count is spread over the sectors, alpha's goal sector on the right.

    Args:
        board: of the games.
        counts: by sector as seen from alpha's goal.
        kind: "alpha", "bravo" or "losses"; decides the colour.
        title: what screen readers say.
    """
    total = counts.total()
    most = max(counts.values(), default=1)
    strength = {sector: (count / most) ** 0.6 for sector, count in counts.items()}  # small shares must be seen as well
    fills = {sector: _mix(_COLOURS[kind], share) for sector, share in strength.items()}
    shapes: list[Shape] = [*board_shapes(board, fills), *_goals(board)]
    if board.outer_ring <= _LABELLED_RING:
        shapes += _shares(board, counts, total, strength)
    return _picture(shapes, title)


def _mix(colour: str, part: float) -> str:
    """Return a colour thinned with white."""
    channels = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (channel - 255) * (0.06 + 0.94 * part)):02x}" for channel in channels)


def _goals(board: BoardConfig) -> Iterable[Shape]:
    geometry = geometry_of(board)
    for side, azimuth in (("alpha", 0), ("bravo", 1 << (board.goal_ring - 1))):
        outline = geometry.outline(int(sector_at(board.goal_ring, azimuth)), inset=3)
        yield Polygon(outline, None, PAPER, 11)  # tells the frame from a sector of its own colour
        yield Polygon(outline, None, _COLOURS[side], 5)


def _shares(board: BoardConfig, counts: Counter[int], total: int, strength: dict[int, float]) -> Iterable[Shape]:
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        distance = (geometry.inner_edge(ring) + geometry.outer_edge(ring)) / 2
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            if counts[sector] * 1000 >= total > 0:
                ink = PAPER if strength[sector] > 0.55 else INK
                share = f"{counts[sector] / total:.1%}"
                position = geometry.point((distance, middle_angle(sector)))
                yield Text(position, share, geometry.ring_width * 0.2, ink, "center")


def position(game: Game) -> str:
    """Draw a position."""
    board = game.config.board
    return _picture(
        [*_background(board), *goal_shapes(game), *satellite_shapes(game)], caption(game), uses=board_id(board)
    )


def _background(board: BoardConfig) -> Iterable[Shape]:
    return () if board.outer_ring <= _LABELLED_RING else number_shapes(board)


def board_id(board: BoardConfig) -> str:
    """Return the name of a board's symbol."""
    return f"board-{board.inner_ring}-{board.outer_ring}"


def board_symbol(board: BoardConfig) -> str:
    """Return an empty board as a symbol that positions on it refer to, once in a page."""
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
