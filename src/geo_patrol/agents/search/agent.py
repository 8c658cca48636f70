"""The agent ``search``: plays candidate orders out to the end of the game, and chooses those that won most."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.scripted import Raid, ScriptedAgent
from geo_patrol.agents.scripted.paths import find_table, path_costs_of
from geo_patrol.agents.scripted.seeded import sample_keys
from geo_patrol.agents.scripted.tactics import raid_tactics
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.rollouts import Decision, add_mutations, propose_by_scripts, roll_out
from geo_patrol.agents.search.searcher import Searcher, choose, halve, rounds_for, sample_actions
from geo_patrol.engine.rng import stream_number
from geo_patrol.engine.state import GAME, MAX_OUTCOMES, ORDERS, OUTCOME, SATELLITES, records
from geo_patrol.game import Game
from geo_patrol.sides import SIDES

OWN_RAIDS = (Raid(defenders=6), Raid(defenders=4), Raid(defenders=7), Raid(defenders=10))
"""Scripts that continue for the own side; the orders of the first are played unless others are better."""
ENEMY_RAIDS = (
    Raid(defenders=6),
    Raid(defenders=3),
    Raid(defenders=5, dodge=0.3),
    Raid(defenders=7),
    Raid(defenders=6, dodge=0.2, path="cheap"),
)
"""Scripts that the enemy may be."""

_MAX_ROLLOUTS = 4096  # of one candidate
_SAMPLES = 4  # joint orders sampled from a proposer, and from each model of the enemy
_SCRIPTS, _PROPOSALS, _MUTATIONS, _ROLLOUTS = (np.uint64(number) for number in range(4))


class Advice(NamedTuple):
    """Orders that a search found best, and its estimate of them."""

    orders: NDArray[np.int64]
    """(11,) order codes."""
    win_probability: float
    """The fraction of their rollouts that were won, draws counted as half."""
    rollouts: int
    """How many games were played out with them."""


class SearchAgent(Searcher):
    """Evaluates candidate orders by rollouts to the end of the game, and chooses the best.

    Candidates are the orders of scripts and of a proposer, and mutations of them. Rollouts are played by scripts on both
    sides, against a mixture of models of the enemy, and distributed by sequential halving, see ``halve``. The orders of
    the first script are chosen unless others are better by ``doubt`` standard errors.

    Args:
        search: the budget and other parameters.
        own: scripts that continue for the own side after its candidates; the first is the baseline.
        enemies: scripts that the enemy may be.
        models: other agents that the enemy may be; their orders of this phase are sampled.
        proposer: an agent that proposes candidates, such as a learned policy.
    """

    def __init__(
        self,
        search: Search | None = None,
        *,
        own: Sequence[Raid] = OWN_RAIDS,
        enemies: Sequence[Raid] = ENEMY_RAIDS,
        models: Sequence[Agent] | None = None,
        proposer: Agent | None = None,
    ) -> None:
        super().__init__(Search() if search is None else search)
        self._own, self._enemies = raid_tactics(*own), raid_tactics(*enemies)
        self._models = (ScriptedAgent(),) if models is None else tuple(models)
        self._proposer = proposer

    def advise(self, game: Game, side: int, generator: np.random.Generator) -> Advice:
        """Choose orders as ``plan`` does, and estimate how likely they win.

        Args:
            game: the position, in which the side has a choice; it is not changed.
            side: 0 alpha, 1 bravo.
            generator: source of randomness.

        Raises:
            AgentError: an agent that proposes or models raised an exception, or returned something else than orders.
        """
        mask = game.action_mask(SIDES[side])
        decision, chosen, played = self._search(game, side, mask, sample_keys(generator, 1)[0])
        results = np.round(2 * decision.values[chosen, :played]) / 2  # without the small term for the margin
        return Advice(decision.candidates[chosen], float(results.mean()), played)

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game."""
        decision, chosen, _ = self._search(game, side, mask, key)
        orders: NDArray[np.int64] = decision.candidates[chosen]
        return orders

    def _search(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> tuple[Decision, int, int]:
        """Return the decision, the index of the chosen candidate, and the number of its rollouts."""
        start = time.perf_counter()
        decision = self._open(game, side, mask, key)
        survivors = np.arange(len(decision.candidates))
        played, rounds = 0, rounds_for(len(survivors))
        for turn in range(rounds):
            deadline = start + self.seconds * (turn + 1) / rounds
            played = self._evaluate(decision, survivors, played, rounds, deadline)
            survivors = halve(decision.values[:, :played], survivors)
        return decision, choose(decision.values[:, :played], survivors, self.search.doubt), played

    def _open(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> Decision:
        """Collect the candidates and the models of the enemy."""
        root, rules, *_ = game.as_games().state
        paths = find_table(path_costs_of(rules[0]))
        num_candidates = self.search.candidates
        candidates, tactics = np.zeros((num_candidates, SATELLITES), np.int64), np.zeros(num_candidates, np.int64)
        sets = (mask != 0) @ (1 << np.arange(ORDERS))  # of each satellite, bit by bit
        generator = np.random.default_rng(int(_subkey(key, _PROPOSALS)))
        num_scripted = (
            num_candidates if self._proposer is None else max(num_candidates // 2, 1)
        )  # the other half is for the proposer
        num_proposals, script_key = min(num_scripted, 2 * len(self._own)), _subkey(key, _SCRIPTS)
        count = propose_by_scripts(
            root[0], rules[0], side, paths, sets, self._own, num_proposals, script_key, candidates, tactics
        )
        proposers = self._models if self._proposer is None else (self._proposer,)
        for proposer in proposers:
            for orders in sample_actions(proposer, game, side, self.search.samples or _SAMPLES, generator):
                is_legal = ((sets >> orders) & 1).all()
                if count < num_candidates and is_legal and not (candidates[:count] == orders).all(axis=1).any():
                    candidates[count] = orders
                    count += 1
        count = add_mutations(sets, count, count, _subkey(key, _MUTATIONS), candidates, tactics)
        models = [sample_actions(model, game, 1 - side, _SAMPLES, generator) for model in self._models]
        expected = np.concatenate([np.zeros((0, SATELLITES), np.int64), *models])
        return Decision(
            root=root,
            rules=rules,
            side=side,
            paths=paths,
            candidates=candidates[:count],
            tactics=tactics[:count],
            own_tactics=self._own,
            enemy_tactics=self._enemies,
            enemy_orders=expected,
            key=_subkey(key, _ROLLOUTS),
            values=np.zeros((count, _MAX_ROLLOUTS)),
            work=records(GAME, 1),
            outcomes=records(OUTCOME, MAX_OUTCOMES),
        )

    def _evaluate(
        self, decision: Decision, survivors: NDArray[np.int64], played: int, rounds: int, deadline: float
    ) -> int:
        """Play one round of rollouts of the survivors; return the number of rollouts of each so far."""
        step = max(self.num_rollouts // (rounds * len(survivors)), 1) if self.num_rollouts else 1
        while played < _MAX_ROLLOUTS:
            step = min(step, _MAX_ROLLOUTS - played)
            roll_out(decision, survivors, played, step)
            played += step
            self.rollouts += step * len(survivors)
            if self.num_rollouts or time.perf_counter() >= deadline:
                break
        return played


def _subkey(key: np.uint64, number: np.uint64) -> np.uint64:
    """Return one of the keys derived from a key; compiled functions return plain integers."""
    return np.uint64(stream_number(key, number))
