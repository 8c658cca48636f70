"""The search for scripts that beat an agent."""

import json

import numpy as np
import typer

from geo_patrol import make_agent
from geo_patrol.agents.scripted import Raid
from geo_patrol.agents.scripted.script import describe_parameters
from research import parameter_search
from research.parameter_search import FAMILIES, sample_candidate, search
from tests.support.commands import run


def test_candidates_are_agents_and_take_parameters_from_parents():
    rng = np.random.default_rng(0)
    for family in FAMILIES:
        names = {describe_parameters(family, sample_candidate(family, (), rng)) for _ in range(30)}
        assert len(names) == 30
        assert all(make_agent(name).name == name for name in names)
    parents = (Raid(defenders=1, lead=0.123), Raid(defenders=2, lead=0.123))
    children = [sample_candidate("raider", parents, rng) for _ in range(200)]
    assert 130 <= sum(child.lead == 0.123 for child in children) <= 185
    assert {1, 2} < {child.defenders for child in children}


def play_by_lead(candidate, agent, config, games, seed):
    """Stand in for a match: the larger the lead, the more wins."""
    win_rate = float(candidate.partition("lead=")[2].partition(",")[0] or 0)
    interval = [win_rate, win_rate]
    return {"candidate": candidate, "games": games, "seed": seed, "win_rate": win_rate, "win_interval": interval}


def test_a_search_climbs(monkeypatch):
    monkeypatch.setattr(parameter_search, "play", play_by_lead)
    results = search("idle", "case1", 200, 2, seed=1)
    win_rates = [result["win_rate"] for result in results]
    assert len({result["candidate"] for result in results}) == 200
    assert win_rates == sorted(win_rates, reverse=True)
    assert np.mean(win_rates) > 0.6  # 0.5 if all were random


def test_the_best_play_again_with_another_seed(tmp_path):
    app = typer.Typer()
    app.command()(parameter_search.main)
    file = tmp_path / "found.json"
    arguments = ["idle", "--config", "case1", "--candidates", "4", "--games", "2", "--best", "2", "--final-games", "4"]
    result = run(*arguments, "--json", file, app=app)
    assert result.exit_code == 0, result.output
    found = json.loads(file.read_text())
    assert [each["games"] for each in found["best"]] == [4, 4]
    assert len(found["candidates"]) == 4
    assert found["best"][0]["seed"] != found["candidates"][0]["seed"]
