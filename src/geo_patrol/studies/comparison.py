"""How two studies differ: in what they were asked to play, and in their results, cell by cell."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import ConfigError, show
from geo_patrol.base.versions import __version__
from geo_patrol.config.presets import current_value
from geo_patrol.config.toml_files import flatten, is_relative, value_text
from geo_patrol.evaluation.statistics import Rate, difference_interval, student_quantile, wilson_interval
from geo_patrol.studies.answers import MEASURES, Cell, Pair, StudyGames, compare_games, is_rate, measure_games
from geo_patrol.studies.factors import expand_keys
from geo_patrol.studies.plan import StudyPlan
from geo_patrol.studies.study import Study


def compare_studies(first: Study, second: Study, measures: Sequence[str] = MEASURES) -> list[dict[str, Any]]:
    """Return the differences of two studies, the second less the first, by the names of columns.

    Cells are aligned by scenario and values of the factors, pairs of agents by name. Scenarios, or pairs, of which no name
    occurs in both studies are aligned by their places in the files. Where the seeds are the same, and the same agent plays both
    sides in both studies or in none, differences are paired game by game: both means are of the games that both have. Otherwise
    they are of all games.

    Raises:
        ConfigError: the studies vary different factors, or have no cell in common.
    """
    aligned = _Alignment(first.plan, second.plan)
    if not aligned.cells or not aligned.pairs:
        raise ConfigError(f"the two studies have no cell in common: {aligned.what_does_not_fit()}")
    rows = []
    for number, other in aligned.cells:
        cell = first.plan.cells[number]
        values = dict(zip(first.plan.file.factors, cell.values, strict=True))
        for index, other_index in aligned.pairs.items():
            (alpha, bravo), (other_alpha, other_bravo) = aligned.agents(index)
            is_same_way = (alpha == bravo) == (other_alpha == other_bravo)
            is_paired = first.plan.file.seed == second.plan.file.seed and is_same_way
            games = first.games[number, index], second.games[other, other_index]
            rows += [
                {
                    "scenario": first.plan.scenarios[cell.scenario].name,
                    **values,
                    "alpha": alpha,
                    "bravo": bravo,
                    "other_alpha": other_alpha,
                    "other_bravo": other_bravo,
                    "measure": measure,
                    **_compare(*games, measure, is_paired=is_paired),
                    "paired": is_paired,
                    "first_study": first.digest,
                    "second_study": second.digest,
                    "geo_patrol": __version__,
                }
                for measure in measures
            ]
    return rows


def compare_settings(first: Study, second: Study) -> list[str]:
    """Return in what two studies that are compared differ, beside what they vary, as lines such as "bravo.patrols.ammo: 1 → 2".

    Raises:
        ConfigError: the studies vary different factors.
    """
    aligned = _Alignment(first.plan, second.plan)
    files = first.plan.file, second.plan.file
    lines = []
    for name in ("seed", "games"):
        before, after = (getattr(file, name) for file in files)
        lines += [f"{name}: {before} → {after}"] if before != after else []
    for index in aligned.pairs:
        before, after = (" / ".join(pair) for pair in aligned.agents(index))
        lines += [f"agents: {before} → {after}"] if before != after else []
    for which, file, known in zip(("first", "second"), files, (aligned.pairs, aligned.pairs.values()), strict=True):
        lines += [f"agents only in the {which}: {' / '.join(p)}" for i, p in enumerate(file.agents) if i not in known]
    lines += aligned.changed_values()
    for which, plan, missing in zip(("first", "second"), aligned.plans, aligned.missing, strict=True):
        if missing:
            lines.append(f"{missing:,} of {len(plan.cells):,} cells of the {which} study are not in the other one")
    return lines


class _Alignment:
    """What belongs together in two studies.

    Attributes:
        plans: of both.
        scenarios, pairs: the indices of scenarios and of pairs of agents in the second study, by those in the first.
        cells: the indices of the cells that both have, each once: a design may have a cell several times, with the same games.
        missing: how many cells of each study the other one has not.

    Raises:
        ConfigError: the studies vary different factors.
    """

    def __init__(self, first: StudyPlan, second: StudyPlan) -> None:
        _check_same_factors(first, second)
        self.plans = first, second
        self.scenarios = _align([each.name for each in first.scenarios], [each.name for each in second.scenarios])
        self.pairs = _align(first.file.agents, second.file.agents)
        ours = [(self.scenarios.get(cell.scenario), *self._texts(first, cell)) for cell in first.cells]
        theirs = [(cell.scenario, *self._texts(second, cell)) for cell in second.cells]
        places, others = _first_places(ours), _first_places(theirs)
        self.cells = [(place, others[key]) for key, place in places.items() if key in others]
        self.missing = sum(key not in others for key in ours), sum(key not in places for key in theirs)

    def _texts(self, plan: StudyPlan, cell: Cell) -> list[str]:
        """Return the values of a cell, in the order of the first study's factors."""
        values = dict(zip(plan.file.factors, cell.values, strict=True))
        return [value_text(values[name]) for name in self.plans[0].file.factors]

    def agents(self, index: int) -> tuple[Pair, Pair]:
        """Return a pair of agents in both studies."""
        first, second = (plan.file.agents for plan in self.plans)
        return first[index], second[self.pairs[index]]

    def changed_values(self) -> Iterator[str]:
        """Yield in what scenarios differ, beside what is varied."""
        first, second = self.plans
        # What relative values are relative to may differ, so that cells with the same values are different scenarios.
        varied = {
            key
            for factor in first.file.factors.values()
            if not any(map(is_relative, factor.values or (factor.low,)))
            for key in expand_keys(factor.keys)
        }
        for i, j in self.scenarios.items():
            before, after = first.scenarios[i], second.scenarios[j]
            where = f"{before.name}: " if len(first.scenarios) > 1 else ""
            if before.source != after.source:
                yield f"{where}config: {before.source} → {after.source}"
            keys = {key for each in (before, after) for key, _ in flatten(each.config.to_dict())}
            for key in sorted(keys - {"title", "description"}):
                old, new = (current_value(each.config, key) for each in (before, after))
                if old != new and not any(f"{key}.".startswith(f"{each}.") for each in varied):
                    shown = ("none" if each is None else value_text(each) for each in (old, new))
                    yield f"{where}{key}: {' → '.join(shown)}"

    def what_does_not_fit(self) -> str:
        """Return what studies without a common cell have instead, for a message."""
        if not self.scenarios:
            first, second = (", ".join(each.name for each in plan.scenarios) for plan in self.plans)
            return f"scenarios are {show(first)} and {show(second)}"
        if not self.pairs:
            first, second = (", ".join(" / ".join(pair) for pair in plan.file.agents) for plan in self.plans)
            return f"agents are {show(first)} and {show(second)}"
        names = list(self.plans[0].file.factors)
        for number, name in enumerate(names):
            values = [
                list(dict.fromkeys(self._texts(plan, cell)[number] for cell in plan.cells)) for plan in self.plans
            ]
            if not set(values[0]) & set(values[1]):
                first, second = (", ".join(each[:8]) + (", ..." if len(each) > 8 else "") for each in values)
                return f"{name} is {first} in the first and {second} in the second"
        return f"none has the same values of {', '.join(names)}"


def _first_places(keys: Sequence[Any]) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for number, key in enumerate(keys):
        places.setdefault(key, number)
    return places


def _align(first: Sequence[Any], second: Sequence[Any]) -> dict[int, int]:
    """Return the places of names in a second list, by those in a first."""
    named = {i: list(second).index(name) for i, name in enumerate(first) if name in second}
    return named or ({i: i for i in range(len(first))} if len(first) == len(second) else {})


def _check_same_factors(first: StudyPlan, second: StudyPlan) -> None:
    one, other = (
        {name: sorted(expand_keys(factor.keys)) for name, factor in plan.file.factors.items()}
        for plan in (first, second)
    )
    if one != other:
        different = [
            f"only the {which} varies {', '.join(names)}"
            for which, mine, theirs in (("first", one, other), ("second", other, one))
            if (names := [name for name in mine if mine[name] != theirs.get(name)])
        ]
        raise ConfigError(f"studies are compared that vary the same factors: {'; '.join(different)}")


def _compare(before: StudyGames, after: StudyGames, measure: str, *, is_paired: bool) -> dict[str, float | int]:
    """Return both means, their difference with its interval, and of how many games they are."""
    if is_paired:
        size = min(len(before), len(after))
        before, after = before[:size], after[:size]
        difference = compare_games(before, after, measure)
    else:
        difference = _independent(measure_games(before, measure), measure_games(after, measure), measure)
    return {
        "first": float(measure_games(before, measure).mean()),
        "second": float(measure_games(after, measure).mean()),
        "first_games": len(before),
        "second_games": len(after),
        **dict(zip(("difference", "low", "high"), difference, strict=True)),
    }


def _independent(before: NDArray[np.float64], after: NDArray[np.float64], measure: str) -> Rate:
    """Return the difference of two independent means: of rates with Newcombe's interval, else with Welch's and the smaller number of degrees."""
    if is_rate(measure):
        first, second = (wilson_interval(round(each.sum()), len(each)) for each in (before, after))
        return difference_interval(first, second)
    mean = float(after.mean() - before.mean())
    if min(len(before), len(after)) == 1:
        return Rate(mean, -math.inf, math.inf)
    variance = sum(float(values.var(ddof=1)) / len(values) for values in (before, after))
    margin = student_quantile(0.95, min(len(before), len(after)) - 1) * variance**0.5
    return Rate(mean, mean - margin, mean + margin)
