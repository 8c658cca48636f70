"""How satellites, goals and the board get from one position to the next.

In a movement phase satellites glide from sector to sector. An engagement phase is first fought, where guards and
colliders move, and then drifts: everything turns by one sector of its ring.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from geo_patrol.board import azimuth_of, prograde, ring_of
from geo_patrol.notation import SatelliteId
from geo_patrol.rendering import theme
from geo_patrol.scenes.anchors import Slot, all_satellites, satellite_slots
from geo_patrol.scenes.geometry import BoardGeometry, Polar, sector_angle
from geo_patrol.sessions.timeline import Moment, Scene
from geo_patrol.sides import SIDES, Side


@dataclass(frozen=True)
class Clock:
    """How far a phase has come: parts from 0 to 1.

    Attributes:
        moved: of the ways that orders or an engagement make satellites go.
        fought: of the engagement's marks: they grow, then stay.
        drifted: of the drift.
    """

    GROWN: ClassVar[float] = 0.35
    """The part of an engagement's time after which its lines are there and results show."""

    moved: float
    fought: float
    drifted: float

    @property
    def grown(self) -> float:
        """How far the lines of an engagement's marks have grown, from 0 to 1."""
        return min(self.fought / self.GROWN, 1.0)

    @property
    def is_revealed(self) -> bool:
        """Whether an engagement's results show."""
        return self.grown >= 1


class Motion:
    """The way from the position before a scene to its own.

    Attributes:
        satellites: at the end.
        satellites_before: at the start.
        end: where they are at the end.
        start: where they are at the start.
        has_drifted: whether the phase ended with a drift.
    """

    def __init__(self, geometry: BoardGeometry, scene: Scene) -> None:
        self._geometry = geometry
        self._before = scene.before
        self._after = scene.game
        self.satellites = all_satellites(scene.game)
        self.satellites_before = self.satellites if scene.before is None else all_satellites(scene.before.game)
        self.end = satellite_slots(geometry, self.satellites)
        self.start = self.end if scene.before is None else satellite_slots(geometry, self.satellites_before)
        self.has_drifted = scene.before is not None and scene.before.game.goals != scene.game.goals
        self._sectors = {one.id: one.sector for one in self.satellites}
        self._sectors_before = {one.id: one.sector for one in self.satellites_before}
        self._moved = {one for one in self.end if self._changes_sector(one)}
        self._ways = {one: self._way(one) for one in self.end}
        self._clock: Clock | None = None
        self._slots: dict[SatelliteId, Slot] = {}

    @property
    def is_engagement(self) -> bool:
        """Whether the scene was reached by an engagement in which something happened."""
        return self._before is not None and bool(self._before.outcomes)

    def clock(self, progress: float) -> Clock:
        """Return how far everything has come after a part of the phase's time."""
        if self._before is None:
            return Clock(1, 1, 1)
        if not self.has_drifted and not self.is_engagement:
            return Clock(_ease(progress), 1, 1)
        split = theme.ENGAGEMENT_PART if self.is_engagement else 0.0
        fought = min(progress / split, 1.0) if split else 1.0
        drifted = (progress - split) / (1 - split) if self.has_drifted else 1.0
        return Clock(_ease((fought - 0.45) / 0.4), fought, _ease(drifted))

    def drift_angle(self, ring: int) -> float:
        """Return by which angle a ring turns in the drift of this phase."""
        return sector_angle(ring) if self.has_drifted else 0.0

    def slot(self, satellite: SatelliteId, clock: Clock) -> Slot:
        """Return where a satellite is; a place's angle may be beyond a full turn."""
        if clock is not self._clock:
            self._clock = clock
            self._slots = {one: self._slot(one, clock) for one in self.end}
        return self._slots[satellite]

    def _slot(self, satellite: SatelliteId, clock: Clock) -> Slot:
        start, end = self.start[satellite], self.end[satellite]
        turn = self.drift_angle(self._ring(satellite))
        angle = start.place[1] + self._ways[satellite] * clock.moved + turn * clock.drifted
        distance = _between(start.place[0], end.place[0], clock.moved)
        return Slot((distance, angle), _between(start.radius, end.radius, clock.moved))

    def origin(self, satellite: SatelliteId, clock: Clock) -> Polar:
        """Return where a satellite came from, or where it is if it did not change its sector; turned by the drift."""
        if not self.has_moved(satellite):
            return self.slot(satellite, clock).place
        distance, angle = self.start[satellite].place
        ring = int(ring_of(self._sectors_before[satellite]))
        return distance, angle + self.drift_angle(ring) * clock.drifted

    def has_moved(self, satellite: SatelliteId) -> bool:
        """Tell whether a satellite changed its sector otherwise than by drifting."""
        return satellite in self._moved

    def _changes_sector(self, satellite: SatelliteId) -> bool:
        start, end = self._sectors_before[satellite], self._sectors[satellite]
        return (int(prograde(start)) if self.has_drifted else start) != end

    def _ring(self, satellite: SatelliteId) -> int:
        return int(ring_of(self._sectors[satellite]))

    def _way(self, satellite: SatelliteId) -> float:
        """Return the angle from a satellite's start to its end without the drift, the way it is ordered to go."""
        turn = self.drift_angle(self._ring(satellite))
        way = (self.end[satellite].place[1] - turn - self.start[satellite].place[1] + math.pi) % math.tau - math.pi
        direction = _ordered_direction(self._before, satellite)
        if direction and way * direction < 0 and abs(way) > math.pi / 2:  # half a turn, on ring 1
            way += direction * math.tau
        return way

    def goal_turn(self, side: Side, clock: Clock) -> tuple[int, float]:
        """Return a goal sector, and how many sectors it is turned from there."""
        return self._after.goals[side], clock.drifted - 1 if self.has_drifted else 0.0

    def earth_turn(self, clock: Clock) -> float:
        """Return the Earth's rotation: it keeps pace with the goal sectors."""
        goal, turned = self.goal_turn("alpha", clock)
        return (int(azimuth_of(goal)) + turned) * sector_angle(int(ring_of(goal)))


def _ordered_direction(before: Moment | None, satellite: SatelliteId) -> int:
    if before is None:
        return 0
    for order in before.orders[SIDES.index(satellite.side)]:
        if order.satellite == satellite.number:
            return {"prograde": 1, "retrograde": -1}.get(order.action, 0)
    return 0


def _between(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


def _ease(part: float) -> float:
    """Return a part of a way that begins and ends slowly; below 0 is 0, above 1 is 1."""
    part = min(max(part, 0.0), 1.0)
    return part * part * (3 - 2 * part)
