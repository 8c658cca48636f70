"""The map as it is printed: grid, planets, gravity wells with their strokes, stations, and the mission's goals."""

from geo_patrol.flight.engine.physics import sign
from geo_patrol.flight.grid import ROW_LETTERS, Point, read_point
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.pictures.colors import FAINT, GREY, INK, PAPER, PURPLE, SHADE
from geo_patrol.flight.pictures.layout import TOP, Layout
from geo_patrol.flight.text import goals_text
from geo_patrol.scenes.shapes import Circle, Color, Drawing, Polygon, Polyline, Text

_STROKE = 0.34
"""Length of a gravity stroke, in cells."""


def add_map(drawing: Drawing, layout: Layout) -> None:
    """Draw the map of a mission."""
    mission = layout.mission
    _add_grid(drawing, layout)
    for reference in mission.planets:
        _add_well(drawing, layout, reference)
    for reference in mission.planets:
        _add_planet(drawing, layout, reference)
    for reference in mission.stations:
        _add_station(drawing, layout, reference)


def add_heading(drawing: Drawing, mission: Mission, note: str = "") -> None:
    """Draw title, game and goals above the map."""
    game = "Planetary Probe" if mission.is_probe else "Spaceship Commander"
    drawing.add(Text((24, 24), mission.title, 20, INK))
    drawing.add(Text((drawing.width - 24, 24), note or f"{game}, {mission.turns} turns", 14, GREY, "midright"))
    goals = goals_text(mission) or mission.description
    drawing.add(Text((24, 48), goals, 13, GREY))


def _add_grid(drawing: Drawing, layout: Layout) -> None:
    mission = layout.mission
    for column in range(1, mission.columns + 1):
        drawing.add(Polyline((layout.at((column, 1)), layout.at((column, mission.rows))), FAINT))
        x = layout.at((column, 1))[0]
        for y in (TOP - 27, layout.bottom + 27):
            drawing.add(Text((x, y), str(column), 11, GREY, "center"))
    for row in range(1, mission.rows + 1):
        drawing.add(Polyline((layout.at((1, row)), layout.at((mission.columns, row))), FAINT))
        (left, y), right = layout.at((1, row)), layout.at((mission.columns, row))[0]
        for x in (left - 27, right + 27):
            drawing.add(Text((x, y), ROW_LETTERS[row - 1], 12, GREY, "center"))


def _add_well(drawing: Drawing, layout: Layout, reference: str) -> None:
    """Draw a stroke at each point of a well, in the direction in which gravity shifts a ship."""
    mission, planet = layout.mission, read_point(reference)
    reach = mission.reach(reference)
    for column in range(planet[0] - reach, planet[0] + reach + 1):
        for row in range(planet[1] - reach, planet[1] + reach + 1):
            point = column, row
            if mission.is_on_map(point) and point != planet:
                _add_stroke(drawing, layout, point, planet)


def _add_stroke(drawing: Drawing, layout: Layout, point: Point, planet: Point) -> None:
    right, down = planet[0] - point[0], planet[1] - point[1]
    shift = (sign(right) if abs(right) >= abs(down) else 0, sign(down) if abs(down) >= abs(right) else 0)
    start = layout.at(point)
    end = layout.at((point[0] + shift[0] * _STROKE, point[1] + shift[1] * _STROKE))
    drawing.add(Circle(start, 1.8, GREY), Polyline((start, end), GREY, 1.4))


def _add_planet(drawing: Drawing, layout: Layout, reference: str) -> None:
    """Draw a planet: open with weak gravity, shaded with strong; and the mission's goals there."""
    mission = layout.mission
    center, radius = layout.at(read_point(reference)), layout.cell * 0.3
    if reference in mission.survey or mission.end == ("well", reference):
        _add_well_border(drawing, layout, reference)
    if reference in mission.land_on or mission.end == ("planet", reference):
        drawing.add(Circle(center, radius + 4, None, PURPLE, 2))
    fill = SHADE if mission.planets[reference] == "strong" else PAPER
    drawing.add(Circle(center, radius, fill, INK, 2))
    if reference == mission.home:
        drawing.add(Text(center, "H", layout.cell * 0.36, INK, "center"))


def _add_well_border(drawing: Drawing, layout: Layout, reference: str) -> None:
    mission, (column, row) = layout.mission, read_point(reference)
    reach = mission.reach(reference) + 0.45
    left, top = layout.at((max(column - reach, 0.55), max(row - reach, 0.55)))
    right, bottom = layout.at((min(column + reach, mission.columns + 0.45), min(row + reach, mission.rows + 0.45)))
    border = (left, top), (right, top), (right, bottom), (left, bottom), (left, top)
    drawing.add(Polyline(border, PURPLE, 1.6, dashed=True))
    word = "survey" if reference in mission.survey else ""
    if mission.end == ("well", reference):
        word = f"{word}, end" if word else "end"
    drawing.add(Text((left + 6, top + 9), word, 11, PURPLE))


def _add_station(drawing: Drawing, layout: Layout, reference: str) -> None:
    center, radius = layout.at(read_point(reference)), layout.cell * 0.26
    drawing.add(_diamond(center, radius, PAPER, INK))
    if layout.mission.end == ("station", reference):
        drawing.add(_diamond(center, radius + 5, None, PURPLE))


def _diamond(center: tuple[float, float], radius: float, fill: Color | None, stroke: Color) -> Polygon:
    """Return a square on its tip."""
    x, y = center
    return Polygon(((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)), fill, stroke, 2)
