"""Trainings learn the same from games on a GPU, simulated, as from games on a processor."""

import functools
import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("numba_cuda")
torch = pytest.importorskip("torch")

# ruff: noqa: E402 - after the packages that it needs
from rich.console import Console

from geo_patrol import make_vec
from geo_patrol.engine import cuda as kernels
from geo_patrol.training import TrainingConfig, league, train

if not kernels.IS_SIMULATED:
    pytest.skip("needs NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1", allow_module_level=True)


def test_the_example_of_ppo(monkeypatch, tmp_path):
    file = Path(__file__).parents[2] / "examples" / "ppo_geo_patrol.py"
    spec = importlib.util.spec_from_file_location("ppo_geo_patrol", file)
    example = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "ppo_geo_patrol", example)
    spec.loader.exec_module(example)
    args = {"self_play": True, "config": "case1", "num_envs": 4, "num_steps": 4, "total_timesteps": 48, "device": "cpu"}
    first, _ = example.train(example.Args(**args, out=str(tmp_path / "one")))
    monkeypatch.setattr(
        example,
        "make_envs",
        lambda args: make_vec("case1", args.num_envs // 2, observation="onehot", autoreset="same_step", device="cuda"),
    )
    second, _ = example.train(example.Args(**args, out=str(tmp_path / "two")))
    weights = second.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in first.state_dict().items())


def test_a_league(monkeypatch, tmp_path):
    settings = {"total_timesteps": 96, "num_envs": 8, "num_steps": 4, "self_play_fraction": 0.5, "num_past_policies": 2}
    settings |= {"num_minibatches": 2, "opponents": ("random", "turtle"), "opponent_weights": (1, 1), "device": "cpu"}
    settings |= {"eval_opponents": ("idle",), "eval_games": 2, "num_evaluations": 1, "config": ("case1",), "seed": 4}
    for name in ("one", "two"):
        train(TrainingConfig(out=tmp_path / name, **settings), Console(quiet=True))
        monkeypatch.setattr(league, "make_vec", functools.partial(make_on_device, league.make_vec))
    weights = [(tmp_path / name / "policy.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]


def make_on_device(make, *arguments, device, **options):
    return make(*arguments, device="cuda", **options)
