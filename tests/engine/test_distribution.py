"""The exact distribution of an engagement, against the engine's sampling and against odds worked out by hand."""

from collections import Counter

import numpy as np
import pytest

from geo_patrol import OrderError
from geo_patrol.base.board import adjacent_sectors
from geo_patrol.base.sides import SIDES
from geo_patrol.engine.distribution import outcome_distribution
from geo_patrol.engine.engagement import enact_engagements, pay_for_engagements, resolve_engagements, resolve_repeatedly
from geo_patrol.engine.legal import sample_legal
from geo_patrol.engine.state import make_outcomes
from geo_patrol.game.notation import order_codes
from geo_patrol.replays.odds import survival
from tests.support.positions import arrange
from tests.support.strategies import small

DRAWS = 200_000
POSITIONS = 1_500
ODDS = {"shoot": [0.8, 0.4], "collide": [0.6, 0.3], "guard": [0.7, 0.35]}
CROWD = {
    "guards of both sides": (
        "P1 guard; P2 guard; P3 shoot HVA; P4 collide HVA",
        "P1 guard; P2 collide HVA; P3 shoot HVA; P4 shoot P2",
    ),
    "collisions that depend on each other": (
        "P1 collide P1; P2 collide P1; P3 collide P2; P4 collide HVA",
        "P1 collide P2; P2 collide P1; P3 collide P1",
    ),
    "shots at once": ("P1 shoot P1; P2 shoot P1; P3 shoot P2", "P1 shoot P1; P2 shoot P1; P3 shoot P3"),
}


def crowded(odds=ODDS):
    sectors = {0: (15, 60), **dict.fromkeys(range(1, 5), (15, 60, 1))}
    return arrange(small(odds=odds), sectors | {2: (16, 60, 1), 4: (16, 60, 1)}, sectors | {3: (30, 60, 1)})


def paid(game, alpha, bravo):
    batch = game.repeat(1, same_chance=True).state
    codes = np.array([order_codes(alpha, "alpha"), order_codes(bravo, "bravo")])
    pay_for_engagements(batch.games[0], batch.rules[0], codes)
    return batch, codes


def before_the_drift(game, alpha, bravo):
    state = game.as_games().state
    codes = np.array([order_codes(alpha, "alpha"), order_codes(bravo, "bravo")])
    return outcome_distribution(state.games[0], state.rules[0], codes)


def destroyed_bits(positions):
    flags = positions["destroyed"].reshape(len(positions), -1).astype(np.int64)
    return flags @ (1 << np.arange(flags.shape[1]))


def p_value(expected, counts):
    """Return the chi-square p-value of counts under expected ones; categories expected less than 10 times are pooled."""
    pooled = [[0.0, 0]]
    for category, mean in expected.items():
        pair = [mean, counts[category]]
        if mean < 10:
            pooled[0] = [pooled[0][0] + mean, pooled[0][1] + pair[1]]
        else:
            pooled.append(pair)
    pairs = [pair for pair in pooled if pair[0] > 0]
    return survival(sum((count - mean) ** 2 / mean for mean, count in pairs), len(pairs) - 1)


def assert_destroyed_as_often_as_in_the_sampler(game, orders, draws):
    """Compare how often each set of satellites is destroyed; return how many sets there are."""
    positions, probabilities = before_the_drift(game, *orders)
    assert probabilities.min() > 0
    assert abs(probabilities.sum() - 1) < 1e-12
    batch, codes = paid(game, *orders)
    sampled, kinds = np.empty(draws, np.int64), np.empty((draws, 3), np.int64)
    resolve_repeatedly(batch.games[0], batch.rules[0], codes, make_outcomes(), sampled, kinds)
    expected = Counter()
    for bits, probability in zip(destroyed_bits(positions).tolist(), probabilities.tolist(), strict=True):
        expected[bits] += probability * draws
    counts = Counter(sampled.tolist())
    assert set(counts) <= set(expected)
    assert p_value(expected, counts) > 1e-4
    return len(expected)


@pytest.mark.parametrize("orders", CROWD.values(), ids=CROWD)
def test_destroyed_satellites_are_as_frequent_as_in_the_sampler(orders):
    assert_destroyed_as_often_as_in_the_sampler(crowded(), orders, DRAWS)


def random_crowd(seed):
    """Return an engagement phase with all satellites in the same or adjacent sectors, and orders: nearly all engage."""
    rng = np.random.default_rng(seed)
    fleets = {side: {"patrols": {"formation": [[0, int(rng.integers(2, 6))]], "ammo": 1}} for side in SIDES}
    for table in fleets.values():
        table["odds"] = {name: rng.uniform(0, 1, 2).round(2).tolist() for name in ODDS}
    center = int(rng.integers(7, 15))
    crowd = [center, center, *adjacent_sectors(center, 4)]
    sectors = [dict(enumerate(rng.choice(crowd, 11).tolist())) for _ in SIDES]
    game = arrange({"extends": "geo_patrol", **fleets}, *sectors, seed=seed)
    masks = np.stack([game.action_mask(side) for side in SIDES])
    masks[..., 0] = (masks[..., 1:].max(axis=-1) == 0) | (rng.random(masks.shape[:2]) < 0.1)
    return game, sample_legal(masks, rng)


@pytest.mark.parametrize("seed", range(1000, 1008))
def test_random_crowds_agree_with_the_sampler(seed):
    assert assert_destroyed_as_often_as_in_the_sampler(*random_crowd(seed), 20_000) > 1


@pytest.mark.slow
@pytest.mark.parametrize("orders", CROWD.values(), ids=CROWD)
def test_positions_are_as_frequent_as_in_the_sampler(orders):
    game = crowded()
    positions, probabilities = before_the_drift(game, *orders)
    names = [field for field in positions.dtype.names if field not in ("rng_key", "rng_counter", "outcome_count")]

    def key(position):
        return tuple(np.asarray(position[name]).tobytes() for name in names)

    batch, codes = paid(game, *orders)
    counts = Counter()
    for _ in range(POSITIONS):
        position = batch.games.copy()
        outcomes = make_outcomes()
        count = resolve_engagements(batch.games[0], batch.rules[0], codes, None, outcomes)
        enact_engagements(position[0], batch.rules[0], outcomes, count)
        counts[key(position[0])] += 1
    expected = {key(position): mean for position, mean in zip(positions, probabilities * POSITIONS, strict=True)}
    assert len(expected) == len(positions)
    assert set(counts) <= set(expected)
    assert p_value(expected, counts) > 1e-4


def test_a_guard_halves_its_odds_for_the_second_attack():
    game = crowded({"shoot": [1, 1], "collide": [1, 1], "guard": [0.8, 0.8]})
    games, probabilities = game.outcome_distribution("P1 shoot HVA; P3 shoot HVA", "P1 guard")
    hva_lives = probabilities[games.destroyed[:, 1, 0] == 0].sum()
    assert hva_lives == pytest.approx(0.8 * 0.4, abs=1e-12)


def test_certain_odds_leave_one_position_and_the_game_as_it_is():
    game = crowded({"shoot": [1, 1], "collide": [1, 1], "guard": [1, 1]})
    before = game.copy()
    games, probabilities = game.outcome_distribution("P1 shoot P1", "P1 shoot P1")
    assert probabilities.tolist() == [1]
    assert games.destroyed[0, :, 1].tolist() == [1, 1]
    assert game == before


def test_too_many_branches_and_other_phases_are_refused(monkeypatch):
    monkeypatch.setattr("geo_patrol.engine.distribution.MAX_BRANCHES", 10)
    with pytest.raises(OrderError, match="more than 10 random branches"):
        crowded().outcome_distribution(*CROWD["guards of both sides"])
    with pytest.raises(OrderError, match="only an engagement phase"):
        arrange(small(), {0: 15}, {0: 23}, phase="movement").outcome_distribution()
