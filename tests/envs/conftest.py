"""Settings of the tests of environments."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _threads_of_few_games():
    """Let small batches play on several threads, which would be slower and is quicker to test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("geo_patrol.envs.threads.GAMES_PER_THREAD", 8)
        yield
