"""Values that are sampled at each reset: ranges and choices."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """A value sampled uniformly at each reset, both ends included: ``{ low = 40, high = 100 }``."""

    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """A value sampled uniformly from a list at each reset: ``{ choices = [0, 1, 4] }``."""

    choices: tuple[Any, ...]


def to_plain(value: Any) -> Any:
    """Return a value as plain data, with tables for ranges and choices and lists for tuples."""
    if isinstance(value, (Range, Choice)):
        return {name: to_plain(item) for name, item in vars(value).items()}
    return [to_plain(item) for item in value] if isinstance(value, tuple) else value


def largest(value: float | Range | Choice) -> float:
    """Return the largest value that can be sampled."""
    if isinstance(value, Range):
        return value.high
    return max(value.choices) if isinstance(value, Choice) else value


def is_range_table(value: Any) -> bool:
    """Return whether a value of a file is the table of a range or a choice."""
    return isinstance(value, Mapping) and set(value) in ({"low", "high"}, {"choices"})


def has_ranges(value: Any) -> bool:
    """Return whether there is a range or a choice anywhere in plain data."""
    if isinstance(value, Mapping):
        return is_range_table(value) or any(map(has_ranges, value.values()))
    return isinstance(value, list) and any(map(has_ranges, value))
