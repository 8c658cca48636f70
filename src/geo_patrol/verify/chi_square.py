"""The chi-square test of homogeneity: whether two samples of categories come from one distribution."""

import math
from collections.abc import Mapping

_MIN_COUNT = 20
"""Categories with fewer observations in both samples are pooled, as the approximation requires."""


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
