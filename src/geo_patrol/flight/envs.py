"""The Gymnasium environments of the flight games."""

from copy import deepcopy
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_choice, check_seed, read_options
from geo_patrol.base.errors import ConfigError, OrderError, show
from geo_patrol.config.toml_files import Overrides, flatten, is_relative, parse_overrides
from geo_patrol.flight import rules
from geo_patrol.flight.flight import Flight, parse_code
from geo_patrol.flight.generator import random_mission
from geo_patrol.flight.mission import GameName, Mission, MissionSource, load_mission
from geo_patrol.flight.pictures.scene import flight_drawing
from geo_patrol.flight.rules import ENGINES, INFO, ORDERS, EndingCode, observation_bounds

MaskIn: TypeAlias = Literal["info", "obs", "none"]
Reward: TypeAlias = Literal["auto", "score", "rank"]
RENDER_MODES = ("human", "rgb_array", "ansi")
RANDOM = "random"
"""The mission argument for a new random mission at each reset."""
RANK_POINTS = 1000.0
"""Points that are worth one turn of a race, or a fulfilled mission, in the reward "rank": more than can be earned."""

_INFO_KEYS = INFO.names or ()


class _FlightEnv(gymnasium.Env[Any, Any], EzPickle):
    """The common base class of both environments; all methods but ``reset`` raise RuntimeError before the first reset."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - as the base class declares it
    game: ClassVar[GameName]
    _default_mission: ClassVar[str]
    _first_order: ClassVar[int]
    """The order code of action 0."""

    def __init__(
        self,
        mission: MissionSource | None = None,
        *,
        overrides: Overrides | None = None,
        mask_in: MaskIn = "info",
        reward: Reward = "auto",
        render_mode: str | None = None,
    ) -> None:
        check_choice("mask_in", mask_in, get_args(MaskIn))
        check_choice("reward", reward, get_args(Reward))
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        self.mask_in, self.reward, self.render_mode = mask_in, reward, render_mode
        self._overrides = dict(deepcopy(list(parse_overrides(overrides))))
        source = self._default_mission if mission is None else mission
        self._initial_mission = self._load(source)
        if self._initial_mission is None and self._overrides:
            raise ValueError(
                f"overrides must be None with random missions, which they could make unsolvable, got {show(overrides)}"
            )
        # Copies are changed by the overrides again, which must not add to a mission what has been added to it.
        is_changed_twice = any(is_relative(value) for _, value in flatten(self._overrides))
        EzPickle.__init__(
            self,
            load_mission(source) if is_changed_twice else self._initial_mission or RANDOM,
            overrides=self._overrides,
            mask_in=mask_in,
            reward=reward,
            render_mode=render_mode,
        )
        self._mission: Mission | None = None
        self._num_actions = ORDERS - self._first_order
        self.action_space = spaces.Discrete(self._num_actions)
        box = spaces.Box(*observation_bounds(), dtype=np.float32)
        mask = spaces.Box(0, 1, (self._num_actions,), np.int8)
        self.observation_space: spaces.Space[Any] = (
            spaces.Dict({"observation": box, "action_mask": mask}) if mask_in == "obs" else box
        )
        self._is_over = True
        self._window: Any = None

    def _load(self, source: MissionSource) -> Mission | None:
        """Load a mission; None for a random one."""
        if isinstance(source, str) and source == RANDOM:
            return None
        mission = load_mission(source, self._overrides)
        if mission.game != self.game:
            raise ConfigError(f"mission {mission.title!r}: game must be {self.game!r}, got {mission.game!r}")
        return mission

    @property
    def mission(self) -> Mission:
        """The mission of the current episode; before the first reset, that of the first episode.

        Raises:
            RuntimeError: the mission is random and has not been sampled yet.
        """
        mission = self._mission or self._initial_mission
        if mission is None:
            raise RuntimeError("the mission is random and has not been sampled: call reset first")
        return mission

    def flight(self) -> Flight:
        """Return a copy of the current flight, to inspect or to plan with."""
        self._check_reset()
        return Flight.from_game(self.mission, self._games)

    def _check_reset(self) -> None:
        if self._mission is None:
            raise RuntimeError("call reset first")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode with the ship on its pad.

        Args:
            seed: seed of the random missions; other missions are deterministic. None keeps the random stream.
            options: ``{"mission": ...}`` replaces the mission of this episode: a name, a path, a mapping, a ``Mission``,
                or "random".

        Raises:
            ConfigError: the mission is invalid, or is one of the other game.
            ValueError: the seed is negative or not an integer, the options are no dict, or one is not known.
        """
        source = read_options(options, ("mission",)).get("mission")
        mission = self._initial_mission if source is None else self._load(source)  # before anything changes
        super().reset(seed=None if seed is None else check_seed(seed), options=options)
        if mission is None:
            mission = random_mission(self.np_random, game=self.game)
        if mission is not self._mission:
            self._mission = mission
            self._allocate(mission)
        self._flight[:] = self._start
        self._score = 0
        observation, info = self._outputs()
        info["illegal_orders"] = 0
        return observation, info

    def _allocate(self, mission: Mission) -> None:
        """Create the record of a game, a copy of its beginning, and views of its outputs."""
        self._games = rules.new_game(mission)
        self._flight = self._games["flight"].view(np.uint8)  # whose bytes are quicker to copy than its fields
        self._start = self._flight.copy()
        self._rank_reward = self.reward == "rank" or (self.reward == "auto" and mission.race)
        self._infos = self._games["info"]
        self._features = self._games["observation"].view(np.float32)
        self._legal_orders = self._games["legal_orders"][0]
        self._mask: NDArray[np.int8] = self._games["mask"][0][self._first_order :]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Fly a turn of a spaceship, or the whole flight of a probe.

        An illegal action is replaced by coasting or staying where that is legal, by the first legal one otherwise, and
        counted in the info.

        Raises:
            OrderError: the action is not an integer of the action space.
            RuntimeError: the flight is over, or ``reset`` was never called.
        """
        if self._is_over:
            raise RuntimeError("the flight is over, or has not begun: call reset")
        code = parse_code(action, self._num_actions)
        if code is None:
            raise OrderError(f"action must be an integer from 0 to {self._num_actions - 1}, got {show(action)}")
        rules.step(self._games, code + self._first_order)
        observation, info = self._outputs()
        return observation, self._compute_reward(info), self._is_over, False, info

    def _compute_reward(self, info: dict[str, Any]) -> float:
        gained, self._score = info["score"] - self._score, info["score"]
        if not self._rank_reward:
            return float(gained)
        mission = self.mission
        turns = (info["turn"] if mission.is_probe else 1) if mission.race else 0
        if self._is_over and not info["success"]:
            turns += mission.turns + 1 - info["turn"] if mission.race else 1
        return float(gained / RANK_POINTS - turns)

    def _outputs(self) -> tuple[Any, dict[str, Any]]:
        """Return observation and info of the flight as it is now."""
        rules.write_outputs(self._games)
        info = dict(zip(_INFO_KEYS, self._infos.item(), strict=True))
        observation: Any = self._features.copy()
        self._is_over = info["ending"] != EndingCode.UNDER_WAY
        if self._is_over:
            self._mask[0] = 1
        if self.mask_in == "info":
            info["action_mask"] = self._mask.copy()
        elif self.mask_in == "obs":
            observation = {"observation": observation, "action_mask": self._mask.copy()}
        if self.render_mode == "human":
            self.render()
        return observation, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions as bool, as sb3-contrib's MaskablePPO expects."""
        self._check_reset()
        return self._mask.astype(np.bool_)

    def sample_action(self) -> int:
        """Sample a legal action from the random generator of the action space; 0 when the flight is over."""
        self._check_reset()
        if self._is_over:  # no order is legal any more, and the mask has action 0
            return 0
        index = int(self.action_space.np_random.random() * self._games["num_legal"][0])
        return int(self._legal_orders[index]) - self._first_order

    def render(self) -> Any:
        """Return the flight as text ("ansi") or as an image (height, width, 3) uint8 ("rgb_array"); show a window ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode, given when the environment is made")
            return None
        flight = self.flight()
        if self.render_mode == "ansi":
            return str(flight)
        if self.render_mode == "rgb_array":
            from geo_patrol.drawing.painter import pixels  # noqa: PLC0415 - imports pygame

            return pixels(flight_drawing(flight))
        self._show(flight)
        return None

    def _show(self, flight: Flight) -> None:
        """Show a flight in the window; without a screen, warn once."""
        from geo_patrol.drawing.screen import NoScreenError, warn_of_no_screen  # noqa: PLC0415 - imports pygame
        from geo_patrol.flight.pictures.viewer import FlightViewer  # noqa: PLC0415

        if self._window is None:
            self._window = FlightViewer(self.metadata["render_fps"])
        try:
            self._window.show(flight)
        except NoScreenError as error:
            warn_of_no_screen(error)
            self._window.close()  # so that it shows nothing more

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            self._window.close()
            self._window = None


class SpaceshipCommander(_FlightEnv):
    """NASA's Spaceship Commander: launch, then a choice of engines each turn.

    Actions: ``Discrete(33)``: 0 coast (of a landed or docked ship: stay), 1-8 engines clockwise from straight up, 9-32
    the launches clockwise from straight up. Observations: 182 features, see ``geo_patrol.flight.observation_names``.
    ``action_masks()`` returns the legal actions; illegal ones are replaced and counted.

    Args:
        mission: a mission's name ("sample" by default), the path of a TOML file, its content as a mapping, a
            ``Mission``, or "random": a new random mission at each reset.
        overrides: values that replace those of the mission, such as ``{"turns": 20}``; not for random missions.
        mask_in: where action masks are returned: "info", "obs" or "none".
        reward: "score": the points of each turn, so that the return is the score; "rank": the return orders flights
            as the rules do, see below; "auto": "rank" for a race, "score" otherwise.
        render_mode: "human" (a window), "rgb_array", "ansi", or None.

    The reward "rank" is the points / 1000, in a race less 1 for each turn. A mission that failed costs 1 more, in a
    race as many turns as would make it one turn longer than the log. So a fulfilled mission always beats one that
    failed, in a race fewer turns beat more, and points break ties.

    Info keys: ``illegal_orders`` (of this step), ``score``, ``turn``, ``ending`` (index into
    ``geo_patrol.flight.ENDINGS``), ``success``, and ``action_mask`` if ``mask_in`` is "info".

    Raises:
        ConfigError: the mission is invalid, or is one of Planetary Probe.
        ValueError: another argument is invalid.

    Version history: v0, first release.
    """

    game = "spaceship_commander"
    _default_mission = "sample"
    _first_order = 0


class PlanetaryProbe(_FlightEnv):
    """NASA's Planetary Probe: one decision, the launch; gravity does the rest, and the episode is one step long.

    Actions: ``Discrete(24)``, the launches clockwise from straight up. Observations: 182 features, see
    ``geo_patrol.flight.observation_names``. ``action_masks()`` returns the legal actions: launch points on the map.

    Args:
        mission: as in ``SpaceshipCommander``; "sample_probe" by default.
        overrides: values that replace those of the mission, such as ``{"home": "F22"}``; not for random missions.
        mask_in: as in ``SpaceshipCommander``; so are ``reward`` and ``render_mode``.

    Infos are those of ``SpaceshipCommander``.

    Raises:
        ConfigError: the mission is invalid, or is one of Spaceship Commander.
        ValueError: another argument is invalid.

    Version history: v0, first release.
    """

    game = "planetary_probe"
    _default_mission = "sample_probe"
    _first_order = ENGINES
