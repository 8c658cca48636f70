"""Figures of studies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.base.versions import __version__
from geo_patrol.config.toml_files import value_text
from geo_patrol.evaluation.figures import (
    FOOTER_SIZE,
    GREY,
    LABEL_SIZE,
    LETTER_WIDTH,
    MAX_PANELS,
    MAX_VALUES,
    POINTS_PER_INCH,
    SERIES_COLOURS,
    SIZE,
    draw_heat,
    draw_legend,
    grid_figure,
    new_figure,
    series_style,
    set_ticks,
    settle,
    style_axes,
    title_panel,
    wrap_text,
)
from geo_patrol.studies.answers import WORDS, is_rate, summarise_games
from geo_patrol.studies.charts import pair_name
from geo_patrol.studies.factors import in_words, positions_of
from geo_patrol.studies.study import CURVE_TURNS, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MAX_CELLS = 30
"""Values of a factor in a heat map."""
_MAX_CURVES = 6
"""Scenarios and pairs of agents that are drawn turn by turn."""
PAGE_WIDTH = 7.2
"""Inches of a figure as wide as the text of a page."""
COLUMN_WIDTH = 3.5
"""Inches of a figure as wide as one of a paper's two columns."""


@dataclass(frozen=True)
class NamedFigure:
    """A figure of a study.

    Attributes:
        name: of its files.
        title: what it shows.
        caption: how to read it, for people who have not seen the study's file.
        figure: the figure.
        metadata: "Title" and "Subject" of its files: what is shown, and what it is from.
    """

    name: str
    title: str
    caption: str
    figure: "Figure"
    metadata: dict[str, str]


def study_figures(study: Study, width: float = PAGE_WIDTH) -> list[NamedFigure]:
    """Draw the figures of a study: its cells, its questions, and what happens turn by turn.

    Args:
        study: the study.
        width: of every figure, in inches; texts keep their size, and narrow figures have fewer panels side by side.
    """
    drawn = [*_draw_cells(study, width)]
    for number, answered in enumerate(study.answered, start=1):
        figure, caption = answered.question.draw(study.plan, answered.answers, width)
        drawn.append(_named(study, f"question{number}", answered.title, caption, figure))
    return [*drawn, *_draw_curves(study, width)]


def _named(study: Study, name: str, title: str, caption: str, figure: "Figure") -> NamedFigure:
    """Return a figure with the line that says what it is from.

    Scenarios and pairs of agents are part of it where there is one: of several, panels and the legend have the names.
    """
    plan = study.plan
    pairs = [pair_name(pair) for pair in plan.file.agents]
    scenarios = [each.name for each in plan.scenarios]
    alone = [names[0] for names in (scenarios, pairs) if len(names) == 1]
    from_where = f"seed {plan.file.seed}; geo_patrol {__version__}; study {study.digest}"
    whole = from_where.replace(" ", "\N{NO-BREAK SPACE}").replace(
        ";\N{NO-BREAK SPACE}", "; "
    )  # lines break between parts
    lines = wrap_text("; ".join([*alone, whole]), figure.get_figwidth() - 0.1, FOOTER_SIZE)
    height = (1.25 * FOOTER_SIZE * (lines.count("\n") + 1) + 5) / POINTS_PER_INCH / figure.get_figheight()
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, height, 1, 1 - height))
    figure.text(0.995, 0.005, lines, ha="right", va="bottom", fontsize=FOOTER_SIZE, color=GREY, parse_math=False)
    settle(figure)
    shown = "; ".join([", ".join(scenarios[:4]) + (", ..." if len(scenarios) > 4 else ""), from_where])
    return NamedFigure(name, title, caption, figure, {"Title": f"{plan.file.title}: {title}", "Subject": shown})


def _draw_cells(study: Study, width: float) -> Iterator[NamedFigure]:
    """Draw win rates over the factors."""
    plan = study.plan
    shape = [len(factor.values or ()) for factor in plan.file.factors.values()]
    if not shape or len(plan.cells) < 2:
        return
    is_grid = plan.design.kind == "grid"
    if is_grid and len(shape) == 1:
        title, caption = "Games that alpha wins", "Bars are 95% intervals."
        yield _named(study, "wins", title, caption, _line_figure(study, "alpha wins", width))
        caption = "Alpha's points less bravo's at the end of a game: marks are medians, bars go from the 5% to the 95% quantile"
        caption += "; pairs of agents are drawn side by side." if len(plan.file.agents) > 1 else "."
        yield _named(study, "margin", "Margin", caption, _line_figure(study, "margin", width))
    elif is_grid and len(shape) == 2 and max(shape) <= _MAX_CELLS and _panels(study) <= MAX_PANELS:
        figure, caption = _heat_figure(study, width)
        yield _named(study, "wins", "Games that alpha wins", caption, figure)
    else:
        caption = "A dot is a cell; the line is the mean of the cells with the same value, or a similar one."
        if len(plan.scenarios) > 1:
            caption += f" Cells of all {len(plan.scenarios)} scenarios."
        yield _named(study, "wins", "Games that alpha wins, by factor", caption, _scatter_figure(study, width))


def _panels(study: Study) -> int:
    return len(study.plan.scenarios) * len(study.plan.file.agents)


def _line_figure(study: Study, measure: str, width: float) -> "Figure":
    """Plot a measure over the only factor, a panel for each scenario and a line for each pair of agents."""
    plan = study.plan
    scenarios = len(plan.scenarios[:MAX_PANELS])
    figure, axes, inches = grid_figure(scenarios, width, 3.4)
    rate, pairs = is_rate(measure), len(plan.file.agents)
    for scenario, axis in enumerate(axes):
        cells = [(number, cell) for number, cell in enumerate(plan.cells) if cell.scenario == scenario]
        levels = [cell.values[0] for _, cell in cells]
        positions = positions_of(levels)
        gap = float(np.min(np.diff(np.unique(positions)), initial=np.inf))
        for index, pair in enumerate(plan.file.agents):
            found = [summarise_games(study.games[number, index], measure, (0.05, 0.5, 0.95)) for number, _ in cells]
            middle, *ends = (
                np.array([each[name] for each in found])
                for name in (("mean", "low", "high") if rate else ("q50", "q05", "q95"))
            )
            aside = 0.0 if rate or not np.isfinite(gap) else 0.5 * gap * ((index + 0.5) / pairs - 0.5)
            axis.errorbar(
                positions + aside, middle, yerr=np.abs(np.array(ends) - middle), capsize=2.5, linewidth=1.2,
                elinewidth=1, markersize=4.5, label=pair_name(pair), **series_style(index),
            )  # fmt: skip
        label = WORDS[measure].noun if rate else "margin, points"
        style_axes(axis, wrap_text(in_words(next(iter(plan.file.factors))), inches - 0.6), label, is_rate=rate)
        set_ticks(axis, levels, positions, inches)
        if not rate:
            axis.axhline(0, color=GREY, linewidth=0.8)
        if scenarios > 1:
            title_panel(axis, plan.scenarios[scenario].name, inches)
    ends = [axis.get_ylim() for axis in axes]
    for axis in axes:
        axis.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    draw_legend(figure, axes[0])
    return figure


def _heat_figure(study: Study, width: float) -> tuple["Figure", str]:
    """Plot alpha's win rate over two factors, a panel for each scenario and pair of agents; return it with its caption."""
    plan = study.plan
    (first, rows), (second, columns) = ((name, factor.values or ()) for name, factor in plan.file.factors.items())
    labels = max(len(value_text(row)) for row in rows) * LETTER_WIDTH * SIZE / POINTS_PER_INCH + 0.5
    figure, axes, inches = grid_figure(_panels(study), width, 0.6 * len(columns) + labels)
    cell = (inches - labels) / len(columns)
    has_intervals, has_rates = cell > 0.58, cell > 0.2
    figure.set_figheight(max(0.36 * len(rows), 1.2) * -(-len(axes) // max(round(width / inches), 1)) + 1.4)
    places = [(scenario, index) for scenario in range(len(plan.scenarios)) for index in range(len(plan.file.agents))]
    for axis, (scenario, index) in zip(axes, places, strict=True):
        found = [
            summarise_games(study.games[number, index], "alpha wins", ())
            for number, cell_ in enumerate(plan.cells)
            if cell_.scenario == scenario
        ]
        shape = len(rows), len(columns)
        rates = np.array([each["mean"] for each in found]).reshape(shape)
        texts = np.array(
            [
                f"{each['mean']:.1%}\n{100 * each['low']:.1f}-{100 * each['high']:.1f}"
                if has_intervals
                else f"{100 * each['mean']:.0f}" * has_rates
                for each in found
            ]
        ).reshape(shape)
        draw_heat(axis, rates, list(map(value_text, rows)), list(map(value_text, columns)), texts, SIZE)
        axis.tick_params(labelsize=SIZE)
        axis.set_ylabel(wrap_text(in_words(first), max(0.36 * len(rows), 1.2)), fontsize=LABEL_SIZE)
        axis.set_xlabel(wrap_text(in_words(second), inches - labels), fontsize=LABEL_SIZE)
        names = (
            [plan.scenarios[scenario].name] * (len(plan.scenarios) > 1),
            [pair_name(plan.file.agents[index])] * (len(plan.file.agents) > 1),
        )
        if any(names):
            title_panel(axis, ", ".join([*names[0], *names[1]]), inches)
    if has_intervals:
        return figure, "Below each share is its 95% interval."
    bar = figure.colorbar(axes[0].collections[0], ax=axes, format=lambda rate, _: f"{100 * rate:.0f}%")
    bar.ax.tick_params(labelsize=SIZE)
    return figure, "Numbers are percent." if has_rates else "The study's tables have the numbers, with their intervals."


def _scatter_figure(study: Study, width: float) -> "Figure":
    """Plot alpha's win rate over each factor, a dot for each cell."""
    plan = study.plan
    factors = list(plan.file.factors.items())[:MAX_PANELS]
    figure, axes, inches = grid_figure(len(factors), width, 2.2)
    rates = {place: float((games["winner"] == 0).mean()) for place, games in study.games.items()}
    for number, ((name, factor), axis) in enumerate(zip(factors, axes, strict=True)):
        values = [cell.values[number] for cell in plan.cells]
        played = set(map(value_text, values))
        levels = {
            value_text(value): value for value in (*(factor.values or ()), *values) if value_text(value) in played
        }
        places = dict(zip(levels, positions_of(list(levels.values())), strict=True))
        positions = np.array([places[value_text(value)] for value in values])
        edges = np.unique(positions)
        if len(edges) > MAX_VALUES:
            edges = np.unique(np.quantile(positions, np.linspace(0, 1, _BINS + 1))[:-1])
        bins = np.searchsorted(edges, positions, "right") - 1
        for index, pair in enumerate(plan.file.agents):
            shares = np.array([rates[cell, index] for cell in range(len(plan.cells))])
            axis.scatter(positions, shares, s=12, alpha=0.4, linewidths=0, **series_style(index))
            middles, means = (
                [float(each[bins == bin_].mean()) for bin_ in np.unique(bins)] for each in (positions, shares)
            )
            axis.plot(middles, means, color=series_style(index)["color"], linewidth=1.6, label=pair_name(pair))
        style_axes(axis, wrap_text(in_words(name), inches - 0.6), "games that alpha wins", is_rate=True)
        set_ticks(axis, list(levels.values()), list(places.values()), inches)
    draw_legend(figure, axes[0])
    return figure


_BINS = 8


def _draw_curves(study: Study, width: float) -> Iterator[NamedFigure]:
    """Draw means turn by turn, of the first cell of every scenario: a row for each pair of agents, a panel for each unit."""
    plan = study.plan
    firsts = [next(n for n, cell in enumerate(plan.cells) if cell.scenario == s) for s in range(len(plan.scenarios))]
    places = [
        (n, index) for n in firsts for index in range(len(plan.file.agents)) if len(study.curves.get((n, index), ()))
    ]
    left_out = len(places) - len(places[:_MAX_CURVES])
    places = places[:_MAX_CURVES]
    if not places:
        return
    titles = ["; ".join(filter(None, _curve_title(study, *place))) for place in places]
    titles = [wrap_text(text, width - 0.3, LABEL_SIZE) for text in titles]
    across = len(_QUANTITIES) if width >= 2 * COLUMN_WIDTH - 1 else 1
    down = len(_QUANTITIES) // across
    lines = sum(1 + text.count("\n") for text in titles if text)
    figure = new_figure(width, len(places) * down * (1.75 if across > 1 else 1.3) + 0.16 * lines + 0.6)
    axes = figure.subplots(len(places) * down, across, squeeze=False).reshape(len(places), len(_QUANTITIES))
    last = max(len(study.curves[place][:CURVE_TURNS]) for place in places)
    for row, place, title in zip(axes, places, titles, strict=True):
        curve, games = study.curves[place][:CURVE_TURNS], len(study.games[place])
        ended = np.repeat(curve[-1:], last - len(curve), axis=0)
        ended[:, 0] = 0
        means = np.concatenate([curve, ended]) / games
        for axis, (label, columns) in zip(row, _QUANTITIES.items(), strict=True):
            for side, column in columns.items():
                colour = {"alpha": SERIES_COLOURS[0], "bravo": SERIES_COLOURS[1]}.get(side, GREY)
                dashes = (0, (4, 1.5)) if side == "bravo" else "-"
                named = {"label": side} if side else {}
                axis.plot(range(1, last + 1), means[:, column], color=colour, linestyle=dashes, linewidth=1.5, **named)
            is_last = place == places[-1] if across > 1 else axis is row[-1]
            style_axes(
                axis, "turns played" if is_last else "", wrap_text(label, 1.1, LABEL_SIZE), is_rate=not any(columns)
            )
            axis.set_xlim(1, max(last, 2))
            if any(columns):
                most = max(
                    float(study.curves[each][:, list(columns.values())].max()) / len(study.games[each])
                    for each in places
                )
                axis.set_ylim(0, 1.05 * max(most, 1e-9))
        if (
            title
        ):  # a title over all panels of the row would widen the first one: a text, and a blank title of its height
            row[0].set_title("\n".join("\N{NO-BREAK SPACE}" for _ in title.split("\n")), fontsize=LABEL_SIZE)
            above = {"xytext": (0, 6), "textcoords": "offset points", "va": "bottom", "fontsize": LABEL_SIZE}
            row[0].annotate(title, (0, 1), xycoords="axes fraction", parse_math=False, **above).set_in_layout(False)
    draw_legend(figure, axes[0, 0])
    caption = "Means over all games after every turn; a game that is over keeps its last values."
    if len(plan.cells) > len(plan.scenarios):
        caption = f"Only the first of the {len(plan.cells) // len(plan.scenarios):,} cells of the design. {caption}"
    if left_out:
        caption += f" {left_out:,} further scenarios and pairs of agents are in the study's tables."
    yield _named(study, "turns", "Turn by turn", caption, figure)


_QUANTITIES = {
    "points, mean": {"alpha": 1, "bravo": 2},
    "Patrols with fuel, mean": {"alpha": 3, "bravo": 4},
    "games that go on": {"": 0},
}
"""What is drawn turn by turn: a label with its unit, and the columns of ``chunks.CURVE`` by side."""


def _curve_title(study: Study, number: int, index: int) -> Iterator[str]:
    """Yield what panels turn by turn are of, as far as the study has several: the cell and the pair of agents."""
    plan = study.plan
    where = plan.describe(plan.cells[number])
    yield f"first cell: {where}" if len(plan.cells) > len(plan.scenarios) else where
    yield pair_name(plan.file.agents[index]) if len(plan.file.agents) > 1 else ""
