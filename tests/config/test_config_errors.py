"""Invalid configurations and overrides: one clear message, and no side effects."""

import re

import numpy as np
import pytest

from geo_patrol import ConfigError, load_config
from geo_patrol.config.presets import current_value
from geo_patrol.config.toml_files import Choice, Range, flatten, parse_overrides
from tests.support.damage import MISSING, damaged

PAIR = "must be a pair [same sector, adjacent sector], got "
FUEL, AMMO = "alpha.hva.fuel must be an integer from 1 to 10000, got ", "alpha.hva.ammo must be "
SINGLE = 'bravo.patrols.single must be a table whose keys are numbers of Patrols, "1" to "10", got '
FORMATION = "alpha.patrols.formation must be "
NO_KEY = "there is no such key; "
RARE = {"name": "a", "alpha": {"hva": {"fuel": {"choices": [1] * 1000}}}}
OVERRIDES = [
    ("trun_limit", 50, f"trun_limit = 50: {NO_KEY}did you mean turn_limit?"),
    ("alpha.hvas", {}, f"alpha.hvas = {{}}: {NO_KEY}did you mean hva?"),
    ("alpha.hva.mass", 2, f"alpha.hva.mass = 2: {NO_KEY}the keys here are fuel, ammo, weight"),
    ("both.patrol.fuel", 3, f"bravo.patrol = {{'fuel': 3}}: {NO_KEY}did you mean patrols?"),
    ("", 1, " = 1: there is no such key"),
    (
        "turn_limit",
        {"low": 10, "high": 20},
        "turn_limit must be an integer from 1 to 10000, got {'low': 10, 'high': 20}",
    ),
    ("title", 3, "title must be a text in quotes, got 3"),
    ("rules", "Book", "rules must be 'book' or 'code', got 'Book'"),
    ("illegal_orders", "raise", "illegal_orders must be 'noop' or 'forfeit', got 'raise'"),
    ("mirror", 3, "mirror must be true or false, got 3"),
    ("alpha", "strong", "alpha must be a table, got 'strong'"),
    ("board.inner_ring", 0, "board.inner_ring must be an integer from 1 to 10, got 0"),
    ("board.inner_ring", 5, "board.inner_ring must be a ring not beyond the outer one, 4, got 5"),
    ("board.goal_ring", 5, "board.goal_ring must be a ring of the board, 1 to 4, got 5"),
    ("board.outer_ring", 3, "board.goal_ring must be a ring of the board, 1 to 3, got 4"),
    ("alpha.hva.fuel", True, FUEL + "True"),
    ("alpha.hva.fuel", 0, FUEL + "0"),
    ("alpha.hva.fuel", 99.5, FUEL + "99.5"),
    ("alpha.hva.fuel", float("nan"), FUEL + "nan"),
    ("alpha.hva.fuel", None, FUEL + "None"),
    ("alpha.hva.weight", float("nan"), "alpha.hva.weight must be a number from 0 to 100, got nan"),
    ("bravo.patrols.weight", "car", "bravo.patrols.weight must be a number from 0 to 100, or \"auto\", got 'car'"),
    ("bravo.patrols.ammo", -1, "bravo.patrols.ammo must be an integer from 0 to 1000, got -1"),
    ("bravo.points.patrol", -1, "bravo.points.patrol must be an integer from 0 to 10000, got -1"),
    ("bravo.patrols.count", 11, "bravo.patrols.count must be an integer from 1 to 10, got 11"),
    ("alpha.sensor_range", 513, "alpha.sensor_range must be an integer from 1 to 512, got 513"),
    ("bravo.patrols.single", {"11": {"fuel": 3}}, SINGLE + "{'11': {'fuel': 3}}"),
    ("bravo.patrols.single", [1], SINGLE + "[1]"),
    ("bravo.patrols.single.3.fuel", 0, "bravo.patrols.single.3.fuel must be an integer from 1 to 10000, got 0"),
    ("bravo.patrols.single.3.fule", 9, f"bravo.patrols.single.3.fule = 9: {NO_KEY}did you mean fuel?"),
    (
        "alpha.patrols.formation",
        [],
        FORMATION + "a list of [azimuth offset from the goal sector, Patrols there], 10 Patrols at most, got []",
    ),
    ("alpha.patrols.formation", [[0, 6], [1, 5]], "formation of at most 10 Patrols; these are 11"),
    ("alpha.patrols.formation", [[0, 0]], FORMATION + "an integer from 1 to 10, got [[0, 0]]"),
    ("alpha.patrols.formation", [[1, 2, 3]], "[[1, 2, 3]]"),
    ("alpha.patrols.formation", {"low": 1, "high": 2}, "must be a single value or { choices = [..] }"),
    ("alpha.costs.radial_in", 2.5, "alpha.costs.radial_in must be an integer from 0 to 10000, got 2.5"),
    ("alpha.costs.shoot", 5, f"alpha.costs.shoot {PAIR}5"),
    ("alpha.costs.guard", [5, -10], "alpha.costs.guard.1 must be an integer from 0 to 10000, got -10"),
    ("alpha.odds.shoot", [0.8, 0.4, 0.2], f"alpha.odds.shoot {PAIR}[0.8, 0.4, 0.2]"),
    ("alpha.odds.shoot", "ab", f"alpha.odds.shoot {PAIR}'ab'"),
    ("alpha.odds.shoot", [1.1, 0.4], "alpha.odds.shoot.0 must be a number from 0 to 1, got 1.1"),
    ("alpha.odds.guard", [0.8, "0.4"], "alpha.odds.guard.1 must be a number from 0 to 1, got '0.4'"),
    ("alpha.points.win", 0, "alpha.points.win must be an integer from 1 to 1000000, got 0"),
    (
        "alpha.hva.ammo",
        {"low": 3, "high": 1},
        AMMO + "a range whose low is not above its high, got {'low': 3, 'high': 1}",
    ),
    ("alpha.hva.ammo", {"low": 3}, "must be a single value or { low = .., high = .. } or { choices = [..] }"),
    ("alpha.hva.ammo", {"low": -1, "high": 1}, AMMO + "an integer from 0 to 1000, got {'low': -1, 'high': 1}"),
    ("alpha.hva.ammo", {"choices": []}, AMMO + "a list of 1 to 1000 choices, got {'choices': []}"),
    ("alpha.hva.ammo", {"choices": [1, "x"]}, "must be an integer from 0 to 1000"),
    ("alpha.hva.fuel.units", 3, "override alpha.hva.fuel.units = 3: fuel is a single value and has no keys"),
    ("variants", 5, "variants must be a list, got 5"),
    ("variants", [{"alpha": {}}], "variants.0.name is missing"),
    ("variants", [{"name": "a", "chance": 0}], "variants.0.chance must be an integer from 1 to 1000000, got 0"),
    (
        "variants",
        [{"name": "a"}, {"name": "b", "alpha": {"patrols": {"amo": 3}}}],
        f"variants.1.alpha.patrols.amo = 3: {NO_KEY}did you mean ammo?",
    ),
    (
        "variants",
        [{"name": "a", "bravo": {"odds": {"shoot": [2, 0]}}}],
        "variants.0.bravo.odds.shoot.0 must be a number from 0 to 1, got 2",
    ),
    ("variants", [{"name": "a"}] * 101, "variants must be at most 100, got '101 variants'"),
    (
        "variants",
        [RARE] * 11,
        "must be few enough for 10,000 choices in all, those that they share counted for each, got ",
    ),
]


@pytest.mark.parametrize(("key", "value", "message"), OVERRIDES)
def test_configuration_with_a_wrong_value(key, value, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config("geo_patrol", {key: value})


def test_variants_that_share_a_name_are_numbered():
    names = ["a", "b", "a", "a (2)", "a", "x" * 200, "x" * 200]
    config = load_config("geo_patrol", {"variants": [{"name": name} for name in names]})
    assert [variant.name for variant in config.variants] == [
        *("a", "b", "a (3)", "a (2)", "a (4)"),
        *("x" * 200, "x" * 196 + " (2)"),
    ]
    assert load_config(config.to_dict()) == config


def test_configuration_lists_all_faults():
    with pytest.raises(ConfigError) as fault:
        load_config("geo_patrol", {"turn_limit": 0, "alpha.odds.shoot": [2, 2], "bravo.hva.fule": 1})
    assert str(fault.value).splitlines()[0] == "geo_patrol.toml with overrides: 4 faults"
    assert len(str(fault.value).splitlines()) == 5


@pytest.mark.parametrize("key", ["turn_limit", "alpha", "bravo.odds.guard"])
def test_configuration_with_a_missing_key(key):
    with pytest.raises(ConfigError, match=rf"{re.escape(key)} is missing"):
        load_config(damaged(load_config("geo_patrol").to_dict(), key, MISSING))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("turn_limit", "override must be key=value, such as bravo.patrols.ammo=3, got 'turn_limit'"),
        ("=3", "override must be key=value, such as bravo.patrols.ammo=3, got '=3'"),
        ("alpha.odds.shoot=[0.8", f"alpha.odds.shoot {PAIR}'[0.8'"),
        ("alpha.hva.fuel=*2", FUEL + "'*2'"),
        ("alpha.hva.fuel=20%", FUEL + "'20%'"),
        ("alpha.hva.fuel=+1e1", "alpha.hva.fuel: a value that begins with a sign must be relative, such as +20,"),
        ("alpha.hva.fuel=-9999", FUEL + "-"),
        (
            "alpha.odds.shoot=+10%",
            "alpha.odds.shoot = '+10%': it is relative, and the value is no number but [0.8, 0.4]",
        ),
        ("alpha.hva.fuel={low = 40, high = +10}", "alpha.hva.fuel: numbers in a list or a table must have no sign"),
        ("alpha={hva={fuel=+10}}", "override alpha: numbers in a list or a table must have no sign"),
        ("mirror=+1", "mirror = '+1': it is relative, and the value is no number but False"),
        ("alpha.sensor_range=+1", "alpha.sensor_range must be an integer from 1 to 512, got '+1'"),
        ("alpha.hva.feul=+1", f"alpha.hva.feul = '+1': {NO_KEY}did you mean fuel?"),
        ("turn_limit.x=3", "override turn_limit.x = 3: turn_limit is a single value and has no keys"),
    ],
)
def test_override_as_text(override, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config("geo_patrol", [override])


@pytest.mark.parametrize(
    ("override", "before", "after"),
    [
        ("bravo.patrols.fuel=+20", 60, 80),
        ("bravo.patrols.fuel = -25%", 60, 45),
        ('bravo.patrols.fuel="+10 %"', 60, 66),
        ({"bravo.patrols.fuel": "-1"}, 60, 59),
        ({"bravo": {"patrols": {"fuel": "+1"}}}, 60, 61),
        ("bravo.odds.shoot.1=-0.1", 0.4, 0.3),
        ("both.patrols.count=-2", 8, 6),  # of the formation
        ("both.patrols.single.8.fuel=+50%", 60, 90),  # of the fleet
        ("title=+1", "Case 1: three rounds", "+1"),
    ],
)
def test_an_override_that_begins_with_a_sign_is_relative(override, before, after):
    overrides = override if isinstance(override, dict) else [override]
    config = load_config("case1", overrides)
    ((key, _),) = flatten(dict(parse_overrides(overrides)))
    key = key.replace("both", "bravo")
    assert (current_value(load_config("case1"), key), current_value(config, key)) == (before, after)


def test_offsets_of_a_formation_have_signs():
    formation = load_config("case1", ["bravo.patrols.formation=[[-2, 4], [+2, 3]]"]).bravo.patrols.formation
    assert formation == ((-2, 4), (2, 3))
    choices = load_config("case1", ["bravo.patrols.formation={choices = [[[-2, 4]], [[+2, 3]]]}"])
    assert choices.bravo.patrols.formation == Choice((((-2, 4),), ((2, 3),)))
    assert load_config("case1", ['title="Case -1"']).title == "Case -1"


def test_relative_overrides_are_relative_to_the_source_whatever_is_set_beside_them():
    config = load_config("case1", ["both.patrols.fuel=10", "alpha.patrols.fuel=+20"])
    assert (config.alpha.patrols.fuel, config.bravo.patrols.fuel) == (120, 10)


def test_a_relative_override_changes_ranges_and_refuses_variants_with_values_of_their_own():
    config = load_config("generalization/train", ["both.patrols.fuel=+20%"])
    assert config.alpha.patrols.fuel == config.bravo.patrols.fuel == Range(48, 120)
    fuels = {"extends": "case1", "variants": [{"name": "rich", "bravo": {"patrols": {"fuel": 90}}}]}
    with pytest.raises(ConfigError, match="the variant 'rich' has a value of its own, 90; it must be a value"):
        load_config(fuels, ["bravo.patrols.single.3.fuel=+20"])
    message = "the variant 'offense against defense' has a value of its own, 0; it must be a value"
    with pytest.raises(ConfigError, match=message):
        load_config("generalization/train", ["alpha.patrols.ammo=+1"])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["turn_limit=2", "turn_limit=3"], "override turn_limit must be given once"),
        (["turn_limit=2", " turn_limit = 2"], "override turn_limit must be given once"),
        (["alpha.hva.fuel=2", "both.hva.fuel=3"], "override both.hva.fuel must stand before alpha.hva.fuel"),
        (
            ["alpha.odds.shoot.0=1", "alpha.odds.shoot=[1, 1]"],
            "must stand before alpha.odds.shoot.0, which it would undo",
        ),
    ],
)
def test_an_override_does_not_undo_another(overrides, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config("case1", overrides)


def test_override_with_a_key_that_is_no_text():
    with pytest.raises(ConfigError, match=r"override must be a dotted key, such as bravo.patrols.ammo, got 3"):
        load_config("geo_patrol", {3: 4})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("geo_patrl", "there is no preset 'geo_patrl'; did you mean 'geo_patrol'? The presets are: case1,"),
        (
            "nowhere/game.toml",
            "there is no configuration file 'nowhere/game.toml': it must be the path of a TOML file, or a preset: case1, ",
        ),
        ("a\0b.toml", "there is no configuration file 'a\\x00b.toml': it must be the path of"),
        (None, "config must be a preset's name, a path, a mapping or a GameConfig, got None"),
        ({}, "alpha is missing"),
        ({"extends": 3}, "configuration: extends must be a preset's name or a path, got 3"),
        ({"extends": "cas1"}, "there is no preset 'cas1'; did you mean 'case1'?"),
        ({"extends": "geo_patrol", "both": 3}, "configuration: both must be a table of values of both sides, got 3"),
        ({"extends": "geo_patrol", "alpha": 3}, "alpha must be a table, got 3"),
    ],
)
def test_source_that_is_no_configuration(source, message):
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


def test_overrides_of_one_value_of_a_pair():
    config = load_config("geo_patrol", ["bravo.odds.shoot.0=0.5", "both.costs.guard.1=7"])
    assert config.bravo.odds.shoot == (0.5, 0.4)
    assert config.alpha.odds.shoot == (0.8, 0.4)
    assert config.alpha.costs.guard == config.bravo.costs.guard == (5, 7)


@pytest.mark.parametrize("index", ["2", "-1"])
def test_overrides_of_an_index_out_of_range(index):
    with pytest.raises(ConfigError, match="must be an index of the list, 0 to 1"):
        load_config("geo_patrol", {f"bravo.odds.shoot.{index}": 0.5})


def test_overrides_may_be_numpy_numbers_and_tables():
    config = load_config("geo_patrol", {"bravo.patrols.ammo": np.int64(3), "both.patrols": {"fuel": np.float32(50)}})
    assert config.bravo.patrols.ammo == 3
    assert config.alpha.patrols.fuel == config.bravo.patrols.fuel == 50
    assert config.alpha.patrols.formation == load_config("geo_patrol").alpha.patrols.formation


@pytest.mark.parametrize("text", ["turn_limit = " + "1" * 5000, "turn_limit = 0x" + "F" * 5000])
def test_configuration_with_a_number_of_too_many_digits(tmp_path, text):
    path = tmp_path / "game.toml"
    path.write_text(f'extends = "geo_patrol"\n{text}\n')
    with pytest.raises(ConfigError, match=r"is not a TOML file|turn_limit must be"):
        load_config(path)


def test_configuration_file_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "game.toml"
    path.write_text('extends = "case1"\n', encoding="utf-8-sig")
    assert load_config(path) == load_config("case1", {"description": ""})


def test_only_the_first_twenty_faults_are_explained():
    with pytest.raises(ConfigError, match="more than 20 faults") as caught:
        load_config({"extends": "case1", **{f"key{number}": 1 for number in range(10_000)}})
    assert len(str(caught.value).splitlines()) == 21


def test_a_scenario_does_not_inherit_the_description_of_what_it_changes(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "case1"\ntitle = "Mine"\n')
    assert load_config(path).description == ""
    path.write_text('extends = "case1"\ntitle = "Mine"\ndescription = "More fuel."\n')
    assert load_config(path).description == "More fuel."
    assert load_config("case1").description


def test_a_value_of_bravo_that_alphas_replaces_is_refused():
    mirrored = {"extends": "case1", "mirror": True}
    with pytest.raises(ConfigError, match=r"^override bravo\.hva\.fuel must be alpha\.hva\.fuel: mirror = true gives"):
        load_config(mirrored, ["bravo.hva.fuel=+1"])
    for overrides in (
        {"both.hva.fuel": 7},
        {"alpha.hva.fuel": 7, "bravo.hva.fuel": 7},
        {"mirror": False, "bravo.hva.fuel": 7},
    ):
        assert load_config(mirrored, overrides).bravo.hva.fuel == 7
    variants = [{"name": "equal"}, {"name": "unequal", "mirror": False}]
    assert load_config({**mirrored, "variants": variants}, {"bravo.hva.fuel": 7}).bravo.hva.fuel == 7
