"""Bad input gets one clear message: where it is, what it is, what would be right; and nothing has changed after it."""

import copy
import json
import re

import numpy as np
import pytest
from strategies import arrange, small

from geo_patrol import (
    AgentError,
    ConfigError,
    Game,
    Order,
    OrderError,
    RecordingError,
    SatelliteId,
    geo_patrol_v0,
    load_config,
    observation_names,
)
from geo_patrol import make_agent as agent_by_name
from geo_patrol.envs.solo import SoloGeoPatrol
from geo_patrol.envs.spaces import OrderSpace

NOOPS = np.zeros(11, np.int64)
MISSING = object()

# Configurations

OVERRIDES = [
    ("trun_limit", 50, "trun_limit = 50: there is no such key; did you mean turn_limit?"),
    ("board.middle_ring", 2, "board.middle_ring = 2: there is no such key; did you mean inner_ring?"),
    ("alpha.hvas", {}, "alpha.hvas = {}: there is no such key; did you mean hva?"),
    ("alpha.hva.mass", 2, "alpha.hva.mass = 2: there is no such key; the keys here are fuel, ammo, weight"),
    ("bravo.patrols.amo", 3, "bravo.patrols.amo = 3: there is no such key; did you mean ammo?"),
    ("bravo.costs.shot", 3, "bravo.costs.shot = 3: there is no such key; did you mean shoot?"),
    ("bravo.odds.ram", 1, "bravo.odds.ram = 1: there is no such key; the keys here are shoot, collide, guard"),
    ("alpha.points.wins", 1, "alpha.points.wins = 1: there is no such key; did you mean win?"),
    ("both.patrol.fuel", 3, "bravo.patrol = {'fuel': 3}: there is no such key; did you mean patrols?"),
    ("", 1, " = 1: there is no such key"),
    ("turn_limit", "many", "turn_limit = 'many': give a whole number from 1 to 10000"),
    ("turn_limit", 0, "turn_limit = 0: give a whole number from 1 to 10000"),
    ("turn_limit", {"low": 10, "high": 20}, "turn_limit = {'low': 10, 'high': 20}: give a whole number"),
    ("title", 3, "title = 3: give a text in quotes"),
    ("rules", "Book", "rules = 'Book': give 'book' or 'code'"),
    ("illegal_orders", "raise", "illegal_orders = 'raise': give 'noop' or 'forfeit'"),
    ("mirror", 3, "mirror = 3: give true or false"),
    ("board", 4, "board = 4: give a table"),
    ("alpha", "strong", "alpha = 'strong': give a table"),
    ("board.inner_ring", 0, "board.inner_ring = 0: give a whole number from 1 to 10"),
    ("board.outer_ring", 11, "board.outer_ring = 11: give a whole number from 1 to 10"),
    ("board.inner_ring", 5, "board.inner_ring = 5: give a ring not beyond the outer one, 4"),
    ("board.goal_ring", 5, "board.goal_ring = 5: give a ring of the board, 1 to 4"),
    ("board.outer_ring", 3, "board.goal_ring = 4: give a ring of the board, 1 to 3"),
    ("board.goal_ring", True, "board.goal_ring = True: give a whole number from 1 to 10"),
    ("alpha.hva.fuel", True, "alpha.hva.fuel = True: give a whole number from 1 to 10000"),
    ("alpha.hva.fuel", 0, "alpha.hva.fuel = 0: give a whole number from 1 to 10000"),
    ("alpha.hva.fuel", 99.5, "alpha.hva.fuel = 99.5: give a whole number from 1 to 10000"),
    ("alpha.hva.fuel", float("nan"), "alpha.hva.fuel = nan: give a whole number from 1 to 10000"),
    ("alpha.hva.fuel", float("inf"), "alpha.hva.fuel = inf: give a whole number from 1 to 10000"),
    ("alpha.hva.fuel", None, "alpha.hva.fuel = None: give a whole number from 1 to 10000"),
    ("alpha.hva.weight", -1, "alpha.hva.weight = -1: give a number from 0 to 100"),
    ("alpha.hva.weight", float("nan"), "alpha.hva.weight = nan: give a number from 0 to 100"),
    ("bravo.patrols.weight", "car", "bravo.patrols.weight = 'car': give a number from 0 to 100, or \"auto\""),
    ("bravo.patrols.ammo", -1, "bravo.patrols.ammo = -1: give a whole number from 0 to 1000"),
    ("bravo.patrols.count", 11, "bravo.patrols.count = 11: give a whole number from 1 to 10"),
    ("bravo.patrols.fuel", [100], "bravo.patrols.fuel = [100]: give a whole number from 1 to 10000"),
    ("alpha.patrols.formation", [], "alpha.patrols.formation = []: give a list of [azimuth offset"),
    ("alpha.patrols.formation", [[0, 6], [1, 5]], "formation of at most 10 Patrols; these are 11"),
    ("alpha.patrols.formation", [[0, 0]], "alpha.patrols.formation = [[0, 0]]: give a whole number from 1 to 10"),
    ("alpha.patrols.formation", [[0.5, 1]], "[[0.5, 1]]: give a whole number from -1023 to 1023"),
    ("alpha.patrols.formation", [[1, 2, 3]], "[[1, 2, 3]]: give a list of [azimuth offset from the goal sector"),
    ("alpha.patrols.formation", {"low": 1, "high": 2}, "give a single value or { choices = [..] }"),
    ("alpha.costs.prograde", -5, "alpha.costs.prograde = -5: give a whole number from 0 to 10000"),
    ("alpha.costs.radial_in", 2.5, "alpha.costs.radial_in = 2.5: give a whole number from 0 to 10000"),
    ("alpha.costs.shoot", 5, "alpha.costs.shoot = 5: give a pair [same sector, adjacent sector]"),
    ("alpha.costs.guard", [5, -10], "alpha.costs.guard.1 = -10: give a whole number from 0 to 10000"),
    ("alpha.odds.shoot", [0.8, 0.4, 0.2], "alpha.odds.shoot = [0.8, 0.4, 0.2]: give a pair"),
    ("alpha.odds.shoot", "ab", "alpha.odds.shoot = 'ab': give a pair [same sector, adjacent sector]"),
    ("alpha.odds.shoot", [1.1, 0.4], "alpha.odds.shoot.0 = 1.1: give a number from 0 to 1"),
    ("alpha.odds.guard", [0.8, -0.1], "alpha.odds.guard.1 = -0.1: give a number from 0 to 1"),
    ("alpha.odds.guard", [0.8, "0.4"], "alpha.odds.guard.1 = '0.4': give a number from 0 to 1"),
    ("alpha.odds.guard", [True, 0.4], "alpha.odds.guard.0 = True: give a number from 0 to 1"),
    ("alpha.points.goal", -10, "alpha.points.goal = -10: give a whole number from 0 to 10000"),
    ("alpha.points.win", 0, "alpha.points.win = 0: give a whole number from 1 to 1000000"),
    ("alpha.hva.ammo", {"low": 3, "high": 1}, "alpha.hva.ammo = {'low': 3, 'high': 1}: give a range whose low is not"),
    ("alpha.hva.ammo", {"low": 3}, "give a single value or { low = .., high = .. } or { choices = [..] }"),
    ("alpha.hva.ammo", {"low": -1, "high": 1}, "alpha.hva.ammo = {'low': -1, 'high': 1}: give a whole number from 0"),
    ("alpha.hva.ammo", {"choices": []}, "alpha.hva.ammo = {'choices': []}: give a list of 1 to 1000 choices"),
    ("alpha.hva.ammo", {"choices": [1, "x"]}, "give a whole number from 0 to 1000"),
    ("alpha.hva.fuel.units", 3, "override alpha.hva.fuel.units = 3: fuel is a single value and has no keys"),
    ("variants", 5, "variants = 5: give a list"),
    ("variants", [{"alpha": {}}], "variants.0.name is missing"),
    ("variants", [{"name": "a", "chance": 0}], "variants.0.chance = 0: give a whole number from 1 to 1000000"),
    ("variants", [{"name": "a", "gamma": 0}], "variants.0.gamma = 0: there is no such key"),
    (
        "variants",
        [{"name": "a"}, {"name": "b", "alpha": {"patrols": {"amo": 3}}}],
        "variants.1.alpha.patrols.amo = 3: there is no such key; did you mean ammo?",
    ),
    (
        "variants",
        [{"name": "a", "bravo": {"odds": {"shoot": [2, 0]}}}],
        "variants.0.bravo.odds.shoot.0 = 2: give a number from 0 to 1",
    ),
    ("variants", [{"name": "a"}] * 101, "variants = '101 variants': give at most 100"),
]


@pytest.mark.parametrize(("key", "value", "message"), OVERRIDES)
def test_configuration_with_a_wrong_value(key, value, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config("geo_patrol", {key: value})


def test_configuration_lists_all_faults():
    with pytest.raises(ConfigError) as fault:
        load_config("geo_patrol", {"turn_limit": 0, "alpha.odds.shoot": [2, 2], "bravo.hva.fule": 1})
    assert str(fault.value).splitlines()[0] == "geo_patrol.toml with overrides: 4 faults"
    assert len(str(fault.value).splitlines()) == 5


@pytest.mark.parametrize("key", ["turn_limit", "board", "alpha", "alpha.hva", "bravo.odds.guard", "board.goal_ring"])
def test_configuration_with_a_missing_key(key):
    data = load_config("geo_patrol").to_dict()
    *path, last = key.split(".")
    table = data
    for step in path:
        table = table[step]
    del table[last]
    with pytest.raises(ConfigError, match=rf"{re.escape(key)} is missing"):
        load_config(data)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("turn_limit", "override 'turn_limit': give key=value, such as bravo.patrols.ammo=3"),
        ("=3", "override '=3': give key=value"),
        ("alpha.hva.fuel=lots", "alpha.hva.fuel = 'lots': give a whole number from 1 to 10000"),
        ("alpha.odds.shoot=[0.8", "alpha.odds.shoot = '[0.8': give a pair"),
        ("turn_limit.x=3", "override turn_limit.x = 3: turn_limit is a single value and has no keys"),
    ],
)
def test_override_as_text(override, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config("geo_patrol", [override])


def test_override_with_a_key_that_is_no_text():
    with pytest.raises(ConfigError, match="override 3: give a dotted key"):
        load_config("geo_patrol", {3: 4})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("geo_patrl", "there is no preset 'geo_patrl'; did you mean 'geo_patrol'? The presets are: case1,"),
        ("chess", "there is no preset 'chess'"),
        (
            "nowhere/game.toml",
            "there is no configuration file 'nowhere/game.toml': give the path of a TOML file, or a preset: case1",
        ),
        ("a\0b.toml", "there is no configuration file 'a\\x00b.toml': give the path of"),
        (None, "config = None: give a preset's name, a path, a mapping or a GameConfig"),
        (7, "config = 7: give a preset's name"),
        ({}, "alpha is missing"),
        ({"extends": 3}, "configuration: extends = 3: give a preset's name or a path"),
        ({"extends": "cas1"}, "there is no preset 'cas1'; did you mean 'case1'?"),
        ({"extends": "geo_patrol", "both": 3}, "configuration: both = 3: give a table of values of both sides"),
        ({"extends": "geo_patrol", "alpha": 3}, "alpha = 3: give a table"),
    ],
)
def test_configuration_that_is_none(source, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config(source)


def test_configuration_file_that_is_not_toml(tmp_path):
    path = tmp_path / "game.toml"
    for content in (b"turn_limit = = 3", b"\xff\xfe", b"x = " + b"[" * 5000):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=r"game\.toml is not a TOML file: "):
            load_config(path)


def test_configuration_file_that_is_too_large(tmp_path):
    path = tmp_path / "game.toml"
    path.write_text("# " + "x" * (1 << 20))
    with pytest.raises(ConfigError, match=r"is larger than 65,536 bytes"):
        load_config(path)


def test_configuration_files_that_extend_in_a_circle(tmp_path):
    (tmp_path / "a.toml").write_text('extends = "b.toml"')
    (tmp_path / "b.toml").write_text('extends = "a.toml"')
    with pytest.raises(ConfigError, match=r"more than 8 files extend each other, or in a circle"):
        load_config(tmp_path / "a.toml")


def test_configuration_file_that_extends_a_missing_one(tmp_path):
    (tmp_path / "a.toml").write_text('extends = "none.toml"')
    with pytest.raises(ConfigError, match=r"there is no configuration file '.*none\.toml'"):
        load_config(tmp_path / "a.toml")


def test_configuration_with_a_count_above_its_formation():
    formation = {"alpha.patrols.formation": {"choices": [[[0, 5]], [[0, 2]]]}, "alpha.patrols.count": 3}
    with pytest.raises(ConfigError, match=r"alpha\.patrols\.count = 3: give at most 2, the Patrols of the formation"):
        load_config("geo_patrol", formation)


# Orders


def threatened():
    """P1 of alpha is armed beside its HVA, P2 has fired, P3 is poor, P4 is out; bravo's P1 is near, its P2 is out."""
    alpha = {0: 15, 1: 15, 2: (15, 100, 0), 3: (15, 4), 4: (15, 0)}
    return arrange(small(4), alpha, {0: 23, 1: 15, 2: (15, 0), 3: 9})


ENGAGEMENT_ORDERS = [
    ("P1", "order 'P1': give satellite, action and perhaps target"),
    ("P1 shoot P1 now", "order 'P1 shoot P1 now': give satellite, action"),
    ("P1 fire P1", "'fire' is no action; give one of noop, prograde"),
    ("P11 guard", "order 'P11 guard': 'p11' is no satellite; give HVA or P1 to P10"),
    ("P0 guard", "'p0' is no satellite"),
    ("Q1 guard", "'q1' is no satellite"),
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
    ("HVA guard", "alpha HVA guard: an HVA cannot guard"),
    ("P1 guard; P1 shoot P1", "alpha P1 shoot P1: P1 has an order already"),
    (["P1 noop", "P1 guard"], "alpha P1 guard: P1 has an order already"),
    (7, "orders 7: give texts or Order objects"),
    ([7], "order 7: give satellite, action"),
    ({"one": "guard"}, "'one' is no satellite"),
    ({1: 27}, "'27' is no action"),
    (np.zeros(11), "orders of shape (11,), float64: give 11 whole numbers"),
    (np.zeros(10, int), "orders of shape (10,), int64: give 11 whole numbers"),
    (np.full(11, 28), "order code 28: give a whole number from 0 to 27"),
    (np.full(11, -1), "order code -1: give a whole number from 0 to 27"),
    (np.full(11, 2**40), f"order code {2**40}: give a whole number"),
]


@pytest.mark.parametrize(("order", "message"), ENGAGEMENT_ORDERS, ids=lambda value: str(value)[:30])
def test_order_that_cannot_be_given(order, message):
    game = threatened()
    before = game.save()
    for orders in ({"alpha": order}, {"alpha": order, "bravo": "P1 shoot P1"}):
        with pytest.raises(OrderError, match=re.escape(message)):
            game.step(**orders)
    assert game.save() == before
    assert game == threatened()


def test_order_of_the_second_side_is_judged_before_anything_happens():
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


def test_order_after_the_end():
    game = arrange(small(), {0: 15}, {0: 23}, turn=49)
    game.step()
    before = game.save()
    with pytest.raises(OrderError, match=re.escape("the game is over: turn_limit")):
        game.step(alpha="P1 noop")
    assert game.save() == before


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((11, "guard"), "order: satellite = 11: give a number from 0 (HVA) to 10"),
        ((True, "guard"), "order: satellite = True: give a number"),
        (("P1", "guard"), "order: satellite = 'P1': give a number"),
        ((1, "fly"), "order: action = 'fly': give one of noop, prograde"),
        ((1, "shoot"), "order: target = None: shoot needs an enemy's number, 0 to 10"),
        ((1, "collide", 11), "order: target = 11: collide needs an enemy's number"),
        ((1, "guard", 0), "order: target = 0: guard takes no target"),
    ],
)
def test_order_objects(parts, message):
    with pytest.raises(OrderError, match=re.escape(message)):
        Order(*parts)


@pytest.mark.parametrize("text", ["alpha:Patrol:11", "alpha:Patrol:0", "alpha:HVA:1", "gamma:HVA:0", "P3", ""])
def test_satellite_names(text):
    with pytest.raises(OrderError, match=rf"satellite '{text}': give a name such as alpha:Patrol:3 or bravo:HVA:0"):
        SatelliteId.parse(text)


def test_sides_and_satellites_that_there_are_not():
    game = Game(seed=1)
    with pytest.raises(OrderError, match="side 'gamma': give alpha or bravo"):
        game.satellites("gamma")
    for number in (11, -1):
        with pytest.raises(OrderError, match=rf"satellite {number}: alpha has 0 \(HVA\) to 10"):
            game.satellite("alpha", number)


# Seeds


@pytest.mark.parametrize("seed", [-1, 1.5, True, "3", np.float64(2)])
def test_seed(seed):
    message = re.escape(f"seed = {seed!r}: give a whole number from 0 on")
    with pytest.raises(ValueError, match=message):
        Game(seed=seed)
    with pytest.raises(ValueError, match=message):
        Game(seed=1).fork(seed)
    for make in (geo_patrol_v0.parallel_env, geo_patrol_v0.env):
        env = make()
        env.reset(seed=5)
        before = env.save()
        with pytest.raises(ValueError, match=message):
            env.reset(seed=seed)
        assert env.save() == before


# Actions


def played_env():
    env = geo_patrol_v0.parallel_env()
    env.reset(seed=5)
    env.step(env.sample_actions())
    return env


def both(bravo):
    return {"alpha": NOOPS, "bravo": bravo}


ACTIONS = [
    (None, "actions = None: give a dict with the orders of alpha and of bravo"),
    (5, "actions = 5: give a dict"),
    ("alpha", "actions = alpha: give a dict"),
    ([NOOPS, NOOPS], "give a dict with the orders of alpha and of bravo"),
    ({}, "actions = {}: give a dict"),
    ({"alpha": NOOPS}, "give a dict with the orders of alpha and of bravo"),
    ({"alpha": NOOPS, "gamma": NOOPS}, "give a dict with the orders of alpha and of bravo"),
    ({"alpha": NOOPS, "bravo": NOOPS, "gamma": NOOPS}, "give a dict with the orders of alpha and of bravo"),
    (both(None), "action of bravo has shape (): give 11 order codes, one a satellite"),
    (both(3), "action of bravo has shape ()"),
    (both("P1 prograde"), "action of bravo has shape ()"),
    (both({0: 1}), "action of bravo has shape ()"),
    (both(np.zeros(10, int)), "action of bravo has shape (10,): give 11 order codes, one a satellite"),
    (both(np.zeros((11, 1), int)), "action of bravo has shape (11, 1)"),
    (both(np.zeros((1, 11), int)), "action of bravo has shape (1, 11)"),
    (both(np.full(11, 0.5)), "give whole numbers, not float64"),
    (both(np.full(11, np.nan)), "action of bravo = [nan nan"),
    (both(np.full(11, np.inf, np.float32)), "give whole numbers, not float32"),
    (both(["noop"] * 11), "give whole numbers, not <U4"),
    (both([None] * 11), "give whole numbers, not object"),
    (both([10**30] * 11), "give whole numbers, not object"),
    (both([True] * 11), "give whole numbers, not bool"),
    (both(NOOPS * 1j), "give whole numbers, not complex128"),
    (both([1, [2]]), "inhomogeneous shape"),
]


@pytest.mark.parametrize(("actions", "message"), ACTIONS, ids=lambda value: str(value)[:40].replace("\n", ""))
def test_actions_that_are_none(actions, message):
    env = played_env()
    before, agents = env.save(), env.agents
    with pytest.raises(ValueError, match=re.escape(message)):
        env.step(actions)
    assert env.save() == before
    assert env.agents == agents


@pytest.mark.parametrize("action", [both(NOOPS)["bravo"][:10], np.full(11, 0.5), None, ["x"] * 11])
def test_actions_that_are_none_may_be_given_anew(action):
    aec, solo = geo_patrol_v0.raw_env(), SoloGeoPatrol()
    aec.reset(seed=5)
    solo.reset(seed=5)
    for agent in ("alpha", "bravo"):
        before = aec.save()
        with pytest.raises(ValueError, match=f"action of {agent}"):
            aec.step(action)
        assert aec.save() == before
        aec.step(NOOPS)
    before = solo.save()
    with pytest.raises(ValueError, match="action of alpha"):
        solo.step(action)
    assert solo.save() == before


@pytest.mark.parametrize(
    "codes",
    [
        [-1] * 11,
        [28] * 11,
        [2**63 - 1] * 11,
        [-(2**63)] * 11,
        [2**63] * 11,
        np.full(11, 2**64 - 1, np.uint64),
        np.full(11, -128, np.int8),
        np.full(11, 1e300),
        np.full(11, -1e300),
        np.full(11, 27.0),
    ],
    ids=str,
)
def test_actions_out_of_range_count_as_illegal_and_do_nothing(codes):
    env, idle = played_env(), played_env()
    _, _, _, _, infos = env.step(both(codes))
    idle.step(both(NOOPS))
    assert infos["bravo"]["illegal_orders"] == 11
    assert infos["alpha"]["illegal_orders"] == 0
    assert env.game() == idle.game()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, ">i8", np.float32, list])
def test_actions_of_every_whole_type_are_understood(kind):
    codes = [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 1]
    one, other = geo_patrol_v0.parallel_env(), geo_patrol_v0.parallel_env()
    one.reset(seed=5)
    other.reset(seed=5)
    one.step(both(np.array(codes)))
    _, _, _, _, infos = other.step(both(codes if kind is list else np.array(codes).astype(kind)))
    assert infos["bravo"]["illegal_orders"] == 0
    assert one.game() == other.game()


def test_step_before_reset():
    with pytest.raises(RuntimeError, match="call reset before step"):
        geo_patrol_v0.parallel_env().step(both(NOOPS))
    with pytest.raises(RuntimeError, match="the game is over, or has not begun: call reset"):
        SoloGeoPatrol().step(NOOPS)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        geo_patrol_v0.env().step(NOOPS)


@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, geo_patrol_v0.raw_env, SoloGeoPatrol])
@pytest.mark.parametrize("look", ["game", "render"])
def test_looking_before_reset(make, look):
    with pytest.raises(RuntimeError, match="call reset first"):
        getattr(make(render_mode="ansi"), look)()


def test_sampling_before_reset():
    with pytest.raises(RuntimeError, match="call reset first"):
        geo_patrol_v0.parallel_env().sample_actions()


def test_step_after_the_end():
    env = geo_patrol_v0.parallel_env(max_cycles=1)
    env.reset(seed=1)
    env.step(both(NOOPS))
    before = env.save()
    assert env.step(both(NOOPS)) == ({}, {}, {}, {}, {})
    assert env.save() == before
    solo = SoloGeoPatrol(max_cycles=1)
    solo.reset(seed=1)
    solo.step(NOOPS)
    with pytest.raises(RuntimeError, match="the game is over"):
        solo.step(NOOPS)


def test_save_before_reset():
    for env in (geo_patrol_v0.parallel_env(), geo_patrol_v0.raw_env(), geo_patrol_v0.env(), SoloGeoPatrol()):
        with pytest.raises(RecordingError, match="nothing to save: call reset first"):
            env.save()


@pytest.mark.parametrize("shape", [(11, 27), (307,), (10, 28), (1, 11, 28)])
def test_mask_of_another_shape(shape):
    with pytest.raises(ValueError, match=re.escape(f"mask of shape {shape}: give (11, 28)")):
        OrderSpace().sample(np.ones(shape, np.int8))


# Arguments

ARGUMENTS = [
    ({"observation": "pixels"}, "observation = 'pixels': give 'onehot' or 'tokens'"),
    ({"observation": None}, "observation = None: give 'onehot' or 'tokens'"),
    ({"mask_in": "infos"}, "mask_in = 'infos': give 'obs' or 'info' or 'none'"),
    ({"reward": "win"}, "reward = 'win': give 'score' or 'outcome'"),
    ({"reward": ["score"]}, "reward = ['score']: give 'score' or 'outcome'"),
    ({"max_cycles": 0}, "max_cycles = 0: give a whole number from 1, or None"),
    ({"max_cycles": 1.5}, "max_cycles = 1.5: give a whole number from 1, or None"),
    ({"max_cycles": True}, "max_cycles = True: give a whole number from 1, or None"),
    ({"render_mode": "pixels"}, "render_mode = 'pixels': give "),
    ({"config": "caes1"}, "there is no preset 'caes1'; did you mean 'case1'?"),
    ({"overrides": {"turn_limit": 0}}, "turn_limit = 0: give a whole number from 1 to 10000"),
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS, ids=str)
@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, geo_patrol_v0.env, SoloGeoPatrol])
def test_argument(make, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": "gamma"}, "seat = 'gamma': give 'alpha' or 'bravo' or 'random'"),
        ({"seat": 0}, "seat = 0: give 'alpha' or 'bravo' or 'random'"),
        ({"opponent": "randm"}, "there is no agent 'randm'; did you mean 'random'?"),
        ({"opponent": 3}, "opponent = 3: give an agent's name or an Agent"),
        ({"opponent": None}, "opponent = None: give an agent's name or an Agent"),
    ],
)
def test_argument_of_the_solo_environment(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SoloGeoPatrol(**arguments)


def test_agent_name():
    with pytest.raises(ValueError, match="there is no agent 'minimax'"):
        agent_by_name("minimax")


# Saved games


def damaged(saved, path, value):
    copied = copy.deepcopy(saved)
    table = copied
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        table = table[step]
    if value is MISSING:
        del table[last]
    else:
        table[last] = value
    return copied


def midway():
    game = Game(seed=3)
    game.step(alpha="P1 prograde", bravo="P2 radial_in")
    return game


SAVED = [
    ("format", "chess", "format = 'chess': input should be 'geo_patrol game'"),
    ("version", 2, "version = 2: input should be less than or equal to 1"),
    ("version", True, "version = True: input should be a valid integer"),
    ("chance", [], "chance = []: input should be a valid dictionary"),
    ("chance.key", -1, "chance.key = -1: input should be greater than or equal to 0"),
    ("chance.key", 1.0, "chance.key = 1.0: input should be a valid integer"),
    ("chance.counter", 2**64, "chance.counter = 18446744073709551616: input should be less than"),
    ("chance.setup_key", MISSING, "chance.setup_key"),
    ("chance.dice", 6, "chance.dice = 6: extra inputs are not permitted"),
    ("turn", -1, "turn = -1: input should be greater than or equal to 0"),
    ("turn", 10**9, "turn = 1000000000: input should be less than or equal to 10000"),
    ("turn", True, "turn = True: input should be a valid integer"),
    ("phase", "lunch", "phase = 'lunch': input should be 'movement', 'engagement' or 'drift'"),
    ("phase", "drift", "phase = 'drift', done = False, reasons = 0: a game is over in its drift, for a reason"),
    ("done", 1, "done = 1: input should be a valid boolean"),
    ("done", True, "done = True, reasons = 0: a game is over in its drift"),
    ("reasons", 1, "done = False, reasons = 1: a game is over in its drift"),
    ("reasons", 512, "reasons = 512: input should be less than 512"),
    ("winner", "alpha", "winner = 'alpha': extra inputs are not permitted"),
    ("alpha", MISSING, "alpha"),
    ("alpha.goal", 7, "alpha.goal = 7: give a sector of the goal ring, 4"),
    ("alpha.goal", 18, "the goal sectors 18 and 23 are not opposite each other"),
    ("alpha.goal_points", 2**31 - 1, "alpha.goal_points = 2147483647: input should be less than"),
    ("turn", 50, "turn = 50: fewer than 50 turns are completed in it"),
    ("config.extends", "od2d", "extends = 'od2d': there is no such key"),
    ("alpha.goal_points", -1, "alpha.goal_points = -1: input should be greater than or equal to 0"),
    ("alpha.score", 1.5, "alpha.score = 1.5: input should be a valid integer"),
    ("alpha.score", 10**20, "alpha.score = 100000000000000000000: input should be less than"),
    ("alpha.illegal_orders", 12, "alpha.illegal_orders = 12: input should be less than or equal to 11"),
    ("alpha.sector", 15, "alpha.sector = 15: input should be a valid list"),
    ("alpha.sector", [15] * 10, "sector, fuel, ammo and destroyed must be equally long"),
    ("alpha.sector", [15] * 12, "list should have at most 11 items"),
    ("alpha.sector.3", 0, "alpha.sector.3 = 0: give a sector of rings 1 to 4"),
    ("alpha.sector.3", 31, "alpha.sector.3 = 31: give a sector of rings 1 to 4"),
    ("alpha.sector.3", -5, "alpha.sector.3 = -5: input should be greater than or equal to 0"),
    ("bravo.sector.10", 10**9, "bravo.sector.10 = 1000000000: input should be less than 32768"),
    ("bravo.fuel.0", 101, "bravo.fuel.0 = 101: it starts with 100"),
    ("bravo.fuel.0", None, "bravo.fuel.0 = None: input should be a valid integer"),
    ("bravo.ammo.0", 1, "bravo.ammo.0 = 1: it starts with 0"),
    ("bravo.ammo.4", 2, "bravo.ammo.4 = 2: it starts with 1"),
    ("bravo.destroyed.4", 1, "bravo.fuel.4 = 100: a destroyed satellite has none"),
    ("bravo.destroyed.4", 2, "bravo.destroyed.4 = 2: input should be 0 or 1"),
    ("bravo.shield", 1, "bravo.shield = 1: extra inputs are not permitted"),
    ("config", 3, "config = 3: input should be a valid dictionary"),
    ("config", {}, "alpha is missing"),
    ("config.alpha.odds.shoot", [2, 0], "alpha.odds.shoot.0 = 2: give a number from 0 to 1"),
    ("config.bravo.patrols.formation", [[0, 4]], "bravo has 11 satellites; its configuration gives it 5"),
    ("config.alpha.patrols.fuel", 90, "alpha.fuel.1 = 95: it starts with 90"),
    ("config.board.outer_ring", 3, "board.goal_ring = 4: give a ring of the board, 1 to 3"),
]


@pytest.mark.parametrize(("path", "value", "message"), SAVED)
def test_saved_game_that_is_damaged(path, value, message):
    with pytest.raises((RecordingError, ConfigError), match=re.escape(message)):
        Game.restore(damaged(midway().save(), path, value))


@pytest.mark.parametrize("saved", [None, 3, [], "game", {}, json.dumps({})])
def test_saved_game_that_is_none(saved):
    with pytest.raises(RecordingError, match="saved game: "):
        Game.restore(saved)


def assert_refused(env, damaged_save, message):
    """Restoring fails with the message, and the environment is as it was and goes on."""
    before, agents = env.save(), list(getattr(env, "agents", []))
    with pytest.raises((RecordingError, ConfigError), match=re.escape(message)):
        env.restore(damaged_save)
    assert env.save() == before
    assert list(getattr(env, "agents", [])) == agents


PARALLEL_SAVED = [
    ("format", "x", "format = 'x': input should be 'geo_patrol environment'"),
    ("version", 2, "version = 2: input should be less than or equal to 1"),
    ("game", None, "game = None: input should be a valid dictionary"),
    ("game", MISSING, "game = {"),
    ("game.turn", -1, "turn = -1"),
    ("game.config.title", "Another", "it was saved with another configuration"),
    ("sampler", None, "sampler = None: input should be a valid list"),
    ("sampler", [1], "sampler = [1]: list should have at least 2 items"),
    ("sampler", [2**64, 0], "sampler.0 = 18446744073709551616: input should be less than"),
    ("sampled", [[28] * 11] * 2, "sampled.0.0 = 28: input should be less than 28"),
    ("cycles", -1, "cycles = -1: input should be greater than or equal to 0"),
    ("cycles", True, "cycles = True: input should be a valid integer"),
    ("difference", 2**40, "difference = 1099511627776: input should be less than"),
    ("difference", 0.5, "difference = 0.5: input should be a valid integer"),
    ("umpire", 1, "umpire = 1: extra inputs are not permitted"),
]


@pytest.mark.parametrize(("path", "value", "message"), PARALLEL_SAVED)
def test_saved_parallel_environment_that_is_damaged(path, value, message):
    env = played_env()
    saved = env.save()
    env.step(env.sample_actions())
    assert_refused(env, damaged(saved, path, value), message)


@pytest.mark.parametrize("saved", [None, 3, [], "game", {}])
@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, geo_patrol_v0.env, SoloGeoPatrol])
def test_saved_environment_that_is_none(make, saved):
    env = make()
    env.reset(seed=1)
    assert_refused(env, saved, "saved environment: ")


AEC_SAVED = [
    ("format", "x", "format = 'x': input should be 'geo_patrol AEC environment'"),
    ("environment", None, "environment = None: input should be a valid dictionary"),
    ("environment", {}, "saved environment: format = {}: field required"),
    ("environment.game.turn", -1, "turn = -1"),
    ("environment.game.config.title", "Another", "it was saved with another configuration"),
    ("pending", [0] * 10, "list should have at least 11 items"),
    ("pending", [0.5] * 11, "pending.0 = 0.5: input should be a valid integer"),
    ("pending", [10**30] * 11, "pending.0 = 1000000000000000000000000000000: input should be less than"),
    ("remaining", 3, "remaining = 3: input should be less than or equal to 2"),
    ("remaining", 1, "rewards must be those of the remaining agents, ['bravo']"),
    ("rewards", {}, "rewards must be those of the remaining agents"),
    ("rewards.alpha", "high", "rewards.alpha = 'high': input should be a valid number"),
    ("rewards.alpha", float("nan"), "rewards.alpha = nan: input should be a finite number"),
    ("umpire", 1, "umpire = 1: extra inputs are not permitted"),
]


@pytest.mark.parametrize(("path", "value", "message"), AEC_SAVED)
def test_saved_aec_environment_that_is_damaged(path, value, message):
    env = geo_patrol_v0.env()
    env.reset(seed=5)
    env.step(NOOPS)
    saved = env.save()
    env.step(NOOPS)
    assert_refused(env, damaged(saved, path, value), message)


def test_saved_aec_environment_with_agents_gone_from_a_running_game():
    env = geo_patrol_v0.env()
    env.reset(seed=5)
    saved = env.save() | {"remaining": 1, "rewards": {"bravo": 0.0}, "cumulative_rewards": {"bravo": 0.0}}
    assert_refused(env, saved, "agents have left, against the state of the game")


SOLO_SAVED = [
    ("format", "x", "format = 'x': input should be 'geo_patrol solo environment'"),
    ("environment", None, "environment = None: input should be a valid dictionary"),
    ("environment.game.turn", -1, "turn = -1"),
    ("seat", "random", "seat = 'random': input should be 'alpha' or 'bravo'"),
    ("seat", ["alpha"], "seat = ['alpha']: input should be 'alpha' or 'bravo'"),
    ("is_over", True, "is_over = True: extra inputs are not permitted"),
    ("generator", None, "generator = None: input should be a valid dictionary"),
    ("generator", MISSING, "generator = {"),
    ("generator.bit_generator", "MT19937", "generator.bit_generator = 'MT19937': input should be 'PCG64'"),
    ("generator.state", {}, "generator.state: give state and inc"),
    ("generator.state.inc", 1.5, "generator.state.inc = 1.5: input should be a valid integer"),
    ("generator.state.state", -1, "generator.state.state = -1: input should be greater than or equal to 0"),
    ("generator.state.state", 2**200, "input should be less than"),
]


@pytest.mark.parametrize(("path", "value", "message"), SOLO_SAVED)
def test_saved_solo_environment_that_is_damaged(path, value, message):
    env = SoloGeoPatrol()
    env.reset(seed=5)
    saved = env.save()
    env.step(NOOPS)
    assert_refused(env, damaged(saved, path, value), message)


# Numbers of any library, and tables, as overrides


def test_overrides_may_name_one_figure_of_a_pair():
    config = load_config("geo_patrol", ["bravo.odds.shoot.0=0.5", "both.costs.guard.1=7"])
    assert config.bravo.odds.shoot == (0.5, 0.4)
    assert config.alpha.odds.shoot == (0.8, 0.4)
    assert config.alpha.costs.guard == config.bravo.costs.guard == (5, 7)


@pytest.mark.parametrize("place", ["2", "first", "-1"])
def test_overrides_of_a_place_that_a_pair_has_not(place):
    with pytest.raises(ConfigError, match="give an index of the list, 0 to 1"):
        load_config("geo_patrol", {f"bravo.odds.shoot.{place}": 0.5})


def test_overrides_may_be_numpy_numbers_and_tables():
    config = load_config("geo_patrol", {"bravo.patrols.ammo": np.int64(3), "both.patrols": {"fuel": np.float32(50)}})
    assert config.bravo.patrols.ammo == 3
    assert config.alpha.patrols.fuel == config.bravo.patrols.fuel == 50
    assert config.alpha.patrols.formation == load_config("geo_patrol").alpha.patrols.formation


@pytest.mark.parametrize("text", ["turn_limit = " + "1" * 5000, "turn_limit = 0x" + "F" * 5000])
def test_configuration_with_a_number_of_too_many_digits(tmp_path, text):
    path = tmp_path / "game.toml"
    path.write_text(f'extends = "geo_patrol"\n{text}\n')
    with pytest.raises(ConfigError, match=r"is not a TOML file|turn_limit = "):
        load_config(path)


def test_configuration_file_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "game.toml"
    path.write_text('extends = "case1"\n', encoding="utf-8-sig")
    assert load_config(path) == load_config("case1")


def test_configuration_with_very_many_faults_is_cut_short():
    with pytest.raises(ConfigError, match="and 981 more"):
        load_config({"extends": "case1", **{f"key{number}": 1 for number in range(1001)}})


# Agents


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        (np.zeros((4, 10), np.int16), "observations of shape (4, 10), int16: give (4, 249), int16"),
        (np.zeros((4, 1591), np.float32), "observations of shape (4, 1591), float32: give (4, 249), int16"),
        (np.zeros((4, 249), np.int16), "observations describe no board"),
        (np.full((4, 249), 32767, np.int16), "observations describe no board"),
        (np.full((4, 249), -1, np.int16), "observations describe no board"),
    ],
)
def test_observations_that_the_scripted_agent_cannot_read(observations, message):
    masks = np.ones((4, 11, 28), np.int8)
    with pytest.raises(ValueError, match=re.escape(message)):
        agent_by_name("scripted").act(observations, masks, np.random.default_rng(0))


@pytest.mark.parametrize("shape", [(4, 11, 5), (4, 5, 28), (11, 28), (4, 308)])
def test_masks_that_the_random_agent_cannot_read(shape):
    with pytest.raises(ValueError, match=re.escape(f"masks of shape {shape}")):
        agent_by_name("random").act(np.zeros((4, 249), np.int16), np.ones(shape, np.int8), np.random.default_rng(0))


@pytest.mark.parametrize("encoding", ["one_hot", None, ["tokens"]])
def test_encoding_that_there_is_not(encoding):
    with pytest.raises(ValueError, match="give 'onehot' or 'tokens'"):
        Game(seed=1).observation("alpha", encoding)
    with pytest.raises(ValueError, match="give 'onehot' or 'tokens'"):
        observation_names(encoding)


class Wrong:
    """An agent that does what it should not."""

    name = "wrong"
    observation = "tokens"

    def __init__(self, orders):
        self.orders = orders

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return self.orders


@pytest.mark.parametrize("orders", [None, np.zeros(11, np.int64), np.zeros((1, 10), np.int64), np.zeros((1, 11))])
def test_opponent_that_returns_no_orders(orders):
    env = SoloGeoPatrol(opponent=Wrong(orders))
    env.reset(seed=1)
    with pytest.raises(AgentError, match="agent 'wrong': act returned"):
        env.step(NOOPS)


def test_opponent_that_is_a_class():
    with pytest.raises(ValueError, match="give an agent's name or an Agent"):
        SoloGeoPatrol(opponent=Wrong)
