"""The PettingZoo parallel environment."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from geo_patrol.base.arguments import check_choice, check_names
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.own import Reward
from geo_patrol.engine.state import NUM_SIDES, SATELLITES
from geo_patrol.engine.steps import Outputs
from geo_patrol.envs.arguments import GameOptions, check_orders, copy_options
from geo_patrol.envs.display import RENDER_FPS, RENDER_MODES
from geo_patrol.envs.episodes import ALPHA, BRAVO, GameEnvironment, SavedEnvironment, make_infos
from geo_patrol.envs.spaces import OrderSpace, box, masked
from geo_patrol.game.game import Games
from geo_patrol.game.position import check_saved

_AGENTS = (ALPHA, BRAVO)


class ParallelGeoPatrol(GameEnvironment, ParallelEnv[str, Any, NDArray[np.int64]], EzPickle):  # type: ignore[misc]
    """Two sides, alpha and bravo, give orders to all their satellites simultaneously.

    A step is one decision phase: movement, or engagement with the drift that follows it. ``geo_patrol.observation_names``
    lists the features of an observation.

    Action: ``MultiDiscrete([28] * 11)``, int64, one order code per satellite: 0 noop; 1-4 prograde, retrograde, radial
    in, radial out; 5-15 shoot enemy 0-10; 16-26 collide with enemy 0-10; 27 guard. Illegal orders never raise: they
    become noop and are counted in the info (``illegal_orders``); with ``illegal_orders = "forfeit"`` in the
    configuration they lose the game.

    Observation: a dict of ``observation``, 1-D, float32 ("onehot") or int16 ("tokens"), and ``action_mask``, (11, 28)
    int8; with ``mask_in="info"`` or ``"none"`` only the vector.

    Reward: zero-sum floats. "score": the change of the score difference in this phase, counted from 0, so that the sum
    over a game is the final difference; "outcome": -1, 0 or 1 at the end.

    With sensor ranges in the configuration, observations show what an agent's side knows, see ``Games.seen_by``;
    ``enemy_score`` and the reward "score" then follow the score as far as the side knows it, and are not zero-sum before the
    game is over. ``state``, ``game`` and ``render`` show everything.

    Infos: numbers, with the same keys from reset to the last step: ``illegal_orders``, ``score``, ``enemy_score``,
    ``turn`` (completed turns), ``phase`` (0 movement, 1 engagement, 2 over), ``reasons`` (bits, see
    ``geo_patrol.game.notation.read_reasons``), ``variant`` (its index in ``config.variants``, -1 if there are none), and
    ``action_mask`` with ``mask_in="info"``. With ``count_events``, what the phase just played did: ``shots``, ``hits`` (shots
    that destroyed their target), ``losses`` (satellites destroyed), ``enemy_shots``, ``enemy_hits`` and ``enemy_losses``.
    Where resets sample values, ``sampled`` is a dict of them by key, such as "alpha.patrols.fuel"; of a formation, its index
    among the choices.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        overrides: single values of it, such as ``{"bravo.patrols.ammo": 3}``.
        observation: "onehot", "tokens", or a ``geo_patrol.Observation``.
        mask_in: "obs", "info" or "none".
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

    metadata: ClassVar[dict[str, Any]] = {
        "name": "geo_patrol_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
        "is_parallelizable": True,
    }

    def __init__(self, config: ConfigSource = "geo_patrol", **options: Unpack[GameOptions]) -> None:
        check_names(options, GameOptions, "config")
        GameEnvironment.__init__(self, config, options, "obs")
        EzPickle.__init__(self, self.config, **copy_options(options))
        self._orders = np.empty((NUM_SIDES, SATELLITES), np.int64)
        self._orders_of_alpha, self._orders_of_bravo = self._orders
        self.possible_agents = list(_AGENTS)
        self.agents: list[str] = []
        vector = box(self.config, self.episodes.encoding)
        space: spaces.Space[Any] = masked(vector) if self.mask_in == "obs" else vector
        self.observation_spaces = {ALPHA: space, BRAVO: copy.deepcopy(space)}  # seeded each by itself
        self.action_spaces: dict[str, spaces.Space[Any]] = {agent: OrderSpace() for agent in _AGENTS}
        self.hides_enemies = self.config.hides_enemies
        self._is_zero_sum = not (self.hides_enemies or isinstance(options.get("reward"), Reward))
        self.state_space = box(self.config, "onehot", whole=True)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object each time."""
        check_choice("agent", agent, tuple(self.possible_agents))
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, the same object each time."""
        check_choice("agent", agent, tuple(self.possible_agents))
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new game; reseeds only when a seed is given.

        Args:
            seed: of all random streams.
            options: ``{"game": game}`` starts from a position instead, a ``Game`` of the same configuration, which is
                not changed. Its random stream goes on; with a seed, a new one starts. ``max_cycles`` counts from there.

        Raises:
            ValueError: the seed is negative or not an integer, an option is not known, or the game has another
                configuration or is over; nothing has changed then.
        """
        outputs = self.start_game(seed, self.read_start(options))
        self.agents = list(_AGENTS)
        self._display.reset(self.game)
        return self.pack(outputs, outputs.results.item(0))

    def pack(self, outputs: Outputs, alpha: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the observations and infos of both agents; ``alpha``: the first of the results as a tuple."""
        observations, masks, results = self.episodes.observations(outputs), outputs.masks, outputs.results
        # Indexing is faster than unpacking.
        alpha_observation, bravo_observation = observations[0], observations[1]
        alpha_mask, bravo_mask = masks[0], masks[1]
        alphas = make_infos(alpha)
        bravos = alphas.copy()  # and what differs, which is faster than making them from bravo's result
        bravos["illegal_orders"] = results["illegal_orders"].item(1)
        bravos["score"], bravos["enemy_score"] = alphas["enemy_score"], alphas["score"]
        if self.hides_enemies:  # a side knows the enemy's score as an estimate only
            bravos["score"], bravos["enemy_score"] = results["score"].item(1), results["enemy_score"].item(1)
        infos = {ALPHA: alphas, BRAVO: bravos}
        if self.has_more_infos:
            for side, info in enumerate(infos.values()):
                self.add_infos(info, side)
        if self.mask_in == "obs":
            return {
                ALPHA: {"observation": alpha_observation, "action_mask": alpha_mask},
                BRAVO: {"observation": bravo_observation, "action_mask": bravo_mask},
            }, infos
        if self.mask_in == "info":
            infos[ALPHA]["action_mask"], infos[BRAVO]["action_mask"] = alpha_mask, bravo_mask
        return {ALPHA: alpha_observation, BRAVO: bravo_observation}, infos

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one decision phase.

        Args:
            actions: orders of both agents, eleven order codes each.

        Returns:
            Observations, rewards, terminations, truncations and infos of both agents. After the last step ``agents``
            is empty, and a further step returns five empty dicts.

        Raises:
            ValueError: an agent is missing or unknown, or orders have another shape or are not integers.
            RuntimeError: ``reset`` was never called.
        """
        if not self.agents:
            self.check_reset()
            return {}, {}, {}, {}, {}
        outputs = self.play_phase(self._read(actions))
        results = outputs.results
        alpha: Any = results.item(0)
        reward, terminated, truncated = alpha[:3]
        if terminated or truncated:
            self.agents = []
        if self.render_mode is not None:
            self._display.step(self.game)
        packed, infos = self.pack(outputs, alpha)
        return (
            packed,
            {ALPHA: reward, BRAVO: 0.0 - reward if self._is_zero_sum else results["reward"].item(1)},
            {ALPHA: terminated, BRAVO: terminated},
            {ALPHA: truncated, BRAVO: truncated},
            infos,
        )

    def _read(self, actions: Mapping[str, Any]) -> NDArray[np.int64]:
        """Return the orders of both agents as (2, 11), in an array that the next step reuses."""
        try:
            alpha, bravo = actions[ALPHA], actions[BRAVO]
        except (KeyError, TypeError, IndexError):
            alpha = None
        if alpha is None or len(actions) != NUM_SIDES:
            raise ValueError(f"actions must be a dict with the orders of alpha and of bravo, got {str(actions)[:80]}")
        alpha, bravo = check_orders(alpha, ALPHA), check_orders(bravo, BRAVO)
        self._orders_of_alpha[...] = alpha
        self._orders_of_bravo[...] = bravo
        return self._orders

    def action_masks(self, agent: str) -> NDArray[np.int8]:
        """Return an agent's legal orders now: (11, 28) int8, 1 where legal."""
        check_choice("agent", agent, _AGENTS)
        mask: NDArray[np.int8] = self.episodes.games.action_masks()[0, _AGENTS.index(agent)]
        return mask

    def sample_actions(self) -> dict[str, Any]:
        """Sample legal actions for both agents; the game's own random stream is not used."""
        actions = self.sample_orders()
        return {ALPHA: actions[0], BRAVO: actions[1]}

    def state(self) -> NDArray[np.float32]:
        """Return the whole position for a centralised critic: alpha's observation of everything, encoded as "onehot"."""
        state: NDArray[np.float32] = self.episodes.games.observe("onehot", whole=True)[0, 0]
        return state

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume a saved game of the same configuration; on an error nothing changes.

        Raises:
            RecordingError: the data are damaged, or of another configuration.
        """
        data = check_saved(SavedEnvironment, saved, "saved environment")
        self.resume(data, self.episodes.read_saved(data))

    def resume(self, data: SavedEnvironment, games: Games) -> None:
        """Go on with the games that ``Episodes.read_saved`` returned."""
        super().resume(data, games)
        self.agents = [] if self.episodes.records[0].is_over else list(_AGENTS)
        self._display.reset(self.game)

    def view(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return observations and infos of both agents as the game is now."""
        outputs = self.describe_game()
        return self.pack(outputs, outputs.results.item(0))

    def __str__(self) -> str:
        return str(self.metadata["name"])
