"""``geo-patrol tournament``: rate agents."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.cli import options, output
from geo_patrol.cli.options import write_plots

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from geo_patrol.evaluation import Tournament


_MAX_COLUMNS = 9  # agents in the table of alpha against bravo


def tournament(
    *,
    agents: options.AgentNames,
    scenario: options.ConfigOptions,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Games per pairing, even: half with sides swapped.")
    ] = 400,
    seed: options.Seed = None,
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Also play every agent against itself: what is each side worth?")
    ] = False,
    out: options.Out = None,
    playing: options.Playing,
) -> None:
    """Play a round robin on all cores, in pairs of games with the same seed and the sides swapped.

    Prints Bradley-Terry ratings with 95% intervals, win rates of every pairing from both sides, and the mixed equilibrium.
    An agent that raises, hangs or dies loses its running games and is listed at the end.
    """
    from geo_patrol.base.errors import optional_import
    from geo_patrol.evaluation import play_tournament
    from geo_patrol.evaluation.tournament import check_names

    with optional_import("stats"):
        import scipy.optimize  # noqa: F401 - before any game is played
    with output.bad_input():
        check_names(agents)
    config = scenario.resolved
    options.check_match(games, seed)
    playing.check(agents, folder=out)
    play = partial(play_tournament, agents, config=config, games=games, seed=seed, mirror=mirror, folder=out)
    result = playing.run("tournament", agents, play, config=config, folder=out)
    data = {"format": "geo_patrol tournament", "version": 1, "config": scenario.to_dict(), **result.to_dict()}
    if out is not None:
        _write_files(out, result, data)
    playing.write(lambda: data, lambda: print_tournament(result, scenario.source))


def _write_files(out: Path, result: "Tournament", data: dict[str, Any]) -> None:
    """Write the results as JSON, the tables as CSV, and plots."""
    from geo_patrol.evaluation.figures import tournament_figure

    output.write_json(str(out / "tournament.json"), data)
    output.write_csv(str(out / "ratings.csv"), result.rows("ratings"))
    output.write_csv(str(out / "pairings.csv"), result.rows("pairings"))
    write_plots(out / "tournament", tournament_figure, result)


def print_tournament(result: "Tournament", source: str) -> None:
    """Print ratings, pairings, win rates of alpha against bravo, the equilibrium, and the agents' errors."""
    from geo_patrol.evaluation.figures import short_names

    names = short_names(result.agents)
    heading = f"{len(result.agents)} agents, {result.games:,} games per pairing"
    console = output.print_heading(heading, f"{result.config.title} ({source}), seed {result.seed}")
    for name, version in zip(names, result.versions, strict=False):
        if version:
            console.print(f"{name}: {version}", soft_wrap=True, markup=False)
    _print_ratings(console, result, names)
    _print_pairings(console, result, names)
    _print_sides(console, result, names)
    _print_equilibria(console, result, names)
    _print_agent_errors(console, result)


def _print_ratings(console: "Console", result: "Tournament", names: list[str]) -> None:
    ratings = result.ratings
    numbers = ("Elo", "95% interval", "games", "wins", "as alpha", "as bravo", "draws")
    table = output.plain_table("agent", numbers=numbers)
    for agent in ratings.elo.argsort()[::-1].tolist():
        low, high = ratings.intervals[agent]
        total = result.record(agent)
        table.add_row(
            names[agent],
            f"{ratings.elo[agent]:+z.0f}",
            f"{low:+z.0f} {high:+z.0f}",
            f"{total.games:,}",
            f"{total.win_rate:.1%}",
            f"{result.record(agent, side=0).win_rate:.1%}",
            f"{result.record(agent, side=1).win_rate:.1%}",
            f"{total.draws:,}",
        )
    output.print_table(console, table)
    low, high = ratings.alpha_interval
    console.print(
        f"Playing alpha is worth {ratings.alpha_advantage:+z.0f} Elo ({low:+z.0f} {high:+z.0f}). Ratings have mean 0."
    )
    for group in ratings.groups if len(ratings.groups) > 1 else ():
        listed = ", ".join(names[agent] for agent in group)
        console.print(f"Far from the others, at an unknown distance: {listed}", soft_wrap=True)
    if len(result.agents) > 2:
        first, second, measured, expected = result.largest_residual()
        scores = f"{names[first]} scores {measured:.1%} against {names[second]}, by the ratings {expected:.1%}"
        console.print(f"Farthest from the ratings: {scores}.", soft_wrap=True)
    console.print()


def _print_pairings(console: "Console", result: "Tournament", names: list[str]) -> None:
    numbers = ("wins", "draws", "win rate", "95% interval", "as alpha", "as bravo")
    table = output.plain_table("pairing", numbers=numbers)
    for first, second in result.pairings:
        if first == second:
            continue
        total = result.record(first, second)
        table.add_row(
            f"{names[first]} - {names[second]}",
            f"{total.wins:,}",
            f"{total.draws:,}",
            f"{total.win_rate:.1%}",
            total.won.interval_text,
            f"{result.record(first, second, 0).win_rate:.1%}",
            f"{result.record(first, second, 1).win_rate:.1%}",
        )
    output.print_table(console, table)
    console.print()


def _print_sides(console: "Console", result: "Tournament", names: list[str]) -> None:
    """Print the win rates of row as alpha against column as bravo."""
    size = len(result.agents)
    if not 2 < size <= _MAX_COLUMNS:
        return
    numbers = [str(number + 1) for number in range(size)]
    table = output.plain_table("alpha wins (row: alpha, column: bravo)", numbers=numbers)
    for alpha in range(size):
        counts = result.counts[alpha]
        cells = [
            f"{wins / (wins + draws + losses):.0%}" if wins + draws + losses else "." for wins, draws, losses in counts
        ]
        table.add_row(f"{alpha + 1} {names[alpha]}", *cells)
    output.print_table(console, table)
    console.print()


def _print_equilibria(console: "Console", result: "Tournament", names: list[str]) -> None:
    def mixture(strategy: "NDArray[np.float64]", ends: "NDArray[np.float64]") -> str:
        ordered = (-strategy).argsort().tolist()
        return ", ".join(
            f"{names[agent]} {strategy[agent]:.1%} ({100 * ends[agent, 0]:.0f}-{ends[agent, 1]:.0%})"
            for agent in ordered
            if strategy[agent] > 0
        )

    played = mixture(result.equilibrium.rows, result.equilibrium_intervals.rows)
    console.print(f"Mixed equilibrium, random sides: {played}, with 95% intervals", soft_wrap=True)
    sides, intervals = result.side_equilibrium, result.side_equilibrium_intervals
    if sides is not None and intervals is not None:
        low, high = intervals.value
        console.print(f"Mixed equilibrium of alpha: {mixture(sides.rows, intervals.rows)}", soft_wrap=True)
        console.print(f"Mixed equilibrium of bravo: {mixture(sides.columns, intervals.columns)}", soft_wrap=True)
        console.print(
            f"Its value for alpha, wins minus losses per game: {sides.value:+z.3f} ({low:+z.3f} to {high:+z.3f})",
            soft_wrap=True,
        )


def _print_agent_errors(console: "Console", result: "Tournament") -> None:
    from rich.text import Text

    if result.agent_errors:
        console.print()
    for errors in result.agent_errors:
        messages = []
        if errors.illegal_orders:
            messages.append(f"{errors.illegal_orders:,} illegal orders")
        if errors.failures:
            messages.append(
                f"failed in {errors.failures:,} batches, which cost {errors.games_lost:,} games: {errors.message}"
            )
        console.print(Text(f"{errors.agent}: {'; '.join(messages)}"), soft_wrap=True)
