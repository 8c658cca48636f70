"""Populations that grow by responses to their equilibrium."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from rich.console import Console

from geo_patrol.agents.policy import read_policies, read_weights
from geo_patrol.evaluation.results import WinRate
from geo_patrol.training import population, selfplay
from geo_patrol.training.population import MetaGame, train_population


def result(score):
    wins = round(100 * score)
    won = np.arange(100) < wins
    return WinRate.from_games(won, np.zeros(100, bool), np.arange(100))


def test_the_equilibrium_of_a_circle():
    """Three policies that beat each other in a circle are mixed equally; a script that beats none of them is no opponent."""
    results = {(0, 1): result(1.0), (0, 2): result(0.0), (1, 2): result(1.0)}
    results |= {(row, 3): result(0.9) for row in range(3)}
    meta_game = MetaGame(("a", "b", "c"), ("weak",), results)
    assert meta_game.payoffs == pytest.approx(np.array([[0, 1, -1, 0.8], [-1, 0, 1, 0.8], [1, -1, 0, 0.8]]))
    assert meta_game.mixture == pytest.approx(dict.fromkeys("abc", 1 / 3))
    assert meta_game.opponents == pytest.approx(dict.fromkeys("abc", 1 / 3))
    assert meta_game.equilibrium.value == pytest.approx(0)


def test_a_script_that_beats_all_is_the_opponent_and_never_in_the_mixture():
    results = {(0, 1): result(0.5), (0, 2): result(0.2), (1, 2): result(0.4)}
    meta_game = MetaGame(("a", "b"), ("strong",), results)
    assert meta_game.opponents == {"strong": 1}
    assert meta_game.mixture == {"b": 1}
    assert meta_game.equilibrium.value == pytest.approx(-0.2)


@pytest.fixture
def config(small_config):
    return small_config(total_timesteps=16 * 64, num_evaluations=1, opponents=("random",))


def grow(config, size):
    return train_population(config, ["base"], size=size, games=4, console=Console(quiet=True), processes=1)


def test_a_population_continues_where_it_stopped(config, monkeypatch):
    begun = grow(config, 2)
    assert begun.results.keys() == {(0, 1), (0, 2), (1, 2)}
    first, second = (config.out / "policies" / f"00{number}.safetensors" for number in range(2))
    assert (read_weights(first)["order"] != read_weights(second)["order"]).any()
    written = second.read_bytes()
    assert written == (config.out / "responses" / "001" / "policy.safetensors").read_bytes()
    saved = json.loads((config.out / "meta_game.json").read_text())
    assert saved["mixture"] == begun.mixture
    assert len(read_policies(config.out / "mixture.safetensors").weights) == len(begun.mixture)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(selfplay, "update_policy", interrupt)
        with pytest.raises(KeyboardInterrupt):
            grow(config, 3)
    assert (config.out / "responses" / "002" / "checkpoint.pt").exists()
    assert not (config.out / "policies" / "002.safetensors").exists()
    grown = grow(config, 3)
    assert len(grown.policies) == 3
    assert {key: grown.results[key] for key in ((0, 1), (0, 3))} == {
        key: begun.results[old] for key, old in (((0, 1), (0, 1)), ((0, 3), (0, 2)))
    }
    assert second.read_bytes() == written


def test_a_response_meets_the_equilibrium_of_the_others(config, monkeypatch):
    opponents = []

    class StandIn:
        def __init__(self, settings, console):
            weights = zip(settings.opponents, settings.opponent_weights, strict=True)
            opponents.append((dict(weights), settings.initial_policy, settings.seed))
            raise KeyboardInterrupt

    monkeypatch.setattr(population, "Trainer", StandIn)
    with pytest.raises(KeyboardInterrupt):
        grow(config, 2)
    base = str(config.out / "policies" / "000.safetensors")
    assert opponents == [({f"policy:{base}": 1.0}, base, config.seed + 1)]


def test_scripts_that_differ_behind_a_dot_have_folders_of_their_own(config):
    scripts = ("raider:lead=0.3", "raider:lead=0.7")
    meta_game = grow(config.replace(opponents=scripts), 1)
    assert meta_game.results.keys() == {(0, 1), (0, 2)}
    assert {path.name for path in (config.out / "matches").iterdir()} == {"000 raider lead=0.3", "000 raider lead=0.7"}
