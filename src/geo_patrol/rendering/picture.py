"""``Picture``: draws scenes of a game, offscreen or for a window."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config import GameConfig
from geo_patrol.game import Game
from geo_patrol.rendering.timeline import Scene


class Picture:
    """Draws pictures of games of one configuration in one size.

    Args:
        width: of the picture in pixels, from 320.
        height: of the picture in pixels, from 240.
        config: what is played; it decides the board.

    Raises:
        ValueError: the size is too small or too large.
    """

    def __init__(self, width: int, height: int, config: GameConfig) -> None:
        self.width, self.height, self.config = width, height, config

    def frame(self, shown: Scene | Game, progress: float = 1.0) -> NDArray[np.uint8]:
        """Draw a scene.

        Args:
            shown: a scene of a timeline (``timeline.scene(index)``), or a bare position.
            progress: 0 shows the position before it, 1 the scene's own; between them satellites glide, an engagement
                is fought, and the board turns with the drift. A bare position stands still.

        Returns:
            (height, width, 3) uint8, a new array.
        """
        raise NotImplementedError

    def draw(self, shown: Scene | Game, progress: float = 1.0) -> Any:
        """Draw a scene and return the pygame surface that holds it, until the next one is drawn."""
        raise NotImplementedError
