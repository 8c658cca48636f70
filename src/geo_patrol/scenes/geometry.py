"""Polar geometry of the board.

Positions on the board are polar: the distance from the Earth's center in pixels, and the angle counterclockwise from
the right in radians. A sector is the part of its ring from its azimuth to the next one, so the two sectors that a
sector touches further out lie right behind it.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from geo_patrol.board import azimuth_of, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.scenes.shapes import Point
from geo_patrol.scenes.theme import EARTH_RADIUS, FIRST_RING

Polar: TypeAlias = tuple[float, float]
"""Distance in pixels, angle in radians."""


@dataclass(frozen=True)
class BoardGeometry:
    """Rings around a center.

    Attributes:
        board: the rings.
        center: of the Earth, in pixels.
        radius: of the outermost ring's outer edge, in pixels.
    """

    board: BoardConfig
    center: Point
    radius: float

    @property
    def earth_radius(self) -> float:
        """The Earth's radius in pixels."""
        return self.radius * EARTH_RADIUS

    @property
    def ring_width(self) -> float:
        """The width of a ring in pixels."""
        return self.radius * (1 - FIRST_RING) / (self.board.outer_ring - self.board.inner_ring + 1)

    def inner_edge(self, ring: int) -> float:
        """Return a ring's inner radius in pixels."""
        return self.radius * FIRST_RING + (ring - self.board.inner_ring) * self.ring_width

    def outer_edge(self, ring: int) -> float:
        """Return a ring's outer radius in pixels."""
        return self.inner_edge(ring) + self.ring_width

    def point(self, position: Polar) -> Point:
        """Return a polar position in pixels of the picture."""
        distance, angle = position
        return self.center[0] + distance * math.cos(angle), self.center[1] - distance * math.sin(angle)

    def sector_center(self, sector: int) -> Point:
        """Return the middle of a sector in pixels of the picture."""
        ring = int(ring_of(sector))
        return self.point(((self.inner_edge(ring) + self.outer_edge(ring)) / 2, middle_angle(sector)))

    def outline(self, sector: int, rotation: float = 0.0, inset: float = 0.0) -> tuple[Point, ...]:
        """Return a sector's outline.

        Args:
            sector: number of the sector.
            rotation: how far it has turned, in sectors of its ring.
            inset: how far inside its edges the outline runs, in pixels.
        """
        ring = int(ring_of(sector))
        width = sector_angle(ring)
        start = (int(azimuth_of(sector)) + rotation) * width
        inner, outer = self.inner_edge(ring) + inset, self.outer_edge(ring) - inset
        steps = max(2, math.ceil(width / 0.05))
        return tuple(
            self.point((distance, start + (width - 2 * inset / distance) * step / steps + inset / distance))
            for distance, order in ((inner, range(steps + 1)), (outer, range(steps, -1, -1)))
            for step in order
        )

    def sector_of(self, point: Point) -> int | None:
        """Return the sector at a pixel of the picture; None if there is none."""
        x, y = point[0] - self.center[0], self.center[1] - point[1]
        ring = math.floor((math.hypot(x, y) - self.radius * FIRST_RING) / self.ring_width) + self.board.inner_ring
        if not self.board.inner_ring <= ring <= self.board.outer_ring:
            return None
        return int(sector_at(ring, math.floor(math.atan2(y, x) / sector_angle(ring))))


def sector_angle(ring: int) -> float:
    """Return the angle that a sector of a ring spans."""
    return math.tau / (1 << ring)


def middle_angle(sector: int) -> float:
    """Return the angle of a sector's middle."""
    return (int(azimuth_of(sector)) + 0.5) * sector_angle(int(ring_of(sector)))
