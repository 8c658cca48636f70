"""Agents as objects: in tournaments, sequential tests and sweeps they play as those that are given by name."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from geo_patrol import make_agent, play_match, play_sprt, play_sweep, play_tournament
from geo_patrol.agents.basic import RandomAgent
from geo_patrol.base.errors import MissingPackageError
from geo_patrol.evaluation.chunks import CHUNK_PAIRS
from tests.support.executors import InlineExecutor

pytestmark = pytest.mark.usefixtures("without_workers")

SHORT = {"config": "case4", "overrides": {"turn_limit": 2}, "seed": 5}


class Counting(RandomAgent):
    """Counts its games."""

    def __init__(self, name):
        self.name, self.games = name, 0

    def reset(self, new_games):
        self.games += int(new_games.sum())


class Remembering:
    """Keeps a state between calls."""

    name, observation = "remembering", "tokens"

    def reset(self, new_games):
        self.phases = 0

    def act(self, observations, action_masks, generator):
        self.phases += 1
        return np.zeros(action_masks.shape[:2], np.int64)


def test_objects_and_names_play_the_same_tournament():
    names = ["random", "idle", "turtle"]
    objects = [make_agent("random"), "idle", make_agent("turtle")]
    settings = {**SHORT, "games": 2 * CHUNK_PAIRS + 2, "mirror": True}
    one, other = (play_tournament(agents, **settings) for agents in (names, objects))
    assert other.agents == one.agents
    for match, expected in zip(other.matches, one.matches, strict=True):
        assert match.agents == expected.agents
        np.testing.assert_array_equal(match.games, expected.games)


@pytest.mark.slow
def test_objects_play_sequential_tests_and_sweeps():
    result = play_sprt(make_agent("scripted"), "idle", seed=1)
    assert (result.verdict, len(result.match)) == ("elo1", 32)
    grid = {"vary": ["turn_limit=1,2"], "games": 4, "seed": 1}
    sweep = play_sweep(make_agent("random"), Remembering(), **grid)
    assert sweep.plan.file.agents == (("random", "remembering"), ("remembering", "random"))
    by_name = play_sweep("random", "random", **grid)
    agent = make_agent("random")
    assert play_sweep(agent, agent, **grid).to_dict() == by_name.to_dict()


def test_objects_with_one_name_are_told_apart():
    agents = [Counting("net"), Counting("net"), "idle"]
    result = play_tournament(agents, **SHORT, games=4)
    assert result.agents == ("net", "net (2)", "idle")
    assert [agent.games for agent in agents[:2]] == [8, 8]
    assert result.matches[0].agents == ("net", "net (2)")
    seeds = result.matches[0].seeds
    np.testing.assert_array_equal(seeds[::2], seeds[1::2])  # two agents, not one against itself


def test_an_object_with_a_state_does_not_play_against_itself():
    agent = Remembering()
    message = "agent 'remembering' keeps a state between calls, so it cannot play both sides: give another object"
    with pytest.raises(ValueError, match=message):
        play_tournament([agent, "idle"], **SHORT, games=2, mirror=True)
    for play in (play_match, play_sprt):
        with pytest.raises(ValueError, match=message):
            play(agent, agent)
    with pytest.raises(ValueError, match="agent 'remembering' is there twice"):
        play_tournament([agent, agent], games=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"executor": InlineExecutor()}, "agents must be names where worker processes or an executor make them, got <"),
        ({"processes": 2}, "agents must be names where worker processes or an executor make them, got <"),
        ({"folder": "games"}, "agents must be names where a folder stores their games, got <"),
    ],
)
def test_objects_play_in_this_process_alone(arguments, message):
    with pytest.raises(ValueError, match=message):
        play_tournament([make_agent("random"), "idle"], games=2, **arguments)


def test_a_module_of_pytorch_is_told_about_its_wrapper(monkeypatch):
    class Module:
        """Stands for ``torch.nn.Module`` where PyTorch is not installed."""

    monkeypatch.setitem(sys.modules, "torch", type("torch", (), {"nn": type("nn", (), {"Module": Module})}))
    message = r"got the PyTorch module Module: it plays as NetworkAgent\('my network', TorchNetwork\(module\)\)"
    with pytest.raises(ValueError, match=message):
        play_tournament([Module(), "idle"], games=2)
    with pytest.raises(ValueError, match=message):
        play_match("idle", Module(), games=2)


def test_tables_have_the_columns_of_the_files():
    match = play_match("random", "idle", **SHORT, games=4)
    columns = match.columns()
    assert {len(column) for column in columns.values()} == {4}
    assert columns["alpha"].tolist() == ["random", "idle"] * 2
    assert columns["alpha_score"].tolist() == [
        *match.scores[[0], 0],
        *match.scores[[1], 1],
        *match.scores[[2], 0],
        match.scores[3, 1],
    ]
    winners = [("random", "idle", "")[winner] for winner in match.winner.tolist()]
    assert columns["winner"].tolist() == winners
    tournament = play_tournament(["random", "idle"], **SHORT, games=4)
    assert [row["agent"] for row in tournament.rows()] == ["random", "idle"]
    assert tournament.rows("pairings")[0]["games"] == 4
    with pytest.raises(ValueError, match="table must be 'ratings' or 'pairings', got 'games'"):
        tournament.rows("games")
    sweep = play_sweep("random", "idle", ["turn_limit=1,2"], games=2, seed=1)
    rows = [row for row in sweep.rows() if row["measure"] == "draws"]
    assert [(row["turn_limit"], row["alpha"]) for row in rows] == [
        (1, "random"),
        (1, "idle"),
        (2, "random"),
        (2, "idle"),
    ]


def test_data_frames_need_pandas():
    match = play_match("random", "idle", **SHORT, games=4)
    sprt = play_sprt("random", "idle", max_games=4, seed=1)
    if importlib.util.find_spec("pandas") is None:
        with pytest.raises(
            MissingPackageError, match="to_frame needs pandas, which is not installed: pip install pandas"
        ):
            match.to_frame()
    else:
        assert match.to_frame()["seed"].tolist() == match.seeds.tolist()
        assert sprt.to_frame()["pair"].tolist() == [0, 1]


UNGUARDED = """
import geo_patrol
from pathlib import Path

Path("runs.txt").open("a").write("run\\n")
Path("bot.py").write_text('''
from geo_patrol.agents import RandomAgent

class Bot(RandomAgent):
    pass
''')
for processes in (1, 2):
    result = geo_patrol.play_tournament(
        ["bot.py:Bot", "idle"], config="case4", overrides={"turn_limit": 1}, games=2, seed=1, processes=processes
    )
    print(result.agent_errors, len(result.matches))
"""


@pytest.mark.slow
def test_a_script_needs_no_guard(tmp_path):
    """Neither worker processes nor those of user-defined agents import the script again."""
    (tmp_path / "play.py").write_text(UNGUARDED)
    done = subprocess.run([sys.executable, "play.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "() 1\n() 1\n"), done.stderr
    assert (tmp_path / "runs.txt").read_text() == "run\n"
