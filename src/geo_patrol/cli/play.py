"""``geo-patrol play``: games are started, recorded and resumed."""

import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self
from urllib.parse import urlencode

import typer

from geo_patrol.base.errors import suggest
from geo_patrol.base.sides import SIDES
from geo_patrol.cli.options import (
    ANY_AGENT,
    ConfigOptions,
    NoBrowser,
    Port,
    load_agent,
    named_file,
    user_path,
)
from geo_patrol.cli.output import InputError, bad_input

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from geo_patrol.agents import Agent
    from geo_patrol.base.sides import Side
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.game.game import Phase
    from geo_patrol.play.live import LiveGame
    from geo_patrol.replays import Recorder, Replay
    from geo_patrol.web.app import Server


PERSON = "person"
"""The name in replays of a person who plays."""
_MAX_ROLLOUT_TURNS = 10_000_000
"""Limit for one decision of an agent that is named by a file, which is untrusted."""


def start_game(
    config: "str | GameConfig",
    agents: "tuple[Agent | None, Agent | None]",
    seed: int | None,
    *,
    has_window: bool = True,
) -> "LiveGame":
    """Start a game, after compiling what its agents and its rules need.

    Args:
        config: the name of a preset, the path of a TOML file, or a finished configuration.
        agents: the agents of alpha and bravo; None for a person.
        seed: the seed of the game; None takes one from the operating system.
        has_window: whether the game is shown in a window, which needs a screen.

    Raises:
        InputError: an argument is wrong.
        NoScreenError: there is no screen.
    """
    from geo_patrol.base.arguments import check_seed
    from geo_patrol.config.presets import load_config
    from geo_patrol.evaluation.campaign import warm_up
    from geo_patrol.play.live import LiveGame

    with bad_input():
        resolved = load_config(config)
        if seed is not None:
            check_seed(seed)
    if has_window:
        from geo_patrol.drawing.screen import NoScreenError, init_display

        try:
            init_display()
        except NoScreenError as error:
            raise NoScreenError(f"{error}; or without one: geo-patrol match --show prints a game") from None
    warm_up([agent for agent in agents if agent is not None], resolved)  # or the game would stop to compile
    return LiveGame(resolved, agents, seed)


class GameSaver:
    """Records a game in a replay file, phase by phase.

    Args:
        recorder: recorder of the file, in which the game has begun.
        live: the game.

    Attributes:
        path: path of the file.
        live: the game.
    """

    def __init__(self, recorder: "Recorder", live: "LiveGame") -> None:
        self._recorder, self._has_failed = recorder, False
        self.path, self.live = recorder.path, live
        live.observers.append(self._record)

    @classmethod
    def create(cls, target: str, live: "LiveGame") -> Self:
        """Create a file for a new game.

        Raises:
            RecordingError: the file exists already, or cannot be created.
        """
        from geo_patrol.replays import Recorder, save_path

        alpha, bravo = (PERSON if agent is None else agent.name for agent in live.agents)
        recorder = Recorder(save_path(target, f"{alpha} {bravo}"), live.config)
        recorder.begin(seed=live.seed, alpha=alpha, bravo=bravo)
        return cls(recorder, live)

    @classmethod
    def resume(cls, path: Path) -> Self:
        """Resume the interrupted game at the end of a file, at the terminal.

        Raises:
            RecordingError: the file cannot be read, or its last game is over or does not follow the rules.
            InputError: an agent in it does not exist, or would take too long.
        """
        from geo_patrol.replays.files import reopen, unfinished_game

        replay = unfinished_game(path)
        alpha, bravo = replay.agents
        agents = _agent_of(replay, path, "alpha", alpha), _agent_of(replay, path, "bravo", bravo)
        live = start_game(replay.config, agents, replay.seed, has_window=False)
        live.resume(phase.codes for phase in replay.phases)
        recorder = reopen(path, replay)
        recorder.resume(live.game)
        return cls(recorder, live)

    def _record(self, _live: "LiveGame", phase: "Phase") -> None:
        try:
            self._recorder.record_phase(phase)
        except OSError:
            self._has_failed = True
            raise

    def message(self) -> str | None:
        """Return how to continue or show the game, or None if nothing was played."""
        if not self.path.exists():
            return None
        path = shlex.quote(str(self.path))
        if self._has_failed:
            return f"The game is saved up to the phase before. Look at it with: geo-patrol replay {path}"
        if self.live.is_over:
            return f"The game is saved. Look at it with: geo-patrol replay {path}"
        return f"The game is saved. Go on with: geo-patrol play --text --resume {path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.close()


def _agent_of(replay: "Replay", path: Path, side: str, name: str) -> "Agent | None":
    """Create the agent that a file names for a side; None for a person.

    Raises:
        InputError: it does not exist, or would take too long.
    """
    from geo_patrol.agents.registry import is_user_defined
    from geo_patrol.agents.search import Searcher, read_budget

    if name == PERSON:
        return None
    if is_user_defined(name):
        raise InputError(
            f"{path}: {side}: agent {name!r}: user-defined agents and networks that a replay names are not loaded: that would run them"
        )
    try:
        agent = load_agent(name)
    except InputError as error:
        raise InputError(f"{path}: {side}: {error}") from None
    if isinstance(agent, Searcher):
        _, rollouts = read_budget(agent.search)  # which bounds the time
        if rollouts * replay.config.turn_limit > _MAX_ROLLOUT_TURNS:
            raise InputError(
                f"{path}: {side}: {agent.name} would take too long for its orders: games are resumed with agents that play up to "
                f"{_MAX_ROLLOUT_TURNS:,} turns ahead"
            )
    return agent


def play(
    *,
    context: typer.Context,
    side: Annotated[
        str, typer.Option("--as", metavar="SIDE", help="The side that you play: alpha (blue) or bravo (gold).")
    ] = "alpha",
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="AGENT|person",
            help=f"Agent: {ANY_AGENT}. person: another player at the same screen.",
        ),
    ] = "level:telstar",
    scenario: ConfigOptions,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Of the game; a fresh one by default.")
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Play at the terminal, in the rule books' dialogue, instead of the browser.")
    ] = False,
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            parser=named_file,
            metavar="FOLDER|FILE",
            help="Where games are saved; by default in your own folder.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", parser=user_path, metavar="FILE", help="Continue the interrupted game of a replay."),
    ] = None,
    no_browser: NoBrowser = False,
    port: Port = 0,
) -> None:
    """Play in the browser, with the mouse, a finger or keys; or at the terminal (--text).

    Without options the start page opens: opponents in nine levels, the guided first game, your games, flights, classes.
    With --against, --config or others it goes straight into the game.

    Only this computer reaches the page, and only with the key in the address that is printed, over a forwarded port too.
    It ends by Ctrl-C, or ten minutes after its last page was closed. Every phase is kept in a replay file at once: a game
    that is left can be continued.
    """
    asked = [flag for flag in _options_used(context) if flag not in ("--no-browser", "--port")]
    if resume is not None:
        _refuse_beside_resume(asked)
    if text:
        with ExitStack() as stack:
            _play(
                GameSaver.resume(resume) if resume else _start(side, against, scenario, seed, save, stack),
                stack,
            )
        return
    from geo_patrol.cli.serve import check_pages, open_page

    check_pages("; at the terminal: geo-patrol play --text")
    folder = None if save is None else Path(save)
    if folder is not None and folder.suffix:
        raise InputError(f"--save {save}: the page keeps games in a folder; a file is for --text")
    own: frozenset[str] = frozenset()
    pieces: list[tuple[str, Callable[[], object]]] = []
    if resume is not None:
        _check_resumable(resume)
    elif asked:
        from geo_patrol.agents.registry import is_user_defined

        _, resolved = _read_new(side, against, scenario, seed)
        if resolved.hides_enemies:
            from geo_patrol.cli.compiling import compile_hidden_enemies

            pieces.append(("hidden enemies", compile_hidden_enemies))
        if is_user_defined(against):
            own = frozenset([against])

    def open_first(server: "Server") -> str | None:
        if resume is not None:
            return _resume_table(server, resume)
        if set(asked) <= {"--save"}:
            return None
        return _open_table(server, side, against, scenario, seed)

    open_page(open_first, pieces, folder=folder, own_agents=own, has_browser=not no_browser, port=port)


def _read_new(side: str, against: str, scenario: ConfigOptions, seed: int | None) -> "tuple[Agent | None, GameConfig]":
    """Check what a new game is asked for with; return its agent, None for a person, and its configuration."""
    from geo_patrol.base.arguments import check_seed

    if side not in SIDES:
        raise InputError(f"--as must be alpha or bravo, got {side}")
    agent = None
    if against != PERSON:
        if hint := suggest(against, [PERSON]):
            raise InputError(f"there is no agent {against!r}{hint}")
        agent = load_agent(against)
    with bad_input():
        if seed is not None:
            check_seed(seed)
    return agent, scenario.read()


def _open_table(server: "Server", side: str, against: str, scenario: ConfigOptions, seed: int | None) -> str:
    """Open a table; return the address of the seat of a person, or of the seats of two."""
    from geo_patrol.web.tables import NewTable

    alpha, bravo = ("link" if other == side or against == PERSON else against for other in SIDES)
    new = NewTable(seed=seed, alpha=alpha, bravo=bravo)
    table, keys = server.tables.open_table(new, config=scenario.resolved)
    return _table_address(table.id, side, keys)


def _check_resumable(path: Path) -> None:
    """Check that a game in a file can be continued."""
    from geo_patrol.replays.files import unfinished_game

    replay = unfinished_game(path)
    for one, name in zip(SIDES, replay.agents, strict=True):
        _agent_of(replay, path, one, name)
    if PERSON not in replay.agents:
        raise InputError(f"{path}: {' and '.join(replay.agents)} play each other; geo-patrol replay shows it")


def _resume_table(server: "Server", path: Path) -> str:
    """Continue the game at the end of a file at a table of its own; return the address of the seats of people."""
    from geo_patrol.replays.files import unfinished_game

    replay = unfinished_game(path)
    assert replay.seed is not None
    codes = (phase.codes for phase in replay.phases)
    table, keys = server.tables.make_continued_table(replay.config, replay.seed, replay.agents, codes)
    server.tables.add(table)
    return _table_address(table.id, next(side for side in SIDES if side in keys), keys)


def _table_address(table: str, side: str, keys: "Mapping[Side, str]") -> str:
    """Return the page of a table for a person; for two, the second one's key is in it as well."""
    others = [key for other, key in keys.items() if other != side]
    parameters = {"table": table, "secret": keys[side], **({"second": others[0]} if others else {})}  # type: ignore[index]
    return f"/static/table.html#{urlencode(parameters)}"


def _start(
    side: str,
    against: str,
    scenario: ConfigOptions,
    seed: int | None,
    save: str | None,
    stack: ExitStack,
) -> GameSaver:
    """Start a new game at the terminal, and its file, which is in a folder of the stack if there is no better place."""
    from geo_patrol.cli.serve import games_folder

    agent, resolved = _read_new(side, against, scenario, seed)
    agents = (None, agent) if side == "alpha" else (agent, None)
    live = start_game(resolved, agents, seed, has_window=False)
    return GameSaver.create(f"{games_folder(stack)}/" if save is None else save, live)


def _options_used(context: typer.Context) -> list[str]:
    """Return the names of the options that were given at the command line."""
    sources = ((parameter, context.get_parameter_source(str(parameter.name))) for parameter in context.command.params)
    return [parameter.opts[0] for parameter, source in sources if source is not None and source.name == "COMMANDLINE"]


def _refuse_beside_resume(asked: list[str]) -> None:
    """Check that no option of a new game is given."""
    flags = [flag for flag in asked if flag not in ("--resume", "--text")]
    if flags:
        raise InputError(f"--resume goes on in its file: leave {' and '.join(flags)} out")


def _play(saver: GameSaver, stack: ExitStack) -> None:
    """Play at the terminal, close the stack, and say where the game is if it is still there."""
    from geo_patrol.play.text_game import Quit, play_text

    alpha, bravo = saver.live.timeline.names
    try:
        with stack, saver:
            print(f"{alpha} (alpha) against {bravo} (bravo), seed {saver.live.seed}. ? for help, q to leave.")
            play_text(saver.live)
    except Quit:
        raise typer.Exit from None
    finally:
        if message := saver.message():
            print(f"\n{message}", file=sys.stderr)
