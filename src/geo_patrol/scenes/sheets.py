"""Sheets to print an orbital game on: board, tokens, order and score sheets; with the quick reference."""

import math
from collections.abc import Iterator, Sequence

from geo_patrol.game import Game
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
from geo_patrol.scenes.quick_reference import reference_sheet, turn_sheet
from geo_patrol.scenes.shapes import Circle, Drawing, Polygon, Polyline, Rect, Shape, Text, arrowhead, box, placed
from geo_patrol.scenes.sheet_layout import HEIGHT, SMALL, TEXT, new_sheet
from geo_patrol.sides import SIDES, Side

TURNS_A_SHEET = 25
_MAX_TURNS = 50
"""Turns that sheets are printed for; longer games need copies."""
_TOKEN = 19.0
"""Radius of a token: two fit beside each other in the narrowest sector of five rings."""
_CELL = 60.0
"""Side of the square around a token that is cut out."""


def game_sheets(game: Game) -> dict[str, Drawing]:
    """Return all sheets of a game by name, in the order in which they are printed.

    Args:
        game: at its start.
    """
    sheets = {
        "board": board_sheet(game),
        "tokens": token_sheet(game),
        "turn": turn_sheet(game),
        "reference": reference_sheet(game),
    }
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
            Text((10, y), side, 22, SIDE_LINES[side], bold=True), Text((110, y), _start_text(game, side), 22, INK)
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
    top = 90.0
    for side in SIDES:
        tokens = [_goal_token(side), *(_token(side, satellite.id.number) for satellite in game.satellites(side))]
        for column, token in enumerate(tokens):
            left = 20 + column * _CELL
            corners = (left, top), (left + _CELL, top), (left + _CELL, top + _CELL), (left, top + _CELL), (left, top)
            drawing.add(Polyline(corners, SOFT, dashed=True))
            drawing.add(*placed(token, (left + _CELL / 2, top + _CELL / 2)))
        top += _CELL + 20
    hints = (
        "Cut along the dashed lines; thin cardboard lasts longer. H is the HVA, a number a Patrol.",
        "Put a goal marker on each goal sector; it moves with the drift. Stack pieces that share a sector.",
    )
    for number, hint in enumerate(hints):
        drawing.add(Text((20, top + 10 + 20 * number), hint, TEXT, SOFT))
    return drawing


def _token(side: Side, number: int) -> list[Shape]:
    label = Text((0, 0), "H" if number == 0 else str(number), _TOKEN, SIDE_INKS[side], "center", bold=True)
    if number:
        return [Circle((0, 0), _TOKEN, SIDE_FILLS[side], SIDE_LINES[side], 2), label]
    corners = tuple((x * _TOKEN * 0.9, y * _TOKEN * 0.9) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    return [Polygon(corners, SIDE_FILLS[side], SIDE_LINES[side], 2), label]


def _goal_token(side: Side) -> list[Shape]:
    edge = Circle((0, 0), _TOKEN * 1.25, GOAL_FILLS[side], SIDE_LINES[side], 3)
    return [edge, Text((0, 0), "goal", TEXT, SIDE_LINES[side], "center", bold=True)]


def order_sheet(game: Game, side: Side, turns: Sequence[int]) -> Drawing:
    """Return a table for a side's orders, a movement and an engagement line for each turn."""
    rows = [(f"{turn}", name) for turn in turns for name in ("move", "engage")]
    note = "move: +, -, in, out      engage: s4 shoots at P4, cH collides with the HVA, g guards      empty: nothing"
    return _table_sheet(game, f"Orders of {side}", side, (rows, note), _satellites(game, side))


def score_sheet(game: Game, side: Side, turns: Sequence[int]) -> Drawing:
    """Return a table for a side's fuel and score after each turn, which begins with those at the start."""
    satellites = game.satellites(side)
    is_first = turns[0] == 1
    rows = [*([("start", "")] if is_first else []), *((f"{turn}", "") for turn in turns)]
    columns = [*_satellites(game, side), "goal", "fuel", "score"]
    start = [satellite.fuel for satellite in satellites] + [0, game.scores[side], game.scores[side]]
    note = (
        "satellites: fuel after the drift      goal: goal points so far      fuel: fuel points before the drift      "
        "score: their sum"
    )
    drawing = _table_sheet(game, f"Fuel and score of {side}", side, (rows, note), columns, start if is_first else ())
    hint = "Write fuel in pencil, and subtract each cost when it is paid."
    ammo = satellites[-1].ammo
    if ammo:
        hint += f" Each Patrol has {ammo} ammo: put a stroke beside its name for each shot."
    bottom = max(y for shape in drawing.shapes if isinstance(shape, Polyline) for _, y in shape.points)
    drawing.add(Text((20, bottom + 18), hint, SMALL, SOFT))
    return drawing


def _satellites(game: Game, side: Side) -> list[str]:
    return [satellite.id.short for satellite in game.satellites(side)]


def _table_sheet(
    game: Game,
    title: str,
    side: Side,
    table: tuple[list[tuple[str, str]], str],
    columns: list[str],
    first_row: Sequence[int] = (),
) -> Drawing:
    """Return a page with a table.

    Args:
        game: named on the page.
        title: of the page.
        side: whose color the heading row has.
        table: turn and phase of each row, and a note above the table.
        columns: their headings.
        first_row: values that are filled in.
    """
    rows, note = table
    drawing = new_sheet(title, game.config.title)
    drawing.add(Text((20, 84), note, SMALL, SOFT))
    top, left, right = 104.0, 20.0, drawing.width - 20
    line = min((HEIGHT - top - 40) / (len(rows) + 1), 40.0)
    has_phases = bool(rows[-1][1])
    first = left + (92 if has_phases else 52)
    width = (right - first) / len(columns)
    drawing.add(box(Rect.truncated(left, top, right - left, line), GOAL_FILLS[side]))
    for number in range(len(rows) + 2):
        is_strong = number < 2 or number > len(rows) or (number - 1) % (2 if has_phases else 5) == 0
        y = top + number * line
        drawing.add(Polyline(((left, y), (right, y)), SOFT if is_strong else GRID))
    for x in (left, *(first + number * width for number in range(len(columns) + 1))):
        drawing.add(Polyline(((x, top), (x, top + (len(rows) + 1) * line)), SOFT))
    for row, texts in enumerate((columns, first_row)):
        for column, text in enumerate(texts):
            center = first + (column + 0.5) * width, top + (row + 0.5) * line
            drawing.add(Text(center, str(text), TEXT - 1, INK, "center", bold=not row))
    for number, (turn, phase) in enumerate(rows):
        y = top + (number + 1.5) * line
        if not phase or phase == rows[0][1]:
            drawing.add(Text((left + 4, y), turn, TEXT, INK))
        drawing.add(Text((first - 6, y), phase, SMALL, SOFT, "midright"))
    return drawing
