"""The map as it is printed: grid, planets, gravity wells with their strokes, stations, goals; and the sheets to print."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from geo_patrol.drawing.shapes import (
    Box,
    Circle,
    Color,
    Drawing,
    Polygon,
    Polyline,
    Rect,
    Shape,
    Text,
    TextAnchor,
    arrowhead,
    placed,
)
from geo_patrol.drawing.shapes import Point as Pixel
from geo_patrol.drawing.svg import svg_text
from geo_patrol.flight.flight import LINE_NAMES, Flight, Turn, goals_text, result_text, shift_text
from geo_patrol.flight.mission import ROW_LETTERS, Mission, Point, point_name, read_point
from geo_patrol.flight.rules import COAST, shift_toward

PAPER: Color = "#ffffff"
INK: Color = "#222222"
GREY: Color = "#767676"
FAINT: Color = "#d5d5d5"
WELL: Color = "#eef3fa"
PLANETS: dict[str, Color] = {"weak": "#a9cdec", "strong": "#e0ad72"}
"""Fills of planets by their gravity; those with strong gravity are darker in gray, too."""
RED: Color = "#c8102e"
PURPLE: Color = "#a3437a"
"""Color of goals: Okabe and Ito's reddish purple, darker, so that words in it can be read."""
# Of the lines of a flight: Okabe and Ito's colors, which people with any kind of color vision tell apart; lines differ in
# form as well.
BLUE: Color = "#0072b2"
SKY: Color = "#56b4e9"
ORANGE: Color = "#e69f00"
VERMILION: Color = "#d55e00"
GREEN: Color = "#009e73"
DARK: dict[Color, Color] = {
    PAPER: "#10151d",
    INK: "#edf0f5",
    GREY: "#a3adbd",
    FAINT: "#333c4d",
    WELL: "#182233",
    PLANETS["weak"]: "#2a5f8c",
    PLANETS["strong"]: "#a5682b",
    RED: "#ff6f66",
    PURPLE: "#e79bc8",
    BLUE: "#4fb0f0",
    SKY: "#a5dafb",
    ORANGE: "#f5b82e",
    VERMILION: "#ff8a4c",
    GREEN: "#3fd0a0",
}
"""What colors become on a dark page."""
TEXT = 16.0
"""Size of type: 11 points where a map of the usual size fills a page of A4, 12 pixels where it is scaled by 3 / 4."""
MARGIN = 24.0
"""Left and right of headings and tables."""
_MAP_LEFT, _MAP_TOP = 58.0, 104.0
_MAP_WIDTH = 1000
_MIN_WIDTH = 960.0
"""Enough for the score sheet of forty turns."""
_MIN_CELL, _MAX_CELL = 25, 40
_OUTSIDE = 0.35
"""Distance from the map of points off it, in cells."""
_STROKE = 0.34
"""Length of a gravity stroke, in cells."""
_BOLD_COLUMNS, _BOLD_ROWS = 5, 2
"""Every fifth column has a bold number and every second row a bold letter, as on rulers; small maps show these alone."""
_LOG_ROW = 22.0
_LOG_COLUMNS = (("turn", 44.0), ("coast to", 74.0), ("gravity", 74.0), ("engines", 74.0), ("endpoint", 74.0))


class MapLayout:
    """Sizes of the picture of a mission's map.

    Attributes:
        mission: the mission.
        cell: pixels from one grid point to the next.
        width: width of the whole picture.
        left: x of the first column; a narrow map is centered.
        bottom: y of the last row.
    """

    def __init__(self, mission: Mission) -> None:
        self.mission = mission
        self.cell = float(min(max(_MAP_WIDTH // mission.columns, _MIN_CELL), _MAX_CELL))
        self.width = max(2 * _MAP_LEFT + self.cell * (mission.columns - 1), _MIN_WIDTH)
        self.left = (self.width - self.cell * (mission.columns - 1)) / 2
        self.bottom = _MAP_TOP + self.cell * (mission.rows - 1)

    def at(self, point: tuple[float, float], start: tuple[float, float] | None = None) -> tuple[float, float]:
        """Return the pixels of a point of the map; points off it are drawn just outside, nearer than its numbers.

        With ``start``, that is where the straight line from there leaves the map.
        """
        if start is not None:
            point = self._leaving(start, point)
        column = min(max(point[0], 1 - _OUTSIDE), self.mission.columns + _OUTSIDE)
        row = min(max(point[1], 1 - _OUTSIDE), self.mission.rows + _OUTSIDE)
        return self.left + (column - 1) * self.cell, _MAP_TOP + (row - 1) * self.cell

    def _leaving(self, start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
        fraction = 1.0
        for a, b, size in zip(start, end, (self.mission.columns, self.mission.rows), strict=True):
            edge = min(max(b, 1 - _OUTSIDE), size + _OUTSIDE)
            if edge != b != a:
                fraction = min(fraction, max((edge - a) / (b - a), 0.0))
        return start[0] + fraction * (end[0] - start[0]), start[1] + fraction * (end[1] - start[1])


def add_heading(drawing: Drawing, mission: Mission, note: str = "") -> None:
    """Draw title, game and goals above the map."""
    note = note or f"{mission.game_title}, {mission.turns} turns"
    task = goals_text(mission) or mission.description
    drawing.add(Text((MARGIN, 24), mission.title, 20, INK))
    drawing.add(Text((drawing.width - MARGIN, 24), note, TEXT, GREY, "midright"))
    fitting = (drawing.width - 2 * MARGIN) / (0.53 * max(len(task), 1))
    drawing.add(Text((MARGIN, 50), task, min(TEXT, fitting), GREY))


def add_map(drawing: Drawing, layout: MapLayout) -> None:
    """Draw the map of a mission."""
    mission = layout.mission
    for points in map(mission.well, mission.planets):
        columns, rows = zip(*points, strict=True)
        (left, top), (right, bottom) = (
            layout.at((find(columns) + shift, find(rows) + shift)) for find, shift in ((min, -0.5), (max, 0.5))
        )
        drawing.add(Box(left, top, right - left, bottom - top, WELL))
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


def _add_grid(drawing: Drawing, layout: MapLayout) -> None:
    mission = layout.mission
    for column in range(1, mission.columns + 1):
        (x, top), (_, bottom) = layout.at((column, 1)), layout.at((column, mission.rows))
        drawing.add(Polyline(((x, top), (x, bottom)), FAINT))
        for y in (top - 27, bottom + 27):
            drawing.add(Text((x, y), str(column), TEXT, GREY, "center", bold=column % _BOLD_COLUMNS == 0))
    for row in range(1, mission.rows + 1):
        (left, y), (right, _) = layout.at((1, row)), layout.at((mission.columns, row))
        drawing.add(Polyline(((left, y), (right, y)), FAINT))
        for x in (left - 27, right + 27):
            drawing.add(Text((x, y), ROW_LETTERS[row - 1], TEXT, GREY, "center", bold=row % _BOLD_ROWS == 1))


def _add_well(drawing: Drawing, layout: MapLayout, reference: str) -> None:
    """Draw a stroke at each point of a well, in the direction in which gravity shifts a ship."""
    planet = read_point(reference)
    for column, row in layout.mission.well(reference):
        if (column, row) != planet:
            right, down = shift_toward(planet[0] - column, planet[1] - row)
            drawing.add(*_stroke(layout.at((column, row)), layout.at((column + right * _STROKE, row + down * _STROKE))))


def _stroke(start: Pixel, end: Pixel) -> list[Shape]:
    return [Circle(start, 1.8, GREY), Polyline((start, end), GREY, 1.4)]


def _add_planet(drawing: Drawing, layout: MapLayout, reference: str) -> None:
    """Draw a planet, in a color for its gravity, and the mission's goals there."""
    mission = layout.mission
    center, radius = layout.at(read_point(reference)), layout.cell * 0.3
    goals = ["survey"] if reference in mission.survey else []
    if mission.end == ("well", reference):
        goals.append("end")
    if goals:
        _add_well_border(drawing, layout, reference, ", ".join(goals))
    if reference in mission.land_on or mission.end == ("planet", reference):
        drawing.add(Circle(center, radius + 4, None, PURPLE, 2))
    drawing.add(Circle(center, radius, PLANETS[mission.planets[reference]], INK, 2))
    if reference == mission.home:
        drawing.add(Text(center, "H", TEXT, INK, "center", bold=True))


def _add_well_border(drawing: Drawing, layout: MapLayout, reference: str, label: str) -> None:
    mission, (column, row) = layout.mission, read_point(reference)
    reach = mission.reach(reference) + 0.45
    left, top = layout.at((max(column - reach, 0.55), max(row - reach, 0.55)))
    right, bottom = layout.at((min(column + reach, mission.columns + 0.45), min(row + reach, mission.rows + 0.45)))
    border = (left, top), (right, top), (right, bottom), (left, bottom), (left, top)
    drawing.add(Polyline(border, PURPLE, 1.6, dashed=True))
    width = 0.53 * TEXT * len(label) + 8
    y = bottom if row - mission.reach(reference) <= 1 else top  # away from the numbers at the edge of the map
    drawing.add(Box(left + 8, y - 9, width, 18, PAPER), Text((left + 8 + width / 2, y), label, TEXT, PURPLE, "center"))


def _diamond(center: tuple[float, float], radius: float, fill: Color | None, stroke: Color) -> Polygon:
    x, y = center
    return Polygon(((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)), fill, stroke, 2)


def blank_map(mission: Mission) -> Drawing:
    """Return the map of a mission to draw a flight on with a pencil."""
    layout = MapLayout(mission)
    drawing = Drawing(layout.width, layout.bottom + 100, PAPER)
    add_heading(drawing, mission)
    add_map(drawing, layout)
    drawing.add(*(Circle(layout.at(point), layout.cell * 0.1, PAPER, INK) for point in mission.launch_points))
    start: Shape = Circle((17, 0), layout.cell * 0.1, PAPER, INK)
    add_legend(drawing, layout, {"where turn 1 can end": [start]} | mark_legend(mission))
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
    drawing.add(Text((MARGIN, 76), "name ______________________________     score ____________", TEXT, INK))
    columns = [*_LOG_COLUMNS, *((line, max(88.0, 9.6 * len(line))) for line in score_lines(mission)), ("sum", 74.0)]
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
        fitting = min(TEXT, size / (0.58 * len(name)))
        drawing.add(Text((x + size / 2, top + _LOG_ROW / 2), name, fitting, INK, "center"))
        x += size
    drawing.add(Polyline(((x, top), (x, rows[-1])), GREY))
    middle = MARGIN + columns[0][1] / 2
    for turn in range(1, turns + 1):
        drawing.add(Text((middle, top + (turn + 0.5) * _LOG_ROW), str(turn), TEXT, GREY, "center"))
    drawing.add(Text((middle, top + (turns + 1.5) * _LOG_ROW), "total", TEXT, INK, "center"))


def add_rules(drawing: Drawing, rows: Iterable[float], left: float, right: float, strong: Iterable[int]) -> None:
    """Draw the horizontal lines of a table; ``strong``: the indices of the darker ones."""
    for row, y in enumerate(rows):
        drawing.add(Polyline(((left, y), (right, y)), GREY if row in strong else FAINT))


COASTED, PULLED, FLOWN = 1, 2, 3
"""How much of the last turn is shown: the coast, gravity too, all of it."""
_ROW = 20.0
_LABELS = 122.0
_SHEET_ROWS = 3 + len(LINE_NAMES) + 1
_LINES = {
    "launch": (GREEN, 2.6),
    "path": (BLUE, 2.6),
    "coast": (SKY, 1.6),
    "gravity": (ORANGE, 2.4),
    "engines": (VERMILION, 3.4),
}
"""Color and width of each kind of line, in the order of the legend."""


def flight_svg(flight: Flight) -> str:
    """Return the picture of a flight as an SVG document."""
    return svg_text(flight_drawing(flight), title=f"{flight.mission.game_title}: {flight.mission.title}")


def flight_drawing(flight: Flight, *, steps: int = FLOWN) -> Drawing:
    """Return the picture of a flight.

    Args:
        flight: what is drawn.
        steps: how much of its last turn is shown: COASTED, PULLED or FLOWN.
    """
    layout = MapLayout(flight.mission)
    sheet_top = layout.bottom + 100
    sheet_bottom = sheet_top + _SHEET_ROWS * _ROW
    drawing = Drawing(layout.width, sheet_bottom + 38, PAPER)
    note = f"turn {flight.turn} of {flight.mission.turns}   score {flight.score}"
    if flight.fuel_left is not None:
        note += f"   fuel left {flight.fuel_left}"
    add_heading(drawing, flight.mission, note)
    add_map(drawing, layout)
    add_legend(drawing, layout, line_legend(flight.mission) | mark_legend(flight.mission))
    add_path(drawing, layout, flight, steps)
    _add_sheet(drawing, flight, sheet_top)
    if flight.is_over and steps == FLOWN:
        color = GREEN if flight.is_success and not flight.is_lost else VERMILION
        drawing.add(Text((MARGIN, sheet_bottom + 22), result_text(flight), TEXT, color))
    return drawing


def flown_line(kind: str, start: Pixel, end: Pixel) -> list[Shape]:
    """Draw a line of a flight: "launch", "path", "coast", "gravity" or "engines"."""
    color, width = _LINES[kind]
    line = Polyline((start, end), color, width, dashed=kind == "coast")
    return [line, arrowhead(start, end, color, 2 * width + 4)] if kind in ("gravity", "engines") else [line]


def line_legend(mission: Mission) -> dict[str, list[Shape]]:
    """Return the kinds of lines by their names; each 34 pixels wide, from the left, and around y = 0."""
    kinds = [kind for kind in _LINES if kind != "engines" or not mission.is_probe]
    return {kind: flown_line(kind, (0, 0), (34, 0)) for kind in kinds}


def mark_legend(mission: Mission) -> dict[str, list[Shape]]:
    """Return the marks on the map of a mission by their meanings, as ``line_legend`` does."""
    marks: dict[str, list[Shape]] = {
        "home": [Circle((17, 0), 11, PAPER, INK, 2), Text((17, 0), "H", TEXT, INK, "center", bold=True)],
        "weak gravity": [Circle((17, 0), 11, PLANETS["weak"], INK, 2)],
    }
    if "strong" in mission.planets.values():
        marks["strong gravity"] = [Circle((17, 0), 11, PLANETS["strong"], INK, 2)]
    marks["where gravity pulls"] = _stroke((10, 0), (24, 0))
    if mission.stations:
        marks["station"] = [_diamond((17, 0), 10, PAPER, INK)]
    return marks


def add_legend(drawing: Drawing, layout: MapLayout, legend: dict[str, list[Shape]]) -> None:
    """Draw lines and marks with their names beneath the map, in rows."""
    x, y = MARGIN, layout.bottom + 56
    for name, shapes in legend.items():
        width = 42 + 0.53 * TEXT * len(name)
        if x + width > drawing.width - MARGIN:
            x, y = MARGIN, y + 26
        drawing.add(*placed(shapes, (x, y)), Text((x + 42, y), name, TEXT, INK))
        x += width + 22


def add_path(drawing: Drawing, layout: MapLayout, flight: Flight, steps: int = FLOWN) -> None:
    """Draw the turns of a flight and where the ship is; ``steps`` is that of ``flight_drawing``."""
    turns = flight.turns
    for turn in turns[:-1]:
        _add_turn(drawing, layout, turn)
    if turns:
        _add_turn(drawing, layout, turns[-1], steps, is_last=True)
    _add_numbers(drawing, layout, turns if steps >= FLOWN else turns[:-1])
    position = flight.position
    if turns and steps < FLOWN:
        position = turns[-1].coasted if steps == COASTED else _moved(turns[-1].coasted, turns[-1].gravity)
    here = layout.at(position, turns[-1].start if turns else None)
    drawing.add(Circle(here, layout.cell * 0.2, None, BLUE, 2.4))


def _add_turn(drawing: Drawing, layout: MapLayout, turn: Turn, steps: int = FLOWN, *, is_last: bool = False) -> None:
    """Draw the steps of a turn, and once it is flown its path and endpoint."""
    if turn.start == turn.end and turn.coasted == turn.start and turn.engines == turn.gravity == (0, 0):
        return  # the ship has stayed where it is

    def add(kind: str, start: Point, end: Point) -> None:
        drawing.add(*flown_line(kind, layout.at(start, turn.start), layout.at(end, turn.start)))

    pulled = _moved(turn.coasted, turn.gravity)
    if not turn.is_launch and turn.coasted != turn.start and (is_last or turn.coasted != turn.end):
        add("coast", turn.start, turn.coasted)
    if steps >= PULLED and turn.gravity != (0, 0):
        add("gravity", turn.coasted, pulled)
    if steps < FLOWN:
        return
    if not turn.is_launch and turn.engines != (0, 0):
        add("engines", pulled, turn.end)
    add("launch" if turn.is_launch else "path", turn.start, turn.end)


def _moved(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _add_numbers(drawing: Drawing, layout: MapLayout, turns: Sequence[Turn]) -> None:
    """Draw all endpoints, and beside each the turns that ended there, on the side where there is room."""
    numbers: dict[Point, list[int]] = {}
    for turn in turns:
        numbers.setdefault(turn.end, []).append(turn.number)
    on_something = {turn.end for turn in turns if turn.mode != "flying"}
    labels: list[Rect] = []
    starts = {turn.end: turn.start for turn in turns}
    for point, here in numbers.items():
        x, y = layout.at(point, starts[point])
        shift = layout.cell * (0.46 if point in on_something else 0.3)
        text = _spans(here)
        extent = round(0.58 * TEXT * len(text)), round(TEXT)
        sides: tuple[tuple[TextAnchor, float], ...] = ("midleft", 0.5), ("midright", -0.5)
        downs = (1, -1) if point[1] < 1 else (-1, 1)  # above the map are its numbers
        places = [(anchor, (x + right * shift, y + down * shift)) for down in downs for anchor, right in sides]
        rects = [Rect.anchored(extent, anchor, place) for anchor, place in places]
        free = [i for i, rect in enumerate(rects) if not any(map(rect.overlaps, labels))]
        chosen = free[0] if free else 0
        labels.append(rects[chosen])
        anchor, place = places[chosen]
        drawing.add(Circle((x, y), 4, BLUE), Text(place, text, TEXT, INK, anchor))


def _spans(numbers: list[int]) -> str:
    """Return numbers as text, consecutive ones as a span: "3-5, 9"."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _add_sheet(drawing: Drawing, flight: Flight, top: float) -> None:
    """Draw the score sheet: a column for each turn, then the totals."""
    turns = flight.mission.turns
    right = drawing.width - MARGIN
    first = MARGIN + _LABELS
    column = (right - first - 56) / turns
    rows = [top + row * _ROW for row in range(_SHEET_ROWS + 1)]
    add_rules(drawing, rows, MARGIN, right, strong=(0, 3, _SHEET_ROWS - 1, _SHEET_ROWS))
    for number in range(turns + 1):
        x = first + number * column
        drawing.add(Polyline(((x, top), (x, rows[-1])), FAINT))
    for row, label in enumerate(("turn", "endpoint", "engines", *LINE_NAMES, "total")):
        drawing.add(Text((MARGIN + 4, _row_at(top, row)), label, TEXT, INK))
    size = min(TEXT, column * 0.42)
    for number in range(1, turns + 1):
        drawing.add(Text((first + (number - 0.5) * column, _row_at(top, 0)), str(number), size, GREY, "center"))
    for turn in flight.turns:
        for row, text in enumerate(_sheet_cells(turn), start=1):
            if text:
                x = first + (turn.number - 0.5) * column
                drawing.add(Text((x, _row_at(top, row)), text, size, INK, "center"))
    drawing.add(Text((right - 6, _row_at(top, 0)), "total", TEXT, GREY, "midright"))
    for row, points in enumerate((*flight.score_sheet.values(), flight.score), start=3):
        drawing.add(Text((right - 6, _row_at(top, row)), str(points), TEXT, INK, "midright"))


def _row_at(top: float, row: int) -> float:
    return top + (row + 0.5) * _ROW


def _sheet_cells(turn: Turn) -> list[str]:
    """Return endpoint, engines ("*" for a launch, else the initials of the direction) and points of a turn."""
    engines = "*" if turn.is_launch else ""
    if not turn.is_launch and turn.engines != (0, 0):
        engines = "".join(word[0].upper() for word in shift_text(turn.engines).split("-"))
    end = point_name(turn.end)
    points = [f"{points:+d}" if points else "" for points in (*turn.points.values(), turn.score)]
    return [end if "(" not in end else "off", engines, *points]


def add_outlook(drawing: Drawing, layout: MapLayout, flight: Flight) -> None:
    """Draw where the ship will coast in its next turn, and what gravity will do there."""
    coasted = _moved(flight.position, flight.move)
    pulled = flight.end_of(COAST)
    drawing.add(*flown_line("coast", layout.at(flight.position), layout.at(coasted, flight.position)))
    if pulled != coasted:
        drawing.add(*flown_line("gravity", layout.at(coasted, flight.position), layout.at(pulled, flight.position)))


def order_label(flight: Flight, code: int) -> str:
    """Return an order with what the player should know of it: that it leads off the map, and its cost."""
    cost = flight.cost_of(code)
    off = "" if flight.mission.is_on_map(flight.end_of(code)) else ", off the map"
    return flight.order_text(code) + off + (f" ({-cost})" if cost else "")


def add_mark(drawing: Drawing, layout: MapLayout, point: Point, *, is_target: bool = False) -> None:
    """Draw a ring around a point that a text speaks of, or a thicker one around the point to fly to."""
    drawing.add(ring_mark(layout.at(point), layout.cell * 0.46, is_target=is_target))


def ring_mark(center: Pixel, radius: float, *, is_target: bool = False) -> Circle:
    """Return the ring around a point that a text speaks of, or the thicker one around the point to fly to."""
    return Circle(center, radius, None, *((RED, 4) if is_target else (INK, 2)))


def add_choice(drawing: Drawing, layout: MapLayout, flight: Flight, code: int, *, is_chosen: bool = False) -> None:
    """Draw the endpoint of an order, where it leads off the map on the straight line there; as the chosen one with the turn and a label."""
    x, y = layout.at(flight.end_of(code), flight.position)
    if is_chosen:
        flown = Flight.from_orders(flight.mission, [*flight.order_codes, code])
        _add_turn(drawing, layout, flown.turns[flight.turn], is_last=True)
        if flown.mode == "flying" and not flown.is_over:
            add_outlook(drawing, layout, flown)
    drawing.add(choice_mark((x, y), is_chosen=is_chosen))
    if is_chosen:
        label = order_label(flight, code)
        width = 0.56 * TEXT * len(label) + 14
        left = min(max(x - width / 2, 4), drawing.width - width - 4)
        drawing.add(Box(left, y - 38, width, 24, PAPER, GREEN, 1.4))
        drawing.add(Text((left + width / 2, y - 26), label, TEXT, INK, "center"))


def choice_mark(center: Pixel, *, is_chosen: bool = False) -> Circle:
    """Return the mark of an endpoint that can be chosen."""
    return Circle(center, 6, GREEN if is_chosen else PAPER, GREEN, 2)


_SMALL_CELL = 10.0


def small_map(mission: Mission) -> Drawing:
    """Return the map of a mission as a small picture: planets, wells, stations and goals."""
    drawing = Drawing(_SMALL_CELL * (mission.columns + 1), _SMALL_CELL * (mission.rows + 1), PAPER)
    drawing.add(Box(0, 0, drawing.width, drawing.height, PAPER, FAINT, 1, 4))

    def at(reference: str) -> Pixel:
        column, row = read_point(reference)
        return column * _SMALL_CELL, row * _SMALL_CELL

    borders: list[Shape] = []
    for reference in mission.planets:
        (x, y), reach = at(reference), (mission.reach(reference) + 0.5) * _SMALL_CELL
        left, right = max(x - reach, 0), min(x + reach, drawing.width)
        top, bottom = max(y - reach, 0), min(y + reach, drawing.height)
        corners = (left, top), (right, top), (right, bottom), (left, bottom)
        drawing.add(Polygon(corners, FAINT, opacity=0.6))
        if reference in mission.survey or mission.end == ("well", reference):
            borders.append(Polyline((*corners, corners[0]), PURPLE, 1.6, dashed=True))
    drawing.add(*borders)
    for reference, gravity in mission.planets.items():
        if reference in mission.land_on or mission.end == ("planet", reference):
            drawing.add(Circle(at(reference), 9, None, PURPLE, 2))
        drawing.add(Circle(at(reference), 5.5, PLANETS[gravity], INK, 1.8))
    for reference in mission.stations:
        drawing.add(_diamond(at(reference), 5, PAPER, INK))
        if mission.end == ("station", reference):
            drawing.add(_diamond(at(reference), 9, None, PURPLE))
    drawing.add(Circle(at(mission.home), 2, INK))
    return drawing
