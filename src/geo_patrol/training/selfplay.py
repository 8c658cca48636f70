"""The training loop: states, checkpoints and evaluations of a run, its learning curve, best responses, several runs."""

import csv
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from geo_patrol.agents.files import local_name
from geo_patrol.agents.memory import MEMORY_SIZE
from geo_patrol.agents.policy import (
    SUFFIX,
    PolicyAgent,
    Weights,
    Widths,
    check_weights,
    initial_weights,
    shapes,
    widths_of,
    write_weights,
)
from geo_patrol.agents.protocol import Agent, agent_name, is_stateless
from geo_patrol.agents.registry import as_agent
from geo_patrol.base.errors import ConfigError, GeoPatrolError, PolicyError, show
from geo_patrol.base.files import atomic_path, atomic_write
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.evaluation.executors import ProcessExecutor, run_tasks, usable_cores
from geo_patrol.evaluation.match import play_match
from geo_patrol.evaluation.statistics import Rate
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.league import League, TrainingEnvs, make_leagues
from geo_patrol.training.network import PolicyNetwork, TrainingAgent, freeze, resolve_device
from geo_patrol.training.ppo import RolloutBuffer, move_average, update_policy


@dataclass(frozen=True)
class Evaluation:
    """A point of the learning curve."""

    minutes: float
    steps: int
    win_rates: dict[str, Rate]
    """By opponent."""

    def to_row(self) -> dict[str, float]:
        """Return the columns of ``curve.csv``: minutes, steps, and three for each opponent."""
        row = {"minutes": self.minutes, "steps": self.steps}
        for name, (estimate, low, high) in self.win_rates.items():
            row |= {name: estimate, f"{name} low": low, f"{name} high": high}
        return row

    @classmethod
    def from_row(cls, row: dict[str, float]) -> "Evaluation":
        """Read what ``to_row`` returned."""
        names = [name for name in row if f"{name} low" in row]
        win_rates = {name: Rate(row[name], row[f"{name} low"], row[f"{name} high"]) for name in names}
        return cls(row["minutes"], int(row["steps"]), win_rates)


def evaluate(
    agent: Agent, opponents: Sequence[str | Agent], *, config: ConfigSource, games: int, seed: int
) -> dict[str, Rate]:
    """Play games of an agent against every opponent, half of them from each side, and return the win rates."""
    win_rates = {}
    for opponent in opponents:
        match = play_match(agent, opponent, config=config, games=games, seed=seed)
        win_rates[agent_name(opponent)] = match.summary().total.won
    return win_rates


def write_curve(path: Path, curve: Sequence[Evaluation]) -> None:
    """Write a learning curve as CSV; a column that a later evaluation does not have stays empty."""
    rows = [point.to_row() for point in curve]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


FORMAT = "geo_patrol checkpoint 5"
CHECKPOINT = "checkpoint.pt"
POLICY = "policy.safetensors"
AVERAGE = "-average"
"""What the names of files with averaged weights end with, before the suffix."""


@dataclass
class TrainingState:
    """All that changes over a training run."""

    network: PolicyNetwork
    optimizer: torch.optim.Optimizer
    leagues: list[League[TrainingAgent]]
    """One for each configuration, in the order of the environments."""
    average: PolicyNetwork
    """The exponential moving average of the network's weights; it is less exploitable than they are."""
    magnet: PolicyNetwork
    """From which the divergence costs: the average, or the network as it was when the magnet was last renewed."""
    global_step: int = 0
    minutes: float = 0.0
    curve: list[Evaluation] = field(default_factory=list)


def initial_state(config: TrainingConfig, device: torch.device) -> TrainingState:
    """Return the state that a run starts from, and seed PyTorch's random stream."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    widths = Widths(components=config.num_components, memory=MEMORY_SIZE if config.memory else 0)
    weights: Weights = initial_weights(shapes(widths), rng)
    if config.initial_policy is not None:
        known = PolicyAgent(local_name(config.initial_policy)).weights_for(config.game_configs)
        if widths_of(known).memory and not config.memory:
            raise ConfigError(f"memory must be true, as {config.initial_policy!r} has one")
        new = weights.keys() - known.keys() if widths_of(known).components == 1 else {"memory"} & weights.keys()
        weights = {**known, **{name: weights[name] for name in sorted(new - known.keys())}}
        if widths_of(weights).components != config.num_components:
            raise ConfigError(
                f"num_components must be {widths_of(weights).components}, as many as {config.initial_policy!r} has, got "
                f"{config.num_components}"
            )
        check_weights(weights, config.initial_policy)
    network = PolicyNetwork(weights).to(device)
    has_fused = device.type in ("cpu", "cuda")
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate, eps=1e-5, fused=has_fused)
    average = deepcopy(network)
    magnet = average if config.magnet_interval is None else deepcopy(network)
    return TrainingState(network, optimizer, make_leagues(config, rng, device), average, magnet)


def save(state: TrainingState, config: TrainingConfig) -> None:
    """Write the checkpoint and the policy into the run's folder."""
    past_policies = {name: agent for league in state.leagues for name, agent in league.past_policies.items()}
    content = {
        "format": FORMAT,
        "network": state.network.state_dict(),
        "optimizer": state.optimizer.state_dict(),
        "average": state.average.state_dict(),
        "magnet": state.magnet.state_dict(),
        "past_policies": {name: agent.network.state_dict() for name, agent in past_policies.items()},
        "results": [{name: list(results) for name, results in league.results.items()} for league in state.leagues],
        "global_step": state.global_step,
        "minutes": state.minutes,
        "curve": [point.to_row() for point in state.curve],
        "rng_state": torch.get_rng_state(),
    }
    with atomic_path(config.out / CHECKPOINT) as path:
        torch.save(content, path)
    save_policy(state, config, Path(POLICY))


def save_policy(state: TrainingState, config: TrainingConfig, name: Path) -> None:
    """Write the policy to a file of the run's folder, and beside it the one with averaged weights."""
    metadata = {
        "steps": f"{state.global_step}",
        "seed": f"{config.seed}",
        "begun_with": config.initial_policy or "random weights",
        "configs": ", ".join(c if isinstance(c, str) else load_config(c).title for c in config.config),
    }
    path = config.out / name
    path.parent.mkdir(exist_ok=True)
    write_weights(path, state.network.weights(), metadata)
    write_weights(path.with_stem(f"{path.stem}{AVERAGE}"), state.average.weights(), metadata)


def restore(state: TrainingState, path: Path) -> None:
    """Continue from a checkpoint.

    Raises:
        PolicyError: it was written by another version.
    """
    device = state.network.device
    content = torch.load(path, weights_only=True, map_location=device)  # plain data: nothing in it is executed
    if content.get("format") != FORMAT:
        raise PolicyError(
            f"{path}: written by another version; start in another folder, from {path.with_name(POLICY)} if you like"
        )
    past_policies = {name: freeze(state.network, name) for name in content["past_policies"]}
    for name, agent in past_policies.items():
        agent.network.load_state_dict(content["past_policies"][name])
    for league, results_by_name in zip(state.leagues, content["results"], strict=True):
        for name, results in results_by_name.items():
            if name in past_policies:
                league.add(name, past_policies[name])
            if name in league.results:  # an opponent that is no longer among those of the settings is not
                league.results[name].extend(results)
    state.network.load_state_dict(content["network"])
    state.optimizer.load_state_dict(content["optimizer"])
    state.average.load_state_dict(content["average"])
    state.magnet.load_state_dict(content["magnet"])
    state.global_step, state.minutes = content["global_step"], content["minutes"]
    state.curve = [Evaluation.from_row(row) for row in content["curve"]]
    torch.set_rng_state(content["rng_state"].cpu())


CURVE = "curve.csv"
_RESAMPLE_INTERVAL = 8  # iterations; games keep their opponent, so more mixtures mean more opponents at once
_FINAL_EVALUATION_FACTOR = 5
_MIN_ANNEAL = 0.02
_COLUMNS = TextColumn("training"), BarColumn(), TextColumn("{task.fields[status]}"), TimeRemainingColumn()


def train(config: TrainingConfig, console: Console | None = None) -> list[Evaluation]:
    """Train a policy, or continue the training whose checkpoint is in ``config.out``.

    Ctrl-C saves a checkpoint and ends the training.

    Args:
        config: the settings.
        console: where progress and evaluations are printed; standard output by default.

    Returns:
        The learning curve. ``config.out`` gets it as ``curve.csv``, beside the weights as ``policy.safetensors``, a
        checkpoint and, if TensorBoard is installed, event files.

    Raises:
        ConfigError: the device is not available, a configuration is wrong, or there is no agent of a name.
        PolicyError: a policy or the checkpoint cannot be read.
    """
    trainer = Trainer(config, console or Console(width=120))
    trainer.run()
    return trainer.state.curve


def train_best_response(
    agent: str | Agent | Mapping[Any, float], config: TrainingConfig, console: Console | None = None
) -> list[Evaluation]:
    """Train a policy against one frozen agent alone: its final win rate is a lower bound of the agent's exploitability.

    Args:
        agent: name of the agent, or a stateless ``Agent``; or several with weights, from which the opponent of every game is
            drawn.
        config: the other settings; its opponents are replaced by the agent.
        console: as for ``train``.

    Returns:
        The learning curve, as ``train`` does. The last win rate, the lower bound, is measured on fresh games; a longer
        or better training may find more.

    Raises:
        ConfigError, PolicyError: as ``train`` does.
    """
    return train(against(agent if isinstance(agent, Mapping) else {agent: 1.0}, config), console)


def against(mixture: Mapping[Any, float], config: TrainingConfig) -> TrainingConfig:
    """Return the settings of a training whose games are all against a mixture of agents, with these weights."""
    _check_agents(tuple(mixture))
    return config.replace(
        opponents=tuple(mixture),
        opponent_weights=tuple(mixture.values()),
        extra_opponents=(),
        self_play_fraction=0,
        num_past_policies=0,
        eval_opponents=tuple(mixture),
    )


def _check_agents(agents: Sequence[str | Agent]) -> None:
    """Make every agent that is given by name once: a wrong name is an error now, not at the first evaluation.

    Raises:
        ConfigError: there is no agent of a name, an object is no agent or keeps a state, or two have the same name.
    """
    by_name: dict[str, str | Agent] = {}
    for agent in agents:
        try:
            made = as_agent(agent, "an opponent")
        except GeoPatrolError:
            raise
        except ValueError as error:
            raise ConfigError(str(error)) from None
        name = agent_name(agent)
        if made is agent and not is_stateless(made):
            raise ConfigError(
                f"agent {name!r} keeps a state between calls: give its name, such as file.py:Name, so that each environment "
                "makes one of its own"
            )
        other = by_name.setdefault(name, agent)
        if other is not agent and not (isinstance(agent, str) and isinstance(other, str)):
            raise ConfigError(f"two opponents are called {name!r}: give them different names")


def _is_due(num_intervals: int, before: float, progress: float) -> bool:
    """Return whether a run has just passed the end of one of its equal intervals, the last one excepted."""
    points = np.linspace(0, 1, num_intervals + 1)[1:-1]
    return progress < 1 and bool(((before < points) & (points <= progress)).any())


class ScalarWriter:
    """Writes scalars as TensorBoard event files into a folder; does nothing where TensorBoard is not installed."""

    def __init__(self, folder: Path) -> None:
        self._writer = _open_writer(folder)

    def write(self, scalars: Mapping[str, float], step: int) -> None:
        """Write scalars by their tags, such as ``losses/entropy``."""
        if self._writer is not None:
            for tag, value in scalars.items():
                self._writer.add_scalar(tag, value, step)

    def close(self) -> None:
        """Flush and close the file."""
        if self._writer is not None:
            self._writer.close()


def _open_writer(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - needs TensorBoard, which is optional
    except ImportError:
        return None
    return SummaryWriter(str(folder))


class Trainer:
    """A training run: ``config`` holds its settings, ``state`` what changes."""

    def __init__(self, config: TrainingConfig, console: Console) -> None:
        self.config, self.console = config, console
        _check_agents((*config.opponents, *config.extra_opponents, *config.eval_opponents))
        torch.set_num_threads(config.num_threads)
        device = resolve_device(config.device)
        self.state = initial_state(config, device)
        config.out.mkdir(parents=True, exist_ok=True)
        if (config.out / CHECKPOINT).exists():
            restore(self.state, config.out / CHECKPOINT)
        self.envs = TrainingEnvs(config, self.state.leagues, config.seed + self.state.global_step, device)
        self.rollout = RolloutBuffer(config.num_steps, self.envs.num_envs, device, self.envs.observations.shape[1])
        self._iteration = 0

    @property
    def progress(self) -> float:
        """Fraction of the budget of time or steps that is used up, 0 to 1."""
        if self.config.total_timesteps is not None:
            return min(self.state.global_step / self.config.total_timesteps, 1.0)
        return min(self.state.minutes / self.config.minutes, 1.0)

    def run(self) -> None:
        """Train until the budget is used up, or until Ctrl-C."""
        if self.progress == 1:
            self.console.print(f"{self.config.out}: this training is complete; a larger budget continues it")
            return
        scalars = ScalarWriter(self.config.out)
        with Progress(*_COLUMNS, console=self.console) as bar:
            try:
                self._train(bar, scalars)
                self._finish(scalars)
            except KeyboardInterrupt:
                save(self.state, self.config)
                self.console.print(f"interrupted: the same command continues from the checkpoint in {self.config.out}")
            finally:
                scalars.close()

    def iterate(self) -> dict[str, float]:
        """Collect a rollout and update the policy; return metrics by their TensorBoard tags."""
        config, state = self.config, self.state
        anneal = max(1 - self.progress, _MIN_ANNEAL)
        if self._iteration % _RESAMPLE_INTERVAL == 0:
            self.envs.resample_opponents()
        self._iteration += 1
        self.envs.score_coef = config.score_coef * anneal
        self.rollout.collect(state.network, self.envs)
        learning_rate = config.learning_rate * (anneal if config.anneal_lr else 1)
        for group in state.optimizer.param_groups:
            group["lr"] = learning_rate
        ent_coef = config.ent_coef * (anneal if config.anneal_ent_coef else 1)
        magnet = state.magnet if config.magnet_coef else None
        losses = update_policy(state.network, state.optimizer, self.rollout, config, ent_coef, magnet)
        move_average(state.average, state.network, config.average_step_size)
        before = state.global_step
        state.global_step += self.rollout.rewards.numel()
        interval = config.magnet_interval
        if interval is not None and state.global_step // interval > before // interval:
            state.magnet.load_state_dict(state.network.state_dict())
        return {"charts/learning_rate": learning_rate, **{f"losses/{name}": loss for name, loss in losses.items()}}

    def _train(self, bar: Progress, scalars: ScalarWriter) -> None:
        config, state = self.config, self.state
        task = bar.add_task("training", total=1.0, status="")
        self.rollout.collect(state.network, self.envs)  # compiles what is not compiled yet, before the clock starts
        first_step, first_minutes = state.global_step, state.minutes
        self.envs.seconds, start = 0.0, time.perf_counter()
        while (before := self.progress) < 1:
            metrics = self.iterate()
            seconds = time.perf_counter() - start
            state.minutes = first_minutes + seconds / 60
            speed, env_time = (state.global_step - first_step) / seconds, self.envs.seconds / seconds
            scalars.write({**metrics, "charts/SPS": speed}, state.global_step)
            status = f"{state.global_step:,} steps, {speed:,.0f} per second, environments {env_time:.0%}"
            bar.update(task, completed=self.progress, status=f"{status}, entropy {metrics['losses/entropy']:.2f}")
            if _is_due(config.num_past_policies, before, self.progress):
                name = f"policy at step {state.global_step:,}"
                past_policy = freeze(state.network, name)
                for league in state.leagues:
                    league.add(name, past_policy)
                save(state, config)
            if _is_due(config.num_evaluations, before, self.progress):
                self._evaluate(config.eval_games, scalars)
                save(state, config)
        self.console.print(f"{status}; " + ", ".join(f"{tag.split('/')[1]} {metrics[tag]:.3g}" for tag in metrics))

    def _finish(self, scalars: ScalarWriter) -> None:
        """Announce and play the final evaluation, save everything, and print the league."""
        games = _FINAL_EVALUATION_FACTOR * self.config.eval_games
        self.console.print(
            f"final evaluation: {games:,} games against each of {', '.join(map(agent_name, self.config.eval_opponents))}"
        )
        self._evaluate(games, scalars)
        save(self.state, self.config)
        leagues = self.state.leagues
        for name in dict.fromkeys(name for league in leagues for name in league.results):
            win_rates = [league.win_rate(name) for league in leagues if name in league.results]
            self.console.print(f"  {np.mean(win_rates):6.1%} of the latest games against {name}")
        self.console.print(f"saved {self.config.out / POLICY}")

    def _evaluate(self, games: int, scalars: ScalarWriter) -> None:
        """Play evaluation games, and add them to the curve and its file."""
        state, config = self.state, self.config
        agent, seed = TrainingAgent(state.network, "training"), 1_000 * config.seed + len(state.curve) + 1
        win_rates = evaluate(agent, config.eval_opponents, config=config.eval_config, games=games, seed=seed)
        state.curve.append(Evaluation(round(state.minutes, 3), state.global_step, win_rates))
        write_curve(self.config.out / CURVE, state.curve)
        if self.config.save_policies:
            save_policy(state, self.config, Path("policies", f"{state.global_step:012d}{SUFFIX}"))
        scalars.write(
            {f"charts/win_rate/{name}": win_rate.value for name, win_rate in win_rates.items()}, state.global_step
        )
        results = ", ".join(f"{name} {win_rate.value:.1%}" for name, win_rate in win_rates.items())
        self.console.print(f"{state.minutes:6.2f} min {state.global_step:>11,} steps: win rate against {results}")


class _Run(NamedTuple):
    """A training run for a worker, which may not share a disk with this process."""

    config: TrainingConfig
    agent: str | None
    checkpoint: bytes | None


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
        raise ConfigError("two runs have the same folder: each must have a config.out of its own")
    for config in configs:
        for opponent in (*config.opponents, *config.extra_opponents, *config.eval_opponents):
            if not isinstance(opponent, str):
                raise ConfigError(f"opponents of runs in other processes must be names, got {show(opponent)}")
    console = console or Console(width=120)
    runs = [_Run(config, agent, _read_checkpoint(config.out)) for config in configs]
    workers = ProcessExecutor(min(usable_cores(), len(runs))) if executor is None else nullcontext(executor)
    curves: dict[Path, list[Evaluation]] = {}
    with workers as opened:
        for run, (curve, files) in run_tasks(opened, _train_in_worker, runs):
            out = run.config.out
            curves[out] = curve
            for name, content in files.items():
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                with atomic_path(out / name) as path:
                    path.write_bytes(content)
            results = ", ".join(f"{name} {win_rate}" for name, win_rate in curve[-1].win_rates.items())
            console.print(f"seed {run.config.seed}: win rate against {results}; saved {out}")
    return [curves[config.out] for config in configs]


def _read_checkpoint(folder: Path) -> bytes | None:
    path = folder / CHECKPOINT
    return path.read_bytes() if path.exists() else None


def _train_in_worker(run: _Run) -> tuple[list[Evaluation], dict[str, bytes]]:
    """Train in a folder of the worker's machine, and return the curve and the files."""
    with TemporaryDirectory(prefix="geo_patrol-") as name:
        folder = Path(name)
        if run.checkpoint is not None:
            (folder / CHECKPOINT).write_bytes(run.checkpoint)
        config, quiet = run.config.replace(out=folder), Console(quiet=True)
        curve = train(config, quiet) if run.agent is None else train_best_response(run.agent, config, quiet)
        files = (path for path in folder.rglob("*") if path.is_file())
        return curve, {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
