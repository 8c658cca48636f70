"""Parts of messages: positions, and what changes a game."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from geo_patrol.notation import PhaseName
from geo_patrol.sides import Side


class Message(BaseModel):
    """A message, or a part of one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class SatelliteState(Message):
    """A satellite of a position."""

    name: str
    """HVA, or P1 to P10."""
    sector: int
    ring: int
    azimuth: int
    fuel: int
    ammo: int
    destroyed: bool


class Both(Message):
    """A number of each side."""

    alpha: int
    bravo: int


class BothFleets(Message):
    """The satellites of each side, the HVA first."""

    alpha: list[SatelliteState]
    bravo: list[SatelliteState]


class BothOrders(Message):
    """The legal orders that each side gave."""

    alpha: list[str]
    bravo: list[str]


class PositionState(Message):
    """A position, as every side sees it."""

    turn: int
    phase: PhaseName
    """What is to be ordered now; "drift" when the game is over."""
    score: Both
    goal_points: Both
    goals: Both
    """The goal sector of each side."""
    satellites: BothFleets


class OutcomeState(Message):
    """What became of an engagement order; satellites as in "alpha:Patrol:3"."""

    action: Literal["shoot", "collide", "guard"]
    attacker: str | None
    guardian: str | None
    target: str
    probability: float
    success: bool


class Played(Message):
    """A phase was played, with the orders of both sides."""

    kind: Literal["phase"] = "phase"
    turn: int
    phase: Literal["movement", "engagement"]
    orders: BothOrders
    outcomes: list[OutcomeState]
    position: PositionState
    """After it."""


class Ended(Message):
    """The game is over."""

    kind: Literal["end"] = "end"
    winner: Side | None
    reasons: list[str]
    score: Both
    seed: int
    """Repeats the game; secret until now, because it foretells outcomes."""
