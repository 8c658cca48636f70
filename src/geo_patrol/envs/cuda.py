"""The vector environment on a GPU: games, observations and opponents stay in its memory. Needs the extra ``[cuda]``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from geo_patrol.agents.protocol import Agent, is_tensor_agent
from geo_patrol.agents.scripted.cuda import DeviceScript
from geo_patrol.base.errors import AgentError, show
from geo_patrol.config.presets import ConfigSource
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import cuda as kernels
from geo_patrol.engine import state, steps
from geo_patrol.engine.observe import Encoding, check_encoding, observation_size
from geo_patrol.engine.own import Observation, Reward
from geo_patrol.engine.steps import Outputs
from geo_patrol.envs.opponents import Mixture, VectorOptions
from geo_patrol.envs.satellites import take_view
from geo_patrol.envs.vector import VectorGeoPatrol, VectorSatelliteOptions, VectorSatellites, split_satellites
from geo_patrol.game.cuda import (
    CudaGames,
    DeviceOutputs,
    check_memory,
    check_tensor,
    find_device,
    for_kernels,
    upload_arrays,
)
from geo_patrol.game.game import Game, Games


class _TensorPlayer:
    """An agent with ``act_tensors`` as an opponent on a GPU."""

    def __init__(self, agent: Any, name: str) -> None:
        self._agent, self._name = agent, name

    def act(self, index: int, games: CudaGames, observations: torch.Tensor, masks: torch.Tensor) -> None:
        """Write the orders of the games against the opponent with an index, see ``DeviceScript.act``.

        The agent is asked for all games, since to choose among them the host would have to wait for their number.
        """
        orders = self._agent.act_tensors(observations, masks)
        try:
            orders = check_tensor(orders, (len(games), state.SATELLITES), games.device)
        except ValueError as error:
            raise AgentError(f"agent {show(self._name)}: act_tensors: {error}") from None
        episodes = games.episodes
        selected = (episodes.field("opponent") == index) & (episodes.field("is_over") == 0)
        actions = episodes.field("opponent_actions")
        actions.copy_(torch.where(selected[:, None], orders, actions))


class CudaVectorGeoPatrol(VectorEnv[Any, torch.Tensor, torch.Tensor]):
    """Many games at once on a GPU: ``VectorGeoPatrol`` whose arrays are PyTorch tensors there.

    Game i plays, bit for bit, what a game with its seed plays on a processor. Arguments, spaces, rewards, endings, autoreset and
    infos are those of ``VectorGeoPatrol``, with these differences:

    - Actions, observations, rewards, endings and infos are tensors on the device. A step starts kernels on PyTorch's current
      stream and does not wait for them.
    - Opponents are "idle", "random", "scripted", "raider", "turtle" and "mixed", with any parameters, and agents with ``act_tensors``
      (``geo_patrol.agents.protocol.TensorAgent``), such as ``geo_patrol.training.TrainingAgent``; or a mixture of them.
    - In mode DISABLED, an episode that is over stays as it is until it is reset; nothing is raised, for which a step would have
      to wait.
    - ``reset``, ``save`` and ``restore`` move all games to the host and back.

    Args:
        config: as in ``VectorGeoPatrol``.
        num_games: how many games.
        device: "cuda" or "cuda:1".
        **options: as in ``VectorGeoPatrol``; ``threads``, ``render_mode`` and ``render_size`` cannot be given.

    Raises:
        CudaError: there is no such device.
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    _new_host: Callable[..., VectorGeoPatrol] = VectorGeoPatrol

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        num_games: int = 1,
        *,
        device: str = "cuda",
        **options: Unpack[VectorOptions],
    ) -> None:
        self.closed = True
        self.device = find_device(device)
        for name in ("threads", "render_mode", "render_size"):
            if name in options:
                raise ValueError(f"{name} cannot be given with device = {device!r}")
        observation, reward = options.get("observation", "onehot"), options.get("reward")
        for name, given in (("observation", observation), ("reward", reward)):
            if isinstance(given, Observation | Reward) and not given.compiled:
                raise ValueError(f"{name} must be a name or compiled with device = {device!r}, got {show(given)}")
        self._host = self._new_host(config, num_games, **options)
        self._own_observation = observation if isinstance(observation, Observation) else None
        self._own_reward = reward if isinstance(reward, Reward) else None
        self._name, self._copy = device, options.get("copy", True)
        self._mask_in = options.get("mask_in", "info")
        encoding = None if self._own_observation else check_encoding(observation)
        self._mode: AutoresetMode = self._host.metadata["autoreset_mode"]
        self.num_games, self.num_envs, self.metadata = self._host.num_games, self._host.num_envs, self._host.metadata
        self.single_observation_space = self._host.single_observation_space
        self.single_action_space, self.action_space = self._host.single_action_space, self._host.action_space
        self._players: dict[int, tuple[Agent, _TensorPlayer | DeviceScript]] = {}
        self._views: dict[Encoding | Observation, DeviceOutputs] = {}
        episodes, rows = self._host._episodes, self.num_envs  # noqa: SLF001
        of_one = np.zeros_like(episodes.observations(episodes.outputs)[0])
        check_memory(self.num_games, self._game_size(of_one.nbytes), self.device)
        self._observes_after = self._own_observation is not None or of_one.ndim > 1
        """Whether a kernel after that of the step writes observations: users' own, or those of satellites by themselves."""
        written = None if self._observes_after else encoding
        self._outputs = DeviceOutputs(rows, self.device, written, len(of_one), masks=True, results=True)
        if self._observes_after:
            repeats = rows, *(1 for _ in of_one.shape)
            self._outputs.observations = torch.from_numpy(of_one[None]).to(self.device).repeat(repeats)
        sampling = DeviceOutputs(rows, self.device, samples=True)
        self._sampled_array = sampling.sampled
        self._sampling = sampling.arrays._replace(results=self._outputs.arrays.results)
        self._stepping = self._outputs.arrays._replace(sampled=sampling.arrays.sampled)
        self._all = torch.ones(rows, dtype=torch.bool, device=self.device)
        self._games: CudaGames | None = None
        self._update_players()
        self._samples = False  # whether actions were asked for since the last step
        self._sampled: torch.Tensor | None = None  # actions for the next step, if it sampled them
        self.closed = False

    @property
    def config(self) -> GameConfig:
        """The configuration, with the ranges that resets sample from."""
        return self._host.config

    @property
    def opponent_names(self) -> tuple[str, ...]:
        """The names of all opponents so far, by the indices that infos return."""
        return self._host.opponent_names

    @property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of a batch of observations."""
        return self._host.observation_space

    def _game_size(self, observation_size: int) -> int:
        """Return how many bytes a game needs: its records, and the outputs of its environments with the copies of a step."""
        episodes = self._host._episodes  # noqa: SLF001
        records = sum(part.nbytes for part in (*episodes.games.state, *episodes.games.sight, episodes.records))
        results = steps.RESULT.itemsize + steps.STATISTICS.itemsize + 2 * 8 * state.SATELLITES
        given = observation_size + state.SATELLITES * state.ORDERS
        copies = 1 + self._copy + (self._mode is AutoresetMode.SAME_STEP)
        return records // self.num_games + self.num_envs // self.num_games * (results + copies * given)

    def _update_players(self) -> None:
        """Prepare the opponents that new episodes choose from, and keep those that play; the others are released.

        Raises:
            ValueError: one of them cannot play on a GPU.
        """
        table = self._host._opponents  # noqa: SLF001
        indices = table.choices.indices
        if self._games is not None:
            indices = np.concatenate([indices, self._games.episodes.field("opponent").cpu().numpy()])
        players: dict[int, tuple[Agent, _TensorPlayer | DeviceScript]] = {}
        for index, agent, name in table.players(indices[indices >= 0]):
            known = self._players.get(index)
            players[index] = known if known is not None and known[0] is agent else (agent, self._player(agent, name))
            encoding = agent.observation
            if isinstance(encoding, Observation):
                raise ValueError(f"opponent {show(name)} cannot play on a GPU: it has an observation of its own")
            if encoding not in self._views:
                config = self.config
                features = {"hides_enemies": config.hides_enemies, "counts_patrols": config.counts_patrols}
                size = observation_size(encoding, config.board.outer_ring, **features)
                self._views[encoding] = DeviceOutputs(self.num_games, self.device, encoding, size, masks=True)
        self._players = players
        self._opponents = upload_arrays(table.choices, self.device)

    def _player(self, agent: Agent, name: str) -> _TensorPlayer | DeviceScript:
        if is_tensor_agent(agent):
            return _TensorPlayer(agent, name)
        try:
            return DeviceScript(agent, self.config, self.num_games, self.device)
        except ValueError as error:
            able = "'idle', 'random', 'scripted', 'raider', 'turtle', 'mixed' and agents with act_tensors can"
            raise ValueError(f"opponent {show(name)} cannot play on a GPU: {error}; {able}") from None

    def _started(self) -> CudaGames:
        if self._games is None or self.closed:
            raise RuntimeError("the environment is closed" if self.closed else "no games are being played: call reset")
        return self._games

    def _upload(self) -> None:
        """Move all games from the host to the device, and write what they are observed as."""
        episodes = self._host._episodes  # noqa: SLF001 - the other half of this class
        if self._games is None:
            self._games = CudaGames(episodes.games, self._name, episodes.bookkeeping)
        else:
            self._games.upload(episodes.games, episodes.bookkeeping)
        sampled = self._host._sampled  # noqa: SLF001
        self._sampled = None if sampled is None else torch.from_numpy(sampled).to(self.device)
        for records in (self._outputs.results, self._outputs.statistics):
            records.memory.zero_()
        self._run(steps.DESCRIBE, self._outputs.arrays)

    def _download(self) -> None:
        """Move all games from the device to the host."""
        games, episodes = self._started(), self._host._episodes  # noqa: SLF001
        episodes.games.put(np.arange(self.num_games), games.to("cpu"))
        episodes.records[:] = games.episodes.download()
        sampled = self._sampled
        self._host._samples = self._samples  # noqa: SLF001
        self._host._sampled = None if sampled is None else sampled.cpu().numpy()  # noqa: SLF001

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see ``VectorGeoPatrol.reset``; ``reset_mask`` may be a tensor."""
        if options is not None and isinstance(options.get("reset_mask"), torch.Tensor):
            options = options | {"reset_mask": options["reset_mask"].cpu().numpy()}
        if self._games is not None:
            self._download()
        self._host.reset(seed=seed, options=options)
        self._upload()
        return self._observations(), self._infos()

    def step(self, actions: torch.Tensor) -> tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Play one decision phase of every game.

        Args:
            actions: (num_envs, 11) integer order codes on the device; illegal ones become noop and are counted in the infos.

        Returns:
            Observations, rewards (num_envs,) float64, terminations and truncations (num_envs,) bool, infos.

        Raises:
            ValueError: the actions have another shape, are not integers, or are on another device.
            RuntimeError: ``reset`` was never called, or the environment is closed.
        """
        games = self._started()
        self._samples &= self._sampled is None  # those of the last step were not used
        outputs = self._stepping if self._samples else self._outputs.arrays
        orders = check_tensor(actions, (self.num_envs, state.SATELLITES), self.device)
        self._act(games)
        if self._mode is AutoresetMode.NEXT_STEP:
            over = games.episodes.field("is_over") != 0
            games.set_up(over, self._opponents)
            games.episodes.field("is_new").copy_(over)
        self._run(steps.PLAY, outputs, orders)
        results = self._outputs.results
        infos = self._infos(results.field("is_finished").clone())
        rewards, terminated, truncated = (results.field(name).clone() for name in ("reward", "terminated", "truncated"))
        if self._mode is AutoresetMode.SAME_STEP:
            over = games.episodes.field("is_over") != 0
            games.set_up(over, self._opponents)
            self._run(steps.DESCRIBE, outputs, selected=over)
            infos |= self._info(self._all)
        self._sampled = self._sampled_array.clone() if self._samples else None
        return self._observations(), rewards, terminated, truncated, infos

    def _run(
        self,
        task: int,
        outputs: Outputs,
        orders: torch.Tensor | None = None,
        selected: torch.Tensor | None = None,
    ) -> None:
        """Run the kernel of the step, see ``CudaGames.run``, and those of the user's own reward and of other observations."""
        games = self._started()
        pays = task == steps.PLAY and self._own_reward is not None
        before = games.episodes.field("total_reward").clone() if pays else None
        games.run(task, orders, selected=selected, outputs=outputs)
        if self._own_reward is not None and before is not None:
            kind = {"function": self._own_reward.function, "hides_enemies": games.hides_enemies}
            pay = kernels.compiled(kernels.reward_kernel, **kind)
            rewards = torch.empty_like(before)
            arrays = games.state, games.sight, games.bookkeeping
            games.launch(pay, *arrays, for_kernels(rewards), for_kernels(before), outputs)
        if self._observes_after:
            chosen = torch.ones(len(games), dtype=torch.bool, device=self.device) if selected is None else selected
            self._observe(games, for_kernels(chosen), for_kernels(self._outputs.observations))

    def _observe(self, games: CudaGames, selected: Any, observations: Any) -> None:
        """Write the observations of the selected games that the step does not write itself."""
        own = self._own_observation
        if own is not None:
            kind = {"function": own.function, "dtype": own.dtype, "hides_enemies": games.hides_enemies}
            observe = kernels.compiled(kernels.observation_kernel, **kind)
            games.launch(observe, selected, games.state, games.sight, games.bookkeeping, observations)

    def _act(self, games: CudaGames) -> None:
        """Write the orders of the opponents that the step does not play itself."""
        for view in self._views.values() if self._players else ():
            games.run(steps.OBSERVE, outputs=view.arrays, of_opponents=True)
        for index, (agent, player) in self._players.items():
            view = self._views[agent.observation]
            player.act(index, games, view.observations, view.masks)

    def _observations(self) -> Any:
        if self._mask_in == "obs":
            return {
                "observation": self._given(self._outputs.observations),
                "action_mask": self._given(self._outputs.masks),
            }
        return self._given(self._outputs.observations)

    def _given(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone() if self._copy else tensor

    def _infos(self, finished: torch.Tensor | None = None) -> dict[str, Any]:
        done = torch.zeros_like(self._all) if finished is None else finished
        statistics = self._outputs.statistics
        episode = {name: statistics.field(name).clone() for name in steps.STATISTICS.names or ()}
        named = {key: value for name in episode for key, value in ((name, episode[name]), (f"_{name}", done))}
        named |= self._sampled_values(done)
        infos = self._info(self._all) | {"finished_episode": named, "_finished_episode": done}
        return infos | self._final(done) if self._mode is AutoresetMode.SAME_STEP else infos

    def _sampled_values(self, mask: torch.Tensor) -> dict[str, Any]:
        """Return what resets sampled for the games, by key of the configuration, zero in other rows; nothing if nothing is."""
        sampled, words = self._host._episodes.sampled, self._started().words  # noqa: SLF001
        if not sampled:
            return {}
        infos: dict[str, Any] = {}
        for key, value in sampled.items():
            column = words[:, value.word]
            if value.formations:
                choices = torch.tensor(list(value.formations), device=self.device)
                row = words[:, value.word : value.word + choices.shape[1]]
                column = (row[:, None] == choices).all(2).to(torch.int64).argmax(1)
            column = column.contiguous().view(torch.float64) if value.is_real else column
            rows = column.repeat_interleave(self.num_envs // self.num_games)
            infos[key], infos[f"_{key}"] = torch.where(mask, rows, torch.zeros_like(rows)), mask
        return {"sampled": infos, "_sampled": mask}

    def _info(self, mask: torch.Tensor) -> dict[str, Any]:
        """Return infos of the environments that a mask selects, zero in other rows."""
        infos: dict[str, Any] = {}
        for name in steps.INFO_FIELDS:
            infos[name], infos[f"_{name}"] = self._outputs.results.field(name) * mask, mask
        if self._mask_in == "info":
            masks = self._outputs.masks if mask is self._all else self._outputs.masks * mask[:, None, None]
            infos["action_mask"], infos["_action_mask"] = self._given(masks), mask
        if self._host._episodes.counts_events:  # noqa: SLF001
            episodes = self._started().episodes
            for name in steps.EVENT_FIELDS:
                for whose, sides in (("", episodes.field(name)), ("enemy_", episodes.field(name).flip(1))):
                    infos[f"{whose}{name}"], infos[f"_{whose}{name}"] = self._of_rows(sides) * mask, mask
        return infos | self._sampled_values(mask)

    def _of_rows(self, sides: torch.Tensor) -> torch.Tensor:
        """Return the rows of the sides that are played from those of both, (n, 2, ...)."""
        if self.num_envs > self.num_games:
            return sides.flatten(0, 1)
        seats = self._started().episodes.field("seat")
        return sides[torch.arange(self.num_games, device=self.device), seats]

    def _final(self, finished: torch.Tensor) -> dict[str, Any]:
        """Return the last observations and infos of episodes that finished, zero in other rows."""
        observed = self._outputs.observations
        observations: Any = observed * finished.view(-1, *(1 for _ in observed.shape[1:]))
        if self._mask_in == "obs":
            observations = {"observation": observations, "action_mask": self._outputs.masks * finished[:, None, None]}
        return {
            "final_obs": observations,
            "_final_obs": finished,
            "final_info": self._info(finished),
            "_final_info": finished,
        }

    def action_masks(self) -> torch.Tensor:
        """Return the legal orders of every environment, flat: (num_envs, 308) bool."""
        self._started()
        return self._outputs.masks.view(self.num_envs, -1) != 0

    def sample_actions(self) -> torch.Tensor:
        """Sample random legal orders for every environment, (num_envs, 11) int64, from streams of their own."""
        games, sampled = self._started(), self._sampled
        self._samples, self._sampled = True, None
        if sampled is None:
            games.run(steps.DESCRIBE, outputs=self._sampling)
            sampled = self._sampled_array.clone()
        return sampled

    def view(self) -> tuple[Any, dict[str, Any]]:
        """Return observations and infos as the games are now, as after ``restore``."""
        self._run(steps.DESCRIBE, self._outputs.arrays)
        return self._observations(), self._infos()

    def game(self, index: int) -> Game:
        """Return a copy of one game, see ``VectorGeoPatrol.game``."""
        self._download()
        return self._host.game(index)

    def games(self) -> Games:
        """Return copies of all games, on the host, with their random streams."""
        return self._started().to("cpu")

    def set_opponents(self, opponent: Mixture) -> None:
        """Let episodes that start from now on choose their opponents from another mixture, of those that can play on a GPU.

        Raises:
            ValueError: an opponent or a weight is wrong, or both sides are played.
        """
        self._host.set_opponents(opponent)
        self._update_players()

    def set_variants(self, weights: str | Mapping[str, float]) -> None:
        """Let episodes that start from now on sample variants by other weights, see ``VectorGeoPatrol.set_variants``."""
        self._host.set_variants(weights)
        if self._games is not None:
            self._games.set_scenario(self._host._episodes.games.scenario)  # noqa: SLF001

    def save(self) -> dict[str, Any]:
        """Return all games, random streams included, as ``VectorGeoPatrol.save`` does: either restores what the other saved."""
        self._download()
        return self._host.save()

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume games that were saved, see ``VectorGeoPatrol.restore``.

        Raises:
            RecordingError: the data are damaged, or of another configuration.
        """
        self._host.restore(saved)
        self._upload()

    def close_extras(self, **_: Any) -> None:
        """Free the memory."""
        self._games = None
        self._host.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.config.title!r}: {self.num_games} games, {self.num_envs} environments>"


class CudaVectorSatellites(CudaVectorGeoPatrol):
    """Satellites as agents on a GPU: ``VectorSatellites``, with its options and with the differences of ``CudaVectorGeoPatrol``."""

    _new_host = VectorSatellites

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        num_games: int = 1,
        *,
        device: str = "cuda",
        **options: Unpack[VectorSatelliteOptions],
    ) -> None:
        self._view, _ = take_view(options)
        super().__init__(config, num_games, device=device, **options)  # type: ignore[misc]  # the host takes the others too

    def _observe(self, games: CudaGames, selected: Any, observations: Any) -> None:
        look = kernels.compiled(kernels.satellites_kernel, is_onehot=self._outputs.observations.is_floating_point())
        view = self._view.sensor_range, self._view.sees_fleet
        games.launch(look, selected, games.state, games.bookkeeping, *view, observations)

    def _observations(self) -> Any:
        return split_satellites(super()._observations())

    def _info(self, mask: torch.Tensor) -> dict[str, Any]:
        games = self._started()
        numbers = torch.arange(state.SATELLITES, device=self.device)
        exists = numbers <= games.rules.field("patrol_count")[..., None]
        agents = self._of_rows((games.games.field("destroyed") == 0) & exists)
        return super()._info(mask) | {"agents": agents & mask[:, None], "_agents": mask}

    def _final(self, finished: torch.Tensor) -> dict[str, Any]:
        infos = super()._final(finished)
        return infos | {"final_obs": split_satellites(infos["final_obs"])}
