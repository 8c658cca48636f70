"""Several policies in one file: one is drawn for every game, or the board decides."""

import numpy as np
import pytest

from geo_patrol import Games, make_agent, play_match
from geo_patrol.agents.policy import (
    MIXTURE_WEIGHTS,
    OUTER_RINGS,
    MixtureAgent,
    PolicyAgent,
    Widths,
    initial_weights,
    load_policies,
    read_policies,
    read_weights,
    shapes,
    write_by_board,
    write_mixture,
)
from geo_patrol.errors import PolicyError
from geo_patrol.game import Game


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
    chosen = []
    for seed in (5, 5, 6):
        agent = make_agent(f"policy:{mixture_file}")
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
    (first, second), mixture_weights, _ = read_policies(mixture_file)
    assert mixture_weights == (3.0, 1.0)
    for read, written in ((first, moving(0)), (second, moving(1))):
        assert all((read[name] == written[name]).all() for name in written)
    assert (PolicyAgent(mixture_file).weights["simple_bias"] == moving(0)["simple_bias"]).all()
    with pytest.raises(PolicyError, match="2 policies; it must be a file of one"):
        read_weights(mixture_file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({MIXTURE_WEIGHTS: np.array([1, -1], np.float32)}, "mixture_weights must be numbers of at least 0"),
        ({MIXTURE_WEIGHTS: np.array([0, 0], np.float32)}, "mixture_weights must be numbers of at least 0"),
        ({MIXTURE_WEIGHTS: np.array([1, np.nan], np.float32)}, "mixture_weights must be numbers of at least 0"),
        ({MIXTURE_WEIGHTS: np.array([[1, 1]], np.float32)}, "mixture_weights must be numbers of at least 0"),
        ({MIXTURE_WEIGHTS: np.array([1], np.float32)}, "'1/attack': its policies are numbered from 0 to 0"),
        ({MIXTURE_WEIGHTS: np.ones(3, np.float32)}, "policy 2: weights 'place' are missing"),
        ({"0/more": np.ones(3, np.float32)}, "policy 0: 'more' is not a name of weights"),
    ],
)
def test_wrong_mixtures(mixture_file, change, message):
    from safetensors.numpy import load_file, save_file

    save_file({**load_file(mixture_file), **change}, mixture_file)
    with pytest.raises(PolicyError) as caught:
        make_agent(f"policy:{mixture_file}")
    assert message in str(caught.value)


SMALL, LARGE = make_weights(1), make_weights(2)


@pytest.fixture
def file_by_board(tmp_path):
    path = tmp_path / "by_board.safetensors"
    write_by_board(path, [(SMALL, 3), (LARGE, 5)])
    return path


def positions(config, side):
    """Return what a side observes in some games after a few phases, and its masks."""
    games = Games(config, 20, seed=1).play_out(max_phases=4)
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
    ("config", "weights"), [("duel", SMALL), ("skirmish", SMALL), ("case4", LARGE), ("od2d", LARGE)]
)
@pytest.mark.parametrize("side", [0, 1])
def test_the_board_decides_which_policy_plays(file_by_board, config, weights, side):
    agent, seen = make_agent(f"policy:{file_by_board}"), positions(config, side)
    for found, expected in zip(chosen_by(agent, *seen), chosen_by(PolicyAgent(weights), *seen), strict=True):
        assert (found == expected).all()


def test_a_mixture_of_policies_by_board(file_by_board):
    observations, masks = positions("duel", 0)
    mixture, alone = MixtureAgent([PolicyAgent(file_by_board)], [1.0], "mixture"), PolicyAgent(SMALL)
    for observation, mask in zip(observations, masks, strict=True):
        orders, found = mixture.sample(observation, mask, 3, np.random.default_rng(1))
        likelihoods = alone.order_probabilities(observation[None], mask[None])[0, np.arange(11), orders].prod(axis=1)
        np.testing.assert_allclose(found, np.log(likelihoods), rtol=1e-4, atol=1e-5)


def test_games_on_all_boards_may_stand_in_a_batch(file_by_board):
    parts = [positions("geo_patrol", 0), positions("duel", 0), positions("geo_patrol", 1)]
    observations, masks = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    agent = PolicyAgent(file_by_board, greedy=True)
    alone = [PolicyAgent(weights, greedy=True) for weights in (LARGE, SMALL, LARGE)]
    generator = np.random.default_rng(1)
    expected = [policy.act(*part, generator) for policy, part in zip(alone, parts, strict=True)]
    assert (agent.act(observations, masks, generator) == np.concatenate(expected)).all()
    assert agent.act(observations[:0], masks[:0], generator).shape == (0, 11)


def test_a_file_by_board_keeps_all_weights(file_by_board):
    policies, mixture_weights, outer_rings = read_policies(file_by_board)
    assert (mixture_weights, outer_rings) == (None, (3, 5))
    for read, written in zip(policies, (SMALL, LARGE), strict=True):
        assert all((read[name] == written[name]).all() for name in written)
    agent = PolicyAgent(file_by_board)
    assert (agent.weights["place"] == LARGE["place"]).all()
    for outer_ring, weights in ((2, SMALL), (3, SMALL), (4, LARGE), (5, LARGE)):
        assert (agent.weights_on(outer_ring)["place"] == weights["place"]).all()
    with pytest.raises(PolicyError, match="2 policies; it must be a file of one"):
        read_weights(file_by_board)


WRONG_RINGS = [
    *([2, 4], [5, 2], [5, 5], [-1, 5], [2.0, 5.0], [[2, 5]], []),
    *(np.array(rings, np.uint8) for rings in ([6, 5], [4, 2, 5], [5, 0, 5])),
]


@pytest.mark.parametrize("rings", WRONG_RINGS, ids=str)
def test_wrong_outer_rings(file_by_board, rings):
    from safetensors.numpy import load_file, save_file

    arrays = load_file(file_by_board)
    arrays |= {name.replace("1/", "2/", 1): arrays[name] for name in list(arrays) if name.startswith("1/")}
    save_file({**arrays, OUTER_RINGS: np.array(rings)}, file_by_board)
    with pytest.raises(
        PolicyError, match="outer_rings must be integers in ascending order, one for each policy, the last 5"
    ):
        make_agent(f"policy:{file_by_board}")


def test_the_policy_of_the_package_has_a_network_for_small_boards():
    agent = make_agent("policy:base")
    observations, masks = positions("duel", 0)
    assert load_policies("base").outer_rings[-1] == 5
    assert (agent.value(observations) == PolicyAgent(agent.weights_on(2)).value(observations)).all()
    assert (agent.value(observations) != PolicyAgent(agent.weights).value(observations)).any()
    assert agent.order_probabilities(observations, masks).shape == masks.shape
