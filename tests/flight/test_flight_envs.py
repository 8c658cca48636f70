"""The environments of the flight games follow Gymnasium's API, and behave as documented."""

import copy
import pickle
import random
import re

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import ConfigError, OrderError
from geo_patrol.config.toml_files import write_toml
from geo_patrol.flight import ENDINGS, Flight, load_mission, observation_names, rank, solve
from geo_patrol.flight.envs import PlanetaryProbe, SpaceshipCommander
from tests.flight.ships import mission, missions

IDS = {"GeoPatrol/PlanetaryProbe-v0": PlanetaryProbe, "GeoPatrol/SpaceshipCommander-v0": SpaceshipCommander}
OPTIONS = [
    {},
    {"mission": "random"},
    {"mask_in": "obs"},
    {"mask_in": "none", "reward": "rank"},
    {"mission": "random", "mask_in": "obs", "reward": "score"},
]
KEYS = {"illegal_orders", "score", "turn", "ending", "success"}

every_id = pytest.mark.parametrize("name", IDS)
every_option = pytest.mark.parametrize("options", OPTIONS, ids=str)


@every_id
@every_option
def test_gymnasium_check(name, options):
    check_env(gymnasium.make(name, **options).unwrapped, skip_render_check=True)


@every_id
def test_made_by_id(name):
    env = gymnasium.make(name)
    assert isinstance(env.unwrapped, IDS[name])
    assert env.action_space.n == (24 if "Probe" in name else 33)
    assert gymnasium.make(name, overrides={"home": "F22"}).unwrapped.mission.home == "F22"


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return type(one) is type(other) and one == other


def roll_out(env, seed, steps=100):
    env.action_space.seed(seed)
    seen = [env.reset(seed=seed)]
    for _ in range(steps):
        seen.append(env.step(env.unwrapped.sample_action()))
        if seen[-1][2] or seen[-1][3]:
            seen.append(env.reset())
    return seen


@pytest.mark.slow
@every_id
@every_option
def test_same_seed_same_roll_out(name, options):
    first, second, other = (
        roll_out(gymnasium.make(name, **options, disable_env_checker=True), seed) for seed in (3, 3, 4)
    )
    assert same(first, second)
    assert not same(first, other)


@every_id
def test_seeds_determine_random_missions(name):
    env = gymnasium.make(name, mission="random").unwrapped
    with pytest.raises(RuntimeError, match="random and has not been sampled"):
        _ = env.mission
    sampled = []
    for seed in (1, None, 2, 1, None):
        env.reset(seed=seed)
        sampled.append(env.mission)
    assert sampled[0] == sampled[3]
    assert sampled[1] == sampled[4]
    assert len({str(mission) for mission in sampled}) == 3


@every_id
@every_option
def test_masks_and_infos(name, options):
    env = gymnasium.make(name, **options).unwrapped
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    over = False
    for _ in range(60):
        masks = env.action_masks()
        assert masks.dtype == np.bool_
        assert masks.shape == (env.action_space.n,)
        assert set(info) == KEYS | ({"action_mask"} if env.mask_in == "info" else set())
        held = {"info": info, "obs": observation if env.mask_in == "obs" else {}, "none": {}}[env.mask_in]
        if env.mask_in != "none":
            assert held["action_mask"].dtype == np.int8
            assert (held["action_mask"] == masks).all()
        assert env.observation_space.contains(observation)
        flight = env.flight()
        assert (info["score"], info["turn"], info["success"]) == (flight.score, flight.turn, int(flight.is_success))
        assert ENDINGS[info["ending"]] == flight.ending
        legal = flight.action_mask()[-env.action_space.n :]
        if over:
            assert masks.tolist() == [True] + [False] * (env.action_space.n - 1)
            observation, info = env.reset()
            over = False
            continue
        assert (legal == masks).all()
        observation, reward, over, truncated, info = env.step(env.sample_action())
        assert info["illegal_orders"] == 0
        assert isinstance(reward, float)
        assert not truncated


@pytest.mark.parametrize("mission", ["sample", "grand_tour", "base_camp", "random"])
@pytest.mark.parametrize("reward", ["score", "auto"])
def test_rewards_sum_to_the_score(mission, reward):
    env = SpaceshipCommander(mission, reward=reward)
    env.action_space.seed(1)
    for seed in range(20):
        env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            _, gained, over, _, info = env.step(env.sample_action())
            total += gained
        if reward == "score" or not env.mission.race:
            assert total == info["score"]


@settings(max_examples=30)
@given(missions(turns=(1, 20)), st.integers(0, 2**32))
def test_rank_rewards_order_flights_as_the_rules_do(loaded, seed):
    env = (PlanetaryProbe if loaded.is_probe else SpaceshipCommander)(loaded, reward="rank")
    env.action_space.seed(seed)
    flown = []
    for _ in range(8):
        env.reset()
        total, over = 0.0, False
        while not over:
            _, gained, over, *_ = env.step(env.sample_action())
            total += gained
        flown.append((round(total, 6), env.flight()))
    for one, first in flown:
        for other, second in flown:
            assert (one > other) == (rank(first) > rank(second))


def test_reward_of_a_race_counts_turns():
    env = SpaceshipCommander("docking_race")
    orders = solve("docking_race").flight.order_codes
    env.reset()
    rewards = [env.step(order)[1] for order in orders]
    assert sum(rewards) == pytest.approx(-6 + 4 / 1000)
    env.reset()
    _, reward, is_over, _, _ = env.step(env.sample_action())
    rewards = [reward]
    while not is_over:
        _, reward, is_over, _, _ = env.step(1)
        rewards.append(reward)
    assert sum(rewards) == pytest.approx(-21 + env.flight().score / 1000)


@every_id
def test_illegal_actions_are_replaced_and_counted(name):
    game = "planetary_probe" if "Probe" in name else "spaceship_commander"
    env = IDS[name](mission({"B2": "weak", "F22": "weak"}, home="B2", game=game))
    _, info = env.reset()
    assert info["action_mask"][0] == 0  # straight up is off the map
    action = 0
    _, _, _, _, info = env.step(action)
    assert info["illegal_orders"] == 1
    assert env.flight().turns[0].order == "launch A5"  # the first legal one
    if name.endswith("Commander-v0"):
        *_, info = env.step(20)  # no launch in flight: it coasts
        assert (info["illegal_orders"], env.flight().turns[1].order) == (1, "coast")
        _, info = env.reset()
        assert info["illegal_orders"] == 0


@pytest.mark.parametrize(
    "action", [-1, 33, 1.5, "coast", None, [1, 2], True, float("nan"), np.array([3, 4]), np.array([9])]
)
def test_wrong_actions_raise_and_change_nothing(action):
    env = SpaceshipCommander()
    env.reset()
    with pytest.raises(OrderError, match="must be an integer from 0 to 32"):
        env.step(action)
    assert env.flight().turn == 0


@pytest.mark.parametrize("action", [9, np.int64(9), np.array(9), np.uint8(9)])
def test_actions_of_all_whole_types(action):
    env = SpaceshipCommander()
    env.reset()
    env.step(action)
    assert env.flight().turn == 1


@every_id
def test_stepping_before_or_after_the_flight(name):
    env = IDS[name]()
    for call in (env.flight, env.action_masks, env.sample_action, lambda: env.step(0)):
        with pytest.raises(RuntimeError, match="call reset"):
            call()
    env.reset()
    over = False
    while not over:
        _, _, over, *_ = env.step(env.sample_action())
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("x", "options must be a dict, such as {'mission': ..}, got 'x'"),
        (
            {"mision": "courier"},
            "there is no option 'mision' of reset; did you mean 'mission'?; there are mission",
        ),
    ],
)
def test_wrong_options_change_nothing(options, message):
    env = SpaceshipCommander("random")
    env.reset(seed=1)
    before = str(env.flight())
    with pytest.raises(ValueError, match=re.escape(message)):
        env.reset(seed=2, options=options)
    assert str(env.flight()) == before


def test_options_choose_the_mission_of_one_reset():
    env = SpaceshipCommander("sample")
    env.reset(options={"mission": "courier"})
    assert env.mission == load_mission("courier")
    env.reset()
    assert env.mission == load_mission("sample")
    env.reset(seed=1, options={"mission": "random"})
    assert env.mission.title == "Random mission"
    with pytest.raises(ConfigError, match="must be 'spaceship_commander'"):
        env.reset(options={"mission": "sample_probe"})
    with pytest.raises(ConfigError, match="there is no mission 'lost'"):
        env.reset(options={"mission": "lost"})
    assert env.mission.title == "Random mission"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mission": "sample_probe"}, "must be 'spaceship_commander'"),
        ({"mask_in": "there"}, "mask_in must be 'info' or 'obs' or 'none', got 'there'"),
        ({"reward": "points"}, "reward must be 'auto' or 'score' or 'rank', got 'points'"),
        ({"render_mode": "video"}, "render_mode must be 'human' or 'rgb_array' or 'ansi', got 'video'"),
        ({"overrides": {"turns": 99}}, "turns must be an integer from 1 to 40, got 99"),
        (
            {"mission": "random", "overrides": {"turns": 9}},
            "overrides must be None with random missions, which they could make unsolvable, got {'turns': 9}",
        ),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        SpaceshipCommander(**arguments)


@every_id
def test_copies_fly_the_mission_that_the_environment_was_made_with(name, tmp_path):
    path, data = tmp_path / "mission.toml", IDS[name]().mission.to_dict()
    path.write_text(write_toml(data))
    overrides, texts = {"turns": 7, "title": "Mine"}, ["turns=7", "title=Mine"]
    made = [IDS[name](data, overrides=overrides), IDS[name](str(path), overrides=texts), IDS[name](overrides=overrides)]
    data["turns"] = overrides["turns"] = 9
    texts[:] = ["turns=9"]
    path.unlink()
    for env in made:
        for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
            assert twin.mission == env.mission
            assert (twin.mission.turns, twin.mission.title) == (7, "Mine")
            for each in (env, twin):  # missions of a reset get the overrides as well
                each.reset(options={"mission": IDS[name]().mission})
            assert twin.mission == env.mission
            assert twin.mission.turns == 7
    again = copy.deepcopy(IDS[name]("random"))
    again.reset(seed=3)
    first = again.mission
    again.reset()
    assert again.mission != first


@every_id
def test_a_sampled_action_is_legal_after_the_end(name):
    env = IDS[name]()
    for seed in range(3):
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, over, *_ = env.step(env.sample_action())
        for _ in range(3):
            action = env.sample_action()
            assert env.action_space.contains(action)
            assert env.action_masks()[action]


@every_id
@pytest.mark.parametrize(
    "action", [True, np.True_, np.array(True), 1.0, 0.5, np.float32(1), float("nan"), "1", None, -1, 33, [1], 1 << 70]
)
def test_actions_that_are_no_codes_are_refused(name, action):
    env = IDS[name]()
    env.reset(seed=1)
    with pytest.raises(OrderError, match="action must be an integer from 0 to"):
        env.step(action)


@every_id
def test_copies_change_a_mission_once_by_relative_values(name):
    env = IDS[name](overrides={"turns": "+2"})
    expected = IDS[name]().mission.turns + 2
    twin = copy.deepcopy(pickle.loads(pickle.dumps(env)))
    assert (env.mission.turns, twin.mission.turns) == (expected, expected)
    for each in (env, twin):
        each.reset(options={"mission": {**IDS[name]().mission.to_dict(), "turns": 9}})
        assert each.mission.turns == 11


@every_id
def test_pickled_and_copied_environments_have_the_same_arguments(name):
    env = IDS[name](overrides={"turns": 7}, mask_in="obs")
    env.reset(seed=1)
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert twin.mission == env.mission
        assert twin.mask_in == "obs"
        assert same(twin.reset(seed=1), env.reset(seed=1))
    pickle.loads(pickle.dumps(gymnasium.make(name, mission="random")))


def test_returned_arrays_are_never_reused():
    env = SpaceshipCommander()
    first, info = env.reset()
    before, mask = first.copy(), info["action_mask"].copy()
    env.step(9)
    assert (first == before).all()
    assert (info["action_mask"] == mask).all()


# Observations


def test_observations_are_documented_index_by_index():
    names = observation_names()
    space = SpaceshipCommander().observation_space
    assert len(names) == len(set(names)) == space.shape[0] == 182
    observation, _ = SpaceshipCommander("courier").reset()
    shown = dict(zip(names, observation.tolist(), strict=True))
    assert shown["on the pad"] == shown["race"] == shown["advanced rules"] == 1
    assert shown["turns left / 40"] == pytest.approx(35 / 40)
    assert shown["fuel left / 100"] == pytest.approx(0.31)
    assert (shown["planet 0: to the right / 10"], shown["planet 0: down / 10"]) == (0, 0)
    assert (shown["planet 1: to the right / 10"], shown["planet 1: down / 10"]) == pytest.approx((-0.8, 0.1))
    assert (shown["planet 1: strong gravity"], shown["planet 1: must be surveyed"]) == (1, 1)
    assert (shown["planet 2: must be landed on"], shown["planet 2: can be landed on"]) == (1, 1)
    assert shown["planet 0: landing on it ends the game"] == 1
    assert shown["planet 3: there is one"] == 0
    assert (shown["station 0: there is one"], shown["station 0: to the right / 10"]) == pytest.approx((1, 0.4))


def test_observations_follow_the_flight():
    env = SpaceshipCommander("sample")
    env.reset()
    names = observation_names()
    for order in (28, 0, 0):
        observation, *_ = env.step(order)
    shown = dict(zip(names, observation.tolist(), strict=True))
    assert (shown["flying"], shown["score / 100"], shown["turns flown / 40"]) == pytest.approx((1, 0.06, 3 / 40))
    assert (shown["move to the right / 10"], shown["move down / 10"]) == pytest.approx((-0.3, 0))
    assert (shown["gravity to the right after coasting"], shown["gravity down after coasting"]) == (1, 1)
    assert (shown["planet 1: explored"], shown["planet 1: part of its survey points"]) == pytest.approx((1, 0.2))
    assert (shown["grids to the left edge / 10"], shown["grids to the bottom edge / 10"]) == pytest.approx((0.6, 0.6))


@settings(max_examples=40)
@given(missions(turns=(1, 40), columns=(8, 40), rows=(8, 26), planets=10), st.integers(0, 2**32))
def test_observations_stay_within_their_bounds(loaded, seed):
    env = (PlanetaryProbe if loaded.is_probe else SpaceshipCommander)(loaded)
    rng = random.Random(seed)
    observation, info = env.reset()
    over = False
    while True:
        assert env.observation_space.contains(observation)
        if over:
            break
        observation, _, over, _, info = env.step(int(rng.choice(info["action_mask"].nonzero()[0])))


def test_environment_flies_as_a_flight_does():
    orders = {0: 28, 6: 4, 13: 5}
    env = SpaceshipCommander("sample")
    env.reset()
    for turn in range(15):
        *_, info = env.step(orders.get(turn, 0))
    assert info["score"] == 21
    assert env.flight() == Flight.from_orders("sample", [orders.get(turn, 0) for turn in range(15)])
    probe = PlanetaryProbe()
    probe.reset()
    _, reward, over, _, info = probe.step(28 - 9)
    assert (reward, over, info["turn"]) == (8.0, True, 8)


def test_vector_environments():
    envs = gymnasium.make_vec(
        "GeoPatrol/SpaceshipCommander-v0", num_envs=3, vectorization_mode="sync", mission="random"
    )
    envs.reset(seed=1)
    for _ in range(30):
        envs.step(np.array([env.unwrapped.sample_action() for env in envs.envs]))
    envs.close()
