"""The page about a study: its questions and answers, what was played, and all results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geo_patrol.agents.registry import describe_agent
from geo_patrol.config.presets import current_value
from geo_patrol.config.toml_files import value_text
from geo_patrol.evaluation.figures import figure_svg
from geo_patrol.evaluation.report import load_template
from geo_patrol.studies.answers import Estimate, summarise_games
from geo_patrol.studies.charts import pair_name
from geo_patrol.studies.factors import Factor, in_words
from geo_patrol.studies.figures import NamedFigure
from geo_patrol.studies.plan import DESIGNS, StudyScenario
from geo_patrol.studies.study import Study
from geo_patrol.studies.study_agents import join_versions

MAX_ROWS = 200
"""Rows of the table of cells."""
UNFOLDED_ROWS = 12
"""Rows that are shown before a table is unfolded; prints have all."""
_COLUMNS = ("alpha wins", "bravo wins", "draws", "margin", "turns")


def study_page(study: Study, figures: Sequence[NamedFigure], narrow: Sequence[NamedFigure]) -> str:
    """Return an HTML page about a study.

    Args:
        study: the study.
        figures: its figures, see ``study_figures``.
        narrow: the same figures as wide as a telephone, where the page shows them instead.

    Raises:
        MissingPackageError: the extra ``plots`` is not installed.
    """
    plan = study.plan
    drawn = {pair[0].name: _figure(*pair) for pair in zip(figures, narrow, strict=True)}
    questions = [
        {
            "title": answered.title,
            "summary": answered.summary,
            "answers": [_answer(study, answer) for answer in answered.answers if answer.text][:MAX_ROWS],
            "figure": drawn.pop(f"question{number}", None),
        }
        for number, answered in enumerate(study.answered, start=1)
    ]
    places = list(study.places())
    return load_template(Path(__file__).parent / "static" / "study.html.j2").render(
        study=study,
        plan=plan,
        design=DESIGNS[plan.file.design],
        questions=questions,
        turns=drawn.pop("turns", None),
        figures=list(drawn.values()),
        scenarios=[
            {
                "name": each.name,
                "source": each.source,
                "description": each.config.description,
                "changes": [_change(each, key, value) for key, value in each.overrides.items()],
            }
            for each in plan.scenarios
        ],
        factors=[(in_words(name), _range(factor)) for name, factor in plan.file.factors.items()],
        pairs=list(map(pair_name, plan.file.agents)),
        agents={name: describe_agent(name) for pair in plan.file.agents for name in pair},
        networks=study.describe_agents(),
        warnings=study.warnings,
        rows=[_row(study, *place) for place in places[:MAX_ROWS]],
        columns=_COLUMNS,
        is_asked=plan.varies_further,
        places=len(places),
        unfolded=UNFOLDED_ROWS,
        failures=list(dict.fromkeys(failure.message for failure in study.failures)),
    )


def _figure(figure: NamedFigure, narrow: NamedFigure) -> dict[str, str]:
    svg, narrow_svg = figure_svg(figure.figure), figure_svg(narrow.figure)
    return {"title": figure.title, "caption": figure.caption, "svg": svg, "narrow": narrow_svg}


def _answer(study: Study, answer: Estimate) -> str:
    where = study.plan.describe(answer.cell)
    return f"{where}: {answer.text}" if where else answer.text


def _change(scenario: StudyScenario, key: str, value: Any) -> str:
    """Return what a value of a scenario was replaced by, and how far it is from the one before."""
    before = current_value(scenario.base, key)
    text = f"{in_words(key)}: {value_text(value)}"
    if before is None:
        return text
    text += f", from {value_text(before)}"
    if before and all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (before, value)):
        text += f" ({100 * (value / before - 1):+z.3g}%)"
    return text


def _range(factor: Factor) -> str:
    """Return what a factor's values are, and which keys they replace."""
    values = factor.values
    if values is None:
        text = f"{value_text(factor.low)} to {value_text(factor.high)}"
    else:
        shown = list(map(value_text, values if len(values) <= 12 else [*values[:6], "...", values[-1]]))
        text = ", ".join(shown)
    return f"{text} ({', '.join(factor.keys)})"


def _row(study: Study, number: int, cell: Any, index: int, pair: tuple[str, str]) -> dict[str, Any]:
    games = study.games[number, index]
    figures = {measure: summarise_games(games, measure, (0.05, 0.5, 0.95)) for measure in _COLUMNS}
    return {
        "scenario": study.plan.scenarios[cell.scenario].name,
        "values": list(map(value_text, cell.values)),
        "pair": pair_name(pair),
        "versions": join_versions(study.versions.get((number, index), ("", ""))),
        "games": len(games),
        "figures": list(map(_measured, figures.values())),
    }


def _measured(found: dict[str, Any]) -> tuple[str, str]:
    """Return a mean and what stands below it: the 95% interval of a share, otherwise median and quantiles."""
    if found["q50"] is None:
        return f"{found['mean']:.1%}", f"{100 * found['low']:.1f} to {100 * found['high']:.1f}"
    return f"{found['mean']:z.1f}", f"{found['q50']:z.0f} ({found['q05']:z.0f} to {found['q95']:z.0f})"
