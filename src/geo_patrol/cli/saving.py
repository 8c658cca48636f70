"""Saving games while they are watched or played."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Self

from geo_patrol.cli.errors import InputError, leave_at_once
from geo_patrol.cli.games import load_agent, start_game

if TYPE_CHECKING:
    from types import TracebackType

    from geo_patrol.agents import Agent
    from geo_patrol.replays import Recorder, Replay
    from geo_patrol.sessions.live import LiveGame
    from geo_patrol.sessions.timeline import Moment

PERSON = "person"
"""The name in replays of a person who plays."""
WITHOUT_SCREEN = "geo-patrol play --text plays at the terminal"
"""What to suggest if there is no screen for a window."""
_MAX_ROLLOUT_TURNS = 10_000_000
"""Limit for one decision of an agent that is named by a file, which is untrusted."""


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
            self._recorder.record_codes(live.last_codes)

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

    if name == PERSON:
        return None
    if is_own_agent(name):
        raise InputError(
            f"{path}: {side}: agent {name!r}: a replay's own agents are not loaded, for that would run code that it names"
        )
    try:
        agent = load_agent(name)
        _check_rollouts(agent, replay.config.turn_limit)
    except InputError as error:
        raise InputError(f"{path}: {side}: {error}") from None
    return agent


def _check_rollouts(agent: "Agent", turns: int) -> None:
    from geo_patrol.agents.search import Searcher
    from geo_patrol.agents.search.budget import read_budget

    if isinstance(agent, Searcher):
        _, rollouts = read_budget(agent.search)  # which bounds the time
        if rollouts * turns > _MAX_ROLLOUT_TURNS:
            raise InputError(
                f"{agent.name} would take too long for its orders: games are resumed with agents that play up to "
                f"{_MAX_ROLLOUT_TURNS:,} turns ahead"
            )
