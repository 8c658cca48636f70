"""``Picture``: draws scenes of a game, offscreen or for a window."""

from typing import Any

import numpy as np
import pygame
from numpy.typing import NDArray

from geo_patrol.config.schema import MAX_PATROLS, GameConfig
from geo_patrol.game import Game
from geo_patrol.rendering import board_art, theme
from geo_patrol.rendering.chart import draw_chart
from geo_patrol.rendering.earth import draw_air, draw_earth
from geo_patrol.rendering.fleets import draw_fleets, look_of
from geo_patrol.rendering.layout import make_layout
from geo_patrol.rendering.lens import put_lenses
from geo_patrol.rendering.marks import put_engagement
from geo_patrol.rendering.motion import Clock, Motion
from geo_patrol.rendering.panel import draw_header, draw_legend, draw_outcomes
from geo_patrol.rendering.tokens import put_token
from geo_patrol.sessions.timeline import Scene
from geo_patrol.sides import SIDES, Side

_RGB = (0xFF, 0xFF00, 0xFF0000, 0)  # masks of a pixel of three bytes in this order


class Picture:
    """Draws pictures of games of one configuration in one size.

    What stays from frame to frame is drawn once and kept: the board when the picture is made, the panels when a scene
    is shown for the first time.

    Args:
        width: of the picture in pixels, from 320.
        height: of the picture in pixels, from 240.
        config: what is played; it decides the board.
        toolbar_rows: rows to keep free for buttons, as a window does.

    Raises:
        ValueError: the size is too small or too large.
    """

    def __init__(self, width: int, height: int, config: GameConfig, toolbar_rows: int = 0) -> None:
        self.width, self.height, self.config = width, height, config
        self.layout = make_layout(width, height, config.board, fleet_size(config), toolbar_rows)
        self._canvas = pygame.Surface((width, height), 0, 32)
        self._packed = pygame.Surface((width, height), 0, 24, _RGB)
        self._board = self._draw_board(turning=False)
        self._turning_board = self._draw_board(turning=True)
        self._scene: Scene | None = None
        self._motion: Motion | None = None
        self._backdrops: dict[tuple[object, ...], pygame.Surface] = {}
        self._spare_backdrops: list[pygame.Surface] = []
        self._intact: pygame.Surface | None = None  # the backdrop that canvas and packed canvas show beside the board

    def frame(self, shown: Scene | Game, progress: float = 1.0) -> NDArray[np.uint8]:
        """Draw a scene.

        Args:
            shown: a scene of a timeline (``timeline.scene(index)``), or a bare position.
            progress: 0 shows the position before it, 1 the scene's own; between them satellites glide, an engagement
                is fought, and the board turns with the drift. A bare position stands still.

        Returns:
            (height, width, 3) uint8, a new array.
        """
        changed = self._compose(shown, progress)
        self._packed.blit(self._canvas, changed, changed)
        packed: Any = self._packed.get_buffer()
        rows: NDArray[np.uint8] = np.frombuffer(packed, np.uint8).reshape(self.height, -1)
        return rows[:, : 3 * self.width].reshape(self.height, self.width, 3).copy()

    def draw(self, shown: Scene | Game, progress: float = 1.0) -> pygame.Surface:
        """Draw a scene, see ``frame``, and return the surface that holds it until the next one is drawn."""
        self._compose(shown, progress)
        self._intact = None  # who gets the surface may draw on it
        return self._canvas

    def _compose(self, shown: Scene | Game, progress: float) -> pygame.Rect:
        """Draw a scene on the canvas; return what has changed since the frame before: often the board alone."""
        scene = Scene.of(shown) if isinstance(shown, Game) else shown
        motion = self._motion_of(scene)
        clock = motion.clock(min(max(progress, 0.0), 1.0))
        backdrop = self._backdrop(scene, motion, clock)
        changed = self.layout.board if backdrop is self._intact else self._canvas.get_rect()
        self._canvas.blit(backdrop, changed, changed)
        self._intact = backdrop
        self._put_board(motion, clock)
        self._put_satellites(scene, motion, clock)
        return changed

    def _motion_of(self, scene: Scene) -> Motion:
        if self._motion is None or scene is not self._scene:
            self._scene = scene
            self._motion = Motion(self.layout.geometry, scene)
            self._spare_backdrops += self._backdrops.values()
            self._backdrops.clear()
        return self._motion

    def _draw_board(self, turning: bool) -> pygame.Surface:
        """Draw what stays of the board; while it turns, its grid is drawn frame by frame and numbers step back."""
        board = pygame.Surface((self.width, self.height), 0, 32)
        board.fill(theme.PANEL)
        layout, geometry = self.layout, self.layout.geometry
        space = board.subsurface(layout.board)
        board_art.draw_space(space, space.get_rect())
        board_art.draw_rings(board, geometry)
        if not turning:
            board_art.draw_grid(board, geometry, 0.0)
        colour = theme.blend(theme.SECTOR_NUMBER, theme.RINGS[0], 0.75) if turning else theme.SECTOR_NUMBER
        board_art.draw_sector_numbers(board, geometry, layout.text_size("tiny"), colour)
        board_art.draw_prograde_sign(board, geometry, layout.text_size("tiny"))
        draw_air(board, geometry.centre, geometry.earth_radius)
        draw_legend(board, layout)
        return board

    def _backdrop(self, scene: Scene, motion: Motion, clock: Clock) -> pygame.Surface:
        """Return board and panels for a part of a phase, drawn once."""
        turning = clock.drifted not in (0, 1)
        changed = clock.moved >= 0.5
        scored = clock.drifted >= 0.5 if motion.has_drifted else changed
        phase = _phase(scene, motion, clock)
        revealed = not motion.is_engagement or clock.is_revealed
        key = (turning, changed, scored, phase, revealed)
        if key not in self._backdrops:
            self._intact = None
            backdrop = self._spare_backdrops.pop() if self._spare_backdrops else self._canvas.copy()
            backdrop.blit(self._turning_board if turning else self._board, (0, 0))
            before = scene.game if scene.before is None else scene.before.game
            draw_header(backdrop, self.layout, scene, scene.game if scored else before, phase)
            satellites = motion.satellites if changed else motion.satellites_before
            draw_fleets(backdrop, self.layout, scene.game, satellites)
            draw_outcomes(backdrop, self.layout, scene, revealed)
            draw_chart(backdrop, self.layout, scene.scores if scored else scene.scores[:-1] or scene.scores, scene.game)
            self._backdrops[key] = backdrop
        return self._backdrops[key]

    def _put_board(self, motion: Motion, clock: Clock) -> None:
        geometry = self.layout.geometry
        if clock.drifted not in (0, 1):
            board_art.draw_grid(self._canvas, geometry, clock.drifted)
        for side in SIDES:
            board_art.put_goal(self._canvas, geometry, side, *motion.goal_turn(side, clock))
        draw_earth(self._canvas, geometry.centre, geometry.earth_radius, motion.earth_turn(clock))

    def _put_satellites(self, scene: Scene, motion: Motion, clock: Clock) -> None:
        geometry = self.layout.geometry
        satellites = motion.satellites if clock.moved >= 0.5 else motion.satellites_before
        for satellite in sorted(satellites, key=lambda one: one.is_active):  # those with fuel lie on top
            slot = motion.slot(satellite.id, clock)
            put_token(self._canvas, look_of(scene.game, satellite), geometry.point(slot.place), slot.radius)
        if motion.is_engagement:
            put_engagement(self._canvas, geometry, motion, scene.outcomes, clock, self.layout.scale)
        if clock.moved >= 1 and clock.drifted >= 1:
            put_lenses(self._canvas, self.layout, scene.game, motion.satellites)


def _phase(scene: Scene, motion: Motion, clock: Clock) -> str:
    """Return what is going on."""
    if scene.before is None or (clock.moved >= 1 and clock.fought >= 1 and clock.drifted >= 1):
        return scene.game.phase
    return "drift" if motion.has_drifted and clock.fought >= 1 else scene.before.game.phase


def fleet_size(config: GameConfig) -> int:
    """Return the most satellites that a side of a configuration may have."""
    return 1 + MAX_PATROLS if config.is_randomized else max(_fleet(config, side) for side in SIDES)


def _fleet(config: GameConfig, side: Side) -> int:
    patrols = config.side("alpha" if config.mirror else side).patrols
    if isinstance(patrols.count, int):
        return 1 + patrols.count
    return 1 + sum(count for _, count in patrols.formation)  # type: ignore[misc, union-attr]
