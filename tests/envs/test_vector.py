"""Game i of a vector environment is, bit for bit, the single environment with its seed."""

from pathlib import Path

import pytest

from geo_patrol import make_vec, preset_names
from tests.envs.vector_reference import Singles, assert_plays_as_singles

RANDOM_SCENARIOS = Path(__file__).parents[2] / "examples" / "random_scenarios.toml"
CONFIGS = [*preset_names(), RANDOM_SCENARIOS]


def play_both(
    config, games, steps, *, threads=1, autoreset="next_step", seed=5, scrambles=False, compares_games=True, **options
):
    envs = make_vec(config, games, threads=threads, autoreset=autoreset, **options)
    finished = assert_plays_as_singles(
        envs,
        Singles(config, games, mode=autoreset, **options),
        steps,
        seed=seed,
        scrambles=scrambles,
        games=compares_games,
    )
    envs.close()
    return finished


@pytest.mark.parametrize("encoding", ["onehot", "tokens"])
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: Path(config).stem)
def test_both_sides_of_every_configuration(config, encoding):
    assert play_both(config, 4, 150, observation=encoding) >= 2


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("mask_in", ["obs", "info", "none"])
def test_all_modes_and_masks_with_illegal_orders(mode, mask_in):
    for config in ("case1", RANDOM_SCENARIOS):
        options = {"observation": "tokens", "mask_in": mask_in, "max_cycles": 40, "count_events": True}
        assert play_both(config, 5, 130, autoreset=mode, scrambles=True, **options) >= 20


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("seats", ["alpha", "bravo", "alternate"])
@pytest.mark.parametrize("opponent", ["random", "scripted"])
def test_one_side_against_an_opponent(mode, seats, opponent):
    options = {"observation": "tokens", "opponent": opponent, "seats": seats, "reward": "outcome", "count_events": True}
    assert play_both("case3", 4, 100, autoreset=mode, **options) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("opponent", [None, "scripted", "random"])
def test_threads(mode, opponent):
    options = {"observation": "tokens", "opponent": opponent, "max_cycles": 20, "threads": 2}
    assert play_both(RANDOM_SCENARIOS, 17, 45, autoreset=mode, compares_games=False, **options) >= 34


def test_forfeits():
    overrides = {"illegal_orders": "forfeit"}
    assert play_both("od2d", 6, 40, overrides=overrides, scrambles=True, observation="tokens") > 100


@pytest.mark.nightly
@pytest.mark.parametrize("encoding", ["onehot", "tokens"])
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: Path(config).stem)
@pytest.mark.parametrize(("games", "threads"), [(1, 1), (7, 1), (64, 1), (64, 2)])
def test_two_thousand_phases(config, encoding, games, threads):
    for mode in ("next_step", "same_step") if games < 64 else ("next_step",):
        play_both(config, games, 2000, threads=threads, observation=encoding, autoreset=mode, compares_games=games < 64)


@pytest.mark.nightly
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: Path(config).stem)
def test_a_thousand_games(config, threads):
    play_both(config, 1000, 150, threads=threads, observation="tokens", compares_games=False)
    play_both(config, 1000, 60, threads=threads, observation="tokens", opponent="scripted", compares_games=False)
