"""``geo-patrol arena``: an agent against the frozen population, and whether a result can be repeated."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli import options, output

if TYPE_CHECKING:
    from geo_patrol.evaluation.arena import ArenaResult


def arena(
    *,
    agent: Annotated[
        str, typer.Argument(metavar="AGENT|FILE.json", help=f"Agent: {options.ANY_AGENT}. Or a result, to be repeated.")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer boards and games: a first look.")] = False,
    out: options.Out = None,
    playing: options.Playing,
) -> None:
    """Let an agent play a frozen population on frozen boards, from frozen seeds; print its score.

    Results of one arena compare, whoever made them and when. Opponents and boards that are held out are not to be trained
    against. The name of a JSON file that this command wrote plays the agent in it again, and tells whether the result is
    the same.
    """
    from geo_patrol.evaluation.arena import differences, play_arena, read_arena, read_result

    expected = read_result(agent) if agent.endswith(".json") else None
    if expected is not None:
        agent, quick = expected.agent, expected.quick
    playing.check([agent], folder=out)
    play = partial(play_arena, agent, quick=quick, folder=out)
    result = playing.run("arena", read_arena().agents(agent), play, folder=out)
    playing.write(result.to_dict, lambda: print_arena(result))
    if expected is not None:
        found = differences(expected, result)
        for line in found[:20]:
            print(line)
        print(f"not the same: {len(found)} differences" if found else "the same result")
        if found:
            raise typer.Exit(output.FAILED)


def print_arena(result: "ArenaResult") -> None:
    """Print the scores: of all, of the visible and the held-out part, by board and by opponent."""
    form = "quick form" if result.quick else "whole"
    console = output.print_heading(result.agent, f"arena {result.arena}, {form}, {result.cells[0].games} games a cell")
    parts = {"all": result.total, "visible": result.visible, "held out": result.held_out}
    held_out = {cell.opponent for cell in result.cells} - {cell.opponent for cell in result.cells if not cell.held_out}
    for heading, scores in (("part", parts), ("board", result.boards()), ("opponent", result.opponents())):
        if heading != "part":
            console.print()
        table = output.plain_table(heading, numbers=("score", "95% interval"))
        for name, score in scores.items():
            note = " (held out)" if name in held_out else ""
            table.add_row(name + note, f"{score.score:.1%}", score.rate.interval_text)
        output.print_table(console, table)
    if result.failures:
        console.print(f"\nThe agent failed {result.failures:,} times, and lost the games that were running.")
