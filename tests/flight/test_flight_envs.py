"""The environments of the flight games follow Gymnasium's API, and behave as documented."""

import copy
import pickle
import random
import re

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import OrderError
from geo_patrol.config.toml_files import write_toml
from geo_patrol.flight import ENDINGS, Flight, load_mission, observation_names, rank
from geo_patrol.flight.envs import PlanetaryProbe, SpaceshipCommander
from tests.flight.ships import BEST, mission, missions

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


def roll_out(env, seed):
    env.action_space.seed(seed)
    seen = [env.reset(seed=seed)]
    for _ in range(6 if env.unwrapped.mission.title == "Random mission" else 60):  # these take long to sample
        seen.append(env.step(env.unwrapped.sample_action()))
        if seen[-1][2] or seen[-1][3]:
            seen.append(env.reset())
    return seen


@every_id
@every_option
def test_same_seed_same_roll_out(name, options):
    first, second, other = (
        roll_out(gymnasium.make(name, **options, disable_env_checker=True), seed) for seed in (3, 3, 4)
    )
    assert data_equivalence(first, second)
    assert not data_equivalence(first, other)


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
    for _ in range(60):
        flight, masks = env.flight(), env.action_masks()
        assert (masks.dtype, masks.shape) == (np.bool_, (env.action_space.n,))
        assert set(info) == KEYS | ({"action_mask"} if env.mask_in == "info" else set())
        if env.mask_in != "none":
            held = (info if env.mask_in == "info" else observation)["action_mask"]
            assert held.dtype == np.int8
            assert (held == masks).all()
        assert env.observation_space.contains(observation)
        assert (info["score"], info["turn"], info["success"]) == (flight.score, flight.turn, int(flight.is_success))
        assert ENDINGS[info["ending"]] == flight.ending
        if flight.is_over:
            assert masks.tolist() == [True] + [False] * (env.action_space.n - 1)
            observation, info = env.reset()
            continue
        assert (flight.action_mask()[-env.action_space.n :] == masks).all()
        observation, reward, _, truncated, info = env.step(env.sample_action())
        assert (info["illegal_orders"], type(reward), truncated) == (0, float, False)


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


@pytest.mark.parametrize(("orders", "turns"), [(BEST["docking_race"]["orders"], 6), (["launch C4"], 21)])
def test_reward_of_a_race_counts_turns(orders, turns):
    env = SpaceshipCommander("docking_race")
    env.reset()
    codes, total, is_over = Flight.from_orders("docking_race", orders).order_codes, 0.0, False
    while not is_over:
        _, reward, is_over, _, _ = env.step(codes.pop(0) if codes else 1)
        total += reward
    assert total == pytest.approx(-turns + env.flight().score / 1000)


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


@every_id
@pytest.mark.parametrize(
    "action", [True, np.array(True), 1.0, float("nan"), "1", None, -1, 33, [1], np.array([9]), 1 << 70], ids=str
)
def test_actions_that_are_no_codes_change_nothing(name, action):
    env = IDS[name]()
    env.reset()
    with pytest.raises(OrderError, match="action must be an integer from 0 to"):
        env.step(action)
    assert env.flight().turn == 0


@pytest.mark.parametrize("action", [9, np.int64(9), np.array(9), np.uint8(9)])
def test_actions_of_all_whole_types(action):
    env = SpaceshipCommander()
    env.reset()
    env.step(action)
    assert env.flight().turn == 1


@every_id
def test_before_and_after_a_flight(name):
    env = IDS[name]()
    for call in (env.flight, env.action_masks, env.sample_action, lambda: env.step(0)):
        with pytest.raises(RuntimeError, match="call reset"):
            call()
    env.reset()
    over = False
    while not over:
        _, _, over, *_ = env.step(env.sample_action())
    action = env.sample_action()
    assert env.action_space.contains(action)
    assert env.action_masks()[action]
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("x", "options must be a dict, such as {'mission': ..}, got 'x'"),
        ({"mision": "courier"}, "there is no option 'mision' of reset; did you mean 'mission'?; there are mission"),
        ({"mission": "sample_probe"}, "must be 'spaceship_commander'"),
        ({"mission": "lost"}, "there is no mission 'lost'"),
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mission": "sample_probe"}, "must be 'spaceship_commander'"),
        ({"mask_in": "there"}, "mask_in must be 'info' or 'obs' or 'none', got 'there'"),
        ({"reward": "points"}, "reward must be 'auto' or 'score' or 'rank', got 'points'"),
        ({"render_mode": "video"}, "render_mode must be 'human' or 'rgb_array' or 'ansi', got 'video'"),
        ({"overrides": {"turns": 99}}, "turns must be an integer from 1 to 40, got 99"),
        ({"mission": "random", "overrides": {"turns": 9}}, "overrides must be None with random missions"),
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
def test_copies_play_the_same(name):
    for arguments in ({"overrides": {"turns": 7}, "mask_in": "obs"}, {"mission": "random"}):
        env = gymnasium.make(name, **arguments)
        expected = roll_out(copy.deepcopy(env), 1)
        for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env):
            assert data_equivalence(roll_out(twin, 1), expected)


def test_returned_arrays_are_never_reused():
    env = SpaceshipCommander()
    first, info = env.reset()
    before, mask = first.copy(), info["action_mask"].copy()
    env.step(9)
    assert (first == before).all()
    assert (info["action_mask"] == mask).all()


# Observations


def shown(observation):
    return dict(zip(observation_names(), observation.tolist(), strict=True))


def test_observations_are_documented_index_by_index():
    names = observation_names()
    assert len(names) == len(set(names)) == SpaceshipCommander().observation_space.shape[0] == 182
    assert [names[index].split(":")[0] for index in (8, 21, 22, 35, 152)] == [
        "gravity to the right after coasting", "score / 100", "planet 0", "planet 1", "station 0",
    ]  # fmt: skip
    values = {
        "on the pad": 1, "race": 1, "advanced rules": 1, "turns left / 40": 35 / 40, "fuel left / 100": 0.31,
        "planet 0: to the right / 10": 0, "planet 0: down / 10": 0, "planet 0: landing on it ends the game": 1,
        "planet 1: to the right / 10": -0.8, "planet 1: down / 10": 0.1,
        "planet 1: strong gravity": 1, "planet 1: must be surveyed": 1,
        "planet 2: must be landed on": 1, "planet 2: can be landed on": 1, "planet 3: there is one": 0,
        "station 0: there is one": 1, "station 0: to the right / 10": 0.4,
    }  # fmt: skip
    observation = shown(SpaceshipCommander("courier").reset()[0])
    assert {name: observation[name] for name in values} == pytest.approx(values)


def test_observations_follow_the_flight():
    env = SpaceshipCommander("sample")
    env.reset()
    for order in (28, 0, 0):
        observation, *_ = env.step(order)
    values = {
        "flying": 1, "score / 100": 0.06, "turns flown / 40": 3 / 40,
        "move to the right / 10": -0.3, "move down / 10": 0,
        "gravity to the right after coasting": 1, "gravity down after coasting": 1,
        "planet 1: explored": 1, "planet 1: part of its survey points": 0.2,
        "grids to the left edge / 10": 0.6, "grids to the bottom edge / 10": 0.6,
    }  # fmt: skip
    assert {name: shown(observation)[name] for name in values} == pytest.approx(values)


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
    orders = [{0: 28, 6: 4, 13: 5}.get(turn, 0) for turn in range(15)]
    env = SpaceshipCommander("sample")
    env.reset()
    for order in orders:
        *_, info = env.step(order)
    assert info["score"] == 21
    assert env.flight() == Flight.from_orders("sample", orders)
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
