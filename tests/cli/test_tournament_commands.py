"""``geo-patrol tournament`` and ``sprt``: their output, their files, and their messages about wrong input."""

import csv
import json
import re
import sys
from xml.etree import ElementTree as ET

import pytest

from geo_patrol.evaluation import Sprt, play_sprt, play_tournament, sprt
from geo_patrol.evaluation.figures import short_names
from tests.support.commands import run

pytestmark = pytest.mark.usefixtures("without_workers")


TOURNAMENT = ("tournament", "scripted", "random", "idle", "-c", "case4", "-n", 8, "--seed", 5)


def assert_plots(path):
    """Assert that there is a figure as PNG, and as SVG and PDF, which hold shapes rather than an image."""
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG\r\n")
    assert not list(ET.parse(path.with_suffix(".svg")).iter("{http://www.w3.org/2000/svg}image"))
    written = path.with_suffix(".pdf").read_bytes()
    assert written.startswith(b"%PDF-")
    assert b"/Subtype /Image" not in written


@pytest.mark.slow
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
    ratings, pairings = (
        list(csv.DictReader((out / name).read_text().splitlines())) for name in ("ratings.csv", "pairings.csv")
    )
    assert [float(row["elo"]) for row in ratings] == result.ratings.elo.tolist()
    assert next((row["first"], row["second"], row["wins"]) for row in pairings) == ("scripted", "random", "8")
    assert_plots(out / "tournament")
    assert run(*TOURNAMENT, "--out", out, "--mirror").stdout == ran.stdout  # played already
    narrow = run(*TOURNAMENT, columns=60).stdout
    assert re.search(r"^scripted - +8 +0 +100\.0%.*\nrandom +$", narrow, re.MULTILINE)
    assert "Too narrow for: as bravo, draws." in narrow
    assert json.loads(run(*TOURNAMENT, "--json", "-").stdout)["format"] == "geo_patrol tournament"
    ran = run(*TOURNAMENT, "--out", out)
    assert ran.exit_code == 2
    assert "the option to play agents against themselves was True and is now False. Use another folder" in ran.stderr


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


ONCE = """
import os
from pathlib import Path

with Path(__file__).with_name("processes").open("a") as file:
    file.write(f"{os.getpid()}\\n")


class Idle:
    name, observation = "idle", "tokens"

    def __init__(self):
        with Path(__file__).with_name("made").open("a") as file:
            file.write("made\\n")

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return action_masks.argmax(axis=2)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "chunks"),
    [
        (("tournament", "BOT", "idle", "--games", 2), 1),
        (("sprt", "BOT", "idle", "--max-games", 2), 1),
        (("match", "BOT", "idle", "--games", 2), 1),
        (("sweep", "--agents", "BOT", "idle", "--vary", "turn_limit=1,2", "--games", 2), 4),
        (("study", "worth", "--agents", "BOT idle", "--change", "turn_limit=2", "--games", 2), 2),
    ],
)
def test_agents_of_users_are_started_once(command, chunks, tmp_path):
    """And made anew for every chunk, in the same process."""
    bot = tmp_path / "bot.py"
    bot.write_text(ONCE)
    arguments = [str(each).replace("BOT", f"{bot}:Idle") for each in command]
    ran = run(*arguments, "--seed", 1, "--set", "turn_limit=1", "--quiet")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert len(set((tmp_path / "processes").read_text().split())) == 1
    assert len((tmp_path / "made").read_text().split()) == chunks


@pytest.mark.parametrize("num_chunks", [0, 1])
def test_sprt_interrupted_prints_what_it_knows(num_chunks, monkeypatch):
    def interrupt(chunks):
        for _ in range(num_chunks):
            yield next(in_order(chunks))
        raise KeyboardInterrupt

    in_order = sprt.in_order
    monkeypatch.setattr(sprt, "in_order", interrupt)
    ran = run("sprt", "random", "random", "--elo1", 1, "--max-games", 1000, "--seed", 1)
    assert (ran.exit_code, ran.stderr) == (130, "geo-patrol: interrupted\n")
    assert ("log likelihood ratio " in ran.stdout) == bool(num_chunks)
    assert ran.stdout.endswith("Interrupted after 256 games: no answer yet.\n" if num_chunks else "")


def test_without_matplotlib_there_are_no_plots(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = run("tournament", "idle", "random", "-n", 2, "--out", tmp_path)
    assert (ran.exit_code, "idle - random" in ran.stdout) == (0, True)
    assert "no tournament.png: matplotlib is not installed" in ran.stderr
    assert "pip install 'geo_patrol[plots]'" in ran.stderr


def test_names_are_as_short_as_they_can_be():
    assert short_names(["random", "a/bot.py:Bot"]) == ["random", "Bot"]
    assert short_names(["a/one.py:Bot", "b/two.py:Bot"]) == ["one.py:Bot", "two.py:Bot"]
    assert short_names(["a/bot.py:Bot", "b/bot.py:Bot"]) == ["a/bot.py:Bot", "b/bot.py:Bot"]
