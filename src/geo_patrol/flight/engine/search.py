"""One layer of the solver's search: all flights of a turn flown on by every legal order, equal ones merged.

Two flights after the same turn that are in the same place, move alike and have earned the same things have the same
future, so only the one with more points is kept; how they came there does not matter. One that has earned everything
that another has, in the same motion, with no fewer points besides, is never worse (dominance).
"""

from typing import Any

import numpy as np

from geo_patrol.flight.engine.bounds import HOPELESS, most_still
from geo_patrol.flight.engine.scoring import EXPLORE_POINTS, LANDING_POINTS, RETURN_POINTS
from geo_patrol.flight.engine.state import LINES, NO_LIMIT, ORDERS, UNDER_WAY
from geo_patrol.flight.engine.turn import fly_turn, is_legal, is_success
from geo_patrol.jit import jit

_HASH = 0x9E3779B97F4A7C15
_ROUND = np.uint64(_HASH)
_SHIFT = np.uint64(29)
FREE = -1
NOTHING_LOST = 2 * HOPELESS


@jit
def score_of(flight: Any) -> int:
    """Return the points of a flight."""
    points = 0
    for line in range(LINES):
        points += flight.line[line]
    return points


@jit
def motion_key(flight: Any) -> int:
    """Pack place, move and mode of a flight into a number."""
    key = int(flight.column) * 64 + int(flight.row)  # int() because narrow types wrap in plain Python
    key = (key * 128 + int(flight.right) + 64) * 128 + int(flight.down) + 64
    return (key * 4 + int(flight.mode)) * 16 + int(flight.place) + 1


@jit
def earned_key(chart: Any, flight: Any) -> int:
    """Pack what a flight has earned once and for all, as far as it matters, into a number."""
    key = 0
    for planet in range(chart.planets):
        matters = chart.advanced or chart.must_land[planet]
        key = key * 8 + int(flight.survey[planet])
        key = key * 2 + int(matters and flight.landed[planet] > 0)
        key = key * 2 + int(chart.advanced and flight.returned[planet] > 0)
    for station in range(chart.stations):
        key = key * 2 + int(chart.advanced and flight.docked[station] > 0)
    return key


@jit
def find_slot(table: Any, keys: Any, motion: int, earned: int, spent: int) -> int:
    """Return the slot of the hash table where a flight is, or the free one where it belongs."""
    mask = len(table) - 1
    mixed = np.uint64(motion) * _ROUND ^ np.uint64(earned + spent * 977) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> _SHIFT
    mixed *= np.uint64(0x94D049BB133111EB)
    slot = np.int64((mixed >> np.uint64(20)) & np.uint64(mask))
    while table[slot] != FREE:
        found = table[slot]
        if keys[found, 0] == motion and keys[found, 1] == earned and keys[found, 2] == spent:
            break
        slot = (slot + 1) & mask
    return int(slot)


@jit
def expand(
    chart: Any,
    layer: Any,
    out: Any,
    keys: Any,
    parents: Any,
    orders: Any,
    scores: Any,
    most: Any,
    table: Any,
    best: Any,
    best_flight: Any,
    room: Any,
) -> tuple[int, int]:
    """Fly every flight of a layer on by every legal order.

    Args:
        chart: the mission.
        layer: flights under way, (n,) FLIGHT.
        out: room for the next layer, (m,) FLIGHT; so are ``keys`` (m, 3), ``parents``, ``orders``, ``scores`` and
            ``most`` (m,).
        parents: written: which flight of the layer each one comes from.
        orders: written: by which order.
        most: written: the most points that each flight may have in the end.
        keys: written: motion, what is earned, what is spent.
        scores: written: points so far.
        table: hash table, a power of two larger than m, of FREE.
        best: (4,) success 0 or 1 or, with no flight ended yet, -1; points; parent and order of the best ended flight.
        best_flight: (1,) FLIGHT, the same.
        room: (3,) TURN.

    Returns:
        How many flights the next layer has, and the most points that a flight lost for lack of room may have.
    """
    count, lost = 0, NOTHING_LOST
    trial = best_flight[1:]
    for parent in range(len(layer)):
        for order in range(ORDERS):
            if not is_legal(chart, layer[parent], order, room[0]):
                continue
            trial[0] = layer[parent]
            fly_turn(chart, trial[0], order, room[1], room[2])
            flight = trial[0]
            points = score_of(flight)
            if flight.ending != UNDER_WAY:
                note_end(chart, flight, points, parent, order, best, best_flight)
                continue
            bound = points + most_still(chart, flight)
            if best[0] == 1 and bound <= best[1] and not chart.race:
                continue
            motion, earned = motion_key(flight), earned_key(chart, flight)
            spent = flight.spent if chart.fuel_limit != NO_LIMIT else 0
            slot = find_slot(table, keys, motion, earned, spent)
            place = table[slot]
            if place == FREE:
                if count == len(out):
                    lost = max(lost, bound)
                    continue
                place = table[slot] = count
                count += 1
                keys[place, 0], keys[place, 1], keys[place, 2] = motion, earned, spent
            elif points <= scores[place]:
                continue
            out[place] = flight
            parents[place], orders[place], scores[place], most[place] = parent, order, points, bound
    return count, lost


@jit
def note_end(chart: Any, flight: Any, points: int, parent: int, order: int, best: Any, best_flight: Any) -> None:
    """Keep an ended flight if it is the best one: a fulfilled mission before any other, then points."""
    success = is_success(chart, flight)
    if success > best[0] or (success == best[0] and points > best[1]):
        best[0], best[1], best[2], best[3] = success, points, parent, order
        best_flight[0] = flight


@jit
def once_points(chart: Any, flight: Any) -> int:
    """Return the points for what can be earned once: wells, landings, dockings, returns."""
    points = 0
    for planet in range(chart.planets):
        points += flight.survey[planet] + EXPLORE_POINTS * (flight.survey[planet] > 0)
        if chart.advanced:
            points += LANDING_POINTS * flight.landed[planet] + RETURN_POINTS * flight.returned[planet]
    if chart.advanced:
        for station in range(chart.stations):
            points += LANDING_POINTS * flight.docked[station]
    return points


@jit
def has_earned_all_of(chart: Any, one: Any, other: Any) -> bool:
    """Whether a flight has earned everything that another one has, and spent no more of a limited fuel."""
    if chart.fuel_limit != NO_LIMIT and one.spent > other.spent:
        return False
    for planet in range(chart.planets):
        if one.survey[planet] < other.survey[planet] or one.landed[planet] < other.landed[planet]:
            return False
        if one.returned[planet] < other.returned[planet]:
            return False
    for station in range(chart.stations):  # noqa: SIM110 - compiled code knows no generators
        if one.docked[station] < other.docked[station]:
            return False
    return True


@jit
def write_ranks(chart: Any, flights: Any, ranks: Any) -> None:
    """Write each flight's points besides those for what can be earned once."""
    for place in range(len(flights)):
        ranks[place] = score_of(flights[place]) - once_points(chart, flights[place])


@jit
def mark_dominated(chart: Any, flights: Any, motions: Any, order: Any, most_compared: int, keep: Any) -> None:
    """Mark the flights that are not dominated.

    Args:
        chart: the mission.
        flights: (n,) FLIGHT.
        motions: (n,) motion keys.
        order: (n,) the flights sorted by motion, then by falling rank, see ``write_ranks``.
        most_compared: with how many flights of the same motion each one is compared.
        keep: (n,) written: 1 for those that are kept.
    """
    first = 0
    for position in range(len(order)):
        place = order[position]
        if motions[order[first]] != motions[place]:
            first = position
        keep[place] = 1
        compared = 0
        for earlier in range(first, position):
            other = order[earlier]
            if not keep[other]:
                continue
            if has_earned_all_of(chart, flights[other], flights[place]):
                keep[place] = 0
                break
            compared += 1
            if compared >= most_compared:
                break
