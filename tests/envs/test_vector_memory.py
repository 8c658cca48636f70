"""Arrays that a vector environment returns belong to the caller, unless ``copy=False`` reuses them."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

from geo_patrol import Observation, make_vec
from tests.envs.vector_reference import assert_same

MODES = ("next_step", "same_step", "disabled")


def arrays_in(returned, path=""):
    """Yield all arrays of nested tuples and dicts with their paths."""
    if isinstance(returned, np.ndarray):
        yield path, returned
        return
    pairs = returned.items() if isinstance(returned, dict) else enumerate(returned)
    for key, value in pairs:
        yield from arrays_in(value, f"{path}/{key}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask_in", ["obs", "info"])
@pytest.mark.parametrize("opponent", [None, "random"])
def test_returned_arrays_are_not_written_to_while_referenced(mode, mask_in, opponent):
    """Those that are no longer referenced may be used again: only some are held, and views of others."""
    envs = make_vec("case1", 3, opponent=opponent, autoreset=mode, mask_in=mask_in, observation="tokens", max_cycles=6)
    rng, over = np.random.default_rng(0), np.zeros(envs.num_envs, bool)
    references = []

    def hold(returned):
        for path, array in arrays_in(returned):
            if rng.random() < 0.3:
                reference = array[-1:] if rng.random() < 0.5 else array
                references.append((path, reference, reference.copy()))

    hold(envs.reset(seed=1))
    for step in range(30):
        if mode == "disabled" and over.any():
            hold(envs.reset(options={"reset_mask": over}))
        actions = envs.sample_actions()
        hold({"actions": actions, "masks": envs.action_masks()})
        returned = envs.step(actions)
        over = returned[2] | returned[3]
        hold(returned)
        del returned, actions
        for path, reference, before in references:
            assert reference.tobytes() == before.tobytes(), f"{path} was written to in step {step}"
        del references[:-300]


def test_writing_to_returned_arrays_has_no_effect_on_the_environment():
    envs, twin = (make_vec("case1", 4, observation="tokens", mask_in="obs", max_cycles=9) for _ in range(2))
    envs.reset(seed=1), twin.reset(seed=1)
    for _ in range(40):
        actions = envs.sample_actions()
        assert_same(actions, twin.sample_actions())
        returned = envs.step(actions)
        assert_same(returned, twin.step(actions))
        for path, array in arrays_in((returned, actions)):
            if not array.flags.writeable:  # masks of infos that are valid for all environments
                assert path.split("/")[-1].startswith("_")
                continue
            array[:] = 1
            array.flags.writeable = False
        del returned, actions, array


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "opponent"),
    [("next_step", None), ("same_step", None), ("same_step", "random"), ("next_step", "scripted")],
)
def test_a_loop_that_reuses_arrays_allocates_nothing(mode, opponent):
    envs = make_vec("geo_patrol", 64, opponent=opponent, autoreset=mode, max_cycles=50, copy=False)
    observations, infos = envs.reset(seed=0)
    size = observations.nbytes

    def loop(steps):
        nonlocal observations, infos
        for _ in range(steps):
            observations, _, _, _, infos = envs.step(envs.sample_actions())

    def growth_and_peak():
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        loop(40 if opponent == "scripted" else 120)
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before, peak - before

    tracemalloc.start()
    try:
        loop(110)
        # Python caches small objects and sometimes a few more of them; a leak grows in every round
        rounds, quiet = [], []
        while len(quiet) < 2 and len(rounds) < 10:
            rounds.append(growth_and_peak())
            quiet = [growth for growth in rounds if growth[0] <= 8000]
    finally:
        tracemalloc.stop()
    assert len(quiet) == 2, rounds
    peak = max(growth[1] for growth in quiet)
    if opponent != "scripted":  # which acts outside the engine
        assert peak < 300_000 < size


def test_a_dropped_environment_is_freed_at_once():
    envs = make_vec("case1", 8, observation="tokens")
    envs.reset(seed=0)
    envs.step(envs.sample_actions())
    gone = weakref.ref(envs)
    gc.disable()
    try:
        del envs
        assert gone() is None
    finally:
        gc.enable()


def test_the_game_returned_is_a_copy():
    envs = make_vec("case1", 3)
    envs.reset(seed=2)
    before = envs.save()
    envs.game(1).step()
    assert envs.save() == before


@pytest.mark.parametrize("mode", MODES)
def test_reused_arrays_have_the_values_of_new_ones(mode):
    options = {"autoreset": mode, "observation": "tokens", "max_cycles": 9}
    reusing, copying = make_vec("case1", 4, copy=False, **options), make_vec("case1", 4, **options)
    first, _ = reusing.reset(seed=1)
    copying.reset(seed=1)
    over = np.zeros(8, bool)
    for _ in range(40):
        if mode == "disabled" and over.any():
            assert_same(*(envs.reset(options={"reset_mask": over}) for envs in (reusing, copying)))
        returned = reusing.step(reusing.sample_actions())
        assert returned[0] is first
        assert_same(returned, copying.step(copying.sample_actions()))
        over = returned[2] | returned[3]


def half(games):
    """Observe half of the fuel of both sides."""
    return games.fuel / np.float32(2)


@pytest.mark.parametrize("observation", ["onehot", "tokens", Observation(half, 11, low=0, high=1000, compiled=False)])
@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_observations_are_written_where_the_caller_says(observation, copy, mode):
    options = {"observation": observation, "opponent": "random", "autoreset": mode, "max_cycles": 5, "mask_in": "obs"}
    envs, twin = make_vec("case1", 6, copy=copy, **options), make_vec("case1", 6, **options)
    first = envs.reset(seed=1)[0]["observation"]
    twin.reset(seed=1)
    rollout = np.zeros((12, *first.shape), first.dtype)
    for row in rollout:
        returned, expected = envs.step(envs.sample_actions(), out=row), twin.step(twin.sample_actions())
        assert_same(returned, expected)
        assert np.shares_memory(returned[0]["observation"], row)
    before = rollout.copy()
    for _ in range(6):  # without it, nothing of the caller's is written
        assert_same(envs.step(envs.sample_actions()), twin.step(twin.sample_actions()))
    assert_same(envs.reset(), twin.reset())
    assert_same(envs.view(), twin.view())
    assert np.array_equal(rollout, before)


def test_wrong_arrays_for_observations_change_nothing():
    envs = make_vec("case1", 2, observation="tokens")
    observations, _ = envs.reset(seed=1)
    before = envs.save()
    read_only = observations.copy()
    read_only.flags.writeable = False
    for out, found in [
        (np.zeros((4, 248), np.int16), r"\(4, 248\) of int16"),
        (np.zeros((4, 249), np.float32), r"\(4, 249\) of float32"),
        (np.zeros((249, 4), np.int16).T, r"\(4, 249\) of int16"),
        (read_only, r"\(4, 249\) of int16"),
        ([0], r"\[0\]"),
    ]:
        with pytest.raises(ValueError, match=rf"out must be a writable, C-contiguous array of shape .*, got {found}"):
            envs.step(np.zeros((4, 11), np.int64), out=out)
    assert envs.save() == before


def test_satellites_see_the_observations_of_the_caller():
    envs, twin = (make_vec("case1", 2, agents="satellites", copy=copy) for copy in (False, True))
    out = np.zeros_like(envs.reset(seed=1)[0]["team"])
    twin.reset(seed=1)
    observations, *_ = envs.step(envs.sample_actions(), out=out)
    assert_same(observations, twin.step(twin.sample_actions())[0])
    assert np.shares_memory(observations["team"], out)
    assert np.shares_memory(observations["own"], out)
