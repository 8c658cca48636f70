"""Several policies in one file: one is drawn for every game, or its rules decide."""

import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from geo_patrol import Games, load_config, make_agent, play_match, play_out
from geo_patrol.agents.policy import (
    MIXTURE_WEIGHTS,
    OUTER_RINGS,
    RULES,
    MixtureAgent,
    PolicyAgent,
    Widths,
    initial_weights,
    read_policies,
    read_weights,
    shapes,
    write_by_rules,
    write_mixture,
)
from geo_patrol.agents.registry import fix_network, network_version
from geo_patrol.base.errors import PolicyError
from geo_patrol.game.game import Game

EXAMPLES = Path(__file__).parents[2] / "examples"


def make_weights(seed):
    return initial_weights(shapes(Widths(4, 4, 4, 2)), np.random.default_rng(seed))


def moving(order):
    """Return weights of a policy that practically always gives one order where it is legal."""
    weights = make_weights(0)
    weights["simple_bias"][order] = 100
    return weights


@pytest.fixture
def mixture_file(tmp_path):
    path = tmp_path / "mixture.safetensors"
    write_mixture(path, [(moving(0), 3.0), (moving(1), 1.0)])
    return path


def start(games):
    batch = Game("geo_patrol", seed=0).as_games()
    return np.repeat(batch.observe("tokens")[:, 0], games, axis=0), np.repeat(batch.action_masks()[:, 0], games, axis=0)


def test_each_game_keeps_its_policy(mixture_file):
    agent = make_agent(f"policy:{mixture_file}")
    assert agent.name == f"policy:{mixture_file}"
    observations, masks = start(4000)
    rng = np.random.default_rng(1)
    agent.reset(np.ones(4000, np.bool_))
    first = agent.act(observations, masks, rng)[:, 1]
    assert (agent.act(observations, masks, rng)[:, 1] == first).all()
    assert np.mean(first == 0) == pytest.approx(0.75, abs=0.03)
    assert set(first.tolist()) == {0, 1}
    only = np.arange(4000) < 2000
    agent.reset(only)
    second = agent.act(observations, masks, rng)[:, 1]
    assert (second[2000:] == first[2000:]).all()
    assert (second[:2000] != first[:2000]).any()


def test_games_without_a_choice_are_not_evaluated(mixture_file, monkeypatch):
    agent = make_agent(f"policy:{mixture_file}")
    observations, masks = start(60)
    masks[:40, :, 1:], masks[:40, :, 0] = 0, 1
    evaluated = []
    for policy in agent.policies:
        act = policy.act
        monkeypatch.setattr(policy, "act", lambda rows, *rest, act=act: evaluated.append(len(rows)) or act(rows, *rest))
    orders = agent.act(observations, masks, np.random.default_rng(1))
    assert sum(evaluated) == 20
    assert (orders[:40] == 0).all()


def test_the_generator_decides(mixture_file):
    observations, masks = start(50)
    agent, chosen = make_agent(f"policy:{mixture_file}"), []
    for seed in (5, 5, 6):
        agent.reset(np.ones(50, np.bool_))
        chosen.append(agent.act(observations, masks, np.random.default_rng(seed))[:, 1].tolist())
    assert chosen[0] == chosen[1] != chosen[2]


def test_it_plays_like_its_policy(tmp_path):
    """A mixture with all weight on one policy plays a match as that policy does, but for the stream of draws."""
    path = tmp_path / "mixture.safetensors"
    write_mixture(path, [(moving(0), 0.0), (moving(1), 1.0)])
    mixture = play_match(f"policy:{path},greedy", "idle", config="case1", games=20, seed=3)
    alone = play_match(PolicyAgent(moving(1), greedy=True), "idle", config="case1", games=20, seed=3)
    assert (mixture.winner == alone.winner).all()
    assert (mixture.turns == alone.turns).all()


def test_samples_have_the_probability_of_the_mixture(tmp_path):
    """The log-probabilities of all different joint orders of a position add up to those of the policies."""
    agents = [PolicyAgent(make_weights(1)), PolicyAgent(make_weights(2))]
    mixture = MixtureAgent(agents, [1, 3], "mixture")
    observations, masks = start(1)
    masks[:, 3:, 1:] = 0  # only two Patrols have a choice
    masks[:, 3:, 0] = 1
    orders, log_probs = mixture.sample(observations[0], masks[0], 4000, np.random.default_rng(1))
    different, first, counts = np.unique(orders, axis=0, return_index=True, return_counts=True)
    assert len(different) > 5
    assert np.exp(log_probs[first]).sum() == pytest.approx(1, abs=0.01)
    assert np.exp(log_probs[first]) == pytest.approx(counts / 4000, abs=0.04)
    expected = (agents[0].value(observations) + 3 * agents[1].value(observations)) / 4
    assert mixture.value(observations) == pytest.approx(expected)


def test_a_search_takes_a_mixture(mixture_file):
    match = play_match(f"search:rollouts=8,propose=policy:{mixture_file}", "random", config="case1", games=2, seed=1)
    assert len(match) == 2


def test_a_file_keeps_all_weights(mixture_file):
    policies = read_policies(mixture_file)
    assert policies.mixture_weights == (3.0, 1.0)
    for read, written in zip(policies.weights, (moving(0), moving(1)), strict=True):
        assert all((read[name] == written[name]).all() for name in written)
    assert (PolicyAgent(mixture_file).weights["simple_bias"] == moving(0)["simple_bias"]).all()
    with pytest.raises(PolicyError, match="2 policies; it must be a file of one"):
        read_weights(mixture_file)


CASE1, OD2D, SMALL, LARGE = map(make_weights, range(1, 5))


@pytest.fixture
def file_by_rules(tmp_path):
    path = tmp_path / "by_rules.safetensors"
    write_by_rules(path, [(CASE1, load_config("case1")), (OD2D, load_config("od2d"))], [(SMALL, 3), (LARGE, 5)])
    return path


def positions(config, side):
    """Return what a side observes in some games after a few phases, and its masks."""
    games = play_out(Games(config, 20, seed=1), max_phases=4)
    return games.observe("tokens")[:, side], games.action_masks()[:, side]


def chosen_by(agent, observations, masks):
    samples = [agent.sample(*row, 3, np.random.default_rng(1)) for row in zip(observations, masks, strict=True)]
    return (
        agent.act(observations, masks, np.random.default_rng(1)),
        agent.order_probabilities(observations, masks),
        agent.value(observations),
        *map(np.concatenate, zip(*samples, strict=True)),
    )


@pytest.mark.parametrize(
    ("config", "weights"),
    [
        ("duel", SMALL),
        ("geo_patrol", LARGE),
        ("case1", CASE1),
        (load_config("case1", {"bravo.patrols.fuel": 55, "alpha.patrols.count": 8}), CASE1),
        (load_config("case1", {"bravo.patrols.ammo": 1}), LARGE),  # far from the rules of case1
        (load_config("case1", {"board.outer_ring": 5}), LARGE),
        (load_config("od2d", {"turn_limit": 20}), OD2D),
    ],
    ids=str,
)
@pytest.mark.parametrize("side", [0, 1])
def test_the_rules_decide_which_policy_plays(file_by_rules, config, weights, side):
    agent, seen = make_agent(f"policy:{file_by_rules}"), positions(config, side)
    for found, expected in zip(chosen_by(agent, *seen), chosen_by(PolicyAgent(weights), *seen), strict=True):
        assert (found == expected).all()


def test_a_mixture_of_policies_by_rules(file_by_rules):
    observations, masks = positions("duel", 0)
    mixture, alone = MixtureAgent([PolicyAgent(file_by_rules)], [1.0], "mixture"), PolicyAgent(SMALL)
    for observation, mask in zip(observations, masks, strict=True):
        orders, found = mixture.sample(observation, mask, 3, np.random.default_rng(1))
        likelihoods = alone.order_probabilities(observation[None], mask[None])[0, np.arange(11), orders].prod(axis=1)
        np.testing.assert_allclose(found, np.log(likelihoods), rtol=1e-4, atol=1e-5)


def test_games_of_all_rules_may_stand_in_a_batch(file_by_rules):
    parts = [positions("geo_patrol", 0), positions("duel", 0), positions("case1", 1)]
    observations, masks = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    agent = PolicyAgent(file_by_rules, greedy=True)
    alone = [PolicyAgent(weights, greedy=True) for weights in (LARGE, SMALL, CASE1)]
    generator = np.random.default_rng(1)
    expected = [policy.act(*part, generator) for policy, part in zip(alone, parts, strict=True)]
    assert (agent.act(observations, masks, generator) == np.concatenate(expected)).all()
    assert agent.act(observations[:0], masks[:0], generator).shape == (0, 11)


def test_a_file_by_rules_keeps_all_weights(file_by_rules):
    policies = read_policies(file_by_rules)
    assert (policies.mixture_weights, policies.rules.shape[0], policies.outer_rings) == (None, 2, (3, 5))
    for read, written in zip(policies.weights, (CASE1, OD2D, SMALL, LARGE), strict=True):
        assert all((read[name] == written[name]).all() for name in written)
    assert (PolicyAgent(file_by_rules).weights["place"] == LARGE["place"]).all()
    with pytest.raises(PolicyError, match="4 policies; it must be a file of one"):
        read_weights(file_by_rules)


@pytest.mark.parametrize(
    ("configs", "weights"),
    [
        (["duel"], SMALL),
        (["od2d", "od2d"], OD2D),
        (["duel", "skirmish"], SMALL),
        ([EXAMPLES / "four_rings.toml"], LARGE),  # with variants, case1 among them
    ],
)
def test_the_weights_for_configurations(file_by_rules, configs, weights):
    found = PolicyAgent(file_by_rules).weights_for([load_config(config) for config in configs])
    assert (found["place"] == weights["place"]).all()


BASE, THIRD = "policy:base", "network 3 of 7 ("


@pytest.mark.parametrize(
    ("name", "fixed", "version"),
    [
        ("policy", "policy:base,network=3", THIRD),
        ("policy:base,greedy", "policy:base,network=3,greedy", THIRD),
        ("policy:base,network=rules", "policy:base,network=rules", "network 7 of 7 ("),
        ("level:webb", "level:webb,network=3", THIRD),
        ("level:9,network=2", "level:9,network=2", "network 2 of 7 ("),
        (f"search:1s,enemy=policy,propose={BASE}", f"search:1s,enemy={BASE},network=3,propose={BASE},network=3", THIRD),
        ("search:10ms,propose=raider:defenders=5,path=cheap", "search:10ms,propose=raider:defenders=5,path=cheap", ""),
        ("scripted", "scripted", ""),
    ],
)
def test_a_network_is_fixed_by_a_configuration(name, fixed, version):
    found = fix_network(name, load_config("case3"))
    assert found == fixed
    assert network_version(found, load_config("case3", {"bravo.patrols.ammo": 2})).startswith(version)
    make_agent(found)


def test_a_fixed_network_plays_all_games(file_by_rules):
    agent = PolicyAgent(file_by_rules).with_network_for(load_config("case1"))
    assert (agent.name, agent.network) == (f"policy:{file_by_rules},network=1", 1)
    for config in ("case1", "duel", "geo_patrol"):
        seen = positions(config, 0)
        for found, expected in zip(chosen_by(agent, *seen), chosen_by(PolicyAgent(CASE1), *seen), strict=True):
            assert (found == expected).all()
    assert agent.with_network_for(load_config("duel")) is agent


@pytest.mark.parametrize("text", ["0", "8", "1.5", ""])
def test_there_is_no_such_network(text):
    with pytest.raises(PolicyError, match=r"network must be a number from 1 (to 7|on, or rules), got"):
        make_agent(f"policy:base,network={text}")


def test_half_precision_takes_half_of_the_space(tmp_path):
    half = [{name: array.astype(np.float16) for name, array in weights.items()} for weights in (SMALL, LARGE)]
    files = [tmp_path / "full.safetensors", tmp_path / "half.safetensors"]
    for file, (small, large) in zip(files, [(SMALL, LARGE), half], strict=True):
        write_by_rules(file, [], [(small, 3), (large, 5)])
    sizes = [file.stat().st_size for file in files]
    assert sizes[1] < 0.6 * sizes[0]
    read = PolicyAgent(files[1]).weights["place"]
    assert read.dtype == np.float32
    assert (read == half[1]["place"]).all()


RINGS = "outer_rings must be integers in ascending order"
MIXED = "mixture_weights must be numbers of at least 0"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *((OUTER_RINGS, rings, RINGS) for rings in ([2, 4], [5, 5], [-1, 5], [2.0, 5.0], [[2, 5]], [])),
        *((OUTER_RINGS, np.array(rings, np.uint8), RINGS) for rings in ([6, 5], [4, 2, 5])),
        (RULES, np.zeros((2, 2, 58), np.int64), "rules must be int16 of shape (policies, 2, 58), got int64 of shape ("),
        (RULES, np.zeros((2, 1, 58), np.int16), "got int16 of shape (2, 1, 58)"),
        (RULES, np.zeros(232, np.int16), "got int16 of shape (232,)"),
        (RULES, np.zeros((1, 2, 58), np.int16), "its policies are numbered from 0 to 2"),
        *((MIXTURE_WEIGHTS, np.array(mixed, np.float32), MIXED) for mixed in ([1, -1], [0, 0], [1, np.nan], [[1, 1]])),
        (MIXTURE_WEIGHTS, np.ones(1, np.float32), "its policies are numbered from 0 to 0"),
        (MIXTURE_WEIGHTS, np.ones(3_900_000, np.float32), "belong to the policies that it names, 3,900,000"),
        (MIXTURE_WEIGHTS, np.ones(3, np.float32), "44 arrays of weights; 66 belong to the policies that it names, 3"),
        ("0/more", np.ones(3, np.float32), "'more' is not a name of weights"),
    ],
    ids=str,
)
def test_wrong_files(mixture_file, file_by_rules, name, value, message):
    file = file_by_rules if name in (RULES, OUTER_RINGS) else mixture_file
    arrays = load_file(file)
    if np.shape(value) == (3,):  # a policy for each of three boards
        arrays |= {key.replace("3/", "4/", 1): arrays[key] for key in list(arrays) if key.startswith("3/")}
    save_file({**arrays, name: np.array(value)}, file)
    with pytest.raises(PolicyError, match=re.escape(message)):
        make_agent(f"policy:{file}")


def test_the_policy_of_the_package_has_a_network_for_small_boards():
    agent, (observations, _) = make_agent("policy:base"), positions("duel", 0)
    alone = PolicyAgent(agent.weights_for([load_config("duel")]))
    assert (agent.value(observations) == alone.value(observations)).all()
    assert (agent.value(observations) != PolicyAgent(agent.weights).value(observations)).any()
