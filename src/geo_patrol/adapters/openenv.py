"""OpenEnv: a game of a language model against an agent, as an environment that a server offers over HTTP and WebSocket.

    uvicorn --factory geo_patrol.adapters.openenv:create_server --port 8000

Clients, such as OpenEnv's ``GenericEnvClient``, choose configuration, opponent and side when they reset.
"""

import inspect
import uuid
from typing import Any

from pydantic import Field

from geo_patrol.agents import agent_names
from geo_patrol.base.arguments import check_choice
from geo_patrol.base.errors import optional_import, show, suggest
from geo_patrol.base.sides import Side
from geo_patrol.base.versions import __version__
from geo_patrol.config.toml_files import preset_names
from geo_patrol.envs.arguments import RewardName
from geo_patrol.play.text_game import MAX_ANSWER, OnBadLines, TextGame

with optional_import("openenv"):
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State

__all__ = ["GeoPatrolEnvironment", "TextAction", "TextObservation", "create_server"]

MAX_GAMES = 64
"""Games that a server plays at the same time."""


class TextAction(Action):
    """What the model answers."""

    text: str = Field(max_length=MAX_ANSWER, description="Orders in words, one a line")


class TextObservation(Observation):
    """What the model reads; ``reward`` and ``done`` are those of OpenEnv."""

    system: str = Field(default="", description="Rules and how to answer; only after a reset")
    prompt: str = Field(default="", description="What happened, the position and the legal orders; or the result")
    problems: list[str] = Field(default_factory=list, description="What could not be read in the last answer, and why")


class TextState(State):
    """The game in figures."""

    side: str = ""
    turn: int = 0
    phase: str = ""
    outcome: int = 0
    score_difference: int = 0
    unreadable: int = 0
    forfeited_phases: int = 0


class GeoPatrolEnvironment(Environment[TextAction, TextObservation, TextState]):
    """One side of a game against an agent; see ``TextGame`` for the arguments of ``reset``."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._game: TextGame | None = None
        self._episode_id = ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        config: str = "geo_patrol",
        opponent: str = "scripted",
        side: Side = "alpha",
        reward: RewardName = "outcome",
        retries: int = 2,
        on_bad_lines: OnBadLines = "error",
        **unknown: Any,
    ) -> TextObservation:
        """Start a new game. Strangers may call this, so configurations and opponents are those of the package."""
        if unknown:
            known = [name for name in inspect.signature(self.reset).parameters if name != "unknown"]
            hint = suggest(min(unknown), known)
            raise ValueError(f"reset has no argument {show(min(unknown))}{hint}; there are {', '.join(known)}")
        check_choice("config", config, preset_names())
        if not str(opponent).startswith("level:"):
            check_choice("opponent", opponent, agent_names())
        self._game = TextGame(
            config, opponent, side, reward=reward, seed=seed, retries=retries, on_bad_lines=on_bad_lines
        )
        self._episode_id = episode_id or str(uuid.uuid4())
        return TextObservation(system=self._game.system, prompt=self._game.prompt, reward=0.0)

    def step(self, action: TextAction, timeout_s: float | None = None) -> TextObservation:
        """Give the orders of an answer; one that cannot be read changes nothing, and the prompt says why.

        Raises:
            ValueError: the game is over, or was not started.
        """
        del timeout_s
        if self._game is None:
            raise ValueError("the game was not started: call reset")
        reward = self._game.answer(action.text)
        return TextObservation(
            prompt=self._game.prompt, problems=list(self._game.problems), reward=reward, done=self._game.is_over
        )

    @property
    def state(self) -> TextState:
        """The game in figures."""
        text = self._game
        if text is None:
            return TextState()
        game = text.game
        return TextState(
            episode_id=self._episode_id,
            step_count=text.answers,
            side=text.side,
            turn=game.turn,
            phase=game.phase,
            outcome=text.outcome,
            score_difference=text.score_difference,
            unreadable=text.unreadable,
            forfeited_phases=text.forfeited_phases,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Return name, description and version."""
        return EnvironmentMetadata(
            name="geo_patrol",
            description="A two-player board game of satellites, played in words against an agent",
            version=__version__,
        )


def create_server() -> Any:
    """Return the web application, for uvicorn."""
    return create_fastapi_app(GeoPatrolEnvironment, TextAction, TextObservation, max_concurrent_envs=MAX_GAMES)
