"""``geo-patrol print``: the sheets are those of the game, and fill pages of the right size."""

import re
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from geo_patrol import Game, preset_names
from geo_patrol.cli.app import app
from geo_patrol.flight import load_mission, mission_names, solve
from geo_patrol.flight.pictures.sheets import mission_sheets
from geo_patrol.scenes.shapes import Text
from geo_patrol.scenes.sheets import PAPERS, fit, game_sheets

pytest.importorskip("matplotlib")


def print_(*arguments):
    return CliRunner().invoke(app, ["print", *map(str, arguments)])


def texts(drawing):
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


def sheet_sizes(pdf):
    """Return the sizes of a PDF's pages in millimeters."""
    boxes = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
    return [tuple(round(float(length) * 25.4 / 72) for length in box) for box in boxes]


@pytest.mark.parametrize(("paper", "size"), [("a4", (210, 297)), ("letter", (216, 279))])
def test_a_game_as_pdf(tmp_path, paper, size):
    result = print_("-o", tmp_path / "kit.pdf", "--config", "case1", "--paper", paper)
    assert result.exit_code == 0, result.output
    content = (tmp_path / "kit.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert sheet_sizes(content) == [size] * len(game_sheets(Game("case1")))


def test_a_mission_as_pdf(tmp_path):
    result = print_("-o", tmp_path / "kit.pdf", "--mission", "sample_probe")
    assert result.exit_code == 0, result.output
    assert sheet_sizes((tmp_path / "kit.pdf").read_bytes()) == [(210, 297), (297, 210), (297, 210), (297, 210)]


def test_chosen_sheets_as_svg(tmp_path):
    result = print_("-o", tmp_path / "new" / "kit", "--sheets", "board,orders-a")
    assert result.exit_code == 0, result.output
    written = sorted(path.name for path in (tmp_path / "new" / "kit").iterdir())
    assert written == ["board.svg", "orders-alpha-26.svg", "orders-alpha.svg"]
    root = ET.parse(tmp_path / "new" / "kit" / "board.svg").getroot()
    assert float(root.get("width").removesuffix("mm")) <= 190


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "kit.png"], "kit.png cannot be written: give a file that ends in .pdf, or a folder"),
        (
            ["-o", "kit.pdf", "--sheets", "boards"],
            "--sheets 'boards': there are board, tokens, reference, orders-alpha,",
        ),
        (["-o", "kit.pdf", "--config", "nothing"], "nothing"),
        (["-o", "kit.pdf", "--mission", "nothing"], "nothing"),
        (["-o", "missing/kit.pdf"], "missing/kit.pdf cannot be written"),
    ],
)
def test_bad_arguments_are_one_clear_line(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = print_(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("preset", preset_names())
def test_sheets_of_a_preset(preset):
    """Everything is on the page, and the tables have a column for each satellite and a row for each turn."""
    game = Game(preset)
    sheets = game_sheets(game)
    for drawing in sheets.values():
        for shape in drawing.shapes:
            if isinstance(shape, Text):
                x, y = shape.position
                assert 0 <= x <= drawing.width
                assert 0 <= y <= drawing.height
    for side in ("alpha", "bravo"):
        names = [satellite.id.short for satellite in game.satellites(side)]
        orders = texts(sheets[f"orders-{side}"]) + texts(sheets[f"orders-{side}-26"])
        assert orders.count("move") == orders.count("engage") == 50
        assert [text for text in texts(sheets[f"score-{side}"]) if text in names] == names
        at = texts(sheets["board"]).index(side)
        shown = {
            name: int(sector)
            for sector, here in re.findall(r"(\d+): ([HVAP0-9 ]*?)(?:   |$)", texts(sheets["board"])[at + 1])
            for name in here.split()
        }
        assert shown == {satellite.id.short: satellite.sector for satellite in game.satellites(side)}


def test_reference_has_the_values_of_a_scenario():
    shown = " ".join(texts(game_sheets(Game("case4"))["reference"]))
    assert "4 Patrols with 80 fuel and 3 ammo" in shown
    assert "bravo 5 fuel, 100%" in shown


@pytest.mark.parametrize("name", mission_names())
def test_sheets_of_a_mission(name):
    mission = load_mission(name)
    solution = solve(mission, max_states=10_000)
    sheets = mission_sheets(mission, solution)
    assert list(sheets) == ["handout", "map", "score-sheet", "answers"]
    shown = texts(sheets["handout"])
    assert mission.title in shown
    assert ("engines" in shown) == (not mission.is_probe)
    assert f"turn {solution.flight.turn} of" in " ".join(texts(sheets["answers"]))


def test_drawings_fill_the_paper_within_its_margins():
    for paper in PAPERS.values():
        for drawing in game_sheets(Game("od2d")).values():
            width, height = fit(drawing, paper)
            assert width <= paper.width - 20 + 1e-9
            assert height <= paper.height - 20 + 1e-9
            assert width / height == pytest.approx(drawing.width / drawing.height)
            assert max(width / (paper.width - 20), height / (paper.height - 20)) == pytest.approx(1)
