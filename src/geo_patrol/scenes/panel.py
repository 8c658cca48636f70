"""The panels beside the board: title, phase and score; the tables of both fleets; the score over the turns."""

from collections.abc import Callable, Iterator

from geo_patrol.board_text import reasons_text
from geo_patrol.config.toml_files import largest
from geo_patrol.game import Game
from geo_patrol.notation import Satellite
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.satellites import Arrangement, DiscStyle, satellite_shape
from geo_patrol.scenes.shapes import Box, Circle, Color, Point, Polyline, Rect, Shape, Text, TextAnchor, box
from geo_patrol.sessions.live import ScorePoint
from geo_patrol.sides import SIDES, Side

_ANCHORS: tuple[TextAnchor, TextAnchor] = ("midleft", "midright")
SECTOR, FUEL, BAR, AMMO = 0.34, 0.51, 0.55, 0.8
"""Columns, as fractions of a table's width: right edges of the numbers, left edges of bar and pips."""
_MAX_PIPS = 5
_MIN_TURNS = 10
_MAX_POINTS = 400
"""A long game is thinned to so many points."""


def header_shapes(layout: Layout, game: Game, names: tuple[str, str], phase: str) -> Iterator[Shape]:
    """Draw title, turn, phase and score.

    Args:
        layout: layout of the picture.
        game: the position whose score is shown.
        names: who plays alpha and bravo.
        phase: name of the phase.
    """
    header = layout.header
    normal, huge = layout.text_size("normal"), layout.text_size("huge")
    line = layout.line_height("normal")
    turn = f"TURN {game.turn} OF {game.config.turn_limit}"
    y = header.top + line // 2
    yield Text((header.right, y), turn, normal, theme.TEXT, "midright")
    width = header.width - layout.text_width(turn, normal) - normal
    yield Text((header.left, y), layout.fitted(game.config.title, normal, width), normal, theme.SOFT)
    y = header.top + line + round(huge * 0.55)
    for side, x, anchor in zip(SIDES, (header.left, header.right), _ANCHORS, strict=True):
        yield Text((x, y), str(game.scores[side]), huge, theme.SIDES_BRIGHT[side], anchor)
    yield from _phase(layout, game, phase, y)
    yield from _names(layout, game, names)


def _phase(layout: Layout, game: Game, phase: str, y: int) -> Iterator[Shape]:
    if not game.is_over:
        size, text, color = layout.text_size("normal"), phase.upper(), theme.TEXT
    elif game.winner is None:
        size, text, color = layout.text_size("large"), "DRAW", theme.TEXT
    else:
        size, text, color = layout.text_size("large"), f"{game.winner.upper()} WINS", theme.SIDES_BRIGHT[game.winner]
    center = layout.header.center[0], y
    rect = Rect.anchored(layout.measure(text, size), "center", center).inflated(size * 1.6, size * 0.7)
    edge = color if game.is_over else None
    yield box(rect, theme.CARD_BRIGHT, edge, layout.stroke(1.5), rect.height // 2)
    yield Text(rect.center, text, size, color, "center")


def _names(layout: Layout, game: Game, names: tuple[str, str]) -> Iterator[Text]:
    header = layout.header
    size, line = layout.text_size("small"), layout.line_height("normal")
    edges = header.left, header.right
    y = header.bottom - line - layout.line_height("small") // 2
    for side, x, anchor, name in zip(SIDES, edges, _ANCHORS, names, strict=True):
        text = layout.fitted(f"{side}, {name}" if name else side, size, round(header.width * 0.36))
        yield Text((x, y), text, size, theme.SOFT, anchor)
    below = header.bottom - line * 0.45
    if game.is_over:
        text = layout.fitted(reasons_text(game), size, header.width)
        yield Text((header.center[0], below), text, size, theme.TEXT, "center")
        return
    for side, x, anchor in zip(SIDES, edges, _ANCHORS, strict=True):
        yield Text((x, below), f"{game.goal_points[side]} from the goal", size, theme.FAINT, anchor)


def row_of(layout: Layout, side: Side, number: int) -> Rect:
    """Return where a satellite's row is."""
    table = layout.tables[SIDES.index(side)]
    line = layout.line_height("small")
    return Rect(table.left, table.top + line * (number + 1), table.width, line)


def fleet_shapes(layout: Layout, fleets: Arrangement) -> Iterator[Shape]:
    """Draw both tables, as the rule books print them, for satellites of a game."""
    for side, table in zip(SIDES, layout.tables, strict=True):
        yield box(table, theme.CARD, r=max(round(6 * layout.scale), 3))
        yield from _heading(layout, side, table)
    for satellite in fleets.satellites:
        yield from _row(layout, satellite, fleets.styles[satellite.id], fleets.full_fuel[satellite.id])


def _heading(layout: Layout, side: Side, table: Rect) -> Iterator[Text]:
    size, line = layout.text_size("tiny"), layout.line_height("small")
    y = table.top + line * 0.58
    padding = max(round(6 * layout.scale), 3)
    yield Text((table.left + padding, y), side.upper(), size, theme.SIDES_BRIGHT[side])
    columns = [(0.98, "ammo")]
    # both tables style alike
    title = padding + max(layout.text_width(name.upper(), size) for name in SIDES)
    space = round(size * 0.3)
    if title + space + layout.text_width("fuel", size) <= table.width * FUEL:
        columns.append((FUEL, "fuel"))
    if title + space + layout.text_width("sector", size) <= table.width * (SECTOR + 0.02):
        columns.append((SECTOR + 0.02, "sector"))
    for column, name in columns:
        yield Text((table.left + table.width * column, y), name, size, theme.FAINT, "midright")


def _row(layout: Layout, satellite: Satellite, style: DiscStyle, full: int) -> Iterator[Shape]:
    row = row_of(layout, satellite.id.side, satellite.id.number)
    size = layout.text_size("small")
    color = theme.TEXT if satellite.is_active else theme.FAINT
    padding = max(round(6 * layout.scale), 3)
    y = row.center[1]
    yield satellite_shape(style, (row.left + padding + row.height * 0.42, y), row.height * 0.44, with_gauges=False)
    yield Text((row.left + row.width * SECTOR, y), str(satellite.sector), size, color, "midright")
    if not satellite.is_active:
        note = "destroyed" if satellite.destroyed else "no fuel"
        note = layout.fitted(note, size, round(row.width * (1 - BAR)) - padding)
        yield Text((row.left + row.width * BAR, y), note, size, theme.FAINT)
    fuel = str(satellite.fuel)
    width = row.width * (FUEL - SECTOR) - size / 3
    fuel_size = min(size, round(size * width / layout.text_width(fuel, size)))  # many digits must not reach the sector
    yield Text((row.left + row.width * FUEL, y), fuel, fuel_size, color, "midright")
    if satellite.is_active:
        yield from _bar(row, style.body, satellite.fuel / full)
        yield from _ammo(layout, row, satellite)


def _bar(row: Rect, color: Color, fraction: float) -> Iterator[Box]:
    height = max(round(row.height * 0.28), 3)
    top = row.center[1] - height // 2
    bar = Rect.truncated(row.left + row.width * BAR, top, row.width * (AMMO - BAR - 0.05), height)
    yield box(bar, theme.FUEL_TRACK, r=height // 2)
    yield box(bar._replace(width=max(round(bar.width * min(fraction, 1.0)), 1)), color, r=height // 2)


def _ammo(layout: Layout, row: Rect, satellite: Satellite) -> Iterator[Shape]:
    left, y = row.left + row.width * AMMO, row.center[1]
    if satellite.ammo > _MAX_PIPS or (satellite.ammo == 0 and satellite.id.number == 0):
        text = str(satellite.ammo) if satellite.ammo else "-"
        yield Text((left, y), text, layout.text_size("small"), theme.SOFT)
        return
    radius = max(row.height * 0.15, 1.8)
    for pip in range(max(satellite.ammo, 1)):
        center = round(left + radius + pip * radius * 2.6), y
        if satellite.ammo:
            yield Circle(center, radius, theme.TEXT)
        else:
            yield Circle(center, radius - 0.5, None, theme.FAINT)


def chart_shapes(layout: Layout, scores: tuple[ScorePoint, ...], game: Game) -> Iterator[Shape]:
    """Draw both sides' scores over the turns: alpha's line plain, bravo's with dots, each with its letter."""
    area = layout.chart
    size, line = layout.text_size("tiny"), layout.line_height("tiny")
    if area.height < 3 * line or not scores:
        return
    yield box(area, theme.CARD, r=max(round(6 * layout.scale), 3))
    padding = max(round(8 * layout.scale), 4)
    left, width = area.left + padding + 2 * size, area.width - 2 * padding - 4 * size
    plot = Rect.truncated(left, area.top + line * 0.8, width, area.height - 1.9 * line)
    yield Text((plot.left + padding, plot.top), "SCORE", size, theme.FAINT)
    thinned = _thinned(scores)
    first, last = thinned[0].turns, max(thinned[-1].turns, thinned[0].turns + _MIN_TURNS)
    win = int(max(largest(game.config.side(side).points.win) for side in SIDES))
    low, high = _bounds(scores, win)
    yield from _axes(plot, size, (low, high), (first, last))

    def point(turns: int, score: int) -> Point:
        x = plot.left + (turns - first) / (last - first) * plot.width
        return x, plot.bottom - (score - low) / (high - low) * plot.height

    if low < win <= high:
        level = point(first, win)[1]
        yield Polyline(((plot.left, level), (plot.right, level)), theme.LINE, dashed=True)
        yield Text((plot.right, level), "wins", size, theme.FAINT, "bottomright")
    yield from _curves(layout, thinned, point)


def _curves(layout: Layout, scores: tuple[ScorePoint, ...], point: Callable[[int, int], Point]) -> Iterator[Shape]:
    size = layout.text_size("tiny")
    ends = []
    for side in SIDES:
        points = tuple(point(score.turns, getattr(score, side)) for score in scores)
        color = theme.SIDES[side]
        yield Polyline(points, color, layout.stroke(3.4 if side == "alpha" else 1.6))
        if side == "bravo" or len(points) == 1:
            for center in points:
                yield Circle(center, max(2.6 * layout.scale, 2), color)
        ends.append((points[-1][1], side, points[-1]))
    ends.sort()
    apart = max(size - (ends[1][0] - ends[0][0]), 0) / 2
    for (_, side, (x, y)), shift in zip(ends, (-apart, apart), strict=True):
        yield Text((x + size * 0.5, y + shift), side[0].upper(), size, theme.SIDES_BRIGHT[side])


def _thinned(scores: tuple[ScorePoint, ...]) -> tuple[ScorePoint, ...]:
    step = -(-len(scores) // _MAX_POINTS)
    return scores if step == 1 else (*scores[:-1:step], scores[-1])


def _bounds(scores: tuple[ScorePoint, ...], win: int) -> tuple[int, int]:
    """Return the lowest and the highest number of the axis."""
    values = [value for score in scores for value in (score.alpha, score.bravo)]
    low, high = min(values), max(values)
    padding = max((high - low) // 8, 10)
    high = max(high + padding, win + padding) if win < 1.4 * high else high + padding
    return max(low - padding, 0), high


def _axes(plot: Rect, size: int, scores: tuple[int, int], turns: tuple[int, int]) -> Iterator[Shape]:
    corners = plot.corners
    yield Polyline((corners["topleft"], corners["bottomleft"], corners["bottomright"]), theme.LINE)
    for score, y in zip(scores, (plot.bottom, plot.top), strict=True):
        yield Text((plot.left - size * 0.4, y), str(score), size, theme.FAINT, "midright")
    anchors: tuple[TextAnchor, TextAnchor] = ("topleft", "topright")
    for turn, x, anchor in zip(turns, (plot.left, plot.right), anchors, strict=True):
        yield Text((x, plot.bottom + 2), f"turn {turn}", size, theme.FAINT, anchor)
