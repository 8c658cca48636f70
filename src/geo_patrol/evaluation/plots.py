"""Plots of tournaments and sweeps, with names of agents short enough for their axes."""

import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from geo_patrol.agents.registry import is_user_defined
from geo_patrol.errors import GeoPatrolError, optional_import
from geo_patrol.evaluation.results import WinRate
from geo_patrol.evaluation.sweep import Sweep
from geo_patrol.evaluation.tournament import Tournament

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


MAX_PANELS = 24
_MAX_ROWS = 100
_COLOURS = "RdYlBu"
_DOTS_PER_INCH = 120


class PlotSizeError(GeoPatrolError):
    """A sweep with too many values for a plot."""


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


def sweep_figure(sweep: Sweep) -> "Figure":
    """Plot win rates: lines with intervals for one variation, heat maps for two, a row of them for each further value.

    Raises:
        PlotSizeError: there would be more than ``MAX_PANELS`` heat maps, or very large ones.
    """
    _check_size(sweep.shape)
    rates = sweep.win_rates()
    further = math.prod(sweep.shape[2:])
    rows = 1 if len(sweep.shape) == 1 else sweep.shape[0]
    columns = sweep.shape[0] if len(sweep.shape) == 1 else sweep.shape[1]
    figure = _figure(len(rates) * (2.6 + 0.8 * columns), 1.2 + further * (2.2 + 0.5 * rows))
    axes = figure.subplots(further, len(rates), squeeze=False)
    for column, (label, cells) in enumerate(rates.items()):
        for row in range(further):
            axis = axes[row, column]
            if len(sweep.shape) == 1:
                _lines(axis, sweep, cells)
            else:
                shape = (*sweep.shape[:2], further)
                values = np.array([cell.win_rate for cell in cells]).reshape(shape)[:, :, row]
                intervals = np.array([_interval(cell) for cell in cells]).reshape(shape)[:, :, row]
                _heat(axis, values, sweep.variations[0].values, sweep.variations[1].values, intervals)
                axis.set_ylabel(sweep.variations[0].key)
                axis.set_xlabel(sweep.variations[1].key)
            axis.set_title("\n".join([label, *_further_values(sweep, row)]), fontsize=9)
    figure.suptitle(f"{sweep.title}: {sweep.games:,} games per cell, seed {sweep.seed}")
    return figure


def _check_size(shape: tuple[int, ...]) -> None:
    if 2 * math.prod(shape[2:]) > MAX_PANELS or max(shape[:2]) > _MAX_ROWS:
        raise PlotSizeError(
            f"a picture would need more than {MAX_PANELS} heat maps, or one of more than {_MAX_ROWS} rows"
        )


def _figure(width: float, height: float) -> "Figure":
    with optional_import("plots"):
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    return Figure(figsize=(max(width, 7), height), dpi=_DOTS_PER_INCH, layout="constrained")


def _lines(axis: Any, sweep: Sweep, cells: list[WinRate]) -> None:
    values = sweep.variations[0].values
    rates = np.array([cell.win_rate for cell in cells])
    margin = np.abs(np.array([cell.win_interval for cell in cells]).T - rates)
    axis.errorbar(range(len(values)), rates, yerr=margin, fmt="o-", capsize=4)
    axis.set_xticks(range(len(values)), values)
    axis.set_ylim(-0.03, 1.03)
    axis.yaxis.set_major_formatter(lambda rate, _: f"{rate:.0%}")
    axis.grid(alpha=0.4)
    axis.set_xlabel(sweep.variations[0].key)


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


def _interval(cell: WinRate) -> str:
    low, high = cell.win_interval
    return f"{100 * low:.1f}-{100 * high:.1f}"


def _further_values(sweep: Sweep, row: int) -> list[str]:
    """Return the values, in a row of heat maps, of the variations beyond the first two."""
    if len(sweep.shape) < 3:
        return []
    indices = np.unravel_index(row, sweep.shape[2:])
    varied = zip(sweep.variations[2:], indices, strict=True)
    return [f"{variation.key} = {variation.values[int(i)]}" for variation, i in varied]
