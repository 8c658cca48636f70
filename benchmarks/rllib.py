"""Speed of RLlib's environment runners on the game: its own and the one that steps all games at once.

    python -m benchmarks.rllib            # in the virtual environment of `make test-rllib`

Every configuration is measured in turn, several times, and the median is printed as a row of a Markdown table: so all
of them see the same load of the machine.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.tune.registry import register_env

from geo_patrol.adapters.rllib import PPO_SETTINGS, MultiAgentGeoPatrol, OrderModule, ppo_config
from geo_patrol.envs.vector import make_gymnasium_vec

NUM_ENVS = 64
"""Sides of games in all, whatever the number of runners."""
STEPS = 2_048
SPEC = RLModuleSpec(module_class=OrderModule)


def games_of_rllib(num_runners: int) -> Any:
    """Return a configuration of RLlib's multi-agent runners, half as many games as environments."""
    return (
        PPOConfig()
        .environment(MultiAgentGeoPatrol, env_config={"config": "geo_patrol"})
        .env_runners(num_envs_per_env_runner=NUM_ENVS // 2 // max(num_runners, 1))
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared", count_steps_by="agent_steps")
        .training(**PPO_SETTINGS)
        .rl_module(rl_module_spec=SPEC)
    )


def vector_of_rllib(num_runners: int) -> Any:
    """Return a configuration of RLlib's single-agent runners on the vector environment."""
    register_env("next_step", lambda context: make_gymnasium_vec(mask_in="obs", autoreset="next_step", **context))
    config = ppo_config("geo_patrol", NUM_ENVS // max(num_runners, 1), opponent=None)
    return config.environment("next_step").env_runners(env_runner_cls=SingleAgentEnvRunner)


def batches(num_runners: int) -> Any:
    """Return a configuration of the runners that step all games at once."""
    return ppo_config("geo_patrol", NUM_ENVS // max(num_runners, 1), opponent=None)


CONTESTANTS: dict[str, Callable[[int], Any]] = {
    "`MultiAgentGeoPatrol`, RLlib's multi-agent runners": games_of_rllib,
    "`make_vec`, RLlib's single-agent runners": vector_of_rllib,
    "`make_vec`, `BatchEnvRunner` (`ppo_config`)": batches,
}


def build(make: Callable[[int], Any], num_runners: int) -> Any:
    """Build an algorithm, and compile everything."""
    config = make(num_runners).env_runners(num_env_runners=num_runners, rollout_fragment_length="auto")
    config.training(train_batch_size_per_learner=STEPS).debugging(log_level="ERROR", seed=0)
    algorithm = config.build_algo()
    algorithm.train()
    return algorithm


def train(algorithm: Any) -> float:
    """Return the agent steps per second of an iteration, sampling and updates."""
    start = time.perf_counter()
    results = algorithm.train()
    return sum(results["env_runners"]["num_agent_steps_sampled"].values()) / (time.perf_counter() - start)


def sample(algorithm: Any) -> float:
    """Return the agent steps per second of a sample of all runners."""
    group = algorithm.env_runner_group
    is_local = group.num_remote_workers() == 0
    start = time.perf_counter()
    samples = group.foreach_env_runner(lambda runner: runner.sample(), local_env_runner=is_local)
    seconds = time.perf_counter() - start
    return sum(episode.agent_steps() for episodes in samples for episode in episodes) / seconds


def main() -> None:
    """Measure everything, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray writes it so; the priority of this process, whatever else is running
    ray.init("local", num_cpus=8, include_dashboard=False, log_to_driver=False)
    print("| | runners | sampling, agent steps/s | training, agent steps/s |\n|---|---|---|---|")
    for num_runners in (0, 1, 2):
        algorithms = {name: build(make, num_runners) for name, make in CONTESTANTS.items()}
        speeds: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTESTANTS}
        for _ in range(rounds):
            for name, algorithm in algorithms.items():
                speeds[name].append((sample(algorithm), train(algorithm)))
        for name, measured in speeds.items():
            sampling, training = (statistics.median(column) for column in zip(*measured, strict=True))
            print(f"| {name} | {num_runners} | {sampling:,.0f} | {training:,.0f} |", flush=True)
        for algorithm in algorithms.values():
            algorithm.stop()


if __name__ == "__main__":
    main()
