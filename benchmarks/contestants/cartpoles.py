"""CartPole-v1, the usual reference: EnvPool's and Gymnasium's."""

from typing import Any

import numpy as np

from benchmarks.contestants.base import Contestant, Workload
from benchmarks.contestants.ours import BATCH, QUICK_BATCH, fraction_ended

_INCLUDES = "one call for random actions (NumPy), physics, observations of 4 floats, auto-reset; no masks"


def _drive(envs: Any, batch: int, action_type: type[np.integer[Any]]) -> Workload:
    """Return the workload of a vector environment with actions from one NumPy call per step."""
    generator = np.random.default_rng(0)
    observations, _ = envs.reset()

    def step() -> Any:
        return envs.step(generator.integers(0, 2, batch, action_type))

    return Workload(step, batch, batch, observations.nbytes, fraction_ended)


def make_envpool(batch: int) -> Workload:
    """Create EnvPool's synchronous vector environment with one worker thread."""
    import envpool

    envs = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=batch, num_threads=1, seed=0)
    return _drive(envs, batch, np.int32)


def make_gymnasium(batch: int, mode: str) -> Workload:
    """Create Gymnasium's vector environment: in NumPy ("vector_entry_point") or one by one ("sync")."""
    import gymnasium

    envs = gymnasium.make_vec("CartPole-v1", num_envs=batch, vectorization_mode=mode)
    return _drive(envs, batch, np.int64)


def make_single(batch: int) -> Workload:  # noqa: ARG001 - always one environment
    """Create a single environment with actions sampled from its space."""
    import gymnasium

    env: gymnasium.Env[Any, Any] = gymnasium.make("CartPole-v1")
    env.action_space.seed(0)
    env.reset(seed=0)

    def step() -> None:
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()

    return Workload(step, 1, 1)


CONTESTANTS = [
    Contestant(
        name="envpool-cartpole",
        title="EnvPool CartPole-v1, 1 thread",
        process="envpool",
        packages=("envpool",),
        batch=BATCH,
        quick_batch=QUICK_BATCH,
        includes=_INCLUDES,
        make=make_envpool,
    ),
    Contestant(
        name="gymnasium-vector-cartpole",
        title="Gymnasium CartPole-v1, in NumPy",
        process="gymnasium",
        packages=("gymnasium", "numpy"),
        batch=BATCH,
        quick_batch=QUICK_BATCH,
        includes=_INCLUDES,
        make=lambda batch: make_gymnasium(batch, "vector_entry_point"),
    ),
    Contestant(
        name="gymnasium-sync-cartpole",
        title="Gymnasium CartPole-v1, SyncVectorEnv",
        process="gymnasium",
        packages=("gymnasium",),
        batch=BATCH,
        quick_batch=QUICK_BATCH,
        includes=_INCLUDES,
        make=lambda batch: make_gymnasium(batch, "sync"),
    ),
    Contestant(
        name="gymnasium-cartpole",
        title="Gymnasium CartPole-v1",
        process="gymnasium-single",
        packages=("gymnasium",),
        batch=1,
        quick_batch=1,
        includes="sampling by the space, physics, observations of 4 floats, reset; no masks",
        make=make_single,
    ),
]
