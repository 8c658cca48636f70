"""Validators of single values, whose errors say what is valid."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from pydantic_core import PydanticCustomError

from geo_patrol.config.ranges import Choice, Range, is_range_table, to_plain

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
    """Make a check for whole numbers; 5.0 is one."""

    def check(value: Any) -> int:
        if not _is_between(low, value, high) or int(value) != value:
            raise wrong(f"a whole number from {low} to {high}")
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
