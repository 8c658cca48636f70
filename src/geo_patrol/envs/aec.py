"""The PettingZoo AEC environment: alpha orders, then bravo, and neither sees the other's orders of the phase."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import OrderEnforcingWrapper
from pydantic import Field, FiniteFloat

from geo_patrol.base.errors import RecordingError
from geo_patrol.config.presets import ConfigSource
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import SATELLITES
from geo_patrol.envs.arguments import GameOptions, check_orders, copy_options
from geo_patrol.envs.display import Rendered
from geo_patrol.envs.episodes import ALPHA, BRAVO, SavedEnvironment
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.game.game import Game
from geo_patrol.game.position import check_saved

_Code = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Numbers = dict[str, FiniteFloat]


class _SavedAec(SavedEnvironment):
    pending: Annotated[list[_Code], Field(min_length=SATELLITES, max_length=SATELLITES)] | None
    remaining: Annotated[int, Field(ge=0, le=2)]
    rewards: _Numbers
    cumulative_rewards: _Numbers


class AecGeoPatrol(AECEnv[str, Any, NDArray[np.int64]], EzPickle):  # type: ignore[misc]
    """``ParallelGeoPatrol`` with the agents taking turns; spaces, rewards and infos are the same.

    A pickled or deep-copied environment is one of the same configuration that has not been reset; ``save`` and ``restore``
    carry a game over.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        **options: the other arguments of ``ParallelGeoPatrol``.
    """

    metadata: ClassVar[dict[str, Any]] = ParallelGeoPatrol.metadata

    def __init__(self, config: ConfigSource = "geo_patrol", **options: Unpack[GameOptions]) -> None:
        self._game = ParallelGeoPatrol(config, **options)
        EzPickle.__init__(self, self.config, **copy_options(options))
        self.render_mode = self._game.render_mode
        self.possible_agents = list(self._game.possible_agents)
        self.state_space = self._game.state_space
        self.agents: list[str] = []

    @property
    def config(self) -> GameConfig:
        """The configuration, with the ranges that resets sample from."""
        return self._game.config

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object each time."""
        return self._game.observation_space(agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, the same object each time."""
        return self._game.action_space(agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game, or ``options["game"]``, as ``ParallelGeoPatrol.reset`` does."""
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
        """Return an agent's observation; it is the same before and after the other one's orders.

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        self._game.check_reset()
        return self._observations[agent]

    def state(self) -> NDArray[np.float32]:
        """Return the whole position for a centralised critic: alpha's observation, encoded as "onehot"."""
        return self._game.state()

    def step(self, action: Any) -> None:
        """Take the orders of the agent whose turn it is; after bravo's, the phase is played.

        Raises:
            ValueError: the orders have another shape or are not integers; the agent may try again.
            RuntimeError: ``reset`` was never called.
        """
        self._game.check_reset()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        orders = check_orders(action, agent)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if agent == ALPHA:
            self._pending = orders.copy()  # the caller may write bravo's orders into the same array
            self.agent_selection = BRAVO
            return
        actions = {ALPHA: self._pending, BRAVO: orders}
        self._observations, self.rewards, self.terminations, self.truncations, self.infos = self._game.step(actions)
        self._pending = None
        self.agent_selection = ALPHA
        self._accumulate_rewards()

    def set_variants(self, weights: str | Mapping[str, float]) -> None:
        """Let resets from now on sample variants by other weights, see ``ParallelGeoPatrol.set_variants``."""
        self._game.set_variants(weights)

    def action_masks(self, agent: str) -> NDArray[np.int8]:
        """Return an agent's legal orders now: (11, 28) int8, 1 where legal."""
        return self._game.action_masks(agent)

    def sample_actions(self) -> dict[str, NDArray[np.int64]]:
        """Sample legal actions for both agents; the game's own random stream is not used."""
        return self._game.sample_actions()

    def game(self) -> Game:
        """Return a copy of the game before the orders of this phase."""
        return self._game.game()

    def save(self) -> dict[str, Any]:
        """Return the environment as plain data that ``json.dumps`` takes, alpha's pending orders included.

        Raises:
            RecordingError: ``reset`` was not called.
        """
        return self._game.save() | {
            "pending": None if self._pending is None else self._pending.tolist(),
            "remaining": len(self.agents),
            "rewards": dict(self.rewards),
            "cumulative_rewards": dict(self._cumulative_rewards),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume a saved game of the same configuration; on an error nothing changes.

        Raises:
            RecordingError: the data are damaged, or of another configuration.
        """
        data = check_saved(_SavedAec, saved, "saved environment")
        # When the game is over, alpha leaves first.
        agents = self.possible_agents[len(self.possible_agents) - data.remaining :]
        if set(data.rewards) != set(agents) or set(data.cumulative_rewards) != set(agents):
            raise RecordingError(f"saved environment: rewards must be those of the remaining agents, {agents}")
        games, is_over = self._game.episodes.read_saved(data), bool(data.episodes[0].is_over)
        if data.pending is not None if is_over else data.remaining < len(self.possible_agents):
            raise RecordingError(
                "saved environment: orders are pending, or agents have left, against the state of the game"
            )
        self._game.resume(data, games)
        observations, infos = self._game.view()
        self._observations, self.infos = observations, {agent: infos[agent] for agent in agents}
        self._pending = None if data.pending is None else np.array(data.pending, np.int64)
        self.agents = agents
        self.agent_selection = BRAVO if data.pending is not None or data.remaining < 2 else ALPHA
        is_terminated = bool(self._game.episodes.games.is_over[0])
        self.terminations = dict.fromkeys(agents, is_terminated)
        self.truncations = dict.fromkeys(agents, is_over and not is_terminated)
        self.rewards, self._cumulative_rewards = dict(data.rewards), dict(data.cumulative_rewards)
        self._skip_agent_selection = None

    def render(self) -> Rendered:
        """Return the position as text ("ansi") or as a picture ("rgb_array"); draw the window anew ("human").

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        return self._game.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self._game.close()

    def __str__(self) -> str:
        return str(self._game)


class OrderEnforced(OrderEnforcingWrapper[str, Any, NDArray[np.int64]]):  # type: ignore[misc]
    """PettingZoo's check of the order of calls; a restored game counts as reset."""

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take up a saved game, see ``AecGeoPatrol.restore``."""
        self.env.restore(saved)
        self._has_reset = True


def env(config: ConfigSource = "geo_patrol", **options: Unpack[GameOptions]) -> OrderEnforced:
    """Make the AEC environment with PettingZoo's check of the order of calls; arguments as for ``AecGeoPatrol``."""
    return OrderEnforced(AecGeoPatrol(config, **options))
