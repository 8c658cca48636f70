"""What questions ask for and what they are answered with: games of cells, their measures, and estimates."""

import itertools
import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.evaluation.results import DRAW
from geo_patrol.evaluation.statistics import (
    Rate,
    difference_interval,
    paired_interval,
    student_quantile,
    wilson_interval,
)
from geo_patrol.game.notation import read_reasons

GAME = np.dtype(
    [
        ("winner", np.int8),  # 0 alpha, 1 bravo, -1 a draw
        ("scores", np.int32, 2),  # final points of alpha and bravo
        ("turns", np.int32),  # turns played, the last one included
        ("reasons", np.int32),  # bits that ``notation.read_reasons`` reads
        ("illegal_orders", np.int32, 2),  # of alpha and bravo
    ]
)
"""What is kept of a game of a study."""

StudyGames: TypeAlias = NDArray[np.void]
"""Records of layout ``GAME``."""
Pair: TypeAlias = tuple[str, str]
"""The names of the agents that play alpha and bravo."""


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


# Measures


RateMeasure: TypeAlias = Literal["alpha wins", "bravo wins", "draws"]
Measure: TypeAlias = Literal["alpha wins", "bravo wins", "draws", "alpha score", "bravo score", "margin", "turns"]
RATES = ("alpha wins", "bravo wins", "draws")
MEASURES = (*RATES, "alpha score", "bravo score", "margin", "turns")
ILLEGAL = ("alpha illegal orders", "bravo illegal orders")
BALANCE = "alpha wins, a draw counting half"
"""The measure of fairness: its mean is one half where both sides win equally often."""


class MeasureWords(NamedTuple):
    """A measure in words.

    Attributes:
        noun: what is counted, on the axis of a figure.
        unit: of differences.
        share: what a change raises or lowers.
        same: what is said of no difference.
        change: of a difference: a template of ``size`` and ``more``.
        more, less: what ``more`` is.
        reached, missed: of a rate that is reached or not: templates of ``rate``.
    """

    noun: str
    unit: str
    share: str
    same: str
    change: str
    more: str = "more"
    less: str = "less"
    reached: str = ""
    missed: str = ""

    def difference(self, difference: float) -> str:
        """Return a difference as a sentence: "alpha wins 4.0 percentage points less"."""
        if difference == 0:
            return self.same
        size = abs(difference)
        text = f"{100 * size:.1f}" if self.unit == "percentage points" else f"{size:.2f}"
        return self.change.format(size=text, more=self.more if difference > 0 else self.less)


def _wins_in_words(side: str) -> MeasureWords:
    return MeasureWords(
        noun=f"games that {side} wins",
        unit="percentage points",
        share=f"the share of games that {side} wins",
        same=f"{side} wins as often",
        change=f"{side} wins {{size}} percentage points {{more}}",
        reached=f"{side} wins at least {{rate}} of the games",
        missed=f"{side} does not reach {{rate}}",
    )


def _score_in_words(side: str) -> MeasureWords:
    return MeasureWords(
        noun=f"{side}'s points",
        unit="points",
        share=f"{side}'s score",
        same=f"{side} scores the same",
        change=f"{side} scores {{size}} {{more}}",
    )


WORDS = {
    "alpha wins": _wins_in_words("alpha"),
    "bravo wins": _wins_in_words("bravo"),
    "draws": MeasureWords(
        noun="games that are drawn",
        unit="percentage points",
        share="the share of draws",
        same="as many draws",
        change="{size} percentage points {more} draws",
        reached="at least {rate} of the games are draws",
        missed="draws do not reach {rate}",
    ),
    "alpha score": _score_in_words("alpha"),
    "bravo score": _score_in_words("bravo"),
    "margin": MeasureWords(
        noun="the margin",
        unit="points",
        share="the margin",
        same="the margin is the same",
        change="the margin is {size} {more}",
        more="larger",
        less="smaller",
    ),
    "turns": MeasureWords(
        noun="turns",
        unit="turns",
        share="the number of turns",
        same="games last as long",
        change="games last {size} turns {more}",
        more="longer",
    ),
    BALANCE: _wins_in_words("alpha")._replace(noun="games that alpha wins, a draw counting half"),
}
"""The measures in words."""


def is_rate(measure: str) -> bool:
    """Return whether a measure is a share of games."""
    return measure in RATES or measure.startswith(_ENDED)


_ENDED = "ended: "


def list_measures(games: Iterable[StudyGames]) -> tuple[str, ...]:
    """Return the measures of games; how games ended only as far as it happened in some game."""
    bits = int(np.bitwise_or.reduce([int(np.bitwise_or.reduce(each["reasons"])) for each in games]))
    return (*MEASURES, *(f"{_ENDED}{reason.in_words}" for reason in read_reasons(bits)), *ILLEGAL)


def measure_games(games: StudyGames, measure: str) -> NDArray[np.float64]:
    """Return the value of a measure in every game."""
    winner, scores = games["winner"], games["scores"].astype(np.float64)
    match measure:
        case "alpha wins" | "bravo wins":
            values = winner == MEASURES.index(measure)
        case "draws":
            values = winner == DRAW
        case "alpha score" | "bravo score":
            values = scores[:, int(measure == "bravo score")]
        case "margin":
            values = scores[:, 0] - scores[:, 1]
        case "turns":
            values = games["turns"]
        case "alpha illegal orders" | "bravo illegal orders":
            values = games["illegal_orders"][:, ILLEGAL.index(measure)]
        case _ if measure == BALANCE:
            values = (winner == 0) + 0.5 * (winner == DRAW)
        case _:
            assert measure.startswith(_ENDED)
            bits, kinds = np.unique(games["reasons"], return_inverse=True)
            ends = [{f"{_ENDED}{reason.in_words}" for reason in read_reasons(each)} for each in bits.tolist()]
            values = np.array([measure in each for each in ends])[kinds]
    return np.asarray(values, np.float64)


def summarise_games(games: StudyGames, measure: str, quantiles: Sequence[float]) -> dict[str, Any]:
    """Return number of games, mean, 95% interval, standard deviation and quantiles of a measure.

    A rate has no quantiles; a single game has no standard deviation, and but for rates no interval.
    """
    values = measure_games(games, measure)
    mean, size = float(values.mean()), len(values)
    deviation = float(values.std(ddof=1)) if size > 1 else None
    low: float | None
    high: float | None
    named = {f"q{100 * share:04.1f}".replace(".0", "") if share < 1 else "q100": share for share in quantiles}
    if is_rate(measure):
        low, high = wilson_interval(round(float(values.sum())), size).interval
        found: dict[str, float | None] = dict.fromkeys(named)
    else:
        margin = None if deviation is None else student_quantile(0.95, size - 1) * deviation / size**0.5
        low, high = (None, None) if margin is None else (mean - margin, mean + margin)
        found = dict(zip(named, np.quantile(values, list(named.values())).tolist(), strict=True))
    return {"games": size, "mean": mean, "low": low, "high": high, "sd": deviation, **found}


def compare_games(before: StudyGames, after: StudyGames, measure: str) -> Rate:
    """Return the mean difference of a measure between games that share seeds, one by one, with its 95% interval."""
    values = measure_games(after, measure) - measure_games(before, measure)
    return paired_interval(values, is_rate=is_rate(measure))


def difference_text(measure: str, difference: float) -> str:
    """Return a difference for people; of rates in percentage points."""
    return f"{100 * difference:+z.1f}" if is_rate(measure) else f"{difference:+z.2f}"


# Requests


class Request(NamedTuple):
    """Games that a question needs: the first ones of a cell and a pair of agents with a seed."""

    cell: Cell
    pair: Pair
    games: int
    seed: int


class Wanted(NamedTuple):
    """What a question needs next."""

    requests: list[Request]
    remaining: int = 0
    """How many games it is expected to need after these."""


class Source(Protocol):
    """Plays games, or knows them already."""

    def play(self, requests: Sequence[Request], remaining: int = 0) -> list[StudyGames]:
        """Return the games of every request."""


# Answers


@dataclass(frozen=True)
class PlayedLevel:
    """A value that a search looked at.

    Attributes:
        value: of the factor.
        position: where it lies on an axis.
        games: how many were played there.
        rate: share of them.
        versions: what played alpha and bravo beyond their names, see ``StudyAgents.versions``.
    """

    value: Any
    position: float
    games: int
    rate: Rate
    versions: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Estimate:
    """An answer to a question, for one pair of agents and one cell.

    Attributes:
        subject: what it is about: a factor or a change.
        statistic: what was estimated.
        cell: where.
        pair: who played alpha and bravo.
        estimate: a number, None if there is none.
        interval: its 95% interval; an end is infinite where the values that were looked at do not bound it.
        answer: the answer in a few words, such as "6".
        games: games that it is from.
        text: the answer as a sentence.
        levels: what a search looked at, in the order of the axis.
        answer_interval: the ends of the 95% interval of the answer, as texts; None if there is none.
        versions: what played alpha and bravo beyond their names where no value was searched.
    """

    subject: str
    statistic: str
    cell: Cell
    pair: Pair
    estimate: float | None
    interval: tuple[float, float] | None
    answer: str
    games: int
    text: str
    levels: tuple[PlayedLevel, ...] = ()
    answer_interval: tuple[str, str] | None = None
    versions: tuple[str, str] = ("", "")


Asking: TypeAlias = Generator[Wanted, list[StudyGames], list[Estimate]]
"""A question that is asked: yields what it needs next and is sent the games, until it returns its answers."""


def answers_differ(answers: Sequence[Estimate]) -> bool:
    """Return whether some of several estimates differ, by the intervals of their differences (Bonferroni)."""
    comparisons = math.comb(len(answers), 2)
    return any(_differ(one, other, comparisons) for one, other in itertools.combinations(answers, 2))


def _differ(first: Estimate, second: Estimate, comparisons: int) -> bool:
    if first.interval is None or second.interval is None:  # no value is fair
        return first.interval != second.interval
    intervals = first.interval, second.interval
    if any(low == high and math.isinf(low) for low, high in intervals):  # it certainly lies beyond the values
        return max(low for low, _ in intervals) > min(high for _, high in intervals)
    _, low, high = difference_interval(_bounded(first), _bounded(second), comparisons)
    return low > 0 or high < 0


def _bounded(answer: Estimate) -> Rate:
    """Return an estimate with its interval; one beyond the values that were looked at is put at the finite end of it."""
    low, high = answer.interval or (-math.inf, math.inf)
    estimate = answer.estimate
    if estimate is None:
        estimate = low if math.isfinite(low) else high if math.isfinite(high) else 0.0
    return Rate(estimate, min(low, estimate), max(high, estimate))
