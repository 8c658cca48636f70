"""The policy computes with one thread of linear algebra, and leaves the number of threads as it was."""

import threading

import numpy as np
import pytest

from geo_patrol import play_match
from geo_patrol.agents import policy
from geo_patrol.agents.blas import one_blas_thread, thread_functions


@pytest.fixture
def threads():
    """Return the number of threads as a function; it is 2 at first."""
    if thread_functions() is None:
        pytest.skip("NumPy has another library than OpenBLAS")
    get, set_ = thread_functions()
    before = get()
    set_(2)
    yield get
    set_(before)


def test_numpy_of_the_wheels_has_the_functions():
    libraries = [
        name for name in np.show_config("dicts")["Build Dependencies"]["blas"]["name"].split() if "openblas" in name
    ]
    assert (thread_functions() is not None) == (libraries == ["scipy-openblas"])


def test_the_policy_computes_with_one_thread(threads, monkeypatch):
    seen, sum_up = [], policy._sum_up

    def note(*arguments):
        seen.append(threads())
        return sum_up(*arguments)

    monkeypatch.setattr(policy, "_sum_up", note)
    play_match("policy:base", "search:rollouts=8,propose=policy:base", games=2, seed=0, overrides={"turn_limit": 1})
    assert set(seen) == {1}
    assert threads() == 2


def test_blocks_in_each_other_and_on_several_threads(threads):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread:
            entered.set()
            leave.wait()

    def fail():
        with one_blas_thread:
            with one_blas_thread:
                thread.start()
                entered.wait()
            assert threads() == 1
            raise KeyError

    thread = threading.Thread(target=other)
    with pytest.raises(KeyError):
        fail()
    assert threads() == 1  # the other one's
    leave.set()
    thread.join()
    assert threads() == 2
