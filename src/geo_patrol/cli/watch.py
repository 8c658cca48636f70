"""``geo-patrol watch``: watch two agents play, in a window."""

import shlex
from typing import Annotated

import typer

from geo_patrol.cli.errors import InputError, plain_errors
from geo_patrol.cli.games import GameSaver, load_agent, start_game
from geo_patrol.cli.options import ANY_AGENT, ConfigOption, OverridesOption


@plain_errors
def watch(
    alpha: Annotated[str | None, typer.Argument(metavar="[ALPHA", help=f"Agent: {ANY_AGENT}.")] = None,
    bravo: Annotated[str | None, typer.Argument(metavar="BRAVO]", help="Its opponent; may be the same agent.")] = None,
    config: ConfigOption = "geo_patrol",
    overrides: OverridesOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Repeats a game exactly; a fresh one by default.")
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FOLDER|FILE", help="Save the game to a new replay file.")
    ] = None,
) -> None:
    """Watch two agents play a game, phase by phase, and go back and forth in it.

    Space pauses, the arrow keys step, E jumps to the next engagement, ? shows all keys. Without agents a menu opens.
    """
    if alpha is None:
        from geo_patrol.cli.start import run_menu
        from geo_patrol.sessions.menu import watch_list

        run_menu(watch_list())
        return
    if bravo is None:
        raise InputError(f"{alpha} needs an opponent: give two agents, or none to choose them from a menu")
    agents = load_agent(alpha), load_agent(bravo)
    live = start_game(config, overrides, agents, seed)
    from geo_patrol.rendering.watch import watch as show

    if save is None:
        show(live.timeline, live.advance, live.title)
        return
    with GameSaver.create(save, live) as saver:
        show(live.timeline, live.advance, live.title)
    if saver.path.exists():
        print(f"The game is saved. Look at it with: geo-patrol replay {shlex.quote(str(saver.path))}")
