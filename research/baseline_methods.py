"""The learning methods of docs/results/baselines.md: each trains one policy and returns its learning curve."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from geo_patrol.base.errors import GeoPatrolError

if TYPE_CHECKING:
    from geo_patrol.evaluation.exploitability import ExactBoard
    from geo_patrol.training import TrainingConfig

EXPLOITABILITY = "exploitability"
"""The column of a curve with the exact exploitability, on configurations that are solved."""
AVERAGE_EXPLOITABILITY = "exploitability of averaged weights"
"""The same for the policy with averaged weights, of methods that have it."""
SELF_PLAY_EXPLOITABILITY = "exploitability of the last self-play policy"
"""The same for one member of a population, of methods that have it."""
SOLVED = {"duel"}
"""Configurations small enough for exact best responses."""
SETTINGS: Mapping[str, dict[str, Any]] = {
    "duel": {"num_envs": 256, "num_evaluations": 10},
    "skirmish": {"num_envs": 256, "num_evaluations": 5},
    "geo_patrol": {"num_evaluations": 5},
}
"""Settings that differ from the defaults of ``TrainingConfig``: on small boards a policy learns from fewer games; where
exploitability is exact, its curve has more points."""
EXACT_INTERVAL = 2
"""Every so many evaluations of a run the exact exploitability is computed, which takes longer than the training."""
PSRO_SIZE = 8
"""Policies of a population, which divide the budget equally."""
SP_PSRO_SIZE = 9
"""The same with self-play: the first policy, and two in each of four rounds."""
PSRO_GAMES = 400
"""Games of each match between members of a population."""

Curve = list[dict[str, float]]


class Job(NamedTuple):
    """What to train.

    Attributes:
        method: its key in ``METHODS``.
        config: the preset.
        seed: of all random streams.
        steps: of the environments, if they are the budget.
        time_limit: minutes of training, if these are the budget.
    """

    method: str
    config: str
    seed: int
    steps: int | None = None
    time_limit: float | None = None

    @property
    def budget(self) -> str:
        """The budget in words, such as "100,000 steps" or "3 minutes"."""
        return f"{self.time_limit:g} minutes" if self.steps is None else f"{self.steps:,} steps"

    @property
    def section(self) -> str:
        """The part of the document, such as "duel-100000" or "geo_patrol-3min": runs there differ in method and seed only."""
        return f"{self.config}-{f'{self.time_limit:g}min' if self.steps is None else self.steps}"

    def is_complete(self, curve: "Curve") -> bool:
        """Return whether a training with this learning curve has used up the budget, which several trainings may have shared."""
        column, budget = ("minutes", self.time_limit) if self.steps is None else ("steps", self.steps)
        return curve[-1][column] >= 0.99 * (budget or 0)


class Trained(NamedTuple):
    """A trained policy."""

    curve: Curve
    """Evaluations, with the columns of ``curve.csv`` and ``EXPLOITABILITY``."""
    file: Path
    """The weights."""


@cache
def exploitability(policy: str, config: str) -> float:
    """Return what a best response wins against a policy, games won minus games lost per game, as the mean over sides."""
    from geo_patrol import make_agent

    return _exact_board(config).exploitability(make_agent(policy))["outcome"].mean


def add_exploitability(curve: Curve, config: str, name: Callable[[int], str], column: str = EXPLOITABILITY) -> Curve:
    """Return a curve with one more column in some rows; none if the configuration is not solved.

    Args:
        curve: the rows of a run.
        config: the preset.
        name: of the agent at a number of steps.
        column: its name.
    """
    rows = [dict(row) for row in curve]
    if config in SOLVED:
        for row in rows[EXACT_INTERVAL - 1 :: EXACT_INTERVAL]:
            row[column] = exploitability(name(int(row["steps"])), config)
    return rows


@cache
def _exact_board(config: str) -> "ExactBoard":
    from geo_patrol import load_config
    from geo_patrol.evaluation.exploitability import ExactBoard

    return ExactBoard(load_config(config))


def train_policy(job: Job, folder: Path) -> Trained:
    """Train by a method of ``geo_patrol.training``."""
    from geo_patrol.training import train
    from geo_patrol.training.config import configure
    from geo_patrol.training.selfplay import AVERAGE

    curve = train(configure(out=folder, save_policies=True, **_method(job), **_settings(job, 1)))
    rows = [point.to_row() for point in curve]
    for column, ending in ((EXPLOITABILITY, ""), (AVERAGE_EXPLOITABILITY, AVERAGE)):
        saved = f"policy:{folder / 'policies'}/{{:012d}}{ending}.safetensors"
        rows = add_exploitability(rows, job.config, saved.format, column)
    return Trained(rows, folder / "policy.safetensors")


def _method(job: Job) -> dict[str, Any]:
    """Return the method of ``geo_patrol.training`` and the settings that differ from its defaults."""
    if job.method == "nashpg" and job.steps is not None:
        return {"method": "nashpg", "magnet_interval": job.steps // 50}  # as often renewed as in the paper
    return {"method": job.method}


def _settings(job: Job, trainings: int) -> dict[str, Any]:
    """Return the settings of ``TrainingConfig``, with the budget divided equally among trainings."""
    settings = {"config": (job.config,), "eval_config": job.config, "seed": job.seed, **SETTINGS.get(job.config, {})}
    if job.steps is not None:
        return settings | {"total_timesteps": job.steps // trainings}
    assert job.time_limit is not None
    return settings | {"minutes": job.time_limit / trainings}


def train_population_of_policies(job: Job, folder: Path) -> Trained:
    """Train a population from random weights, and evaluate its mixture each time that a policy has joined.

    Its exploitability is an upper bound: that by responses that know which policy was drawn for a game.
    """
    from geo_patrol.training import train
    from geo_patrol.training.config import configure
    from geo_patrol.training.population import MIXTURE, SELF_PLAY, train_population

    self_play = job.method == "sp-psro"
    final_size = SP_PSRO_SIZE if self_play else PSRO_SIZE
    settings = _settings(job, final_size) | {"num_evaluations": 1}
    first = configure("mmd" if self_play else "league", out=folder / "first", **settings)
    if not train(first):
        raise KeyboardInterrupt  # at which a training ends before its evaluation
    responses, begin = configure(out=folder, **settings), [str(first.out / "policy.safetensors")]
    curve: Curve = []
    for size in range(1, final_size + 1):
        saved = folder / f"mixture{size}.json"
        if not saved.exists():  # an interrupted run continues
            meta_game = train_population(
                responses, begin, size=size, games=PSRO_GAMES, processes=1, self_play=self_play
            )
            minutes, steps = np.sum([_last_row(path) for path in folder.glob("**/curve.csv")], axis=0).tolist()
            state = {"minutes": minutes, "steps": steps, "mixture": meta_game.mixture}
            saved.write_text(json.dumps(state), encoding="utf-8")
        state = json.loads(saved.read_text(encoding="utf-8"))
        row = {"minutes": state["minutes"], "steps": state["steps"]}
        if job.config in SOLVED:
            mixture = state["mixture"]
            values = [exploitability(policy, job.config) for policy in mixture]
            row[EXPLOITABILITY] = float(np.average(values, weights=list(mixture.values())))
        curve.append(row)
    if self_play and job.config in SOLVED:
        last = max((folder / "policies").glob(f"*-{SELF_PLAY}.safetensors"))
        curve[-1][SELF_PLAY_EXPLOITABILITY] = exploitability(f"policy:{last}", job.config)
    curve[-1] |= _win_rates(f"policy:{folder / MIXTURE}", first.eval_opponents, job, 5 * first.eval_games)
    return Trained(curve, folder / MIXTURE)


def _last_row(curve: Path) -> tuple[float, float]:
    """Return the minutes and steps of a training."""
    minutes, steps, *_ = curve.read_text(encoding="utf-8").splitlines()[-1].split(",")
    return float(minutes), float(steps)


def _win_rates(agent: Any, opponents: tuple[str, ...], job: Job, games: int) -> dict[str, float]:
    """Return the columns of an evaluation, as ``Evaluation.to_row`` does."""
    from geo_patrol import play_match

    row = {}
    for opponent in opponents:
        total = play_match(agent, opponent, config=job.config, games=games, seed=job.seed).summary().total
        row |= {opponent: total.win_rate, f"{opponent} low": total.won.low, f"{opponent} high": total.won.high}
    return row


def train_maskable_ppo(job: Job, folder: Path) -> Trained:
    """Train MaskablePPO of sb3-contrib against scripts; an interrupted run begins anew."""
    saved = folder / "curve.json"
    if not saved.exists():
        saved.write_text(json.dumps(_learn(job, folder)), encoding="utf-8")
    curve = json.loads(saved.read_text(encoding="utf-8"))
    rows = add_exploitability(curve, job.config, lambda steps: f"torch:{_script(folder, steps)}")
    return Trained(rows, _script(folder, rows[-1]["steps"]))


def _script(folder: Path, steps: float) -> Path:
    return folder / f"{int(steps):012d}.pt"


def _learn(job: Job, folder: Path) -> Curve:
    """Train with the settings of examples/sb3_ppo.py, save the policy of every evaluation, and return the curve."""
    import torch

    from geo_patrol.training import TrainingConfig

    torch.set_num_threads(1)
    config = TrainingConfig(out=folder, **_settings(job, 1))
    folder.mkdir(parents=True, exist_ok=True)
    model = _maskable_ppo(config)
    curve: Curve = []
    minutes = 0.0
    for number in range(1, config.num_evaluations + 1):
        done = 0.0
        while done < number / config.num_evaluations:
            start = time.perf_counter()
            model.learn(model.n_steps * config.num_envs, reset_num_timesteps=False)
            minutes += (time.perf_counter() - start) / 60
            total = config.total_timesteps
            done = model.num_timesteps / total if total else minutes / config.minutes
        row = {"minutes": minutes, "steps": float(model.num_timesteps)}
        file = _script(folder, row["steps"])
        _export(model, file)
        games = config.eval_games * (5 if number == config.num_evaluations else 1)
        curve.append(row | _win_rates(f"torch:{file}", config.eval_opponents, job, games))
    return curve


def _maskable_ppo(config: "TrainingConfig") -> Any:
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize

    from geo_patrol.adapters.sb3 import OrderPolicy, make_sb3_vec

    opponents = dict.fromkeys(config.opponents, 1.0)
    env = make_sb3_vec(config.config[0], config.num_envs, opponent=opponents, seats="alternate", reward="score")
    return MaskablePPO(
        OrderPolicy,
        VecNormalize(env, norm_obs=False, gamma=0.99),
        n_steps=32,
        batch_size=min(1024, 8 * config.num_envs),
        n_epochs=3,
        learning_rate=5e-4,
        ent_coef=0.003,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
        device="cpu",
        seed=config.seed,
    )


def _export(model: Any, file: Path) -> None:
    """Write the policy's network as TorchScript, which the agent ``torch:FILE`` plays."""
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)

        def forward(self, onehot: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.layers(onehot)
            return logits

    example = torch.zeros((1, model.observation_space.shape[0]))
    torch.jit.trace(Network(), example).save(str(file))  # type: ignore[no-untyped-call]


SATELLITE_METHODS = ("mappo", "ippo", "joint")
_SATELLITES = Path(__file__).parents[1] / "examples" / "mappo_satellites.py"


def train_satellites(job: Job, folder: Path) -> Trained:
    """Train by examples/mappo_satellites.py, for minutes of the processor, which do not pass while other work has it.

    Raises:
        GeoPatrolError: the budget is a number of steps.
    """
    if job.time_limit is None:
        raise GeoPatrolError(f"{job.method} trains for a time: give --minutes instead of --steps")
    settings = ["--method", job.method, "--config", job.config, "--seed", str(job.seed), "--device", "cpu"]
    budget = ["--minutes", f"{job.time_limit:g}", "--clock", "cpu"]
    subprocess.run([sys.executable, _SATELLITES, *settings, *budget, "--out", folder], check=True)
    row = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return Trained([row], folder / "agent.pt")


METHODS: Mapping[str, Callable[[Job, Path], Trained]] = {
    **dict.fromkeys(("league", "self-play", "entropy", "mmd", "nashpg"), train_policy),
    **dict.fromkeys(("psro", "sp-psro"), train_population_of_policies),
    "maskable-ppo": train_maskable_ppo,
    **dict.fromkeys(SATELLITE_METHODS, train_satellites),
}
