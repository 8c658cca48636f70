"""The list of a satellite's options beside the board, and the small menu where a click means several."""

from collections.abc import Sequence

import pygame

from geo_patrol.notation import short_name
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.controls import draw_button
from geo_patrol.rendering.layout import Layout
from geo_patrol.sessions.order_entry import Option, OrderDesk

Choices = list[tuple[Option | None, pygame.Rect]]
"""Options and their buttons; None is to hold."""


def list_area(layout: Layout) -> pygame.Rect:
    """Return where the list of options is: in place of the outcomes, and of the chart beneath them."""
    if layout.chart.left >= layout.outcomes.left:
        return layout.outcomes.union(layout.chart)
    return layout.outcomes


def place_options(layout: Layout, options: Sequence[Option]) -> Choices:
    """Lay out the list of options, hold at its end."""
    area = list_area(layout)
    heading = layout.line("normal")
    size = layout.text_size("small")
    count = len(options) + 1
    columns = max(min(area.width // (16 * size), -(-count // 4)), 1)
    rows = -(-count // columns)
    height = min((area.height - heading) // rows, round(size * 2.3))
    width = area.width // columns
    choices: Choices = []
    for place, option in enumerate([*options, None]):
        corner = area.left + place // rows * width, area.top + heading + place % rows * height
        choices.append((option, pygame.Rect(*corner, width, height).inflate(-4, -max(height // 8, 2))))
    return choices


def draw_options(
    surface: pygame.Surface, layout: Layout, desk: OrderDesk, choices: Choices, pointed_at: tuple[int, int] | None
) -> None:
    """Draw the list of the selected satellite's options."""
    area = list_area(layout)
    surface.fill(theme.PANEL, area)
    assert desk.selected is not None
    size = layout.text_size("small")
    place = area.left, area.top + layout.line("normal") // 2
    words = f"ORDERS FOR {short_name(desk.selected).upper()}"
    glyphs.put_text(surface, words, size, theme.CHOICE, place)
    given = desk.pending.get(desk.selected)
    for option, rect in choices:
        label = "hold" if option is None else f"{option.words}   {option.price}"
        lit = pointed_at is not None and rect.collidepoint(pointed_at)
        chosen = given == (None if option is None else option.order)
        draw_button(surface, rect, size, label=label, lit=lit, chosen=chosen)


def place_menu(layout: Layout, options: Sequence[Option], pixel: tuple[int, int]) -> Choices:
    """Lay out a small menu at a pixel of the board."""
    size = layout.text_size("normal")
    labels = [_menu_label(option) for option in options]
    width = max(glyphs.text_width(label, size) for label in labels) + 2 * size
    height = round(size * 2.2)
    frame = pygame.Rect(pixel[0] + size, pixel[1] - height // 2, width, height * len(options)).clamp(layout.board)
    return [
        (option, pygame.Rect(frame.left, frame.top + place * height, width, height - 3))
        for place, option in enumerate(options)
    ]


def draw_menu(surface: pygame.Surface, layout: Layout, menu: Choices, pointed_at: tuple[int, int] | None) -> None:
    """Draw the small menu."""
    for option, rect in menu:
        assert option is not None
        pygame.draw.rect(surface, theme.CHOICE, rect.inflate(4, 4), border_radius=6)
        lit = pointed_at is not None and rect.collidepoint(pointed_at)
        draw_button(surface, rect, layout.text_size("normal"), label=_menu_label(option), lit=lit)


def _menu_label(option: Option) -> str:
    return f"{option.words}   {option.price}"
