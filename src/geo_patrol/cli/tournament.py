"""``geo-patrol tournament``: play a round robin."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.cli import options
from geo_patrol.cli.campaign import Campaign, write_plots
from geo_patrol.cli.errors import bad_input, plain_errors
from geo_patrol.cli.output import percent_interval, plain_table, print_heading, win_rate_columns, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from geo_patrol.evaluation import Tournament

_MAX_COLUMNS = 9  # agents in the table of alpha against bravo


@plain_errors
def tournament(
    agents: options.AgentNames,
    config: options.ConfigOption = "geo_patrol",
    overrides: options.OverridesOption = None,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Games per pairing, even: half with sides swapped.")
    ] = 400,
    seed: options.Seed = None,
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Also play every agent against itself: what is each side worth?")
    ] = False,
    processes: options.Processes = None,
    ray: options.Ray = None,
    move_time: options.MoveTime = 0.1,
    out: options.Out = None,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Play a round robin on all cores, in pairs of games with the same seed and the sides swapped.

    Prints Bradley-Terry ratings with 95 % intervals, win rates of every pairing from both sides, and the mixed equilibrium.
    An agent that raises, hangs or dies loses its running games and is listed at the end.
    """
    from geo_patrol.errors import optional_import
    from geo_patrol.evaluation import play_tournament
    from geo_patrol.evaluation.tournament import check_names

    with optional_import("stats"):
        import scipy.optimize  # noqa: F401 - before any game is played
    with bad_input():
        check_names(agents)
    campaign = Campaign(
        agents=agents,
        config=config,
        overrides=overrides,
        games=games,
        seed=seed,
        move_time=move_time,
        processes=processes,
        ray=ray,
        out=out,
        json=json,
        quiet=quiet,
    )
    play = partial(play_tournament, agents, config=campaign.resolved, games=games, seed=seed, mirror=mirror, folder=out)
    campaign.run("tournament", "tournament", play, print_tournament, write_files)


def write_files(out: Path, result: "Tournament", data: dict[str, Any]) -> None:
    """Write the tables as CSV, and plots."""
    from geo_patrol.evaluation.plots import tournament_figure

    write_csv(str(out / "ratings.csv"), [_rating_row(entry) for entry in data["ratings"]])
    write_csv(str(out / "pairings.csv"), [_pairing_row(entry) for entry in data["pairings"]])
    write_plots(out / "tournament", tournament_figure, result)


def _rating_row(entry: dict[str, Any]) -> dict[str, Any]:
    low, high = entry["elo_interval"]
    row = {"agent": entry["agent"], "elo": entry["elo"], "elo_low": low, "elo_high": high}
    return (
        row
        | win_rate_columns("", entry["total"])
        | win_rate_columns("alpha_", entry["as_alpha"])
        | win_rate_columns("bravo_", entry["as_bravo"])
    )


def _pairing_row(entry: dict[str, Any]) -> dict[str, Any]:
    low, high = entry["elo_difference_interval"]
    row = {"first": entry["first"], "second": entry["second"]}
    row |= win_rate_columns("", entry["total"])
    row |= win_rate_columns("first_as_alpha_", entry["first_as_alpha"])
    row |= win_rate_columns("first_as_bravo_", entry["first_as_bravo"])
    return row | {"elo_difference": entry["elo_difference"], "elo_difference_low": low, "elo_difference_high": high}


def print_tournament(result: "Tournament", source: str) -> None:
    """Print ratings, pairings, win rates of alpha against bravo, the equilibrium, and the agents' errors."""
    from geo_patrol.evaluation.names import short_names

    names = short_names(result.agents)
    heading = f"{len(result.agents)} agents, {result.games:,} games per pairing"
    console = print_heading(heading, f"{result.config.title} ({source}), seed {result.seed}")
    _print_ratings(console, result, names)
    _print_pairings(console, result, names)
    _print_sides(console, result, names)
    _print_equilibria(console, result, names)
    _print_agent_errors(console, result)


def _print_ratings(console: "Console", result: "Tournament", names: list[str]) -> None:
    ratings = result.ratings
    numbers = ("Elo", "95% interval", "games", "wins", "as alpha", "as bravo", "draws")
    table = plain_table("agent", numbers=numbers)
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
    console.print(table)
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
    table = plain_table("pairing", numbers=numbers)
    for first, second in result.pairings:
        if first == second:
            continue
        total = result.record(first, second)
        table.add_row(
            f"{names[first]} - {names[second]}",
            f"{total.wins:,}",
            f"{total.draws:,}",
            f"{total.win_rate:.1%}",
            percent_interval(total.win_interval),
            f"{result.record(first, second, 0).win_rate:.1%}",
            f"{result.record(first, second, 1).win_rate:.1%}",
        )
    console.print(table)
    console.print()


def _print_sides(console: "Console", result: "Tournament", names: list[str]) -> None:
    """Print the win rates of row as alpha against column as bravo."""
    size = len(result.agents)
    if not 2 < size <= _MAX_COLUMNS:
        return
    numbers = [str(number + 1) for number in range(size)]
    table = plain_table("alpha wins (row: alpha, column: bravo)", numbers=numbers)
    for alpha in range(size):
        counts = result.counts[alpha]
        cells = [
            f"{wins / (wins + draws + losses):.0%}" if wins + draws + losses else "." for wins, draws, losses in counts
        ]
        table.add_row(f"{alpha + 1} {names[alpha]}", *cells)
    console.print(table)
    console.print()


def _print_equilibria(console: "Console", result: "Tournament", names: list[str]) -> None:
    def mixture(strategy: "NDArray[np.float64]") -> str:
        ordered = (-strategy).argsort().tolist()
        return ", ".join(f"{names[agent]} {strategy[agent]:.1%}" for agent in ordered if strategy[agent] > 0)

    console.print(f"Mixed equilibrium, random sides: {mixture(result.equilibrium.rows)}", soft_wrap=True)
    sides = result.side_equilibrium
    if sides is not None:
        console.print(f"Mixed equilibrium of alpha: {mixture(sides.rows)}", soft_wrap=True)
        console.print(f"Mixed equilibrium of bravo: {mixture(sides.columns)}", soft_wrap=True)
        console.print(f"Its value for alpha, wins minus losses per game: {sides.value:+.3f}")


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
