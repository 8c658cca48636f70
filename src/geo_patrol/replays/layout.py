"""What the lines of a replay hold, and how orders, outcomes and positions stand in them.

A game is a line of type "game", a line of type "phase" for every decision phase, and a line of type "end" when it is
over. A file may hold many games, one after the other. ``docs/replays.md`` describes the fields for readers of files.
"""

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from geo_patrol.config.schema import MAX_FUEL, MAX_POINTS, MAX_TURNS, MAX_WEIGHT
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.errors import OrderError, RecordingError
from geo_patrol.notation import Order, Outcome, SatelliteId, short_name
from geo_patrol.sides import SIDES, Side

FORMAT = "geo_patrol replay"
VERSION = 1
MAX_NAME = 200
"""Letters of an agent's name."""

_UNKNOWN = -1
"""Stands for order codes that do not exist; a game counts them as illegal orders, whichever they are."""
_UNKNOWN_TEXT = "unknown"

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
    """Who plays which side."""

    alpha: _Name
    bravo: _Name


class GameLine(Line):
    """The first line of a game: what is played, by whom, and where its chance comes from."""

    type: Literal["game"]
    format: Literal["geo_patrol replay"]
    version: Literal[1]
    versions: Annotated[dict[_Short, _Short], Field(max_length=20)]
    agents: Players
    seed: Annotated[int, Field(ge=0, lt=2**64)] | None
    """None: outcomes are carried out as they stand here, and must be possible; otherwise they are drawn again."""
    config: dict[str, Any]


class SideOrders(Line):
    """The orders of both sides, without noops."""

    alpha: Annotated[list[_Short], Field(max_length=state.SATELLITES)]
    bravo: Annotated[list[_Short], Field(max_length=state.SATELLITES)]


class OutcomeLine(Line):
    """What became of one shot, collision or attempt to guard."""

    action: Literal["shoot", "collide", "guard"]
    attacker: _Short | None = None
    guardian: _Short | None = None
    target: _Short
    probability: Annotated[float, Field(ge=0, le=1, strict=False)]
    success: bool


class Position(Line):
    """A position: what can be seen of it, by side (alpha, bravo) and satellite (HVA, Patrols 1, 2, ..)."""

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
    """A decision phase: what was ordered, what came of it, and the position after it."""

    type: Literal["phase"]
    turn: _Turn
    phase: Literal["movement", "engagement"]
    orders: SideOrders
    outcomes: Annotated[list[OutcomeLine], Field(max_length=state.MAX_OUTCOMES)] = []
    after: Position


class EndLine(Line):
    """The last line of a finished game: how it ended."""

    type: Literal["end"]
    winner: Side | None
    score: _Scores
    turns: _Turn
    reasons: Annotated[list[_Short], Field(min_length=1, max_length=9)]


# Orders

_TEXTS = [
    [str(Order.from_code(number, code)) for code in range(state.ORDERS)] + [f"{short_name(number)} {_UNKNOWN_TEXT}"]
    for number in range(state.SATELLITES)
]  # a code of -1 finds the last one
_CODES = {
    text: (number, code if code < state.ORDERS else _UNKNOWN)
    for number, row in enumerate(_TEXTS)
    for code, text in enumerate(row)
}


def write_orders(codes: NDArray[np.integer[Any]]) -> list[str]:
    """Return one side's eleven order codes as texts, without noops; codes that do not exist are "unknown"."""
    return [
        _TEXTS[number][code if 0 <= code < state.ORDERS else _UNKNOWN]
        for number, code in enumerate(codes.tolist())
        if code != state.NOOP
    ]


def read_order_codes(orders: SideOrders, where: str) -> NDArray[np.int8]:
    """Return the orders of both sides as (2, 11) order codes, -1 for those that do not exist.

    Raises:
        RecordingError: one cannot be read, or a satellite has two.
    """
    codes = np.zeros((state.SIDES, state.SATELLITES), np.int8)
    for side, texts in enumerate((orders.alpha, orders.bravo)):
        named = set()
        for place, text in enumerate(texts):
            field = f"{where}: orders.{SIDES[side]}.{place}"
            number, code = _read_order(text, field)
            if number in named:
                raise RecordingError(f"{field} = {text!r}: {short_name(number)} has an order already")
            named.add(number)
            codes[side, number] = code
    return codes


def _read_order(text: str, field: str) -> tuple[int, int]:
    known = _CODES.get(text)
    if known is not None:
        return known
    try:
        order = Order.parse(text)
    except OrderError as error:
        raise RecordingError(f"{field} = {text!r}: {error}") from None
    return order.satellite, order.code


# Outcomes


def write_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data; who takes no part is left out."""
    data: dict[str, Any] = {"action": outcome.action}
    if outcome.attacker is not None:
        data["attacker"] = str(outcome.attacker)
    if outcome.guardian is not None:
        data["guardian"] = str(outcome.guardian)
    return data | {
        "target": str(outcome.target),
        "probability": outcome.probability,
        "success": outcome.success,
    }


_SATELLITES = {
    str(satellite): satellite
    for satellite in (SatelliteId(side, number) for side in SIDES for number in range(state.SATELLITES))
}


def read_outcome(line: OutcomeLine, where: str) -> Outcome:
    """Return a recorded outcome.

    Raises:
        RecordingError: a satellite in it is none.
    """
    return Outcome(
        action=line.action,
        attacker=None if line.attacker is None else _read_satellite(line.attacker, f"{where}.attacker"),
        guardian=None if line.guardian is None else _read_satellite(line.guardian, f"{where}.guardian"),
        target=_read_satellite(line.target, f"{where}.target"),
        probability=line.probability,
        success=line.success,
    )


def _read_satellite(text: str, where: str) -> SatelliteId:
    if text not in _SATELLITES:
        raise RecordingError(f"{where} = {text!r}: give a satellite such as alpha:HVA:0 or bravo:Patrol:3")
    return _SATELLITES[text]


# Positions

_FLEET_FIELDS = ("sector", "fuel", "ammo")
_SIDE_FIELDS = ("goal", "score")


class PositionWriter:
    """Reads off the visible figures of a batch of one, again and again as it is played on."""

    def __init__(self, batch: Batch) -> None:
        games = batch.games
        self._fleets = [1 + int(count) for count in batch.rules[0].patrol_count]
        self._fields = {field: games[field][0] for field in (*_FLEET_FIELDS, *_SIDE_FIELDS)}  # views, not copies

    def data(self) -> dict[str, Any]:
        """Return the figures as plain data, as ``Position`` has them."""
        alpha, bravo = self._fleets
        data: dict[str, Any] = {}
        for field, figures in self._fields.items():
            plain = figures.tolist()
            data[field] = [plain[0][:alpha], plain[1][:bravo]] if field in _FLEET_FIELDS else plain
        return data

    def figures(self) -> NDArray[np.int32]:
        """Return the figures in a row, as ``flatten`` has them."""
        alpha, bravo = self._fleets
        rows = [
            row for field in _FLEET_FIELDS for row in (self._fields[field][0, :alpha], self._fields[field][1, :bravo])
        ]
        return np.concatenate([*rows, *(self._fields[field] for field in _SIDE_FIELDS)], dtype=np.int32)

    def names(self) -> list[str]:
        """Return what stands where in the row."""
        fleets = [
            f"{field} of {side} {short_name(number)}"
            for field in _FLEET_FIELDS
            for side, fleet in zip(SIDES, self._fleets, strict=True)
            for number in range(fleet)
        ]
        return [*fleets, *(f"{field} of {side}" for field in _SIDE_FIELDS for side in SIDES)]


def unflatten(figures: NDArray[np.int32], fleets: tuple[int, int]) -> dict[str, Any]:
    """Return the figures of a position, given in a row, as plain data."""
    row, data = figures.tolist(), {}
    for field in _FLEET_FIELDS:
        data[field] = [row[: fleets[0]], row[fleets[0] : sum(fleets)]]
        row = row[sum(fleets) :]
    return data | {"goal": row[:2], "score": row[2:]}


def flatten(position: Position) -> NDArray[np.int32]:
    """Return the figures of a recorded position in a row; a quarter of the memory."""
    fleets = [row for field in _FLEET_FIELDS for row in getattr(position, field)]
    return np.concatenate([*fleets, position.goal, position.score]).astype(np.int32)
