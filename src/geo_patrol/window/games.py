"""A window to watch the recorded games of a file in, one after the other."""

from typing import Protocol

from geo_patrol.base.errors import RecordingError
from geo_patrol.game.timeline import Timeline
from geo_patrol.window.controls import Control
from geo_patrol.window.watch import WatchWindow


class GameSource(Protocol):
    """The games of a file, by their numbers from 0; ``replays.files.GameList`` is one."""

    def has(self, number: int) -> bool:
        """Return whether there is a game of this number."""

    def timeline(self, number: int) -> Timeline:
        """Return a game; raise RecordingError if it cannot be shown."""

    def title(self, number: int) -> str:
        """Return the title of a game; raise RecordingError if there is none."""


def watch_games(games: GameSource, number: int = 0) -> None:
    """Show the games of a file until the window is closed.

    Args:
        games: games of the file.
        number: number of the first game to show.

    Raises:
        NoScreenError: there is no screen.
        RecordingError: there is no such game.
    """
    GamesWindow(games, number).run()


class GamesWindow(WatchWindow):
    """The window of ``watch_games``.

    Attributes:
        number: number of the game that is shown.
    """

    def __init__(self, games: GameSource, number: int = 0, size: tuple[int, int] = (1280, 720)) -> None:
        self._games, self.number = games, number
        super().__init__(games.timeline(number), None, games.title(number), size)

    def make_controls(self) -> list[Control]:
        """Return the controls for moving about in the game, and in the file."""
        return [
            *super().make_controls(),
            Control("the game before", self._previous, ("p",), label="<", is_open=lambda: self.number > 0),
            Control("the next game", self._next, ("n",), label=">", is_open=lambda: self._games.has(self.number + 1)),
        ]

    def _previous(self) -> None:
        self.open(self.number - 1)

    def _next(self) -> None:
        self.open(self.number + 1)

    def open(self, number: int) -> None:
        """Show another game from its start, or say why it cannot be shown."""
        try:
            timeline = self._games.timeline(number)
        except RecordingError as error:
            self.show_message(str(error))
            return
        self.number = number
        self.playback.load(timeline)
        self.set_config(timeline[0].config)
        self.screen.set_title(self._games.title(number))
