"""Pictures of an environment's game: in a window, or as arrays."""

import time

import numpy as np
from numpy.typing import NDArray

from geo_patrol.drawing.screen import NoScreenError, Screen, is_invisible, warn_of_no_screen
from geo_patrol.engine.state import NOOP, NUM_SIDES, SATELLITES
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.timeline import NO_ORDERS, ScorePoint, Snapshot, add_score, score_point
from geo_patrol.window.picture import Picture

_FRAMES_PER_SECOND = 40


class Viewer:
    """Shows a game position by position.

    Args:
        size: width and height of pictures, and of the window, in pixels.
        phases_per_second: speed of the window; a window that was closed, or cannot be opened, does not wait.
    """

    def __init__(self, size: tuple[int, int], phases_per_second: float) -> None:
        self._size = size
        self._seconds = 1 / phases_per_second
        self._picture: Picture | None = None
        self._screen: Screen | None = None
        self._has_failed = False
        self._snapshot: Snapshot | None = None
        self._scores: list[ScorePoint] = []

    def reset(self, game: Game) -> None:
        """Begin with a position, which must be a copy for the viewer alone."""
        self._scores = [score_point(game)]
        self._snapshot = Snapshot.of(game)

    def step(self, game: Game) -> None:
        """Go on to the position after a phase, which must be a copy for the viewer alone."""
        last = self._snapshot
        if last is None:
            self.reset(game)
            return
        add_score(self._scores, game)
        was_engagement = last.game.phase == "engagement"
        unknown = np.full((NUM_SIDES, SATELLITES), NOOP, np.int8)  # an environment does not keep the orders
        self._snapshot = Snapshot(
            game=game,
            last_phase=Phase(
                last.game.turn, last.game.phase, NO_ORDERS, unknown, (0, 0), game.outcomes, before=last.game, after=game
            ),
            scores=tuple(self._scores),
            outcomes=game.outcomes if was_engagement else last.outcomes,
            outcomes_turn=last.game.turn if was_engagement else last.outcomes_turn,
            result=game.result,
        )

    def array(self) -> NDArray[np.uint8]:
        """Return a picture of the position, (height, width, 3) uint8."""
        assert self._snapshot is not None
        return self._picture_of(self._size).frame(self._snapshot)

    def show(self, animate: bool = True) -> None:
        """Show the position in the window, which is opened by the first call; do nothing where none can be.

        Args:
            animate: let the satellites glide to it, which takes the time of a phase.
        """
        screen = self._open_screen()
        if screen is None:
            return
        start = time.monotonic()
        progress = 0.0 if animate and not is_invisible() else 1.0
        while True:
            self._draw(screen, progress)
            if progress >= 1 or not screen.is_open:
                return
            time.sleep(1 / _FRAMES_PER_SECOND)
            progress = min((time.monotonic() - start) / self._seconds, 1.0)

    def _draw(self, screen: Screen, progress: float) -> None:
        screen.events()
        if screen.is_open and self._snapshot is not None:
            screen.show(self._picture_of(screen.size).draw(self._snapshot, progress))

    def _open_screen(self) -> Screen | None:
        """Return the window; None without a screen, or after it was closed, so that training goes on."""
        if self._screen is None and not self._has_failed and self._snapshot is not None:
            try:
                self._screen = Screen(self._snapshot.game.config.title, self._size)
            except NoScreenError as error:
                self._has_failed = True
                warn_of_no_screen(error)
        return self._screen if self._screen is not None and self._screen.is_open else None

    def _picture_of(self, size: tuple[int, int]) -> Picture:
        assert self._snapshot is not None
        picture = self._picture
        if picture is None or (picture.width, picture.height) != size or picture.config != self._snapshot.game.config:
            picture = self._picture = Picture(*size, self._snapshot.game.config)
        return picture

    def close(self) -> None:
        """Close the window."""
        if self._screen is not None:
            self._screen.close()
        self._picture = None
