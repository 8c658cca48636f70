"""Agents of the raiding family: turtle, raider, mixed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.parameters import describe_parameters
from geo_patrol.agents.scripted.paths import Paths, find_table
from geo_patrol.agents.scripted.perception import (
    MOVEMENT_PHASE,
    check_observations,
    read_game,
    read_rules,
    split_by_path_costs,
)
from geo_patrol.agents.scripted.raid_orders import make_raid_plan, order_side
from geo_patrol.agents.scripted.seeded import DeterministicScript, SeededScript, sample_keys
from geo_patrol.agents.scripted.tactics import TACTICS, Raid, raid_tactics, sample_raid, turtle_tactics, write_raid
from geo_patrol.engine.legal import check_masks, read_mask, write_legal_orders
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.state import (
    ENGAGEMENT,
    GAME,
    MOVEMENT,
    NOOP,
    RULES,
    SATELLITES,
    SIDES,
    IntArray,
    Record,
    Records,
    make_workspace,
    records,
)
from geo_patrol.jit import jit

_OWN = 0


@jit
def order_rows(
    observations: IntArray,
    masks: IntArray,
    rows: IntArray,
    paths: Paths,
    tactics: Records,
    keys: NDArray[np.uint64],
    game: Record,
    rules: Record,
    orders: IntArray,
) -> None:
    """Write the orders of those rows of a batch that share the path costs of ``paths``.

    ``observations``: (n, size) tokens, ``masks``: (n, 11, 28), ``tactics``: (n,) or (1,) for all, ``keys``: (n,),
    ``orders``: (n, 11), overwritten. ``game`` and ``rules`` are buffers.
    """
    legal, plan = np.zeros((SIDES, SATELLITES), np.int32), make_raid_plan()
    read_rules(observations[rows[0]], rules)
    workspace = make_workspace(rules.outer_ring)
    for i in range(len(rows)):
        row = rows[i]
        read_rules(observations[row], rules)
        read_game(observations[row], game, rules)
        game.phase = MOVEMENT if observations[row, MOVEMENT_PHASE] else ENGAGEMENT
        write_legal_orders(game, rules, workspace, legal)
        for number in range(SATELLITES):
            legal[_OWN, number] &= read_mask(masks[row, number])
        tactic = tactics[row if len(tactics) > 1 else 0]
        order_side(game, rules, legal, _OWN, paths, tactic, keys[row], plan, orders[row])
        for number in range(SATELLITES):
            if not (legal[_OWN, number] >> orders[row, number]) & 1:
                orders[row, number] = NOOP


def order_batch(
    observations: NDArray[Any], action_masks: NDArray[np.int8], tactics: Records, keys: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the orders of a batch, (n, 11), for tactics, (n,) or (1,) for all, and random keys, (n,).

    Raises:
        ValueError: observations or masks have another shape or type, or describe no board.
    """
    masks = check_masks(action_masks)
    seen = check_observations(observations, len(masks))
    orders = np.zeros(masks.shape[:2], np.int64)
    game, rules = records(GAME, 1), records(RULES, 1)  # of this call alone: threads may share an agent
    for path_costs, rows in split_by_path_costs(seen):
        order_rows(seen, masks, rows, find_table(path_costs), tactics, keys, game[0], rules[0], orders)
    return orders


class _Tactician(SeededScript):
    """Plays every game with the same tactics; stateless."""

    def __init__(self, name: str, tactics: Records) -> None:
        self.name = name
        self._tactics = tactics

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase; equal observations and equal keys give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        return order_batch(observations, action_masks, self._tactics, keys)


class TurtleAgent(_Tactician, DeterministicScript):
    """Guards its own HVA with all Patrols, and does nothing else."""

    def __init__(self) -> None:
        super().__init__("turtle", turtle_tactics())


class RaiderAgent(_Tactician):
    """Sends all Patrols but a few against the enemy HVA, so that they arrive together.

    Args:
        raid: its parameters.
    """

    def __init__(self, raid: Raid | None = None) -> None:
        self.raid = Raid() if raid is None else raid
        super().__init__(describe_parameters("raider", self.raid), raid_tactics(self.raid))


class SteadyRaiderAgent(RaiderAgent, DeterministicScript):
    """A raider whose HVA never gives way, ``Raid.dodge`` 0: the only thing that raiders leave to chance."""


def make_raider(raid: Raid | None = None) -> RaiderAgent:
    """Make a raider, one that gives the probabilities of its orders if it leaves nothing to chance.

    Where the HVA gives way at random, Patrols follow it, so that the satellites' orders depend on each other.
    """
    return RaiderAgent(raid) if raid is not None and raid.dodge > 0 else SteadyRaiderAgent(raid)


class MixedAgent:
    """Plays every game as a raider whose parameters are sampled when the game begins.

    It keeps them as state, so a row of a batch must stay the same game until ``reset`` marks it as new.
    """

    name = "mixed"
    observation: Encoding = "tokens"

    def __init__(self) -> None:
        self._tactics = records(TACTICS, 0)
        self._is_new = np.zeros(0, np.bool_)

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Mark games as new; their parameters are sampled in the next ``act``."""
        if len(new_games) != len(self._is_new):
            self._tactics = records(TACTICS, len(new_games))
            self._is_new = np.ones(len(new_games), np.bool_)
        self._is_new |= new_games

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        if len(action_masks) != len(self._is_new):
            self.reset(np.ones(len(action_masks), np.bool_))
        for i in np.flatnonzero(self._is_new):
            write_raid(sample_raid(generator), self._tactics[i])
        self._is_new[:] = False
        return order_batch(observations, action_masks, self._tactics, sample_keys(generator, len(action_masks)))
