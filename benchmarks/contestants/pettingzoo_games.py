"""Single PettingZoo environments, and copies of our own behind SuperSuit."""

from typing import Any

import numpy as np

from benchmarks.contestants.base import Contestant, Workload
from benchmarks.contestants.ours import QUICK_BATCH, SIDES, fraction_ended

_NUM_COPIES = 64


def make_connect_four(batch: int) -> Workload:  # noqa: ARG001 - always one game
    """Create PettingZoo's connect four with random legal actions."""
    from pettingzoo.classic import connect_four_v3

    env = connect_four_v3.env()
    generator = np.random.default_rng(0)
    env.reset(seed=0)

    def step() -> None:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            observation = env.observe(env.agent_selection)
        env.step(int(generator.choice(np.flatnonzero(observation["action_mask"]))))

    return Workload(step, 1, 1)


def make_simple_spread(batch: int) -> Workload:  # noqa: ARG001 - always one game
    """Create MPE's simple spread for three agents with actions sampled from their spaces."""
    from mpe2 import simple_spread_v3

    env = simple_spread_v3.parallel_env()
    env.reset(seed=0)
    agents = len(env.agents)

    def step() -> None:
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        if not env.agents:
            env.reset()

    return Workload(step, agents, 1)


def make_supersuit(batch: int) -> Workload:
    """Create copies of our parallel environment as a vector environment of SuperSuit, with random legal orders."""
    import supersuit

    from geo_patrol import geo_patrol_v0
    from geo_patrol.engine.legal import sample_legal

    env = supersuit.pettingzoo_env_to_vec_env_v1(geo_patrol_v0.parallel_env(observation="tokens", mask_in="info"))
    envs = supersuit.concat_vec_envs_v1(env, batch, num_cpus=0, base_class="gymnasium")
    generator = np.random.default_rng(0)
    observations, infos = envs.reset(seed=0)

    def step() -> Any:
        nonlocal infos
        masks = np.array([info["action_mask"] for info in infos])
        result = envs.step(sample_legal(masks, generator))
        infos = result[-1]
        return result

    masks = sum(info["action_mask"].nbytes for info in infos)
    return Workload(step, envs.num_envs, batch, observations.nbytes + masks, fraction_ended)


CONTESTANTS = [
    Contestant(
        name="supersuit",
        title="geo_patrol parallel_env behind SuperSuit",
        process="supersuit",
        packages=("SuperSuit", "pettingzoo"),
        batch=_NUM_COPIES,
        quick_batch=QUICK_BATCH // SIDES,
        includes="legal sampling, rules, masks and token observations of both sides, auto-reset",
        make=make_supersuit,
    ),
    Contestant(
        name="pettingzoo-connect-four",
        title="PettingZoo connect_four_v3",
        process="pettingzoo",
        packages=("pettingzoo",),
        batch=1,
        quick_batch=1,
        includes="legal sampling (NumPy), rules, mask and observation of the side to move, reset",
        make=make_connect_four,
    ),
    Contestant(
        name="mpe-simple-spread",
        title="MPE simple_spread_v3",
        process="pettingzoo",
        packages=("mpe2",),
        batch=1,
        quick_batch=1,
        includes="sampling by the spaces, physics, observations of all agents, reset; no masks",
        make=make_simple_spread,
    ),
]
