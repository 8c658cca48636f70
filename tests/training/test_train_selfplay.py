"""The training by self-play: its network is the package's, its arithmetic is right, and it goes on after an interruption."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors import safe_open

from geo_patrol import make_vec, preset_names
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.policy.network import initial_weights, probabilities, score_orders
from geo_patrol.agents.policy.weights import Widths, read_weights, shapes
from geo_patrol.trainer import load_trainer, trainer_path

torch = pytest.importorskip("torch")
trainer = load_trainer()


def positions(preset, games, phases, seed):
    """Yield observations and masks of both sides of games that are played at random."""
    envs = make_vec(preset, games, observation="tokens")
    observations, infos = envs.reset(seed=seed)
    for _ in range(phases):
        yield observations, infos["action_mask"]
        observations, _, _, _, infos = envs.step(envs.sample_actions())


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("source", ["base", "fresh"])
def test_numpy_equals_torch(preset, source):
    """1,000 positions of every preset, with the weights of the package and with ones that were not trained."""
    fresh = initial_weights(shapes(Widths()), np.random.default_rng(0))
    weights = PolicyAgent("base").weights if source == "base" else fresh
    network, compared = trainer.Network(weights), 0
    for observations, masks in positions(preset, 25, 20, seed=4):
        has_choice, logits = score_orders(weights, observations, masks)
        with torch.no_grad():
            chosen, theirs, _ = network(torch.from_numpy(observations), torch.from_numpy(masks).bool())
        assert (np.flatnonzero(has_choice) == chosen.numpy()).all()
        legal = np.isfinite(logits)
        assert np.abs(probabilities(logits) - torch.softmax(theirs, 1).numpy()).max(initial=0) < 1e-5
        np.testing.assert_allclose(logits[legal], theirs.numpy()[legal], rtol=1e-5, atol=1e-5)
        assert (theirs.numpy()[~legal] < -1e8).all()
        compared += len(observations)
    assert compared == 1000


def test_drawn_orders_are_legal_and_their_chances_right():
    network = trainer.Network(PolicyAgent("base").weights)
    for observations, masks in positions("geo_patrol", 40, 12, seed=5):
        orders, log_chances, _ = trainer.draw(network, observations, masks)
        assert (np.take_along_axis(masks, orders.numpy()[:, :, None], 2) == 1).all()
        has_choice, logits = score_orders(PolicyAgent("base").weights, observations, masks)
        shifted = logits - logits.max(axis=1, keepdims=True)
        likely = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        drawn = np.take_along_axis(likely, orders.numpy()[has_choice][:, None], 1)[:, 0]
        assert np.allclose(log_chances.numpy()[has_choice], drawn, atol=1e-4)
        assert (log_chances.numpy()[~has_choice] == 0).all()


def test_advantages_equal_a_plain_loop():
    generator = torch.Generator().manual_seed(1)
    rollout = trainer.Rollout(7, 5)
    rollout.rewards = torch.randn((7, 5), generator=generator)
    rollout.values = torch.randn((8, 5), generator=generator)
    rollout.ends = torch.rand((7, 5), generator=generator) < 0.3
    found = rollout.advantages()
    for slot in range(5):
        for phase in range(7):
            total, weight = 0.0, 1.0
            for later in range(phase, 7):
                end = bool(rollout.ends[later, slot])
                after = 0.0 if end else float(rollout.values[later + 1, slot])
                error = (
                    float(rollout.rewards[later, slot]) + trainer.DISCOUNT * after - float(rollout.values[later, slot])
                )
                total += weight * error
                weight *= trainer.DISCOUNT * trainer.TRACE
                if end:
                    break
            assert found[phase, slot] == pytest.approx(total, abs=1e-5)


def arguments(tmp_path, *more):
    given = [
        "--minutes",
        "0.1",
        "--slots",
        "64",
        "--games",
        "10",
        "--evaluations",
        "2",
        "--selves",
        "4",
        "--threads",
        "1",
    ]
    return trainer.read_arguments([*given, "--out", str(tmp_path / "new" / "run"), *more])


def test_an_update_makes_orders_that_won_more_likely(tmp_path):
    training = trainer.Training(arguments(tmp_path))
    rollout = trainer.Rollout(8, training.games.slots)
    rollout.play(training.network, training.games)
    rollout.rewards[:] = 0
    rollout.values[:] = 0
    wanted = rollout.orders[:, :, 1:].eq(0).float().mean(2)  # the more Patrols do nothing, the better
    rollout.rewards[:] = wanted - wanted.mean()
    rollout.ends[:] = True
    before = trainer.draw(training.network, rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))[0]
    for group in training.optimizer.param_groups:
        group["lr"] = 0.003
    for _ in range(5):
        told = trainer.update(training.network, training.optimizer, rollout, 2, 128, 0.0)
    after = trainer.draw(training.network, rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))[0]
    assert after[:, 1:].eq(0).float().mean() > before[:, 1:].eq(0).float().mean() + 0.02
    assert set(told) == {"entropy", "clipped", "value_loss"}


def test_the_league_draws_hard_opponents_more_often():
    league = trainer.League(["random", "raider"], np.random.default_rng(1))
    league.report(["random"] * 100 + ["raider"] * 100, [1] * 100 + [-1] * 100)
    weights = dict(league.mixture())
    assert league.win_rate("random") > 0.9
    assert league.win_rate("raider") < 0.1
    assert weights["raider"] > 10 * weights["random"]
    network = trainer.Network(initial_weights(shapes(Widths()), np.random.default_rng(0)))
    for number in range(trainer.MOST_PAST_SELVES + 3):
        league.add(network, f"self {number}")
    past = [player for player in league.players.values() if isinstance(player, trainer.Player)]
    assert len(past) == trainer.MOST_PAST_SELVES
    assert len(league.mixture()) == 2 + trainer.PAST_SELVES_AT_ONCE


def test_a_training_leaves_a_policy_and_goes_on(tmp_path):
    command = [sys.executable, str(trainer_path()), "--out", str(tmp_path / "run"), "--slots", "64", "--games", "10"]
    command += ["--evaluations", "2", "--selves", "3", "--threads", "1", "--config", "case1", "od2d"]
    first = subprocess.run([*command, "--minutes", "0.1"], capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    weights = read_weights(tmp_path / "run" / "policy.safetensors")
    assert weights.keys() == shapes(Widths()).keys()
    with safe_open(tmp_path / "run" / "policy.safetensors", "np") as file:
        told = file.metadata()
    assert (told["configs"], told["begun_with"], told["seed"]) == ("case1, od2d", "random weights", "0")
    with (tmp_path / "run" / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert {"minutes", "steps", "random", "random low", "random high"} <= rows[0].keys()
    again = subprocess.run([*command, "--minutes", "0.2"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    with (tmp_path / "run" / "curve.csv").open() as file:
        more = list(csv.DictReader(file))
    assert more[:2] == rows
    assert int(more[-1]["steps"]) > int(rows[-1]["steps"])
    assert "of late against self at" in again.stdout


def test_exploit(tmp_path):
    command = [
        sys.executable,
        "-m",
        "geo_patrol",
        "exploit",
        "idle",
        "--minutes",
        "0.1",
        "--games",
        "20",
        "--config",
        "case1",
    ]
    command += ["--threads", "1", "--json", str(tmp_path / "told.json"), "--out", str(tmp_path / "response")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "a lower bound" in result.stdout
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["agent"] == "idle"
    assert told["lower_bound"]["win_rate"] > 0.8
    assert told["curve"][-1]["win_rate"] == told["lower_bound"]["win_rate"]
    assert read_weights(tmp_path / "response" / "policy.safetensors")
