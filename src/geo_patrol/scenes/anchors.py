"""Where satellites stand inside a sector: side by side without overlap, however many there are."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from geo_patrol.board import ring_of
from geo_patrol.game import Game, Satellite
from geo_patrol.notation import SatelliteId
from geo_patrol.rendering.theme import SMALLEST_NUMBERED, TOKEN_GAP, TOKEN_OF_BAND
from geo_patrol.scenes.geometry import BoardGeometry, Polar, middle_angle, sector_angle
from geo_patrol.sides import SIDES

_NUMBER_PART = 0.16
"""The part of a ring's width that belongs to the sectors' numbers, along the outer edge."""


@dataclass(frozen=True)
class Slot:
    """A satellite's place on the board: polar, with its radius in pixels."""

    place: Polar
    radius: float


@functools.lru_cache(maxsize=4096)
def sector_slots(geometry: BoardGeometry, ring: int, count: int) -> tuple[Slot, ...]:
    """Return the places of a number of satellites in a sector of a ring, as angles from the sector's middle.

    They stand in rows along the ring, the outermost row first, in the direction of flight.
    """
    inner = geometry.inner_edge(ring)
    outer = geometry.outer_edge(ring) - geometry.band * _NUMBER_PART
    radius = geometry.band * TOKEN_OF_BAND
    while True:
        rows = _rows(inner, outer, sector_angle(ring), radius, count)
        if rows is not None:
            return tuple(Slot(place, radius) for place in rows)
        radius *= 0.97


def _rows(inner: float, outer: float, angle: float, radius: float, count: int) -> list[Polar] | None:
    """Return places for satellites of a radius; None if they have no room."""
    pitch = 2 * radius * TOKEN_GAP
    margin = radius * (TOKEN_GAP + 0.1)
    depth = outer - inner - 2 * margin
    if depth < 0:
        return None
    possible = 1 + math.floor(depth / pitch)
    for rows in range(1, possible + 1):
        middle = (inner + outer) / 2
        distances = [middle + (rows - 1 - 2 * row) / 2 * pitch for row in range(rows)]
        capacities = [_capacity(distance, angle, pitch, margin) for distance in distances]
        if sum(capacities) >= count and min(capacities) > 0:
            return _spread(distances, capacities, pitch, count)
    return None


def _capacity(distance: float, angle: float, pitch: float, margin: float) -> int:
    if distance <= max(pitch, margin):
        return 0
    usable = angle - 2 * math.asin(margin / distance)
    return 0 if usable < 0 else 1 + math.floor(usable / (2 * math.asin(pitch / 2 / distance)) + 1e-9)


def _spread(distances: list[float], capacities: list[int], pitch: float, count: int) -> list[Polar]:
    """Spread satellites over rows in proportion to their room."""
    places: list[Polar] = []
    room = sum(capacities)
    for distance, capacity in zip(distances, capacities, strict=True):
        here = min(capacity, math.ceil((count - len(places)) * capacity / room))
        room -= capacity
        step = 2 * math.asin(pitch / 2 / distance)
        places += [(distance, (place - (here - 1) / 2) * step) for place in range(here)]
    return places


def all_satellites(game: Game) -> tuple[Satellite, ...]:
    """Return the satellites of both sides, alpha's first."""
    return tuple(satellite for side in SIDES for satellite in game.satellites(side))


def satellite_slots(geometry: BoardGeometry, satellites: Sequence[Satellite]) -> dict[SatelliteId, Slot]:
    """Return the place of every satellite."""
    slots: dict[SatelliteId, Slot] = {}
    for sector, here in by_sector(satellites).items():
        middle = middle_angle(sector)
        within = sector_slots(geometry, int(ring_of(sector)), len(here))
        for satellite, slot in zip(here, within, strict=True):
            distance, angle = slot.place
            slots[satellite.id] = Slot((distance, middle + angle), slot.radius)
    return slots


def by_sector(satellites: Sequence[Satellite]) -> dict[int, list[Satellite]]:
    """Return the satellites of each sector, alpha's before bravo's, those with fuel before those without."""
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
        if sector_slots(geometry, int(ring_of(sector)), len(here))[0].radius < SMALLEST_NUMBERED
    ]
    return sorted(small, key=lambda sector: (-len(sectors[sector]), sector))
