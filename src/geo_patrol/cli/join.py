"""``geo-patrol join``: an agent or a program in a seat of a server."""

import sys
from typing import Annotated, Any

import typer

from geo_patrol.cli.options import ANY_AGENT, load_agent
from geo_patrol.cli.output import InputError
from geo_patrol.cli.serve import check_pages


def join(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The link to a seat, a table with an open seat, or a class.")
    ],
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help=f"Agent: {ANY_AGENT}.")] = None,
    command: Annotated[
        str | None,
        typer.Option("--command", metavar="COMMAND", help="A program that reads and writes messages, one a line."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What the player is called; the agent's by default.")
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Send the program a prompt for a language model with every turn.")
    ] = False,
) -> None:
    """Play a seat of a server with an agent, or with a program in any language; in a class one game after another.

    A program receives every message of the server as a line of its standard input, and writes its own to standard
    output; docs/reference/protocol.md describes them. A lost connection is made again, for up to two minutes.
    """
    if (agent is None) == (command is None):
        raise InputError("one of --agent NAME and --command COMMAND is needed")
    if text and command is None:
        raise InputError("--text is for programs: it needs --command COMMAND")
    check_pages()
    from geo_patrol.web.client import is_class_link, seats

    played = None if agent is None else load_agent(agent)
    called = name or (played.name if played is not None else str(command)[:40])
    is_over = False
    for link in seats(url, called):  # one, but for a class
        try:
            is_over = _play_seat(link, called, played, command, text=text)
        except ConnectionError:
            if not is_class_link(url):
                raise  # in a class ``seats`` waits until the server is there again
    if not is_over:
        raise InputError("the seat was left, or taken by somebody else")


def _play_seat(link: str, name: str, agent: Any, command: str | None, *, text: bool) -> bool:
    """Play a seat with an agent, or with a program; return whether the game is over, or else the seat was lost."""
    from geo_patrol.base.arguments import fresh_seed
    from geo_patrol.web.client import AgentPlayer, Client, ProgramPlayer, play_seat

    if command is None:
        player = AgentPlayer(agent, fresh_seed())
        with Client(link, name) as client:
            end = play_seat(client, player)
        if player.num_illegal:
            print(f"{player.num_illegal} illegal orders of the agent were left out", file=sys.stderr)
    else:
        with ProgramPlayer(command) as program, Client(link, name, text=text) as client:
            end = play_seat(client, program)
    if end is None:
        return False
    print("draw" if end.winner is None else f"{end.winner} wins", f"{end.score.alpha} to {end.score.bravo}")
    return True
