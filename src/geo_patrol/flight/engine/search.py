"""One layer of the solver's search: all flights of a turn advanced by every legal order, duplicates merged.

Two flights after the same turn with the same position, move and achievements have the same future, so only the one with
more points is stored (dynamic programming). A flight whose achievements include all those of another one, in the same
motion, with no fewer points besides, is never worse: it dominates the other one.
"""

from typing import Any

import numpy as np

from geo_patrol.flight.engine.bounds import HOPELESS, max_remaining_points
from geo_patrol.flight.engine.scoring import EXPLORE_POINTS, LANDING_POINTS, RETURN_POINTS, score_of
from geo_patrol.flight.engine.state import NO_LIMIT, ORDERS, EndingCode, record_dtype
from geo_patrol.flight.engine.turn import fly_turn, is_legal, is_success
from geo_patrol.jit import jit

EMPTY = -1
"""Of the hash table."""
FULL = -1
"""The index where a node does not fit any more."""
NOTHING_LOST = 2 * HOPELESS

NODE = record_dtype(
    [
        ("motion", "i8"),  # position, move and mode
        ("achieved", "i8"),
        ("spent", "i8"),  # of a limited fuel
        ("parent", "i4"),  # index into the layer before
        ("order", "i4"),  # by which it was reached
        ("score", "i4"),  # points so far
        ("bound", "i4"),  # upper bound of the points in the end
        ("rank", "i4"),  # points other than for achievements
    ]
)
"""What the search knows of a flight of a layer."""

EXPANSION = record_dtype(
    [
        ("num_nodes", "i8"),
        ("lost", "i8"),  # the highest bound of the flights that did not fit among the nodes
        ("success", "i8"),  # of the incumbent, the best ended flight: 0, 1, or -1 before any flight has ended
        ("score", "i8"),  # of the incumbent; so are parent and order
        ("parent", "i8"),
        ("order", "i8"),
    ]
)
"""Results of expanding a layer."""


@jit
def motion_key(flight: Any) -> int:
    """Pack position, move and mode of a flight into a number."""
    key = int(flight.column) * 64 + int(flight.row)  # int() because narrow types wrap in plain Python
    key = (key * 128 + int(flight.right) + 64) * 128 + int(flight.down) + 64
    return key * 4 + int(flight.mode)


@jit
def achievement_key(params: Any, flight: Any) -> int:
    """Pack what counts only once (surveys, returns, landings, dockings), as far as it matters, into a number."""
    key = 0
    for planet in range(params.planets):
        key = key * 8 + int(flight.survey[planet])
        key = key * 2 + int(params.advanced and flight.returned[planet] > 0)
    for site in range(params.sites):
        matters = params.advanced or params.must_land[site]
        key = key * 2 + int(matters and flight.visited[site] > 0)
    return key


@jit
def find_node(params: Any, flight: Any, nodes: Any, count: int, table: Any) -> int:
    """Return the index of the node with the same future as a flight, ``count`` for a new one, FULL if that is too many.

    ``table`` is a hash table with open addressing; a new node is entered there.
    """
    motion, achieved = motion_key(flight), achievement_key(params, flight)
    spent = int(flight.spent) if params.fuel_limit != NO_LIMIT else 0
    mask = len(table) - 1
    mixed = np.uint64(motion) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(achieved + spent * 977) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    bucket = np.int64((mixed >> np.uint64(20)) & np.uint64(mask))
    while table[bucket] != EMPTY:
        node = nodes[table[bucket]]
        if node.motion == motion and node.achieved == achieved and node.spent == spent:
            return int(table[bucket])
        bucket = (bucket + 1) & mask
    if count == len(nodes):
        return FULL
    table[bucket] = count
    node = nodes[count]
    node.motion, node.achieved, node.spent = motion, achieved, spent
    return count


@jit
def expand(params: Any, layer: Any, nodes: Any, children: Any, table: Any, results: Any, workspace: Any) -> None:
    """Advance every flight of a layer by every legal order.

    Args:
        params: a PARAMS record.
        layer: flights under way, (n,) FLIGHT.
        nodes: written: the next layer, (m,) NODE.
        children: written: the flights of the next layer, (m + 1,) FLIGHT.
        table: hash table of EMPTY entries, its length a power of two larger than m.
        results: (1,) EXPANSION, updated.
        workspace: (2,) TURN, overwritten.
    """
    result = results[0]
    for parent in range(len(layer)):
        for order in range(ORDERS):
            if not is_legal(params, layer[parent], order, workspace[0]):
                continue
            children[result.num_nodes] = layer[parent]
            flight = children[result.num_nodes]
            fly_turn(params, flight, order, workspace[0], workspace[1])
            score = score_of(flight)
            if flight.ending != EndingCode.UNDER_WAY:
                update_incumbent(params, flight, score, parent, order, result)
                continue
            bound = score + max_remaining_points(params, flight)
            if result.success == 1 and bound <= result.score and not params.race:
                continue
            index = find_node(params, flight, nodes, result.num_nodes, table)
            if index == FULL:
                result.lost = max(result.lost, bound)
                continue
            if index == result.num_nodes:
                result.num_nodes += 1
            elif score > nodes[index].score:
                children[index] = flight
            else:
                continue
            node = nodes[index]
            node.parent, node.order, node.score, node.bound = parent, order, score, bound
            node.rank = score - achievement_points(params, flight)


@jit
def update_incumbent(params: Any, flight: Any, score: int, parent: int, order: int, result: Any) -> None:
    """Replace the incumbent by an ended flight that is better: a fulfilled mission before any other, then points."""
    success = is_success(params, flight)
    if success > result.success or (success == result.success and score > result.score):
        result.success, result.score, result.parent, result.order = success, score, parent, order


@jit
def achievement_points(params: Any, flight: Any) -> int:
    """Return the points for what counts only once: surveys, landings, returns and dockings."""
    points = 0
    for planet in range(params.planets):
        points += flight.survey[planet] + EXPLORE_POINTS * (flight.survey[planet] > 0)
        points += params.advanced * RETURN_POINTS * flight.returned[planet]
    for site in range(params.sites):
        points += params.advanced * LANDING_POINTS * flight.visited[site]
    return points


@jit
def has_achieved_all_of(params: Any, flight: Any, other: Any) -> bool:
    """Whether a flight has achieved everything that another one has, and spent no more of a limited fuel."""
    if params.fuel_limit != NO_LIMIT and flight.spent > other.spent:
        return False
    for planet in range(params.planets):
        if flight.survey[planet] < other.survey[planet] or flight.returned[planet] < other.returned[planet]:
            return False
    for site in range(params.sites):  # noqa: SIM110 - Numba does not compile generators
        if flight.visited[site] < other.visited[site]:
            return False
    return True


@jit
def mark_dominated(params: Any, nodes: Any, flights: Any, order: Any, max_compared: int, keep: Any) -> None:
    """Mark the nodes that no other one is found to dominate.

    Args:
        params: a PARAMS record.
        nodes: (n,) NODE.
        flights: (n,) FLIGHT, those of the nodes.
        order: (n,) indices of the nodes sorted by motion, then by decreasing rank.
        max_compared: with how many nodes of the same motion each one is compared.
        keep: (n,) written: 1 for nodes that are not dominated, 0 for the others.
    """
    first = 0
    for position in range(len(order)):
        index = order[position]
        if nodes[order[first]].motion != nodes[index].motion:
            first = position
        keep[index] = 1
        compared = 0
        for earlier in range(first, position):
            other = order[earlier]
            if not keep[other]:
                continue
            if has_achieved_all_of(params, flights[other], flights[index]):
                keep[index] = 0
                break
            compared += 1
            if compared >= max_compared:
                break
