"""Opponents of a vector environment: one agent, or a mixture that may change while training."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.agents import Agent, protocol
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.registry import absolute_name, as_agent
from geo_patrol.base.errors import show
from geo_patrol.config.presets import Overrides
from geo_patrol.engine import rng, steps
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.own import Observation, Reward
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.envs.arguments import MaskIn, RewardName, Seats
from geo_patrol.envs.episodes import Episodes
from geo_patrol.envs.threads import WorkerPool

MAX_OPPONENTS = 1000
"""Maximum number of opponents in a mixture."""

Opponent: TypeAlias = str | Agent
Mixture: TypeAlias = Opponent | Mapping[Any, float] | Sequence[tuple[Opponent, float]]
"""One opponent, or several with weights: ``"random"``, ``{"random": 1, "scripted": 3}``, or pairs of agent and
weight."""


class VectorOptions(TypedDict, total=False):
    """Keyword arguments of ``VectorGeoPatrol`` and ``make_vec``, which describe them."""

    overrides: Overrides | None
    opponent: Mixture | None
    seats: Seats | None
    threads: int
    autoreset: str | AutoresetMode
    mask_in: MaskIn
    observation: Encoding | Observation
    reward: RewardName | Reward
    max_cycles: int | None
    count_events: bool
    copy: bool
    render_mode: str | None
    render_size: tuple[int, int]


class OpponentAgent(NamedTuple):
    """An opponent in play that acts outside the engine."""

    opponent: int
    agent: Agent
    name: str


class OpponentTable:
    """All opponents that an environment has had, each with an index of its own that stays the same.

    A name or an object that was there before keeps its index. An agent that new episodes no longer choose is released
    when the last game against it is over.
    """

    def __init__(self) -> None:
        self._specs: list[Opponent | None] = []
        self._agents: list[Agent | None] = []
        self._names: list[str] = []
        self.choices: steps.Opponents = steps.NO_OPPONENTS
        """The opponents that new episodes choose from."""

    @property
    def names(self) -> tuple[str, ...]:
        """The opponents' names by their indices; of two with the same name, the second is called "net (2)"."""
        return tuple(self._names)

    def is_in_play(self, index: int) -> bool:
        """Return whether there is an opponent at an index, and it was not released."""
        return 0 <= index < len(self._agents) and self._agents[index] is not None

    def set(self, mixture: Mixture) -> None:
        """Let episodes that start from now on choose from a mixture.

        Raises:
            ValueError: an opponent or a weight is wrong; nothing has changed then.
        """
        weighted = read_mixture(mixture)
        agents = [self._find_or_make(spec) for spec, _ in weighted]
        indices = [self._add(spec, agent) for (spec, _), agent in zip(weighted, agents, strict=True)]
        largest = max(weight for _, weight in weighted)
        sums = np.cumsum([weight / largest for _, weight in weighted])
        cumulative = sums / sums[-1]
        cumulative[-1] = 1.0
        kinds = [_kind_of(agent) for agent in self._agents]
        self.choices = steps.Opponents(np.array(indices, np.int64), cumulative, np.array(kinds, np.int64))

    def _find_or_make(self, spec: Opponent) -> Agent:
        for known, agent in zip(self._specs, self._agents, strict=True):
            if agent is not None and _is_same(known, spec):
                return agent
        return as_agent(spec, "opponent")

    def _add(self, spec: Opponent, agent: Agent) -> int:
        for index, known in enumerate(self._specs):
            if _is_same(known, spec):
                self._agents[index] = agent
                return index
        self._specs.append(spec)
        self._agents.append(agent)
        self._names.append(protocol.unique_name(str(agent.name), self._names))
        return len(self._agents) - 1

    def players(self, indices: NDArray[np.int64]) -> list[OpponentAgent]:
        """Return the opponents that act outside the engine, of those at ``indices``, one for each game.

        Those that are neither there nor chosen any more are released.
        """
        counts = np.bincount(indices, minlength=len(self._agents))
        for index in np.flatnonzero(counts == 0):
            if self._agents[index] is not None and index not in self.choices.indices:
                self._agents[index] = None
                if not isinstance(self._specs[index], str):
                    self._specs[index] = None
        external = [int(index) for index in np.flatnonzero(counts) if self.choices.kinds[index] == steps.EXTERNAL]
        return [OpponentAgent(index, self.agent(index), self._names[index]) for index in external]

    def agent(self, index: int) -> Agent:
        """Return the opponent at an index, which was not released."""
        agent = self._agents[index]
        assert agent is not None, f"opponent {index} was released while it played"
        return agent

    def reset(self, episodes: Episodes, new_games: NDArray[np.bool_]) -> None:
        """Notify the opponents that have a memory of their new games.

        Args:
            episodes: all games.
            new_games: (num_games,), those that started since; False afterwards, except for an opponent that failed.

        Raises:
            AgentError: an opponent raised an exception.
        """
        if new_games.any() and not all(agent is None or protocol.is_stateless(agent) for agent in self._agents):
            indices = episodes.records["opponent"]
            for index, agent, name in self.players(indices):
                new = new_games & (indices == index)
                if not protocol.is_stateless(agent) and new.any():
                    protocol.reset_agent(agent, name, new.copy())
                    new_games &= ~new
        new_games[:] = False

    def act(
        self, episodes: Episodes, shards: Sequence[NDArray[np.int64]], pool: WorkerPool, generator: np.random.Generator
    ) -> None:
        """Write the actions of the opponents outside the engine to the batch's episodes, before anything is played.

        Args:
            episodes: all games.
            shards: the indices of the games of each thread.
            pool: the threads.
            generator: random generator of agents that take no keys.

        Raises:
            AgentError: an opponent raised an exception, or returned something other than orders.
        """
        if not (self.choices.kinds == steps.EXTERNAL).any():
            return
        players = self.players(episodes.records["opponent"])
        views: dict[Encoding | Observation, tuple[NDArray[Any], NDArray[np.int8]]] = {}
        for _, agent, name in players:
            if agent.observation not in views:
                with protocol.errors_of(name, "observation"):
                    views[agent.observation] = episodes.observe_opponents(agent.observation)
        seeded = [player for player in players if protocol.takes_keys(player.agent)]
        for player in players:
            if not protocol.takes_keys(player.agent):
                self._act_at_once(episodes, player, *views[player.agent.observation], generator)
        if seeded:
            pool.run(lambda shard: self._act_seeded(episodes, shards[shard], seeded, views))

    def _act_at_once(
        self,
        episodes: Episodes,
        player: OpponentAgent,
        observations: NDArray[Any],
        masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> None:
        """Get an agent's actions for all its games as one batch; one with a memory keeps a row for every game.

        In the rows of games that are not its own only noop is legal, which saves agents that look at the masks work.
        """
        rows = _games_against(episodes, player.opponent, np.arange(len(episodes)))
        if len(rows) == 0:
            return
        played = rows
        if not protocol.is_stateless(player.agent):
            played, own_masks = np.arange(len(episodes)), masks[rows]
            masks = np.zeros_like(masks)
            masks[..., NOOP] = 1
            masks[rows] = own_masks
        actions = np.zeros((len(episodes), SATELLITES), np.int64)
        actions[played] = protocol.compute_actions(
            player.agent,
            player.name,
            observations[played],
            masks[played],
            generator,
            lambda: protocol.copy_games(episodes.games, played),
            1 - episodes.records["seat"][played],
        )
        episodes.records["opponent_actions"][rows] = actions[rows]

    def _act_seeded(
        self,
        episodes: Episodes,
        shard: NDArray[np.int64],
        players: list[OpponentAgent],
        views: dict[Encoding | Observation, tuple[NDArray[Any], NDArray[np.int8]]],
    ) -> None:
        """Get the actions of those opponents of a shard's games that take keys."""
        for opponent, agent, name in players:
            rows = _games_against(episodes, opponent, shard)
            if len(rows) > 0:
                observations, masks = views[agent.observation]
                keys = rng.next_keys(
                    episodes.records["opponent_stream"][rows]
                )  # of copies: the step advances the streams
                actions = protocol.compute_actions(agent, name, observations[rows], masks[rows], keys)
                episodes.records["opponent_actions"][rows] = actions


def _games_against(episodes: Episodes, opponent: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of the games at ``rows`` that go on and are played against an opponent."""
    records = episodes.records[rows]
    selected: NDArray[np.int64] = rows[(records["is_over"] == 0) & (records["opponent"] == opponent)]
    return selected


def _is_same(known: Opponent | None, spec: Opponent) -> bool:
    return known is spec or (isinstance(spec, str) and known == spec)


def _kind_of(agent: Agent | None) -> int:
    kinds: dict[type[Any], int] = {
        IdleAgent: steps.IDLE,
        RandomAgent: steps.RANDOM,
    }  # subclasses may act in another way
    return kinds.get(type(agent), steps.EXTERNAL)


def read_mixture(mixture: Any) -> list[tuple[Opponent, float]]:
    """Return opponents with their weights, without those of weight 0.

    Raises:
        ValueError: there is none, a weight is wrong, or one is given twice.
    """
    if isinstance(mixture, Mapping):
        pairs = list(mixture.items())
    elif isinstance(mixture, Iterable) and not isinstance(mixture, str | Agent):
        pairs = _read_pairs(mixture)
    else:
        return [(mixture, 1.0)]
    if len(pairs) > MAX_OPPONENTS:
        raise ValueError(f"opponent: at most {MAX_OPPONENTS} opponents are allowed, got {len(pairs)}")
    weighted = [(spec, _read_weight(spec, weight)) for spec, weight in pairs]
    for i, (spec, _) in enumerate(weighted):
        if any(_is_same(other, spec) for other, _ in weighted[:i]):
            raise ValueError(f"opponent {spec!r} is given twice; it must be given once, with its whole weight")
    positive = [(spec, weight) for spec, weight in weighted if weight > 0]
    if not positive:
        raise ValueError(f"opponent must have at least one opponent with a positive weight, got {mixture!r}")
    return positive


def for_copies(mixture: list[tuple[Opponent, float]]) -> list[tuple[Opponent, float]]:
    """Return opponents for copies of an environment, which may be made in another working directory."""
    return [(absolute_name(spec) if isinstance(spec, str) else spec, weight) for spec, weight in mixture]


def _read_pairs(mixture: Iterable[Any]) -> list[tuple[Any, Any]]:
    pairs = []
    for pair in mixture:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"opponent: {pair!r}: a mixture consists of pairs (agent, weight)")
        pairs.append((pair[0], pair[1]))
    return pairs


def _read_weight(spec: Any, weight: Any) -> float:
    is_number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    number = (
        weight.item() if isinstance(weight, np.generic) else weight
    )  # float32 cannot be compared with the largest float
    if not is_number or not 0 <= number <= sys.float_info.max:
        raise ValueError(f"opponent {spec!r}: weight must be a finite number of at least 0, got {show(weight)}")
    return float(number)
