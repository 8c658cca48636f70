"""Invalid arguments of a vector environment raise one clear error and have no side effects."""

import re
import warnings

import numpy as np
import pytest

from geo_patrol import ConfigError, make_agent, make_vec
from geo_patrol.agents.basic import RandomAgent
from tests.envs.vector_reference import assert_same

TOKENS = {"observation": "tokens"}
PAIR = np.array(["both", "alpha"])


class NoAgent:
    name = "Eve"


class OddEncoding(RandomAgent):
    observation = "pixels"


NUMBER, SEATS = (
    "num_games must be an integer from 1 to 1,048,576, got ",
    "seats must be 'both' or 'alpha' or 'bravo' or ",
)
WEIGHT = "opponent 'random': weight must be a finite number of at least 0, got "
ARGUMENTS = [
    ({"num_games": 0}, NUMBER + "0"),
    ({"num_games": 2**20 + 1}, NUMBER + "1048577"),
    ({"num_games": True}, NUMBER + "True"),
    ({"num_games": 2.0}, NUMBER + "2.0"),
    ({"num_games": "3"}, NUMBER + "'3'"),
    ({"num_games": np.array([2])}, NUMBER + "array([2])"),
    ({"threads": 257}, "threads must be an integer from 1 to 256, got 257"),
    ({"threads": None}, "threads must be an integer from 1 to 256, got None"),
    ({"seats": "charlie"}, SEATS + "'alternate', got 'charlie'"),
    ({"seats": PAIR, "opponent": "idle"}, SEATS + "'alternate', got array(['both', 'alpha'], dtype='<U5')"),
    ({"seats": "alpha"}, "seats = 'alpha': the other side must have an opponent, such as opponent=\"scripted\""),
    (
        {"seats": "both", "opponent": "idle"},
        'seats = "both": both sides are played; there must be no opponent, or seats must be another value',
    ),
    ({"opponent": "randm"}, "there is no agent 'randm'; did you mean 'random'?"),
    ({"opponent": 3}, "opponent must be an agent's name or an Agent, got 3"),
    ({"opponent": RandomAgent}, "opponent must be an agent's name or an Agent"),
    (
        {"opponent": OddEncoding()},
        "agent 'random': observation must be 'onehot', 'tokens' or a geo_patrol.Observation, got 'pixels'",
    ),
    ({"opponent": []}, "opponent must have at least one opponent with a positive weight, got []"),
    ({"opponent": {"random": 0}}, "must have at least one opponent with a positive weight"),
    ({"opponent": {"random": -1}}, WEIGHT + "-1"),
    ({"opponent": {"random": float("nan")}}, WEIGHT + "nan"),
    ({"opponent": {"random": 10**400}}, WEIGHT + "1" + "0" * 76 + "..."),
    ({"opponent": {"random": 10**5000}}, WEIGHT + "<int>"),
    ({"opponent": {"random": True}}, WEIGHT + "True"),
    ({"opponent": {None: 1}}, "opponent must be an agent's name or an Agent, got None"),
    ({"opponent": ["random", "idle"]}, "opponent: 'random': a mixture consists of pairs (agent, weight)"),
    ({"opponent": [("random", 1, 2)]}, "opponent: ('random', 1, 2): a mixture consists of pairs"),
    (
        {"opponent": [("idle", 1), ("idle", 2)]},
        "opponent 'idle' is given twice; it must be given once, with its whole weight",
    ),
    ({"opponent": [(make_agent("idle"), 1)] * 1001}, "opponent: at most 1000 opponents are allowed, got 1001"),
    ({"autoreset": "always"}, "autoreset must be one of 'next_step', 'same_step', 'disabled', got 'always'"),
    ({"mask_in": PAIR}, "mask_in must be 'obs' or 'info' or 'none', got array("),
    ({"copy": "no"}, "copy must be True or False, got 'no'"),
    ({"config": 3}, "config must be a preset's name, a path, a mapping or a GameConfig, got 3"),
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS, ids=[message[:50] for _, message in ARGUMENTS])
def test_arguments(arguments, message):
    with pytest.raises((ValueError, ConfigError), match=re.escape(message)):
        make_vec(**{"config": "case1", "num_games": 2, **TOKENS} | arguments)


def test_arguments_of_any_size_and_kind():
    envs = make_vec("case1", np.int32(2), threads=np.int64(200), max_cycles=2**70, autoreset="SameStep", **TOKENS)
    envs.reset(seed=1)
    envs.step(envs.sample_actions())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_vec(
            "case1", 2, opponent={"random": np.float32(0.5), "idle": np.float16(1)}, copy=np.bool_(False), **TOKENS
        )
    tiny = make_vec("case1", 50, opponent={"random": 5e-324, "idle": 1.7e308}, **TOKENS)
    assert set(tiny.reset(seed=1)[1]["opponent"]) == {1}


def pair():
    envs, twin = (make_vec("case1", 3, max_cycles=9, **TOKENS) for _ in range(2))
    for one in (envs, twin):
        one.reset(seed=1)
        one.step(one.sample_actions())
    return envs, twin


def assert_unchanged(envs, twin):
    for _ in range(12):
        actions = envs.sample_actions()
        assert_same(actions, twin.sample_actions())
        assert_same(envs.step(actions), twin.step(actions))
    assert_same(envs.reset(), twin.reset())


CODES = "actions must be (6, 11) order codes, got shape "
ACTIONS = [
    (None, CODES + "()"),
    ({"alpha": 1}, CODES),
    (np.zeros((6, 12), int), CODES + "(6, 12)"),
    (np.zeros((3, 2, 11), int), CODES + "(3, 2, 11)"),
    ([[0] * 11] * 5 + [[0]], "must be (6, 11) order codes"),
    (np.full((6, 11), np.nan), "actions must be integers"),
    (np.zeros((6, 11), bool), "actions must be integers, got bool"),
    (np.full((6, 11), 2**70), "actions must be integers"),
    (np.zeros((6, 11), "S2"), "actions must be integers, got |S2"),
]


@pytest.mark.parametrize(("actions", "message"), ACTIONS, ids=[message[:50] for _, message in ACTIONS])
def test_actions(actions, message):
    envs, twin = pair()
    with pytest.raises(ValueError, match=re.escape(message)):
        envs.step(actions)
    assert_unchanged(envs, twin)


def read_only(actions):
    actions.flags.writeable = False
    return actions


KINDS = {
    "list": lambda actions: actions.tolist(),
    "int8": lambda actions: actions.astype(np.int8),
    "uint64": lambda actions: actions.astype(np.uint64),
    "other end first": lambda actions: actions.astype(">i4"),
    "by columns": np.asfortranarray,
    "every second": lambda actions: actions.repeat(2, axis=1)[:, ::2],
    "read-only": read_only,
    "masked": np.ma.asarray,
}


@pytest.mark.parametrize("kind", KINDS)
def test_actions_of_all_array_types_are_equivalent_and_not_modified(kind):
    envs, twin = pair()
    compiled = len(_signatures())
    for _ in range(12):
        actions = twin.sample_actions()
        passed = KINDS[kind](actions.copy())
        before = np.array(passed)
        assert_same(envs.step(passed), twin.step(actions))
        assert (np.asarray(passed) == before).all()
    assert len(_signatures()) == compiled, "another kind of array is compiled anew"


def _signatures():
    from geo_patrol.engine.steps import step_games

    return getattr(step_games, "signatures", [])


def test_huge_codes_count_as_illegal():
    envs, twin = pair()
    for code in (-(2**63), -1, 28, 2**31, 2**63 - 1):
        actions = twin.sample_actions()
        actions[:, 1] = code
        noop = actions * (np.arange(11) != 1)
        infos, expected = envs.step(actions)[4], twin.step(noop)[4]
        assert_same(infos["score"], expected["score"])
        assert (infos["illegal_orders"] >= expected["illegal_orders"]).all()
    actions[:] = 28
    assert_same(envs.step(np.full((6, 11), 2**64 - 1, np.uint64))[:4], twin.step(actions)[:4])


SEEDS = [
    (-1, "got -1"),
    (np.True_, "got np.True_"),
    (b"123", "got b'123'"),
    ({0: 1, 1: 2, 2: 3}, "got {0: 1, 1: 2, 2: 3}"),
    (np.array(5), "got array(5)"),
    ([1, 2], "seed must have one seed for each of the 3 games, got 2"),
    ([1, 2.0, 3], "got 2.0"),
    (np.zeros((3, 1), int), "got array([0])"),
]


@pytest.mark.parametrize(("seed", "message"), SEEDS, ids=lambda value: str(value)[:30])
def test_seeds(seed, message):
    envs, twin = pair()
    with pytest.raises(ValueError, match=re.escape(message)):
        envs.reset(seed=seed)
    assert_unchanged(envs, twin)


MASKS = [
    (np.array([True] * 3 + [False] * 3), "reset_mask: environments 2 and 3 are one game: select both or neither"),
    (np.zeros(6, bool), "reset_mask selects no environment: select at least one"),
    (np.ones((6, 1), bool), "reset_mask must be an array of 6 bool"),
    (np.ones(6, int), "reset_mask must be an array of 6 bool, got array([1, 1, 1, 1, 1, 1])"),
    ([True] * 6, "reset_mask must be an array of 6 bool, got [True, True, True, True, True, True]"),
]


@pytest.mark.parametrize(("mask", "message"), MASKS, ids=lambda value: str(value)[:30])
def test_masks(mask, message):
    envs, twin = pair()
    with pytest.raises(ValueError, match=re.escape(message)):
        envs.reset(seed=4, options={"reset_mask": mask})
    assert_unchanged(envs, twin)


def test_the_first_reset_must_reset_all_games():
    envs = make_vec("case1", 2, **TOKENS)
    with pytest.raises(ValueError, match="the first reset starts all games: select every environment"):
        envs.reset(seed=1, options={"reset_mask": np.array([True, True, False, False])})
    twin = make_vec("case1", 2, **TOKENS)
    assert_same(envs.reset(seed=1, options={"reset_mask": np.ones(4, bool)}), twin.reset(seed=1))


def test_options_that_are_not_a_dict():
    envs, twin = pair()
    with pytest.raises(ValueError, match="options must be a dict, such as"):
        envs.reset(options=[1])
    assert_unchanged(envs, twin)


@pytest.mark.parametrize("index", [3, -1, True, "0"])
def test_game_indices_out_of_range(index):
    envs, _ = pair()
    with pytest.raises(ValueError, match=re.escape(f"game must be an integer from 0 to 2, got {index!r}")):
        envs.game(index)
