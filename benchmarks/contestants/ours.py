"""The environments of geo_patrol."""

from typing import Any, Literal

import numpy as np

from benchmarks.contestants.base import Contestant, Workload

BATCH, QUICK_BATCH = 1024, 32
SIDES = 2


def make_vector(batch: int, observation: Literal["onehot", "tokens"], **options: Any) -> Workload:
    """Create the vector environment with both seats of every game and random legal orders."""
    import geo_patrol

    envs = geo_patrol.make_vec("geo_patrol", batch, seats="both", observation=observation, mask_in="info", **options)
    observations, infos = envs.reset(seed=0)
    if isinstance(observations, dict):  # of satellites
        observations = observations["team"]

    def step() -> Any:
        return envs.step(envs.sample_actions())

    payload = observations.nbytes + infos["action_mask"].nbytes
    return Workload(step, envs.num_envs, batch, payload, fraction_ended)


def fraction_ended(result: Any) -> float:
    """Return the fraction of environments that ended, from the return value of a vector environment's step."""
    _, _, terminations, truncations, _ = result
    return float(np.mean(terminations | truncations))


def make_parallel(batch: int) -> Workload:  # noqa: ARG001 - always one game
    """Create the parallel environment with its defaults and random legal orders."""
    from geo_patrol import geo_patrol_v0

    env = geo_patrol_v0.parallel_env()
    env.reset(seed=0)

    def step() -> None:
        env.step(env.sample_actions())
        if not env.agents:
            env.reset()

    return Workload(step, SIDES, 1)


def _vector(
    observation: Literal["onehot", "tokens"], threads: int, *, copy: bool = False, satellites: bool = False
) -> Contestant:
    plural = "threads" if threads > 1 else "thread"
    agents: dict[str, Any] = {"agents": "satellites"} if satellites else {}
    what = f"vector{' of satellites' if satellites else ''}, {observation}, {threads} {plural}"
    return Contestant(
        name=f"{observation}-{threads}{'-copy' if copy else ''}{'-satellites' if satellites else ''}",
        title=f"geo_patrol {what}{', new arrays' if copy else ''}",
        process=f"geo_patrol-{threads}",
        packages=("numpy", "numba", "gymnasium"),
        batch=BATCH,
        quick_batch=QUICK_BATCH,
        includes="legal sampling, rules, masks and observations of both sides, auto-reset"
        + (", new arrays every step (the default)" if copy else ", the same arrays every step (copy=False)"),
        make=lambda batch: make_vector(batch, observation, threads=threads, copy=copy, **agents),
        threads=threads,
        is_peer=False,
    )


CONTESTANTS = [
    *(_vector(observation, threads) for threads in (1, 2) for observation in ("tokens", "onehot")),
    *(_vector(observation, 1, copy=True) for observation in ("tokens", "onehot")),
    *(_vector(observation, 1, satellites=True) for observation in ("tokens", "onehot")),
    Contestant(
        name="parallel",
        title="geo_patrol parallel_env",
        process="geo_patrol-parallel",
        packages=("pettingzoo",),
        batch=1,
        quick_batch=1,
        includes="legal sampling, rules, masks and one-hot observations of both sides, reset",
        make=make_parallel,
        is_peer=False,
    ),
]
