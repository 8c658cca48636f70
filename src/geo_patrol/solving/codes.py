"""The configuration of one side as one integer: sectors, fuel and ammo of its satellites, and its points.

A position is a pair of such codes. Turn, phase and goal sectors are those of all positions of a layer.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.state import HVA, SATELLITES, SIDES, Record
from geo_patrol.errors import SolvingError
from geo_patrol.jit import jitable

MAX_SATELLITES = 10
"""Of both sides together."""


class Codec(NamedTuple):
    """How configurations become integers: in mixed radix."""

    fleets: NDArray[np.int64]
    """(2,), satellites of each side, its HVA included."""
    radices: NDArray[np.int64]
    """(2, 11, 3): sectors, fuel and ammo of each satellite."""
    point_radices: NDArray[np.int64]
    """(2, 2): goal points, and fuel points when last scored."""
    is_complete: bool
    """Whether a code holds all that observations show: the last score, and where satellites without fuel are. None of
    these influences what follows."""


def make_codec(game: Record, rules: Record, *, is_complete: bool) -> Codec:
    """Return the codec of a game.

    Args:
        game: its starting position.
        rules: its rules.
        is_complete: see ``Codec``.

    Raises:
        SolvingError: the fleets are too large.
    """
    fleets = 1 + np.array(rules.patrol_count, np.int64)
    if fleets.sum() > MAX_SATELLITES:
        raise SolvingError(f"{fleets.sum()} satellites: games of {MAX_SATELLITES} at most can be solved")
    radices, point_radices = np.ones((SIDES, SATELLITES, 3), np.int64), np.ones((SIDES, 2), np.int64)
    for side in range(SIDES):
        fleet = fleets[side]
        radices[side, :fleet, 0] = 2 << int(rules.outer_ring)
        radices[side, :fleet, 1] = game.fuel[side, :fleet] + 1
        radices[side, :fleet, 2] = game.ammo[side, :fleet] + 1
        turns = int(rules.turn_limit) + 1
        point_radices[side, 0] = turns * max(rules.goal_points[side], rules.adjacent_points[side]) + 1
        point_radices[side, 1] = game.score[side] + 1 if is_complete else 1
        if math.prod(radices[side].ravel().tolist() + point_radices[side].tolist()) >= 1 << 63:
            raise SolvingError("the tanks are too large: a side has more than 2^63 configurations; give less fuel")
    return Codec(fleets, radices, point_radices, is_complete)


@jitable
def encode_side(game: Record, codec: Codec, side: int) -> int:
    """Return the code of a side's configuration."""
    code: int = 0
    for number in range(codec.fleets[side]):
        is_gone = number != HVA and game.fuel[side, number] <= 0 and not codec.is_complete
        radices = codec.radices[side, number]
        code = code * radices[0] + (0 if is_gone else game.sector[side, number])
        code = code * radices[1] + game.fuel[side, number]
        code = code * radices[2] + (0 if is_gone else game.ammo[side, number])
    code = code * codec.point_radices[side, 0] + game.goal_points[side]
    if codec.is_complete:
        code = code * codec.point_radices[side, 1] + (game.score[side] - game.goal_points[side])
    return code


@jitable
def decode_side(code: int, codec: Codec, side: int, game: Record) -> None:
    """Write a side's configuration to a game."""
    fuel_points = 0
    if codec.is_complete:
        code, fuel_points = divmod(code, codec.point_radices[side, 1])
    code, goal_points = divmod(code, codec.point_radices[side, 0])
    game.goal_points[side] = goal_points
    game.score[side] = goal_points + fuel_points
    for number in range(codec.fleets[side] - 1, -1, -1):
        radices = codec.radices[side, number]
        code, game.ammo[side, number] = divmod(code, radices[2])
        code, game.fuel[side, number] = divmod(code, radices[1])
        code, game.sector[side, number] = divmod(code, radices[0])
