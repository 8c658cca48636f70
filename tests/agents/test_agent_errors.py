"""Invalid names, observations and masks of agents: one clear message, and no side effects."""

import re

import numpy as np
import pytest

from geo_patrol import (
    make_agent,
)


def test_agent_name():
    with pytest.raises(ValueError, match="there is no agent 'minimax'"):
        make_agent("minimax")


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        (
            np.zeros((4, 10), np.int16),
            "observations must be (4, 249), int16, as the encoding 'tokens' gives them, got shape (4, 10) of int16",
        ),
        (
            np.zeros((4, 1591), np.float32),
            "observations must be (4, 249), int16, as the encoding 'tokens' gives them, got shape (4, 1591) of float32",
        ),
        (np.zeros((4, 249), np.int16), "observations describe no board"),
        (np.full((4, 249), 32767, np.int16), "observations describe no board"),
        (np.full((4, 249), -1, np.int16), "observations describe no board"),
    ],
)
def test_observations_that_the_scripted_agent_cannot_read(observations, message):
    masks = np.ones((4, 11, 28), np.int8)
    with pytest.raises(ValueError, match=re.escape(message)):
        make_agent("scripted").act(observations, masks, np.random.default_rng(0))


@pytest.mark.parametrize("shape", [(4, 11, 5), (4, 5, 28), (11, 28), (4, 308)])
def test_masks_that_the_random_agent_cannot_read(shape):
    with pytest.raises(ValueError, match=re.escape(f"got {shape} of int8")):
        make_agent("random").act(np.zeros((4, 249), np.int16), np.ones(shape, np.int8), np.random.default_rng(0))
