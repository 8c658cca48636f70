"""Sweeps, the short form of studies: every cell is a match of its own configuration, and variations are validated."""

import numpy as np
import pytest

from geo_patrol import ConfigError, load_config, play_match
from geo_patrol.evaluation.results import DRAW
from geo_patrol.studies import play_sweep
from geo_patrol.studies.factors import parse_factors
from geo_patrol.studies.study_file import parse_study

pytestmark = pytest.mark.usefixtures("without_workers")


def test_every_cell_is_the_match_of_its_configuration():
    keys = ["bravo.patrols.ammo", "alpha.patrols.fuel"]
    vary = [f"{keys[0]}=0..1", f"{keys[1]}=60,100"]
    sweep = play_sweep("scripted", "random", vary, config="case1", games=6, seed=4)
    assert [cell.values for cell in sweep.plan.cells] == [(0, 60), (0, 100), (1, 60), (1, 100)]
    assert sweep.plan.file.agents == (("scripted", "random"), ("random", "scripted"))
    for number, cell in enumerate(sweep.plan.cells):
        overrides = dict(zip(keys, cell.values, strict=True))
        match = play_match("scripted", "random", config="case1", overrides=overrides, games=6, seed=4)
        for first_side, (pair, sides) in enumerate([(0, [0, 1]), (1, [1, 0])]):
            games, played = sweep.games[number, pair], match.games[match.first_side == first_side]
            np.testing.assert_array_equal(games["scores"], played["scores"][:, sides])
            np.testing.assert_array_equal(games["illegal_orders"], played["illegal_orders"][:, sides])
            np.testing.assert_array_equal(games["turns"], played["turns"])
            np.testing.assert_array_equal(games["reasons"], played["reasons"])


def test_arguments_may_be_numbers_of_numpy():
    one = play_sweep("idle", "idle", ["turn_limit=1,2"], config="case1", games=2, seed=1, processes=1)
    numbers = {"games": np.int64(2), "seed": np.uint32(1), "processes": np.int8(1), "move_time": np.float32(0.5)}
    other = play_sweep("idle", "idle", ["turn_limit=1,2"], config="case1", **numbers)
    assert one.to_dict()["results"] == other.to_dict()["results"]


def test_a_study_may_have_numbers_of_numpy():
    data = {"title": "t", "agents": ["idle"], "games": 2, "factors": {"turn_limit": [1, 2]}, "set": {"mirror": True}}
    arrays = {
        **data,
        "games": np.int64(2),
        "factors": {"turn_limit": np.arange(1, 3)},
        "set": {"mirror": np.bool_(True)},
    }
    assert parse_study(arrays) == parse_study(data)


def test_an_agent_against_itself_shows_the_sides():
    sweep = play_sweep("random", "random", ["alpha.patrols.fuel=1,100"], config="case1", games=20, seed=4, processes=1)
    for number, cell in enumerate(sweep.plan.cells):
        overrides = {"alpha.patrols.fuel": cell.values[0]}
        match = play_match("random", "random", config="case1", overrides=overrides, games=20, seed=4)
        alpha_won = (match.winner != DRAW) & (match.winner == match.first_side)
        np.testing.assert_array_equal(sweep.games[number, 0]["winner"] == 0, alpha_won)
        np.testing.assert_array_equal(sweep.games[number, 0]["winner"] == DRAW, match.winner == DRAW)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=0..4", (0, 1, 2, 3, 4)),
        ("a.b = 60, 80,100", (60, 80, 100)),
        ("a=0..1..0.25", (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("a=-2..0,5", ("-2", "-1", "+0", 5)),
        ("a=+10%,-1", ("+10%", "-1")),
        ("a=-10% .. +10% .. 10", ("-10%", "+0%", "+10%")),
        ("a=-0.5..+0.5..0.5", ("-0.5", "+0.0", "+0.5")),
        ("rules=book,code", ("book", "code")),
        ("a=[[0, 2]],[[-1, 1], [1, 1]]", ([[0, 2]], [[-1, 1], [1, 1]])),
        ('title="a, b",c', ("a, b", "c")),
        ("a={ low = 1, high = 2 },3", ({"low": 1, "high": 2}, 3)),
    ],
)
def test_parsing_variations(text, values):
    (factor,) = parse_factors([text]).values()
    assert factor.values == values


@pytest.mark.parametrize(
    ("text", "ranges", "values"),
    [
        ("a=40..60", "kept", (40, 60)),
        ("a=-2..2", "kept", ("-2", "+2")),
        ("a=+0..+2", "searched", ("+0", "+1", "+2")),
        ("a=-10%..+10%", "kept", ("-10%", "+10%")),
        ("a=0.2..0.8", "searched", (0.2, 0.8)),
    ],
)
def test_parsing_ranges(text, ranges, values):
    (factor,) = parse_factors([text], ranges).values()
    assert (factor.values or (factor.low, factor.high)) == values


def test_a_relative_range_of_whole_numbers_has_whole_numbers():
    (factor,) = parse_factors(["bravo.patrols.ammo=-2..2"], "kept").values()
    config = load_config("case1")
    assert factor.levels(config) == ("-2", "-1", "+0", "+1", "+2")
    assert [factor.at(config, unit, nearest=True) for unit in (0, 0.3, 1)] == ["-2", "-1", "+2"]


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ([], "nothing is varied: vary must have"),
        (["a"], "vary must be key=values, such as"),
        (["a="], "must be key=values, such as bravo.patrols.ammo=0..4 or alpha.patrols.fuel=60,80"),
        (["a=1,,2"], "a value is missing between commas"),
        (["a=0..4..-1"], "vary 'a=0..4..-1': 0..4..-1: the smaller end comes first, and a step is above 0"),
        (["a=0..99999"], "are 100,000 values; 10,000 are allowed"),
        (["a=-10..+10%"], "-10..\\+10%: both ends must be percentages, or neither"),
        (["a=0%..20%"], "percentages are relative and must have a sign, as in -10%..\\+10%"),
        (["a=+1e1,+2"], "a value that begins with a sign must be relative, such as \\+20, -1 or \\+10%, got '\\+1e1'"),
        (["a=1,1"], "1 is there twice"),
        (["a=1", "a=2"], "vary a: it is there twice"),
        (["a=1..200", "b=1..200"], "the design has 40,000 points; 10,000 are allowed"),
        (["bravo.patrols.amo=0..4"], r"bravo\.patrols\.amo = 0: there is no such key; did you mean ammo"),
    ],
)
def test_wrong_variations(vary, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        play_sweep("idle", "idle", vary, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()
