"""Ray for the tests of RLlib, which are skipped without it."""

import importlib.util

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("ray") else ["test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def ray_cluster():
    """Start Ray once: it takes seconds."""
    import ray

    ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()
