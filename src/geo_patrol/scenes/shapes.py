"""A position as plain shapes for print: what a figure and a page draw alike.

Places are in a square of 1000 x 1000, the origin in its top left corner.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from geo_patrol.board import sector_at
from geo_patrol.config.ranges import largest
from geo_patrol.config.schema import BoardConfig, SideConfig
from geo_patrol.game import Game, Satellite
from geo_patrol.scenes.anchors import Slot, all_satellites, satellite_slots
from geo_patrol.scenes.geometry import BoardGeometry, Point, middle_angle
from geo_patrol.sides import SIDES, Side

SIZE = 1000.0
_RADIUS = 490.0

# On white paper: blue and orange, which people with any colour vision tell apart, in print and in grey as well.
PAPER, INK, SOFT = "#ffffff", "#1d2433", "#6b7689"
RINGS = ("#f6f8fb", "#eef2f8")
GRID, EARTH = "#c3ccda", "#9fc3e6"
SIDE_FILLS: dict[Side, str] = {"alpha": "#2f6fd6", "bravo": "#f0a30a"}
SIDE_INKS: dict[Side, str] = {"alpha": "#ffffff", "bravo": "#241a00"}
GOAL_FILLS: dict[Side, str] = {"alpha": "#d5e4fb", "bravo": "#fdecc8"}
SIDE_LINES: dict[Side, str] = {"alpha": "#1f4fa3", "bravo": "#b37400"}
INACTIVE, INACTIVE_INK = "#d5d9e0", "#7a8292"

_SMALLEST_NUMBER = 9.0
"""Radius below which a satellite's number could not be read in print."""


@dataclass(frozen=True)
class Polygon:
    """A closed outline."""

    points: tuple[Point, ...]
    fill: str
    edge: str
    width: float = 1.0


@dataclass(frozen=True)
class Line:
    """An open line."""

    points: tuple[Point, ...]
    colour: str
    width: float


@dataclass(frozen=True)
class Circle:
    """A disc with an edge."""

    centre: Point
    radius: float
    fill: str
    edge: str
    width: float = 1.0


@dataclass(frozen=True)
class Label:
    """A text around a point."""

    place: Point
    text: str
    size: float
    colour: str
    bold: bool = False


Shape: TypeAlias = Polygon | Line | Circle | Label


def geometry_of(board: BoardConfig) -> BoardGeometry:
    """Return where the sectors of a board are in the square."""
    return BoardGeometry(board, (SIZE / 2, SIZE / 2), _RADIUS)


def board_shapes(board: BoardConfig, fills: Mapping[int, str] | None = None) -> Iterator[Shape]:
    """Draw the empty board.

    Args:
        board: its rings.
        fills: colours of single sectors.
    """
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            fill = (fills or {}).get(sector, RINGS[ring % 2])
            yield Polygon(tuple(geometry.wedge(sector)), fill, GRID)
    yield Circle(geometry.centre, geometry.earth_radius, EARTH, SIDE_LINES["alpha"])
    yield Label(geometry.centre, "Earth", geometry.earth_radius * 0.45, INK)


def number_shapes(board: BoardConfig) -> Iterator[Shape]:
    """Draw the numbers of the sectors, along their outer edges, where there is room."""
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        distance = geometry.outer_edge(ring) - geometry.band * 0.09
        size = min(geometry.band * 0.13, math.tau * distance / (1 << ring) * 0.3)
        if size >= 6:
            for azimuth in range(1 << ring):
                sector = int(sector_at(ring, azimuth))
                yield Label(geometry.point((distance, middle_angle(sector))), str(sector), size, SOFT)


def position_shapes(game: Game) -> Iterator[Shape]:
    """Draw goal sectors and satellites: HVAs as squares, Patrols as discs, with an arc of the fuel they have left."""
    geometry = geometry_of(game.config.board)
    for side in SIDES:
        outline = tuple(geometry.wedge(game.goals[side], inset=2))
        yield Polygon(outline, GOAL_FILLS[side], SIDE_LINES[side], 3)
    satellites = all_satellites(game)
    slots = satellite_slots(geometry, satellites)
    for satellite in satellites:
        yield from _satellite(geometry, game, satellite, slots[satellite.id])


def _satellite(geometry: BoardGeometry, game: Game, satellite: Satellite, slot: Slot) -> Iterator[Shape]:
    side = satellite.id.side
    centre, radius = geometry.point(slot.place), slot.radius * 0.8
    fill = SIDE_FILLS[side] if satellite.is_active else INACTIVE
    edge = SIDE_LINES[side]
    ink = SIDE_INKS[side] if satellite.is_active else INACTIVE_INK
    if satellite.id.number == 0:
        x, y = centre
        half = radius * 0.86
        yield Polygon(
            ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)), fill, edge, 1.5
        )
    else:
        yield Circle(centre, radius, fill, edge, 1.5)
    if satellite.is_active:
        yield Line(tuple(_fuel_arc(centre, slot.radius, satellite, game.config.side(side))), edge, slot.radius * 0.14)
    if radius >= _SMALLEST_NUMBER:
        yield Label(centre, "H" if satellite.id.number == 0 else str(satellite.id.number), radius * 1.1, ink, bold=True)


def _fuel_arc(centre: Point, radius: float, satellite: Satellite, config: SideConfig) -> Iterator[Point]:
    """Go around a satellite from the top, clockwise, as far as its tank is full."""
    full = largest(config.hva.fuel if satellite.id.number == 0 else config.patrols.fuel)
    part = min(satellite.fuel / full, 1.0)
    steps = max(round(24 * part), 1)
    for step in range(steps + 1):
        angle = math.tau * part * step / steps
        yield centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle)
