"""The comparison of training libraries counts lines and writes a table, and a measured library is not measured again."""

import pytest

from geo_patrol import make_vec
from research import libraries
from research.libraries import LIBRARIES, ROOT, Result, StepRecorder, app, count_lines, table
from research.results import RESULTS, append_line
from tests.support.commands import run

TRAINED = Result(
    name="torchrl", version="0.14", minutes=5, lines=31, collection=20_000.4, end_to_end=5_000, illegal_orders=0,
    win_rates={"random": (0.99, 0.98, 0.995)}, machine="a machine",
)  # fmt: skip
WRAPPED = Result(
    name="supersuit", version="3.11", minutes=0, lines=20, collection=900, illegal_orders=0, machine="a machine"
)


@pytest.mark.parametrize("name", LIBRARIES)
def test_lines_of_code_are_those_of_the_example_without_imports_and_match(name):
    lines = (ROOT / "examples" / f"{LIBRARIES[name].example}.py").read_text(encoding="utf-8").splitlines()
    body = lines[: lines.index('if __name__ == "__main__":')]
    assert 5 < count_lines(LIBRARIES[name].example) < len([line for line in body if "import" not in line])


def test_lines_of_code_leave_out_comments_and_docstrings(tmp_path, monkeypatch):
    (tmp_path / "examples").mkdir()
    code = '"""Text."""\nimport os\nA = {\n    1: 2,  # two\n}\n\n\ndef f():\n    """Text.\n\n    More."""\n    # comment\n    return A\n'
    (tmp_path / "examples" / "one.py").write_text(code + '\n\nif __name__ == "__main__":\n    f()\n')
    monkeypatch.setattr(libraries, "ROOT", tmp_path)
    assert count_lines("one") == 5


def test_table():
    rows = table([TRAINED, WRAPPED]).splitlines()
    assert rows[2] == "| TorchRL | 0.14 | 31 | 20,000 | 5,000 | 0 | 99.0% (98.0%-99.5%) | - | - |"
    assert rows[3] == "| SuperSuit | 3.11 | 20 | 900 | - | 0 | - | - | - |"
    assert "trained for 5 minutes" in rows[-1]


def test_steps_are_recorded_in_the_block_alone():
    envs, recorder = make_vec("case1", 4, mask_in="none"), StepRecorder()
    envs.reset(seed=0)
    with recorder.recording():
        for _ in range(3):
            envs.step(envs.action_space.sample())
    envs.step(envs.sample_actions())
    assert (recorder.agent_steps, recorder.rows, len(recorder.seconds)) == (24, 8, 3)
    assert recorder.illegal_orders > 0


def test_results_are_published_and_not_measured_again(tmp_path, monkeypatch):
    document = tmp_path / "libraries.md"
    document.write_text("before\n<!-- libraries: begin -->\nold\n<!-- libraries: end -->\nafter\n")
    monkeypatch.setattr(libraries, "DOCUMENT", document)
    monkeypatch.setattr(libraries, "PUBLISHED", tmp_path / "published.json")
    append_line(tmp_path / RESULTS, TRAINED)
    options = ["--out", tmp_path]
    output = run("run", *options, "--venvs", tmp_path, app=app).output
    assert "torchrl: measured already" in output
    assert "sb3: there is no" in output
    assert run("publish", *options, app=app).exit_code == 0
    assert (
        document.read_text()
        == f"before\n<!-- libraries: begin -->\n{table([TRAINED])}\n<!-- libraries: end -->\nafter\n"
    )
    assert Result.model_validate_json(TRAINED.model_dump_json()) == TRAINED
