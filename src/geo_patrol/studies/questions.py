"""Questions of a study and their answers: thresholds, fair scenarios, what changes are worth, which factors matter.

A question is asked by a generator: it yields the games that it needs next and is sent them, until it returns its answers.
``answer_questions`` plays what all questions need side by side. What is played depends on finished games alone, never on
the order in which they finish, so a study gives the same answers on any executor, and when it is resumed.
"""

import itertools
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import resolve_value
from geo_patrol.config.toml_files import value_text
from geo_patrol.evaluation.chunks import CHUNK_PAIRS
from geo_patrol.evaluation.results import DRAW
from geo_patrol.evaluation.statistics import difference_interval, normal_quantile, paired_interval, share_interval
from geo_patrol.studies.study_agents import StudyAgents, join_versions, version_columns
from geo_patrol.studies.study_file import (
    MORRIS_LEVELS,
    MORRIS_STEP,
    Cell,
    Design,
    FairQuestion,
    Question,
    RankingQuestion,
    StudyPlan,
    ThresholdQuestion,
    WorthQuestion,
    ask_extreme,
    change_in_words,
    column_values,
    expand_keys,
    has_in_words,
    in_words,
    number_in_words,
    positions_of,
    short_pair,
    with_unit,
)

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

_Games: TypeAlias = NDArray[np.void]
_Floats: TypeAlias = NDArray[np.float64]

RATES = ("alpha wins", "bravo wins", "draws")
MEASURES = (*RATES, "alpha score", "bravo score", "margin", "turns")
BALANCE = "alpha wins, a draw counting half"
"""The measure of fairness: its mean is one half where both sides win equally often."""
CHECK_SEED = 1
"""Added to the seed for the games that check an answer."""
USUAL_SEARCH = 4_000
"""Games of a search, roughly: for estimates of the time."""
RESAMPLES = 1_000
"""Of the bootstrap intervals of a ranking."""


def measure_games(games: _Games, measure: str) -> _Floats:
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
        case _:
            assert measure == BALANCE
            values = (winner == 0) + 0.5 * (winner == DRAW)
    return np.asarray(values, np.float64)


class Request(NamedTuple):
    """Games that a question needs: the first ones of a cell and a pair of agents with a seed."""

    cell: Cell
    pair: tuple[str, str]
    games: int
    seed: int


class Wanted(NamedTuple):
    """What a question needs next."""

    requests: list[Request]
    remaining: int = 0
    """How many games it is expected to need after these."""


class Source(Protocol):
    """Plays games, or knows them already."""

    def play(self, requests: Sequence[Request], remaining: int = 0) -> list[_Games]:
        """Return the games of every request."""


@dataclass(frozen=True)
class PlayedLevel:
    """A value that a search looked at.

    Attributes:
        value: of the factor.
        position: where it lies on an axis.
        games: how many were played there.
        rate: share of them.
        interval: its 95% interval.
        versions: what played alpha and bravo beyond their names, see ``StudyAgents.versions``.
    """

    value: Any
    position: float
    games: int
    rate: float
    interval: tuple[float, float]
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
    pair: tuple[str, str]
    estimate: float | None
    interval: tuple[float, float] | None
    answer: str
    games: int
    text: str
    levels: tuple[PlayedLevel, ...] = ()
    answer_interval: tuple[str, str] | None = None
    versions: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Answered:
    """A question with its answers.

    Attributes:
        question: the question.
        title: the question in words.
        answers: for every cell and pair.
        summary: whether the pairs of agents agree, in a sentence for each cell or subject.
    """

    question: Question
    title: str
    answers: tuple[Estimate, ...]
    summary: tuple[str, ...]


_Asking: TypeAlias = Generator[Wanted, list[_Games], list[Estimate]]


def answer_questions(
    plan: StudyPlan, source: Source, agents: StudyAgents | None = None, remaining: int = 0
) -> tuple[Answered, ...]:
    """Answer all questions of a study side by side.

    Args:
        plan: the study.
        source: plays the games.
        agents: those of the study; by default they are made by their names.
        remaining: how many games are played after the questions.
    """
    agents = agents or StudyAgents(plan)
    askings = [_ask(plan, question, agents) for question in plan.file.question]
    found = iter(_play_together([asking for each in askings for asking in each], source, remaining))
    return tuple(
        _summarise(
            plan,
            question,
            [
                replace(answer, versions=agents.versions(answer.cell, answer.pair))
                for _ in each
                for answer in next(found)
            ],
        )
        for question, each in zip(plan.file.question, askings, strict=True)
    )


def _play_together(askings: Sequence[_Asking], source: Source, remaining: int) -> list[list[Estimate]]:
    """Run generators round by round; in each, all games that any of them needs are played together."""
    answers: list[list[Estimate]] = [[] for _ in askings]
    sent: dict[int, list[_Games] | None] = dict.fromkeys(range(len(askings)))
    while sent:
        wanted: dict[int, Wanted] = {}
        for number, games in sent.items():
            try:
                wanted[number] = next(askings[number]) if games is None else askings[number].send(games)
            except StopIteration as finished:
                answers[number] = finished.value
        requests = [request for each in wanted.values() for request in each.requests]
        later = remaining + sum(each.remaining for each in wanted.values())
        played = iter(source.play(requests, later) if requests else ())
        sent = {number: [next(played) for _ in each.requests] for number, each in wanted.items()}
    return answers


def expect_games(plan: StudyPlan, question: Question) -> tuple[int, int]:
    """Return about how many games a question needs beside those of the design, and how many at most."""
    places = len(question_cells(plan)) * len(plan.file.agents)
    if isinstance(question, (ThresholdQuestion, FairQuestion)):
        check = question.check if isinstance(question, FairQuestion) else 0
        return places * (min(question.games, USUAL_SEARCH) + check), places * (question.games + check)
    games = places * question.games * (1 + len(question.of)) if isinstance(question, WorthQuestion) else 0
    return games, games


def _ask(plan: StudyPlan, question: Question, agents: StudyAgents) -> list[_Asking]:
    """Return the generators that ask a question: one for each cell and pair, or for each scenario and pair."""
    if isinstance(question, RankingQuestion):
        places = [(number, pair) for number in range(len(plan.scenarios)) for pair in plan.file.agents]
        return [_ask_ranking(plan, question, number, pair) for number, pair in places]
    where = [(cell, pair) for cell in question_cells(plan) for pair in plan.file.agents]
    if isinstance(question, WorthQuestion):
        return [_ask_worth(plan, question, cell, pair) for cell, pair in where]
    ask: Any = _ask_threshold if isinstance(question, ThresholdQuestion) else _ask_fair
    return [ask(plan, question, cell, pair, agents) for cell, pair in where]


def question_cells(plan: StudyPlan) -> tuple[Cell, ...]:
    """Return the cells in which questions are asked: those of a grid, or every scenario as it is."""
    if plan.design.kind == "grid":
        return plan.cells
    return tuple(Cell(number, (), ()) for number in range(len(plan.scenarios)))


# Searches


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
        self, positions: _Floats, rate: float, *, falls: bool | None, budget: int, tolerance: float, block: int
    ) -> None:
        self._positions, self._rate, self._falls = positions, rate, falls
        self._budget, self._tolerance, self._block = budget, tolerance, block
        self.outcomes: dict[int, _Floats] = {}
        """The outcomes at each played level, from 0 to 1 each, in the order of their seeds."""
        self.players: dict[int, Any] = {}
        """What plays at each played level beyond the names of the agents; without an entry, the same as elsewhere."""
        self._estimated: tuple[list[tuple[int, int]], tuple[_Floats, _Floats, _Floats, _Floats]] | None = None

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

    def _estimate(self, axis: _Floats, means: _Floats) -> float:
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

    def _estimates(self) -> tuple[_Floats, _Floats, _Floats, _Floats]:
        """Return places, means, their variances, and the covariances of neighbours; they are computed once for the same games."""
        played = [(level, len(each)) for level, each in self.outcomes.items()]
        if self._estimated is None or self._estimated[0] != played:
            self._estimated = played, self._compute_estimates()
        return self._estimated[1]

    def _compute_estimates(self) -> tuple[_Floats, _Floats, _Floats, _Floats]:
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

    def _axis(self) -> _Floats:
        axis: _Floats = self.turn(self._positions[self._ordered()])
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


def _accepted_shares(excess: _Floats, variances: _Floats, covariance: float, z: float) -> _Floats:
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


def _accepted_jump(excess: _Floats, margins: _Floats) -> _Floats:
    """Return the ends of what the games at two levels do not contradict where the rate jumps between them, as shares."""
    if excess[0] >= -margins[0] and excess[1] <= margins[1]:
        return np.array([0.0, 1.0])
    return np.flatnonzero(np.abs(excess) <= margins).astype(np.float64)


def _search(
    plan: StudyPlan,
    question: ThresholdQuestion | FairQuestion,
    cell: Cell,
    pair: tuple[str, str],
    agents: StudyAgents,
) -> Generator[Wanted, list[_Games], tuple[ThresholdSearch, tuple[Any, ...]]]:
    """Play the search of a question to its end; return it and its levels."""
    _, factor = question.factor
    config, measure = plan.scenarios[cell.scenario].config, _measure_of(question)
    levels = factor.levels(config)
    positions = positions_of(levels)
    steps = np.diff(positions) if len(positions) > 1 else np.ones(1)
    default = 0.5 * float(steps.min()) if _is_discrete(levels) else float(positions[-1] - positions[0]) / 50
    rate, falls = (
        (question.rate, question.find == "largest") if isinstance(question, ThresholdQuestion) else (0.5, None)
    )
    search = ThresholdSearch(
        positions,
        rate,
        falls=falls,
        budget=question.games,
        tolerance=question.tolerance or default,
        block=2 * CHUNK_PAIRS if pair[0] == pair[1] else CHUNK_PAIRS,  # a whole chunk
    )
    while wanted := search.wanted():
        requests = [
            Request(plan.vary(cell, factor.overrides(config, levels[level])), pair, games, plan.file.seed)
            for level, games in wanted.items()
        ]
        played = yield Wanted(requests, search.expected() if search.outcomes else 0)
        for level, request, games in zip(wanted, requests, played, strict=True):
            search.outcomes[level] = measure_games(games, measure)
            search.players[level] = agents.versions(request.cell, pair)
    return search, levels


def _is_discrete(levels: Sequence[Any]) -> bool:
    """Return whether an answer is one of the levels, rather than a place between them."""
    return len(levels) < 3 or not all(isinstance(level, float) for level in levels)


def _search_levels(search: ThresholdSearch, levels: Sequence[Any]) -> tuple[PlayedLevel, ...]:
    """Return what a search looked at."""
    positions, found = positions_of(levels), []
    for number in sorted(search.outcomes):
        outcomes, versions = search.outcomes[number], search.players.get(number, ("", ""))
        rate, interval = float(outcomes.mean()), share_interval(outcomes)
        found.append(PlayedLevel(levels[number], float(positions[number]), len(outcomes), rate, interval, versions))
    return tuple(found)


class _Plateau(NamedTuple):
    """Neighbouring levels at which the rate cannot be told from the one that is asked for.

    Attributes:
        levels: two or more.
        is_flat: whether no two of them can be told apart, either.
    """

    levels: tuple[PlayedLevel, ...]
    is_flat: bool

    def describe(self, subject: str, rate: str) -> str:
        """Return what is known of it, as a clause: "from 1 to 8 the rate is 79.5 to 80.2%, ..."."""
        least, most = (f(level.rate for level in self.levels) for f in (min, max))
        first, *_, last = self.levels
        said = f"from {value_text(first.value)} to {value_text(last.value)} {subject} is {_span_text(least, most)}, nowhere clearly"
        return f"{said} different from {rate}" + (
            ", and no two of these values can be told apart" if self.is_flat else ""
        )


def _find_plateau(search: ThresholdSearch, levels: Sequence[Any], rate: float) -> _Plateau | None:
    """Return the levels beside a crossing that cannot be told from it, where they leave it open; None where they do not.

    It is open where they reach an end of the axis, or cover more than half of it.
    """
    played, place = _search_levels(search, levels), search.turn(search.locate().estimate)
    near = [level.interval[0] <= rate <= level.interval[1] for level in played]
    runs = [
        [level for level, _ in group]
        for key, group in itertools.groupby(zip(played, near, strict=True), lambda x: x[1])
        if key
    ]
    if not runs:
        return None
    positions = positions_of(levels)
    run = min(runs, key=lambda run: max(run[0].position - place, place - run[-1].position, 0.0))
    span = run[-1].position - run[0].position
    is_open = run[0] is played[0] or run[-1] is played[-1] or span > (positions[-1] - positions[0]) / 2
    if len(run) < 2 or not is_open:
        return None
    numbers = sorted(search.outcomes)[played.index(run[0]) : played.index(run[-1]) + 1]
    return _Plateau(tuple(run), not _differ([search.outcomes[number] for number in numbers]))


def _differ(outcomes: Sequence[_Floats]) -> bool:
    """Return whether some of several series of outcomes, in the order of the same seeds, have different means.

    Differences between games that share a seed are tested at 5% for all pairs of series together (Bonferroni).
    """
    z = normal_quantile(1 - 0.05 / math.comb(len(outcomes), 2))
    for one, other in itertools.combinations(outcomes, 2):
        common = min(len(one), len(other))
        each = other[:common] - one[:common]
        # Half a pair of each kind is added, as by Agresti and Min, see ``paired_interval``.
        mean, squares = each.sum() / (common + 2), ((each**2).sum() + 1) / (common + 2)
        if abs(mean) > z * math.sqrt((squares - mean**2) / (common + 2)):
            return True
    return False


def _span_text(low: float, high: float) -> str:
    """Return two rates, or one if they look the same: "49.8 to 50.2%"."""
    first, last = f"{100 * low:.1f}", f"{100 * high:.1f}"
    return f"{last}%" if first == last else f"{first} to {last}%"


def _decimals(low: float, high: float, positions: _Floats) -> int:
    """Return how many decimals of a place the games support: a unit of the last one is less than a fifth of its interval."""
    width = (
        float(np.subtract(*np.clip([high, low], positions[0], positions[-1]))) or float(np.ptp(positions)) / 100 or 1.0
    )
    return min(max(-math.floor(math.log10(width / 5)), 0), 9)


def _ask_threshold(
    plan: StudyPlan, question: ThresholdQuestion, cell: Cell, pair: tuple[str, str], agents: StudyAgents
) -> _Asking:
    name, _ = question.factor
    search, levels = yield from _search(plan, question, cell, pair, agents)
    crossing, positions = search.locate(), search.turn(positions_of(levels))
    ordered = list(levels) if search.falls else list(levels)[::-1]
    places, played = np.sort(positions), _search_levels(search, levels)
    ends = sorted((search.turn(crossing.low), search.turn(crossing.high)))
    decimals = _decimals(ends[0], ends[1], positions_of(levels))

    def reached(place: float) -> str:
        """Return the last level before a place; "none" before the first."""
        number = int(np.searchsorted(places, place + 1e-9, "right")) - 1
        return "none" if number < 0 else value_text(ordered[number])

    def rounded(place: float) -> str:
        return "none" if place == -math.inf else _place_text(search.turn(min(place, places[-1])), decimals, levels)

    answer, *answers = map(reached if _is_discrete(levels) else rounded, crossing)
    least, most = answers if search.falls else answers[::-1]
    rate, number = _rate_text(question.rate), number_in_words(name)
    wins, span = _wins_at_least(question.measure, rate), f"from {value_text(levels[0])} to {value_text(levels[-1])}"
    lowest, highest = (f(played, key=lambda level: level.rate) for f in (min, max))
    interval = f"; 95% interval of the answer: {least} to {most}" if least != most else ""
    if crossing.estimate == -math.inf:
        said = f"{_SUBJECTS[question.measure]} not reach {rate} with any {number} {span}"
        said += f" (highest: {highest.rate:.1%} at {value_text(highest.value)}){interval}"
    elif crossing.estimate == math.inf and lowest.rate >= question.rate:
        said = f"{wins} with every {number} {span}"
        said += f" (lowest: {lowest.rate:.1%} at {value_text(lowest.value)}){interval}"
    else:
        said = f"the {question.find} {number} for which {wins} is {answer} (95% interval {least} to {most})"
        if search.jump is not None:
            said += f"; {_jump_text(search, levels)}"
        elif math.isfinite(crossing.estimate):
            place = f"{search.turn(crossing.estimate):.{decimals}f} ({_end(ends[0], decimals)} to {_end(ends[1], decimals)})"
            said += f"; the rate is {rate} at {place}"
    said += f"; {search.spent:,} games"
    if search.dips:
        side = "smaller" if search.falls else "larger"
        said += f". At some {side} values the rate is lower: {_list_dips(search, levels)}"
    plateau = _find_plateau(search, levels, question.rate)
    if plateau is not None:
        said += f". The games leave the answer open: {plateau.describe('the rate', rate)}"
    estimate = search.turn(crossing.estimate)
    return [
        Estimate(
            in_words(name),
            f"{question.find} value",
            cell,
            pair,
            estimate if math.isfinite(estimate) else None,
            (ends[0], ends[1]),
            answer,
            search.spent,
            f"With {short_pair(pair)}, {said}.",
            played,
            (least, most),
        )
    ]


def _place_text(place: float, decimals: int, levels: Sequence[Any]) -> str:
    """Return a place between levels, rounded, as a value of the factor."""
    return value_text(_value_at(place, decimals, levels))


def _value_at(place: float, decimals: int, levels: Sequence[Any]) -> Any:
    positions = positions_of(levels)
    return with_unit(float(np.clip(round(place, decimals), positions[0], positions[-1])), levels[0])


def _jump_text(search: ThresholdSearch, levels: Sequence[Any]) -> str:
    """Return between which values the rate is crossed because another network takes over."""
    assert search.jump is not None
    sides = [
        f"{float(search.outcomes[level].mean()):.1%} at {value_text(levels[level])} ({join_versions(search.players[level])})"
        for level in search.jump
    ]
    return f"it is crossed where another network takes over, so nothing is interpolated: {' and '.join(sides)}"


_MAX_DIPS = 8
_SUBJECTS = {"alpha wins": "alpha does", "bravo wins": "bravo does", "draws": "draws do"}


def _rate_text(rate: float) -> str:
    return f"{100 * rate:.4g}%"


def _wins_at_least(measure: str, rate: str) -> str:
    return (
        f"at least {rate} of the games are draws" if measure == "draws" else f"{measure} at least {rate} of the games"
    )


def _list_dips(search: ThresholdSearch, levels: Sequence[Any]) -> str:
    """Return the rates at the levels that contradict a single crossing, such as "88.8% at 4 and 88.5% at 5"."""
    found = [f"{float(search.outcomes[n].mean()):.1%} at {value_text(levels[n])}" for n in search.dips]
    if len(found) > _MAX_DIPS:
        return f"{', '.join(found[:_MAX_DIPS])} and at {len(found) - _MAX_DIPS:,} more"
    return " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))


def _end(end: float, decimals: int) -> str:
    return f"{end:.{decimals}f}" if math.isfinite(end) else "beyond"


def _ask_fair(
    plan: StudyPlan, question: FairQuestion, cell: Cell, pair: tuple[str, str], agents: StudyAgents
) -> _Asking:
    name, factor = question.factor
    search, levels = yield from _search(plan, question, cell, pair, agents)
    answer, best = _find_fair(search, levels, name, cell, pair)
    answers = [answer]
    if question.check:
        overrides = factor.overrides(plan.scenarios[cell.scenario].config, best)
        count = _even_games(question.check, pair)
        (games,) = yield Wanted([Request(plan.vary(cell, overrides), pair, count, plan.file.seed + CHECK_SEED)])
        answers.append(_check_fair(measure_games(games, BALANCE), name, best, cell, pair))
    return answers


def _find_fair(
    search: ThresholdSearch, levels: Sequence[Any], name: str, cell: Cell, pair: tuple[str, str]
) -> tuple[Estimate, Any]:
    """Return the answer to which value is fair, and the value that is to be checked."""
    crossing, positions, played = search.locate(), positions_of(levels), _search_levels(search, levels)
    ends = sorted((search.turn(crossing.low), search.turn(crossing.high)))
    decimals, plateau = _decimals(ends[0], ends[1], positions), _find_plateau(search, levels, 0.5)
    nearest = min(plateau.levels if plateau else played, key=lambda level: abs(level.rate - 0.5))
    is_fair = math.isfinite(crossing.estimate) or nearest.interval[0] <= 0.5 <= nearest.interval[1]
    span = f"from {value_text(levels[0])} to {value_text(levels[-1])}"
    games = f"; {search.spent:,} games"

    best, bounds = nearest.value, None
    if not is_fair:
        least, most = (f(level.rate for level in played) for f in (min, max))
        text = f"no value {span} is fair, so {in_words(name)} cannot balance the scenario: alpha wins {_span_text(least, most)},"
        text += f" a draw counting half, and comes closest to one half with {value_text(best)}"
        if len(played) > 1 and not _differ([search.outcomes[number] for number in sorted(search.outcomes)]):
            text += ", but no two of these values can be told apart"
        text += games
    elif plateau is not None:
        bounds = value_text(plateau.levels[0].value), value_text(plateau.levels[-1].value)
        shares = plateau.describe("alpha's share, a draw counting half,", "one half")
        text = f"the games do not tell which {number_in_words(name)} is fairest: {shares}{games}"
        if plateau.is_flat:
            text += f". They show no effect of {in_words(name)} there: it cannot balance the scenario, or it takes more games to see how"
    else:
        best, bounds = (
            _best_value(search, levels, decimals),
            (
                _bound_text(ends[0], decimals, levels),
                _bound_text(ends[1], decimals, levels),
            ),
        )
        bounds = _including(best, bounds, levels)
        subject, is_plural = has_in_words(name, best)
        text = f"{subject} {'make' if is_plural else 'makes'} the scenario fairest (95% interval {bounds[0]} to {bounds[1]})"
        if search.jump is not None:
            text += f"; no value need be fair: one half is no rate between two values, as {_jump_text(search, levels)}"
        elif math.isfinite(crossing.estimate):
            place = f"{search.turn(crossing.estimate):.{decimals}f} ({_end(ends[0], decimals)} to {_end(ends[1], decimals)})"
            text += f"; both sides would win half at {place}"
        text += games
    if search.dips:
        text += f". The share crosses half more than once: it is {_list_dips(search, levels)}"
    estimate = search.turn(crossing.estimate) if math.isfinite(crossing.estimate) else None
    answer = Estimate(
        in_words(name),
        "fair value",
        cell,
        pair,
        estimate,
        (ends[0], ends[1]) if is_fair else None,
        value_text(best) if is_fair else "none",
        search.spent,
        f"With {short_pair(pair)}, {text}.",
        played,
        bounds,
    )
    return answer, best


def _best_value(search: ThresholdSearch, levels: Sequence[Any], decimals: int) -> Any:
    """Return the value with which the share is nearest to one half: a level, or a place between them in digits that the games support."""
    place, positions = search.turn(search.locate().estimate), positions_of(levels)
    numbers = sorted(search.outcomes)
    means = np.interp(positions, positions[numbers], [search.outcomes[number].mean() for number in numbers])
    if math.isfinite(place) and not _is_discrete(levels) and search.jump is None:
        return _value_at(place, decimals, levels)
    after = int(np.searchsorted(positions, np.clip(place, positions[0], positions[-1])))
    beside = search.jump or np.clip([after - 1, after], 0, len(levels) - 1).tolist()
    return levels[min(beside, key=lambda level: (abs(means[level] - 0.5), level))]


def _bound_text(end: float, decimals: int, levels: Sequence[Any]) -> Any:
    """Return the value closest to an end of the interval of a place."""
    positions = positions_of(levels)
    inside = float(np.clip(end, positions[0], positions[-1]))
    if _is_discrete(levels):
        return value_text(levels[int(np.abs(positions - inside).argmin())])
    return _place_text(inside, decimals, levels)


def _including(best: Any, bounds: tuple[str, str], levels: Sequence[Any]) -> tuple[str, str]:
    """Return the ends of an interval, one of them moved where a value lies beyond it."""
    if not _is_discrete(levels):
        return bounds
    texts = list(map(value_text, levels))
    least, number, most = (texts.index(text) for text in (bounds[0], value_text(best), bounds[1]))
    return texts[min(least, number)], texts[max(number, most)]


def _check_fair(values: _Floats, name: str, best: Any, cell: Cell, pair: tuple[str, str]) -> Estimate:
    """Return what new games say about a fair value."""
    mean, (low, high), count = float(values.mean()), share_interval(values), len(values)
    shown, least, most = (f"{share:.1%}" for share in (mean, low, high))
    text = f"In {count:,} new games with {short_pair(pair)} and {value_text(best)}, alpha wins {shown}, a draw counting half (95% interval {100 * low:.1f} to {most}):"
    if low <= 0.5 <= high:
        text += " not distinguishable from one half."
    else:
        text += f" {'more' if low > 0.5 else 'less'} than one half, so this value is not quite fair."
    return Estimate(in_words(name), BALANCE, cell, pair, mean, (low, high), shown, count, text, (), (least, most))


def _even_games(games: int, pair: tuple[str, str]) -> int:
    """Return a number of games, even where an agent plays both sides: there every seed has two."""
    return games + (games % 2 if pair[0] == pair[1] else 0)


# Differences


def _ask_worth(plan: StudyPlan, question: WorthQuestion, cell: Cell, pair: tuple[str, str]) -> _Asking:
    config, seed = plan.config(cell), plan.file.seed
    games = _even_games(question.games, pair)
    changed = [
        plan.vary(cell, {key: resolve_value(config, key, value) for key in expand_keys(keys)})
        for _, keys, value in question.of
    ]
    before, *after = yield Wanted([Request(each, pair, games, seed) for each in (cell, *changed)])
    answers = []
    for (name, _, value), played in zip(question.of, after, strict=True):
        estimate, low, high = compare_games(before, played, question.measure)
        change = change_in_words(name, value)
        shown, *ends = (difference_text(question.measure, each) for each in (estimate, low, high))
        unit = " points" if question.measure in RATES else ""
        text = f"With {short_pair(pair)}, {change}: {_effect_text(question.measure, estimate)} (95% interval {ends[0]} to {ends[1]})"
        if low <= 0 <= high:
            text += ", not distinguishable from no change"
        text += f"; {games:,} games each."
        answers.append(
            Estimate(
                change,
                f"difference in {question.measure}",
                cell,
                pair,
                estimate,
                (low, high),
                shown + unit,
                games,
                text,
                (),
                (ends[0] + unit, ends[1] + unit),
            )
        )
    return answers


_NOUNS = {
    "alpha wins": "the share of games that alpha wins",
    "bravo wins": "the share of games that bravo wins",
    "draws": "the share of draws",
    "alpha score": "alpha's score",
    "bravo score": "bravo's score",
    "margin": "the margin",
    "turns": "the number of turns",
}


_NO_EFFECT = {
    "alpha wins": "alpha wins as often",
    "bravo wins": "bravo wins as often",
    "draws": "as many draws",
    "alpha score": "alpha scores the same",
    "bravo score": "bravo scores the same",
    "margin": "the margin is the same",
    "turns": "games last as long",
}


def _effect_text(measure: str, difference: float) -> str:
    """Return a difference as a sentence: "alpha wins 4.0 percentage points less"."""
    size, more = abs(difference), "more" if difference >= 0 else "less"
    if difference == 0:
        return _NO_EFFECT[measure]
    match measure:
        case "alpha wins" | "bravo wins":
            return f"{measure} {100 * size:.1f} percentage points {more}"
        case "draws":
            return f"{100 * size:.1f} percentage points {more} draws"
        case "alpha score" | "bravo score":
            return f"{measure.partition(' ')[0]} scores {size:.2f} {more}"
        case "turns":
            return f"games last {size:.2f} turns {'longer' if difference >= 0 else 'less'}"
    return f"the margin is {size:.2f} {'larger' if difference >= 0 else 'smaller'}"


def compare_games(before: _Games, after: _Games, measure: str) -> tuple[float, float, float]:
    """Return the mean difference of a measure between games that share seeds, one by one, with its 95% interval."""
    values = measure_games(after, measure) - measure_games(before, measure)
    return paired_interval(values, is_rate=measure in RATES)


def difference_text(measure: str, difference: float) -> str:
    """Return a difference for people; of rates in percentage points."""
    return f"{100 * difference:+z.1f}" if measure in RATES else f"{difference:+z.2f}"


# Rankings


class FactorEffect(NamedTuple):
    """How much a factor matters.

    Attributes:
        name: of the factor.
        effect: Morris' mean absolute elementary effect, or the Sobol' index of total order.
        margin: half the width of its 95% interval, by bootstrap.
        other: the standard deviation of the elementary effects, which tells interactions; or the index of first order.
        other_margin: of the index of first order.
        mean: the mean elementary effect, with its sign; None for Sobol' indices.
    """

    name: str
    effect: float
    margin: float
    other: float
    other_margin: float | None
    mean: float | None


def rank_factors(design: Design, values: _Floats, steps: Sequence[float] | None = None) -> list[FactorEffect]:
    """Rank the factors of a design by what they do to a value, the one that matters most first.

    By the elementary effects of Morris (1991, "Factorial sampling plans for preliminary computational experiments") with
    the mean absolute effect of Campolongo et al. (2007), or by Sobol' indices (Saltelli et al. 2010, "Variance based
    sensitivity analysis of model output").

    Args:
        design: Morris trajectories or Saltelli's points.
        values: (points,), the value at every point.
        steps: of Morris trajectories, the share of its range that a step of each factor covers, if not that of the design:
            effects are changes of the value divided by it, so they are over the whole range.

    Raises:
        MissingPackageError: SALib is not installed.
    """
    with optional_import("study"):
        from SALib.analyze import morris, sobol  # noqa: PLC0415 - an extra
    names, seed = design.names, design.seed % 2**32
    if np.ptp(values) == 0:
        is_morris = design.kind == "morris"
        return [
            FactorEffect(name, 0.0, 0.0, 0.0, None if is_morris else 0.0, 0.0 if is_morris else None) for name in names
        ]
    options = {"num_resamples": RESAMPLES, "conf_level": 0.95, "seed": seed}
    if design.kind == "morris":
        found = morris.analyze(design.problem, design.units, values, num_levels=MORRIS_LEVELS, **options)
        rows = zip(names, found["mu_star"], found["mu_star_conf"], found["sigma"], found["mu"], strict=True)
        scales = [MORRIS_STEP / step for step in steps or [MORRIS_STEP] * len(names)]
        effects = [
            FactorEffect(name, scale * float(a), scale * float(b), scale * float(c), None, scale * float(d))
            for scale, (name, a, b, c, d) in zip(scales, rows, strict=True)
        ]
    else:
        found = sobol.analyze(design.problem, values, calc_second_order=False, **options)
        columns = (found[key] for key in ("ST", "ST_conf", "S1", "S1_conf"))
        rows = zip(names, *columns, strict=True)
        effects = [FactorEffect(name, float(a), float(b), float(c), float(d), None) for name, a, b, c, d in rows]
    return sorted(effects, key=lambda effect: -effect.effect)


def _ask_ranking(plan: StudyPlan, question: RankingQuestion, scenario: int, pair: tuple[str, str]) -> _Asking:
    cells = [cell for cell in plan.cells if cell.scenario == scenario]
    played = yield Wanted([Request(cell, pair, plan.file.games, plan.file.seed) for cell in cells])
    values = [measure_games(games, question.measure) for games in played]
    means = np.array([each.mean() for each in values])
    total, noise = float(means.var()), float(np.mean([each.var() / len(each) for each in values]))
    is_morris, games = plan.design.kind == "morris", sum(map(len, played))
    cell, answers = Cell(scenario, (), ()), []
    scale = 100 if question.measure in RATES and is_morris else 1
    config = plan.scenarios[scenario].config
    steps = [factor.morris_step(config) for factor in plan.file.factors.values()]
    effects = rank_factors(plan.design, means, steps)
    intervals = [(max(effect.effect - effect.margin, 0.0), effect.effect + effect.margin) for effect in effects]
    ranks = possible_ranks([(effect.effect - effect.margin, effect.effect + effect.margin) for effect in effects])
    who = f"{short_pair(pair)}: " if len(plan.file.agents) > 1 else ""
    for rank, (effect, interval) in enumerate(zip(effects, intervals, strict=True), start=1):
        shown, *bounds = (f"{100 * each:.1f}" if scale == 100 else f"{each:.3g}" for each in (effect.effect, *interval))
        shown += f"{' percentage points' if scale == 100 else ''} (95% interval {bounds[0]} to {bounds[1]})"
        statistic = "mean absolute effect" if is_morris else "total-order index"
        text = (
            f"{who}{rank}. {in_words(effect.name)}: {statistic} {'over the whole range ' if is_morris else ''}{shown}"
        )
        rank_ends = str(ranks[rank - 1][0]), str(ranks[rank - 1][1])
        answers.append(
            Estimate(effect.name, statistic, cell, pair, effect.effect, interval, str(rank), games, text, (), rank_ends)
        )
        others = (
            {"mean effect": (effect.mean, None), "spread of effects": (effect.other, None)}
            if is_morris
            else {"first-order index": (effect.other, effect.other_margin)}
        )
        for name, (estimate, margin) in others.items():
            assert estimate is not None
            ends = None if margin is None else (estimate - margin, estimate + margin)
            answers.append(Estimate(effect.name, name, cell, pair, estimate, ends, str(rank), games, "", (), rank_ends))
    runs = _equal_ranks(ranks)
    text = (
        f"With {short_pair(pair)}, these ranks cannot be told apart, as their effects differ by no more than chance: {'; '.join(runs)}."
        if runs
        else f"With {short_pair(pair)}, all ranks can be told apart."
    )
    if scale == 100 and max(high for _, high in intervals) > 1:
        text += (
            " An effect above 100 percentage points is no rate: a step covers a part of a factor's range, and what it changes is"
            " divided by that part; where most of the change lies within the step, that is more than the whole range changes."
        )
    answers.append(Estimate("", "ranks", cell, pair, None, None, "; ".join(runs) or "all differ", games, text))
    if total > 0:
        share = min(noise / total, 1.0)
        text = f"With {short_pair(pair)}, {share:.1%} of the variance between cells is chance, with {plan.file.games:,} games each."
        answers.append(Estimate("", "share of chance", cell, pair, share, None, f"{share:.1%}", games, text))
    return answers


def possible_ranks(intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """Return the first and the last rank that each of several effects may have: it shares those of effects that do not differ from it.

    Differences are tested at 5% for all pairs together (Bonferroni), as those of independent estimates.

    Args:
        intervals: the 95% intervals of the effects, symmetrical, the largest effect first.
    """
    comparisons = max(math.comb(len(intervals), 2), 1)
    values = [((low + high) / 2, low, high) for low, high in intervals]

    def may_be_equal(one: int, other: int) -> bool:
        _, low, high = difference_interval(values[one], values[other], comparisons)
        return low <= 0 <= high

    ranks = range(len(values))
    near = [[other for other in ranks if may_be_equal(one, other)] for one in ranks]
    return [(1 + min(each), 1 + max(each)) for each in near]


def _equal_ranks(ranks: Sequence[tuple[int, int]]) -> list[str]:
    """Return the longest runs of ranks that cannot be told apart, such as "1 to 3"."""
    runs, end = [], 0
    for rank, (_, last) in enumerate(ranks, start=1):
        if last > max(rank, end):
            runs.append(f"{rank} and {last}" if last == rank + 1 else f"{rank} to {last}")
            end = last
    return runs


# Do the pairs of agents agree?


def question_title(question: Question) -> str:
    """Return a question in words."""
    if question.title is not None:
        return question.title
    if isinstance(question, ThresholdQuestion):
        asked = ask_extreme(question.factor[0], question.find)
        return f"{asked} {_wins_at_least(question.measure, _rate_text(question.rate))}?"
    if isinstance(question, FairQuestion):
        return f"Which {number_in_words(question.factor[0])} makes the scenario fair?"
    if isinstance(question, WorthQuestion):
        return f"How much are changes worth ({question.measure})?"
    return f"Which factors matter most ({question.measure})?"


def _summarise(plan: StudyPlan, question: Question, answers: Sequence[Estimate]) -> Answered:
    groups: dict[tuple[Any, ...], list[Estimate]] = {}
    for answer in answers:
        if answer.statistic == BALANCE or answer.text == "" or answer.subject == "":
            continue
        subject = () if isinstance(question, RankingQuestion) else (answer.subject,)
        groups.setdefault((plan.describe(answer.cell), *subject), []).append(answer)
    several = len({key[0] for key in groups}) > 1
    sentences = []
    for key, group in groups.items():
        sentence = _agreement(question, group)
        if sentence:
            sentences.append(f"{key[0]}: {sentence}" if several and key[0] else sentence)
    return Answered(question, question_title(question), tuple(answers), tuple(sentences))


def _agreement(question: Question, answers: Sequence[Estimate]) -> str:
    """Return whether the pairs of agents agree, in a sentence; "" for a single pair."""
    if isinstance(question, RankingQuestion):
        answers = [answer for answer in answers if answer.answer == "1"]
    pairs = len(answers)
    if pairs < 2:
        return ""
    everybody = "both pairs of agents" if pairs == 2 else f"all {pairs} pairs of agents"
    if isinstance(question, RankingQuestion):
        first = {in_words(answer.subject) for answer in answers}
        if len(first) == 1:
            return f"With {everybody}, what matters most is the same: {first.pop()}."
        listed = _list(answers, lambda each: in_words(each.subject))
        if any(answer.answer_interval != ("1", "1") for answer in answers):
            return f"What matters most is not the same factor with {everybody}, but its rank is not certain: {listed}"
        return f"The ranking depends on the agents: what matters most is {listed}"
    if isinstance(question, WorthQuestion):
        signs = {_sign(answer) for answer in answers}
        if len(signs) == 1:
            verb = {1: "raises", -1: "lowers", 0: "does not clearly change"}[signs.pop()]
            return f"With {everybody}, {answers[0].subject} {verb} {_NOUNS[question.measure]}."
        listed = _list(answers, lambda each: f"{_effect_text(question.measure, each.estimate or 0)}")
        if not _answers_differ(answers):
            return f"What {answers[0].subject} does differs between the agents by no more than chance: {listed}"
        return f"What {answers[0].subject} does depends on the agents: {listed}"
    if len({answer.answer for answer in answers}) == 1:
        return f"With {everybody} the answer is the same: {answers[0].answer}."
    listed = _list(answers, lambda each: each.answer)
    if not _answers_differ(answers):
        return f"The pairs of agents differ by no more than chance: {listed}"
    return f"The answer depends on the agents: {listed}"


def _answers_differ(answers: Sequence[Estimate]) -> bool:
    """Return whether some of several estimates differ, by the intervals of their differences (Bonferroni)."""
    comparisons = math.comb(len(answers), 2)
    for first, second in itertools.combinations(answers, 2):
        beyond = _end_beyond(first), _end_beyond(second)
        if any(beyond):  # it has no place among the values: it differs from what has one, with certainty on that side
            if beyond[0] != beyond[1] and (
                all(beyond) or _is_bounded(first, beyond[1]) or _is_bounded(second, beyond[0])
            ):
                return True
            continue
        one, other = _bounded_estimate(first), _bounded_estimate(second)
        if one is None or other is None:
            if (one is None) != (other is None):  # no value is fair for one of them
                return True
            continue
        _, low, high = difference_interval(one, other, comparisons)
        if low > 0 or high < 0:
            return True
    return False


def _end_beyond(answer: Estimate) -> float:
    """Return the end of the values beyond which an answer lies with certainty, as an infinite number; 0 if it does not."""
    low, high = answer.interval or (0.0, 0.0)
    return low if low == high and math.isinf(low) else 0.0


def _is_bounded(answer: Estimate, end: float) -> bool:
    """Return whether an answer lies before an end of the values, an infinite number, with certainty; False for 0."""
    if answer.interval is None or not end:
        return False
    return math.isfinite(answer.interval[1] if end > 0 else answer.interval[0])


def _bounded_estimate(answer: Estimate) -> tuple[float, float, float] | None:
    """Return an estimate with its interval; one beyond the values that were looked at is put at the finite end of it."""
    if answer.interval is None:
        return None
    low, high = answer.interval
    estimate = answer.estimate
    if estimate is None:
        finite = [end for end in (low, high) if math.isfinite(end)]
        estimate = finite[0] if finite else 0.0
    return estimate, min(low, estimate), max(high, estimate)


def _sign(answer: Estimate) -> int:
    low, high = answer.interval or (-math.inf, math.inf)
    return int(low > 0) - int(high < 0)


def _list(answers: Sequence[Estimate], say: Any) -> str:
    return "; ".join(f"{say(answer)} with {short_pair(answer.pair)}" for answer in answers) + "."


def answer_rows(plan: StudyPlan, answered: Sequence[Answered], stamp: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for every answer, by the names of columns."""
    rows = []
    for where, each, answer in _places(plan, answered):
        low, high = answer.interval or (None, None)
        answer_low, answer_high = answer.answer_interval or (None, None)
        rows.append(
            {
                **where,
                "statistic": answer.statistic,
                "measure": _measure_of(each.question),
                "rate": each.question.rate if isinstance(each.question, ThresholdQuestion) else None,
                "answer": answer.answer,
                "answer_low": answer_low,
                "answer_high": answer_high,
                "estimate": answer.estimate,
                "low": _bounded(low),
                "high": _bounded(high),
                "games": answer.games,
                "text": answer.text,
                **stamp,
            }
        )
    return rows


def level_rows(plan: StudyPlan, answered: Sequence[Answered], stamp: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for every value that a search played, by the names of columns."""
    rows = []
    for where, each, answer in _places(plan, answered):
        for level in answer.levels:
            low, high = level.interval
            shown = {"value": level.value, "games": level.games, "rate": level.rate, "low": low, "high": high}
            versions = version_columns(level.versions)
            rows.append({**where, **versions, "measure": _measure_of(each.question), **shown, **stamp})
    for row, value in zip(rows, column_values([row["value"] for row in rows]), strict=True):
        row["value"] = value
    return rows


def _places(
    plan: StudyPlan, answered: Sequence[Answered]
) -> Generator[tuple[dict[str, Any], Answered, Estimate], None, None]:
    """Yield every answer with its question and the columns that say what it is about."""
    typed = {}
    for index, name in enumerate(plan.file.factors):
        values = [cell.values[index] for cell in plan.cells]
        typed[name] = dict(zip(map(value_text, values), column_values(values), strict=True))
    for number, each in enumerate(answered, start=1):
        for answer in each.answers:
            texts = dict(zip(typed, map(value_text, answer.cell.values), strict=False))
            scenario = plan.scenarios[answer.cell.scenario]
            where = {
                "question": number,
                "kind": each.question.kind,
                "title": each.title,
                "scenario": scenario.name,
                "config": scenario.source,
                "overrides": plan.overrides(answer.cell),
                **{name: column.get(texts.get(name, "")) for name, column in typed.items()},
                "alpha": answer.pair[0],
                "bravo": answer.pair[1],
                **version_columns(answer.versions),
                "subject": answer.subject,
            }
            yield where, each, answer


def _measure_of(question: Question) -> str:
    return BALANCE if isinstance(question, FairQuestion) else question.measure


def _bounded(end: float | None) -> float | None:
    return end if end is not None and math.isfinite(end) else None
