"""Plot the learning curves of docs/experiments.md from the CSV files that ``examples/train_selfplay.py`` writes.

python scripts/plot_curves.py docs/curves/seed*.csv --out docs/pictures/selfplay.png
"""

import argparse
import csv
from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

STYLES = ("-", "--", ":", "-.")


def read_curve(path: Path) -> dict[str, list[float]]:
    """Return the columns of a curve."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def plot(paths: list[Path], title: str) -> Figure:
    """Plot the win rates of all curves: a colour for each opponent, a line style for each curve."""
    rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for path, style in zip(paths, STYLES, strict=False):
        curve = read_curve(path)
        opponents = [name for name in curve if f"{name} low" in curve]
        for index, opponent in enumerate(opponents):
            colour = f"C{index}"
            axes.plot(
                curve["minutes"],
                [100 * win_rate for win_rate in curve[opponent]],
                style,
                color=colour,
                label=f"against {opponent}" if path is paths[0] else None,
            )
            low, high = ([100 * win_rate for win_rate in curve[f"{opponent} {end}"]] for end in ("low", "high"))
            axes.fill_between(curve["minutes"], low, high, color=colour, alpha=0.1, linewidth=0)
    axes.set(xlabel="minutes", ylabel="games won, %", ylim=(-2, 102), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    return figure


def main() -> None:
    """Parse arguments and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curves", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--title", default="Self-play on GEO Patrol, 10 minutes, three seeds")
    arguments = parser.parse_args()
    plot(arguments.curves, arguments.title).savefig(arguments.out, dpi=120)


if __name__ == "__main__":
    main()
