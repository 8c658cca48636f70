"""Small training runs for the tests. PyTorch is imported when a fixture needs it: tests are skipped without it."""

import numpy as np
import pytest
from rich.console import Console

from geo_patrol import make_vec
from geo_patrol.agents.policy import Widths, initial_weights, shapes


@pytest.fixture
def small_config(tmp_path):
    """Return a function that makes the settings of a run that takes seconds."""
    from geo_patrol.training import TrainingConfig

    def make(**settings):
        small = {
            "out": tmp_path / "new" / "run",
            "total_timesteps": 6 * 16 * 64,
            "num_envs": 64,
            "num_evaluations": 2,
            "num_past_policies": 3,
            "eval_games": 2,
            "eval_opponents": ("random",),
            "num_threads": 1,
            "device": "cpu",
            "config": ("case1",),
            "eval_config": "case1",
        }
        return TrainingConfig(**small | settings)

    return make


@pytest.fixture
def make_trainer(small_config):
    """Return a function that makes a small run, to be stepped by the test."""
    from geo_patrol.training.selfplay import Trainer

    return lambda **settings: Trainer(small_config(**settings), Console(quiet=True))


@pytest.fixture(scope="session")
def random_weights():
    return initial_weights(shapes(Widths()), np.random.default_rng(0))


@pytest.fixture
def random_network(random_weights):
    from geo_patrol.training.network import PolicyNetwork

    return PolicyNetwork(random_weights)


@pytest.fixture(scope="session")
def positions():
    """Return a function that yields observations and masks of both sides of games played at random."""

    def play(preset, games, steps, seed):
        envs = make_vec(preset, games, observation="tokens")
        observations, infos = envs.reset(seed=seed)
        for _ in range(steps):
            yield observations, infos["action_mask"]
            observations, _, _, _, infos = envs.step(envs.sample_actions())

    return play
