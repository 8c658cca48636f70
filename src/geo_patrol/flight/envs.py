"""The Gymnasium environments of the flight games."""

from typing import Any, ClassVar, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray

from geo_patrol.engine.batch import check_seed
from geo_patrol.errors import ConfigError, OrderError, show
from geo_patrol.flight.engine import observe
from geo_patrol.flight.engine.observe import ILLEGAL, LEGAL, OBSERVATIONS, begin, observation_bounds, step
from geo_patrol.flight.engine.state import ENGINES, ORDERS, UNDER_WAY, make_chart, new_flights, new_log
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.generator import random_mission
from geo_patrol.flight.grid import LAUNCHES
from geo_patrol.flight.mission import GameName, Mission
from geo_patrol.flight.missions import MissionSource, Overrides, load_mission

MaskIn: TypeAlias = Literal["info", "obs", "none"]
Reward: TypeAlias = Literal["auto", "score", "rank"]
RENDER_MODES = ("human", "rgb_array", "ansi")
RANDOM = "random"
"""The mission that stands for a new random one at each reset."""
RANK_POINTS = 1000.0
"""Points that are worth one turn of a race, or a fulfilled mission, in the reward "rank": more than can be earned."""


class _FlightEnv(gymnasium.Env[Any, Any], EzPickle):
    """What both environments share."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - as the base class declares it
    game: ClassVar[GameName]
    _first_order: ClassVar[int]
    """The order code that action 0 stands for."""
    _actions: ClassVar[int]

    def __init__(
        self,
        mission: MissionSource,
        *,
        overrides: Overrides | None = None,
        mask_in: MaskIn = "info",
        reward: Reward = "auto",
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(self, mission, overrides=overrides, mask_in=mask_in, reward=reward, render_mode=render_mode)
        _check_choice("mask_in", mask_in, get_args(MaskIn))
        _check_choice("reward", reward, get_args(Reward))
        if render_mode is not None:
            _check_choice("render_mode", render_mode, RENDER_MODES)
        self.mask_in, self.reward, self.render_mode = mask_in, reward, render_mode
        self._overrides = overrides
        if self._is_random(mission) and overrides:
            raise ValueError(
                f"overrides = {show(overrides)}: give none with random missions, which they could make unsolvable"
            )
        self._settled: Mission | None = None if self._is_random(mission) else self._load(mission)
        self.action_space = spaces.Discrete(self._actions)
        low, high = observation_bounds()
        box = spaces.Box(low, high, dtype=np.float32)
        mask = spaces.Box(0, 1, (self._actions,), np.int8)
        self.observation_space: spaces.Space[Any] = (
            spaces.Dict({"observation": box, "action_mask": mask}) if mask_in == "obs" else box
        )
        self._mission: Mission | None = None
        self._flights, self._room = new_flights(), new_log()
        self._report = np.zeros(observe.REPORT, np.int64)
        self._is_over = True
        self._window: Any = None
        self._sampled_mask: NDArray[np.int8] | None = None

    @staticmethod
    def _is_random(mission: Any) -> bool:
        return isinstance(mission, str) and mission == RANDOM

    def _load(self, source: MissionSource) -> Mission:
        mission = load_mission(source, self._overrides)
        if mission.game != self.game:
            raise ConfigError(f"mission {mission.title!r}: game = {mission.game!r}: give a mission of {self.game!r}")
        return mission

    # Playing

    @property
    def mission(self) -> Mission:
        """The mission that is being flown; before the first reset, the one that will be.

        Raises:
            RuntimeError: it has not been drawn yet.
        """
        mission = self._mission or self._settled
        if mission is None:
            raise RuntimeError("the mission is random and has not been drawn: call reset first")
        return mission

    def flight(self) -> Flight:
        """Return a copy of the flight to look at, or to plan with.

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        if self._mission is None:
            raise RuntimeError("call reset first")
        return Flight.of_records(self._mission, self._flights, self._log)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Put the ship on the pad; reseeds only when a seed is given.

        Args:
            seed: of the random missions; a mission itself has no chance in it.
            options: ``{"mission": ...}`` flies another mission this time: a name, a path, a mapping, a ``Mission``, or
                "random". Other options are ignored.

        Raises:
            ConfigError: the mission is wrong, or one of the other game.
            ValueError: the seed is negative or not a whole number.
        """
        chosen = self._choose(options)  # before anything changes
        super().reset(seed=None if seed is None else check_seed(seed), options=options)
        mission = random_mission(self.np_random, game=self.game) if chosen is None else chosen
        if mission is not self._mission:
            self._mission, self._charts = mission, make_chart(mission)
        self._pays_rank = self.reward == "rank" or (self.reward == "auto" and mission.race)
        self._log = new_log()
        self._is_over = False
        self._score = 0
        mask, observation = np.empty(ORDERS, np.int8), np.empty(OBSERVATIONS, np.float32)
        begin(self._charts, self._flights, self._room, mask, observation, self._report)
        return self._pack(mask, observation)

    def _choose(self, options: dict[str, Any] | None) -> Mission | None:
        """Return the mission of this reset, None for a random one."""
        source = (options or {}).get("mission")
        if source is None:
            return self._settled
        return None if self._is_random(source) else self._load(source)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Fly a turn, of a probe the whole flight.

        An illegal action is replaced by coasting or staying where that is legal, by the first legal one otherwise, and
        counted in the info.

        Raises:
            OrderError: the action is not a whole number of the action space.
            RuntimeError: the flight is over, or ``reset`` was never called.
        """
        if self._is_over:
            raise RuntimeError("the flight is over, or has not begun: call reset")
        order = self._check_action(action) + self._first_order
        mask, observation = np.empty(ORDERS, np.int8), np.empty(OBSERVATIONS, np.float32)
        step(self._charts, self._flights, self._log, order, self._room, mask, observation, self._report)
        reward = self._rewarded()
        observation_out, info = self._pack(mask, observation)
        return observation_out, reward, self._is_over, False, info

    def _check_action(self, action: Any) -> int:
        try:
            code = -1 if isinstance(action, np.ndarray) and action.ndim else int(action)
        except (TypeError, ValueError, OverflowError):
            code = -1
        if not 0 <= code < self._actions or code != action or isinstance(action, bool):
            raise OrderError(f"action {show(action)}: give a whole number from 0 to {self._actions - 1}")
        return code

    def _rewarded(self) -> float:
        """Return the reward of the step just flown, and note whether the flight is over."""
        score, ending, success, turn = self._report[:ILLEGAL].tolist()
        gained, self._score = score - self._score, score
        self._is_over = ending != UNDER_WAY
        if not self._pays_rank:
            return float(gained)
        mission = self.mission
        turns = (turn if mission.is_probe else 1) if mission.race else 0
        if self._is_over and not success:
            turns += mission.turns + 1 - turn if mission.race else 1
        return float(gained / RANK_POINTS - turns)

    def _pack(self, mask: NDArray[np.int8], observation: NDArray[np.float32]) -> tuple[Any, dict[str, Any]]:
        score, ending, success, turn, illegal = self._report[:LEGAL].tolist()
        info: dict[str, Any] = {
            "illegal_orders": illegal,
            "score": score,
            "turn": turn,
            "ending": ending,
            "success": success,
        }
        mask = self._mask_of(mask)
        if self.mask_in == "info":
            info["action_mask"] = mask
        self._sampled_mask = mask
        if self.render_mode == "human":
            self.render()
        if self.mask_in == "obs":
            return {"observation": observation, "action_mask": mask.copy()}, info
        return observation, info

    def _mask_of(self, mask: NDArray[np.int8]) -> NDArray[np.int8]:
        return mask

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions as MaskablePPO wants them, bool.

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        if self._sampled_mask is None:
            raise RuntimeError("call reset first")
        return self._sampled_mask.astype(np.bool_)

    def sample_action(self) -> int:
        """Draw a legal action from the action space's own chance.

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        if self._mission is None:
            raise RuntimeError("call reset first")
        drawn = int(self.action_space.np_random.random() * self._report[LEGAL])
        return int(self._report[LEGAL + 1 + drawn]) - self._first_order

    # Seeing

    def render(self) -> Any:
        """Return the flight as text ("ansi") or as a picture (height, width, 3) uint8 ("rgb_array"); show a window ("human").

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode, given when the environment is made")
            return None
        flight = self.flight()
        if self.render_mode == "ansi":
            return str(flight)
        if self.render_mode == "rgb_array":
            from geo_patrol.flight.pictures.paint import flight_pixels  # noqa: PLC0415 - pygame is imported when it is needed

            return flight_pixels(flight)
        if self._window is None:
            from geo_patrol.flight.pictures.window import Window  # noqa: PLC0415

            self._window = Window(self.metadata["render_fps"])
        self._window.show(flight)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


class SpaceshipCommander(_FlightEnv):
    """NASA's Spaceship Commander: launch, then a choice of engines each turn.

    Actions: ``Discrete(33)``: 0 coast (of a landed or docked ship: stay), 1-8 engines clockwise from straight up, 9-32
    the launches clockwise from straight up. Observations: 182 figures, see ``geo_patrol.flight.observation_names``.
    ``action_masks()`` returns the legal actions; every other one is replaced and counted.

    Args:
        mission: a mission's name, the path of a TOML file, its content as a mapping, a ``Mission``, or "random": a new
            random mission at each reset.
        overrides: single values of it, such as ``{"turns": 20}``; not of random missions.
        mask_in: where action masks are handed out: "info", "obs" or "none".
        reward: "score": the points of each turn, so that the return is the score; "rank": the return orders flights
            as the rules do, see below; "auto": "rank" for a race, "score" otherwise.
        render_mode: "human" (a window), "rgb_array", "ansi", or None.

    The reward "rank" is the points / 1000, in a race less 1 for each turn. A mission that failed costs 1 more, in a
    race as many turns as would make it one turn longer than the log. So a fulfilled mission always beats one that
    failed, in a race fewer turns beat more, and points break ties.

    Infos hold numbers: ``illegal_orders`` (of this step), ``score``, ``turn``, ``ending`` (index into
    ``geo_patrol.flight.ENDINGS``), ``success``, and ``action_mask`` if ``mask_in`` is "info".

    Raises:
        ConfigError: the mission is wrong, or is one of Planetary Probe.
        ValueError: another argument is.

    Version history: v0, first release.
    """

    game = "spaceship_commander"
    _first_order = 0
    _actions = ORDERS

    def __init__(
        self,
        mission: MissionSource = "sample",
        *,
        overrides: Overrides | None = None,
        mask_in: MaskIn = "info",
        reward: Reward = "auto",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(mission, overrides=overrides, mask_in=mask_in, reward=reward, render_mode=render_mode)


class PlanetaryProbe(_FlightEnv):
    """NASA's Planetary Probe: one decision, the launch; gravity does the rest, and the episode is one step long.

    Actions: ``Discrete(24)``, the launches clockwise from straight up. Observations: 182 figures, see
    ``geo_patrol.flight.observation_names``. ``action_masks()`` returns the legal actions: launch points on the map.

    Args:
        mission: a mission's name, the path of a TOML file, its content as a mapping, a ``Mission``, or "random": a new
            random mission at each reset.
        overrides: single values of it, such as ``{"home": "F22"}``; not of random missions.
        mask_in: where action masks are handed out: "info", "obs" or "none".
        reward: "score", "rank" or "auto", as in ``SpaceshipCommander``.
        render_mode: "human" (a window), "rgb_array", "ansi", or None.

    Infos are those of ``SpaceshipCommander``.

    Raises:
        ConfigError: the mission is wrong, or is one of Spaceship Commander.
        ValueError: another argument is.

    Version history: v0, first release.
    """

    game = "planetary_probe"
    _first_order = ENGINES
    _actions = len(LAUNCHES)

    def __init__(
        self,
        mission: MissionSource = "sample_probe",
        *,
        overrides: Overrides | None = None,
        mask_in: MaskIn = "info",
        reward: Reward = "auto",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(mission, overrides=overrides, mask_in=mask_in, reward=reward, render_mode=render_mode)

    def _mask_of(self, mask: NDArray[np.int8]) -> NDArray[np.int8]:
        launches = mask[ENGINES:]
        if self._is_over:
            launches[0] = 1
        return launches


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} = {show(value)}: give {' or '.join(map(repr, choices))}")
