"""The programs of docs/analyse/searching.md run, one after the other, and find what the page says."""

import re
from pathlib import Path

import pytest

from geo_patrol.agents.protocol import PlanningAgent

TEXT = (Path(__file__).parents[1] / "docs" / "analyse" / "searching.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def names():
    found = {"print": lambda *_: None}
    for program in PROGRAMS:
        exec(program, found)
    return found


def test_random_play_outs(names):
    assert names["games"].is_over.all()
    assert abs(names["games"].returns[:, 0].mean()) < 0.5
    assert names["finished"].is_over.all()
    assert 0 <= names["halfway"].is_over.mean() < 1


def test_the_tree_search_plans_and_beats_random_orders(names):
    assert isinstance(names["UctAgent"](), PlanningAgent)
    total = names["match"].summary().total
    assert total.win_rate > 0.6
    assert total.illegal_orders[0] == 0


def test_the_value_of_a_turn_of_the_duel(names):
    assert len(names["values"]) == 257
    assert names["value"](names["Game"]("duel", seed=0, overrides={"turn_limit": 1})) == pytest.approx(0, abs=1e-9)


def test_programs_are_as_short_as_they_are_said_to_be():
    lines = [[line for line in program.splitlines() if line.strip()] for program in PROGRAMS]
    assert len(lines[2]) <= 60
    assert len(lines[4]) <= 30
