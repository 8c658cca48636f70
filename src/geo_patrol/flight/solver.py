"""The best flight of a mission, proved where that can be done.

A probe's launches are all flown. A spaceship's flights are searched turn by turn: dynamic programming over place, move,
turn and what has been earned, with a bound of what can still be earned (branch and bound). Where a turn has more
flights than there is room for, the least promising are dropped, and the result is "best found" with a bound.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.flight.engine.bounds import HOPELESS, least_cycle
from geo_patrol.flight.engine.search import FREE, NOTHING_LOST, expand, mark_dominated, write_ranks
from geo_patrol.flight.engine.state import FLIGHT, ORDERS, TURN, make_chart, new_flights
from geo_patrol.flight.engine.turn import start
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.missions import MissionSource, Overrides, load_mission

Status: TypeAlias = Literal["proved", "best found"]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the turn and the number of turns."""

MAX_STATES = 200_000
"""Flights that are followed at the same time, by default; a turn needs some 300 bytes for each."""
_FIRST_TRIES = (500, 10_000)
"""Narrow searches whose results make the bound of the wide one strong."""
_ROOM = 6
"""Successors that are held before they are compared, as a multiple of the flights that are followed."""
_MOST_COMPARED = 64


@dataclass(frozen=True)
class Solution:
    """The best flight known of a mission."""

    flight: Flight
    status: Status
    """"proved": no flight is better. "best found": none is known to be."""
    bound: int
    """No flight that fulfils the mission has more points; the score itself where that is proved. For a race whose
    result is not proved, see ``bound_turns``."""
    bound_turns: int | None
    """Of a race: no flight wins in fewer turns."""
    states: int
    """Flights that were followed."""
    seconds: float

    @property
    def score(self) -> int:
        """Points of the best flight."""
        return self.flight.score

    @property
    def is_proved(self) -> bool:
        """Whether the status is "proved"."""
        return self.status == "proved"


@dataclass
class _Best:
    """The best ended flight of a search."""

    success: int = -1
    points: int = 0
    orders: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[int, int]:
        return self.success, self.points


def solve(
    mission: MissionSource = "sample",
    overrides: Overrides | None = None,
    *,
    max_states: int = MAX_STATES,
    progress: Progress | None = None,
) -> Solution:
    """Return the best flight of a mission: one that fulfils it, in a race in the fewest turns, with the most points.

    Args:
        mission: a mission's name, a file's path, a mapping or a ``Mission``.
        overrides: single values of it.
        max_states: flights that are followed at the same time; with more, harder missions are proved.
        progress: called before each turn of the search.

    Raises:
        ConfigError: the mission is wrong.
        ValueError: ``max_states`` is not a whole number from 1 to 10,000,000.
    """
    if isinstance(max_states, bool) or not isinstance(max_states, int) or not 1 <= max_states <= 10_000_000:
        raise ValueError(f"max_states = {max_states!r}: give a whole number from 1 to 10000000")
    settled = load_mission(mission, overrides)
    began = time.perf_counter()
    search = _solve_probe if settled.is_probe else _solve_spaceship
    orders, is_proved, bound, bound_turns, states = search(settled, max_states, progress)
    return Solution(
        flight=Flight.from_orders(settled, orders),
        status="proved" if is_proved else "best found",
        bound=bound,
        bound_turns=bound_turns if settled.race else None,
        states=states,
        seconds=time.perf_counter() - began,
    )


def rank(flight: Flight) -> tuple[int, int, int]:
    """Return a key by which flights of a mission are ordered, the better one's is larger.

    A fulfilled mission comes before any other; in a race, fewer turns; then points.
    """
    won = flight.is_success
    return int(won), -flight.turn if won and flight.mission.race else 0, flight.score


_Found: TypeAlias = tuple[tuple[int, ...], bool, int, int | None, int]
"""Orders, whether they are proved, bound, bound of a race's turns, flights followed."""


def _solve_probe(mission: Mission, _max_states: int, _progress: Progress | None) -> _Found:
    """Fly all launches."""
    launches = np.flatnonzero(Flight(mission).action_mask()).tolist()
    flights = [Flight.from_orders(mission, [launch]) for launch in launches]
    best = max(flights, key=rank)
    return tuple(best.order_codes), True, best.score, best.turn, len(flights)


def _solve_spaceship(mission: Mission, max_states: int, progress: Progress | None) -> _Found:
    best, states = _Best(), 0
    for width in (*(tries for tries in _FIRST_TRIES if tries < max_states), max_states):
        search = _Search(mission, width, best)
        search.run(progress if width == max_states else None)
        best, states = search.best, states + search.states
        if search.is_exhaustive:
            break
    bound = best.points if search.is_exhaustive else max(best.points, search.lost)
    return best.orders, search.is_exhaustive, bound, search.least_turns, states


class _Search:
    """One search of at most so many flights at the same time."""

    def __init__(self, mission: Mission, width: int, best: _Best) -> None:
        self.mission, self.width, self.best = mission, width, best
        self.states = 0
        self.lost = HOPELESS
        self.lost_turn: int | None = None
        """The first turn in which flights were dropped that could have won."""
        self._has_dropped = False
        self._charts = make_chart(mission)
        self._charts[0]["least_cycle"] = least_cycle(self._charts[0])
        self._trail: list[tuple[NDArray[np.int32], NDArray[np.int8]]] = []
        size = max(width * _ROOM, 8 * ORDERS)
        self._out = np.empty(size, FLIGHT)
        self._keys = np.empty((size, 3), np.int64)
        self._parents, self._orders = np.empty(size, np.int32), np.empty(size, np.int8)
        self._scores, self._most = np.empty(size, np.int32), np.empty(size, np.int32)
        self._table = np.empty(1 << (2 * size - 1).bit_length(), np.int32)
        self._room = np.zeros(3, TURN)

    @property
    def is_exhaustive(self) -> bool:
        """Whether no flight was dropped that might have been better than the best one."""
        if self.best.success != 1:
            return not self._has_dropped
        if self.mission.race:
            return self.lost_turn is None or self.lost_turn >= len(self.best.orders)
        return self.lost <= self.best.points

    @property
    def least_turns(self) -> int:
        """Return the fewest turns in which a race may be won."""
        found = len(self.best.orders) if self.best.success == 1 else self.mission.turns
        return found if self.lost_turn is None else min(found, self.lost_turn + 1)

    def run(self, progress: Progress | None) -> None:
        """Search turn by turn."""
        layer = new_flights()
        start(self._charts[0], layer[0])
        for turn in range(1, self.mission.turns + 1):
            if progress is not None:
                progress(turn, self.mission.turns)
            if not len(layer) or (self.mission.race and self.best.success == 1 and turn > len(self.best.orders)):
                break
            with np.errstate(over="ignore"):  # hashes are meant to wrap; plain Python would warn
                layer = self._next_layer(layer, turn)

    def _next_layer(self, layer: NDArray[Any], turn: int) -> NDArray[Any]:
        self._table.fill(FREE)
        ends = np.zeros(2, FLIGHT)
        found = self.best
        is_shorter = self.mission.race and found.success == 1 and turn < len(found.orders)
        best = np.array([found.success, found.points, -1, -1], np.int64)
        if is_shorter:  # any flight that wins now is better, and no other one
            best[:2] = 0, np.iinfo(np.int64).max
        arrays = (self._out, self._keys, self._parents, self._orders, self._scores, self._most, self._table)
        count, lost = expand(self._charts[0], layer, *arrays, best, ends, self._room)
        self.states += count
        if best[2] >= 0:
            self.best = _Best(int(best[0]), int(best[1]), (*self._path(int(best[2])), int(best[3])))
        if lost != NOTHING_LOST:
            self._drop(lost, turn)
        kept = self._choose(count, turn)
        self._trail.append((self._parents[kept].copy(), self._orders[kept].copy()))
        return self._out[kept].copy()

    def _drop(self, most: int, turn: int) -> None:
        """Note that flights were dropped, of which the best may have so many points in the end."""
        self._has_dropped = True
        if most <= HOPELESS // 2:  # they could not have won
            return
        self.lost = max(self.lost, most)
        self.lost_turn = turn if self.lost_turn is None else self.lost_turn

    def _choose(self, count: int, turn: int) -> NDArray[np.intp]:
        """Return the flights of the next layer to follow: those not dominated, and of them the most promising."""
        out, most = self._out[:count], self._most[:count]
        motions = self._keys[:count, 0]
        ranks = np.empty(count, np.int64)
        write_ranks(self._charts[0], out, ranks)
        keep = np.zeros(count, np.int8)
        order = np.lexsort((-self._scores[:count], -ranks, motions))
        mark_dominated(self._charts[0], out, motions, order, _MOST_COMPARED, keep)
        kept = np.flatnonzero(keep)
        if self.best.success == 1 and not self.mission.race:  # found while the layer was being flown
            kept = kept[most[kept] > self.best.points]
        if len(kept) <= self.width:
            return kept
        by_promise = kept[np.lexsort((-self._scores[kept], -most[kept]))]
        self._drop(int(most[by_promise[self.width :]].max()), turn)
        return np.sort(by_promise[: self.width])

    def _path(self, place: int) -> tuple[int, ...]:
        """Return the orders that led to a flight of the last layer."""
        orders: list[int] = []
        for parents, given in reversed(self._trail):
            orders.append(int(given[place]))
            place = int(parents[place])
        return tuple(reversed(orders))
