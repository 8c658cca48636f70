"""Sheets of paper: their sizes, and pages of text and tables to print.

A sheet is a drawing; one that is fitted on paper keeps its proportions. A unit is about a quarter of a millimeter there.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from geo_patrol.board import sector_at
from geo_patrol.game import Game
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import wrap_text
from geo_patrol.scenes.paper import (
    GOAL_FILLS,
    GRID,
    INK,
    NUMBERS,
    PAPER,
    SIDE_LINES,
    SIZE,
    SOFT,
    adjacency_diagram,
    board_shapes,
    drift_diagram,
    goal_shapes,
    number_shapes,
)
from geo_patrol.scenes.satellites import TokenStyle, token_symbol
from geo_patrol.scenes.shapes import Circle, Drawing, Polyline, Rect, Shape, Text, arrowhead, box, placed, recolored
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, fuel_points_text, guard_odds_texts, station_keeping_text
from geo_patrol.sessions.pages import PageLine, Tab
from geo_patrol.sides import SIDES, Side

WIDTH = 760.0
"""Width of sheets that are printed upright."""
HEIGHT = 1100.0
"""Height of sheets that fill a page."""
HEADING, TEXT, SMALL = 24, 14, 11


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


def new_sheet(title: str, subtitle: str) -> Drawing:
    """Return a page with a heading."""
    drawing = Drawing(WIDTH, HEIGHT, PAPER)
    drawing.add(Text((20, 36), title, HEADING, INK, bold=True))
    drawing.add(Text((WIDTH - 20, 36), subtitle, 16, SOFT, "midright"))
    drawing.add(Polyline(((20, 60), (WIDTH - 20, 60)), GRID, 2))
    return drawing


def add_tab(drawing: Drawing, tab: Tab, top: float) -> float:
    """Write a page's part in two columns, and return where it ends."""
    left, line = 130.0, 19.0
    drawing.add(Text((20, top), tab.title, 18, INK, bold=True))
    y = top + 26
    for row in tab.lines:
        width = drawing.width - 40 - (left if row.right else 0)
        texts = wrap_text(row.right or row.left, TEXT, round(width), _text_size)
        if row.right:
            drawing.add(Text((20, y), row.left.strip(), TEXT, SOFT))
        for text in texts:
            x = 20 + (left if row.right else 0)
            drawing.add(Text((x, y), text, TEXT, INK, bold=not row.right))
            y += line
    return y


def _text_size(text: str, size: int) -> tuple[int, int]:
    """Return about how large a text is in print; lines of the font that PDFs are written with stay shorter."""
    return round(0.54 * size * len(text)), size


_MAX_DIAGRAM = 345.0
"""Side of a diagram on the page, where the text leaves room for it."""
_CLEAR_RING = 2
"""The innermost ring on which prograde and retrograde lead to different sectors."""
_CAPTION = 36.0
"""Room below a diagram."""


def turn_sheet(game: Game) -> Drawing:
    """Return a page with the steps of a turn, and diagrams of adjacent sectors and of the drift."""
    drawing = new_sheet("A turn, step by step", game.config.title)
    top = 90.0
    for tab in (_movement_tab(), _engagement_tab(), _end_tab(game)):
        top = add_tab(drawing, tab, top) + 14
    board = game.config.board
    ring = min(max(board.goal_ring - 1, board.inner_ring, _CLEAR_RING), board.outer_ring)
    sector = int(sector_at(ring, 1))
    diagrams = (
        (adjacency_diagram(board, sector), f"moves from {sector}, adjacent sectors"),
        (drift_diagram(board), "drift on each ring"),
    )
    size = min(HEIGHT - top - _CAPTION, _MAX_DIAGRAM)
    for number, (diagram, caption) in enumerate(diagrams):
        left = 20 + number * (WIDTH - 40 - size)
        drawing.add(*placed(diagram.shapes, (left, top), size / SIZE))
        drawing.add(Text((left + size / 2, top + size + 16), caption, 12, SOFT, "center"))
    return drawing


def reference_sheet(game: Game) -> Drawing:
    """Return aim, scoring, costs and odds of a game on a page."""
    drawing = new_sheet("Quick reference", game.config.title)
    top = 90.0
    for tab in (aim_tab(game), costs_tab(game)):
        top = add_tab(drawing, tab, top) + 26
    drawing.add(
        Text(
            (20, top),
            "Odds of one guard for its 1st, 2nd, 3rd, 4th attack; half as much for each further one",
            TEXT,
            INK,
            bold=True,
        )
    )
    for number, (distance, odds) in enumerate(guard_odds_texts(game).items(), start=1):
        y = top + 20 * number
        drawing.add(Text((20, y), distance, TEXT, SOFT), Text((150, y), odds, TEXT, INK))
    return drawing


def _movement_tab() -> Tab:
    return Tab(
        "1 Movement",
        (
            PageLine("orders", "both write a move for any of their satellites in secret, then show them"),
            PageLine(
                "moves",
                "+ prograde: the next sector counterclockwise; - retrograde: clockwise; in: radial in; out: radial out, into "
                "the one of the two outer sectors that is further clockwise. A satellite may also stay",
            ),
            PageLine("fuel", "pay for every move; an order that a satellite cannot pay is not allowed"),
        ),
    )


def _engagement_tab() -> Tab:
    return Tab(
        "2 Engagement",
        (
            PageLine(
                "orders",
                "both write in secret, then show: shoot or collide with an enemy that has fuel, or guard the own HVA, each "
                "in the same or an adjacent sector. Guard only while an enemy with fuel is that near to the HVA. Pay for "
                "all first; an order paid with the last fuel still counts, and its satellite can still be hit in this phase",
            ),
            PageLine(
                "dice",
                "two ten-sided dice, tens and units, 00 is 100: success with at most the percentage, by the distance of "
                "this moment, before anything is resolved. For a random order each rolls, the highest begins; equal "
                "rolls again",
            ),
            PageLine(
                "first: guards",
                "in random order. A guard takes on the attacks that are aimed at its HVA now, in random order: the first "
                "with its odds, each further one with half of those before. An attack that it takes is aimed at the "
                "guard, with the odds it had. Then the guard moves to its HVA's sector, with or without success",
            ),
            PageLine(
                "second: shots", "all at once, so a satellite that is hit still fires; each spends a round, hit or miss"
            ),
            PageLine(
                "third: collisions",
                "one by one in random order: success destroys both; the attacker moves to the sector where its target is now, "
                "with or without success",
            ),
            PageLine(
                "void",
                "collisions by or against a satellite that is destroyed by then; their fuel stays spent, and the attacker "
                "stays where it is",
            ),
            PageLine("destroyed", "fuel 0, off the board. Without fuel: no orders, cannot be attacked, still drifts"),
        ),
    )


def _end_tab(game: Game) -> Tab:
    return Tab(
        "3 Score and 4 drift",
        (
            PageLine("score", f"goal points so far + fuel points now. {fuel_points_text(game)}"),
            PageLine("goal points", "for an HVA with fuel in its goal sector, or adjacent to it, before the drift"),
            PageLine(
                "end",
                "if the game ends now, there is no drift: more points win, whoever lost an HVA; equal points are a draw",
            ),
            PageLine(
                "drift",
                f"every satellite and both goals move one sector counterclockwise. {station_keeping_text(game)}",
            ),
        ),
    )


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
    drawing.add(*board_shapes(board), *goal_shapes(game), *number_shapes(board, NUMBERS))
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
    shapes = recolored(token_symbol(TokenStyle(side, number)).shapes, theme.LIGHT)
    return list(placed(shapes, (0.0, 0.0), _TOKEN))


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
        title: title of the page.
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
