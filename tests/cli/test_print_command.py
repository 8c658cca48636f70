"""``geo-patrol print``: the sheets are those of the game, and fill pages of the right size."""

import re
from functools import cache, partial
from xml.etree import ElementTree as ET

import pytest

from geo_patrol import Game, load_config, preset_names
from geo_patrol.base.sides import COLORS, in_colors
from geo_patrol.drawing.shapes import Box, Circle, Polygon, Polyline, Text
from geo_patrol.drawing.sheet import PAPERS, fit
from geo_patrol.flight import load_mission, mission_names, solve
from geo_patrol.flight.pictures.scene import blank_map
from geo_patrol.flight.pictures.sheets import handout, mission_sheets
from geo_patrol.scenes.paper import SIDE_LINES, geometry_of
from geo_patrol.scenes.satellites import token_label
from geo_patrol.scenes.sheets import game_sheets

pytest.importorskip("matplotlib")
from matplotlib.path import Path as MatplotlibPath

from tests.support.commands import run as run_command

print_ = partial(run_command, "print")


def texts(drawing):
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


@cache
def sheets_of(preset):
    return game_sheets(Game(preset))


def sheet_sizes(pdf):
    """Return the sizes of a PDF's pages in millimeters."""
    boxes = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
    return [tuple(round(float(length) * 25.4 / 72) for length in box) for box in boxes]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sizes"),
    [
        (("--config", "case1"), [(210, 297)] * 13),
        (("--config", "case1", "--paper", "letter", "--sheets", "board"), [(216, 279)]),
        (("--mission", "sample_probe"), [(210, 297), *[(297, 210)] * 3]),
    ],
    ids=["game", "letter", "mission"],
)
def test_sheets_as_pdf(tmp_path, arguments, sizes):
    result = print_("-o", tmp_path / "kit.pdf", *arguments)
    assert result.exit_code == 0, result.output
    content = (tmp_path / "kit.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert sheet_sizes(content) == sizes


def test_chosen_sheets_as_svg(tmp_path):
    result = print_("-o", tmp_path / "new" / "kit", "--sheets", "board,orders-b")
    assert result.exit_code == 0, result.output
    written = sorted(path.name for path in (tmp_path / "new" / "kit").iterdir())
    assert written == ["board.svg", "orders-blue-26.svg", "orders-blue.svg"]
    root = ET.parse(tmp_path / "new" / "kit" / "board.svg").getroot()
    assert float(root.get("width").removesuffix("mm")) <= 190


@pytest.mark.parametrize("preset", preset_names())
def test_sheets_of_a_preset(preset):
    """Everything is on the page, and the tables have a column for each satellite and a row for each turn."""
    game = Game(preset)
    sheets = sheets_of(preset)
    for drawing in sheets.values():
        for shape in drawing.shapes:
            if isinstance(shape, Polygon):
                assert max(y for _, y in shape.points) <= drawing.height
            if isinstance(shape, Text):
                x, y = shape.position
                assert 0 <= x <= drawing.width
                assert 0 <= y <= drawing.height
                assert in_colors(shape.text) == shape.text
    for side in ("alpha", "bravo"):
        names = [token_label(satellite.id.number) for satellite in game.satellites(side)]
        orders = [text for name in sheets if name.startswith(f"orders-{COLORS[side]}") for text in texts(sheets[name])]
        assert orders.count("move") == orders.count("engage") == min(game.config.turn_limit, 50)
        headings = [
            shape.text for shape in sheets[f"score-{COLORS[side]}"].shapes if isinstance(shape, Text) and shape.bold
        ]
        assert headings[1:] == [*names, "goal", "fuel", "score"]
        board = (shape for shape in sheets["board"].shapes if isinstance(shape, Text))
        places = {shape.text: shape.position for shape in board if shape.color == SIDE_LINES[side]}
        assert places.keys() == set(names)
        for satellite in game.satellites(side):
            outline = MatplotlibPath(geometry_of(game.config.board).outline(satellite.sector))
            assert outline.contains_point(places[token_label(satellite.id.number)])
    assert len([shape for shape in sheets["board"].shapes if isinstance(shape, Box)]) == len(game.satellites("bravo"))


VALUES = {
    "turn_limit": 37,
    "both.points.win": 433,
    "alpha.points.goal": 17,
    "bravo.points.adjacent": 6,
    "alpha.costs.prograde": 8,
    "bravo.costs.radial_out": 13,
    "both.costs.station_keeping": 4,
    "bravo.costs.collide": [21, 32],
    "alpha.odds.shoot": [0.65, 0.15],
    "bravo.odds.guard": [0.96, 0.48],
    "alpha.patrols.fuel": 71,
    "bravo.patrols.ammo": 9,
    "alpha.hva.fuel": 57,
    "alpha.hva.weight": 3,
    "bravo.patrols.weight": 0.35,
}


def test_numbers_of_the_sheets_are_those_of_the_configuration():
    """Every value of a scenario in which all differ from the preset stands on the sheets, and none of the preset does."""
    game = Game(load_config("geo_patrol", VALUES))
    sheets = game_sheets(game)
    turn, reference = (" ".join(texts(sheets[name])) for name in ("turn", "reference"))
    for text in (
        "after 37 turns",
        "433 points",
        "blue +17 a turn; gold +10 a turn",
        "blue +3 a turn; gold +6 a turn",
        "blue 8 fuel; gold 5 fuel",
        "blue 10 fuel; gold 13 fuel",
        "4 fuel a turn",
        "blue 20 fuel, 80%; gold 21 fuel, 80%",
        "blue 30 fuel, 40%; gold 32 fuel, 40%",
        "blue 5 fuel, 65%; gold 5 fuel, 80%",
        "blue 7 fuel, 15%; gold 7 fuel, 40%",
        "blue 80%, 40%, 20%, 10%; gold 96%, 48%, 24%, 12%",
        "blue 40%, 20%, 10%, 5%; gold 48%, 24%, 12%, 6%",
        "HVA with 57 fuel and 0 ammo; 10 Patrols with 71 fuel and 1 ammo",
        "10 Patrols with 100 fuel and 9 ammo",
    ):
        assert text in reference, text
    assert "blue HVA's fuel x 3" in turn
    assert "Patrols' fuel x 0.35" in turn
    assert "station keeping: 4 fuel" in turn
    assert "350" not in reference
    rules = " ".join(texts(sheets["rules"]))
    for text in (
        "37 turns, when a side has 433 points",
        "Ahead, counterclockwise: blue 8 fuel; gold 5 fuel",
        "Your HVA in its goal: blue 17; gold 10 points",
        "blue 5 fuel, 65 or less; gold 5 fuel, 80 or less",
        "blue 3 points for each unit of the HVA; gold 1 point for each unit of the HVA",
        "gold 7 points for each 20 of Patrols",
        "blue 1 round; gold 9 rounds",
    ):
        assert text in rules, text
    assert not re.search(r"\d[./]\d", rules), "whole numbers"
    start = texts(sheets["score-blue"])
    assert start.count("71") == 10
    assert start.count(str(game.scores["alpha"])) == 2
    assert "Each Patrol has 9 ammo" in " ".join(texts(sheets["score-gold"]))


@pytest.mark.parametrize(("patrols", "weight"), [(10, "0.1"), (3, "1/3"), (7, "1/7"), (8, "0.125")])
def test_weights_can_be_computed_with_by_hand(patrols, weight):
    sheets = game_sheets(Game(load_config("geo_patrol", {"both.patrols.count": patrols})))
    assert f"Patrols' fuel x {weight};" in " ".join(texts(sheets["turn"]))
    assert f"{weight} a unit" in texts(sheets["reference"])


@pytest.mark.parametrize("preset", preset_names())
def test_each_token_is_inside_its_own_cell(preset):
    game, shapes = Game(preset), sheets_of(preset)["tokens"].shapes
    cells = [shape.points for shape in shapes if isinstance(shape, Polyline) and shape.dashed]
    assert len(cells) == sum(len(game.satellites(side)) + 1 for side in ("alpha", "bravo"))
    for circle in (shape for shape in shapes if isinstance(shape, Circle)):
        (x, y), radius = circle.center, circle.radius
        around = [
            (left, top)
            for (left, top), _, (right, bottom), *_ in cells
            if left <= x - radius and x + radius <= right and top <= y - radius and y + radius <= bottom
        ]
        assert len(around) == 1


@pytest.mark.slow
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
        for drawing in sheets_of("od2d").values():
            width, height = fit(drawing, paper)
            assert width <= paper.width - 20 + 1e-9
            assert height <= paper.height - 20 + 1e-9
            assert width / height == pytest.approx(drawing.width / drawing.height)
            assert max(width / (paper.width - 20), height / (paper.height - 20)) == pytest.approx(1)


POINT = 25.4 / 72


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("paper", PAPERS)
def test_type_is_at_least_11_points_where_the_page_has_room(preset, paper):
    in_pictures = {"tokens": ("goal", "H"), "rules": ("Earth", "H"), "turn": (), "reference": ()}
    for name, left_out in in_pictures.items():
        sheet = sheets_of(preset)[name]
        scale = fit(sheet, PAPERS[paper])[0] / sheet.width / POINT
        written = [shape for shape in sheet.shapes if isinstance(shape, Text) and not shape.text.isdecimal()]
        assert min(shape.size * scale for shape in written if shape.text not in left_out) >= (
            10.6 if paper == "letter" else 11
        ), name


@pytest.mark.parametrize("name", mission_names())
def test_type_of_a_mission_is_at_least_11_points_on_maps_of_the_usual_size(name):
    mission = load_mission(name)
    drawings = [handout(mission), *([blank_map(mission)] if mission.columns <= 25 else [])]
    for drawing in drawings:
        scale = fit(drawing, PAPERS["a4"])[0] / drawing.width
        sizes = [shape.size * scale / POINT for shape in drawing.shapes if isinstance(shape, Text)]
        assert min(sizes) >= 11
