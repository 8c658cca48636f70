"""The benchmark runs with and without the other libraries, and its results are those of the documents."""

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import app
from benchmarks.contestants import CONTESTANTS, Contestant, Workload
from benchmarks.documents import put_between_markers
from benchmarks.machine import CAN_PIN, describe_machine
from benchmarks.publish import DOCUMENT, PUBLISHED, document, goals, report
from benchmarks.results import Memory, Point, Results, Startup, summarize
from benchmarks.worker import Missing, Ready, Runner, Timing, WorkerProcess, answer, physical_cores
from tests.support.commands import run

ROOT = Path(__file__).parents[1]
PEERS = ("envpool", "jax", "pgx", "supersuit", "mpe2", "matplotlib")


class WorkerHere:
    """Stands for ``WorkerProcess``, whose processes would each load the compiled code."""

    def __init__(self, *_):
        self.runner = Runner()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def request(self, method, *arguments):
        return answer(self.runner, method, arguments)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The old environment creation API", "ignore:Implicitly cleaning up:ResourceWarning")
def test_quick_run_without_peers_writes_its_table(tmp_path, monkeypatch):
    for name in PEERS:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    monkeypatch.setattr("benchmarks.measure.WorkerProcess", WorkerHere)
    done = run("run", "--quick", "--rounds", 1, "--out", tmp_path / "out", app=app, columns=200)
    assert done.exit_code == 0, done.output
    results = Results.model_validate_json((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    missing = {point.name: point.missing for point in results.points if point.missing is not None}
    assert missing == {
        "envpool-cartpole": "envpool is not installed",
        "pgx-connect_four": "jax is not installed",
        "pgx-backgammon": "jax is not installed",
        "supersuit": "supersuit is not installed",
        "mpe-simple-spread": "mpe2 is not installed",
    }
    measured = [point for point in results.points if point.missing is None]
    assert {point.name for point in measured} | missing.keys() == CONTESTANTS.keys()
    assert all(len(point.steps_per_second) == results.rounds for point in measured)
    assert all(steps > 0 for point in measured for steps in point.steps_per_second)
    assert "no plot: matplotlib is not installed" in done.stdout
    written = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "- EnvPool CartPole-v1, 1 thread (32) is missing: envpool is not installed." in written
    assert all(f"| {one.title} |" in written for one in measured)


def point(name, batch, steps_per_second, **fields):
    values = {"title": name, "threads": 1, "includes": "steps", "cores": [1.0] * len(steps_per_second), **fields}
    return Point(name=name, batch=batch, steps_per_second=steps_per_second, **values)


def results_of(*points, **fields):
    return Results(
        machine=describe_machine(),
        is_quick=False,
        rounds=3,
        seconds=1,
        points=points,
        startup=Startup(imports=[(1.0, 2.0), (1.0, 4.0), (3.0, 4.0)], warm=[0.5, 0.7, 0.6], cold=20.0),
        **fields,
    )


RESULTS = results_of(
    point("tokens-1", 1024, [10.0, 30.0, 20.0], agent_steps=2048, env_steps=1024, payload=1000),
    point("tokens-1", 256, [100.0, 100.0, 100.0], agent_steps=512, env_steps=256, payload=250),
    point("tokens-1", 1, [1.0, 1.0, 1.0], agent_steps=2, env_steps=1, payload=1),
    point("envpool-cartpole", 1024, [10.0, 10.0, 40.0], agent_steps=1024, env_steps=1024, payload=100),
    point("copy", 256, [1.0, 1.0, 1.0], payload=2**28),
    memory=[Memory(observation="tokens", games=(1000, 3000), peak_bytes=(5_000_000, 9_000_000), payload_per_game=1600)],
)


@pytest.mark.parametrize(
    ("title", "summary"),
    [
        ("vector, tokens, 1 thread / EnvPool", (2.0, 1.0, 6.0)),  # rounds 2, 6, 1: not 20 / 10 * 2 = 4
        ("slowest / fastest batch of 256 games or more, tokens", (0.8, 0.8, 0.8)),  # without smaller batches
        ("onehot, 1 thread / EnvPool", None),
        ("seconds to import", (0.5, 0.25, 0.75)),
        ("compiled before", (0.6, 0.5, 0.7)),
        ("compiling", (20.0, 20.0, 20.0)),
    ],
)
def test_goals_compare_round_by_round(title, summary):
    (goal,) = [goal for goal in goals(RESULTS) if title in goal.title]
    assert goal.summary == (summary and pytest.approx(summary))


def test_a_report_has_the_memory_of_one_more_game_and_what_is_missing():
    assert "| tokens | 2,000 |" in report(RESULTS)
    assert "| missing |" in report(RESULTS)


@pytest.mark.parametrize(("cores", "message"), [(0.99, "99% of their core (median)."), (0.6, "the machine was busy")])
def test_a_busy_machine_is_reported(cores, message):
    busy = results_of(point("tokens-1", 1024, [1.0, 1.0, 1.0], agent_steps=2, cores=[cores] * 3))
    assert message in " ".join(report(busy).split())


def test_summary_is_median_and_extremes():
    assert summarize([3.0, 1.0, 2.0, 10.0]) == (2.5, 1.0, 10.0)


def test_results_are_written_between_the_markers():
    text = "before\n<!-- benchmarks: begin (by a tool) -->\nold\n<!-- benchmarks: end -->\nafter\n"
    new = put_between_markers(text, "\\1 new\n", "benchmarks")
    assert new == "before\n<!-- benchmarks: begin (by a tool) -->\n\\1 new\n<!-- benchmarks: end -->\nafter\n"
    with pytest.raises(ValueError, match="exactly one pair"):
        put_between_markers("nothing marked", "new", "benchmarks")
    with pytest.raises(ValueError, match="exactly one pair"):
        put_between_markers(text + text, "new", "benchmarks")


@pytest.mark.skipif(not PUBLISHED.exists(), reason="no run has been published yet")
def test_the_document_shows_the_published_results():
    results = Results.model_validate_json(PUBLISHED.read_text(encoding="utf-8"))
    assert DOCUMENT.read_text(encoding="utf-8") == document(results), "run make publish-bench"


def test_a_worker_counts_what_was_run(monkeypatch):
    calls = []
    load = Workload(lambda: calls.append(1), agent_steps=2, env_steps=1, payload=3, fraction_ended=lambda _: 0.25)
    counter = Contestant("counter", "counts", "here", "counting", lambda _: load)
    monkeypatch.setitem(CONTESTANTS, "counter", counter)
    runner = Runner()
    ready = runner.prepare("counter", 1, 0.01)
    assert (ready.agent_steps, ready.env_steps, ready.payload) == (2, 1, 3)
    assert ready.fraction_ended == pytest.approx(0.25)
    before = len(calls)
    timing = runner.run("counter", 1, 0.05)
    assert isinstance(timing, Timing)
    assert 0.05 * timing.steps_per_second <= len(calls) - before  # the warm-up is not counted
    assert timing.cores > 0
    runner.prepare("counter", 1, 1e-9)  # as a busy machine, which lets a window pass before the first step
    assert runner.run("counter", 1, 1e-9).steps_per_second > 0


def test_a_process_that_dies_is_reported_with_its_last_output(tmp_path):
    with WorkerProcess("dying", 1, tmp_path) as worker:
        answer = worker.request("prepare", "copy", -1, 0.01)
        assert isinstance(answer, Missing)
        assert answer.reason.startswith("failed: ValueError: negative dimensions")
        assert isinstance(worker.request("prepare", "copy", 1, 0.01), Ready)
        worker._process.kill()
        worker._process.join()
        assert worker.request("run", "copy", 1, 0.01) == Missing("failed: its process ended")


@pytest.mark.skipif(not CAN_PIN, reason="the system cannot pin processes to cores")
def test_a_process_is_pinned_to_as_many_cores_as_it_has_threads(tmp_path):
    before = os.sched_getaffinity(0)
    with WorkerProcess("pinned", 1, tmp_path) as worker:
        assert os.sched_getaffinity(worker._process.pid) == {physical_cores()[0]}
    assert os.sched_getaffinity(0) == before


@pytest.mark.slow
def test_publishing_refuses_a_quick_run(tmp_path):
    quick = RESULTS.model_copy(update={"is_quick": True})
    (tmp_path / "results.json").write_text(quick.model_dump_json(), encoding="utf-8")
    done = publish(tmp_path)
    assert done.exit_code == 2
    assert "quick run" in done.stderr
    assert publish(tmp_path / "nowhere").exit_code == 2
    (tmp_path / "results.json").write_text(json.dumps({"rounds": "many"}), encoding="utf-8")
    assert publish(tmp_path).exit_code == 2


def publish(out):
    return run("publish", "--out", out, app=app)


def test_an_empty_selection_lists_the_contestants():
    ran = run("run", "--only", "chess", app=app, columns=200)
    assert (ran.exit_code, "'chess' is in none of tokens-1, onehot-1," in ran.stderr) == (2, True)
