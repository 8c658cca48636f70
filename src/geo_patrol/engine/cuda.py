"""The rules on a GPU: kernels that call the engine's own functions, with a thread for each game.

No rule stands here. ``base.jit`` lists every function that it compiles for processors, and Numba compiles them for CUDA as well.
Only what allocates temporary arrays has another form there, as a thread has local memory and no ``np.empty``.

A kernel takes the arrays of games in the same tuples as the compiled functions of a processor; they lie on the device. With
``NUMBA_ENABLE_CUDASIM=1`` and ``NUMBA_DISABLE_JIT=1``, kernels run as Python on the processor, on NumPy arrays.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numba
import numba.cuda
import numba_cuda  # noqa: F401 - replaces what Numba has of CUDA, which lacks the names below
import numpy as np
from numba.core import config as numba_config
from numba.core.event import trigger_event
from numba.cuda.cudadrv import nvvm
from numba.cuda.extending import overload, register_jitable  # type: ignore[attr-defined]  # of numba-cuda

from geo_patrol.base.compile_cache import CACHE_FOLDERS, CheckedFiles
from geo_patrol.base.jit import COMPILED
from geo_patrol.engine import observe, own, rng, setup, sight, state, steps
from geo_patrol.engine.engagement import Engagement, make_engagement
from geo_patrol.engine.steps import EpisodeState, Opponents, Outputs

cuda: Any = numba.cuda  # which has no types
IS_SIMULATED = bool(numba_config.ENABLE_CUDASIM)  # type: ignore[attr-defined]
THREADS = 64
"""Threads of a block. A block is small, so that there are many, which hide each other's waits for memory."""

_SIDES, _SATELLITES, _MAX_OUTCOMES = state.NUM_SIDES, state.SATELLITES, state.MAX_OUTCOMES
_FLEETS = _SIDES * _SATELLITES
_FEATURES = observe.NUM_GAME_FEATURES
_OUTCOME: Any = np.dtype((np.record, state.OUTCOME)) if IS_SIMULATED else numba.from_dtype(state.OUTCOME)


# Compilation


def _make_engagement() -> Engagement:
    arrays = cuda.local.array((6, _FLEETS), numba.int64)
    for i in range(_FLEETS):
        arrays[1, i] = 0
    return Engagement(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5])


def _make_surroundings(dtype: Any) -> Callable[..., observe.Surroundings]:
    def make(observations):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, ARG001 - Numba wants the signature that it replaces
        return observe.Surroundings(
            cuda.local.array((4, _FLEETS), numba.int32),
            cuda.local.array((3, _FLEETS), dtype),
            cuda.local.array(_FLEETS, numba.int32),
            cuda.local.array(_FEATURES, dtype),
        )

    return make


_SURROUNDINGS = {dtype: _make_surroundings(dtype) for dtype in (numba.float32, numba.int16)}
_registered: set[Callable[..., Any]] = set()


def register() -> None:
    """Let kernels call every compiled function of the modules that are imported.

    The temporary arrays of an engagement, and of what satellites observe, are made by other functions, which are inlined: local
    memory is that of the caller.
    """
    if not _registered:
        overload(make_engagement, inline="always")(lambda: _make_engagement)
        overload(observe.make_surroundings, inline="always")(lambda observations: _SURROUNDINGS[observations.dtype])
        _registered.update((make_engagement, observe.make_surroundings))
    for function in COMPILED:
        if function not in _registered:
            register_jitable(function)
            _registered.add(function)


@contextmanager
def separate_rounding() -> Iterator[None]:
    """Compile sums of products as they are written, with each product rounded by itself, as on a processor.

    NVIDIA's compiler fuses them unless its option ``-fma=0`` is given, for which Numba has no argument.
    """
    with mock.patch.object(nvvm, "compile_ir", functools.partial(nvvm.compile_ir, fma=0)):
        yield


def kernel_cache(function: Callable[..., None]) -> Any:
    """Return the cache of a kernel in the folder of all compiled code, by GPU and version of CUDA.

    Numba's key has the values that the function encloses, and the folder is one for each state of the sources.
    """
    # Both are missing where kernels are simulated.
    from numba.cuda.core import config as cuda_config  # noqa: PLC0415
    from numba.cuda.dispatcher import CUDACache  # noqa: PLC0415

    class KernelCache(CheckedFiles, CUDACache):
        def __init__(self) -> None:
            with mock.patch.object(cuda_config, "CACHE_DIR", str(CACHE_FOLDERS[0])):
                super().__init__(function)  # type: ignore[no-untyped-call]
            self._check_files()

    return KernelCache()


def compile_kernel(function: Callable[..., None], *arguments: Any, is_cached: bool = True) -> Any:
    """Return a kernel that is compiled for arguments of these types, or was in an earlier run; all calls must have such."""
    kernel = cuda.jit(function)
    if IS_SIMULATED:
        return kernel
    types, stored = tuple(map(numba.typeof, arguments)), None
    if is_cached and CACHE_FOLDERS:
        kernel._cache = kernel_cache(function)  # noqa: SLF001 - Numba has no way to choose a cache
        stored = kernel._cache.load_overload(types, kernel.targetctx)  # noqa: SLF001
    if stored is not None:
        kernel.add_overload(stored, types)
        return kernel
    register()
    # Numba itself tells only of the functions that a kernel calls.
    with separate_rounding(), trigger_event("numba:compile", data={"dispatcher": kernel}):
        kernel.compile(types)
    return kernel


def launch(kernel: Any, count: int, *arguments: Any, stream: Any = 0) -> None:
    """Run a kernel with a thread for each of ``count`` games."""
    if IS_SIMULATED:  # which copies arrays into a kernel and back, unless they are its own
        arguments = tuple(cuda.devicearray.FakeCUDAArray(x) if isinstance(x, np.ndarray) else x for x in arguments)
    kernel[-(-count // THREADS), THREADS, stream](*arguments)


# Kernels, each with arguments of the types that it takes


def step_kernel(*, outer_ring: int, hides_enemies: bool) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel that does for each game what ``steps.step_games`` does, and plays on with sampled actions.

    Its arguments are those of ``step_games`` without ``start``, ``stop`` and ``outcomes``; ``selected`` has as many rows as there
    are games. ``calls`` after ``task`` is how often ``step_games`` is called: from the second time on to play, as long as the game is
    selected and goes on, with ``actions``, which is then where the outputs have sampled actions. The last call writes the last
    argument. Where nothing is hidden, the sight is not read.
    """
    sectors = 1 << (outer_ring + 2)  # as ``state.make_workspace`` allocates

    def step(
        task: int,
        calls: int,
        selected: Any,
        games: state.State,
        known: state.Sight,
        episodes: EpisodeState,
        actions: Any,
        outputs: Outputs,
        last_outputs: Outputs,
    ) -> None:
        i = cuda.grid(1)
        if i >= len(selected):
            return
        occupancy, nearness = cuda.local.array(sectors, numba.int32), cuda.local.array(sectors, numba.int32)
        for sector in range(sectors):
            occupancy[sector] = 0
            nearness[sector] = 0
        workspace = state.Workspace(
            occupancy,
            cuda.local.array((_SIDES, _SATELLITES, 2), numba.int64),
            nearness,
            cuda.local.array((_SIDES, _SATELLITES, 3), numba.int64),
            cuda.local.array((_SIDES, _SATELLITES), numba.uint64),
            cuda.local.array((_SIDES, _SATELLITES), numba.int64),
        )
        outcomes = cuda.local.array(_MAX_OUTCOMES, _OUTCOME)
        for call in range(calls):
            if call > 0 and (not selected[i] or games.games[i].done != 0):
                break
            now, written = task if call == 0 else steps.PLAY, last_outputs if call == calls - 1 else outputs
            if hides_enemies:
                steps.step_rows(now, i, i + 1, selected, games, known, episodes, workspace, actions, outcomes, written)
            else:
                steps.step_rows(now, i, i + 1, selected, games, None, episodes, workspace, actions, outcomes, written)

    return step, (steps.PLAY, 1, _SELECTED, _STATE, state.NO_SIGHT, steps.NO_EPISODES, _ACTIONS, _OUTPUTS, _OUTPUTS)


def reset_kernel(*, is_randomized: bool, hides_enemies: bool) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel that sets up the selected games and starts new episodes of them, as ``Games.set_up`` does.

    Its arguments: selected (n,), state, the memory of its rules as words, sight, episodes, opponents, scenario.
    """

    def reset(
        selected: Any,
        games: state.State,
        words: Any,
        known: state.Sight,
        episodes: EpisodeState,
        opponents: Opponents,
        scenario: setup.Scenario,
    ) -> None:
        i = cuda.grid(1)
        if i >= len(selected) or not selected[i]:
            return
        game, rules = games.games[i], games.rules[i if is_randomized else 0]
        if is_randomized:
            key = rng.random_bits(game)
            features = cuda.local.array(_FEATURES, numba.float64)
            setup.sample_rules(game, key, scenario, state.NOBODY, rules, words[i], features)
        steps.reset_row(i, games, episodes, opponents, not is_randomized)
        if hides_enemies:
            sight.reveal(game, rules, known, i)

    words = setup.as_words(_STATE.rules)
    return reset, (_SELECTED, _STATE, words, state.NO_SIGHT, steps.NO_EPISODES, steps.NO_OPPONENTS, _SCENARIO)


def observation_kernel(
    *, function: Callable[..., Any], dtype: np.dtype[Any], hides_enemies: bool
) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel that writes an observation of a user's own, a compiled function, of the selected games.

    Its arguments: selected (n,), state, sight, episodes, observations.
    """
    write = cuda.jit(own.observation_loop(cuda.jit(own.plain(function), device=True)), device=True)

    def observe(
        selected: Any, games: state.State, known: state.Sight, episodes: EpisodeState, observations: Any
    ) -> None:
        i = cuda.grid(1)
        if i >= len(selected):
            return
        if hides_enemies:
            write(i, i + 1, selected, games, known, episodes, observations)
        else:
            write(i, i + 1, selected, games, None, episodes, observations)

    return observe, (_SELECTED, _STATE, state.NO_SIGHT, steps.NO_EPISODES, np.zeros((1, 1), dtype))


def satellites_kernel(*, is_onehot: bool) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel that writes what each satellite of the selected games observes by itself.

    Its arguments are those of ``steps.write_onehot_of_satellites`` without ``start`` and ``stop``.
    """

    def look(
        selected: Any,
        games: state.State,
        episodes: EpisodeState,
        sensor_range: int,
        sees_fleet: bool,
        observations: Any,
    ) -> None:
        i = cuda.grid(1)
        if i >= len(selected):
            return
        view = sensor_range, sees_fleet, observations
        if is_onehot:
            steps.observe_satellites(i, i + 1, selected, games, episodes, *view, observe.observe_satellites_onehot)
        else:
            steps.observe_satellites(i, i + 1, selected, games, episodes, *view, observe.observe_satellites_tokens)

    observations = np.zeros((1, 1, 1), np.float32 if is_onehot else np.int16)
    return look, (_SELECTED, _STATE, steps.NO_EPISODES, 1, True, observations)


def reward_kernel(*, function: Callable[..., Any], hides_enemies: bool) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel that replaces the rewards of the phase just played by those of a user's own, a compiled function.

    Its arguments: state, sight, episodes, rewards (n, 2), overwritten, returns before the phase (n, 2), outputs.
    """
    find = cuda.jit(own.reward_loop(cuda.jit(own.plain(function), device=True)), device=True)

    def pay(
        games: state.State, known: state.Sight, episodes: EpisodeState, rewards: Any, totals: Any, outputs: Outputs
    ) -> None:
        i = cuda.grid(1)
        if i >= len(rewards):
            return
        if hides_enemies:
            find(i, i + 1, games, known, episodes, rewards[i : i + 1])
        else:
            find(i, i + 1, games, None, episodes, rewards[i : i + 1])
        steps.pay_rewards(i, i + 1, episodes, rewards[i : i + 1], totals[i : i + 1], outputs)

    rewards = np.zeros((1, _SIDES))
    return pay, (_STATE, state.NO_SIGHT, steps.NO_EPISODES, rewards, rewards, _OUTPUTS)


_STATE = state.make_state(1, 1)
_SELECTED = np.ones(1, np.bool_)
_ACTIONS = np.zeros((1, _SATELLITES), np.int64)
_OUTPUTS = Outputs(
    state.records(steps.RESULT, 1),
    state.records(steps.STATISTICS, 1),
    _ACTIONS,
    np.empty((1, _SATELLITES, state.ORDERS), np.int8),
    np.empty((1, 1), np.float32),
    np.empty((1, 1), np.int16),
)
_WORDS = np.zeros((1, 1), np.int64)
_SCENARIO = setup.Scenario(_WORDS, _WORDS[0], _WORDS, _WORDS[0], _WORDS[0], _WORDS)


@functools.cache
def compiled(make: Callable[..., tuple[Callable[..., None], tuple[Any, ...]]], **options: Any) -> Any:
    """Return a kernel of this module, compiled once for the options with which ``make`` makes it.

    Those with a user's function are not cached: its sources may change.
    """
    function, arguments = make(**options)
    return compile_kernel(function, *arguments, is_cached="function" not in options)
