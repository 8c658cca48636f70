"""``geo-patrol study`` and ``sweep``: their output, their files, and their messages about wrong input."""

import csv
import json
import re
import shutil
import textwrap
from functools import partial

import pytest

from geo_patrol.base.versions import __version__
from geo_patrol.studies import play_sweep, read_study
from tests.support.commands import run as run_command

pytestmark = pytest.mark.usefixtures("without_workers")

STUDY = """
title = "Rounds and defenders"
config = "case1"
set = { turn_limit = 6 }
agents = ["scripted", ["scripted", "random"]]
games = 10
factors = { "bravo.patrols.ammo" = "0..1" }

[[question]]
kind = "threshold"
factor = { "bravo.patrols.count" = "1..8" }
rate = 0.5
games = 1000

[[question]]
kind = "worth"
of = { "bravo.patrols.fuel" = "+20%" }
games = 10
"""

run = partial(run_command, columns=100)


def read_csv(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("geo_patrol.evaluation.executors.usable_cores", lambda: 1)
        ran = run("study", "run", folder / "study.toml", "--out", folder / "out")
    assert (ran.exit_code, ran.stderr) == (0, "")
    (folder / "printed.txt").write_text(ran.stdout)
    return folder


@pytest.mark.slow
def test_a_study_prints_its_cells_and_answers(folder):
    printed = (folder / "printed.txt").read_text()
    assert "Rounds and defenders" in printed
    title = "How many Patrols may bravo have so that alpha wins at least 50% of the games?"
    assert printed.index(title) < printed.index("margin")  # a column of the table of cells
    assert re.search(r"With scripted on both sides, .* games\.", printed)
    assert "How much are changes worth (alpha wins)?" in printed


@pytest.mark.slow
def test_tables_say_what_they_are_from(folder):
    out, study = folder / "out", read_study(folder / "out")
    for table in ("results", "curves", "answers", "levels"):
        rows = read_csv(out / f"{table}.csv")
        assert len(rows) == len(study.rows(table)) > 0
        assert {(row["study"], row["seed"], row["geo_patrol"]) for row in rows} == {(study.digest, "1", __version__)}
        assert all(row["alpha"] == "scripted" for row in rows)
    written = json.loads((out / "results.json").read_text())
    assert written["format"] == "geo_patrol study results"
    assert {key: written[key] for key in study.to_dict()} == json.loads(json.dumps(study.to_dict()))


@pytest.mark.slow
def test_a_study_that_is_finished_is_written_as_the_same_bytes(folder, tmp_path):
    shutil.copytree(folder / "out", tmp_path, dirs_exist_ok=True)
    printed = run("study", "run", folder / "study.toml", "--out", tmp_path).stdout
    assert printed.replace(str(tmp_path), str(folder / "out")) == (folder / "printed.txt").read_text()
    for name in ("results.json", "results.csv", "curves.csv", "answers.csv", "study.json", "plan.json"):
        assert (tmp_path / name).read_bytes() == (folder / "out" / name).read_bytes()


def test_parquet_has_the_same_rows(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(folder / "out" / "results.parquet").to_pylist()
    assert rows == read_study(folder / "out").rows()


@pytest.mark.slow
def test_a_report_is_a_page_with_figures(folder, tmp_path):
    arguments = ("-o", tmp_path / "page.html", "--figures", tmp_path, "--width", 3.5)
    assert run("study", "report", folder / "out", *arguments).exit_code == 0
    written, study = {path.name: path.read_bytes() for path in tmp_path.iterdir()}, read_study(folder / "out")
    page = written["page.html"].decode()
    for text in (
        "follows rules written by hand: it guards its own HVA and raids the enemy&#39;s",
        "gives legal orders at random",
        "scripted (alpha) against random (bravo)",
        "Turn by turn",
        f"{study.total:,} games, seed {study.plan.file.seed}; study {study.digest}",
        "margin, mean<small>median<br>(5% to 95%)",
    ):
        assert text in page
    assert re.search(r"turn limit: 6, from \d+ \(-[\d.]+%\)", page)
    assert not re.search(r"hva_destroyed|<script|https?://(?!www\.w3\.org/)", page)
    searched = sum(answer.games for answer in study.answered[0].answers)
    assert study.total >= max(searched, sum(map(len, study.games.values())))  # what a search played counts for a cell
    assert {"wins.svg", "wins.pdf", "question1.svg", "question2.pdf", "turns.svg"} <= written.keys()
    figures = [content.decode() for name, content in written.items() if name.endswith(".svg")]
    assert all(study.digest in figure and 'width="252pt"' in figure for figure in figures)


def test_answers_say_what_was_asked_where(folder):
    answers = read_csv(folder / "out" / "answers.csv")
    assert {row["question"] for row in answers} == {"1", "2"}
    assert {row["config"] for row in answers} == {"case1"}
    asked = {(row["question"], row["measure"], row["rate"]) for row in answers}
    assert asked == {("1", "alpha wins", "0.5"), ("2", "alpha wins", "")}
    (row, *_) = answers
    assert row["overrides"] == "bravo.patrols.ammo=0; turn_limit=6"
    allowed = {"none", *map(str, range(1, 9))}
    assert {row["answer_low"], row["answer"], row["answer_high"]} <= allowed
    levels = read_csv(folder / "out" / "levels.csv")
    mine = [each for each in levels if (each["bravo.patrols.ammo"], each["bravo"]) == ("0", "scripted")]
    assert [each["value"] for each in mine] == list("12345678")
    assert sum(int(each["games"]) for each in mine) == int(row["games"]) <= 1000
    assert all(float(each["low"]) <= float(each["rate"]) <= float(each["high"]) for each in mine)


def test_a_question_without_a_file_is_the_title():
    ran = run("study", "fair", "-v", "bravo.patrols.count=1..3", "-n", 1000, "--check", 100, *QUICK, "--dry-run")
    assert ran.stdout.startswith("Which number of bravo's Patrols makes the scenario fair? (case1)\n")


def test_a_dry_run_says_how_many_games(folder):
    ran = run("study", "run", folder / "study.toml", "--dry-run")
    assert ran.exit_code == 0
    assert "cells: 2; pairs of agents: 2; games of the cells: 40" in ran.stdout
    assert "4,120 at most" in ran.stdout
    assert re.search(r"time: about \d+ s in 1 processes", ran.stdout)


def test_a_comparison_with_itself_finds_nothing(folder, tmp_path):
    out = folder / "out"
    ran = run("study", "compare", out, out, "--measure", "alpha wins", "--csv", tmp_path / "differences.csv")
    assert ran.exit_code == 0
    assert "paired game by game, over the games that both have" in ran.stdout
    assert {row["difference"] for row in read_csv(tmp_path / "differences.csv")} == {"0.0"}
    ran = run("study", "compare", out, out, "--measure", "wins")
    assert (ran.exit_code, "--measure 'wins': there are alpha wins, bravo wins" in ran.stderr) == (2, True)


QUICK = ("-c", "case1", "-s", "turn_limit=4", "-a", "idle", "-a", "idle random")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("threshold", "-v", "bravo.patrols.count=1..3", "--rate", 0.5, "-n", 1000),
            "How many Patrols may bravo have",
        ),
        (("fair", "-v", "bravo.patrols.count=1..3", "-n", 1000, "--check", 100), "makes the scenario fair?"),
        (
            ("worth", "--change", "bravo.patrols.fuel=+10%", "-n", 10),
            "10% more fuel for each of bravo's Patrols: alpha wins",
        ),
        (
            ("worth", "--change", "turn_limit=+2", "-n", 10, "-s", "bravo.patrols.fuel=+20"),
            "bravo.patrols.fuel 60 -> 80",
        ),
    ],
)
def test_questions_are_commands_too(arguments, text):
    ran = run("study", *arguments, *QUICK)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert text in ran.stdout


def test_games_are_a_column_where_rows_have_other_numbers_of_them(tmp_path):
    """A search plays whole chunks: 256 games where an agent plays both sides, otherwise 128, beside the 200 of every cell."""
    content = """
        title = "Turns"
        set = { turn_limit = 1 }
        question = [{ kind = "threshold", factor = { turn_limit = "1,2" }, rate = 0.5, games = 1000 }]
    """
    (tmp_path / "one.toml").write_text(f'agents = ["idle"]\n{textwrap.dedent(content)}')
    (tmp_path / "two.toml").write_text(f'agents = ["idle", ["idle", "random"]]\n{textwrap.dedent(content)}')
    ran = run("study", "run", tmp_path / "two.toml")
    assert re.search(r"alpha / bravo +games +alpha wins", ran.stdout)
    assert re.search(r"^idle / idle +256 ", ran.stdout, re.MULTILINE)
    assert re.search(r"^idle / random +200 ", ran.stdout, re.MULTILINE)
    assert "games  alpha wins" not in run("study", "run", tmp_path / "one.toml").stdout


def test_changes_of_one_key_are_all_measured():
    changes = ("--change", "turn_limit=+1", "--change", "turn_limit=+2")
    ran = run("study", "worth", *QUICK, *changes, "-n", 10, "--json", "-")
    assert len(json.loads(ran.stdout)["answers"]) == 4  # of two changes and two pairs of agents


def test_the_table_beside_an_answer_says_how_many_games_it_is_from():
    ran = run("study", "worth", *QUICK, "--change", "turn_limit=+1", "-n", 10)
    assert "the scenario as it stands, 10 games each\n" in ran.stdout
    outside = ("study", "fair", "-c", "case1", "-s", "turn_limit=2", "-a", "idle", "-v", "bravo.patrols.fuel=50..56..3")
    assert "the scenario as it stands, 1,000 games\n" in run(*outside, "-n", 1000, "--check", 10).stdout


def test_standard_output_takes_a_table_of_a_sweep_alone():
    sweep = ("sweep", "-a", "idle", "idle", "-s", "turn_limit=2", "-v", "bravo.patrols.ammo=0,1", "-n", 2)
    ran = run(*sweep, "--json", "-")
    assert (ran.stderr, len(json.loads(ran.stdout)["results"])) == ("", 2)
    rows = list(csv.DictReader(run(*sweep, "--csv", "-").stdout.splitlines()))
    assert {row["bravo.patrols.ammo"] for row in rows} == {"0", "1"}
    assert None not in {value for row in rows for value in row.values()}


@pytest.mark.slow
def test_studies_of_one_game_are_reported_and_compared(tmp_path):
    for name, turns in (("a", 2), ("b", 3)):
        text = f'title = "One"\nconfig = "case1"\nset = {{ turn_limit = {turns} }}\nagents = [["random", "idle"]]\ngames = 1\n'
        (tmp_path / f"{name}.toml").write_text(text)
        assert run("study", "run", tmp_path / f"{name}.toml", "--out", tmp_path / name, "--quiet").exit_code == 0
    assert run("study", "report", tmp_path / "a", "-o", tmp_path / "page.html", "--figures", tmp_path).exit_code == 0
    figures = [path.read_text() for path in tmp_path.glob("*.svg")]
    assert figures
    assert all('width="518.4pt"' in figure for figure in figures)
    compared = ("study", "compare", tmp_path / "a", tmp_path / "b", "--measure", "turns")
    ran = run(*compared, "--json", "-")
    assert (ran.exit_code, ran.stderr) == (0, "")
    (row,) = json.loads(ran.stdout)["differences"]
    assert (row["difference"], row["low"], row["high"]) == (1.0, None, None)
    assert "+1.00 (not known from one game)" in " ".join(run(*compared, columns=200).stdout.split())


def test_rankings_are_a_command():
    pytest.importorskip("SALib")
    ran = run(
        "study", "ranking", *QUICK, "-v", "bravo.patrols.fuel=40..80", "-v", "alpha.patrols.fuel=60..100",
        "--samples", 2, "-n", 4, "--measure", "margin",
    )  # fmt: skip
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "1. fuel of" in ran.stdout
    assert "12 cells and pairs of agents are not printed: --all does" in ran.stdout
    assert "alpha / bravo" not in ran.stdout


SWEEP = ("sweep", "-c", "case1", "-v", "bravo.patrols.ammo=0,3", "-v", "alpha.patrols.fuel=60..100..20")


def test_sweep_prints_and_writes_its_table(tmp_path):
    ran = run(*SWEEP, "--agents", "scripted", "random", "-n", 4, "--seed", 1, "--out", tmp_path)
    assert (ran.exit_code, ran.stderr) == (0, "")
    varied = ["bravo.patrols.ammo=0,3", "alpha.patrols.fuel=60..100..20"]
    result = play_sweep("scripted", "random", varied, config="case1", games=4, seed=1)
    rows = re.findall(r"^ +([03]) +(60|80|100) +([\d.]+)% .*$", ran.stdout, re.MULTILINE)
    pairs = [[games for (_, index), games in result.games.items() if index == pair] for pair in (0, 1)]
    shares = [f"{100 * (games['winner'] == 0).mean():.1f}" for games in (*pairs[0], *pairs[1])]
    assert [row[2] for row in rows] == shares
    assert "scripted (alpha) against random (bravo)" in ran.stdout
    written = json.loads((tmp_path / "results.json").read_text())
    assert {key: written[key] for key in result.to_dict()} == json.loads(json.dumps(result.to_dict()))


def test_a_sweep_as_csv_and_parquet_has_a_row_for_each_cell_and_measure(tmp_path):
    pytest.importorskip("pyarrow")
    files = ["--csv", tmp_path / "cells.csv", "--parquet", tmp_path / "cells.parquet"]
    varied = ["-v", "turn_limit=1,2", "-v", "rules=book,code", "-v", "bravo.odds.shoot.0=0.5,1"]
    ran = run("sweep", *varied, "-a", "idle", "idle", "-n", 4, "--seed", 1, *files)
    assert (ran.exit_code, ran.stderr) == (0, "")
    rows = [row for row in read_csv(tmp_path / "cells.csv") if row["measure"] == "draws"]
    assert len(rows) == 8
    assert [row["turn_limit"] for row in rows] == ["1"] * 4 + ["2"] * 4
    assert [row["rules"] for row in rows[:3]] == ["book", "book", "code"]
    assert [row["bravo.odds.shoot.0"] for row in rows[:2]] == ["0.5", "1.0"]
