"""Figures of tournaments and studies, with names of agents short enough for their axes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.agents.registry import is_user_defined
from geo_patrol.errors import optional_import
from geo_patrol.evaluation.questions import RATES, Answered
from geo_patrol.evaluation.study import CURVE_TURNS, Study, is_rate, summarise_games
from geo_patrol.evaluation.study_file import in_words, positions_of, value_text
from geo_patrol.evaluation.tournament import Tournament
from geo_patrol.versions import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def short_names(names: Sequence[str]) -> list[str]:
    """Drop the files and modules of user-defined agents, or their folders, as long as all names stay different."""
    for shorten in (_class_only, _without_folders):
        short = [shorten(name) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def _class_only(name: str) -> str:
    return PurePath(name.rpartition(":")[2]).name if is_user_defined(name) else name


def _without_folders(name: str) -> str:
    home, _, attribute = name.rpartition(":")
    return f"{PurePath(home).name}:{attribute}" if is_user_defined(name) else name


MAX_PANELS = 12
"""Panels of a figure of a study."""
_MAX_CELLS = 30
"""Values of a factor in a heat map."""
_COLOURS = "RdYlBu"
_PAIR_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Of pairs of agents: Okabe and Ito's, which people with any colour vision can tell apart."""
_MARKERS = "osD^vP*"
_GREY = "#5d6779"
_DOTS_PER_INCH = 120


def tournament_figure(tournament: Tournament) -> "Figure":
    """Plot ratings with their intervals, and win rates of row as alpha against column as bravo."""
    names, ratings = short_names(tournament.agents), tournament.ratings
    order = np.argsort(ratings.elo)[::-1]
    size = len(names)
    figure = _figure(5.5 + 0.75 * size + 2, 2.2 + 0.45 * size)
    left, right = figure.subplots(1, 2, width_ratios=[4, 2 + 0.75 * size])
    elo = ratings.elo[order]
    margin = np.abs(ratings.intervals[order].T - elo)
    left.errorbar(elo, range(size), xerr=margin, fmt="o", capsize=4, color="tab:blue")
    left.set_yticks(range(size), [names[agent] for agent in order])
    left.set_ylim(size - 0.5, -0.5)
    left.grid(axis="x", alpha=0.4)
    left.set_xlabel("Elo, 95 % intervals")
    left.set_title("ratings")
    counts = tournament.counts[np.ix_(order, order)]
    games = counts.sum(axis=2)
    rates = np.where(games > 0, counts[:, :, 0] / np.maximum(games, 1), np.nan)
    _heat(right, rates, [names[agent] for agent in order], [names[agent] for agent in order])
    right.set_xlabel("bravo")
    right.set_ylabel("alpha")
    right.set_title("win rate of alpha")
    figure.suptitle(f"{tournament.config.title}: {tournament.games:,} games per pairing, seed {tournament.seed}")
    return figure


# Studies


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


def study_figures(study: Study) -> list[NamedFigure]:
    """Draw the figures of a study: its cells, its questions, and what happens turn by turn."""
    drawn = [*_draw_cells(study)]
    for number, answered in enumerate(study.answered, start=1):
        draw = {"ranking": _draw_ranking, "worth": _draw_differences}.get(answered.question.kind, _draw_search)
        drawn += draw(study, answered, f"question{number}")
    return [*drawn, *_draw_curves(study)]


def _named(study: Study, name: str, title: str, caption: str, figure: "Figure") -> NamedFigure:
    """Return a figure with the line that says what it is from."""
    plan = study.plan
    scenarios = ", ".join(each.name for each in plan.scenarios[:4]) + (", ..." if len(plan.scenarios) > 4 else "")
    stamp = f"{scenarios}; seed {plan.file.seed}; geo_patrol {__version__}; study {study.digest}"
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, 0.18 / figure.get_figheight(), 1, 1 - 0.18 / figure.get_figheight()))
    figure.text(0.995, 0.005, stamp, ha="right", va="bottom", fontsize=6, color=_GREY, parse_math=False)
    return NamedFigure(name, title, caption, figure, {"Title": f"{plan.file.title}: {title}", "Subject": stamp})


def _draw_cells(study: Study) -> Iterator[NamedFigure]:
    """Draw win rates over the factors."""
    plan = study.plan
    shape = [len(factor.values or ()) for factor in plan.file.factors.values()]
    if not shape or len(plan.cells) < 2:
        return
    is_grid = plan.design.kind == "grid"
    if is_grid and len(shape) == 1:
        title, caption = "Games that alpha wins", "Bars are 95 % intervals."
        yield _named(study, "wins", title, caption, _line_figure(study, "alpha wins", "games that alpha wins"))
        caption = (
            "Alpha's points less bravo's at the end: the median, and from the 5th to the 95th of 100 games (shaded)."
        )
        yield _named(study, "margin", "Margin", caption, _line_figure(study, "margin", "margin in points"))
    elif is_grid and len(shape) == 2 and max(shape) <= _MAX_CELLS and _panels(study) <= MAX_PANELS:
        caption = "Below each share is its 95 % interval."
        yield _named(study, "wins", "Games that alpha wins", caption, _heat_figure(study))
    else:
        caption = "A dot is a cell; the line is the mean of the cells with a similar value."
        yield _named(study, "wins", "Games that alpha wins, by factor", caption, _scatter_figure(study))


def _panels(study: Study) -> int:
    return len(study.plan.scenarios) * len(study.plan.file.agents)


def _style(axis: Any, xlabel: str = "", ylabel: str = "", *, is_rate: bool = False) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.35)
    axis.set_axisbelow(True)
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    if is_rate:
        axis.set_ylim(-0.03, 1.03)
        axis.yaxis.set_major_formatter(lambda rate, _: f"{100 * rate:.0f} %")


def _pair_style(index: int) -> dict[str, Any]:
    return {"color": _PAIR_COLOURS[index % len(_PAIR_COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]}


def _pair_name(pair: tuple[str, str]) -> str:
    names = short_names(pair)
    return f"{names[0]} on both sides" if pair[0] == pair[1] else f"{names[0]} (alpha), {names[1]} (bravo)"


def _grid_figure(panels: int, width: float, height: float) -> tuple["Figure", list[Any]]:
    """Return a figure of so many panels, at most three beside each other, and its axes."""
    columns = min(panels, 3)
    rows = -(-panels // columns)
    figure = _figure(columns * width, rows * height + 0.6)
    axes = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for axis in axes[panels:]:
        axis.set_visible(False)
    return figure, axes[:panels]


def _set_ticks(axis: Any, levels: Sequence[Any], positions: Any) -> None:
    """Label an axis by values: as numbers where they are, otherwise one by one."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an extra

    if all(isinstance(level, (int, float)) for level in levels):
        is_whole = all(isinstance(level, int) for level in levels)
        axis.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=is_whole))
        if len(levels) == 1:
            axis.set_xlim(positions[0] - 1, positions[0] + 1)
        return
    chosen = range(0, len(levels), -(-len(levels) // 12))
    axis.set_xticks([positions[i] for i in chosen], [value_text(levels[i]) for i in chosen], rotation=30, ha="right")


def _line_figure(study: Study, measure: str, label: str) -> "Figure":
    """Plot a measure over the only factor, a panel for each scenario and a line for each pair of agents."""
    plan = study.plan
    scenarios = len(plan.scenarios[:MAX_PANELS])
    figure, axes = _grid_figure(scenarios, 4.6 if scenarios > 1 else 6.4, 3.4)
    rate = is_rate(measure)
    for scenario, axis in enumerate(axes):
        cells = [(number, cell) for number, cell in enumerate(plan.cells) if cell.scenario == scenario]
        levels = [cell.values[0] for _, cell in cells]
        positions = positions_of(levels)
        for index, pair in enumerate(plan.file.agents):
            found = [summarise_games(study.games[number, index], measure, (0.05, 0.5, 0.95)) for number, _ in cells]
            style, name = _pair_style(index), _pair_name(pair)
            if rate:
                means = np.array([each["mean"] for each in found])
                ends = np.array([[each["low"], each["high"]] for each in found]).T
                axis.errorbar(
                    positions, means, yerr=np.abs(ends - means), capsize=3, linewidth=1.4, label=name, **style
                )
            else:
                low, middle, high = (np.array([each[name_] for each in found]) for name_ in ("q05", "q50", "q95"))
                axis.fill_between(positions, low, high, color=style["color"], alpha=0.14, linewidth=0)
                axis.plot(positions, middle, linewidth=1.4, label=name, **style)
        _style(axis, in_words(next(iter(plan.file.factors))), label, is_rate=rate)
        _set_ticks(axis, levels, positions)
        axis.set_title(plan.scenarios[scenario].name, fontsize=10, parse_math=False)
    _legend(figure, axes[0])
    return figure


def _legend(figure: "Figure", axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 3), frameon=False, fontsize=8)


def _heat_figure(study: Study) -> "Figure":
    """Plot alpha's win rate over two factors, a panel for each scenario and pair of agents."""
    plan = study.plan
    (first, rows), (second, columns) = ((name, factor.values or ()) for name, factor in plan.file.factors.items())
    figure, axes = _grid_figure(_panels(study), max(0.75 * len(columns), 3) + 1.2, max(0.45 * len(rows), 2) + 1.1)
    places = [(scenario, index) for scenario in range(len(plan.scenarios)) for index in range(len(plan.file.agents))]
    for axis, (scenario, index) in zip(axes, places, strict=True):
        found = [
            summarise_games(study.games[number, index], "alpha wins", ())
            for number, cell in enumerate(plan.cells)
            if cell.scenario == scenario
        ]
        shape = len(rows), len(columns)
        rates = np.array([each["mean"] for each in found]).reshape(shape)
        below = np.array([f"{100 * each['low']:.1f}-{100 * each['high']:.1f}" for each in found]).reshape(shape)
        _heat(axis, rates, list(map(value_text, rows)), list(map(value_text, columns)), below)
        axis.set_ylabel(in_words(first))
        axis.set_xlabel(in_words(second))
        title = _pair_name(plan.file.agents[index])
        scenarios = len(plan.scenarios) > 1
        axis.set_title(
            f"{plan.scenarios[scenario].name}\n{title}" if scenarios else title, fontsize=9, parse_math=False
        )
    return figure


_BINS = 8


def _scatter_figure(study: Study) -> "Figure":
    """Plot alpha's win rate over each factor, a dot for each cell."""
    plan = study.plan
    names = list(plan.file.factors)[:MAX_PANELS]
    figure, axes = _grid_figure(len(names), 3.4, 2.6)
    rates = {place: float((games["winner"] == 0).mean()) for place, games in study.games.items()}
    for number, (name, axis) in enumerate(zip(names, axes, strict=True)):
        levels = [cell.values[number] for cell in plan.cells]
        texts = list(dict.fromkeys(map(value_text, levels)))
        positions = positions_of(levels)
        if not all(isinstance(level, (int, float)) for level in levels):
            positions = np.array([texts.index(value_text(level)) for level in levels], np.float64)
        for index, pair in enumerate(plan.file.agents):
            style = _pair_style(index)
            values = np.array([rates[cell, index] for cell in range(len(plan.cells))])
            axis.scatter(positions, values, s=9, alpha=0.35, linewidths=0, **style)
            edges = np.unique(np.quantile(positions, np.linspace(0, 1, _BINS + 1)))
            bins = np.clip(np.searchsorted(edges, positions, "right") - 1, 0, max(len(edges) - 2, 0))
            middles = [float(positions[bins == each].mean()) for each in np.unique(bins)]
            means = [float(values[bins == each].mean()) for each in np.unique(bins)]
            axis.plot(middles, means, color=style["color"], linewidth=1.6, label=_pair_name(pair))
        _style(axis, in_words(name), "alpha wins", is_rate=True)
        _set_ticks(
            axis, levels if len(texts) == len(levels) else [_as_number(text) for text in texts], np.unique(positions)
        )
    _legend(figure, axes[0])
    return figure


def _as_number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _draw_search(study: Study, answered: Answered, name: str) -> Iterator[NamedFigure]:
    """Draw what a search looked at: rates with intervals, the rate that was asked for, and the interval of the answer."""
    searches = [answer for answer in answered.answers if answer.levels]
    where = list(dict.fromkeys(study.plan.describe(answer.cell) for answer in searches))[:MAX_PANELS]
    if not where:
        return
    question: Any = answered.question
    rate = getattr(question, "rate", 0.5)
    measure = getattr(question, "measure", "alpha wins")
    figure, axes = _grid_figure(len(where), 4.6 if len(where) > 1 else 6.4, 3.4)
    for axis, place in zip(axes, where, strict=True):
        shown = [answer for answer in searches if study.plan.describe(answer.cell) == place]
        levels = [level for answer in shown for level in answer.levels]
        axis.axhline(rate, color=_GREY, linewidth=1, linestyle=(0, (4, 3)))
        for answer in shown:
            style = _pair_style(study.plan.file.agents.index(answer.pair))
            positions = np.array([level.position for level in answer.levels])
            rates = np.array([level.rate for level in answer.levels])
            ends = np.array([level.interval for level in answer.levels]).T
            axis.errorbar(
                positions,
                rates,
                yerr=np.abs(ends - rates),
                capsize=3,
                linewidth=1.2,
                label=_pair_name(answer.pair),
                **style,
            )
            if answer.interval is not None:
                span = np.clip(answer.interval, positions.min(), positions.max())
                axis.axvspan(*span, color=style["color"], alpha=0.15, linewidth=0)
        _style(axis, in_words(question.factor[0]), _MEASURE_WORDS[measure], is_rate=True)
        ticks = {level.position: level.value for level in levels}
        _set_ticks(axis, [ticks[position] for position in sorted(ticks)], sorted(ticks))
        axis.set_title(place, fontsize=9, parse_math=False)
    _legend(figure, axes[0])
    caption = (
        f"Dots are the values that the search looked at, with 95 % intervals: where the rate is near {100 * rate:.0f} %"
        " (dashed), it played most games. The shaded part is the 95 % interval of where the rate is crossed."
    )
    yield _named(study, name, answered.title, caption, figure)


_MEASURE_WORDS = {
    "alpha wins": "games that alpha wins",
    "bravo wins": "games that bravo wins",
    "draws": "games that are drawn",
}


def _draw_differences(study: Study, answered: Answered, name: str) -> Iterator[NamedFigure]:
    """Draw what changes are worth, with intervals."""
    answers = answered.answers[:_MAX_ROWS]
    rows = list(dict.fromkeys((study.plan.describe(answer.cell), answer.subject) for answer in answers))
    scale = 100 if getattr(answered.question, "measure", "") in RATES else 1
    figure = _figure(7.2, 1.5 + 0.42 * len(rows))
    axis = figure.subplots()
    axis.axvline(0, color=_GREY, linewidth=1)
    pairs, labelled = len(study.plan.file.agents), set()
    for answer in answers:
        index = study.plan.file.agents.index(answer.pair)
        row = rows.index((study.plan.describe(answer.cell), answer.subject)) + 0.5 * (index + 0.5 - pairs / 2) / pairs
        low, high = answer.interval or (0.0, 0.0)
        estimate = answer.estimate or 0.0
        label = None if index in labelled else _pair_name(answer.pair)
        labelled.add(index)
        error = [[scale * (estimate - low)], [scale * (high - estimate)]]
        axis.errorbar(
            [scale * estimate],
            [row],
            xerr=np.maximum(error, 0),
            capsize=3,
            linestyle="none",
            label=label,
            **_pair_style(index),
        )
    axis.set_yticks(range(len(rows)), [", ".join(filter(None, row)) for row in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    measure = getattr(answered.question, "measure", "")
    _style(axis, f"{measure}: difference in {'percentage points' if scale == 100 else 'points or turns'}")
    _legend(figure, axis)
    caption = "Differences between games that share their seeds, one by one, with 95 % intervals."
    yield _named(study, name, answered.title, caption, figure)


_MAX_ROWS = 60


def _draw_ranking(study: Study, answered: Answered, name: str) -> Iterator[NamedFigure]:
    """Draw how much factors matter, with intervals, a panel for each scenario."""
    statistics = ("mean absolute effect", "total-order index")
    shown = [answer for answer in answered.answers if answer.statistic in statistics]
    scenarios = list(dict.fromkeys(answer.cell.scenario for answer in shown))[:MAX_PANELS]
    if not scenarios:
        return
    strength = {
        factor: max(answer.estimate or 0 for answer in shown if answer.subject == factor)
        for factor in study.plan.file.factors
    }
    order = sorted(strength, key=lambda factor: -strength[factor])
    figure = _figure(6.4, (1.1 + 0.36 * len(order)) * len(scenarios))
    axes = figure.subplots(len(scenarios), 1, squeeze=False).flatten()
    pairs = len(study.plan.file.agents)
    for axis, scenario in zip(axes, scenarios, strict=True):
        for index, pair in enumerate(study.plan.file.agents):
            found = {
                answer.subject: answer for answer in shown if answer.pair == pair and answer.cell.scenario == scenario
            }
            rows = np.arange(len(order)) + 0.5 * (index + 0.5 - pairs / 2) / pairs
            effects = np.array([found[factor].estimate or 0.0 for factor in order])
            ends = np.array([found[factor].interval or (0.0, 0.0) for factor in order]).T
            style = _pair_style(index) | {"linestyle": "none"}
            axis.errorbar(effects, rows, xerr=np.abs(ends - effects), capsize=3, label=_pair_name(pair), **style)
        axis.set_yticks(range(len(order)), list(map(in_words, order)))
        axis.set_ylim(len(order) - 0.5, -0.5)
        axis.set_xlim(left=0)
        _style(axis, f"{shown[0].statistic} on: {getattr(answered.question, 'measure', '')}")
        if len(scenarios) > 1:
            axis.set_title(study.plan.scenarios[scenario].name, fontsize=9, parse_math=False)
    _legend(figure, axes[0])
    caption = (
        "How much the rate or value changes on average when the factor moves across a part of its range (Morris), with 95 % intervals."
        if shown[0].statistic == statistics[0]
        else "The share of the variance that goes away if the factor is fixed (Sobol' index of total order), with 95 % intervals."
    )
    yield _named(study, name, answered.title, caption, figure)


def _draw_curves(study: Study) -> Iterator[NamedFigure]:
    """Draw mean scores and Patrols turn by turn, of the first cell of every scenario."""
    firsts = [
        next(n for n, cell in enumerate(study.plan.cells) if cell.scenario == s)
        for s in range(len(study.plan.scenarios))
    ]
    places = [(n, index) for n in firsts for index in range(len(study.plan.file.agents)) if (n, index) in study.curves]
    places = [place for place in places if len(study.curves[place])][:MAX_PANELS]
    if not places:
        return
    figure, axes = _grid_figure(len(places), 3.8, 2.9)
    for axis, place in zip(axes, places, strict=True):
        number, index = place
        curve, games = study.curves[place][:CURVE_TURNS], len(study.games[place])
        turns = np.arange(1, len(curve) + 1)
        for side, colour, column in (("alpha", _PAIR_COLOURS[0], 1), ("bravo", _PAIR_COLOURS[1], 2)):
            axis.plot(turns, curve[:, column] / games, color=colour, linewidth=1.8, label=f"{side}'s points")
            axis.plot(
                turns, 10 * curve[:, column + 2] / games, color=colour, linewidth=1.1, linestyle=(0, (3, 2)),
                label=f"{side}'s Patrols with fuel, times 10",
            )  # fmt: skip
        axis.fill_between(
            turns, 0, 100 * curve[:, 0] / games, color=_GREY, alpha=0.15, linewidth=0, label="games that go on, %"
        )
        _style(axis, "turns played")
        _set_ticks(axis, turns.tolist(), turns)
        axis.set_ylim(bottom=0)
        names = [study.plan.describe(study.plan.cells[number]), _pair_name(study.plan.file.agents[index])]
        axis.set_title("\n".join(filter(None, names)), fontsize=8, parse_math=False)
    _legend(figure, axes[0])
    caption = "Means over all games after every turn; a game that is over keeps its last values."
    yield _named(study, "turns", "Turn by turn", caption, figure)


def _figure(width: float, height: float) -> "Figure":
    with optional_import("plots"):
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    return Figure(figsize=(max(width, 7), height), dpi=_DOTS_PER_INCH, layout="constrained")


def _heat(axis: Any, rates: Any, rows: Sequence[str], columns: Sequence[str], below: Any = None) -> None:
    """Plot rates, (rows, columns), as colours and as text, with the texts of ``below`` beneath."""
    tops, lefts = (np.arange(size + 1) - 0.5 for size in rates.shape)
    axis.pcolormesh(lefts, tops, rates, vmin=0, vmax=1, cmap=_COLOURS, edgecolors="face")  # shapes in SVG and PDF
    axis.invert_yaxis()
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axis.set_xticks(range(len(columns)), columns, **(slanted if max(map(len, columns)) > 5 else {}))
    axis.set_yticks(range(len(rows)), rows)
    for (row, column), rate in np.ndenumerate(rates):
        if not np.isnan(rate):
            text = f"{rate:.1%}" if below is None else f"{rate:.1%}\n{below[row, column]}"
            colour = "white" if abs(rate - 0.5) > 0.35 else "black"
            axis.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
