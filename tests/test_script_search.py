"""The search for the script that plays best against an agent."""

import json

import numpy as np
from typer.testing import CliRunner

from benchmarks.script_search import app, sample_candidate
from geo_patrol.agents import make_agent

ARGUMENTS = ["--opponent", "idle", "--config", "king_of_the_hill", "--candidates", "4", "--games", "2"]


def test_candidates_are_agents_of_both_families():
    names = [sample_candidate(np.random.default_rng(seed), seed) for seed in range(40)]
    assert {name.partition(":")[0] for name in names} == {"raider", "scripted"}
    assert [make_agent(name).name for name in names] == names


def test_a_search_goes_on_where_it_was_interrupted(tmp_path):
    out = tmp_path / "search.jsonl"
    arguments = [*ARGUMENTS, "--finalists", "2", "--final-games", "4", "--out", str(out)]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    lines = out.read_text().splitlines()
    assert [json.loads(line)["games"] for line in lines] == [2, 2, 2, 2, 4, 4]
    assert json.loads(lines[0])["seed"] != json.loads(lines[-1])["seed"]
    out.write_text("\n".join(lines[:5]) + "\n")
    second = CliRunner().invoke(app, arguments)
    assert out.read_text().splitlines() == lines
    assert second.output == first.output
