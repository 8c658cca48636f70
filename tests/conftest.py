"""Settings of all tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows are pretended; tests of real ones set it back

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # what shells run in the background ignores Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)  # and so would all that the tests start

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
    """Games that are kept by default are not kept in the home of whoever runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.getbasetemp() / "state")


@pytest.fixture
def without_workers(monkeypatch):
    """Play the matches of tournaments in this process: a worker takes a second to start, and changes no game."""
    from geo_patrol.evaluation.tasks import Seats, play_task

    def play_here(tasks, _processes, progress=lambda _: None):
        seats, games = Seats(), 0
        try:
            for task in tasks:
                record = play_task(task, seats)
                games += task.games
                progress(games)
                yield record
        finally:
            seats.close()

    monkeypatch.setattr("geo_patrol.evaluation.campaign.play_tasks", play_here)
    monkeypatch.setattr("geo_patrol.evaluation.sequential.play_tasks", play_here)
