"""Drawings by matplotlib: as vector graphics in PDF, or inside a figure of one's own."""

import io
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from geo_patrol.base.errors import optional_import
from geo_patrol.drawing.shapes import (
    Box,
    Circle,
    Drawing,
    PlainShape,
    Point,
    Polygon,
    Polyline,
    Shape,
    Symbol,
    Text,
    Use,
)
from geo_patrol.drawing.sheet import Paper, fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path


_POINTS_PER_INCH = 72
_MM_PER_INCH = 25.4
_POINTS_PER_PIXEL = 0.75
_VERTICAL = {"top": "top", "bottom": "bottom"}


class _Placement(NamedTuple):
    """How the coordinates of a symbol become those of the axes."""

    center: Point = (0.0, 0.0)
    scale: float = 1.0
    degrees: float = 0.0

    def point(self, point: Point) -> Point:
        """Return where a point is on the axes, whose y axis points down."""
        angle = math.radians(-self.degrees)
        x, y = point[0] * self.scale, point[1] * self.scale
        turned = x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
        return self.center[0] + turned[0], self.center[1] + turned[1]

    def points(self, points: Iterable[Point]) -> list[Point]:
        """Return where points are on the axes."""
        return [self.point(point) for point in points]


def pdf_bytes(drawings: Sequence[Drawing], title: str = "", paper: Paper | None = None) -> bytes:
    """Return drawings as the content of a PDF file, a page for each, all of it vector graphics with embedded fonts.

    Args:
        drawings: what is written.
        title: title of the document.
        paper: that each drawing fills, upright or not, within its margins; by default a page is as large as its drawing,
            with 0.75 points for each pixel.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    with optional_import("plots"):
        from matplotlib import rc_context  # noqa: PLC0415 - an extra
        from matplotlib.backends.backend_pdf import PdfPages  # noqa: PLC0415
    file = io.BytesIO()
    with rc_context({"pdf.fonttype": 42}), PdfPages(file, metadata={"Title": title, "CreationDate": None}) as pages:
        for drawing in drawings:
            pages.savefig(_figure(drawing, paper), facecolor=drawing.background)
    return file.getvalue()


def _figure(drawing: Drawing, paper: Paper | None) -> "Figure":
    """Return a page with a drawing."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    width, height = (length * _POINTS_PER_PIXEL / _POINTS_PER_INCH for length in (drawing.width, drawing.height))
    page = (width, height)
    if paper is not None:
        width, height = (length / _MM_PER_INCH for length in fit(drawing, paper))
        page = (max(paper), min(paper)) if width > height else (min(paper), max(paper))
        page = (page[0] / _MM_PER_INCH, page[1] / _MM_PER_INCH)
    figure = Figure(figsize=page, facecolor=drawing.background)
    left, bottom = (page[0] - width) / 2, (page[1] - height) / 2
    axes = figure.add_axes((left / page[0], bottom / page[1], width / page[0], height / page[1]))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    draw_shapes(axes, drawing.shapes, points_per_unit=width * _POINTS_PER_INCH / drawing.width)
    return figure


def draw_shapes(axes: "Axes", shapes: Iterable[Shape], points_per_unit: float) -> None:
    """Draw shapes on axes whose y axis points down.

    Args:
        axes: where to draw.
        shapes: from the lowest to the topmost.
        points_per_unit: points of print for a unit of the shapes.
    """
    for z, shape in enumerate(shapes, start=2):
        if isinstance(shape, Use):
            placement = _Placement(shape.center, shape.size / 2, shape.rotation or 0.0)
            clip = _hole_path(shape.symbol, placement)
            for plain in shape.symbol.shapes:
                _draw(axes, plain, placement, points_per_unit, z, clip)
        else:
            _draw(axes, shape, _Placement(), points_per_unit, z, None)


def _draw(axes: "Axes", shape: PlainShape, at: _Placement, points: float, z: int, clip: "Path | None") -> None:
    from matplotlib import patches  # noqa: PLC0415 - an extra

    unit = points * at.scale
    match shape:
        case Polygon(corners, fill, stroke, width, opacity):
            artist: Any = patches.Polygon(
                at.points(corners), closed=True, **_paint(fill, stroke, width * unit, opacity)
            )
        case Circle(center, radius, fill, stroke, width, opacity):
            style = _paint(fill, stroke, width * unit, opacity)
            artist = patches.Circle(at.point(center), radius * at.scale, **style)
        case Box():
            artist = _box(shape, at, unit)
        case Polyline(corners, color, width, dashed):
            style = {"dashes": (2.2 + 1.1 / width, 1.8 + 0.9 / width)} if dashed else {"solid_capstyle": "round"}
            (artist,) = axes.plot(*zip(*at.points(corners), strict=True), color=color, linewidth=width * unit, **style)
        case Text():
            artist = _text(axes, shape, at, unit)
    artist.set_zorder(z)
    if isinstance(artist, patches.Patch):
        axes.add_patch(artist)
    if clip is not None:
        artist.set_clip_path(clip, axes.transData)


def _box(shape: Box, at: _Placement, unit: float) -> Any:
    from matplotlib import patches  # noqa: PLC0415 - an extra

    inset = shape.stroke_width / 2 if shape.stroke else 0.0
    left, top = at.point((shape.left + inset, shape.top + inset))
    width, height = ((length - 2 * inset) * at.scale for length in (shape.width, shape.height))
    rounding = min(shape.rounding * at.scale, width / 2, height / 2)
    corners = f"round,pad=0,rounding_size={rounding}" if rounding > 0 else "square,pad=0"
    style = _paint(shape.fill, shape.stroke, shape.stroke_width * unit, 1.0)
    return patches.FancyBboxPatch((left, top), width, height, boxstyle=corners, mutation_aspect=1, **style)


def _text(axes: "Axes", shape: Text, at: _Placement, unit: float) -> Any:
    edge = next((edge for edge in _VERTICAL if edge in shape.anchor), None)
    return axes.text(
        *at.point(shape.position),
        shape.text,
        color=shape.color,
        fontsize=shape.size * unit,
        fontweight="bold" if shape.bold else "normal",
        rotation=shape.rotation + at.degrees,
        rotation_mode="anchor",
        ha="left" if "left" in shape.anchor else "right" if "right" in shape.anchor else "center",
        va="center_baseline" if edge is None else _VERTICAL[edge],
        parse_math=False,
    )


def _paint(fill: str | None, stroke: str | None, points: float, opacity: float) -> dict[str, Any]:
    return {
        "facecolor": fill or "none",
        "edgecolor": stroke or "none",
        "linewidth": points if stroke else 0.0,
        "alpha": opacity if opacity < 1 else None,
        "joinstyle": "round",
    }


def _hole_path(symbol: Symbol, at: _Placement) -> "Path | None":
    """Return the outline of a symbol's square without its hole; None if it has none."""
    if not symbol.hole:
        return None
    from matplotlib.path import Path  # noqa: PLC0415 - an extra

    square = Path([*at.points([(-2, -2), (2, -2), (2, 2), (-2, 2)]), at.point((-2, -2))], closed=True)
    hole = Path.circle(at.center, symbol.hole * at.scale)
    reverse = Path(np.asarray(hole.vertices)[::-1], hole.codes)  # the other direction leaves it out
    return Path.make_compound_path(square, reverse)
