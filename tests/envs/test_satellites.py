"""One agent for each satellite: PettingZoo's suite, the same games as those of sides, and thousands at once."""

import re
import warnings

import gymnasium
import numpy as np
import pytest

from geo_patrol import Game, geo_patrol_satellites_v0, geo_patrol_v0, make_vec, observation_names
from geo_patrol.base.sides import SIDES
from geo_patrol.envs.vector import VectorSatellites
from tests.envs.vector_reference import assert_same

with warnings.catch_warnings():  # PettingZoo's tests import one of its own environments in a deprecated way
    warnings.filterwarnings("ignore", "The old environment creation API has been deprecated", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test

OPTIONS = [
    {},
    {"observation": "tokens"},
    {"mask_in": "info"},
    {"mask_in": "none", "reward": "outcome"},
    {"config": "duel", "max_cycles": 9},
    {"config": "od2d", "observation": "tokens", "mask_in": "none"},
    {"view": "own"},
    {"view": "own", "observation": "tokens", "fleet": "in_range"},
    {"view": "own", "config": "geo_patrol_hidden", "mask_in": "info"},
    {"view": "own", "config": "duel", "mask_in": "none", "sensor_range": 1, "max_cycles": 9},
]
ATTACK = {"overrides": {"both.odds.shoot": [1.0, 1.0]}}
ENCODINGS = ["onehot", "tokens"]


def make(**options):
    return geo_patrol_satellites_v0.parallel_env(**options)


def side_of(agent):
    side, number = agent.split("_")
    return side, int(number)


def by_satellite(orders, agents):
    return {agent: orders[side_of(agent)[0]][side_of(agent)[1]] for agent in agents}


def shooting(env):
    """Return orders that shoot where a satellite can, and move towards the enemy's goal or at random otherwise."""
    orders = env.sample_actions()
    for agent in env.agents:
        shots = np.flatnonzero(env.action_masks(agent)[5:16])
        if len(shots) > 0:
            orders[agent] = 5 + int(shots[-1])
    return orders


def whole_games(env, seeds):
    for seed in seeds:
        step = (*env.reset(seed=seed), {})
        while env.agents:
            before = env.agents
            step = env.step(shooting(env))
            yield before, step


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_conformance(options, capsys):
    parallel_api_test(make(**options), num_cycles=150)
    parallel_seed_test(lambda: make(**options), num_cycles=50)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation", UserWarning, r"pettingzoo\.test\.api_test")  # they are dicts
        api_test(geo_patrol_satellites_v0.env(**options), num_cycles=150)


@pytest.mark.parametrize("preset", ["case3", "od2d", "generalization/train", "geo_patrol_hidden"])
def test_the_games_are_those_of_sides(preset):
    env, sides = (kind(config=preset, count_events=True) for kind in (make, geo_patrol_v0.parallel_env))
    env.reset(seed=3)
    sides.reset(seed=3)
    while env.agents:
        orders = sides.sample_actions()
        _, rewards, _, _, infos = env.step(by_satellite(orders, env.agents))
        _, expected, _, _, expected_infos = sides.step(orders)
        assert env.game() == sides.game()
        assert rewards == {agent: expected[side_of(agent)[0]] for agent in rewards}
        assert infos == {agent: expected_infos[side_of(agent)[0]] for agent in infos}
        assert np.array_equal(env.state(), sides.state())
    assert sides.agents == []


def test_agents_are_the_satellites_that_the_sides_have():
    env = make(config="duel")
    fleets = {side: len(Game("duel").satellites(side)) for side in SIDES}
    assert env.possible_agents == [f"{side}_{number}" for side in SIDES for number in range(fleets[side])]
    env.reset(seed=1)
    assert env.agents == env.possible_agents
    randomized = make(config="case1", overrides={"bravo.patrols.count": {"low": 2, "high": 4}})
    counts = set()
    for seed in range(12):
        randomized.reset(seed=seed)
        counts.add(sum(agent.startswith("bravo") for agent in randomized.agents))
        assert set(randomized.agents) <= set(randomized.possible_agents)
    assert counts == {3, 4, 5}


def test_destroyed_satellites_are_terminated_once_and_leave():
    env, left = make(**ATTACK), 0
    for before, (observations, rewards, terminations, truncations, infos) in whole_games(env, range(6)):
        for values in (observations, rewards, terminations, truncations, infos):
            assert list(values) == before
        destroyed = {
            f"{side}_{satellite.id.number}"
            for side in SIDES
            for satellite in env.game().satellites(side)
            if satellite.destroyed
        }
        assert not any(truncations.values())
        if env.agents:
            left += sum(terminations.values())
            assert {agent for agent in before if terminations[agent]} == destroyed & set(before)
            assert env.agents == [agent for agent in before if agent not in destroyed]
        else:
            assert all(terminations.values())
    assert left > 10
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_a_truncated_game_truncates_those_that_are_left():
    env = make(config="case1", max_cycles=2)
    env.reset(seed=1)
    env.step(env.sample_actions())
    _, _, terminations, truncations, _ = env.step(env.sample_actions())
    assert env.agents == []
    assert all(truncations.values())
    assert not any(terminations.values())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_observation_is_the_number_the_own_features_and_the_view_of_the_side(encoding):
    env, sides = make(observation=encoding), geo_patrol_v0.parallel_env(observation=encoding)
    sides.reset(seed=4)
    observations, _ = env.reset(seed=4)
    names = observation_names(encoding)
    names = names[: names.index("movement_phase")]  # after those of satellites
    numbers = 11 if encoding == "onehot" else 1
    while env.agents:
        orders = sides.sample_actions()
        observations, *_ = env.step(by_satellite(orders, env.agents))
        teams, *_ = sides.step(orders)
        for agent, observation in observations.items():
            side, number = side_of(agent)
            team = teams[side]["observation"]
            prefix = "own_hva_" if number == 0 else f"own_patrol_{number}_"
            own = team[[i for i, name in enumerate(names) if name.startswith(prefix)]]
            index = np.eye(11)[number] if encoding == "onehot" else [number]
            assert np.array_equal(observation["observation"][:numbers], index)
            assert np.array_equal(observation["observation"][numbers : numbers + len(own)], own)
            assert np.array_equal(observation["observation"][numbers + len(own) :], team)
            assert np.array_equal(observation["action_mask"], teams[side]["action_mask"][number])
            assert env.observation_space(agent).contains(observation)


def test_sampled_actions_are_legal():
    env = make(config="case2", mask_in="info")
    _, infos = env.reset(seed=2)
    while env.agents:
        orders = env.sample_actions()
        assert list(orders) == env.agents
        assert all(infos[agent]["action_mask"][order] for agent, order in orders.items())
        assert all(np.array_equal(env.action_masks(agent), infos[agent]["action_mask"]) for agent in env.agents)
        _, _, _, _, infos = env.step(orders)
        assert all(info["illegal_orders"] == 0 for info in infos.values())


def test_save_and_restore_in_the_middle_of_a_game():
    env, twin = make(**ATTACK), make(**ATTACK)
    env.reset(seed=1)
    while len(env.agents) == 22:
        env.step(shooting(env))
    twin.restore(env.save())
    assert twin.agents == env.agents
    orders = shooting(env)
    assert env.step(orders)[1:] == twin.step(orders)[1:]
    assert env.game() == twin.game()


NOOPS = dict.fromkeys([f"{side}_{number}" for side in SIDES for number in range(11)], 0)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (None, "actions must be a dict with an order for each of agents, got None"),
        ({}, "actions must have an order for each of agents: alpha_0 has none"),
        (NOOPS | {"alpha_11": 0}, "actions has an order for 'alpha_11', which is not among agents"),
        (NOOPS | {"alpha_3": 0.0}, "action of alpha_3 must be an integer, an order code, got 0.0"),
        (NOOPS | {"alpha_3": True}, "action of alpha_3 must be an integer, an order code, got True"),
        (NOOPS | {"alpha_3": [0]}, "action of alpha_3 must be an integer, an order code, got [0]"),
    ],
)
def test_invalid_actions(actions, message):
    env = make()
    env.reset(seed=5)
    before = env.save()
    with pytest.raises(ValueError, match=re.escape(message)):
        env.step(actions)
    assert env.save() == before


@pytest.mark.parametrize("code", [-1, 28, 2**70, np.uint64(2**64 - 1)])
def test_codes_out_of_range_count_as_illegal(code):
    env = make()
    env.reset(seed=5)
    infos = env.step(NOOPS | {"bravo_4": code})[4]
    assert infos["bravo_0"]["illegal_orders"] == 1
    assert infos["alpha_0"]["illegal_orders"] == 0


def test_step_before_reset():
    with pytest.raises(RuntimeError, match="reset must be called first"):
        make().step(NOOPS)


# Thousands of games


def test_the_names_of_arguments():
    made = gymnasium.make_vec("GeoPatrol/Case1-v0", num_envs=3, opponent="scripted", agents="satellites")
    assert isinstance(made.unwrapped, VectorSatellites)
    with pytest.raises(ValueError, match="agents must be 'sides' or 'satellites', got 'teams'"):
        make_vec(agents="teams")


@pytest.mark.parametrize("options", [{}, {"opponent": "random", "seats": "alternate", "max_cycles": 11}], ids=str)
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("mask_in", ["info", "obs"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_vector_environment_returns_what_that_of_sides_does(encoding, mask_in, mode, options):
    arguments = {"observation": encoding, "mask_in": mask_in, "autoreset": mode, **options}
    envs, sides = make_vec("case1", 3, agents="satellites", **arguments), make_vec("case1", 3, **arguments)
    returned, expected = envs.reset(seed=1), sides.reset(seed=1)
    assert envs.observation_space.contains(returned[0])
    for _ in range(45):
        final = returned[1].pop("final_obs", None), expected[1].pop("final_obs", None)
        returned[1].get("final_info", {}).pop("agents", None)
        returned[1].get("final_info", {}).pop("_agents", None)
        for got, want in ((returned[0], expected[0]), final):
            if want is not None:
                assert_same(got["team"], want["observation"] if mask_in == "obs" else want)
                assert got["own"].shape[:2] == (envs.num_envs, 11)
                assert np.shares_memory(got["own"], got["team"])
                assert got.keys() == {"own", "team"} | ({"action_mask"} if mask_in == "obs" else set())
        infos = {key: value for key, value in returned[1].items() if key not in ("agents", "_agents")}
        assert_same(infos, expected[1])
        orders = envs.sample_actions()
        assert_same(orders, sides.sample_actions())
        *step, infos = envs.step(orders)
        *expected_step, expected_infos = sides.step(orders)
        assert_same(step[1:], expected_step[1:])
        returned, expected = (step[0], infos), (expected_step[0], expected_infos)


def test_a_vector_environment_plays_the_games_of_single_environments():
    envs, singles = make_vec("geo_patrol", 2, agents="satellites", **ATTACK), [make(**ATTACK) for _ in range(2)]
    observations, infos = envs.reset(seed=6)
    seen = [single.reset(seed=6 + i)[0] for i, single in enumerate(singles)]
    lost = 0
    while all(single.agents for single in singles):
        orders = np.zeros((4, 11), np.int64)
        for i, single in enumerate(singles):
            left = [f"{side}_{j}" for k, side in enumerate(SIDES) for j in np.flatnonzero(infos["agents"][2 * i + k])]
            assert left == single.agents
            chosen = shooting(single)
            for agent in single.agents:
                side, number = side_of(agent)
                row = 2 * i + SIDES.index(side)
                parts = np.eye(11)[number], observations["own"][row, number], observations["team"][row]
                assert np.array_equal(seen[i][agent]["observation"], np.concatenate(parts))
                assert np.array_equal(seen[i][agent]["action_mask"], infos["action_mask"][row, number])
                orders[row, number] = chosen[agent]
            seen[i] = single.step(chosen)[0]
        observations, _, _, _, infos = envs.step(orders)
        lost += 22 - len(singles[0].agents)
    assert lost > 0


@pytest.mark.parametrize("options", [{}, {"opponent": "random", "seats": "alternate"}], ids=str)
def test_final_infos_say_who_was_left(options):
    envs = make_vec(
        "geo_patrol", 8, agents="satellites", autoreset="same_step", observation="tokens", **ATTACK, **options
    )
    _, infos = envs.reset(seed=2)
    finished, left = 0, 0
    for _ in range(60):
        orders = np.where(infos["action_mask"][:, :, 5:16].any(-1), 5 + infos["action_mask"][:, :, 5:16].argmax(-1), 0)
        moves = envs.sample_actions()
        _, _, _, _, infos = envs.step(np.where(orders > 0, orders, moves))
        rows = infos["_finished_episode"]
        assert infos["agents"][rows].all()
        assert not infos["final_info"]["agents"][~rows].any()
        finished += rows.sum()
        left += infos["final_info"]["agents"][rows].sum()
        assert np.array_equal(infos["final_info"]["_agents"], rows)
    assert 0 < left < 11 * finished
