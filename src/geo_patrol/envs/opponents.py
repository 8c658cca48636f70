"""Opponents of a vector environment: one, or a mixture that may change while training, and how they are asked."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents import Agent, make_agent
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.protocol import (
    SeededAgent,
    check_agent,
    compute_actions,
    compute_seeded_actions,
    is_stateless,
    reset_agent,
)
from geo_patrol.engine.encodings import observation_size, observation_type, sector_slots
from geo_patrol.engine.episodes import ELSEWHERE, IDLE, RANDOM, Opponents, Part, order_for_opponents
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.engine.steps import observe_seats, write_seat_masks
from geo_patrol.envs.crew import Crew
from geo_patrol.errors import show
from geo_patrol.game import Game

MAX_OPPONENTS = 1000
"""Opponents that a mixture may have."""

Opponent: TypeAlias = str | Agent
Mixture: TypeAlias = Opponent | Mapping[Any, float] | Sequence[tuple[Opponent, float]]
"""One opponent, or several with their weights: ``"random"``, ``{"random": 1, "scripted": 3}``, or pairs of agent and
weight."""


class _Seated(NamedTuple):
    """An opponent that plays, by its place."""

    place: int
    agent: Agent
    name: str


class OpponentTable:
    """All opponents that an environment has had, each with a place of its own that stays the same.

    A name or an object that was there before keeps its place. The agent of one that is drawn no longer is let go when
    the last game against it is over.

    Args:
        outer_ring: the outer ring of the board.
    """

    def __init__(self, outer_ring: int) -> None:
        self._outer_ring = outer_ring
        self._given: list[Opponent | None] = []
        self._agents: list[Agent | None] = []
        self._names: list[str] = []
        self.drawn = Opponents(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))

    @property
    def names(self) -> tuple[str, ...]:
        """The opponents' names by their places."""
        return tuple(self._names)

    def set(self, mixture: Mixture) -> None:
        """Let games that begin from now on draw from a mixture.

        Raises:
            ValueError: an opponent or a weight is wrong; nothing has changed then.
        """
        weighted = read_mixture(mixture)
        agents = [self._find(given) for given, _ in weighted]
        places = [self._place(given, agent) for (given, _), agent in zip(weighted, agents, strict=True)]
        heaviest = max(weight for _, weight in weighted)
        shares = np.cumsum([weight / heaviest for _, weight in weighted])
        chances = shares / shares[-1]
        chances[-1] = 1.0
        kinds = [_kind_of(agent) for agent in self._agents]
        self.drawn = Opponents(np.array(places, np.int64), chances, np.array(kinds, np.int64))

    def _find(self, given: Opponent) -> Agent:
        for known, agent in zip(self._given, self._agents, strict=True):
            if agent is not None and _is_same(known, given):
                return agent
        return check_agent(make_agent(given) if isinstance(given, str) else given, "opponent")

    def _place(self, given: Opponent, agent: Agent) -> int:
        for place, known in enumerate(self._given):
            if _is_same(known, given):
                self._agents[place] = agent
                return place
        self._given.append(given)
        self._agents.append(agent)
        self._names.append(str(agent.name))
        return len(self._agents) - 1

    def _playing(self, places: NDArray[np.int64]) -> list[_Seated]:
        """Return those opponents whose orders are found outside the engine, of the games' ones given.

        Those that are neither among them nor drawn any more are let go.
        """
        counts = np.bincount(places, minlength=len(self._agents))
        for place in np.flatnonzero(counts == 0):
            if self._agents[place] is not None and place not in self.drawn.places:
                self._agents[place] = None
                if not isinstance(self._given[place], str):
                    self._given[place] = None
        elsewhere = [int(place) for place in np.flatnonzero(counts) if self.drawn.kinds[place] == ELSEWHERE]
        return [_Seated(place, self._agent(place), self._names[place]) for place in elsewhere]

    def _agent(self, place: int) -> Agent:
        agent = self._agents[place]
        assert agent is not None, f"opponent {place} was let go while it played"
        return agent

    def tell(self, whole: Part, untold: NDArray[np.bool_]) -> None:
        """Tell the opponents that remember something which games are new to them.

        Args:
            whole: all games.
            untold: (games,), those that have begun since; False afterwards, but for those of an opponent that failed.

        Raises:
            AgentError: one raised an exception.
        """
        places = whole.episodes["opponent"]
        if untold.any() and not all(agent is None or is_stateless(agent) for agent in self._agents):
            for place, agent, name in self._playing(places):
                new = untold & (places == place)
                if not is_stateless(agent) and new.any():
                    reset_agent(agent, name, new.copy())
                    untold &= ~new
        untold[:] = False

    def ask(
        self,
        whole: Part,
        parts: Sequence[Part],
        crew: Crew,
        generator: np.random.Generator,
        copy_game: Callable[[int], Game],
    ) -> None:
        """Find the orders of all opponents, before anything is played.

        Args:
            whole: all games; receives the orders.
            parts: the same games, part by part.
            crew: who does a part each.
            generator: the source of randomness of agents that are not seeded.
            copy_game: returns a copy of one of the games, for agents that plan.

        Raises:
            AgentError: an opponent raised an exception, or returned something else than orders.
        """
        seeded: list[_Seated] = []
        if (self.drawn.kinds == ELSEWHERE).any():
            for seated in self._playing(whole.episodes["opponent"]):
                if isinstance(seated.agent, SeededAgent):
                    seeded.append(seated)
                else:
                    self._ask_at_once(whole, seated, generator, copy_game)
        if seeded:
            crew.run(lambda place: self._act_seeded(parts[place], seeded))
        else:
            order_for_opponents(whole, self.drawn)

    def _ask_at_once(
        self, whole: Part, seated: _Seated, generator: np.random.Generator, copy_game: Callable[[int], Game]
    ) -> None:
        """Ask an agent about the games that it plays, as one batch; who remembers keeps a row of every game."""
        rows, games = _rows_against(whole, seated.place), len(whole.games)
        if len(rows) == 0:
            return
        asked = rows if is_stateless(seated.agent) else np.arange(games)
        orders = np.zeros((games, SATELLITES), np.int64)
        observations, masks = self._seen(whole, seated.agent, asked)
        sides = 1 - whole.episodes["seat"][asked]
        orders[asked] = compute_actions(
            seated.agent,
            seated.name,
            observations,
            masks,
            generator,
            lambda: [copy_game(row) for row in asked.tolist()],
            sides,
        )
        whole.enemy_orders[rows] = orders[rows]

    def _act_seeded(self, part: Part, seeded: list[_Seated]) -> None:
        """Find the orders of those opponents of a part's games that act in the engine, or by keys."""
        order_for_opponents(part, self.drawn)
        for place, agent, name in seeded:
            rows = _rows_against(part, place)
            if len(rows) > 0 and isinstance(agent, SeededAgent):
                part.enemy_orders[rows] = compute_seeded_actions(
                    agent, name, *self._seen(part, agent, rows), part.keys[rows]
                )

    def _seen(self, part: Part, agent: Agent, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Return what an opponent sees of some games of a part, and its masks."""
        encoding = agent.observation
        size = observation_size(encoding, self._outer_ring)
        observations = np.empty((len(rows), size), observation_type(encoding))
        masks = np.empty((len(rows), SATELLITES, ORDERS), np.int8)
        figures = part.token_figures if encoding == "tokens" else part.onehot_figures
        observe_seats(part, rows, True, sector_slots(encoding, self._outer_ring), figures, observations)
        write_seat_masks(part, rows, True, masks.view(np.int32))
        return observations, masks


def _rows_against(part: Part, opponent: int) -> NDArray[np.int64]:
    return np.flatnonzero((part.episodes["is_over"] == 0) & (part.episodes["opponent"] == opponent))


def _is_same(known: Opponent | None, given: Opponent) -> bool:
    return known is given or (isinstance(given, str) and known == given)


def _kind_of(agent: Agent | None) -> int:
    # Subclasses may act in another way.
    return {IdleAgent: IDLE, RandomAgent: RANDOM}.get(type(agent), ELSEWHERE)


def read_mixture(mixture: Any) -> list[tuple[Opponent, float]]:
    """Return opponents with their weights, those with weight 0 left out.

    Raises:
        ValueError: there is none, a weight is wrong, or one is given twice.
    """
    if isinstance(mixture, str) or hasattr(mixture, "act"):
        return [(mixture, 1.0)]
    pairs = list(mixture.items()) if isinstance(mixture, Mapping) else _read_pairs(mixture)
    if len(pairs) > MAX_OPPONENTS:
        raise ValueError(f"opponent: {len(pairs)} opponents: give at most {MAX_OPPONENTS}")
    weighted = [(given, _read_weight(given, weight)) for given, weight in pairs]
    for place, (given, _) in enumerate(weighted):
        if any(_is_same(other, given) for other, _ in weighted[:place]):
            raise ValueError(f"opponent {given!r} is given twice: give each one once, with its whole weight")
    drawn = [(given, weight) for given, weight in weighted if weight > 0]
    if not drawn:
        raise ValueError(f"opponent = {mixture!r}: give at least one opponent with a positive weight")
    return drawn


def _read_pairs(mixture: Any) -> list[tuple[Any, Any]]:
    if not isinstance(mixture, Iterable):
        raise ValueError(f"opponent = {mixture!r}: give an agent's name, an Agent, or a mixture of them with weights")
    pairs = []
    for pair in mixture:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"opponent: {pair!r}: a mixture consists of pairs (agent, weight)")
        pairs.append((pair[0], pair[1]))
    return pairs


def _read_weight(given: Any, weight: Any) -> float:
    is_number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if not is_number or not 0 <= weight <= sys.float_info.max:
        raise ValueError(f"opponent {given!r}: weight = {show(weight)}: give a finite number from 0")
    return float(weight)
