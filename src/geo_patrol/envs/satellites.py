"""One agent for each satellite: the PettingZoo parallel environment, and what a satellite sees."""

import copy
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from geo_patrol.agents.satellites import satellite_observations
from geo_patrol.base.arguments import check_choice, check_count, check_names
from geo_patrol.base.jit import resolve
from geo_patrol.config.presets import ConfigSource
from geo_patrol.config.schema import MAX_SENSOR_RANGE, GameConfig
from geo_patrol.engine import state, steps
from geo_patrol.engine.observe import Encoding, View, check_encoding, satellite_bounds
from geo_patrol.engine.state import NOOP, NUM_SIDES, ORDERS, SATELLITES
from geo_patrol.engine.steps import Outputs
from geo_patrol.envs.arguments import GameOptions, check_agent_orders, refuse_own
from geo_patrol.envs.episodes import ALPHA, BRAVO, Episodes, SavedEnvironment, Shard
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.spaces import box, masked
from geo_patrol.game.game import Games

_SIDES = (ALPHA, BRAVO)
_AGENTS = tuple(f"{side}_{number}" for side in _SIDES for number in range(SATELLITES))
_SIDE_OF = {agent: index // SATELLITES for index, agent in enumerate(_AGENTS)}
_NUMBER_OF = {agent: index % SATELLITES for index, agent in enumerate(_AGENTS)}


SENSOR_RANGE = 2
"""Steps that a satellite sees with ``view="own"``, unless the configuration or an argument says otherwise."""

Fleet: TypeAlias = Literal["all", "in_range"]


class ViewOptions(TypedDict, total=False):
    """Keyword arguments that say what a satellite observes; ``SatellitesGeoPatrol`` describes them."""

    view: View
    fleet: Fleet
    sensor_range: int


class SatelliteOptions(GameOptions, ViewOptions, total=False):
    """Keyword arguments of ``SatellitesGeoPatrol``."""


class SatelliteView(NamedTuple):
    """What satellites observe: the arguments that were given, and what follows from them."""

    given: ViewOptions
    is_own: bool
    sees_fleet: bool
    sensor_range: int

    @property
    def new_episodes(self) -> "Callable[..., SatelliteEpisodes]":
        """What makes episodes whose observations are those of single satellites."""
        return partial(SatelliteEpisodes, self)


def take_view(options: Mapping[str, Any]) -> tuple[SatelliteView, dict[str, Any]]:
    """Return what satellites observe by the arguments of an environment, and the other arguments.

    Raises:
        ValueError: one of ``ViewOptions`` has a wrong value, or has no effect.
    """
    given: Any = {name: options[name] for name in ViewOptions.__annotations__ if name in options}
    others = {name: value for name, value in options.items() if name not in given}
    view, fleet = given.get("view", "side"), given.get("fleet", "all")
    check_choice("view", view, get_args(View))
    check_choice("fleet", fleet, get_args(Fleet))
    sensor_range = check_count("sensor_range", given.get("sensor_range", SENSOR_RANGE), MAX_SENSOR_RANGE)
    without_effect = [name for name in given if name != "view"]
    if view == "side" and without_effect:
        name = without_effect[0]
        raise ValueError(
            f'{name} = {given[name]!r} needs view = "own": by default, a satellite observes what its side does'
        )
    return SatelliteView(given, view == "own", fleet == "all", sensor_range), others


def satellite_box(config: GameConfig, encoding: Encoding, shape: tuple[int, ...] = ()) -> spaces.Box:
    """Return the space of what single satellites observe by themselves, with axes of a shape before it."""
    low, high = (
        np.tile(bound, (*shape, 1) if shape else 1) for bound in satellite_bounds(encoding, config.board.outer_ring)
    )
    return spaces.Box(low, high, dtype=high.dtype.type)


class SatelliteEpisodes(Episodes):
    """Episodes whose observations are those of single satellites, (num_envs, 11, size), instead of those of sides.

    Args:
        view: what satellites observe.
        config: the configuration.
        num_games: number of games.
        encoding: encoding of the observations.
        **options: the other arguments of ``Episodes``.
    """

    def __init__(
        self, view: SatelliteView, config: GameConfig, num_games: int, encoding: Encoding, **options: Any
    ) -> None:
        super().__init__(config, num_games, encoding, **options)
        size = len(satellite_bounds(encoding, config.board.outer_ring)[0])
        self._observation_shape = self.num_envs, SATELLITES, size
        self._view = view
        self.outputs = self.new_outputs()

    def step(self, actions: NDArray[np.int64], outputs: Outputs, shard: Shard | None = None) -> int:
        """Play one decision phase, see ``Episodes.step``."""
        shard = shard or self._shard
        count = super().step(actions, _without_observations(outputs), shard)
        self._observe(shard[0], shard[1], self._all, self.observations(outputs))
        return count

    def describe(self, outputs: Outputs, selected: NDArray[np.bool_] | None = None) -> None:
        """Write what describes the games as they are, see ``Episodes.describe``."""
        super().describe(_without_observations(outputs), selected)
        observations = self.observations(outputs)
        if len(observations) > 0:
            self._observe(0, len(self), self._all if selected is None else selected, observations)

    def _observe(self, start: int, stop: int, selected: NDArray[np.bool_], observations: NDArray[Any]) -> None:
        write, view = _compiled_views(self.encoding), self._view
        reach, sees_fleet = view.sensor_range, view.sees_fleet
        write(start, stop, selected, self.games.state, self.bookkeeping, reach, sees_fleet, observations)


_NO_ONEHOT, _NO_TOKENS = np.empty((0, 0), np.float32), np.empty((0, 0), np.int16)


def _without_observations(outputs: Outputs) -> Outputs:
    return outputs._replace(onehot=_NO_ONEHOT, tokens=_NO_TOKENS)


@cache
def _compiled_views(encoding: Encoding) -> Callable[..., None]:
    """Return what writes the observations of satellites, as compiled for the types of arguments that all callers have."""
    is_onehot = encoding == "onehot"
    write = steps.write_onehot_of_satellites if is_onehot else steps.write_tokens_of_satellites
    observations = np.empty((1, 1, 1), np.float32 if is_onehot else np.int16)
    return resolve(
        write, 0, 1, np.ones(1, np.bool_), state.make_state(1, 1), steps.NO_EPISODES, SENSOR_RANGE, True, observations
    )


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

    With ``view="own"``, a satellite observes for itself. The vector, whose features ``observation_names(..., view="own")`` names,
    has its number; its sector; for each satellite of both sides whether it is in sight, and if it is, where it is from here (rings
    outwards, sectors prograde; a quarter of each in "onehot"), its fuel, its ammo and whether it is active, else 0; and the features
    of the game, with 0 for the enemy's score. In sight is, of the enemy, what is within the sensor range, in steps on the board;
    nothing that was in sight earlier is remembered. A destroyed satellite sees no enemy. Legal orders tell nothing more,
    except that with a range of 1 a Patrol that may guard knows of an enemy next to its HVA.

    Reward: that of the side, the same for all of its agents. Infos are those of the side, the enemy's score included, and
    ``state`` shows everything: they are for training, not for acting.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        view: "side" (a satellite observes what its side does) or "own" (what it sees by itself).
        fleet: with ``view="own"``, "all" (a satellite sees its whole side, by radio as it were) or "in_range" (only what is
            within its sensor range).
        sensor_range: with ``view="own"``, the steps that a satellite sees, from 1, where the configuration gives its side no
            ``sensor_range``; 2 by default.
        **options: the other arguments of ``ParallelGeoPatrol``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.

    A pickled or deep-copied environment is one of the same configuration that has not been reset; ``save`` and ``restore``
    carry a game over.

    Version history: v0, first release.
    """

    metadata: ClassVar[dict[str, Any]] = ParallelGeoPatrol.metadata | {"name": "geo_patrol_satellites_v0"}

    def __init__(self, config: ConfigSource = "geo_patrol", **options: Unpack[SatelliteOptions]) -> None:
        refuse_own(options, ("observation",), "where satellites are agents")
        check_names(options, SatelliteOptions, "config")
        view, others = take_view(options)
        if view.is_own:
            self._new_episodes = view.new_episodes
        super().__init__(config, **others)
        self._ezpickle_kwargs |= view.given
        games, encoding = self.episodes.games, check_encoding(self.episodes.encoding)
        fleets = [SATELLITES] * NUM_SIDES if games.is_randomized else 1 + games.state.rules["patrol_count"][0]
        self.possible_agents = [agent for agent in _AGENTS if _NUMBER_OF[agent] < fleets[_SIDE_OF[agent]]]
        if view.is_own:
            vector = satellite_box(self.config, encoding)
        else:
            high = satellite_observations(box(self.config, encoding).high[None])[0].max(axis=0)
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
        masks, observed = outputs.masks, self.episodes.observations(outputs)
        vectors = observed if observed.ndim > 2 else satellite_observations(observed)  # of satellites, or of sides
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
