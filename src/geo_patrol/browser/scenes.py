"""Drawings as data for a browser: shapes as JSON, which ``static/scene.js`` draws as SVG and moves.

The board of a phase is sent as a few frames, lists of shapes. A script moves from one to the next by interpolating
numbers of shapes that correspond, so that it needs to know nothing of the game.
"""

import functools
from collections.abc import Iterable
from itertools import chain
from typing import Any
from xml.etree import ElementTree as ET

from geo_patrol.config.schema import BoardConfig, GameConfig
from geo_patrol.rendering.svg_writer import elements, symbol_markup, symbol_name
from geo_patrol.scenes.layout import Layout, make_layout
from geo_patrol.scenes.motion import Motion
from geo_patrol.scenes.picture import fleet_size, moving_shapes, static_shapes
from geo_patrol.scenes.shapes import Box, Circle, Polygon, Polyline, Shape, Text, Use
from geo_patrol.sessions.playback import MOVING_FRACTION, phase_seconds
from geo_patrol.sessions.timeline import Snapshot

SIZE = 720
"""Side of the board's square, in pixels."""
FRAMES_PER_SECOND = 10
"""Between which a browser interpolates."""


class SceneEncoder:
    """Encodes the boards of games of one configuration; every shape and every symbol once.

    Args:
        config: of the games.

    Attributes:
        shapes: the shapes that frames refer to by their index.
        symbols: markup of the symbols that shapes refer to by name.
        layout: of the board.
    """

    def __init__(self, config: GameConfig) -> None:
        self._board, self._fleet = config.board, fleet_size(config)
        self.layout = _board_layout(self._board, self._fleet)
        self.shapes: list[list[Any]] = []
        self.symbols: dict[str, str] = {}
        self._indices: dict[Shape, int] = {}
        self._rounded: dict[str, int] = {}

    def board(self, *, is_turning: bool = False) -> str:
        """Return what stays of the board as SVG markup."""
        return _board_markup(self._board, self._fleet, is_turning)

    def frames(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the phase that led to a snapshot as frames at equal distances in time.

        Returns:
            ``seconds``: its duration; ``frames``: indices of the shapes of each frame, the first at the start and the
            last at the end of the phase, a single one if nothing led there; ``turning``: indices of the first and the
            last frame in which the board turns, or None.
        """
        motion = Motion(self.layout.geometry, snapshot)
        seconds = phase_seconds(snapshot) * MOVING_FRACTION
        steps = round(seconds * FRAMES_PER_SECOND) if snapshot.before is not None else 0
        clocks = [motion.clock(i / steps if steps else 1.0) for i in range(steps + 1)]
        turning = [i for i, clock in enumerate(clocks) if clock.is_drifting]
        return {
            "seconds": round(seconds, 3),
            "frames": [self.encode(moving_shapes(self.layout, motion, clock)) for clock in clocks],
            "turning": [turning[0], turning[-1]] if turning else None,
        }

    def encode(self, shapes: Iterable[Shape]) -> list[int]:
        """Return the indices of shapes, which are added to ``shapes`` if they are new."""
        return [self._index(shape) for shape in shapes]

    def _index(self, shape: Shape) -> int:
        index = self._indices.get(shape)
        if index is None:
            index = self._indices[shape] = self._add(shape)
        return index

    def _add(self, shape: Shape) -> int:
        """Return the index of a shape that is new, or differs from one by less than the rounding of numbers."""
        if isinstance(shape, Use):
            self.symbols[symbol_name(shape.symbol)] = symbol_markup(shape.symbol)
        data = shape_data(shape)
        index = self._rounded.setdefault(repr(data), len(self.shapes))
        if index == len(self.shapes):
            self.shapes.append(data)
        return index


@functools.lru_cache(maxsize=64)
def _board_layout(board: BoardConfig, fleet: int) -> Layout:
    return make_layout(2 * SIZE, SIZE, board, fleet)


@functools.lru_cache(maxsize=64)
def _board_markup(board: BoardConfig, fleet: int, is_turning: bool) -> str:
    return markup(static_shapes(_board_layout(board, fleet), is_turning))


def markup(shapes: Iterable[Shape]) -> str:
    """Return shapes as SVG elements."""
    return "".join(ET.tostring(element, encoding="unicode") for element in elements(shapes))


def shape_data(shape: Shape) -> list[Any]:
    """Return a shape as JSON: the first letter of its class, then its numbers and texts in their order."""
    match shape:
        case Polygon(points, fill, stroke, width, opacity):
            return ["P", *_paint(fill, stroke, width, opacity), *_flat(points)]
        case Polyline(points, color, width, dashed):
            return ["L", color, _number(width), int(dashed), *_flat(points)]
        case Circle(center, radius, fill, stroke, width, opacity):
            return ["C", *_paint(fill, stroke, width, opacity), *_flat([center]), _number(radius)]
        case Box(left, top, width, height, fill, stroke, stroke_width, rounding):
            numbers = map(_number, (left, top, width, height, rounding))
            return ["B", *_paint(fill, stroke, stroke_width, 1.0), *numbers]
        case Text(position, text, size, color, anchor, rotation, bold):
            return ["T", text, color, anchor, int(bold), _number(size), *_flat([position]), _number(rotation)]
        case Use(symbol, center, size, rotation):
            return ["U", symbol_name(symbol), *_flat([center]), _number(size), _number(rotation or 0.0)]


def _paint(fill: str | None, stroke: str | None, width: float, opacity: float) -> list[Any]:
    return [fill, stroke, _number(width), round(opacity, 3)]


def _flat(points: Iterable[tuple[float, float]]) -> list[float]:
    return [_number(value) for value in chain.from_iterable(points)]


def _number(value: float) -> float:
    """Return a coordinate in tenths of a pixel, whole ones as integers, which are shorter."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded
