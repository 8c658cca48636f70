"""The grid of the map: points and their references such as "E16", directions, launches.

A point is (column, row), both from 1, row A on top. Columns grow to the right, rows downwards.
"""

import re
from typing import TypeAlias

Point: TypeAlias = tuple[int, int]

MIN_COLUMNS, MAX_COLUMNS = 5, 40
MIN_ROWS, MAX_ROWS = 5, 26
ROW_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

WEAK, STRONG = 2, 3
"""Reach of a gravity well, in grids: of planets with weak and with strong gravity."""

DIRECTIONS: tuple[Point, ...] = ((0, 0), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
"""Shifts of the engines by order code: none, then clockwise from straight up."""
DIRECTION_NAMES = ("none", "up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left")

_REFERENCE = re.compile(r"([A-Za-z])(0?[1-9]|[1-9][0-9])")


def _launch_ring() -> tuple[Point, ...]:
    """List the points at distance three, clockwise from straight up."""
    reach = WEAK + 1
    top = [(step, -reach) for step in range(reach + 1)]
    right = [(reach, step) for step in range(-reach + 1, reach + 1)]
    bottom = [(step, reach) for step in range(reach - 1, -reach - 1, -1)]
    left = [(-reach, step) for step in range(reach - 1, -reach - 1, -1)]
    return (*top, *right, *bottom, *left, *((step, -reach) for step in range(-reach + 1, 0)))


LAUNCHES = _launch_ring()
"""The 24 launches as endpoint minus planet, clockwise from straight up."""


def point_name(point: Point) -> str:
    """Return the grid reference of a point, such as "E16"; off the map, its coordinates."""
    column, row = point
    if 1 <= row <= MAX_ROWS and column >= 1:
        return f"{ROW_LETTERS[row - 1]}{column}"
    return f"({column}, {row})"


def read_point(text: str) -> Point:
    """Parse a grid reference.

    Raises:
        ValueError: the text is not a grid reference.
    """
    match = _REFERENCE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ValueError("a grid reference: the letter of a row and the number of a column, such as E16")
    return int(match[2]), ROW_LETTERS.index(match[1].upper()) + 1


def distance(point: Point, other: Point) -> int:
    """Return the Chebyshev distance of two points."""
    return max(abs(point[0] - other[0]), abs(point[1] - other[1]))
