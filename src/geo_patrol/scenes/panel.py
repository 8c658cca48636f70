"""The panels beside the board: title, phase and score; the tables of both fleets; the score over the turns."""

import functools
import math
from collections.abc import Callable, Iterator

from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.toml_files import largest
from geo_patrol.drawing.shapes import Circle, Point, Polyline, Rect, Shape, Symbol, Text, TextAnchor, Use, box
from geo_patrol.game.game import Game
from geo_patrol.game.notation import Result, Satellite
from geo_patrol.game.timeline import ScorePoint
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.satellites import Arrangement, TokenStyle, token_shape

_ANCHORS: tuple[TextAnchor, TextAnchor] = ("midleft", "midright")
_MIN_TURNS = 10
_MAX_POINTS = 400
"""A long game is thinned to so many points."""


def header_shapes(
    layout: Layout, game: Game, names: tuple[str, str], phase: str, result: Result | None
) -> Iterator[Shape]:
    """Draw title, turn, score, and the phase or the result.

    Args:
        layout: layout of the picture.
        game: the position whose score is shown.
        names: who plays alpha and bravo.
        phase: name of the phase.
        result: how the game ended; None if it goes on.
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
        is_estimated = any(one.side == side for one in game.out_of_sight)
        score = f"~{game.scores[side]}" if is_estimated else str(game.scores[side])
        yield Text((x, y), score, huge, theme.SIDES_BRIGHT[side], anchor)
    yield from _phase(layout, phase, result, y)
    yield from _names(layout, game, names, result)


def _phase(layout: Layout, phase: str, result: Result | None, y: int) -> Iterator[Shape]:
    if result is None:
        size, text, color = layout.text_size("normal"), phase.upper(), theme.TEXT
    elif result.winner is None:
        size, text, color = layout.text_size("large"), "DRAW", theme.TEXT
    else:
        winner = result.winner
        size, text, color = layout.text_size("large"), f"{winner.upper()} WINS", theme.SIDES_BRIGHT[winner]
    center = layout.header.center[0], y
    rect = Rect.anchored(layout.measure(text, size), "center", center).inflated(size * 1.6, size * 0.7)
    edge = None if result is None else color
    yield box(rect, theme.CARD_BRIGHT, edge, layout.stroke(1.5), rect.height // 2)
    yield Text(rect.center, text, size, color, "center")


def _names(layout: Layout, game: Game, names: tuple[str, str], result: Result | None) -> Iterator[Text]:
    header = layout.header
    size, line = layout.text_size("small"), layout.line_height("normal")
    edges = header.left, header.right
    y = header.bottom - line - layout.line_height("small") // 2
    for side, x, anchor, name in zip(SIDES, edges, _ANCHORS, names, strict=True):
        text = layout.fitted(f"{side}, {name}" if name else side, size, round(header.width * 0.36))
        yield Text((x, y), text, size, theme.SOFT, anchor)
    below = header.bottom - line * 0.45
    if result is not None:
        text = layout.fitted(result.in_words, size, header.width)
        yield Text((header.center[0], below), text, size, theme.TEXT, "center")
        return
    for side, x, anchor in zip(SIDES, edges, _ANCHORS, strict=True):
        source = "from goal and Patrols" if game.config.counts_patrols else "from the goal"
        yield Text((x, below), f"{game.goal_points[side]} {source}", size, theme.FAINT, anchor)


def row_of(layout: Layout, side: Side, number: int) -> Rect:
    """Return where a satellite is in its fleet."""
    table = layout.tables[SIDES.index(side)]
    row, column = divmod(number, layout.columns)
    width, height = table.width / layout.columns, layout.token + layout.line_height("tiny")
    top = table.top + layout.line_height("small") + row * height
    return Rect.truncated(table.left + column * width, top, width, height)


def fleet_shapes(layout: Layout, fleets: Arrangement) -> Iterator[Shape]:
    """Draw both fleets: satellites with their fuel beneath, a dashed ring for those that were destroyed.

    Beneath those out of sight is the turn in which they were last seen.
    """
    size, line = layout.text_size("small"), layout.line_height("small")
    for side, table in zip(SIDES, layout.tables, strict=True):
        fleet = [one for one in fleets.satellites if one.id.side == side]
        left = sum(not one.destroyed for one in fleet)
        y = table.top + line / 2
        yield Text((table.left, y), side, size, theme.SIDES_BRIGHT[side], bold=True)
        yield Text((table.right, y), f"{left} of {len(fleet)}", size, theme.SOFT, "midright")
    for satellite in fleets.satellites:
        yield from _satellite(layout, satellite, fleets.styles[satellite.id], fleets.out_of_sight.get(satellite.id))


def _satellite(layout: Layout, satellite: Satellite, style: TokenStyle, last_seen: int | None) -> Iterator[Shape]:
    cell, size = row_of(layout, satellite.id.side, satellite.id.number), layout.text_size("tiny")
    radius = layout.token / 2
    center = cell.left + cell.width / 2, cell.top + radius
    if satellite.destroyed:
        yield Use(_gap(), center, 2 * round(radius))
        return
    yield token_shape(style, center, radius)
    color = theme.SOFT if satellite.is_active else theme.FAINT
    below = str(satellite.fuel) if last_seen is None else f"turn {last_seen}"
    yield Text((center[0], cell.bottom - 0.55 * layout.line_height("tiny")), below, size, color, "center")


@functools.cache
def _gap() -> Symbol:
    """Return the dashed ring of a satellite that was destroyed."""
    angles = [math.tau * step / 24 for step in range(25)]
    points = [(0.86 * math.cos(angle), 0.86 * math.sin(angle)) for angle in angles]
    dashes = [Polyline(tuple(points[start : start + 2]), theme.FAINT, 0.07) for start in range(0, 24, 2)]
    return Symbol((*dashes, Text((0, 0), "\u00d7", 0.9, theme.FAINT, "center")), theme.PANEL)


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
    corners = (plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)
    yield Polyline(corners, theme.LINE)
    for score, y in zip(scores, (plot.bottom, plot.top), strict=True):
        yield Text((plot.left - size * 0.4, y), str(score), size, theme.FAINT, "midright")
    anchors: tuple[TextAnchor, TextAnchor] = ("topleft", "topright")
    for turn, x, anchor in zip(turns, (plot.left, plot.right), anchors, strict=True):
        yield Text((x, plot.bottom + 2), f"turn {turn}", size, theme.FAINT, anchor)
