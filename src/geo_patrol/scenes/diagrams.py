"""Diagrams that explain the board on paper: what is next to a sector, where moves lead, how far a drift takes everything."""

from collections.abc import Iterator

from geo_patrol.board import adjacent_sectors, prograde, radial_in, radial_out, retrograde, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.scenes.geometry import middle_angle, sector_angle
from geo_patrol.scenes.paper import (
    GOAL_FILLS,
    INK,
    PAPER,
    SIDE_FILLS,
    SIDE_LINES,
    SIZE,
    board_shapes,
    geometry_of,
    number_shapes,
)
from geo_patrol.scenes.shapes import Circle, Drawing, Point, Polyline, Shape, arrow, arrowhead, between

_NUMBERS = 0.2
"""Size of the sectors' numbers, as a fraction of a ring's width."""
_DRIFT_STEPS = 12
"""Points of the curve that a drift follows, but for the first."""


def adjacency_diagram(board: BoardConfig, sector: int) -> Drawing:
    """Return a board with a sector and all sectors next to it filled, and arrows where the four moves lead."""
    fills = dict.fromkeys(adjacent_sectors(sector, board.outer_ring), GOAL_FILLS["bravo"])
    drawing = _board(board, {**fills, sector: GOAL_FILLS["alpha"]})
    geometry = geometry_of(board)
    start = geometry.sector_center(sector)
    for target in moves_from(board, sector).values():
        end = geometry.sector_center(target)
        drawing.add(*arrow(between(start, end, 0.18), between(start, end, 0.82), INK, 4, 20))
    drawing.add(_dot(start))
    return drawing


def moves_from(board: BoardConfig, sector: int) -> dict[str, int]:
    """Return where the moves that stay on a board lead from a sector, by the name of the move."""
    moves = {
        "prograde": int(prograde(sector)),
        "retrograde": int(retrograde(sector)),
        "radial_in": int(radial_in(sector)),
        "radial_out": int(radial_out(sector)),
    }
    return {name: target for name, target in moves.items() if board.inner_ring <= ring_of(target) <= board.outer_ring}


def drift_diagram(board: BoardConfig, azimuth: int = 0) -> Drawing:
    """Return a board with an arrow on each ring, from the sector at an azimuth to where the drift takes it."""
    drawing = _board(board, {})
    for ring in range(board.inner_ring, board.outer_ring + 1):
        drawing.add(*_drift_arrow(board, int(sector_at(ring, azimuth))))
    return drawing


def _board(board: BoardConfig, fills: dict[int, str]) -> Drawing:
    return Drawing(SIZE, SIZE, PAPER, [*board_shapes(board, fills), *number_shapes(board, _NUMBERS)])


def _dot(center: Point) -> Circle:
    return Circle(center, 14, SIDE_FILLS["alpha"], SIDE_LINES["alpha"], 2)


def _drift_arrow(board: BoardConfig, sector: int) -> Iterator[Shape]:
    """Draw a curved arrow along a ring, from the middle of a sector to the middle of the next one."""
    geometry = geometry_of(board)
    ring = int(ring_of(sector))
    distance = (geometry.inner_edge(ring) + geometry.outer_edge(ring)) / 2
    points = []
    for step in range(_DRIFT_STEPS + 1):
        angle = middle_angle(sector) + sector_angle(ring) * step / _DRIFT_STEPS
        points.append(geometry.point((distance, angle)))
    yield Polyline(tuple(points), INK, 4)
    yield arrowhead(points[-2], points[-1], INK, 20)
    yield _dot(points[0])
