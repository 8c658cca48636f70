"""A turn of a flight: gravity and crashes, which orders are legal, where they lead, and how the flight ends.

Source: NASA, Planetary Probe and Spaceship Commander, coasting, gravity, turns, optional and advanced rules.
"""

from typing import Any

import numpy as np

from geo_patrol.flight.engine.scoring import costs_of, score_turn
from geo_patrol.flight.engine.state import COAST, ENGINES, NO_LIMIT, NOWHERE, ORDERS, EndingCode, EndKind, Mode
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
def shift_toward(right: int, down: int) -> tuple[int, int]:
    """Return a shift of one grid along the longer of two offsets, diagonally where they are equal."""
    along_row, along_column = abs(right) >= abs(down), abs(down) >= abs(right)
    return int(np.sign(right)) if along_row else 0, int(np.sign(down)) if along_column else 0


@jit
def gravity_at(params: Any, column: int, row: int) -> tuple[int, int]:
    """Return the shift by gravity of a ship that has coasted to a point: one grid toward the planet, or none."""
    planet = well_at(params, column, row)
    if planet == NOWHERE:
        return 0, 0
    return shift_toward(params.position[planet, 0] - column, params.position[planet, 1] - row)


@jit
def site_at(params: Any, column: int, row: int) -> int:
    """Return the index of the planet or station at a point, or NOWHERE."""
    for site in range(params.sites):
        if params.position[site, 0] == column and params.position[site, 1] == row:
            return site
    return NOWHERE


@jit
def passes_planet(params: Any, column: int, row: int, right: int, down: int) -> bool:
    """Whether the straight path of a move passes exactly through a planet's point, the two ends not counted."""
    length = right * right + down * down
    for planet in range(params.planets):
        to_right, to_down = params.position[planet, 0] - column, params.position[planet, 1] - row
        along = to_right * right + to_down * down
        if to_right * down == to_down * right and 0 < along < length:
            return True
    return False


@jit
def is_crash(params: Any, turn: Any) -> bool:
    """Whether the move of a TURN crashes: through a planet, or onto one without landing.

    A landing is a move of exactly one grid onto a planet that can be landed on; a landed ship may stay.
    """
    if turn.mode == Mode.LANDED and turn.order == COAST:
        return False
    right, down = turn.end[0] - turn.start[0], turn.end[1] - turn.start[1]
    site = site_at(params, turn.end[0], turn.end[1])
    if 0 <= site < params.planets:
        return not (params.can_land[site] and max(abs(right), abs(down)) == 1)
    return passes_planet(params, turn.start[0], turn.start[1], right, down)


@jit
def plot(params: Any, flight: Any, order: int, turn: Any) -> None:
    """Write the steps of an order into a TURN: coast, gravity, engines, and the endpoint.

    A landed ship neither coasts nor is shifted by gravity; it stays or is launched. A docked one does not coast.
    """
    column, row = flight.column, flight.row
    turn.order, turn.mode = order, flight.mode
    turn.start[0], turn.start[1] = column, row
    turn.gravity[0] = turn.gravity[1] = 0
    if flight.mode in (Mode.FLYING, Mode.DOCKED):
        column += flight.right
        row += flight.down
        turn.gravity[0], turn.gravity[1] = gravity_at(params, column, row)
    turn.coasted[0], turn.coasted[1] = column, row
    turn.engines[0], turn.engines[1] = params.shift[order, 0], params.shift[order, 1]
    turn.end[0] = column + turn.gravity[0] + turn.engines[0]
    turn.end[1] = row + turn.gravity[1] + turn.engines[1]


@jit
def is_order_of_mode(params: Any, mode: int, order: int) -> bool:
    """Whether an order makes sense for a ship on the pad, flying, landed or docked."""
    if mode == Mode.ON_PAD:
        return order >= ENGINES
    if mode == Mode.LANDED:
        return order == COAST or order >= ENGINES
    return order == COAST or (order < ENGINES and not params.is_probe)


@jit
def is_legal(params: Any, flight: Any, order: int, workspace: Any) -> bool:
    """Whether an order is legal; ``workspace`` is a TURN that is overwritten.

    A probe's only order is its launch; what follows happens by itself, a crash too.
    """
    mode = flight.mode
    if flight.ending != EndingCode.UNDER_WAY or not 0 <= order < ORDERS or not is_order_of_mode(params, mode, order):
        return False
    if params.fuel_limit != NO_LIMIT and flight.spent + sum(costs_of(mode, order)) > params.fuel_limit:
        return False
    plot(params, flight, order, workspace)
    if order >= ENGINES and not is_on_map(params, workspace.end[0], workspace.end[1]):
        return False
    return params.is_probe or not is_crash(params, workspace)


@jit
def write_legal(params: Any, flight: Any, workspace: Any, mask: Any) -> int:
    """Write 1 for every legal order, 0 for the others; return the number of legal orders."""
    count = 0
    for order in range(ORDERS):
        mask[order] = is_legal(params, flight, order, workspace)
        count += mask[order]
    return count


@jit
def has_legal_order(params: Any, flight: Any, workspace: Any) -> bool:
    """Whether there is a legal order."""
    for order in range(ORDERS):  # noqa: SIM110 - Numba does not compile generators
        if is_legal(params, flight, order, workspace):
            return True
    return False


@jit
def fly_turn(params: Any, flight: Any, order: int, turn: Any, workspace: Any) -> None:
    """Fly a turn with a legal order.

    Args:
        params: a PARAMS record.
        flight: a FLIGHT record, changed in place.
        order: a legal order code.
        turn: a TURN record, written: the turn's entry in the log.
        workspace: another TURN record, overwritten.
    """
    plot(params, flight, order, turn)
    flight.turn += 1
    flight.spent += sum(costs_of(flight.mode, order))
    column, row = turn.end[0], turn.end[1]
    turn.well = well_at(params, column, row)
    crashes = is_crash(params, turn)
    if not crashes:
        move_to(params, flight, column, row)
    turn.mode_after = flight.mode
    score_turn(params, flight, turn, is_lost=crashes or not is_on_map(params, column, row))
    if crashes:
        flight.column, flight.row, flight.ending = column, row, EndingCode.CRASHED
    else:
        flight.ending = ending_of(params, flight, turn.well)
        if flight.ending == EndingCode.UNDER_WAY and not has_legal_order(params, flight, workspace):
            flight.ending = EndingCode.TRAPPED


@jit
def move_to(params: Any, flight: Any, column: int, row: int) -> None:
    """Move the ship to the endpoint of its turn, where it may land, dock, stay docked or fly on."""
    right, down = column - flight.column, row - flight.row
    length = max(abs(right), abs(down))
    flight.column, flight.row = column, row
    if length == 0 and flight.mode != Mode.FLYING:  # it stays landed or docked
        return
    flight.mode, flight.site, flight.right, flight.down = Mode.FLYING, NOWHERE, right, down
    site = site_at(params, column, row)
    if length == 1 and site != NOWHERE:
        flight.mode = Mode.LANDED if site < params.planets else Mode.DOCKED
        flight.site, flight.right, flight.down = site, 0, 0


@jit
def are_goals_met(params: Any, flight: Any) -> bool:
    """Whether all planets to survey and to land on have been; not whether the end of the mission is reached."""
    for planet in range(params.planets):
        if params.must_survey[planet] and flight.survey[planet] == 0:
            return False
        if params.must_land[planet] and not flight.visited[planet]:
            return False
    return True


@jit
def ending_of(params: Any, flight: Any, well: int) -> int:
    """Return how the flight has ended with a turn that was no crash; UNDER_WAY if it has not.

    A race without ``end_at`` is over when all its goals are met.
    """
    if not is_on_map(params, flight.column, flight.row):
        return EndingCode.LEFT_MAP
    end = well if params.end_kind == EndKind.WELL else flight.site
    if params.end_kind != EndKind.NONE and end == params.end_site:
        return EndingCode.END_REACHED
    if params.race and params.end_kind == EndKind.NONE and are_goals_met(params, flight):
        return EndingCode.GOALS_MET
    return EndingCode.LAST_TURN if flight.turn >= params.turns else EndingCode.UNDER_WAY


@jit
def is_success(params: Any, flight: Any) -> bool:
    """Whether an ended flight has fulfilled its mission."""
    if flight.ending in (EndingCode.UNDER_WAY, EndingCode.TRAPPED):
        return False
    if params.end_kind != EndKind.NONE and flight.ending != EndingCode.END_REACHED:
        return False
    return are_goals_met(params, flight)
