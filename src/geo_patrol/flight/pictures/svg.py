"""A drawing as SVG, for printing and for the web."""

import math
from xml.sax.saxutils import escape

from geo_patrol.flight.pictures.drawing import PAPER, Box, Circle, Diamond, Drawing, Line, Shape, Text

_MM_PER_PIXEL = 0.25
_A4 = 277.0, 190.0
"""Millimetres, less a margin of ten on each side."""
_FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg_text(drawing: Drawing, *, millimetres: tuple[float, float] | None = None) -> str:
    """Return a drawing as an SVG document.

    Args:
        drawing: what is written.
        millimetres: size of the paper; by default four pixels a millimetre.
    """
    width, height = millimetres or (drawing.width * _MM_PER_PIXEL, drawing.height * _MM_PER_PIXEL)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:g}mm" '
        f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" font-family="{_FONTS}">'
    )
    paper = f'<rect width="{drawing.width:g}" height="{drawing.height:g}" fill="{PAPER}"/>'
    return "\n".join([head, paper, *map(_element, drawing.shapes), "</svg>\n"])


def fit_on_a4(drawing: Drawing) -> tuple[float, float]:
    """Return the size in millimetres in which a drawing fills a sheet of A4, upright or not, with a margin."""
    sizes = []
    for room in (_A4, _A4[::-1]):
        scale = min(room[0] / drawing.width, room[1] / drawing.height)
        sizes.append((drawing.width * scale, drawing.height * scale))
    return max(sizes)


def _element(shape: Shape) -> str:
    match shape:
        case Line():
            return _line(shape)
        case Circle():
            x, y = shape.center
            return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{shape.radius:.4g}"{_look(shape)}/>'
        case Box():
            (x, y), (width, height) = shape.corner, shape.size
            dashes = ' stroke-dasharray="5 4"' if shape.dashed else ""
            return f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}"{_look(shape)}{dashes}/>'
        case Diamond():
            points = " ".join(f"{x:.5g},{y:.5g}" for x, y in diamond_points(shape))
            return f'<polygon points="{points}"{_look(shape)}/>'
        case Text():
            return _text(shape)


def _look(shape: Circle | Box | Diamond) -> str:
    fill = shape.fill or "none"
    stroke = f' stroke="{shape.stroke}" stroke-width="{shape.width:g}"' if shape.stroke else ""
    return f' fill="{fill}"{stroke}'


def _line(line: Line) -> str:
    (x1, y1), (x2, y2) = line.start, line.end
    look = f'stroke="{line.color}" stroke-width="{line.width:g}" stroke-linecap="round"'
    dashes = ' stroke-dasharray="5 4"' if line.dashed else ""
    drawn = f'<line x1="{x1:.5g}" y1="{y1:.5g}" x2="{x2:.5g}" y2="{y2:.5g}" {look}{dashes}/>'
    if not line.arrow:
        return drawn
    points = " ".join(f"{x:.5g},{y:.5g}" for x, y in arrow_points(line))
    return f'{drawn}\n<polygon points="{points}" fill="{line.color}"/>'


def _text(text: Text) -> str:
    x, y = text.place
    look = f'font-size="{text.size:g}" fill="{text.color}" text-anchor="{text.anchor}"'
    return f'<text x="{x:.5g}" y="{y + text.size * 0.35:.5g}" {look} xml:space="preserve">{escape(text.text)}</text>'


def arrow_points(line: Line) -> list[tuple[float, float]]:
    """Return the corners of an arrowhead at the end of a line."""
    (x1, y1), (x2, y2) = line.start, line.end
    angle, size = math.atan2(y2 - y1, x2 - x1), 4 + 2 * line.width
    corners = [(x2, y2)]
    corners += [(x2 - size * math.cos(angle + side), y2 - size * math.sin(angle + side)) for side in (0.45, -0.45)]
    return corners


def diamond_points(shape: Diamond) -> list[tuple[float, float]]:
    """Return the corners of a diamond."""
    (x, y), radius = shape.center, shape.radius
    return [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)]
