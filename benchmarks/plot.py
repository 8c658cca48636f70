"""The plot: throughput over the number of games, for both encodings and thread counts."""

from pathlib import Path

from benchmarks.results import Results, agent_steps_per_second, bytes_per_second, summarize

_LINES = {
    "tokens-1": ("tokens, 1 thread", "#0072b2", "-"),
    "tokens-2": ("tokens, 2 threads", "#0072b2", "--"),
    "onehot-1": ("one-hot, 1 thread", "#d55e00", "-"),
    "onehot-2": ("one-hot, 2 threads", "#d55e00", "--"),
}
_REFERENCES = {"envpool-cartpole": "EnvPool CartPole-v1, 1,024, 1 thread"}
_METADATA = {"Date": None}
"""No date, so that equal results give equal files."""


def draw(results: Results, *paths: Path) -> None:
    """Write the plot to files, each in the format of its suffix.

    Raises:
        ValueError: the run has no results of the vector environment.
        ModuleNotFoundError: matplotlib is not installed.
    """
    if not any(results.sweep(name) for name in _LINES):
        raise ValueError("no results of the vector environment")
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "geo_patrol"
    from matplotlib import pyplot as plt
    from matplotlib import ticker

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name, (label, colour, style) in _LINES.items():
        points = results.sweep(name)
        summaries = [summarize(agent_steps_per_second(point)) for point in points]
        batches = [point.batch for point in points]
        axes.plot(
            batches, [each.median for each in summaries], style, color=colour, marker="o", markersize=4, label=label
        )
        axes.fill_between(
            batches, [each.low for each in summaries], [each.high for each in summaries], color=colour, alpha=0.15
        )
    for name, label in _REFERENCES.items():
        if point := results.point(name):
            axes.axhline(summarize(agent_steps_per_second(point)).median, color="0.4", linestyle=":", label=label)
    onehot, copy = results.point("onehot-1"), results.point("copy")
    if onehot and copy:
        limit = summarize(bytes_per_second(copy)).median / onehot.payload * onehot.agent_steps
        axes.axhline(limit, color="#d55e00", linestyle=":", alpha=0.6, label="one-hot at the speed of a copy, one core")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="games side by side (both seats of each)",
        ylabel="agent steps a second",
        title="geo_patrol vector environment: medians, lowest to highest round shaded",
    )
    batches = sorted({point.batch for name in _LINES for point in results.sweep(name)})
    axes.set_xticks(batches, [f"{batch:,}" for batch in batches])
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.EngFormatter())
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    for path in paths:
        figure.savefig(path, metadata=_METADATA if path.suffix == ".svg" else None, dpi=120)
    plt.close(figure)
