"""Orders being entered: marks on the picture, the list of options, a menu where a click has several meanings."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from geo_patrol.board import ring_of
from geo_patrol.notation import Order, Satellite, SatelliteId, short_name
from geo_patrol.scenes import shapes, theme
from geo_patrol.scenes.board import highlight_shapes
from geo_patrol.scenes.buttons import ButtonState, button_shapes
from geo_patrol.scenes.engagements import shield
from geo_patrol.scenes.layout import Layout, middle_angle, sector_angle
from geo_patrol.scenes.panel import row_of
from geo_patrol.scenes.satellites import Anchor, Anchors, satellite_anchors
from geo_patrol.sessions.order_entry import Option, OrderEntry
from geo_patrol.sides import Side

Buttons: TypeAlias = list[tuple[Option | None, shapes.Rect]]
"""Options and their buttons; None stands for holding."""
Pixel: TypeAlias = tuple[int, int]
_MIN_BUTTON = 1.6
"""Height of a line of the list of options, at least, in sizes of its text."""
_REACH = 1.15
"""How far around a satellite a click still hits it, in radii."""


def order_shapes(
    layout: Layout, satellites: Sequence[Satellite], entry: OrderEntry, with_costs: bool
) -> Iterator[shapes.Shape]:
    """Draw orders and options of a person; costs would be in the way of an open menu."""
    anchors = satellite_anchors(layout.geometry, satellites)
    options = entry.options(entry.selected)
    for option in options:
        if option.sector is not None:
            yield from highlight_shapes(layout.geometry, option.sector, theme.CHOICE, 40 / 255)
    for number in sorted(entry.pending):
        pending = entry.option_of(number)
        if pending is not None:
            actor = SatelliteId(entry.side, number)
            yield from pending_order_shapes(layout, anchors, actor, pending, theme.SIDES_BRIGHT[entry.side])
    yield from _rings(layout, anchors, entry)
    if with_costs:
        yield from cost_shapes(layout, satellites, anchors, options)
    yield from _rows(layout, entry)


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
    if distance <= anchor.radius:
        return
    start = shapes.between(start, end, anchor.radius / distance)
    offset = 1.3 * width if option.order.action == "collide" else 0.0
    yield from shapes.arrow(start, end, color, width, 4.5 * width, offset, dashed=dashed)


def _rings(layout: Layout, anchors: Anchors, entry: OrderEntry) -> Iterator[shapes.Shape]:
    """Draw rings around satellites that may be ordered, the selected one, and its possible targets."""
    thin, thick = layout.stroke(1.4), max(round(3 * layout.scale), 2)
    for satellite, anchor in anchors.items():
        if satellite.side == entry.side and entry.options(satellite.number) and satellite.number not in entry.pending:
            yield ring_shape(layout, anchor, thin)
    if entry.selected is not None:
        yield ring_shape(layout, anchors[SatelliteId(entry.side, entry.selected)], thick)
        targets = (option.target for option in entry.options(entry.selected) if option.target is not None)
        for target in dict.fromkeys(targets):  # in the order of the options
            yield ring_shape(layout, anchors[target], thick)


def ring_shape(layout: Layout, anchor: Anchor, width: int) -> shapes.Circle:
    """Draw a ring around a satellite."""
    center = layout.geometry.point(anchor.position)
    return shapes.Circle(center, anchor.radius + width / 2 + 1, None, theme.CHOICE, width)


def cost_shapes(
    layout: Layout, satellites: Sequence[Satellite], anchors: Anchors, options: Iterable[Option]
) -> Iterator[shapes.Shape]:
    """Write fuel cost and odds at an edge of the sectors where the options lead: they are alike in a sector.

    Labels hide neither satellites nor each other; one that finds no free place is left out, as the list has it too.
    """
    sectors = {one.id: one.sector for one in satellites}
    labels: dict[int, dict[str, None]] = {}
    for option in options:
        if option.target is None:
            assert option.sector is not None
            labels.setdefault(option.sector, {})[f"-{option.cost} fuel"] = None
        else:
            text = f"{option.order.action} {option.probability:.0%} -{option.cost}"
            labels.setdefault(sectors[option.target], {})[text] = None
    occupied = []
    for anchor in anchors.values():
        side = round(1.7 * anchor.radius)  # of a square that a label may touch at its corners
        occupied.append(shapes.Rect.anchored((side, side), "center", layout.geometry.point(anchor.position)))
    for sector, lines in labels.items():
        rect = _label_rect(layout, occupied, sector, list(lines))
        if rect is not None:
            occupied.append(rect)
            yield from _label(layout, rect, list(lines))


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


def _rows(layout: Layout, entry: OrderEntry) -> Iterator[shapes.Shape]:
    """Mark the selected satellite in its fleet, and those with an order."""
    for number in sorted({*entry.pending, *([] if entry.selected is None else [entry.selected])}):
        color = theme.CHOICE if number == entry.selected else theme.SIDES_BRIGHT[entry.side]
        yield shapes.box(row_of(layout, entry.side, number), None, color, layout.stroke(1.5), 4)


def curtain_shapes(layout: Layout, width: int, height: int, side: Side) -> Iterator[shapes.Shape]:
    """Hide the picture while one person hands over to the other."""
    other = "bravo" if side == "alpha" else "alpha"
    size = layout.text_size("huge")
    x, y = width // 2, height // 2
    yield shapes.box(shapes.Rect(0, 0, width, height), theme.SIDES_DARK[side])
    yield shapes.Text((x, y), f"{side.upper()} GIVES ORDERS", size, theme.SIDES_BRIGHT[side], "midbottom")
    text = f"{other}, please look away; then click"
    yield shapes.Text((x, y + size // 2), text, layout.text_size("large"), theme.TEXT, "midtop")


def list_area(layout: Layout, options: Sequence[Option]) -> shapes.Rect:
    """Return where the list of options is: it replaces the outcomes and the chart, and what is above them if needed."""
    usual = layout.outcomes.union(layout.chart) if layout.chart.left >= layout.outcomes.left else layout.outcomes
    with_tables = usual.union(layout.tables[0]).union(layout.tables[1])
    for area in (usual, with_tables):
        if _button_height(layout, area, options, _columns(layout, area, options)) >= _MIN_BUTTON * layout.text_size(
            "small"
        ):
            return area
    return with_tables.union(layout.header)


def _columns(layout: Layout, area: shapes.Rect, options: Sequence[Option]) -> int:
    """Return the number of columns of a list: few, or as many as its short labels allow where it is low."""
    size = layout.text_size("small")
    count = len(options) + 1
    columns = max(min(area.width // (16 * size), -(-count // 4)), 1)
    longest = max(layout.text_width(_short_label(option), size) for option in options)
    max_columns = max(area.width // (longest + size), columns)
    while columns < max_columns and _button_height(layout, area, options, columns) < _MIN_BUTTON * size:
        columns += 1
    return columns


def _button_height(layout: Layout, area: shapes.Rect, options: Sequence[Option], columns: int) -> int:
    rows = -(-(len(options) + 1) // columns)
    available = max(area.height - layout.line_height("normal"), 0)
    return min(available // rows, round(layout.text_size("small") * 2.3))


def option_buttons(layout: Layout, options: Sequence[Option]) -> Buttons:
    """Lay out the list of options, hold at its end."""
    area = list_area(layout, options)
    columns = _columns(layout, area, options)
    rows = -(-(len(options) + 1) // columns)
    height = _button_height(layout, area, options, columns)
    top = area.top + layout.line_height("normal")
    width = area.width // columns
    buttons: Buttons = []
    for i, option in enumerate([*options, None]):
        cell = shapes.Rect(area.left + i // rows * width, top + i % rows * height, width, height)
        buttons.append((option, cell.inflated(-4, -max(height // 8, 2))))
    return buttons


def option_shapes(layout: Layout, entry: OrderEntry, buttons: Buttons, pointer: Pixel | None) -> Iterator[shapes.Shape]:
    """Draw the list of the selected satellite's options."""
    assert entry.selected is not None
    area = list_area(layout, entry.options(entry.selected))
    size = layout.text_size("small")
    yield shapes.box(area, theme.PANEL)
    heading = f"ORDERS FOR {short_name(entry.selected).upper()}"
    yield shapes.Text((area.left, area.top + layout.line_height("normal") // 2), heading, size, theme.CHOICE)
    pending = entry.pending.get(entry.selected)
    for option, rect in buttons:
        label = "hold" if option is None else _fitting_label(layout, option, rect.width - size)
        is_lit = pointer is not None and rect.contains(pointer)
        is_selected = pending == (None if option is None else option.order)
        yield from button_shapes(layout, rect, size, label=label, state=ButtonState(is_lit, is_selected=is_selected))


def menu_buttons(layout: Layout, options: Sequence[Option], pixel: Pixel) -> Buttons:
    """Lay out a small menu at a pixel of the board."""
    size = layout.text_size("normal")
    width = max(layout.text_width(_option_label(option), size) for option in options) + 2 * size
    height = round(size * 2.2)
    rect = shapes.Rect(pixel[0] + size, pixel[1] - height // 2, width, height * len(options)).clamped(layout.board)
    return [
        (option, shapes.Rect(rect.left, rect.top + i * height, width, height - 3)) for i, option in enumerate(options)
    ]


def menu_shapes(layout: Layout, menu: Buttons, pointer: Pixel | None) -> Iterator[shapes.Shape]:
    """Draw the small menu."""
    for option, rect in menu:
        assert option is not None
        yield shapes.box(rect.inflated(4, 4), theme.CHOICE, r=6)
        state = ButtonState(is_lit=pointer is not None and rect.contains(pointer))
        yield from button_shapes(layout, rect, layout.text_size("normal"), label=_option_label(option), state=state)


def _option_label(option: Option) -> str:
    return f"{option.text}   {option.cost_text}"


def _short_label(option: Option) -> str:
    odds = "" if option.probability is None else f" {option.probability:.0%}"
    return f"{option.brief}{odds} -{option.cost}"


def _fitting_label(layout: Layout, option: Option, width: int) -> str:
    label = _option_label(option)
    return label if layout.text_width(label, layout.text_size("small")) <= width else _short_label(option)


def satellite_at(layout: Layout, satellites: Sequence[Satellite], anchors: Anchors, pixel: Pixel) -> SatelliteId | None:
    """Return the satellite at a pixel, on the board or in a fleet; None if there is none."""
    for satellite in satellites:
        if row_of(layout, satellite.id.side, satellite.id.number).contains(pixel):
            return satellite.id
    distances = {
        one: math.dist(layout.geometry.point(anchor.position), pixel) / anchor.radius for one, anchor in anchors.items()
    }
    nearest = min(distances, key=lambda one: distances[one])
    return nearest if distances[nearest] <= _REACH else None
