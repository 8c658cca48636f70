"""Infos that count the shots, the hits and the losses of a phase, with ``count_events``."""

import json
import pickle

import gymnasium
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


def test_events_are_saved():
    env, other = (geo_patrol_v0.parallel_env(config="case1", count_events=True) for _ in range(2))
    env.reset(seed=1)
    total = 0
    while env.agents:
        env.step(env.sample_actions())
        other.restore(json.loads(json.dumps(env.save())))
        assert other.view()[1] == env.view()[1]
        total += env.view()[1]["alpha"]["losses"]
    assert total > 0


def test_saves_of_an_environment_that_counts_no_events_have_none():
    env, other = (make_vec("case1", 4, count_events=counts) for counts in (True, False))
    env.reset(seed=1)
    while not env.step(env.sample_actions())[4]["losses"].any():
        pass
    other.restore(env.save())
    env.restore(other.save())
    assert not any(env.view()[1][name].any() for name in NONE)


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_environments_by_their_id_take_the_option(make):
    env = make("GeoPatrol/Case1-v0", opponent="random", count_events=True)
    assert set(NONE) <= set(env.reset(seed=0)[1])
    twin = pickle.loads(pickle.dumps(env.unwrapped))
    assert set(NONE) <= set(twin.reset(seed=0)[1])
