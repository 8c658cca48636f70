"""Drawings as SVG, for printing and for the web; needs no other package."""

import functools
import hashlib
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as ET

from geo_patrol.drawing.shapes import (
    DASH_FRACTION,
    Box,
    Circle,
    Color,
    Drawing,
    Point,
    Polygon,
    Polyline,
    Shape,
    Symbol,
    Text,
    Use,
    dash_period,
)

_FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
_BASELINES = {"top": 0.8, "bottom": -0.2}
"""Distance of a text's base line from its anchor, in font sizes; 0.36 otherwise, from the middle of the capitals."""


def svg_text(drawing: Drawing, *, title: str = "", millimeters: tuple[float, float] | None = None) -> str:
    """Return a drawing as an SVG document that needs nothing else.

    Args:
        drawing: what is written.
        title: name of the picture, as screen readers read it.
        millimeters: size on paper; by default it takes the size of where it is shown.
    """
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {drawing.width:g} {drawing.height:g}")
    if millimeters is not None:
        root.set("width", f"{millimeters[0]:g}mm")
        root.set("height", f"{millimeters[1]:g}mm")
    if title:
        ET.SubElement(root, "title").text = title
    ET.SubElement(root, "rect", width="100%", height="100%", fill=drawing.background)
    root.extend(elements(drawing.shapes))
    return ET.tostring(root, encoding="unicode")


def elements(shapes: Iterable[Shape]) -> Iterator[ET.Element]:
    """Return shapes as elements of SVG; each symbol is defined before its first use."""
    defined: set[str] = set()
    for shape in shapes:
        if isinstance(shape, Use):
            name = symbol_name(shape.symbol)
            if name not in defined:
                defined.add(name)
                yield from _symbol(shape.symbol, name)
            yield _use(shape, name)
        else:
            yield _element(shape)


@functools.lru_cache(maxsize=1024)
def symbol_markup(symbol: Symbol) -> str:
    """Return the definition of a symbol as markup, for ``use`` elements that refer to ``symbol_name``."""
    return "".join(ET.tostring(element, encoding="unicode") for element in _symbol(symbol, symbol_name(symbol)))


@functools.lru_cache(maxsize=1024)
def symbol_name(symbol: Symbol) -> str:
    """Return an id that only equal symbols share, also among several pictures in a page."""
    content = repr((symbol.shapes, symbol.hole)).encode()
    return f"symbol-{hashlib.sha256(content).hexdigest()[:16]}"


def _element(shape: Polygon | Polyline | Circle | Box | Text) -> ET.Element:
    match shape:
        case Polygon():
            element = ET.Element("polygon", points=_points(shape.points))
            return _paint(element, shape.fill, shape.stroke, shape.width, shape.opacity)
        case Polyline():
            return _polyline(shape)
        case Circle():
            x, y = shape.center
            element = ET.Element("circle", cx=_number(x), cy=_number(y), r=_number(shape.radius))
            return _paint(element, shape.fill, shape.stroke, shape.width, shape.opacity)
        case Box():
            return _box(shape)
        case Text():
            return _text(shape)


def _polyline(line: Polyline) -> ET.Element:
    element = _paint(ET.Element("polyline", points=_points(line.points)), None, line.color, line.width)
    if line.dashed:
        period = dash_period(line.width)
        dashes = f"{_number(DASH_FRACTION * period)} {_number((1 - DASH_FRACTION) * period)}"
        element.set("stroke-dasharray", dashes)
    else:
        element.set("stroke-linecap", "round")
    return element


def _box(box: Box) -> ET.Element:
    inset = box.stroke_width / 2 if box.stroke else 0.0
    element = ET.Element(
        "rect",
        x=_number(box.left + inset),
        y=_number(box.top + inset),
        width=_number(box.width - 2 * inset),
        height=_number(box.height - 2 * inset),
    )
    if box.rounding:
        element.set("rx", _number(box.rounding))
    return _paint(element, box.fill, box.stroke, box.stroke_width)


def _text(text: Text) -> ET.Element:
    x, y = text.position
    shift = next((shift for edge, shift in _BASELINES.items() if edge in text.anchor), 0.36)
    element = ET.Element(
        "text",
        {
            "x": _number(x),
            "y": _number(y + shift * text.size),
            "font-size": _number(text.size),
            "font-family": _FONT,
            "text-anchor": "start" if "left" in text.anchor else "end" if "right" in text.anchor else "middle",
            "fill": text.color,
            "xml:space": "preserve",
        },
    )
    if text.bold:
        element.set("font-weight", "bold")
    if text.rotation:
        element.set("transform", f"rotate({_number(-text.rotation)} {_number(x)} {_number(y)})")
    element.text = text.text
    return element


def _symbol(symbol: Symbol, name: str) -> Iterator[ET.Element]:
    """Define a symbol; its hole is a mask."""
    if symbol.hole:
        mask = ET.Element("mask", id=f"{name}-hole")
        mask.append(_paint(ET.Element("rect", x="-1", y="-1", width="2", height="2"), "#ffffff", None))
        mask.append(_element(Circle((0, 0), symbol.hole, "#000000")))
        yield mask
    element = ET.Element("symbol", id=name, viewBox="-1 -1 2 2", overflow="visible")
    group = ET.SubElement(element, "g")
    if symbol.hole:
        group.set("mask", f"url(#{name}-hole)")
    group.extend(map(_element, symbol.shapes))
    yield element


def _use(use: Use, name: str) -> ET.Element:
    (x, y), half = use.center, use.size / 2
    element = ET.Element(
        "use",
        href=f"#{name}",
        x=_number(x - half),
        y=_number(y - half),
        width=_number(use.size),
        height=_number(use.size),
    )
    if use.rotation:
        element.set("transform", f"rotate({_number(-use.rotation)} {_number(x)} {_number(y)})")
    return element


def _paint(
    element: ET.Element, fill: Color | None, stroke: Color | None, width: float = 1.0, opacity: float = 1.0
) -> ET.Element:
    element.set("fill", fill or "none")
    if stroke:
        element.set("stroke", stroke)
        element.set("stroke-width", _number(width))
    if opacity < 1:
        element.set("opacity", f"{opacity:.3g}")
    return element


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    """Return a coordinate: two decimals in pixels, four in the unit squares of symbols."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) <= 2 else f"{value:.2f}".rstrip("0").rstrip(".")
