"""The environments conform to PettingZoo's and Gymnasium's interfaces and to their own docstrings."""

import copy
import functools
import pickle
import warnings

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import Observation, Reward, environment_id, geo_patrol_v0, load_config, preset_names
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.base.sides import SIDES
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.envs.spaces import OrderSpace
from tests.support.strategies import configs, seeds

with warnings.catch_warnings():  # PettingZoo's tests import one of its own environments in a deprecated way
    warnings.filterwarnings("ignore", "The old environment creation API has been deprecated", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test
    from pettingzoo.test.max_cycles_test import max_cycles_test
    from pettingzoo.test.state_test import state_test


def write_fuel(game, rules, side, out):
    for number in range(11):
        out[number] = 1 + game.fuel[side, number]  # PettingZoo's test warns of zeros alone


def reward_hits(game, rules, episode, side):
    return episode.hits[side]


OWN = {"observation": Observation(write_fuel, 11, low=0, high=10_000), "reward": Reward(reward_hits)}
OPTIONS = [
    {},
    {"observation": "tokens"},
    {"mask_in": "info"},
    {"mask_in": "none", "reward": "outcome"},
    {"config": "case3", "max_cycles": 9},
    {"config": "od2d", "observation": "tokens", "mask_in": "none"},
    {"config": "generalization/train"},
    {"config": "geo_patrol_hidden"},
    OWN,
    {"config": "geo_patrol_hidden", "observation": "tokens", "mask_in": "info", "max_cycles": 11},
]
NOOPS = np.zeros(11, np.int64)
BOTH_NOOPS = {"alpha": NOOPS, "bravo": NOOPS}
INFO_KEYS = {"illegal_orders", "score", "enemy_score", "turn", "phase", "reasons", "variant"}

EXPECTED_WARNINGS = (
    'We recommend agents to be named in the format <descriptor>_<number>, like "player_0"',
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
    "Action space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)
"""Warnings of PettingZoo's tests: agents alpha and bravo, Dict observations and MultiDiscrete actions are intended."""


@pytest.fixture
def ignore_expected_warnings():
    with warnings.catch_warnings():
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message, UserWarning, r"pettingzoo\.test\.api_test")
        yield


every_option = pytest.mark.parametrize("options", OPTIONS, ids=str)


@pytest.mark.slow
@every_option
@pytest.mark.usefixtures("ignore_expected_warnings")
def test_conformance(options, capsys):
    def make(**mode):
        return geo_patrol_v0.env(**options, **mode)

    parallel_api_test(geo_patrol_v0.parallel_env(**options), num_cycles=150)
    parallel_seed_test(lambda: geo_patrol_v0.parallel_env(**options), num_cycles=50)
    for one in (make(), geo_patrol_v0.raw_env(**options)):
        api_test(one, num_cycles=150)
        assert "Passed API test" in capsys.readouterr().out
    seed_test(make, num_cycles=50)
    render_test(make)
    state_test(make(), geo_patrol_v0.parallel_env(**options))


def test_max_cycles():
    max_cycles_test(geo_patrol_v0)


@pytest.mark.parametrize("preset", ["case1", "od2d", "geo_patrol_hidden"])
def test_gymnasium_check(preset):
    name = environment_id(preset)
    for options in ({}, {"observation": "tokens", "mask_in": "obs"}, {"seat": "random"}, {"seat": "bravo"}):
        check_env(gymnasium.make(name, **options).unwrapped, skip_render_check=True)
    check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)


# Registries


@pytest.mark.parametrize("preset", preset_names())
def test_made_by_id(preset):
    config, name = load_config(preset), environment_id(preset)
    assert gymnasium.make(name).unwrapped.config == config
    assert pettingzoo.make("parallel", name).unwrapped.config == config
    assert pettingzoo.make("aec", name).unwrapped.config == config


def test_made_by_id_with_arguments():
    env = gymnasium.make("GeoPatrol/Case1-v0", seat="bravo", overrides={"turn_limit": 3})
    env.reset(seed=1)
    assert (env.unwrapped.config.turn_limit, env.unwrapped.seat) == (3, "bravo")
    assert geo_patrol_v0.parallel_env.metadata["name"] == "geo_patrol_v0"
    assert geo_patrol_v0.raw_env().metadata["is_parallelizable"]


# Determinism


same = functools.partial(data_equivalence, exact=True)
"""Whether nested observations, rewards and infos are equal bit for bit."""


def solo_roll_out(env, seed, steps=120):
    seen = [env.reset(seed=seed)]
    for _ in range(steps):
        seen.append(env.step(env.unwrapped.sample_action()))
        if seen[-1][2] or seen[-1][3]:
            seen.append(env.reset())
    return seen


def parallel_roll_out(env, seed, steps=120):
    first = env.reset(seed=seed)
    return [first, *(env.step(env.sample_actions()) if env.agents else env.reset() for _ in range(steps))]


@pytest.mark.parametrize("preset", ["case1", "geo_patrol_hidden"])
def test_same_seed_same_roll_out(preset):
    for roll_out, make in (
        (solo_roll_out, lambda: SoloGeoPatrol(preset, seat="random")),
        (parallel_roll_out, lambda: geo_patrol_v0.parallel_env(preset)),
    ):
        first, second, other = (roll_out(make(), seed) for seed in (3, 3, 4))
        assert same(first, second)
        assert not same(first, other)


def test_reset_without_a_seed_continues_the_stream():
    env = geo_patrol_v0.parallel_env()
    streams = [env.reset(seed=1) and env.save()["games"][0]["chance"]]
    for _ in range(3):
        for _ in range(30):
            if env.agents:
                env.step(env.sample_actions())
        env.reset()
        streams.append(env.save()["games"][0]["chance"])
    assert len({stream["key"] for stream in streams}) == 1
    assert len({stream["counter"] for stream in streams}) == 4
    fresh = geo_patrol_v0.parallel_env()
    fresh.reset()
    assert fresh.save()["games"][0]["chance"] != streams[0]


def test_configurations_pickle():
    config = load_config("case4", {"alpha.hva.ammo": {"low": 0, "high": 2}})
    assert pickle.loads(pickle.dumps(config)) == config
    assert copy.deepcopy(config) == config


# Spaces, infos, arrays


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize(("encoding", "mask_in"), [("onehot", "obs"), ("tokens", "info")])
def test_observations_are_in_their_spaces_and_infos_have_the_same_keys(preset, encoding, mask_in):
    env = geo_patrol_v0.parallel_env(config=preset, observation=encoding, mask_in=mask_in)
    observations, infos = env.reset(seed=11)
    keys = INFO_KEYS | ({"action_mask"} if mask_in == "info" else set())
    while True:
        for side in SIDES:
            assert env.observation_space(side).contains(observations[side])
            assert set(infos[side]) == keys
            assert all(isinstance(value, (int, np.ndarray)) for value in infos[side].values())
        if not env.agents:
            break
        observations, rewards, terminations, truncations, infos = env.step(env.sample_actions())
        assert set(observations) == set(rewards) == set(terminations) == set(truncations) == set(SIDES)
        assert not any(truncations.values())
    assert all(terminations.values())
    assert infos["alpha"]["reasons"] > 0
    assert infos["alpha"]["phase"] == 2
    assert env.step(BOTH_NOOPS) == ({}, {}, {}, {}, {})


@pytest.mark.slow
@settings(max_examples=20)
@given(configs(), seeds, st.sampled_from(["onehot", "tokens"]))
def test_observations_are_in_their_spaces_on_every_board(config, seed, encoding):
    env = geo_patrol_v0.parallel_env(config=config, observation=encoding)
    observations, _ = env.reset(seed=seed)
    while env.agents:
        assert all(env.observation_space(side).contains(observations[side]) for side in SIDES)
        assert env.state_space.contains(env.state())
        observations, *_ = env.step(env.sample_actions())
    assert all(env.observation_space(side).contains(observations[side]) for side in SIDES)


def arrays(value):
    if isinstance(value, dict):
        return [array for item in value.values() for array in arrays(item)]
    return [value] if isinstance(value, np.ndarray) else []


@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_returned_arrays_are_never_reused(mask_in):
    env = geo_patrol_v0.parallel_env(mask_in=mask_in)
    seen = [array for returned in env.reset(seed=1) for array in arrays(returned)]
    for _ in range(10):
        orders = env.sample_actions()
        seen += orders.values()
        observations, *_, infos = env.step(orders)
        seen += arrays(observations) + arrays(infos) + [env.action_masks("alpha"), env.state()]
    copies = [array.copy() for array in seen]
    for _ in range(10):
        env.step(env.sample_actions())
    assert all(np.array_equal(before, after) for before, after in zip(copies, seen, strict=True))
    addresses = [array.__array_interface__["data"][0] for array in seen]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, SoloGeoPatrol])
def test_masks_are_returned_where_mask_in_requests_them(make):
    for mask_in in ("obs", "info", "none"):
        env = make(mask_in=mask_in)
        observation, info = env.reset(seed=1)
        if make is geo_patrol_v0.parallel_env:
            observation, info = observation["alpha"], info["alpha"]
            mask = env.action_masks("alpha")
        else:
            mask = env.action_masks().reshape(11, 28)
            assert (env.action_masks().shape, mask.dtype) == ((308,), np.bool_)
        assert isinstance(observation, dict) == (mask_in == "obs")
        assert ("action_mask" in info) == (mask_in == "info")
        if mask_in != "none":
            assert np.array_equal((observation if mask_in == "obs" else info)["action_mask"], mask)


# Steps


def test_max_cycles_truncates_an_unfinished_game():
    env = geo_patrol_v0.parallel_env(max_cycles=5)
    env.reset(seed=1)
    for step in range(1, 6):
        observations, _, terminations, truncations, _ = env.step(BOTH_NOOPS)
        assert set(truncations.values()) == {step == 5}
        assert set(terminations.values()) == {False}
        assert set(observations) == set(SIDES)
    assert env.agents == []
    env.reset()
    assert env.agents == list(SIDES)
    assert set(env.step(BOTH_NOOPS)[3].values()) == {False}


def test_an_end_in_the_last_cycle_is_a_termination():
    env = geo_patrol_v0.parallel_env(max_cycles=2, overrides={"turn_limit": 1})
    env.reset(seed=1)
    env.step(BOTH_NOOPS)
    _, _, terminations, truncations, _ = env.step(BOTH_NOOPS)
    assert (set(terminations.values()), set(truncations.values())) == ({True}, {False})


def test_illegal_orders_are_counted_for_the_side_that_gave_them():
    env = geo_patrol_v0.parallel_env()
    env.reset(seed=1)
    off_the_board = np.array([4, 4, 4] + [0] * 8)
    _, _, _, _, infos = env.step({"alpha": off_the_board, "bravo": np.array([1] * 10 + [27])})
    assert [infos[side]["illegal_orders"] for side in SIDES] == [3, 1]
    assert off_the_board.tolist() == [4, 4, 4] + [0] * 8
    _, _, _, _, infos = env.step(BOTH_NOOPS)
    assert [infos[side]["illegal_orders"] for side in SIDES] == [0, 0]


def test_solo_plays_as_parallel_does():
    solo, parallel = SoloGeoPatrol(opponent="idle", seat="bravo"), geo_patrol_v0.parallel_env(mask_in="none")
    solo.reset(seed=9)
    parallel.reset(seed=9)
    total = 0.0
    while parallel.agents:
        orders = solo.sample_action()
        observation, reward, terminated, _, info = solo.step(orders)
        observations, rewards, terminations, _, infos = parallel.step({"alpha": NOOPS, "bravo": orders})
        assert np.array_equal(observation, observations["bravo"])
        assert reward == rewards["bravo"]
        assert terminated == terminations["bravo"]
        assert all(info[key] == infos["bravo"][key] for key in INFO_KEYS)
        total += reward
    assert total == info["score"] - info["enemy_score"]


@pytest.mark.parametrize("opponent", [RandomAgent, IdleAgent])
@pytest.mark.parametrize("config", ["case1", "geo_patrol_hidden"])
def test_the_opponents_of_the_engine_play_as_their_agents_do(opponent, config):
    class Asked(opponent):
        """An agent of a user, which acts outside the engine."""

    solos = [
        SoloGeoPatrol(config, opponent=agent, seat="random", mask_in="obs", count_events=True)
        for agent in (opponent.name, Asked())
    ]
    for seed in (4, None, None):
        returned, is_over = [solo.reset(seed=seed) for solo in solos], False
        while not is_over:
            assert same(*returned)
            orders = [solo.sample_action() for solo in solos]
            assert np.array_equal(*orders)
            returned = [solo.step(orders[0]) for solo in solos]
            is_over = returned[0][2]
    assert solos[0].save() == solos[1].save()


# Sampling


def test_order_space_samples_legal_orders_by_seed():
    env = geo_patrol_v0.parallel_env()
    env.reset(seed=1)
    sampled = set()
    for step in range(60):
        mask = env.action_masks("alpha")
        spaces = [OrderSpace(seed=step), OrderSpace(seed=step)]
        orders = [space.sample(mask) for space in spaces]
        assert np.array_equal(*orders)
        assert orders[0].dtype == env.action_space("alpha").dtype == np.int64
        assert mask[np.arange(11), orders[0]].all()
        assert env.action_space("alpha").contains(orders[0])
        assert np.array_equal(spaces[0].sample(tuple(mask)), spaces[1].sample(mask))
        sampled.add(orders[0].tobytes())
        env.step(env.sample_actions() if env.agents else BOTH_NOOPS)
        if not env.agents:
            env.reset()
    assert len(sampled) > 20


def test_order_space_samples_legal_orders_uniformly():
    space, mask = OrderSpace(seed=1), np.zeros((11, 28), np.int8)
    mask[:, [0, 3, 27]] = 1
    sampled = np.array([space.sample(mask) for _ in range(3000)])
    codes, counts = np.unique(sampled, return_counts=True)
    assert codes.tolist() == [0, 3, 27]
    assert counts / sampled.size == pytest.approx([1 / 3] * 3, abs=0.01)
    assert abs(np.corrcoef(sampled.T) - np.eye(11)).max() < 0.1
    assert set(np.unique(OrderSpace(seed=1).sample(np.zeros((11, 28))))) == {0}


@pytest.mark.parametrize("preset", ["case3", "od2d", "geo_patrol_hidden"])
def test_sampled_actions_are_legal_and_do_not_use_the_random_stream_of_the_game(preset):
    env = geo_patrol_v0.parallel_env(config=preset)
    env.reset(seed=6)
    while env.agents:
        before = env.save()["games"]
        orders = env.sample_actions()
        assert env.save()["games"] == before
        for side in SIDES:
            mask = env.action_masks(side)
            assert (mask.shape, mask.dtype) == ((11, 28), np.int8)
            assert mask[np.arange(11), orders[side]].all()
        *_, infos = env.step(orders)
        assert infos["alpha"]["illegal_orders"] == infos["bravo"]["illegal_orders"] == 0


# AEC


def test_aec_does_not_keep_the_array_of_alphas_orders():
    env, twin, orders = geo_patrol_v0.raw_env(), geo_patrol_v0.raw_env(), np.array([3] * 11)
    for one in (env, twin):
        one.reset(seed=1)
    env.step(orders)
    orders[:] = 0
    env.step(orders)
    twin.step(np.array([3] * 11))
    twin.step(NOOPS)
    assert env.unwrapped.game() == twin.unwrapped.game()


def test_aec_hides_the_orders_of_alpha_from_bravo():
    env = geo_patrol_v0.env()
    env.reset(seed=1)
    unordered = {side: env.observe(side) for side in SIDES}
    assert env.agent_selection == "alpha"
    env.step(np.array([3] * 11))
    assert env.agent_selection == "bravo"
    assert same({side: env.observe(side) for side in SIDES}, unordered)
    assert same(env.last()[0], unordered["bravo"])
    assert env.last()[1:4] == (0.0, False, False)
    env.step(NOOPS)
    assert not same(env.observe("bravo"), unordered["bravo"])


def test_aec_plays_as_parallel_does():
    aec, parallel = geo_patrol_v0.env(config="case2"), geo_patrol_v0.parallel_env(config="case2")
    aec.reset(seed=4)
    parallel.reset(seed=4)
    totals = dict.fromkeys(SIDES, 0.0)
    while parallel.agents:
        orders = parallel.sample_actions()
        observations, rewards, terminations, _, infos = parallel.step(orders)
        for side in SIDES:
            assert aec.agent_selection == side
            aec.step(orders[side])
        assert same({side: aec.observe(side) for side in SIDES}, observations)
        assert same(aec.rewards, rewards)
        assert same(aec.infos, infos)
        assert aec.terminations == terminations
        totals = {side: totals[side] + aec.rewards[side] for side in SIDES}
    for side in SIDES:
        assert aec.agent_selection == side
        aec.step(None)
    assert aec.agents == []
    scores = parallel.game().scores
    assert totals["alpha"] == scores["alpha"] - scores["bravo"] == -totals["bravo"]


# Rendering


@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, geo_patrol_v0.raw_env, SoloGeoPatrol])
def test_ansi_is_the_position_as_text(make):
    env = make(render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == str(env.game())
    assert "GEO Patrol | turn 1, movement" in env.render()
    env = make()
    env.reset(seed=1)
    assert env.render() is None
