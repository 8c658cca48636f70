"""Every element of an observation has the value that its name states."""

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

from geo_patrol import Game, geo_patrol_v0, load_config, make_vec, observation_names, preset_names
from geo_patrol.base.board import adjacent_sectors, azimuth_of, ring_of, sector_at
from geo_patrol.base.sides import SIDES
from geo_patrol.engine.observe import observation_bounds
from tests.support.positions import arrange
from tests.support.strategies import OPEN_PRESETS, games, play_on, small

COSTS = ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")
ENGAGEMENTS = ("shoot", "collide", "guard")


def relative(game, side, sector):
    """Return a sector with its azimuth counted from where the side's goal sector lies above or below it."""
    ring, goal_ring = int(ring_of(sector)), game.config.board.goal_ring
    goal = int(azimuth_of(game.goals[side]))
    start = goal * 2**ring // 2**goal_ring
    return int(sector_at(ring, int(azimuth_of(sector)) - start))


def side_features(config, fleet):
    patrols = config.patrols
    single = patrols.single or {}
    own_fuels = [single[str(i)].fuel if str(i) in single else None for i in range(1, fleet + 1)]
    total = sum(patrols.fuel if fuel is None else fuel for fuel in own_fuels)
    weight = 100 / total if patrols.weight == "auto" else patrols.weight
    costs = {f"{name}_cost": (getattr(config.costs, name), 0.1, 1) for name in COSTS}
    for kind in ENGAGEMENTS:
        for distance, where in enumerate(("same", "adjacent")):
            costs[f"{kind}_cost_{where}"] = (getattr(config.costs, kind)[distance], 0.1, 1)
            costs[f"{kind}_odds_{where}"] = (getattr(config.odds, kind)[distance], 1, 1000)
    return {
        "patrols": (fleet, 0.1, 1),
        "initial_hva_fuel": (config.hva.fuel, 0.01, 1),
        "initial_patrol_fuel": (patrols.fuel, 0.01, 1),
        "initial_hva_ammo": (config.hva.ammo, 1, 1),
        "initial_patrol_ammo": (patrols.ammo, 1, 1),
        **costs,
        "goal_points": (config.points.goal, 0.1, 1),
        "adjacent_points": (config.points.adjacent, 0.1, 1),
        "win_score": (config.points.win, 0.01, 1),
        "hva_weight": (config.hva.weight, 1, 1000),
        "patrol_weight": (weight, 10, 1000),
    }


def expected(game, side):
    """Return what a side should observe by names: value, scale in "onehot", scale in "tokens"."""
    enemy = SIDES[1 - SIDES.index(side)]
    config, board = game.config, game.config.board
    code = config.rules == "code"
    goal = int(azimuth_of(game.goals[side])) % 2 ** (board.goal_ring - 1)
    turns = game.position.turn
    named = {
        "movement_phase": (game.phase == "movement", 1, 1),
        "engagement_phase": (game.phase == "engagement", 1, 1),
        "turn": (turns, 1 / 50, 1),
        "turns_left": (max(config.turn_limit + code - turns, 0), 1 / 50, 1),
        "own_score": (game.scores[side], 0.01, 1),
        "enemy_score": (game.scores[enemy], 0.01, 1),
        **{f"goal_azimuth_bit_{bit}": (goal >> bit & 1, 1, 1) for bit in range(9)},
        "inner_ring": (board.inner_ring, 0.1, 1),
        "outer_ring": (board.outer_ring, 0.1, 1),
        "goal_ring": (board.goal_ring, 0.1, 1),
        "code_rules": (code, 1, 1),
    }
    hvas = {"own": game.satellite(side, 0).sector, "enemy": game.satellite(enemy, 0).sector}
    for whose, name in (("own", side), ("enemy", enemy)):
        fleet = game.satellites(name)
        features = side_features(config.side(name), len(fleet) - 1)
        named |= {f"{whose}_{name}": feature for name, feature in features.items()}
        if config.counts_patrols:
            named[f"{whose}_patrol_points"] = (config.side(name).points.patrol or 0, 0.1, 1)
        for satellite in fleet:
            prefix = f"{whose}_hva" if satellite.id.number == 0 else f"{whose}_patrol_{satellite.id.number}"
            named[f"{prefix}_sector"] = (relative(game, side, satellite.sector), 1, 1)
            named[f"{prefix}_fuel"] = (satellite.fuel, 0.01, 1)
            named[f"{prefix}_ammo"] = (satellite.ammo, 1, 1)
            named[f"{prefix}_active"] = (satellite.fuel > 0, 1, 1)
            for hva, sector in hvas.items():
                named[f"{prefix}_same_sector_as_{hva}_hva"] = (satellite.sector == sector, 1, 1)
                named[f"{prefix}_adjacent_to_{hva}_hva"] = (satellite.sector in adjacent_sectors(sector), 1, 1)
    return named


@cache
def parsed(names):
    """Split names such as own_hva_sector_15 into own_hva_sector and 15."""
    matches = [re.fullmatch(r"(.*_sector)_(\d+)", name) for name in names]
    return [(name, m and m[1], m and int(m[2])) for name, m in zip(names, matches, strict=True)]


def compare(game, side, encoding):
    names = observation_names(encoding, game.config.board.outer_ring, counts_patrols=game.config.counts_patrols)
    values = game.observation(side, encoding)
    named = expected(game, side)
    assert len(names) == len(values) == len(set(names))
    unobserved = set(named)
    for (name, satellite, sector), element in zip(parsed(tuple(names)), values.tolist(), strict=True):
        if satellite:
            where = named.get(satellite, (None,))[0]
            assert element == (where == sector), name
            unobserved.discard(satellite)
            continue
        value, scale, token_scale = named.get(name, (0, 1, 1))
        unobserved.discard(name)
        if encoding == "onehot":
            assert abs(element - value * scale) <= 1e-6 * value + 1e-30, name
        else:
            assert element == min(int(value * token_scale + 0.5), 32_767), name
    assert unobserved == set()


@pytest.mark.slow
@settings(max_examples=30)
@given(games())
def test_elements_have_the_values_of_their_names(game):
    for side in SIDES:
        for encoding in ("onehot", "tokens"):
            compare(game, side, encoding)


@pytest.mark.parametrize("preset", OPEN_PRESETS)
def test_elements_have_the_values_of_their_names_in_presets(preset):
    game = Game(preset, seed=1)
    for phases in (0, 1, 6, 9):
        play_on(game, phases, phases)
        for side in SIDES:
            for encoding in ("onehot", "tokens"):
                compare(game, side, encoding)


@pytest.mark.parametrize(("encoding", "size", "kind"), [("onehot", 1591, np.float32), ("tokens", 249, np.int16)])
def test_sizes_are_the_same_for_all_presets(encoding, size, kind):
    for preset in preset_names():
        hides_enemies = load_config(preset).hides_enemies
        observation = Game(preset, seed=1).observation("alpha", encoding)
        assert (observation.shape, observation.dtype) == ((size + 13 * hides_enemies,), kind)
        assert len(observation_names(encoding, hides_enemies=hides_enemies)) == len(observation)
    assert observation_names(encoding, hides_enemies=True)[:size] == observation_names(encoding)


def test_larger_boards_lengthen_only_onehot():
    for outer_ring in range(6, 11):
        assert len(observation_names("tokens", outer_ring)) == 249
        assert len(observation_names("onehot", outer_ring)) == 1591 + 22 * (2 ** (outer_ring + 1) - 64)


def test_a_position_observed_by_both_sides():
    game = arrange(small(2), {0: (16, 70), 1: (22, 40, 0)}, {0: (23, 90), 1: (7, 100)}, turn=4, goal=[19, 27])
    names = observation_names("tokens")
    alpha, bravo = (dict(zip(names, game.observation(side, "tokens").tolist(), strict=True)) for side in SIDES)
    assert alpha["own_hva_sector"] == 28  # azimuth 1, the goal's is 4, on a ring of 16
    assert bravo["enemy_hva_sector"] == 20  # half a turn from there
    assert alpha["own_patrol_1_adjacent_to_enemy_hva"] == bravo["enemy_patrol_1_adjacent_to_own_hva"] == 1
    assert alpha["enemy_patrol_1_adjacent_to_own_hva"] == 1
    assert bravo["enemy_patrol_1_fuel"] == 40
    assert (alpha["own_patrol_2_active"], alpha["own_patrol_2_sector"] > 0) == (0, True)
    assert (alpha["turn"], alpha["turns_left"]) == (4, 46)
    assert alpha["goal_azimuth_bit_2"] == bravo["goal_azimuth_bit_2"] == 1


@pytest.mark.parametrize("encoding", ["onehot", "tokens"])
def test_bounds_are_those_of_the_names(encoding):
    bounds = dict(zip(observation_names(encoding), observation_bounds(encoding, 5).tolist(), strict=True))
    assert bounds["own_hva_active"] == 1
    assert bounds["own_hva_fuel"] == (100 if encoding == "onehot" else 10_000)
    assert bounds["enemy_shoot_odds_same"] == (1 if encoding == "onehot" else 1000)


def test_values_too_large_for_tokens_are_clipped():
    game = Game(load_config("geo_patrol", {"both.points.win": 1_000_000, "both.hva.weight": 100}), seed=1)
    observed = dict(zip(observation_names("tokens"), game.observation("alpha", "tokens").tolist(), strict=True))
    assert observed["own_win_score"] == observed["own_hva_weight"] == 32_767


@pytest.mark.parametrize("preset", ["case1", "geo_patrol_hidden"])
@pytest.mark.parametrize("encoding", ["onehot", "tokens"])
def test_observations_grow_where_there_are_points_for_patrols(preset, encoding):
    plain, config = load_config(preset), load_config(preset, {"alpha.points.patrol": 30})
    assert (plain.counts_patrols, config.counts_patrols) == (False, True)
    old, new = (Game(one, seed=3).observation("bravo", encoding) for one in (plain, config))
    names = observation_names(encoding, hides_enemies=config.hides_enemies, counts_patrols=True, outer_ring=4)
    added = [names.index(f"{whose}_patrol_points") for whose in ("own", "enemy")]
    assert new[added].tolist() == ([0, 3] if encoding == "onehot" else [0, 30])
    assert np.array_equal(np.delete(new, added), old)
    env = geo_patrol_v0.parallel_env(config=config, observation=encoding, mask_in="info")
    observations, _ = env.reset(seed=3)
    assert env.observation_space("bravo").contains(observations["bravo"])
    assert np.array_equal(observations["bravo"], new)
    assert make_vec(config, 2, observation=encoding).single_observation_space.shape[-1] == len(new)
