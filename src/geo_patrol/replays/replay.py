"""Recorded games, and the lines of a replay file that they stand in.

A game is a line of type "game", a line of type "phase" for every decision phase, and a line of type "end" when it is
over. A file may hold many games, one after the other. ``docs/analyse/replays.md`` describes the fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StringConstraints
from pydantic_core import PydanticCustomError

from geo_patrol.base.errors import OrderError, RecordingError, printable
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.schema import MAX_FUEL, MAX_POINTS, MAX_TURNS, MAX_WEIGHT, GameConfig
from geo_patrol.engine import state
from geo_patrol.game.notation import EndReason, Order, Outcome, PhaseName, SatelliteId, read_settled, short_name
from geo_patrol.game.position import Position

FORMAT = "geo_patrol replay"
VERSION = 1
MAX_NAME = 200
"""Maximum number of characters of an agent's name."""

_Name = Annotated[str, StringConstraints(max_length=MAX_NAME)]
_Short = Annotated[str, StringConstraints(max_length=80)]
_Score = Annotated[int, Field(ge=0, le=MAX_TURNS * MAX_POINTS + MAX_WEIGHT * MAX_FUEL * state.SATELLITES)]
_Scores = Annotated[list[_Score], Field(min_length=2, max_length=2)]
_Turn = Annotated[int, Field(ge=1, le=MAX_TURNS + 1)]


class ReplayLine(BaseModel):
    """A line of a replay."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AgentNames(ReplayLine):
    """The names of the agents."""

    alpha: _Name
    bravo: _Name


class GameLine(ReplayLine):
    """The first line of a game: its configuration, agents and seed."""

    type: Literal["game"]
    format: Literal["geo_patrol replay"]
    version: Literal[1]
    versions: Annotated[dict[_Short, _Short], Field(max_length=20)]
    agents: AgentNames
    seed: Annotated[int, Field(ge=0, lt=2**64)] | None
    """None: the recorded outcomes are carried out and must be possible; otherwise they are sampled again."""
    config: dict[str, Any]


class SideOrders(ReplayLine):
    """The orders of both sides, without noops."""

    alpha: Annotated[list[_Short], Field(max_length=state.SATELLITES)]
    bravo: Annotated[list[_Short], Field(max_length=state.SATELLITES)]


_SATELLITES = {
    str(satellite): satellite
    for satellite in (SatelliteId(side, number) for side in SIDES for number in range(state.SATELLITES))
}


def _parse_satellite(text: Any) -> SatelliteId:
    if not isinstance(text, str) or text not in _SATELLITES:
        raise PydanticCustomError("satellite", "give a satellite such as alpha:HVA:0 or bravo:Patrol:3")
    return _SATELLITES[text]


_Satellite = Annotated[SatelliteId, PlainValidator(_parse_satellite)]


class OutcomeLine(ReplayLine):
    """The outcome of one shot, collision or attempt to guard, with the fields of ``Outcome``."""

    action: Literal["shoot", "collide", "guard"]
    attacker: _Satellite | None = None
    guardian: _Satellite | None = None
    target: _Satellite
    probability: Annotated[float, Field(ge=0, le=1, strict=False)]
    success: bool


class PhaseLine(ReplayLine):
    """A decision phase: orders, outcomes, and the position after it."""

    type: Literal["phase"]
    turn: _Turn
    phase: Literal["movement", "engagement"]
    orders: SideOrders
    outcomes: Annotated[list[OutcomeLine], Field(max_length=state.MAX_OUTCOMES)] = []
    after: Position


class EndLine(ReplayLine):
    """The last line of a finished game: its result."""

    type: Literal["end"]
    winner: Side | None
    score: _Scores
    turns: _Turn
    reasons: Annotated[list[_Short], Field(min_length=1, max_length=9)]

    @property
    def settled(self) -> EndReason | None:
        """Why the game was ended that the rules would let go on; None if it was not."""
        return read_settled(self.reasons[0]) if len(self.reasons) == 1 else None


_UNKNOWN = -1
"""Stands for order codes that do not exist; a game counts them as illegal orders."""

_TEXTS = {
    (number, code): str(Order.from_code(number, code))
    for number in range(state.SATELLITES)
    for code in range(state.ORDERS)
} | {(number, _UNKNOWN): f"{short_name(number)} unknown" for number in range(state.SATELLITES)}
_CODES = {text: key for key, text in _TEXTS.items()}


def write_orders(codes: NDArray[np.integer[Any]]) -> list[str]:
    """Return the eleven order codes of a side as texts, without noops; codes that do not exist become "unknown"."""
    return [
        _TEXTS.get((number, code)) or _TEXTS[number, _UNKNOWN]
        for number, code in enumerate(codes.tolist())
        if code != state.NOOP
    ]


def read_orders(orders: tuple[Sequence[str], Sequence[str]], where: str) -> NDArray[np.int8]:
    """Return the orders of alpha and of bravo as (2, 11) order codes, -1 for those that do not exist.

    Raises:
        RecordingError: one cannot be read, or a satellite has two.
    """
    codes = [[state.NOOP] * state.SATELLITES for _ in orders]
    for side, texts in enumerate(orders):
        for index, text in enumerate(texts):
            number, code = _CODES.get(text) or _parse_order(text, f"{where}: orders.{SIDES[side]}.{index}")
            if codes[side][number] != state.NOOP:
                field = f"{where}: orders.{SIDES[side]}.{index}"
                raise RecordingError(f"{field} = {text!r}: {short_name(number)} has an order already")
            codes[side][number] = code
    return np.array(codes, np.int8)


def _parse_order(text: str, field: str) -> tuple[int, int]:
    """Return satellite and code of an order that is not written as this program writes it."""
    try:
        order = Order.parse(text)
    except OrderError as error:
        raise RecordingError(f"{field} = {text!r}: {error}") from None
    return order.satellite, order.code


def write_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data, without the satellites that it does not have."""
    satellites = {"attacker": outcome.attacker, "guardian": outcome.guardian, "target": outcome.target}
    return {
        "action": outcome.action,
        **{role: str(satellite) for role, satellite in satellites.items() if satellite is not None},
        "probability": outcome.probability,
        "success": outcome.success,
    }


# Recorded games


@dataclass(frozen=True, slots=True)
class RecordedPhase:
    """What a recording says of a decision phase, before it is checked; the published implementation says more than files do.

    Attributes:
        line: number of its line, from 1.
        turn: turn number, from 1.
        name: "movement" or "engagement".
        codes: (2, 11) int8 order codes of alpha and bravo, -1 for one that does not exist.
        outcomes: outcomes of an engagement.
        after: the position after it, and after the drift that follows an engagement; None if the recording ends before
            the drift.
        before_drift: the position between an engagement and its drift, where it is recorded.
        legal: by side and satellite, the order codes that the rules allow whatever the fuel, where they are recorded.
    """

    line: int
    turn: int
    name: PhaseName
    codes: NDArray[np.int8]
    outcomes: tuple[Outcome, ...]
    after: Position | None
    before_drift: Position | None = None
    legal: list[list[list[int]]] | None = None


@dataclass
class Replay:
    """A recorded game, with control characters removed from the names of agents and the texts of the configuration.

    Attributes:
        number: index of the game in its file, from 0.
        line: number of its first line, from 1.
        config: the configuration, with all values as they were sampled.
        seed: the game's seed; None if only the outcomes are known.
        agents: names of the agents of alpha and bravo.
        versions: versions of the programs that recorded it.
        initial: the position at the start, where it is recorded.
        phases: the decision phases.
        end: the result; None if the game was not played to the end, or the rest is lost.
        refuses_illegal_orders: whether an order that the rules do not allow contradicts the recording; otherwise it
            counts as noop.
        fault: what is wrong with the rest of it; None if nothing is.
    """

    number: int
    line: int
    config: GameConfig
    seed: int | None
    agents: tuple[str, str]
    versions: dict[str, str] = field(default_factory=dict)
    initial: Position | None = None
    phases: list[RecordedPhase] = field(default_factory=list)
    end: EndLine | None = None
    refuses_illegal_orders: bool = False
    fault: str | None = None

    def __post_init__(self) -> None:
        self.agents = printable(self.agents[0], MAX_NAME), printable(self.agents[1], MAX_NAME)

    @property
    def is_finished(self) -> bool:
        """Whether the game was recorded to its end."""
        last = self.phases[-1].after if self.phases else None
        return self.end is not None or (last is not None and last.done)

    def _repr_html_(self) -> str:
        """Show the game in notebooks, as ``geo-patrol replay --html`` does."""
        from geo_patrol.web.replay_page import replay_frame  # noqa: PLC0415 - pages are above replays

        return replay_frame(self)
