"""The Gymnasium environment: one side against an agent."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, Unpack, get_args

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle
from numpy.typing import NDArray

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, errors_of, reset_agent, takes_keys
from geo_patrol.base.arguments import check_choice, check_names, check_seed
from geo_patrol.base.errors import RecordingError
from geo_patrol.base.sides import SIDES
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine import rng
from geo_patrol.engine.state import SATELLITES
from geo_patrol.engine.steps import EXTERNAL, Outputs
from geo_patrol.envs.arguments import GameOptions, check_orders, copy_options
from geo_patrol.envs.display import RENDER_FPS, RENDER_MODES
from geo_patrol.envs.episodes import ALPHA, BRAVO, GameEnvironment, SavedEnvironment, make_infos
from geo_patrol.envs.opponents import Mixture, OpponentTable, for_copies, read_mixture
from geo_patrol.envs.spaces import OrderSpace, box, masked
from geo_patrol.game.position import SavedGenerator, check_saved

Seat: TypeAlias = Literal["alpha", "bravo", "random"]
_SEATS = (ALPHA, BRAVO)


class _SavedSolo(SavedEnvironment):
    generator: SavedGenerator


class SoloGeoPatrol(GameEnvironment, gymnasium.Env[Any, NDArray[np.int64]], EzPickle):
    """One side of a game against an agent.

    Spaces, rewards and infos are those of one side of ``geo_patrol.envs.parallel.ParallelGeoPatrol``; ``seat``
    in the infos is that side (0 alpha, 1 bravo). Observations are egocentric. ``action_masks()`` returns what
    MaskablePPO expects. With sensor ranges in the configuration, ``render`` shows what that side knows; ``game`` has
    everything.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        overrides: single values of it, such as ``{"bravo.patrols.ammo": 3}``.
        opponent: an agent's name, see ``geo_patrol.agents.agent_names``, an ``Agent``, or a mixture of them with weights (a
            mapping, or pairs), from which each game chooses one.
        seat: "alpha", "bravo", or "random" (chosen at each reset).
        observation: "onehot", "tokens", or a ``geo_patrol.Observation``.
        mask_in: "info", "obs" or "none".
        reward: "score", "outcome", or a ``geo_patrol.Reward``.
        max_cycles: steps after which an unfinished game is truncated; None never does.
        count_events: whether infos count shots, hits and losses.
        render_mode: "human" (a window that animates every step; closing it changes nothing else),
            "rgb_array" (``render`` returns a picture, (height, width, 3) uint8), "ansi" (``render`` returns text), or
            None.
        render_size: width and height of pictures and of the window, in pixels.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.

    A pickled or deep-copied environment is one of the same configuration that has not been reset; ``save`` and ``restore``
    carry a game over.

    Version history: v0, first release.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as the base class declares it
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        *,
        opponent: Mixture = "random",
        seat: Seat = "alpha",
        **options: Unpack[GameOptions],
    ) -> None:
        check_names(options, GameOptions, "config", "opponent", "seat")
        check_choice("seat", seat, get_args(Seat))
        mixture = read_mixture(opponent)
        self._table = OpponentTable()
        self._table.set(mixture)
        self.opponents = self._table.choices
        GameEnvironment.__init__(self, config, options, "info", sides=1)
        EzPickle.__init__(self, self.config, opponent=for_copies(mixture), seat=seat, **copy_options(options))
        self._seat_choice = seat
        self._seat = 0
        self._opponent, self._is_asked = 0, False  # chosen by a reset
        self._is_over = True
        self._orders = np.empty((1, SATELLITES), np.int64)
        vector = box(self.config, self.episodes.encoding)
        self.observation_space = masked(vector) if self.mask_in == "obs" else vector
        self.action_space = OrderSpace()

    @property
    def opponent(self) -> Agent:
        """The opponent of the game."""
        return self._table.agent(self._opponent)

    @property
    def seat(self) -> str:
        """The side that is played, "alpha" or "bravo"."""
        return _SEATS[self._seat]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new game; reseeds only when a seed is given.

        Args:
            seed: of all random streams.
            options: ``{"game": game}`` starts from a position instead, a ``Game`` of the same configuration, which is
                not changed. Its random stream goes on; with a seed, a new one starts. ``max_cycles`` counts from there.

        Raises:
            ValueError: the seed is negative or not an integer, an option is not known, or the game has another
                configuration or is over; nothing has changed then.
            AgentError: the opponent raised an exception; there is no game then.
        """
        start = self.read_start(options)
        gymnasium.Env.reset(self, seed=None if seed is None else check_seed(seed), options=options)
        self._seat = (
            int(self.np_random.integers(2)) if self._seat_choice == "random" else _SEATS.index(self._seat_choice)
        )
        self._is_over = True
        outputs = self.start_game(seed, start, self._seat)
        self._meet(int(self.episodes.records["opponent"][0]))
        self._is_over = False
        self._display.side = SIDES[self._seat]
        self._display.reset(self.game)
        return self._pack(outputs, outputs.results.item(0))

    def _pack(self, outputs: Outputs, result: Any) -> tuple[Any, dict[str, Any]]:
        """Return observation and info; ``result``: the only record of the results as a tuple."""
        observation, mask, info = self.episodes.observations(outputs)[0], outputs.masks[0], make_infos(result)
        info["seat"] = self._seat
        if self.has_more_infos:
            self.add_infos(info, 0)
        if self.mask_in == "info":
            info["action_mask"] = mask
        if self.mask_in == "obs":
            return {"observation": observation, "action_mask": mask}, info
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one decision phase against the opponent.

        Args:
            action: eleven order codes; illegal ones become noop and are counted in the info.

        Raises:
            ValueError: the orders have another shape or are not integers.
            RuntimeError: the game is over, or ``reset`` was never called.
            AgentError: the opponent returned something else than orders.
        """
        if self._is_over:
            raise RuntimeError("the game is over, or was not started: call reset")
        self._orders[0] = check_orders(action, self.seat)
        if self._is_asked:
            self._ask_opponent()
        outputs = self.play_phase(self._orders)
        result: Any = outputs.results.item(0)
        reward, terminated, truncated = result[:3]
        self._is_over = terminated or truncated
        if self.render_mode is not None:
            self._display.step(self.game)
        observation, info = self._pack(outputs, result)
        return observation, reward, terminated, truncated, info

    def _meet(self, opponent: int) -> None:
        """Begin a game against the opponent at an index."""
        reset_agent(self._table.agent(opponent), self._table.names[opponent], np.ones(1, np.bool_))
        self._opponent, self._is_asked = opponent, bool(self.opponents.kinds[opponent] == EXTERNAL)

    def _ask_opponent(self) -> None:
        """Write the actions of an opponent that the engine does not play."""
        records, opponent, name = self.episodes.records, self.opponent, self._table.names[self._opponent]
        with errors_of(opponent.name, "observation"):
            observations, masks = self.episodes.observe_opponents(opponent.observation)
        randomness: np.random.Generator | NDArray[np.uint64] = self.np_random
        if takes_keys(opponent):
            randomness = rng.next_keys(records["opponent_stream"].copy())  # the step advances the stream itself
        records["opponent_actions"] = compute_actions(
            opponent, name, observations, masks, randomness, lambda: [self.game()], 1 - self._seat
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal orders as MaskablePPO expects them: (308,) bool, 28 for each of eleven satellites."""
        mask: NDArray[np.bool_] = self.episodes.games.action_masks()[0, self._seat].reshape(-1).astype(np.bool_)
        return mask

    def sample_action(self) -> NDArray[np.int64]:
        """Sample legal orders; the game's own random stream is not used."""
        orders: NDArray[np.int64] = self.sample_orders()[0]
        return orders

    def save(self) -> dict[str, Any]:
        """Return the game, random streams included, as plain data that ``json.dumps`` takes.

        An opponent's memory is not saved; the agents of this package have none.

        Raises:
            RecordingError: ``reset`` was not called.
        """
        return super().save() | {"generator": self.np_random.bit_generator.state}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume a saved game of the same configuration; on an error nothing changes.

        Raises:
            RecordingError: the data are damaged, or of another configuration.
            AgentError: the opponent raised an exception.
        """
        data = check_saved(_SavedSolo, saved, "saved environment")
        games, generator = self.episodes.read_saved(data), data.generator.restore()
        (episode,) = data.episodes
        if not self._table.is_in_play(episode.opponent):
            raise RecordingError(
                f"saved environment: episodes.0.opponent = {episode.opponent}: this opponent is not in play"
            )
        self._meet(episode.opponent)
        self.resume(data, games)
        self.np_random, self._seat, self._is_over = generator, episode.seat, bool(episode.is_over)
        self._display.side = SIDES[self._seat]
        self._display.reset(self.game)

    def view(self) -> tuple[Any, dict[str, Any]]:
        """Return observation and info as the game is now, as after ``restore``."""
        outputs = self.describe_game()
        return self._pack(outputs, outputs.results.item(0))
