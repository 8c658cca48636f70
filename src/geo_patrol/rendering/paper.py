"""A position for papers: as a matplotlib figure, or as SVG.

>>> from geo_patrol import Game
>>> from geo_patrol.rendering import figure
>>> figure(Game("geo_patrol", seed=7)).savefig("start.pdf")          # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from geo_patrol.errors import optional_import
from geo_patrol.game import Game
from geo_patrol.rendering.matplotlib_writer import draw_shapes
from geo_patrol.rendering.svg_writer import svg_text
from geo_patrol.scenes.paper import INK, PAPER, SIZE, caption, position_drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES = 6.0
_POINTS = 72 * _INCHES / SIZE
"""Points of print for a unit of the shapes."""


def figure(game: Game, *, title: bool = True, axes: "Axes | None" = None) -> "Figure":
    """Draw a position as a matplotlib figure, for ``savefig`` in any of its formats.

    Args:
        game: the position.
        title: whether title, turn, phase and score are written above it.
        axes: where to draw, to put several positions into one figure; None makes a new figure, which belongs to no
            window and needs no closing.

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
    draw_shapes(axes, position_drawing(game).shapes, _POINTS)
    if title:
        axes.set_title(caption(game), color=INK, fontsize=11, parse_math=False)
    found = axes.get_figure(root=True)
    assert found is not None
    return found


def svg(game: Game) -> str:
    """Return a position as an SVG picture that needs nothing else."""
    return svg_text(position_drawing(game), title=caption(game))
