"""Several training runs at once, each a task of an executor: seeds of the same settings, for example, on a cluster."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from geo_patrol.errors import ConfigError
from geo_patrol.evaluation.executors import ProcessExecutor, run_tasks, usable_cores
from geo_patrol.files import atomic_path
from geo_patrol.training.checkpoint import CHECKPOINT
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.evaluation import Evaluation
from geo_patrol.training.selfplay import train, train_best_response


@dataclass(frozen=True)
class _Run:
    """A training run for a worker, which may not share a disk with this process."""

    index: int
    config: TrainingConfig
    agent: str | None
    checkpoint: bytes | None


@dataclass(frozen=True)
class _FinishedRun:
    curve: list[Evaluation]
    files: dict[str, bytes]


def train_runs(
    configs: Sequence[TrainingConfig],
    agent: str | None = None,
    *,
    executor: Executor | None = None,
    console: Console | None = None,
) -> list[list[Evaluation]]:
    """Train several policies at the same time.

    A finished run's files are written to its ``config.out``. A run that was finished there before is not trained again;
    one that was interrupted in a worker starts anew.

    Args:
        configs: the settings of every run, each with another folder.
        agent: the agent to which best responses are trained, see ``train_best_response``; None trains as ``train`` does.
        executor: where the runs are trained; None trains them in processes of this machine, one for each core.
        console: where finished runs are printed; standard output by default.

    Returns:
        The learning curve of every run.

    Raises:
        ConfigError, PolicyError: as ``train`` does; or two runs have the same folder.
        WorkerError: a worker died.
    """
    if len({config.out for config in configs}) < len(configs):
        raise ConfigError("two runs have the same folder: give each another config.out")
    console = console or Console(width=120)
    runs = [_Run(i, config, agent, _read_checkpoint(config.out)) for i, config in enumerate(configs)]
    workers = ProcessExecutor(min(usable_cores(), len(runs))) if executor is None else nullcontext(executor)
    curves: dict[int, list[Evaluation]] = {}
    with workers as opened:
        for run, finished in run_tasks(opened, _train_in_worker, runs):
            curves[run.index] = finished.curve
            _write_files(run.config.out, finished.files)
            results = ", ".join(f"{name} {win_rate}" for name, win_rate in finished.curve[-1].win_rates.items())
            console.print(f"seed {run.config.seed}: win rate against {results}; saved {run.config.out}")
    return [curves[index] for index in range(len(runs))]


def _read_checkpoint(folder: Path) -> bytes | None:
    path = folder / CHECKPOINT
    return path.read_bytes() if path.exists() else None


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with atomic_path(folder / name) as path:
            path.write_bytes(content)


def _train_in_worker(run: _Run) -> _FinishedRun:
    """Train in a folder of the worker's machine, and return the curve and the files."""
    with TemporaryDirectory(prefix="geo_patrol-") as name:
        folder = Path(name)
        if run.checkpoint is not None:
            (folder / CHECKPOINT).write_bytes(run.checkpoint)
        config, quiet = replace(run.config, out=folder), Console(quiet=True)
        curve = train(config, quiet) if run.agent is None else train_best_response(run.agent, config, quiet)
        return _FinishedRun(curve, {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
