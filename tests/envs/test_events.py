"""Infos that count the shots, the hits and the losses of a phase, with ``count_events``."""

import json
import pickle

import gymnasium
import numpy as np
import pytest

from geo_patrol import geo_patrol_v0, make_vec
from geo_patrol.base.sides import SIDES
from geo_patrol.envs.single import SoloGeoPatrol

EVENTS = ("shots", "hits", "losses")
NONE = dict.fromkeys((*EVENTS, *(f"enemy_{name}" for name in EVENTS)), 0)


def events_in(info):
    return {name: info[name] for name in NONE}


def counted(before, after):
    """Return the events of a phase, counted from its outcomes and from the satellites."""
    own = {}
    for side in SIDES:
        shots = [o for o in after.outcomes if o.action == "shoot" and o.attacker.side == side]
        lost = [sum(satellite.destroyed for satellite in game.satellites(side)) for game in (before, after)]
        own[side] = dict(zip(EVENTS, (len(shots), sum(o.success for o in shots), lost[1] - lost[0]), strict=True))
    enemy = dict(zip(SIDES, reversed(SIDES), strict=True))
    return {side: own[side] | {f"enemy_{k}": v for k, v in own[enemy[side]].items()} for side in SIDES}


@pytest.mark.parametrize("config", ["geo_patrol", "case1", "skirmish"])
def test_events_are_those_of_the_outcomes(config):
    env = geo_patrol_v0.parallel_env(config=config, count_events=True)
    seen = dict.fromkeys(NONE, 0)
    for seed in range(5):
        _, infos = env.reset(seed=seed)
        assert [events_in(info) for info in infos.values()] == [NONE] * 2
        while env.agents:
            before = env.game()
            _, _, _, _, infos = env.step(env.sample_actions())
            expected = counted(before, env.game())
            assert {side: events_in(info) for side, info in infos.items()} == expected
            for name, count in expected["alpha"].items():
                seen[name] += count
    assert min(seen["shots"] + seen["enemy_shots"], seen["losses"], seen["enemy_losses"]) > 0


def test_events_of_one_side_against_an_agent():
    env = SoloGeoPatrol("case1", opponent="raider", seat="bravo", count_events=True)
    env.reset(seed=2)
    is_over, total = False, 0
    while not is_over:
        before = env.game()
        _, _, terminated, truncated, info = env.step(env.sample_action())
        assert events_in(info) == counted(before, env.game())["bravo"]
        total += info["losses"] + info["enemy_losses"]
        is_over = terminated or truncated
    assert total > 0


def make_env(is_vector, *, count_events=True):
    if is_vector:
        return make_vec("case1", 4, count_events=count_events)
    return geo_patrol_v0.parallel_env(config="case1", count_events=count_events)


@pytest.mark.parametrize("is_vector", [False, True])
def test_events_are_saved(is_vector):
    env, other = make_env(is_vector), make_env(is_vector)
    env.reset(seed=1)
    total = 0
    for _ in range(60):
        env.step(env.sample_actions())
        other.restore(json.loads(json.dumps(env.save())))
        ours, theirs = env.view()[1], other.view()[1]
        pairs = [(ours, theirs)] if is_vector else [(ours[side], theirs[side]) for side in ours]
        for one, two in pairs:
            assert all(np.array_equal(one[name], two[name]) for name in NONE)
            total += int(np.sum(one["losses"]))
        if not is_vector and not env.agents:
            break
    assert total > 0


@pytest.mark.parametrize("is_vector", [False, True])
def test_saves_of_an_environment_that_counts_no_events_have_none(is_vector):
    env, other = make_env(is_vector), make_env(is_vector, count_events=False)
    env.reset(seed=1)
    is_engaged = False
    while not is_engaged:
        infos = env.step(env.sample_actions())[4]
        is_engaged = any(np.any(info["losses"]) for info in ([infos] if is_vector else infos.values()))
    other.restore(env.save())
    env.restore(other.save())
    infos = env.view()[1]
    assert not any(np.any(info[name]) for info in ([infos] if is_vector else infos.values()) for name in NONE)


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_environments_by_their_id_take_the_option(make):
    env = make("GeoPatrol/Case1-v0", opponent="random", count_events=True)
    assert set(NONE) <= set(env.reset(seed=0)[1])
    twin = pickle.loads(pickle.dumps(env.unwrapped))
    assert set(NONE) <= set(twin.reset(seed=0)[1])
