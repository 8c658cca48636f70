"""A turn of a flight: which orders are legal, where an order leads, what it earns, and how the flight ends.

Source: NASA, Planetary Probe and Spaceship Commander, turns, optional and advanced rules.
"""

from typing import Any

from geo_patrol.flight.engine.physics import gravity_at, is_crash, is_on_map, planet_at, station_at, well_at
from geo_patrol.flight.engine.scoring import score_turn, spent_by
from geo_patrol.flight.engine.state import (
    COAST,
    CRASHED,
    DOCKED,
    END_PLANET,
    END_REACHED,
    END_STATION,
    END_WELL,
    ENGINES,
    FLYING,
    GOALS_MET,
    LANDED,
    LAST_TURN,
    LEFT_MAP,
    NO_END,
    NO_LIMIT,
    NOWHERE,
    ON_PAD,
    ORDERS,
    TRAPPED,
    UNDER_WAY,
)
from geo_patrol.jit import jit


@jit
def start(chart: Any, flight: Any) -> None:
    """Put a ship on the pad of its home planet."""
    home = chart.home
    flight.turn = flight.right = flight.down = flight.spent = 0
    flight.column, flight.row = chart.planet[home, 0], chart.planet[home, 1]
    flight.mode, flight.place, flight.ending = ON_PAD, home, UNDER_WAY
    flight.line[:] = 0
    flight.survey[:] = 0
    flight.landed[:] = 0
    flight.returned[:] = 0
    flight.docked[:] = 0


@jit
def plot(chart: Any, flight: Any, order: int, turn: Any) -> None:
    """Write the steps of an order into a line of the log: coast, gravity, engines, and with them the endpoint.

    A landed ship neither coasts nor is pulled; it stays or is launched. A docked one does not coast.
    """
    column, row = flight.column, flight.row
    turn.order, turn.mode = order, flight.mode
    turn.start[0], turn.start[1] = column, row
    turn.pull[0] = turn.pull[1] = 0
    if flight.mode in (FLYING, DOCKED):
        column += flight.right
        row += flight.down
        turn.pull[0], turn.pull[1] = gravity_at(chart, column, row)
    turn.coasted[0], turn.coasted[1] = column, row
    turn.engines[0], turn.engines[1] = chart.shift[order, 0], chart.shift[order, 1]
    turn.end[0] = column + turn.pull[0] + turn.engines[0]
    turn.end[1] = row + turn.pull[1] + turn.engines[1]


@jit
def is_order_of_mode(chart: Any, mode: int, order: int) -> bool:
    """Whether an order makes sense for a ship on the pad, flying, landed or docked."""
    if mode == ON_PAD:
        return order >= ENGINES
    if mode == LANDED:
        return order == COAST or order >= ENGINES
    return order == COAST or (order < ENGINES and not chart.is_probe)


@jit
def is_legal(chart: Any, flight: Any, order: int, turn: Any) -> bool:
    """Whether an order may be given; ``turn`` is room for its plot.

    A probe's only order is its launch; what follows happens by itself, a crash too.
    """
    mode = flight.mode
    if flight.ending != UNDER_WAY or not 0 <= order < ORDERS or not is_order_of_mode(chart, mode, order):
        return False
    if chart.fuel_limit != NO_LIMIT and flight.spent + spent_by(mode, order) > chart.fuel_limit:
        return False
    if mode == LANDED and order == COAST:
        return True
    plot(chart, flight, order, turn)
    if order >= ENGINES and not is_on_map(chart, turn.end[0], turn.end[1]):
        return False
    if chart.is_probe:
        return True
    right, down = turn.end[0] - turn.start[0], turn.end[1] - turn.start[1]
    return not is_crash(chart, flight.column, flight.row, right, down)


@jit
def write_legal(chart: Any, flight: Any, turn: Any, mask: Any) -> int:
    """Write 1 for every legal order, 0 for the others, and return how many there are; ``turn`` is room for plots."""
    count = 0
    for order in range(ORDERS):
        mask[order] = is_legal(chart, flight, order, turn)
        count += mask[order]
    return count


@jit
def has_legal_order(chart: Any, flight: Any, turn: Any) -> bool:
    """Whether there is a legal order; ``turn`` is room for plots."""
    for order in range(ORDERS):  # noqa: SIM110 - compiled code knows no generators
        if is_legal(chart, flight, order, turn):
            return True
    return False


@jit
def fly_turn(chart: Any, flight: Any, order: int, turn: Any, scratch: Any) -> None:
    """Fly a turn with a legal order.

    Args:
        chart: the mission, a CHART record.
        flight: a FLIGHT record, changed.
        order: an order code that is legal.
        turn: a TURN record, the line of the log that is written.
        scratch: another one, as room.
    """
    plot(chart, flight, order, turn)
    flight.turn += 1
    flight.spent += spent_by(flight.mode, order)
    column, row = turn.end[0], turn.end[1]
    stays_landed = flight.mode == LANDED and order == COAST
    turn.well = well_at(chart, column, row)
    crashes = not stays_landed and is_crash(
        chart, flight.column, flight.row, column - turn.start[0], row - turn.start[1]
    )
    if not crashes:
        move_to(chart, flight, column, row)
    turn.mode_after, turn.place_after = flight.mode, flight.place
    score_turn(chart, flight, turn, is_lost=crashes or not is_on_map(chart, column, row))
    if crashes:
        flight.column, flight.row, flight.ending = column, row, CRASHED
    else:
        flight.ending = ending_of(chart, flight, turn.well)
        if flight.ending == UNDER_WAY and not has_legal_order(chart, flight, scratch):
            flight.ending = TRAPPED


@jit
def move_to(chart: Any, flight: Any, column: int, row: int) -> None:
    """Move the ship to the endpoint of its turn, where it may land, dock, stay docked or fly on."""
    right, down = column - flight.column, row - flight.row
    length = max(abs(right), abs(down))
    flight.column, flight.row = column, row
    if length == 0 and flight.mode != FLYING:  # it stays landed or docked
        return
    flight.mode, flight.place, flight.right, flight.down = FLYING, NOWHERE, right, down
    if length != 1:
        return
    planet = planet_at(chart, column, row)
    if planet != NOWHERE:
        flight.mode, flight.place, flight.right, flight.down = LANDED, planet, 0, 0
    station = station_at(chart, column, row)
    if station != NOWHERE:
        flight.mode, flight.place, flight.right, flight.down = DOCKED, station, 0, 0


@jit
def are_goals_met(chart: Any, flight: Any) -> bool:
    """Whether all planets to survey and to land on have been; where the game ends is another matter."""
    for planet in range(chart.planets):
        if chart.must_survey[planet] and flight.survey[planet] == 0:
            return False
        if chart.must_land[planet] and not flight.landed[planet]:
            return False
    return True


@jit
def is_end_reached(chart: Any, flight: Any, well: int) -> bool:
    """Whether the turn has reached what the mission ends at."""
    if chart.end_kind == END_WELL:
        return well == chart.end_place
    if chart.end_kind == END_PLANET:
        return flight.mode == LANDED and flight.place == chart.end_place
    if chart.end_kind == END_STATION:
        return flight.mode == DOCKED and flight.place == chart.end_place
    return False


@jit
def ending_of(chart: Any, flight: Any, well: int) -> int:
    """Return how the flight has ended with a turn that was no crash; UNDER_WAY if it has not.

    A race without a place to end at is over when all that it asks for is done.
    """
    if not is_on_map(chart, flight.column, flight.row):
        return LEFT_MAP
    if is_end_reached(chart, flight, well):
        return END_REACHED
    if chart.race and chart.end_kind == NO_END and are_goals_met(chart, flight):
        return GOALS_MET
    return LAST_TURN if flight.turn >= chart.turns else UNDER_WAY


@jit
def is_success(chart: Any, flight: Any) -> bool:
    """Whether an ended flight has fulfilled its mission."""
    if flight.ending in (UNDER_WAY, TRAPPED):
        return False
    if chart.end_kind != NO_END and flight.ending != END_REACHED:
        return False
    return are_goals_met(chart, flight)


# For callers that are not compiled: arrays of one record are quicker to hand over than records.


@jit
def start_one(charts: Any, flights: Any) -> None:
    """Do what ``start`` does."""
    start(charts[0], flights[0])


@jit
def write_legal_of_one(charts: Any, flights: Any, room: Any, mask: Any) -> int:
    """Do what ``write_legal`` does."""
    return write_legal(charts[0], flights[0], room[0], mask)


@jit
def fly_one(charts: Any, flights: Any, log: Any, order: int, room: Any) -> None:
    """Do what ``fly_turn`` does, and go on until the end if it is a probe."""
    chart, flight = charts[0], flights[0]
    fly_turn(chart, flight, order, log[flight.turn], room[0])
    while chart.is_probe and flight.ending == UNDER_WAY:
        fly_turn(chart, flight, COAST, log[flight.turn], room[0])


@jit
def has_won_one(charts: Any, flights: Any) -> bool:
    """Do what ``is_success`` does."""
    return is_success(charts[0], flights[0])


@jit
def write_staying_of_one(charts: Any, flights: Any, room: Any, mask: Any) -> int:
    """Write 1 for every legal order that does not lead off the map, and return how many there are."""
    chart, flight, turn = charts[0], flights[0], room[0]
    write_legal(chart, flight, turn, mask)
    count = 0
    for order in range(ORDERS):
        if mask[order]:
            plot(chart, flight, order, turn)
            mask[order] = is_on_map(chart, turn.end[0], turn.end[1])
            count += mask[order]
    return count
