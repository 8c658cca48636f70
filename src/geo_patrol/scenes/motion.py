"""How satellites, goals and the board get from one position to the next.

In a movement phase satellites glide from sector to sector. An engagement phase is first resolved, in which guards and
colliders move, and then drifts: everything turns by one sector of its ring.
"""

import math
from dataclasses import dataclass

from geo_patrol.board import azimuth_of, prograde, ring_of
from geo_patrol.game import Game
from geo_patrol.notation import Satellite, SatelliteId
from geo_patrol.scenes import theme
from geo_patrol.scenes.geometry import BoardGeometry, Polar, sector_angle
from geo_patrol.scenes.satellites import Anchor, Anchors, Style, all_satellites, satellite_anchors, style_of
from geo_patrol.sessions.timeline import Moment, Snapshot
from geo_patrol.sides import SIDES, Side

_GROWTH = 0.35
"""The part of an engagement's time in which its lines grow; then results show."""


@dataclass(frozen=True)
class Clock:
    """Progress of a phase, each value from 0 to 1.

    Attributes:
        movement: of the moves that orders or an engagement make.
        engagement: of the engagement's marks: they grow, then stay.
        drift: of the drift.
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
        satellites: of both sides.
        styles: how they look.
        anchors: where they are drawn.
    """

    def __init__(self, geometry: BoardGeometry, game: Game) -> None:
        self.satellites: tuple[Satellite, ...] = all_satellites(game)
        self.styles: dict[SatelliteId, Style] = {one.id: style_of(game, one) for one in self.satellites}
        self.anchors: Anchors = satellite_anchors(geometry, self.satellites)


class Motion:
    """The motion from the position before a snapshot to its own.

    Attributes:
        snapshot: whose position is at the end.
        start: the satellites at the start.
        end: the satellites at the end.
        has_drifted: whether the phase ended with a drift.
        is_engagement: whether the snapshot was reached by an engagement in which something happened.
    """

    def __init__(self, geometry: BoardGeometry, snapshot: Snapshot) -> None:
        before, game = snapshot.before, snapshot.game
        self.snapshot = snapshot
        self.end = Arrangement(geometry, game)
        self.start = self.end if before is None else Arrangement(geometry, before.game)
        self.has_drifted = before is not None and before.game.goals != game.goals
        self.is_engagement = before is not None and bool(before.outcomes)
        self._origin_drifts: dict[SatelliteId, float] = {}  # of satellites that change their sector by themselves
        self._paths: dict[SatelliteId, tuple[float, float]] = {}  # angles: of its own movement, of its drift
        for start, end in zip(self.start.satellites, self.end.satellites, strict=True):
            drifted = int(prograde(start.sector)) if self.has_drifted else start.sector
            if drifted != end.sector:
                self._origin_drifts[end.id] = self._drift_angle(start.sector)
            drift = self._drift_angle(end.sector)
            change = self.end.anchors[end.id].position[1] - drift - self.start.anchors[end.id].position[1]
            self._paths[end.id] = _directed(change, _ordered_direction(before, end.id)), drift

    def clock(self, progress: float) -> Clock:
        """Return the progress of each part of the phase after a fraction of its time, which is clamped to [0, 1]."""
        progress = min(max(progress, 0.0), 1.0)
        if self.snapshot.before is None:
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
