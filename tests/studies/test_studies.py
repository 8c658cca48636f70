"""Studies: what a file says, what is played for it, and what is kept of it."""

import html
import json
import math
from itertools import product

import numpy as np
import pytest

from geo_patrol import ConfigError, load_config, play_match, play_study, read_study
from geo_patrol.config.toml_files import study_names
from geo_patrol.evaluation import FolderError
from geo_patrol.evaluation.campaign import GAMES
from geo_patrol.studies import Study, compare_settings, compare_studies
from geo_patrol.studies.answers import GAME
from geo_patrol.studies.factors import (
    Factor,
    ask_extreme,
    change_in_words,
    has_in_words,
    in_words,
    number_in_words,
)
from geo_patrol.studies.report import study_page
from geo_patrol.studies.study import estimate_study, load_plan
from geo_patrol.studies.study_agents import StudyAgents
from geo_patrol.studies.study_file import parse_study, read_study_file
from tests.support.executors import InlineExecutor, LastFirstExecutor, tables

pytestmark = pytest.mark.usefixtures("without_workers")

SMALL = {
    "title": "small",
    "config": "case1",
    "set": {"turn_limit": 6},
    "agents": ["scripted", ["scripted", "random"]],
    "factors": {"bravo.patrols.ammo": "0..1"},
    "games": 10,
}
QUESTION = {"kind": "threshold", "factor": {"bravo.patrols.count": "1..8"}, "rate": 0.5, "games": 1000}


def lines(folder):
    return (folder / GAMES).read_bytes().splitlines(keepends=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", study_names())
def test_studies_of_the_package_can_be_planned(name):
    plan = load_plan(name)
    assert plan.file.question
    assert plan.cells


def test_a_study_is_a_short_file(tmp_path):
    (tmp_path / "mine.toml").write_text('extends = "case2"\ntitle = "Mine"\n')
    path = tmp_path / "study.toml"
    path.write_text("""
title = "Fuel"
config = "mine.toml"
set = { "bravo.patrols.fuel" = "+20%" }
agents = ["scripted", ["policy", "scripted"]]
factors = { "both.patrols.ammo" = "0..1", attack = { keys = ["alpha.patrols.fuel"], values = ["-10%", "+0%"] } }

[[scenario]]
name = "as it is"

[[scenario]]
name = "a large defense"
set = { "bravo.patrols.count" = 8 }
""")
    file, folder = read_study_file(path)
    assert folder == tmp_path
    plan = load_plan(path)
    assert file.agents == (("scripted", "scripted"), ("policy", "scripted"))
    assert [scenario.name for scenario in plan.scenarios] == ["as it is", "a large defense"]
    assert plan.scenarios[1].overrides == {"bravo.patrols.fuel": 72, "bravo.patrols.count": 8}
    assert len(plan.cells) == 8
    first = plan.config(plan.cells[0])
    assert (first.alpha.patrols.ammo, first.bravo.patrols.ammo, first.alpha.patrols.fuel) == (0, 0, 90)
    assert plan.describe(plan.cells[-1]) == "a large defense, rounds of each of either side's Patrols 1, attack +0%"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"desgin": "grid"}, "desgin = 'grid': there is no such key; did you mean design"),
        ({"design": "sobl"}, "design must be 'grid', 'latin-hypercube', 'sobol', 'morris' or 'saltelli', got 'sobl'"),
        ({"design": "sobol", "samples": 6}, "samples must be a power of 2"),
        ({"agents": []}, "agents must be a list of agents"),
        ({"agents": ["idle", ["idle", "idle"]]}, "idle against idle is there twice"),
        ({"games": 3}, "games must be even where an agent plays both sides"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
        ({"set": {"mirror": "+20%"}}, "mirror = '\\+20%': it is relative, and the value is no number but False"),
        ({"set": {"rules": "+20%"}}, "rules must be 'book' or 'code', got '\\+20%'"),
        (
            {"set": {"bravo": {"patrols": {"ammo": 3}}}},
            'set.bravo must be a value: quote the key, as in "bravo.patrols',
        ),
        ({"scenario": [{"set": {"both": {"odds": {"shoot": [1, 0]}}}}]}, r'set.both .*"both.odds.shoot" = \[1, 0\]'),
        ({"factors": {"alpha": {"hva": {"fuel": {"low": 1, "high": 3}}}}}, '"alpha.hva.fuel" = { low = 1, high = 3 }'),
        ({"question": [{"kind": "worth", "of": {"bravo": {"hva": {"ammo": "+1"}}}}]}, '"bravo.hva.ammo" = "\\+1"'),
        ({"question": [{"kind": "worth", "of": ["turn_limit=9", "turn_limit=9"]}]}, "turn_limit = 9 is there twice"),
        ({"question": [{"kind": "worth", "of": ["turn_limit"]}]}, "override must be key=value"),
        ({"set": {"alpha.hva.fuel": 9, "both.hva.fuel": 8}}, "both.hva.fuel must stand before alpha.hva.fuel"),
        ({"factors": {"bravo.patrols.ammo": "3..1"}}, "factors.bravo.patrols.ammo.values must be a list"),
        ({"factors": {"bravo.patrols.ammo": {"low": 1, "high": 4}}}, "must be no range in a grid"),
        ({"factors": {"games": {"key": "turn_limit", "values": [1]}}}, "must be another name"),
        ({"question": [{"kind": "treshold"}]}, "question.0.kind must be .* did you mean 'threshold'"),
        (
            {"question": [{**QUESTION, "factor": {"bravo": {"patrols": {"count": "1..8"}}}}]},
            'quote the key, as in "bravo',
        ),
        ({"question": [{**QUESTION, "measure": "margin"}]}, "question.0.measure must be 'alpha wins'"),
        ({"question": [{**QUESTION, "factor": {"bravo.patrols.ammo": "0..4"}}]}, "is a factor of the study and"),
        ({"question": [{"kind": "ranking"}]}, 'must be asked of a study with design = "morris" or "saltelli"'),
        ({"question": [{"kind": "worth", "of": {"x": {"keys": ["turn_limit"]}}}]}, "question.0.of.x must be"),
    ],
)
def test_wrong_files_are_refused_before_anything_is_played(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        play_study({**SMALL, **change}, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_ranges_have_whole_numbers_where_a_key_has():
    config = load_config("case1")
    ammo, odds = (Factor(keys=(key,), low=0, high=1) for key in ("bravo.patrols.ammo", "bravo.odds.shoot.0"))
    assert [ammo.at(config, unit) for unit in (0, 0.49, 0.5, 1)] == [0, 0, 1, 1]
    assert [odds.at(config, unit) for unit in (0, 0.49, 1)] == [0.0, 0.49, 1.0]
    fuel = Factor(keys=("bravo.patrols.fuel", "alpha.patrols.fuel"), low="-20%", high="+20%")
    assert fuel.at(config, 0.75) == "+10%"
    assert fuel.overrides(config, "+10%") == {"bravo.patrols.fuel": 66, "alpha.patrols.fuel": 110}
    count = Factor(keys=("bravo.patrols.count",), values=("-1",))
    assert count.overrides(config, "-1") == {"bravo.patrols.count": 7}  # of the formation's eight


@pytest.mark.parametrize("design", ["latin-hypercube", "sobol"])
def test_designs_that_fill_the_space(design):
    factors = {"alpha.patrols.fuel": {"low": 60, "high": 99}, "bravo.patrols.ammo": [0, 1, 2, 3]}
    data = {**SMALL, "factors": factors, "design": design, "samples": 16}
    cells = load_plan(parse_study(data)).cells
    assert cells == load_plan(parse_study(data)).cells != load_plan(parse_study({**data, "seed": 2})).cells
    fuel, ammo = zip(*(cell.values for cell in cells), strict=True)
    assert sorted(ammo) == sorted([0, 1, 2, 3] * 4)
    assert sum(value < 80 for value in fuel) == 8


def test_every_row_says_what_it_is_from():
    study = play_study(SMALL)
    rows = study.rows()
    assert {row["measure"] for row in rows} >= {"alpha wins", "bravo wins", "draws", "margin", "turns"}
    match = play_match(
        "scripted", "scripted", config="case1", overrides={"turn_limit": 6, "bravo.patrols.ammo": 1}, games=10, seed=1
    )
    (row,) = [r for r in rows if (r["measure"], r["bravo.patrols.ammo"], r["bravo"]) == ("turns", 1, "scripted")]
    assert row["overrides"] == "bravo.patrols.ammo=1; turn_limit=6"
    assert (row["config"], row["scenario"]) == ("case1", match.config.title)
    assert (row["games"], row["mean"]) == (10, match.turns.mean())
    assert row["q25"] == np.quantile(match.turns, 0.25)
    assert {r["study"] for r in rows} == {study.digest}
    assert {r["seed"] for r in rows} == {1}
    assert study.digest != play_study({**SMALL, "seed": 2}).digest
    ended = [r["mean"] for r in rows if r["measure"].startswith("ended: ")]
    assert sum(ended) >= 4  # every game of the four cells and pairs ended for some reason


def test_curves_end_with_the_final_scores():
    study = play_study({**SMALL, "games": 300})
    for place, games in study.games.items():
        curve = study.curves[place]
        np.testing.assert_array_equal(curve[-1, 1:3], games["scores"].sum(axis=0))
        assert curve[-1, 0] == 0
        running = [(games["turns"] > turn).sum() for turn in range(1, len(curve) + 1)]
        assert curve[:, 0].tolist() == running
    rows = study.rows("curves")
    assert (rows[0]["turn"], rows[0]["games"], rows[0]["bravo_patrols"]) == (1, 300, pytest.approx(8, abs=1))


@pytest.mark.slow
def test_studies_are_the_same_on_any_executor():
    data = {
        **SMALL,
        "factors": {},
        "question": [QUESTION, {"kind": "worth", "of": {"bravo.patrols.ammo": "-1"}, "games": 10}],
    }
    one, other = (play_study(data, executor=executor) for executor in (InlineExecutor(), LastFirstExecutor()))
    assert tables(one) == tables(other)
    assert tables(one) == tables(play_study(data, processes=1))


@pytest.mark.slow
def test_a_study_that_was_killed_goes_on(tmp_path):
    data = {**SMALL, "question": [QUESTION]}
    whole = play_study(data, folder=tmp_path)
    written = lines(tmp_path)
    (tmp_path / GAMES).write_bytes(b"".join(written[::2]) + written[1][:40])
    with pytest.raises(FolderError, match="the study is not finished"):
        read_study(tmp_path)
    again = play_study(data, folder=tmp_path)
    assert tables(again) == tables(whole) == tables(read_study(tmp_path))
    assert lines(tmp_path)[: len(written[::2])] == written[::2]  # not played again
    assert sorted(json.loads(line)["chunk"] for line in lines(tmp_path)) == sorted(
        json.loads(line)["chunk"] for line in written
    )


def test_a_study_that_grows_plays_only_what_is_new(tmp_path):
    play_study(SMALL, folder=tmp_path)
    before = lines(tmp_path)
    larger = play_study({**SMALL, "factors": {"bravo.patrols.ammo": "0..2"}}, folder=tmp_path)
    assert lines(tmp_path)[: len(before)] == before
    assert len(lines(tmp_path)) == len(before) + 2
    assert tables(larger) == tables(play_study({**SMALL, "factors": {"bravo.patrols.ammo": "0..2"}}))


def test_a_folder_with_something_else_is_refused(tmp_path):
    play_study(SMALL, folder=tmp_path)
    with pytest.raises(FolderError, match="the title of the study was 'small' and is now 'other'"):
        play_study({**SMALL, "title": "other"}, folder=tmp_path)
    first, *rest = lines(tmp_path)
    record = json.loads(first)
    columns = {name: value[:2] for name, value in record.items() if name not in ("chunk", "failures", "curve")}
    line_1 = "is damaged in line 1"
    for damage, message in (
        ({"turns": record["turns"][1:]}, line_1),
        ({"winner": [5] * 10}, line_1),
        ({"turns": [2**40] * 10}, line_1),
        ({"more": 1}, line_1),
        (columns, r"is damaged: chunk .* has 2 games instead of 10: delete its line"),
    ):
        (tmp_path / GAMES).write_bytes(json.dumps(record | damage).encode() + b"\n" + b"".join(rest))
        with pytest.raises(FolderError, match=message):
            play_study(SMALL, folder=tmp_path)
    with pytest.raises(FolderError, match="holds no study"):
        read_study(tmp_path / "nothing")


def test_comparisons_are_paired_where_the_seeds_are_the_same():
    one = play_study({**SMALL, "games": 40})
    for row in compare_studies(one, one):
        assert (row["difference"], row["paired"]) == (0, True)
    weaker = play_study({**SMALL, "games": 40, "set": {"turn_limit": 6, "alpha.patrols.fuel": 60}})
    (row,) = [
        row
        for row in compare_studies(one, weaker, ["margin"])
        if (row["bravo.patrols.ammo"], row["bravo"]) == (1, "scripted")
    ]
    before, after = (study.games[1, 0]["scores"].astype(int) for study in (one, weaker))
    differences = (after[:, 0] - after[:, 1]) - (before[:, 0] - before[:, 1])
    assert row["difference"] == differences.mean()
    assert row["high"] - row["difference"] == pytest.approx(2.0227 * differences.std(ddof=1) / math.sqrt(40), rel=1e-3)
    other = play_study({**SMALL, "games": 40, "seed": 2})
    assert {row["paired"] for row in compare_studies(one, other)} == {False}
    values = "no cell in common: bravo.patrols.ammo is 0, 1 in the first and 5 in the second"
    with pytest.raises(ConfigError, match=values):
        compare_studies(one, play_study({**SMALL, "factors": {"bravo.patrols.ammo": [5]}}))


def made_up_study(wins, **changes):
    """Return a study of which alpha wins the first games of every cell and pair, as many as are given."""
    plan, count = load_plan({**SMALL, **changes}), changes.get("games", SMALL["games"])
    games = np.zeros(count, GAME)
    games["winner"] = np.arange(count) >= wins
    places = product(range(len(plan.cells)), range(len(plan.file.agents)))
    return Study(plan, dict.fromkeys(places, games), {}, ())


def test_settings_are_compared_by_their_values():
    """Relative ones by what they are relative to, and a number of Patrols with that of the formation."""
    factors = {"bravo.patrols.fuel": ["+0", "+10"]}
    one = made_up_study(5, factors=factors)
    fuel = one.plan.scenarios[0].config.bravo.patrols.fuel
    other = made_up_study(5, factors=factors, set={"turn_limit": 6, "bravo.patrols.fuel": fuel + 30})
    assert compare_settings(one, other) == [f"bravo.patrols.fuel: {fuel} → {fuel + 30}"]
    absolute = [made_up_study(5, factors={"bravo.patrols.fuel": [50]}, set=each.plan.file.set) for each in (one, other)]
    assert compare_settings(*absolute) == []
    for count, changes in ((7, ["bravo.patrols.count: 8 → 7"]), (8, [])):
        other = made_up_study(5, set={"turn_limit": 6, "bravo.patrols.count": count})
        assert compare_settings(made_up_study(5), other) == changes


def test_a_single_game_has_no_interval_of_a_mean():
    study = play_study({**SMALL, "agents": [["scripted", "random"]], "games": 1})
    rows = {row["measure"]: row for row in study.rows()}
    assert (rows["margin"]["low"], rows["margin"]["high"], rows["margin"]["sd"]) == (None, None, None)
    assert rows["alpha wins"]["high"] - rows["alpha wins"]["low"] > 0.7
    tables(study)


def test_games_of_a_search_count_for_the_scenario_as_it_stands():
    study = play_study({**SMALL, "factors": {}, "agents": ["scripted"], "question": [QUESTION]})
    level = next(level for level in study.answered[0].answers[0].levels if level.value == 8)  # as in case1
    (row,) = [row for row in study.rows() if row["measure"] == "alpha wins"]
    assert (row["games"], row["mean"]) == (level.games, level.rate.value)


AMMO = {"title": "ammo", "config": "case3", "set": {"turn_limit": 6}, "factors": {"bravo.patrols.ammo": "2..4"}}


def test_one_network_plays_a_whole_study():
    study = play_study({**AMMO, "agents": [["policy", "scripted"]], "games": 4})
    found = {(row["alpha_version"], row["bravo_version"]) for row in study.rows()}
    ((version, other),) = found
    assert (version.startswith("network 3 of 7 ("), other) == (True, "")
    assert study.warnings == ()
    assert study.describe_agents() == [f"policy (alpha) against scripted (bravo): alpha: {version}"]
    named = play_study({**AMMO, "agents": [["policy:base,network=3", "scripted"]], "games": 4})
    assert {row["alpha_version"] for row in named.rows()} == {version}
    assert study.to_dict()["results"][0]["alpha_version"] == version


def test_a_study_warns_where_the_network_changes():
    study = play_study({**AMMO, "agents": [["policy:base,network=rules", "scripted"]], "games": 4})
    found = {row["bravo.patrols.ammo"]: row["alpha_version"].partition(" (")[0] for row in study.rows()}
    assert found == {2: "network 7 of 7", 3: "network 1 of 7", 4: "network 3 of 7"}
    (warning,) = study.warnings
    assert "other networks play in other cells" in warning
    assert "with rounds of each of bravo's Patrols 2" in warning.replace("number of ", "")
    assert study.to_dict()["warnings"] == [warning]
    assert warning in html.unescape(study_page(study, [], []))


@pytest.mark.parametrize("scenario", [0, 1])
def test_the_first_scenario_of_a_configuration_chooses_its_network(scenario):
    scenarios = [
        {"name": "three", "config": "case3"},
        {"name": "few", "config": "case3", "set": {"bravo.patrols.ammo": 2}},
    ]
    data = {**AMMO, "factors": {}, "agents": ["policy"], "scenario": scenarios}
    plan = load_plan(parse_study(data))
    agents = StudyAgents(plan)
    assert agents.seats(plan.cells[scenario], ("policy", "policy")) == ("policy:base,network=3",) * 2


def test_studies_of_different_factors_are_not_compared():
    grid = made_up_study(5)
    other = made_up_study(5, factors={"bravo.patrols.fuel": [40, 60], "turn_limit": [5, 6]})
    with pytest.raises(
        ConfigError, match=r"only the first varies bravo.patrols.ammo; only the second varies bravo.patrols.fuel, t"
    ):
        compare_studies(grid, other)
    linked = made_up_study(5, factors={"bravo.patrols.ammo": {"key": "bravo.hva.ammo", "values": [0, 1]}})
    with pytest.raises(ConfigError, match=r"only the second varies bravo.patrols.ammo"):
        compare_studies(grid, linked)


def test_a_cell_that_occurs_twice_is_compared_once():
    pytest.importorskip("SALib")
    factors = {"bravo.patrols.ammo": [0, 1], "turn_limit": [5, 6]}
    study = made_up_study(5, factors=factors, design="morris", samples=3)
    assert len(study.plan.cells) == 9
    assert len(compare_studies(study, study, ["turns"])) == 2 * len({cell.values for cell in study.plan.cells})


def test_what_differs_between_compared_studies():
    one = made_up_study(5)
    other = made_up_study(
        5, games=20, set={"turn_limit": 7}, factors={"bravo.patrols.ammo": [1, 2]}, agents=["scripted"]
    )
    assert compare_settings(one, other) == [
        "games: 10 → 20",
        "agents only in the first: scripted / random",
        "turn_limit: 6 → 7",
        "1 of 2 cells of the first study are not in the other one",
        "1 of 2 cells of the second study are not in the other one",
    ]
    assert compare_settings(one, one) == []


def test_means_are_of_the_games_that_both_have_if_they_are_paired():
    (row, *_) = compare_studies(made_up_study(10), made_up_study(10, games=20), ["alpha wins"])
    assert (row["paired"], row["first_games"], row["second_games"]) == (True, 10, 10)
    assert (row["first"], row["second"], row["difference"]) == (1, 1, 0)
    (row, *_) = compare_studies(made_up_study(10), made_up_study(20, games=20, seed=2), ["alpha wins"])
    assert (row["paired"], row["first_games"], row["second_games"]) == (False, 10, 20)
    assert (row["difference"], row["low"] < -0.1, row["high"] > 0.2) == (0, True, True)


def test_an_estimate_plays_little():
    estimate = estimate_study(load_plan({**SMALL, "games": 1000, "question": [QUESTION]}), processes=2)
    assert (estimate.cells, estimate.games) == (2, 4000)
    assert estimate.games < estimate.expected <= estimate.most == 4000 + 2 * 2 * QUESTION["games"]
    assert estimate.seconds > 0


@pytest.mark.slow
def test_progress_counts_games_once(tmp_path):
    """Those that were played already, and those that a search asks for again."""
    reported, fair = [], {"kind": "fair", "factor": {"bravo.patrols.fuel": "50..60"}, "games": 1000, "check": 100}
    data = {**SMALL, "agents": ["scripted"], "question": [fair]}
    study = play_study(data, folder=tmp_path, progress=lambda *counts: reported.append(counts))
    assert reported[-1][0] == study.total
    (tmp_path / GAMES).write_bytes(b"".join(lines(tmp_path)[:-3]))
    reported.clear()
    play_study(data, folder=tmp_path, progress=lambda *counts: reported.append(counts))
    assert reported == sorted(reported, key=lambda counts: counts[0])
    assert all(some <= total for some, total in reported)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (in_words("bravo.patrols.count"), "number of bravo's Patrols"),
        (in_words("alpha.odds.shoot.1"), "odds of alpha's shots in an adjacent sector"),
        (in_words("bravo.patrols.single.3.ammo"), "rounds of bravo's Patrol 3"),
        (in_words("turn_limit"), "turn limit"),
        (has_in_words("bravo.patrols.count", 8), ("8 Patrols for bravo", True)),
        (has_in_words("bravo.patrols.count", 1), ("1 Patrol for bravo", False)),
        (change_in_words("bravo.patrols.ammo", "+1"), "one more round for each of bravo's Patrols"),
        (change_in_words("bravo.patrols.ammo", "-2"), "2 fewer rounds for each of bravo's Patrols"),
        (change_in_words("alpha.hva.fuel", "-10%"), "10% less fuel for alpha's HVA"),
        (change_in_words("alpha.hva.fuel", 90), "90 units of fuel for alpha's HVA"),
        (change_in_words("both.odds.shoot.0", "+5%"), "+5% for the odds of either side's shots in the same sector"),
        (ask_extreme("bravo.patrols.ammo", "smallest"), "How few rounds may each of bravo's Patrols have so that"),
        (ask_extreme("alpha.hva.fuel", "largest"), "How much fuel may alpha's HVA have so that"),
        (ask_extreme("turn_limit", "largest"), "What is the largest value of the turn limit for which"),
        (number_in_words("turn_limit"), "value of the turn limit"),
        (number_in_words("bravo.patrols.ammo"), "number of rounds of each of bravo's Patrols"),
    ],
)
def test_values_and_changes_in_words(found, words):
    assert found == words
