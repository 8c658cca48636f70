"""A position on white paper, as plain shapes in a square of 1000 x 1000: what a figure and a report draw alike."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from geo_patrol.base.board import adjacent_sectors, prograde, radial_in, radial_out, retrograde, ring_of, sector_at
from geo_patrol.base.errors import optional_import
from geo_patrol.base.sides import SIDES
from geo_patrol.config.schema import BoardConfig
from geo_patrol.drawing.figures import draw_shapes
from geo_patrol.drawing.shapes import (
    Circle,
    Color,
    Drawing,
    PlainShape,
    Point,
    Polygon,
    Polyline,
    Shape,
    Text,
    arrow,
    arrowhead,
    between,
    placed,
    recolored,
)
from geo_patrol.drawing.sheet import GRID, INK, PAPER, SOFT
from geo_patrol.drawing.svg import svg_text
from geo_patrol.game.game import Game
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import BoardGeometry, middle_angle, sector_angle
from geo_patrol.scenes.satellites import all_satellites, arrange, at_one_place, by_sector, place_symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 1000.0
_RADIUS = 474.0
_MAX_TOKEN = 56.0
_NUMBER = 17.0
"""Size of the sectors' numbers in a position."""

RINGS = ("#f6f8fb", "#eef2f8")
EARTH = "#9fc3e6"
SIDE_FILLS, GOAL_FILLS, SIDE_LINES = (
    {side: theme.LIGHT[colors[side]] for side in SIDES}
    for colors in (theme.SIDES, theme.SIDES_DARK, theme.SIDES_BRIGHT)
)
"""Those of light pages, which people with any color vision tell apart, in print and in gray as well."""


def position_drawing(game: Game) -> Drawing:
    """Return board, goals, numbers and satellites."""
    board = game.config.board
    return Drawing(SIZE, SIZE, PAPER, [*board_shapes(board), *position_shapes(game)])


def position_shapes(game: Game) -> Iterator[Shape]:
    """Draw a position on its board: goals, numbers and satellites."""
    yield from goal_shapes(game)
    yield from number_shapes(game.config.board, _NUMBER, by_sector(all_satellites(game)))
    yield from satellite_shapes(game)


def caption(game: Game) -> str:
    """Return title, turn, phase and score in a line."""
    scores = game.scores
    when = f"end, turn {game.turn}" if game.is_over else f"turn {game.turn}, {game.phase}"
    return f"{game.config.title}: {when}, score {scores['alpha']} | {scores['bravo']}"


def geometry_of(board: BoardConfig) -> BoardGeometry:
    """Return where the sectors of a board are in the square."""
    return BoardGeometry(board, (SIZE / 2, SIZE / 2), _RADIUS, _MAX_TOKEN)


def board_shapes(board: BoardConfig, fills: Mapping[int, Color] | None = None) -> Iterator[PlainShape]:
    """Draw the empty board; ``fills`` are colors of single sectors."""
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            yield Polygon(geometry.outline(sector), (fills or {}).get(sector, RINGS[ring % 2]), GRID)
    yield Circle(geometry.center, geometry.earth_radius, EARTH, SIDE_LINES["alpha"])
    yield Text(geometry.center, "Earth", geometry.earth_radius * 0.45, INK, "center")


def number_shapes(board: BoardConfig, size: float, occupied: Collection[int] | None = None) -> Iterator[Text]:
    """Draw the numbers of the sectors where they fit.

    Args:
        board: the rings.
        size: largest size of the numbers.
        occupied: sectors with satellites: others have their number in the middle, those of the outer ring outside. By
            default, numbers are along the outer edges of all sectors, which leaves room for pieces.
    """
    geometry = geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        edge, middle = geometry.outer_edge(ring), geometry.middle(ring)
        fitting = min(size, math.tau * middle / (1 << ring) * 0.3, (edge - middle) * 0.8)
        if fitting < 6:
            continue
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            distance = edge - 0.9 * fitting if occupied is None else middle
            if occupied is not None and sector in occupied:
                if ring < board.outer_ring:
                    continue
                distance = edge + 0.7 * fitting
            yield Text(geometry.point((distance, middle_angle(sector))), str(sector), fitting, SOFT, "center")


def goal_shapes(game: Game) -> Iterator[Polygon]:
    """Draw the goal sectors."""
    geometry = geometry_of(game.config.board)
    for side in SIDES:
        yield Polygon(geometry.outline(game.goals[side], inset=2), GOAL_FILLS[side], SIDE_LINES[side], 3)


def satellite_shapes(game: Game) -> Iterator[Shape]:
    """Draw the satellites as pictures on screens do, in colors for paper."""
    geometry = geometry_of(game.config.board)
    shown = arrange(geometry, game)
    for anchor, here in at_one_place(shown.anchors):
        symbol = place_symbol(here, shown.styles)
        yield from placed(recolored(symbol.shapes, theme.LIGHT), geometry.point(anchor.position), anchor.radius)


NUMBERS = 28.0
"""Size of the sectors' numbers on boards without satellites."""
_DRIFT_STEPS = 12
"""Points of the curve that a drift follows, but for the first."""


def adjacency_diagram(board: BoardConfig, sector: int) -> Drawing:
    """Return a board with a sector and all sectors next to it filled, and arrows where the four moves lead."""
    fills = dict.fromkeys(adjacent_sectors(sector, board.outer_ring), GOAL_FILLS["bravo"])
    drawing = _board(board, {**fills, sector: GOAL_FILLS["alpha"]})
    geometry = geometry_of(board)
    start = geometry.sector_center(sector)
    for target in moves_from(board, sector).values():
        end = geometry.sector_center(target)
        drawing.add(*arrow(between(start, end, 0.18), between(start, end, 0.82), INK, 4, 20))
    drawing.add(_dot(start))
    return drawing


def moves_from(board: BoardConfig, sector: int) -> dict[str, int]:
    """Return where the moves that stay on a board lead from a sector, by the name of the move."""
    moves = {
        "prograde": int(prograde(sector)),
        "retrograde": int(retrograde(sector)),
        "radial_in": int(radial_in(sector)),
        "radial_out": int(radial_out(sector)),
    }
    return {name: target for name, target in moves.items() if board.inner_ring <= ring_of(target) <= board.outer_ring}


def drift_diagram(board: BoardConfig, azimuth: int = 0) -> Drawing:
    """Return a board with an arrow on each ring, from the sector at an azimuth to where the drift takes it."""
    drawing = _board(board, {})
    for ring in range(board.inner_ring, board.outer_ring + 1):
        drawing.add(*_drift_arrow(board, int(sector_at(ring, azimuth))))
    return drawing


def _board(board: BoardConfig, fills: dict[int, str]) -> Drawing:
    return Drawing(SIZE, SIZE, PAPER, [*board_shapes(board, fills), *number_shapes(board, NUMBERS)])


def _dot(center: Point) -> Circle:
    return Circle(center, 14, SIDE_FILLS["alpha"], SIDE_LINES["alpha"], 2)


def _drift_arrow(board: BoardConfig, sector: int) -> Iterator[Shape]:
    """Draw a curved arrow along a ring, from the middle of a sector to the middle of the next one."""
    geometry = geometry_of(board)
    ring = int(ring_of(sector))
    distance = geometry.middle(ring)
    points = []
    for step in range(_DRIFT_STEPS + 1):
        angle = middle_angle(sector) + sector_angle(ring) * step / _DRIFT_STEPS
        points.append(geometry.point((distance, angle)))
    yield Polyline(tuple(points), INK, 4)
    yield arrowhead(points[-2], points[-1], INK, 20)
    yield _dot(points[0])


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
