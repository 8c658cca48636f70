"""The whole picture of a game, as shapes: board and panels, in layers that change more and more often."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from geo_patrol.config.schema import MAX_PATROLS, GameConfig
from geo_patrol.game import Game
from geo_patrol.scenes import theme
from geo_patrol.scenes.board import board_shapes, goal_shapes, grid_shapes
from geo_patrol.scenes.earth import atmosphere_shapes, earth_shapes
from geo_patrol.scenes.engagements import engagement_shapes, legend_shapes, outcome_list_shapes
from geo_patrol.scenes.layout import Layout, TextMeasure, approximate_text_size, make_layout
from geo_patrol.scenes.lenses import lens_shapes
from geo_patrol.scenes.motion import Clock, Motion
from geo_patrol.scenes.panel import chart_shapes, fleet_shapes, header_shapes
from geo_patrol.scenes.satellites import satellite_shape
from geo_patrol.scenes.shapes import Drawing, Shape
from geo_patrol.sessions.timeline import Snapshot
from geo_patrol.sides import SIDES, Side


class PanelState(NamedTuple):
    """What decides how the panels look during a phase; most frames of a phase have the same.

    Attributes:
        is_turning: the board is drifting.
        has_moved: the tables show the satellites as they are after the phase.
        is_scored: the score is that after the phase.
        phase: name of the phase.
        shows_results: the engagement's results are listed.
    """

    is_turning: bool
    has_moved: bool
    is_scored: bool
    phase: str
    shows_results: bool

    @classmethod
    def at(cls, motion: Motion, clock: Clock) -> "PanelState":
        """Return the state at a time of a phase."""
        before = motion.snapshot.before
        if before is None or (clock.movement >= 1 and clock.engagement >= 1 and clock.drift >= 1):
            phase = motion.snapshot.game.phase
        elif motion.has_drifted and clock.engagement >= 1:
            phase = "drift"
        else:
            phase = before.game.phase
        is_scored = clock.drift >= 0.5 if motion.has_drifted else clock.has_moved
        shows_results = not motion.is_engagement or clock.shows_results
        return cls(clock.is_drifting, clock.has_moved, is_scored, phase, shows_results)


def picture(
    shown: Snapshot | Game,
    progress: float = 1.0,
    *,
    size: tuple[int, int] = (1280, 720),
    measure: TextMeasure = approximate_text_size,
) -> Drawing:
    """Return the picture of a position.

    Args:
        shown: a snapshot of a timeline, or a bare position.
        progress: 0 draws the position before it, 1 the snapshot's own; between them things move.
        size: width and height in pixels.
        measure: returns the size of a text.

    Raises:
        ValueError: the size is too small or too large.
    """
    snapshot = Snapshot.of(shown) if isinstance(shown, Game) else shown
    config = snapshot.game.config
    layout = make_layout(*size, config.board, fleet_size(config), measure=measure)
    motion = Motion(layout.geometry, snapshot)
    clock = motion.clock(progress)
    state = PanelState.at(motion, clock)
    layers = static_shapes(layout, state.is_turning), panel_shapes(layout, motion, state)
    return Drawing(*size, theme.PANEL, list(chain(*layers, moving_shapes(layout, motion, clock))))


def static_shapes(layout: Layout, is_turning: bool) -> Iterator[Shape]:
    """Draw what is the same in all pictures of a layout."""
    yield from board_shapes(layout, is_turning)
    yield from atmosphere_shapes(layout.geometry.center, layout.geometry.earth_radius)
    yield from legend_shapes(layout)


def panel_shapes(layout: Layout, motion: Motion, state: PanelState) -> Iterator[Shape]:
    """Draw the panels beside the board."""
    snapshot = motion.snapshot
    game = snapshot.game
    before = game if snapshot.before is None else snapshot.before.game
    yield from header_shapes(layout, game if state.is_scored else before, snapshot.names, state.phase)
    yield from fleet_shapes(layout, motion.end if state.has_moved else motion.start, game)
    yield from outcome_list_shapes(layout, snapshot, state.shows_results)
    scores = snapshot.scores if state.is_scored else snapshot.scores[:-1] or snapshot.scores
    yield from chart_shapes(layout, scores, game)


def moving_shapes(layout: Layout, motion: Motion, clock: Clock) -> Iterator[Shape]:
    """Draw what moves on the board: goals, the Earth, satellites and engagements."""
    geometry = layout.geometry
    if clock.is_drifting:
        yield from grid_shapes(geometry, clock.drift)
    for side in SIDES:
        yield from goal_shapes(geometry, side, *motion.goal(side, clock))
    yield from earth_shapes(geometry.center, geometry.earth_radius, motion.earth_rotation(clock))
    shown = motion.shown(clock)
    for satellite in sorted(shown.satellites, key=lambda one: one.is_active):  # active ones are on top
        anchor = motion.anchor(satellite.id, clock)
        yield satellite_shape(shown.styles[satellite.id], geometry.point(anchor.position), anchor.radius)
    if motion.is_engagement:
        yield from engagement_shapes(layout, motion, clock)
    if clock.movement >= 1 and clock.drift >= 1:
        yield from lens_shapes(layout, shown)


def fleet_size(config: GameConfig) -> int:
    """Return the most satellites that a side of a configuration may have."""
    return 1 + MAX_PATROLS if config.is_randomized else max(_fleet(config, side) for side in SIDES)


def _fleet(config: GameConfig, side: Side) -> int:
    patrols = config.side("alpha" if config.mirror else side).patrols
    if isinstance(patrols.count, int):
        return 1 + patrols.count
    return 1 + sum(count for _, count in patrols.formation)  # type: ignore[misc, union-attr]
