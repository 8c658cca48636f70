"""Printable sheets for the paper game: the blank map of a mission, and its score sheet."""

from geo_patrol.flight.log import LINE_NAMES
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.pictures.chart import add_heading, add_map
from geo_patrol.flight.pictures.colors import FAINT, GREY, INK, PAPER
from geo_patrol.flight.pictures.layout import Layout
from geo_patrol.scenes.shapes import Drawing, Polyline, Text

_LOG_ROW = 22.0
_LOG_COLUMNS = (("turn", 44.0), ("coast to", 74.0), ("gravity", 74.0), ("engines", 74.0), ("endpoint", 74.0))
_PROBE_LINES = ("explore", "survey")
_BASIC_LINES = ("explore", "survey", "microgravity", "fuel")


def blank_map(mission: Mission) -> Drawing:
    """Return the map of a mission to draw a flight on with a pencil."""
    layout = Layout(mission)
    drawing = Drawing(layout.width, layout.bottom + 84, PAPER)
    add_heading(drawing, mission)
    add_map(drawing, layout)
    hints = (
        "circle: planet, shaded with strong gravity    H: home    diamond: station    strokes: where gravity shifts you"
    )
    drawing.add(Text((24, layout.bottom + 54), hints, 12, GREY))
    return drawing


def score_lines(mission: Mission) -> tuple[str, ...]:
    """Return the lines of the score sheet that a mission can score."""
    if mission.is_probe:
        return _PROBE_LINES
    lands = any(mission.can_land_on(planet) for planet in mission.planets)
    if mission.advanced:
        return LINE_NAMES
    return (*_BASIC_LINES, "launch") if lands else _BASIC_LINES


def score_sheet(mission: Mission) -> Drawing:
    """Return an empty flight log and score sheet, a row for each turn."""
    lines = score_lines(mission)
    width, points = 1060.0, 74.0
    drawing = Drawing(width, 130 + _LOG_ROW * (mission.turns + 2), PAPER)
    add_heading(drawing, mission)
    drawing.add(Text((24, 76), "name ______________________________     score ____________", 14, INK))
    columns = [*_LOG_COLUMNS, *((line, points + 14) for line in lines), ("sum", points)]
    scale = (width - 48) / sum(size for _, size in columns)
    _add_table(drawing, [(name, size * scale) for name, size in columns], mission.turns)
    return drawing


def _add_table(drawing: Drawing, columns: list[tuple[str, float]], turns: int) -> None:
    left, top = 24.0, 96.0
    right = drawing.width - 24
    bottom = top + _LOG_ROW * (turns + 2)
    for row in range(turns + 3):
        y = top + row * _LOG_ROW
        drawing.add(Polyline(((left, y), (right, y)), GREY if row in (0, 1, turns + 1, turns + 2) else FAINT))
    x = left
    for name, size in columns:
        drawing.add(Polyline(((x, top), (x, bottom)), GREY))
        drawing.add(Text((x + size / 2, top + _LOG_ROW / 2), name, 12, INK, "center"))
        x += size
    drawing.add(Polyline(((x, top), (x, bottom)), GREY))
    for turn in range(1, turns + 1):
        drawing.add(Text((left + columns[0][1] / 2, top + (turn + 0.5) * _LOG_ROW), str(turn), 12, GREY, "center"))
    drawing.add(Text((left + columns[0][1] / 2, top + (turns + 1.5) * _LOG_ROW), "total", 12, INK, "center"))
