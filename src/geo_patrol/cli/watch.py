"""``geo-patrol watch``: two agents in a window."""

import shlex
from typing import Annotated

import typer

from geo_patrol.cli.options import ANY_AGENT, ConfigOptions, load_agent, named_file
from geo_patrol.cli.play import GameSaver, start_game


def watch(
    *,
    alpha: Annotated[str, typer.Argument(metavar="ALPHA", help=f"Agent: {ANY_AGENT}.")],
    bravo: Annotated[str, typer.Argument(metavar="BRAVO", help="Its opponent; may be the same agent.")],
    scenario: ConfigOptions,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Repeats a game exactly; a fresh one by default.")
    ] = None,
    save: Annotated[
        str | None,
        typer.Option("--save", parser=named_file, metavar="FOLDER|FILE", help="Save the game to a new replay file."),
    ] = None,
) -> None:
    """Watch two agents play a game, phase by phase, and go back and forth in it.

    Space pauses, the arrow keys step, E jumps to the next engagement, ? shows all keys.
    """
    agents = load_agent(alpha), load_agent(bravo)
    live = start_game(scenario.read(), agents, seed)
    from geo_patrol.window.watch import watch as show

    if save is None:
        show(live.timeline, live.advance, live.title)
        return
    with GameSaver.create(save, live) as saver:
        show(live.timeline, live.advance, live.title)
    if saver.path.exists():
        print(f"The game is saved. Look at it with: geo-patrol replay {shlex.quote(str(saver.path))}")
