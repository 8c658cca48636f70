"""``geo-patrol play``: play against an agent or another person at the same screen."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli.errors import InputError, leave_at_once, plain_errors
from geo_patrol.cli.games import PERSON, WITHOUT_SCREEN, GameSaver, load_agent, start_game, take_seats
from geo_patrol.cli.options import ANY_AGENT, ConfigOption, OverridesOption
from geo_patrol.errors import suggest
from geo_patrol.sides import SIDES

if TYPE_CHECKING:
    from geo_patrol.sessions.live import LiveGame


@plain_errors
def play(
    context: typer.Context,
    side: Annotated[
        str, typer.Option("--as", metavar="SIDE", help="The side that you play: alpha or bravo.")
    ] = "alpha",
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="AGENT|person",
            help=f"Agent: {ANY_AGENT}. person: another player at the same screen.",
        ),
    ] = "scripted",
    config: ConfigOption = "geo_patrol",
    overrides: OverridesOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Of the first game; a fresh one by default.")
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Play at the terminal, in the rule books' dialogue, instead of a window.")
    ] = False,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FOLDER|FILE", help="Where games are saved; by default in your own folder."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="FILE", help="Continue the interrupted game of a replay.")
    ] = None,
) -> None:
    """Play a game in a window, with the mouse alone or with keys; or at the terminal (--text).

    Without options a menu opens: games, opponents, saved games, the guided first game, the flight games.

    Click a satellite, then where it should go or whom it should engage, and commit. ? shows all keys.

    The other side's orders stay hidden until both sides have committed. Every phase is kept in a replay file at once: a
    game that is left, by Ctrl-C too, can be resumed.
    """
    if not _options_used(context):
        from geo_patrol.cli.start import run_menu

        run_menu()
        return
    if resume is not None:
        _refuse_beside_resume(context)
        _play(GameSaver.resume(resume, has_window=not text), text)
        return
    _play(_start(side, against, config, overrides, seed, save, has_window=not text), text)


def _start(
    side: str,
    against: str,
    config: str,
    overrides: list[str] | None,
    seed: int | None,
    save: str | None,
    *,
    has_window: bool,
) -> GameSaver:
    """Start a new game and its file."""
    if side not in SIDES:
        raise InputError(f"--as {side}: give alpha or bravo")
    if hint := suggest(against, [PERSON]) if against != PERSON else "":
        raise InputError(f"there is no agent {against!r}{hint}")
    agent = None if against == PERSON else load_agent(against)
    agents = (None, agent) if side == "alpha" else (agent, None)
    live = start_game(config, overrides, agents, seed, has_window=has_window, alternative=WITHOUT_SCREEN)
    with leave_at_once():  # loads what is compiled
        from geo_patrol.replays import saved_games_folder
    return GameSaver.create(f"{saved_games_folder()}/" if save is None else save, live)


def _options_used(context: typer.Context) -> list[str]:
    """Return the names of the options that were given at the command line."""
    sources = ((parameter, context.get_parameter_source(str(parameter.name))) for parameter in context.command.params)
    return [parameter.opts[0] for parameter, source in sources if source is not None and source.name == "COMMANDLINE"]


def _refuse_beside_resume(context: typer.Context) -> None:
    """Check that no option of a new game is given."""
    flags = [flag for flag in _options_used(context) if flag not in ("--resume", "--text")]
    if flags:
        raise InputError(f"--resume goes on in its file: leave {' and '.join(flags)} out")


def _play(saver: GameSaver, text: bool) -> None:
    """Play, and say where the games are."""
    try:
        with saver:
            if text:
                _play_at_terminal(saver.live)
            else:
                take_seats(saver)
    finally:
        if message := saver.message("--text " * text):
            print(f"\n{message}", file=sys.stderr)


def _play_at_terminal(live: "LiveGame") -> None:
    from geo_patrol.textplay import Leave, play_text

    alpha, bravo = live.timeline.names
    print(f"{alpha} (alpha) against {bravo} (bravo), seed {live.seed}. ? for help, q to leave.")
    try:
        play_text(live)
    except Leave:
        raise typer.Exit from None
