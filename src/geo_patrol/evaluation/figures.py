"""What figures of matches, tournaments and studies have in common, and the figure of a tournament."""

import io
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.agents.registry import is_user_defined
from geo_patrol.base.errors import optional_import
from geo_patrol.base.files import atomic_path
from geo_patrol.config.toml_files import value_text
from geo_patrol.evaluation.tournament import Tournament

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = "RdYlBu"
GREY = "#5d6779"
_DOTS_PER_INCH = 120
LABEL_SIZE, SIZE, FOOTER_SIZE = 8.5, 7.5, 6.5
"""Points of the labels of axes, of ticks, legends and titles, and of the line below: the same for every width."""
POINTS_PER_INCH = 72
LETTER_WIDTH = 0.56
"""Width of a letter of the figures' font, by its size, in the mean over English text."""
MAX_PANELS = 12
"""Panels of a figure."""
MAX_VALUES = 12
"""Values on an axis that a figure tells apart; more of them are grouped by similar values."""
SERIES_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, which people with any colour vision can tell apart."""
_MARKERS = "osD^vP*"


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


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, whose size is in inches."""
    with optional_import("plots"):
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    return Figure(figsize=(width, height), dpi=_DOTS_PER_INCH, layout="constrained")


def style_axes(axis: Any, xlabel: str = "", ylabel: str = "", *, is_rate: bool = False) -> None:
    """Give axes labels and the look of all figures; those of rates go from 0 to 100%."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.35)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=SIZE)
    axis.set_xlabel(xlabel, fontsize=LABEL_SIZE)
    axis.set_ylabel(ylabel, fontsize=LABEL_SIZE)
    if is_rate:
        axis.set_ylim(-0.03, 1.03)
        axis.yaxis.set_major_formatter(lambda rate, _: f"{100 * rate:.0f}%")


def wrap_text(text: str, inches: float, size: float = SIZE) -> str:
    """Break a text into lines of some width."""
    letters = max(int(inches * POINTS_PER_INCH / (LETTER_WIDTH * size)), 8)
    return textwrap.fill(text, letters, break_long_words=False, break_on_hyphens=False)


def settle(figure: "Figure") -> None:
    """Lay a figure out, once and for all.

    The solver of the layout ends with other last digits in every run; ids in files of the figure are hashes of them. Rounded,
    the same figure gives the same bytes.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((round(left, 4), round(bottom, 4), round(width, 4), round(height, 4)))


def series_style(index: int) -> dict[str, Any]:
    """Return the colour and the marker of one of several series."""
    return {"color": SERIES_COLOURS[index % len(SERIES_COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]}


def grid_figure(panels: int, width: float, least: float) -> tuple["Figure", list[Any], float]:
    """Return a figure of so many panels, its axes, and the inches of a panel: at least ``least`` where the figure has them."""
    columns = min(panels, max(int(width / least), 1))
    rows = -(-panels // columns)
    inches = width / columns
    figure = new_figure(width, rows * min(max(0.75 * inches, 2.1), 3.4) + 0.5)
    axes = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for axis in axes[panels:]:
        axis.set_visible(False)
    return figure, axes[:panels], inches


def title_panel(axis: Any, text: str, inches: float) -> None:
    """Give a panel, so many inches wide, a title."""
    axis.set_title(wrap_text(text, inches - 0.3, LABEL_SIZE), fontsize=LABEL_SIZE, parse_math=False)


def set_ticks(axis: Any, levels: Sequence[Any], positions: Any, inches: float) -> None:
    """Label a horizontal axis at the values that were played, as many of them as fit in some inches.

    Where values are many and not whole, as those of a range are, round numbers say more.
    """
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an extra

    labels = {float(place): value_text(level) for level, place in zip(levels, positions, strict=True)}
    places = sorted(labels)
    span = places[-1] - places[0]
    if span == 0:
        axis.set_xlim(places[0] - 1, places[0] + 1)
    if len(places) > MAX_VALUES and any(isinstance(level, float) for level in levels):
        axis.xaxis.set_major_locator(MaxNLocator(nbins=max(int(2 * inches), 3)))
        return
    letter = (
        LETTER_WIDTH * SIZE / POINTS_PER_INCH / max(inches - 0.9, 0.5) * (span or 1)
    )  # of an axis, without its labels
    if max(map(len, labels.values())) > 8:
        step = -(-len(places) // max(int(4 * inches), 1))
        axis.set_xticks(places[::step], [labels[place] for place in places[::step]], rotation=30, ha="right")
        return
    chosen: list[float] = []
    for place in [*reversed(places)]:  # from the last value, which lines are read for more often than for the first
        if not chosen or chosen[-1] - place > letter * (1 + (len(labels[place]) + len(labels[chosen[-1]])) / 2):
            chosen.append(place)
    axis.set_xticks(chosen[::-1], [labels[place] for place in chosen[::-1]])


def draw_legend(figure: "Figure", axis: Any) -> None:
    """Draw a legend of several series above the panels; one series is named by the line below."""
    handles, labels = axis.get_legend_handles_labels()
    if len(handles) > 1:
        widths = np.cumsum(
            [(LETTER_WIDTH * SIZE * length + 40) / POINTS_PER_INCH for length in sorted(map(len, labels))[::-1]]
        )
        columns = max(int((widths <= figure.get_figwidth()).sum()), 1)
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=SIZE)


def draw_intervals(
    axis: Any, names: Sequence[str], rows: Any, estimates: Any, intervals: Any, index: int = 0, label: str = ""
) -> None:
    """Plot estimates with their intervals one below the other, those of one of several series.

    Args:
        axis: where to draw.
        names: of the rows, the topmost first.
        rows: of every estimate, perhaps between two whole ones.
        estimates: (estimates,).
        intervals: (estimates, 2), both ends.
        index: of the series.
        label: of the series, for a legend.
    """
    margins = np.abs(np.reshape(intervals, (-1, 2)).T - estimates)
    style = series_style(index) | {"linestyle": "none", "markersize": 4.5, "capsize": 2.5}
    axis.errorbar(estimates, rows, xerr=margins, label=label, **style)
    axis.set_yticks(range(len(names)), names, parse_math=False)
    axis.set_ylim(len(names) - 0.5, -0.5)


def draw_heat(
    axis: Any, rates: Any, rows: Sequence[str], columns: Sequence[str], texts: Any = None, size: float = 8
) -> None:
    """Plot rates, (rows, columns), as colours and as text: percentages, or what ``texts`` holds."""
    tops, lefts = (np.arange(length + 1) - 0.5 for length in rates.shape)
    axis.pcolormesh(lefts, tops, rates, vmin=0, vmax=1, cmap=_COLOURS, edgecolors="face")  # shapes in SVG and PDF
    axis.invert_yaxis()
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axis.set_xticks(range(len(columns)), columns, **(slanted if max(map(len, columns)) > 5 else {}))
    axis.set_yticks(range(len(rows)), rows)
    for (row, column), rate in np.ndenumerate(rates):
        if not np.isnan(rate):
            text = f"{rate:.1%}" if texts is None else texts[row, column]
            colour = "white" if abs(rate - 0.5) > 0.35 else "black"
            axis.text(column, row, text, ha="center", va="center", fontsize=size, color=colour)


def figure_svg(figure: "Figure") -> str:
    """Return a figure as SVG text, the same for the same figure."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "geo_patrol", "font.family": "sans-serif"}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


_SVG_NAMES = {"Title": "Title", "Subject": "Description"}


def save_figure(
    path: Path, figure: "Figure", suffixes: Sequence[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Save a figure into files of a path with each suffix; the same figure gives the same bytes.

    Args:
        path: without suffix.
        figure: the figure.
        suffixes: such as ".svg".
        metadata: "Title" and "Subject" of the files.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    for suffix in suffixes:
        known: dict[str, str | None] = dict(metadata or {})
        if suffix == ".svg":  # times and versions of programs would make each file different
            named = {_SVG_NAMES[name]: value for name, value in known.items()} | {"Date": None, "Creator": None}
        else:
            named = known | ({"CreationDate": None, "Producer": None, "Creator": None} if suffix == ".pdf" else {})
        with (
            atomic_path(path.with_name(path.name + suffix)) as temporary,
            rc_context({"svg.hashsalt": "geo_patrol", "pdf.fonttype": 42}),
        ):
            figure.savefig(temporary, metadata=named)


def tournament_figure(tournament: Tournament) -> "Figure":
    """Plot ratings with their intervals, and win rates of row as alpha against column as bravo."""
    names, ratings = short_names(tournament.agents), tournament.ratings
    order = np.argsort(ratings.elo)[::-1]
    size = len(names)
    figure = new_figure(5.5 + 0.75 * size + 2, 2.2 + 0.45 * size)
    left, right = figure.subplots(1, 2, width_ratios=[4, 2 + 0.75 * size])
    ordered = [names[agent] for agent in order]
    style_axes(left, "Elo, 95% intervals")
    draw_intervals(left, ordered, range(size), ratings.elo[order], ratings.intervals[order])
    left.set_title("ratings")
    counts = tournament.counts[np.ix_(order, order)]
    games = counts.sum(axis=2)
    rates = np.where(games > 0, counts[:, :, 0] / np.maximum(games, 1), np.nan)
    draw_heat(right, rates, ordered, ordered)
    right.set_xlabel("bravo")
    right.set_ylabel("alpha")
    right.set_title("win rate of alpha")
    figure.suptitle(f"{tournament.config.title}: {tournament.games:,} games per pairing, seed {tournament.seed}")
    return figure
