"""Prioritised fictitious self-play: hard opponents are sampled more often."""

from operator import itemgetter

import numpy as np
import pytest

pytest.importorskip("torch")

from geo_patrol.training.league import MAX_PAST_POLICIES, PAST_POLICIES_PER_MIXTURE, League
from geo_patrol.training.network import freeze
from geo_patrol.training.selfplay import save


def test_hard_opponents_are_sampled_more_often():
    league = League(["random", "raider"], np.random.default_rng(1))
    league.record(["random"] * 100 + ["raider"] * 100, [1] * 100 + [-1] * 100)
    weights = dict(league.sample_mixture())
    assert league.win_rate("random") > 0.9
    assert league.win_rate("raider") < 0.1
    assert weights["raider"] > 10 * weights["random"]


def test_fixed_weights_stay():
    league = League(["random", "raider"], np.random.default_rng(1), (0.25, 0.75))
    league.record(["random"] * 100, [-1] * 100)
    assert league.sample_mixture() == [("random", 0.25), ("raider", 0.75)]


def test_the_easiest_past_policy_leaves(random_network):
    league = League(["random", "raider"], np.random.default_rng(1))
    for number in range(MAX_PAST_POLICIES):
        league.add(f"policy {number}", freeze(random_network, f"policy {number}"))
    league.record(["policy 7"] * 50, [1] * 50)
    league.add("newest", freeze(random_network, "newest"))
    assert len(league.past_policies) == MAX_PAST_POLICIES
    assert "policy 7" not in league.past_policies
    league.record(["policy 7"], [1])  # a game against it that ends later
    assert "policy 7" not in league.results


def test_past_policies_play_a_third_of_the_games(random_network):
    league = League(["random", "raider"], np.random.default_rng(1))
    for number in range(5):
        league.add(f"policy {number}", freeze(random_network, f"policy {number}"))
    mixture = league.sample_mixture()
    past = [weight for opponent, weight in mixture if not isinstance(opponent, str)]
    assert len(past) == PAST_POLICIES_PER_MIXTURE
    assert sum(past) == pytest.approx(sum(weight for _, weight in mixture) / 3)


def test_each_configuration_has_a_league_of_its_own(make_trainer, monkeypatch):
    trainer = make_trainer(config=("case1", "case1", "od2d"), opponents=("random", "raider"), self_play_fraction=0.5)
    case1, od2d = trainer.state.leagues
    case1.record(["raider"] * 100, [-1] * 100)
    od2d.record(["random"] * 100, [-1] * 100)
    hardest = []
    for env in trainer.envs.envs:
        monkeypatch.setattr(env, "set_opponents", lambda mixture: hardest.append(max(mixture, key=itemgetter(1))[0]))
    trainer.envs.resample_opponents()
    assert hardest == ["raider", "random"]


def test_leagues_are_restored(make_trainer):
    trainer = make_trainer(config=("case1", "od2d"))
    agent = freeze(trainer.state.network, "past")
    case1, od2d = trainer.state.leagues
    for league in trainer.state.leagues:
        league.add("past", agent)
    od2d.add("left case 1", agent)
    od2d.record(["past"] * 3, [1, 0, -1])
    save(trainer.state, trainer.config)
    restored = make_trainer(config=("case1", "od2d")).state.leagues
    assert [league.results for league in restored] == [case1.results, od2d.results]
    assert [list(league.past_policies) for league in restored] == [["past"], ["past", "left case 1"]]


def test_a_snapshot_does_not_change_with_the_network(random_network):
    agent = freeze(random_network, "policy")
    before = agent.network.weights()
    for parameter in random_network.parameters():
        parameter.data += 1
    assert all((before[name] == agent.network.weights()[name]).all() for name in before)


def test_opponents_that_call_themselves_otherwise_have_results(make_trainer, tmp_path):
    """As agents in files may: two of one name too."""
    source = "from geo_patrol.agents.basic import IdleAgent\n\n\nclass {0}(IdleAgent):\n    name = 'mine'\n"
    names = []
    for name in ("First", "Second"):
        (tmp_path / f"{name.lower()}.py").write_text(source.format(name))
        names.append(f"{tmp_path / name.lower()}.py:{name}")
    trainer = make_trainer(config=("duel",), opponents=tuple(names), self_play_fraction=0, num_past_policies=0)
    for _ in range(2):
        trainer.iterate()
    league = trainer.state.leagues[0]
    assert all(len(league.results[name]) > 10 for name in names)
