"""Whether two counts of the same categories come from one distribution: the chi-square test of homogeneity."""

import math
from collections.abc import Mapping

_FEWEST = 20
"""Categories rarer than this in both counts together are pooled, as the test's approximation asks for."""


def homogeneity(first: Mapping[str, int], second: Mapping[str, int]) -> float:
    """Return the p-value of two samples, given as counts by category, having one distribution."""
    table = _pooled(first, second)
    totals = [sum(column) for column in zip(*table, strict=True)]
    everything = sum(totals)
    statistic = 0.0
    for row in table:
        for observed, total in zip(row, totals, strict=True):
            expected = sum(row) * total / everything
            statistic += (observed - expected) ** 2 / expected
    return survival(statistic, len(table) - 1)


def _pooled(first: Mapping[str, int], second: Mapping[str, int]) -> list[tuple[int, int]]:
    pairs = [(first.get(category, 0), second.get(category, 0)) for category in sorted({*first, *second})]
    frequent = [pair for pair in pairs if sum(pair) >= _FEWEST]
    rare = [pair for pair in pairs if sum(pair) < _FEWEST]
    pool = (sum(pair[0] for pair in rare), sum(pair[1] for pair in rare))
    return [*frequent, pool] if sum(pool) else frequent


def survival(statistic: float, degrees: int) -> float:
    """Return the probability that chi-square with so many degrees of freedom exceeds a statistic.

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
