"""The baselines' driver: aggregates, the table, and results that are not trained again."""

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks import baselines
from benchmarks.baselines import RESULTS, Run, app, interquartile_mean, read_runs, table

pytest.importorskip("scipy")


def make_run(**values):
    win = {"minutes": 2.0, "steps": 100, "random": 0.9, "random low": 0.8, "random high": 1.0}
    fields = {"method": "mmd", "config": "case1", "seed": 0, "steps": 100, "minutes": 2.0, "curve": [win]}
    return Run(**{**fields, "sha256": "ab", "machine": "a machine", "command": "a command", **values})


def test_the_interquartile_mean_leaves_out_the_quarters_at_the_ends():
    estimate, low, high = interquartile_mean([0.0, 0.5, 0.6, 1.0])
    assert estimate == pytest.approx(0.55)
    assert low <= 0.5
    assert high >= 0.6
    assert interquartile_mean([0.3]) == (0.3, 0.3, 0.3)


def test_intervals_hold_the_mean_of_95_of_100_samples():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        _, low, high = interquartile_mean(rng.uniform(size=40).tolist())
        covered += low <= 0.5 <= high
    assert 88 <= covered <= 100


def test_table():
    rows = table([make_run(), make_run(seed=1), make_run(method="psro", steps=2000, minutes=4)]).splitlines()
    assert rows[0] == "| configuration | steps | method | seeds | minutes | `random` |"
    assert rows[2] == "| case1 | 100 | mmd | 2 | 2.0 | 90.0% (90.0%-90.0%) |"
    assert rows[3] == "| case1 | 2,000 | psro | 1 | 4.0 | 90.0% (90.0%-90.0%) |"


def test_a_result_is_a_line_and_is_not_trained_again(tmp_path, monkeypatch):
    trained = []

    def train(method, config, seed, steps, folder):
        trained.append((method, config, seed, steps))
        folder.mkdir(parents=True)
        file = folder / "policy.safetensors"
        file.write_bytes(b"weights")
        return make_run().curve, file

    monkeypatch.setitem(baselines.METHODS, "mmd", train)
    arguments = ["run", "--method", "mmd", "--config", "case1", "--steps", "100", "--out", str(tmp_path)]
    for seed in ("3", "3", "4"):
        result = CliRunner().invoke(app, [*arguments, "--seed", seed])
        assert result.exit_code == 0, result.output
    assert trained == [("mmd", "case1", 3, 100), ("mmd", "case1", 4, 100)]
    first, second = read_runs(tmp_path)
    assert (first.seed, second.seed, first.sha256[:8]) == (3, 4, "9a129038")
    assert first.command.endswith("--seed 3 --steps 100")
    document = tmp_path / "baselines.md"
    document.write_text("before\n<!-- benchmarks: begin -->\nold\n<!-- benchmarks: end -->\nafter\n")
    monkeypatch.setattr(baselines, "DOCUMENT", document)
    assert CliRunner().invoke(app, ["publish", "--out", str(tmp_path)]).exit_code == 0
    assert "| case1 | 100 | mmd | 2 |" in document.read_text()
    assert (tmp_path / RESULTS).read_text().count("\n") == 2


def test_wrong_methods_are_named(tmp_path):
    result = CliRunner().invoke(app, ["run", "--method", "mdd", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "there is no method 'mdd'" in result.output
