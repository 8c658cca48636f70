"""Settings of all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows are pretended; tests of real ones set it back

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
