"""Questions of a study and their answers: thresholds, fair scenarios, what changes are worth, which factors matter.

A kind of question is a class, which ``QUESTIONS`` names. It is asked by a generator: it yields the games that it needs next and is
sent them, until it returns its answers. ``answer_questions`` plays what all questions need side by side. What is played depends on
finished games alone, never on the order in which they finish, so a study gives the same answers on any executor, and when it is
resumed.
"""

import itertools
import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from geo_patrol.base.errors import ConfigError, optional_import
from geo_patrol.config.presets import load_config, resolve_value
from geo_patrol.config.schema import GameConfig, wrong, wrong_key
from geo_patrol.config.toml_files import is_range_table, parse_overrides, value_text
from geo_patrol.evaluation.chunks import CHUNK_PAIRS
from geo_patrol.evaluation.statistics import Rate, difference_interval, share_interval
from geo_patrol.studies.answers import (
    BALANCE,
    WORDS,
    Asking,
    Estimate,
    Measure,
    RateMeasure,
    Request,
    Source,
    StudyGames,
    Wanted,
    compare_games,
    difference_text,
    is_rate,
    measure_games,
)
from geo_patrol.studies.charts import draw_effects, draw_searches
from geo_patrol.studies.factors import (
    MORRIS_LEVELS,
    MORRIS_STEP,
    NamedFactor,
    ask_extreme,
    change_in_words,
    expand_keys,
    has_in_words,
    in_words,
    number_in_words,
    positions_of,
    refuse_unquoted,
    with_article,
)
from geo_patrol.studies.plan import (
    MAX_FACTORS,
    MAX_GAMES,
    RANKING_DESIGNS,
    Compared,
    Design,
    Place,
    Question,
    StudyPlan,
)
from geo_patrol.studies.search import Finding, Plateau, ThresholdSearch, differ, is_discrete, span_text
from geo_patrol.studies.study_agents import StudyAgents

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHECK_SEED = 1
"""Added to the seed for the games that check an answer."""
USUAL_SEARCH = 4_000
"""Games of a search, roughly: for estimates of the time."""
RESAMPLES = 1_000
"""Of the bootstrap intervals of a ranking."""


# Searches


class SearchQuestion(Question):
    """A question that a search over the values of a factor answers."""

    agreement: ClassVar = "With {everybody} the answer is the same: {agreed}."
    chance: ClassVar = "The pairs of agents differ by no more than chance: {listed}."
    difference: ClassVar = "The answer depends on the agents: {listed}."

    factor: NamedFactor
    games: int = Field(default=20_000, ge=1_000, le=MAX_GAMES)
    """At most, for each pair of agents and cell."""
    tolerance: float | None = Field(default=None, gt=0)
    """The search ends when its interval is not wider, in units of the factor."""

    @property
    def sought(self) -> float:
        """The rate that is searched for."""
        return 0.5

    @property
    def expected(self) -> tuple[int, int]:
        """A search ends before its games are spent, as a rule."""
        return min(self.games, USUAL_SEARCH), self.games

    def check_plan(self, plan: StudyPlan) -> None:
        """Build the configurations at both ends of the values."""
        name, factor = self.factor
        if name in plan.file.factors:
            raise ConfigError(f"{name} is a factor of the study and what a question searches: choose one")
        for scenario in plan.scenarios:
            levels = factor.levels(scenario.config)
            for level in (levels[0], levels[-1]):
                load_config(scenario.config, factor.overrides(scenario.config, level))

    def compared(self, answer: Estimate) -> Compared | None:
        """Compare the answers of searches, not those of new games that check them."""
        is_check = answer.statistic == BALANCE
        return None if is_check else Compared(answer.subject, answer.answer, answer.answer)

    def draw(self, plan: StudyPlan, answers: Sequence[Estimate], width: float) -> "tuple[Figure, str]":
        """Draw the rates at the values that were looked at."""
        label = in_words(self.factor[0])
        return draw_searches(plan, answers, self.sought, (label, WORDS[self.measured].noun), width)

    def search(self, place: Place, *, falls: bool | None = None) -> Generator[Wanted, list[StudyGames], Finding]:
        """Play the search in a place to its end.

        Args:
            place: the place.
            falls: whether the rate is taken to fall over the values; by default both ends have to tell.
        """
        _, factor = self.factor
        levels = factor.levels(place.config)
        positions = positions_of(levels)
        steps = np.diff(positions) if len(positions) > 1 else np.ones(1)
        default = 0.5 * float(steps.min()) if is_discrete(levels) else float(positions[-1] - positions[0]) / 50
        search = ThresholdSearch(
            positions,
            self.sought,
            falls=falls,
            budget=self.games,
            tolerance=self.tolerance or default,
            block=2 * CHUNK_PAIRS if place.pair[0] == place.pair[1] else CHUNK_PAIRS,  # a whole chunk
        )
        while wanted := search.wanted():
            requests = [
                place.request(games, factor.overrides(place.config, levels[level])) for level, games in wanted.items()
            ]
            played = yield Wanted(requests, search.expected() if search.outcomes else 0)
            for level, request, games in zip(wanted, requests, played, strict=True):
                search.outcomes[level] = measure_games(games, self.measured)
                search.players[level] = place.versions(request.cell)
        return Finding(search, levels, self.sought)


class ThresholdQuestion(SearchQuestion):
    """The largest or smallest value of a factor for which a rate is reached."""

    kind: Literal["threshold"] = "threshold"
    find: Literal["largest", "smallest"] = "largest"
    measure: RateMeasure = "alpha wins"
    rate: float = Field(gt=0, lt=1)

    @property
    def default_title(self) -> str:
        """The question, such as "How many Patrols may bravo have so that alpha wins at least 80% of the games?"."""
        return f"{ask_extreme(self.factor[0], self.find)} {self._reached}?"

    @property
    def sought(self) -> float:
        """The rate that has to be reached."""
        return self.rate

    @property
    def _rate_text(self) -> str:
        return f"{100 * self.rate:.4g}%"

    @property
    def _reached(self) -> str:
        return WORDS[self.measure].reached.format(rate=self._rate_text)

    def ask(self, place: Place) -> Asking:
        """Find the last value at which the rate is reached."""
        found = yield from self.search(place, falls=self.find == "largest")
        answer, *bounds = map(found.last_value, found.crossing)
        least, most = bounds if found.search.falls else bounds[::-1]
        text = f"With {place.who}, {self._say(found, answer, least, most)}; {found.search.spent:,} games"
        if found.search.dips:
            text += (
                f". At some {'smaller' if found.search.falls else 'larger'} values the rate is lower: {found.dips_text}"
            )
        if found.plateau is not None:
            text += f". The games leave the answer open: {found.plateau.describe('the rate', self._rate_text)}"
        return [
            place.answer(
                in_words(self.factor[0]),
                f"{self.find} value",
                estimate=found.estimate,
                interval=found.ends,
                answer=answer,
                games=found.search.spent,
                text=f"{text}.",
                levels=found.played,
                answer_interval=(least, most),
            )
        ]

    def _say(self, found: Finding, answer: str, least: str, most: str) -> str:
        """Return the answer as a clause."""
        number = number_in_words(self.factor[0])
        lowest, highest = (f(found.played, key=lambda level: level.rate.value) for f in (min, max))
        interval = f"; 95% interval of the answer: {least} to {most}" if least != most else ""
        if found.crossing.estimate == -math.inf:
            shown = f"{highest.rate.value:.1%} at {value_text(highest.value)}"
            missed = WORDS[self.measure].missed.format(rate=self._rate_text)
            return f"{missed} with any {number} {found.span} (highest: {shown}){interval}"
        if found.crossing.estimate == math.inf and lowest.rate.value >= self.rate:
            shown = f"{lowest.rate.value:.1%} at {value_text(lowest.value)}"
            return f"{self._reached} with every {number} {found.span} (lowest: {shown}){interval}"
        said = f"the {self.find} {number} for which {self._reached} is {answer} (95% interval {least} to {most})"
        if found.search.jump is not None:
            return f"{said}; {found.jump_text}"
        return said if found.estimate is None else f"{said}; the rate is {self._rate_text} at {found.place_text}"


class FairQuestion(SearchQuestion):
    """The value of a factor for which both sides win half, a draw counting half; checked by new games."""

    kind: Literal["fair"] = "fair"
    check: int = Field(default=10_000, ge=0, le=MAX_GAMES)
    """New games, with another seed, that check the answer."""

    @property
    def default_title(self) -> str:
        """The question, such as "Which number of bravo's Patrols makes the scenario fair?"."""
        return f"Which {number_in_words(self.factor[0])} makes the scenario fair?"

    @property
    def expected(self) -> tuple[int, int]:
        """Those of the search, and those that check its answer."""
        expected, most = super().expected
        return expected + self.check, most + self.check

    def ask(self, place: Place) -> Asking:
        """Find the fairest value, and check it by new games."""
        name, factor = self.factor
        found = yield from self.search(place)
        nearest = min(
            found.plateau.levels if found.plateau else found.played, key=lambda level: abs(level.rate.value - 0.5)
        )
        best, bounds = nearest.value, None
        is_fair = found.estimate is not None or nearest.rate.low <= 0.5 <= nearest.rate.high
        if not is_fair:
            said = self._say_none(found, best)
        elif found.plateau is not None:
            bounds = value_text(found.plateau.levels[0].value), value_text(found.plateau.levels[-1].value)
            said = self._say_open(found, found.plateau)
        else:
            best = found.fairest()
            bounds = found.bounds_around(best)
            said = self._say_fairest(found, best, bounds)
        if found.search.dips:
            said += f". The share crosses half more than once: it is {found.dips_text}"
        answer = place.answer(
            in_words(name),
            "fair value",
            estimate=found.estimate,
            interval=found.ends if is_fair else None,
            answer=value_text(best) if is_fair else "none",
            games=found.search.spent,
            text=f"With {place.who}, {said}.",
            levels=found.played,
            answer_interval=bounds,
        )
        if not self.check:
            return [answer]
        (games,) = yield Wanted([place.request(self.check, factor.overrides(place.config, best), seed=CHECK_SEED)])
        return [answer, self._check_answer(place, games, best)]

    def _say_none(self, found: Finding, closest: Any) -> str:
        series = [found.search.outcomes[number] for number in sorted(found.search.outcomes)]
        alike = ", but no two of these values can be told apart" if len(series) > 1 and not differ(series) else ""
        return (
            f"no value {found.span} is fair, so {with_article(self.factor[0])} cannot balance the scenario: alpha wins"
            f" {span_text(found.played)}, a draw counting half, and comes closest to one half with {value_text(closest)}{alike};"
            f" {found.search.spent:,} games"
        )

    def _say_open(self, found: Finding, plateau: Plateau) -> str:
        name, _ = self.factor
        shares = plateau.describe("alpha's share, a draw counting half,", "one half")
        flat = (
            f". They show no effect of {with_article(name)} there: it cannot balance the scenario, or it takes more games to see how"
            if plateau.is_flat
            else ""
        )
        return f"the games do not tell which {number_in_words(name)} is fairest: {shares}; {found.search.spent:,} games{flat}"

    def _say_fairest(self, found: Finding, best: Any, bounds: tuple[str, str]) -> str:
        subject, is_plural = has_in_words(self.factor[0], best)
        make = "make" if is_plural else "makes"
        if found.search.jump is not None:
            where = f"; no value need be fair: one half is no rate between two values, as {found.jump_text}"
        else:
            where = "" if found.estimate is None else f"; both sides would win half at {found.place_text}"
        return (
            f"{subject} {make} the scenario fairest (95% interval {bounds[0]} to {bounds[1]}){where};"
            f" {found.search.spent:,} games"
        )

    def _check_answer(self, place: Place, games: StudyGames, best: Any) -> Estimate:
        """Return what new games say about a fair value."""
        values = measure_games(games, BALANCE)
        mean, low, high = share_interval(values)
        shown, least, most = (f"{share:.1%}" for share in (mean, low, high))
        if low <= 0.5 <= high:
            verdict = "not distinguishable from one half"
        else:
            verdict = f"{'more' if low > 0.5 else 'less'} than one half, so this value is not quite fair"
        text = (
            f"In {len(values):,} new games with {place.who} and {value_text(best)}, alpha wins {shown}, a draw counting half"
            f" (95% interval {100 * low:.1f} to {most}): {verdict}."
        )
        return place.answer(
            in_words(self.factor[0]),
            BALANCE,
            estimate=mean,
            interval=(low, high),
            answer=shown,
            games=len(values),
            text=text,
            answer_interval=(least, most),
        )


# What changes are worth


class Change(NamedTuple):
    """A change of a question what changes are worth: its name, the keys that it changes, and their new value."""

    name: str
    keys: tuple[str, ...]
    value: Any


def _read_changes(value: Any) -> Any:
    if isinstance(value, Mapping):
        changes = [_read_change(name, spec) for name, spec in value.items()]
    elif isinstance(value, (list, tuple)):
        changes = [each for item in value for each in _listed_changes(item)]
    else:
        raise wrong('new values by key, such as { "bravo.patrols.ammo" = "+1" }, or a list of texts "key=value"')
    for number, change in enumerate(changes):
        if any(change[0] == other[0] and change[2] == other[2] for other in changes[:number]):
            raise wrong(f"different changes; {change[0]} = {value_text(change[2])} is there twice")
    return tuple(changes)


def _read_change(name: Any, spec: Any) -> Change:
    """Return a change of a table."""
    if isinstance(spec, Mapping) and set(spec) == {"keys", "by"} and isinstance(spec["keys"], (list, tuple)):
        return Change(name, tuple(spec["keys"]), spec["by"])
    refuse_unquoted(name, spec, str(name))
    if isinstance(spec, Mapping) and not is_range_table(spec):
        raise wrong_key(str(name), spec, 'a new value such as "+1", or { keys = [..], by = .. }')
    return Change(name, (name,), spec)


def _listed_changes(item: Any) -> Iterator[Change]:
    """Yield the change of a text, or of a saved study."""
    if not isinstance(item, str):
        yield item
        return
    try:
        for key, value in parse_overrides([item]):
            yield Change(key, (key,), value)
    except ConfigError as error:
        raise wrong(f"a list of changes; {error}") from None


class WorthQuestion(Question):
    """How much changes are worth, each for itself: differences between games that share seeds."""

    agreement: ClassVar = "With {everybody}, {subject} {agreed}."
    chance: ClassVar = "What {subject} does differs between the agents by no more than chance: {listed}."
    difference: ClassVar = "What {subject} does depends on the agents: {listed}."

    kind: Literal["worth"] = "worth"
    of: Annotated[tuple[Change, ...], BeforeValidator(_read_changes), Field(min_length=1, max_length=MAX_FACTORS)]
    """New values by key, such as "+1", or tables with ``keys`` and ``by``, by name; or texts ``key=value``, whose keys may repeat."""
    measure: Measure = "alpha wins"
    games: int = Field(default=2_000, ge=2, le=MAX_GAMES)

    @property
    def default_title(self) -> str:
        """The question with its measure."""
        return f"How much are changes worth ({self.measure})?"

    @property
    def expected(self) -> tuple[int, int]:
        """The games without the changes, and as many with each of them."""
        games = self.games * (1 + len(self.of))
        return games, games

    def check_plan(self, plan: StudyPlan) -> None:
        """Build the configurations with every change."""
        for scenario, change in itertools.product(plan.scenarios, self.of):
            load_config(scenario.config, _changed(scenario.config, change))

    def ask(self, place: Place) -> Asking:
        """Compare games with each change with those without, seed by seed."""
        config = place.plan.config(place.cell)
        requests = [place.request(self.games, _changed(config, change)) for change in self.of]
        before, *after = yield Wanted([place.request(self.games), *requests])
        return [self._answer(place, change, before, games) for change, games in zip(self.of, after, strict=True)]

    def _answer(self, place: Place, change: Change, before: StudyGames, after: StudyGames) -> Estimate:
        """Return what a change is worth, from games without and with it."""
        estimate, low, high = compare_games(before, after, self.measure)
        subject = change_in_words(change.name, change.value)
        shown, least, most = (difference_text(self.measure, each) for each in (estimate, low, high))
        unit = " points" if is_rate(self.measure) else ""
        verdict = ", not distinguishable from no change" if low <= 0 <= high else ""
        text = (
            f"With {place.who}, {subject}: {WORDS[self.measure].difference(estimate)} (95% interval {least} to {most}){verdict};"
            f" {len(after):,} games each."
        )
        return place.answer(
            subject,
            f"difference in {self.measure}",
            estimate=estimate,
            interval=(low, high),
            answer=shown + unit,
            games=len(after),
            text=text,
            answer_interval=(least + unit, most + unit),
        )

    def compared(self, answer: Estimate) -> Compared | None:
        """Compare which way each change goes, if that is clear."""
        low, high = answer.interval or (-math.inf, math.inf)
        verb = "raises" if low > 0 else "lowers" if high < 0 else "does not clearly change"
        words = WORDS[self.measure]
        return Compared(answer.subject, f"{verb} {words.share}", words.difference(answer.estimate or 0))

    def draw(self, plan: StudyPlan, answers: Sequence[Estimate], width: float) -> "tuple[Figure, str]":
        """Draw the difference that every change makes."""
        words = WORDS[self.measure]
        names = [", ".join(filter(None, (plan.describe(answer.cell), answer.subject))) for answer in answers]
        figure = draw_effects(
            plan,
            {"": list(zip(names, answers, strict=True))},
            f"change of {words.noun}, {words.unit}",
            100 if is_rate(self.measure) else 1,
            width,
        )
        return figure, "Differences between games that share their seeds, one by one, with 95% intervals."


def _changed(config: GameConfig, change: Change) -> dict[str, Any]:
    return {key: resolve_value(config, key, change.value) for key in expand_keys(change.keys)}


# Rankings


class RankingMethod(NamedTuple):
    """How a design ranks factors.

    Attributes:
        statistic: what ranks them.
        shown: a template of it, with ``effect``.
        label: of a figure's axis: a template of the ``noun`` and the ``unit`` of a measure.
        caption: of a figure.
        is_change: whether it has the unit of the measure.
    """

    statistic: str
    shown: str
    label: str
    caption: str
    is_change: bool


_METHODS = {
    "morris": RankingMethod(
        "mean absolute effect",
        "mean absolute effect over the whole range {effect}",
        "mean change of {noun}, {unit}",
        "The mean change, up or down, when one factor alone moves, scaled to its whole range (Morris' mean absolute elementary"
        " effect), with 95% intervals.",
        is_change=True,
    ),
    "saltelli": RankingMethod(
        "total-order index",
        "total-order index {effect}",
        "share of the variance of {noun} (total-order index)",
        "The share of the variance that goes away if the factor is fixed (Sobol' index of total order), with 95% intervals.",
        is_change=False,
    ),
}


class RankingQuestion(Question):
    """Which factors matter most: Morris' elementary effects, or Sobol' indices, by the study's design."""

    designs: ClassVar = RANKING_DESIGNS
    agreement: ClassVar = "With {everybody}, what matters most is the same: {agreed}."
    chance: ClassVar = (
        "What matters most is not the same factor with {everybody}, but its rank is not certain: {listed}."
    )
    difference: ClassVar = "The ranking depends on the agents: what matters most is {listed}."

    kind: Literal["ranking"] = "ranking"
    measure: Measure = "alpha wins"

    @property
    def default_title(self) -> str:
        """The question with its measure."""
        return f"Which factors matter most ({self.measure})?"

    def ask(self, place: Place) -> Asking:
        """Rank the factors by the games of the design."""
        plan, method = place.plan, _METHODS[place.plan.design.kind]
        cells = [cell for cell in plan.cells if cell.scenario == place.cell.scenario]
        played = yield Wanted([Request(cell, place.pair, plan.file.games, plan.file.seed) for cell in cells])
        values = [measure_games(games, self.measure) for games in played]
        games, means = sum(map(len, played)), np.array([each.mean() for each in values])
        steps = [factor.morris_step(place.config) for factor in plan.file.factors.values()]
        effects = rank_factors(plan.design, means, steps)
        ranks = possible_ranks([(effect.effect - effect.margin, effect.effect + effect.margin) for effect in effects])
        answers = [
            answer
            for rank, (effect, ends) in enumerate(zip(effects, ranks, strict=True), start=1)
            for answer in self._rank_answers(place, method, effect, rank, ends, games)
        ]
        runs = _equal_ranks(ranks)
        text = (
            f"With {place.who}, these ranks cannot be told apart, as their effects differ by no more than chance: {'; '.join(runs)}."
            if runs
            else f"With {place.who}, all ranks can be told apart."
        )
        if self._is_percentage(method) and max(effect.effect + effect.margin for effect in effects) > 1:
            text += _BEYOND_A_RATE
        summary = {"interval": None, "games": games}
        answers.append(
            place.answer("", "ranks", estimate=None, answer="; ".join(runs) or "all differ", text=text, **summary)
        )
        total, noise = float(means.var()), float(np.mean([each.var() / len(each) for each in values]))
        if total > 0:
            share = min(noise / total, 1.0)
            text = f"With {place.who}, {share:.1%} of the variance between cells is chance, with {plan.file.games:,} games each."
            answers.append(
                place.answer("", "share of chance", estimate=share, answer=f"{share:.1%}", text=text, **summary)
            )
        return answers

    def _is_percentage(self, method: RankingMethod) -> bool:
        return method.is_change and is_rate(self.measure)

    def _rank_answers(
        self,
        place: Place,
        method: RankingMethod,
        effect: "FactorEffect",
        rank: int,
        ranks: tuple[int, int],
        games: int,
    ) -> Iterator[Estimate]:
        """Yield what a factor's effect is, and what else is known of it."""
        interval = max(effect.effect - effect.margin, 0.0), effect.effect + effect.margin
        numbers = effect.effect, *interval
        if self._is_percentage(method):
            mean, low, high = (f"{100 * each:.1f}" for each in numbers)
            mean += " percentage points"
        else:
            mean, low, high = (f"{each:.3g}" for each in numbers)
        who = f"{place.who}: " if len(place.plan.file.agents) > 1 else ""
        shown = method.shown.format(effect=f"{mean} (95% interval {low} to {high})")
        text = f"{who}{rank}. {in_words(effect.name)}: {shown}"
        common = {"answer": str(rank), "games": games, "answer_interval": (str(ranks[0]), str(ranks[1]))}
        yield place.answer(
            effect.name, method.statistic, estimate=effect.effect, interval=interval, text=text, **common
        )
        for statistic, (estimate, margin) in effect.others.items():
            ends = None if margin is None else (estimate - margin, estimate + margin)
            yield place.answer(effect.name, statistic, estimate=estimate, interval=ends, text="", **common)

    def compared(self, answer: Estimate) -> Compared | None:
        """Compare the factors that matter most."""
        factor = with_article(answer.subject)
        return Compared("", factor, factor) if answer.answer == "1" and answer.text else None

    def differ(self, answers: Sequence[Estimate]) -> bool:
        """Return whether each of the factors certainly is the first."""
        return all(answer.answer_interval == ("1", "1") for answer in answers)

    def draw(self, plan: StudyPlan, answers: Sequence[Estimate], width: float) -> "tuple[Figure, str]":
        """Draw the effects of all factors, those of each scenario in a panel."""
        method, words = _METHODS[plan.design.kind], WORDS[self.measure]
        shown = sorted(
            (answer for answer in answers if answer.statistic == method.statistic),
            key=lambda answer: -(answer.estimate or 0),
        )
        panels = {
            scenario.name: [(in_words(answer.subject), answer) for answer in shown if answer.cell.scenario == number]
            for number, scenario in enumerate(plan.scenarios)
        }
        label = method.label.format(noun=words.noun, unit=words.unit)
        scale = 100 if self._is_percentage(method) else 1
        return draw_effects(plan, panels, label, scale, width, from_zero=True), method.caption


_BEYOND_A_RATE = (
    " An effect above 100 percentage points is no rate: a step covers a part of a factor's range, and what it changes is"
    " divided by that part; where most of the change lies within the step, that is more than the whole range changes."
)


class FactorEffect(NamedTuple):
    """How much a factor matters.

    Attributes:
        name: of the factor.
        effect: Morris' mean absolute elementary effect, or the Sobol' index of total order.
        margin: half the width of its 95% interval, by bootstrap.
        others: what else is estimated, by its name, with half the width of its interval if there is one: the mean elementary
            effect, with its sign, and the standard deviation of the effects, which tells interactions; or the index of
            first order.
    """

    name: str
    effect: float
    margin: float
    others: Mapping[str, tuple[float, float | None]]


def rank_factors(
    design: Design, values: NDArray[np.float64], steps: Sequence[float] | None = None
) -> list[FactorEffect]:
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
    is_morris, names = design.kind == "morris", design.names
    options = {"num_resamples": RESAMPLES, "conf_level": 0.95, "seed": design.seed % 2**32}
    effects = []
    if is_morris:
        found = morris.analyze(design.problem, design.units, values, num_levels=MORRIS_LEVELS, **options)
        for k, name in enumerate(names):
            scale = 1.0 if steps is None else MORRIS_STEP / steps[k]
            effect, margin, mean, spread = (
                scale * float(found[key][k]) for key in ("mu_star", "mu_star_conf", "mu", "sigma")
            )
            others = {"mean effect": (mean, None), "spread of effects": (spread, None)}
            effects.append(FactorEffect(name, effect, margin, others))
    else:
        keys = ("ST", "ST_conf", "S1", "S1_conf")
        if np.ptp(values) == 0:  # shares of no variance are no numbers
            found = dict.fromkeys(keys, np.zeros(len(names)))
        else:
            found = sobol.analyze(design.problem, values, calc_second_order=False, **options)
        for k, name in enumerate(names):
            effect, margin, first, first_margin = (float(found[key][k]) for key in keys)
            effects.append(FactorEffect(name, effect, margin, {"first-order index": (first, first_margin)}))
    return sorted(effects, key=lambda effect: -effect.effect)


def possible_ranks(intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """Return the first and the last rank that each of several effects may have: it shares those of effects that do not differ from it.

    Differences are tested at 5% for all pairs together (Bonferroni), as those of independent estimates.

    Args:
        intervals: the 95% intervals of the effects, symmetrical, the largest effect first.
    """
    comparisons = max(math.comb(len(intervals), 2), 1)
    values = [Rate((low + high) / 2, low, high) for low, high in intervals]

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


QUESTIONS: dict[str, type[Question]] = {
    kind.model_fields["kind"].default: kind
    for kind in (ThresholdQuestion, FairQuestion, WorthQuestion, RankingQuestion)
}
"""The kinds of questions."""


# Asking


@dataclass(frozen=True)
class Answered:
    """A question with its answers.

    Attributes:
        question: the question.
        answers: for every cell and pair.
        summary: whether the pairs of agents agree, in a sentence for each cell or subject.
    """

    question: Question
    answers: tuple[Estimate, ...]
    summary: tuple[str, ...]

    @property
    def title(self) -> str:
        """The question in words."""
        return self.question.heading


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
    places = [
        Place(plan, cell, pair, partial(agents.versions, pair=pair))
        for cell in plan.asked_cells
        for pair in plan.file.agents
    ]
    askings = [question.ask(place) for question in plan.file.question for place in places]
    found = iter(_play_together(askings, source, remaining))
    answered = []
    for question in plan.file.question:
        answers = tuple(answer for _ in places for answer in next(found))
        answered.append(Answered(question, answers, tuple(question.summarise(plan, answers))))
    return tuple(answered)


def _play_together(askings: Sequence[Asking], source: Source, remaining: int) -> list[list[Estimate]]:
    """Run generators round by round; in each, all games that any of them needs are played together."""
    answers: list[list[Estimate]] = [[] for _ in askings]
    sent: dict[int, list[StudyGames] | None] = dict.fromkeys(range(len(askings)))
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
