"""The baselines' driver: aggregates, the table, and results that are not trained again."""

import json
import zipfile
from functools import partial
from hashlib import sha256

import numpy as np
import pytest

from geo_patrol import GeoPatrolError
from research import baseline_methods, baselines, downloads
from research.baseline_methods import (
    EXPLOITABILITY,
    METHODS,
    SELF_PLAY_EXPLOITABILITY,
    Job,
    Trained,
    add_exploitability,
)
from research.baselines import (
    WEIGHTS,
    Bound,
    Run,
    cross_play_table,
    draw,
    interquartile_mean,
    tables,
)
from research.results import RESULTS, append_line, read_lines
from tests.support import commands

pytest.importorskip("scipy")
run = partial(commands.run, app=baselines.app)


def make_run(**values):
    win = {"minutes": 2.0, "steps": 100, "random": 0.9, "random low": 0.8, "random high": 1.0}
    fields = {"method": "mmd", "config": "case1", "seed": 0, "steps": 100, "minutes": 2.0, "curve": [win]}
    origin = {"file": "policy.safetensors", "sha256": "ab", "machine": "a machine", "command": "a command"}
    return Run(**fields | origin | values)


@pytest.mark.slow
def test_the_interquartile_mean_leaves_out_the_quarters_at_the_ends():
    estimate, low, high = interquartile_mean([0.0, 0.5, 0.6, 1.0])
    assert estimate == pytest.approx(0.55)
    assert low <= 0.5
    assert high >= 0.6
    assert interquartile_mean([0.3]) == (0.3, 0.3, 0.3)


@pytest.mark.nightly
def test_intervals_hold_the_mean_of_95_of_100_samples():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        _, low, high = interquartile_mean(rng.uniform(size=40).tolist())
        covered += low <= 0.5 <= high
    assert 88 <= covered <= 100


def test_a_table_for_each_configuration_and_budget():
    runs = [make_run(), make_run(seed=1), make_run(method="psro", minutes=4), make_run(steps=None, time_limit=2.5)]
    lines = tables(runs).splitlines()
    assert lines[0] == "`case1`, 100 steps:"
    assert lines[2] == "| method | seeds | steps | minutes | `random` |"
    assert lines[4] == "| mmd | 2 | 100 | 2.0 | 90.0% (90.0%-90.0%) |"
    assert lines[5] == "| psro | 1 | 100 | 4.0 | 90.0% |"
    assert lines[7] == "`case1`, 2.5 minutes:"
    assert lines[-1].endswith("a machine; one thread.")


def test_a_table_has_the_wins_of_responses():
    bounds = [Bound(sha256="ab", response_steps=10, win_rate=0.75)]
    rows = tables([make_run(), make_run(method="psro", sha256="cd")], bounds).splitlines()[2:]
    assert rows[0] == "| method | seeds | steps | minutes | wins of a response | `random` |"
    assert [row.split("|")[5].strip() for row in rows[2:4]] == ["75.0%", "-"]


def test_cross_play_is_averaged_over_the_seeds_of_a_method():
    def record(wins, draws=0):
        return {"games": 100, "wins": wins, "draws": draws}

    def pairing(first, second, as_alpha, as_bravo):
        total = {"games": 200, "wins": as_alpha["wins"] + as_bravo["wins"], "draws": as_alpha["draws"]}
        return {
            "first": first, "second": second, "total": total, "first_as_alpha": as_alpha, "first_as_bravo": as_bravo
        }  # fmt: skip

    names = ["mmd seed 0", "mmd seed 1", "psro seed 0"]
    pairings = [
        pairing(names[0], names[1], record(40), record(70)),
        pairing(names[0], names[2], record(80, 10), record(65)),
        pairing(names[1], names[2], record(20), record(30)),
    ]
    rows = cross_play_table({"agents": names, "games_a_pairing": 200, "pairings": pairings}).splitlines()
    assert rows[0] == "| mean score of the row, % | mmd | psro | as alpha | as bravo |"
    # alpha: 40 and 85 of the first, 20 and, as the second of the first pairing, 100 - 70 of the other seed
    assert rows[2] == "| mmd | - | 50.0 | 43.8 | 56.2 |"
    assert rows[3] == "| psro | 50.0 | - | 52.5 | 47.5 |"


@pytest.mark.slow
def test_exact_exploitability_has_a_column_and_a_plot(tmp_path):
    runs = [
        make_run(seed=seed, curve=[{"steps": steps, "minutes": 1.0, EXPLOITABILITY: 0.1 * seed} for steps in (50, 100)])
        for seed in range(4)
    ]
    assert "| 0.150 (0.0" in tables(runs)  # of 0, 0.1, 0.2 and 0.3
    assert draw(runs, tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    assert not draw([make_run()], tmp_path / "none.svg")


def test_every_second_evaluation_on_a_solved_board_is_exact(monkeypatch):
    asked = []
    monkeypatch.setattr(
        baseline_methods, "exploitability", lambda policy, config: asked.append((policy, config)) or 0.5
    )
    curve = [{"steps": 10.0 * number} for number in range(1, 5)]
    rows = add_exploitability(curve, "duel", lambda steps: f"policy:{steps}")
    assert [row.get(EXPLOITABILITY) for row in rows] == [None, 0.5, None, 0.5]
    assert asked == [("policy:20", "duel"), ("policy:40", "duel")]
    assert add_exploitability(curve, "case1", str) == curve


def test_a_result_is_a_line_and_is_not_trained_again(tmp_path, monkeypatch):
    trained = []

    def train(job, folder):
        trained.append(job)
        folder.mkdir(parents=True)
        file = folder / "policy.safetensors"
        file.write_bytes(b"weights")
        return Trained(make_run().curve, file)

    monkeypatch.setitem(baselines.METHODS, "mmd", train)
    arguments = ["run", "--method", "mmd", "--config", "case1", "--steps", "100", "--out", str(tmp_path)]
    for seed in ("3", "3", "4"):
        result = run(*arguments, "--seed", seed)
        assert result.exit_code == 0, result.output
    assert trained == [Job("mmd", "case1", 3, steps=100), Job("mmd", "case1", 4, steps=100)]
    first, second = read_lines(tmp_path / RESULTS, Run)
    assert (first.seed, second.seed, first.sha256[:8]) == (3, 4, "9a129038")
    assert first.command.endswith("--seed 3 --steps 100")
    assert (tmp_path / RESULTS).read_text().count("\n") == 2
    timed = [*arguments[:-4], "--minutes", "1.5", "--out", str(tmp_path)]
    for _ in range(2):
        assert run(*timed).exit_code == 0
    assert trained[2:] == [Job("mmd", "case1", 0, time_limit=1.5)]
    assert read_lines(tmp_path / RESULTS, Run)[-1].command.endswith("--seed 0 --minutes 1.5")


def test_a_training_that_was_interrupted_is_no_result_and_the_last_one(tmp_path, monkeypatch):
    trained = []

    def train(job, folder):
        trained.append(job.seed)
        return Trained([{"steps": 40.0, "minutes": 1.0}], folder)

    monkeypatch.setitem(baselines.METHODS, "mmd", train)
    arguments = ["run", "--method", "mmd", "--steps", "100", "--seed", "0", "--seed", "1", "--out", str(tmp_path)]
    assert run(*arguments).exit_code == 130
    assert trained == [0]
    assert not (tmp_path / RESULTS).exists()


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A document and its results, of ``case1`` for 9 and for 100 steps; and a folder with a run of 100 steps."""
    document = tmp_path / "baselines.md"
    blocks = [f"<!-- case1-{steps}: begin -->\nold\n<!-- case1-{steps}: end -->\n" for steps in (9, 100)]
    document.write_text("".join(blocks))
    results = tmp_path / "published.jsonl"
    for steps in (9, 100):
        append_line(results, make_run(steps=steps, file="old"))
    monkeypatch.setattr(baselines, "DOCUMENT", document)
    monkeypatch.setattr(baselines, "PUBLISHED", results)
    (tmp_path / "downloads.json").write_text("{}")
    monkeypatch.setattr(downloads, "DOWNLOADS", tmp_path / "downloads.json")
    folder = tmp_path / "out" / "case1-mmd"
    folder.mkdir(parents=True)
    for name in ("policy.safetensors", "policy-average.safetensors", "checkpoint.pt"):
        (folder / name).write_bytes(name.encode())
    digest = sha256(b"policy.safetensors").hexdigest()
    append_line(tmp_path / "out" / RESULTS, make_run(file="case1-mmd/policy.safetensors", sha256=digest))
    return tmp_path


def test_results_are_published_and_those_of_other_budgets_stay(published):
    assert run("publish", "--out", published / "out").exit_code == 0
    text = (published / "baselines.md").read_text()
    assert "<!-- case1-9: begin -->\nold\n" in text
    assert "| mmd | 1 | 100 |" in text
    other, ours = (published / "published.jsonl").read_text().splitlines()
    assert other == make_run(steps=9, file="old").model_dump_json()
    assert ours + "\n" == (published / "out" / RESULTS).read_text()


def test_runs_of_other_methods_stay_where_exploitability_is_exact_and_are_needed_elsewhere(published, monkeypatch):
    append_line(published / "published.jsonl", make_run(method="psro", file="old"))
    before = (published / "published.jsonl").read_text()
    arguments = ["publish", "--out", str(published / "out")]
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "no results of psro, published of case1-100" in " ".join(refused.output.replace("│", " ").split())
    assert (published / "published.jsonl").read_text() == before
    monkeypatch.setattr(baselines, "SOLVED", {"case1"})
    assert run(*arguments).exit_code == 0
    methods = [json.loads(line)["method"] for line in (published / "published.jsonl").read_text().splitlines()]
    assert methods == ["mmd", "psro", "mmd"]
    assert "| psro | 1 | 100 |" in (published / "baselines.md").read_text()


def test_weights_are_packed_with_their_hashes(published):
    out = published / "out"
    packed = []
    for _ in range(2):
        assert run("publish", "--out", out).exit_code == 0
        packed.append((out / WEIGHTS).read_bytes())
    assert packed[0] == packed[1]
    with zipfile.ZipFile(out / WEIGHTS) as archive:
        archive.extractall(published)
    folder = published / "geo_patrol-baselines-v0"
    hashes = {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*/*"))
    }
    assert list(hashes) == ["case1-mmd/policy-average.safetensors", "case1-mmd/policy.safetensors"]
    sums = (folder / "SHA256SUMS").read_text().splitlines()
    assert sums == [f"{digest}  {name}" for name, digest in hashes.items()]
    listed = json.loads((published / "downloads.json").read_text())
    assert listed[folder.name]["sha256"] == sha256(packed[0]).hexdigest()


def test_weights_of_another_run_are_not_published(published):
    (published / "out" / "case1-mmd" / "policy.safetensors").write_bytes(b"other")
    before = (published / "baselines.md").read_text()
    result = run("publish", "--out", published / "out")
    assert result.exit_code == 2
    assert "these are not the weights of its run" in result.output.replace("\n", " ")
    assert (published / "baselines.md").read_text() == before
    assert not (published / "out" / WEIGHTS).exists()


def test_results_without_a_section_in_the_document_are_refused_before_anything_is_written(published):
    out = published / "out"
    append_line(out / RESULTS, make_run(config="case2", file="case1-mmd/policy.safetensors"))
    before = (published / "baselines.md").read_text()
    result = run("publish", "--out", out)
    assert result.exit_code == 2
    assert "has no section for the results of case2-100" in " ".join(result.output.replace("│", " ").split())
    assert (published / "baselines.md").read_text() == before
    assert not (out / WEIGHTS).exists()


def test_wrong_methods_are_named(tmp_path):
    result = run("run", "--method", "mdd", "--out", tmp_path)
    assert result.exit_code == 2
    assert "there is no method 'mdd'" in result.output


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize(("method", "points"), [("psro", 2), ("sp-psro", 3), ("maskable-ppo", 2)])
def test_runs_that_are_trained_here_continue(method, points, tmp_path, monkeypatch):
    """Populations and MaskablePPO have loops of their own here; what is trained is only read the second time."""
    pytest.importorskip("sb3_contrib" if method == "maskable-ppo" else "torch")
    small = {"num_envs": 16, "num_evaluations": 2, "eval_games": 2, "eval_opponents": ("random",)}
    monkeypatch.setattr(baseline_methods, "SETTINGS", {"case1": {**small, "opponents": ("random",)}})
    monkeypatch.setattr(baseline_methods, "PSRO_SIZE", 2)
    monkeypatch.setattr(baseline_methods, "SP_PSRO_SIZE", 3)
    monkeypatch.setattr(baseline_methods, "PSRO_GAMES", 2)
    monkeypatch.setattr(baseline_methods, "SOLVED", {"case1"})
    monkeypatch.setattr(baseline_methods, "exploitability", lambda policy, _: 1.0 if "-self-play." in policy else 0.25)
    job = Job(method, "case1", 0, 1024)
    first = METHODS[method](job, tmp_path)
    assert [point["steps"] for point in first.curve] == [512 * number for number in range(1, points + 1)]
    assert 0 <= first.curve[-1]["random"] <= 1
    assert first.curve[-1].get(SELF_PLAY_EXPLOITABILITY) == (1.0 if method == "sp-psro" else None)
    written = first.file.stat().st_mtime_ns
    assert METHODS[method](job, tmp_path) == first
    assert first.file.stat().st_mtime_ns == written


@pytest.mark.parametrize("method", ["psro", "sp-psro"])
def test_a_population_does_not_begin_with_a_policy_whose_training_was_interrupted(method, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from geo_patrol.training import selfplay

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(baseline_methods, "SETTINGS", {"case1": {"num_envs": 16, "opponents": ("random",)}})
    monkeypatch.setattr(selfplay, "update_policy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        METHODS[method](Job(method, "case1", 0, 4096), tmp_path)
    assert (tmp_path / "first" / "checkpoint.pt").exists()
    assert not (tmp_path / "policies").exists()


def test_satellites_are_trained_by_the_example(tmp_path, monkeypatch):
    commands = []

    def run(command, **_):
        commands.append([str(part) for part in command[1:]])
        (tmp_path / "result.json").write_text(json.dumps(make_run().curve[0]))

    monkeypatch.setattr(baseline_methods.subprocess, "run", run)
    assert METHODS["ippo"](Job("ippo", "case1", 3, time_limit=1.5), tmp_path).curve == make_run().curve
    (command,) = commands
    assert command[0].endswith("mappo_satellites.py")
    assert " ".join(command[1:]).startswith(
        "--method ippo --config case1 --seed 3 --device cpu --minutes 1.5 --clock cpu"
    )
    with pytest.raises(GeoPatrolError, match="ippo trains for a time: give --minutes instead of --steps"):
        METHODS["ippo"](Job("ippo", "case1", 3, steps=100), tmp_path)
