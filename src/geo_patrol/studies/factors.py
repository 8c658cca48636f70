"""Factors: what a study varies, its values and ranges as texts, and both in words.

A factor is a key of the configuration, or several that are linked. Values may be relative to the scenario's: ``"+20%"``, ``"-1"``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from geo_patrol.base.errors import ConfigError, printable, show
from geo_patrol.config.presets import current_value, resolve_value, target_keys
from geo_patrol.config.schema import MAX_TITLE, GameConfig, list_faults, wrong, wrong_key
from geo_patrol.config.toml_files import (
    RELATIVE,
    flatten,
    is_range_table,
    is_relative,
    parse_setting,
    to_toml,
    value_text,
)

MAX_CELLS = 10_000
SEARCH_LEVELS = 65
"""Values that a search looks at in a range of numbers that are not whole."""
MORRIS_LEVELS = 4
MORRIS_STEP = 2 / 3
"""Of trajectories with four levels, in the unit cube."""


class StudyTable(BaseModel):
    """A table of a study file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Name: TypeAlias = Annotated[str, AfterValidator(lambda text: printable(text, MAX_TITLE))]


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


def parse_factors(vary: Sequence[str], ranges: Literal["listed", "kept", "searched"] = "listed") -> dict[str, "Factor"]:
    """Parse texts ``key=values``, as those of ``--vary``, see ``parse_values``.

    Args:
        vary: the texts.
        ranges: what ``low..high`` is: "listed", all values in steps of 1; "kept", a range; "searched", a range unless both ends
            are whole numbers.

    Raises:
        ConfigError: one cannot be parsed, or a key occurs twice.
    """
    factors: dict[str, Factor] = {}
    for text in vary:
        key, _, listed = map(str.strip, text.partition("="))
        if not key or not listed:
            raise ConfigError(
                f"vary must be key=values, such as bravo.patrols.ammo=0..4 or alpha.patrols.fuel=60,80, got {show(text)}"
            )
        if key in factors:
            raise ConfigError(f"vary {key}: it is there twice; all its values belong together")
        try:
            is_listed = ranges == "listed" or (ranges == "searched" and "." not in listed.replace("..", ""))
            factors[key] = _parse_factor(key, listed, is_listed=is_listed)
        except ValueError as error:
            raise ConfigError(f"vary {show(text)}: {error}") from None
    return factors


def _parse_factor(key: str, listed: str, *, is_listed: bool) -> "Factor":
    steps = _read_range(listed)
    if is_listed or steps is None or steps.step is not None:
        return Factor(keys=(key,), values=check_values(parse_values(listed)))
    if not steps.low < steps.high:
        raise ValueError(f"{listed}: the smaller end comes first")
    low, high = (parse_setting(steps.value(end)) for end in (steps.low, steps.high))
    return Factor(keys=(key,), low=low, high=high)


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


# Factors


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


def refuse_unquoted(name: Any, value: Any, place: str) -> None:
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
        refuse_unquoted(name, each, name)
    return dict(flatten(value))


Settings: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_check_settings)]


class Factor(StudyTable):
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
            refuse_unquoted(data["keys"][0], nested, next(iter(nested), ""))
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
    "points.patrol": "{side}'s points for each Patrol that the enemy loses",
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
_SINGLE = re.compile(r"patrols\.single\.(\d+)\.(fuel|ammo)")
_OWNERS = {"alpha": "alpha", "bravo": "bravo", "both": "either side"}


@lru_cache(maxsize=1024)
def in_words(name: str) -> str:
    """Return a key of the configuration in words; any other name as it is."""
    side, _, rest = name.partition(".")
    if side not in _OWNERS:
        return name.replace("_", " ") if "." not in name else name
    if single := _SINGLE.fullmatch(rest):
        return f"{'fuel' if single[2] == 'fuel' else 'rounds'} of {_OWNERS[side]}'s Patrol {single[1]}"
    place = _PLACES.get(rest.rpartition(".")[2], "")
    known = _WORDS.get(rest.rpartition(".")[0] if place else rest)
    return name if known is None else " ".join(filter(None, (known.format(side=_OWNERS[side]), place)))


def with_article(name: str) -> str:
    """Return a key of the configuration in the words of a sentence: "the number of bravo's Patrols", but "bravo's points ..."."""
    words = in_words(name)
    return (
        words
        if words == name or words.startswith(tuple(f"{owner}'s" for owner in _OWNERS.values()))
        else f"the {words}"
    )


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
    single = _SINGLE.fullmatch(rest)
    if side not in _OWNERS or (rest not in _AMOUNTS and single is None):
        return None
    noun, plural, owner = _AMOUNTS[rest if single is None else f"hva.{single[2]}"]
    owner = owner if single is None else f"{{side}}'s Patrol {single[1]}"
    return _Amount(noun, plural, owner.format(side=_OWNERS[side]))


def ask_extreme(name: str, find: str) -> str:
    """Return the beginning of a question for the largest or smallest value of a factor, up to a condition."""
    amount, is_largest = _amount_of(name), find == "largest"
    if amount is None:
        return f"What is the {find} value of {with_article(name)} for which"
    how = ("many" if is_largest else "few") if amount.plural else ("much" if is_largest else "little")
    return f"How {how} {amount.plural or amount.noun} may {amount.owner} have so that"


def number_in_words(name: str) -> str:
    """Return a factor in words that go with "largest" and "any": the number of what can be counted, the value of anything else."""
    words, amount = in_words(name), _amount_of(name)
    if amount is None:
        return f"value of {with_article(name)}"
    return f"number of {words}" if amount.plural and not words.startswith("number") else words


def has_in_words(name: str, value: Any) -> tuple[str, bool]:
    """Return a value of a factor in words, such as "8 Patrols for bravo", and whether they are a plural."""
    amount = _amount_of(name)
    if is_relative(value):
        return change_in_words(name, value), amount is not None and bool(amount.plural)
    if amount is None or isinstance(value, (list, tuple, Mapping)):
        return f"{value_text(value)} for {with_article(name)}", False
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
        return f"{match[1]}{unit} for {with_article(name)}"
    noun = amount.plural or amount.noun
    more = "more" if match[1][0] == "+" else "fewer" if amount.plural else "less"
    if unit:
        return f"{size}% {more} {noun} for {amount.owner}"
    if not amount.plural:
        return f"{size} units {more} of {noun} for {amount.owner}"
    return f"one {more} {amount.noun} for {amount.owner}" if size == "1" else f"{size} {more} {noun} for {amount.owner}"


def column_type(values: Sequence[Any]) -> Callable[[Any], Any]:
    """Return what makes the values of a column one type: whole numbers, numbers, or else texts."""
    types = set(map(type, values))
    return int if types <= {int} else float if types <= {int, float} else value_text


def short_pair(pair: tuple[str, str]) -> str:
    """Return a pair of agents for people."""
    alpha, bravo = pair
    return f"{alpha} on both sides" if alpha == bravo else f"{alpha} (alpha) against {bravo} (bravo)"
