"""The course of the score as a small curve."""

import itertools
from collections.abc import Callable

import pygame

from geo_patrol.config.ranges import largest
from geo_patrol.game import Game
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.marks import put_stroke
from geo_patrol.scenes.geometry import Point
from geo_patrol.sessions.timeline import ScorePoint
from geo_patrol.sides import SIDES

_FEWEST_TURNS = 10
_MOST_POINTS = 400
"""So many points of a long game are drawn."""


def draw_chart(surface: pygame.Surface, layout: Layout, scores: tuple[ScorePoint, ...], game: Game) -> None:
    """Draw both sides' scores over the turns: alpha's line whole, bravo's with dots, each with its letter."""
    area = layout.chart
    size, line = layout.text_size("tiny"), layout.line("tiny")
    if area.height < 3 * line or not scores:
        return
    radius = max(round(6 * layout.scale), 3)
    pygame.draw.rect(surface, theme.CARD, area, border_radius=radius)
    pad = max(round(8 * layout.scale), 4)
    plot = pygame.Rect(
        area.left + pad + 2 * size, area.top + line * 0.8, area.width - 2 * pad - 4 * size, area.height - 1.9 * line
    )
    glyphs.put_text(surface, "SCORE", size, theme.FAINT, (plot.left + pad, plot.top))
    shown = _thinned(scores)
    first, last = shown[0].turns, max(shown[-1].turns, shown[0].turns + _FEWEST_TURNS)
    low, high = _bounds(scores, game)
    _draw_axis(surface, plot, size, low, high, first, last)

    def place(turns: int, points: int) -> Point:
        across = (turns - first) / (last - first)
        return plot.left + across * plot.width, plot.bottom - (points - low) / (high - low) * plot.height

    win = max(largest(game.config.side(side).points.win) for side in SIDES)
    if low < win <= high:
        level = place(first, int(win))[1]
        put_stroke(surface, theme.LINE, (plot.left, level), (plot.right, level), 1, whole=False)
        glyphs.put_text(surface, "wins", size, theme.FAINT, (plot.right, level), "bottomright")
    _draw_curves(surface, layout, shown, place)


def _draw_curves(
    surface: pygame.Surface, layout: Layout, shown: tuple[ScorePoint, ...], place: Callable[[int, int], Point]
) -> None:
    size = layout.text_size("tiny")
    ends = []
    for side in SIDES:
        points = [place(point.turns, getattr(point, side)) for point in shown]
        colour = theme.SIDES[side]
        width = max(round((3.4 if side == "alpha" else 1.6) * layout.scale), 1)
        for start, end in itertools.pairwise(points):
            pygame.draw.aaline(surface, colour, start, end, width)
        if side == "bravo" or len(points) == 1:
            for point in points:
                pygame.draw.aacircle(surface, colour, point, max(2.6 * layout.scale, 2))
        ends.append((points[-1][1], side, points[-1]))
    ends.sort()
    apart = max(size - (ends[1][0] - ends[0][0]), 0) / 2
    for (_, side, (across, down)), shift in zip(ends, (-apart, apart), strict=True):
        letter = side[0].upper()
        glyphs.put_text(surface, letter, size, theme.SIDES_BRIGHT[side], (across + size * 0.5, down + shift))


def _thinned(scores: tuple[ScorePoint, ...]) -> tuple[ScorePoint, ...]:
    step = -(-len(scores) // _MOST_POINTS)
    return scores if step == 1 else (*scores[:-1:step], scores[-1])


def _bounds(scores: tuple[ScorePoint, ...], game: Game) -> tuple[int, int]:
    """Return the lowest and the highest number of the axis."""
    points = [points for point in scores for points in (point.alpha, point.bravo)]
    low, high = min(points), max(points)
    room = max((high - low) // 8, 10)
    win = int(max(largest(game.config.side(side).points.win) for side in SIDES))
    high = max(high + room, win + room) if win < 1.4 * high else high + room
    return max(low - room, 0), high


def _draw_axis(
    surface: pygame.Surface, plot: pygame.Rect, size: int, low: int, high: int, first: int, last: int
) -> None:
    pygame.draw.line(surface, theme.LINE, plot.bottomleft, plot.bottomright)
    pygame.draw.line(surface, theme.LINE, plot.topleft, plot.bottomleft)
    for level, place in ((low, plot.bottom), (high, plot.top)):
        glyphs.put_text(surface, str(level), size, theme.FAINT, (plot.left - size * 0.4, place), "midright")
    for turn, place, anchor in ((first, plot.left, "topleft"), (last, plot.right, "topright")):
        glyphs.put_text(surface, f"turn {turn}", size, theme.FAINT, (place, plot.bottom + 2), anchor)
