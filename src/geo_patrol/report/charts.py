"""Charts of a report as SVG by Matplotlib. The only foreign text in them are agents' names, as plain text."""

import io
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geo_patrol.errors import optional_import
from geo_patrol.report.collect import AgentResults, Collected
from geo_patrol.scenes.paper import INK, SIDE_FILLS, SIDE_LINES, SOFT
from geo_patrol.sides import SIDES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GRID = "#e4e8ef"
_MAX_BARS = 24
"""Rows of the chart of win rates."""


def _subplots(width: float, height: float, xlabel: str, ylabel: str = "") -> "tuple[Figure, Axes]":
    with optional_import("plots"):
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(SOFT)
    axes.tick_params(colors=SOFT, labelsize=9, labelcolor=INK)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.set_xlabel(xlabel, color=INK, fontsize=9)
    axes.set_ylabel(ylabel, color=INK, fontsize=9)
    return figure, axes


def _svg(figure: "Figure") -> str:
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "geo_patrol", "font.family": "sans-serif"}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def win_rates(collected: Collected) -> str:
    """Plot every agent's win rate with its 95 % interval, by side and in total."""
    marks = {"alpha": ("s", SIDE_FILLS["alpha"]), "bravo": ("D", SIDE_FILLS["bravo"]), "either": ("o", INK)}
    names = list(dict.fromkeys(name for name, _ in collected.agent_results))[:_MAX_BARS]
    figure, axes = _subplots(7.2, 1.0 + 0.62 * len(names), "games won, 95 % interval")
    for row, name in enumerate(reversed(names)):
        for i, (where, (marker, colour)) in enumerate(marks.items()):
            results = collected.agent_results.get((name, where))
            if results is not None and results.games:
                _interval(axes, results, row + 0.22 * (1 - i), marker, colour)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(names) - 0.4))
    axes.set_yticks(range(len(names)), [_short(name) for name in reversed(names)], parse_math=False)
    axes.set_xticks(np.linspace(0, 1, 6), [f"{rate:.0%}" for rate in np.linspace(0, 1, 6)])
    handles = [
        axes.plot([], [], marker, color=colour, label=f"as {where}" if where != "either" else "on both sides")[0]
        for where, (marker, colour) in marks.items()
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=3, frameon=False, fontsize=9)
    return _svg(figure)


def _interval(axes: "Axes", results: AgentResults, height: float, marker: str, colour: str) -> None:
    low, high = results.interval
    axes.plot([low, high], [height, height], color=colour, linewidth=2.2, solid_capstyle="round")
    axes.plot([results.wins / results.games], [height], marker, color=colour, markersize=7)


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}\N{HORIZONTAL ELLIPSIS}"


def score_curves(collected: Collected) -> str:
    """Plot the mean score after every turn with the central 80 % of the games, and the number of running games."""
    figure, axes = _subplots(7.2, 3.3, "turns played", "score")
    counts: list[int] = []
    for side in SIDES:
        scores = [np.array(turn) for turn in collected.curves[side].values()]
        counts = [len(turn) for turn in scores]
        turns = np.arange(len(scores))
        low, high = (np.array([np.quantile(turn, q) for turn in scores]) for q in (0.1, 0.9))
        colour = SIDE_FILLS[side]
        axes.fill_between(turns, low, high, color=colour, alpha=0.16, linewidth=0)
        axes.plot(turns, [turn.mean() for turn in scores], color=colour, linewidth=2.2, label=side)
    axes.set_xlim(0, max(len(counts) - 1, 1))
    axes.legend(frameon=False, fontsize=9, loc="upper center", ncols=2)
    _plot_num_running(axes, counts)
    return _svg(figure)


def _plot_num_running(axes: "Axes", counts: Sequence[int]) -> None:
    right = axes.twinx()
    right.spines[["top", "left", "bottom"]].set_visible(False)
    right.spines["right"].set_color(_GRID)
    right.plot(range(len(counts)), counts, color=SOFT, linewidth=1.2, linestyle=(0, (2, 2)))
    right.set_ylim(0, max(counts, default=1) * 1.08)
    right.tick_params(colors=SOFT, labelsize=8)
    right.set_ylabel("games that got so far (dotted)", color=SOFT, fontsize=8)


def losses(collected: Collected) -> str:
    """Plot the number of satellites lost in each turn."""
    figure, axes = _subplots(7.2, 2.8, "turn", "satellites lost")
    last = max((turn for turn, _, _ in collected.losses), default=1)
    turns = np.arange(1, last + 1)
    for offset, side in zip((-0.2, 0.2), SIDES, strict=True):
        patrols, hvas = (
            np.array([collected.losses[turn, side, is_hva] for turn in turns.tolist()]) for is_hva in (False, True)
        )
        axes.bar(turns + offset, patrols, 0.38, color=SIDE_FILLS[side], label=f"{side} Patrols")
        axes.bar(
            turns + offset, hvas, 0.38, bottom=patrols, color="white", edgecolor=SIDE_LINES[side], hatch="////",
            linewidth=0.9, label=f"{side} HVA",
        )  # fmt: skip
    axes.set_xlim(0.4, last + 0.6)
    axes.legend(frameon=False, fontsize=9, ncols=2)
    return _svg(figure)


def lengths(turns: Counter[int]) -> str:
    """Plot a histogram of the lengths of games."""
    figure, axes = _subplots(7.2, 2.2, "turns of a game", "games")
    axes.bar(list(turns), list(turns.values()), 0.8, color=SOFT)
    return _svg(figure)
