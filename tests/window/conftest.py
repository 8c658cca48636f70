"""Settings of tests of windows."""

import pytest

from geo_patrol.drawing import screen


@pytest.fixture(autouse=True)
def no_window_stays_open():
    yield
    for window in list(screen.open_screens):
        window.close()
