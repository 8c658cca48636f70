"""Study files: scenarios, factors, a design, pairs of agents and questions, as a TOML file or a mapping says them.

``read_study_file`` checks a file and makes a ``StudyFile`` of it. ``plan_study`` resolves it: every scenario becomes a
configuration and every point of the design a ``Cell``, a set of values that replace those of a scenario. Values may be
relative to the scenario's: ``"+20%"``, ``"-1"``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from geo_patrol.base.arguments import check_seed
from geo_patrol.base.errors import ConfigError, optional_import, printable, show, suggest
from geo_patrol.base.files import expand_user
from geo_patrol.config.presets import current_value, load_config, resolve_overrides, resolve_value, target_keys
from geo_patrol.config.schema import MAX_TITLE, Fault, GameConfig, list_faults, refuse, wrong, wrong_key
from geo_patrol.config.toml_files import (
    RELATIVE,
    config_path,
    copy_plain,
    flatten,
    is_range_table,
    is_relative,
    parse_overrides,
    parse_setting,
    preset_names,
    read_toml,
    study_names,
    to_toml,
    value_text,
)

MAX_CELLS = 10_000
MAX_PAIRS = 100
MAX_FACTORS = 100
MAX_QUESTIONS = 50
MAX_GAMES = 10_000_000
"""Games of one cell and pair, or of one search."""
SEARCH_LEVELS = 65
"""Values that a search looks at in a range of numbers that are not whole."""

RateMeasure: TypeAlias = Literal["alpha wins", "bravo wins", "draws"]
Measure: TypeAlias = Literal["alpha wins", "bravo wins", "draws", "alpha score", "bravo score", "margin", "turns"]
DesignKind: TypeAlias = Literal["grid", "latin-hypercube", "sobol", "morris", "saltelli"]
_Name = Annotated[str, AfterValidator(lambda text: printable(text, MAX_TITLE))]
_Share = Annotated[float, Field(ge=0, le=1)]


# Values


_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?\s*%?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s*\.\.\s*({_NUMBER}))?")
_OPENING, _CLOSING = "[{", "]}"


def parse_values(text: str) -> tuple[Any, ...]:
    """Parse values with commas between them, ``0..4`` for integers, ``0..1..0.25`` with a step; each is TOML, or a word.

    Raises:
        ValueError: it cannot be parsed; the message is without the text.
    """
    pieces = [value for piece in _split(text) for value in _expand(piece)]
    if not all(pieces):
        raise ValueError("a value is missing between commas")
    return tuple(map(parse_setting, pieces))


def _split(listed: str) -> list[str]:
    """Split at the commas outside lists, tables and quotes."""
    pieces, depth, quote = [""], 0, ""
    for letter in listed:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (not quote and letter in _OPENING) - (not quote and letter in _CLOSING)
        if letter == "," and depth == 0 and not quote:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip() for piece in pieces]


class _Steps(NamedTuple):
    """A range as a text says it: its ends, the step if there is one, and whether they are relative, in percent or not."""

    low: Decimal
    high: Decimal
    step: Decimal | None
    is_relative: bool
    is_share: bool

    def value(self, number: Decimal) -> str:
        """Return a value of the range as a text of its own."""
        return format(number, "+" if self.is_relative else "") + "%" * self.is_share


def _read_range(text: str) -> _Steps | None:
    """Return a range, which is relative if one of its ends has a sign; None for any other text.

    Raises:
        ValueError: it is a range of nothing.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    low, high, step = (None if each is None else Decimal(each.rstrip("% ")) for each in match.groups())
    low_share, high_share, step_share = (each is not None and each.endswith("%") for each in match.groups())
    assert low is not None
    assert high is not None
    is_relative = match[1][0] in "+-" or match[2][0] in "+-"  # no value is negative
    if low_share != high_share or (step_share and not low_share):
        raise ValueError(f"{text}: both ends must be percentages, or neither")
    if low_share and not is_relative:
        raise ValueError(f"{text}: percentages are relative and must have a sign, as in -10%..+10%")
    if high < low or (step is not None and step <= 0):
        raise ValueError(f"{text}: the smaller end comes first, and a step is above 0")
    return _Steps(low, high, step, is_relative, low_share)


def _expand(piece: str) -> Iterator[str]:
    """Yield the values of a range; anything else is a single value."""
    steps = _read_range(piece)
    if steps is None:
        yield piece
        return
    step = steps.step or Decimal(1)
    count = int((steps.high - steps.low) / step) + 1
    if count > MAX_CELLS:
        raise ValueError(f"{piece} are {count:,} values; {MAX_CELLS:,} are allowed")
    for i in range(count):
        yield steps.value(steps.low + i * step)


def parse_variation(text: str) -> tuple[str, "Factor"]:
    """Parse ``key=values``, as in ``--vary``, see ``parse_values``.

    Raises:
        ConfigError: it cannot be parsed.
    """
    key, sign, listed = map(str.strip, text.partition("="))
    if not sign or not key or not listed:
        raise ConfigError(
            f"vary must be key=values, such as bravo.patrols.ammo=0..4 or alpha.patrols.fuel=60,80, got {show(text)}"
        )
    try:
        return key, Factor(keys=(key,), values=check_values(parse_values(listed)))
    except ValueError as error:
        raise ConfigError(f"vary {show(text)}: {error}") from None


def parse_variations(vary: Sequence[str]) -> dict[str, "Factor"]:
    """Parse the variations of a sweep.

    Raises:
        ConfigError: one cannot be parsed, a key occurs twice, or there are too many cells.
    """
    if not vary:
        raise ConfigError("nothing is varied: vary must have at least one key=values, such as bravo.patrols.ammo=0..4")
    factors = _by_key(map(parse_variation, vary))
    cells = prod(len(factor.values or ()) for factor in factors.values())
    if cells > MAX_CELLS:
        raise ConfigError(f"the values vary in {cells:,} ways; {MAX_CELLS:,} are allowed")
    return factors


def parse_ranges(vary: Sequence[str]) -> dict[str, "Factor"]:
    """Parse the factors of a ranking, see ``parse_range``.

    Raises:
        ConfigError: one cannot be parsed, or a key occurs twice.
    """
    return _by_key(map(parse_range, vary))


def _by_key(parsed: "Iterable[tuple[str, Factor]]") -> dict[str, "Factor"]:
    factors: dict[str, Factor] = {}
    for key, factor in parsed:
        if key in factors:
            raise ConfigError(f"vary {key}: it is there twice; all its values belong together")
        factors[key] = factor
    return factors


def parse_range(text: str, *, is_search: bool = False) -> tuple[str, "Factor"]:
    """Parse ``key=low..high``, a range of numbers; or values, see ``parse_variation``.

    Args:
        text: the text.
        is_search: whether whole numbers are all values of the range rather than its ends.

    Raises:
        ConfigError: it cannot be parsed.
    """
    key, _, listed = map(str.strip, text.partition("="))
    try:
        steps = _read_range(listed)
    except ValueError as error:
        raise ConfigError(f"vary {show(text)}: {error}") from None
    if steps is None or steps.step is not None or (is_search and "." not in listed.replace("..", "")):
        return parse_variation(text)
    if not steps.low < steps.high:
        raise ConfigError(f"vary {show(text)}: {listed}: the smaller end comes first")
    low, high = (parse_setting(steps.value(end)) for end in (steps.low, steps.high))
    return key, Factor(keys=(key,), low=low, high=high)


def check_values(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values that are different, and not too many.

    Raises:
        ValueError: they are not.
    """
    if len(values) > MAX_CELLS:
        raise ValueError(f"these are {len(values):,} values; {MAX_CELLS:,} are allowed")
    texts = set[str]()
    for text in map(value_text, values):
        if text in texts:
            raise ValueError(f"{text} is there twice")
        texts.add(text)
    return values


# What a file holds


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _check_listed(value: Any) -> Any:
    """Return the values of a factor, which may be a text such as "0..4"."""
    try:
        values = parse_values(value) if isinstance(value, str) else value
        if isinstance(values, (list, tuple)) and values:
            return check_values(tuple(values))
    except ValueError as error:
        raise wrong(f'a list of values, or a text such as "0..4"; {error}') from None
    raise wrong('a list of values, or a text such as "0..4"')


def _check_end(value: Any) -> Any:
    if is_relative(value) or (isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e9):
        return value
    raise wrong('a number, or one relative to the scenario such as "-20%"')


def _refuse_unquoted(name: Any, value: Any, place: str) -> None:
    """Raise an error at a place if a key of the configuration was written without quotes, which TOML reads as nested tables."""
    is_nested = isinstance(value, Mapping) and value and not is_range_table(value)
    if is_nested and name in ("both", *GameConfig.model_fields):
        key, inner = name, value
        while isinstance(inner, Mapping) and inner and not is_range_table(inner):
            step, inner = next(iter(inner.items()))
            key = f"{key}.{step}"
        raise wrong_key(place, value, f'a value: quote the key, as in "{key}" = {to_toml(inner)}')


def _check_settings(value: Any) -> Any:
    """Return values by dotted key, tables among them by the keys of their values."""
    if not isinstance(value, Mapping):
        return value
    for name, each in value.items():
        _refuse_unquoted(name, each, name)
    return dict(flatten(value))


Settings: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_check_settings)]


class Factor(_Table):
    """A quantity that a study varies: one key of the configuration, or several that are linked.

    Attributes:
        keys: dotted keys, all of which get the value; ``both.`` stands for both sides.
        values: its values.
        low, high: instead of values, a range.
    """

    keys: tuple[str, ...] = Field(min_length=1)
    values: Annotated[tuple[Any, ...], BeforeValidator(_check_listed)] | None = None
    low: Annotated[int | float | str, BeforeValidator(_check_end)] | None = None
    high: Annotated[int | float | str, BeforeValidator(_check_end)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_key(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("keys"), list) and len(data["keys"]) == 1:
            nested = {name: value for name, value in data.items() if name not in cls.model_fields}
            _refuse_unquoted(data["keys"][0], nested, next(iter(nested), ""))
        if isinstance(data, Mapping) and "key" in data and "keys" not in data:
            return {"keys": [data["key"]], **{name: value for name, value in data.items() if name != "key"}}
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.values is None) == (self.low is None and self.high is None):
            raise wrong_key("values", self.values, "a list of values, or low and high a range in its place")
        if self.values is None:
            if self.low is None or self.high is None:
                raise wrong_key("low", self.low, "the end of a range that has both low and high")
            if _unit(self.low) != _unit(self.high):
                raise wrong_key("low", self.low, f"a value of the same kind as high, which is {show(self.high)}")
            if not _amount(self.low) < _amount(self.high):
                raise wrong_key("low", self.low, f"less than high, which is {show(self.high)}")
        return self

    @classmethod
    def parse(cls, name: str, spec: Any) -> Self:
        """Return the factor of an entry ``name = spec``: a table, or values for the key that the name is."""
        if isinstance(spec, Mapping) and not is_range_table(spec):
            return cls.model_validate({**({} if {"key", "keys"} & set(spec) else {"keys": [name]}), **spec})
        if is_range_table(spec) and "low" in spec:
            return cls.model_validate({"keys": [name], **spec})
        return cls.model_validate({"keys": [name], "values": spec})

    def is_whole(self, config: GameConfig) -> bool:
        """Return whether a range has whole numbers only, because one of the keys takes no others."""
        return _unit(self.low) != "%" and any(
            isinstance(current_value(config, key), int) for key in expand_keys(self.keys)
        )

    def at(self, config: GameConfig, unit: float, *, nearest: bool = False) -> Any:
        """Return the value at a point between 0 and 1, of a list or a range.

        Of a list, every value has an equal part of the interval; or the first value lies at 0, the last at 1, and the
        nearest one is returned.
        """
        count = self._count(config)
        if count is None:
            low, high = _amount(self.low), _amount(self.high)
            return with_unit(low + unit * (high - low), self.low)
        number = round(unit * (count - 1)) if nearest else min(int(unit * count), count - 1)
        return self.values[number] if self.values is not None else self._whole(int(np.ceil(_amount(self.low))) + number)

    def _whole(self, number: int) -> int | str:
        """Return a value of a range of whole numbers, relative where its ends are."""
        return f"{number:+d}" if is_relative(self.low) else number

    def _count(self, config: GameConfig) -> int | None:
        """Return the number of values; None of a range in which all numbers are."""
        if self.values is not None:
            return len(self.values)
        if not self.is_whole(config):
            return None
        return int(np.floor(_amount(self.high))) - int(np.ceil(_amount(self.low))) + 1

    def morris_step(self, config: GameConfig) -> float:
        """Return the share of the range, or of the list, that a step of a Morris trajectory covers as it is played.

        Trajectories have four levels and steps from one to the next but one. Whole and listed numbers are the nearest to these, and
        since the levels are symmetrical, so both steps are of the same length.
        """
        count = self._count(config)
        if count is None:
            return MORRIS_STEP
        return round(MORRIS_STEP * (count - 1)) / (count - 1) if count > 1 else 1.0

    def levels(self, config: GameConfig) -> tuple[Any, ...]:
        """Return the values that a search may choose from, the numbers among them in ascending order."""
        if self.values is not None:
            return tuple(sorted(self.values, key=_amount)) if all(map(_is_amount, self.values)) else self.values
        low, high = _amount(self.low), _amount(self.high)
        if self.is_whole(config):
            whole = range(int(np.ceil(low)), int(np.floor(high)) + 1)
            return tuple(map(self._whole, whole[:: -(-len(whole) // MAX_CELLS)]))
        return tuple(with_unit(amount, self.low) for amount in np.linspace(low, high, SEARCH_LEVELS).tolist())

    def overrides(self, config: GameConfig, value: Any) -> dict[str, Any]:
        """Return the values of the keys, by key."""
        return {key: resolve_value(config, key, value) for key in expand_keys(self.keys)}


def expand_keys(keys: Sequence[str]) -> list[str]:
    """Return keys of single sides for those of both."""
    return [target for key in keys for target in target_keys(key)]


def _unit(value: Any) -> str:
    return "" if not is_relative(value) else "%" if value.endswith("%") else "+"


def _is_amount(value: Any) -> bool:
    return is_relative(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _amount(value: Any) -> float:
    """Return the number in a value: 20 of "+20%"."""
    return float(value.rstrip("% ") if isinstance(value, str) else value)


def with_unit(amount: float, like: Any) -> Any:
    """Return a value of a range with nine digits, relative where its ends are."""
    amount = float(f"{amount:.9g}")
    return f"{amount:+.9g}{_unit(like).strip('+')}" if is_relative(like) else amount


def positions_of(levels: Sequence[Any]) -> NDArray[np.float64]:
    """Return where levels lie on an axis: their numbers, or their indices if they are not all numbers."""
    if all(map(_is_amount, levels)):
        return np.array([_amount(level) for level in levels])
    return np.arange(len(levels), dtype=np.float64)


def _read_single_factor(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and len(value) == 2:  # of a saved study
        value = {value[0]: value[1]}
    if not isinstance(value, Mapping) or len(value) != 1:
        raise wrong('a table of one factor, such as { "bravo.patrols.count" = "1..8" }')
    ((name, spec),) = value.items()
    try:
        return name, spec if isinstance(spec, Factor) else Factor.parse(name, spec)
    except ValidationError as error:
        raise wrong(f"a factor: {next(list_faults(Factor, error))}") from None


NamedFactor = Annotated[tuple[str, Factor], BeforeValidator(_read_single_factor)]


class _Question(_Table):
    title: _Name | None = None
    """How the report calls it; in words of its own by default."""


class ThresholdQuestion(_Question):
    """The largest or smallest value of a factor for which a rate is reached."""

    kind: Literal["threshold"] = "threshold"
    factor: NamedFactor
    find: Literal["largest", "smallest"] = "largest"
    measure: RateMeasure = "alpha wins"
    rate: float = Field(gt=0, lt=1)
    games: int = Field(default=20_000, ge=1_000, le=MAX_GAMES)
    """At most, for each pair of agents and cell."""
    tolerance: float | None = Field(default=None, gt=0)
    """The search ends when its interval is not wider, in units of the factor."""


class FairQuestion(_Question):
    """The value of a factor for which both sides win half, a draw counting half; checked by new games."""

    kind: Literal["fair"] = "fair"
    factor: NamedFactor
    games: int = Field(default=20_000, ge=1_000, le=MAX_GAMES)
    tolerance: float | None = Field(default=None, gt=0)
    check: int = Field(default=10_000, ge=0, le=MAX_GAMES)
    """New games, with another seed, that check the answer."""


class Change(NamedTuple):
    """A change of a question what changes are worth: its name, the keys that it changes, and their new value."""

    name: str
    keys: tuple[str, ...]
    value: Any


def _read_changes(value: Any) -> Any:
    if isinstance(value, Mapping):
        changes = [_read_change(name, spec) for name, spec in value.items()]
    elif isinstance(value, (list, tuple)):
        changes = [each for item in value for each in _listed_changes(item)]
    else:
        raise wrong('new values by key, such as { "bravo.patrols.ammo" = "+1" }, or a list of texts "key=value"')
    for number, change in enumerate(changes):
        if any(change[0] == other[0] and change[2] == other[2] for other in changes[:number]):
            raise wrong(f"different changes; {change[0]} = {value_text(change[2])} is there twice")
    return tuple(changes)


def _read_change(name: Any, spec: Any) -> Change:
    """Return a change of a table."""
    if isinstance(spec, Mapping) and set(spec) == {"keys", "by"} and isinstance(spec["keys"], (list, tuple)):
        return Change(name, tuple(spec["keys"]), spec["by"])
    _refuse_unquoted(name, spec, str(name))
    if isinstance(spec, Mapping) and not is_range_table(spec):
        raise wrong_key(str(name), spec, 'a new value such as "+1", or { keys = [..], by = .. }')
    return Change(name, (name,), spec)


def _listed_changes(item: Any) -> Iterator[Change]:
    """Yield the change of a text, or of a saved study."""
    if not isinstance(item, str):
        yield item
        return
    try:
        for key, value in parse_overrides([item]):
            yield Change(key, (key,), value)
    except ConfigError as error:
        raise wrong(f"a list of changes; {error}") from None


class WorthQuestion(_Question):
    """How much changes are worth, each for itself: differences between games that share seeds."""

    kind: Literal["worth"] = "worth"
    of: Annotated[tuple[Change, ...], BeforeValidator(_read_changes), Field(min_length=1, max_length=MAX_FACTORS)]
    """New values by key, such as "+1", or tables with ``keys`` and ``by``, by name; or texts ``key=value``, whose keys may repeat."""
    measure: Measure = "alpha wins"
    games: int = Field(default=2_000, ge=2, le=MAX_GAMES)


class RankingQuestion(_Question):
    """Which factors matter most: Morris' elementary effects, or Sobol' indices, by the study's design."""

    kind: Literal["ranking"] = "ranking"
    measure: Measure = "alpha wins"


Question: TypeAlias = ThresholdQuestion | FairQuestion | WorthQuestion | RankingQuestion
QUESTIONS: dict[str, type[Question]] = {
    "threshold": ThresholdQuestion,
    "fair": FairQuestion,
    "worth": WorthQuestion,
    "ranking": RankingQuestion,
}


class ScenarioTable(_Table):
    """A scenario of a file: a configuration, and values that replace its own beside those of the whole study."""

    name: _Name | None = None
    config: str | None = None
    set: Settings = {}


def _read_agents(value: Any) -> Any:
    right = 'a list of agents: "scripted" plays both sides, ["scripted", "policy"] are alpha and bravo'
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= MAX_PAIRS:
        raise wrong(right)
    pairs = []
    for each in value:
        pair = (each, each) if isinstance(each, str) else tuple(each) if isinstance(each, (list, tuple)) else ()
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise wrong(right)
        if pair in pairs:
            raise wrong(f"{right}; {' against '.join(pair)} is there twice")
        pairs.append(pair)
    return tuple(pairs)


def _check_whole_seed(value: Any) -> int:
    try:
        return check_seed(value)
    except ValueError:
        raise wrong("a non-negative integer") from None


_COLUMNS = {
    *(
        "title",
        "scenario",
        "config",
        "overrides",
        "alpha",
        "bravo",
        "alpha_version",
        "bravo_version",
        "measure",
        "turn",
        "games",
        "mean",
        "low",
        "high",
    ),
    *("question", "kind", "subject", "statistic", "answer", "answer_low", "answer_high", "estimate", "text"),
    *("sd", "rate", "value", "seed", "geo_patrol", "study"),
    *("running", "alpha_score", "bravo_score", "alpha_patrols", "bravo_patrols"),
}
"""Columns of tables, beside which those of the factors are."""


class StudyFile(_Table):
    """A study, as a file says it.

    Attributes:
        title: what it is called.
        config: a preset's name or a file, of every scenario that names none of its own.
        set: values that replace the configuration's in every scenario, by dotted key; "+20%" is relative.
        scenario: scenarios; without any, the configuration is the only one.
        agents: pairs of agents, alpha and bravo.
        factors: what is varied.
        design: how: every combination of values (grid); a Latin hypercube or a Sobol' sequence, which fill the space of the
            factors; Morris trajectories; Saltelli's extension of a Sobol' sequence, for Sobol' indices.
        samples: number of points of a Latin hypercube or a Sobol' sequence, of trajectories, or of Saltelli's base points.
        games: games of every cell and pair.
        seed: seed of all games and of the design; all cells share their random streams, which makes them easier to compare.
        quantiles: of scores, margins and turns, in tables.
        question: questions to be answered.
    """

    title: _Name
    config: str = "geo_patrol"
    set: Settings = {}
    scenario: tuple[ScenarioTable, ...] = Field(default=(), max_length=MAX_PAIRS)
    agents: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_read_agents)]
    factors: dict[str, Factor] = Field(default={}, max_length=MAX_FACTORS)
    design: DesignKind = "grid"
    samples: int | None = Field(default=None, ge=1, le=MAX_CELLS)
    games: int = Field(default=200, ge=1, le=MAX_GAMES)
    seed: Annotated[int, BeforeValidator(_check_whole_seed)] = 1
    quantiles: Annotated[tuple[_Share, ...], Field(max_length=20)] = (0.05, 0.25, 0.5, 0.75, 0.95)
    question: tuple[Question, ...] = Field(default=(), max_length=MAX_QUESTIONS)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.games % 2 and any(alpha == bravo for alpha, bravo in self.agents):
            raise wrong_key("games", self.games, "even where an agent plays both sides, which have games of their own")
        for name in self.factors:
            if name in _COLUMNS:
                raise wrong_key(f"factors.{name}", name, "another name: it is that of a column of tables")
        if self.design == "grid":
            for name, factor in self.factors.items():
                if factor.values is None:
                    raise wrong_key(
                        f"factors.{name}.low", factor.low, 'no range in a grid: values = "1..8", for example'
                    )
            if self.samples is not None:
                raise wrong_key("samples", self.samples, "left out: a grid has every combination of values")
        elif not self.factors:
            raise wrong_key("design", self.design, "left out: there are no factors")
        elif self.samples is None:
            raise wrong_key("samples", None, f"a number of points, for the design {self.design}")
        elif self.design in ("sobol", "saltelli") and self.samples & (self.samples - 1):
            raise wrong_key("samples", self.samples, "a power of 2, such as 64, for a Sobol' sequence")
        for number, question in enumerate(self.question):
            if isinstance(question, RankingQuestion) and self.design not in ("morris", "saltelli"):
                right = 'asked of a study with design = "morris" or "saltelli"'
                raise wrong_key(f"question.{number}.kind", "ranking", right)
        if self.design in ("morris", "saltelli") and len(self.factors) < 2:
            raise wrong_key("design", self.design, "a design of at least two factors")
        return self


def read_study_file(source: str | Path | Mapping[str, Any]) -> tuple[StudyFile, Path]:
    """Read a study file, one of the package by its name, or the same content as a mapping; return it with the folder that its paths are relative to.

    Raises:
        ConfigError: it cannot be read; the message lists its faults, each with its key, its value, and what is valid.
    """
    if isinstance(source, Mapping):
        return parse_study(source), Path.cwd()
    path = config_path(f"studies/{source}") if str(source) in study_names() else Path(expand_user(source))
    return parse_study(read_toml(path), path.name), path.parent


def parse_study(data: Mapping[str, Any], origin: str = "study") -> StudyFile:
    """Check the content of a study file.

    Raises:
        ConfigError: see ``read_study_file``.
    """
    content, faults = copy_plain(dict(data)), list[Fault]()
    factors, questions = content.get("factors"), content.get("question")
    if isinstance(factors, Mapping):
        content["factors"] = {}
        for name, spec in factors.items():
            try:
                content["factors"][name] = spec if isinstance(spec, Factor) else Factor.parse(str(name), spec)
            except ValidationError as error:
                faults += list_faults(Factor, error, f"factors.{name}.")
    if isinstance(questions, (list, tuple)):
        content["question"] = []
        for number, table in enumerate(questions):
            kind = table.get("kind") if isinstance(table, Mapping) else None
            if not isinstance(kind, str) or kind not in QUESTIONS:
                hint = suggest(str(kind), QUESTIONS)
                text = f"must be {', '.join(QUESTIONS)}, got {show(kind)}{hint}"
                faults.append(Fault(f"question.{number}.kind", text))
                continue
            try:
                content["question"].append(QUESTIONS[kind].model_validate(table))
            except ValidationError as error:
                faults += list_faults(QUESTIONS[kind], error, f"question.{number}.")
    if not faults:
        try:
            return StudyFile.model_validate(content)
        except ValidationError as error:
            faults += list_faults(StudyFile, error)
    refuse(origin, faults)
    raise AssertionError


# Scenarios, designs and cells


@dataclass(frozen=True)
class StudyScenario:
    """A scenario of a study.

    Attributes:
        name: what tables call it.
        source: the preset or the file.
        base: the configuration there.
        overrides: what replaces its values, by dotted key, nothing relative in it.
        config: the configuration that follows.
    """

    name: str
    source: str
    base: GameConfig
    overrides: Mapping[str, Any]
    config: GameConfig


@dataclass(frozen=True)
class Cell:
    """A scenario with values of the factors: what a number of games of every pair is played in.

    Attributes:
        scenario: the index of the scenario.
        values: the values of the factors, in their order.
        overrides: keys and what replaces the scenario's values.
    """

    scenario: int
    values: tuple[Any, ...]
    overrides: tuple[tuple[str, Any], ...]

    def __hash__(self) -> int:
        return hash((self.scenario, *(key for key, _ in self.overrides)))  # values may be lists, which have no hash


@dataclass(frozen=True)
class Design:
    """Points of a design in the unit cube of its factors.

    Attributes:
        kind: see ``StudyFile``.
        samples: see ``StudyFile``.
        names: of the factors.
        units: (points, factors), from 0 to 1; of a grid, the middles of as many parts as there are values.
        seed: seed of the design.
    """

    kind: DesignKind
    samples: int
    names: tuple[str, ...]
    units: NDArray[np.float64]
    seed: int

    @classmethod
    def make(cls, kind: DesignKind, factors: Mapping[str, Factor], samples: int | None, seed: int) -> Self:
        """Make the points of a design, the same ones for the same seed.

        Raises:
            ConfigError: there are too many.
            MissingPackageError: the design needs SciPy or SALib, which is not installed.
        """
        size, count = len(factors), samples or 1
        points = {
            "grid": prod(len(factor.values or ()) for factor in factors.values()),
            "morris": count * (size + 1),
            "saltelli": count * (size + 2),
        }.get(kind, count)
        if points > MAX_CELLS:
            raise ConfigError(f"the design has {points:,} points; {MAX_CELLS:,} are allowed")
        if kind == "grid":
            middles = [
                (np.arange(len(factor.values or ())) + 0.5) / len(factor.values or (1,)) for factor in factors.values()
            ]
            units = np.array(list(product(*middles)), np.float64).reshape(points, size)
        elif kind in ("latin-hypercube", "sobol"):
            with optional_import("stats"):
                from scipy.stats import qmc  # noqa: PLC0415 - an extra
            sampler = (qmc.LatinHypercube if kind == "latin-hypercube" else qmc.Sobol)(
                size, rng=np.random.default_rng(seed)
            )
            units = sampler.random(count)
        else:
            with optional_import("study"):
                from SALib.sample import morris, sobol  # noqa: PLC0415 - an extra
            if kind == "morris":
                units = morris.sample(_problem(tuple(factors)), count, num_levels=MORRIS_LEVELS, seed=seed % 2**32)
            else:
                units = sobol.sample(_problem(tuple(factors)), count, calc_second_order=False, seed=seed % 2**32)
        return cls(kind, count, tuple(factors), np.asarray(units, np.float64), seed)

    @property
    def problem(self) -> dict[str, Any]:
        """The factors, as SALib describes them."""
        return _problem(self.names)


MORRIS_LEVELS = 4
MORRIS_STEP = 2 / 3
"""Of trajectories with four levels, in the unit cube."""


def _problem(names: tuple[str, ...]) -> dict[str, Any]:
    return {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """A study with its scenarios and cells.

    Attributes:
        file: what the file says.
        scenarios: its scenarios.
        design: the points of its design.
        cells: for every scenario, a cell for every point.
    """

    file: StudyFile
    scenarios: tuple[StudyScenario, ...]
    design: Design
    cells: tuple[Cell, ...]

    def config(self, cell: Cell) -> GameConfig:
        """Return the configuration of a cell.

        Raises:
            ConfigError: a key is unknown or a value invalid.
        """
        scenario = self.scenarios[cell.scenario]
        return load_config(scenario.config, dict(cell.overrides)) if cell.overrides else scenario.config

    def vary(self, cell: Cell, overrides: Mapping[str, Any]) -> Cell:
        """Return a cell with further values replaced."""
        return Cell(cell.scenario, cell.values, tuple(sorted({**dict(cell.overrides), **overrides}.items())))

    def overrides(self, cell: Cell) -> str:
        """Return what a cell replaces in its configuration, as ``--set`` takes it, with semicolons between."""
        replaced = {**self.scenarios[cell.scenario].overrides, **dict(cell.overrides)}
        return "; ".join(f"{key}={value_text(value)}" for key, value in sorted(replaced.items()))

    def describe(self, cell: Cell) -> str:
        """Return the values of a cell for people; "" if a study has one scenario and no factors."""
        named = zip(self.file.factors, cell.values, strict=True) if cell.values else ()
        values = ", ".join(f"{in_words(name)} {value_text(value)}" for name, value in named)
        scenario = self.scenarios[cell.scenario].name if len(self.scenarios) > 1 else ""
        return ", ".join(filter(None, (scenario, values)))


def plan_study(
    file: StudyFile, folder: Path, *, configs: Sequence[GameConfig] | None = None, checks: bool = True
) -> StudyPlan:
    """Resolve scenarios and design of a study.

    Args:
        file: the study.
        folder: what paths of configurations are relative to.
        configs: the configurations of the scenarios, without what the study sets; they are loaded by default.
        checks: whether to build the configuration of every cell, so that a wrong value is found.

    Raises:
        ConfigError: a configuration cannot be loaded, or a key or value is wrong in some cell.
        MissingPackageError: the design needs a package that is not installed.
    """
    scenarios = tuple(
        _plan_scenario(file, table, number, folder, None if configs is None else configs[number])
        for number, table in enumerate(file.scenario or (ScenarioTable(),))
    )
    names = [scenario.name for scenario in scenarios]
    if len(set(names)) != len(names):
        raise ConfigError(f"scenarios need different names, got {', '.join(map(show, names))}")
    design = Design.make(file.design, file.factors, file.samples, file.seed)
    cells = tuple(
        _make_cell(file, scenario.config, number, units)
        for number, scenario in enumerate(scenarios)
        for units in design.units.tolist()
    )
    plan = StudyPlan(file, scenarios, design, cells)
    if checks:
        for cell in cells:
            plan.config(cell)
    return plan


def _plan_scenario(
    file: StudyFile, table: ScenarioTable, number: int, folder: Path, config: GameConfig | None
) -> StudyScenario:
    source = table.config or file.config
    path = folder / source
    base = config or load_config(path if source not in preset_names() and path.is_file() else source)
    overrides = resolve_overrides(base, file.set) | resolve_overrides(base, table.set)
    resolved = load_config(base, overrides) if overrides else base
    title = table.name or (resolved.title if not file.scenario or table.config else f"scenario {number + 1}")
    return StudyScenario(title, source, base, overrides, resolved)


def _make_cell(file: StudyFile, config: GameConfig, scenario: int, units: Sequence[float]) -> Cell:
    factors = list(file.factors.values())
    is_morris = file.design == "morris"
    values = tuple(factor.at(config, unit, nearest=is_morris) for factor, unit in zip(factors, units, strict=True))
    overrides: dict[str, Any] = {}
    for factor, value in zip(factors, values, strict=True):
        overrides |= factor.overrides(config, value)
    return Cell(scenario, values, tuple(sorted(overrides.items())))


# Words


_PLACES = {"0": "in the same sector", "1": "in an adjacent sector"}
_WORDS = {
    "patrols.count": "number of {side}'s Patrols",
    "patrols.fuel": "fuel of each of {side}'s Patrols",
    "patrols.ammo": "rounds of each of {side}'s Patrols",
    "patrols.formation": "formation of {side}'s Patrols",
    "patrols.weight": "points for the fuel of {side}'s Patrols",
    "hva.fuel": "fuel of {side}'s HVA",
    "hva.ammo": "rounds of {side}'s HVA",
    "hva.weight": "points for the fuel of {side}'s HVA",
    "points.goal": "{side}'s points for its HVA in the goal sector",
    "points.adjacent": "{side}'s points for its HVA beside the goal sector",
    "points.win": "points with which {side} wins",
    "odds.shoot": "odds of {side}'s shots",
    "odds.collide": "odds of {side}'s collisions",
    "odds.guard": "odds of {side}'s guards",
    "costs.prograde": "fuel that {side} pays to move prograde",
    "costs.retrograde": "fuel that {side} pays to move retrograde",
    "costs.radial_in": "fuel that {side} pays to move in",
    "costs.radial_out": "fuel that {side} pays to move out",
    "costs.station_keeping": "fuel that {side} pays to stay",
    "costs.shoot": "fuel that {side} pays to shoot",
    "costs.collide": "fuel that {side} pays to collide",
    "costs.guard": "fuel that {side} pays to guard",
}
_OWNERS = {"alpha": "alpha", "bravo": "bravo", "both": "either side"}


@lru_cache(maxsize=1024)
def in_words(name: str) -> str:
    """Return a key of the configuration in words; any other name as it is."""
    side, _, rest = name.partition(".")
    if side not in _OWNERS:
        return name.replace("_", " ") if "." not in name else name
    place = _PLACES.get(rest.rpartition(".")[2], "")
    known = _WORDS.get(rest.rpartition(".")[0] if place else rest)
    return name if known is None else " ".join(filter(None, (known.format(side=_OWNERS[side]), place)))


class _Amount(NamedTuple):
    """A quantity that can be counted or had more of: its noun, the plural of it if there is one, and who has it."""

    noun: str
    plural: str
    owner: str


_AMOUNTS = {
    "patrols.count": _Amount("Patrol", "Patrols", "{side}"),
    "patrols.fuel": _Amount("fuel", "", "each of {side}'s Patrols"),
    "patrols.ammo": _Amount("round", "rounds", "each of {side}'s Patrols"),
    "hva.fuel": _Amount("fuel", "", "{side}'s HVA"),
    "hva.ammo": _Amount("round", "rounds", "{side}'s HVA"),
}


def _amount_of(name: str) -> _Amount | None:
    side, _, rest = name.partition(".")
    if side not in _OWNERS or rest not in _AMOUNTS:
        return None
    noun, plural, owner = _AMOUNTS[rest]
    return _Amount(noun, plural, owner.format(side=_OWNERS[side]))


def ask_extreme(name: str, find: str) -> str:
    """Return the beginning of a question for the largest or smallest value of a factor, up to a condition."""
    amount, is_largest = _amount_of(name), find == "largest"
    if amount is None:
        return f"What is the {find} value of {in_words(name)} for which"
    how = ("many" if is_largest else "few") if amount.plural else ("much" if is_largest else "little")
    return f"How {how} {amount.plural or amount.noun} may {amount.owner} have so that"


def number_in_words(name: str) -> str:
    """Return a factor in words that go with "largest" and "any": the number of what can be counted, the value of anything else."""
    words, amount = in_words(name), _amount_of(name)
    if amount is None:
        return f"value of {words}"
    return f"number of {words}" if amount.plural and not words.startswith("number") else words


def has_in_words(name: str, value: Any) -> tuple[str, bool]:
    """Return a value of a factor in words, such as "8 Patrols for bravo", and whether they are a plural."""
    amount = _amount_of(name)
    if is_relative(value):
        return change_in_words(name, value), amount is not None and bool(amount.plural)
    if amount is None or isinstance(value, (list, tuple, Mapping)):
        return f"{value_text(value)} for {in_words(name)}", False
    if not amount.plural:
        return f"{value_text(value)} units of {amount.noun} for {amount.owner}", True
    is_plural = value != 1
    return f"{value_text(value)} {amount.plural if is_plural else amount.noun} for {amount.owner}", is_plural


def change_in_words(name: str, value: Any) -> str:
    """Return a change of a factor in words, such as "one more round for bravo's HVA"."""
    match = RELATIVE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return has_in_words(name, value)[0]
    amount, size, unit = _amount_of(name), match[1][1:], "%" if match[2] else ""
    if amount is None:
        return f"{match[1]}{unit} for {in_words(name)}"
    noun = amount.plural or amount.noun
    more = "more" if match[1][0] == "+" else "fewer" if amount.plural else "less"
    if unit:
        return f"{size}% {more} {noun} for {amount.owner}"
    if not amount.plural:
        return f"{size} units {more} of {noun} for {amount.owner}"
    return f"one {more} {amount.noun} for {amount.owner}" if size == "1" else f"{size} {more} {noun} for {amount.owner}"


def column_values(values: Sequence[Any]) -> list[Any]:
    """Return the values of a column of one type: whole numbers, numbers, or else texts."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return list(values)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values]
    return [value_text(value) for value in values]


def short_pair(pair: tuple[str, str]) -> str:
    """Return a pair of agents for people."""
    alpha, bravo = pair
    return f"{alpha} on both sides" if alpha == bravo else f"{alpha} (alpha) against {bravo} (bravo)"
