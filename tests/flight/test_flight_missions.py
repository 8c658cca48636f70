"""Missions: files, errors, and the ones of the package."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import ConfigError
from geo_patrol.flight import Flight, Mission, load_mission, random_mission_with_witness
from tests.flight.ships import SAMPLE, mission

MISSING = "MISSING"


WRONG = [
    ({"turns": 41}, "turns must be an integer from 1 to 40, got 41"),
    ({"turns": True}, "turns must be an integer from 1 to 40, got True"),
    ({"trun": 3}, "trun = 3: there is no such key; did you mean turns?"),
    ({"game": "chess"}, "game must be 'planetary_probe' or 'spaceship_commander', got 'chess'"),
    ({"columns": 4}, "columns must be an integer from 5 to 40, got 4"),
    ({"rows": 27}, "rows must be an integer from 5 to 26, got 27"),
    ({"race": 1, "survey": ["E6"]}, "race must be true or false, got 1"),
    ({"title": 3}, "title must be a text in quotes, of at most 100 characters that can be printed, got 3"),
    ({"title": "\x00\x1b"}, "that can be printed, got '"),
    ({"title": "\ud800"}, "that can be printed, got '"),
    ({"planets": {}}, "planets must be a table of grid references with the gravity there, such as E16 ="),
    ({"planets": {"E": "weak"}}, "planets.E must be a grid reference: the letter of a row and the number of a column"),
    ({"planets": {"E6": "heavy"}}, "planets.E6 must be 'weak' or 'strong', got 'heavy'"),
    ({"planets": {"E6": "weak", "e06": "weak"}}, "planets.e06 must be each planet once; E6 is there already"),
    ({"planets": {"E16": "weak", "J6": "weak"}}, "planets.J6 must be a point of the map, A1 to I25, got 'weak'"),
    ({"planets": {"E16": "weak", "F20": "weak"}}, "planets.F20 must be wells that do not overlap: F20 is 4 grids from"),
    ({"planets": {"E16": "weak", "E21": "strong"}}, "E21 is 5 grids from E16, at least 6 are needed, got 'strong'"),
    ({"planets": {f"{row}{5 * n + 1}": "weak" for row in "AFK" for n in range(4)}, "rows": 20}, "1 to 10 planets"),
    ({"home": "E6"}, "home must be a planet with weak gravity, one of E16, F22, got 'E6'"),
    ({"home": "somewhere"}, "home must be a grid reference: the letter of a row and the number of a column, such as"),
    ({"planets": {"E6": "strong"}, "home": "E6"}, "home must be a planet with weak gravity, got 'E6'"),
    ({"planets": {"C3": "weak"}, "home": "C3", "columns": 5, "rows": 5}, "a launch point on the map, three grids away"),
    ({"stations": ["A26"]}, "stations must be a point of the map, A1 to I25; A26 is none, got ['A26']"),
    ({"stations": ["E6"]}, "stations must be points without a planet; there is one at E6, got ['E6']"),
    ({"stations": ["A1", "a1"]}, "stations must be a list that names A1 once, got ['A1', 'a1']"),
    ({"stations": [f"A{n}" for n in range(1, 8)]}, "must be a list of at most 6 grid references, such as ["),
    ({"survey": ["E16"]}, "survey must be planets other than the home planet: E6, F22, got ['E16']"),
    ({"land_on": ["E6"]}, "land_on must be planets with weak gravity: E16, F22, got ['E6']"),
    ({"fuel_limit": -1}, "fuel_limit must be an integer from 0 to 400, got -1"),
    ({"end_at": "E6"}, "end_at must be what is to be reached and where:"),
    ({"end_at": "well B2"}, "end_at must be well and the point of a planet: E6, E16, F22, got 'well B2'"),
    ({"end_at": "planet E6"}, "end_at must be planet and the point of a planet with weak gravity: E16, F22, got"),
    ({"end_at": "station A1"}, "end_at must be station and the point of a station: none here, got 'station A1'"),
    ({"race": True}, "race must be something to race for with it: end_at, survey or land_on, got True"),
    ({"game": "planetary_probe", "advanced": True}, "advanced must be nothing of the kind in a mission of"),
    ({"game": "planetary_probe", "fuel_limit": 3}, "fuel_limit must be nothing of the kind in a mission of"),
    ({"game": "planetary_probe", "land_on": ["F22"]}, "land_on must be nothing of the kind in a mission of"),
    ({"game": "planetary_probe", "end_at": "planet F22"}, "end_at must be a well, such as"),
    ({"planets": MISSING}, "planets is missing"),
    ({"home": MISSING}, "home is missing"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=str)
def test_wrong_mission(changes, message):
    values = {"title": "test", "turns": 20, "home": "E16", "planets": SAMPLE} | changes
    values = {key: value for key, value in values.items() if value != MISSING}
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_mission(values)


@pytest.mark.parametrize(
    ("source", "message"), [("sampel", "did you mean 'sample'"), *((x, "mission") for x in ("no/such.toml", 3, "a\0b"))]
)
def test_missing_missions(source, message):
    with pytest.raises(ConfigError, match=message):
        load_mission(source)


def test_files_and_extends(tmp_path):
    path = tmp_path / "longer.toml"
    path.write_text('extends = "sample"\ntitle = "Longer"\nturns = 30\n[planets]\nF22 = "strong"\n')
    longer = load_mission(path)
    assert (longer.turns, longer.home, longer.planets["F22"], longer.planets["E6"]) == (30, "E16", "strong", "strong")


def test_overrides():
    assert load_mission("sample", ["turns=20"]) == load_mission("sample_20", {"title": "Sample game"}).model_copy(
        update={"description": load_mission("sample").description}
    )
    assert load_mission("courier", ["fuel_limit=none", "race=false"]).fuel_limit is None
    assert load_mission("sample", ["planets.E6=weak"]).planets["E6"] == "weak"
    assert "E6" not in load_mission("sample", ["planets.E6=none"]).planets


def test_missions_are_plain_data():
    loaded = mission(stations=["A1"], survey=["E6"], end_at="well F22")
    assert load_mission(loaded.to_dict()) == loaded
    assert loaded.to_dict()["stations"] == ["A1"]
    assert Mission.model_validate_json(loaded.model_dump_json()) == loaded
    assert isinstance(loaded, Mission)
    assert load_mission(loaded) is loaded


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from(["planetary_probe", "spaceship_commander"]))
def test_random_missions_can_be_fulfilled(seed, game):
    sampled = random_mission_with_witness(np.random.default_rng(seed), game=game)
    again = random_mission_with_witness(np.random.default_rng(seed), game=game)
    assert sampled.mission == again.mission
    assert sampled.mission.game == game
    assert Flight.from_orders(sampled.mission, sampled.witness.order_codes).is_success
    assert load_mission(sampled.mission.to_dict()) == sampled.mission


def test_random_missions_differ():
    random = np.random.default_rng(6)
    sampled = [random_mission_with_witness(random).mission for _ in range(40)]
    assert len({str(loaded) for loaded in sampled}) == 40
    for rule in ("race", "advanced", "survey", "stations", "fuel_limit", "end_at", "land_on"):
        assert {bool(getattr(loaded, rule)) for loaded in sampled} == {True, False}, rule


def test_random_mission_of_an_unknown_game():
    with pytest.raises(ValueError, match="game must be 'spaceship_commander' or 'planetary_probe', got 'chess'"):
        random_mission_with_witness(np.random.default_rng(0), game="chess")


def test_all_faults_of_a_mission_are_listed():
    with pytest.raises(ConfigError, match=r"sample\.toml with overrides: 3 faults\n"):
        load_mission("sample", {"turns": 0, "home": "?", "fuel": 3})
    planets = {"E16": "mild", "J99": "weak", "E": "weak"}
    with pytest.raises(ConfigError) as caught:
        load_mission({"extends": "sample", "planets": planets, "turns": 0})
    assert str(caught.value).split("\n")[0] == "mission: 3 faults"
    with pytest.raises(ConfigError) as caught:
        load_mission({"extends": "sample", "home": "I9", "stations": ["E16", "A1"], "survey": ["A2"], "race": True})
    lines = [line.split(" must ")[0].strip() for line in str(caught.value).split("\n")]
    assert lines == ["mission: 3 faults", "home", "stations", "survey"]
