"""Agents of users: how they are loaded, and that their faults stay in their own processes."""

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
from geo_patrol.agents.isolation import agent as isolation
from geo_patrol.agents.isolation.agent import IsolatedAgent, make_match_agent
from geo_patrol.agents.loading import load_agent
from geo_patrol.agents.registry import is_user_defined
from geo_patrol.engine.observe import observation_size
from geo_patrol.engine.state import FORFEIT
from geo_patrol.evaluation.results import DRAW, FIRST, SECOND
from geo_patrol.replays import ReplayReader, check

OWN = Path(__file__).parents[1] / "support" / "own_agents.py"


def own(name):
    return f"{OWN}:{name}"


@pytest.fixture
def guarded(monkeypatch):
    """Make agents in processes of their own, which may take long on a busy machine, and end them after the test."""
    made = []
    for what in ("CALL_SECONDS", "START_SECONDS"):
        monkeypatch.setattr(isolation, what, 300.0)

    def make(name):
        made.append(IsolatedAgent(own(name), move_time=0.01))
        return made[-1]

    yield make
    for agent in made:
        agent.close()
    assert multiprocessing.active_children() == []


def test_names_of_own_agents():
    assert is_user_defined("bots/mine.py:Mine")
    assert is_user_defined("package.module:Mine")
    for name in ("random", "scripted", "random:fast", "mine.py", "mine.py:", ":Mine", "mine.py:a b", "a-b:Mine", ""):
        assert not is_user_defined(name)


def test_loading_from_a_file_and_from_a_module(monkeypatch):
    monkeypatch.chdir(OWN.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert make_agent("own_agents.py:Polite").name == "polite"
    assert load_agent("own_agents:ready_made").name == "polite"
    assert make_agent("geo_patrol.agents:IdleAgent").name == "idle"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.py:Bot", r"agent 'nowhere.py:Bot': there is no file '.*nowhere.py'; it must be path/to/file.py:Name"),
        ("no_such_module:Bot", "agent 'no_such_module:Bot': there is no module 'no_such_module'; it must be"),
        ("geo_patrol.nothing:Bot", "there is no module 'geo_patrol.nothing'"),
        (own("Polit"), "has no 'Polit'; its classes with act are RandomAgent, Polite, Raises"),
        (own("NeverMade"), "cannot be made: FileNotFoundError: weights.npz"),
        (own("NoAgent"), r"is not an agent \(name, observation, reset, act\)"),
        (own("OWN_NAME"), "has no 'OWN_NAME'"),
        ("mine", "must be path/to/file.py:Name or module:Name, where Name is a class without arguments or an agent"),
        (
            "polcy:base",
            r"no module 'polcy'; did you mean 'policy'\? Or it must be path/to/file\.py:Name or module:Name",
        ),
    ],
)
def test_errors_of_names(name, message):
    with pytest.raises(AgentError, match=message):
        make_agent(name) if name == "polcy:base" else load_agent(name)


@pytest.mark.slow
def test_an_isolated_agent_plays_the_same_orders_and_prints_to_standard_error(guarded, capfd):
    agent = guarded("Polite")
    assert agent.observation == "onehot"
    there = play_match(agent, "idle", games=20, seed=5, on_failure="forfeit")
    printed, errors = capfd.readouterr()
    assert printed == ""
    assert "thinking ..." in errors
    here = load_agent(own("Polite"))
    here.name = agent.name  # its random stream depends on it
    np.testing.assert_array_equal(there.games, play_match(here, "idle", games=20, seed=5).games)
    assert there.failures == ()


def first_orders(agent):
    """Return the orders of an agent in the first phase of two games."""
    agent.reset(np.ones(2, np.bool_))
    size = observation_size(agent.observation, 4)
    return agent.act(np.zeros((2, size), np.int16), np.ones((2, 11, 28), np.int8), np.random.default_rng(1))


def ended(group):
    """Wait until there are no processes of a group: init takes a moment to reap what was killed."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


needs_kill = pytest.mark.skipif(sys.platform == "win32", reason="no such signal")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Garbage", "act must return a NumPy array, got str"),
        pytest.param("Killed", "its process was ended by SIGKILL in act", marks=needs_kill),
        ("Leaves", "its process ended with exit status 3 in act"),
    ],
)
def test_no_fault_of_an_agent_leaves_its_process(name, message, guarded):
    with pytest.raises(AgentError, match=rf"^agent '{re.escape(own(name))}': {message}"):
        first_orders(guarded(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [("Spins", r"act took longer than 0\.52 s"), ("Stalls", r"reset took longer than 0\.42 s")],
)
def test_an_agent_that_hangs_is_ended(name, message, guarded, monkeypatch):
    agent = guarded(name)
    monkeypatch.setattr(isolation, "CALL_SECONDS", 0.4)
    monkeypatch.setattr(isolation, "FIRST_SECONDS", 0.1)
    with pytest.raises(AgentError, match=message):
        first_orders(agent)
    assert multiprocessing.active_children() == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no limits of memory")
def test_an_agent_gets_half_of_the_memory_at_most(guarded):
    with pytest.raises(AgentError, match=r"act raised MemoryError: after .* GiB") as caught:
        first_orders(guarded("Hogs"))
    taken = float(re.search(r"after (.*) GiB", str(caught.value))[1])
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    assert taken <= machine / 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Shouts", r"act raised ValueError: line one line two \?\[31m!{277}\.\.\."),
        ("Mute", "act raised Unspeakable, whose message cannot be read"),
    ],
)
def test_messages_of_exceptions_fit_on_a_line(name, message):
    with pytest.raises(AgentError, match=f"{message}$"):
        play_match(load_agent(own(name)), "idle", games=2)


@pytest.mark.slow
def test_orders_of_an_array_subclass_become_plain_arrays(guarded):
    assert type(first_orders(guarded("Disguises"))) is np.ndarray


@pytest.mark.slow
def test_an_agent_that_fails_loses_and_the_match_goes_on(guarded):
    """Raises fails in the third phase; every batch begins with a fresh process."""
    agent = guarded("Raises")
    result = play_match("idle", agent, games=8, seed=3, on_failure="forfeit")
    assert (result.winner == FIRST).all()
    assert (result.scores[:, SECOND] == 0).all()
    assert (result.scores[:, FIRST] > 0).all()
    assert (result.turns == 2).all()
    np.testing.assert_array_equal(result.reasons, np.where(result.first_side == 0, FORFEIT << 1, FORFEIT))
    assert [(one.agent, one.games) for one in result.failures] == [(SECOND, 4), (SECOND, 4)]
    for failure in result.failures:
        assert failure.message == f"agent '{own('Raises')}': act raised KeyError: 'where am I'"
    assert result.summary().total.endings["forfeit"].second == 8


def test_games_that_were_over_do_not_change():
    """Raises fails in the second turn; with a limit of one turn all is over by then."""
    agent = load_agent(own("Raises"))
    result = play_match(agent, "idle", overrides={"turn_limit": 1}, games=4, seed=3, on_failure="forfeit")
    assert result.failures == ()
    assert (result.turns == 1).all()


def test_a_failure_in_the_same_phase_is_a_draw():
    garbage, raises, shouts = (load_agent(own(name)) for name in ("Garbage", "Raises", "Shouts"))
    result = play_match(garbage, raises, games=4, seed=3, on_failure="forfeit")
    assert (result.winner == SECOND).all()  # Garbage fails in the first phase, Raises in the third
    both = play_match(garbage, shouts, games=4, seed=3, on_failure="forfeit")
    assert (both.winner == DRAW).all()
    assert (both.scores == 0).all()
    assert len(both.failures) == 4


def test_games_lost_by_failing_are_saved_up_to_the_failure(tmp_path):
    raises, garbage, path = load_agent(own("Raises")), load_agent(own("Garbage")), tmp_path / "games.jsonl"
    result = play_match(raises, "idle", games=4, seed=3, save=path, on_failure="forfeit")
    games = list(ReplayReader(path))
    assert [game.seed for game in games] == result.seeds.tolist()
    assert [game.agents for game in games] == [("random", "idle"), ("idle", "random")] * 2
    assert [len(game.phases) for game in games] == [2] * 4
    assert [check(game) for game in games] == [None] * 4
    assert not any(game.is_finished for game in games)
    play_match(garbage, "idle", games=4, save=tmp_path / "none.jsonl", on_failure="forfeit")
    assert list(tmp_path.iterdir()) == [path]  # it fails at once: there is nothing to keep


@pytest.mark.slow
def test_an_agent_that_cannot_be_made_again_loses(guarded, tmp_path):
    path = tmp_path / "fragile.py"
    path.write_text(OWN.read_text())
    agent = IsolatedAgent(f"{path}:Leaves")
    path.write_text("")
    result = play_match(agent, "idle", games=4, seed=1, on_failure="forfeit")
    agent.close()
    assert (result.winner == SECOND).all()
    assert "has no 'Leaves'" in result.failures[1].message


ENDS = {
    "closed, collected": "agent.close(); wait_for(group); agent, group = make(); del agent; wait_for(group)",
    "exit": "",
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "os.kill(os.getpid(), signal.SIGTERM)",
    "hangs": "agent.act(*BATCH)",
    "killed while it hangs": "threading.Timer(1, os.kill, (os.getpid(), signal.SIGKILL)).start(); agent.act(*BATCH)",
    "worker processes": "agent.close(); play_tournament(['idle', OWN], games=4, seed=0, processes=2); "
    "play_match('idle', OWN, games=2, executor=ProcessExecutor(1), on_failure='forfeit')",
}


@pytest.mark.slow
@needs_kill
@pytest.mark.parametrize("end", ENDS)
def test_programs_that_an_agent_starts_end_with_the_match_however_that_ends(end):
    """They would keep open the standard error that is read to its end here."""
    name = "StartsProgramsAndSpins" if "hangs" in end else "StartsPrograms"
    code = (
        "import os, signal, threading, time\n"
        "import numpy as np\n"
        "from geo_patrol import play_match, play_tournament\n"
        "from geo_patrol.agents.isolation import agent as isolation\n"
        "from geo_patrol.evaluation.executors import ProcessExecutor\n"
        "def wait_for(group):\n"
        " while True:\n"
        "  try: os.killpg(group, 0)\n"
        "  except ProcessLookupError: break\n"
        "  isolation.multiprocessing.active_children(), time.sleep(0.1)\n"
        f"OWN = {own(name)!r}\n"
        f"isolation.FIRST_SECONDS = {0.1 if end == 'hangs' else 300}\n"
        "BATCH = np.zeros((1, 1)), np.ones((1, 11, 28), np.int8), np.random.default_rng()\n"
        "def make():\n"
        "  agent = isolation.IsolatedAgent(OWN)\n"
        "  agent.reset(np.ones(1, np.bool_))\n"
        "  return agent, agent._process.pid\n"
        "agent, group = make()\n"
        f"{ENDS[end]}\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=240, check=False)


@pytest.mark.parametrize("move_time", [0, -1, float("nan"), float("inf"), True, "1"])
def test_wrong_move_times(move_time):
    with pytest.raises(ValueError, match=r"move time must be seconds for a decision, more than 0 and at most 86400"):
        make_match_agent("idle", move_time)


def test_unknown_values_of_on_failure():
    with pytest.raises(ValueError, match="on_failure must be 'raise' or 'forfeit', got 'ignore'"):
        play_match("idle", "random", games=2, on_failure="ignore")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="finds its channel as POSIX has it")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SendsHalf", "act took longer than"),
        ("SendsTooMuch", "its answer to act has 1,099,511,627,776 bytes: at most 4,194,304 are read"),
        ("SendsNoAnswer", "its answer to act could not be read"),
        ("SendsPickle", "its answer to act could not be read"),
        ("LeavesChild", "its process ended with exit status 3 in act"),
    ],
)
def test_answers_are_data_and_must_be_whole_before_the_deadline(name, message, guarded, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    agent = guarded(name)
    group = agent._process.pid
    monkeypatch.setattr(isolation, "CALL_SECONDS", 2.0)
    monkeypatch.setattr(isolation, "FIRST_SECONDS", 1.0)
    with pytest.raises(AgentError, match=re.escape(message)):
        first_orders(agent)
    assert list(tmp_path.iterdir()) == []
    assert ended(group)
