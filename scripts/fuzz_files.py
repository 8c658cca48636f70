"""Damage files in many ways, and load them as a user would: every loader either succeeds or raises an error of geo_patrol.

    python -m scripts.fuzz_files --mutations 20000 --seed 0

Configurations, missions, saved games, policies, replays and the published recordings are mutated, and networks in ONNX
files where the extra ``[onnx]`` is installed; those in TorchScript files are programs, see docs/train/networks.md. A loader must
not raise any other exception, take more than five seconds of processor time or 300 MB, or write a control character or a line of more than 500
characters in a message. A violation ends the run with exit status 1; the file is left in the folder that is printed.
"""

import argparse
import gzip
import itertools
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import numpy as np
from rich.console import Console
from rich.progress import track

from geo_patrol import Game, GeoPatrolError, ReplayReader, geo_patrol_v0, load_config, make_agent, play_match
from geo_patrol.agents.policy import (
    MAX_OUTER_RING,
    Widths,
    read_policies,
    shapes,
    write_by_rules,
    write_mixture,
    write_weights,
)
from geo_patrol.flight.mission import load_mission
from geo_patrol.replays import check
from geo_patrol.replays.odds import check_odds_file, holds_odds
from scripts.damage import mutate

MAX_SECONDS, MAX_MEMORY, MAX_LINE = 5.0, 300 << 20, 500
ROOT = Path(__file__).parents[1]


class TooSlow(BaseException):
    """A loader took more processor time than ``MAX_SECONDS``; no loader catches it by mistake."""


@dataclass
class Loader:
    """One kind of file: valid samples to mutate, and what loads a file and returns its messages."""

    samples: list[Path]
    load: Callable[[Path], str]


def load_save(path: Path) -> str:
    """Restore a game and an environment from the JSON of a save."""
    try:
        saved = json.loads(path.read_bytes())
    except (ValueError, RecursionError):  # the user's own call of json.loads fails
        return ""
    messages = []
    env = geo_patrol_v0.parallel_env()
    for restore in (Game.restore, env.restore):
        try:
            restore(saved)
        except GeoPatrolError as error:
            messages.append(str(error))
    return "\n".join(messages)


def load_replay(path: Path) -> str:
    """Read all games of a file; return what is displayed of them."""
    reader = ReplayReader(path)
    texts = [text for replay in reader for text in (*replay.agents, replay.config.title, str(replay.fault or ""))]
    return "\n".join([*texts, *map(str, reader.faults)])


def load_recordings(path: Path) -> str:
    """Check a file of recordings; return what is displayed of it."""
    if holds_odds(path):
        return "\n".join(map(str, check_odds_file(path)))
    reader = ReplayReader(path)
    return "\n".join([*(str(check(replay)) for replay in reader), *reader.faults])


def write_network(path: Path) -> None:
    """Write a small network to an ONNX file."""
    from onnx import TensorProto, helper, numpy_helper, save_model  # noqa: PLC0415 - an extra

    names, width = ("first", "second"), 2
    layers = [np.full(shape, 0.01, np.float32) for shape in ((1591, width), (width, 308))]
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["onehot", names[0]], ["hidden"]),
            helper.make_node("MatMul", ["hidden", names[1]], ["logits"]),
        ],
        "network",
        [helper.make_tensor_value_info("onehot", TensorProto.FLOAT, ("n", 1591))],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ("n", 308))],
        [numpy_helper.from_array(layer, name) for layer, name in zip(layers, names, strict=True)],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


def make_loaders(folder: Path) -> dict[str, Loader]:
    """Write samples to a folder where the repository has none."""
    weights = {name: np.full(shape, 0.01, np.float32) for name, shape in shapes(Widths(2, 2, 2, 1)).items()}
    policies = [folder / f"{kind}.safetensors" for kind in ("policy", "mixture", "by_rules")]
    write_weights(policies[0], weights)
    write_mixture(policies[1], [(weights, 1.0), (weights, 2.0)])
    write_by_rules(policies[2], [(weights, load_config("case1"))], [(weights, 2), (weights, MAX_OUTER_RING)])
    env = geo_patrol_v0.parallel_env("case1")
    env.reset(seed=0)
    for _ in range(5):
        env.step(env.sample_actions())
    (folder / "env.json").write_text(json.dumps(env.save()), encoding="utf-8")
    (folder / "game.json").write_text(json.dumps(env.game().save()), encoding="utf-8")
    replays = [folder / f"replay.jsonl{packed}" for packed in ("", ".gz", ".zst")]
    for replay in replays:
        play_match("random", "random", config="case1", games=2, seed=0, save=replay)
    data = ROOT / "tests" / "data"
    games = folder / "games.jsonl"
    with gzip.open(data / "reference_games.jsonl.gz") as packed_games:
        games.write_bytes(b"".join(itertools.islice(packed_games, 2)))
    odds = json.loads((data / "reference_odds.json").read_text(encoding="utf-8"))
    (folder / "odds.json").write_text(json.dumps(odds[:2]), encoding="utf-8")
    configs = [*sorted((ROOT / "configs").glob("*.toml")), *sorted((ROOT / "examples").glob("*.toml"))]
    loaders = {
        "configuration": Loader(configs, lambda path: str(load_config(path).title)),
        "mission": Loader(sorted((ROOT / "configs" / "flight").glob("*.toml")), lambda path: load_mission(path).title),
        "save": Loader([folder / "env.json", folder / "game.json"], load_save),
        "policy": Loader(policies, lambda path: f"{len(read_policies(path).weights)} policies"),
        "replay": Loader([*replays, data / "replay.jsonl.gz", games], load_replay),
        "recordings": Loader([games, folder / "odds.json"], load_recordings),
    }
    if find_spec("onnx") and find_spec("onnxruntime"):
        write_network(folder / "network.onnx")
        loaders["network"] = Loader([folder / "network.onnx"], lambda path: make_agent(f"onnx:{path}").name)
    return loaders


def stop_slow_loader(_signal: int, _frame: FrameType | None) -> None:
    """Interrupt a loader whose time is over."""
    raise TooSlow


def violation(loader: Loader, path: Path, counts: Counter[str]) -> str | None:
    """Load a file; return what is wrong about how that went."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        messages = loader.load(path)
        counts["loaded"] += 1
    except GeoPatrolError as error:
        messages = str(error)
        counts["refused"] += 1
    except TooSlow:
        return f"took more than {MAX_SECONDS:g} s of processor time"
    except Exception as error:
        return f"raised {type(error).__name__}: {str(error)[:200]!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if memory * 1024 > MAX_MEMORY:
        return f"took {memory / 1024:,.0f} MB"
    for line in messages.split("\n"):
        if len(line) > MAX_LINE or not line.isprintable():
            return f"printed {line[: MAX_LINE + 1]!r}"
    return None


def read_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.mutations < 1:
        parser.error("--mutations: give at least 1")
    return arguments


def main() -> int:
    """Run the fuzzer; return the exit status."""
    arguments = read_arguments()
    signal.signal(signal.SIGPROF, stop_slow_loader)
    folder = Path(tempfile.mkdtemp(prefix="geo_patrol-fuzz-"))
    loaders, counts, slowest = make_loaders(folder), Counter[str](), 0.0
    for loader in loaders.values():
        for sample in loader.samples:
            loader.load(sample)  # compiles, and shows that samples are valid
    console = Console(stderr=True)
    jobs = enumerate(itertools.islice(itertools.cycle(loaders), arguments.mutations))
    for number, name in track(jobs, "loading", arguments.mutations, console=console, transient=True):
        rng = random.Random(f"{arguments.seed} {number}")
        sample = rng.choice(loaders[name].samples)
        path = folder / f"mutated-{sample.name}"
        path.write_bytes(mutate(sample.read_bytes(), rng))
        start = time.process_time()
        fault = violation(loaders[name], path, counts)
        slowest = max(slowest, time.process_time() - start)
        if fault is not None:
            print(f"{name}: {fault}\nseed {arguments.seed}, mutation {number}: {path}")
            return 1
    shutil.rmtree(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"ok: {arguments.mutations:,} mutations, {counts['loaded']:,} loaded, {counts['refused']:,} refused;"
        f" slowest {slowest:.2f} s, peak memory {peak:,.0f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
