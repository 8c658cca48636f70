"""Sheets to play an orbital game on paper: board, tokens, rules, tables for orders and scores."""

import math
from collections.abc import Iterator, Sequence

from geo_patrol.base.board import sector_at
from geo_patrol.base.sides import COLORS, SIDES, Side, in_colors
from geo_patrol.drawing.shapes import (
    Box,
    Circle,
    Drawing,
    Point,
    Polyline,
    Rect,
    Shape,
    Text,
    arrow,
    arrowhead,
    box,
    placed,
    recolored,
)
from geo_patrol.drawing.sheet import (
    GRID,
    HEIGHT,
    INK,
    MIN_TEXT,
    PAPER,
    SOFT,
    TEXT,
    WIDTH,
    PageLine,
    Tab,
    add_tabs,
    add_text,
    new_sheet,
    wrapped,
)
from geo_patrol.game.game import Game
from geo_patrol.play.telling import PupilRules, aim_tab, costs_tab, guard_odds_texts, tabs_in_colors, turn_tabs
from geo_patrol.scenes import theme
from geo_patrol.scenes.paper import (
    GOAL_FILLS,
    NUMBERS,
    SIDE_LINES,
    SIZE,
    adjacency_diagram,
    board_shapes,
    drift_diagram,
    geometry_of,
    goal_shapes,
    number_shapes,
)
from geo_patrol.scenes.satellites import TokenStyle, all_satellites, satellite_anchors, token_label, token_symbol

_CLEAR_RING = 2
"""The innermost ring on which prograde and retrograde lead to different sectors."""
_DIAGRAM = 210.0
"""Side of each of the three diagrams above the rules for pupils."""


def rules_sheet(game: Game) -> Drawing:
    """Return the rules for pupils on a page, with pictures and whole numbers, as large as fits."""
    for size in range(TEXT, MIN_TEXT - 1, -1):
        drawing, bottom = _draw_rules(game, size)
        if bottom <= HEIGHT:
            break
    return drawing


def _draw_rules(game: Game, size: int) -> tuple[Drawing, float]:
    """Return the page with the rules for pupils in type of a size, and where it ends."""
    drawing = new_sheet("The rules on a page", game.config.title)
    captions = ("the goals", "moves; next sectors are gold", "the drift")
    for number, (diagram, caption) in enumerate(zip(_diagrams(game), captions, strict=True)):
        left = 20 + number * (WIDTH - 40 - _DIAGRAM) / 2
        drawing.add(*placed(diagram.shapes, (left, 68), _DIAGRAM / SIZE))
        drawing.add(Text((left + _DIAGRAM / 2, 76 + _DIAGRAM), caption, 16, SOFT, "center"))
    rules, y = PupilRules(game), 104 + _DIAGRAM
    y = _add_rules(drawing, "The aim", rules.aim, y, size)
    y = _add_rules(drawing, "1  Move", rules.moves, y, size)
    y = _add_rules(drawing, "2  Attack and guard", rules.attacks, y, size) - 6
    y = _add_engagements(drawing, rules, y, size)
    y = _add_rules(drawing, "3  Count", rules.points, y, size)
    return drawing, _add_rules(drawing, "4  Drift", rules.drift, y, size) - 1.4 * size


def _add_rules(drawing: Drawing, title: str, texts: Sequence[str], top: float, size: int) -> float:
    """Write a part of the rules for pupils, and return where the next one begins."""
    drawing.add(Text((20, top), title, size + 3, INK, bold=True))
    y = top + 1.5 * size
    for text in texts:
        y = add_text(drawing, in_colors(text), (20, y), WIDTH - 40, size)
    return y + 10


def _add_engagements(drawing: Drawing, rules: PupilRules, top: float, size: int) -> float:
    """Draw a table of what attacks and guards cost, and up to which number of the dice they succeed."""
    columns, row = (20.0, 240.0, 490.0), 44.0
    for x, text in zip(columns[1:], ("in the same sector", "in the next sector"), strict=True):
        drawing.add(Text((x, top + 6), text, size, SOFT))
    for number, (name, costs) in enumerate(rules.engagements.items()):
        y = top + 20 + row * (number + 0.5)
        drawing.add(Polyline(((20, y - row / 2), (WIDTH - 20, y - row / 2)), GRID))
        drawing.add(*_engagement_picture(name, (columns[0] + 16, y)), Text((columns[0] + 118, y), name, size, INK))
        for x, text in zip(columns[1:], costs, strict=True):
            lines = wrapped(in_colors(text), size, 240)
            drawing.add(
                *(
                    Text((x, y + (i - len(lines) / 2 + 0.5) * 1.2 * size), line, size, INK)
                    for i, line in enumerate(lines)
                )
            )
    bottom = top + 20 + row * len(rules.engagements)
    drawing.add(Polyline(((20, bottom), (WIDTH - 20, bottom)), GRID))
    return bottom + 22


def _engagement_picture(name: str, left: Point) -> Iterator[Shape]:
    """Draw who does what to whom: a Patrol shoots at or collides with an enemy, or stands before its HVA."""
    x, y = left
    target = _token("alpha", 0) if name == "guard" else _token("bravo", 4)
    yield from placed(_token("alpha", 3), (x, y), 0.85)
    yield from placed(target, (x + 74, y), 0.85)
    if name == "guard":
        yield Polyline(((x + 37, y - 20), (x + 37, y + 20)), SIDE_LINES["alpha"], 6)
    else:
        yield from arrow((x + 20, y), (x + 54, y), INK, 3, 12, dashed=name == "shoot")


def _diagrams(game: Game) -> tuple[Drawing, ...]:
    """Return boards with the goals and the HVAs in them, with the moves from a sector, and with the drift."""
    board = game.config.board
    aim = Drawing(SIZE, SIZE, PAPER, [*board_shapes(board), *goal_shapes(game)])
    for side in SIDES:
        aim.add(*placed(_token(side, 0), geometry_of(board).sector_center(game.goals[side]), 2.2))
    ring = min(max(board.goal_ring - 1, board.inner_ring, _CLEAR_RING), board.outer_ring)
    return aim, adjacency_diagram(board, int(sector_at(ring, 1))), drift_diagram(board)


def turn_sheet(game: Game) -> Drawing:
    """Return a page with the steps of a turn."""
    drawing = new_sheet("A turn, step by step", game.config.title)
    add_tabs(drawing, tabs_in_colors(*turn_tabs(game)), 90)
    return drawing


def reference_sheet(game: Game) -> Drawing:
    """Return aim, scoring, costs and odds of a game on a page."""
    drawing = new_sheet("Quick reference", game.config.title)
    odds = tuple(PageLine(*row) for row in guard_odds_texts(game).items())
    guards = Tab("Odds of one guard for its 1st, 2nd, 3rd and 4th attack", odds)
    add_tabs(drawing, tabs_in_colors(aim_tab(game), costs_tab(game), guards), 90)
    return drawing


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
        "rules": rules_sheet(game),
        "turn": turn_sheet(game),
        "reference": reference_sheet(game),
    }
    turns = min(game.config.turn_limit, _MAX_TURNS)
    for side in SIDES:
        for first in range(1, turns + 1, TURNS_A_SHEET):
            last = min(first + TURNS_A_SHEET - 1, turns)
            suffix = "" if first == 1 else f"-{first}"
            sheets[f"orders-{COLORS[side]}{suffix}"] = order_sheet(game, side, range(first, last + 1))
            sheets[f"score-{COLORS[side]}{suffix}"] = score_sheet(game, side, range(first, last + 1))
    return sheets


def board_sheet(game: Game) -> Drawing:
    """Return the board, with the goal sectors of the first turn and, in outline, where the satellites start."""
    drawing = Drawing(SIZE, SIZE + 70, PAPER)
    board = game.config.board
    drawing.add(*board_shapes(board), *goal_shapes(game), *_start_shapes(game), *number_shapes(board, NUMBERS))
    drawing.add(*_drift_arrow())
    y = SIZE + 40
    drawing.add(Text((10, y), game.config.title, 30, INK, bold=True))
    drawing.add(Text((SIZE - 10, y), "everything drifts one sector counterclockwise each turn", 21, SOFT, "midright"))
    return drawing


def _drift_arrow() -> Iterator[Shape]:
    """Draw an arrow outside the board, counterclockwise."""
    middle, radius = SIZE / 2, SIZE / 2 + 2
    angles = [math.radians(degrees) for degrees in range(40, 51)]
    points = tuple((middle + radius * math.cos(angle), middle - radius * math.sin(angle)) for angle in angles)
    yield Polyline(points, SOFT, 3)
    yield arrowhead(points[-2], points[-1], SOFT, 14)


def _start_shapes(game: Game) -> Iterator[Shape]:
    """Draw where the satellites start: discs of alpha and squares of bravo, pale, since tokens are laid on them."""
    geometry = geometry_of(game.config.board)
    for satellite, anchor in satellite_anchors(geometry, all_satellites(game)).items():
        (x, y), radius, line = geometry.point(anchor.position), anchor.radius, SIDE_LINES[satellite.side]
        if satellite.side == "alpha":
            yield Circle((x, y), radius, PAPER, line, 2)
        else:
            yield Box(x - radius, y - radius, 2 * radius, 2 * radius, PAPER, line, 2, 0.3 * radius)
        yield Text((x, y), token_label(satellite.number), radius, line, "center")


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
        "Put a goal marker on each goal sector; it moves with the drift. Stack satellites that share a sector.",
    )
    for hint in hints:
        top = add_text(drawing, hint, (20, top + 10), WIDTH - 40)
    return drawing


def _token(side: Side, number: int) -> list[Shape]:
    shapes = recolored(token_symbol(TokenStyle(side, number)).shapes, theme.LIGHT)
    return list(placed(shapes, (0.0, 0.0), _TOKEN))


def _goal_token(side: Side) -> list[Shape]:
    edge = Circle((0, 0), _TOKEN * 1.25, GOAL_FILLS[side], SIDE_LINES[side], 3)
    return [edge, Text((0, 0), "goal", MIN_TEXT, SIDE_LINES[side], "center", bold=True)]


def order_sheet(game: Game, side: Side, turns: Sequence[int]) -> Drawing:
    """Return a table for a side's orders, a movement and an engagement line for each turn."""
    rows = [(f"{turn}", name) for turn in turns for name in ("move", "engage")]
    note = (
        "move: + ahead, - back, in, out      empty: stay, or nothing",
        "engage: s4 shoots at 4, cH collides with the HVA, g guards",
    )
    return _table_sheet(game, f"Orders of {COLORS[side]}", side, (rows, note), _satellites(game, side))


def score_sheet(game: Game, side: Side, turns: Sequence[int]) -> Drawing:
    """Return a table for a side's fuel and score after each turn, which begins with those at the start."""
    satellites = game.satellites(side)
    is_first = turns[0] == 1
    rows = [*([("start", "")] if is_first else []), *((f"{turn}", "") for turn in turns)]
    columns = [*_satellites(game, side), "goal", "fuel", "score"]
    start = [satellite.fuel for satellite in satellites] + [0, game.scores[side], game.scores[side]]
    note: tuple[str, ...] = (
        "satellites: fuel after the drift; write in pencil, and subtract each cost when it is paid",
        "goal: goal points so far      fuel: fuel points before the drift      score: their sum",
    )
    ammo = satellites[-1].ammo
    if ammo:
        note = (*note, f"Each Patrol has {ammo} ammo: put a stroke beside its number for each shot.")
    return _table_sheet(
        game, f"Fuel and score of {COLORS[side]}", side, (rows, note), columns, start if is_first else ()
    )


def _satellites(game: Game, side: Side) -> list[str]:
    return [token_label(satellite.id.number) for satellite in game.satellites(side)]


def _table_sheet(
    game: Game,
    title: str,
    side: Side,
    table: tuple[list[tuple[str, str]], tuple[str, ...]],
    columns: list[str],
    first_row: Sequence[int] = (),
) -> Drawing:
    """Return a page with a table.

    Args:
        game: named on the page.
        title: title of the page.
        side: whose color the heading row has.
        table: turn and phase of each row, and lines above the table.
        columns: their headings.
        first_row: values that are filled in.
    """
    rows, notes = table
    drawing = new_sheet(title, game.config.title)
    drawing.add(*(Text((20, 80 + 21 * i), note, 16, SOFT) for i, note in enumerate(notes)))
    top, left, right = 76.0 + 21 * len(notes), 20.0, drawing.width - 20
    line = min((HEIGHT - top - 16) / (len(rows) + 1), 40.0)
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
            drawing.add(Text(center, str(text), 16, INK, "center", bold=not row))
    for number, (turn, phase) in enumerate(rows):
        y = top + (number + 1.5) * line
        if not phase or phase == rows[0][1]:
            drawing.add(Text((left + 4, y), turn, 16, INK))
        drawing.add(Text((first - 6, y), phase, MIN_TEXT, SOFT, "midright"))
    return drawing
