"""Game configurations: what they hold, and which values are right.

Most figures may be a ``Range`` or a ``Choice`` instead of a single value; it is drawn anew at each reset from the
game's seed. Reading and combining files is in ``presets``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    model_validator,
)
from pydantic_core import PydanticCustomError

from geo_patrol.board import MAX_RING

MAX_PATROLS = 10
MAX_FUEL = 10_000
MAX_AMMO = 1_000
MAX_POINTS = 10_000
MAX_WIN_SCORE = 1_000_000
MAX_TURNS = 10_000
MAX_WEIGHT = 100
MAX_CHOICES = 1_000
MAX_VARIANTS = 100


@dataclass(frozen=True)
class Range:
    """A figure drawn uniformly at each reset, both ends included: ``{ low = 40, high = 100 }``."""

    low: float
    high: float

    def to_plain(self) -> dict[str, Any]:
        """Return the table that stands for it in a file."""
        return {"low": self.low, "high": self.high}


@dataclass(frozen=True)
class Choice:
    """A figure drawn from a list at each reset, all entries alike: ``{ choices = [0, 1, 4] }``."""

    choices: tuple[Any, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return the table that stands for it in a file."""
        return {"choices": [_to_plain(choice) for choice in self.choices]}


def _to_plain(value: Any) -> Any:
    if isinstance(value, (Range, Choice)):
        return value.to_plain()
    return [_to_plain(item) for item in value] if isinstance(value, tuple) else value


def wrong(right: str) -> PydanticCustomError:
    """Build the error for a value; ``right`` says what to give instead."""
    return PydanticCustomError("wrong_value", "{right}", {"right": right})


def wrong_key(key: str, value: Any, right: str) -> PydanticCustomError:
    """Build the error for a value that does not go with others of its table."""
    return PydanticCustomError("wrong_value", "{right}", {"right": right, "key": key, "value": _to_plain(value)})


_NUMBERS = (int, float, np.integer, np.floating)

Check: TypeAlias = Callable[[Any], Any]


def whole(low: int, high: int) -> Check:
    """Make a check for whole numbers; 5.0 is one."""

    def check(value: Any) -> int:
        right = f"a whole number from {low} to {high}"
        if isinstance(value, bool) or not isinstance(value, _NUMBERS) or not low <= value <= high:
            raise wrong(right)  # NaN is not between anything
        if int(value) != value:
            raise wrong(right)
        return int(value)

    return check


def real(low: float, high: float) -> Check:
    """Make a check for numbers."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, _NUMBERS) or not low <= value <= high:
            raise wrong(f"a number from {low:g} to {high:g}")
        return float(value)

    return check


def check_formation(value: Any) -> tuple[tuple[int, int], ...]:
    """Check a formation: at most ten Patrols in places of (azimuth offset, count)."""
    right = f"a list of [azimuth offset from the goal sector, Patrols there], {MAX_PATROLS} Patrols at most"
    if not isinstance(value, (list, tuple)) or not value:
        raise wrong(right)
    places = []
    for place in value:
        if not isinstance(place, (list, tuple)) or len(place) != 2:
            raise wrong(right)
        places.append((whole(-1023, 1023)(place[0]), whole(1, MAX_PATROLS)(place[1])))
    total = sum(count for _, count in places)
    if total > MAX_PATROLS:
        raise wrong(f"a formation of at most {MAX_PATROLS} Patrols; these are {total}")
    return tuple(places)


def check_weight(value: Any) -> float | Literal["auto"]:
    """Check the weight of the Patrols' fuel."""
    if value == "auto":
        return "auto"
    try:
        return float(real(0, MAX_WEIGHT)(value))
    except PydanticCustomError:
        raise wrong(f'a number from 0 to {MAX_WEIGHT}, or "auto"') from None


def _draw(check: Check, ranges: bool = True) -> Check:
    """Extend a check of one value to ranges and choices of such values."""

    def check_draw(value: Any) -> Any:
        table = value.to_plain() if isinstance(value, (Range, Choice)) else value
        if not isinstance(table, Mapping):
            return check(table)
        if ranges and set(table) == {"low", "high"}:
            drawn = Range(check(table["low"]), check(table["high"]))
            if drawn.low > drawn.high:
                raise wrong("a range whose low is not above its high")
            return drawn
        if set(table) == {"choices"}:
            choices = table["choices"]
            if not isinstance(choices, (list, tuple)) or not 1 <= len(choices) <= MAX_CHOICES:
                raise wrong(f"a list of 1 to {MAX_CHOICES} choices")
            return Choice(tuple(check(choice) for choice in choices))
        forms = "{ low = .., high = .. } or { choices = [..] }" if ranges else "{ choices = [..] }"
        raise wrong(f"a single value or {forms}")

    return check_draw


def _check_pair(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise wrong("a pair [same sector, adjacent sector]")
    return value


_plain = PlainSerializer(_to_plain)

Ring = Annotated[int, PlainValidator(whole(1, MAX_RING))]
TurnLimit = Annotated[int, PlainValidator(whole(1, MAX_TURNS))]
VariantWeight = Annotated[int, PlainValidator(whole(1, 1_000_000))]
Count = Annotated[int | Range | Choice, PlainValidator(_draw(whole(1, MAX_PATROLS))), _plain]
Fuel = Annotated[int | Range | Choice, PlainValidator(_draw(whole(1, MAX_FUEL))), _plain]
Ammo = Annotated[int | Range | Choice, PlainValidator(_draw(whole(0, MAX_AMMO))), _plain]
Cost = Annotated[int | Range | Choice, PlainValidator(_draw(whole(0, MAX_FUEL))), _plain]
CostPair = Annotated[tuple[Cost, Cost], BeforeValidator(_check_pair), _plain]
Odds = Annotated[float | Range | Choice, PlainValidator(_draw(real(0, 1))), _plain]
OddsPair = Annotated[tuple[Odds, Odds], BeforeValidator(_check_pair), _plain]
Points = Annotated[int | Range | Choice, PlainValidator(_draw(whole(0, MAX_POINTS))), _plain]
WinScore = Annotated[int | Range | Choice, PlainValidator(_draw(whole(1, MAX_WIN_SCORE))), _plain]
HvaWeight = Annotated[float, PlainValidator(real(0, MAX_WEIGHT))]
PatrolWeight = Annotated[float | Literal["auto"], PlainValidator(check_weight)]
Formation = Annotated[
    tuple[tuple[int, int], ...] | Choice, PlainValidator(_draw(check_formation, ranges=False)), _plain
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BoardConfig(_Table):
    """Rings of the board: 1 <= inner <= goal <= outer <= 10."""

    inner_ring: Ring
    outer_ring: Ring
    goal_ring: Ring

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.inner_ring > self.outer_ring:
            raise wrong_key("inner_ring", self.inner_ring, f"a ring not beyond the outer one, {self.outer_ring}")
        if not self.inner_ring <= self.goal_ring <= self.outer_ring:
            right = f"a ring of the board, {self.inner_ring} to {self.outer_ring}"
            raise wrong_key("goal_ring", self.goal_ring, right)
        return self


class HvaConfig(_Table):
    """A side's High Value Asset: starting fuel and ammo, and the points that a unit of its fuel is worth."""

    fuel: Fuel
    ammo: Ammo
    weight: HvaWeight


class PatrolsConfig(_Table):
    """A side's Patrols: where they start, and each one's starting fuel and ammo.

    ``count`` lets only so many of the formation take part: those nearest to the goal sector, of two equally near the
    one listed first. ``weight`` is the points that a unit of their fuel is worth; "auto" makes a full fleet worth
    100 points, that is 100 / (number of Patrols * their fuel).
    """

    formation: Formation
    count: Count | None = None
    fuel: Fuel
    ammo: Ammo
    weight: PatrolWeight

    @model_validator(mode="after")
    def _check_count(self) -> Self:
        formations = self.formation.choices if isinstance(self.formation, Choice) else (self.formation,)
        smallest = min(sum(count for _, count in formation) for formation in formations)
        if self.count is not None and largest(self.count) > smallest:
            raise wrong_key("count", self.count, f"at most {smallest}, the Patrols of the formation")
        return self


class CostsConfig(_Table):
    """Fuel that a side's orders cost; pairs are same sector, adjacent sector."""

    prograde: Cost
    retrograde: Cost
    radial_in: Cost
    radial_out: Cost
    station_keeping: Cost
    shoot: CostPair
    collide: CostPair
    guard: CostPair


class OddsConfig(_Table):
    """Success probabilities of a side's engagements; pairs are same sector, adjacent sector."""

    shoot: OddsPair
    collide: OddsPair
    guard: OddsPair


class PointsConfig(_Table):
    """Points a turn for an HVA in (``goal``) or next to (``adjacent``) its goal sector; ``win`` ends the game."""

    goal: Points
    adjacent: Points
    win: WinScore


class SideConfig(_Table):
    """All figures of one side."""

    hva: HvaConfig
    patrols: PatrolsConfig
    costs: CostsConfig
    odds: OddsConfig
    points: PointsConfig


class Variant(_Table):
    """A scenario that a configuration draws at reset: what it changes in the figures of the sides."""

    name: str
    chance: VariantWeight = 1
    """How often it is drawn, relative to the other variants."""
    mirror: StrictBool | None = None
    alpha: dict[str, Any] = {}
    bravo: dict[str, Any] = {}


class GameConfig(_Table):
    """A complete configuration of a game. ``presets.load_config`` builds one from a preset, a file or a mapping."""

    title: str
    description: str = ""
    rules: Literal["book", "code"] = "book"
    illegal_orders: Literal["noop", "forfeit"] = "noop"
    turn_limit: TurnLimit
    board: BoardConfig
    alpha: SideConfig
    bravo: SideConfig
    mirror: StrictBool = False
    """Bravo has alpha's figures, drawn ones included."""
    variants: tuple[Variant, ...] = ()
    """Scenarios, one of which is drawn at each reset."""

    @model_validator(mode="after")
    def _check_variants(self) -> Self:
        if len(self.variants) > MAX_VARIANTS:
            raise wrong_key("variants", f"{len(self.variants)} variants", f"at most {MAX_VARIANTS}")
        return self

    def side(self, name: str) -> SideConfig:
        """Return the figures of ``"alpha"`` or ``"bravo"``."""
        return {"alpha": self.alpha, "bravo": self.bravo}[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data, as a JSON or TOML file would hold it."""
        return self.model_dump(exclude_none=True)

    @property
    def is_drawn(self) -> bool:
        """Whether a reset draws figures, so that games differ in their rules or fleets."""
        return bool(self.variants) or _has_draws(self.to_dict())


def largest(value: float | Range | Choice) -> float:
    """Return the largest figure that a value can be drawn as."""
    if isinstance(value, Range):
        return value.high
    return max(value.choices) if isinstance(value, Choice) else value


def _has_draws(value: Any) -> bool:
    if isinstance(value, Mapping):
        return set(value) in ({"low", "high"}, {"choices"}) or any(_has_draws(item) for item in value.values())
    return isinstance(value, list) and any(_has_draws(item) for item in value)
