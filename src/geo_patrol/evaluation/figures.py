"""What figures of matches, tournaments and studies have in common, and the figure of a tournament."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.agents.registry import is_user_defined
from geo_patrol.base.errors import optional_import
from geo_patrol.base.files import atomic_path
from geo_patrol.evaluation.tournament import Tournament

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = "RdYlBu"
GREY = "#5d6779"
_DOTS_PER_INCH = 120
LABEL_SIZE, SIZE, FOOTER_SIZE = 8.5, 7.5, 6.5
"""Points of the labels of axes, of ticks, legends and titles, and of the line below: the same for every width."""


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
    elo = ratings.elo[order]
    margin = np.abs(ratings.intervals[order].T - elo)
    left.errorbar(elo, range(size), xerr=margin, fmt="o", capsize=4, color="tab:blue")
    left.set_yticks(range(size), [names[agent] for agent in order])
    left.set_ylim(size - 0.5, -0.5)
    left.grid(axis="x", alpha=0.4)
    left.set_xlabel("Elo, 95% intervals")
    left.set_title("ratings")
    counts = tournament.counts[np.ix_(order, order)]
    games = counts.sum(axis=2)
    rates = np.where(games > 0, counts[:, :, 0] / np.maximum(games, 1), np.nan)
    draw_heat(right, rates, [names[agent] for agent in order], [names[agent] for agent in order])
    right.set_xlabel("bravo")
    right.set_ylabel("alpha")
    right.set_title("win rate of alpha")
    figure.suptitle(f"{tournament.config.title}: {tournament.games:,} games per pairing, seed {tournament.seed}")
    return figure
