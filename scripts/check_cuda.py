"""Check and measure games on a GPU in under nine minutes, and write everything to ``benchmarks/cuda.json``.

    python scripts/check_cuda.py                  # all parts, in this order: equal, speed, playouts, peers, copies, training
    python scripts/check_cuda.py speed playouts   # some of them; the results of the others stay
    python scripts/check_cuda.py --publish        # write the table of docs/results/benchmarks.md from the file

It needs PyTorch and numba-cuda on a machine with an NVIDIA GPU, and of this package the dependencies alone; where there is no network,
``pip download`` them into a folder and install with ``--no-index --find-links``. A part whose packages are missing says so and the
others go on; each part is written as soon as it is measured. With ``NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 --small`` it runs in
Numba's simulator, to check the script itself.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))
# ruff: noqa: E402 - after the path

from fuzz import random_config

from benchmarks.documents import DOCS, markdown_table, with_blocks
from benchmarks.machine import machine_name
from geo_patrol import Game, GameConfig, load_config, make_vec
from geo_patrol.config.toml_files import preset_names
from geo_patrol.engine import cuda as kernels

FILE = ROOT / "benchmarks" / "cuda.json"
SIZES = tuple(1 << power for power in range(10, 21, 2))
_SECONDS_FOR_BOARDS = 90.0
Results = dict[str, Any]


def synchronize() -> None:
    """Wait for the GPU."""
    if not kernels.IS_SIMULATED:
        torch.cuda.synchronize()


def steps_per_second(step: Callable[[], object], rows: int, seconds: float) -> float:
    """Return how many rows a second a function steps: the median of three runs, after one that warms up."""
    step()
    synchronize()
    speeds = []
    for _ in range(3):
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < seconds / 3:
            step()
            count += 1
            if count % 16 == 0:
                synchronize()
        synchronize()
        speeds.append(count * rows / (time.perf_counter() - started))
    return float(np.median(speeds))


def to_numpy(value: Any) -> Any:
    """Return tensors, in dictionaries too, as arrays on the host."""
    if isinstance(value, dict):
        return {name: to_numpy(item) for name, item in value.items()}
    return value.cpu().numpy() if isinstance(value, torch.Tensor) else value


def find_difference(expected: Any, found: Any, where: str) -> str | None:
    """Return where two results differ, None if they are equal in values and types."""
    if isinstance(expected, dict):
        if expected.keys() != found.keys():
            return f"{where}: keys"
        differences = (find_difference(expected[name], found[name], f"{where}.{name}") for name in expected)
        return next((one for one in differences if one), None)
    same = expected.dtype == found.dtype and np.array_equal(expected, found)
    return None if same else where


def compare(config: GameConfig, num_games: int, phases: int, seed: int) -> str | None:
    """Play random phases on a processor and on the GPU, in both encodings; return the first difference."""
    for encoding in ("tokens", "onehot"):
        options: dict[str, Any] = {"observation": encoding, "autoreset": "same_step"}
        host = make_vec(config, num_games, threads=min(os.cpu_count() or 1, num_games), **options)
        device = make_vec(config, num_games, device="cuda", **options)
        expected, found = host.reset(seed=seed), device.reset(seed=seed)
        for phase in range(phases):
            for i, (left, right) in enumerate(zip(expected, found, strict=True)):
                difference = find_difference(left, to_numpy(right), f"{encoding}, phase {phase}, result {i}")
                if difference:
                    return difference
            orders, same = host.sample_actions().copy(), device.sample_actions()
            if not np.array_equal(orders, same.cpu().numpy()):
                return f"{encoding}, phase {phase}: sampled actions"
            expected, found = host.step(orders), device.step(same)
        left, right = host.games(), device.games()
        for name, records, others in zip(
            ("games", "rules", "choices", "beliefs", "sightings"),
            (*left.state, *left.sight),
            (*right.state, *right.sight),
            strict=True,
        ):
            for field in records.dtype.names:
                if not np.array_equal(records[field], others[field]):
                    return f"{encoding}: {name}.{field} after {phases} phases"
    return None


def check_equality(*, small: bool, phases: int, boards: int | None) -> Results:
    """Compare random phases of every preset and of random boards with a processor's, field by field.

    Args:
        small: whether to play two presets and two boards for a moment.
        phases: of each preset, half of them in each encoding.
        boards: how many random boards; None for as many as 90 seconds allow.
    """
    rng = np.random.default_rng(0)
    num_games, on_boards = (2, 3) if small else (1024, 8)
    each = 3 if small else -(-phases // (2 * num_games))
    differences, played = {}, 0
    names = preset_names()[:2] if small else preset_names()
    for name in names:
        differences[name] = compare(load_config(name), num_games, each, 1)
        played += 2 * num_games * each
    started, compared = time.perf_counter(), 0
    limit = 2 if small else boards or 1000
    # Every other number of rings compiles kernels of its own.
    while compared < limit and (boards is not None or time.perf_counter() - started < _SECONDS_FOR_BOARDS):
        differences[f"board {compared}"] = compare(random_config(rng), 4, on_boards, compared)
        compared += 1
        played += 2 * 4 * on_boards
    wrong = {name: where for name, where in differences.items() if where}
    return {"presets": len(names), "boards": compared, "phases": played, "differences": wrong}


def measure_speed(*, small: bool) -> Results:
    """Measure random play of both sides with rules, legal orders, masks and observations written, beside the same processor."""
    rows: list[Results] = []
    seconds, sizes = (0.1, (2,)) if small else (1.0, SIZES)
    for encoding in ("tokens", "onehot"):
        for num_games in sizes:
            row: Results = {"encoding": encoding, "games": num_games}
            try:
                envs = make_vec("geo_patrol", num_games, observation=encoding, device="cuda", copy=False)
                envs.reset(seed=0)
                row["gpu"] = steps_per_second(
                    lambda envs=envs: envs.step(envs.sample_actions()), envs.num_envs, seconds
                )
                envs.close()
            except Exception as error:
                row["gpu_error"] = str(error)
            rows.append(row)
    for threads in (1, os.cpu_count() or 1):
        num_games = 2 if small else 16_384
        envs = make_vec("geo_patrol", num_games, observation="tokens", threads=min(threads, num_games), copy=False)
        envs.reset(seed=0)
        speed = steps_per_second(lambda envs=envs: envs.step(envs.sample_actions()), envs.num_envs, seconds)
        rows.append({"encoding": "tokens", "games": num_games, "threads": threads, "processor": speed})
    return {"rows": rows}


def measure_playouts(*, small: bool) -> Results:
    """Measure random play-outs from one position to the end, copies and streams made on the device."""
    num_games = 2 if small else 262_144
    games = Game("geo_patrol", seed=0).repeat(num_games).to("cuda")
    limit = 4 if small else None
    synchronize()
    speed = steps_per_second(lambda: games.copy().play_randomly(limit), num_games, 0.1 if small else 6.0)
    host = Game("geo_patrol", seed=0).repeat(2 if small else 8192)
    on_host = steps_per_second(lambda: host.copy().play_randomly(limit), len(host), 0.1 if small else 3.0)
    return {"games": num_games, "per_second": speed, "one_core_per_second": on_host}


def measure_peers(*, small: bool) -> Results:
    """Measure random play of pgx's games, and Gymnasium's CartPole in JAX, in batches on the same device."""
    import jax  # noqa: PLC0415 - may be missing, which is said
    import jax.numpy as jnp  # noqa: PLC0415
    from jax import lax  # noqa: PLC0415

    found: Results = {"device": str(jax.devices()[0])}
    batch, seconds = (2, 0.1) if small else (65_536, 2.0)
    if importlib.util.find_spec("pgx") is None:
        found["pgx"] = "not installed"
    else:
        import pgx  # noqa: PLC0415

        for game in ("connect_four", "go_9x9"):
            env = pgx.make(game)

            def play(state: Any, key: Any, env: Any = env) -> Any:
                logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
                actions = jax.random.categorical(key, logits, axis=1)
                stepped = jax.vmap(env.step)(state, actions)
                fresh = jax.vmap(env.init)(jax.random.split(key, batch))
                over = stepped.terminated | stepped.truncated
                return jax.tree_util.tree_map(
                    lambda new, old: jnp.where(over.reshape(-1, *(1,) * (old.ndim - 1)), new, old), fresh, stepped
                )

            many = jax.jit(lambda state, keys, play=play: lax.scan(lambda s, k: (play(s, k), None), state, keys)[0])
            state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), batch))
            keys = jax.random.split(jax.random.PRNGKey(1), 32)
            found[game] = steps_per_second(
                lambda many=many, state=state, keys=keys: jax.block_until_ready(many(state, keys)), 32 * batch, seconds
            )
    from gymnasium.envs.phys2d.cartpole import CartPoleFunctional  # noqa: PLC0415

    pole = CartPoleFunctional()

    def swing(state: Any, key: Any) -> Any:
        actions = jax.random.bernoulli(key, shape=(batch,)).astype(jnp.int32)
        stepped = jax.vmap(lambda s, a: pole.transition(s, a, None))(state, actions)
        over = jax.vmap(lambda s: pole.terminal(s, None))(stepped)
        return jnp.where(over[:, None], jnp.zeros_like(stepped), stepped)

    many = jax.jit(lambda state, keys: lax.scan(lambda s, k: (swing(s, k), None), state, keys)[0])
    state, keys = jnp.zeros((batch, 4)), jax.random.split(jax.random.PRNGKey(1), 32)
    found["cartpole"] = steps_per_second(lambda: jax.block_until_ready(many(state, keys)), 32 * batch, seconds)
    return found


def count_copies(*, small: bool) -> Results:
    """Count what a step copies to the host, by PyTorch's profiler."""
    envs = make_vec("geo_patrol", 2 if small else 4096, observation="tokens", device="cuda", autoreset="same_step")
    envs.reset(seed=0)
    for _ in range(3):
        envs.step(envs.sample_actions())
    kinds = [torch.profiler.ProfilerActivity.CPU]
    if not kernels.IS_SIMULATED:
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds) as profile:
        envs.step(envs.sample_actions())
        synchronize()
    names = [event.name for event in profile.events()]
    copies = [name for name in names if "Memcpy DtoH" in name or "Memcpy HtoD" in name]
    return {"events": len(names), "copies": copies}


def measure_training(*, small: bool) -> Results:
    """Train by ``examples/ppo_cuda.py`` for three minutes, and return its curve and win rates."""
    out = ROOT / "runs" / f"check_cuda_{time.time():.0f}"
    options = ["--minutes", "3"]
    if small:
        options = ["--device", "cpu", "--num-games", "2", "--num-steps", "2", "--total-timesteps", "16"]
        options += ["--config", "case1", "--eval-games", "2", "--width", "16", "--num-minibatches", "1"]
    command = [sys.executable, str(ROOT / "examples" / "ppo_cuda.py"), "--out", str(out), *options]
    subprocess.run(command, check=True, timeout=420)
    found: Results = json.loads((out / "result.json").read_text(encoding="utf-8"))
    found["curve"] = found["curve"][:: max(len(found["curve"]) // 40, 1)] + found["curve"][-1:]
    return found


PARTS: dict[str, Callable[..., Results]] = {
    "equal": check_equality,  # the only one with other arguments than "small"
    "speed": measure_speed,
    "playouts": measure_playouts,
    "peers": measure_peers,
    "copies": count_copies,
    "training": measure_training,
}


def describe_device() -> Results:
    """Return what the figures were measured on."""
    if kernels.IS_SIMULATED:
        return {"name": "Numba's simulator", "processor": machine_name()}
    properties = torch.cuda.get_device_properties(0)
    versions = {name: module.__version__ for name, module in (("torch", torch), ("numba_cuda", kernels.numba_cuda))}
    memory = round(properties.total_memory / 2**30, 1)
    return {"name": properties.name, "memory_gib": memory, "processor": machine_name(), **versions}


def publish(results: Results) -> None:
    """Write the table of docs/results/benchmarks.md; exits if a part that it needs was not measured."""
    missing = [name for name in ("equal", "speed", "playouts") if "error" in results.get(name, {"error": "not run"})]
    if missing:
        sys.exit(f"{', '.join(missing)}: not measured; run these parts first")
    table = markdown_table(
        ("encoding", "games", "agent steps a second"),
        (
            (
                row["encoding"],
                f"{row['games']:,}",
                f"{row['gpu']:,.0f}"
                if "gpu" in row
                else f"{row['processor']:,.0f} on {row['threads']} cores"
                if "processor" in row
                else row["gpu_error"],
            )
            for row in results["speed"]["rows"]
        ),
    )
    equal, rest = results["equal"], results["playouts"]
    text = (
        f"{results['device']['name']}, {results['date']}; `python scripts/check_cuda.py`.\n\n{table}\n\n"
        f"{equal['phases']:,} random phases on {equal['presets']} presets and {equal['boards']} random boards were compared with "
        f"a processor's, field by field: {len(equal['differences'])} differences. {rest['per_second']:,.0f} random play-outs a "
        "second from one position."
    )
    document = DOCS / "results" / "benchmarks.md"
    document.write_text(with_blocks(document, {"cuda": text}), encoding="utf-8")


def main() -> None:
    """Run the parts that are named, or publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to check the script itself")
    parser.add_argument("--publish", action="store_true", help="write the table of docs/results/benchmarks.md")
    parser.add_argument("--phases", type=int, default=250_000, help="random phases of each preset to compare (250000)")
    parser.add_argument("--boards", type=int, help="random boards to compare (as many as 90 seconds allow)")
    arguments = parser.parse_args()
    equal = partial(check_equality, phases=arguments.phases, boards=arguments.boards)
    results: Results = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else {}
    if arguments.publish:
        publish(results)
        return
    for name in arguments.parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}: choose of {', '.join(PARTS)}")
    results |= {"device": describe_device(), "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    for name in arguments.parts or PARTS:
        started = time.perf_counter()
        try:
            found = (equal if name == "equal" else PARTS[name])(small=arguments.small)
        except Exception as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {error}"}
        results[name] = found | {"seconds": round(time.perf_counter() - started, 1)}
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {json.dumps(results[name])[:600]}", flush=True)


if __name__ == "__main__":
    main()
