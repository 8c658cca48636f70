"""Reading the published implementation's recordings as replays: no seed, but outcomes, legal orders and positions.

A file of games is JSON Lines, plain or gzip, one game a line, which lists movements, engagements and drifts as phases
of their own. The values are those of the published code, sides in the order alpha, bravo, satellites by number.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from geo_patrol.base.errors import GeoPatrolError, RecordingError
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import MAX_TURNS, GameConfig, PatrolsConfig, Title
from geo_patrol.engine import state
from geo_patrol.game.notation import ENGAGEMENTS, MOVES, PHASES, Order, Outcome, PhaseName, SatelliteId
from geo_patrol.game.position import FLEET_FIELDS, Position
from geo_patrol.replays.replay import RecordedPhase, Replay

_MAX_PHASES = len(PHASES) * (MAX_TURNS + 1)
Number = Annotated[int, Field(ge=0, lt=state.SATELLITES)]
PublishedOrder = str | tuple[str, Number]
_Satellite = Annotated[tuple[Side, Number], AfterValidator(lambda pair: SatelliteId(*pair))]
_Values = Annotated[list[float], Field(max_length=state.SATELLITES)]
_BothSides = Annotated[list[_Values], Field(min_length=2, max_length=2)]
_Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
_SideOrders = Annotated[list[PublishedOrder], Field(max_length=state.SATELLITES)]
_SideLegal = Annotated[
    list[Annotated[list[PublishedOrder], Field(max_length=state.ORDERS)]], Field(max_length=state.SATELLITES)
]
BothOrders = Annotated[list[_SideOrders], Field(min_length=2, max_length=2)]


class PublishedTable(BaseModel):
    """A table of a recording."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PublishedState(PublishedTable):
    """A recorded position."""

    sector: _BothSides
    fuel: _BothSides
    ammo: _BothSides
    goal: _Pair
    score: _Pair
    turn: int
    phase: PhaseName
    done: bool


class PublishedOutcome(PublishedTable):
    """A recorded engagement outcome, with the fields of ``Outcome``; satellites are recorded as (side, number)."""

    action: Literal["shoot", "collide", "guard"]
    attacker: _Satellite | None
    guardian: _Satellite | None
    target: _Satellite
    probability: float
    success: bool


class PublishedPhase(PublishedTable):
    """A recorded phase: legal orders, orders, outcomes, and the position after it.

    A drift has neither orders nor outcomes, a movement has no outcomes. Legal orders may be left out.
    """

    phase: PhaseName
    legal: Annotated[list[_SideLegal], Field(min_length=2, max_length=2)] | None = None
    orders: BothOrders | None = None
    outcomes: Annotated[list[PublishedOutcome], Field(max_length=state.MAX_OUTCOMES)] | None = None
    after: PublishedState

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if (self.orders is None) != (self.phase == "drift") or (self.phase == "drift" and self.legal is not None):
            raise ValueError(f"a {self.phase} phase has {'no orders' if self.phase == 'drift' else 'orders'}")
        if (self.outcomes is None) != (self.phase != "engagement"):
            raise ValueError(f"a {self.phase} phase has {'outcomes' if self.phase == 'engagement' else 'no outcomes'}")
        return self


class PublishedGame(PublishedTable):
    """A recorded game."""

    config: dict[str, Any]
    config_name: Title = ""
    seed: int | None = None
    style: str = ""
    initial: PublishedState
    phases: Annotated[list[PublishedPhase], FailFast(), Field(min_length=1, max_length=_MAX_PHASES)]
    """All phases, or the first ones of a longer game."""


def order_code(order: PublishedOrder) -> int:
    """Return the code of a recorded order.

    Raises:
        RecordingError: there is no such order.
    """
    action, target = (order, None) if isinstance(order, str) else order
    if action not in (*MOVES, *ENGAGEMENTS) or (target is None) != (action in (*MOVES, "guard")):
        raise RecordingError(f"order must be a move, guard, or [shoot, n] or [collide, n], got {order!r}")
    return Order(0, action, target).code


def order_codes(recorded: list[list[PublishedOrder]]) -> NDArray[np.int64]:
    """Return the recorded orders of both sides as (2, 11) order codes.

    Raises:
        RecordingError: there is no such order.
    """
    orders = np.zeros((state.NUM_SIDES, state.SATELLITES), np.int64)
    for side, side_orders in enumerate(recorded):
        orders[side, : len(side_orders)] = [order_code(order) for order in side_orders]
    return orders


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
        "costs": {name: recorded[f"{name}_cost"] for name in (*MOVES[1:], "station_keeping", *ENGAGEMENTS)},
        "odds": {name: recorded[f"{name}_probability"] for name in ENGAGEMENTS},
        "points": {
            "goal": recorded["goal_points"],
            "adjacent": recorded["adjacent_points"],
            "win": recorded["win_score"],
        },
    }


def read_published(recorded: PublishedGame, number: int = 0, line: int = 1) -> Replay:
    """Convert a recorded game; a drift becomes part of the engagement before it.

    Phases up to the first one whose parts do not fit together are converted; ``fault`` names the rest.

    Args:
        recorded: the game.
        number: index of the game in its file.
        line: number of its line.

    Raises:
        RecordingError: the configuration or an order is invalid.
    """
    try:
        config = read_published_config(recorded.config)
        style = recorded.style or "unknown"
        replay = Replay(
            number,
            line,
            config.model_copy(update={"title": recorded.config_name or config.title}),
            seed=None,
            agents=(style, style),
            refuses_illegal_orders=True,
        )
        replay.fault = _read_phases(replay, recorded, (_fleet(config.alpha.patrols), _fleet(config.bravo.patrols)))
    except GeoPatrolError as error:
        raise RecordingError(f"line {line}: {error}") from None
    return replay


def _fleet(patrols: PatrolsConfig) -> int:
    assert isinstance(patrols.formation, tuple)  # recorded values are single ones
    return 1 + sum(count for _, count in patrols.formation)


def _read_phases(replay: Replay, recorded: PublishedGame, fleets: tuple[int, int]) -> str | None:
    """Add the phases to a replay; return what does not fit together, if anything."""
    if fault := _find_size_fault(_fleet_lists("", recorded.initial), fleets):
        return f"initial: {fault}"
    replay.initial = _position(recorded.initial)
    before = recorded.initial
    for index, phase in enumerate(recorded.phases):
        lists = [("number of satellites in legal", phase.legal), ("number of orders", phase.orders)]
        fault = _find_order_fault(index, phase, before) or _find_size_fault(
            [*lists, *_fleet_lists("after.", phase.after)], fleets
        )
        if fault:
            return f"phase {index} ({phase.phase}): {fault}"
        if phase.phase == "drift":
            replay.phases[-1] = replace(replay.phases[-1], after=_position(phase.after))
        else:
            replay.phases.append(_read_phase(replay.line, before.turn + 1, phase))
        before = phase.after
    return None


def _find_order_fault(index: int, phase: PublishedPhase, before: PublishedState) -> str | None:
    """Return why a phase cannot come after those before it: a movement, an engagement, a drift, and so on."""
    expected = "drift" if before.done else PHASES[index % len(PHASES)]
    if phase.phase != expected:
        return f"phase: recorded {phase.phase!r}, replayed {expected!r}"
    return "done: recorded False, replayed True" if before.done else None


def _fleet_lists(prefix: str, recorded: PublishedState) -> list[tuple[str, Any]]:
    return [(f"{prefix}number of {field} values", getattr(recorded, field)) for field in FLEET_FIELDS]


def _find_size_fault(lists: Iterable[tuple[str, Any]], fleets: tuple[int, int]) -> str | None:
    """Return which of the named lists, each by side, does not have a value for every satellite."""
    for name, sides in lists:
        for side, fleet, values in zip(SIDES, fleets, sides or (), strict=False):
            if len(values) != fleet:
                return f"{name} of {side}: recorded {len(values)}, replayed {fleet}"
    return None


def _read_phase(line: int, turn: int, phase: PublishedPhase) -> RecordedPhase:
    is_movement = phase.phase == "movement"
    return RecordedPhase(
        line=line,
        turn=turn,
        name=phase.phase,
        codes=order_codes(phase.orders or []).astype(np.int8),
        outcomes=tuple(Outcome(**vars(outcome)) for outcome in phase.outcomes or ()),
        after=_position(phase.after) if is_movement else None,  # an engagement's is read with its drift
        before_drift=None if is_movement else _position(phase.after),
        legal=None if phase.legal is None else [[[*map(order_code, one)] for one in side] for side in phase.legal],
    )


def _position(recorded: PublishedState) -> Position:
    """Return a recorded position; its numbers may be any, so that they are compared and not refused."""
    return Position.model_construct(**vars(recorded))
