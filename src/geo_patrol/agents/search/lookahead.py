"""A player that looks one phase ahead: a policy proposes orders for both sides, and values what comes of them."""

import time
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, ask_agent
from geo_patrol.agents.scripted import ScriptedAgent
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.position import TURN, observe_sides, read_position
from geo_patrol.agents.search.rollouts import ENEMY, OWN
from geo_patrol.agents.search.searcher import Searcher, better_half, choose, rounds_for
from geo_patrol.engine.chance import mix, stream_number
from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.encodings import NO_SLOTS, RULE_FIGURES, TOKEN_SIZE
from geo_patrol.engine.legal_sets import write_legal_sets
from geo_patrol.engine.observe import observe_games, write_rule_figures_of_games
from geo_patrol.engine.scratch import make_scratch
from geo_patrol.engine.state import (
    GAME,
    MAX_OUTCOMES,
    NOBODY,
    OUTCOME,
    RULES,
    SATELLITES,
    SIDES,
    IntArray,
    Record,
    Records,
    records,
)
from geo_patrol.engine.turn import play_orders
from geo_patrol.jit import jit

_MOST_SAMPLES = 4096  # of one candidate
_SAMPLES = 24  # orders that the policy is asked for
_AT_ONCE = 192  # positions that are valued in one call: fewer take hardly less time
_ENEMY_POLICY, _ENEMY_SCRIPTED = 12, 4  # orders that the enemy is expected to choose from
_PROPOSALS, _CHANCE = np.uint64(1), np.uint64(3)


@runtime_checkable
class Critic(Agent, Protocol):
    """An agent that can tell how good a position is, from its observation in its encoding."""

    def value(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
        ...


@jit
def outcome_of(game: Record) -> float:
    """Return what a finished game is worth to the own side: 1 won, 0 drawn, -1 lost."""
    winner = winner_of(game)
    return 0.0 if winner == NOBODY else 1.0 - 2.0 * winner


@jit
def play_one_phase(
    root: Records,
    rules: Record,
    candidates: IntArray,
    standing: IntArray,
    expected: IntArray,
    key: np.uint64,
    first: int,
    games: Records,
    outcomes: Records,
) -> None:
    """Play candidates for one phase: the n-th sample of each meets the same enemy orders and the same chance.

    Args:
        root: (1,), the position; left alone.
        rules: its rules.
        candidates: (c, 11) joint orders.
        standing: the numbers of the candidates that are judged.
        expected: (k, 11) orders of the enemy, one after the other.
        key: where all chance comes from.
        first: the number of the first sample.
        games: (samples * standing,), receives what comes of them, the candidates of a sample side by side.
        outcomes: room for one engagement.
    """
    scratch = make_scratch(rules.outer_ring)
    legal, orders = np.empty((SIDES, SATELLITES), np.int32), np.empty((SIDES, SATELLITES), np.int64)
    for place in range(len(games)):
        number = first + place // len(standing)
        game = games[place]
        games[place] = root[0]
        game.chance_key = mix(stream_number(key, np.uint64(number)))
        game.chance_counter = np.uint64(0)
        write_legal_sets(game, rules, scratch, legal)
        orders[OWN] = candidates[standing[place % len(standing)]]
        orders[ENEMY] = expected[number % len(expected)]
        play_orders(game, rules, legal, orders, outcomes)


@jit
def write_outcomes(games: Records, values: NDArray[np.float64]) -> None:
    """Put what is known of finished games in the place of estimates, (n,)."""
    for place in range(len(games)):
        if games[place].done:
            values[place] = outcome_of(games[place])


class LookaheadAgent(Searcher):
    """Judges what a policy proposes one phase ahead, by the policy's own estimate of the positions that may follow.

    The enemy is expected to play as the policy would in its place, or as ``scripted``. All candidates meet the same enemy
    orders and the same chance; after each of a few rounds the worse half is dropped.

    Args:
        search: the budget and other parameters.
        critic: proposes and judges; its observation is in tokens.
        models: other agents that the enemy may be.
    """

    def __init__(self, search: Search, critic: Critic, *, models: Sequence[Agent] | None = None) -> None:
        super().__init__(search)
        self._critic = critic
        self._models = (ScriptedAgent(),) if models is None else tuple(models)

    def _decide(self, seen: NDArray[np.int16], mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders for one position."""
        start = time.perf_counter()
        generator = np.random.default_rng(int(np.uint64(stream_number(key, _PROPOSALS))))
        root, rules = records(GAME, 1), records(RULES, 1)
        read_position(seen, root[0], rules[0])
        candidates = self._propose(seen, mask, generator)
        expected = self._expect(root, rules, seen, generator)
        values = np.zeros((len(candidates), _MOST_SAMPLES))
        standing = np.arange(len(candidates))
        played, rounds = 0, rounds_for(len(standing))
        for turn in range(rounds):
            deadline = start + self.seconds * (turn + 1) / rounds
            step = (
                max(self.wanted_rollouts // (rounds * len(standing)), 1)
                if self.wanted_rollouts
                else _AT_ONCE // len(standing)
            )
            while played + step <= _MOST_SAMPLES:
                games = self._play(root, rules, candidates, standing, expected, key, played, step)
                values[standing, played : played + step] = self._value(games, rules, seen).reshape(step, -1).T
                played += step
                if self.wanted_rollouts or time.perf_counter() >= deadline:
                    break
            standing = better_half(values[:, :played], standing)
        chosen: NDArray[np.int64] = candidates[choose(values[:, :played], standing, self.search.doubt)]
        return chosen

    def _propose(
        self, seen: NDArray[np.int16], mask: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return what the policy draws, (c, 11): the most frequent first, each once."""
        count = self.search.samples or _SAMPLES
        drawn = ask_agent(
            self._critic, self._critic.name, np.repeat(seen[None], count, 0), np.repeat(mask[None], count, 0), generator
        )
        different, first, times = np.unique(drawn, axis=0, return_index=True, return_counts=True)
        return different[np.lexsort((first, -times))][: self.search.candidates]

    def _expect(
        self, root: Records, rules: Records, seen: NDArray[np.int16], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return what the enemy may order, (k, 11), in mixed order."""
        observations, masks = observe_sides(root, rules, "tokens")
        observations[:, TURN] += seen[TURN]  # the position counts turns from now
        asked = [(self._critic, _ENEMY_POLICY), *((model, _ENEMY_SCRIPTED) for model in self._models)]
        orders = []
        for agent, count in asked:
            batch = np.repeat(observations[ENEMY:], count, 0), np.repeat(masks[ENEMY:], count, 0)
            agent.reset(np.ones(count, np.bool_))
            orders.append(ask_agent(agent, agent.name, *batch, generator).clip(0))
        return generator.permutation(np.concatenate(orders))

    def _play(
        self,
        root: Records,
        rules: Records,
        candidates: NDArray[np.int64],
        standing: NDArray[np.int64],
        expected: NDArray[np.int64],
        key: np.uint64,
        first: int,
        count: int,
    ) -> Records:
        """Return the positions that come of a few samples of each candidate that stands."""
        games, outcomes = records(GAME, count * len(standing)), records(OUTCOME, MAX_OUTCOMES)
        chance = np.uint64(stream_number(key, _CHANCE))
        play_one_phase(root, rules[0], candidates, standing, expected, chance, first, games, outcomes)
        self.rollouts += len(games)
        return games

    def _value(self, games: Records, rules: Records, seen: NDArray[np.int16]) -> NDArray[np.float64]:
        """Return what positions are worth to the own side, (n,)."""
        figures = np.empty((1, SIDES, RULE_FIGURES), np.int16)
        write_rule_figures_of_games(rules, NO_SLOTS, figures, np.ones(1, np.bool_))
        observations = np.empty((len(games), SIDES, TOKEN_SIZE), np.int16)
        observe_games(games, rules, NO_SLOTS, figures, observations)
        observations[:, :, TURN] += seen[TURN]
        values = self._critic.value(observations[:, OWN]).astype(np.float64)
        write_outcomes(games, values)
        return values
