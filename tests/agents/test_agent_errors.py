"""Invalid names, observations and masks of agents: one clear message, and no side effects."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from geo_patrol import Games, make_agent, observation_names, play_out, preset_names
from geo_patrol.agents.scripted.script import check_observations

COMPILED = ["scripted", "raider", "turtle", "mixed", "policy:base"]


def real_observations():
    """Return observations of both sides, (2, 249), and masks."""
    games = Games("case1", seed=1)
    return games.observe("tokens")[0], games.action_masks()[0]


def test_observations_as_they_come_are_read_by_all():
    for preset in preset_names():
        for games in (Games(preset, 2, seed=1), play_out(Games(preset, 2, seed=1), "raider", "scripted", max_phases=9)):
            seen = games.observe("tokens").reshape(4, -1)
            assert check_observations(seen, 4).tolist() == seen[:, :249].tolist()


ENCODING = "observations must be (4, 249), int16, as the encoding 'tokens' gives them, got shape "
NO_BOARD = "observations describe no board"


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        (np.zeros((4, 10), np.int16), f"{ENCODING}(4, 10) of int16"),
        (np.zeros((4, 1591), np.float32), f"{ENCODING}(4, 1591) of float32"),
        *((np.full((4, 249), value, np.int16), NO_BOARD) for value in (0, 32767, -1)),
    ],
)
def test_observations_that_the_scripted_agent_cannot_read(observations, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_agent("scripted").act(observations, np.ones((4, 11, 28), np.int8), np.random.default_rng(0))


BEYOND = "no board, or have values beyond the bounds"
OFF = "satellites off their board"


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"own_patrol_3_sector": 63}, OFF),  # the first sector beyond ring 5
        ({"enemy_hva_sector": 1022}, OFF),
        ({"inner_ring": 2, "own_hva_sector": 2}, OFF),
        ({"enemy_hva_sector": 2047}, BEYOND),
        ({"goal_azimuth_bit_0": 2}, BEYOND),
        ({"own_patrol_1_fuel": -1}, BEYOND),
        ({"enemy_shoot_odds_same": 1001}, BEYOND),
        ({"outer_ring": 2}, "no board"),
    ],
    ids=str,
)
def test_observations_beyond_their_board_are_refused(name, values, message):
    observations, masks = real_observations()
    for feature, value in values.items():
        observations[1, observation_names("tokens").index(feature)] = value
    with pytest.raises(ValueError, match=f"observations describe {message}"):
        make_agent(name).act(observations, masks, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["random", *COMPILED])
@pytest.mark.parametrize("value", [2, -1, 256])
def test_masks_that_are_neither_0_nor_1_are_refused(name, value):
    observations, masks = real_observations()
    wrong = masks.astype(np.int64)
    wrong[1, 2, 3] = value
    for array in [wrong] if value == 256 else [wrong, wrong.astype(np.int8)]:
        with pytest.raises(ValueError, match=f"masks must be 0 or 1, got {value}"):
            make_agent(name).act(observations, array, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["random", "scripted", "raider", "turtle"])
@pytest.mark.parametrize("keys", [np.zeros(1, np.uint64), np.zeros(0, np.uint64), np.zeros(2, np.int64), np.zeros(2)])
def test_keys_that_agents_cannot_read(name, keys):
    with pytest.raises(ValueError, match=re.escape(f"keys must be uint64 of shape (2,), got {keys.shape}")):
        make_agent(name).act_seeded(*real_observations(), keys)


PLAY_ANY_MASKS = """
import numpy as np
from geo_patrol import Games, make_agent, play_out

generator = np.random.default_rng(0)
for phases in (0, 1, 8, 9):
    games = play_out(Games("geo_patrol", 2, seed=3), "raider", "raider", max_phases=phases)
    for name in ("scripted", "raider", "turtle"):
        for chance in (0.1, 1.0):
            masks = (generator.random((4, 11, 28)) < chance).astype(np.int8)
            orders = make_agent(name).act(games.observe("tokens").reshape(4, -1), masks, generator)
            allowed = np.take_along_axis(masks, orders[..., None], axis=2)[..., 0] == 1
            assert (allowed | (orders == 0)).all()
"""


@pytest.mark.slow
def test_masks_that_allow_what_a_position_does_not_lead_beyond_no_array():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}  # compiled code reads beyond the ends of arrays silently
    result = subprocess.run(
        [sys.executable, "-c", PLAY_ANY_MASKS], capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("shape", [(4, 11, 5), (4, 308)])
def test_masks_that_the_random_agent_cannot_read(shape):
    with pytest.raises(ValueError, match=re.escape(f"got {shape} of int8")):
        make_agent("random").act(np.zeros((4, 249), np.int16), np.ones(shape, np.int8), np.random.default_rng(0))
