"""Charts of answers: what a search looked at, and effects with their intervals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.evaluation.figures import (
    GREY,
    LABEL_SIZE,
    MAX_PANELS,
    draw_intervals,
    draw_legend,
    grid_figure,
    new_figure,
    series_style,
    set_ticks,
    short_names,
    style_axes,
    title_panel,
    wrap_text,
)
from geo_patrol.studies.answers import Estimate, Pair
from geo_patrol.studies.factors import short_pair
from geo_patrol.studies.plan import StudyPlan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_ROWS = 60
"""Effects in a chart."""


def pair_name(pair: Pair) -> str:
    """Return a pair of agents for people, without the files and modules of user-defined agents."""
    alpha, bravo = short_names(pair)
    return short_pair((alpha, bravo))


def draw_searches(
    plan: StudyPlan, answers: Sequence[Estimate], rate: float, labels: tuple[str, str], width: float
) -> tuple["Figure", str]:
    """Draw what searches looked at: rates with intervals, the rate that was asked for, and the interval of the answer.

    Args:
        plan: the study.
        answers: those of the searches have levels.
        rate: what was asked for.
        labels: of the axes: the factor and the measure.
        width: of the figure, in inches.

    Returns:
        The figure and its caption.
    """
    by_place: dict[str, list[Estimate]] = {}
    for answer in answers:
        if answer.levels:
            by_place.setdefault(plan.describe(answer.cell), []).append(answer)
    shown = list(by_place.items())[:MAX_PANELS]
    figure, axes, inches = grid_figure(len(shown), width, 3.4)
    for axis, (place, searches) in zip(axes, shown, strict=True):
        axis.axhline(rate, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        for answer in searches:
            _draw_search(axis, answer, series_style(plan.file.agents.index(answer.pair)))
        levels = [level for answer in searches for level in answer.levels]
        style_axes(axis, wrap_text(labels[0], inches - 0.6), wrap_text(labels[1], 2, LABEL_SIZE), is_rate=True)
        set_ticks(axis, [level.value for level in levels], [level.position for level in levels], inches)
        if place:
            title_panel(axis, place, inches)
    draw_legend(figure, axes[0])
    return figure, (
        f"Marks are the values that the search looked at, with 95% intervals: where the rate is near {100 * rate:.0f}%"
        " (dashed), it played most games. The shaded part is the 95% interval of where the rate is crossed."
    )


def _draw_search(axis: Any, answer: Estimate, style: Mapping[str, Any]) -> None:
    positions = np.array([level.position for level in answer.levels])
    rates = np.array([level.rate.value for level in answer.levels])
    ends = np.array([level.rate.interval for level in answer.levels]).T
    gaps = network_changes([level.versions for level in answer.levels])
    places, shares, errors = (np.insert(each, gaps, np.nan, -1) for each in (positions, rates, np.abs(ends - rates)))
    axis.errorbar(
        places, shares, yerr=errors, capsize=2.5, linewidth=1.2, markersize=4.5, label=pair_name(answer.pair), **style
    )
    if answer.interval is not None:
        span = np.clip(answer.interval, positions.min(), positions.max())
        axis.axvspan(*span, color=style["color"], alpha=0.15, linewidth=0)


def network_changes(versions: Sequence[Any]) -> list[int]:
    """Return the indices before which another network takes over: lines have gaps there."""
    return [number for number in range(1, len(versions)) if versions[number] != versions[number - 1]]


def draw_effects(
    plan: StudyPlan,
    panels: Mapping[str, Sequence[tuple[str, Estimate]]],
    label: str,
    scale: float,
    width: float,
    *,
    from_zero: bool = False,
) -> "Figure":
    """Draw effects with their intervals, a row for each name and a mark for each pair of agents.

    Args:
        plan: the study.
        panels: answers with the names of their rows, by the title of a panel; the first that occur are the topmost.
        label: of the axis.
        scale: of estimates, such as 100 for percentages.
        width: of the figure, in inches.
        from_zero: whether the axis begins with 0.
    """
    shown = dict(list(panels.items())[:MAX_PANELS])
    names = list(dict.fromkeys(name for answers in shown.values() for name, _ in answers))[:_MAX_ROWS]
    texts, pairs = [wrap_text(name, 0.42 * width) for name in names], len(plan.file.agents)
    lines = 1 + max(text.count("\n") for text in texts)
    row = max(0.15 * lines + 0.1, 0.15 * pairs + 0.1)
    figure = new_figure(width, (0.9 + row * len(names)) * len(shown) + 0.3 + 0.2 * pairs)
    axes = figure.subplots(len(shown), 1, squeeze=False).flatten()
    for axis, (title, answers) in zip(axes, shown.items(), strict=True):
        axis.axvline(0, color=GREY, linewidth=1)
        for index, pair in enumerate(plan.file.agents):
            mine = {name: answer for name, answer in answers if answer.pair == pair and name in names}
            rows = [names.index(name) + 0.5 * (index + 0.5 - pairs / 2) / pairs for name in mine]
            effects = scale * np.array([answer.estimate or 0.0 for answer in mine.values()])
            ends = scale * np.array([answer.interval or (0.0, 0.0) for answer in mine.values()])
            draw_intervals(axis, texts, rows, effects, ends, index, pair_name(pair))
        style_axes(axis, wrap_text(label, 0.55 * width, LABEL_SIZE))
        if from_zero:
            axis.set_xlim(left=0)
        if len(shown) > 1:
            title_panel(axis, title, 0.55 * width)
    draw_legend(figure, axes[0])
    return figure
