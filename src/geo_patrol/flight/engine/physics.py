"""Motion on the grid: gravity, the straight path of a move, crashes.

Source: NASA, Planetary Probe and Spaceship Commander, coasting and gravity.
"""

from typing import Any

from geo_patrol.flight.engine.state import NOWHERE
from geo_patrol.jit import jit


@jit
def is_on_map(params: Any, column: int, row: int) -> bool:
    """Whether a point is on the map."""
    return 1 <= column <= params.columns and 1 <= row <= params.rows


@jit
def well_at(params: Any, column: int, row: int) -> int:
    """Return the index of the planet in whose gravity well a point is; off the map there are no wells."""
    if not is_on_map(params, column, row):
        return NOWHERE
    return int(params.well[column, row])


@jit
def sign(value: int) -> int:
    """Return -1, 0 or 1."""
    return int(value > 0) - int(value < 0)


@jit
def gravity_at(params: Any, column: int, row: int) -> tuple[int, int]:
    """Return the shift by gravity of a ship that has coasted to a point: one grid toward the planet, or none.

    It goes along the longer of the two offsets, diagonally where they are equal.
    """
    planet = well_at(params, column, row)
    if planet == NOWHERE:
        return 0, 0
    right, down = params.planet[planet, 0] - column, params.planet[planet, 1] - row
    if abs(right) > abs(down):
        return sign(right), 0
    if abs(down) > abs(right):
        return 0, sign(down)
    return sign(right), sign(down)


@jit
def planet_at(params: Any, column: int, row: int) -> int:
    """Return the index of the planet at a point, or NOWHERE."""
    for planet in range(params.planets):
        if params.planet[planet, 0] == column and params.planet[planet, 1] == row:
            return planet
    return NOWHERE


@jit
def station_at(params: Any, column: int, row: int) -> int:
    """Return the index of the station at a point, or NOWHERE."""
    for station in range(params.stations):
        if params.station[station, 0] == column and params.station[station, 1] == row:
            return station
    return NOWHERE


@jit
def passes_planet(params: Any, column: int, row: int, right: int, down: int) -> bool:
    """Whether the straight path of a move passes exactly through a planet's point, the two ends not counted."""
    length = right * right + down * down
    for planet in range(params.planets):
        to_right, to_down = params.planet[planet, 0] - column, params.planet[planet, 1] - row
        along = to_right * right + to_down * down
        if to_right * down == to_down * right and 0 < along < length:
            return True
    return False


@jit
def is_crash(params: Any, column: int, row: int, right: int, down: int) -> bool:
    """Whether a move crashes: through a planet, or onto one without landing.

    A landing is a move of exactly one grid onto a planet that can be landed on.
    """
    planet = planet_at(params, column + right, row + down)
    if planet != NOWHERE:
        return not (params.can_land[planet] and max(abs(right), abs(down)) == 1)
    return passes_planet(params, column, row, right, down)
