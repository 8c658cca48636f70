"""Settings and fixtures of all tests."""

import os
import signal
from pathlib import Path

# Before NumPy is imported: threads that share the work on small matrices wait for each other in busy loops.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

os.environ["SDL_VIDEODRIVER"] = "dummy"  # no real windows; tests of real ones reset it

# The processes that tests start inherit these handlers.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs of shells
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile(
    "geo_patrol",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("geo_patrol")


_TESTS = Path(__file__).parent
_E2E = ("browser", "cluster", "cuda", "libraries", "rllib", "training")


def compile_ahead():
    """Compile what most tests call, as far as it is not in the cache."""
    from geo_patrol.base.compile_cache import CACHE_FOLDER
    from geo_patrol.cli.compiling import compile_all

    if CACHE_FOLDER is not None:
        for _ in compile_all():
            pass


def pytest_configure():
    """Refuse to test another copy than ``src``: an installation without ``-e`` replaces the one of the Makefile."""
    import geo_patrol

    used, source = Path(geo_patrol.__file__).resolve().parent, (_TESTS.parent / "src" / "geo_patrol").resolve()
    if used != source:
        raise pytest.UsageError(f"geo_patrol must be imported from {source}, got {used}: pip install -e '.[dev]'")


def pytest_sessionstart(session):
    """Before a run of all tests, compile once: each process would begin with it."""
    is_worker = hasattr(session.config, "workerinput")
    if session.config.args_source is session.config.ArgsSource.TESTPATHS and not is_worker:
        compile_ahead()


def pytest_collection_modifyitems(items):
    """Mark the tests of folders that need more than the package."""
    for item in items:
        if item.path.relative_to(_TESTS).parts[0] in _E2E:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(autouse=True, scope="session")
def _own_state_folder(tmp_path_factory):
    """Games that are saved by default are not saved in the home of the user who runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.getbasetemp() / "state")


@pytest.fixture
def without_workers(monkeypatch):
    """Play the matches of tournaments in this process: a worker takes a second to start, and changes no game."""
    monkeypatch.setattr("geo_patrol.evaluation.executors.usable_cores", lambda: 1)
