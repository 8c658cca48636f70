"""Count how often the 95% intervals of a study's answers cover the truth, for made-up agents of which it is known.

    python scripts/check_questions.py --intervals 400

Alpha wins with a known probability at every value of a factor, and half of the games depend on their seed alone, so that
cells which share seeds are correlated. A line for each kind of answer: how many intervals cover the truth, with the interval
of that proportion, and how many games they took.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.evaluation.statistics import paired_interval, wilson_interval
from geo_patrol.studies.questions import ThresholdSearch

BUDGET = 20_000
BLOCK = 128


@dataclass(frozen=True)
class Curve:
    """A made-up agent: the values that a search may choose from, and how often alpha wins at each."""

    name: str
    values: NDArray[np.float64]
    chances: NDArray[np.float64]
    rate: float
    tolerance: float

    @property
    def truth(self) -> float:
        """Where the chance, interpolated between the values, crosses the rate."""
        falls = self.chances[0] > self.chances[-1]
        chances, values = (self.chances[::-1], self.values[::-1]) if falls else (self.chances, self.values)
        return float(np.interp(self.rate, chances, values))


def logistic(values: NDArray[np.float64], middle: float, scale: float) -> NDArray[np.float64]:
    """Return a chance that falls from 1 to 0 around a middle."""
    return np.asarray(1 / (1 + np.exp((values - middle) / scale)), np.float64)


WHOLE, REAL, LONG = np.arange(1.0, 9.0), np.linspace(0.0, 1.0, 65), np.arange(1.0, 501.0)
CURVES = (
    Curve("1 to 8, 80%", WHOLE, logistic(WHOLE, 6.2, 1.1), 0.8, 0.5),
    Curve("1 to 8, 50%", WHOLE, logistic(WHOLE, 6.2, 1.1), 0.5, 0.5),
    Curve("1 to 8, steep, 80%", WHOLE, logistic(WHOLE, 4.9, 0.4), 0.8, 0.5),
    Curve("1 to 8, flat, 60%", WHOLE, logistic(WHOLE, 6.0, 6.0), 0.6, 0.5),
    Curve("1 to 8, rising, 70%", WHOLE, logistic(WHOLE, 4.4, 1.1)[::-1].copy(), 0.7, 0.5),
    Curve("0 to 1, 50%", REAL, 1 - 0.7 * REAL**2, 0.5, 0.04),
    Curve("1 to 500, 80%", LONG, logistic(LONG, 300, 60), 0.8, 20.0),
)


def search_once(curve: Curve, seed: int) -> tuple[bool, int]:
    """Return whether the interval of a search covers the truth, and how many games it took."""
    falls = bool(curve.chances[0] > curve.chances[-1])
    shared = np.random.default_rng((seed, 1 << 20)).random(2 * BUDGET)
    draws: dict[int, NDArray[np.float64]] = {}
    search = ThresholdSearch(
        curve.values, curve.rate, falls=falls, budget=BUDGET, tolerance=curve.tolerance, block=BLOCK
    )
    while wanted := search.wanted():
        for level, games in wanted.items():
            if level not in draws:
                own = np.random.default_rng((seed, level)).random(2 * BUDGET)
                draws[level] = np.where(own < 0.5, shared, 2 * own - 1)
            search.outcomes[level] = (draws[level][:games] < curve.chances[level]).astype(np.float64)
    low, high = sorted(search.turn(np.array(search.locate()[1:])).tolist())
    return low <= curve.truth <= high, search.spent


def differ_once(chances: tuple[float, float], games: int, seed: int) -> tuple[bool, int]:
    """Return whether the interval of a difference of two rates covers the truth, and how many games it took."""
    generator = np.random.default_rng(seed)
    shared, own = generator.random(games), generator.random(games)
    before, after = shared < chances[0], np.where(own < 0.5, shared, 2 * own - 1) < chances[1]
    _, low, high = paired_interval(after.astype(int) - before.astype(int), is_rate=True)
    return low <= chances[1] - chances[0] <= high, 2 * games


def main() -> None:
    """Print how often the intervals cover the truth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--intervals", type=int, default=400, help="of every kind")
    count = parser.parse_args().intervals
    kinds: list[tuple[str, Any]] = [
        *((f"threshold, {curve.name}", lambda seed, curve=curve: search_once(curve, seed)) for curve in CURVES),
        *(
            (f"difference, {first:.0%} and {second:.0%}, {games} games", lambda seed, c=(first, second), n=games: differ_once(c, n, seed))
            for first, second, games in ((0.6, 0.65, 200), (0.95, 0.9, 200), (0.5, 0.5, 2_000))
        ),
    ]  # fmt: skip
    total = 0
    for name, once in kinds:
        covered, games = zip(*(once(seed) for seed in range(count)), strict=True)
        total += sum(covered)
        low, high = wilson_interval(sum(covered), count)
        print(
            f"{name}: covered {sum(covered) / count:.1%} ({low:.1%}-{high:.1%}), {np.mean(games):,.0f} games",
            flush=True,
        )
    print(f"all: covered {total / count / len(kinds):.1%} of {count * len(kinds):,} intervals")


if __name__ == "__main__":
    main()
