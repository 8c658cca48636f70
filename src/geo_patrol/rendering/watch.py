"""A window to watch a game in, live or recorded."""

from collections.abc import Iterator

from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.screen import Screen
from geo_patrol.rendering.window import GameWindow
from geo_patrol.scenes import theme
from geo_patrol.scenes.shapes import Box, Circle, Rect, Shape, Text, box
from geo_patrol.sessions.live import Timeline
from geo_patrol.sessions.playback import SPEEDS, Advance, Playback


def watch(
    timeline: Timeline,
    advance: Advance | None = None,
    title: str = "geo_patrol",
    size: tuple[int, int] = (1280, 720),
    screen: Screen | None = None,
) -> None:
    """Show a game until the window is closed.

    Args:
        timeline: the game; it may go on growing.
        advance: plays the next phase of a live game, as ``LiveGame.advance`` does; None for a recording.
        title: title of the window.
        size: size of the window in points.
        screen: where it is shown; by default, one of its own.

    Raises:
        NoScreenError: there is no screen.
    """
    WatchWindow(timeline, advance, title, size, screen).run()


class WatchWindow(GameWindow):
    """The window of ``watch``."""

    def __init__(
        self,
        timeline: Timeline,
        advance: Advance | None = None,
        title: str = "geo_patrol",
        size: tuple[int, int] = (1280, 720),
        screen: Screen | None = None,
    ) -> None:
        self.playback = Playback(timeline, advance, self.wait_for_agent)
        super().__init__(timeline[0].config, title, size, screen)

    def make_controls(self) -> list[Control]:
        """Return the controls for moving about in the game."""
        playback = self.playback
        return [
            Control("begin again", playback.restart, ("r", "home"), sign="restart"),
            Control(
                "jump to the engagement before", playback.previous_engagement, ("shift+e",), sign="previous engagement"
            ),
            Control("a turn back", playback.previous_turn, ("page up", "up"), sign="previous turn"),
            Control("a step back", playback.back, ("left",), sign="back"),
            Control("pause or go on", playback.toggle, ("space",), sign="pause"),
            Control("a step forward", playback.forward, ("right",), sign="forward"),
            Control("a turn forward", playback.next_turn, ("page down", "down"), sign="next turn"),
            Control("jump to the next engagement", playback.next_engagement, ("e",), sign="next engagement"),
            Control("to the last position", playback.to_end, ("end",)),
            Control("slower", playback.slower, ("-",), sign="minus"),
            Control("faster", playback.faster, ("+", "="), sign="plus"),
            *super().make_controls(),
        ]

    @property
    def progress_bar(self) -> Rect:
        """Where the bar is that shows how far the game has come."""
        layout = self.layout
        size = layout.text_size("small")
        speed = layout.text_width(f"{min(SPEEDS)} x  paused", size) + size  # written behind the bar
        toolbar = layout.toolbar
        return Rect(toolbar.left, toolbar.top, toolbar.width - speed, layout.line_height("normal"))

    def click(self, pixel: tuple[int, int]) -> None:
        """Go to the point of the progress bar that was clicked, or open the list of engagements."""
        bar = self.progress_bar
        if bar.contains(pixel):
            self.playback.seek((pixel[0] - bar.left) / bar.width)
        elif self.layout.outcomes.contains(pixel):
            self.show_situation()

    def overlay(self) -> Iterator[Shape]:
        """Draw the progress bar with its engagements, and the speed."""
        layout, bar, timeline = self.layout, self.progress_bar, self.playback.timeline
        y = bar.center[1]
        height = max(bar.height // 4, 3)
        track = Rect(bar.left, y - height // 2, bar.width, height)
        last = max(len(timeline) - 1, 1)
        played = track._replace(width=round(track.width * self.playback.index / last))
        yield box(track, theme.FUEL_TRACK, r=height // 2)
        yield box(played, theme.SOFT, r=height // 2)
        for index, phase in enumerate(timeline.phases, start=1):
            if phase.outcomes:
                x = track.left + round(track.width * min(index, last) / last)
                yield Box(x - 1, track.top - height, 2, 3 * height, theme.TEXT)
        yield Circle((played.right, y), height * 1.4, theme.CHOICE)
        speed = f"{self.playback.speed:g} x" + ("" if self.playback.is_playing else "  paused")
        yield Text((layout.toolbar.right, y), speed, layout.text_size("small"), theme.SOFT, "midright")
