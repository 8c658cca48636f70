"""Campaigns on Ray clusters whose nodes are on this machine, a CPU each: equality, lost nodes, scaling and overhead.

    pip install "geo_patrol[ray,stats]"
    python benchmarks/cluster.py equal       # tournament and sweep on two and four nodes, beside worker processes
    python benchmarks/cluster.py lost        # a node is killed while it works, five times in one tournament
    python benchmarks/cluster.py scaling     # games a second on one and on two nodes
    python benchmarks/cluster.py overhead    # Ray beside worker processes for chunks of 2, 10 and 100 games

Scaling needs as many idle cores as nodes. docs/cluster.md has the results.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from geo_patrol import load_config
from geo_patrol.evaluation import RayExecutor, play_tournament
from geo_patrol.evaluation.chunks import Chunks, PlannedMatch
from geo_patrol.evaluation.executors import ProcessExecutor, play_in_worker, run_tasks
from geo_patrol.studies import play_sweep

AGENTS = ("scripted", "raider", "turtle", "random")
NUM_LOST = 5
NUM_OVERHEAD_GAMES = 4_000
TOURNAMENT = {"config": "geo_patrol", "games": 5_120, "seed": 1}  # 120 tasks
LONG_TOURNAMENT = {**TOURNAMENT, "games": 40_960}  # 960 tasks: the death of a node is noticed after about ten seconds
SWEEP = {
    "vary": ["bravo.patrols.ammo=0..4", "alpha.patrols.fuel=60..100..10"],
    "config": "case1",
    "games": 40,
    "seed": 1,
}


@contextmanager
def open_cluster(nodes: int) -> Iterator[Cluster]:
    """Start a cluster; the head, which has the driver, is one of its nodes."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def tables(result: Any) -> str:
    """Return all tables of a result as text."""
    return json.dumps(result.to_dict())


def measure_equality() -> None:
    """Compare a tournament and a sweep on clusters with those of worker processes."""
    settings = {**TOURNAMENT, "games": 1_024}
    expected = tables(play_tournament(AGENTS, **settings)), tables(play_sweep("scripted", "scripted", **SWEEP))
    for nodes in (2, 4):
        with open_cluster(nodes) as cluster, RayExecutor(cluster.address) as executor:
            tournament = tables(play_tournament(AGENTS, **settings, executor=executor))
            sweep = tables(play_sweep("scripted", "scripted", **SWEEP, executor=executor))
            tasks = ", ".join(str(count) for count in executor.tasks_by_node.values())
        same = [result == reference for result, reference in zip((tournament, sweep), expected, strict=True)]
        print(f"{nodes} nodes: tournament equal: {same[0]}, sweep equal: {same[1]}; tasks by node: {tasks}", flush=True)


def measure_lost_nodes() -> None:
    """Kill nodes that work, each at another moment of a task."""
    with tempfile.TemporaryDirectory() as folder, open_cluster(2) as cluster, RayExecutor(cluster.address) as executor:
        lost: list[str] = []

        def lose_node(_finished: int, _games: int) -> None:
            victim = next(node for node in cluster.list_all_nodes() if not node.head)
            has_finished_tasks = any(name.endswith(victim.node_id[:6]) for name in list(executor.tasks_by_node))
            if has_finished_tasks and len(lost) < NUM_LOST:  # its worker plays the next one
                time.sleep(random.Random(len(lost)).random())
                cluster.remove_node(victim, allow_graceful=False)
                lost.append(victim.node_id[:6])
                cluster.add_node(num_cpus=1)

        result = play_tournament(AGENTS, **LONG_TOURNAMENT, folder=folder, executor=executor, progress=lose_node)
        stored = [json.loads(line)["task"] for line in (Path(folder) / "games.jsonl").read_text().splitlines()]
        by_node = dict(executor.tasks_by_node)
    games = sum(map(len, result.matches))
    print(f"{len(lost)} nodes killed: {', '.join(lost)}; tasks finished by node: {by_node}")
    print(f"{games:,} games; {len(stored)} tasks stored, {len(set(stored))} different ones")
    print(f"equal to worker processes: {tables(result) == tables(play_tournament(AGENTS, **LONG_TOURNAMENT))}")


def measure_scaling() -> None:
    """Measure games a second on one and on two nodes, after a first tournament in which the workers load code."""
    speeds = {}
    for nodes in (1, 2):
        with open_cluster(nodes) as cluster, RayExecutor(cluster.address) as executor:
            play_tournament(AGENTS, **{**TOURNAMENT, "games": 1_024}, executor=executor)
            start = time.perf_counter()
            result = play_tournament(AGENTS, **TOURNAMENT, executor=executor)
            speeds[nodes] = sum(map(len, result.matches)) / (time.perf_counter() - start)
        print(f"{nodes} nodes: {speeds[nodes]:,.0f} games/s", flush=True)
    print(f"two nodes: {speeds[2] / speeds[1]:.2f} times one")


def measure_overhead() -> None:
    """Measure the time of small chunks on one worker of both kinds, after as many of them to begin with."""
    config = load_config("case4")

    def measure(executor: Executor, games: int) -> float:
        matches = [PlannedMatch(("random", "turtle"), config)] * (NUM_OVERHEAD_GAMES // games)
        chunks = list(Chunks(matches, games // 2, seed=1, move_time=1.0))
        for repetition in range(2):
            start = time.perf_counter()
            list(run_tasks(executor, play_in_worker, chunks[: len(chunks) // (2 - repetition)]))
        return (time.perf_counter() - start) / len(chunks)

    with open_cluster(1) as cluster, RayExecutor(cluster.address) as ray_executor, ProcessExecutor(1) as processes:
        for games in (2, 10, 100):
            on_ray, in_process = measure(ray_executor, games), measure(processes, games)
            print(
                f"{games:3} games a chunk: Ray {1e3 * on_ray:.1f} ms, a process {1e3 * in_process:.1f} ms a chunk:"
                f" {1e3 * (on_ray - in_process):+.1f} ms, {on_ray / in_process - 1:+.0%}",
                flush=True,
            )


MEASUREMENTS: dict[str, Callable[[], None]] = {
    "equal": measure_equality,
    "lost": measure_lost_nodes,
    "scaling": measure_scaling,
    "overhead": measure_overhead,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurement", choices=MEASUREMENTS)
    MEASUREMENTS[parser.parse_args().measurement]()
