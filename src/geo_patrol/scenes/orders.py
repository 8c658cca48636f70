"""Orders being entered, as marks on the picture."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from geo_patrol.board import ring_of
from geo_patrol.notation import Order, Satellite, SatelliteId
from geo_patrol.scenes import shapes, theme
from geo_patrol.scenes.engagements import shield
from geo_patrol.scenes.layout import Layout, middle_angle, sector_angle
from geo_patrol.scenes.satellites import Anchor, Anchors
from geo_patrol.sessions.order_entry import Option, OrderEntry


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
    if option.order.action == "guard":
        size = max(round(anchor.radius * 1.1), 8)
        shift = anchor.radius * 0.4 + size / 2
        yield shapes.Use(shield(color, not dashed), (start[0] + shift, start[1] - shift), size)
        return
    if option.target is None:
        assert option.sector is not None
        end = layout.geometry.sector_center(option.sector)
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
    yield from shapes.arrow(start, end, color, width, 4.5 * width, offset, dashed=dashed)


def ring_shape(layout: Layout, anchor: Anchor, width: int) -> shapes.Circle:
    """Draw a ring around a satellite."""
    center = layout.geometry.point(anchor.position)
    return shapes.Circle(center, anchor.radius + width / 2 + 1, None, theme.CHOICE, width)


def cost_shapes(
    layout: Layout, satellites: Sequence[Satellite], anchors: Anchors, options: Iterable[Option]
) -> Iterator[shapes.Shape]:
    """Write fuel cost and odds at an edge of the sectors where the options lead: they are alike in a sector.

    Labels hide neither satellites nor each other. Where one of them finds no free place all are left out, as the list has
    them too: a single one would seem to be the only choice.
    """
    sectors = {one.id: one.sector for one in satellites}
    labels: dict[int, dict[str, None]] = {}
    for option in options:
        if option.target is None:
            assert option.sector is not None
            labels.setdefault(option.sector, {})[f"\u2212{option.cost} fuel"] = None
        else:
            text = f"{option.order.action} {100 * (option.probability or 0.0):.0f} % \u2212{option.cost}"
            labels.setdefault(sectors[option.target], {})[text] = None
    occupied = []
    for anchor in anchors.values():
        side = round(1.7 * anchor.radius)  # of a square that a label may touch at its corners
        occupied.append(shapes.Rect.anchored((side, side), "center", layout.geometry.point(anchor.position)))
    drawn: list[shapes.Shape] = []
    for sector, lines in labels.items():
        rect = _label_rect(layout, occupied, sector, list(lines))
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
