"""The page about a study: its questions and answers, what was played, and all results."""

from collections.abc import Sequence
from typing import Any

from geo_patrol.evaluation.plots import NamedFigure, short_names
from geo_patrol.evaluation.questions import Answer
from geo_patrol.evaluation.study import Study, summarise_games
from geo_patrol.evaluation.study_file import Factor, in_words, value_text
from geo_patrol.report.page import figure_svg, load_template

MAX_ROWS = 200
"""Rows of the table of cells."""
_COLUMNS = ("alpha wins", "bravo wins", "draws", "margin", "turns")


def write_study_report(study: Study, figures: Sequence[NamedFigure]) -> str:
    """Return an HTML page about a study.

    Args:
        study: the study.
        figures: its figures, see ``evaluation.plots.study_figures``.

    Raises:
        MissingPackageError: the extra ``plots`` is not installed.
    """
    plan = study.plan
    drawn = {figure.name: _figure(figure) for figure in figures}
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
    return load_template("study.html.j2").render(
        study=study,
        plan=plan,
        games=sum(map(len, study.games.values())),
        questions=questions,
        turns=drawn.pop("turns", None),
        figures=list(drawn.values()),
        scenarios=[
            {
                "name": each.name,
                "source": each.source,
                "description": each.config.description,
                "changes": [f"{in_words(key)}: {value_text(value)}" for key, value in each.overrides.items()],
            }
            for each in plan.scenarios
        ],
        factors=[(in_words(name), _range(factor)) for name, factor in plan.file.factors.items()],
        pairs=list(map(_pair, plan.file.agents)),
        rows=[_row(study, *place) for place in places[:MAX_ROWS]],
        places=len(places),
        failures=list(dict.fromkeys(failure.message for failure in study.failures)),
    )


def _figure(figure: NamedFigure) -> dict[str, str]:
    return {"title": figure.title, "caption": figure.caption, "svg": figure_svg(figure.figure)}


def _answer(study: Study, answer: Answer) -> str:
    where = study.plan.describe(answer.cell)
    return f"{where}: {answer.text}" if where else answer.text


def _pair(pair: tuple[str, str]) -> str:
    names = short_names(pair)
    return f"{names[0]} on both sides" if pair[0] == pair[1] else f"{names[0]} as alpha, {names[1]} as bravo"


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
    shown = [
        f"{found['mean']:.1%} ({100 * found['low']:.1f} to {100 * found['high']:.1f})"
        if found["q50"] is None
        else f"{found['q50']:.0f} ({found['q05']:.0f} to {found['q95']:.0f})"
        for found in figures.values()
    ]
    return {
        "scenario": study.plan.scenarios[cell.scenario].name,
        "values": list(map(value_text, cell.values)),
        "pair": _pair(pair),
        "games": len(games),
        "figures": shown,
    }
