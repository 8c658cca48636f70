"""Agents of the GEO Patrol study: what its code shows to a network, and ``PublishedAgent``, which plays by that.

The study published networks that read the board in bits of its own, unlike the observations of this package: sectors are
those of the board, not relative to a goal. They need the game and the side, so that the agent plans from games.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessPlanner
from geo_patrol.base.errors import AgentError
from geo_patrol.base.sides import SIDES
from geo_patrol.engine import state
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.state import NOOP, NUM_SIDES, ORDERS, SATELLITES
from geo_patrol.game.game import Game

PUBLISHED_ORDERS = ORDERS + SATELLITES - 1
"""Orders of a satellite in the study's code: those of this package, in which 27 guards the HVA, and 28 to 37 to guard a Patrol,
which never are legal."""
_OUTER_RING = 4
_INNER_RINGS = 1, 2
_PHASES = 3
_SECTORS = 2 ** (_OUTER_RING + 1) - 1
"""Those of the board, and 0, where the study's code keeps satellites that a side does not have."""
_ROLES = 2
_TURN_BITS, _SCORE_BITS, _FUEL_BITS, _AMMO_BITS = 6, 10, 7, 4
OBSERVATION_SIZE = (
    _PHASES
    + _TURN_BITS
    + NUM_SIDES * (1 + 1 + _SCORE_BITS)
    + NUM_SIDES * (1 + _SECTORS)
    + NUM_SIDES * SATELLITES * (1 + _ROLES + _SECTORS + _FUEL_BITS + _AMMO_BITS)
)
"""1,087."""
INPUT_SIZE = SATELLITES * PUBLISHED_ORDERS + OBSERVATION_SIZE
"""1,505: the action mask, flat, and the observation."""


def observe_published(game: Game, side: int) -> NDArray[np.uint8]:
    """Return a side's observation as the study's code gives it, (1087,) of 0 and 1.

    The phase and the goal sectors are one-hot, numbers are binary, the highest bit first:

    - phase (3: movement, engagement, drift), completed turns (6);
    - of the own side, then the enemy: 1 or 0 for own or enemy, sign, score (10);
    - of the own side, then the enemy: 1 or 0 for own or enemy, goal sector (31, sector 0 first);
    - of each own satellite, then each enemy, HVA first, eleven a side: 1 or 0 for own or enemy, HVA or Patrol (2), sector
      (31), fuel (7), ammo (4). One that the side does not have is a Patrol in sector 0 without fuel and ammo.

    Args:
        game: a game in which all numbers fit, see ``find_unfit``.
        side: 0 alpha, 1 bravo.
    """
    record, sides = game.as_games().state.games[0], [side, 1 - side]
    is_own = np.array([[1], [0]], np.uint8)
    scores = np.hstack([is_own, _bits(record["score"][sides], 1 + _SCORE_BITS)])  # none is negative
    goals = np.hstack([is_own, _one_hot(record["goal"][sides], _SECTORS)])
    is_patrol = np.broadcast_to(np.arange(SATELLITES) != state.HVA, (NUM_SIDES, SATELLITES))
    satellites = [
        np.broadcast_to(is_own[:, :, None], (NUM_SIDES, SATELLITES, 1)),
        _one_hot(is_patrol.astype(np.int64), _ROLES),
        _one_hot(record["sector"][sides], _SECTORS),
        _bits(record["fuel"][sides], _FUEL_BITS),
        _bits(record["ammo"][sides], _AMMO_BITS),
    ]
    of_game = [_one_hot(record["phase"], _PHASES), _bits(record["turn"], _TURN_BITS), scores.ravel(), goals.ravel()]
    return np.concatenate([*of_game, np.concatenate(satellites, axis=2).ravel()])


def _bits(numbers: Any, width: int) -> NDArray[np.uint8]:
    """Return numbers in binary, (.., width), the highest bit first."""
    bits: NDArray[np.uint8] = (np.asarray(numbers)[..., None] >> np.arange(width - 1, -1, -1) & 1).astype(np.uint8)
    return bits


def _one_hot(indices: Any, width: int) -> NDArray[np.uint8]:
    rows: NDArray[np.uint8] = np.eye(width, dtype=np.uint8)[indices]
    return rows


def published_mask(game: Game, side: int) -> NDArray[np.uint8]:
    """Return a side's action mask as the study's code gives it, (11, 38) of 0 and 1.

    Unlike here, an order that a satellite cannot pay is legal there, and not carried out.

    Args:
        game: any game.
        side: 0 alpha, 1 bravo.
    """
    free = game.as_games().copy()
    rules = state.copy_records(free.state.rules)  # not those of the game: copies share them
    rules["move_cost"] = rules["engagement_cost"] = 0
    free.state = free.state._replace(rules=rules)
    free.describe()
    mask = np.zeros((SATELLITES, PUBLISHED_ORDERS), np.uint8)
    mask[:, :ORDERS] = free.action_masks()[0, side]
    return mask


def find_unfit(game: Game) -> str:
    """Return the first value of a game that the study's observation cannot hold, and what would be right; "" if it holds all.

    Lower limits of turns and less fuel than the study's make no difference, although its code gives another number of bits then.
    """
    rules = game.as_games().state.rules[0]
    if rules.outer_ring != _OUTER_RING:
        return f"board.outer_ring must be {_OUTER_RING}, got {rules.outer_ring}"
    if rules.inner_ring not in _INNER_RINGS:
        return f"board.inner_ring must be {' or '.join(map(str, _INNER_RINGS))}, got {rules.inner_ring}"
    numbers = [("turn_limit", int(rules.turn_limit), _TURN_BITS)]
    for index, side in enumerate(SIDES):
        for kind, name in enumerate(("hva", "patrols")):
            numbers.append((f"{side}.{name}.fuel", int(rules.initial_fuel[index, kind]), _FUEL_BITS))
            numbers.append((f"{side}.{name}.ammo", int(rules.initial_ammo[index, kind]), _AMMO_BITS))
        for number in range(int(rules.patrol_count[index])):
            name = f"{side}.patrols.single.{number + 1}"
            numbers.append((f"{name}.fuel", int(rules.patrol_fuel[index, number]), _FUEL_BITS))
            numbers.append((f"{name}.ammo", int(rules.patrol_ammo[index, number]), _AMMO_BITS))
        numbers.append((f"the score of {side}", game.scores[side], _SCORE_BITS))
    faults = (f"{name} must be at most {2**bits - 1}, got {number}" for name, number, bits in numbers if number >> bits)
    return next(faults, "")


class PublishedAgent(StatelessPlanner):
    """Plays by a network that reads what the study's code shows: the order of each satellite that it scores highest.

    Orders are chosen among those that are legal in the study's code; one that the satellite cannot pay is a noop.

    Args:
        name: what tables and messages call it.
        network: returns the 418 logits, of 38 orders for each of 11 satellites, of a mask followed by an observation, (1505,)
            float32. It is asked for one position at a time, so that a game is the same in a batch of any size.

    Raises:
        AgentError: the logits have another size or type.
    """

    def __init__(self, name: str, network: Callable[[NDArray[np.float32]], NDArray[Any]]) -> None:
        self.name, self._network = name, network
        self._score(np.zeros(INPUT_SIZE, np.float32))  # to refuse another network before games are lost by it

    def _score(self, inputs: NDArray[np.float32]) -> NDArray[np.floating[Any]]:
        """Return the logits of all orders, (11, 38)."""
        logits = np.asarray(self._network(inputs))
        if logits.size != SATELLITES * PUBLISHED_ORDERS or logits.dtype.kind != "f":
            raise AgentError(
                f"agent {self.name!r}: its logits are {logits.dtype} of shape {logits.shape}: give "
                f"{SATELLITES * PUBLISHED_ORDERS} floating-point numbers, {PUBLISHED_ORDERS} for each of {SATELLITES} satellites"
            )
        return logits.reshape(SATELLITES, PUBLISHED_ORDERS)

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],  # noqa: ARG002
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,  # noqa: ARG002
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11).

        Raises:
            AgentError: the study's observation cannot hold a game, or the logits are NaN.
        """
        orders = np.zeros((len(games), SATELLITES), np.int64)
        for i, (game, side) in enumerate(zip(games, sides.tolist(), strict=True)):
            orders[i] = self._choose(game, side)
        can_be_paid = np.take_along_axis(check_masks(action_masks), orders[..., None], axis=2)[..., 0]
        return np.where(can_be_paid, orders, NOOP)

    def _choose(self, game: Game, side: int) -> NDArray[np.int64]:
        mask = published_mask(game, side)
        if not mask[:, NOOP + 1 :].any():
            return np.full(SATELLITES, NOOP)
        if unfit := find_unfit(game):
            raise AgentError(f"agent {self.name!r} plays what its study's observation can hold: {unfit}")
        inputs = np.concatenate([mask.ravel(), observe_published(game, side)]).astype(np.float32)
        scores = np.where(mask, self._score(inputs), -np.inf)
        if np.isnan(scores).any():
            raise AgentError(f"agent {self.name!r}: its logits of legal orders are NaN")
        best: NDArray[np.int64] = scores.argmax(axis=1)
        return best
