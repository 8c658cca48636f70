"""Training libraries beside each other: ``python -m research.libraries run``, then ``publish`` and ``arena``.

Each library trains by the function ``train`` of its example, in the virtual environment that ``make test-library-NAME``
made for it, one after the other, and its network plays matches. What was measured is a line of ``results.jsonl``, see
``research.results``.
"""

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import BaseModel

from benchmarks.documents import DOCS, ROOT, markdown_table, with_blocks
from benchmarks.machine import machine_name
from geo_patrol.agents.policy import MAX_OUTER_RING
from geo_patrol.cli.output import Commands, write_json
from geo_patrol.engine.observe import observation_size
from research.arena import RESULTS as SUBMISSIONS
from research.results import RESULTS, append_line, read_lines

DOCUMENT = DOCS / "results" / "libraries.md"
PUBLISHED = Path(__file__).with_name("libraries.json")
"""The raw results that the document shows."""
OPPONENTS = ("random", "raider", "scripted")
SUPERSUIT_STEPS = 200
ONEHOT_SIZE = observation_size("onehot", MAX_OUTER_RING)
"""Of the observations that the networks of the examples read."""


class Library(BaseModel):
    """What the table calls a library, and the package that has its version."""

    title: str
    package: str
    example: str


LIBRARIES = {
    "sb3": Library(title="Stable-Baselines3", package="sb3-contrib", example="sb3_ppo"),
    "torchrl": Library(title="TorchRL", package="torchrl", example="torchrl_ppo"),
    "tianshou": Library(title="Tianshou", package="tianshou", example="tianshou_ppo"),
    "agilerl": Library(title="AgileRL", package="agilerl", example="agilerl_ppo"),
    "pufferlib": Library(title="PufferLib", package="pufferlib-core", example="pufferlib_ppo"),
    "rllib": Library(title="RLlib", package="ray", example="rllib_ppo"),
    "supersuit": Library(title="SuperSuit", package="supersuit", example="supersuit_random"),
}


class Result(BaseModel):
    """The measurements of a library.

    Attributes:
        name: its key in ``LIBRARIES``.
        version: of its package.
        minutes: how long it trained.
        lines: lines of code of its example, without imports, comments, docstrings and the match that it plays.
        collection: agent steps a second between two steps of the environment, in the median.
        end_to_end: agent steps a second of all, learning included; None where nothing is trained.
        illegal_orders: in training and in matches.
        win_rates: against each opponent: the rate and the ends of its 95% interval.
        machine: processor, number of cores and version of Python.
    """

    name: str
    version: str
    minutes: float
    lines: int
    collection: float
    end_to_end: float | None = None
    illegal_orders: int
    win_rates: dict[str, tuple[float, float, float]] = {}
    machine: str


class StepRecorder:
    """Counts the agent steps and illegal orders of all vector environments, and times their steps."""

    def __init__(self) -> None:
        self.agent_steps = self.illegal_orders = 0
        self.seconds: list[float] = []  # between the beginnings of two steps
        self.rows = 0
        self._last = time.perf_counter()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the steps in the block."""
        from geo_patrol.envs.vector import VectorGeoPatrol

        step = VectorGeoPatrol.step

        def recorded(envs: VectorGeoPatrol, actions: Any) -> Any:
            now = time.perf_counter()
            self.seconds.append(now - self._last)
            self._last = now
            returned = step(envs, actions)
            self.rows = envs.num_envs
            self.agent_steps += envs.num_envs
            self.illegal_orders += int(returned[-1]["illegal_orders"].sum())
            return returned

        VectorGeoPatrol.step = recorded  # type: ignore[method-assign]
        try:
            yield
        finally:
            VectorGeoPatrol.step = step  # type: ignore[method-assign]


def count_lines(example: str) -> int:
    """Return the lines of code of an example that a user writes: see ``Result.lines``."""
    text = (ROOT / "examples" / f"{example}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr | ast.If)]
    numbers = {number for node in nodes for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            numbers -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = text.splitlines()
    return sum(bool(code) and not code.startswith("#") for code in (lines[number - 1].strip() for number in numbers))


def measure_training(name: str, example: Any, minutes: float, games: int, file: Path) -> Result:
    """Train by an example, write the network to a file of TorchScript, and let it play matches."""
    import torch

    from geo_patrol import play_match
    from geo_patrol.agents.networks import NetworkAgent, TorchNetwork

    example.train(minutes=0)  # compiles what is not compiled yet
    recorder = StepRecorder()
    with recorder.recording():
        start = time.perf_counter()
        network = example.train(minutes=minutes)
        seconds = time.perf_counter() - start
    result = Result(
        **_describe(name),
        minutes=minutes,
        collection=recorder.rows / float(np.median(recorder.seconds)),
        end_to_end=recorder.agent_steps / seconds,
        illegal_orders=recorder.illegal_orders,
    )
    torch.jit.trace(network.eval(), torch.zeros(2, ONEHOT_SIZE)).save(str(file))  # type: ignore[no-untyped-call]
    agent = NetworkAgent(name, TorchNetwork(lambda onehot: network(onehot)))  # noqa: PLW0108 - the parameter's name
    for opponent in OPPONENTS:
        match = play_match(agent, opponent, games=games, seed=1)
        total = match.summary().total
        result.win_rates[opponent] = total.won
        result.illegal_orders += total.illegal_orders[0]
    return result


def measure_wrappers(name: str, example: Any) -> Result:
    """Play random legal orders behind SuperSuit's wrappers."""
    envs = example.make_envs()
    example.play(envs, 10)  # compiles what is not compiled yet
    start = time.perf_counter()
    _, illegal = example.play(envs, SUPERSUIT_STEPS)
    collection = SUPERSUIT_STEPS * envs.num_envs / (time.perf_counter() - start)
    return Result(**_describe(name), minutes=0, collection=collection, illegal_orders=illegal)


def _describe(name: str) -> dict[str, Any]:
    """Return what is known of a library without measuring."""
    library = LIBRARIES[name]
    lines = count_lines(library.example)
    return {"name": name, "version": version(library.package), "lines": lines, "machine": machine_name()}


def table(results: list[Result]) -> str:
    """Return the results as a Markdown table with the conditions below it."""
    measures = ("library", "version", "lines", "collecting, agent steps/s", "with learning", "illegal orders")
    rows = []
    for result in results:
        learning = "-" if result.end_to_end is None else f"{result.end_to_end:,.0f}"
        cells = [LIBRARIES[result.name].title, result.version, str(result.lines), f"{result.collection:,.0f}", learning]
        wins = [_win_rate(result.win_rates.get(opponent)) for opponent in OPPONENTS]
        rows.append([*cells, str(result.illegal_orders), *wins])
    minutes = sorted({result.minutes for result in results if result.end_to_end is not None})
    machines, lengths = sorted({result.machine for result in results}), ", ".join(f"{each:g}" for each in minutes)
    note = f"{', '.join(machines)}; one thread; seed 0; trained for {lengths} minutes; win rates with 95% intervals."
    opponents = (f"`{opponent}`" for opponent in OPPONENTS)
    return f"{markdown_table([*measures, *opponents], rows)}\n\n{note}"


def _win_rate(estimate: tuple[float, float, float] | None) -> str:
    return "-" if estimate is None else f"{estimate[0]:.1%} ({estimate[1]:.1%}-{estimate[2]:.1%})"


app = Commands(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)
Out = Annotated[Path, typer.Option("--out", help="Folder for the results of each library.")]
Minutes = Annotated[float, typer.Option(min=0, help="How long each library trains.")]
Games = Annotated[int, typer.Option(min=2, help="Games against each opponent.")]
_OUT = ROOT / "build" / "libraries"


@app.command()
def run(
    minutes: Minutes = 5,
    games: Games = 1000,
    out: Out = _OUT,
    venvs: Annotated[Path, typer.Option(help="Folder of virtual environments.")] = ROOT / ".venv" / "libraries",
    only: Annotated[str, typer.Option(help="Only this library.")] = "",
) -> None:
    """Measure the libraries that have not been measured, one after the other."""
    out.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = {result.name for result in read_lines(out / RESULTS, Result)}
    for name in LIBRARIES:
        python = venvs / name / "bin" / "python"
        if only not in ("", name):
            continue
        if name in done:
            print(f"{name}: measured already, in {out / RESULTS}")
        elif not python.exists():
            print(f"{name}: there is no {python}: make test-library-{name} installs it")
        else:
            print(f"{name} ...", flush=True)
            options = ["--minutes", str(minutes), "--games", str(games), "--out", str(out)]
            command = [python, "-m", "research.libraries", "measure", name, *options]
            with (out / f"{name}.log").open("w") as log:
                finished = subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log, check=False)
            print(f"{name}: {'done' if finished.returncode == 0 else f'failed, see {log.name}'}")


@app.command(hidden=True)
def measure(name: str, out: Out, minutes: Minutes = 5, games: Games = 1000) -> None:
    """Measure one library, in its own virtual environment."""
    sys.path.insert(0, str(ROOT / "examples"))
    example = __import__(LIBRARIES[name].example)
    if name == "supersuit":
        result = measure_wrappers(name, example)
    else:
        result = measure_training(name, example, minutes, games, out / f"{name}.pt")
    append_line(out / RESULTS, result)


@app.command()
def publish(out: Out = _OUT) -> None:
    """Write the results into docs/results/libraries.md."""
    results = sorted(read_lines(out / RESULTS, Result), key=lambda result: list(LIBRARIES).index(result.name))
    if not results:
        raise typer.BadParameter(f"no results in {out}", param_hint="--out")
    DOCUMENT.write_text(with_blocks(DOCUMENT, {"libraries": table(results)}), encoding="utf-8")
    PUBLISHED.write_text(json.dumps([result.model_dump() for result in results], indent=1) + "\n", encoding="utf-8")


@app.command()
def arena(out: Out = _OUT) -> None:
    """Write the network of each library into research/arena, in half precision, and let it play the arena.

    An interrupted run continues.
    """
    import torch
    from torch import nn

    from geo_patrol.evaluation import play_arena

    class Halved(nn.Module):
        def __init__(self, network: nn.Module) -> None:
            super().__init__()
            self.network = network.half()

        def forward(self, onehot: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.network(onehot.half())
            return logits.float()

    example = torch.zeros(2, ONEHOT_SIZE)
    for trained in sorted(out.glob("*.pt")):
        file = (SUBMISSIONS / trained.stem).with_suffix(".onnx").relative_to(ROOT)
        network = torch.jit.trace(Halved(torch.jit.load(str(trained))), example)  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"input_names": ["onehot"], "dynamic_axes": {"onehot": {0: "n"}}}
        torch.onnx.export(network, (example,), str(ROOT / file), dynamo=False, **options)
        result = play_arena(f"onnx:{file}", folder=out / f"arena-{trained.stem}")
        write_json(str((ROOT / file).with_suffix(".json")), result.to_dict())
        print(f"{result.agent}: {result.total}")


if __name__ == "__main__":
    app()
