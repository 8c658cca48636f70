"""A sequential search for the place on an axis at which a rate is reached, and what is known when it has ended."""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import optional_import
from geo_patrol.config.toml_files import value_text
from geo_patrol.evaluation.statistics import normal_quantile, paired_interval, share_interval
from geo_patrol.studies.answers import PlayedLevel
from geo_patrol.studies.factors import positions_of, with_unit
from geo_patrol.studies.study_agents import join_versions


class Crossing(NamedTuple):
    """Where a rate crosses a value, on the axis of a factor."""

    estimate: float
    low: float
    high: float


_SAFE = 3.0
"""Standard errors of the interval by which a search decides where to play, and of what counts as clearly reached."""
_RISE = 4.0
"""Standard errors of a rise between two of many levels that is not put down to chance."""
_SCANNED = 20
"""Levels of an axis that are all played first; of a longer one, ``_SCAN`` are."""
_SCAN = 9
_DIP_BLOCKS = 8
"""Blocks, at most, that find out whether the rate is clearly missed before a level at which it is reached."""


class ThresholdSearch:
    """A sequential search for the last place on an axis at which a rate is reached.

    The axis is turned so that the rate is taken to fall over it: the last place is that of the largest value of a rate that
    falls, and of the smallest one of a rate that rises.

    The rate between two neighbouring levels is interpolated linearly. A place is in the 95% interval if the games at the
    levels beside it do not contradict that the rate there is the value (inverse estimation, as for effective doses: Finney
    1971, "Probit Analysis"; with a line between two levels the interval is Fieller's). Where levels share seeds, their
    covariance counts. Each mean has two successes and two failures added (Agresti and Coull 1998).

    First every level is played, or of a long axis nine. While an interval of three standard errors, which is wide enough that
    the many decisions of a search hardly ever leave the truth behind, is narrower than the gap between the played levels around
    the crossing, the gap is halved; otherwise the levels beside that interval get more games. The search ends when the 95%
    interval is as narrow as the tolerance (Chow and Robbins 1965, "On the asymptotic theory of fixed-width sequential
    confidence intervals for the mean"): that depends on its width alone, not on where it lies, so that stopping hardly
    changes how often it covers the truth.

    Where other networks play at two neighbouring levels, see ``players``, the rate is taken to jump between them: nothing is
    interpolated there, and the crossing is put at the last level that reaches the rate.

    The rate need not fall everywhere. No crossing is looked for before the last level at which the rate clearly is reached,
    by three standard errors; levels before it at which it seems to be missed get games until that is clear, see ``dips``.

    Args:
        positions: of the levels, ascending.
        rate: the value to be crossed.
        falls: whether the rate falls over the axis; None where both ends have to tell.
        budget: games at most.
        tolerance: on the axis.
        block: games are played in multiples of it, except for the last ones of the budget.
    """

    def __init__(
        self,
        positions: NDArray[np.float64],
        rate: float,
        *,
        falls: bool | None,
        budget: int,
        tolerance: float,
        block: int,
    ) -> None:
        self._positions, self._rate, self._falls = positions, rate, falls
        self._budget, self._tolerance, self._block = budget, tolerance, block
        self.outcomes: dict[int, NDArray[np.float64]] = {}
        """The outcomes at each played level, from 0 to 1 each, in the order of their seeds."""
        self.players: dict[int, Any] = {}
        """What plays at each played level beyond the names of the agents; without an entry, the same as elsewhere."""
        self._estimated: (
            tuple[
                list[tuple[int, int]],
                tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
            ]
            | None
        ) = None

    @property
    def spent(self) -> int:
        """The number of games played."""
        return sum(map(len, self.outcomes.values()))

    @property
    def falls(self) -> bool:
        """Whether the rate falls over the axis."""
        if self._falls is None:
            first, last = min(self.outcomes), max(self.outcomes)
            return bool(self.outcomes[first].mean() >= self.outcomes[last].mean())
        return self._falls

    def wanted(self) -> dict[int, int]:
        """Return the levels to be played next with the number of games that each should have then; none at the end."""
        played = {level: len(outcomes) for level, outcomes in self.outcomes.items()}
        asked = {level: games - played.get(level, 0) for level, games in self._asked().items()}
        left = self._budget - self.spent
        if sum(asked.values()) > left:  # an even number: where an agent plays both sides, every seed has two games
            share = left // len(asked) // 2 * 2
            asked = {level: min(games, share) for level, games in asked.items()} if share else {}
        return {level: played.get(level, 0) + games for level, games in asked.items()}

    def _asked(self) -> dict[int, int]:
        """Return what ``wanted`` does for a budget without end."""
        last = len(self._positions) - 1
        if not self.outcomes:
            count = last + 1 if last < _SCANNED else _SCAN
            return dict.fromkeys(np.linspace(0, last, count).round().astype(int).tolist(), self._block)
        return {} if last == 0 else self._asked_at_the_crossing() or self._asked_at_dips()

    def _asked_at_the_crossing(self) -> dict[int, int]:
        levels, axis = self._ordered(), self._axis()
        crossing, (around, pieces) = self.locate(), self._accept(_SAFE)
        if around.low == around.high:
            return {}
        low, high, middle, start, stop = np.clip([*crossing[1:], crossing.estimate, *around[1:]], axis[0], axis[-1])
        piece = int(np.clip(np.searchsorted(axis, middle, "right") - 1, 0, len(axis) - 2))
        width = max(float(high - low), self._typical_width(piece) if math.isfinite(crossing.estimate) else 0.0)
        first, second = sorted((levels[piece], levels[piece + 1]))
        gap = float(axis[piece + 1] - axis[piece])
        if self._is_jump(piece):
            if second - first > 1:
                return {(first + second) // 2: self._block}
            if self._is_clear_jump(piece):
                return {}
        if second - first > 1 and stop - start < gap and gap > 2 * self._tolerance:
            return {(first + second) // 2: self._block}
        if width <= self._tolerance:
            return {}
        near = [levels[k] for k in sorted({end for k in (*pieces, piece) for end in (k, k + 1)})]
        fewest = min(len(self.outcomes[level]) for level in near)
        needed = fewest * min(max((width / self._tolerance) ** 2 - 1, 0), 1)  # at most as many again
        added = max(min(needed, (self._budget - self.spent) / len(near)), self._block)
        games = fewest + self._block * math.ceil(added / self._block)
        return {level: games for level in near if len(self.outcomes[level]) < games}

    def _asked_at_dips(self) -> dict[int, int]:
        """Ask for more games where the rate seems to be missed before a level that reaches it."""
        levels, most = self._ordered(), _DIP_BLOCKS * self._block
        asked: dict[int, int] = {}
        for k, later in self._seeming_dips():
            sizes = [len(self.outcomes[levels[each]]) for each in (k, later)]
            if not self._is_clear_dip(k, later) and sizes[0] < most:
                games = min(self._block * math.ceil(2 * sizes[0] / self._block), most)
                asked |= {levels[each]: games for each, size in zip((k, later), sizes, strict=True) if size < games}
        return asked

    def _typical_width(self, piece: int) -> float:
        """Return the width that an interval at an end of a piece has, with the slope of the rate around the piece.

        In its middle, where both levels tell, intervals are narrower, and so they are where chance makes a piece look steep.
        If the search ended as soon as one is narrow, it would prefer such intervals.
        """
        axis, means, variances, _ = self._estimates()
        first, last = max(piece - 1, self._last_reached() or 0), min(piece + 2, len(axis) - 1)
        fall = float(means[first] - means[last]) / float(axis[last] - axis[first])
        error = float(np.sqrt(variances[piece : piece + 2].mean()))
        return 2 * normal_quantile(0.95) * error / fall if fall > 0 else math.inf

    def expected(self) -> int:
        """Return roughly how many more games the search needs."""
        crossing, axis = self.locate(), self._axis()
        width = float(np.subtract(*np.clip([crossing.high, crossing.low], axis[0], axis[-1])))
        factor = max((width / self._tolerance) ** 2 - 1, 0)
        return int(min(self.spent * factor, max(self._budget - self.spent, 0)))

    def locate(self) -> Crossing:
        """Return the crossing with its 95% interval, on the axis that is turned so that the rate falls, see ``turn``."""
        return self._accept(normal_quantile(0.95))[0]

    def _accept(self, z: float) -> tuple[Crossing, list[int]]:
        """Return the crossing, and the pieces of the axis, by the indices of their first levels, that may hold it."""
        axis, means, variances, covariances = self._estimates()
        excess, margins = means - self._rate, z * np.sqrt(variances)
        reached = self._last_reached()
        accepted, pieces = [self._estimate(axis, means)], list[int]()
        for k in range(reached or 0, len(axis) - 1):
            if self._is_jump(k):
                shares = _accepted_jump(excess[k : k + 2], margins[k : k + 2])
            else:
                shares = _accepted_shares(excess[k : k + 2], variances[k : k + 2], covariances[k], z)
            accepted += (axis[k] + shares * (axis[k + 1] - axis[k])).tolist()
            pieces += [k] if len(shares) else []
        accepted += [-math.inf] if reached is None and excess[0] <= margins[0] else []
        accepted += [math.inf] if excess[-1] >= -margins[-1] else []
        return Crossing(accepted[0], min(accepted), max(accepted)), pieces

    def _is_jump(self, piece: int) -> bool:
        """Return whether other networks play at the two levels of a piece of the axis."""
        first, second = (self.players.get(level) for level in self._ordered()[piece : piece + 2])
        return bool(first != second)

    def _is_clear_jump(self, piece: int) -> bool:
        """Return whether the rate clearly is reached at the first level of a piece, and missed at the second."""
        _, means, variances, _ = self._estimates()
        excess, margins = means - self._rate, _SAFE * np.sqrt(variances)
        return bool(excess[piece] >= margins[piece] and excess[piece + 1] <= -margins[piece + 1])

    @property
    def jump(self) -> tuple[int, int] | None:
        """The levels between which the rate is crossed and another network takes over; None if it is crossed elsewhere."""
        place, axis = self.locate().estimate, self._axis()
        if not math.isfinite(place):
            return None
        piece = int(np.clip(np.searchsorted(axis, place + 1e-9, "right") - 1, 0, len(axis) - 2))
        levels = self._ordered()
        return (levels[piece], levels[piece + 1]) if self._is_jump(piece) and axis[piece] == place else None

    def _last_reached(self) -> int | None:
        """Return the index of the last level, on the turned axis, at which the rate clearly is reached."""
        _, means, variances, _ = self._estimates()
        reached = np.flatnonzero(means - self._rate >= _SAFE * np.sqrt(variances))
        return int(reached[-1]) if len(reached) else None

    def _estimate(self, axis: NDArray[np.float64], means: NDArray[np.float64]) -> float:
        """Return where the isotonic regression of the means crosses the rate; infinite beyond the ends.

        It begins with the last level at which the rate clearly is reached.
        """
        with optional_import("stats"):
            from scipy.optimize import isotonic_regression  # noqa: PLC0415 - an extra
        begin = self._last_reached() or 0
        weights = np.array([len(self.outcomes[level]) for level in self._ordered()], np.float64)
        fitted = isotonic_regression(means[begin:], weights=weights[begin:], increasing=False).x
        if fitted[0] < self._rate or fitted[-1] >= self._rate:
            return -math.inf if fitted[0] < self._rate else math.inf
        k = int(np.flatnonzero(fitted >= self._rate)[-1])
        share = 0.0 if self._is_jump(begin + k) else (fitted[k] - self._rate) / (fitted[k] - fitted[k + 1])
        return float(axis[begin + k] + share * (axis[begin + k + 1] - axis[begin + k]))

    def _estimates(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return places, means, their variances, and the covariances of neighbours; they are computed once for the same games."""
        played = [(level, len(each)) for level, each in self.outcomes.items()]
        if self._estimated is None or self._estimated[0] != played:
            self._estimated = played, self._compute_estimates()
        return self._estimated[1]

    def _compute_estimates(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        outcomes = [self.outcomes[level] for level in self._ordered()]
        sizes, sums = (np.array([f(each) for each in outcomes], np.float64) for f in (len, np.sum))
        means = (sums + 2) / (sizes + 4)
        squares = np.array([((each - mean) ** 2).sum() for each, mean in zip(outcomes, means, strict=True)])
        variances = (squares + 2 * means**2 + 2 * (1 - means) ** 2) / (sizes + 4) ** 2
        covariances = []
        for one, other in itertools.pairwise(outcomes):
            common = min(len(one), len(other))
            both = np.cov(one[:common], other[:common])[0, 1] if common > 1 else 0.0
            covariances.append(both * common / ((len(one) + 4) * (len(other) + 4)))
        return self._axis(), means, variances, np.array(covariances, np.float64)

    def _ordered(self) -> list[int]:
        """Return the played levels in the order in which the rate falls."""
        return sorted(self.outcomes, reverse=not self.falls)

    def _axis(self) -> NDArray[np.float64]:
        axis: NDArray[np.float64] = self.turn(self._positions[self._ordered()])
        return axis

    def turn(self, positions: Any) -> Any:
        """Turn positions so that the rate falls over the axis; turning twice changes nothing."""
        return positions if self.falls else 0.0 - positions  # not -0.0

    @property
    def dips(self) -> list[int]:
        """The levels at which the rate clearly is missed although it is reached at a later one, against a single crossing."""
        levels = self._ordered()
        return sorted(levels[k] for k, later in self._seeming_dips() if self._is_clear_dip(k, later))

    def _seeming_dips(self) -> list[tuple[int, int]]:
        """Return the indices of levels that miss the rate before the last that reaches it, each with a later one that rises most."""
        _, means, variances, _ = self._estimates()
        reached = self._last_reached() or 0
        found = []
        for k in np.flatnonzero(means[:reached] < self._rate).tolist():
            rises = (means - means[k]) / np.sqrt(variances + variances[k])
            rises[: k + 1] = rises[reached + 1 :] = -math.inf
            found.append((k, int(rises.argmax())))
        return found

    def _is_clear_dip(self, k: int, later: int) -> bool:
        _, means, variances, _ = self._estimates()
        missed = self._rate - means[k] > _SAFE * math.sqrt(variances[k])
        return bool(missed or means[later] - means[k] > _RISE * math.sqrt(variances[k] + variances[later]))


def _accepted_shares(
    excess: NDArray[np.float64], variances: NDArray[np.float64], covariance: float, z: float
) -> NDArray[np.float64]:
    """Return the ends of the part of a piece in which the interpolated rate is not contradicted, as shares of its length.

    The excess of the rate at a share t is (1 - t) e0 + t e1; its variance follows. Their quotient is z where a quadratic
    polynomial is 0.
    """
    slope = excess[1] - excess[0]
    v0, v1, c = variances[0], variances[1], covariance
    coefficients = [
        slope**2 - z**2 * (v0 + v1 - 2 * c),
        2 * excess[0] * slope - z**2 * (2 * c - 2 * v0),
        excess[0] ** 2 - z**2 * v0,
    ]
    roots = np.roots(coefficients)
    shares = np.concatenate([[0.0, 1.0], roots[np.isreal(roots)].real])
    shares = shares[(shares >= 0) & (shares <= 1)]
    values = np.polyval(coefficients, shares)
    return np.asarray(shares[values <= 1e-12], np.float64)


def _accepted_jump(excess: NDArray[np.float64], margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ends of what the games at two levels do not contradict where the rate jumps between them, as shares."""
    if excess[0] >= -margins[0] and excess[1] <= margins[1]:
        return np.array([0.0, 1.0])
    return np.flatnonzero(np.abs(excess) <= margins).astype(np.float64)


def differ(outcomes: Sequence[NDArray[np.float64]]) -> bool:
    """Return whether some of several series of outcomes, in the order of the same seeds, have different means.

    Differences between games that share a seed are tested at 5% for all pairs of series together (Bonferroni).
    """
    confidence = 1 - 0.05 / math.comb(len(outcomes), 2)
    for one, other in itertools.combinations(outcomes, 2):
        common = min(len(one), len(other))
        _, low, high = paired_interval(other[:common] - one[:common], is_rate=True, confidence=confidence)
        if low > 0 or high < 0:
            return True
    return False


# What is known of a search that has ended


class Plateau(NamedTuple):
    """Neighbouring levels at which the rate cannot be told from the one that is asked for.

    Attributes:
        levels: two or more.
        is_flat: whether no two of them can be told apart, either.
    """

    levels: tuple[PlayedLevel, ...]
    is_flat: bool

    def describe(self, subject: str, rate: str) -> str:
        """Return what is known of it, as a clause: "from 1 to 8 the rate is 79.5 to 80.2%, ..."."""
        first, *_, last = (value_text(level.value) for level in self.levels)
        flat = ", and no two of these values can be told apart" if self.is_flat else ""
        return (
            f"from {first} to {last} {subject} is {span_text(self.levels)}, nowhere clearly different from {rate}{flat}"
        )


class Finding:
    """A search that is finished: where the rate is crossed, and what sentences say of it.

    Args:
        search: the search.
        levels: the values that it could choose from.
        rate: what was searched for.

    Attributes:
        crossing: the place with its 95% interval, on the axis that is turned so that the rate falls.
        place: the place on the axis of the factor; infinite beyond its ends.
        ends: of its 95% interval.
        played: what was looked at, in the order of the axis.
        plateau: the levels that leave the place open, if there are such.
    """

    def __init__(self, search: ThresholdSearch, levels: Sequence[Any], rate: float) -> None:
        self.search, self.levels = search, levels
        self.positions = positions_of(levels)
        self.crossing = search.locate()
        self.place: float = search.turn(self.crossing.estimate)
        self.ends: tuple[float, float] = tuple(sorted(map(search.turn, self.crossing[1:])))
        self.played = tuple(self._played_level(number) for number in sorted(search.outcomes))
        self.plateau = self._find_plateau(rate)

    def _played_level(self, number: int) -> PlayedLevel:
        outcomes, versions = self.search.outcomes[number], self.search.players.get(number, ("", ""))
        value, position = self.levels[number], float(self.positions[number])
        return PlayedLevel(value, position, len(outcomes), share_interval(outcomes), versions)

    def _find_plateau(self, rate: float) -> Plateau | None:
        """Return the levels beside the crossing that cannot be told from it, where they leave it open; None where they do not.

        It is open where they reach an end of the axis, or cover more than half of it.
        """
        near = [level.rate.low <= rate <= level.rate.high for level in self.played]
        runs = [
            [level for level, _ in group]
            for key, group in itertools.groupby(zip(self.played, near, strict=True), lambda each: each[1])
            if key
        ]
        if not runs:
            return None
        place = self.place
        run = min(runs, key=lambda run: max(run[0].position - place, place - run[-1].position, 0.0))
        span = run[-1].position - run[0].position
        reaches_end = run[0] is self.played[0] or run[-1] is self.played[-1]
        if len(run) < 2 or not (reaches_end or span > (self.positions[-1] - self.positions[0]) / 2):
            return None
        numbers = sorted(self.search.outcomes)[self.played.index(run[0]) : self.played.index(run[-1]) + 1]
        return Plateau(tuple(run), not differ([self.search.outcomes[number] for number in numbers]))

    @property
    def is_discrete(self) -> bool:
        """Whether an answer is one of the levels, rather than a place between them."""
        return is_discrete(self.levels)

    @property
    def estimate(self) -> float | None:
        """The place; None beyond the ends of the axis."""
        return self.place if math.isfinite(self.place) else None

    @property
    def decimals(self) -> int:
        """How many decimals of a place the games support: a unit of the last one is less than a fifth of its interval."""
        first, last = self.positions[0], self.positions[-1]
        width = float(np.ptp(np.clip(self.ends, first, last))) or float(last - first) / 100 or 1.0
        return min(max(-math.floor(math.log10(width / 5)), 0), 9)

    @property
    def span(self) -> str:
        """The values that were looked at: "from 1 to 8"."""
        return f"from {value_text(self.levels[0])} to {value_text(self.levels[-1])}"

    @property
    def place_text(self) -> str:
        """The place with its interval: "7.08 (6.89 to 7.19)"."""
        low, high = (f"{end:.{self.decimals}f}" if math.isfinite(end) else "beyond" for end in self.ends)
        return f"{self.place:.{self.decimals}f} ({low} to {high})"

    @property
    def jump_text(self) -> str:
        """Between which values the rate is crossed because another network takes over."""
        sides = [
            f"{self.rate_text(level)} ({join_versions(self.search.players[level])})" for level in self.search.jump or ()
        ]
        return f"it is crossed where another network takes over, so nothing is interpolated: {' and '.join(sides)}"

    @property
    def dips_text(self) -> str:
        """The rates at the levels that contradict a single crossing, such as "88.8% at 4 and 88.5% at 5"; "" without any."""
        found = list(map(self.rate_text, self.search.dips))
        if len(found) > _MAX_DIPS:
            return f"{', '.join(found[:_MAX_DIPS])} and at {len(found) - _MAX_DIPS:,} more"
        return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))

    def rate_text(self, number: int) -> str:
        """Return the rate at a level: "88.8% at 4"."""
        return f"{float(self.search.outcomes[number].mean()):.1%} at {value_text(self.levels[number])}"

    def value_at(self, place: float) -> Any:
        """Return a value of the factor for a place between levels, in digits that the games support."""
        inside = np.clip(round(place, self.decimals), self.positions[0], self.positions[-1])
        return with_unit(float(inside), self.levels[0])

    def last_value(self, place: float) -> str:
        """Return the last value before a place of the turned axis; "none" before the first."""
        turned = np.sort(self.search.turn(self.positions))
        if not self.is_discrete:
            return "none" if place == -math.inf else value_text(self.value_at(self.search.turn(min(place, turned[-1]))))
        number = int(np.searchsorted(turned, place + 1e-9, "right")) - 1
        ordered = list(self.levels) if self.search.falls else list(self.levels)[::-1]
        return "none" if number < 0 else value_text(ordered[number])

    def nearest_value(self, place: float) -> str:
        """Return the value that is nearest to a place."""
        inside = float(np.clip(place, self.positions[0], self.positions[-1]))
        if self.is_discrete:
            return value_text(self.levels[int(np.abs(self.positions - inside).argmin())])
        return value_text(self.value_at(inside))

    def bounds_around(self, value: Any) -> tuple[str, str]:
        """Return the values that are nearest to the ends of the interval, one of them moved where a value lies beyond it."""
        least, most = map(self.nearest_value, self.ends)
        if not self.is_discrete:
            return least, most
        texts = list(map(value_text, self.levels))
        first, number, last = (texts.index(text) for text in (least, value_text(value), most))
        return texts[min(first, number)], texts[max(last, number)]

    def fairest(self) -> Any:
        """Return the value at which the rate is nearest to one half: a level, or a place between them."""
        if math.isfinite(self.place) and not self.is_discrete and self.search.jump is None:
            return self.value_at(self.place)
        numbers = sorted(self.search.outcomes)
        means = np.interp(self.positions, self.positions[numbers], [level.rate.value for level in self.played])
        after = int(np.searchsorted(self.positions, np.clip(self.place, self.positions[0], self.positions[-1])))
        beside = self.search.jump or np.clip([after - 1, after], 0, len(self.levels) - 1).tolist()
        return self.levels[min(beside, key=lambda level: (abs(means[level] - 0.5), level))]


_MAX_DIPS = 8


def is_discrete(levels: Sequence[Any]) -> bool:
    """Return whether an answer is one of the levels, rather than a place between them."""
    return len(levels) < 3 or not all(isinstance(level, float) for level in levels)


def span_text(levels: Sequence[PlayedLevel]) -> str:
    """Return the rates of levels, or one if they look the same: "49.8 to 50.2%"."""
    low, high = (f"{100 * f(level.rate.value for level in levels):.1f}" for f in (min, max))
    return f"{high}%" if low == high else f"{low} to {high}%"
