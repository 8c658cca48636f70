"""Search to the end of the turn: a policy proposes orders for both sides, and evaluates the positions that result."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, compute_actions
from geo_patrol.agents.scripted import ScriptedAgent
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.searcher import Searcher, choose, halve, rounds_for, sample_actions
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import ENGAGEMENT, MOVEMENT, SATELLITES, SIDES
from geo_patrol.game import Game
from geo_patrol.notation import PHASES

if TYPE_CHECKING:
    from geo_patrol.games import Games

_MAX_SAMPLES = 4096  # of one candidate
_MIN_SAMPLES = 2  # of one candidate in each round
_AT_ONCE = 96  # positions that are played and evaluated in one call: fewer take hardly less time
_SAMPLES = 24  # joint orders sampled from the policy, and as many again at a higher temperature
_WIDER = 2.5  # that temperature
# The weight of the policy's log-probabilities as a prior, beside values from -1 to 1. The policy has met more kinds of
# enemies than the two that are modelled here; that matters most for movements, which decide what can happen for turns.
_PRIOR_WEIGHT = {MOVEMENT: 0.1, ENGAGEMENT: 0.005}
_ENEMY_SAMPLES = 48  # joint orders of the enemy
_FIRST_SECONDS_PER_EVALUATION = 5e-5  # seconds for a position, until some were timed
_PROPOSALS, _BRANCHES, _ANSWERS = np.uint64(1), np.uint64(3), np.uint64(4)


@runtime_checkable
class Critic(Agent, Protocol):
    """An agent that samples orders with their log-probabilities and estimates the value of positions, from tokens."""

    def sample(
        self,
        observation: NDArray[Any],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Sample joint orders for one position, (count, 11), and return them with their log-probabilities, (count,).

        A temperature above 1 makes unlikely orders more frequent; the log-probabilities are those at temperature 1.
        """
        ...

    def value(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
        ...


class Expected(NamedTuple):
    """Sampled orders of the enemy."""

    orders: NDArray[np.int64]
    """(k, 11)"""
    agents: NDArray[np.int64]
    """(k,), the index among the agents that the enemy may be, of the one that chose each."""


class Branches:
    """Copies of one position, played in parallel.

    Args:
        game: the position.
        side: the planning side.
        key: the random key of all branches.
    """

    def __init__(self, game: Game, side: int, key: np.uint64) -> None:
        self._root, self.side, self._key = game, side, key
        self.phase = PHASES.index(game.phase)
        """The phase that is played first, MOVEMENT or ENGAGEMENT."""
        self.begin(0, 0, 1)

    def __len__(self) -> int:
        return len(self._games)

    def begin(self, first: int, samples: int, copies: int) -> None:
        """Take samples * copies copies of the position; the copies of one sample have the same random stream.

        Args:
            first: the number of the first sample.
            samples: how many samples.
            copies: copies of each.
        """
        self._games: Games = self._root.repeat(samples * copies)
        keys = [mix(np.uint64(stream_number(self._key, np.uint64(first + i)))) for i in range(samples)]
        self._games.state.games["rng_key"] = np.repeat(np.array(keys, np.uint64), copies)
        self._games.state.games["rng_counter"] = 0

    @property
    def observations(self) -> NDArray[np.int16]:
        """The observations of both sides of each copy after the last phase, (n, 2, size), in tokens."""
        return self._games.observe("tokens")

    @property
    def masks(self) -> NDArray[np.int8]:
        """The legal orders of both sides of each copy after the last phase, (n, 2, 11, 28)."""
        return self._games.action_masks()

    def play(self, orders: NDArray[np.int64]) -> None:
        """Play one phase of all copies with the orders of both sides, (n, 2, 11)."""
        self._games.step(orders)

    def put_outcomes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return estimates, (n,), replaced by 1 (won), 0 (drawn) or -1 (lost) where the game is over."""
        values[:] = np.where(self._games.is_over, self._games.returns[:, self.side], values)
        return values


class LookaheadAgent(Searcher):
    """Plays the orders that a policy proposes to the end of the turn, and chooses by the policy's value estimates there.

    The enemy is modelled by the policy itself and by ``scripted``, or by an agent that is known to be the enemy, in this
    phase and in the engagement that follows a movement. All candidates meet the same enemy orders and random numbers; samples are distributed by sequential
    halving, see ``halve``.

    Args:
        search: the budget and other parameters.
        critic: proposes orders and estimates values.
        enemies: the agents that the enemy may be, and how often each is expected relative to the others; None: the
            policy, and less often ``scripted``.
    """

    def __init__(self, search: Search, critic: Critic, *, enemies: Sequence[tuple[Agent, float]] | None = None) -> None:
        super().__init__(search)
        self._critic = critic
        self._enemies = ((critic, 3.0), (ScriptedAgent(), 1.0)) if enemies is None else tuple(enemies)
        self._seconds_per_evaluation = {
            MOVEMENT: _FIRST_SECONDS_PER_EVALUATION,
            ENGAGEMENT: _FIRST_SECONDS_PER_EVALUATION,
        }

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game."""
        deadline = time.perf_counter() + self.seconds
        generator = np.random.default_rng(int(np.uint64(stream_number(key, _PROPOSALS))))
        games = game.as_games()
        observations, masks = games.observe("tokens")[0], games.action_masks()[0]
        candidates, log_probs = self._propose(observations[side], mask, generator)
        expected = self._expect(game, 1 - side, observations[1 - side], masks[1 - side], generator)
        branches = Branches(game, side, np.uint64(stream_number(key, _BRANCHES)))
        answers = np.random.default_rng(int(np.uint64(stream_number(key, _ANSWERS))))

        survivors = np.arange(num_to_evaluate(len(candidates), self._affordable(deadline, 0, branches.phase)))
        values = np.zeros((len(survivors), _MAX_SAMPLES))
        prior = _PRIOR_WEIGHT[branches.phase] * log_probs[survivors, None]
        played = evaluated = 0
        for rounds in range(rounds_for(len(survivors)), 0, -1):
            num_samples = self._affordable(deadline, evaluated, branches.phase) // (rounds * len(survivors))
            goal = min(played + max(num_samples, 1), _MAX_SAMPLES)
            while played < goal:
                stop = min(goal, played + max(_AT_ONCE // len(survivors), 1))
                found = self._evaluate(branches, candidates[survivors], expected, played, stop - played, answers)
                values[survivors, played:stop] = found + prior[survivors]
                evaluated, played = evaluated + found.size, stop
                if self.seconds and time.perf_counter() >= deadline:
                    break
            survivors = halve(values[:, :played], survivors)
        self.rollouts += evaluated
        chosen: NDArray[np.int64] = candidates[choose(values[:, :played], survivors, self.search.doubt)]
        return chosen

    def _affordable(self, deadline: float, evaluated: int, phase: int) -> int:
        """Return how many more positions can be evaluated in this decision after ``evaluated``."""
        if self.num_rollouts:
            return self.num_rollouts - evaluated
        return max(int((deadline - time.perf_counter()) / self._seconds_per_evaluation[phase]), 0)

    def _propose(
        self, seen: NDArray[np.int16], mask: NDArray[np.int8], generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return distinct joint orders, (c, 11), and their log-probabilities, (c,).

        The most frequent samples of the policy come first, then some of a higher temperature: what a policy hardly
        ever tries may be best here.
        """
        count, num_candidates = self.search.samples or _SAMPLES, self.search.candidates
        sampled = (
            self._critic.sample(seen, mask, count, generator),
            self._critic.sample(seen, mask, count, generator, _WIDER),
        )
        orders, log_probs = (np.concatenate(arrays) for arrays in zip(*sampled, strict=True))
        different, first, inverse = np.unique(orders, axis=0, return_index=True, return_inverse=True)
        times = np.bincount(inverse[:count], minlength=len(first))
        ranked = np.lexsort((first, -times))
        usual, wider = ranked[times[ranked] > 0], ranked[times[ranked] == 0]
        chosen = np.concatenate([usual[: max(num_candidates // 2, num_candidates - len(wider))], wider])[
            :num_candidates
        ]
        return different[chosen], log_probs[first[chosen]].astype(np.float64)

    def _expect(
        self,
        game: Game,
        enemy: int,
        observation: NDArray[Any],
        mask: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> Expected:
        """Sample orders of the enemy, shuffled."""
        total = sum(weight for _, weight in self._enemies)
        orders = []
        for agent, weight in self._enemies:
            count = max(round(_ENEMY_SAMPLES * weight / total), 1)
            if agent is self._critic:
                orders.append(self._critic.sample(observation, mask, count, generator)[0])
            else:
                orders.append(sample_actions(agent, game, enemy, count, generator))
        agents = np.repeat(np.arange(len(orders)), [len(sampled) for sampled in orders])
        mixed = generator.permutation(len(agents))
        return Expected(np.concatenate(orders)[mixed], agents[mixed])

    def _evaluate(
        self,
        branches: Branches,
        candidates: NDArray[np.int64],
        expected: Expected,
        first: int,
        count: int,
        generator: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Play ``count`` samples of each candidate to the end of the turn, and return their values, (c, count)."""
        start = time.perf_counter()
        branches.begin(first, count, len(candidates))
        numbers = np.arange(first, first + count) % len(expected.orders)
        orders = np.empty((count, len(candidates), SIDES, SATELLITES), np.int64)
        own, enemy = branches.side, 1 - branches.side
        orders[:, :, own] = candidates
        orders[:, :, enemy] = expected.orders[numbers, None]
        branches.play(orders.reshape(-1, SIDES, SATELLITES))
        if branches.phase == MOVEMENT:  # the engagement follows in the same turn
            branches.play(self._answer(branches, expected.agents[numbers].repeat(len(candidates)), generator))
        estimates = self._critic.value(branches.observations.reshape(len(branches) * SIDES, -1)).astype(np.float64)
        # Each side's estimate errs towards itself in positions that are new to it: their difference errs less.
        values = branches.put_outcomes((estimates[own::SIDES] - estimates[enemy::SIDES]) / 2)
        self._seconds_per_evaluation[branches.phase] = (time.perf_counter() - start) / len(branches)
        return values.reshape(count, len(candidates)).T

    def _answer(
        self, branches: Branches, agents: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the orders of both sides after a movement, (n, 2, 11); ``agents``, (n,): who plays the enemy."""
        orders = np.empty((len(branches), SIDES, SATELLITES), np.int64)
        own, enemy = branches.side, 1 - branches.side
        orders[:, own] = _act(self._critic, branches.observations[:, own], branches.masks[:, own], generator)
        for number, (agent, _) in enumerate(self._enemies):
            rows = np.flatnonzero(agents == number)
            if len(rows):
                seen, masks = branches.observations[rows, enemy], branches.masks[rows, enemy]
                orders[rows, enemy] = _act(agent, seen, masks, generator)
        return orders


def _act(
    agent: Agent, observations: NDArray[Any], masks: NDArray[np.int8], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the orders of an agent in unrelated positions, (n, 11)."""
    agent.reset(np.ones(len(masks), np.bool_))
    return compute_actions(agent, agent.name, observations, masks, generator).clip(0)


def num_to_evaluate(candidates: int, positions: int) -> int:
    """Return how many candidates can be distinguished by evaluating ``positions`` positions: two or more."""
    count = candidates
    while count > 2 and positions < _MIN_SAMPLES * count * rounds_for(count):
        count = (count + 1) // 2
    return count
