"""The whole picture of a position, and how its parts change during a phase."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.schema import MAX_PATROLS, GameConfig
from geo_patrol.drawing.shapes import Drawing, Shape, box
from geo_patrol.drawing.sheet import TextMeasure
from geo_patrol.drawing.svg import svg_text
from geo_patrol.game.game import Game
from geo_patrol.game.notation import Result
from geo_patrol.game.timeline import Snapshot
from geo_patrol.play.telling import TargetCard
from geo_patrol.scenes import theme
from geo_patrol.scenes.board import (
    board_shapes,
    earth_shapes,
    goal_shapes,
    grid_shapes,
    ground_shapes,
    sector_numbers,
)
from geo_patrol.scenes.engagements import attack_lines, beat_shapes, card_shapes
from geo_patrol.scenes.layout import Layout, approximate_text_size, make_layout
from geo_patrol.scenes.panel import chart_shapes, fleet_shapes, header_shapes
from geo_patrol.scenes.satellites import Clock, Motion, at_one_place, by_sector, place_symbol, symbol_shape


class PanelState(NamedTuple):
    """What decides how all but the board's moving parts look during a phase; most frames of a phase have the same.

    Attributes:
        is_turning: the board is drifting.
        key: number of beats whose results show.
        is_scored: the score is that after the phase.
        phase: name of the phase.
        result: how the game has ended; None if it goes on.
    """

    is_turning: bool
    key: int
    is_scored: bool
    phase: str
    result: Result | None

    @classmethod
    def at(cls, motion: Motion, clock: Clock) -> "PanelState":
        """Return the state at a time of a phase."""
        snapshot, is_done = motion.snapshot, clock.beat == len(motion.beats)
        last, has_arrived = snapshot.last_phase, is_done and clock.drift >= 1
        if last is None or has_arrived:
            phase = snapshot.game.phase
        else:
            phase = "drift" if is_done and motion.has_drifted else last.name
        is_scored = clock.drift >= 0.5 if motion.has_drifted else clock.key == len(motion.beats)
        is_told = last is None or has_arrived or (is_scored and snapshot.game.is_over)
        return cls(clock.is_drifting, clock.key, is_scored, phase, snapshot.result if is_told else None)


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
    layers = board_shapes(layout, state.is_turning), panel_shapes(layout, motion, state)
    return Drawing(*size, theme.PANEL, list(chain(*layers, moving_shapes(layout, motion, clock))))


def picture_svg(
    shown: Snapshot | Game, size: tuple[int, int] = (1280, 720), measure: TextMeasure = approximate_text_size
) -> str:
    """Return ``picture`` of a position as an SVG document."""
    game = shown if isinstance(shown, Game) else shown.game
    return svg_text(picture(shown, size=size, measure=measure), title=game.config.title)


def panel_shapes(layout: Layout, motion: Motion, state: PanelState) -> Iterator[Shape]:
    """Draw the panels beside the board, and what lies on the board beneath all that moves."""
    snapshot = motion.snapshot
    game = snapshot.game
    before = game if snapshot.last_phase is None else snapshot.last_phase.before
    shown = game if state.is_scored else before
    if not state.is_turning:
        satellites = motion.satellites(state.key, has_drifted=state.is_scored)
        yield from ground_shapes(layout, satellites, shown.sectors_in_sight)
    yield from header_shapes(layout, shown, snapshot.names, state.phase, state.result)
    yield from fleet_shapes(layout, motion.key(state.key))
    resolved = state.key if motion.beats and motion.beats[0] else None
    yield from card_shapes(layout, snapshot, resolved)
    scores = snapshot.scores if state.is_scored else snapshot.scores[:-1] or snapshot.scores
    yield from chart_shapes(layout, scores, game)


def moving_shapes(layout: Layout, motion: Motion, clock: Clock) -> Iterator[Shape]:
    """Draw what moves on the board: goals, the Earth, satellites, and the marks of an engagement."""
    geometry = layout.geometry
    if clock.is_drifting:
        yield from grid_shapes(geometry, clock.drift)
    for side in SIDES:
        yield from goal_shapes(geometry, side, *motion.goal(side, clock))
    yield from earth_shapes(geometry.center, geometry.earth_radius, motion.earth_rotation(clock))
    if not clock.is_drifting:
        occupied = by_sector(motion.satellites(clock.key, has_drifted=clock.drift >= 1))
        for sector, rotation in (motion.goal(side, clock) for side in SIDES):
            number = sector_numbers(layout)[sector]
            if number is not None and rotation == 0 and sector not in occupied:
                yield number  # which an empty goal hides otherwise
    styles = motion.key(clock.key).styles
    for anchor, here in at_one_place(motion.anchors(clock)):
        living = [one for one in here if styles[one].state != "destroyed"]
        yield symbol_shape(place_symbol(living or here, styles), geometry.point(anchor.position), anchor.radius)
    yield from beat_shapes(layout, motion, clock)


def card_board_shapes(layout: Layout, motion: Motion, card: TargetCard) -> Iterator[Shape]:
    """Draw the board as it was when the attacks of a card were ordered, with lines for them."""
    yield box(layout.board, theme.PANEL)
    yield from board_shapes(layout, is_turning=False)
    yield from ground_shapes(layout, motion.key(0).satellites)
    yield from moving_shapes(layout, motion, motion.clock(0.0))
    yield from attack_lines(layout, motion, card)


def fleet_size(config: GameConfig) -> int:
    """Return the most satellites that a side of a configuration may have."""
    return 1 + MAX_PATROLS if config.is_randomized else max(_fleet(config, side) for side in SIDES)


def _fleet(config: GameConfig, side: Side) -> int:
    patrols = config.side("alpha" if config.mirror else side).patrols
    if isinstance(patrols.count, int):
        return 1 + patrols.count
    return 1 + sum(count for _, count in patrols.formation)  # type: ignore[misc, union-attr]
