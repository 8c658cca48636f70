"""Agents of users: how they are found, and that none of their faults reaches anybody else."""

import multiprocessing
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import AgentError, make_agent, play_match
from geo_patrol.agents import guard
from geo_patrol.agents.guard import GuardedAgent, is_own_agent, seat_agent
from geo_patrol.agents.loading import load_agent
from geo_patrol.agents.results import DRAW, FIRST, PER_GAME, SECOND
from geo_patrol.engine.state import FORFEIT

OWN = Path(__file__).with_name("own_agents.py")


def own(name):
    return f"{OWN}:{name}"


@pytest.fixture
def guarded(monkeypatch):
    """Make agents in processes of their own, with short deadlines, and end them after the test."""
    made = []

    def make(name, call_seconds=30.0, move_time=0.01):
        monkeypatch.setattr(guard, "CALL_SECONDS", call_seconds)
        monkeypatch.setattr(guard, "FIRST_SECONDS", 0.0)
        made.append(GuardedAgent(own(name), move_time))
        return made[-1]

    yield make
    for agent in made:
        agent.close()
    assert multiprocessing.active_children() == []


def test_names_of_own_agents():
    assert is_own_agent("bots/mine.py:Mine")
    assert is_own_agent("package.module:Mine")
    for name in ("random", "scripted", "random:fast", "mine.py", "mine.py:", ":Mine", "mine.py:a b", "a-b:Mine", ""):
        assert not is_own_agent(name)


def test_loading_from_a_file_and_from_a_module(monkeypatch):
    monkeypatch.chdir(OWN.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert make_agent("own_agents.py:Polite").name == "polite"
    assert load_agent("own_agents:ready_made").name == "polite"
    assert make_agent("geo_patrol.agents:IdleAgent").name == "idle"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere.py:Bot", r"agent 'nowhere.py:Bot': there is no file '.*nowhere.py'; give path/to/file.py:Name"),
        ("no_such_module:Bot", "agent 'no_such_module:Bot': there is no module 'no_such_module'; give"),
        ("geo_patrol.nothing:Bot", "there is no module 'geo_patrol.nothing'"),
        (own("Polit"), "has no 'Polit'; its classes with act are RandomAgent, Polite, Raises"),
        (own("NeverMade"), "cannot be made: FileNotFoundError: weights.npz"),
        (own("NoAgent"), r"is no agent \(name, observation, reset, act\)"),
        (own("OWN_NAME"), "has no 'OWN_NAME'"),
        ("mine", "give path/to/file.py:Name or module:Name"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(name, told):
    with pytest.raises(AgentError, match=told):
        load_agent(name)


def test_a_file_with_a_fault_is_said(tmp_path):
    (tmp_path / "broken.py").write_text("import no_such_package_at_all\n")
    with pytest.raises(
        AgentError, match="cannot be made: ModuleNotFoundError: No module named 'no_such_package_at_all'"
    ):
        load_agent(f"{tmp_path}/broken.py:Bot")


def test_a_guarded_agent_plays_as_it_would_here(guarded, capfd):
    agent = guarded("Polite")
    assert agent.observation == "onehot"
    there = play_match(agent, "idle", games=20, seed=5, on_failure="forfeit")
    here = load_agent(own("Polite"))
    here.name = agent.name  # on which its chance depends
    for field in PER_GAME:
        np.testing.assert_array_equal(getattr(there, field), getattr(play_match(here, "idle", games=20, seed=5), field))
    assert there.failures == ()


def test_what_an_agent_prints_goes_to_standard_error(guarded):
    code = (
        "from geo_patrol.agents.guard import GuardedAgent; from geo_patrol import play_match\n"
        f"agent = GuardedAgent({own('Polite')!r})\n"
        "play_match(agent, 'idle', games=2, seed=1); agent.close()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == ""
    assert "thinking" in ran.stderr


FAULTS = [
    ("Raises", "act raised KeyError: 'where am I'"),
    ("Sleeps", r"act took longer than 1\.04 s"),
    ("Spins", r"act took longer than 1\.04 s"),
    ("Garbage", "act returned str: give a NumPy array"),
    pytest.param(
        "Killed",
        "its process was ended by SIGKILL in act",
        marks=pytest.mark.skipif(sys.platform == "win32", reason="no such signal"),
    ),
    ("Leaves", "its process ended with exit status 3 in act"),
]


@pytest.mark.parametrize(("name", "told"), FAULTS)
def test_an_agent_that_fails_loses_and_the_match_goes_on(name, told, guarded):
    agent = guarded(name, call_seconds=1.0 if "longer" in told else 30.0)
    begin = time.monotonic()
    result = play_match("idle", agent, games=8, seed=3, on_failure="forfeit")
    assert time.monotonic() - begin < 60
    assert (result.winner == FIRST).all()
    assert (result.scores[:, SECOND] == 0).all()
    assert (result.scores[:, FIRST] > 0).all()
    np.testing.assert_array_equal(result.reasons, np.where(result.first_side == 0, FORFEIT << 1, FORFEIT))
    assert [(one.agent, one.games) for one in result.failures] == [(SECOND, 4), (SECOND, 4)]
    for failure in result.failures:
        assert re.search(told, failure.message)
        assert failure.message.startswith(f"agent '{own(name)}'")
    assert result.summary().total.endings["forfeit"].second == 8


def test_games_that_were_over_stay_as_they_are(guarded):
    """Raises fails in the second turn; with a limit of one turn all is over by then."""
    result = play_match(guarded("Raises"), "idle", overrides={"turn_limit": 1}, games=4, seed=3, on_failure="forfeit")
    assert result.failures == ()
    assert (result.turns == 1).all()


def test_a_failure_in_the_same_phase_is_a_draw(guarded):
    result = play_match(guarded("Garbage"), guarded("Raises"), games=4, seed=3, on_failure="forfeit")
    assert (result.winner == SECOND).all()  # Garbage fails in the first phase, Raises in the third
    both = play_match(guarded("Garbage"), guarded("Leaves"), games=4, seed=3, on_failure="forfeit")
    assert (both.winner == DRAW).all()
    assert (both.scores == 0).all()
    assert len(both.failures) == 4


def test_an_agent_that_fails_ends_a_match_that_wants_to_know(guarded):
    with pytest.raises(AgentError, match="KeyError: 'where am I'"):
        play_match(guarded("Raises"), "idle", games=4)


def test_illegal_orders_are_noops_or_lose_the_game(guarded):
    agent = guarded("Illegal")
    result = play_match(agent, "idle", games=4, seed=1, on_failure="forfeit")
    assert (result.illegal_orders[:, FIRST] > 0).all()
    assert result.failures == ()
    lost = play_match(agent, "idle", overrides={"illegal_orders": "forfeit"}, games=4, seed=1, on_failure="forfeit")
    assert (lost.winner == SECOND).all()


def test_renewing_forgets(guarded):
    agent = guarded("Counter")

    def play():
        return play_match(agent, "idle", games=4, seed=1, on_failure="forfeit").scores.tolist()

    first, second = play(), play()
    assert first != second
    agent.renew()
    assert play() == first


def test_an_agent_that_cannot_be_made_again_loses(guarded, tmp_path):
    path = tmp_path / "fragile.py"
    path.write_text(OWN.read_text())
    agent = GuardedAgent(f"{path}:Leaves")
    path.write_text("")
    result = play_match(agent, "idle", games=4, seed=1, on_failure="forfeit")
    agent.close()
    assert (result.winner == SECOND).all()
    assert "has no 'Leaves'" in result.failures[1].message


def test_the_process_of_an_agent_ends_with_the_match_however_that_ends(tmp_path):
    code = (
        "import os, signal, time\n"
        "from geo_patrol.agents.guard import GuardedAgent\n"
        f"agent = GuardedAgent({own('Sleeps')!r})\n"
        "print(agent._process.pid, flush=True)\n"
        "agent._connection.send(('act', None, None, None))\n"
        "time.sleep(0.3)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(ran.stdout)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the agent's process is still there")


@pytest.mark.parametrize("move_time", [0, -1, float("nan"), float("inf"), True, "1"])
def test_wrong_move_times(move_time):
    with pytest.raises(ValueError, match=r"move time = .*: give seconds for a decision"):
        seat_agent("idle", move_time)


def test_how_failures_are_met_must_be_known():
    with pytest.raises(ValueError, match="on_failure = 'ignore': give 'raise' or 'forfeit'"):
        play_match("idle", "random", games=2, on_failure="ignore")
