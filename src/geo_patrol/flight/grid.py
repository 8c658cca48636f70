"""The grid of the map: points and their references such as "E16", directions, launches.

A point is (column, row), both from 1, row A on top. Columns grow to the right, rows downwards.
"""

import math
import re
from typing import TypeAlias

Point: TypeAlias = tuple[int, int]

MIN_COLUMNS, MAX_COLUMNS = 5, 40
MIN_ROWS, MAX_ROWS = 5, 26
ROW_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

WEAK, STRONG = 2, 3
"""Reach of a gravity well, in grids: of planets with weak and with strong gravity."""


def _ring(reach: int) -> tuple[Point, ...]:
    """List the shifts over a distance, clockwise from straight up."""
    steps = range(-reach, reach + 1)
    ring = [(right, down) for right in steps for down in steps if max(abs(right), abs(down)) == reach]
    return tuple(sorted(ring, key=lambda shift: math.atan2(shift[0], -shift[1]) % math.tau))


DIRECTIONS: tuple[Point, ...] = ((0, 0), *_ring(1))
"""Shifts of the engines by order code: none, then clockwise from straight up."""
DIRECTION_NAMES = ("none", "up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left")
LAUNCHES = _ring(3)
"""The 24 launches as endpoint minus planet, clockwise from straight up."""

_REFERENCE = re.compile(r"([A-Za-z])(0?[1-9]|[1-9][0-9])")


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
