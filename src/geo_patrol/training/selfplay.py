"""Training by self-play and against a league: the loop of rollouts, updates, snapshots and evaluations."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from geo_patrol.agents.policy.weights import SUFFIX
from geo_patrol.agents.registry import make_agent
from geo_patrol.errors import ConfigError, GeoPatrolError
from geo_patrol.training import checkpoint
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.envs import TrainingEnvs
from geo_patrol.training.evaluation import Evaluation, evaluate, write_curve
from geo_patrol.training.network import freeze, resolve_device
from geo_patrol.training.ppo import RolloutBuffer, move_magnet, update_policy

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
    agent: str | Mapping[str, float], config: TrainingConfig, console: Console | None = None
) -> list[Evaluation]:
    """Train a policy against one frozen agent alone: its final win rate is a lower bound of the agent's exploitability.

    Args:
        agent: name of the agent; or several with weights, from which the opponent of every game is drawn.
        config: the other settings; its opponents are replaced by the agent.
        console: as for ``train``.

    Returns:
        The learning curve, as ``train`` does. The last win rate, the lower bound, is measured on fresh games; a longer
        or better training may find more.

    Raises:
        ConfigError, PolicyError: as ``train`` does.
    """
    return train(against({agent: 1.0} if isinstance(agent, str) else agent, config), console)


def against(mixture: Mapping[str, float], config: TrainingConfig) -> TrainingConfig:
    """Return the settings of a training whose games are all against a mixture of agents, with these weights."""
    return replace(
        config,
        opponents=tuple(mixture),
        opponent_weights=tuple(mixture.values()),
        extra_opponents=(),
        self_play_fraction=0,
        num_past_policies=0,
        eval_opponents=tuple(mixture),
    )


def _check_agents(names: Sequence[str]) -> None:
    """Make every agent once: a wrong name is an error now, not at the first evaluation."""
    for name in names:
        try:
            make_agent(name)
        except GeoPatrolError:
            raise
        except ValueError as error:
            raise ConfigError(str(error)) from None


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
        self.state = checkpoint.initial_state(config, device)
        config.out.mkdir(parents=True, exist_ok=True)
        if (config.out / checkpoint.CHECKPOINT).exists():
            checkpoint.restore(self.state, config.out / checkpoint.CHECKPOINT)
        self.envs = TrainingEnvs(config, self.state.league, config.seed + self.state.global_step)
        self.rollout = RolloutBuffer(config.num_steps, self.envs.num_envs, device)
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
                checkpoint.save(self.state, self.config)
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
        losses = update_policy(state.network, state.optimizer, self.rollout, config, ent_coef, state.magnet)
        if state.magnet is not None:
            move_magnet(state.magnet, state.network, config.magnet_step_size)
        state.global_step += self.rollout.rewards.numel()
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
                state.league.add(name, freeze(state.network, name))
                checkpoint.save(state, config)
            if _is_due(config.num_evaluations, before, self.progress):
                self._evaluate(config.eval_games, scalars)
                checkpoint.save(state, config)
        self.console.print(f"{status}; " + ", ".join(f"{tag.split('/')[1]} {metrics[tag]:.3g}" for tag in metrics))

    def _finish(self, scalars: ScalarWriter) -> None:
        """Announce and play the final evaluation, save everything, and print the league."""
        games = _FINAL_EVALUATION_FACTOR * self.config.eval_games
        self.console.print(f"final evaluation: {games:,} games against each of {', '.join(self.config.eval_opponents)}")
        self._evaluate(games, scalars)
        checkpoint.save(self.state, self.config)
        league = self.state.league
        for name in league.results:
            self.console.print(f"  {league.win_rate(name):6.1%} of the latest games against {name}")
        self.console.print(f"saved {self.config.out / checkpoint.POLICY}")

    def _evaluate(self, games: int, scalars: ScalarWriter) -> None:
        """Play evaluation games, and add them to the curve and its file."""
        state = self.state
        seed = 1_000 * self.config.seed + len(state.curve) + 1
        win_rates = evaluate(state.network, self.config, games, seed)
        state.curve.append(Evaluation(round(state.minutes, 3), state.global_step, win_rates))
        write_curve(self.config.out / CURVE, state.curve)
        if self.config.save_policies:
            checkpoint.save_policy(state, self.config, f"policies/{state.global_step:012d}{SUFFIX}")
        scalars.write(
            {f"charts/win_rate/{name}": win_rate.estimate for name, win_rate in win_rates.items()}, state.global_step
        )
        results = ", ".join(f"{name} {win_rate.estimate:.1%}" for name, win_rate in win_rates.items())
        self.console.print(f"{state.minutes:6.2f} min {state.global_step:>11,} steps: win rate against {results}")
