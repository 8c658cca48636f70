"""The PettingZoo AEC environment: alpha orders, then bravo, and neither sees the other's orders of the phase."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import OrderEnforcingWrapper
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from geo_patrol.config import GameConfig
from geo_patrol.engine.state import SATELLITES
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.spaces import OrderSpace
from geo_patrol.envs.table import ALPHA, BRAVO, check_orders
from geo_patrol.errors import RecordingError
from geo_patrol.game import Game

_AgentName = Literal["alpha", "bravo"]
_Flags = dict[str, bool]
_Numbers = dict[str, float]


class _SavedAec(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["geo_patrol AEC environment"]
    version: Literal[1]
    environment: dict[str, Any]
    pending: Annotated[list[int], Field(min_length=SATELLITES, max_length=SATELLITES)] | None
    agents: Annotated[list[_AgentName], Field(max_length=2)]
    agent_selection: _AgentName
    terminations: _Flags
    truncations: _Flags
    rewards: _Numbers
    cumulative_rewards: _Numbers


class AecGeoPatrol(AECEnv[str, Any, NDArray[np.int64]]):  # type: ignore[misc]
    """``ParallelGeoPatrol``, which see for spaces, rewards and infos, with the agents taking turns.

    Args:
        **arguments: those of ``ParallelGeoPatrol``.
    """

    metadata: ClassVar[dict[str, Any]] = ParallelGeoPatrol.metadata

    def __init__(self, **arguments: Any) -> None:
        self._game = ParallelGeoPatrol(**arguments)
        self.render_mode = self._game.render_mode
        self.possible_agents = list(self._game.possible_agents)
        self.state_space = self._game.state_space
        self.agents: list[str] = []

    @property
    def config(self) -> GameConfig:
        """The configuration, as it was before anything was drawn."""
        return self._game.config

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object each time."""
        return self._game.observation_space(agent)

    def action_space(self, agent: str) -> OrderSpace:
        """Return the space of an agent's actions, the same object each time."""
        return self._game.action_space(agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game; reseeds only when a seed is given.

        Raises:
            ValueError: the seed is negative or not a whole number.
        """
        self._observations, self.infos = self._game.reset(seed, options)
        self.agents = list(self.possible_agents)
        self.agent_selection = ALPHA
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._pending: NDArray[Any] | None = None
        self._skip_agent_selection = None

    def observe(self, agent: str) -> Any:
        """Return what an agent sees; it is the same before and after the other one's orders."""
        return self._observations[agent]

    def state(self) -> NDArray[np.float32]:
        """Return the whole position for a centralised critic: what alpha sees, encoded as "onehot"."""
        return self._game.state()

    def step(self, action: Any) -> None:
        """Take the orders of the agent whose turn it is; after bravo's, the phase is played.

        Raises:
            ValueError: the orders have another shape or are not whole numbers; the agent may try again.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        orders = check_orders(action, agent)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if agent == ALPHA:
            self._pending = orders
            self.agent_selection = BRAVO
            return
        actions = {ALPHA: self._pending, BRAVO: orders}
        self._observations, self.rewards, self.terminations, self.truncations, self.infos = self._game.step(actions)
        self._pending = None
        self.agent_selection = ALPHA
        self._accumulate_rewards()

    def action_masks(self, agent: str) -> NDArray[np.int8]:
        """Return an agent's legal orders now: (11, 28) int8, 1 where legal."""
        return self._game.action_masks(agent)

    def sample_actions(self) -> dict[str, NDArray[np.int64]]:
        """Draw legal orders for both agents from the engine; the game's own chance is left alone."""
        return self._game.sample_actions()

    def game(self) -> Game:
        """Return a copy of the game as it stands before the orders of this phase."""
        return self._game.game()

    def save(self) -> dict[str, Any]:
        """Return the environment as plain data that ``json.dumps`` takes, alpha's pending orders included.

        Raises:
            RecordingError: no game has begun.
        """
        return {
            "environment": self._game.save(),
            "format": "geo_patrol AEC environment",
            "version": 1,
            "pending": None if self._pending is None else self._pending.tolist(),
            "agents": list(self.agents),
            "agent_selection": self.agent_selection,
            "terminations": dict(self.terminations),
            "truncations": dict(self.truncations),
            "rewards": dict(self.rewards),
            "cumulative_rewards": dict(self._cumulative_rewards),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take up a saved game of the same configuration; on an error nothing changes.

        Raises:
            RecordingError: the data are none, damaged, or of another configuration.
        """
        try:
            data = _SavedAec.model_validate(saved)
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"])) or "content"
            raise RecordingError(f"saved environment: {place} = {str(fault['input'])[:80]}: {fault['msg']}") from None
        tables = (data.terminations, data.truncations, data.rewards, data.cumulative_rewards)
        if any(set(table) != set(data.agents) for table in tables):
            raise RecordingError("saved environment: terminations, truncations and rewards must be those of its agents")
        if (data.pending is not None) != (
            data.agent_selection == BRAVO and len(data.agents) == 2 and not data.terminations[BRAVO]
        ):
            raise RecordingError("saved environment: pending orders are alpha's, while bravo is to order")
        self._game.restore(data.environment)
        self._observations, self.infos = self._game.view()
        self.infos = {agent: self.infos[agent] for agent in data.agents}
        self._pending = None if data.pending is None else check_orders(data.pending, ALPHA)
        self.agents, self.agent_selection = list(data.agents), data.agent_selection
        self.terminations, self.truncations = dict(data.terminations), dict(data.truncations)
        self.rewards, self._cumulative_rewards = dict(data.rewards), dict(data.cumulative_rewards)
        self._skip_agent_selection = None

    def render(self) -> str | None:
        """Return the position as text in mode "ansi"; do nothing in mode "human", which prints by itself."""
        return self._game.render()

    def close(self) -> None:
        """Do nothing: no window is open."""

    def __str__(self) -> str:
        return str(self._game)


class OrderEnforced(OrderEnforcingWrapper[str, Any, NDArray[np.int64]]):  # type: ignore[misc]
    """PettingZoo's check of the order of calls; a restored game counts as reset."""

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take up a saved game, see ``AecGeoPatrol.restore``."""
        self.env.restore(saved)
        self._has_reset = True


def raw_env(**arguments: Any) -> AecGeoPatrol:
    """Make the AEC environment; arguments are those of ``ParallelGeoPatrol``."""
    return AecGeoPatrol(**arguments)


def env(**arguments: Any) -> OrderEnforced:
    """Make the AEC environment with PettingZoo's check of the order of calls."""
    return OrderEnforced(raw_env(**arguments))
