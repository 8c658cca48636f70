"""A player that looks to the end of a turn: a policy proposes orders for both sides, and values what comes of them."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, compute_actions
from geo_patrol.agents.scripted import ScriptedAgent
from geo_patrol.agents.search.branches import Branches
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.searcher import Searcher, better_half, choose, rounds_for, sample_actions
from geo_patrol.engine.rng import stream_number
from geo_patrol.engine.state import ENGAGEMENT, MOVEMENT, SATELLITES, SIDES
from geo_patrol.game import Game

_MAX_SAMPLES = 4096  # of one candidate
_MIN_SAMPLES = 2  # of one candidate in each round
_AT_ONCE = 96  # positions that are played and valued in one call: fewer take hardly less time
_SAMPLES = 24  # joint orders that the policy is asked for, and as many of a wider choice
_WIDER = 2.5  # the temperature of these
# How much the logarithms of a policy's own chances count, beside values from -1 to 1. The policy has met more kinds of
# enemies than the two that are expected here; that matters most for movements, which decide what can happen for turns.
_PRIOR_WEIGHT = {MOVEMENT: 0.1, ENGAGEMENT: 0.005}
_ENEMY_POLICY, _ENEMY_SCRIPTED = 36, 12  # orders that the enemy is expected to choose from
_FIRST_SECONDS_PER_EVALUATION = 5e-5  # seconds for a position, until some were timed
_PROPOSALS, _CHANCE, _ANSWERS = np.uint64(1), np.uint64(3), np.uint64(4)


@runtime_checkable
class Critic(Agent, Protocol):
    """An agent that tells how likely its orders are, and how good a position is; its observation is in tokens."""

    def draw(
        self,
        observation: NDArray[Any],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Draw joint orders for one position, (count, 11), and tell the logarithm of the chance of each, (count,).

        A temperature above 1 makes unlikely orders more frequent; what is told are the chances without it.
        """
        ...

    def value(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
        ...


class LookaheadAgent(Searcher):
    """Judges what a policy proposes at the end of the turn, by the policy's own estimate of the positions there.

    The enemy is expected to play as the policy would in its place, or as ``scripted``; so is the engagement that follows
    a movement. All candidates meet the same enemy orders and the same chance; after each of a few rounds the worse half
    is dropped.

    Args:
        search: the budget and other parameters.
        critic: proposes and judges.
        models: other agents that the enemy may be.
    """

    def __init__(self, search: Search, critic: Critic, *, models: Sequence[Agent] | None = None) -> None:
        super().__init__(search)
        self._critic = critic
        self._models = (ScriptedAgent(),) if models is None else tuple(models)
        self._seconds_per_evaluation = {
            MOVEMENT: _FIRST_SECONDS_PER_EVALUATION,
            ENGAGEMENT: _FIRST_SECONDS_PER_EVALUATION,
        }

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game."""
        deadline = time.perf_counter() + self.seconds
        generator = np.random.default_rng(int(np.uint64(stream_number(key, _PROPOSALS))))
        batch = game.to_batch()
        observations, masks = batch.observe("tokens")[0], batch.masks()[0]
        candidates, log_probs = self._propose(observations[side], mask, generator)
        expected = self._expect(game, 1 - side, observations[1 - side], masks[1 - side], generator)
        branches = Branches(batch, side, np.uint64(stream_number(key, _CHANCE)))
        answers = np.random.default_rng(int(np.uint64(stream_number(key, _ANSWERS))))

        survivors = np.arange(num_to_evaluate(len(candidates), self._affordable(deadline, 0, branches.phase)))
        values = np.zeros((len(survivors), _MAX_SAMPLES))
        prior = _PRIOR_WEIGHT[branches.phase] * log_probs[survivors, None]
        played = judged = 0
        for rounds in range(rounds_for(len(survivors)), 0, -1):
            share = self._affordable(deadline, judged, branches.phase) // (rounds * len(survivors))
            goal = min(played + max(share, 1), _MAX_SAMPLES)
            while played < goal:
                stop = min(goal, played + max(_AT_ONCE // len(survivors), 1))
                found = self._judge(branches, candidates[survivors], expected, played, stop - played, answers)
                values[survivors, played:stop] = found + prior[survivors]
                judged, played = judged + found.size, stop
                if self.seconds and time.perf_counter() >= deadline:
                    break
            survivors = better_half(values[:, :played], survivors)
        self.rollouts += judged
        chosen: NDArray[np.int64] = candidates[choose(values[:, :played], survivors, self.search.doubt)]
        return chosen

    def _affordable(self, deadline: float, judged: int, phase: int) -> int:
        """Return how many more positions can be judged in this decision, when so many have been."""
        if self.wanted_rollouts:
            return self.wanted_rollouts - judged
        return max(int((deadline - time.perf_counter()) / self._seconds_per_evaluation[phase]), 0)

    def _propose(
        self, seen: NDArray[np.int16], mask: NDArray[np.int8], generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return joint orders, (c, 11), each once, and the logarithms of their chances, (c,).

        The most frequent of what the policy draws come first, then some of a wider choice: what a policy hardly ever
        tries may be best here.
        """
        count, most = self.search.samples or _SAMPLES, self.search.candidates
        drawn = self._critic.draw(seen, mask, count, generator), self._critic.draw(seen, mask, count, generator, _WIDER)
        orders, log_probs = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        different, first, places = np.unique(orders, axis=0, return_index=True, return_inverse=True)
        times = np.bincount(places[:count], minlength=len(first))
        ranked = np.lexsort((first, -times))
        usual, wider = ranked[times[ranked] > 0], ranked[times[ranked] == 0]
        kept = np.concatenate([usual[: max(most // 2, most - len(wider))], wider])[:most]
        return different[kept], log_probs[first[kept]].astype(np.float64)

    def _expect(
        self,
        game: Game,
        enemy: int,
        observation: NDArray[Any],
        mask: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> "Expected":
        """Return what the enemy may order, in random order."""
        orders = [self._critic.draw(observation, mask, _ENEMY_POLICY, generator)[0]]
        orders += [sample_actions(model, game, enemy, _ENEMY_SCRIPTED, generator) for model in self._models]
        givers = np.repeat(np.arange(len(orders)), [len(part) for part in orders])
        mixed = generator.permutation(len(givers))
        return Expected(np.concatenate(orders)[mixed], givers[mixed])

    def _judge(
        self,
        branches: Branches,
        candidates: NDArray[np.int64],
        expected: "Expected",
        first: int,
        count: int,
        generator: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Play a few samples of each candidate to the end of the turn and return what came of them, (c, count)."""
        start = time.perf_counter()
        branches.begin(first, count, len(candidates))
        numbers = np.arange(first, first + count) % len(expected.orders)
        orders = np.empty((count, len(candidates), SIDES, SATELLITES), np.int64)
        own, enemy = branches.side, 1 - branches.side
        orders[:, :, own] = candidates
        orders[:, :, enemy] = expected.orders[numbers, None]
        branches.play(orders.reshape(-1, SIDES, SATELLITES))
        if branches.phase == MOVEMENT:  # the engagement follows in the same turn
            branches.play(self._answer(branches, expected.givers[numbers].repeat(len(candidates)), generator))
        estimates = self._critic.value(branches.observations.reshape(len(branches) * SIDES, -1)).astype(np.float64)
        # Each side's estimate errs towards itself in positions that are new to it: their difference errs less.
        values = branches.put_outcomes((estimates[own::SIDES] - estimates[enemy::SIDES]) / 2)
        self._seconds_per_evaluation[branches.phase] = (time.perf_counter() - start) / len(branches)
        return values.reshape(count, len(candidates)).T

    def _answer(
        self, branches: Branches, givers: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return what both sides order after a movement, (n, 2, 11): the enemy as the one who moved, (n,), would."""
        orders = np.empty((len(branches), SIDES, SATELLITES), np.int64)
        own, enemy = branches.side, 1 - branches.side
        orders[:, own] = _act(self._critic, branches.observations[:, own], branches.masks[:, own], generator)
        for number, giver in enumerate((self._critic, *self._models)):
            rows = np.flatnonzero(givers == number)
            if len(rows):
                seen, masks = branches.observations[rows, enemy], branches.masks[rows, enemy]
                orders[rows, enemy] = _act(giver, seen, masks, generator)
        return orders


class Expected(NamedTuple):
    """What the enemy may order."""

    orders: NDArray[np.int64]
    """(k, 11)"""
    givers: NDArray[np.int64]
    """(k,), who would order it: 0 the policy, 1 the first model, and so on."""


def _act(
    agent: Agent, observations: NDArray[Any], masks: NDArray[np.int8], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return what an agent orders in positions that have nothing to do with each other, (n, 11)."""
    agent.reset(np.ones(len(masks), np.bool_))
    return compute_actions(agent, agent.name, observations, masks, generator).clip(0)


def num_to_evaluate(candidates: int, positions: int) -> int:
    """Return how many candidates can be told apart by so many positions, two or more."""
    count = candidates
    while count > 2 and positions < _MIN_SAMPLES * count * rounds_for(count):
        count = (count + 1) // 2
    return count
