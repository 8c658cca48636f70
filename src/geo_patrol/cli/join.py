"""``geo-patrol join``: an agent or a program takes a seat of a server."""

import sys
from typing import Annotated

import typer

from geo_patrol.cli.errors import InputError, leave_at_once, plain_errors
from geo_patrol.cli.games import load_agent
from geo_patrol.cli.options import ANY_AGENT


@plain_errors
def join(
    url: Annotated[str, typer.Argument(metavar="URL", help="The link to the seat.")],
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
    """Play a seat of a server with an agent, or with a program in any language.

    A program receives every message of the server as a line of its standard input, and writes its own to standard
    output; docs/protocol.md describes them. A lost connection is made again, for up to two minutes.
    """
    if (agent is None) == (command is None):
        raise InputError("give either --agent NAME or --command COMMAND")
    if text and command is None:
        raise InputError("--text is for programs: give --command COMMAND")
    with leave_at_once():
        from geo_patrol.games import fresh_seed
        from geo_patrol.server.client import AgentPlayer, Client, play_seat
        from geo_patrol.server.programs import ProgramPlayer

    if agent is not None:
        played = load_agent(agent)
        player = AgentPlayer(played, fresh_seed())
        with Client(url, name or played.name) as client:
            end = play_seat(client, player)
        if player.num_illegal:
            print(f"{player.num_illegal} illegal orders of the agent were left out", file=sys.stderr)
    else:
        assert command is not None
        with ProgramPlayer(command) as program, Client(url, name or command[:40], text=text) as client:
            end = play_seat(client, program)
    if end is None:
        raise InputError("the seat was left, or taken by somebody else")
    print("draw" if end.winner is None else f"{end.winner} wins", f"{end.score.alpha} to {end.score.bravo}")
