"""The solver: the best flight of a mission, with a proof of optimality where possible.

All launches of a probe are tried. The flights of a spaceship are searched by branch and bound over layers, one for each
turn: flights with the same future are merged (dynamic programming), dominated ones and those whose admissible bound does
not exceed the best flight found are pruned. See Morrison, Jacobson, Sauppe and Sewell, "Branch-and-bound algorithms: A
survey of recent advances in searching, branching, and pruning", Discrete Optimization 19 (2016).

A layer wider than ``max_states`` is cut to its most promising flights (beam search), and the result is "best found"
with a bound instead of "proved".
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.toml_files import Overrides
from geo_patrol.flight.engine.bounds import HOPELESS, min_landing_interval
from geo_patrol.flight.engine.search import EMPTY, EXPANSION, NODE, NOTHING_LOST, expand, mark_dominated
from geo_patrol.flight.engine.state import FLIGHT, ORDERS, TURN
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.mission import MissionSource, load_mission

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
    def promise(self) -> str:
        """What the flight reaches, in words."""
        flight = self.flight
        reached = f"{flight.turn} turns" if flight.mission.race and flight.is_success else f"{self.score} points"
        return f"leads to {reached}, {'proved to be the best' if self.is_proved else 'the best found'}"


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
        ValueError: ``max_states`` is not a whole number from 1 to 10,000,000.
    """
    if isinstance(max_states, bool) or not isinstance(max_states, int) or not 1 <= max_states <= 10_000_000:
        raise ValueError(f"max_states = {max_states!r}: give a whole number from 1 to 10000000")
    start = mission if isinstance(mission, Flight) else Flight(load_mission(mission, overrides))
    started = time.perf_counter()
    solution = _solve_probe(start) if start.mission.is_probe else _solve_spaceship(start, max_states, progress)
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
        search = _Search(start, width, best)
        search.run(progress if width == max_states else None)
        best, states = search.best, states + search.states
        if search.is_exhaustive:
            break
    flight = Flight.from_orders(mission, best.orders)
    turns = search.min_turns if mission.race else None
    if search.is_exhaustive:
        return Solution(flight, "proved", best.score, turns, states)
    return Solution(flight, "best found", max(best.score, search.lost), turns, states)


class _Search:
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
        size = max(width * _NODES_PER_STATE, 8 * ORDERS)
        self._nodes, self._children = np.empty(size, NODE), np.empty(size + 1, FLIGHT)
        self._table = np.empty(1 << (2 * size - 1).bit_length(), np.int32)
        self._workspace = np.empty(2, TURN)

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
        layer = np.array([self._game["flight"]], FLIGHT)
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
