"""Orders being entered, as marks on the picture."""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from geo_patrol.base.board import ring_of
from geo_patrol.drawing import shapes
from geo_patrol.game.notation import Order, Satellite, SatelliteId
from geo_patrol.play.order_entry import Option, OrderEntry
from geo_patrol.scenes import theme
from geo_patrol.scenes.engagements import shield
from geo_patrol.scenes.layout import BoardGeometry, Layout, middle_angle, sector_angle
from geo_patrol.scenes.satellites import Anchor, Anchors


def hint_shapes(layout: Layout, anchors: Anchors, entry: OrderEntry, orders: Iterable[Order]) -> Iterator[shapes.Shape]:
    """Draw suggested orders like those that were entered, dashed."""
    for order in orders:
        actor = SatelliteId(entry.side, order.satellite)
        yield from pending_order_shapes(layout, anchors, actor, entry.option_for(order), theme.CHOICE, dashed=True)


def pending_order_shapes(
    layout: Layout, anchors: Anchors, actor: SatelliteId, option: Option, color: shapes.Color, *, dashed: bool = False
) -> Iterator[shapes.Shape]:
    """Draw an order: an arrow to its target, or a shield."""
    anchor = anchors[actor]
    start = layout.geometry.point(anchor.position)
    width = layout.stroke(2)
    head = 4.5 * width
    if option.order.action == "guard":
        size = max(round(anchor.radius * 1.1), 8)
        shift = anchor.radius * 0.4 + size / 2
        yield shapes.Use(shield(color, not dashed), (start[0] + shift, start[1] - shift), size)
        return
    if option.target is None:
        assert option.sector is not None
        end = _free_point(layout, anchors, actor, option.sector, 0.6 * head)
    else:
        end = layout.geometry.point(anchors[option.target].position)
    distance = math.dist(start, end)
    reach = (
        0.0 if option.target is None else anchors[option.target].radius
    )  # the arrow must not hide the target's number
    if distance <= anchor.radius + reach:
        return
    start, end = (shapes.between(start, end, part / distance) for part in (anchor.radius, distance - reach))
    offset = 1.3 * width if option.order.action == "collide" else 0.0
    yield from shapes.arrow(start, end, color, width, head, offset, dashed=dashed)


def _free_point(layout: Layout, anchors: Anchors, actor: SatelliteId, sector: int, margin: float) -> shapes.Point:
    """Return where the arrow of a move ends: the point of the sector that it reaches across the fewest satellites.

    Of such points it is the nearest to the middle. It is on no satellite, nor on the sector's number, if there is another.
    """
    geometry = layout.geometry
    start, center = geometry.point(anchors[actor].position), geometry.sector_center(sector)
    reach = 1.5 * math.dist(start, center)
    others = set(anchors.values()) - {anchors[actor]}
    tokens = [(geometry.point(one.position), one.radius) for one in others]
    near = [(center, 0.8 * layout.text_size("tiny"))]  # where the sector's number is
    near += [(point, radius) for point, radius in tokens if math.dist(point, start) < reach]
    fewest, best = len(near) + 1, center
    for end in _points_of(geometry, sector):
        if any(math.dist(point, end) < radius + margin for point, radius in near):
            continue
        crossed = sum(_distance(point, start, end) < radius for point, radius in near)
        if crossed < fewest:
            fewest, best = crossed, end
        if not crossed:
            break
    return best


@functools.lru_cache(maxsize=1024)
def _points_of(geometry: BoardGeometry, sector: int) -> tuple[shapes.Point, ...]:
    """Return points of a sector, spread over it, the nearest to its middle first."""
    ring, center = int(ring_of(sector)), geometry.sector_center(sector)
    inner, depth = geometry.inner_edge(ring), geometry.outer_edge(ring) - geometry.inner_edge(ring)
    parts = itertools.product((0.5, 0.35, 0.65, 0.2, 0.8), (0.0, 0.2, -0.2, 0.36, -0.36))
    points = [
        geometry.point((inner + outward * depth, middle_angle(sector) + across * sector_angle(ring)))
        for outward, across in parts
    ]
    return tuple(sorted(points, key=lambda point: math.dist(point, center)))


def _distance(point: shapes.Point, start: shapes.Point, end: shapes.Point) -> float:
    """Return the distance of a point from a line between two."""
    length = math.dist(start, end)
    along = (point[0] - start[0]) * (end[0] - start[0]) + (point[1] - start[1]) * (end[1] - start[1])
    fraction = min(max(along / length**2, 0.0), 1.0) if length else 0.0
    return math.dist(point, shapes.between(start, end, fraction))


def ring_shape(layout: Layout, anchor: Anchor, width: int) -> shapes.Circle:
    """Draw a ring around a satellite."""
    center = layout.geometry.point(anchor.position)
    return shapes.Circle(center, anchor.radius + width / 2 + 1, None, theme.CHOICE, width)


def cost_shapes(
    layout: Layout, satellites: Sequence[Satellite], anchors: Anchors, options: Iterable[Option]
) -> Iterator[shapes.Shape]:
    """Write fuel cost and odds at an edge of the sectors where the options lead: they are alike in a sector.

    Labels hide neither satellites nor each other, and numbers of sectors only where there is no other place. Where one of them
    finds none at all they are all left out, as the list has them too: a single one would seem to be the only choice.
    """
    sectors = {one.id: one.sector for one in satellites}
    labels: dict[int, dict[str, None]] = {}
    for option in options:
        if option.target is None:
            assert option.sector is not None
            labels.setdefault(option.sector, {})[f"\u2212{option.cost} fuel"] = None
        else:
            text = f"{option.order.action} {100 * (option.probability or 0.0):.0f}% \u2212{option.cost}"
            labels.setdefault(sectors[option.target], {})[text] = None
    occupied = []
    for anchor in anchors.values():
        side = round(1.7 * anchor.radius)  # of a square that a label may touch at its corners
        occupied.append(shapes.Rect.anchored((side, side), "center", layout.geometry.point(anchor.position)))
    drawn: list[shapes.Shape] = []
    for sector, lines in labels.items():
        size = layout.text_size("tiny")
        number = shapes.Rect.anchored((2 * size, size), "center", layout.geometry.sector_center(sector))
        rect = _label_rect(layout, [*occupied, number], sector, list(lines))
        rect = rect or _label_rect(layout, occupied, sector, list(lines))
        if rect is None:
            return
        occupied.append(rect)
        drawn += _label(layout, rect, list(lines))
    yield from drawn


def _label_rect(layout: Layout, occupied: Sequence[shapes.Rect], sector: int, lines: list[str]) -> shapes.Rect | None:
    """Return a free place for a label at an edge of a sector, the middle of the inner one if possible."""
    size = layout.text_size("small")
    width = max(layout.text_width(text, size) for text in lines)
    extent = round(width + size * 0.8), round(size * 1.2 * len(lines) + size * 0.2)
    geometry, ring = layout.geometry, int(ring_of(sector))
    distances = [geometry.inner_edge(ring), geometry.outer_edge(ring)]
    if ring == geometry.board.outer_ring:
        distances.append(geometry.radius + extent[1])
    for fraction, distance in itertools.product((0.0, 0.3, -0.3), distances):
        x, y = geometry.point((distance, middle_angle(sector) + fraction * sector_angle(ring)))
        rect = shapes.Rect.anchored(extent, "center", (round(x), round(y))).clamped(layout.board)
        if not any(map(rect.overlaps, occupied)):
            return rect
    return None


def _label(layout: Layout, rect: shapes.Rect, lines: list[str]) -> Iterator[shapes.Shape]:
    size = layout.text_size("small")
    yield shapes.box(rect, theme.CHOICE, r=size // 2)
    for row, text in enumerate(lines):
        y = rect.top + round(size * (0.7 + 1.2 * row))
        yield shapes.Text((rect.center[0], y), text, size, theme.SPACE, "center")
