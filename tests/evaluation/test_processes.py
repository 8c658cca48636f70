"""Many processes: tables do not depend on their number, on killed processes, or on the state of agents."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from geo_patrol.agents.isolation import agent as isolation
from geo_patrol.config.presets import load_config
from geo_patrol.evaluation import WorkerError, play_tournament
from geo_patrol.evaluation.campaign import GAMES
from geo_patrol.evaluation.chunks import CHUNK_PAIRS, PlannedMatch, play_chunk
from geo_patrol.evaluation.executors import (
    AgentCache,
    ProcessExecutor,
    _worker_environment,
    play_in_worker,
    run_tasks,
)
from tests.support.executors import tables

OWN = Path(__file__).parents[1] / "support" / "own_agents.py"
SETTINGS = {"config": "case4", "games": 2 * CHUNK_PAIRS + 4, "seed": 5}
AGENTS = ("scripted", "random", "idle")

PATIENCE = 300  # seconds: only a fault takes as long
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="no process groups, no SIGKILL")


@pytest.fixture(scope="module")
def tournament():
    return play_tournament(AGENTS, **SETTINGS, processes=2)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(tournament, without_workers):
    assert multiprocessing.active_children() == []
    assert tables(play_tournament(AGENTS, **SETTINGS)) == tables(tournament)


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
    play_tournament(sys.argv[3:], config="case4", games=int(sys.argv[2]), seed=5, processes=2, folder=folder, progress=stop)
"""


@pytest.mark.slow
@needs_signals
def test_a_killed_tournament_can_be_resumed(tournament, tmp_path):
    """It has six tasks, of which two processes get four at first: it is stopped before the last ones are finished."""
    script, folder = tmp_path / "play.py", tmp_path / "out"
    script.write_text(SCRIPT)
    command = [sys.executable, script, folder, str(SETTINGS["games"]), *AGENTS]
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
    assert journal.read_bytes().count(b"\n") == 6


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
