"""Comparing the engine's odds with recorded ones: the same engagement is resolved as often, and counts are compared."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from geo_patrol.board import ring_of
from geo_patrol.config.schema import MAX_AMMO, MAX_FUEL, Title
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.engagement import pay_for_engagements
from geo_patrol.engine.odds import resolve_repeatedly
from geo_patrol.errors import RecordingError
from geo_patrol.replays.published import BothOrders, Record, RecordedState, order_codes, read_published_config
from geo_patrol.sides import SIDES

SIGNIFICANCE = 1e-4
"""Two distributions differ if the p-value is below this."""
MAX_DRAWS = 10_000_000
_SEED = 20240401
_CHUNK = 100_000
"""Resolutions held in memory at a time."""

_MIN_COUNT = 20
"""Categories with fewer observations in both samples are pooled, as the chi-square approximation requires."""

_Counts = dict[str, Annotated[int, Field(ge=0, le=MAX_DRAWS)]]


class RecordedOdds(Record):
    """An engagement that was resolved many times, with counts of what came of it."""

    name: Title
    config: dict[str, Any]
    state: RecordedState
    orders: BothOrders
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


def check_odds(recorded: RecordedOdds) -> str | None:
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


def count_outcomes(recorded: RecordedOdds, seed: int = _SEED) -> tuple[Counter[str], Counter[str]]:
    """Resolve a recorded engagement as often as it was recorded.

    Returns:
        Counts by the destroyed satellites ("a3,b0": alpha's Patrol 3 and bravo's HVA), and counts by the numbers of
        outcomes ("3/2/1": guard, shoot, collide).
    """
    batch = Batch(read_published_config(recorded.config))
    batch.seed([seed])
    batch.reset()
    _load_state(batch, recorded.state)
    batch.describe()
    game, rules = batch.games[0], batch.rules[0]
    orders = order_codes(recorded.orders)
    orders = batch.legal_actions(orders)[0]
    pay_for_engagements(game, rules, orders)
    destroyed, kinds = Counter[str](), Counter[str]()
    for start in range(0, recorded.draws, _CHUNK):
        chunk = min(_CHUNK, recorded.draws - start)
        bits, counts = np.empty(chunk, np.int64), np.empty((chunk, 3), np.int64)
        resolve_repeatedly(game, rules, orders, batch.outcomes, bits, counts)
        for value, times in zip(*np.unique(bits, return_counts=True), strict=True):
            destroyed[_label(int(value))] += int(times)
        of_kinds = counts[:, [state.GUARDING, state.SHOT, state.COLLISION]]
        for row, times in zip(*np.unique(of_kinds, axis=0, return_counts=True), strict=True):
            kinds["/".join(map(str, row))] += int(times)
    return destroyed, kinds


def _label(bits: int) -> str:
    indices = [index for index in range(state.SIDES * state.SATELLITES) if bits >> index & 1]
    return ",".join(f"{SIDES[index // state.SATELLITES][0]}{index % state.SATELLITES}" for index in indices)


def _sorted_label(label: str) -> str:
    return ",".join(sorted(label.split(","), key=lambda name: (name[:1], len(name), name)))


def _frequencies(counts: "Counter[str] | dict[str, int]") -> str:
    total = sum(counts.values())
    frequent = sorted(counts.items(), key=lambda item: -item[1])[:4]
    return "{" + ", ".join(f"{label or 'nobody'}: {count / total:.4f}" for label, count in frequent) + ", ..}"


def _load_state(batch: Batch, recorded: RecordedState) -> None:
    """Set a batch of one to a recorded position in the engagement phase.

    Raises:
        RecordingError: a value is impossible in a game.
    """
    game, rules = batch.games[0], batch.rules[0]
    if recorded.phase != "engagement" or recorded.done:
        raise RecordingError(f"state: phase = {recorded.phase!r}, done = {recorded.done}: give an engagement phase")
    for side, name in enumerate(SIDES):
        fleet = 1 + int(rules.patrol_count[side])
        for field, maximum in (("sector", 2**11 - 2), ("fuel", MAX_FUEL), ("ammo", MAX_AMMO)):
            values = getattr(recorded, field)[side]
            if len(values) != fleet:
                raise RecordingError(f"state: {field} of {name} has {len(values)} values; its fleet has {fleet}")
            game[field][side, :fleet] = [_whole(value, field, maximum) for value in values]
        rings = [ring_of(int(sector)) for sector in game.sector[side, :fleet]]
        if min(rings) < rules.inner_ring or max(rings) > rules.outer_ring:
            raise RecordingError(
                f"state: sector of {name}: give sectors of rings {rules.inner_ring} to {rules.outer_ring}"
            )
    game.phase = state.ENGAGEMENT


def _whole(value: float, field: str, maximum: int) -> int:
    if not 0 <= value <= maximum or value != int(value):
        raise RecordingError(f"state: {field} = {value!r}: give whole numbers from 0 to {maximum}")
    return int(value)


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
    half, start = statistic / 2, 0.5 * (degrees % 2)
    total = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    for step in range(degrees // 2):
        power = start + step
        total += math.exp(power * math.log(half) - half - math.lgamma(power + 1))  # in logs: half may be large
    return min(total, 1.0)
