"""Render modes of the environments."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from geo_patrol.base.sides import Side
    from geo_patrol.game.game import Game
    from geo_patrol.window.viewer import Viewer

RENDER_MODES = ("human", "rgb_array", "ansi")
RENDER_FPS = 2
"""Phases a second in a window, and pictures a second in a video of an episode."""
RENDER_SIZE = (1280, 720)

Rendered: TypeAlias = str | NDArray[np.uint8] | None


class Display:
    """Renders the game of an environment, which ``game`` returns. pygame is imported when it is first needed.

    Args:
        render_mode: "human", "rgb_array", "ansi" or None.
        render_size: width and height of pictures in pixels.

    Attributes:
        side: whose view of the game is shown, if it hides enemies; None shows everything.

    Raises:
        ValueError: there is no such mode, or the size is invalid.
    """

    def __init__(self, render_mode: str | None, render_size: tuple[int, int]) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be {', '.join(map(repr, RENDER_MODES))} or None, got {render_mode!r}")
        self._mode = render_mode
        self._size = _check_size(render_size)
        self._viewer: Viewer | None = None
        self.side: Side | None = None

    def reset(self, game: "Callable[[], Game]") -> None:
        """Render the position after a reset."""
        if self._mode in ("human", "rgb_array"):
            self._get_viewer().reset(self._shown(game()))
            self._show(animate=False)

    def step(self, game: "Callable[[], Game]") -> None:
        """Render the position after a step."""
        if self._mode in ("human", "rgb_array"):
            self._get_viewer().step(self._shown(game()))
            self._show(animate=True)

    def render(self, game: "Callable[[], Game]") -> Rendered:
        """Return the position as text or as a picture, or show it in the window, depending on the mode."""
        if self._mode is None:
            return None
        if self._mode == "ansi":
            return str(self._shown(game()))
        if self._mode == "rgb_array":
            return self._get_viewer().array()
        self._show(animate=False)
        return None

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._viewer is not None:
            self._viewer.close()

    def _shown(self, game: "Game") -> "Game":
        return game if self.side is None else game.seen_by(self.side)

    def _show(self, animate: bool) -> None:
        if self._mode == "human":
            self._get_viewer().show(animate)

    def _get_viewer(self) -> "Viewer":
        if self._viewer is None:
            from geo_patrol.window.viewer import Viewer  # noqa: PLC0415 - imports pygame

            self._viewer = Viewer(self._size, RENDER_FPS)
        return self._viewer


def _check_size(size: Any) -> tuple[int, int]:
    hint = "give width and height in pixels, such as (1280, 720)"
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ValueError(f"render_size = {size!r}: {hint}")
    width, height = size
    for value, low in ((width, 320), (height, 240)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= 8192:
            raise ValueError(f"render_size = {size!r}: {hint}, from 320 x 240 to 8192 x 8192")
    return int(width), int(height)
