"""Where things are on the picture of a map."""

from dataclasses import dataclass

from geo_patrol.flight.grid import Point
from geo_patrol.flight.mission import Mission

_MAP_WIDTH = 1000
_CELL_SIZES = (25, 40)
LEFT, TOP = 58.0, 104.0
MIN_WIDTH = 960.0
"""Enough for the score sheet of forty turns."""


@dataclass(frozen=True)
class Layout:
    """Sizes of the picture of a mission's map."""

    mission: Mission

    @property
    def cell(self) -> float:
        """Pixels from one grid point to the next."""
        return float(min(max(_MAP_WIDTH // self.mission.columns, _CELL_SIZES[0]), _CELL_SIZES[1]))

    @property
    def width(self) -> float:
        """Width of the whole picture."""
        return max(2 * LEFT + self.cell * (self.mission.columns - 1), MIN_WIDTH)

    @property
    def left(self) -> float:
        """The first column; a narrow map is centered."""
        return (self.width - self.cell * (self.mission.columns - 1)) / 2

    @property
    def bottom(self) -> float:
        """The last row."""
        return TOP + self.cell * (self.mission.rows - 1)

    def at(self, point: tuple[float, float]) -> tuple[float, float]:
        """Return the pixels of a point of the map; points off it are drawn just outside."""
        column = min(max(point[0], 0.4), self.mission.columns + 0.6)
        row = min(max(point[1], 0.4), self.mission.rows + 0.6)
        return self.left + (column - 1) * self.cell, TOP + (row - 1) * self.cell

    def point_at(self, pixel: tuple[float, float]) -> Point:
        """Return the grid point nearest to pixels."""
        return round((pixel[0] - self.left) / self.cell) + 1, round((pixel[1] - TOP) / self.cell) + 1
