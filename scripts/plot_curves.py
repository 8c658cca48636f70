"""Draw the learning curves of docs/training.md from the tables that ``examples/train_selfplay.py`` left.

python scripts/plot_curves.py docs/curves/*.csv --out docs/pictures/selfplay.png
"""

import argparse
import csv
from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

STYLES = ("-", "--", ":", "-.")


def read_curve(path: Path) -> dict[str, list[float]]:
    """Return the columns of a table."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def draw(paths: list[Path], title: str) -> Figure:
    """Draw the win rates of all tables: a colour for each rival, a line style for each table."""
    rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for path, style in zip(paths, STYLES, strict=False):
        curve = read_curve(path)
        rivals = [name for name in curve if f"{name} low" in curve]
        for place, rival in enumerate(rivals):
            colour = f"C{place}"
            axes.plot(
                curve["minutes"],
                [100 * rate for rate in curve[rival]],
                style,
                color=colour,
                label=f"against {rival}" if path is paths[0] else None,
            )
            low, high = ([100 * rate for rate in curve[f"{rival} {end}"]] for end in ("low", "high"))
            axes.fill_between(curve["minutes"], low, high, color=colour, alpha=0.1, linewidth=0)
    axes.set(xlabel="minutes", ylabel="games won, %", ylim=(-2, 102), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    return figure


def main() -> None:
    """Draw a picture of the tables given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--title", default="Self-play on GEO Patrol, 10 minutes, three seeds")
    arguments = parser.parse_args()
    draw(arguments.tables, arguments.title).savefig(arguments.out, dpi=120)


if __name__ == "__main__":
    main()
