"""A position on white paper, as plain shapes in a square of 1000 x 1000: what a figure and a report draw alike."""

import math
from collections.abc import Iterator, Mapping

from geo_patrol.board import adjacent_sectors, prograde, radial_in, radial_out, retrograde, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.game import Game
from geo_patrol.notation import Satellite
from geo_patrol.scenes.layout import BoardGeometry, middle_angle, sector_angle
from geo_patrol.scenes.satellites import Anchor, all_satellites, full_fuel, satellite_anchors
from geo_patrol.scenes.shapes import (
    Circle,
    Color,
    Drawing,
    PlainShape,
    Point,
    Polygon,
    Polyline,
    Shape,
    Text,
    arrow,
    arrowhead,
    between,
)
from geo_patrol.sides import SIDES, Side

SIZE = 1000.0
_RADIUS = 490.0

# On white paper: blue and orange, which people with any color vision tell apart, in print and in gray as well.
PAPER, INK, SOFT = "#ffffff", "#1d2433", "#6b7689"
RINGS = ("#f6f8fb", "#eef2f8")
GRID, EARTH = "#c3ccda", "#9fc3e6"
SIDE_FILLS: dict[Side, Color] = {"alpha": "#2f6fd6", "bravo": "#f0a30a"}
SIDE_INKS: dict[Side, Color] = {"alpha": "#ffffff", "bravo": "#241a00"}
GOAL_FILLS: dict[Side, Color] = {"alpha": "#d5e4fb", "bravo": "#fdecc8"}
SIDE_LINES: dict[Side, Color] = {"alpha": "#1f4fa3", "bravo": "#b37400"}
INACTIVE, INACTIVE_INK = "#d5d9e0", "#7a8292"

_MIN_NUMBERED_RADIUS = 9.0
"""Radius below which a satellite's number could not be read in print."""


def position_drawing(game: Game) -> Drawing:
    """Return board, goals, numbers and satellites."""
    board = game.config.board
    shapes = [*board_shapes(board), *goal_shapes(game), *number_shapes(board), *satellite_shapes(game)]
    return Drawing(SIZE, SIZE, PAPER, list(shapes))


def caption(game: Game) -> str:
    """Return title, turn, phase and score in a line."""
    scores = game.scores
    when = f"end, turn {game.turn}" if game.is_over else f"turn {game.turn}, {game.phase}"
    return f"{game.config.title}: {when}, score {scores['alpha']} | {scores['bravo']}"


def geometry_of(board: BoardConfig) -> BoardGeometry:
    """Return where the sectors of a board are in the square."""
    return BoardGeometry(board, (SIZE / 2, SIZE / 2), _RADIUS)


def board_shapes(board: BoardConfig, fills: Mapping[int, Color] | None = None) -> Iterator[PlainShape]:
    """Draw the empty board; ``fills`` are colors of single sectors."""
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            yield Polygon(geometry.outline(sector), (fills or {}).get(sector, RINGS[ring % 2]), GRID)
    yield Circle(geometry.center, geometry.earth_radius, EARTH, SIDE_LINES["alpha"])
    yield Text(geometry.center, "Earth", geometry.earth_radius * 0.45, INK, "center")


def number_shapes(board: BoardConfig, fraction: float = 0.13) -> Iterator[Text]:
    """Draw the numbers of the sectors along their outer edges, where they fit; their size is a fraction of a ring's width."""
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        distance = geometry.outer_edge(ring) - geometry.ring_width * 0.7 * fraction
        size = min(geometry.ring_width * fraction, math.tau * distance / (1 << ring) * 0.3)
        if size >= 6:
            for azimuth in range(1 << ring):
                sector = int(sector_at(ring, azimuth))
                yield Text(geometry.point((distance, middle_angle(sector))), str(sector), size, SOFT, "center")


def goal_shapes(game: Game) -> Iterator[Polygon]:
    """Draw the goal sectors."""
    geometry = geometry_of(game.config.board)
    for side in SIDES:
        yield Polygon(geometry.outline(game.goals[side], inset=2), GOAL_FILLS[side], SIDE_LINES[side], 3)


def satellite_shapes(game: Game) -> Iterator[PlainShape]:
    """Draw the satellites: HVAs as squares, Patrols as discs, with an arc of the fuel they have left."""
    geometry = geometry_of(game.config.board)
    satellites = all_satellites(game)
    anchors = satellite_anchors(geometry, satellites)
    for satellite in satellites:
        yield from _satellite(geometry, game, satellite, anchors[satellite.id])


def _satellite(geometry: BoardGeometry, game: Game, satellite: Satellite, anchor: Anchor) -> Iterator[PlainShape]:
    side, number = satellite.id.side, satellite.id.number
    (x, y), radius = geometry.point(anchor.position), anchor.radius * 0.8
    fill = SIDE_FILLS[side] if satellite.is_active else INACTIVE
    edge = SIDE_LINES[side]
    if number == 0:
        half = radius * 0.86
        corners = (x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)
        yield Polygon(corners, fill, edge, 1.5)
    else:
        yield Circle((x, y), radius, fill, edge, 1.5)
    if satellite.is_active:
        fuel = min(satellite.fuel / full_fuel(game, side, number), 1.0)
        steps = max(round(24 * fuel), 1)
        angles = [math.tau * fuel * step / steps for step in range(steps + 1)]  # clockwise from the top
        arc = tuple((x + anchor.radius * math.sin(angle), y - anchor.radius * math.cos(angle)) for angle in angles)
        yield Polyline(arc, edge, anchor.radius * 0.14)
    if radius >= _MIN_NUMBERED_RADIUS:
        ink = SIDE_INKS[side] if satellite.is_active else INACTIVE_INK
        yield Text((x, y), "H" if number == 0 else str(number), radius * 1.1, ink, "center", bold=True)


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
