"""Results do not depend on threads, forks and the split into batches; threads end."""

import gc
import itertools
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import make_vec
from geo_patrol.envs import threads as pool
from geo_patrol.envs.threads import WorkerPool, split
from tests.envs.vector_reference import assert_same, scramble
from tests.support.strategies import configs, seeds


def joined(batches):
    """Concatenate what batches returned."""
    if isinstance(batches[0], dict):
        return {key: joined([batch[key] for batch in batches]) for key in batches[0]}
    if isinstance(batches[0], tuple):
        return tuple(joined(halves) for halves in zip(*batches, strict=True))
    return np.concatenate(batches)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    config=configs(),
    seed=seeds,
    mode=st.sampled_from(["next_step", "same_step"]),
    opponent=st.sampled_from([None, "random", "scripted"]),
    encoding=st.sampled_from(["onehot", "tokens"]),
    cut=st.integers(1, 25),
    threads=st.integers(1, 3),
    max_cycles=st.sampled_from([None, 1, 2, 7]),
)
def test_results_do_not_depend_on_batches_and_threads(config, seed, mode, opponent, encoding, cut, threads, max_cycles):
    options = {"opponent": opponent, "autoreset": mode, "observation": encoding, "max_cycles": max_cycles}
    envs = make_vec(config, 26, threads=threads, **options)
    batches = [make_vec(config, cut, **options), make_vec(config, 26 - cut, **options)]
    starts = (0, cut)
    returned = [batch.reset(seed=seed + start) for batch, start in zip(batches, starts, strict=True)]
    assert_same(envs.reset(seed=seed), joined(returned))
    rng = np.random.default_rng(0)
    space, middle = envs.single_observation_space, cut * (2 if opponent is None else 1)
    for _ in range(14):
        actions = envs.sample_actions()
        assert_same(actions, joined([batch.sample_actions() for batch in batches]))
        actions = scramble(actions, rng)
        whole = envs.step(actions)
        halves = [batch.step(orders) for batch, orders in zip(batches, np.split(actions, [middle]), strict=True)]
        assert_same(whole, joined(halves))
        assert space.contains(whole[0][0])
        if opponent is None:
            rewards = whole[1].reshape(-1, 2)
            assert (rewards[:, 0] == -rewards[:, 1]).all()
            assert not np.signbit(rewards[rewards == 0]).any()
    envs.close()


@given(games=st.integers(1, 5000), threads=st.integers(1, 256))
def test_shards_cover_all_games_once(games, threads):
    shards = split(games, threads)
    assert shards[0][0] == 0
    assert shards[-1][1] == games
    assert all(stop == start for (_, stop), (start, _) in itertools.pairwise(shards))
    assert all(start < stop for start, stop in shards)
    assert len(shards) == max(1, min(threads, games // pool.GAMES_PER_THREAD))


def test_alternate_seats_are_balanced():
    envs = make_vec("case1", 10, opponent="idle", seats="alternate", max_cycles=3, autoreset="same_step")
    infos = envs.reset(seed=1)[1]
    for _ in range(12):
        assert infos["seat"].sum() == 5
        infos = envs.step(envs.sample_actions())[4]
    counts = np.zeros(2, int)
    envs.reset(seed=1)
    for _ in range(60):
        finished = envs.step(envs.sample_actions())[4]["finished_episode"]
        counts += np.bincount(finished["seat"][finished["_seat"]], minlength=2)
    assert counts[0] == counts[1] > 50


# Threads end


def workers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("geo_patrol-")]


def wait_for_no_workers(but=()):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not [thread for thread in workers() if thread not in but]:
            return True
        time.sleep(0.01)
    return False


class Failing:
    name, observation = "Eve", "tokens"

    def reset(self, new_games): ...

    def act(self, observations, action_masks, generator): ...

    def act_seeded(self, observations, action_masks, keys):
        raise OSError


def test_threads_end_when_the_environment_is_closed():
    before = workers()
    envs = make_vec("case1", 24, threads=3, observation="tokens")
    envs.reset(seed=1)
    envs.step(envs.sample_actions())
    assert len(workers()) == len(before) + 2
    envs.close()
    envs.close()
    assert wait_for_no_workers(before)


@pytest.mark.parametrize(("opponent", "message"), [(None, "actions"), (Failing(), "act_seeded raised OSError")])
def test_threads_end_when_the_environment_is_dropped_after_errors(opponent, message):
    before = workers()
    envs = make_vec("case1", 24, threads=3, observation="tokens", opponent=opponent)
    envs.reset(seed=1)
    for _ in range(3):
        with pytest.raises(ValueError, match=message):
            envs.step(None if opponent is None else envs.sample_actions())
    del envs
    gc.collect()
    assert wait_for_no_workers(before)


def test_small_batches_have_no_threads():
    before = workers()
    envs = make_vec("case1", 15, threads=2, observation="tokens")
    envs.reset(seed=1)
    envs.step(envs.sample_actions())
    assert workers() == before


@pytest.mark.parametrize("failing", [[0], [2], [1, 2]])
def test_a_pool_runs_all_shards_even_if_some_fail(failing):
    pool, done = WorkerPool(3), []

    def work(shard):
        time.sleep(0.001 * shard)
        done.append(shard)
        if shard in failing:
            raise ValueError(f"shard {shard}")

    for _ in range(3):
        done.clear()
        with pytest.raises(ValueError, match=f"shard {failing[0]}"):
            pool.run(work)
        assert sorted(done) == [0, 1, 2]
        done.clear()
        pool.run(done.append)
        assert sorted(done) == [0, 1, 2]
    pool.shut_down()


def test_an_interrupted_run_waits_for_its_workers():
    pool, done = WorkerPool(2), []

    def slow(shard):
        if shard == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        done.append(shard)

    with pytest.raises(KeyboardInterrupt):
        pool.run(slow)
    assert done == [1]
    pool.run(done.append)
    assert sorted(done) == [0, 1, 1]
    pool.shut_down()


def test_an_interrupted_step_requires_a_reset(monkeypatch):
    envs, twin = (make_vec("case1", 16, threads=2, observation="tokens") for _ in range(2))
    for one in (envs, twin):
        one.reset(seed=1)
    run = envs._pool.run

    def interrupted(work):
        run(work)
        raise KeyboardInterrupt

    monkeypatch.setattr(envs._pool, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        envs.step(envs.sample_actions())
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="no games are being played: call reset"):
        envs.step(twin.sample_actions())
    assert_same(envs.reset(seed=2)[0], twin.reset(seed=2)[0])
    actions = twin.sample_actions()
    assert_same(envs.step(actions), twin.step(actions))
    for one in (envs, twin):
        one.close()


def run_script(script, **variables):
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | variables,
    )


INTERRUPTED = """
import _thread, signal, threading, time
import numpy as np
from geo_patrol import make_vec

make = lambda: make_vec("case1", 2000, threads=2, observation="tokens", mask_in="none")
envs, twin = make(), make()
for one in (envs, twin):
    one.reset(seed=1)
actions = np.zeros((4000, 11), np.int64)
received = interruptions = 0
is_stepping, running = False, True
def interrupted(*_):
    global received, is_stepping
    received += 1
    if is_stepping:  # an interrupt elsewhere would not be caught
        is_stepping = False
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupted)
def interrupt():
    while running:
        time.sleep(0.003)
        before = received
        _thread.interrupt_main()
        while running and received == before:
            time.sleep(0.001)
thread = threading.Thread(target=interrupt, daemon=True)
thread.start()
end = time.monotonic() + 1.5
while time.monotonic() < end:
    try:
        is_stepping = True
        try:
            while time.monotonic() < end:
                envs.step(actions)
        except RuntimeError as error:
            assert "call reset" in str(error), error
            envs.reset(seed=1)
        is_stepping = False
    except KeyboardInterrupt:
        interruptions += 1
running = False
thread.join()
envs.reset(seed=1)
for _ in range(40):
    for one, other in zip(envs.step(actions)[:4], twin.step(actions)[:4]):
        assert one.tobytes() == other.tobytes()
envs.close()
print("ok", interruptions > 5)
"""


@pytest.mark.slow
def test_ctrl_c_leaves_an_environment_that_can_be_reset():
    result = run_script(INTERRUPTED)
    assert (result.stdout, result.stderr) == ("ok True\n", "")


FORKED = """
import os, sys
import numpy as np
from geo_patrol import make_vec

envs = make_vec("case1", 512, threads=2, observation="tokens", mask_in="none")
envs.reset(seed=1)
envs.step(envs.sample_actions())
actions = envs.sample_actions()
read, write = os.pipe()
child = os.fork()
if child == 0:
    for _ in range(3):
        observations = envs.step(actions)[0]
    os.write(write, np.int64(observations.astype(np.int64).sum()).tobytes())
    envs.close()
    del envs
    os._exit(0)
for _ in range(3):
    observations = envs.step(actions)[0]
assert os.waitpid(child, 0)[1] == 0
assert np.frombuffer(os.read(read, 8), np.int64)[0] == observations.astype(np.int64).sum()
envs.close()
print("ok")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_threads_of_its_own():
    result = run_script(FORKED)
    assert (result.stdout, result.stderr) == ("ok\n", "")
