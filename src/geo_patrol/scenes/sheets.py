"""Sheets to print an orbital game on: board, tokens, order and score sheets, quick reference.

A sheet is a drawing; one that is fitted on paper keeps its proportions. A unit is about a quarter of a millimeter there.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from geo_patrol.game import Game
from geo_patrol.scenes.layout import approximate_text_size, wrap_text
from geo_patrol.scenes.paper import (
    GOAL_FILLS,
    GRID,
    INK,
    PAPER,
    SIDE_FILLS,
    SIDE_INKS,
    SIDE_LINES,
    SIZE,
    SOFT,
    board_shapes,
    goal_shapes,
    number_shapes,
)
from geo_patrol.scenes.shapes import Circle, Drawing, Polygon, Polyline, Rect, Shape, Text, arrowhead, box
from geo_patrol.sessions.game_pages import aim_tab, costs_tab
from geo_patrol.sessions.pages import Line, Tab
from geo_patrol.sides import SIDES, Side

WIDTH = 760.0
"""Of sheets that are printed upright."""
HEIGHT = 1100.0
"""Of sheets that fill a page."""
TURNS_A_SHEET = 25
_MAX_TURNS = 50
"""Turns that sheets are printed for; longer games need copies."""
_HEADING, _TEXT, _SMALL = 24, 14, 11
_TOKEN = 19.0
"""Radius of a token: two fit beside each other in the narrowest sector of five rings."""


class Paper(NamedTuple):
    """A size of paper, in millimeters, upright."""

    width: float
    height: float


PAPERS = {"a4": Paper(210, 297), "letter": Paper(215.9, 279.4)}
MARGIN = 10.0
"""Millimeters on each side that printers may leave white."""


def fit(drawing: Drawing, paper: Paper) -> tuple[float, float]:
    """Return the size in millimeters in which a drawing fills a sheet of paper, upright or not, within the margins."""
    sizes = []
    for width, height in (paper, paper[::-1]):
        scale = min((width - 2 * MARGIN) / drawing.width, (height - 2 * MARGIN) / drawing.height)
        sizes.append((drawing.width * scale, drawing.height * scale))
    return max(sizes)


def game_sheets(game: Game) -> dict[str, Drawing]:
    """Return all sheets of a game by name, in the order in which they are printed.

    Args:
        game: at its start.
    """
    sheets = {"board": board_sheet(game), "tokens": token_sheet(game), "reference": reference_sheet(game)}
    turns = min(game.config.turn_limit, _MAX_TURNS)
    for side in SIDES:
        for first in range(1, turns + 1, TURNS_A_SHEET):
            last = min(first + TURNS_A_SHEET - 1, turns)
            suffix = "" if first == 1 else f"-{first}"
            sheets[f"orders-{side}{suffix}"] = order_sheet(game, side, range(first, last + 1))
            sheets[f"score-{side}{suffix}"] = score_sheet(game, side, range(first, last + 1))
    return sheets


def board_sheet(game: Game) -> Drawing:
    """Return the empty board, with the goal sectors of the first turn and where the satellites start."""
    drawing = Drawing(SIZE, SIZE + 190, PAPER)
    board = game.config.board
    drawing.add(*board_shapes(board), *goal_shapes(game), *number_shapes(board, 0.2))
    drawing.add(*_drift_arrow())
    y = SIZE + 40
    drawing.add(Text((10, y), game.config.title, 30, INK, bold=True))
    drawing.add(Text((SIZE - 10, y), "everything drifts one sector counterclockwise each turn", 20, SOFT, "midright"))
    for side in SIDES:
        y += 50
        drawing.add(
            Text((10, y), side, 22, SIDE_LINES[side], bold=True), Text((90, y), _start_text(game, side), 22, INK)
        )
    return drawing


def _drift_arrow() -> Iterator[Shape]:
    """Draw an arrow outside the board, counterclockwise."""
    middle, radius = SIZE / 2, SIZE / 2 + 2
    angles = [math.radians(degrees) for degrees in range(40, 51)]
    points = tuple((middle + radius * math.cos(angle), middle - radius * math.sin(angle)) for angle in angles)
    yield Polyline(points, SOFT, 3)
    yield arrowhead(points[-2], points[-1], SOFT, 14)


def _start_text(game: Game, side: Side) -> str:
    """Return where a side's satellites start."""
    sectors: dict[int, list[str]] = {}
    for satellite in game.satellites(side):
        sectors.setdefault(satellite.sector, []).append(satellite.id.short)
    return "   ".join(f"{sector}: {' '.join(names)}" for sector, names in sorted(sectors.items()))


def token_sheet(game: Game) -> Drawing:
    """Return the satellites and the markers of the goals, to cut out."""
    drawing = new_sheet("Tokens, to cut out", game.config.title)
    top = 110.0
    for side in SIDES:
        tokens = [_goal_token(side), *(_token(side, satellite.id.number) for satellite in game.satellites(side))]
        left = 40.0
        for token in tokens:
            drawing.add(*_moved(token, left + 26, top + 26))
            left += 60
        top += 80
    hint = (
        "Put a goal marker on each goal sector, and move it with the drift. Keep destroyed satellites beside the board."
    )
    drawing.add(Text((20, top + 10), hint, _SMALL, SOFT))
    return drawing


def _token(side: Side, number: int) -> list[Shape]:
    label = Text((0, 0), "H" if number == 0 else str(number), _TOKEN, SIDE_INKS[side], "center", bold=True)
    if number:
        return [Circle((0, 0), _TOKEN, SIDE_FILLS[side], SIDE_LINES[side], 2), label]
    corners = tuple((x * _TOKEN * 0.9, y * _TOKEN * 0.9) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    return [Polygon(corners, SIDE_FILLS[side], SIDE_LINES[side], 2), label]


def _goal_token(side: Side) -> list[Shape]:
    edge = Circle((0, 0), _TOKEN * 1.25, GOAL_FILLS[side], SIDE_LINES[side], 3)
    return [edge, Text((0, 0), "goal", _TEXT, SIDE_LINES[side], "center", bold=True)]


def _moved(shapes: Sequence[Shape], x: float, y: float) -> Iterator[Shape]:
    """Move the shapes of a token from the origin to a place."""
    for shape in shapes:
        if isinstance(shape, Circle):
            yield Circle((x, y), shape.radius, shape.fill, shape.stroke, shape.width)
        elif isinstance(shape, Polygon):
            points = tuple((x + px, y + py) for px, py in shape.points)
            yield Polygon(points, shape.fill, shape.stroke, shape.width)
        elif isinstance(shape, Text):
            yield Text((x, y), shape.text, shape.size, shape.color, shape.anchor, bold=shape.bold)


def reference_sheet(game: Game) -> Drawing:
    """Return aim, scoring, costs and odds of a game on a page."""
    drawing = new_sheet("Quick reference", game.config.title)
    top = 90.0
    for tab in (_sequence_tab(), aim_tab(game), costs_tab(game)):
        top = add_tab(drawing, tab, top) + 26
    return drawing


def _sequence_tab() -> Tab:
    return Tab(
        "A turn",
        (
            Line("1 movement", "both write their moves in secret, show them, pay their fuel and move the tokens"),
            Line(
                "2 engagement",
                "both write their engagements in secret, show them and pay; then dice decide: guards in random order, "
                "all shots at once, collisions one by one in random order",
            ),
            Line("dice", "two ten-sided dice read as 1 to 100: an order succeeds with at most its percentage"),
            Line("3 score", "goal points and fuel points; the game may end"),
            Line("4 drift", "everything moves one sector counterclockwise, and every satellite with fuel pays for it"),
        ),
    )


def add_tab(drawing: Drawing, tab: Tab, top: float) -> float:
    """Write a page's part in two columns, and return where it ends."""
    left, line = 170.0, 19.0
    drawing.add(Text((20, top), tab.title, 18, INK, bold=True))
    y = top + 26
    for row in tab.lines:
        width = drawing.width - 40 - (left if row.right else 0)
        texts = wrap_text(row.right or row.left, _TEXT, round(width), approximate_text_size)
        if row.right:
            drawing.add(Text((20, y), row.left.strip(), _TEXT, SOFT))
        for text in texts:
            x = 20 + (left if row.right else 0)
            drawing.add(Text((x, y), text, _TEXT, INK, bold=not row.right))
            y += line
    return y


def order_sheet(game: Game, side: Side, turns: Sequence[int]) -> Drawing:
    """Return a table for a side's orders, a movement and an engagement line for each turn."""
    rows = [(f"{turn}", name) for turn in turns for name in ("move", "engage")]
    note = "move: + prograde, - retrograde, in, out      engage: s shoot, c collide with a number or H; g guard"
    return _table_sheet(game, f"Orders of {side}", side, (rows, note), _satellites(game, side))


def score_sheet(game: Game, side: Side, turns: Sequence[int]) -> Drawing:
    """Return a table for a side's fuel and score after each turn."""
    rows = (
        [("start", ""), *((f"{turn}", "") for turn in turns)] if turns[0] == 1 else [(f"{turn}", "") for turn in turns]
    )
    columns = [*_satellites(game, side), "goal", "fuel", "score"]
    note = (
        "after each turn: the fuel of each satellite; goal points so far, fuel points before the drift, and their sum"
    )
    return _table_sheet(game, f"Fuel and score of {side}", side, (rows, note), columns)


def _satellites(game: Game, side: Side) -> list[str]:
    return [satellite.id.short for satellite in game.satellites(side)]


def _table_sheet(
    game: Game, title: str, side: Side, table: tuple[list[tuple[str, str]], str], columns: list[str]
) -> Drawing:
    rows, note = table
    drawing = new_sheet(title, game.config.title)
    drawing.add(Text((20, 84), note, _SMALL, SOFT))
    top, left, right = 104.0, 20.0, drawing.width - 20
    line = min((HEIGHT - top - 40) / (len(rows) + 1), 40.0)
    first = left + (92 if rows[-1][1] else 52)
    width = (right - first) / len(columns)
    drawing.add(box(Rect.truncated(left, top, right - left, line), GOAL_FILLS[side]))
    for number in range(len(rows) + 2):
        is_strong = number < 2 or number > len(rows) or (number - 1) % (2 if rows[-1][1] else 5) == 0
        y = top + number * line
        drawing.add(Polyline(((left, y), (right, y)), SOFT if is_strong else GRID))
    for number in range(len(columns) + 1):
        x = first + number * width
        drawing.add(Polyline(((x, top), (x, top + (len(rows) + 1) * line)), SOFT))
    for number, name in enumerate(columns):
        drawing.add(Text((first + (number + 0.5) * width, top + line / 2), name, _TEXT, INK, "center", bold=True))
    for number, (turn, phase) in enumerate(rows):
        y = top + (number + 1.5) * line
        if not phase or phase == rows[0][1]:
            drawing.add(Text((left + 4, y), turn, _TEXT, INK))
        drawing.add(Text((first - 6, y), phase, _SMALL, SOFT, "midright"))
    return drawing


def new_sheet(title: str, subtitle: str) -> Drawing:
    """Return a page with a heading."""
    drawing = Drawing(WIDTH, HEIGHT, PAPER)
    drawing.add(Text((20, 36), title, _HEADING, INK, bold=True))
    drawing.add(Text((WIDTH - 20, 36), subtitle, 16, SOFT, "midright"))
    drawing.add(Polyline(((20, 60), (WIDTH - 20, 60)), GRID, 2))
    return drawing
