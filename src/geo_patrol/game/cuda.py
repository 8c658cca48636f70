"""Games on a GPU: the arrays of ``Games`` in its memory, and the kernels that play them. Needs the extra ``[cuda]``.

``Games.to("cuda")`` makes them of games on the processor. All arrays that methods take and return are PyTorch tensors on the device.
"""

import sys
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self, overload

import numpy as np
import torch
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_limit
from geo_patrol.base.errors import GeoPatrolError, show
from geo_patrol.config.schema import MAX_TURNS
from geo_patrol.engine import cuda as kernels
from geo_patrol.engine import setup, state, steps
from geo_patrol.engine.cuda import cuda
from geo_patrol.engine.observe import Encoding, check_encoding, observation_size
from geo_patrol.engine.steps import EpisodeState, Opponents, Outputs
from geo_patrol.game.game import Games


class CudaError(GeoPatrolError):
    """Games cannot be played on a GPU."""


def find_device(device: str = "cuda") -> torch.device:
    """Return the device of a name, "cuda" or "cuda:1".

    Raises:
        ValueError: it is no CUDA device.
        CudaError: PyTorch or Numba has no such device.
    """
    if kernels.IS_SIMULATED:
        return torch.device("cpu")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        found = torch.device("cpu")
    if found.type != "cuda":
        raise ValueError(f'device must be "cpu", "cuda" or "cuda:" and a number, got {show(device)}')
    if not torch.cuda.is_available():
        raise CudaError("there is no GPU that PyTorch can use: torch.cuda.is_available() is False")
    count = torch.cuda.device_count()
    index = torch.cuda.current_device() if found.index is None else found.index
    if index >= count:
        raise CudaError(f"there is no device {show(device)}: PyTorch finds {count}, from cuda:0")
    if not cuda.is_available():
        raise CudaError("Numba finds no GPU: is the driver as new as numba-cuda needs? numba -s prints what it finds")
    return torch.device("cuda", index)


def free_memory(device: torch.device) -> int:
    """Return how many bytes of a device's memory are free, or can be used again by PyTorch."""
    if kernels.IS_SIMULATED:
        return sys.maxsize
    free: int = torch.cuda.mem_get_info(device)[0]
    return free + int(torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def check_memory(num_games: int, size: int, device: torch.device) -> None:
    """Check that games fit into a device's memory, before anything is compiled.

    Args:
        num_games: how many games.
        size: how many bytes a game needs.
        device: where they are to be.

    Raises:
        CudaError: they do not.
    """
    free = int(free_memory(device) * _USABLE)
    if num_games * size > free:
        raise CudaError(
            f"{num_games:,} games need {num_games * size / 2**30:,.1f} GiB of memory, and {free / 2**30:,.1f} GiB of {device} are "
            f"free: {free // size:,} games fit"
        )


_USABLE = 0.9
"""The fraction of the free memory that games may take: kernels and temporary tensors need the rest."""


class DeviceRecords(NamedTuple):
    """Records on the device, as kernels take them, and the same memory as bytes."""

    array: Any
    memory: torch.Tensor
    """(n, bytes of a record) uint8."""
    layout: np.dtype[Any]

    @classmethod
    def upload(cls, records: state.Records, device: torch.device) -> Self:
        """Copy records to a device."""
        host = torch.from_numpy(
            np.frombuffer(bytearray(records.tobytes()), np.uint8).reshape(len(records), records.itemsize)
        )
        return cls.of(host.to(device), records.dtype)

    @classmethod
    def of(cls, memory: torch.Tensor, layout: np.dtype[Any]) -> Self:
        """Return the records whose memory is a tensor, (n, bytes of a record) uint8."""
        if kernels.IS_SIMULATED:
            array: Any = memory.numpy().reshape(-1).view(layout)
        elif len(memory) == 0:
            array = cuda.device_array(0, layout)
        else:
            owner = cuda.as_cuda_array(memory.view(-1))
            shape, strides = (len(memory),), (layout.itemsize,)
            array = cuda.devicearray.DeviceNDArray(shape, strides, layout, gpu_data=owner.gpu_data)
        return cls(array, memory, layout)

    def copy(self) -> Self:
        """Return a copy on the same device."""
        return self.of(self.memory.clone(), self.layout)

    def download(self) -> state.Records:
        """Copy the records to the host."""
        copied: state.Records = np.frombuffer(bytearray(self.memory.cpu().numpy().tobytes()), self.layout)
        return copied

    def field(self, name: str) -> torch.Tensor:
        """Return a field of all records: a view."""
        assert self.layout.fields is not None
        kind, offset = self.layout.fields[name][:2]
        size = kind.itemsize
        view = self.memory[:, offset : offset + size].view(_TENSOR_TYPES[kind.base.str[1:]])
        return view.reshape(-1, *kind.shape) if kind.shape else view[:, 0]


_TENSOR_TYPES = {
    "i1": torch.int8,
    "i2": torch.int16,
    "i4": torch.int32,
    "i8": torch.int64,
    "u8": torch.uint64,
    "f4": torch.float32,
    "f8": torch.float64,
    "b1": torch.bool,
}


def for_kernels(tensor: torch.Tensor) -> Any:
    """Return the memory of a tensor as kernels take it."""
    if kernels.IS_SIMULATED:
        return tensor.numpy()
    if tensor.numel() == 0:
        return cuda.device_array(tuple(tensor.shape), torch.empty(0, dtype=tensor.dtype).numpy().dtype)
    return cuda.as_cuda_array(tensor)


def upload_arrays(arrays: Any, device: torch.device) -> Any:
    """Copy a tuple of arrays to a device, for kernels."""
    return type(arrays)(*(for_kernels(torch.from_numpy(np.array(array)).to(device)) for array in arrays))


class DeviceOutputs:
    """The arrays that a step writes, as tensors and as kernels take them; those without rows are not written.

    Args:
        rows: how many environments there are, two for each game or one.
        device: where the tensors are.
        encoding: of the observations; None writes none.
        size: features of an observation.
        masks: whether action masks are written.
        samples: whether actions are sampled.
        results: whether results and statistics are written.
    """

    def __init__(
        self,
        rows: int,
        device: torch.device,
        encoding: Encoding | None = None,
        size: int = 0,
        *,
        masks: bool = False,
        samples: bool = False,
        results: bool = False,
    ) -> None:
        def empty(is_wanted: bool, *shape: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.zeros((rows if is_wanted else 0, *shape), dtype=dtype, device=device)

        self.results = DeviceRecords.upload(state.records(steps.RESULT, rows if results else 0), device)
        self.statistics = DeviceRecords.upload(state.records(steps.STATISTICS, rows if results else 0), device)
        self.sampled = empty(samples, state.SATELLITES, dtype=torch.int64)
        self.masks = empty(masks, state.SATELLITES, state.ORDERS, dtype=torch.int8)
        self.onehot = empty(encoding == "onehot", size, dtype=torch.float32)
        self.tokens = empty(encoding == "tokens", size, dtype=torch.int16)
        self.observations = self.tokens if encoding == "tokens" else self.onehot
        arrays = map(for_kernels, (self.sampled, self.masks, self.onehot, self.tokens))
        self.arrays = Outputs(self.results.array, self.statistics.array, *arrays)


class CudaGames:
    """Positions of one configuration, side by side on a GPU; they play, bit for bit, what ``Games`` play.

    Args:
        games: what to copy, with the random streams.
        device: "cuda" or "cuda:1".
        episodes: records of episodes of these games, and their settings, where an environment plays them.

    Attributes:
        config: the configuration.
        device: where the games are.

    Raises:
        CudaError: there is no such device.
    """

    def __init__(self, games: Games, device: str = "cuda", episodes: EpisodeState = steps.NO_EPISODES) -> None:
        self.config, self.device = games.config, find_device(device)
        self.hides_enemies = games.hides_enemies
        size = sum(part.nbytes for part in (*games.state, *games.sight, episodes.records))
        check_memory(len(games), -(-size // max(len(games), 1)), self.device)
        self._host = games.copy()  # what does not change, and the form in which games come back
        kernels_of = {"outer_ring": self.config.board.outer_ring, "hides_enemies": self.hides_enemies}
        self._step = kernels.compiled(kernels.step_kernel, **kernels_of)
        self._running = torch.ones(len(games), dtype=torch.bool, device=self.device)
        self._nothing = DeviceOutputs(0, self.device)
        self.upload(games, episodes)

    def upload(self, games: Games, episodes: EpisodeState = steps.NO_EPISODES) -> None:
        """Replace all games by others of the same configuration and number, with their random streams."""
        of_opponents = episodes.settings.copy()
        of_opponents["sides"], of_opponents["observes_opponent"] = 1, 1
        parts = (*games.state, *games.sight, *episodes, of_opponents)
        self._adopt([DeviceRecords.upload(part, self.device) for part in parts])
        self.set_scenario(games.scenario)

    def _adopt(self, parts: Sequence[DeviceRecords]) -> None:
        """Take over the records of games, sights and episodes, with the settings of the episodes and of opponents."""
        self._parts = parts
        self.games, self.rules, self.choices, self.beliefs, self.sightings, self.episodes, *self._settings = parts
        self.bookkeeping = EpisodeState(self.episodes.array, self._settings[0].array)
        self.state = state.State(self.games.array, self.rules.array, self.choices.array)
        self.sight = state.Sight(self.beliefs.array, self.sightings.array)
        size = self.rules.memory.shape[1] // 8
        self.words = self.rules.memory.view(torch.int64).view(-1, size)

    def set_scenario(self, scenario: setup.Scenario) -> None:
        """Let games that are set up from now on sample their rules from another scenario."""
        self._scenario = upload_arrays(scenario, self.device)

    def __len__(self) -> int:
        return len(self._running)

    @overload
    def to(self, device: Literal["cpu"] = "cpu") -> Games: ...

    @overload
    def to(self, device: str) -> "Games | CudaGames": ...

    def to(self, device: str = "cpu") -> "Games | CudaGames":
        """Return copies of the games on another device, with their random streams, see ``Games.to``."""
        if device != "cpu":
            return self if find_device(device) == self.device else self.to("cpu").to(device)
        games = self._host.copy()
        for part, records in zip(games.state, (self.games, self.rules, self.choices), strict=True):
            part[:] = records.download()
        for part, records in zip(games.sight, (self.beliefs, self.sightings), strict=True):
            part[:] = records.download()
        return games

    # What the positions are

    @property
    def turn(self) -> torch.Tensor:
        """(n,) int32: see ``Games.turn``."""
        return self.games.field("turn") + 1

    @property
    def phase(self) -> torch.Tensor:
        """(n,) int16: see ``Games.phase``."""
        return self.games.field("phase").clone()

    @property
    def is_over(self) -> torch.Tensor:
        """(n,) bool: whether each game has ended."""
        return self.games.field("done") != 0

    @property
    def scores(self) -> torch.Tensor:
        """(n, 2) int32: see ``Games.scores``."""
        return self.games.field("score").clone()

    @property
    def sector(self) -> torch.Tensor:
        """(n, 2, 11) int16: see ``Games.sector``."""
        return self.games.field("sector").clone()

    @property
    def fuel(self) -> torch.Tensor:
        """(n, 2, 11) int16: fuel of each satellite."""
        return self.games.field("fuel").clone()

    def action_masks(self) -> torch.Tensor:
        """Return the legal orders of both sides, (n, 2, 11, 28) int8."""
        outputs = DeviceOutputs(2 * len(self), self.device, masks=True)
        self.run(steps.OBSERVE, outputs=outputs.arrays)
        return outputs.masks.view(len(self), 2, state.SATELLITES, state.ORDERS)

    def observe(self, encoding: Encoding = "onehot") -> torch.Tensor:
        """Return the observations of both sides, (n, 2, size): float32 ("onehot") or int16 ("tokens")."""
        outer_ring = self.config.board.outer_ring
        features = {"hides_enemies": self.hides_enemies, "counts_patrols": self.config.counts_patrols}
        size = observation_size(check_encoding(encoding), outer_ring, **features)
        outputs = DeviceOutputs(2 * len(self), self.device, encoding, size)
        self.run(steps.OBSERVE, outputs=outputs.arrays)
        return outputs.observations.view(len(self), 2, size)

    # Playing

    def sample_actions(self) -> torch.Tensor:
        """Sample legal actions, (n, 2, 11) int64, from streams of their own."""
        outputs = DeviceOutputs(2 * len(self), self.device, samples=True)
        self.run(steps.DESCRIBE, outputs=outputs.arrays)
        return outputs.sampled.view(len(self), 2, state.SATELLITES)

    def step(self, actions: torch.Tensor) -> None:
        """Play one decision phase of every game, see ``Games.step``.

        Raises:
            ValueError: the actions have another shape, are not integers, or are on another device.
        """
        self.run(
            steps.PLAY, check_tensor(actions, (len(self), 2, state.SATELLITES), self.device).view(-1, state.SATELLITES)
        )

    def play_randomly(self, max_phases: int | None = None) -> Self:
        """Play the games to their end with sampled actions, and return the games themselves; see ``Games.play_randomly``."""
        limit = check_limit("max_phases", max_phases)
        outputs = DeviceOutputs(2 * len(self), self.device, samples=True)
        if (
            limit > 0
        ):  # one kernel plays whole games: the first call samples actions, and each further one plays a phase
            self.run(
                steps.DESCRIBE,
                outputs.sampled,
                selected=~self.is_over,
                outputs=outputs.arrays,
                more_phases=min(limit, 2 * MAX_TURNS),
            )
        return self

    def copy(self) -> "CudaGames":
        """Return independent copies with the same random streams."""
        twin = object.__new__(type(self))
        twin.__dict__ |= self.__dict__
        twin._adopt([part.copy() for part in self._parts])
        return twin

    def reseed(self, seed: int | Sequence[int] | NDArray[np.integer[Any]] | None = None) -> Self:
        """Give the games new random streams, see ``Games.reseed``; return the games themselves."""
        self.upload(self.to("cpu").reseed(seed))
        return self

    def run(
        self,
        task: int,
        actions: torch.Tensor | None = None,
        *,
        selected: torch.Tensor | None = None,
        outputs: Outputs | None = None,
        of_opponents: bool = False,
        more_phases: int = 0,
    ) -> None:
        """Start the kernel of the step for all games, after what PyTorch's current stream does already.

        Args:
            task: PLAY, DESCRIBE or OBSERVE, see ``engine.steps.step_games``.
            actions: (rows, 11) int64 order codes.
            selected: (n,) bool, the games whose outputs are written, all by default.
            outputs: what to write.
            of_opponents: whether the outputs are those of the side opposite to each game's seat.
            more_phases: how many phases of the selected games are then played with ``actions``, in which the outputs have
                sampled actions; the last phase writes nothing.
        """
        episodes = EpisodeState(self.episodes.array, self._settings[of_opponents].array)
        given = self._nothing.sampled if actions is None else actions
        written = self._nothing.arrays if outputs is None else outputs
        self.launch(
            self._step,
            task,
            1 + more_phases,
            for_kernels(self._running if selected is None else selected),
            self.state,
            self.sight,
            episodes,
            for_kernels(given),
            written,
            self._nothing.arrays if more_phases else written,
        )

    def set_up(self, selected: torch.Tensor, opponents: Opponents) -> None:
        """Set up the selected games, (n,) bool, for a new game; their random streams go on."""
        reset = kernels.compiled(
            kernels.reset_kernel, is_randomized=self._host.is_randomized, hides_enemies=self.hides_enemies
        )
        arguments = self.state, for_kernels(self.words), self.sight, self.bookkeeping, opponents, self._scenario
        self.launch(reset, for_kernels(selected), *arguments)

    def launch(self, kernel: Any, *arguments: Any) -> None:
        """Start a kernel with a thread for each game, on PyTorch's current stream."""
        stream = 0 if kernels.IS_SIMULATED else cuda.external_stream(torch.cuda.current_stream(self.device).cuda_stream)
        kernels.launch(kernel, len(self), *arguments, stream=stream)


def check_tensor(actions: Any, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Return actions as int64, contiguous.

    Raises:
        ValueError: they are no tensor of integers of this shape on this device.
    """
    if not isinstance(actions, torch.Tensor) or tuple(actions.shape) != shape:
        found = f"shape {tuple(actions.shape)}" if isinstance(actions, torch.Tensor) else show(actions)
        raise ValueError(f"actions must be a tensor of integers of shape {shape}, got {found}")
    if actions.is_floating_point() or actions.dtype is torch.bool or actions.is_complex():
        raise ValueError(f"actions must be integers, got {actions.dtype}")
    if actions.device != device:
        raise ValueError(f"actions must be on {device}, got {actions.device}")
    return actions.to(torch.int64).contiguous()
