"""Executors: matches, tournaments, sweeps and sequential tests are the same on any of them."""

from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest

from geo_patrol import AgentError, play_match
from geo_patrol.evaluation import WorkerError, play_sprt, play_tournament
from geo_patrol.evaluation.campaign import GAMES
from geo_patrol.evaluation.chunks import CHUNK_PAIRS
from geo_patrol.evaluation.executors import run_tasks
from geo_patrol.studies import play_sweep
from tests.support.executors import InlineExecutor, LastFirstExecutor, tables

SETTINGS = {"config": "case4", "overrides": {"turn_limit": 2}, "games": 4 * CHUNK_PAIRS + 4, "seed": 5}
AGENTS = ("random", "idle", "turtle")


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


def test_sweeps_and_sequential_tests_are_the_same_on_any_executor():
    sweeps = [
        play_sweep("random", "idle", ["turn_limit=1..3"], games=300, seed=4, executor=executor)
        for executor in (InlineExecutor(), LastFirstExecutor())
    ]
    assert tables(sweeps[0]) == tables(sweeps[1])
    tests = [
        play_sprt("random", "random", elo1=100, config="case4", overrides={"turn_limit": 1}, seed=2, executor=executor)
        for executor in (InlineExecutor(), LastFirstExecutor())
    ]
    assert tables(tests[0]) == tables(tests[1])


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
