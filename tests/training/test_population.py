"""Populations that grow by responses to their equilibrium."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from rich.console import Console

from geo_patrol.agents.policy import read_policies, read_weights
from geo_patrol.base.errors import ConfigError
from geo_patrol.evaluation.results import WinRate
from geo_patrol.training import population, selfplay
from geo_patrol.training.config import METHODS
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


def grow(config, size, **options):
    return train_population(config, ["base"], size=size, games=4, console=Console(quiet=True), processes=1, **options)


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


def test_a_floor_keeps_policies_among_the_opponents_and_not_scripts():
    results = {(0, 1): result(0.0), (0, 2): result(0.5), (1, 2): result(0.6)}
    meta_game = MetaGame(("a", "b"), ("weak",), results)
    assert meta_game.opponents_with_floor(0.0) == meta_game.opponents == {"b": 1}
    assert meta_game.opponents_with_floor(0.2) == pytest.approx({"a": 0.1, "b": 0.9})


@pytest.mark.parametrize("floor", [-0.1, 1.1])
def test_a_floor_is_a_fraction(config, floor):
    with pytest.raises(ConfigError, match=f"floor must be from 0 to 1, got {floor}"):
        grow(config, 1, floor=floor)


def test_self_play_continues_in_the_next_round_and_where_it_stopped(config, monkeypatch):
    budget, update_policy, updates = 16 * 64, selfplay.update_policy, []
    config = config.replace(total_timesteps=2 * budget)  # two updates of each response
    grow(config, 2, self_play=True)

    def update(*arguments):
        updates.append(arguments)
        if len(updates) == 2:
            raise KeyboardInterrupt
        return update_policy(*arguments)

    monkeypatch.setattr(selfplay, "update_policy", update)
    with pytest.raises(KeyboardInterrupt):
        grow(config, 3, self_play=True)
    folder = config.out / "policies"
    assert [path.stem for path in sorted(folder.iterdir())] == ["000", "001"]
    grow(config, 3, self_play=True)
    assert len(updates) == 3
    trained = config.out / "self-play"
    assert (folder / "002-self-play.safetensors").read_bytes() == (trained / "policy.safetensors").read_bytes()
    grow(config, 5, self_play=True)
    assert [path.stem for path in sorted(folder.iterdir())] == ["000", "001", "002-self-play", "003", "004-self-play"]
    assert (folder / "004-self-play.safetensors").read_bytes() == (trained / "policy.safetensors").read_bytes()
    assert len(updates) == 3 + 2 + 2
    steps = [line.split(",")[1] for line in (trained / "curve.csv").read_text().splitlines()[1:]]
    assert steps == [str(2 * budget), str(4 * budget)]


ACTIONS = 7
CIRCLE = np.array([[(0, 1, 1, 1, -1, -1, -1)[(b - a) % ACTIONS] for b in range(ACTIONS)] for a in range(ACTIONS)])
"""The payoffs of a larger rock-paper-scissors: each action beats the next three. The equilibrium is uniform."""

STEP_SIZE = 0.05
REGULARISATION = {
    name: METHODS["mmd"][name] for name in ("ent_coef", "anneal_ent_coef", "magnet_coef", "magnet_interval")
}


def strategy_of(name):
    return np.array(json.loads(Path(name.removeprefix("policy:")).read_text()))


class TableTrainer:
    """Trains strategies of the circle exactly: a response, or by the update of magnetic mirror descent in self-play."""

    progress = 1
    seen = staticmethod(lambda _: None)

    def __init__(self, settings, console):
        self.settings = settings
        type(self).seen(settings)

    def run(self):
        settings = self.settings
        opponents = [strategy_of(name) for name in settings.opponents]
        others = np.average(opponents, axis=0, weights=settings.opponent_weights)
        strategy = strategy_of(settings.initial_policy)
        if settings.self_play_fraction == 0:
            strategy = np.eye(ACTIONS)[np.argmax(CIRCLE @ others)]
        for _ in range(1000 if settings.self_play_fraction else 0):
            met = settings.self_play_fraction * strategy + (1 - settings.self_play_fraction) * others
            logits = STEP_SIZE * (CIRCLE @ met) + (1 - STEP_SIZE * settings.ent_coef) * np.log(
                np.maximum(strategy, 1e-9)
            )
            strategy = np.exp(logits - logits.max())
            strategy /= strategy.sum()
        settings.out.mkdir(parents=True, exist_ok=True)
        (settings.out / "policy.safetensors").write_text(json.dumps(strategy.tolist()))


def solve_circle(config, monkeypatch, **options):
    """Return the strategies of a population of five that begins with a pure one, and that of its mixture."""

    def play(_population, row, column, *_):
        score = 1.0 if column == "random" else (strategy_of(row) @ CIRCLE @ strategy_of(column) + 1) / 2
        return WinRate.from_games(np.arange(10_000) < 10_000 * score, np.zeros(10_000, bool), np.arange(10_000))

    monkeypatch.setattr(selfplay, "_check_agents", lambda _: None)
    monkeypatch.setattr(population, "Trainer", TableTrainer)
    monkeypatch.setattr(population.Population, "save", lambda *_: None)
    monkeypatch.setattr(population.Population, "_play_match", play)
    first = config.out / "policies" / "000.safetensors"
    first.parent.mkdir(parents=True)
    first.write_text(json.dumps(np.eye(ACTIONS)[0].tolist()))
    meta_game = grow(config, 5, **options)
    mixed = sum(p * strategy_of(name) for name, p in meta_game.mixture.items())
    return [strategy_of(name) for name in meta_game.policies], mixed


def test_self_play_comes_near_the_equilibrium_of_a_circle_that_few_responses_cannot_mix(config, monkeypatch):
    _, of_responses = solve_circle(config.replace(out=config.out / "responses"), monkeypatch)
    (*_, last), mixed = solve_circle(config.replace(out=config.out / "self-play"), monkeypatch, self_play=True)
    assert (CIRCLE @ of_responses).max() > 0.15, "five actions of seven"
    assert (CIRCLE @ mixed).max() < 0.08
    assert 0.05 < last.min() < last.max() < 0.35


def test_self_play_meets_itself_the_response_and_the_mixture(config, monkeypatch):
    trained = []
    monkeypatch.setattr(TableTrainer, "seen", trained.append)
    solve_circle(config, monkeypatch, self_play=True, floor=0.3)
    first, second = trained[1], trained[3]
    names = [f"policy:{config.out}/policies/{number}.safetensors" for number in ("000", "001")]
    assert dict(zip(first.opponents, first.opponent_weights, strict=True)) == {names[0]: 0.15, names[1]: 1 + 0.85}
    assert (first.self_play_fraction, first.eval_opponents) == (0.8, (names[1],))
    assert {name: getattr(first, name) for name in REGULARISATION} == REGULARISATION
    assert (first.total_timesteps, second.total_timesteps) == (config.total_timesteps, 2 * config.total_timesteps)
    assert first.out == second.out
    assert second.initial_policy == f"{config.out}/policies/002-self-play.safetensors"


def test_scripts_that_differ_behind_a_dot_have_folders_of_their_own(config):
    scripts = ("raider:lead=0.3", "raider:lead=0.7")
    meta_game = grow(config.replace(opponents=scripts), 1)
    assert meta_game.results.keys() == {(0, 1), (0, 2)}
    assert {path.name for path in (config.out / "matches").iterdir()} == {"000 raider lead=0.3", "000 raider lead=0.7"}
