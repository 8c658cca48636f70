"""The editor of scenarios over HTTP: changes are written as TOML, checked and drawn, and strangers' input is bounded."""

import tomllib
from pathlib import Path

import pytest

from geo_patrol import Game, load_config
from geo_patrol.config.toml_files import write_toml
from geo_patrol.studies.plan import plan_study
from geo_patrol.studies.study import check_questions
from geo_patrol.studies.study_file import parse_study
from geo_patrol.web import requests


def edit(client, scenario, status=200, **changes):
    response = client.post("/api/scenario", json={"scenario": scenario, "changes": changes})
    assert response.status_code == status, response.text
    return response.json()


def test_a_scenario_that_is_not_changed_keeps_its_text(client):
    text = 'extends = "case2"  # my base\n'
    answer = edit(client, text)
    assert (answer["scenario"], answer["extends"]) == (text, "case2")
    assert [len(fleet) for fleet in answer["record"]["moments"][0]["fleets"]] == [11, 9]
    assert answer["board"] == {"inner_ring": 1, "outer_ring": 4, "goal_ring": 4}
    assert len(answer["places"]) == 16


def test_changes_are_written_into_the_scenario(client):
    text = 'extends = "case2"\n[both.patrols]\nfuel = 70\n[bravo.odds]\nshoot = [1, 0.5]\n'
    changes = {
        "bravo.patrols.formation": [[-2, 2], [0, 3]],
        "bravo.patrols.ammo": 4,
        "turn_limit": 20,
        "title": 'A "test"',
    }
    answer = edit(client, text, **changes)
    config = load_config(tomllib.loads(answer["scenario"]))
    assert config.bravo.patrols.formation == ((-2, 2), (0, 3))
    assert (config.bravo.patrols.ammo, config.bravo.patrols.fuel, config.bravo.odds.shoot) == (4, 70, (1, 0.5))
    assert (config.turn_limit, config.title) == (20, 'A "test"')
    assert len(answer["record"]["moments"][0]["fleets"][1]) == 6


def test_a_change_to_nothing_takes_the_value_of_the_preset(client):
    answer = edit(client, 'extends = "case2"\n[bravo.patrols]\nammo = 4\n', **{"bravo.patrols.ammo": None})
    assert answer["scenario"] == 'extends = "case2"\n'


def test_the_fleet_is_that_of_the_game_where_a_count_extends_the_formation(client):
    answer = edit(client, 'extends = "case2"\n[bravo.patrols]\ncount = 10\n')
    fleet = Game("case2", overrides={"bravo.patrols.count": 10}, seed=1).satellites("bravo")
    assert [one[1] for one in answer["record"]["moments"][0]["fleets"][1]] == [one.sector for one in fleet]
    assert answer["counted"] == [False, True]


def test_single_patrols_are_told_from_the_fleet(client):
    scenario = 'extends = "case2"\nmirror = true\n[alpha.patrols]\nsingle = { 2 = { fuel = 33 } }\n'
    answer = edit(client, scenario, **{"alpha.patrols.single.1.ammo": 5})
    assert tomllib.loads(answer["scenario"])["alpha"]["patrols"]["single"] == {"2": {"fuel": 33}, "1": {"ammo": 5}}
    assert answer["single"] == [{"2": ["fuel"], "1": ["ammo"]}] * 2
    patrols = load_config("case2").alpha.patrols
    assert edit(client, scenario, **{"alpha.points.patrol": 5})["prizes"] == [5, 5]
    assert answer["supplies"] == [[patrols.fuel, patrols.ammo]] * 2
    assert edit(client, answer["scenario"], **{"alpha.patrols.single.1.ammo": None})["single"] == [{"2": ["fuel"]}] * 2


@pytest.mark.parametrize(
    ("scenario", "questions"),
    [
        ('extends = "case2"\n[bravo.patrols]\nfuel = 50\n[both.patrols]\nfuel = 70\nammo = 2\n', 3),
        ('extends = "geo_patrol"\ntitle = "+5%"\nmirror = true\n', 1),
        ('extends = "case1"\n[bravo.patrols]\nformation = [[0, 1]]\n', 2),  # one Patrol less is none
        ('extends = "case1"\n[bravo.patrols]\nfuel = { low = 40, high = 60 }\n', 3),
    ],
)
def test_studies_ask_about_the_scenario_as_it_is(client, scenario, questions):
    answer = edit(client, scenario)
    config = load_config(tomllib.loads(scenario))
    assert len(answer["studies"]) == questions
    for title, text in answer["studies"]:
        plan = plan_study(parse_study(tomllib.loads(text)), Path())
        check_questions(plan)
        assert (plan.file.title, plan.scenarios[0].name) == (title, config.title)
        assert values_of(plan.scenarios[0].config) == values_of(config)


def values_of(config):
    return {key: value for key, value in config.to_dict().items() if key not in ("title", "description")}


@pytest.mark.parametrize(
    ("scenario", "changes", "fault"),
    [
        ("= 3", {}, "scenario"),
        ('extends = "/etc/passwd"', {}, "name of a preset"),
        (
            'extends = "case1"',
            {"bravo.patrols.fuel": 0},
            "bravo.patrols.fuel must be an integer from 1 to 10000, got 0",
        ),
        ('extends = "case1"', {"bravo.patrols.fule": 3}, "did you mean fuel?"),
        ('extends = "case1"', {"title.x.y": 3}, "title"),
        ('extends = "case1"', {"turn_limit": 201}, "at most 200 on a server"),
        ('extends = "case1"', {"bravo.patrols.formation": [[0, 11]]}, "must be an integer from 1 to 10"),
        ('extends = "case1"', {".".join("a" * 20): 1}, "a key has at most"),
        ('extends = "case1"', {"a" * 81: 1}, "changes"),
        ('extends = "case1"', {f"k{i}": 1 for i in range(21)}, "changes"),
        ('extends = "case1"', {"title": {"nested": [[]]}}, "changes"),
        ('extends = "case1"', {"title": "x" * 201}, "changes"),
        ("a" + ".a" * 300 + " = 1", {}, "dots"),
        (f"x = [{'1, ' * 4000}]", {}, "values"),
        ("\n".join(f"key{i} = 1" for i in range(100)), {}, "more than 20 faults"),
    ],
)
def test_what_is_wrong_is_said_and_bounded(client, scenario, changes, fault):
    answer = edit(client, scenario, 400, **changes)
    assert fault in answer["text"]
    assert len(answer["text"]) < 20_000


def test_faults_name_their_keys_as_data(client):
    scenario = 'extends = "case1"\n[[variants]]\nname = "a"\nturn_limit = "x"\n'
    answer = edit(client, scenario, 400, **{"bravo.patrols.fuel": 0, "turn_limit": -1})
    assert [fault["key"] for fault in answer["faults"]] == ["turn_limit", "bravo.patrols.fuel", "variants.0.turn_limit"]
    assert answer["faults"][1]["text"] == "must be an integer from 1 to 10000, got 0"
    assert all(f"  {fault['key']} {fault['text']}" in answer["text"] for fault in answer["faults"])
    assert edit(client, 'extends = "case1"', 400, turn_limit=201)["faults"] is None


def test_other_sites_and_floods_are_refused(serve, monkeypatch):
    monkeypatch.setitem(requests.RATES, "requests", (0.01, 3))
    client = serve()
    headers = {"origin": "http://elsewhere.example"}
    assert client.post("/api/scenario", json={"scenario": ""}, headers=headers).status_code == 403
    codes = [client.post("/api/scenario", json={"scenario": "= 3"}).status_code for _ in range(4)]
    assert codes == [400] * 3 + [429]


@pytest.mark.parametrize(
    "data",
    [
        {"extends": "case1", "title": 'a "quoted" \\ text\n\x7f'},
        {"a": {"b": {"c": [1, [2.5, True]]}}, "top": "last"},
        {"alpha": {"patrols": {"fuel": {"low": 1, "high": 3}, "ammo": {"choices": [0, 1]}}}},
        {"a": [{"b": 1, "c": {"d": 2}}, {}, {"c": {"e": 3}}], "f": [[1], [{"g": 1}]], "h": []},
        {"variants": [{"name": "a", "bravo": {"patrols": {"ammo": 1}}}], "odd key": {"x.y": 1}},
        {},
    ],
)
def test_written_toml_is_read_as_the_same_data(data):
    assert tomllib.loads(write_toml(data)) == data
