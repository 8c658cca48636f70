"""Trainings learn the same from games on a GPU, simulated, as from games on a processor."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba_cuda")
torch = pytest.importorskip("torch")

# ruff: noqa: E402 - after the packages that it needs
from rich.console import Console

from geo_patrol import load_config
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.engine import cuda as kernels
from geo_patrol.training import TrainingConfig, league, train
from geo_patrol.training.selfplay import Trainer

if not kernels.IS_SIMULATED:
    pytest.skip("needs NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1", allow_module_level=True)


SIZES = {
    "ppo_geo_patrol": {"self_play": True, "num_envs": 4, "num_steps": 4, "total_timesteps": 48},
    "ppo_cuda": {"num_games": 2, "num_steps": 4, "total_timesteps": 48, "width": 16, "num_minibatches": 2},
}


@pytest.mark.parametrize("name", SIZES)
def test_the_examples_of_ppo(name, monkeypatch, tmp_path):
    file = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    example = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, name, example)
    spec.loader.exec_module(example)
    weights = []
    for out in ("one", "two"):
        agent, _ = example.train(example.Args(**SIZES[name], config="case1", device="cpu", out=str(tmp_path / out)))
        weights.append(agent.state_dict())
        monkeypatch.setattr(example, "make_vec", functools.partial(make_on_device, example.make_vec))
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())


def test_a_league(monkeypatch, tmp_path):
    settings = {"total_timesteps": 96, "num_envs": 8, "num_steps": 4, "self_play_fraction": 0.5, "num_past_policies": 2}
    settings |= {"num_minibatches": 2, "opponents": ("random", "turtle"), "opponent_weights": (1, 1), "device": "cpu"}
    settings |= {"eval_opponents": ("idle",), "eval_games": 2, "num_evaluations": 1, "config": ("case1",), "seed": 4}
    for name in ("one", "two"):
        train(TrainingConfig(out=tmp_path / name, **settings), Console(quiet=True))
        monkeypatch.setattr(league, "make_vec", functools.partial(make_on_device, league.make_vec))
    weights = [(tmp_path / name / "policy.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]


def test_policies_of_files_are_opponents_of_a_league(monkeypatch, tmp_path):
    monkeypatch.setattr(league, "make_vec", functools.partial(make_on_device, league.make_vec))
    monkeypatch.setattr(league, "has_games_on", lambda _: True)
    settings = {
        "num_envs": 4,
        "num_steps": 4,
        "self_play_fraction": 0,
        "num_past_policies": 0,
        "config": ("duel", "case1"),
    }
    config = TrainingConfig(out=tmp_path, opponents=("policy:base",), num_minibatches=2, device="cpu", **settings)
    trainer = Trainer(config, Console(quiet=True))
    for made, preset in zip(trainer.state.leagues, config.config, strict=True):
        ((agent, _),) = made.sample_mixture()
        expected = PolicyAgent("base").weights_for([load_config(preset)])
        assert all(np.array_equal(weights, expected[name]) for name, weights in agent.network.weights().items())
    for _ in range(16):
        trainer.iterate()
    assert all(len(made.results["policy:base"]) > 0 for made in trainer.state.leagues)


def make_on_device(make, *arguments, **options):
    return TakesArrays(make(*arguments, **options | {"device": "cuda"}))


class TakesArrays:
    """An environment on the simulated device that takes actions of either kind."""

    def __init__(self, envs):
        self.envs = envs

    def step(self, actions):
        return self.envs.step(torch.as_tensor(actions))

    def __getattr__(self, name):
        return getattr(self.envs, name)
