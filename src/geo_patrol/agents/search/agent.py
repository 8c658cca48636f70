"""A player that looks ahead: it plays candidate orders out to the end of the game and gives those that won most."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.scripted import Raid, ScriptedAgent
from geo_patrol.agents.scripted.paths import Paths, find_table, path_costs_of
from geo_patrol.agents.scripted.tactics import raid_tactics
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.candidates import add_mutations, propose_by_scripts, read_masks
from geo_patrol.agents.search.rollouts import Enemies, roll_out
from geo_patrol.agents.search.searcher import Searcher, better_half, choose, rounds_for, sample_actions
from geo_patrol.engine.rng import stream_number
from geo_patrol.engine.state import GAME, MAX_OUTCOMES, OUTCOME, SATELLITES, Records, records
from geo_patrol.game import Game

OWN_RAIDS = (Raid(defenders=6), Raid(defenders=4), Raid(defenders=7), Raid(defenders=10))
"""By what the own side may go on; the first is what it plays unless something else is better."""
ENEMY_RAIDS = (
    Raid(defenders=6),
    Raid(defenders=3),
    Raid(defenders=5, dodge=0.3),
    Raid(defenders=7),
    Raid(defenders=6, dodge=0.2, path="cheap"),
)
"""What the enemy may go by."""

_MAX_ROLLOUTS = 4096  # of one candidate
_SAMPLES = 4  # orders that an agent is asked for that proposes, or that the enemy may be
_SCRIPTS, _PROPOSALS, _MUTATIONS, _ROLLOUTS = (np.uint64(number) for number in range(4))


class _Bout(NamedTuple):
    """A decision: the position, and the candidates with what their rollouts were worth."""

    root: Records
    work: Records
    rules: Records
    side: int
    paths: Paths
    candidates: NDArray[np.int64]
    tactics: NDArray[np.int64]
    values: NDArray[np.float64]
    enemies: Enemies
    outcomes: Records
    key: np.uint64


class SearchAgent(Searcher):
    """Judges candidate orders by playing them out to the end of the game, and gives the best.

    Candidates are what scripts and a proposer would order, and mutations of that. They are played out, by scripts on
    both sides, against a mixture of models of the enemy; after each of a few rounds the worse half is dropped. The
    orders of the first script are given unless others are better beyond doubt.

    Args:
        search: the budget and other parameters.
        own: by what the own side goes on after its candidates; the first is the one to improve on.
        enemies: what the enemy may go by.
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

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game."""
        start = time.perf_counter()
        bout = self._open(game, side, mask, key)
        survivors = np.arange(len(bout.candidates))
        played, rounds = 0, rounds_for(len(survivors))
        for turn in range(rounds):
            deadline = start + self.seconds * (turn + 1) / rounds
            played = self._judge(bout, survivors, played, rounds, deadline)
            survivors = better_half(bout.values[:, :played], survivors)
        chosen: NDArray[np.int64] = bout.candidates[choose(bout.values[:, :played], survivors, self.search.doubt)]
        return chosen

    def _open(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> _Bout:
        """Find the candidates and what the enemy may do."""
        batch = game.to_batch()
        root, rules = batch.games, batch.rules
        paths = find_table(path_costs_of(rules[0]))
        most = self.search.candidates
        candidates, tactics = np.zeros((most, SATELLITES), np.int64), np.zeros(most, np.int64)
        sets = read_masks(mask)
        generator = np.random.default_rng(int(_chance(key, _PROPOSALS)))
        room = most if self._proposer is None else max(most // 2, 1)  # the other half is for what is proposed
        asked, script_key = min(room, 2 * len(self._own)), _chance(key, _SCRIPTS)
        count = propose_by_scripts(
            root[0], rules[0], side, paths, sets, self._own, asked, script_key, candidates, tactics
        )
        proposers = self._models if self._proposer is None else (self._proposer,)
        for proposer in proposers:
            for orders in sample_actions(proposer, game, side, self.search.samples or _SAMPLES, generator):
                is_legal = ((sets >> orders) & 1).all()
                if count < most and is_legal and not (candidates[:count] == orders).all(axis=1).any():
                    candidates[count] = orders
                    count += 1
        count = add_mutations(sets, count, count, _chance(key, _MUTATIONS), candidates, tactics)
        models = [sample_actions(model, game, 1 - side, _SAMPLES, generator) for model in self._models]
        expected = np.concatenate([np.zeros((0, SATELLITES), np.int64), *models])
        return _Bout(
            root=root,
            work=records(GAME, 1),
            rules=rules,
            side=side,
            paths=paths,
            candidates=candidates[:count],
            tactics=tactics[:count],
            values=np.zeros((count, _MAX_ROLLOUTS)),
            enemies=Enemies(self._enemies, expected),
            outcomes=records(OUTCOME, MAX_OUTCOMES),
            key=_chance(key, _ROLLOUTS),
        )

    def _judge(self, bout: _Bout, survivors: NDArray[np.int64], played: int, rounds: int, deadline: float) -> int:
        """Play the candidates that stand out for one round; return how many rollouts each has had by now."""
        step = max(self.wanted_rollouts // (rounds * len(survivors)), 1) if self.wanted_rollouts else 1
        while played < _MAX_ROLLOUTS:
            step = min(step, _MAX_ROLLOUTS - played)
            roll_out(
                bout.root,
                bout.work,
                bout.rules[0],
                bout.side,
                bout.paths,
                bout.candidates,
                bout.tactics,
                self._own,
                bout.enemies,
                survivors,
                bout.key,
                played,
                step,
                bout.values,
                bout.outcomes,
            )
            played += step
            self.rollouts += step * len(survivors)
            if self.wanted_rollouts or time.perf_counter() >= deadline:
                break
        return played


def _chance(key: np.uint64, number: np.uint64) -> np.uint64:
    """Return one of the keys that belong to a key; compiled functions return plain integers."""
    return np.uint64(stream_number(key, number))
