"""``geo-patrol play``: play by hand, against an agent or another person at the same screen."""

from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli.errors import InputError, bad_input, plain_errors
from geo_patrol.cli.watch import begin_game, window_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geo_patrol.agents import Agent
    from geo_patrol.rendering.live import LiveGame, Observer

_SIDES = ("alpha", "bravo")
_PERSON = "person"


@plain_errors
def play(
    side: Annotated[
        str, typer.Option("--as", metavar="SIDE", help="The side that you play: alpha or bravo.")
    ] = "alpha",
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="AGENT|person",
            help="Agent: scripted, random or idle; person: somebody else at the same screen.",
        ),
    ] = "scripted",
    config: Annotated[
        str, typer.Option("--config", "-c", metavar="NAME|PATH", help="A preset's name, or a TOML file.")
    ] = "geo_patrol",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Replace a value of it; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Of the first game; a fresh one by default.")
    ] = None,
) -> None:
    """Play a game in a window, with the mouse alone or with keys.

    Click a satellite, then where it should go or whom it should engage, and commit. ? shows all keys.

    The other side's orders stay hidden until both sides have committed.
    """
    agents = _seat_players(side, against)
    play_in_window(agents, config, overrides, seed)


def _seat_players(side: str, against: str) -> "tuple[Agent | None, Agent | None]":
    from geo_patrol.agents import make_agent

    if side not in _SIDES:
        raise InputError(f"--as {side}: give alpha or bravo")
    if against == _PERSON:
        return None, None
    with bad_input():
        agent = make_agent(against)
    return (None, agent) if side == "alpha" else (agent, None)


def play_in_window(
    agents: "tuple[Agent | None, Agent | None]",
    config: str,
    overrides: list[str] | None,
    seed: int | None,
    observers: "Sequence[Observer]" = (),
) -> None:
    """Play games in a window until it is closed.

    Args:
        agents: who orders for alpha and for bravo; None is a person.
        config: a preset's name, or the path of a TOML file.
        overrides: single values of it.
        seed: of the first game; None takes one from the operating system.
        observers: hear of every finished phase, with the orders of both sides.

    Raises:
        InputError: an argument is wrong.
        NoScreenError: there is no screen.
    """
    from geo_patrol.rendering.play import play as show

    first = begin_game(config, overrides, agents, seed, observers)
    waiting = [first]

    def new_game() -> "LiveGame":
        return waiting.pop() if waiting else begin_game(config, overrides, agents, None, observers)

    show(new_game, window_title(first))
