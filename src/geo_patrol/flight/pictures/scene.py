"""The picture of a flight: map, path with numbered turns, the steps of each turn apart, and the score sheet."""

from collections.abc import Sequence

from geo_patrol.flight.engine.state import COAST
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.grid import Point, point_name
from geo_patrol.flight.log import LINE_NAMES, Turn
from geo_patrol.flight.pictures.chart import add_heading, add_map
from geo_patrol.flight.pictures.colors import BLUE, FAINT, GREEN, GREY, INK, ORANGE, PAPER, SKY, VERMILION
from geo_patrol.flight.pictures.layout import Layout
from geo_patrol.flight.text import result_text, shift_text
from geo_patrol.scenes.shapes import Box, Circle, Drawing, Polyline, Shape, Text, arrowhead
from geo_patrol.scenes.shapes import Point as Pixel

COASTED, PULLED, FLOWN = 1, 2, 3
"""How much of the last turn is shown: the coast, gravity too, all of it."""
_ROW = 19.0
_LABELS = 118.0
_SHEET_ROWS = 3 + len(LINE_NAMES) + 1
_SHORT = {
    "up": "U",
    "up-right": "UR",
    "right": "R",
    "down-right": "DR",
    "down": "D",
    "down-left": "DL",
    "left": "L",
    "up-left": "UL",
}


def flight_drawing(flight: Flight, *, steps: int = FLOWN) -> Drawing:
    """Return the picture of a flight.

    Args:
        flight: what is drawn.
        steps: how much of its last turn is shown: COASTED, PULLED or FLOWN.
    """
    layout = Layout(flight.mission)
    sheet_top = layout.bottom + 84
    drawing = Drawing(layout.width, sheet_top + _SHEET_ROWS * _ROW + 44, PAPER)
    note = f"turn {flight.turn} of {flight.mission.turns}   score {flight.score}"
    if flight.fuel_left is not None:
        note += f"   fuel left {flight.fuel_left}"
    add_heading(drawing, flight.mission, note)
    add_map(drawing, layout)
    _add_legend(drawing, layout.bottom + 50)
    for turn in flight.turns:
        is_last = turn.number == flight.turn
        _add_turn(drawing, layout, turn, steps if is_last else FLOWN, is_last=is_last)
    if steps >= FLOWN or flight.turn > 1:
        _add_numbers(drawing, layout, flight.turns if steps >= FLOWN else flight.turns[:-1])
    _add_ship(drawing, layout, flight, steps)
    add_sheet(drawing, flight, sheet_top)
    if flight.is_over and steps == FLOWN:
        color = GREEN if flight.is_success else VERMILION
        position = 24, sheet_top + _SHEET_ROWS * _ROW + 22
        drawing.add(Text(position, result_text(flight), 15, color))
    return drawing


def _coast(start: Pixel, end: Pixel) -> list[Shape]:
    return [Polyline((start, end), SKY, 1.6, dashed=True)]


def _gravity(start: Pixel, end: Pixel) -> list[Shape]:
    return [Polyline((start, end), ORANGE, 2.4), arrowhead(start, end, ORANGE, 8.8)]


def _engines(start: Pixel, end: Pixel) -> list[Shape]:
    return [Polyline((start, end), VERMILION, 3.4), arrowhead(start, end, VERMILION, 10.8)]


def _path(start: Pixel, end: Pixel) -> list[Shape]:
    return [Polyline((start, end), BLUE, 2.6)]


def _launch(start: Pixel, end: Pixel) -> list[Shape]:
    return [Polyline((start, end), GREEN, 2.6)]


def _add_legend(drawing: Drawing, y: float) -> None:
    x = 24.0
    entries = {"launch": _launch, "path": _path, "coast": _coast, "gravity": _gravity, "engines": _engines}
    for name, draw in entries.items():
        drawing.add(*draw((x, y), (x + 34, y)), Text((x + 42, y), name, 12, INK))
        x += 108
    marks = "planet: circle, shaded with strong gravity   station: diamond"
    drawing.add(Text((x, y), marks, 12, GREY))


def _add_turn(drawing: Drawing, layout: Layout, turn: Turn, steps: int, *, is_last: bool) -> None:
    """Draw the steps of a turn, and once it is flown its path and endpoint."""
    if turn.start == turn.end and turn.coasted == turn.start and turn.engines == turn.gravity == (0, 0):
        return  # the ship has stayed where it is
    pulled = _moved(turn.coasted, turn.gravity)
    if not turn.is_launch and turn.coasted != turn.start and (is_last or turn.coasted != turn.end):
        drawing.add(*_coast(layout.at(turn.start), layout.at(turn.coasted)))
    if steps >= PULLED and turn.gravity != (0, 0):
        drawing.add(*_gravity(layout.at(turn.coasted), layout.at(pulled)))
    if steps < FLOWN:
        return
    if not turn.is_launch and turn.engines != (0, 0):
        drawing.add(*_engines(layout.at(pulled), layout.at(turn.end)))
    draw = _launch if turn.is_launch else _path
    drawing.add(*draw(layout.at(turn.start), layout.at(turn.end)))


def _moved(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _add_numbers(drawing: Drawing, layout: Layout, turns: Sequence[Turn]) -> None:
    """Draw all endpoints, and beside each the turns that ended there."""
    numbers: dict[Point, list[int]] = {}
    for turn in turns:
        numbers.setdefault(turn.end, []).append(turn.number)
    on_something = {turn.end for turn in turns if turn.mode != "flying"}
    for point, here in numbers.items():
        x, y = layout.at(point)
        shift = layout.cell * (0.46 if point in on_something else 0.3)
        drawing.add(Circle((x, y), 4, BLUE))
        drawing.add(Text((x + shift * 0.5, y - shift), _spans(here), 13, INK))


def _spans(numbers: list[int]) -> str:
    """Return numbers as text, those in a row as a span: "3-5, 9"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _add_ship(drawing: Drawing, layout: Layout, flight: Flight, steps: int) -> None:
    """Draw a ring around where the ship is."""
    position = flight.position
    if steps < FLOWN and flight.turn:
        last = flight.turns[-1]
        position = last.coasted if steps == COASTED else _moved(last.coasted, last.gravity)
    drawing.add(Circle(layout.at(position), layout.cell * 0.2, None, BLUE, 2.4))


def add_sheet(drawing: Drawing, flight: Flight, top: float) -> None:
    """Draw the score sheet: a column for each turn, then the totals."""
    turns = flight.mission.turns
    left, right = 24.0, drawing.width - 24
    column = (right - left - _LABELS - 56) / turns
    for row in range(_SHEET_ROWS + 1):
        strong = row in (0, 3, _SHEET_ROWS - 1, _SHEET_ROWS)
        y = top + row * _ROW
        drawing.add(Polyline(((left, y), (right, y)), GREY if strong else FAINT))
    for number in range(turns + 1):
        x = left + _LABELS + number * column
        drawing.add(Polyline(((x, top), (x, top + _SHEET_ROWS * _ROW)), FAINT))
    labels = ["turn", "endpoint", "engines", *LINE_NAMES, "total"]
    for row, label in enumerate(labels):
        drawing.add(Text((left + 4, _row_at(top, row)), label, 12, INK))
    size = min(12.0, column * 0.42)
    for number in range(1, turns + 1):
        drawing.add(
            Text((left + _LABELS + (number - 0.5) * column, _row_at(top, 0)), str(number), size, GREY, "center")
        )
    for turn in flight.turns:
        _add_sheet_turn(drawing, turn, left + _LABELS + (turn.number - 0.5) * column, top, size)
    _add_totals(drawing, flight, right - 6, top)


def _row_at(top: float, row: int) -> float:
    return top + (row + 0.5) * _ROW


def _add_sheet_turn(drawing: Drawing, turn: Turn, x: float, top: float, size: float) -> None:
    engines = "*" if turn.is_launch else _SHORT.get(shift_text(turn.engines), "")
    end = point_name(turn.end)
    cells = [end if "(" not in end else "off", engines]
    cells += [f"{points:+d}" if points else "" for points in (*turn.points.values(), turn.score)]
    for row, text in enumerate(cells, start=1):
        if text:
            drawing.add(Text((x, _row_at(top, row)), text, size, INK, "center"))


def _add_totals(drawing: Drawing, flight: Flight, x: float, top: float) -> None:
    drawing.add(Text((x, _row_at(top, 0)), "total", 12, GREY, "midright"))
    for row, points in enumerate((*flight.score_sheet.values(), flight.score), start=3):
        drawing.add(Text((x, _row_at(top, row)), str(points), 13, INK, "midright"))


def add_outlook(drawing: Drawing, layout: Layout, flight: Flight) -> None:
    """Draw where the ship will coast in its next turn, and what gravity will do there."""
    coasted = _moved(flight.position, flight.move)
    pulled = flight.end_of(COAST)
    drawing.add(*_coast(layout.at(flight.position), layout.at(coasted)))
    if pulled != coasted:
        drawing.add(*_gravity(layout.at(coasted), layout.at(pulled)))


def add_choice(drawing: Drawing, layout: Layout, point: Point, label: str, *, is_chosen: bool) -> None:
    """Draw an endpoint that can be chosen."""
    x, y = layout.at(point)
    drawing.add(Circle((x, y), 6, GREEN if is_chosen else PAPER, GREEN, 2))
    if is_chosen:
        width = 8.0 * len(label) + 12
        corner = min(max(x - width / 2, 4), drawing.width - width - 4), y - 34
        drawing.add(Box(*corner, width, 20, PAPER, GREEN, 1.4))
        drawing.add(Text((corner[0] + width / 2, y - 24), label, 13, INK, "center"))
