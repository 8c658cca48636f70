"""The schema of the lines of a replay file.

A game is a line of type "game", a line of type "phase" for every decision phase, and a line of type "end" when it is
over. A file may hold many games, one after the other. ``docs/replays.md`` describes the fields.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from geo_patrol.config.schema import MAX_FUEL, MAX_POINTS, MAX_TURNS, MAX_WEIGHT
from geo_patrol.engine import state
from geo_patrol.sides import Side

FORMAT = "geo_patrol replay"
VERSION = 1
MAX_NAME = 200
"""Maximum number of characters of an agent's name."""

_Int16 = Annotated[int, Field(ge=0, lt=2**15)]
_Name = Annotated[str, StringConstraints(max_length=MAX_NAME)]
_Short = Annotated[str, StringConstraints(max_length=80)]
_Fleet = Annotated[list[_Int16], Field(min_length=2, max_length=state.SATELLITES)]
_Fleets = Annotated[list[_Fleet], Field(min_length=2, max_length=2)]
_Goals = Annotated[list[_Int16], Field(min_length=2, max_length=2)]
_Score = Annotated[int, Field(ge=0, le=MAX_TURNS * MAX_POINTS + MAX_WEIGHT * MAX_FUEL * state.SATELLITES)]
_Scores = Annotated[list[_Score], Field(min_length=2, max_length=2)]
_Turn = Annotated[int, Field(ge=1, le=MAX_TURNS + 1)]


class Line(BaseModel):
    """A line of a replay."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Players(Line):
    """The names of the agents."""

    alpha: _Name
    bravo: _Name


class GameLine(Line):
    """The first line of a game: its configuration, agents and seed."""

    type: Literal["game"]
    format: Literal["geo_patrol replay"]
    version: Literal[1]
    versions: Annotated[dict[_Short, _Short], Field(max_length=20)]
    agents: Players
    seed: Annotated[int, Field(ge=0, lt=2**64)] | None
    """None: the recorded outcomes are carried out and must be possible; otherwise they are sampled again."""
    config: dict[str, Any]


class SideOrders(Line):
    """The orders of both sides, without noops."""

    alpha: Annotated[list[_Short], Field(max_length=state.SATELLITES)]
    bravo: Annotated[list[_Short], Field(max_length=state.SATELLITES)]


class OutcomeLine(Line):
    """The outcome of one shot, collision or attempt to guard."""

    action: Literal["shoot", "collide", "guard"]
    attacker: _Short | None = None
    guardian: _Short | None = None
    target: _Short
    probability: Annotated[float, Field(ge=0, le=1, strict=False)]
    success: bool


class PositionLine(Line):
    """A visible position, by side (alpha, bravo) and satellite (HVA, Patrols 1, 2, ..)."""

    sector: _Fleets
    fuel: _Fleets
    ammo: _Fleets
    goal: _Goals
    score: _Scores

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        lengths = {tuple(map(len, fleets)) for fleets in (self.sector, self.fuel, self.ammo)}
        if len(lengths) > 1:
            raise ValueError("sector, fuel and ammo must be equally long")
        return self


class PhaseLine(Line):
    """A decision phase: orders, outcomes, and the position after it."""

    type: Literal["phase"]
    turn: _Turn
    phase: Literal["movement", "engagement"]
    orders: SideOrders
    outcomes: Annotated[list[OutcomeLine], Field(max_length=state.MAX_OUTCOMES)] = []
    after: PositionLine


class EndLine(Line):
    """The last line of a finished game: its result."""

    type: Literal["end"]
    winner: Side | None
    score: _Scores
    turns: _Turn
    reasons: Annotated[list[_Short], Field(min_length=1, max_length=9)]
