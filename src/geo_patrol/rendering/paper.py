"""A position for papers: as a matplotlib figure, or as SVG.

>>> from geo_patrol import Game
>>> from geo_patrol.rendering import figure
>>> figure(Game("geo_patrol", seed=7)).savefig("start.pdf")          # doctest: +SKIP
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from geo_patrol.errors import optional_import
from geo_patrol.game import Game
from geo_patrol.scenes.shapes import (
    INK,
    PAPER,
    SIZE,
    Circle,
    Label,
    Line,
    Polygon,
    Shape,
    board_shapes,
    number_shapes,
    position_shapes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES = 6.0
_POINTS = 72 * _INCHES / SIZE
"""Points of print for a unit of the shapes."""
_FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"


def figure(game: Game, *, title: bool = True, axes: "Axes | None" = None) -> "Figure":
    """Draw a position as a matplotlib figure, for ``savefig`` in any of its formats.

    Args:
        game: the position.
        title: whether title, turn, phase and score stand above it.
        axes: where to draw, to put several positions into one figure; None makes a figure of its own, which belongs to
            no window and needs no closing.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    with optional_import("plots"):
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    if axes is None:
        own = Figure(figsize=(_INCHES, _INCHES * (1.06 if title else 1.0)), layout="constrained", facecolor=PAPER)
        axes = own.add_subplot()
    axes.set(xlim=(0, SIZE), ylim=(SIZE, 0), aspect="equal")
    axes.set_axis_off()
    for shape in all_shapes(game):
        _paint(axes, shape)
    if title:
        axes.set_title(caption(game), color=INK, fontsize=11, parse_math=False)
    found = axes.get_figure(root=True)
    assert found is not None
    return found


def caption(game: Game) -> str:
    """Return title, turn, phase and score in a line."""
    scores = game.scores
    when = f"end, turn {game.turn}" if game.is_over else f"turn {game.turn}, {game.phase}"
    return f"{game.config.title}: {when}, score {scores['alpha']} | {scores['bravo']}"


def all_shapes(game: Game) -> Iterable[Shape]:
    """Return board, goals, numbers and satellites, in the order in which they are drawn."""
    board = game.config.board
    numbers = list(number_shapes(board))
    position = list(position_shapes(game))
    goals, satellites = position[:2], position[2:]
    return [*board_shapes(board), *goals, *numbers, *satellites]


def _paint(axes: "Axes", shape: Shape) -> None:
    from matplotlib import patches  # noqa: PLC0415 - an extra

    match shape:
        case Polygon():
            patch = patches.Polygon(
                shape.points, closed=True, facecolor=shape.fill, edgecolor=shape.edge, linewidth=shape.width * _POINTS
            )
            axes.add_patch(patch)
        case Circle():
            disc = patches.Circle(
                shape.centre,
                shape.radius,
                facecolor=shape.fill,
                edgecolor=shape.edge,
                linewidth=shape.width * _POINTS,
                zorder=2,
            )
            axes.add_patch(disc)
        case Line():
            axes.plot(*zip(*shape.points, strict=True), color=shape.colour, linewidth=shape.width * _POINTS, zorder=3)
        case Label():
            axes.text(
                *shape.place,
                shape.text,
                color=shape.colour,
                fontsize=shape.size * _POINTS,
                fontweight="bold" if shape.bold else "normal",
                ha="center",
                va="center_baseline",
                parse_math=False,
                zorder=4,
            )


def svg(game: Game) -> str:
    """Return a position as an SVG picture that stands alone; needs no other package."""
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {SIZE:g} {SIZE:g}")
    ET.SubElement(root, "title").text = caption(game)
    ET.SubElement(root, "rect", width="100%", height="100%", fill=PAPER)
    root.extend(elements(all_shapes(game)))
    return ET.tostring(root, encoding="unicode")


def elements(shapes: Iterable[Shape]) -> Iterable[ET.Element]:
    """Return shapes as elements of SVG."""
    return map(_element, shapes)


def _element(shape: Shape) -> ET.Element:
    match shape:
        case Polygon():
            points = _points(shape.points)
            return _with_edge(ET.Element("polygon", points=points, fill=shape.fill), shape.edge, shape.width)
        case Circle():
            x, y = shape.centre
            circle = ET.Element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{shape.radius:.1f}", fill=shape.fill)
            return _with_edge(circle, shape.edge, shape.width)
        case Line():
            return _with_edge(
                ET.Element("polyline", points=_points(shape.points), fill="none"), shape.colour, shape.width
            )
        case Label():
            return _text(shape)


def _text(label: Label) -> ET.Element:
    x, y = label.place
    text = ET.Element(
        "text",
        {
            "x": f"{x:.1f}",
            "y": f"{y + 0.36 * label.size:.1f}",  # the middle of the capitals, in every viewer alike
            "font-size": f"{label.size:.1f}",
            "font-family": _FONT,
            "text-anchor": "middle",
            "fill": label.colour,
        },
    )
    if label.bold:
        text.set("font-weight", "bold")
    text.text = label.text
    return text


def _with_edge(element: ET.Element, colour: str, width: float) -> ET.Element:
    element.set("stroke", colour)
    element.set("stroke-width", f"{width:.1f}")
    return element


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
