"""What a player remembers of a game: how often the enemy's satellites gave each order.

It is counted from one observation to the next, so it holds only what a player sees: enemies that are out of sight before or
after a phase do not count. A policy with these numbers as inputs can recognise an opponent that is drawn for a whole game.
"""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine import observe
from geo_patrol.engine.state import HVA, SATELLITES

__all__ = ["MEMORY_FEATURES", "MEMORY_SIZE", "OrderMemory"]

_PER_MILLE = 1000.0
_MOVES = ("prograde", "retrograde", "radial_in", "radial_out")
_COUNTED = ("shoot", "collide", "guard")
_ORDERS = (
    *(f"{who}_{name}" for who in ("patrols", "hva") for name in _MOVES),
    *(f"patrols_{name}" for name in _COUNTED),
)
_NUM_MOVES = len(_ORDERS) - len(_COUNTED)
MEMORY_FEATURES = (
    *(observe.Feature(f"enemy_{name}", 1, 1, _PER_MILLE) for name in _ORDERS[:_NUM_MOVES]),
    *(observe.Feature(f"enemy_{name}", observe.HIGHEST_TOKEN, 1 / 4) for name in _ORDERS[_NUM_MOVES:]),
    *(observe.Feature(f"enemy_{name}_lately", 10, 2, _PER_MILLE) for name in _ORDERS),
)
"""What is remembered of a game: in which fraction of their turns the enemy's Patrols and its HVA made each move; how often
Patrols shot, collided and guarded. Then the same fractions and numbers of single turns, as an exponential moving average.

A collision counts if the collider survives it: one that does not is seen to be gone, as one that was shot.
"""
MEMORY_SIZE = len(MEMORY_FEATURES)

_NAMES = [feature.name for feature in observe.GAME_FEATURES]
_MOVEMENT, _ENGAGEMENT, _TURN, _STATION_KEEPING = (
    observe.TOKEN_TABLE_SIZE + _NAMES.index(name)
    for name in ("movement_phase", "engagement_phase", "turn", "enemy_station_keeping_cost")
)
_COLUMNS = ["sector", *(feature.name for feature in observe.SATELLITE_FEATURES)]
_SECTOR, _FUEL, _AMMO, _ACTIVE, _AT_ITS_HVA = map(
    _COLUMNS.index, ("sector", "fuel", "ammo", "active", "same_sector_as_enemy_hva")
)
_PATROLS = slice(HVA + 1, SATELLITES)
_STEP_SIZE = 0.5
"""Of the moving average: a turn counts half of the next one, so those of one satellite are a binary number."""
_RING_STARTS = np.array([2**ring - 1 for ring in range(1, 16)])


class OrderMemory:
    """Counts the enemy's orders in n games from what one side observes of them, phase by phase."""

    def __init__(self) -> None:
        self._allocate(0)

    def _allocate(self, games: int) -> None:
        self._before = np.zeros((games, 0), np.int16)
        self._counts = np.zeros((games, len(_ORDERS)), np.int64)
        self._decisions = np.zeros((games, len(_ORDERS)), np.int64)
        self._decisions[:, _NUM_MOVES:] = 1  # of engagements, numbers are remembered instead of fractions
        self._average = np.zeros((games, len(_ORDERS)))

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Forget the games that are over, (n,); the number of games may change when all are new."""
        if len(new_games) != len(self._counts):
            self._allocate(len(new_games))
        self._before[new_games] = 0  # neither phase: what follows is no consequence of it
        self._counts[new_games] = 0
        self._decisions[new_games, :_NUM_MOVES] = 0
        self._average[new_games] = 0

    def update(self, observations: NDArray[np.int16]) -> NDArray[np.int16]:
        """Count the orders between the last observations of these games and these ones.

        Args:
            observations: (n, size), in the encoding "tokens".

        Returns:
            (n, 22), integers for ``MEMORY_FEATURES``, each multiplied by its ``token_scale``.
        """
        if len(observations) != len(self._counts):
            self._allocate(len(observations))
        if self._before.shape[1] == observations.shape[1]:
            self._count(self._before, observations)
        self._before = observations.copy()
        so_far = self._counts / np.maximum(self._decisions, 1)
        so_far[:, :_NUM_MOVES] *= _PER_MILLE
        remembered = np.concatenate([so_far, _PER_MILLE * self._average], axis=1)
        rounded: NDArray[np.int16] = np.minimum(np.rint(remembered), observe.HIGHEST_TOKEN).astype(np.int16)
        return rounded

    def _count(self, before: NDArray[np.int16], after: NDArray[np.int16]) -> None:
        same_turn, next_turn = (before[:, _TURN] + step == after[:, _TURN] for step in (0, 1))
        moved = (before[:, _MOVEMENT] > 0) & (after[:, _ENGAGEMENT] > 0) & same_turn
        engaged = (before[:, _ENGAGEMENT] > 0) & (after[:, _MOVEMENT] > 0) & next_turn
        for rows, columns, count in (
            (moved, slice(_NUM_MOVES), _count_moves),
            (engaged, slice(_NUM_MOVES, None), _count_engagements),
        ):
            if rows.any():
                counts, decisions = count(before[rows], after[rows])
                self._counts[rows, columns] += counts
                if columns.start is None:
                    self._decisions[rows, columns] += decisions
                latest = counts / np.maximum(decisions, 1)
                self._average[rows, columns] += _STEP_SIZE * (latest - self._average[rows, columns])


_Counts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""How often each order was given in a phase, (n, orders), and how many could have given it."""


def _count_moves(before: NDArray[np.int16], after: NDArray[np.int16]) -> _Counts:
    is_seen = _are_seen(before, after)
    old, new = (_enemies(table)[..., _SECTOR].astype(np.int64) for table in (before, after))
    climb = np.searchsorted(_RING_STARTS, new, "right") - np.searchsorted(_RING_STARTS, old, "right")
    on_ring = (climb == 0) & (new != old)
    is_prograde = (new == old + 1) | (2 * new == old)  # from the last sector of a ring to its first
    moves = np.stack([on_ring & is_prograde, on_ring & ~is_prograde, climb < 0, climb > 0], axis=2) & is_seen[..., None]
    counts = np.concatenate([moves[:, _PATROLS].sum(axis=1), moves[:, HVA]], axis=1)
    seen = np.stack([is_seen[:, _PATROLS].sum(axis=1), is_seen[:, HVA]], axis=1)
    return counts, seen.repeat(len(_MOVES), axis=1)


def _count_engagements(before: NDArray[np.int16], after: NDArray[np.int16]) -> _Counts:
    is_seen = _are_seen(before, after)[:, _PATROLS]
    old, new = (_enemies(table)[:, _PATROLS].astype(np.int64) for table in (before, after))
    shot = is_seen & (new[..., _AMMO] < old[..., _AMMO])
    paid = is_seen & (new[..., _FUEL] + after[:, _STATION_KEEPING, None] < old[..., _FUEL]) & ~shot
    guarded = paid & (new[..., _AT_ITS_HVA] > 0)
    counts = np.stack([shot, paid & ~guarded, guarded], axis=2).sum(axis=1)
    return counts, np.ones_like(counts)


def _enemies(observations: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return the enemy's rows of the tables, (n, 11, columns)."""
    table = observations[:, : observe.TOKEN_TABLE_SIZE]
    return table.reshape(-1, observe.OBSERVED_SATELLITES, observe.TOKEN_COLUMNS)[:, SATELLITES:]


def _are_seen(before: NDArray[np.int16], after: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Return which enemies are active and in sight both before and after a phase, (n, 11)."""
    is_seen: NDArray[np.bool_] = (_enemies(before)[..., _ACTIVE] > 0) & (_enemies(after)[..., _ACTIVE] > 0)
    if before.shape[1] >= observe.TOKEN_SIZE + observe.NUM_SIGHT_FEATURES:
        is_seen &= (before[:, -SATELLITES:] == 0) & (after[:, -SATELLITES:] == 0)  # phases since they were seen
    return is_seen
