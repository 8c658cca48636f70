"""One agent for each satellite: the PettingZoo parallel environment, and what a satellite sees."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from geo_patrol.agents.satellites import satellite_observations
from geo_patrol.base.arguments import check_choice
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import NOOP, NUM_SIDES, ORDERS, SATELLITES
from geo_patrol.envs.arguments import GameOptions, check_agent_orders, refuse_own
from geo_patrol.envs.episodes import ALPHA, BRAVO, SavedEnvironment
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.spaces import box, masked
from geo_patrol.game.game import Games

_SIDES = (ALPHA, BRAVO)
_AGENTS = tuple(f"{side}_{number}" for side in _SIDES for number in range(SATELLITES))
_SIDE_OF = {agent: index // SATELLITES for index, agent in enumerate(_AGENTS)}
_NUMBER_OF = {agent: index % SATELLITES for index, agent in enumerate(_AGENTS)}


def living_satellites(games: Games) -> NDArray[np.bool_]:
    """Return which satellites a side has that were not destroyed, (n, 2, 11)."""
    exists = np.arange(SATELLITES) <= games.state.rules["patrol_count"][..., None]
    living: NDArray[np.bool_] = (games.state.games["destroyed"] == 0) & exists
    return living


class SatellitesGeoPatrol(ParallelGeoPatrol):
    """Each satellite is an agent: ``alpha_0``, the HVA, ``alpha_1`` and so on to ``bravo_10``.

    The games are those of ``ParallelGeoPatrol``, bit for bit. The satellites that a side does not have are not among the
    agents. One that is destroyed is terminated in that step and leaves ``agents``; one without fuel stays, and noop is
    its only legal order.

    Action: ``Discrete(28)``, the satellite's order code. Illegal orders become noop.

    Observation: a dict of ``observation``, 1-D, float32 ("onehot") or int16 ("tokens"), and ``action_mask``, (28,) int8;
    with ``mask_in="info"`` or ``"none"`` only the vector. It has three parts: the satellite's number (one-hot, or as it
    is in "tokens"), its own features (sector, fuel, ammo and so on), and the whole observation of its side, whose features
    ``geo_patrol.observation_names`` lists.

    Reward: that of the side, the same for all of its agents. Infos are those of the side.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        **options: the other arguments of ``ParallelGeoPatrol``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.

    A pickled or deep-copied environment is one of the same configuration that has not been reset; ``save`` and ``restore``
    carry a game over.

    Version history: v0, first release.
    """

    metadata: ClassVar[dict[str, Any]] = ParallelGeoPatrol.metadata | {"name": "geo_patrol_satellites_v0"}

    def __init__(self, config: ConfigSource = "geo_patrol", **options: Unpack[GameOptions]) -> None:
        refuse_own(options, ("observation",), "where satellites are agents")
        super().__init__(config, **options)
        games = self.episodes.games
        fleets = [SATELLITES] * NUM_SIDES if games.is_randomized else 1 + games.state.rules["patrol_count"][0]
        self.possible_agents = [agent for agent in _AGENTS if _NUMBER_OF[agent] < fleets[_SIDE_OF[agent]]]
        high = satellite_observations(box(self.config, options.get("observation", "onehot")).high[None])[0].max(axis=0)
        vector = spaces.Box(np.zeros_like(high), high, dtype=high.dtype.type)
        space: spaces.Space[Any] = masked(vector, (ORDERS,)) if self.mask_in == "obs" else vector
        self.observation_spaces = {
            agent: copy.deepcopy(space) for agent in self.possible_agents
        }  # seeded each by itself
        self.action_spaces = {agent: spaces.Discrete(ORDERS) for agent in self.possible_agents}

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new game, or ``options["game"]``, as ``ParallelGeoPatrol.reset`` does."""
        super().reset(seed, options)
        self.agents = self._living()
        return self._pack(self.agents)

    def _living(self) -> list[str]:
        living = living_satellites(self.episodes.games)[0]
        return [agent for agent in self.possible_agents if living[_SIDE_OF[agent], _NUMBER_OF[agent]]]

    def view(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return observations and infos of all agents as the game is now."""
        self.describe_game()
        return self._pack(self.agents)

    def _pack(self, agents: list[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the observations and infos of agents from what the last step or reset wrote."""
        outputs = self.episodes.outputs
        masks, vectors = outputs.masks, satellite_observations(self.episodes.observations(outputs))
        _, infos_of_sides = self.pack(outputs, outputs.results.item(0))
        observations, infos = {}, {}
        for agent in agents:
            side, number = _SIDE_OF[agent], _NUMBER_OF[agent]
            observations[agent], infos[agent] = vectors[side, number], dict(infos_of_sides[_SIDES[side]])
            if self.mask_in == "obs":
                observations[agent] = {"observation": vectors[side, number], "action_mask": masks[side, number]}
            elif self.mask_in == "info":
                infos[agent]["action_mask"] = masks[side, number]
        return observations, infos

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one decision phase.

        Args:
            actions: an order code for each of ``agents``.

        Returns:
            Observations, rewards, terminations, truncations and infos of those that were agents before. After the last
            step ``agents`` is empty, and a further step returns five empty dicts.

        Raises:
            ValueError: an agent is missing or unknown, or its order is not an integer.
            RuntimeError: ``reset`` was never called.
        """
        if not self.agents:
            self.check_reset()
            return {}, {}, {}, {}, {}
        orders = np.full((NUM_SIDES, SATELLITES), NOOP, np.int64)
        sides, numbers = ([of[agent] for agent in self.agents] for of in (_SIDE_OF, _NUMBER_OF))
        orders[sides, numbers] = check_agent_orders(actions, self.agents)
        played = self.agents
        _, rewards, terminations, truncations, _ = super().step(dict(zip(_SIDES, orders, strict=True)))
        living = self._living()
        self.agents = living if self.agents else []
        observations, infos = self._pack(played)
        teams = {agent: _SIDES[_SIDE_OF[agent]] for agent in played}
        return (
            observations,
            {agent: rewards[team] for agent, team in teams.items()},
            {agent: terminations[team] or agent not in living for agent, team in teams.items()},
            {agent: truncations[team] and agent in living for agent, team in teams.items()},
            infos,
        )

    def action_masks(self, agent: str) -> NDArray[np.int8]:
        """Return an agent's legal orders now: (28,) int8, 1 where legal."""
        check_choice("agent", agent, tuple(self.possible_agents))
        mask: NDArray[np.int8] = super().action_masks(_SIDES[_SIDE_OF[agent]])[_NUMBER_OF[agent]]
        return mask

    def sample_actions(self) -> dict[str, int]:
        """Sample legal actions for all agents; the game's own random stream is not used."""
        orders = self.sample_orders().tolist()
        return {agent: orders[_SIDE_OF[agent]][_NUMBER_OF[agent]] for agent in self.agents}

    def resume(self, data: SavedEnvironment, games: Games) -> None:
        """Go on with the games that ``Episodes.read_saved`` returned."""
        super().resume(data, games)
        self.agents = self._living() if self.agents else []
