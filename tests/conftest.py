"""Settings and fixtures of all tests."""

import os
import signal
from concurrent.futures import Executor, Future

import pytest
from hypothesis import HealthCheck, settings

os.environ["SDL_VIDEODRIVER"] = "dummy"  # no real windows; tests of real ones reset it

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs of shells
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the processes that tests start inherit it

settings.register_profile(
    "geo_patrol",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("geo_patrol")


@pytest.fixture(autouse=True, scope="session")
def _own_state_folder(tmp_path_factory):
    """Games that are saved by default are not saved in the home of the user who runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.getbasetemp() / "state")


class InlineExecutor(Executor):
    """Calls functions at once, in this process."""

    def __init__(self, processes=1):
        self.max_pending = 2 * processes

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def without_workers(monkeypatch):
    """Play the matches of tournaments in this process: a worker takes a second to start, and changes no game."""
    monkeypatch.setattr("geo_patrol.evaluation.campaign.ProcessExecutor", InlineExecutor)
