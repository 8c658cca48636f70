"""``geo-patrol study`` and ``sweep``: their output, their files, and their messages about wrong input."""

import csv
import io
import json
import re
import sys
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
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


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
def test_the_same_study_gives_the_same_bytes(folder, tmp_path):
    ran = run("study", "run", folder / "study.toml", "--out", tmp_path)
    assert ran.exit_code == 0
    for name in ("results.json", "results.csv", "curves.csv", "answers.csv", "study.json", "plan.json"):
        assert (tmp_path / name).read_bytes() == (folder / "out" / name).read_bytes()


def test_parquet_has_the_same_rows(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(folder / "out" / "results.parquet").to_pylist()
    assert rows == read_study(folder / "out").rows()


@pytest.mark.slow
def test_a_report_is_a_page_with_figures(folder, tmp_path):
    arguments = ("study", "report", folder / "out", "-o", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert run(*arguments).exit_code == 0
    page = (tmp_path / "page.html").read_text()
    about = "follows rules written by hand: it guards its own HVA and raids the enemy&#39;s"
    for text in (
        about,
        "gives legal orders at random",
        "games, seed 1;",
        "How to read it",
        "What was played",
        "Turn by turn",
        "scripted (alpha) against random (bravo)",
    ):
        assert text in page
    assert not re.search(r"hva_destroyed|<script|https?://(?!www\.w3\.org/)", page)
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert {"wins.svg", "wins.pdf", "question1.svg", "question2.pdf", "turns.svg"} <= set(names)
    figures = {name: (tmp_path / "figures" / name).read_bytes() for name in names}
    digest = read_study(folder / "out").digest
    assert all(digest in figures[name].decode() for name in names if name.endswith(".svg"))
    assert run(*arguments).exit_code == 0
    assert page == (tmp_path / "page.html").read_text()
    assert figures == {name: (tmp_path / "figures" / name).read_bytes() for name in names}


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


def test_help_lists_the_measures_that_a_command_takes():
    assert "margin" not in run("study", "threshold", "--help").stdout
    assert "margin" in run("study", "worth", "--help").stdout


@pytest.mark.slow
def test_a_page_says_what_was_changed_and_how_many_games_were_played(folder, tmp_path):
    arguments = ("study", "report", folder / "out", "-o", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert run(*arguments).exit_code == 0
    page, study = (tmp_path / "page.html").read_text(), read_study(folder / "out")
    assert re.search(r"turn limit: 6, from \d+ \(-[\d.]+%\)", page)
    assert f"{study.total:,} games, seed {study.plan.file.seed}; study {study.digest}" in page
    searched = sum(answer.games for answer in study.answered[0].answers)
    assert study.total >= max(searched, sum(map(len, study.games.values())))  # what a search played counts for a cell
    for text in ("margin, mean<small>median<br>(5% to 95%)", "scenario as it stands", "5% to 95% quantile"):
        assert text in page


@pytest.mark.slow
@pytest.mark.parametrize(("width", "points"), [((), "518.4pt"), (("--width", 3.5), "252pt")])
def test_figures_are_as_wide_as_asked(folder, tmp_path, width, points):
    arguments = ("study", "report", folder / "out", "-o", tmp_path / "page.html", "--figures", tmp_path, *width)
    assert run(*arguments).exit_code == 0
    figures = [path.read_text() for path in tmp_path.glob("*.svg")]
    assert figures
    assert all(f'width="{points}"' in figure for figure in figures)


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
    assert ran.exit_code == 2
    assert "--measure 'wins': there are alpha wins, bravo wins" in ran.stderr


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
            ("worth", "--change", "bravo.patrols.ammo=+1", "--change", "bravo.patrols.ammo=+2", "-n", 10),
            "one more round for each of bravo's Patrols: alpha wins",
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


@pytest.mark.parametrize("option", ["--csv", "--json"])
def test_standard_output_takes_a_table_of_a_sweep_alone(option):
    ran = run(
        "sweep",
        "-a",
        "idle",
        "idle",
        "-c",
        "case1",
        "-s",
        "turn_limit=2",
        "-v",
        "bravo.patrols.ammo=0,1",
        "-n",
        2,
        option,
        "-",
    )
    assert (ran.exit_code, ran.stderr) == (0, "")
    if option == "--json":
        assert len(json.loads(ran.stdout)["results"]) == 2
    else:
        rows = list(csv.DictReader(io.StringIO(ran.stdout)))
        assert {row["bravo.patrols.ammo"] for row in rows} == {"0", "1"}
        assert None not in {value for row in rows for value in row.values()}


def test_studies_of_one_game_are_compared(tmp_path):
    for name, turns in (("a", 2), ("b", 3)):
        text = f'title = "One"\nconfig = "case1"\nset = {{ turn_limit = {turns} }}\nagents = [["random", "idle"]]\ngames = 1\n'
        (tmp_path / f"{name}.toml").write_text(text)
        assert run("study", "run", tmp_path / f"{name}.toml", "--out", tmp_path / name, "--quiet").exit_code == 0
    compared = ("study", "compare", tmp_path / "a", tmp_path / "b", "--measure", "turns")
    ran = run(*compared, "--json", "-")
    assert (ran.exit_code, ran.stderr) == (0, "")
    (row,) = json.loads(ran.stdout)["differences"]
    assert (row["difference"], row["low"], row["high"]) == (1.0, None, None)
    assert "+1.00 (not known from one game)" in " ".join(run(*compared, columns=200).stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("threshold", "-v", "turn_limit=1..3", "--rate", 0.5, "-n", 5), "--games must be at least"),
        (("worth", "--change", "turn_limit"), "--change must be a list of changes; override must be key=value"),
        (("worth", "--change", "turn_limit=+1", "--measure", "wins"), "--measure must be 'alpha wins', 'bravo wins'"),
        (("ranking", "-v", "turn_limit=1..3"), "--vary must be given for at least two factors, got turn_limit"),
        (("ranking", "-v", "turn_limit=1,2", "-v", "turn_limit=3"), "vary turn_limit: it is there twice"),
        (("fair", "-v", "turn_limit=1..3", "-a", "idle", "-a", "idle"), "--agents must be a list of agents"),
    ],
)
def test_faults_of_options_name_the_option(arguments, message):
    ran = run("study", *arguments)
    assert ran.exit_code == 2
    assert ran.stderr.startswith(f"geo-patrol: {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--csv", "x", "--json", "./x"), "--json and --csv both go to ./x: they must be two files"),
        (("--csv", "-", "--json", "-"), "--json and --csv both go to -: they must be two files"),
        (("--parquet", "-"), "must be a path, got '-'"),
        (("--out", "-"), "must be a path, got '-'"),
    ],
)
def test_outputs_of_a_sweep_do_not_mix(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run("sweep", "-v", "turn_limit=1,2", *arguments)
    assert ran.exit_code == 2
    assert message in " ".join(ran.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_questions_have_a_time_for_decisions():
    for command in ("threshold", "fair", "worth", "ranking"):
        assert "--move-time" in run("study", command, "--help").stdout
    ran = run("study", "worth", "--change", "turn_limit=+1", *QUICK, "--move-time", 0)
    assert ran.exit_code == 2
    assert "move time must be seconds for a decision, more than 0" in ran.stderr


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("study", "run", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("study", "report", "nowhere"), "nowhere holds no study"),
        (("study", "threshold", "-v", "bravo.patrols.cuont=1..8", "--rate", 0.8), "did you mean count?"),
        (
            ("study", "threshold", "-v", "bravo.patrols.count=1..8", "--rate", 80),
            "--rate: a share from 0 to 1, such as 0.8 for 80%, got 80",
        ),
        (("study", "worth", "--change", "bravo.patrols.ammo=+1", "--measure", "wins"), "--measure must be"),
        (("sweep", "-v", "bravo.patrols.amo=1"), "there is no such key; did you mean ammo?"),
        (("sweep", "-v", "turn_limit=3..1"), "the smaller end comes first"),
        (("sweep", "-v", "turn_limit=3", "-n", 5), "games must be an even number of at least 2, got 5"),
    ],
)
def test_wrong_input_is_reported_without_a_traceback(arguments, message):
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("geo-patrol: ")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_parquet_without_its_package_is_an_error_before_anything_is_played(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = run("sweep", "-v", "turn_limit=1", "--parquet", tmp_path / "cells.parquet")
    assert ran.exit_code == 2
    assert ran.stderr == "geo-patrol: pyarrow is not installed: pip install 'geo_patrol[study]'\n"
