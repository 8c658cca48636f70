"""How satellites, goals and the board get from one position to the next.

In a movement phase satellites glide from sector to sector. An engagement phase is first resolved, in which guards and
colliders move, and then drifts: everything turns by one sector of its ring.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from geo_patrol.board import azimuth_of, prograde, ring_of
from geo_patrol.notation import SatelliteId
from geo_patrol.scenes import theme
from geo_patrol.scenes.geometry import BoardGeometry, Polar, sector_angle
from geo_patrol.scenes.satellites import Anchor, Anchors, all_satellites, satellite_anchors, style_of
from geo_patrol.sessions.timeline import Moment, Snapshot
from geo_patrol.sides import SIDES, Side


@dataclass(frozen=True)
class Clock:
    """Progress of a phase, each value from 0 to 1.

    Attributes:
        movement: of the moves that orders or an engagement make.
        engagement: of the engagement's marks: they grow, then stay.
        drift: of the drift.
    """

    GROWTH: ClassVar[float] = 0.35
    """The part of an engagement's time in which its lines grow; then results show."""

    movement: float
    engagement: float
    drift: float

    @property
    def growth(self) -> float:
        """Length of the lines of an engagement's marks, from 0 to 1."""
        return min(self.engagement / self.GROWTH, 1.0)

    @property
    def shows_results(self) -> bool:
        """Whether an engagement's results show."""
        return self.growth >= 1

    @property
    def is_drifting(self) -> bool:
        """Whether the board is turning."""
        return self.drift not in (0, 1)


class Motion:
    """The motion from the position before a snapshot to its own.

    Attributes:
        satellites: at the end.
        satellites_before: at the start.
        styles: how they look at the end.
        styles_before: how they look at the start.
        end: their anchors at the end.
        start: their anchors at the start.
        has_drifted: whether the phase ended with a drift.
    """

    def __init__(self, geometry: BoardGeometry, snapshot: Snapshot) -> None:
        self._geometry = geometry
        self._before = snapshot.before
        self._after = snapshot.game
        self.satellites = all_satellites(snapshot.game)
        self.satellites_before = self.satellites if snapshot.before is None else all_satellites(snapshot.before.game)
        self.styles = {one.id: style_of(snapshot.game, one) for one in self.satellites}
        self.styles_before = {one.id: style_of(snapshot.game, one) for one in self.satellites_before}
        self.end = satellite_anchors(geometry, self.satellites)
        self.start = self.end if snapshot.before is None else satellite_anchors(geometry, self.satellites_before)
        self.has_drifted = snapshot.before is not None and snapshot.before.game.goals != snapshot.game.goals
        self._sectors = {one.id: one.sector for one in self.satellites}
        self._sectors_before = {one.id: one.sector for one in self.satellites_before}
        self._moved = {one for one in self.end if self._changes_sector(one)}
        self._angles = {one: self._angle(one) for one in self.end}
        self._clock: Clock | None = None
        self._anchors: Anchors = {}

    @property
    def is_engagement(self) -> bool:
        """Whether the snapshot was reached by an engagement in which something happened."""
        return self._before is not None and bool(self._before.outcomes)

    def clock(self, progress: float) -> Clock:
        """Return the progress of each part of the phase after a fraction of its time."""
        if self._before is None:
            return Clock(1, 1, 1)
        if not self.has_drifted and not self.is_engagement:
            return Clock(_smooth_step(progress), 1, 1)
        split = theme.ENGAGEMENT_FRACTION if self.is_engagement else 0.0
        engagement = min(progress / split, 1.0) if split else 1.0
        drift = (progress - split) / (1 - split) if self.has_drifted else 1.0
        return Clock(_smooth_step((engagement - 0.45) / 0.4), engagement, _smooth_step(drift))

    def drift_angle(self, ring: int) -> float:
        """Return by which angle a ring turns in the drift of this phase."""
        return sector_angle(ring) if self.has_drifted else 0.0

    def anchor(self, satellite: SatelliteId, clock: Clock) -> Anchor:
        """Return where a satellite is; the angle may be beyond a full turn."""
        if clock is not self._clock:
            self._clock = clock
            self._anchors = {one: self._interpolate(one, clock) for one in self.end}
        return self._anchors[satellite]

    def _interpolate(self, satellite: SatelliteId, clock: Clock) -> Anchor:
        start, end = self.start[satellite], self.end[satellite]
        turn = self.drift_angle(self._ring(satellite))
        angle = start.position[1] + self._angles[satellite] * clock.movement + turn * clock.drift
        distance = _lerp(start.position[0], end.position[0], clock.movement)
        return Anchor((distance, angle), _lerp(start.radius, end.radius, clock.movement))

    def origin(self, satellite: SatelliteId, clock: Clock) -> Polar:
        """Return where a satellite came from, or where it is if it did not change its sector; turned by the drift."""
        if not self.has_moved(satellite):
            return self.anchor(satellite, clock).position
        distance, angle = self.start[satellite].position
        ring = int(ring_of(self._sectors_before[satellite]))
        return distance, angle + self.drift_angle(ring) * clock.drift

    def has_moved(self, satellite: SatelliteId) -> bool:
        """Return whether a satellite changed its sector otherwise than by drifting."""
        return satellite in self._moved

    def _changes_sector(self, satellite: SatelliteId) -> bool:
        start, end = self._sectors_before[satellite], self._sectors[satellite]
        return (int(prograde(start)) if self.has_drifted else start) != end

    def _ring(self, satellite: SatelliteId) -> int:
        return int(ring_of(self._sectors[satellite]))

    def _angle(self, satellite: SatelliteId) -> float:
        """Return the angle from a satellite's start to its end without the drift, in the direction of its order."""
        turn = self.drift_angle(self._ring(satellite))
        change = self.end[satellite].position[1] - turn - self.start[satellite].position[1]
        angle = (change + math.pi) % math.tau - math.pi
        direction = _ordered_direction(self._before, satellite)
        if direction and angle * direction < 0 and abs(angle) > math.pi / 2:  # half a turn, on ring 1
            angle += direction * math.tau
        return angle

    def goal(self, side: Side, clock: Clock) -> tuple[int, float]:
        """Return a goal sector, and how many sectors it is turned from there."""
        return self._after.goals[side], clock.drift - 1 if self.has_drifted else 0.0

    def earth_rotation(self, clock: Clock) -> float:
        """Return the Earth's rotation in radians: it turns with the goal sectors."""
        goal, turned = self.goal("alpha", clock)
        return (int(azimuth_of(goal)) + turned) * sector_angle(int(ring_of(goal)))


def _ordered_direction(before: Moment | None, satellite: SatelliteId) -> int:
    if before is None:
        return 0
    for order in before.orders[SIDES.index(satellite.side)]:
        if order.satellite == satellite.number:
            return {"prograde": 1, "retrograde": -1}.get(order.action, 0)
    return 0


def _lerp(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction


def _smooth_step(x: float) -> float:
    """Return the smoothstep polynomial 3x^2 - 2x^3 of x clamped to [0, 1]."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3 - 2 * x)
