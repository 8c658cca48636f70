"""The solver: a beam search through the turns of a mission, with branch and bound, and exhaustive where it is wide enough.

Its bounds are admissible: the points that a flight can still earn at most, and whether it can still win. A turn changes the
speed by at most two grids in each direction: one by the engines, one by gravity. A stop on a planet or at a station can turn
a ship round in less time than that, see ``gained_by_stopping``. No bound is ever too low.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jit
from geo_patrol.config.toml_files import Overrides
from geo_patrol.flight import rules
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.mission import MAX_COLUMNS, MAX_TURNS, MissionSource, load_mission

HOPELESS = -10_000
"""The bound of a flight that cannot win any more."""
_LAUNCH_REACH = 3
_MAX_SPEED = MAX_COLUMNS + 4
_MAX_STOP = _MAX_SPEED // 2
_NO_STOP = 0
_LAUNCH_PRICE = rules.ENGINES_COST + rules.LAUNCH_COST + 1
"""What a launch costs, with the microgravity point that the turn does not earn."""


@jit
def first_stop(params: Any, flight: Any) -> int:
    """Return the first turn in which a ship may stop on a planet or at a station, a move of one grid; 0 for never."""
    if not params.can_stop:
        return _NO_STOP
    return max(1, max(abs(flight.right), abs(flight.down)) // 2)


@jit
def gained_by_stopping(speed: int, turns: int, stop: int) -> int:
    """Return how many grids further along an axis a ship may get by stopping on the way than by engines and gravity.

    It arrives with a move of one grid in any direction and is launched with one of three the other way: from -1 to 3
    in a turn. That helps a ship that is moving away from its target fast enough: ``speed`` is negative.
    """
    if stop == _NO_STOP:
        return 0
    faster = _LAUNCH_REACH - (speed + 2 * (stop + 1))
    return max(faster, 0) * max(turns - stop, 0)


@jit
def min_turns_to_well(params: Any, flight: Any, planet: int, max_turns: int) -> int:
    """Return a lower bound of the turns until one ends in the well of a planet; ``max_turns`` + 1 beyond them."""
    column, row, reach = params.position[planet, 0], params.position[planet, 1], params.reach[planet]
    right, down, slack, stop = flight.right, flight.down, 0, first_stop(params, flight)
    for turns in range(1, max_turns + 1):
        if flight.mode in (rules.Mode.FLYING, rules.Mode.DOCKED):
            slack = turns * (turns + 1)
        else:
            slack = _LAUNCH_REACH * turns + turns * (turns - 1)
        to_right = column - flight.column - right * turns
        to_down = row - flight.row - down * turns
        more_right = gained_by_stopping(right if to_right > 0 else -right, turns, stop)
        more_down = gained_by_stopping(down if to_down > 0 else -down, turns, stop)
        if abs(to_right) <= reach + slack + more_right and abs(to_down) <= reach + slack + more_down:
            return turns
    return max_turns + 1


def _tabulate_max_travel() -> NDArray[np.int16]:
    """Tabulate how far a ship can get along an axis if its last move is of one grid at most.

    Indexed by the first turn in which it may stop on the way and be launched again, by turns, and by its speed before.
    """
    speeds = np.arange(-_MAX_SPEED, _MAX_SPEED + 1)
    table = np.zeros((_MAX_STOP + 1, MAX_TURNS + 1, len(speeds)), np.int16)
    for stop in range(_MAX_STOP + 1):
        for turns in range(1, MAX_TURNS + 1):
            for turn in range(1, turns + 1):
                fastest = speeds + 2 * turn
                if stop != _NO_STOP and turn > stop:
                    fastest = np.maximum(fastest, _LAUNCH_REACH + 2 * (turn - stop - 1))
                table[stop, turns] += np.minimum(fastest, 1 + 2 * (turns - turn)).astype(np.int16)
    return table


_MAX_TRAVEL = _tabulate_max_travel()


@jit
def min_turns_to_stop_at(params: Any, flight: Any, site: int, max_turns: int) -> int:
    """Return a lower bound of the turns until a landing or docking at a site; ``max_turns`` + 1 beyond them."""
    to_right, to_down = params.position[site, 0] - flight.column, params.position[site, 1] - flight.row
    right, down = flight.right, flight.down
    middle = _MAX_SPEED
    if flight.mode not in (rules.Mode.FLYING, rules.Mode.DOCKED):
        middle += 1  # the first move is of three grids, as if from a speed of one
    stop = first_stop(params, flight)
    for turns in range(1, max_turns + 1):
        if max(abs(right), abs(down)) - 2 * turns > 1:  # too fast to stop
            continue
        travel = _MAX_TRAVEL[stop, turns]
        if -travel[middle - right] <= to_right <= travel[middle + right]:
            if -travel[middle - down] <= to_down <= travel[middle + down]:
                return turns
    return max_turns + 1


def min_landing_interval(params: Any) -> int:
    """Return a lower bound of the turns from a landing to one on another planet."""
    points = params["position"][np.flatnonzero(params["can_land"])].astype(int)
    intervals = [int(params["turns"]) + 1]
    for index, point in enumerate(points):
        for other in points[:index]:
            distance = np.abs(point - other).max()
            intervals.append(int(np.searchsorted(_MAX_TRAVEL[_NO_STOP, :, _MAX_SPEED + 1], distance)))
    return max(min(intervals), 1)


@jit
def can_win(params: Any, flight: Any, turns_left: int) -> bool:
    """Whether the mission may still be fulfilled in the turns that are left."""
    for planet in range(params.planets):
        if params.must_survey[planet] and flight.survey[planet] == 0:
            if min_turns_to_well(params, flight, planet, turns_left) > turns_left:
                return False
        if params.must_land[planet] and not flight.visited[planet]:
            if min_turns_to_stop_at(params, flight, planet, turns_left) > turns_left:
                return False
    if params.end_kind == rules.EndKind.WELL:
        return min_turns_to_well(params, flight, params.end_site, turns_left) <= turns_left
    if params.end_kind == rules.EndKind.SITE:
        return min_turns_to_stop_at(params, flight, params.end_site, turns_left) <= turns_left
    return True


@jit
def max_remaining_points(params: Any, flight: Any) -> int:
    """Return an upper bound of the points that a flight under way can still earn; HOPELESS if it cannot win."""
    turns_left = int(params.turns - flight.turn)
    if not can_win(params, flight, turns_left):
        return HOPELESS
    points, surveys = 0, 0
    for planet in range(params.planets):
        uncounted = params.survey_cap - flight.survey[planet]
        if planet == params.home or uncounted <= 0:
            continue
        turns_in_well = turns_left + 1 - min_turns_to_well(params, flight, planet, turns_left)
        if turns_in_well <= 0:
            continue
        surveys += min(uncounted, turns_in_well)
        if flight.survey[planet] == 0:
            points += rules.EXPLORE_POINTS
    points += min(surveys, turns_left)
    if not params.is_probe:
        points += turns_left  # microgravity
    return points + max_arrival_points(params, flight, turns_left) if params.advanced else points


@jit
def max_arrival_points(params: Any, flight: Any, turns_left: int) -> int:
    """Return an upper bound of the points for landing, docking and returning, less the cost of the launches between."""
    points, landings, returns, soonest = 0, 0, 0, turns_left
    for planet in range(params.planets):
        if not params.can_land[planet]:
            continue
        turns = min_turns_to_stop_at(params, flight, planet, turns_left)
        if turns <= turns_left and not flight.visited[planet]:
            landings += 1
            soonest = min(soonest, turns)
        if planet != params.home and not flight.returned[planet] and (turns <= turns_left or flight.visited[planet]):
            returns += 1
    for station in range(params.planets, params.sites):
        if not flight.visited[station]:
            points += rules.LANDING_POINTS * (min_turns_to_stop_at(params, flight, station, turns_left) <= turns_left)
    first_is_free = flight.mode != rules.Mode.LANDED
    landings = min(landings, 1 + (turns_left - soonest) // params.min_landing_interval)
    points += rules.LANDING_POINTS * landings - _LAUNCH_PRICE * max(landings - first_is_free, 0)
    home = params.home
    if params.can_land[home] and min_turns_to_stop_at(params, flight, home, turns_left) <= turns_left:
        points += rules.RETURN_POINTS * returns
    return points


EMPTY = -1
"""An empty slot of the hash table."""
FULL = -1
"""The index where a node does not fit any more."""
NOTHING_LOST = 2 * HOPELESS

NODE = rules.record_dtype(
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

EXPANSION = rules.record_dtype(
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
    # Fields of 6, 6, 7, 7 and 2 bits; velocities are stored with an offset, as they may be negative.
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
    # Two flights of a layer with the same keys have the same legal orders and can earn the same points from here on,
    # whatever they earned before, so that only the one with more points needs to be followed (dominance).
    motion, achieved = motion_key(flight), achievement_key(params, flight)
    spent = int(flight.spent) if params.fuel_limit != rules.NO_LIMIT else 0
    mask = len(table) - 1  # the length is a power of two
    # The keys differ in few bits; the finalizer of SplitMix64 spreads them over the table.
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
        for order in range(rules.ORDERS):
            if not rules.is_legal(params, layer[parent], order, workspace[0]):
                continue
            children[result.num_nodes] = layer[parent]
            flight = children[result.num_nodes]
            rules.fly_turn(params, flight, order, workspace[0], workspace[1])
            score = rules.score_of(flight)
            if flight.ending != rules.EndingCode.UNDER_WAY:
                update_incumbent(params, flight, score, parent, order, result)
                continue
            # Branch and bound: a flight that cannot become better than the best ended one is not followed.
            bound = score + max_remaining_points(params, flight)
            if result.success == 1 and bound <= result.score and not params.race:
                continue
            index = find_node(params, flight, nodes, result.num_nodes, table)
            if index == FULL:  # of what is dropped, the highest bound tells how far from the best the result may be
                result.lost = max(result.lost, bound)
                continue
            if index == result.num_nodes:
                result.num_nodes += 1  # the flight stands in its place already
            elif score > nodes[index].score:
                children[index] = flight  # it dominates the node with the same future
            else:
                continue
            node = nodes[index]
            node.parent, node.order, node.score, node.bound = parent, order, score, bound
            node.rank = score - achievement_points(params, flight)


@jit
def update_incumbent(params: Any, flight: Any, score: int, parent: int, order: int, result: Any) -> None:
    """Replace the incumbent by an ended flight that is better: a fulfilled mission before any other, then points."""
    success = rules.is_success(params, flight)
    if success > result.success or (success == result.success and score > result.score):
        result.success, result.score, result.parent, result.order = success, score, parent, order


@jit
def achievement_points(params: Any, flight: Any) -> int:
    """Return the points for what counts only once: surveys, landings, returns and dockings."""
    points = 0
    for planet in range(params.planets):
        points += flight.survey[planet] + rules.EXPLORE_POINTS * (flight.survey[planet] > 0)
        points += params.advanced * rules.RETURN_POINTS * flight.returned[planet]
    for site in range(params.sites):
        points += params.advanced * rules.LANDING_POINTS * flight.visited[site]
    return points


@jit
def has_achieved_all_of(params: Any, flight: Any, other: Any) -> bool:
    """Whether a flight has achieved everything that another one has, and spent no more of a limited fuel."""
    if params.fuel_limit != rules.NO_LIMIT and flight.spent > other.spent:
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


Status: TypeAlias = Literal["proved", "best found"]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the turn and the number of turns."""

MAX_STATES = 200_000
"""Default width of the search: the number of flights in a layer; each takes about 300 bytes."""
QUICK_STATES = 50_000
"""Width for a player who waits: a few seconds."""
_INITIAL_WIDTHS = (500, 10_000)
"""Narrow searches that run first: their results prune the wide one."""
_NODES_PER_STATE = 6
"""Capacity for successors before pruning, as a multiple of the width."""
_MAX_COMPARED = 64


@dataclass(frozen=True)
class Solution:
    """The best flight found for a mission."""

    flight: Flight
    status: Status
    """"proved": no flight is better. "best found": the search was not exhaustive."""
    bound: int
    """No flight that fulfils the mission has more points; equal to the score if that is proved. For a race that is
    not proved, see ``bound_turns``."""
    bound_turns: int | None
    """In a race, no flight wins in fewer turns; None otherwise."""
    states: int
    """Number of flights expanded."""
    seconds: float = 0.0

    @property
    def score(self) -> int:
        """Points of the best flight."""
        return self.flight.score

    @property
    def is_proved(self) -> bool:
        """Whether the status is "proved"."""
        return self.status == "proved"

    @property
    def reached(self) -> str:
        """What counts of the flight, in words: its turns in a race that it wins, otherwise its points."""
        flight = self.flight
        return f"{flight.turn} turns" if flight.mission.race and flight.is_success else f"{self.score} points"

    @property
    def summary(self) -> str:
        """What the flight reaches, in words."""
        return f"leads to {self.reached}, {'proved to be the best' if self.is_proved else 'the best found'}"


@dataclass(frozen=True)
class _Best:
    """The best ended flight of a search."""

    success: int = -1
    score: int = 0
    orders: tuple[int, ...] = ()


def solve(
    mission: MissionSource | Flight = "sample",
    overrides: Overrides | None = None,
    *,
    max_states: int = MAX_STATES,
    progress: Progress | None = None,
) -> Solution:
    """Return the best flight of a mission: one that fulfils it, in a race in the fewest turns, with the most points.

    Args:
        mission: a mission's name, a file's path, a mapping or a ``Mission``; of a ``Flight``, the best way to go on.
        overrides: values that replace those of the mission.
        max_states: maximum number of flights in a layer of the search; higher values prove harder missions.
        progress: called before each turn of the search.

    Raises:
        ConfigError: the mission is invalid.
        ValueError: ``max_states`` is not an integer from 1 to 10,000,000.
    """
    if (
        isinstance(max_states, bool)
        or not isinstance(max_states, (int, np.integer))
        or not 1 <= max_states <= 10_000_000
    ):
        raise ValueError(f"max_states must be an integer from 1 to 10000000, got {max_states!r}")
    start = mission if isinstance(mission, Flight) else Flight(load_mission(mission, overrides))
    started = time.perf_counter()
    solution = _solve_probe(start) if start.mission.is_probe else _solve_spaceship(start, int(max_states), progress)
    return replace(solution, seconds=time.perf_counter() - started)


def rank(flight: Flight) -> tuple[int, int, int]:
    """Return a sort key for flights of a mission; the better flight has the larger key.

    A fulfilled mission comes before any other; in a race, fewer turns; then points.
    """
    success = flight.is_success
    return int(success), -flight.turn if success and flight.mission.race else 0, flight.score


def _solve_probe(start: Flight) -> Solution:
    """Try all launches."""
    launches = np.flatnonzero(start.action_mask()).tolist()
    flights = [Flight.from_orders(start.mission, [launch]) for launch in launches] or [start]
    best = max(flights, key=rank)
    return Solution(best, "proved", best.score, best.turn if start.mission.race else None, len(flights))


def _solve_spaceship(start: Flight, max_states: int, progress: Progress | None) -> Solution:
    """Search with growing widths, until a search was exhaustive."""
    mission = start.mission
    if start.is_over:
        return Solution(start, "proved", start.score, start.turn if mission.race else None, 0)
    best, states = _Best(orders=tuple(start.order_codes)), 0
    for width in (*(width for width in _INITIAL_WIDTHS if width < max_states), max_states):
        search = _BeamSearch(start, width, best)
        search.run(progress if width == max_states else None)
        best, states = search.best, states + search.states
        if search.is_exhaustive:
            break
    flight = Flight.from_orders(mission, best.orders)
    turns = search.min_turns if mission.race else None
    if search.is_exhaustive:
        return Solution(flight, "proved", best.score, turns, states)
    return Solution(flight, "best found", max(best.score, search.lost), turns, states)


class _BeamSearch:
    """A search whose layers have at most ``width`` flights."""

    def __init__(self, start: Flight, width: int, best: _Best) -> None:
        self.mission, self.width, self.best = start.mission, width, best
        self.states = 0
        self.lost = HOPELESS
        """The highest bound of the flights that were cut off."""
        self.lost_turn: int | None = None
        """The first turn in which flights were cut off that could have won."""
        self._was_cut = False
        self._flown = tuple(start.order_codes)
        self._game = start.to_game()[0]
        self._params = self._game["params"]
        self._params["min_landing_interval"] = min_landing_interval(self._params)
        self._path: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        """Parents and orders of every layer."""
        size = max(width * _NODES_PER_STATE, 8 * rules.ORDERS)
        self._nodes, self._children = np.empty(size, NODE), np.empty(size + 1, rules.FLIGHT)
        self._table = np.empty(1 << (2 * size - 1).bit_length(), np.int32)
        self._workspace = np.empty(2, rules.TURN)

    @property
    def is_exhaustive(self) -> bool:
        """Whether no flight was cut off that might have been better than the best one."""
        if self.best.success != 1:
            return not self._was_cut
        if self.mission.race:
            return self.lost_turn is None or self.lost_turn >= len(self.best.orders)
        return self.lost <= self.best.score

    @property
    def min_turns(self) -> int:
        """A lower bound of the turns in which a race may be won."""
        best = len(self.best.orders) if self.best.success == 1 else self.mission.turns
        return best if self.lost_turn is None else min(best, self.lost_turn + 1)

    def run(self, progress: Progress | None) -> None:
        """Search turn by turn."""
        layer = np.array([self._game["flight"]], rules.FLIGHT)
        for turn in range(len(self._flown) + 1, self.mission.turns + 1):
            if progress is not None:
                progress(turn, self.mission.turns)
            if not len(layer) or (self.mission.race and self.best.success == 1 and turn > len(self.best.orders)):
                break
            with np.errstate(over="ignore"):  # hashes are meant to wrap; plain Python would warn
                layer = self._next_layer(layer, turn)

    def _next_layer(self, layer: NDArray[Any], turn: int) -> NDArray[Any]:
        self._table.fill(EMPTY)
        best = self.best
        success, score = best.success, best.score
        if self.mission.race and success == 1 and turn < len(best.orders):  # any flight that wins now is better
            success, score = 0, np.iinfo(np.int64).max
        result = np.array([(0, NOTHING_LOST, success, score, -1, -1)], EXPANSION)
        expand(self._params, layer, self._nodes, self._children, self._table, result, self._workspace)
        count, lost, success, score, parent, order = result.item()
        self.states += count
        if parent >= 0:
            self.best = _Best(success, score, (*self._flown, *self._orders_to(parent), order))
        if lost != NOTHING_LOST:
            self._record_cut(lost, turn)
        selected = self._select(self._nodes[:count], turn)
        self._path.append((self._nodes["parent"][selected], self._nodes["order"][selected]))
        return self._children[selected]

    def _record_cut(self, bound: int, turn: int) -> None:
        """Record that flights were cut off, and the highest bound of them."""
        self._was_cut = True
        if bound <= HOPELESS // 2:  # they could not have won
            return
        self.lost = max(self.lost, bound)
        self.lost_turn = turn if self.lost_turn is None else self.lost_turn

    def _select(self, nodes: NDArray[Any], turn: int) -> NDArray[np.intp]:
        """Return the indices of the nodes to expand: those not dominated, and the most promising of them."""
        score, bound = nodes["score"], nodes["bound"]
        order = np.lexsort((-score, -nodes["rank"], nodes["motion"]))
        keep = np.empty(len(nodes), np.int8)
        mark_dominated(self._params, nodes, self._children, order, _MAX_COMPARED, keep)
        selected = np.flatnonzero(keep)
        if self.best.success == 1 and not self.mission.race:  # found in this layer
            selected = selected[bound[selected] > self.best.score]
        if len(selected) <= self.width:
            return selected
        by_promise = selected[np.lexsort((-score[selected], -bound[selected]))]
        self._record_cut(int(bound[by_promise[self.width :]].max()), turn)
        return np.sort(by_promise[: self.width])

    def _orders_to(self, index: int) -> tuple[int, ...]:
        """Return the orders that lead to a flight of the last layer."""
        orders: list[int] = []
        for parents, codes in reversed(self._path):
            orders.append(int(codes[index]))
            index = int(parents[index])
        return tuple(reversed(orders))
