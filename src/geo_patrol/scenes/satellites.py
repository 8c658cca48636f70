"""Satellites as they are drawn: side by side in their sectors, HVAs as squares, Patrols as discs with their gauges."""

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from geo_patrol.board import azimuth_of, prograde, ring_of
from geo_patrol.config.toml_files import largest
from geo_patrol.game import Game, Phase
from geo_patrol.notation import Satellite, SatelliteId
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import BoardGeometry, Polar, middle_angle, sector_angle
from geo_patrol.scenes.shapes import Box, Circle, Color, PlainShape, Point, Polygon, Polyline, Symbol, Text, Use, blend
from geo_patrol.sessions.live import Snapshot
from geo_patrol.sides import SIDES, Side

_NUMBER_FRACTION = 0.16
"""The part of a ring's width, along the outer edge, that belongs to the sectors' numbers."""
FUEL_STEPS = 32
"""Number of different lengths of the fuel arc."""
_MAX_PIPS = 6


@dataclass(frozen=True)
class Anchor:
    """Where a satellite is drawn: a polar position, and its radius in pixels."""

    position: Polar
    radius: float


Anchors: TypeAlias = dict[SatelliteId, Anchor]


@functools.lru_cache(maxsize=4096)
def sector_anchors(geometry: BoardGeometry, ring: int, count: int) -> tuple[Anchor, ...]:
    """Return the anchors of a number of satellites in a sector of a ring, with angles from the sector's middle.

    They form rows along the ring, the outermost row first, in the direction of flight.
    """
    inner = geometry.inner_edge(ring)
    outer = geometry.outer_edge(ring) - geometry.ring_width * _NUMBER_FRACTION
    radius = geometry.ring_width * theme.SATELLITE_RADIUS
    while True:
        positions = _arrange(inner, outer, sector_angle(ring), radius, count)
        if positions is not None:
            return tuple(Anchor(position, radius) for position in positions)
        radius *= 0.97


def _arrange(inner: float, outer: float, angle: float, radius: float, count: int) -> list[Polar] | None:
    """Return positions for satellites of a radius; None if they do not fit."""
    pitch = 2 * radius * theme.SATELLITE_SPACING
    margin = radius * (theme.SATELLITE_SPACING + 0.1)
    depth = outer - inner - 2 * margin
    if depth < 0:
        return None
    for rows in range(1, 2 + math.floor(depth / pitch)):
        middle = (inner + outer) / 2
        distances = [middle + (rows - 1 - 2 * row) / 2 * pitch for row in range(rows)]
        capacities = [_capacity(distance, angle, pitch, margin) for distance in distances]
        if sum(capacities) >= count and min(capacities) > 0:
            return _distribute(distances, capacities, pitch, count)
    return None


def _capacity(distance: float, angle: float, pitch: float, margin: float) -> int:
    if distance <= max(pitch, margin):
        return 0
    usable = angle - 2 * math.asin(margin / distance)
    return 0 if usable < 0 else 1 + math.floor(usable / (2 * math.asin(pitch / 2 / distance)) + 1e-9)


def _distribute(distances: list[float], capacities: list[int], pitch: float, count: int) -> list[Polar]:
    """Distribute satellites over rows in proportion to the rows' capacities."""
    positions: list[Polar] = []
    remaining = sum(capacities)
    for distance, capacity in zip(distances, capacities, strict=True):
        here = min(capacity, math.ceil((count - len(positions)) * capacity / remaining))
        remaining -= capacity
        step = 2 * math.asin(pitch / 2 / distance)
        positions += [(distance, (i - (here - 1) / 2) * step) for i in range(here)]
    return positions


def all_satellites(game: Game) -> tuple[Satellite, ...]:
    """Return the satellites of both sides, alpha's first."""
    return tuple(satellite for side in SIDES for satellite in game.satellites(side))


def satellite_anchors(geometry: BoardGeometry, satellites: Sequence[Satellite]) -> Anchors:
    """Return the anchor of every satellite."""
    anchors: Anchors = {}
    for sector, here in by_sector(satellites).items():
        middle = middle_angle(sector)
        within = sector_anchors(geometry, int(ring_of(sector)), len(here))
        for satellite, anchor in zip(here, within, strict=True):
            distance, angle = anchor.position
            anchors[satellite.id] = Anchor((distance, middle + angle), anchor.radius)
    return anchors


def by_sector(satellites: Sequence[Satellite]) -> dict[int, list[Satellite]]:
    """Return the satellites of each sector: active ones first, alpha's before bravo's."""
    sectors: dict[int, list[Satellite]] = {}
    for satellite in sorted(satellites, key=lambda one: (not one.is_active, one.id.side, one.id.number)):
        sectors.setdefault(satellite.sector, []).append(satellite)
    return sectors


@dataclass(frozen=True)
class DiscStyle:
    """All that decides how a satellite looks.

    Attributes:
        side: its side.
        number: 0 for the HVA.
        fuel: the rest of its initial fuel, in steps of ``FUEL_STEPS``.
        ammo: rounds left.
        state: "active", "empty" (no fuel) or "destroyed".
    """

    side: Side
    number: int
    fuel: int = 0
    ammo: int = 0
    state: str = "active"

    @property
    def body(self) -> Color:
        """The color of its body."""
        return theme.SIDES[self.side] if self.state == "active" else theme.INACTIVE

    @property
    def ink(self) -> Color:
        """The color of its number."""
        return theme.INK[self.side] if self.state == "active" else theme.INACTIVE_INK


def full_fuel(game: Game, side: Side, number: int) -> int:
    """Return the most fuel that a satellite may have started with."""
    config = game.config
    fleet = config.side("alpha" if config.mirror else side)
    return int(largest(fleet.hva.fuel if number == 0 else fleet.patrols.fuel))


def fuel_steps(fuel: int, full: int) -> int:
    """Return the length of a fuel arc in steps, rounded up."""
    return min(math.ceil(FUEL_STEPS * fuel / max(full, 1)), FUEL_STEPS)


def style_of(satellite: Satellite, full: int) -> DiscStyle:
    """Return how a satellite looks whose tank holds so much fuel."""
    state = "active" if satellite.is_active else "destroyed" if satellite.destroyed else "empty"
    steps = fuel_steps(satellite.fuel, full)
    return DiscStyle(satellite.id.side, satellite.id.number, steps, satellite.ammo, state)


def satellite_shape(style: DiscStyle, center: Point, radius: float, with_gauges: bool = True) -> Use:
    """Draw a satellite.

    Args:
        style: how it looks.
        center: where it is.
        radius: to its outer edge, in pixels.
        with_gauges: whether fuel arc and ammo pips are drawn.
    """
    half = max(round(radius), 2)
    numbered = half >= theme.MIN_NUMBERED_RADIUS - 1 or not with_gauges
    return Use(_satellite_symbol(style, with_gauges, numbered), center, 2 * half)


@functools.lru_cache(maxsize=4096)
def _satellite_symbol(style: DiscStyle, with_gauges: bool, numbered: bool) -> Symbol:
    return Symbol(tuple(_satellite(style, with_gauges, numbered)), theme.SATELLITE_EDGE)


def _satellite(style: DiscStyle, with_gauges: bool, numbered: bool) -> Iterator[PlainShape]:
    body = 0.76 if with_gauges else 0.94
    if with_gauges:
        yield Circle((0, 0), 1, theme.SATELLITE_EDGE)
        yield from _fuel(style)
    if style.number == 0:
        yield from _square(style, body * 0.8)
    else:
        yield Circle((0, 0), body + 0.04, theme.SATELLITE_EDGE)
        yield Circle((0, 0), body, style.body)
    pips = min(style.ammo, _MAX_PIPS) if with_gauges and style.state == "active" else 0
    if numbered:
        label = "H" if style.number == 0 else str(style.number)
        size = body * (1.22 if len(label) == 1 else 1.02) * (0.92 if pips else 1)
        yield Text((0, -body * (0.16 if pips else -0.03)), label, size, style.ink, "center")
    radius = body * (0.13 if pips < 5 else 0.1)
    for i in range(pips):
        yield Circle(((i - (pips - 1) / 2) * radius * 2.7, body * 0.62), radius, style.ink)
    if style.state == "destroyed":
        yield from _cross()


def _square(style: DiscStyle, half: float) -> Iterator[Box]:
    edge = 0.09
    outer = half + edge
    yield Box(-outer, -outer, 2 * outer, 2 * outer, theme.SATELLITE_EDGE, rounding=0.2)
    yield Box(-half, -half, 2 * half, 2 * half, style.body, rounding=0.14)
    if style.state == "active":
        rim = half - edge / 2
        yield Box(-rim, -rim, 2 * rim, 2 * rim, None, style.ink, 0.06, 0.1)


def _fuel(style: DiscStyle) -> Iterator[PlainShape]:
    """Draw the fuel as an arc from the top clockwise, on a track that shows what was burnt."""
    rim = blend(theme.INACTIVE, theme.SIDES[style.side], theme.INACTIVE_TINT)
    yield Circle((0, 0), 0.97, theme.FUEL_TRACK if style.state == "active" else rim)
    if style.fuel and style.state == "active":
        steps = max(2, 2 * style.fuel)
        angles = [math.tau * style.fuel / FUEL_STEPS * step / steps for step in range(steps + 1)]
        arc = [(0.97 * math.sin(angle), -0.97 * math.cos(angle)) for angle in angles]
        yield Polygon(((0, 0), *arc), theme.FUEL)
    yield Circle((0, 0), 0.82, theme.SATELLITE_EDGE)


def _cross() -> Iterator[Polyline]:
    """Draw the arms of a cross around the number."""
    for y in (-1, 1):
        for x in (-1, 1):
            arm = (x * 0.44, y * 0.44), (x * 0.74, y * 0.74)
            yield Polyline(arm, theme.SATELLITE_EDGE, 0.3)
            yield Polyline(arm, theme.SOFT, 0.15)


_GROWTH = 0.35
"""The part of an engagement's time in which its lines grow; then results show."""


@dataclass(frozen=True)
class Clock:
    """Progress of a phase, each value from 0 to 1.

    Attributes:
        movement: progress of the moves that orders or an engagement make.
        engagement: progress of the engagement's marks: they grow, then stay.
        drift: progress of the drift.
    """

    movement: float
    engagement: float
    drift: float

    @property
    def growth(self) -> float:
        """Length of the lines of an engagement's marks, from 0 to 1."""
        return min(self.engagement / _GROWTH, 1.0)

    @property
    def shows_results(self) -> bool:
        """Whether an engagement's results show."""
        return self.growth >= 1

    @property
    def has_moved(self) -> bool:
        """Whether satellites look as they do after the phase."""
        return self.movement >= 0.5

    @property
    def is_drifting(self) -> bool:
        """Whether the board is turning."""
        return self.drift not in (0, 1)


class Arrangement:
    """The satellites of a position, alpha's first.

    Attributes:
        satellites: satellites of both sides.
        full_fuel: the most fuel that each may have started with.
        styles: how they look.
        anchors: where they are drawn.
    """

    def __init__(self, geometry: BoardGeometry, game: Game) -> None:
        self.satellites: tuple[Satellite, ...] = all_satellites(game)
        tanks = {side: (full_fuel(game, side, 0), full_fuel(game, side, 1)) for side in SIDES}  # HVA, Patrols
        self.full_fuel = {one.id: tanks[one.id.side][one.id.number > 0] for one in self.satellites}
        self.styles = {one.id: style_of(one, self.full_fuel[one.id]) for one in self.satellites}
        self.anchors: Anchors = satellite_anchors(geometry, self.satellites)


class Motion:
    """The motion from the position before a snapshot to its own.

    Args:
        geometry: geometry of the board.
        snapshot: the snapshot.
        previous: the motion that was shown before; where this one continues it, its end is the start.

    Attributes:
        snapshot: whose position is at the end.
        start: the satellites at the start.
        end: the satellites at the end.
        has_drifted: whether the phase ended with a drift.
        is_engagement: whether the snapshot was reached by an engagement in which something happened.
    """

    def __init__(self, geometry: BoardGeometry, snapshot: Snapshot, previous: "Motion | None" = None) -> None:
        phase, game = snapshot.last_phase, snapshot.game
        self.snapshot = snapshot
        self.end = Arrangement(geometry, game)
        if phase is None:
            self.start = self.end
        elif previous is not None and previous.snapshot.game is phase.before:
            self.start = previous.end
        else:
            self.start = Arrangement(geometry, phase.before)
        self.has_drifted = phase is not None and phase.before.goals != game.goals
        self.is_engagement = phase is not None and bool(phase.outcomes)
        self._origin_drifts: dict[SatelliteId, float] = {}  # of satellites that change their sector by themselves
        self._paths: dict[SatelliteId, tuple[float, float]] = {}  # angles: of its own movement, of its drift
        for start, end in zip(self.start.satellites, self.end.satellites, strict=True):
            drifted = int(prograde(start.sector)) if self.has_drifted else start.sector
            if drifted != end.sector:
                self._origin_drifts[end.id] = self._drift_angle(start.sector)
            drift = self._drift_angle(end.sector)
            change = self.end.anchors[end.id].position[1] - drift - self.start.anchors[end.id].position[1]
            self._paths[end.id] = _directed(change, _ordered_direction(phase, end.id)), drift

    def clock(self, progress: float) -> Clock:
        """Return the progress of each part of the phase after a fraction of its time, which is clamped to [0, 1]."""
        progress = min(max(progress, 0.0), 1.0)
        if self.snapshot.last_phase is None:
            return Clock(1, 1, 1)
        if not self.has_drifted and not self.is_engagement:
            return Clock(_smooth_step(progress), 1, 1)
        split = theme.ENGAGEMENT_FRACTION if self.is_engagement else 0.0
        engagement = min(progress / split, 1.0) if split else 1.0
        drift = (progress - split) / (1 - split) if self.has_drifted else 1.0
        return Clock(_smooth_step((engagement - 0.45) / 0.4), engagement, _smooth_step(drift))

    def shown(self, clock: Clock) -> Arrangement:
        """Return the satellites with the looks that they have at a time."""
        return self.end if clock.has_moved else self.start

    def anchor(self, satellite: SatelliteId, clock: Clock) -> Anchor:
        """Return where a satellite is; the angle may be beyond a full turn."""
        start, end = self.start.anchors[satellite], self.end.anchors[satellite]
        movement, drift = self._paths[satellite]
        angle = start.position[1] + movement * clock.movement + drift * clock.drift
        distance = _lerp(start.position[0], end.position[0], clock.movement)
        return Anchor((distance, angle), _lerp(start.radius, end.radius, clock.movement))

    def origin(self, satellite: SatelliteId, clock: Clock) -> Polar:
        """Return where a satellite came from, or where it is if it did not change its sector; turned by the drift."""
        if satellite not in self._origin_drifts:
            return self.anchor(satellite, clock).position
        distance, angle = self.start.anchors[satellite].position
        return distance, angle + self._origin_drifts[satellite] * clock.drift

    def goal(self, side: Side, clock: Clock) -> tuple[int, float]:
        """Return a goal sector, and how many sectors it is turned from there."""
        return self.snapshot.game.goals[side], clock.drift - 1 if self.has_drifted else 0.0

    def earth_rotation(self, clock: Clock) -> float:
        """Return the Earth's rotation in radians: it turns with the goal sectors."""
        goal, turned = self.goal("alpha", clock)
        return (int(azimuth_of(goal)) + turned) * sector_angle(int(ring_of(goal)))

    def _drift_angle(self, sector: int) -> float:
        """Return by which angle a sector's ring turns in the drift of this phase."""
        return sector_angle(int(ring_of(sector))) if self.has_drifted else 0.0


def _directed(change: float, direction: int) -> float:
    """Return the shortest angle that makes a change, or the one in the ordered direction if it is half a turn."""
    angle = (change + math.pi) % math.tau - math.pi
    if direction and angle * direction < 0 and abs(angle) > math.pi / 2:  # half a turn, on ring 1
        angle += direction * math.tau
    return angle


def _ordered_direction(phase: Phase | None, satellite: SatelliteId) -> int:
    if phase is None:
        return 0
    for order in phase.orders[SIDES.index(satellite.side)]:
        if order.satellite == satellite.number:
            return {"prograde": 1, "retrograde": -1}.get(order.action, 0)
    return 0


def _lerp(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction


def _smooth_step(x: float) -> float:
    """Return the smoothstep polynomial 3x^2 - 2x^3 of x clamped to [0, 1]."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3 - 2 * x)
