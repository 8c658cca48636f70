"""``geo-patrol play``: play against an agent, or two people at one screen."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.cli.errors import INTERRUPTED, InputError, bad_input, leave_at_once, plain_errors

if TYPE_CHECKING:
    from geo_patrol.replays import Recorder

_SIDES = ("alpha", "bravo")


@plain_errors
def play(
    text: Annotated[bool, typer.Option("--text", help="Play at the terminal, by the rule books' dialogue.")] = False,
    side: Annotated[
        str, typer.Option("--as", metavar="SIDE", help="The side that you play: alpha or bravo.")
    ] = "alpha",
    against: Annotated[
        str, typer.Option("--against", metavar="AGENT|human", help="Who plays the other side: an agent, or human.")
    ] = "scripted",
    config: Annotated[
        str, typer.Option("--config", "-c", metavar="NAME|PATH", help="A preset's name, or a TOML file.")
    ] = "geo_patrol",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Replace a value of it; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Where chance comes from; a fresh one by default.")
    ] = None,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FOLDER|FILE", help="Where the game is kept; by default in a folder of yours."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="FILE", help="Go on with the interrupted game of a replay.")
    ] = None,
) -> None:
    """Play a game. It is kept as a replay phase by phase, and can be left at any time and resumed.

    geo-patrol play --text --as bravo --against scripted --config case1
    """
    if not text:
        raise InputError("give --text")
    if resume is not None:
        if save is not None:
            raise InputError("--resume goes on in its file: leave --save out")
        _resume(resume)
        return
    _begin(*_names(side, against), config, overrides, seed, save)


def _names(side: str, against: str) -> tuple[str, str]:
    """Return who plays alpha and bravo."""
    from geo_patrol.agents import make_agent
    from geo_patrol.textplay.session import HUMAN

    if side not in _SIDES:
        raise InputError(f"--as {side}: give alpha or bravo")
    if against != HUMAN:
        with bad_input():
            make_agent(against)
    return (HUMAN, against) if side == "alpha" else (against, HUMAN)


def _begin(
    alpha: str, bravo: str, config: str, overrides: list[str] | None, seed: int | None, save: str | None
) -> None:
    from geo_patrol.engine.batch import check_seed, fresh_seed
    from geo_patrol.presets import load_config
    from geo_patrol.replays import Recorder, kept_games, save_path

    with bad_input():
        settled = load_config(config, overrides)
        number = fresh_seed() >> 31 if seed is None else check_seed(seed)  # short enough to be typed again
    path = save_path(f"{kept_games()}/" if save is None else save, f"{alpha} {bravo}")
    with leave_at_once():  # compiles or loads all that is needed
        recorder = Recorder(path, settled)
    _play(recorder, (alpha, bravo), number)


def _resume(path: Path) -> None:
    from geo_patrol.agents import make_agent
    from geo_patrol.replays.resuming import reopen, unfinished_game
    from geo_patrol.textplay.session import HUMAN

    with leave_at_once():
        replay = unfinished_game(path)
    for name in replay.agents:
        if name != HUMAN:
            with bad_input():
                make_agent(name)
    assert replay.seed is not None
    _play(reopen(path, replay), replay.agents, replay.seed, past=[phase.codes for phase in replay.phases])


def _play(recorder: "Recorder", names: tuple[str, str], seed: int, past: list[Any] | None = None) -> None:
    """Play, and say where the game is when it is left."""
    from geo_patrol.textplay import Leave, play_text

    print(f"{names[0]} (alpha) against {names[1]} (bravo), seed {seed}. ? for help, q to leave.")
    where = recorder.path
    with recorder:
        try:
            play_text(recorder, names, seed, past=past)
        except BaseException as error:
            recorder.close()
            _tell_saved(f"The game is saved. Go on with: geo-patrol play --text --resume {where}")
            if isinstance(error, KeyboardInterrupt):
                raise typer.Exit(INTERRUPTED) from None
            if not isinstance(error, Leave):
                raise
        else:
            print(f"\nThe game is saved. Look at it with: geo-patrol replay {where}")


def _tell_saved(message: str) -> None:
    print(f"\n{message}", file=sys.stderr)
