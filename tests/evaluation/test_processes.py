"""Executors: tables do not depend on them, on the number of processes, on killed ones, or on the state of agents."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import AgentError, play_match
from geo_patrol.agents.isolation import agent as isolation
from geo_patrol.config.presets import load_config
from geo_patrol.evaluation import WorkerError, play_sprt, play_tournament
from geo_patrol.evaluation.campaign import GAMES
from geo_patrol.evaluation.chunks import CHUNK_PAIRS, PlannedMatch, play_chunk
from geo_patrol.evaluation.executors import (
    AgentCache,
    ProcessExecutor,
    _worker_environment,
    play_in_worker,
    run_tasks,
)
from tests.support.executors import InlineExecutor, LastFirstExecutor, tables

OWN = Path(__file__).parents[1] / "support" / "own_agents.py"
SETTINGS = {"config": "case4", "overrides": {"turn_limit": 2}, "games": 4 * CHUNK_PAIRS + 4, "seed": 5}
AGENTS = ("random", "idle", "turtle")

PATIENCE = 300  # seconds: only a fault takes as long
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="no process groups, no SIGKILL")


class FailingExecutor(InlineExecutor):
    """Breaks after a number of tasks, as a pool whose worker was killed."""

    def __init__(self, tasks):
        super().__init__()
        self._tasks = tasks

    def submit(self, fn, /, *args, **kwargs):
        if not self._tasks:
            raise BrokenExecutor
        self._tasks -= 1
        return super().submit(fn, *args, **kwargs)


@pytest.fixture(scope="module")
def tournament():
    return play_tournament(AGENTS, **SETTINGS, executor=InlineExecutor())


@pytest.mark.slow
@pytest.mark.parametrize("make", [LastFirstExecutor, lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(1)])
def test_tournaments_are_the_same_on_any_executor(make, tournament):
    reported = []
    with make() as executor:
        result = play_tournament(
            AGENTS, **SETTINGS, executor=executor, progress=lambda *counts: reported.append(counts)
        )
        assert executor.submit(abs, -1).result() == 1  # it is still in use
    assert tables(result) == tables(tournament)
    assert reported == sorted(reported)
    assert reported[-1] == (3 * SETTINGS["games"],) * 2


def test_sequential_tests_are_the_same_on_any_executor():
    settings = {"elo1": 100, "config": "case4", "overrides": {"turn_limit": 1}, "seed": 2}
    one, other = (
        play_sprt("random", "random", **settings, executor=make()) for make in (InlineExecutor, LastFirstExecutor)
    )
    assert tables(one) == tables(other)


def test_playing_in_the_calling_process_changes_nothing(tournament, without_workers):
    assert tables(play_tournament(AGENTS, **SETTINGS)) == tables(tournament)


@pytest.mark.slow
def test_a_match_on_an_executor_is_that_of_one_process(tmp_path):
    here = play_match("random", "turtle", **SETTINGS, save=tmp_path / "here.jsonl")
    there = play_match(
        "random",
        "turtle",
        **SETTINGS,
        save=tmp_path / "there.jsonl",
        executor=LastFirstExecutor(),
        on_failure="forfeit",
    )
    assert there.agents == here.agents
    np.testing.assert_array_equal(there.games, here.games)
    np.testing.assert_array_equal(there.first_game, here.first_game)
    saved = [(tmp_path / name).read_text().splitlines()[1:] for name in ("here.jsonl", "there.jsonl")]
    assert len(saved[0]) > SETTINGS["games"]
    assert saved[0] == saved[1]


def test_a_match_in_worker_processes_is_that_of_one(monkeypatch):
    opened = []

    class Workers(InlineExecutor):
        def __init__(self, processes):
            super().__init__(processes)
            opened.append(processes)

    monkeypatch.setattr("geo_patrol.evaluation.campaign.ProcessExecutor", Workers)
    here, there = (play_match("random", "turtle", **SETTINGS, processes=processes) for processes in (1, 3))
    assert opened == [3]
    np.testing.assert_array_equal(there.games, here.games)
    assert there.agents == here.agents


@pytest.mark.slow
def test_errors_of_agents_on_an_executor_are_raised(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text("""
class Raising:
    name, observation = "raising", "tokens"
    def reset(self, new_games): pass
    def act(self, observations, masks, generator): raise RuntimeError("no idea")
""")
    with pytest.raises(AgentError, match="RuntimeError: no idea"):
        play_match(f"{bot}:Raising", "idle", games=2, executor=InlineExecutor())
    result = play_match(f"{bot}:Raising", "idle", games=2, executor=InlineExecutor(), on_failure="forfeit")
    assert (result.winner == 1).all()
    assert result.agents[0] == f"{bot}:Raising"


@pytest.mark.slow
def test_a_broken_executor_loses_no_finished_game(tournament, tmp_path):
    with pytest.raises(WorkerError, match="finished games are stored"):
        play_tournament(AGENTS, **SETTINGS, folder=tmp_path, executor=FailingExecutor(4))
    stored = (tmp_path / GAMES).read_bytes().count(b"\n")
    assert 1 <= stored <= 4
    again = play_tournament(AGENTS, **SETTINGS, folder=tmp_path, executor=FailingExecutor(9 - stored))
    assert tables(again) == tables(tournament)


def test_tasks_are_taken_as_they_are_needed():
    taken = count()
    tasks = (next(taken) for _ in range(1_000_000))
    finished = run_tasks(InlineExecutor(), abs, tasks)
    assert sorted(next(finished)[1] for _ in range(10)) == list(range(10))
    assert next(taken) <= 12
    finished.close()


def test_an_executor_has_a_number_of_workers():
    with pytest.raises(ValueError, match="processes = 2: an executor has its own number of workers, leave it out"):
        play_tournament(AGENTS, **SETTINGS, processes=2, executor=InlineExecutor())


SCRIPT = """
import sys, time
from pathlib import Path
from geo_patrol.evaluation import play_tournament

def stop(*_):
    if journal.exists() and journal.read_bytes():
        print("some are finished", flush=True)
        time.sleep(600)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    journal = folder / "games.jsonl"
    play_tournament(sys.argv[3:], **eval(sys.argv[2]), processes=2, folder=folder, progress=stop)
"""


@pytest.mark.slow
@needs_signals
def test_a_killed_tournament_can_be_resumed(tournament, tmp_path):
    """It has nine tasks, of which two processes get four at first: it is stopped before the last ones are finished."""
    script, folder = tmp_path / "play.py", tmp_path / "out"
    script.write_text(SCRIPT)
    command = [sys.executable, script, folder, repr(SETTINGS), *AGENTS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "some are finished\n"
    process.kill()
    process.communicate(timeout=PATIENCE)  # its workers do not outlive it: they would hold its output open
    journal = folder / GAMES
    stored = journal.read_bytes()
    assert 1 <= stored.count(b"\n") <= 4
    journal.write_bytes(stored + b'{"task": 2, "seconds"')  # as a kill in the middle of writing would leave it
    again = play_tournament(AGENTS, **SETTINGS, folder=folder, processes=2)
    assert tables(again) == tables(tournament)
    assert journal.read_bytes().startswith(stored)
    assert journal.read_bytes().count(b"\n") == 9


@pytest.mark.slow
@needs_signals
def test_ctrl_c_leaves_no_process_behind_and_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "geo_patrol", "tournament", *AGENTS, "-n", "20000", "--seed", "1", "-p", "2"]
    process = subprocess.Popen(
        [*command, "--out", tmp_path / "out"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    journal = tmp_path / "out" / GAMES
    while not journal.exists() or not journal.read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to every process of the group
    _, stderr = process.communicate(timeout=PATIENCE)  # until the last process is gone that could write there
    assert process.returncode == 130
    assert stderr.splitlines()[-2:] == [  # perhaps after what was compiled
        f"geo-patrol: finished games are kept in {tmp_path / 'out'}: the same command goes on",
        "geo-patrol: interrupted",
    ]


@needs_signals
def test_ctrl_c_is_not_lost_while_a_worker_starts():
    with pytest.raises(KeyboardInterrupt), _worker_environment():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@needs_signals
def test_a_worker_that_is_killed_is_reported():
    """The system kills workers when memory runs out; agents of users, in their own processes, cannot."""
    chunks = PlannedMatch(("scripted", "scripted"), load_config("geo_patrol"), seed=1).chunks(CHUNK_PAIRS * 200)

    def kill():
        for child in multiprocessing.active_children():
            child.kill()  # which may be gone already, killed the time before

    message = "a worker process was killed, or ran out of memory; finished games are stored"
    with pytest.raises(WorkerError, match=message), ProcessExecutor(1) as executor:
        list(run_tasks(executor, play_in_worker, chunks, kill))
    assert multiprocessing.active_children() == []


@pytest.mark.slow
@needs_signals
def test_an_agent_whose_process_dies_loses_and_is_named():
    names = ["idle", f"{OWN}:Killed"]
    result = play_tournament(names, games=2, seed=3, processes=1)
    (errors,) = result.agent_errors
    assert errors.agent == names[1]
    assert "its process was ended by SIGKILL in act" in errors.message
    assert (errors.failures, errors.games_lost, errors.illegal_orders) == (2, 2, 0)  # two batches a match
    assert result.record(1, 0).losses == 2
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_stateful_agent_plays_every_chunk_as_if_it_were_the_first():
    """Counter plays differently after its first batch."""
    match = PlannedMatch((f"{OWN}:Counter", "random"), load_config("geo_patrol"), seed=3, move_time=1.0)
    first, second = match.chunks(CHUNK_PAIRS + 2)

    used, fresh = AgentCache(), AgentCache()
    play_chunk(used.pair(first), first)
    after_another = play_chunk(used.pair(second), second).result
    used.close()
    alone = play_chunk(fresh.pair(second), second).result
    fresh.close()
    np.testing.assert_array_equal(after_another.scores, alone.scores)
    np.testing.assert_array_equal(after_another.first_game, alone.first_game)


@pytest.mark.slow
def test_a_process_that_is_reused_has_the_move_time_of_its_match(monkeypatch):
    monkeypatch.setattr(isolation, "CALL_SECONDS", 0.0)
    config = load_config("duel", overrides={"turn_limit": 1})
    agents, failures = AgentCache(), []
    for move_time in (60.0, 0.001, 60.0):
        (chunk,) = PlannedMatch((f"{OWN}:Dozes", "random"), config, seed=3, move_time=move_time).chunks(2)
        failures.append(bool(play_chunk(agents.pair(chunk), chunk, "forfeit").result.failures))
    agents.close()
    assert failures == [False, True, False]
