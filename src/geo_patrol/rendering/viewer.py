"""What an environment shows of its game: a window, or pictures as arrays."""

import logging
import time

import numpy as np
from numpy.typing import NDArray

from geo_patrol.game import Game
from geo_patrol.rendering.picture import Picture
from geo_patrol.rendering.screen import NoScreenError, Screen, is_unseen
from geo_patrol.sessions.timeline import Moment, Scene, ScorePoint, add_score, score_point

_FRAMES_PER_SECOND = 40


class Viewer:
    """Follows a game position by position.

    Args:
        size: width and height of pictures, and of the window, in pixels.
        phases_per_second: how fast the window shows phases; a window that was closed, or is none, does not wait.
    """

    def __init__(self, size: tuple[int, int], phases_per_second: float) -> None:
        self._size = size
        self._seconds = 1 / phases_per_second
        self._picture: Picture | None = None
        self._screen: Screen | None = None
        self._has_given_up = False
        self._scene: Scene | None = None
        self._scores: list[ScorePoint] = []

    def begin(self, game: Game) -> None:
        """Take up a game; it must be a copy for the viewer alone."""
        self._scores = [score_point(game)]
        self._scene = Scene.of(game)

    def follow(self, game: Game) -> None:
        """Take up the position after the next phase; it must be a copy for the viewer alone."""
        last = self._scene
        if last is None:
            self.begin(game)
            return
        add_score(self._scores, game)
        fought = last.game.phase == "engagement"
        self._scene = Scene(
            game=game,
            before=Moment(last.game, outcomes=game.outcomes),
            scores=tuple(self._scores),
            outcomes=game.outcomes if fought else last.outcomes,
            outcomes_turn=last.game.turn if fought else last.outcomes_turn,
        )

    def array(self) -> NDArray[np.uint8]:
        """Return a picture of the position, (height, width, 3) uint8."""
        assert self._scene is not None
        return self._picture_of(self._size).frame(self._scene)

    def show(self, moving: bool = True) -> None:
        """Show the position in the window, which opens at the first call; without one, do nothing.

        Args:
            moving: let the satellites glide to it, which takes the time of a phase.
        """
        screen = self._open_screen()
        if screen is None:
            return
        start = time.monotonic()
        progress = 0.0 if moving and not is_unseen() else 1.0
        while True:
            self._draw(screen, progress)
            if progress >= 1 or not screen.is_open:
                return
            time.sleep(1 / _FRAMES_PER_SECOND)
            progress = min((time.monotonic() - start) / self._seconds, 1.0)

    def _draw(self, screen: Screen, progress: float) -> None:
        screen.events()
        if screen.is_open and self._scene is not None:
            screen.show(self._picture_of(screen.size).draw(self._scene, progress))

    def _open_screen(self) -> Screen | None:
        """Return the window; None when there is no screen, or it was closed: whoever trains goes on undisturbed."""
        if self._screen is None and not self._has_given_up and self._scene is not None:
            try:
                self._screen = Screen(self._scene.game.config.title, self._size)
            except NoScreenError as error:
                self._has_given_up = True
                message = "render_mode='human': %s; without a screen use 'rgb_array' (pictures) or 'ansi' (text)"
                logging.getLogger("geo_patrol").warning(message, error)
        return self._screen if self._screen is not None and self._screen.is_open else None

    def _picture_of(self, size: tuple[int, int]) -> Picture:
        assert self._scene is not None
        picture = self._picture
        if picture is None or (picture.width, picture.height) != size or picture.config != self._scene.game.config:
            picture = self._picture = Picture(*size, self._scene.game.config)
        return picture

    def close(self) -> None:
        """Close the window."""
        if self._screen is not None:
            self._screen.close()
        self._picture = None
