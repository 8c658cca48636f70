"""The tables of a match; the margin is the mean score difference."""

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from geo_patrol.cli.output import percent_interval, plain_table, print_heading

if TYPE_CHECKING:
    from geo_patrol.evaluation.results import Ending, MatchResult, Summary, Tally

_ENDINGS = {
    "hva_destroyed": "HVA destroyed",
    "hva_out_of_fuel": "HVA out of fuel",
    "win_score": "win score reached",
    "forfeit": "forfeit",
    "turn_limit": "turn limit",
}


def print_match(result: "MatchResult", source: str, overrides: list[str]) -> None:
    """Print a match: results by side and in total, how games ended, and games per second."""
    summary = result.summary()
    first, second = result.agents
    settings = ", ".join([source, *overrides])
    console = print_heading(f"{first} against {second}", f"{result.config.title} ({settings}), seed {result.seed}")
    console.print(_results_table(first, summary))
    console.print()
    console.print(_endings_table(result.agents, summary.total.endings))
    if _has_several_reasons(summary.total):
        console.print("Several reasons may hold at once.")
    console.print()
    if any(summary.total.illegal_orders):
        counts = [f"{name} {count:,}" for name, count in zip(result.agents, summary.total.illegal_orders, strict=True)]
        console.print(f"Illegal orders: {', '.join(counts)}")
    for failure in result.failures:
        lost = f"{result.agents[failure.agent]} lost {failure.games:,} games: {failure.message}"
        console.print(Text(lost), soft_wrap=True)
    console.print(f"{len(result):,} games in {summary.seconds:.3f} s: {summary.games_per_second:,.0f} games per second")


def _has_several_reasons(tally: "Tally") -> bool:
    """Return whether some game ended for more than one reason, or for both agents."""
    return sum(max(ending.first + ending.second, ending.games) for ending in tally.endings.values()) > tally.games


def _results_table(first: str, summary: "Summary") -> Table:
    numbers = ("games", "wins", "draws", "losses", "win rate", "95% interval", "margin", "turns")
    table = plain_table(f"{first} as", numbers=numbers)
    table.add_row("alpha", *_cells(summary.as_alpha))
    table.add_row("bravo", *_cells(summary.as_bravo))
    table.add_row("either", *_cells(summary.total), style="bold")
    return table


def _cells(tally: "Tally") -> list[str]:
    return [
        f"{tally.games:,}",
        f"{tally.wins:,}",
        f"{tally.draws:,}",
        f"{tally.losses:,}",
        f"{tally.win_rate:.1%}",
        percent_interval(tally.win_interval),
        f"{tally.mean_score_difference:+.1f}",
        f"{tally.mean_turns:.1f}",
    ]


def _endings_table(agents: tuple[str, str], endings: "dict[str, Ending]") -> Table:
    table = plain_table()
    table.add_column("how games ended")
    for heading in ("games", *agents):
        table.add_column(heading, justify="right")
    for reason, ending in endings.items():
        if ending.games:
            by_agent = ["", ""] if reason == "turn_limit" else [f"{ending.first:,}", f"{ending.second:,}"]
            table.add_row(_ENDINGS[reason], f"{ending.games:,}", *by_agent)
    return table
