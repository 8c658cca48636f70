"""The list of a satellite's options beside the board, and the small menu where a click has several meanings."""

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from geo_patrol.notation import Satellite, SatelliteId, short_name
from geo_patrol.scenes import theme
from geo_patrol.scenes.anchors import Anchors
from geo_patrol.scenes.buttons import ButtonState, button_shapes
from geo_patrol.scenes.fleets import row_of
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.lenses import find_lenses
from geo_patrol.scenes.shapes import Rect, Shape, Text, box
from geo_patrol.sessions.order_entry import Option, OrderEntry

Buttons: TypeAlias = list[tuple[Option | None, Rect]]
"""Options and their buttons; None stands for holding."""
Pixel: TypeAlias = tuple[int, int]
_REACH = 1.15
"""How far around a satellite a click still hits it, in radii."""


def _list_area(layout: Layout) -> Rect:
    """Return where the list of options is: it replaces the outcomes, and the chart beneath them."""
    if layout.chart.left >= layout.outcomes.left:
        return layout.outcomes.union(layout.chart)
    return layout.outcomes


def option_buttons(layout: Layout, options: Sequence[Option]) -> Buttons:
    """Lay out the list of options, hold at its end."""
    area = _list_area(layout)
    heading = layout.line_height("normal")
    size = layout.text_size("small")
    count = len(options) + 1
    columns = max(min(area.width // (16 * size), -(-count // 4)), 1)
    rows = -(-count // columns)
    height = min((area.height - heading) // rows, round(size * 2.3))
    width = area.width // columns
    buttons: Buttons = []
    for i, option in enumerate([*options, None]):
        cell = Rect(area.left + i // rows * width, area.top + heading + i % rows * height, width, height)
        buttons.append((option, cell.inflated(-4, -max(height // 8, 2))))
    return buttons


def option_shapes(layout: Layout, entry: OrderEntry, buttons: Buttons, pointer: Pixel | None) -> Iterator[Shape]:
    """Draw the list of the selected satellite's options."""
    area = _list_area(layout)
    assert entry.selected is not None
    size = layout.text_size("small")
    yield box(area, theme.PANEL)
    heading = f"ORDERS FOR {short_name(entry.selected).upper()}"
    yield Text((area.left, area.top + layout.line_height("normal") // 2), heading, size, theme.CHOICE)
    pending = entry.pending.get(entry.selected)
    for option, rect in buttons:
        label = "hold" if option is None else _label(option)
        is_lit = pointer is not None and rect.contains(pointer)
        is_selected = pending == (None if option is None else option.order)
        yield from button_shapes(layout, rect, size, label=label, state=ButtonState(is_lit, is_selected=is_selected))


def menu_buttons(layout: Layout, options: Sequence[Option], pixel: Pixel) -> Buttons:
    """Lay out a small menu at a pixel of the board."""
    size = layout.text_size("normal")
    width = max(layout.text_width(_label(option), size) for option in options) + 2 * size
    height = round(size * 2.2)
    rect = Rect(pixel[0] + size, pixel[1] - height // 2, width, height * len(options)).clamped(layout.board)
    return [(option, Rect(rect.left, rect.top + i * height, width, height - 3)) for i, option in enumerate(options)]


def menu_shapes(layout: Layout, menu: Buttons, pointer: Pixel | None) -> Iterator[Shape]:
    """Draw the small menu."""
    for option, rect in menu:
        assert option is not None
        yield box(rect.inflated(4, 4), theme.CHOICE, r=6)
        state = ButtonState(is_lit=pointer is not None and rect.contains(pointer))
        yield from button_shapes(layout, rect, layout.text_size("normal"), label=_label(option), state=state)


def _label(option: Option) -> str:
    return f"{option.text}   {option.cost_text}"


def satellite_at(layout: Layout, satellites: Sequence[Satellite], anchors: Anchors, pixel: Pixel) -> SatelliteId | None:
    """Return the satellite at a pixel, on the board, in a lens or in a table; None if there is none."""
    for lens in find_lenses(layout, satellites):
        for satellite, position in lens.satellites:
            if math.dist(position, pixel) <= lens.radius * _REACH:
                return satellite.id
    for satellite in satellites:
        if row_of(layout, satellite.id.side, satellite.id.number).contains(pixel):
            return satellite.id
    distances = {
        one: math.dist(layout.geometry.point(anchor.position), pixel) / anchor.radius for one, anchor in anchors.items()
    }
    nearest = min(distances, key=lambda one: distances[one])
    return nearest if distances[nearest] <= _REACH else None
