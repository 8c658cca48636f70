"""A window to watch a game in, live or recorded."""

import pygame

from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.window import GameWindow
from geo_patrol.sessions.playback import SPEEDS, Advance, Playback
from geo_patrol.sessions.timeline import Timeline


def watch(
    timeline: Timeline, advance: Advance | None = None, title: str = "geo_patrol", size: tuple[int, int] = (1280, 720)
) -> None:
    """Show a game until the window is closed.

    Args:
        timeline: the game; it may go on growing.
        advance: plays the next phase of a live game, as ``LiveGame.advance`` does; None for a recording.
        title: of the window.
        size: of the window in points.

    Raises:
        NoScreenError: there is no screen.
    """
    WatchWindow(timeline, advance, title, size).run()


class WatchWindow(GameWindow):
    """The window of ``watch``."""

    def __init__(
        self,
        timeline: Timeline,
        advance: Advance | None = None,
        title: str = "geo_patrol",
        size: tuple[int, int] = (1280, 720),
    ) -> None:
        self.playback = Playback(timeline, advance, self.wait_for_agent)
        super().__init__(timeline[0].game.config, title, size=size)

    def make_controls(self) -> list[Control]:
        """Return what can be done while watching."""
        go = self.playback
        return [
            Control("begin again", go.restart, ("r", "home"), sign="restart"),
            Control("jump to the engagement before", go.previous_engagement, ("shift+e",), sign="previous engagement"),
            Control("a turn back", go.previous_turn, ("page up", "up"), sign="previous turn"),
            Control("a step back", go.back, ("left",), sign="back"),
            Control("pause or go on", go.toggle, ("space",), sign="pause"),
            Control("a step forward", go.forward, ("right",), sign="forward"),
            Control("a turn forward", go.next_turn, ("page down", "down"), sign="next turn"),
            Control("jump to the next engagement", go.next_engagement, ("e",), sign="next engagement"),
            Control("to the last position", go.to_end, ("end",)),
            Control("slower", go.slower, ("-",), sign="minus"),
            Control("faster", go.faster, ("+", "="), sign="plus"),
        ]

    def tick(self, seconds: float) -> bool:
        """Let time pass."""
        if not self.shows_help:
            self.playback.tick(seconds)
        return self.playback.is_moving

    def paint(self) -> pygame.Surface:
        """Draw the game."""
        return self.picture.draw(self.playback.scene, self.playback.progress)

    def paint_over(self, surface: pygame.Surface) -> None:
        """Draw how far the game has come, and how fast it goes."""
        self._draw_course(surface)

    @property
    def course(self) -> pygame.Rect:
        """Where the bar is that shows how far the game has come."""
        layout = self.picture.layout
        size = layout.text_size("small")
        speed = glyphs.text_width(f"{min(SPEEDS)} x  paused", size) + size  # stands behind it
        return pygame.Rect(layout.toolbar.topleft, (layout.toolbar.width - speed, layout.line("normal")))

    def click(self, pixel: tuple[int, int]) -> None:
        """Go to the place of the course that was clicked."""
        course = self.course
        if course.collidepoint(pixel):
            self.playback.seek((pixel[0] - course.left) / course.width)

    def _draw_course(self, surface: pygame.Surface) -> None:
        layout, course, timeline = self.picture.layout, self.course, self.playback.timeline
        size = layout.text_size("small")
        height = max(course.height // 4, 3)
        track = pygame.Rect(course.left, course.centery - height // 2, course.width, height)
        last = max(len(timeline) - 1, 1)
        pygame.draw.rect(surface, theme.FUEL_TRACK, track, border_radius=height // 2)
        reached = track.copy()
        reached.width = round(track.width * self.playback.index / last)
        pygame.draw.rect(surface, theme.SOFT, reached, border_radius=height // 2)
        for place, moment in enumerate(timeline, start=1):
            if moment.outcomes:
                across = track.left + round(track.width * min(place, last) / last)
                pygame.draw.rect(surface, theme.TEXT, (across - 1, track.top - height, 2, 3 * height))
        pygame.draw.aacircle(surface, theme.CHOICE, (reached.right, track.centery), height * 1.4)
        speed = f"{self.playback.speed:g} x" + ("" if self.playback.is_playing else "  paused")
        glyphs.put_text(surface, speed, size, theme.SOFT, (layout.toolbar.right, track.centery), "midright")
