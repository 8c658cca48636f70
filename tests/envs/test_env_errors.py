"""Invalid actions, arguments and saved environments, and opponents that fail: one clear message, and no side effects."""

import re

import numpy as np
import pytest
from gymnasium.vector.utils import batch_space

from geo_patrol import (
    ConfigError,
    RecordingError,
    geo_patrol_v0,
    make_vec,
)
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.envs.spaces import OrderSpace
from tests.support.damage import MISSING, damaged

NOOPS = np.zeros(11, np.int64)


def vector_env(**options):
    return make_vec("geo_patrol", np.int64(2), **options)


def both(bravo):
    return {"alpha": NOOPS, "bravo": bravo}


IDLE = {
    geo_patrol_v0.parallel_env: both(NOOPS),
    geo_patrol_v0.env: NOOPS,
    SoloGeoPatrol: NOOPS,
    vector_env: np.zeros((4, 11), np.int64),
}
"""Actions without orders, by what makes an environment."""
every_kind = pytest.mark.parametrize("make", IDLE, ids=("parallel", "aec", "solo", "vector"))


def played_env(make=geo_patrol_v0.parallel_env):
    env = make()
    env.reset(seed=5)
    env.step(IDLE[make])
    return env


OF_BOTH = "actions must be a dict with the orders of alpha and of bravo, got "
NUMBER = "action of bravo must have 11 order codes, one a satellite, got shape "
ACTIONS = [
    (None, OF_BOTH + "None"),
    ("alpha", OF_BOTH + "alpha"),
    ([NOOPS, NOOPS], OF_BOTH),
    ({"alpha": NOOPS}, OF_BOTH),
    ({"alpha": NOOPS, "bravo": NOOPS, "gamma": NOOPS}, OF_BOTH),
    (both(None), NUMBER + "()"),
    (both("P1 prograde"), NUMBER),
    (both({0: 1}), NUMBER),
    (both(np.zeros(10, int)), NUMBER + "(10,)"),
    (both(np.zeros((1, 11), int)), NUMBER + "(1, 11)"),
    (both(np.zeros(11)), "must be integers"),
    (
        both(np.full(11, np.nan)),
        "action of bravo must be integers, got [nan nan nan nan nan nan nan nan nan nan nan] of float64",
    ),
    (both(["noop"] * 11), "must be integers"),
    (both([None] * 11), "must be integers"),
    (both([10**30] * 11), "must be integers"),
    (both([True] * 11), "must be integers"),
    (both([1, [2]]), "inhomogeneous shape"),
]


@pytest.mark.parametrize(("actions", "message"), ACTIONS, ids=lambda value: str(value)[:40].replace("\n", ""))
def test_invalid_actions(actions, message):
    env = played_env()
    before, agents = env.save(), env.agents
    with pytest.raises(ValueError, match=re.escape(message)):
        env.step(actions)
    assert env.save() == before
    assert env.agents == agents


@pytest.mark.parametrize("action", [both(NOOPS)["bravo"][:10], np.full(11, 0.5), None, ["x"] * 11])
def test_invalid_actions_can_be_corrected(action):
    aec, solo = geo_patrol_v0.raw_env(), SoloGeoPatrol()
    aec.reset(seed=5)
    solo.reset(seed=5)
    for agent in ("alpha", "bravo"):
        before = aec.save()
        with pytest.raises(ValueError, match=f"action of {agent}"):
            aec.step(action)
        assert aec.save() == before
        aec.step(NOOPS)
    before = solo.save()
    with pytest.raises(ValueError, match="action of alpha"):
        solo.step(action)
    assert solo.save() == before


@pytest.mark.parametrize(
    "codes", [[2**63] * 11, np.full(11, 2**64 - 1, np.uint64), np.full(11, -128, np.int8)], ids=str
)
def test_actions_out_of_range_count_as_illegal_and_do_nothing(codes):
    env, idle = played_env(), played_env()
    _, _, _, _, infos = env.step(both(codes))
    idle.step(both(NOOPS))
    assert infos["bravo"]["illegal_orders"] == 11
    assert infos["alpha"]["illegal_orders"] == 0
    assert env.game() == idle.game()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, ">i8", list])
def test_actions_of_every_whole_type_are_accepted(kind):
    codes = [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 1]
    one, other = geo_patrol_v0.parallel_env(), geo_patrol_v0.parallel_env()
    one.reset(seed=5)
    other.reset(seed=5)
    one.step(both(np.array(codes)))
    _, _, _, _, infos = other.step(both(codes if kind is list else np.array(codes).astype(kind)))
    assert infos["bravo"]["illegal_orders"] == 0
    assert one.game() == other.game()


def test_step_before_reset():
    with pytest.raises(RuntimeError, match="reset must be called first"):
        geo_patrol_v0.parallel_env().step(both(NOOPS))
    with pytest.raises(RuntimeError, match="the game is over, or was not started: call reset"):
        SoloGeoPatrol().step(NOOPS)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        geo_patrol_v0.env().step(NOOPS)


@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, geo_patrol_v0.raw_env, SoloGeoPatrol])
def test_inspection_before_reset(make):
    env = make(render_mode="ansi")
    for call in (env.game, env.render, getattr(env, "sample_actions", env.game)):
        with pytest.raises(RuntimeError, match="reset must be called first"):
            call()


def test_step_after_the_end():
    env = geo_patrol_v0.parallel_env(max_cycles=1)
    env.reset(seed=1)
    env.step(both(NOOPS))
    before = env.save()
    assert env.step(both(NOOPS)) == ({}, {}, {}, {}, {})
    assert env.save() == before
    solo = SoloGeoPatrol(max_cycles=1)
    solo.reset(seed=1)
    solo.step(NOOPS)
    with pytest.raises(RuntimeError, match="the game is over"):
        solo.step(NOOPS)


@every_kind
def test_save_before_reset(make):
    with pytest.raises(RecordingError, match="nothing to save: reset must be called first"):
        make().save()


@pytest.mark.parametrize("shape", [(11, 27), (307,), (1, 11, 28)])
def test_mask_of_another_shape(shape):
    with pytest.raises(ValueError, match=re.escape(f"mask must have shape (11, 28), got {shape}")):
        OrderSpace().sample(np.ones(shape, np.int8))


@pytest.mark.parametrize("value", [0.99, np.nan, -1, 256, 1e300])
def test_mask_that_is_neither_0_nor_1(value):
    mask = np.ones((11, 28))
    mask[3, 4] = value
    kinds = [mask, mask.astype(np.int64), mask.astype(np.int16)] if value in (-1, 256) else [mask]
    for array in kinds:
        for space, masks in ((OrderSpace(), array), (batch_space(OrderSpace(), 2), np.stack([array, array]))):
            with pytest.raises(ValueError, match=re.escape(f"mask must be 0 or 1, got {array[3, 4].item()!r}")):
                space.sample(masks)
            with pytest.raises(ValueError, match="mask must be 0 or 1"):
                space.sample(masks.reshape(*masks.shape[:-2], 308))


def test_masks_of_other_types_than_int8():
    mask = np.zeros((11, 28), np.int8)
    mask[:, 7] = 1
    for kind in (bool, np.int64, np.float32, np.uint8):
        assert (OrderSpace().sample(mask.astype(kind)) == 7).all()
    with pytest.raises(ValueError, match="mask must be 0 or 1, got an array of <U1"):
        OrderSpace().sample(mask.astype("U1"))


ARGUMENTS = [
    ({"observation": "pixels"}, "observation must be 'onehot', 'tokens' or a geo_patrol.Observation, got 'pixels'"),
    ({"mask_in": "infos"}, "mask_in must be 'obs' or 'info' or 'none', got 'infos'"),
    ({"reward": ["score"]}, "reward must be 'score', 'outcome' or a geo_patrol.Reward, got ['score']"),
    ({"max_cycles": 0}, "max_cycles must be a positive integer or None, got 0"),
    ({"max_cycles": 1.5}, "max_cycles must be a positive integer or None, got 1.5"),
    ({"max_cycles": True}, "max_cycles must be a positive integer or None, got True"),
    ({"count_events": 1}, "count_events must be True or False, got 1"),
    ({"render_mode": "pixels"}, "or None, got 'pixels'"),
    ({"overrides": {"turn_limit": 0}}, "turn_limit must be an integer from 1 to 10000, got 0"),
]


NUMPY = {
    "max_cycles": np.int64(2),
    "count_events": np.bool_(True),
    "overrides": {"mirror": np.bool_(False), "turn_limit": np.uint8(9), "bravo.odds.shoot": np.array([0.5, 0.25])},
}


@every_kind
def test_arguments_may_be_numbers_and_truth_values_of_numpy(make):
    env = make(**NUMPY)
    env.reset(seed=np.int64(3))
    config = env.unwrapped.config
    assert (config.mirror, config.turn_limit, config.bravo.odds.shoot) == (False, 9, (0.5, 0.25))


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS, ids=str)
@every_kind
def test_argument(make, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": "gamma"}, "seat must be 'alpha' or 'bravo' or 'random', got 'gamma'"),
        ({"seat": 0}, "seat must be 'alpha' or 'bravo' or 'random', got 0"),
        ({"opponent": "randm"}, "there is no agent 'randm'; did you mean 'random'?"),
        ({"opponent": 3}, "opponent must be an agent's name or an Agent, got 3"),
        ({"opponent": None}, "opponent must be an agent's name or an Agent, got None"),
    ],
)
def test_argument_of_the_solo_environment(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SoloGeoPatrol(**arguments)


# Saved environments

SAVED = {
    geo_patrol_v0.parallel_env: [
        ("format", "x", "format must be 'geo_patrol environment', got 'x'"),
        ("version", 2, "version must be at most 1, got 2"),
        ("config", None, "config must be a table, got None"),
        ("config.title", "Another", "it was saved with another configuration"),
        ("games", MISSING, "games is missing"),
        ("games.0", None, "games.0 must be a table, got None"),
        ("games.0.position.turn", -1, "games.0.position.turn must be at least 0, got -1"),
        ("games.0.position.sector.0.1", 0, "games.0: sector.0.1 must be a sector of rings"),
        ("episodes", [], "games and episodes must be those of 1 game"),
        ("episodes.0.sampler", None, "sampler must be a list, got None"),
        ("episodes.0.sampler", [1], "sampler must have a length of at least 2, got [1]"),
        ("episodes.0.sampler", [2**64, 0], "sampler.0 must be below"),
        ("sampled", [[0] * 11], "sampled must have 2 rows, got 1"),
        ("sampled", [[28] * 11] * 2, "sampled.0.0 must be below 28, got 28"),
        ("episodes.0.length", True, "length must be an integer, got True"),
        ("episodes.0.score_difference.1", 2**40, "score_difference.1 must be below"),
        ("umpire", 1, "umpire = 1: there is no such key"),
    ],
    geo_patrol_v0.env: [
        ("pending", MISSING, "pending is missing"),
        ("pending", [0] * 10, "must have a length of at least 11"),
        ("pending", [0.5] * 11, "pending.0 must be an integer, got 0.5"),
        ("pending", [10**30] * 11, "pending.0 must be below"),
        ("remaining", 3, "remaining must be at most 2, got 3"),
        ("remaining", 1, "rewards must be those of the remaining agents, ['bravo']"),
        ("rewards", {}, "rewards must be those of the remaining agents"),
        ("rewards.alpha", float("nan"), "rewards.alpha must be a finite number, got nan"),
        ("umpire", 1, "umpire = 1: there is no such key"),
    ],
    SoloGeoPatrol: [
        ("seat", "alpha", "seat = 'alpha': there is no such key"),
        ("episodes.0.opponent", 1, "episodes.0.opponent = 1: this opponent is not in play"),
        ("generator", MISSING, "generator is missing"),
        ("generator.bit_generator", "MT19937", "generator.bit_generator must be 'PCG64', got 'MT19937'"),
        ("generator.state", {}, "generator.state.state is missing"),
        ("generator.state.inc", 1.5, "generator.state.inc must be an integer, got 1.5"),
        ("generator.state.state", 2**200, "must be below"),
    ],
    vector_env: [
        ("games", [], "games and episodes must be those of 2 games"),
        ("games.1.position.sector.0.1", 0, "games.1: sector.0.1 must be a sector of rings"),
        ("episodes.0.seat", 2, "episodes.0.seat must be 0 or 1, got 2"),
        ("episodes.0.opponent", 0, "episodes.0.opponent = 0: both sides are played"),
        ("episodes.0.total_reward.1", float("nan"), "episodes.0.total_reward.1 must be a finite number, got nan"),
        ("opponents", ["random"], "it has the opponents 'random', but there are ()"),
        ("sampled", [[0] * 11], "sampled must have 4 rows, got 1"),
    ],
}


def assert_refused(env, saved, message):
    """Assert that restoring fails with the message and does not change the environment."""
    before, agents = env.save(), list(getattr(env, "agents", []))
    with pytest.raises((RecordingError, ConfigError), match=re.escape(message)):
        env.restore(saved)
    assert env.save() == before
    assert list(getattr(env, "agents", [])) == agents


@pytest.mark.parametrize(
    ("make", "path", "value", "message"), [(make, *row) for make, rows in SAVED.items() for row in rows]
)
def test_saved_environment_that_is_damaged(make, path, value, message):
    env = played_env(make)
    saved = env.save()
    env.step(IDLE[make])
    assert_refused(env, damaged(saved, path, value), message)


@every_kind
def test_source_that_is_no_saved_environment(make):
    for saved in (None, [], {}):
        assert_refused(played_env(make), saved, "saved environment: ")


def test_saved_aec_environment_with_missing_agents_in_a_running_game():
    env = geo_patrol_v0.env()
    env.reset(seed=5)
    saved = env.save() | {"remaining": 1, "rewards": {"bravo": 0.0}, "cumulative_rewards": {"bravo": 0.0}}
    assert_refused(env, saved, "agents have left, against the state of the game")


def test_saved_environment_whose_game_is_over_but_not_its_episode():
    env = geo_patrol_v0.parallel_env(config="duel")
    env.reset(seed=1)
    while env.agents:
        env.step(env.sample_actions())
    message = "saved environment: episodes.0.is_over = 0: the game is over"
    assert_refused(env, damaged(env.save(), "episodes.0.is_over", 0), message)
