"""Games that are watched or played: starting, recording and resuming them.

All compiled code is loaded before a game begins: a Ctrl-C that arrives while LLVM loads code may be lost.
"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Self

from geo_patrol.cli.errors import InputError, bad_input, leave_at_once

if TYPE_CHECKING:
    from types import TracebackType

    from geo_patrol.agents import Agent
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.rendering.screen import Screen
    from geo_patrol.replays import Recorder, Replay
    from geo_patrol.sessions.live import LiveGame
    from geo_patrol.sessions.timeline import Moment

PERSON = "person"
"""The name in replays of a person who plays."""
WITHOUT_SCREEN = "geo-patrol play --text plays at the terminal"
"""What to suggest if there is no screen for a window."""
_MAX_ROLLOUT_TURNS = 10_000_000
"""Limit for one decision of an agent that is named by a file, which is untrusted."""


def load_agent(name: str) -> "Agent":
    """Create the agent of a name.

    Raises:
        InputError: no agent has that name.
    """
    with bad_input(), leave_at_once():  # loads compiled code
        from geo_patrol.agents import make_agent

        return make_agent(name)


def start_game(
    config: "str | GameConfig",
    overrides: list[str] | None,
    agents: "tuple[Agent | None, Agent | None]",
    seed: int | None,
    *,
    has_window: bool = True,
    alternative: str = "geo-patrol match --show prints a game",
) -> "LiveGame":
    """Start a game, after compiling what its agents and its rules need.

    Args:
        config: the name of a preset, the path of a TOML file, or a finished configuration.
        overrides: single values that replace those of ``config``.
        agents: the agents of alpha and bravo; None for a person.
        seed: the seed of the game; None takes one from the operating system.
        has_window: whether the game is shown in a window, which needs a screen.
        alternative: what to suggest to the user if there is no screen.

    Raises:
        InputError: an argument is wrong.
        NoScreenError: there is no screen.
    """
    with leave_at_once():  # loads compiled code
        from geo_patrol.config.presets import load_config
        from geo_patrol.games import check_seed
        from geo_patrol.sessions.live import LiveGame

        with bad_input():
            resolved = load_config(config, overrides)
            if seed is not None:
                check_seed(seed)
        live = LiveGame(resolved, agents, seed)
    if has_window:
        check_screen(alternative)
    load_rules()
    with leave_at_once():
        alpha, bravo = (quick(agent) if agent and _is_builtin(agent) else None for agent in agents)
        trial = LiveGame(resolved, (alpha, bravo), seed=0)
        trial.advance()
        trial.advance()
    return live


def check_screen(alternative: str) -> None:
    """Check that there is a screen for a window.

    Raises:
        NoScreenError: there is none; the message names the alternative.
    """
    from geo_patrol.rendering.screen import NoScreenError, init_display

    try:
        init_display()
    except NoScreenError as error:
        raise NoScreenError(f"{error}; or without one: {alternative}") from None


def take_seats(saver: "GameSaver", screen: "Screen | None" = None) -> None:
    """Let people play in a window, game after game, until they leave it."""
    from geo_patrol.rendering.play import play
    from geo_patrol.sessions.live import LiveGame

    first = saver.live
    waiting, agents = [first], first.agents

    def new_game() -> LiveGame:
        if waiting:
            return waiting.pop()
        live = LiveGame(first.config, agents)
        saver.add(live)
        return live

    def swap_sides() -> None:
        nonlocal agents
        agents = agents[1], agents[0]

    play(new_game, screen=screen, swap_sides=None if agents == (None, None) else swap_sides)


def _is_builtin(agent: "Agent") -> bool:
    """Return whether an agent comes with the package: others may be stateful or slow."""
    return type(agent).__module__.partition(".")[0] == "geo_patrol"


def quick(agent: "Agent") -> "Agent":
    """Return an agent that calls the same compiled code as another one, with a minimal time budget."""
    from geo_patrol.agents.search import Searcher

    return agent.hurried() if isinstance(agent, Searcher) else agent


def load_rules() -> None:
    """Load all compiled code that playing, showing and checking games calls, except that of agents."""
    with leave_at_once():
        from geo_patrol import board
        from geo_patrol.game import Game
        from geo_patrol.notation import Order

        game = Game(seed=0)
        game.step()
        game.cost("alpha", Order(1, "noop"))
        moves = (board.prograde, board.retrograde, board.radial_in, board.radial_out)
        for function in (board.ring_of, board.azimuth_of, *moves):
            function(2)
        board.sector_at(2, 0)


class GameSaver:
    """Records the games of a session in one replay file, phase by phase.

    Args:
        recorder: recorder of the file.

    Attributes:
        path: path of the file.
        live: the game that was started last.
    """

    live: "LiveGame"

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._has_failed = False
        self.path = recorder.path

    @classmethod
    def create(cls, target: str, live: "LiveGame") -> Self:
        """Create a file for a new game.

        Raises:
            RecordingError: the file exists already, or cannot be created.
        """
        with leave_at_once():
            from geo_patrol.replays import Recorder, save_path

            path = save_path(target, " ".join(_names(live)))
            saver = cls(Recorder(path, live.config))
        saver.add(live)
        return saver

    def add(self, live: "LiveGame") -> None:
        """Record a further game, which has just been started."""
        alpha, bravo = _names(live)
        self._recorder.begin(seed=live.seed, alpha=alpha, bravo=bravo)
        self._follow(live)

    def _follow(self, live: "LiveGame") -> None:
        self.live = live
        live.observers.append(self._record)

    def _record(self, live: "LiveGame", _moment: "Moment") -> None:
        if live is self.live:  # not an abandoned one
            try:
                self._recorder.record_codes(live.last_codes)
            except OSError:
                self._has_failed = True
                raise

    @classmethod
    def resume(cls, path: Path, *, has_window: bool) -> Self:
        """Resume the interrupted game at the end of a file.

        Raises:
            RecordingError: the file cannot be read, or its last game is over or does not follow the rules.
            InputError: an agent in it does not exist, or would take too long.
            NoScreenError: there is no screen for a window.
        """
        with leave_at_once():
            from geo_patrol.replays.saved_games import reopen, unfinished_game

            replay = unfinished_game(path)
        alpha, bravo = replay.agents
        agents = _agent_of(replay, path, "alpha", alpha), _agent_of(replay, path, "bravo", bravo)
        live = start_game(replay.config, None, agents, replay.seed, has_window=has_window, alternative=WITHOUT_SCREEN)
        past = [phase.codes for phase in replay.phases]
        live.resume(past)
        assert replay.seed is not None
        saver = cls(reopen(path, replay))
        saver._recorder.resume(replay.seed, past)
        saver._follow(live)
        return saver

    def message(self, arguments: str = "") -> str | None:
        """Return how to continue or show the games, or None if nothing was played."""
        if not self.path.exists():
            return None
        path = shlex.quote(str(self.path))
        if self._has_failed:
            return f"The game is saved up to the phase before. Look at it with: geo-patrol replay {path}"
        if self.live.is_over:
            return f"The game is saved. Look at it with: geo-patrol replay {path}"
        return f"The game is saved. Go on with: geo-patrol play {arguments}--resume {path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self._recorder.close()


def _names(live: "LiveGame") -> tuple[str, str]:
    alpha, bravo = (PERSON if agent is None else agent.name for agent in live.agents)
    return alpha, bravo


def _agent_of(replay: "Replay", path: Path, side: str, name: str) -> "Agent | None":
    """Create the agent that a file names for a side; None for a person.

    Raises:
        InputError: it does not exist, or would take too long.
    """
    from geo_patrol.agents.isolation.guard import is_own_agent
    from geo_patrol.agents.search import Searcher
    from geo_patrol.agents.search.budget import read_budget

    if name == PERSON:
        return None
    if is_own_agent(name):
        raise InputError(
            f"{path}: {side}: agent {name!r}: a replay's own agents and networks are not loaded, for that would run what it names"
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
