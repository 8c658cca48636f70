"""The examples of the README and the documents run and print what they show."""

import doctest
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geo_patrol import load_config, play_match
from geo_patrol.agents import playing
from geo_patrol.cli.app import app
from geo_patrol.envs import make
from geo_patrol.game import game

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURING = (ROOT / "docs" / "analyse" / "tournaments.md").read_text(encoding="utf-8")
CONFIGURATIONS = (ROOT / "docs" / "reference" / "configurations.md").read_text(encoding="utf-8")


def test_examples_of_the_readme():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize(
    "document",
    [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")) if ">>> " in page.read_text()],
)
def test_examples_of_the_docs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a reader may have no clone of the repository
    result = doctest.testfile(str(ROOT / document), module_relative=False, encoding="utf-8")
    assert result.attempted > 1
    assert result.failed == 0


def test_the_first_page_of_the_site_shows_five_lines_that_run():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5
    names = {}
    exec(code, names)
    assert names["rewards"].shape == (1024,)


@pytest.mark.parametrize("document", ["analyse/replays", "play/watching_and_playing"])
def test_programs_of_the_docs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("geo_patrol.window.watch.watch", lambda _: None)  # a window that stays open
    play_match("random", "random", config="case1", games=14, save="games.jsonl.gz")
    names = {"print": lambda *_: None}
    text = (ROOT / "docs" / f"{document}.md").read_text(encoding="utf-8")
    for program in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(program, names)


def test_examples_of_make_vec():
    result = doctest.testmod(make)
    assert result.attempted > 1
    assert result.failed == 0


@pytest.mark.parametrize("module", [game, playing])
def test_examples_of_game(module):
    result = doctest.testmod(module)
    assert result.attempted > 1
    assert result.failed == 0


def test_the_readme_reaches_its_picture_and_commands_in_a_screen():
    above, below = README.split("![", 1)
    assert above.count("\n") <= 8
    assert below.split("make test")[0].count("\n") <= 8


def test_match_of_the_docs():
    (arguments,) = set(re.findall(r"^geo-patrol (match scripted random .*)$", MEASURING, re.MULTILINE))
    printed = CliRunner().invoke(app, arguments.split(), env={"COLUMNS": "80"}).stdout
    shown = re.search(r"```\n(scripted against random\n.*?)```", MEASURING, re.DOTALL)[1]
    lines = [
        [line.rstrip() for line in text.splitlines() if "games per second" not in line] for text in (printed, shown)
    ]
    assert lines[0] == lines[1]


def test_scenario_of_the_docs(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", CONFIGURATIONS, re.DOTALL)[1], encoding="utf-8")
    config = load_config(path)
    assert (config.title, config.alpha.patrols.fuel, config.bravo.patrols.ammo) == ("Short of fuel", 60, 3)


def test_links_of_the_documents_exist():
    """Generated pages are checked when the documentation is built."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for document in documents:
        for link in re.findall(r"\]\((?!\S*generated/)([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_documents_are_finished():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        placeholders = re.findall(r"(?m)^.*@@.*$|^[A-Z]{4,}$", document.read_text(encoding="utf-8"))
        assert placeholders == []
