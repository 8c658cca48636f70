"""The score over the turns as a small chart."""

from collections.abc import Callable, Iterator

from geo_patrol.config.ranges import largest
from geo_patrol.game import Game
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.shapes import Circle, Point, Polyline, Rect, Shape, Text, TextAnchor, box
from geo_patrol.sessions.timeline import ScorePoint
from geo_patrol.sides import SIDES

_MIN_TURNS = 10
_MAX_POINTS = 400
"""A long game is thinned to so many points."""


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
