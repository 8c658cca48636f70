"""Crowded sectors, magnified where they hide no satellite, so that their satellites' numbers can be read."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from geo_patrol.board import are_adjacent, ring_of
from geo_patrol.config.schema import MAX_PATROLS, GameConfig
from geo_patrol.game import Game
from geo_patrol.notation import Satellite
from geo_patrol.scenes import theme
from geo_patrol.scenes.board import (
    atmosphere_shapes,
    board_shapes,
    earth_shapes,
    goal_shapes,
    grid_shapes,
    outline_shape,
)
from geo_patrol.scenes.engagements import engagement_shapes, legend_shapes, outcome_list_shapes
from geo_patrol.scenes.layout import (
    BoardGeometry,
    Layout,
    TextMeasure,
    approximate_text_size,
    make_layout,
    middle_angle,
)
from geo_patrol.scenes.panel import chart_shapes, fleet_shapes, header_shapes
from geo_patrol.scenes.satellites import (
    Arrangement,
    Clock,
    Motion,
    by_sector,
    satellite_anchors,
    satellite_shape,
    sector_anchors,
)
from geo_patrol.scenes.shapes import Drawing, Point, Polyline, Rect, Shape, Text, TextAnchor, box
from geo_patrol.sessions.live import Snapshot
from geo_patrol.sides import SIDES, Side

_CORNERS: tuple[TextAnchor, ...] = ("topright", "bottomright", "topleft", "bottomleft")
_INSIDE = (0.35, 0.5, 0.65)
"""Fractions of the board's sides, of centers of lenses that no corner has space for."""
_MAX_LENSES = 3
_MIN_RADIUS = 7
_MAX_COLUMNS = 5
_PADDING = 3


@dataclass(frozen=True)
class Lens:
    """Adjacent sectors, magnified.

    Attributes:
        sectors: their numbers.
        card: where they are shown.
        radius: radius of their satellites, in pixels.
        labels: the sectors' numbers, and the middles of their left edges.
        satellites: the satellites and their positions.
    """

    sectors: tuple[int, ...]
    card: Rect
    radius: float
    labels: tuple[tuple[int, Point], ...]
    satellites: tuple[tuple[Satellite, Point], ...]


def find_lenses(layout: Layout, satellites: Sequence[Satellite]) -> list[Lens]:
    """Lay out lenses for the three fullest groups of crowded sectors, where they hide no satellite."""
    groups = _groups(_crowded_sectors(layout.geometry, satellites))[:_MAX_LENSES]
    if not groups:
        return []
    sectors = by_sector(satellites)
    anchors = satellite_anchors(layout.geometry, satellites).values()
    points = [layout.geometry.point(anchor.position) for anchor in anchors]
    lenses: list[Lens] = []
    for group in groups:
        occupied = [layout.legend, *(lens.card for lens in lenses)]
        lens = _find_lens(layout, {sector: sectors[sector] for sector in group}, points, occupied)
        if lens is not None:
            lenses.append(lens)
    return lenses


def _find_lens(
    layout: Layout, sectors: dict[int, list[Satellite]], points: list[Point], occupied: list[Rect]
) -> Lens | None:
    """Lay out a lens in the nearest corner, or else farther inside, where it hides no satellite; None if it would."""
    numbers = list(sectors)
    magnified = layout.geometry.point((layout.geometry.radius, middle_angle(numbers[len(numbers) // 2])))
    board = layout.board
    inside = [
        (board.left + x * board.width, board.top + y * board.height) for x, y in itertools.product(_INSIDE, repeat=2)
    ]
    anchors: list[tuple[TextAnchor, Point]] = [(corner, board.corners[corner]) for corner in _CORNERS]
    anchors.sort(key=lambda corner: math.dist(magnified, corner[1]))
    anchors += [("center", point) for point in sorted(inside, key=lambda point: math.dist(magnified, point))]
    for anchor, point in anchors:
        lens = _make_lens(layout, sectors, anchor, point)
        if not any(map(lens.card.contains, points)) and not any(map(lens.card.overlaps, occupied)):
            return lens
    return None


def _crowded_sectors(geometry: BoardGeometry, satellites: Sequence[Satellite]) -> list[int]:
    """Return the sectors whose satellites are too small to be numbered, the fullest first."""
    sectors = by_sector(satellites)
    small = [
        sector
        for sector, here in sectors.items()
        if sector_anchors(geometry, int(ring_of(sector)), len(here))[0].radius < theme.MIN_NUMBERED_RADIUS
    ]
    return sorted(small, key=lambda sector: (-len(sectors[sector]), sector))


def _groups(crowded: list[int]) -> list[list[int]]:
    """Return groups of adjacent sectors, in the order of the fullest of each group."""
    groups: list[list[int]] = []
    for sector in crowded:
        near = [group for group in groups if any(are_adjacent(sector, other) for other in group)]
        merged = sorted({sector, *(other for group in near for other in group)})
        groups = (
            [merged if group is near[0] else group for group in groups if group not in near[1:]]
            if near
            else [*groups, merged]
        )
    return groups


def _make_lens(layout: Layout, sectors: dict[int, list[Satellite]], anchor: TextAnchor, point: Point) -> Lens:
    size = layout.text_size("tiny")
    fullest = max(map(len, sectors.values()))
    alone = len(sectors) == 1  # its number is above the satellites, otherwise numbers are on the left
    columns = min(math.ceil(math.sqrt(fullest)) if alone else fullest, _MAX_COLUMNS)
    indent = 0 if alone else max(layout.text_width(str(sector), size) for sector in sectors) + 2 * _PADDING
    above = _PADDING + (round(size * 1.2) if alone else 0)
    width = layout.board.width / 2 - layout.geometry.radius / math.sqrt(2) - indent
    radius = max(min(width / (2.1 * columns), 13 * layout.scale), _MIN_RADIUS)
    pitch = 2.1 * radius
    rows = sum(-(-len(here) // columns) for here in sectors.values())
    extent = round(indent + columns * pitch) + 2 * _PADDING, round(rows * pitch) + above + _PADDING
    card = Rect.anchored(extent, anchor, point).clamped(layout.board.inflated(-6, -6))
    labels: list[tuple[int, Point]] = []
    positions: list[tuple[Satellite, Point]] = []
    row = 0
    for sector, here in sectors.items():
        y = size * 0.8 if alone else above + (row + 0.5) * pitch
        labels.append((sector, (card.left + 2.0 * _PADDING, card.top + y)))
        for i, satellite in enumerate(here):
            x = indent + _PADDING + (i % columns + 0.5) * pitch
            y = above + (row + i // columns + 0.5) * pitch
            positions.append((satellite, (card.left + x, card.top + y)))
        row += -(-len(here) // columns)
    return Lens(tuple(sectors), card, radius, tuple(labels), tuple(positions))


def lens_shapes(layout: Layout, shown: Arrangement) -> Iterator[Shape]:
    """Draw the lenses of a position."""
    width = layout.stroke(1)
    for lens in find_lenses(layout, shown.satellites):
        middle = layout.geometry.sector_center(lens.sectors[len(lens.sectors) // 2])
        yield Polyline((lens.card.center, middle), theme.SOFT, width)
        for sector in lens.sectors:
            yield outline_shape(layout.geometry, sector, theme.SOFT, layout.stroke(1.5))
        yield box(lens.card, theme.CARD, theme.SOFT, width, 6)
        for number, position in lens.labels:
            yield Text(position, str(number), layout.text_size("tiny"), theme.SOFT)
        for satellite, position in lens.satellites:
            yield satellite_shape(shown.styles[satellite.id], position, lens.radius, with_gauges=False)


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
        last = motion.snapshot.last_phase
        if last is None or (clock.movement >= 1 and clock.engagement >= 1 and clock.drift >= 1):
            phase = motion.snapshot.game.phase
        elif motion.has_drifted and clock.engagement >= 1:
            phase = "drift"
        else:
            phase = last.name
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
    before = game if snapshot.last_phase is None else snapshot.last_phase.before
    yield from header_shapes(layout, game if state.is_scored else before, snapshot.names, state.phase)
    yield from fleet_shapes(layout, motion.end if state.has_moved else motion.start)
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
