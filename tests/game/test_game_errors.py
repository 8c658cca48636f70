"""Invalid orders, seeds, encodings and saved games: one clear message, and no side effects."""

import re

import numpy as np
import pytest

from geo_patrol import (
    ConfigError,
    Game,
    Order,
    OrderError,
    RecordingError,
    SatelliteId,
    geo_patrol_v0,
    observation_names,
)
from tests.support.damage import damaged
from tests.support.positions import arrange
from tests.support.strategies import small


def threatened():
    """P1 of alpha is armed beside its HVA, P2 has no ammo, P3 little fuel, P4 none; bravo's P1 is near, its P2 inactive."""
    alpha = {0: 15, 1: 15, 2: (15, 100, 0), 3: (15, 4), 4: (15, 0)}
    return arrange(small(4), alpha, {0: 23, 1: 15, 2: (15, 0), 3: 9})


ENGAGEMENT_ORDERS = [
    ("P1", "order 'P1': an order has a satellite, an action and perhaps a target, such as"),
    ("P1 fire P1", "'fire' is not an action; actions are noop, prograde"),
    ("P11 guard", "order 'P11 guard': 'p11' is not a satellite; satellites are HVA and P1 to P10"),
    ("P1 shoot", "order 'P1 shoot': shoot needs a target, such as HVA or P3"),
    ("P1 guard HVA", "order 'P1 guard HVA': guard takes no target"),
    ("P5 guard", "alpha P5 guard: alpha has no P5"),
    ("P1 shoot P5", "alpha P1 shoot P5: bravo has no P5"),
    ("P1 shoot P3", "bravo:Patrol:3 in sector 9 is out of range of sector 15"),
    ("P1 shoot P2", "alpha P1 shoot P2: bravo:Patrol:2 is inactive"),
    ("P2 shoot P1", "alpha P2 shoot P1: P2 has no ammo"),
    ("P3 shoot P1", "alpha P3 shoot P1: it costs 5 fuel, and P3 has 4"),
    ("P4 shoot P1", "alpha P4 shoot P1: P4 has no fuel and takes no orders"),
    ("P1 prograde", "alpha P1 prograde: not in the engagement phase"),
    ("HVA collide P1", "alpha HVA collide P1: an HVA cannot collide"),
    ("P1 guard; P1 shoot P1", "alpha P1 shoot P1: P1 has an order already"),
    (["P1 noop", "P1 guard"], "alpha P1 guard: P1 has an order already"),
    (7, "orders must be texts or Order objects, got 7"),
    ([7], "order 7: an order has a satellite, an action and perhaps a target, such as"),
    ({"one": "guard"}, "'one' is not a satellite"),
    ({1: 27}, "'27' is not an action"),
    (np.zeros(11), "orders must be 11 integers, got shape (11,) of float64"),
    (np.full(11, 28), "order code must be an integer from 0 to 27, got 28"),
    (np.full(11, -1), "order code must be an integer from 0 to 27, got -1"),
]


@pytest.mark.parametrize(("order", "message"), ENGAGEMENT_ORDERS, ids=lambda value: str(value)[:30])
def test_invalid_order(order, message):
    game = threatened()
    before = game.save()
    for orders in ({"alpha": order}, {"alpha": order, "bravo": "P1 shoot P1"}):
        with pytest.raises(OrderError, match=re.escape(message)):
            game.step(**orders)
    assert game.save() == before
    assert game == threatened()


def test_orders_of_both_sides_are_checked_before_the_step():
    game = threatened()
    with pytest.raises(OrderError, match=r"bravo P2 shoot P1: P2 has no fuel and takes no orders"):
        game.step(alpha="P1 shoot P1", bravo="P2 shoot P1")
    assert game == threatened()


def test_order_off_the_board_or_out_of_phase():
    game = Game(seed=1)
    before = game.save()
    with pytest.raises(OrderError, match="alpha P1 radial_out: ring 4 is the outermost of the board"):
        game.step(alpha="P1 radial_out")
    with pytest.raises(OrderError, match="alpha P1 shoot P1: not in the movement phase"):
        game.step(alpha="P1 shoot P1")
    assert game.save() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((11, "guard"), "order: satellite must be an integer from 0 (HVA) to 10, got 11"),
        (("P1", "guard"), "order: satellite must be an integer from 0 (HVA) to 10, got 'P1'"),
        ((1, "fly"), "order: action must be one of noop, prograde, "),
        ((1, "shoot"), "order: target = None: shoot needs an enemy's number, 0 to 10"),
        ((1, "collide", 11), "order: target = 11: collide needs an enemy's number"),
        ((1, "guard", 0), "order: target = 0: guard takes no target"),
    ],
)
def test_order_objects(arguments, message):
    with pytest.raises(OrderError, match=re.escape(message)):
        Order(*arguments)


@pytest.mark.parametrize("text", ["alpha:Patrol:11", "alpha:Patrol:0", "alpha:HVA:1", "gamma:HVA:0", "P3"])
def test_satellite_names(text):
    with pytest.raises(
        OrderError, match=rf"satellite must be a name such as alpha:Patrol:3 or bravo:HVA:0, .*, got '{text}'"
    ):
        SatelliteId.parse(text)


def test_unknown_sides_and_satellites():
    game = Game(seed=1)
    with pytest.raises(OrderError, match="side must be 'alpha' or 'bravo', got 'gamma'"):
        game.satellites("gamma")
    for number in (11, -1):
        with pytest.raises(OrderError, match=rf"satellite {number}: alpha has 0 \(HVA\) to 10"):
            game.satellite("alpha", number)


@pytest.mark.parametrize("seed", [-1, True, "3", np.float64(2)])
def test_seed(seed):
    message = re.escape(f"seed must be a non-negative integer, got {seed!r}")
    with pytest.raises(ValueError, match=message):
        Game(seed=seed)
    with pytest.raises(ValueError, match=message):
        Game(seed=1).fork(seed)
    env = geo_patrol_v0.parallel_env()
    env.reset(seed=5)
    before = env.save()
    with pytest.raises(ValueError, match=message):
        env.reset(seed=seed)
    assert env.save() == before


@pytest.mark.parametrize("encoding", ["one_hot", ["tokens"]])
def test_unknown_encoding(encoding):
    with pytest.raises(ValueError, match="must be 'onehot', 'tokens' or a"):
        Game(seed=1).observation("alpha", encoding)
    with pytest.raises(ValueError, match="must be 'onehot', 'tokens' or a"):
        observation_names(encoding)


def midway():
    game = Game(seed=3)
    game.step(alpha="P1 prograde", bravo="P2 radial_in")
    return game


SAVED = [
    ("format", "chess", "format must be 'geo_patrol game', got 'chess'"),
    ("version", 2, "version must be at most 1, got 2"),
    ("chance", [], "chance must be a table, got []"),
    ("chance.key", -1, "chance.key must be at least 0, got -1"),
    ("chance.counter", 2**64, "chance.counter must be below"),
    ("chance.dice", 6, "chance.dice = 6: there is no such key"),
    ("position.turn", -1, "position.turn must be at least 0, got -1"),
    ("position.turn", 10**9, "position.turn must be at most 10000, got 1000000000"),
    ("position.phase", "lunch", "position.phase must be 'movement', 'engagement' or 'drift', got 'lunch'"),
    (
        "position.phase",
        "drift",
        "a game must be over in its drift, for a reason, got phase 'drift', done False, reasons 0",
    ),
    ("position.done", True, "done True, reasons 0"),
    ("position.reasons", 512, "position.reasons must be below 512, got 512"),
    ("position.winner", "alpha", "position.winner = 'alpha': there is no such key"),
    ("position.goal.0", 7, "goal.0 must be a sector of the goal ring, 4, got 7"),
    ("position.goal.0", 18, "goal sectors must be opposite each other, got 18 and 23"),
    ("position.goal_points.0", 2**31 - 1, "position.goal_points.0 must be at most"),
    ("position.turn", 50, "turn must be less than 50, got 50"),
    ("config.extends", "od2d", "extends = 'od2d': there is no such key"),
    ("position.illegal_orders.0", 12, "position.illegal_orders.0 must be at most 11, got 12"),
    ("position.sector.0", 15, "position.sector.0 must be a list, got 15"),
    ("position.sector.0", [15] * 10, "sector, fuel, ammo and destroyed must be equally long"),
    ("position.sector.0", [15] * 12, "position.sector.0 must have a length of at most 11"),
    ("position.sector.0.3", 0, "sector.0.3 must be a sector of rings 1 to 4, got 0"),
    ("position.fuel.1.0", 101, "fuel.1.0 must be at most 100, as at the start, got 101"),
    ("position.ammo.1.4", 2, "ammo.1.4 must be at most 1, as at the start, got 2"),
    ("position.destroyed.1.4", 1, "fuel.1.4 of a destroyed satellite must be 0, got 100"),
    ("position.shield", 1, "position.shield = 1: there is no such key"),
    ("config", 3, "config must be a table, got 3"),
    ("config.bravo.patrols.formation", [[0, 4]], "bravo has 11 satellites; its configuration gives it 5"),
    ("config.alpha.patrols.fuel", 90, "fuel.0.1 must be at most 90, as at the start, got 95"),
]


@pytest.mark.parametrize(("path", "value", "message"), SAVED)
def test_saved_game_that_is_damaged(path, value, message):
    with pytest.raises((RecordingError, ConfigError), match=re.escape(message)):
        Game.restore(damaged(midway().save(), path, value))


@pytest.mark.parametrize(
    ("actions", "found"),
    [
        (np.zeros((2, 11)), r"\(2, 11\) of float64"),
        (np.zeros((2, 10), np.int64), r"\(2, 10\) of int64"),
        (np.zeros(22, np.int64), r"\(22,\) of int64"),
    ],
)
def test_actions_that_are_no_order_codes(actions, found):
    game = midway()
    before = game.copy()
    with pytest.raises(ValueError, match=rf"actions must be integers of shape \(2, 11\), got {found}"):
        game.step_actions(actions)
    assert game == before


@pytest.mark.parametrize("saved", [None, [], "game", {}])
def test_source_that_is_not_a_saved_game(saved):
    with pytest.raises(RecordingError, match="saved game: "):
        Game.restore(saved)
