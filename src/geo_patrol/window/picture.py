"""``Picture``: draws snapshots of a game, offscreen or for a window."""

from typing import Any

import numpy as np
import pygame
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.drawing.painter import Painter, text_extent
from geo_patrol.game.game import Game
from geo_patrol.game.timeline import Snapshot
from geo_patrol.scenes import theme
from geo_patrol.scenes.board import board_shapes
from geo_patrol.scenes.layout import ToolbarHeight, make_layout
from geo_patrol.scenes.picture import PanelState, fleet_size, moving_shapes, panel_shapes
from geo_patrol.scenes.satellites import Motion

_RGB = (0xFF, 0xFF00, 0xFF0000, 0)  # masks of a pixel of three bytes in this order
_MAX_BACKGROUNDS = 4
"""Parts of a phase whose backgrounds are kept: an engagement has many, which are shown one after another."""


class Picture:
    """Draws pictures of games of one configuration in one size.

    What stays from frame to frame is drawn once and cached: the board when the picture is made, the panels when a
    snapshot is shown for the first time.

    Args:
        width: width of the picture in pixels, from 320.
        height: height of the picture in pixels, from 240.
        config: configuration of the games; it decides the board.
        toolbar: returns the height of the buttons in a width, which a window leaves free.

    Raises:
        ValueError: the size is too small or too large.
    """

    def __init__(self, width: int, height: int, config: GameConfig, toolbar: ToolbarHeight = lambda _width: 0) -> None:
        self.width, self.height, self.config = width, height, config
        self.layout = make_layout(width, height, config.board, fleet_size(config), toolbar, text_extent)
        self._canvas = pygame.Surface((width, height), 0, 32)
        self._painter = Painter(self._canvas)
        self._packed = pygame.Surface((width, height), 0, 24, _RGB)
        self._board = self._draw_board(is_turning=False)
        self._turning_board = self._draw_board(is_turning=True)
        self._motion: Motion | None = None
        self._backgrounds: dict[PanelState, pygame.Surface] = {}
        self._free_surfaces: list[pygame.Surface] = []
        self._intact: pygame.Surface | None = None  # the background that the canvas shows unchanged beside the board

    def frame(self, shown: Snapshot | Game, progress: float = 1.0) -> NDArray[np.uint8]:
        """Draw a snapshot.

        Args:
            shown: a snapshot of a timeline (``timeline.snapshot(index)``), or a bare position.
            progress: 0 draws the position before it, 1 the snapshot's own; between them satellites glide, an
                engagement is resolved, and the board turns with the drift. A bare position stands still.

        Returns:
            (height, width, 3) uint8, a new array.
        """
        changed = self._compose(shown, progress)
        self._packed.blit(self._canvas, changed, changed)
        packed: Any = self._packed.get_buffer()
        rows: NDArray[np.uint8] = np.frombuffer(packed, np.uint8).reshape(self.height, -1)
        return rows[:, : 3 * self.width].reshape(self.height, self.width, 3).copy()

    def draw(self, shown: Snapshot | Game, progress: float = 1.0) -> pygame.Surface:
        """Draw a snapshot as ``frame`` does; return the surface, which the next call overwrites."""
        self._compose(shown, progress)
        self._intact = None  # the caller may draw on it
        return self._canvas

    def _compose(self, shown: Snapshot | Game, progress: float) -> pygame.Rect:
        """Draw a snapshot on the canvas; return what has changed since the frame before: often the board alone."""
        snapshot = Snapshot.of(shown) if isinstance(shown, Game) else shown
        motion = self._motion_of(snapshot)
        clock = motion.clock(progress)
        background = self._background(motion, PanelState.at(motion, clock))
        changed = pygame.Rect(self.layout.board) if background is self._intact else self._canvas.get_rect()
        self._canvas.blit(background, changed, changed)
        self._intact = background
        self._painter.paint(moving_shapes(self.layout, motion, clock))
        middle, zoom = motion.view(clock)
        if zoom > 1:
            board = pygame.Rect(self.layout.board)
            part = pygame.Rect(0, 0, round(board.width / zoom), round(board.height / zoom))
            part.center = round(middle[0]), round(middle[1])
            closer = pygame.transform.smoothscale(self._canvas.subsurface(part.clamp(board)), board.size)
            self._canvas.blit(closer, board)
        return changed

    def _motion_of(self, snapshot: Snapshot) -> Motion:
        if self._motion is None or self._motion.snapshot is not snapshot:
            self._motion = Motion(self.layout.geometry, snapshot)
            self._free_surfaces += self._backgrounds.values()
            self._backgrounds.clear()
        return self._motion

    def _draw_board(self, is_turning: bool) -> pygame.Surface:
        board = pygame.Surface((self.width, self.height), 0, 32)
        board.fill(theme.PANEL)
        Painter(board, cache_symbols=False).paint(board_shapes(self.layout, is_turning))
        return board

    def _background(self, motion: Motion, state: PanelState) -> pygame.Surface:
        """Return board and panels for a part of a phase, drawn once."""
        if state not in self._backgrounds:
            self._intact = None
            if len(self._backgrounds) == _MAX_BACKGROUNDS:
                self._free_surfaces.append(self._backgrounds.pop(next(iter(self._backgrounds))))
            surface = self._free_surfaces.pop() if self._free_surfaces else self._canvas.copy()
            surface.blit(self._turning_board if state.is_turning else self._board, (0, 0))
            Painter(surface).paint(panel_shapes(self.layout, motion, state))
            self._backgrounds[state] = surface
        return self._backgrounds[state]
