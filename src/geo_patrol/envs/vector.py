"""The native vector environment: many games, one call into the engine."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import Batch, fresh_seed
from geo_patrol.engine.encodings import Encoding, check_encoding, observation_size, observation_type, sector_slots
from geo_patrol.engine.episodes import (
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    Page,
    Part,
    Terms,
    reset_episodes,
    seed_episodes,
)
from geo_patrol.engine.state import SATELLITES, SIDES
from geo_patrol.engine.steps import describe_part, sample_episodes, step_part
from geo_patrol.envs.crew import Crew
from geo_patrol.envs.frames import Frame, FramePool, Layout
from geo_patrol.envs.opponents import Mixture, OpponentTable
from geo_patrol.envs.shares import Share, make_share, make_whole, share_out
from geo_patrol.envs.spaces import FLAT_MASK_SHAPE, OrderSpace, box, masked
from geo_patrol.envs.table import MaskIn, Reward, check_choice, check_max_cycles
from geo_patrol.envs.vector_arguments import (
    MAX_GAMES,
    MAX_THREADS,
    Seats,
    check_actions,
    check_count,
    check_seats,
    read_autoreset,
    read_reset_mask,
    read_seeds,
)
from geo_patrol.envs.vector_infos import Packer, views
from geo_patrol.errors import show
from geo_patrol.game import Game

_MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}
_NEVER = 1 << 62
"""Phases that nobody plays."""
_FIRST_SEAT = {"both": 0, "alpha": 0, "bravo": 1, "alternate": 0}


class VectorGeoPatrol(VectorEnv[Any, NDArray[np.int64], NDArray[Any]], EzPickle):
    """Many games at once, of both sides or of one side against opponents.

    With ``seats="both"`` game i fills two slots: 2i is alpha's, 2i + 1 bravo's. Otherwise game i fills slot i, and an
    opponent plays the other side. Game i plays, bit for bit, what a single environment with its seed plays.

    Spaces of a slot are those of ``geo_patrol.envs.parallel.ParallelGeoPatrol``. Rewards are float64. What ``reset``
    and ``step`` return belongs to the caller: it is not written to as long as anybody holds it.

    Infos: arrays alone, the same keys in every step, each with a mask of the slots it holds for (``_score`` and so on,
    as in Gymnasium):

    - ``illegal_orders``, ``score``, ``enemy_score``, ``turn`` (completed turns), ``phase`` (0 movement, 1 engagement,
      2 over), ``reasons`` (bits, see ``geo_patrol.notation.read_reasons``), ``seat`` (0 alpha, 1 bravo), ``opponent``
      (its place in ``opponent_names``, -1 for none): (slots,) int64.
    - ``action_mask`` with ``mask_in="info"``: (slots, 11, 28) int8.
    - ``finished_episode``: of the episodes that finished in this step, ``return`` (float64), ``length``, ``score``,
      ``enemy_score``, ``reasons``, ``outcome`` (1 won, 0 drawn, -1 lost), ``illegal_orders``, ``seat`` and
      ``opponent`` (int64); 0 in other slots.
    - ``final_obs``, ``final_info`` in mode SAME_STEP: what the finished episodes ended with; 0 in other slots.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games, 1 to 1,048,576.
        overrides: single values of the configuration, such as ``{"bravo.patrols.ammo": 3}``.
        opponent: an agent's name, an ``Agent``, or a mixture of them with weights (a mapping, or pairs), from which
            each game draws one when it begins; None for self-play.
        seats: "both", "alpha", "bravo", or "alternate" (every second game, and every second episode, is bravo's). By
            default "both" without an opponent, "alpha" with one.
        threads: how many threads play; fewer are used where a thread would have less than 32 games.
        autoreset: "next_step", "same_step" or "disabled", or Gymnasium's ``AutoresetMode``.
        mask_in: "info", "obs" or "none".
        observation: "onehot" (float32) or "tokens" (int16).
        reward: "score" or "outcome".
        max_cycles: steps after which an unfinished game is truncated; None never does.

    Raises:
        ConfigError: the configuration is wrong.
        ValueError: another argument is.

    A pickled or copied environment is one that has not been reset.

    >>> envs = make_vec("case1", 256, observation="tokens")
    >>> observations, infos = envs.reset(seed=0)
    >>> observations.shape, infos["action_mask"].shape
    ((512, 249), (512, 11, 28))

    Version history: v0, first release.
    """

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        num_games: int = 1,
        *,
        overrides: Overrides | None = None,
        opponent: Mixture | None = None,
        seats: Seats | None = None,
        threads: int = 1,
        autoreset: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        mask_in: MaskIn = "info",
        observation: Encoding = "onehot",
        reward: Reward = "score",
        max_cycles: int | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            config,
            num_games,
            overrides=overrides,
            opponent=opponent,
            seats=seats,
            threads=threads,
            autoreset=autoreset,
            mask_in=mask_in,
            observation=observation,
            reward=reward,
            max_cycles=max_cycles,
        )
        check_encoding(observation)
        check_choice("mask_in", mask_in, get_args(MaskIn))
        check_choice("reward", reward, get_args(Reward))
        check_max_cycles(max_cycles)
        self.num_games = check_count("num_games", num_games, MAX_GAMES)
        self._mode = read_autoreset(autoreset)
        seats = check_seats(seats, has_opponent=opponent is not None)
        self._config = load_config(config, overrides)
        self._opponents = OpponentTable(self._config.board.outer_ring)
        if opponent is not None:
            self._opponents.set(opponent)
        self._encoding, self._mask_in = observation, mask_in
        self._terms = Terms(
            sides=SIDES if seats == "both" else 1,
            rewards_outcome=reward == "outcome",
            max_cycles=min(max_cycles or 0, _NEVER),
            first_seat=_FIRST_SEAT[seats],
            alternates=seats == "alternate",
            mode=_MODES[self._mode],
        )
        self.num_envs = self.num_games * self._terms.sides
        self.metadata = {"autoreset_mode": self._mode, "render_modes": [], "name": "geo_patrol_v0"}
        vector = box(self._config, observation)
        self.single_observation_space = masked(vector) if mask_in == "obs" else vector
        self.single_action_space = OrderSpace()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._observation_space: spaces.Space[Any] | None = None
        self._make_games(check_count("threads", threads, MAX_THREADS))

    def _make_games(self, threads: int) -> None:
        count = self.num_games
        self._batch = Batch(self._config, count)
        self._whole = make_whole(self._batch)
        self._episodes = self._whole.episodes
        shares, sides = list(share_out(count, threads)), self._terms.sides
        outer_ring = self._config.board.outer_ring
        self._onehot_slots = sector_slots("onehot", outer_ring)
        self._slots = sector_slots(self._encoding, outer_ring)
        self._layout = Layout(
            self.num_envs,
            observation_size(self._encoding, outer_ring),
            np.dtype(observation_type(self._encoding)),
            self._mode is AutoresetMode.SAME_STEP,
            tuple((start * sides, stop * sides) for start, stop in shares),
        )
        self._shares = [make_share(self._whole, start, stop) for start, stop in shares]
        self._packer = Packer(self._layout, self._mask_in)
        self._pool = FramePool(self._layout)
        self._frame: Frame | None = None
        self._all_games = np.ones(count, np.bool_)
        self._crew = Crew(len(self._shares))
        self._is_seeded = np.zeros(count, np.bool_)
        self._untold = np.zeros(count, np.bool_)
        """Games that have begun since opponents were told last."""
        self._wants_samples = False
        self._has_samples = False

    # What there is to know

    @property
    def config(self) -> GameConfig:
        """The configuration, as it was before anything was drawn."""
        return self._config

    @property
    def opponent_names(self) -> tuple[str, ...]:
        """The names of all opponents that there have been, by the places that infos give."""
        return self._opponents.names

    @property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of a batch of observations, made when it is first asked for: its bounds are as large as a batch."""
        if self._observation_space is None:
            self._observation_space = batch_space(self.single_observation_space, self.num_envs)
        return self._observation_space

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal orders of every slot, flat: (slots, 308) bool."""
        masks = self._current.seen.masks
        return masks.reshape(self.num_envs, *FLAT_MASK_SHAPE).view(np.bool_)

    def sample_actions(self) -> NDArray[np.int64]:
        """Draw random legal orders for every slot, (slots, 11) int64, from streams of their own.

        As long as they are asked for in every step, they are drawn in the same loop, where they cost least.
        """
        frame = self._current
        self._wants_samples = True
        if self._has_samples:
            self._has_samples = False
            return frame.sampled[:]
        orders = np.empty((self.num_envs, SATELLITES), np.int64)
        sample_episodes(self._episodes, self._all_games, self._terms, self._batch.legal, orders)
        return orders

    def game(self, place: int) -> Game:
        """Return a copy of one game to look at, or to plan with after ``fork``.

        Raises:
            ValueError: there is no such game.
            RuntimeError: no game has begun.
        """
        if isinstance(place, bool) or not isinstance(place, (int, np.integer)) or not 0 <= place < self.num_games:
            raise ValueError(f"game {place!r}: give a whole number from 0 to {self.num_games - 1}")
        self._current  # noqa: B018 - says when there is none
        return Game.from_batch(self._batch.single(int(place)))

    @property
    def _current(self) -> Frame:
        if self._frame is None:
            raise RuntimeError("the environment is closed" if self.closed else "no games are being played: call reset")
        return self._frame

    def set_opponents(self, opponent: Mixture) -> None:
        """Let games that begin from now on draw their opponents from another mixture; games in progress go on.

        Raises:
            ValueError: an opponent or a weight is wrong, or both sides are played; nothing has changed then.
        """
        if self._terms.sides == SIDES:
            raise ValueError("both sides are played: there are no opponents to set")
        self._opponents.set(opponent)
        self._ezpickle_kwargs["opponent"] = opponent

    # Beginning

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all games anew, or those that ``options["reset_mask"]`` marks.

        Args:
            seed: a whole number s (game i gets s + i), or one for each game (None leaves a game's stream as it is);
                None goes on with all streams.
            options: ``reset_mask``: (slots,) bool; both slots of a game alike. Other options are ignored.

        Raises:
            ValueError: a seed or the mask is wrong; nothing has changed then.
        """
        if self.closed:
            raise RuntimeError("the environment is closed")
        if options is not None and not isinstance(options, Mapping):
            raise ValueError(f"options = {show(options)}: give a dict, such as {{'reset_mask': ..}}")
        which = read_reset_mask((options or {}).get("reset_mask"), self.num_games, self._terms.sides)
        before, begins_all = self._frame, bool(which.all())
        if before is None and not begins_all:
            raise ValueError("reset_mask: the first reset begins all games: mark every slot")
        seeds = read_seeds(seed, self.num_games)
        self._frame = None
        self._crew.wait()
        self._seed_games(seeds, which)
        first_seed = next((given for given in seeds if given is not None), None)
        if first_seed is not None:
            super().reset(seed=first_seed % 2**63)
        self._untold |= which
        frame = self._pool.next(before)
        frame.clear_results()
        for share, page in zip(self._shares, frame.pages, strict=True):
            self._reset_share(share, page, which[share.start : share.stop])
        self._has_samples = self._wants_samples and (begins_all or self._has_samples)
        if self._has_samples:
            if before is not None:
                frame.sampled[:] = before.sampled  # of games that go on
            sample_episodes(self._episodes, which, self._terms, self._batch.legal, frame.sampled)
        self._frame = frame
        return self._packer.observations(frame.seen), self._packer.infos(frame)

    def _reset_share(self, share: Share, page: Page, which: NDArray[np.bool_]) -> None:
        part = share.part
        part.waiting[:] = which
        reset_episodes(part, self._batch.scenario, self._terms, self._opponents.drawn, self._onehot_slots)
        share.pending = int(part.episodes["is_over"].sum())  # those that were not marked
        describe_part(part, self._terms, page, self._slots, self._rule_figures(part), False)

    def _seed_games(self, seeds: list[int | None], which: NDArray[np.bool_]) -> None:
        """Start streams afresh: those of marked games that have a seed, and those that never had one."""
        given = np.array([seed is not None for seed in seeds])
        which = which & (given | ~self._is_seeded)
        wrapped = [fresh_seed() if seed is None and marked else seed for seed, marked in zip(seeds, which, strict=True)]
        numbers = np.array([(seed or 0) % 2**64 for seed in wrapped], np.uint64)
        self._batch.seed_marked(numbers, which)
        seed_episodes(self._episodes, numbers, which, 0, self._terms)
        self._is_seeded |= which

    # Playing

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one decision phase of every game.

        Args:
            actions: (slots, 11) order codes; illegal ones become noop and are counted in the infos. Those of episodes
                that are reset in this step are ignored.

        Returns:
            Observations, rewards (slots,) float64, terminations and truncations (slots,) bool, infos.

        Raises:
            ValueError: the actions have another shape or are not whole numbers.
            RuntimeError: ``reset`` was never called, the environment is closed, or (mode DISABLED) an episode is over.
            AgentError: an opponent raised an exception, or returned something else than orders.
        """
        before = self._current
        orders = check_actions(actions, self.num_envs)
        self._wants_samples &= not self._has_samples  # those of the last step were not asked for
        if self._mode is AutoresetMode.DISABLED and any(share.pending for share in self._shares):
            over = np.flatnonzero(self._episodes["is_over"])
            raise RuntimeError(f"{len(over)} games are over, the first is game {over[0]}: reset them with reset_mask")
        if self._terms.sides == 1:
            self._opponents.tell(self._whole, self._untold)
            parts = [share.part for share in self._shares]
            self._opponents.ask(self._whole, parts, self._crew, self.np_random, self.game)
        frame = self._pool.next(before)
        self._frame = None  # until all is done: if it is interrupted, some games have been played, others have not
        self._crew.run(lambda place: self._step_share(self._shares[place], frame.pages[place], orders))
        self._untold |= self._whole.waiting
        self._frame = frame
        self._has_samples = self._wants_samples
        results, packer = views(frame.results), self._packer
        observations, infos = packer.observations(frame.seen), packer.infos(frame)
        return observations, results.rewards, results.terminations, results.truncations, infos

    def _step_share(self, share: Share, page: Page, orders: NDArray[np.int64]) -> None:
        sides = self._terms.sides
        share.pending = step_part(
            share.part,
            share.pending,
            self._batch.scenario,
            self._terms,
            self._opponents.drawn,
            orders[share.start * sides : share.stop * sides],
            page,
            self._onehot_slots,
            self._slots,
            self._rule_figures(share.part),
            self._wants_samples,
        )

    def _rule_figures(self, part: Part) -> NDArray[Any]:
        return part.token_figures if self._encoding == "tokens" else part.onehot_figures

    def close_extras(self, **_: Any) -> None:
        """End the threads and let go of all games."""
        self._crew.dismiss()
        self._frame = None
        self._pool = FramePool(self._layout)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._config.title!r}: {self.num_games} games, {self.num_envs} slots>"


make_vec = VectorGeoPatrol
"""Make a vector environment."""


def make_registered(*, num_envs: int, opponent: Mixture | None = "random", **arguments: Any) -> VectorGeoPatrol:
    """Make what ``gymnasium.make_vec`` asks for: ``num_envs`` slots, a game each, or in self-play two a game.

    Raises:
        ValueError: self-play with an odd number of slots, or what ``VectorGeoPatrol`` says.
    """
    games = check_count("num_envs", num_envs, MAX_GAMES)
    if opponent is None:
        if games % SIDES:
            raise ValueError(f"num_envs = {num_envs}: give an even number: in self-play a game fills two")
        games //= SIDES
    return VectorGeoPatrol(num_games=games, opponent=opponent, **arguments)
