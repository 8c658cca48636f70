"""Figures of studies."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.base.versions import __version__
from geo_patrol.config.toml_files import value_text
from geo_patrol.evaluation.figures import (
    FOOTER_SIZE,
    GREY,
    LABEL_SIZE,
    SIZE,
    draw_heat,
    new_figure,
    short_names,
    style_axes,
)
from geo_patrol.studies.questions import BALANCE, RATES, Answered
from geo_patrol.studies.study import CURVE_TURNS, Study, is_rate, summarise_games
from geo_patrol.studies.study_file import in_words, positions_of, short_pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MAX_PANELS = 12
"""Panels of a figure of a study."""
_MAX_CELLS = 30
"""Values of a factor in a heat map."""
_PAIR_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Of pairs of agents: Okabe and Ito's, which people with any colour vision can tell apart."""
_MARKERS = "osD^vP*"


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
        draw = {"ranking": _draw_ranking, "worth": _draw_differences}.get(answered.question.kind, _draw_search)
        drawn += draw(study, answered, f"question{number}", width)
    return [*drawn, *_draw_curves(study, width)]


def pair_name(pair: tuple[str, str]) -> str:
    """Return a pair of agents for people, without the files and modules of user-defined agents."""
    alpha, bravo = short_names(pair)
    return short_pair((alpha, bravo))


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
    lines = _wrap("; ".join([*alone, whole]), figure.get_figwidth() - 0.1, FOOTER_SIZE)
    height = (1.25 * FOOTER_SIZE * (lines.count("\n") + 1) + 5) / _POINTS / figure.get_figheight()
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, height, 1, 1 - height))
    figure.text(0.995, 0.005, lines, ha="right", va="bottom", fontsize=FOOTER_SIZE, color=GREY, parse_math=False)
    _settle(figure)
    shown = "; ".join([", ".join(scenarios[:4]) + (", ..." if len(scenarios) > 4 else ""), from_where])
    return NamedFigure(name, title, caption, figure, {"Title": f"{plan.file.title}: {title}", "Subject": shown})


def _settle(figure: "Figure") -> None:
    """Lay a figure out, once and for all.

    The solver of the layout ends with other last digits in every run; ids in files of the figure are hashes of them. Rounded,
    the same figure gives the same bytes.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((round(left, 4), round(bottom, 4), round(width, 4), round(height, 4)))


_POINTS = 72
"""Points of an inch."""
_LETTER = 0.56
"""Width of a letter of the figures' font, by its size, in the mean over English text."""


def _wrap(text: str, inches: float, size: float = SIZE) -> str:
    """Break a text into lines of some width."""
    letters = max(int(inches * _POINTS / (_LETTER * size)), 8)
    return textwrap.fill(text, letters, break_long_words=False, break_on_hyphens=False)


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


def _pair_style(index: int) -> dict[str, Any]:
    return {"color": _PAIR_COLOURS[index % len(_PAIR_COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]}


def _grid_figure(panels: int, width: float, least: float) -> tuple["Figure", list[Any], float]:
    """Return a figure of so many panels, its axes, and the inches of a panel: at least ``least`` where the figure has them."""
    columns = min(panels, max(int(width / least), 1))
    rows = -(-panels // columns)
    inches = width / columns
    figure = new_figure(width, rows * min(max(0.75 * inches, 2.1), 3.4) + 0.5)
    axes = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for axis in axes[panels:]:
        axis.set_visible(False)
    return figure, axes[:panels], inches


def _title(axis: Any, text: str, inches: float) -> None:
    axis.set_title(_wrap(text, inches - 0.3, LABEL_SIZE), fontsize=LABEL_SIZE, parse_math=False)


def _set_ticks(axis: Any, levels: Sequence[Any], positions: Any, inches: float) -> None:
    """Label a horizontal axis at the values that were played, as many of them as fit in some inches.

    Where values are many and not whole, as those of a range are, round numbers say more.
    """
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an extra

    labels = {float(place): value_text(level) for level, place in zip(levels, positions, strict=True)}
    places = sorted(labels)
    span = places[-1] - places[0]
    if span == 0:
        axis.set_xlim(places[0] - 1, places[0] + 1)
    if len(places) > _MAX_VALUES and any(isinstance(level, float) for level in levels):
        axis.xaxis.set_major_locator(MaxNLocator(nbins=max(int(2 * inches), 3)))
        return
    letter = _LETTER * SIZE / _POINTS / max(inches - 0.9, 0.5) * (span or 1)  # of an axis, without its labels
    if max(map(len, labels.values())) > 8:
        step = -(-len(places) // max(int(4 * inches), 1))
        axis.set_xticks(places[::step], [labels[place] for place in places[::step]], rotation=30, ha="right")
        return
    chosen: list[float] = []
    for place in [*reversed(places)]:  # from the last value, which lines are read for more often than for the first
        if not chosen or chosen[-1] - place > letter * (1 + (len(labels[place]) + len(labels[chosen[-1]])) / 2):
            chosen.append(place)
    axis.set_xticks(chosen[::-1], [labels[place] for place in chosen[::-1]])


_MAX_VALUES = 12
"""Values of a factor that a figure tells apart; more of them are grouped by similar values."""
_MEASURE_WORDS = {
    "alpha wins": "games that alpha wins",
    "bravo wins": "games that bravo wins",
    "draws": "games that are drawn",
    BALANCE: "games that alpha wins, a draw counting half",
    "alpha score": "alpha's points",
    "bravo score": "bravo's points",
    "margin": "the margin",
    "turns": "turns",
}


def _unit(measure: str) -> str:
    return "percentage points" if measure in RATES else "turns" if measure == "turns" else "points"


def _line_figure(study: Study, measure: str, width: float) -> "Figure":
    """Plot a measure over the only factor, a panel for each scenario and a line for each pair of agents."""
    plan = study.plan
    scenarios = len(plan.scenarios[:MAX_PANELS])
    figure, axes, inches = _grid_figure(scenarios, width, 3.4)
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
                elinewidth=1, markersize=4.5, label=pair_name(pair), **_pair_style(index),
            )  # fmt: skip
        label = _MEASURE_WORDS[measure] if rate else "margin, points"
        style_axes(axis, _wrap(in_words(next(iter(plan.file.factors))), inches - 0.6), label, is_rate=rate)
        _set_ticks(axis, levels, positions, inches)
        if not rate:
            axis.axhline(0, color=GREY, linewidth=0.8)
        if scenarios > 1:
            _title(axis, plan.scenarios[scenario].name, inches)
    ends = [axis.get_ylim() for axis in axes]
    for axis in axes:
        axis.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    _legend(figure, axes[0])
    return figure


def _legend(figure: "Figure", axis: Any) -> None:
    """Draw a legend of several series above the panels; one series is named by the line below."""
    handles, labels = axis.get_legend_handles_labels()
    if len(handles) > 1:
        widths = np.cumsum([(_LETTER * SIZE * length + 40) / _POINTS for length in sorted(map(len, labels))[::-1]])
        columns = max(int((widths <= figure.get_figwidth()).sum()), 1)
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=SIZE)


def _heat_figure(study: Study, width: float) -> tuple["Figure", str]:
    """Plot alpha's win rate over two factors, a panel for each scenario and pair of agents; return it with its caption."""
    plan = study.plan
    (first, rows), (second, columns) = ((name, factor.values or ()) for name, factor in plan.file.factors.items())
    labels = max(len(value_text(row)) for row in rows) * _LETTER * SIZE / _POINTS + 0.5
    figure, axes, inches = _grid_figure(_panels(study), width, 0.6 * len(columns) + labels)
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
        axis.set_ylabel(_wrap(in_words(first), max(0.36 * len(rows), 1.2)), fontsize=LABEL_SIZE)
        axis.set_xlabel(_wrap(in_words(second), inches - labels), fontsize=LABEL_SIZE)
        names = (
            [plan.scenarios[scenario].name] * (len(plan.scenarios) > 1),
            [pair_name(plan.file.agents[index])] * (len(plan.file.agents) > 1),
        )
        if any(names):
            _title(axis, ", ".join([*names[0], *names[1]]), inches)
    if has_intervals:
        return figure, "Below each share is its 95% interval."
    bar = figure.colorbar(axes[0].collections[0], ax=axes, format=lambda rate, _: f"{100 * rate:.0f}%")
    bar.ax.tick_params(labelsize=SIZE)
    return figure, "Numbers are percent." if has_rates else "The study's tables have the numbers, with their intervals."


def _scatter_figure(study: Study, width: float) -> "Figure":
    """Plot alpha's win rate over each factor, a dot for each cell."""
    plan = study.plan
    factors = list(plan.file.factors.items())[:MAX_PANELS]
    figure, axes, inches = _grid_figure(len(factors), width, 2.2)
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
        if len(edges) > _MAX_VALUES:
            edges = np.unique(np.quantile(positions, np.linspace(0, 1, _BINS + 1))[:-1])
        bins = np.searchsorted(edges, positions, "right") - 1
        for index, pair in enumerate(plan.file.agents):
            shares = np.array([rates[cell, index] for cell in range(len(plan.cells))])
            axis.scatter(positions, shares, s=12, alpha=0.4, linewidths=0, **_pair_style(index))
            middles, means = (
                [float(each[bins == bin_].mean()) for bin_ in np.unique(bins)] for each in (positions, shares)
            )
            axis.plot(middles, means, color=_pair_style(index)["color"], linewidth=1.6, label=pair_name(pair))
        style_axes(axis, _wrap(in_words(name), inches - 0.6), "games that alpha wins", is_rate=True)
        _set_ticks(axis, list(levels.values()), list(places.values()), inches)
    _legend(figure, axes[0])
    return figure


_BINS = 8


def _changes(versions: Sequence[Any]) -> list[int]:
    """Return the indices before which another network takes over: lines have gaps there."""
    return [number for number in range(1, len(versions)) if versions[number] != versions[number - 1]]


def _draw_search(study: Study, answered: Answered, name: str, width: float) -> Iterator[NamedFigure]:
    """Draw what a search looked at: rates with intervals, the rate that was asked for, and the interval of the answer."""
    searches = [answer for answer in answered.answers if answer.levels]
    where = list(dict.fromkeys(study.plan.describe(answer.cell) for answer in searches))[:MAX_PANELS]
    if not where:
        return
    question: Any = answered.question
    rate = getattr(question, "rate", 0.5)
    measure = getattr(question, "measure", BALANCE)
    figure, axes, inches = _grid_figure(len(where), width, 3.4)
    for axis, place in zip(axes, where, strict=True):
        shown = [answer for answer in searches if study.plan.describe(answer.cell) == place]
        levels = [level for answer in shown for level in answer.levels]
        axis.axhline(rate, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        for answer in shown:
            style = _pair_style(study.plan.file.agents.index(answer.pair))
            positions = np.array([level.position for level in answer.levels])
            rates = np.array([level.rate for level in answer.levels])
            ends = np.array([level.interval for level in answer.levels]).T
            gaps = _changes([level.versions for level in answer.levels])
            places, shares, errors = (
                np.insert(each, gaps, np.nan, -1) for each in (positions, rates, np.abs(ends - rates))
            )
            axis.errorbar(
                places, shares, yerr=errors, capsize=2.5, linewidth=1.2, markersize=4.5,
                label=pair_name(answer.pair), **style,
            )  # fmt: skip
            if answer.interval is not None:
                span = np.clip(answer.interval, positions.min(), positions.max())
                axis.axvspan(*span, color=style["color"], alpha=0.15, linewidth=0)
        label = _wrap(in_words(question.factor[0]), inches - 0.6)
        style_axes(axis, label, _wrap(_MEASURE_WORDS[measure], 2, LABEL_SIZE), is_rate=True)
        _set_ticks(axis, [level.value for level in levels], [level.position for level in levels], inches)
        if place:
            _title(axis, place, inches)
    _legend(figure, axes[0])
    caption = (
        f"Marks are the values that the search looked at, with 95% intervals: where the rate is near {100 * rate:.0f}%"
        " (dashed), it played most games. The shaded part is the 95% interval of where the rate is crossed."
    )
    yield _named(study, name, answered.title, caption, figure)


def _draw_differences(study: Study, answered: Answered, name: str, width: float) -> Iterator[NamedFigure]:
    """Draw what changes are worth, with intervals."""
    answers = answered.answers[:_MAX_ROWS]
    rows = list(dict.fromkeys((study.plan.describe(answer.cell), answer.subject) for answer in answers))
    measure = getattr(answered.question, "measure", "")
    scale = 100 if measure in RATES else 1
    names = [_wrap(", ".join(filter(None, row)), 0.42 * width) for row in rows]
    lines, pairs, labelled = 1 + max(text.count("\n") for text in names), len(study.plan.file.agents), set()
    figure = new_figure(width, 1.2 + 0.25 * max(pairs, 2) + max(0.15 * lines + 0.1, 0.16 * pairs + 0.1) * len(rows))
    axis = figure.subplots()
    axis.axvline(0, color=GREY, linewidth=1)
    for answer in answers:
        index = study.plan.file.agents.index(answer.pair)
        row = rows.index((study.plan.describe(answer.cell), answer.subject)) + 0.5 * (index + 0.5 - pairs / 2) / pairs
        low, high = answer.interval or (0.0, 0.0)
        estimate = answer.estimate or 0.0
        label = None if index in labelled else pair_name(answer.pair)
        labelled.add(index)
        error = [[scale * (estimate - low)], [scale * (high - estimate)]]
        axis.errorbar(
            [scale * estimate], [row], xerr=np.maximum(error, 0), capsize=2.5, markersize=4.5, linestyle="none",
            label=label, **_pair_style(index),
        )  # fmt: skip
    style_axes(axis, _wrap(f"change of {_MEASURE_WORDS[measure]}, {_unit(measure)}", 0.55 * width, LABEL_SIZE))
    axis.set_yticks(range(len(rows)), names)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    _legend(figure, axis)
    caption = "Differences between games that share their seeds, one by one, with 95% intervals."
    yield _named(study, name, answered.title, caption, figure)


_MAX_ROWS = 60


def _draw_ranking(study: Study, answered: Answered, name: str, width: float) -> Iterator[NamedFigure]:
    """Draw how much factors matter, with intervals, a panel for each scenario."""
    statistics = ("mean absolute effect", "total-order index")
    shown = [answer for answer in answered.answers if answer.statistic in statistics]
    scenarios = list(dict.fromkeys(answer.cell.scenario for answer in shown))[:MAX_PANELS]
    if not scenarios:
        return
    is_morris, measure = shown[0].statistic == statistics[0], getattr(answered.question, "measure", "")
    scale = 100 if is_morris and measure in RATES else 1  # as the answers have it
    label = (
        f"mean change of {_MEASURE_WORDS[measure]}, {_unit(measure)}"
        if is_morris
        else f"share of the variance of {_MEASURE_WORDS[measure]} (total-order index)"
    )
    strength = {
        factor: max(answer.estimate or 0 for answer in shown if answer.subject == factor)
        for factor in study.plan.file.factors
    }
    order = sorted(strength, key=lambda factor: -strength[factor])
    names = [_wrap(in_words(factor), 0.42 * width) for factor in order]
    pairs, lines = len(study.plan.file.agents), 1 + max(text.count("\n") for text in names)
    row = max(0.15 * lines + 0.1, 0.13 * pairs + 0.1)
    figure = new_figure(width, (0.9 + row * len(order)) * len(scenarios) + 0.3 + 0.12 * pairs)
    axes = figure.subplots(len(scenarios), 1, squeeze=False).flatten()
    for axis, scenario in zip(axes, scenarios, strict=True):
        for index, pair in enumerate(study.plan.file.agents):
            found = {
                answer.subject: answer for answer in shown if answer.pair == pair and answer.cell.scenario == scenario
            }
            rows = np.arange(len(order)) + 0.5 * (index + 0.5 - pairs / 2) / pairs
            effects = scale * np.array([found[factor].estimate or 0.0 for factor in order])
            ends = scale * np.array([found[factor].interval or (0.0, 0.0) for factor in order]).T
            style = _pair_style(index) | {"linestyle": "none", "markersize": 4.5}
            axis.errorbar(effects, rows, xerr=np.abs(ends - effects), capsize=2.5, label=pair_name(pair), **style)
        style_axes(axis, _wrap(label, 0.55 * width, LABEL_SIZE))
        axis.set_yticks(range(len(order)), names)
        axis.set_ylim(len(order) - 0.5, -0.5)
        axis.set_xlim(left=0)
        if len(scenarios) > 1:
            _title(axis, study.plan.scenarios[scenario].name, 0.55 * width)
    _legend(figure, axes[0])
    caption = (
        "The mean change, up or down, when one factor alone moves, scaled to its whole range (Morris' mean absolute elementary"
        " effect), with 95% intervals."
        if is_morris
        else "The share of the variance that goes away if the factor is fixed (Sobol' index of total order), with 95% intervals."
    )
    yield _named(study, name, answered.title, caption, figure)


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
    titles = [_wrap(text, width - 0.3, LABEL_SIZE) for text in titles]
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
                colour = {"alpha": _PAIR_COLOURS[0], "bravo": _PAIR_COLOURS[1]}.get(side, GREY)
                dashes = (0, (4, 1.5)) if side == "bravo" else "-"
                named = {"label": side} if side else {}
                axis.plot(range(1, last + 1), means[:, column], color=colour, linestyle=dashes, linewidth=1.5, **named)
            is_last = place == places[-1] if across > 1 else axis is row[-1]
            style_axes(axis, "turns played" if is_last else "", _wrap(label, 1.1, LABEL_SIZE), is_rate=not any(columns))
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
    _legend(figure, axes[0, 0])
    caption = "Means over all games after every turn; a game that is over keeps its last values."
    if len(plan.cells) > len(plan.scenarios):
        caption = f"Only the first of the {len(plan.cells) // len(plan.scenarios):,} cells of the design. {caption}"
    if left_out:
        caption += f" {left_out:,} further scenarios and pairs of agents are in the study's tables."
    yield _named(study, "turns", "Turn by turn", caption, figure)


_MAX_CURVES = 6
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
