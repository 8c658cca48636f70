"""The format of the published implementation's recordings: games, positions, orders and configurations.

A file of games is JSON Lines, plain or gzip, one game a line, which lists movements, engagements and drifts as phases
of their own. The values are those of the published code, sides in the order alpha, bravo, satellites by number.
"""

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.errors import RecordingError
from geo_patrol.notation import ENGAGEMENTS, MOVES, Order, Phase
from geo_patrol.sides import Side

Number = Annotated[int, Field(ge=0, lt=state.SATELLITES)]
RecordedOrder = str | tuple[str, Number]
_Values = Annotated[list[float], Field(max_length=state.SATELLITES)]
_BothSides = Annotated[list[_Values], Field(min_length=2, max_length=2)]
_Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
_SideOrders = Annotated[list[RecordedOrder], Field(max_length=state.SATELLITES)]
_SideLegal = Annotated[
    list[Annotated[list[RecordedOrder], Field(max_length=state.ORDERS)]], Field(max_length=state.SATELLITES)
]
BothOrders = Annotated[list[_SideOrders], Field(min_length=2, max_length=2)]


class Record(BaseModel):
    """A table of a recording."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedState(Record):
    """A recorded position."""

    sector: _BothSides
    fuel: _BothSides
    ammo: _BothSides
    goal: _Pair
    score: _Pair
    turn: int
    phase: Phase
    done: bool


class RecordedOutcome(Record):
    """A recorded engagement outcome; satellites are (side, number)."""

    action: Literal["shoot", "collide", "guard"]
    attacker: tuple[Side, Number] | None
    guardian: tuple[Side, Number] | None
    target: tuple[Side, Number]
    probability: float
    success: bool


class RecordedPhase(Record):
    """A recorded phase: legal orders, orders, outcomes, and the position after it.

    A drift has neither orders nor outcomes, a movement has no outcomes. Legal orders may be left out.
    """

    phase: Phase
    legal: Annotated[list[_SideLegal], Field(min_length=2, max_length=2)] | None = None
    orders: BothOrders | None = None
    outcomes: Annotated[list[RecordedOutcome], Field(max_length=state.MAX_OUTCOMES)] | None = None
    after: RecordedState

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if (self.orders is None) != (self.phase == "drift") or (self.phase == "drift" and self.legal is not None):
            raise ValueError(f"a {self.phase} phase has {'no orders' if self.phase == 'drift' else 'orders'}")
        if (self.outcomes is None) != (self.phase != "engagement"):
            raise ValueError(f"a {self.phase} phase has {'outcomes' if self.phase == 'engagement' else 'no outcomes'}")
        return self


class RecordedGame(Record):
    """A recorded game."""

    config: dict[str, Any]
    config_name: str = ""
    seed: int | None = None
    style: str = ""
    initial: RecordedState
    phases: Annotated[list[RecordedPhase], Field(min_length=1)]
    """All phases, or the first ones of a longer game."""


def order_code(order: RecordedOrder) -> int:
    """Return the code of a recorded order.

    Raises:
        RecordingError: there is no such order.
    """
    action, target = (order, None) if isinstance(order, str) else order
    if action not in (*MOVES, *ENGAGEMENTS) or (target is None) != (action in (*MOVES, "guard")):
        raise RecordingError(f"order {order!r}: give a move, guard, or [shoot, n] or [collide, n]")
    return Order(0, action, target).code


def order_codes(recorded: list[list[RecordedOrder]]) -> NDArray[np.int64]:
    """Return the recorded orders of both sides as (2, 11) order codes.

    Raises:
        RecordingError: there is no such order.
    """
    orders = np.zeros((state.SIDES, state.SATELLITES), np.int64)
    for side, side_orders in enumerate(recorded):
        orders[side, : len(side_orders)] = [order_code(order) for order in side_orders]
    return orders


_MOVE_COSTS = ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")


def read_published_config(recorded: dict[str, Any]) -> GameConfig:
    """Convert a recorded configuration, with ``rules = "code"``.

    Raises:
        RecordingError: a key is missing, or a value is to be sampled.
        ConfigError: a value is wrong.
    """
    try:
        config = load_config(
            {
                "title": "recorded game",
                "rules": "code",
                "turn_limit": recorded["max_turns"],
                "board": {
                    "inner_ring": recorded["min_ring"],
                    "outer_ring": recorded["max_ring"],
                    "goal_ring": recorded["goal_ring"],
                },
                "alpha": _read_side(recorded["alpha"]),
                "bravo": _read_side(recorded["bravo"]),
            }
        )
    except (KeyError, TypeError) as error:
        raise RecordingError(f"config: {error} is missing or no table") from None
    if config.is_randomized:
        raise RecordingError("config: a recording holds every value as it was sampled, no ranges or choices")
    return config


def _read_side(recorded: dict[str, Any]) -> dict[str, Any]:
    return {
        "hva": {"fuel": recorded["hva_fuel"], "ammo": recorded["hva_ammo"], "weight": recorded["hva_fuel_factor"]},
        "patrols": {
            "formation": recorded["formation"],
            "fuel": recorded["patrol_fuel"],
            "ammo": recorded["patrol_ammo"],
            "weight": recorded["patrol_fuel_factor"],
        },
        "costs": {
            **{name: recorded[f"{name}_cost"] for name in _MOVE_COSTS},
            **{name: recorded[f"{name}_cost"] for name in ENGAGEMENTS},
        },
        "odds": {name: recorded[f"{name}_probability"] for name in ENGAGEMENTS},
        "points": {
            "goal": recorded["goal_points"],
            "adjacent": recorded["adjacent_points"],
            "win": recorded["win_score"],
        },
    }
