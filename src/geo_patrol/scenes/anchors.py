"""Where satellites are drawn inside a sector: side by side without overlap, however many there are."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from geo_patrol.board import ring_of
from geo_patrol.game import Game
from geo_patrol.notation import Satellite, SatelliteId
from geo_patrol.scenes.geometry import BoardGeometry, Polar, middle_angle, sector_angle
from geo_patrol.scenes.theme import MIN_NUMBERED_RADIUS, SATELLITE_RADIUS, SATELLITE_SPACING
from geo_patrol.sides import SIDES

_NUMBER_FRACTION = 0.16
"""The part of a ring's width, along the outer edge, that belongs to the sectors' numbers."""


@dataclass(frozen=True)
class Anchor:
    """Where a satellite is drawn: a polar position, and its radius in pixels."""

    position: Polar
    radius: float


Anchors: TypeAlias = dict[SatelliteId, Anchor]


@functools.lru_cache(maxsize=4096)
def sector_anchors(geometry: BoardGeometry, ring: int, count: int) -> tuple[Anchor, ...]:
    """Return the anchors of a number of satellites in a sector of a ring, with angles from the sector's middle.

    They form rows along the ring, the outermost row first, in the direction of flight.
    """
    inner = geometry.inner_edge(ring)
    outer = geometry.outer_edge(ring) - geometry.ring_width * _NUMBER_FRACTION
    radius = geometry.ring_width * SATELLITE_RADIUS
    while True:
        positions = _arrange(inner, outer, sector_angle(ring), radius, count)
        if positions is not None:
            return tuple(Anchor(position, radius) for position in positions)
        radius *= 0.97


def _arrange(inner: float, outer: float, angle: float, radius: float, count: int) -> list[Polar] | None:
    """Return positions for satellites of a radius; None if they do not fit."""
    pitch = 2 * radius * SATELLITE_SPACING
    margin = radius * (SATELLITE_SPACING + 0.1)
    depth = outer - inner - 2 * margin
    if depth < 0:
        return None
    for rows in range(1, 2 + math.floor(depth / pitch)):
        middle = (inner + outer) / 2
        distances = [middle + (rows - 1 - 2 * row) / 2 * pitch for row in range(rows)]
        capacities = [_capacity(distance, angle, pitch, margin) for distance in distances]
        if sum(capacities) >= count and min(capacities) > 0:
            return _distribute(distances, capacities, pitch, count)
    return None


def _capacity(distance: float, angle: float, pitch: float, margin: float) -> int:
    if distance <= max(pitch, margin):
        return 0
    usable = angle - 2 * math.asin(margin / distance)
    return 0 if usable < 0 else 1 + math.floor(usable / (2 * math.asin(pitch / 2 / distance)) + 1e-9)


def _distribute(distances: list[float], capacities: list[int], pitch: float, count: int) -> list[Polar]:
    """Distribute satellites over rows in proportion to the rows' capacities."""
    positions: list[Polar] = []
    remaining = sum(capacities)
    for distance, capacity in zip(distances, capacities, strict=True):
        here = min(capacity, math.ceil((count - len(positions)) * capacity / remaining))
        remaining -= capacity
        step = 2 * math.asin(pitch / 2 / distance)
        positions += [(distance, (i - (here - 1) / 2) * step) for i in range(here)]
    return positions


def all_satellites(game: Game) -> tuple[Satellite, ...]:
    """Return the satellites of both sides, alpha's first."""
    return tuple(satellite for side in SIDES for satellite in game.satellites(side))


def satellite_anchors(geometry: BoardGeometry, satellites: Sequence[Satellite]) -> Anchors:
    """Return the anchor of every satellite."""
    anchors: Anchors = {}
    for sector, here in by_sector(satellites).items():
        middle = middle_angle(sector)
        within = sector_anchors(geometry, int(ring_of(sector)), len(here))
        for satellite, anchor in zip(here, within, strict=True):
            distance, angle = anchor.position
            anchors[satellite.id] = Anchor((distance, middle + angle), anchor.radius)
    return anchors


def by_sector(satellites: Sequence[Satellite]) -> dict[int, list[Satellite]]:
    """Return the satellites of each sector: active ones first, alpha's before bravo's."""
    sectors: dict[int, list[Satellite]] = {}
    for satellite in sorted(satellites, key=lambda one: (not one.is_active, one.id.side, one.id.number)):
        sectors.setdefault(satellite.sector, []).append(satellite)
    return sectors


def crowded_sectors(geometry: BoardGeometry, satellites: Sequence[Satellite]) -> list[int]:
    """Return the sectors whose satellites are too small to be numbered, the fullest first."""
    sectors = by_sector(satellites)
    small = [
        sector
        for sector, here in sectors.items()
        if sector_anchors(geometry, int(ring_of(sector)), len(here))[0].radius < MIN_NUMBERED_RADIUS
    ]
    return sorted(small, key=lambda sector: (-len(sectors[sector]), sector))
