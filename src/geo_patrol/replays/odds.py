"""Odds recorded by the published implementation, compared with the engine's.

A file of odds is a JSON list of engagements that were resolved many times, with counts of what came of them. The same
engagement is resolved here as often, and the counts are compared by a chi-square test.
"""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import FailFast, Field, RootModel, ValidationError, model_validator

from geo_patrol.base.errors import MAX_MESSAGE_LINE, GeoPatrolError, RecordingError, printable
from geo_patrol.base.files import read_limited, without_mark
from geo_patrol.base.sides import SIDES
from geo_patrol.base.validation import describe_fault, field_of, parse_model
from geo_patrol.config.schema import Title
from geo_patrol.engine import state
from geo_patrol.engine.engagement import pay_for_engagements, resolve_repeatedly
from geo_patrol.game.game import Games
from geo_patrol.game.position import Position
from geo_patrol.replays import published

SIGNIFICANCE = 1e-4
"""Two distributions differ if the p-value is below this."""
MAX_DRAWS = 2_000_000
"""Of all engagements of a file together."""
MAX_BYTES = 1 << 20
"""Largest size of a file."""
_SEED = 20240401
_CHUNK = 100_000
"""Resolutions held in memory at a time."""

_MIN_COUNT = 20
"""Categories with fewer observations in both samples are pooled, as the chi-square approximation requires."""

_Counts = dict[str, Annotated[int, Field(ge=0, le=MAX_DRAWS)]]


class PublishedOdds(published.PublishedTable):
    """An engagement that was resolved many times, with counts of what came of it."""

    name: Title
    config: dict[str, Any]
    state: published.PublishedState
    orders: published.BothOrders
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


class _OddsFile(RootModel[Annotated[list[PublishedOdds], FailFast(), Field(min_length=1)]]):
    """The engagements of a file."""

    @model_validator(mode="after")
    def _check_draws(self) -> Self:
        if sum(recorded.draws for recorded in self.root) > MAX_DRAWS:
            raise ValueError(f"more than {MAX_DRAWS:,} draws in a file")
        return self


def holds_odds(path: Path) -> bool:
    """Return whether a file can be read and holds a JSON list, as files of odds do."""
    try:
        return without_mark(read_limited(path, 80)).lstrip().startswith(b"[")
    except OSError:
        return False


def check_odds_file(path: Path) -> list[str | None]:
    """Return the first difference between each engagement of a file and the engine, or None, see ``check_odds``.

    Raises:
        RecordingError: the file, or an engagement in it, is invalid.
        OSError: the file cannot be read.
    """
    data = read_limited(path, MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise RecordingError(f"{path}: larger than {MAX_BYTES:,} bytes: not a file of odds")
    differences = []
    for index, recorded in enumerate(parse_model(_OddsFile, data, str(path)).root):
        where = f"engagement {index} ({recorded.name})"
        try:
            difference = check_odds(recorded)
        except GeoPatrolError as error:
            raise RecordingError(f"{path}: {where}: {error}") from None
        differences.append(difference and printable(f"{where}, {difference}", MAX_MESSAGE_LINE))
    return differences


def check_odds(recorded: PublishedOdds) -> str | None:
    """Resolve a recorded engagement as often as it was recorded, and return the first difference, or None.

    The counts are compared by the chi-square test of homogeneity.

    Raises:
        RecordingError: the recording is invalid.
        ConfigError: its configuration is invalid.
    """
    destroyed, kinds = count_outcomes(recorded)
    recorded_destroyed = Counter[str]()
    for label, count in recorded.destroyed_counts.items():
        recorded_destroyed[_sorted_label(label)] += count
    for field, theirs, ours in (
        ("destroyed_counts", recorded_destroyed, destroyed),
        ("outcome_counts_guard_shoot_collide", recorded.outcome_counts_guard_shoot_collide, kinds),
    ):
        p_value = homogeneity(theirs, ours)
        if p_value < SIGNIFICANCE:
            return f"{field}: recorded {_frequencies(theirs)}, drawn {_frequencies(ours)}: p = {p_value:.2g} < {SIGNIFICANCE:g}"
    return None


def count_outcomes(recorded: PublishedOdds, seed: int = _SEED) -> tuple[Counter[str], Counter[str]]:
    """Resolve a recorded engagement as often as it was recorded.

    Returns:
        Counts by the destroyed satellites ("a3,b0": alpha's Patrol 3 and bravo's HVA), and counts by the numbers of
        outcomes ("3/2/1": guard, shoot, collide).
    """
    games = Games(published.read_published_config(recorded.config), seed=seed)
    _write_state(games, recorded.state)
    game, rules = games.state.games[0], games.state.rules[0]
    orders = games.replace_illegal(published.order_codes(recorded.orders)[None])[0]
    pay_for_engagements(game, rules, orders)
    destroyed, kinds = Counter[str](), Counter[str]()
    for start in range(0, recorded.draws, _CHUNK):
        chunk = min(_CHUNK, recorded.draws - start)
        bits, counts = np.empty(chunk, np.int64), np.empty((chunk, 3), np.int64)
        resolve_repeatedly(game, rules, orders, state.make_outcomes(), bits, counts)
        for value, times in zip(*np.unique(bits, return_counts=True), strict=True):
            destroyed[_label(int(value))] += int(times)
        of_kinds = counts[:, [state.GUARDING, state.SHOT, state.COLLISION]]
        for row, times in zip(*np.unique(of_kinds, axis=0, return_counts=True), strict=True):
            kinds["/".join(map(str, row))] += int(times)
    return destroyed, kinds


def _label(bits: int) -> str:
    indices = [index for index in range(state.NUM_SIDES * state.SATELLITES) if bits >> index & 1]
    return ",".join(f"{SIDES[index // state.SATELLITES][0]}{index % state.SATELLITES}" for index in indices)


def _sorted_label(label: str) -> str:
    return ",".join(sorted(label.split(","), key=lambda name: (name[:1], len(name), name)))


def _frequencies(counts: "Counter[str] | dict[str, int]") -> str:
    total = sum(counts.values())
    frequent = sorted(counts.items(), key=lambda item: -item[1])[:4]
    return "{" + ", ".join(f"{label or 'nobody'}: {count / total:.4f}" for label, count in frequent) + ", ..}"


def _write_state(games: Games, recorded: published.PublishedState) -> None:
    """Set a batch of one to a recorded position in the engagement phase.

    Raises:
        RecordingError: a value is impossible in a game.
    """
    if recorded.phase != "engagement" or recorded.done:
        raise RecordingError(
            f"state: phase must be 'engagement' and done false, got {recorded.phase!r} and {recorded.done}"
        )
    data = recorded.model_dump(include={"sector", "fuel", "ammo", "goal", "score", "phase"})
    try:
        position = Position.model_validate(data, strict=False)
    except ValidationError as error:
        fault = error.errors()[0]
        raise RecordingError(f"state: {field_of(fault)} {describe_fault(fault)}") from None
    games.set_position(position, "state", supplies_are_limited=False)


def homogeneity(first: Mapping[str, int], second: Mapping[str, int]) -> float:
    """Return the p-value of two samples, as counts by category, under one distribution."""
    table = _pooled(first, second)
    totals = [sum(column) for column in zip(*table, strict=True)]
    grand_total = sum(totals)
    statistic = 0.0
    for row in table:
        for observed, total in zip(row, totals, strict=True):
            expected = sum(row) * total / grand_total
            statistic += (observed - expected) ** 2 / expected
    return survival(statistic, len(table) - 1)


def _pooled(first: Mapping[str, int], second: Mapping[str, int]) -> list[tuple[int, int]]:
    pairs = [(first.get(category, 0), second.get(category, 0)) for category in sorted({*first, *second})]
    frequent = [pair for pair in pairs if sum(pair) >= _MIN_COUNT]
    rare = [pair for pair in pairs if sum(pair) < _MIN_COUNT]
    pool = (sum(pair[0] for pair in rare), sum(pair[1] for pair in rare))
    return [*frequent, pool] if sum(pool) else frequent


def survival(statistic: float, degrees: int) -> float:
    """Return the survival function of the chi-square distribution.

    For whole degrees of freedom the sum is finite: in steps of two from 0 (even) or 1 (odd).
    """
    if degrees < 1 or statistic <= 0:
        return 1.0
    # Not SciPy's, which would double the installation; tests compare with it.
    half, start = statistic / 2, 0.5 * (degrees % 2)
    total = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    for step in range(degrees // 2):
        power = start + step
        total += math.exp(power * math.log(half) - half - math.lgamma(power + 1))  # in logs: half may be large
    return min(total, 1.0)
