"""The schema of configurations, checked by pydantic: ``GameConfig`` and its tables, and the messages about their faults.

A message has a line for every fault, with the key's full path, the value and what would be valid.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from geo_patrol.base.board import MAX_RING
from geo_patrol.base.errors import ConfigError, counted, printable
from geo_patrol.base.validation import describe_fault
from geo_patrol.config.toml_files import Choice, Range, count_choices, has_ranges, is_range_table, merge, to_plain

_MAX_FAULTS = 20


class Fault(NamedTuple):
    """What is wrong with a value.

    Attributes:
        key: the dotted key of the value.
        text: what is wrong, to follow the key.
    """

    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.key} {self.text}"


class FaultsError(ConfigError):
    """A configuration, or what is read like one, with faults; ``faults`` are those that its message lists."""

    def __init__(self, message: str, faults: Sequence[Fault]) -> None:
        super().__init__(message)
        self.faults = tuple(faults)


def refuse(origin: str, faults: Iterable[Fault]) -> None:
    """Raise an error if there are faults.

    Raises:
        FaultsError: the message lists the first twenty. Further ones are neither looked for nor explained, which would
            take a second for the thousands that a file can hold.
    """
    found = list(islice(faults, _MAX_FAULTS + 1))
    if found:
        is_cut = len(found) > _MAX_FAULTS
        number = (
            f"more than {_MAX_FAULTS} faults, of which these are the first" if is_cut else counted(len(found), "fault")
        )
        listed = found[:_MAX_FAULTS]
        raise FaultsError("\n".join([f"{origin}: {number}", *(f"  {fault}" for fault in listed)]), listed)


def faults_of(model: type[BaseModel], data: dict[str, Any], prefix: str = "") -> Iterator[Fault]:
    """Yield the faults of data by a model; the prefix stands before their keys."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        yield from list_faults(model, error, prefix)


def list_faults(model: type[BaseModel], error: ValidationError, prefix: str = "") -> Iterator[Fault]:
    """Yield the faults that validation by a model has found."""
    for each in error.errors(include_url=False):
        for detail in _split(each):
            yield _explain(model, detail, prefix)


def _split(error: ErrorDetails) -> Iterator[ErrorDetails]:
    """Yield the faults that a validator found at once as errors of their own."""
    if error["type"] == "wrong_values":
        for context in error["ctx"]["faults"]:
            yield {**error, "type": "wrong_value", "ctx": context}
    else:
        yield error


def _explain(root: type[BaseModel], error: ErrorDetails, prefix: str) -> Fault:
    context = error.get("ctx", {})
    steps = [str(step) for step in error["loc"]]
    if "key" in context:
        steps.append(str(context["key"]))
    text = describe_fault({**error, "input": context.get("value", error["input"])})
    if error["type"] == "extra_forbidden":
        text += f"; {_known_keys(root, error['loc'])}"
    return Fault(prefix + ".".join(steps), text)


def _known_keys(root: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """Return the most similar key of a table, or all its keys."""
    model: Any = root
    for step in location[:-1]:
        if isinstance(step, str) and step in model.model_fields:  # not the key of a table by number
            model = model.model_fields[step].annotation
            while arguments := [kind for kind in getattr(model, "__args__", ()) if kind is not Ellipsis]:
                model = arguments[-1 if getattr(model, "__origin__", None) is dict else 0]
    keys = list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []
    close = difflib.get_close_matches(str(location[-1]), keys, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return f"the keys here are {', '.join(keys)}"


MAX_CHOICES = 1_000
_NUMBERS = (int, float, np.integer, np.floating)

Check: TypeAlias = Callable[[Any], Any]


def wrong(right: str) -> PydanticCustomError:
    """Build the error for a value; ``right`` describes valid ones."""
    return PydanticCustomError("wrong_value", "{right}", {"right": right})


def wrong_key(key: str, value: Any, right: str) -> PydanticCustomError:
    """Build the error for a value that does not fit others of its table."""
    return PydanticCustomError("wrong_value", "{right}", {"right": right, "key": key, "value": to_plain(value)})


def all_wrong(faults: Sequence[PydanticCustomError]) -> PydanticCustomError:
    """Build the error for several wrong values of a table at once."""
    return PydanticCustomError("wrong_values", "several faults", {"faults": [fault.context for fault in faults]})


def _is_between(low: float, value: Any, high: float) -> bool:
    """Return whether a value is a number between two bounds; NaN is not between anything."""
    return not isinstance(value, bool) and isinstance(value, _NUMBERS) and bool(low <= value <= high)


def whole(low: int, high: int) -> Check:
    """Make a check for integers; 5.0 is one."""

    def check(value: Any) -> int:
        if not _is_between(low, value, high) or int(value) != value:
            raise wrong(f"an integer from {low} to {high}")
        return int(value)

    return check


def real(low: float, high: float) -> Check:
    """Make a check for numbers."""

    def check(value: Any) -> float:
        if not _is_between(low, value, high):
            raise wrong(f"a number from {low:g} to {high:g}")
        return float(value)

    return check


def or_sampled(check: Check, *, ranges: bool = True) -> Check:
    """Extend a check of single values to choices, and to ranges if ``ranges``, of such values."""

    def check_sampled(value: Any) -> Any:
        table = to_plain(value) if isinstance(value, (Range, Choice)) else value
        if not isinstance(table, Mapping):
            return check(table)
        if not is_range_table(table) or ("low" in table and not ranges):
            forms = "{ low = .., high = .. } or { choices = [..] }" if ranges else "{ choices = [..] }"
            raise wrong(f"a single value or {forms}")
        if "low" in table:
            interval = Range(check(table["low"]), check(table["high"]))
            if interval.low > interval.high:
                raise wrong("a range whose low is not above its high")
            return interval
        choices = table["choices"]
        if not isinstance(choices, (list, tuple)) or not 1 <= len(choices) <= MAX_CHOICES:
            raise wrong(f"a list of 1 to {MAX_CHOICES} choices")
        return Choice(tuple(check(choice) for choice in choices))

    return check_sampled


MAX_PATROLS = 10
MAX_FUEL = 10_000
MAX_AMMO = 1_000
MAX_POINTS = 10_000
MAX_WIN_SCORE = 1_000_000
MAX_TURNS = 10_000
MAX_WEIGHT = 100
MAX_SENSOR_RANGE = 1 << (MAX_RING - 1)
"""The most steps between two sectors of any board: half of its ring, where it has no other."""
MAX_VARIANTS = 100
MAX_VARIANTS_CHOICES = 10_000
"""Each variant is a configuration to check: a hundred with all the choices that a file can hold would take half a minute."""
MAX_TITLE, MAX_DESCRIPTION = 200, 1_000

Title = Annotated[str, AfterValidator(lambda text: printable(text, MAX_TITLE))]
Description = Annotated[str, AfterValidator(lambda text: printable(" ".join(text.split()), MAX_DESCRIPTION))]


def check_formation(value: Any) -> tuple[tuple[int, int], ...]:
    """Check a formation: pairs of (azimuth offset, count) with at most ten Patrols in all."""
    right = f"a list of [azimuth offset from the goal sector, Patrols there], {MAX_PATROLS} Patrols at most"
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= MAX_PATROLS:
        raise wrong(right)
    groups = []
    for group in value:
        if not isinstance(group, (list, tuple)) or len(group) != 2:
            raise wrong(right)
        groups.append((whole(-1023, 1023)(group[0]), whole(1, MAX_PATROLS)(group[1])))
    total = sum(count for _, count in groups)
    if total > MAX_PATROLS:
        raise wrong(f"a formation of at most {MAX_PATROLS} Patrols; these are {total}")
    return tuple(groups)


def check_weight(value: Any) -> float | Literal["auto"]:
    """Check the weight of the Patrols' fuel."""
    if value == "auto":
        return "auto"
    try:
        return float(real(0, MAX_WEIGHT)(value))
    except PydanticCustomError:
        raise wrong(f'a number from 0 to {MAX_WEIGHT}, or "auto"') from None


_PATROL_NUMBERS = frozenset(str(number) for number in range(1, MAX_PATROLS + 1))


def _check_numbers(value: Any) -> Any:
    if not isinstance(value, Mapping) or not _PATROL_NUMBERS.issuperset(value):
        raise wrong(f'a table whose keys are numbers of Patrols, "1" to "{MAX_PATROLS}"')
    return value


def _check_pair(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise wrong("a pair [same sector, adjacent sector]")
    return value


_plain = PlainSerializer(to_plain)

Ring = Annotated[int, PlainValidator(whole(1, MAX_RING))]
TurnLimit = Annotated[int, PlainValidator(whole(1, MAX_TURNS))]
VariantWeight = Annotated[int, PlainValidator(whole(1, 1_000_000))]
Count = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(1, MAX_PATROLS))), _plain]
Fuel = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(1, MAX_FUEL))), _plain]
Ammo = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(0, MAX_AMMO))), _plain]
Cost = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(0, MAX_FUEL))), _plain]
CostPair = Annotated[tuple[Cost, Cost], BeforeValidator(_check_pair), _plain]
Odds = Annotated[float | Range | Choice, PlainValidator(or_sampled(real(0, 1))), _plain]
OddsPair = Annotated[tuple[Odds, Odds], BeforeValidator(_check_pair), _plain]
Points = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(0, MAX_POINTS))), _plain]
WinScore = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(1, MAX_WIN_SCORE))), _plain]
SensorRange = Annotated[int | Range | Choice, PlainValidator(or_sampled(whole(1, MAX_SENSOR_RANGE))), _plain]
HvaWeight = Annotated[float, PlainValidator(real(0, MAX_WEIGHT))]
PatrolWeight = Annotated[float | Literal["auto"], PlainValidator(check_weight)]
Formation = Annotated[
    tuple[tuple[int, int], ...] | Choice, PlainValidator(or_sampled(check_formation, ranges=False)), _plain
]


class _ConfigTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BoardConfig(_ConfigTable):
    """Rings of the board: 1 <= inner <= goal <= outer <= 10."""

    inner_ring: Ring
    outer_ring: Ring
    goal_ring: Ring

    @model_validator(mode="after")
    def _check_rings(self) -> Self:
        if self.inner_ring > self.outer_ring:
            raise wrong_key("inner_ring", self.inner_ring, f"a ring not beyond the outer one, {self.outer_ring}")
        if not self.inner_ring <= self.goal_ring <= self.outer_ring:
            right = f"a ring of the board, {self.inner_ring} to {self.outer_ring}"
            raise wrong_key("goal_ring", self.goal_ring, right)
        return self


class HvaConfig(_ConfigTable):
    """A side's High Value Asset: starting fuel and ammo, and the points per unit of its fuel."""

    fuel: Fuel
    ammo: Ammo
    weight: HvaWeight


class SinglePatrolConfig(_ConfigTable):
    """The starting fuel and ammo of one Patrol; None: that of its fleet."""

    fuel: Fuel | None = None
    ammo: Ammo | None = None


class PatrolsConfig(_ConfigTable):
    """A side's Patrols: where they start, and each one's starting fuel and ammo.

    ``single`` are Patrols with fuel or ammo of their own, by number, as text: ``{"3": {"fuel": 120}}``. Numbers that a fleet
    does not have are ignored, as a count may be sampled.

    ``count`` limits the fleet to so many Patrols of the formation: those nearest to the goal sector, and of two equally
    near ones the one listed first. A count above the formation extends it: each further Patrol joins the place with the
    fewest, of several the nearest to the goal sector, and of equally near ones the one listed first; it gets the next
    number. ``weight`` is the points per unit of their fuel; "auto" makes a full fleet worth 100 points, that is
    100 / (the fuel of all its Patrols).
    """

    formation: Formation
    count: Count | None = None
    fuel: Fuel
    ammo: Ammo
    weight: PatrolWeight
    single: Annotated[dict[str, SinglePatrolConfig], BeforeValidator(_check_numbers)] | None = None

    def fuel_of(self, number: int) -> int | Range | Choice:
        """Return the starting fuel of a Patrol."""
        own = (self.single or {}).get(str(number))
        return self.fuel if own is None or own.fuel is None else own.fuel


class CostsConfig(_ConfigTable):
    """Fuel that a side's orders cost; pairs are same sector, adjacent sector."""

    prograde: Cost
    retrograde: Cost
    radial_in: Cost
    radial_out: Cost
    station_keeping: Cost
    shoot: CostPair
    collide: CostPair
    guard: CostPair


class OddsConfig(_ConfigTable):
    """Success probabilities of a side's engagements; pairs are same sector, adjacent sector."""

    shoot: OddsPair
    collide: OddsPair
    guard: OddsPair


class PointsConfig(_ConfigTable):
    """Points a turn for an HVA in (``goal``) or next to (``adjacent``) its goal sector; ``win`` ends the game.

    ``patrol`` are points for each Patrol that the enemy loses, however it is destroyed; None is 0.
    """

    goal: Points
    adjacent: Points
    win: WinScore
    patrol: Points | None = None


class SideConfig(_ConfigTable):
    """The fleet, costs, odds and points of one side, and how far it sees.

    With a ``sensor_range``, enemies are hidden that are further than so many steps from all satellites of the side;
    without, it sees everything.
    """

    hva: HvaConfig
    patrols: PatrolsConfig
    costs: CostsConfig
    odds: OddsConfig
    points: PointsConfig
    sensor_range: SensorRange | None = None


class Variant(_ConfigTable):
    """A scenario that may be sampled at reset: the values of the sides that it changes."""

    name: Title
    chance: VariantWeight = 1
    """How often it is sampled, relative to the other variants."""
    mirror: StrictBool | None = None
    alpha: dict[str, Any] = {}
    bravo: dict[str, Any] = {}


class GameConfig(_ConfigTable):
    """A complete configuration of a game. ``presets.load_config`` builds one from a preset, a file or a mapping."""

    title: Title
    description: Description = ""
    rules: Literal["book", "code"] = "book"
    illegal_orders: Literal["noop", "forfeit"] = "noop"
    turn_limit: TurnLimit
    board: BoardConfig
    alpha: SideConfig
    bravo: SideConfig
    mirror: StrictBool = False
    """Whether bravo has alpha's values, sampled ones included."""
    variants: tuple[Variant, ...] = ()
    """Scenarios, one of which is sampled at each reset. Their names are different: those that share one are numbered."""
    variant: Title | None = None
    """In the configuration of a game, the name of the variant that was sampled for it."""

    @model_validator(mode="before")
    @classmethod
    def _count_variants(cls, data: Any) -> Any:
        """Refuse too many variants before they are built."""
        variants = data.get("variants") if isinstance(data, Mapping) else None
        if isinstance(variants, (list, tuple)) and len(variants) > MAX_VARIANTS:
            raise wrong_key("variants", f"{len(variants)} variants", f"at most {MAX_VARIANTS}")
        return data

    @field_validator("variants")
    @classmethod
    def _number_names(cls, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        """Tell variants apart that share a name, as "a" and "a (2)": saved games name the one that was sampled."""
        names = [variant.name for variant in variants]
        taken, numbers = set(names), dict.fromkeys(names, 1)
        named: list[Variant] = []
        seen: set[str] = set()
        for variant in variants:
            name = variant.name
            while name in seen or (name != variant.name and name in taken):
                numbers[variant.name] += 1
                suffix = f" ({numbers[variant.name]})"
                name = variant.name[: MAX_TITLE - len(suffix)] + suffix
            seen.add(name)
            named.append(variant if name == variant.name else variant.model_copy(update={"name": name}))
        return tuple(named)

    @model_validator(mode="after")
    def _check_variants(self) -> Self:
        if self.variants:
            shared = count_choices([self.alpha.model_dump(), self.bravo.model_dump()])
            choices = sum(shared + count_choices([variant.alpha, variant.bravo]) for variant in self.variants)
            if choices > MAX_VARIANTS_CHOICES:
                found = f"{len(self.variants)} variants with {choices:,} choices"
                right = (
                    f"few enough for {MAX_VARIANTS_CHOICES:,} choices in all, those that they share counted for each"
                )
                raise wrong_key("variants", found, right)
        return self

    def side(self, name: str) -> SideConfig:
        """Return the values of ``"alpha"`` or ``"bravo"``."""
        return {"alpha": self.alpha, "bravo": self.bravo}[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data, as a JSON or TOML file would hold it."""
        return self.model_dump(exclude_none=True)

    @property
    def is_randomized(self) -> bool:
        """Whether a reset samples values, so that games differ in their rules or fleets."""
        return bool(self.variants) or has_ranges(self.to_dict())

    @property
    def is_mirrored(self) -> bool:
        """Whether bravo has alpha's values in every game."""
        return all(self.mirror if each.mirror is None else each.mirror for each in self.variants or (self,))

    @property
    def hides_enemies(self) -> bool:
        """Whether a side has a sensor range, in any of the variants."""
        sides = any(side.sensor_range is not None for side in (self.alpha, self.bravo))
        return sides or any("sensor_range" in {**each.alpha, **each.bravo} for each in self.variants)

    @property
    def counts_patrols(self) -> bool:
        """Whether a side may get points for destroyed Patrols, in any of the variants."""
        changes = (table.get("points", {}) for each in self.variants for table in (each.alpha, each.bravo))
        values = [self.alpha.points.patrol, self.bravo.points.patrol, *(points.get("patrol") for points in changes)]
        return any(value not in (None, 0) for value in values)

    def with_variants(self) -> Iterator[dict[str, Any]]:
        """Yield the configuration as plain data with the changes of each of its variants; do not modify what they share."""
        data = self.to_dict()
        del data["variants"]
        for variant in self.variants:
            changes = {"variant": variant.name, "alpha": variant.alpha, "bravo": variant.bravo}
            yield merge(data, changes if variant.mirror is None else {**changes, "mirror": variant.mirror})

    def scenarios(self) -> "list[tuple[int, GameConfig]]":
        """Return the configurations that a reset samples from, each with its relative frequency.

        A configuration without variants is its only scenario.
        """
        if not self.variants:
            return [(1, self)]
        configs = map(GameConfig.model_validate, self.with_variants())
        return [(variant.chance, config) for variant, config in zip(self.variants, configs, strict=True)]
