"""Recorded games and odds: reading them, and what stands in them.

A file of games is JSON Lines (plain or gzip), one game a line; a file of odds is one JSON list of engagements. The
figures are those of the published code, sides in the order alpha, bravo, satellites by number.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.errors import RecordingError, show
from geo_patrol.notation import ENGAGEMENTS, MOVES, Order
from geo_patrol.sides import Side

MAX_LINE_BYTES = 64 << 20
"""A recorded game takes up to about a megabyte."""
MAX_DRAWS = 10_000_000

Number = Annotated[int, Field(ge=0, lt=state.SATELLITES)]
RecordedOrder = str | tuple[str, Number]
_Figures = Annotated[list[float], Field(max_length=state.SATELLITES)]
_BothSides = Annotated[list[_Figures], Field(min_length=2, max_length=2)]
_Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
_SideOrders = Annotated[list[RecordedOrder], Field(max_length=state.SATELLITES)]
_SideLegal = Annotated[
    list[Annotated[list[RecordedOrder], Field(max_length=state.ORDERS)]], Field(max_length=state.SATELLITES)
]


_Counts = dict[str, Annotated[int, Field(ge=0, le=MAX_DRAWS)]]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedState(_Record):
    """A position as recorded."""

    sector: _BothSides
    fuel: _BothSides
    ammo: _BothSides
    goal: _Pair
    score: _Pair
    turn: int
    phase: Literal["movement", "engagement", "drift"]
    done: bool


class RecordedOutcome(_Record):
    """An engagement outcome as recorded; satellites are (side, number)."""

    action: Literal["shoot", "collide", "guard"]
    attacker: tuple[Side, Number] | None
    guardian: tuple[Side, Number] | None
    target: tuple[Side, Number]
    probability: float
    success: bool


class RecordedPhase(_Record):
    """A phase as recorded: what was legal, what was ordered, what came of it, and the position after it.

    A drift has neither orders nor outcomes, a movement no outcomes. Legal orders may be left out.
    """

    phase: Literal["movement", "engagement", "drift"]
    legal: Annotated[list[_SideLegal], Field(min_length=2, max_length=2)] | None = None
    orders: Annotated[list[_SideOrders], Field(min_length=2, max_length=2)] | None = None
    outcomes: Annotated[list[RecordedOutcome], Field(max_length=state.MAX_OUTCOMES)] | None = None
    after: RecordedState

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if (self.orders is None) != (self.phase == "drift") or (self.phase == "drift" and self.legal is not None):
            raise ValueError(f"a {self.phase} phase has {'no orders' if self.phase == 'drift' else 'orders'}")
        if (self.outcomes is None) != (self.phase != "engagement"):
            raise ValueError(f"a {self.phase} phase has {'outcomes' if self.phase == 'engagement' else 'no outcomes'}")
        return self


class RecordedGame(_Record):
    """A game as recorded."""

    config: dict[str, Any]
    config_name: str = ""
    seed: int | None = None
    style: str = ""
    initial: RecordedState
    phases: Annotated[list[RecordedPhase], Field(min_length=1)]
    """All of them, or the first ones of a longer game."""


class RecordedOdds(_Record):
    """A crowded engagement that was resolved many times, and what came of it how often."""

    name: str
    config: dict[str, Any]
    state: RecordedState
    orders: Annotated[list[_SideOrders], Field(min_length=2, max_length=2)]
    draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)]
    destroyed_counts: _Counts
    outcome_counts_guard_shoot_collide: _Counts

    @model_validator(mode="after")
    def _check_sums(self) -> Self:
        for field in ("destroyed_counts", "outcome_counts_guard_shoot_collide"):
            total = sum(getattr(self, field).values())
            if total != self.draws:
                raise ValueError(f"{field} must add up to draws, {self.draws}, not {total}")
        return self


def order_code(order: RecordedOrder) -> int:
    """Return the code of a recorded order.

    Raises:
        RecordingError: it is none.
    """
    action, target = (order, None) if isinstance(order, str) else order
    if action not in (*MOVES, *ENGAGEMENTS) or (target is None) != (action in (*MOVES, "guard")):
        raise RecordingError(f"order {order!r}: give a move, guard, or [shoot, n] or [collide, n]")
    return Order(0, action, target).code


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines of a text file, gzipped or not, each with its number from 1.

    Raises:
        RecordingError: the file cannot be read, is damaged, or a line is longer than a game can be.
    """
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if is_gzip else path.open("rb") as lines:
            number = 0
            while line := lines.readline(MAX_LINE_BYTES):
                number += 1
                if len(line) == MAX_LINE_BYTES:
                    raise RecordingError(f"line {number} is longer than {MAX_LINE_BYTES:,} bytes, no recorded game")
                yield number, line.decode("utf-8")
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError:
        raise RecordingError("is not a text file") from None


def parse_json(text: str, where: str) -> Any:
    """Read JSON.

    Raises:
        RecordingError: the text is none, or nested too deeply.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{where}: not JSON: {error}") from None


def parse_record(kind: type[BaseModel], data: Any, where: str) -> Any:
    """Check recorded data.

    Raises:
        RecordingError: naming the first field that is wrong, its value, and what would be right.
    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"])) or "content"
        raise RecordingError(
            f"{where}: {field} = {show(fault['input'])}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
        ) from None


_MOVE_COSTS = ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")


def read_config(recorded: dict[str, Any]) -> GameConfig:
    """Turn a recorded configuration into one of ours, with the published code's rules.

    Raises:
        RecordingError: a key is missing.
        ConfigError: a value is wrong.
    """
    try:
        return load_config(
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
