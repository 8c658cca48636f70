"""``geo-patrol tournament``, ``sprt`` and ``sweep``: their output, their files, and their messages about wrong input."""

import csv
import json
import re
import sys
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from geo_patrol.cli.app import app
from geo_patrol.evaluation import Sprt, play_sprt, play_sweep, play_tournament, sprt
from geo_patrol.evaluation.plots import short_names

pytestmark = pytest.mark.usefixtures("without_workers")


def run(*arguments, columns=80):
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1"}).invoke(app, list(map(str, arguments)))


TOURNAMENT = ("tournament", "scripted", "random", "idle", "-c", "case4", "-n", 8, "--seed", 5)


def assert_plots(path):
    """Assert that there is a figure as PNG, and as SVG and PDF, which hold shapes rather than an image."""
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG\r\n")
    assert not list(ET.parse(path.with_suffix(".svg")).iter("{http://www.w3.org/2000/svg}image"))
    written = path.with_suffix(".pdf").read_bytes()
    assert written.startswith(b"%PDF-")
    assert b"/Subtype /Image" not in written


def read_csv(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_tournament_prints_and_writes_its_tables(tmp_path):
    out = tmp_path / "out"
    ran = run(*TOURNAMENT, "--out", out, "--mirror")
    assert (ran.exit_code, ran.stderr) == (0, "")
    result = play_tournament(["scripted", "random", "idle"], config="case4", games=8, seed=5, mirror=True)
    lines = ran.stdout.splitlines()
    assert max(map(len, lines)) <= 80 or "Farthest" in max(lines, key=len)
    assert "Case 4: four sharpshooters (case4), seed 5" in lines
    (row,) = re.findall(r"^scripted +([+-]\d+) +([+-]\d+ [+-]\d+) +(\d+) .*$", ran.stdout, re.MULTILINE)
    assert row[0] == f"{result.ratings.elo[0]:+.0f}"
    assert row[2] == "16"
    assert re.search(r"^scripted - random +8 +0 +100\.0%", ran.stdout, re.MULTILINE)
    assert "Mixed equilibrium, random sides: scripted 100.0%" in ran.stdout
    assert f"Its value for alpha, wins minus losses per game: {result.side_equilibrium.value:+.3f}" in ran.stdout
    written = json.loads((out / "tournament.json").read_text())
    assert {key: written[key] for key in result.to_dict()} == json.loads(json.dumps(result.to_dict()))
    ratings, pairings = read_csv(out / "ratings.csv"), read_csv(out / "pairings.csv")
    assert [float(row["elo"]) for row in ratings] == result.ratings.elo.tolist()
    assert next((row["first"], row["second"], row["wins"]) for row in pairings) == ("scripted", "random", "8")
    assert_plots(out / "tournament")
    assert run(*TOURNAMENT, "--out", out, "--mirror").stdout == ran.stdout  # played already
    ran = run(*TOURNAMENT, "--out", out)
    assert ran.exit_code == 2
    assert "the option to play agents against themselves was True and is now False. Use another folder" in ran.stderr


def test_json_goes_to_standard_output():
    ran = run(*TOURNAMENT, "--json", "-")
    assert json.loads(ran.stdout)["format"] == "geo_patrol tournament"


def test_sprt_prints_its_answer(tmp_path):
    ran = run("sprt", "scripted", "idle", "--seed", 1, "--json", tmp_path / "sprt.json")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "Accepted after 32 games: elo1. scripted is more than +0 Elo above idle." in ran.stdout
    assert "pairs by points of scripted: 0: 0, 1/2: 0, 1: 0, 3/2: 0, 2: 16" in ran.stdout
    written = json.loads((tmp_path / "sprt.json").read_text())
    result = play_sprt("scripted", "idle", seed=1)
    assert {key: written[key] for key in result.to_dict()} == json.loads(json.dumps(result.to_dict()))
    ran = run("sprt", "idle", "scripted", "--seed", 1)
    assert "Accepted after 32 games: elo0. idle is less than +20 Elo above scripted." in ran.stdout
    ran = run("sprt", "random", "random", "--elo1", 1, "--max-games", 40, "--seed", 1)
    assert "No answer after 40 games" in ran.stdout
    assert Sprt(0, 1).bounds == result.test.bounds


def test_sprt_interrupted_prints_what_it_knows(monkeypatch):
    def interrupt(chunks):
        yield next(in_order(chunks))
        raise KeyboardInterrupt

    in_order = sprt.in_order
    monkeypatch.setattr(sprt, "in_order", interrupt)
    ran = run("sprt", "random", "random", "--elo1", 1, "--max-games", 1000, "--seed", 1)
    assert (ran.exit_code, ran.stderr) == (130, "geo-patrol: interrupted\n")
    assert "pairs by points of random: " in ran.stdout
    assert "log likelihood ratio " in ran.stdout
    assert ran.stdout.endswith("Interrupted after 256 games: no answer yet.\n")


def test_sprt_interrupted_before_the_first_games_prints_nothing(monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sprt, "in_order", interrupt)
    ran = run("sprt", "random", "random")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (130, "", "geo-patrol: interrupted\n")


def test_tables_keep_their_names_on_narrow_terminals():
    ran = run(*TOURNAMENT, columns=60)
    lines = ran.stdout.splitlines()
    assert re.search(r"^scripted +[+-]\d+ +[+-]\d+ [+-]\d+ ", ran.stdout, re.MULTILINE)
    assert re.search(r"^scripted - +8 +0 +100\.0%.*\nrandom +$", ran.stdout, re.MULTILINE)
    assert "Too narrow for: as bravo, draws." in lines
    assert max(len(line) for line in lines if line.startswith(("agent", "scripted", "random", "idle", "pairing"))) <= 60


@pytest.mark.parametrize("command", ["tournament", "sweep"])
def test_a_folder_that_cannot_be_written_is_reported_before_playing(command, tmp_path, monkeypatch):
    monkeypatch.setattr("geo_patrol.evaluation.executors.play_chunk", lambda *_: pytest.fail("played"))
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "out"
    ran = run(*(TOURNAMENT if command == "tournament" else SWEEP), "--out", out)
    assert ran.exit_code == 2
    assert ran.stderr == f"geo-patrol: {out} cannot be written: {tmp_path / 'file'} is not a folder\n"


SWEEP = ("sweep", "-c", "case1", "-v", "bravo.patrols.ammo=0,3", "-v", "alpha.patrols.fuel=60..100..20")


def test_sweep_prints_and_writes_its_table(tmp_path):
    arguments = (*SWEEP, "--agents", "scripted", "random", "-n", 4, "--seed", 1, "--out", tmp_path)
    ran = run(*arguments)
    assert (ran.exit_code, ran.stderr) == (0, "")
    result = play_sweep(
        "scripted",
        "random",
        ["bravo.patrols.ammo=0,3", "alpha.patrols.fuel=60..100..20"],
        config="case1",
        games=4,
        seed=1,
    )
    rows = re.findall(r"^ +([03]) +(60|80|100) +([\d.]+)% .*$", ran.stdout, re.MULTILINE)
    as_alpha = next(iter(result.win_rates().values()))
    assert rows == [(*cell, f"{100 * tally.win_rate:.1f}") for cell, tally in zip(result.cells, as_alpha, strict=True)]
    written = json.loads((tmp_path / "sweep.json").read_text())
    assert {key: written[key] for key in result.to_dict()} == json.loads(json.dumps(result.to_dict()))
    listed = read_csv(tmp_path / "sweep.csv")
    assert [(row["bravo.patrols.ammo"], row["alpha.patrols.fuel"]) for row in listed] == list(result.cells)
    assert [row["first_as_alpha_wins"] for row in listed] == [str(tally.wins) for tally in as_alpha]
    assert [float(row["draw_rate"]) for row in listed] == result.draw_rates()
    assert_plots(tmp_path / "sweep")


def test_a_sweep_as_csv_and_parquet_has_a_row_for_each_cell(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    varied = ["-v", "turn_limit=1,2", "-v", "rules=book,code", "-v", "bravo.odds.shoot.0=0.5,1"]
    files = ["--csv", tmp_path / "cells.csv", "--parquet", tmp_path / "cells.parquet"]
    ran = run("sweep", *varied, "-a", "idle", "idle", "-n", 4, "--seed", 1, *files)
    assert (ran.exit_code, ran.stderr) == (0, "")
    table = parquet.read_table(tmp_path / "cells.parquet").to_pylist()
    assert [{key: str(value) for key, value in row.items()} for row in table] == read_csv(tmp_path / "cells.csv")
    assert len(table) == 8
    assert [row["turn_limit"] for row in table] == [1] * 4 + [2] * 4
    assert [row["rules"] for row in table[:3]] == ["book", "book", "code"]
    assert [row["bravo.odds.shoot.0"] for row in table[:2]] == [0.5, 1.0]
    assert (table[0]["alpha_games"], table[0]["bravo_games"], table[0]["draw_rate"]) == (4, 4, 1.0)


def test_parquet_without_its_package_is_an_error_before_anything_is_played(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = run("sweep", "-v", "turn_limit=1", "--parquet", tmp_path / "cells.parquet")
    assert ran.exit_code == 2
    assert ran.stderr == "geo-patrol: pyarrow is not installed: pip install 'geo_patrol[parquet]'\n"


@pytest.mark.parametrize(
    "command", [("tournament", "idle", "random"), ("sprt", "idle", "idle"), ("match", "idle", "idle")]
)
def test_ray_without_its_package_is_an_error_before_anything_is_played(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    ran = run(*command, "--ray", "local")
    assert ran.exit_code == 2
    assert ran.stderr == "geo-patrol: ray is not installed: pip install 'geo_patrol[ray]'\n"


@pytest.mark.parametrize(
    "varied",
    [["turn_limit=1..3"], ["turn_limit=1,2", "rules=book,code", "alpha.patrols.ammo=0,1", "bravo.patrols.ammo=0,1"]],
)
def test_sweeps_of_other_sizes_are_plotted(varied, tmp_path):
    options = [option for vary in varied for option in ("--vary", vary)]
    ran = run("sweep", *options, "-a", "idle", "idle", "-n", 2, "--seed", 1, "--out", tmp_path)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert_plots(tmp_path / "sweep")


def test_a_sweep_of_too_many_pictures_has_none(tmp_path):
    varied = ["turn_limit=1", "rules=book", "alpha.patrols.ammo=0..12"]
    options = [option for vary in varied for option in ("--vary", vary)]
    ran = run("sweep", *options, "-a", "idle", "idle", "-n", 2, "--seed", 1, "--out", tmp_path)
    assert ran.exit_code == 0
    assert (
        ran.stderr
        == "geo-patrol: no sweep.png: a picture would need more than 24 heat maps, or one of more than 100 rows\n"
    )
    assert (tmp_path / "sweep.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tournament", "idle"), "2 to 100 agents, got 1"),
        (("tournament", "idle", "scriptd"), "there is no agent 'scriptd'; did you mean 'scripted'?"),
        (
            ("tournament", "idle", "random", "-n", 5),
            "games must be an even number of at least 2, got 5; every second game swaps the sides",
        ),
        (("tournament", "idle", "random", "-p", 0), "processes must be an integer from 1 to 1024, got 0"),
        (("tournament", "idle", "random", "--seed", -1), "seed must be a non-negative integer"),
        (("tournament", "idle", "random", "--json", "/"), "/ cannot be written: it is a folder"),
        (("tournament", "idle", "nowhere.py:Bot"), "agent 'nowhere.py:Bot': there is no file"),
        (("sprt", "idle", "random", "--elo0", 30), "elo0 must be less than elo1, got 30 and 20"),
        (("sprt", "idle", "random", "--alpha", 0.7), "alpha must be a probability above 0 and below 0.5, got 0.7"),
        (("sweep", "-v", "bravo.patrols.amo=1"), "there is no such key; did you mean ammo?"),
        (("sweep", "-v", "turn_limit=3..1"), "the smaller end comes first"),
    ],
)
def test_wrong_input_is_reported_in_one_line(arguments, message):
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("geo-patrol: ")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_missing_packages_are_reported(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = run("tournament", "idle", "random", "-n", 2, "--out", tmp_path)
    assert ran.exit_code == 0
    assert "no tournament.png: matplotlib is not installed" in ran.stderr
    assert "pip install 'geo_patrol[plots]'" in ran.stderr
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    ran = run("tournament", "idle", "random")
    assert ran.exit_code == 2
    assert "scipy is not installed: pip install 'geo_patrol[stats]'" in ran.stderr
    ran = run("sweep", "-v", "turn_limit=1", "-a", "idle", "idle", "-n", 2)  # which needs none
    assert ran.exit_code == 0


def test_names_are_as_short_as_they_can_be():
    assert short_names(["random", "a/bot.py:Bot"]) == ["random", "Bot"]
    assert short_names(["a/one.py:Bot", "b/two.py:Bot"]) == ["one.py:Bot", "two.py:Bot"]
    assert short_names(["a/bot.py:Bot", "b/bot.py:Bot"]) == ["a/bot.py:Bot", "b/bot.py:Bot"]
