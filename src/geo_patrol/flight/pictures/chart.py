"""The map as it is printed: grid, planets, gravity wells with their strokes, stations, goals; and the sheets to print."""

from collections.abc import Iterable

from geo_patrol.flight.engine.turn import shift_toward
from geo_patrol.flight.grid import ROW_LETTERS, read_point
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.status import LINE_NAMES
from geo_patrol.flight.text import goals_text
from geo_patrol.scenes.shapes import Circle, Color, Drawing, Polygon, Polyline, Text

PAPER: Color = "#ffffff"
INK: Color = "#222222"
GREY: Color = "#767676"
FAINT: Color = "#d5d5d5"
SHADE: Color = "#a8a8a8"
PURPLE: Color = "#cc79a7"
"""Of goals; one of Okabe and Ito's colors, as those of ``scene``."""
MARGIN = 24.0
"""Left and right of headings and tables."""
_MAP_LEFT, _MAP_TOP = 58.0, 104.0
_MAP_WIDTH = 1000
_MIN_WIDTH = 960.0
"""Enough for the score sheet of forty turns."""
_MIN_CELL, _MAX_CELL = 25, 40
_STROKE = 0.34
"""Length of a gravity stroke, in cells."""
_LOG_ROW = 22.0
_LOG_COLUMNS = (("turn", 44.0), ("coast to", 74.0), ("gravity", 74.0), ("engines", 74.0), ("endpoint", 74.0))


class Layout:
    """Sizes of the picture of a mission's map.

    Attributes:
        mission: the mission.
        cell: pixels from one grid point to the next.
        width: of the whole picture.
        left: x of the first column; a narrow map is centered.
        bottom: y of the last row.
    """

    def __init__(self, mission: Mission) -> None:
        self.mission = mission
        self.cell = float(min(max(_MAP_WIDTH // mission.columns, _MIN_CELL), _MAX_CELL))
        self.width = max(2 * _MAP_LEFT + self.cell * (mission.columns - 1), _MIN_WIDTH)
        self.left = (self.width - self.cell * (mission.columns - 1)) / 2
        self.bottom = _MAP_TOP + self.cell * (mission.rows - 1)

    def at(self, point: tuple[float, float]) -> tuple[float, float]:
        """Return the pixels of a point of the map; points off it are drawn just outside."""
        column = min(max(point[0], 0.4), self.mission.columns + 0.6)
        row = min(max(point[1], 0.4), self.mission.rows + 0.6)
        return self.left + (column - 1) * self.cell, _MAP_TOP + (row - 1) * self.cell


def add_heading(drawing: Drawing, mission: Mission, note: str = "") -> None:
    """Draw title, game and goals above the map."""
    note = note or f"{mission.game_title}, {mission.turns} turns"
    drawing.add(Text((MARGIN, 24), mission.title, 20, INK))
    drawing.add(Text((drawing.width - MARGIN, 24), note, 14, GREY, "midright"))
    drawing.add(Text((MARGIN, 48), goals_text(mission) or mission.description, 13, GREY))


def add_map(drawing: Drawing, layout: Layout) -> None:
    """Draw the map of a mission."""
    mission = layout.mission
    _add_grid(drawing, layout)
    for reference in mission.planets:
        _add_well(drawing, layout, reference)
    for reference in mission.planets:
        _add_planet(drawing, layout, reference)
    for reference in mission.stations:
        center, radius = layout.at(read_point(reference)), layout.cell * 0.26
        drawing.add(_diamond(center, radius, PAPER, INK))
        if mission.end == ("station", reference):
            drawing.add(_diamond(center, radius + 5, None, PURPLE))


def _add_grid(drawing: Drawing, layout: Layout) -> None:
    mission = layout.mission
    for column in range(1, mission.columns + 1):
        (x, top), (_, bottom) = layout.at((column, 1)), layout.at((column, mission.rows))
        drawing.add(Polyline(((x, top), (x, bottom)), FAINT))
        for y in (top - 27, bottom + 27):
            drawing.add(Text((x, y), str(column), 11, GREY, "center"))
    for row in range(1, mission.rows + 1):
        (left, y), (right, _) = layout.at((1, row)), layout.at((mission.columns, row))
        drawing.add(Polyline(((left, y), (right, y)), FAINT))
        for x in (left - 27, right + 27):
            drawing.add(Text((x, y), ROW_LETTERS[row - 1], 12, GREY, "center"))


def _add_well(drawing: Drawing, layout: Layout, reference: str) -> None:
    """Draw a stroke at each point of a well, in the direction in which gravity shifts a ship."""
    planet = read_point(reference)
    for column, row in layout.mission.well(reference):
        if (column, row) != planet:
            right, down = shift_toward(planet[0] - column, planet[1] - row)
            start, end = layout.at((column, row)), layout.at((column + right * _STROKE, row + down * _STROKE))
            drawing.add(Circle(start, 1.8, GREY), Polyline((start, end), GREY, 1.4))


def _add_planet(drawing: Drawing, layout: Layout, reference: str) -> None:
    """Draw a planet: open with weak gravity, shaded with strong; and the mission's goals there."""
    mission = layout.mission
    center, radius = layout.at(read_point(reference)), layout.cell * 0.3
    goals = ["survey"] if reference in mission.survey else []
    if mission.end == ("well", reference):
        goals.append("end")
    if goals:
        _add_well_border(drawing, layout, reference, ", ".join(goals))
    if reference in mission.land_on or mission.end == ("planet", reference):
        drawing.add(Circle(center, radius + 4, None, PURPLE, 2))
    fill = SHADE if mission.planets[reference] == "strong" else PAPER
    drawing.add(Circle(center, radius, fill, INK, 2))
    if reference == mission.home:
        drawing.add(Text(center, "H", layout.cell * 0.36, INK, "center"))


def _add_well_border(drawing: Drawing, layout: Layout, reference: str, label: str) -> None:
    mission, (column, row) = layout.mission, read_point(reference)
    reach = mission.reach(reference) + 0.45
    left, top = layout.at((max(column - reach, 0.55), max(row - reach, 0.55)))
    right, bottom = layout.at((min(column + reach, mission.columns + 0.45), min(row + reach, mission.rows + 0.45)))
    border = (left, top), (right, top), (right, bottom), (left, bottom), (left, top)
    drawing.add(Polyline(border, PURPLE, 1.6, dashed=True))
    drawing.add(Text((left + 6, top + 9), label, 11, PURPLE))


def _diamond(center: tuple[float, float], radius: float, fill: Color | None, stroke: Color) -> Polygon:
    x, y = center
    return Polygon(((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)), fill, stroke, 2)


def blank_map(mission: Mission) -> Drawing:
    """Return the map of a mission to draw a flight on with a pencil."""
    layout = Layout(mission)
    drawing = Drawing(layout.width, layout.bottom + 84, PAPER)
    add_heading(drawing, mission)
    add_map(drawing, layout)
    drawing.add(*(Circle(layout.at(point), layout.cell * 0.1, PAPER, INK) for point in mission.launch_points))
    hints = (
        "planet: circle, shaded with strong gravity    H: home    small circles: where turn 1 ends    diamond: station    "
        "strokes: where gravity shifts you"
    )
    drawing.add(Text((MARGIN, layout.bottom + 54), hints, 12, GREY))
    return drawing


def score_lines(mission: Mission) -> tuple[str, ...]:
    """Return the lines of the score sheet that a mission can score."""
    if mission.is_probe:
        return "explore", "survey"
    if mission.advanced:
        return LINE_NAMES
    lines = ("explore", "survey", "microgravity", "fuel")
    return (*lines, "launch") if any(map(mission.can_land_on, mission.planets)) else lines


def score_sheet(mission: Mission) -> Drawing:
    """Return an empty flight log and score sheet, a row for each turn."""
    drawing = Drawing(1060.0, 130 + _LOG_ROW * (mission.turns + 2), PAPER)
    add_heading(drawing, mission)
    drawing.add(Text((MARGIN, 76), "name ______________________________     score ____________", 14, INK))
    columns = [*_LOG_COLUMNS, *((line, 88.0) for line in score_lines(mission)), ("sum", 74.0)]
    scale = (drawing.width - 2 * MARGIN) / sum(size for _, size in columns)
    _add_table(drawing, [(name, size * scale) for name, size in columns], mission.turns)
    return drawing


def _add_table(drawing: Drawing, columns: list[tuple[str, float]], turns: int) -> None:
    top, right = 96.0, drawing.width - MARGIN
    rows = [top + row * _LOG_ROW for row in range(turns + 3)]
    add_rules(drawing, rows, MARGIN, right, strong=(0, 1, turns + 1, turns + 2))
    x = MARGIN
    for name, size in columns:
        drawing.add(Polyline(((x, top), (x, rows[-1])), GREY))
        drawing.add(Text((x + size / 2, top + _LOG_ROW / 2), name, 12, INK, "center"))
        x += size
    drawing.add(Polyline(((x, top), (x, rows[-1])), GREY))
    middle = MARGIN + columns[0][1] / 2
    for turn in range(1, turns + 1):
        drawing.add(Text((middle, top + (turn + 0.5) * _LOG_ROW), str(turn), 12, GREY, "center"))
    drawing.add(Text((middle, top + (turns + 1.5) * _LOG_ROW), "total", 12, INK, "center"))


def add_rules(drawing: Drawing, rows: Iterable[float], left: float, right: float, strong: Iterable[int]) -> None:
    """Draw the horizontal lines of a table; ``strong``: the indices of the darker ones."""
    for row, y in enumerate(rows):
        drawing.add(Polyline(((left, y), (right, y)), GREY if row in strong else FAINT))
