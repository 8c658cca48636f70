"""Arrays that a vector environment returns are the caller's, unless it is told to reuse them."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vector_reference import Singles, assert_same

from geo_patrol import make_vec

MODES = ("next_step", "same_step", "disabled")


def arrays_in(returned, path=""):
    """Yield all arrays of nested tuples and dicts with their places."""
    if isinstance(returned, np.ndarray):
        yield path, returned
        return
    pairs = returned.items() if isinstance(returned, dict) else enumerate(returned)
    for key, value in pairs:
        yield from arrays_in(value, f"{path}/{key}")


WAYS = {
    "itself": lambda array: array,
    "view": lambda array: array[-1:],
    "view of a view": lambda array: array[1:][..., :1].reshape(-1),
    "other type": lambda array: array.view(np.uint8) if array.flags.c_contiguous else array,
    "memoryview": memoryview,
    "slice of a memoryview": lambda array: memoryview(array)[1:],
    "frombuffer": lambda array: np.frombuffer(array, np.uint8) if array.flags.c_contiguous else array,
    "dlpack": lambda array: np.from_dlpack(array) if array.flags.writeable and array.dtype.names is None else array,
    "ctypes": lambda array: array.ctypes.data_as,
    "broadcast": lambda array: np.broadcast_to(array, (2, *array.shape)),
    "iterator": lambda array: array.flat,
}


def look(held):
    """Return the bytes that something held shows now."""
    owner = getattr(held, "__self__", None)
    if owner is not None and hasattr(owner, "_arr"):
        held = owner._arr
    return np.asarray(held.copy() if isinstance(held, np.flatiter) else held).tobytes()


@settings(max_examples=25)
@given(data=st.data())
def test_nothing_that_is_held_is_written_to(data):
    mode, mask_in = data.draw(st.sampled_from(MODES)), data.draw(st.sampled_from(["obs", "info"]))
    opponent = data.draw(st.sampled_from([None, "random"]))
    envs = make_vec("case1", 3, opponent=opponent, autoreset=mode, mask_in=mask_in, observation="tokens", max_cycles=6)
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    share = data.draw(st.sampled_from([0.02, 0.3, 1.0]))
    held, over = [], np.zeros(envs.num_envs, bool)

    def hold(returned, step):
        for path, array in arrays_in(returned):
            if random.random() < share:
                way = random.choice(list(WAYS))
                kept = WAYS[way](array)
                held.append((step, f"{path}, {way}", kept, look(kept)))

    hold(envs.reset(seed=1), 0)
    for step in range(45):
        if mode == "disabled" and over.any():
            hold(envs.reset(options={"reset_mask": over}), step)
        actions = envs.sample_actions()
        hold({"actions": actions, "masks": envs.action_masks()}, step)
        returned = envs.step(actions)
        over = returned[2] | returned[3]
        hold(returned, step)
        del returned, actions
        for since, what, kept, copy in held:
            assert look(kept) == copy, f"{what}, held since step {since}, was written to in step {step}"
        held = [one for one in held if step - one[0] < 20]


def test_what_the_caller_does_to_arrays_is_his_business():
    envs, twin = (make_vec("case1", 4, observation="tokens", mask_in="obs", max_cycles=9) for _ in range(2))
    envs.reset(seed=1), twin.reset(seed=1)
    for _ in range(40):
        actions = envs.sample_actions()
        assert_same(actions, twin.sample_actions())
        returned = envs.step(actions)
        assert_same(returned, twin.step(actions))
        for path, array in arrays_in((returned, actions)):
            if not array.flags.writeable:  # those that say that all slots have a figure
                assert path.split("/")[-1].startswith("_")
                continue
            array[:] = 1
            array.flags.writeable = False
        del returned, actions, array


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
        loop(100 if opponent == "scripted" else 300)
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before, peak - before

    tracemalloc.start()
    try:
        loop(150)
        # Python keeps small objects to use them again, a few more now and then; what leaks does so in every round
        rounds, quiet = [], []
        while len(quiet) < 2 and len(rounds) < 10:
            rounds.append(growth_and_peak())
            quiet = [found for found in rounds if found[0] <= 8000]
    finally:
        tracemalloc.stop()
    assert len(quiet) == 2, rounds
    peak = max(found[1] for found in quiet)
    if opponent != "scripted":  # which is asked outside the engine
        assert peak < 300_000 < size


def test_three_frames_are_enough_for_a_plain_loop():
    envs = make_vec("case1", 8, observation="tokens")
    places = set()
    seen, _ = envs.reset(seed=0)
    for _ in range(50):
        seen, *_ = envs.step(envs.sample_actions())
        places.add(seen.__array_interface__["data"][0])
    assert len(places) <= 3


def test_a_dropped_environment_is_gone_at_once():
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
    singles = Singles("case1", 3)
    assert_same(envs.reset(seed=2), singles.reset([2, 3, 4]))
    for _ in range(12):
        game = envs.game(1)
        if not game.is_over:
            game.step()
        actions = envs.sample_actions()
        assert_same(envs.step(actions), singles.step(actions))


@pytest.mark.parametrize("mode", MODES)
def test_reused_arrays_hold_what_new_ones_would(mode):
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
