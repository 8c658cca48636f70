"""What may be ordered, and what has been, drawn over the picture of a game."""

import itertools
import math
from collections.abc import Iterable

import pygame

from geo_patrol.board import ring_of
from geo_patrol.notation import SatelliteId
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.board_art import put_highlight
from geo_patrol.rendering.fleets import BAR, row_of
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.marks import draw_shield, put_arrowhead, put_stroke
from geo_patrol.scenes.anchors import Slot
from geo_patrol.scenes.geometry import Point, middle_angle, sector_angle
from geo_patrol.sessions.order_entry import Option, OrderDesk
from geo_patrol.sides import Side

Slots = dict[SatelliteId, Slot]


def put_desk(surface: pygame.Surface, layout: Layout, slots: Slots, desk: OrderDesk, with_prices: bool) -> None:
    """Draw all that a person should see while giving orders; prices would be in the way of an open menu."""
    for option in desk.options(desk.selected):
        if option.sector is not None:
            put_highlight(surface, layout.geometry, option.sector, theme.CHOICE, 40)
    for number in sorted(desk.pending):
        given = desk.option_of(number)
        if given is not None:
            _put_order(surface, layout, slots, SatelliteId(desk.side, number), given)
    _put_rings(surface, layout, slots, desk)
    if with_prices:
        _put_prices(surface, layout, slots, desk.sectors, desk.options(desk.selected))
    _put_rows(surface, layout, desk)


def _put_order(surface: pygame.Surface, layout: Layout, slots: Slots, actor: SatelliteId, option: Option) -> None:
    """Draw an order that has been given: an arrow to where it leads, or a shield."""
    slot = slots[actor]
    start = layout.geometry.point(slot.place)
    colour = theme.SIDES_BRIGHT[actor.side]
    stroke = max(round(2 * layout.scale), 1)
    if option.order.action == "guard":
        size = max(round(slot.radius * 1.1), 8)
        shield = glyphs.drawn(("order shield", colour), size, size, lambda s: draw_shield(s, colour, True), colour)
        surface.blit(shield, (round(start[0] + slot.radius * 0.4), round(start[1] - slot.radius * 0.4 - size)))
        return
    end = (
        _sector_middle(layout, option.sector) if option.aim is None else layout.geometry.point(slots[option.aim].place)
    )
    distance = math.dist(start, end)
    if distance <= slot.radius:
        return
    part = slot.radius / distance
    start = start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
    gap = 2.6 * stroke
    for offset in (-gap / 2, gap / 2) if option.order.action == "collide" else (0.0,):
        across, down = (end[1] - start[1]) / distance * offset, (start[0] - end[0]) / distance * offset
        ends = (start[0] + across, start[1] + down), (end[0] + across, end[1] + down)
        put_stroke(surface, colour, *ends, stroke, whole=True)
    put_arrowhead(surface, colour, start, end, 4.5 * stroke)


def _sector_middle(layout: Layout, sector: int | None) -> Point:
    assert sector is not None
    ring = int(ring_of(sector))
    distance = (layout.geometry.inner_edge(ring) + layout.geometry.outer_edge(ring)) / 2
    return layout.geometry.point((distance, middle_angle(sector)))


def _put_rings(surface: pygame.Surface, layout: Layout, slots: Slots, desk: OrderDesk) -> None:
    """Draw rings around satellites that may be ordered, the selected one, and what it may be aimed at."""
    thin, thick = max(round(1.4 * layout.scale), 1), max(round(3 * layout.scale), 2)
    for satellite, slot in slots.items():
        if satellite.side == desk.side and desk.options(satellite.number) and satellite.number not in desk.pending:
            put_ring(surface, layout, slot, thin)
    if desk.selected is not None:
        put_ring(surface, layout, slots[SatelliteId(desk.side, desk.selected)], thick)
        for aim in {option.aim for option in desk.options(desk.selected) if option.aim is not None}:
            put_ring(surface, layout, slots[aim], thick)


def put_ring(surface: pygame.Surface, layout: Layout, slot: Slot, width: int) -> None:
    """Draw a ring around a satellite."""
    pygame.draw.aacircle(surface, theme.CHOICE, layout.geometry.point(slot.place), slot.radius + width + 1, width)


def _put_prices(
    surface: pygame.Surface, layout: Layout, slots: Slots, sectors: dict[SatelliteId, int], options: Iterable[Option]
) -> None:
    """Write fuel cost and odds at the inner edge of the sectors where the options lead: they are alike in a sector."""
    prices: dict[int, list[str]] = {}
    for option in options:
        if option.aim is None:
            assert option.sector is not None
            prices.setdefault(option.sector, []).append(f"-{option.cost} fuel")
        else:
            words = f"{option.order.action} {option.probability:.0%} -{option.cost}"
            prices.setdefault(sectors[option.aim], []).append(words)
    for sector, lines in prices.items():
        _put_label(surface, layout, slots, sector, list(dict.fromkeys(lines)))


def _put_label(surface: pygame.Surface, layout: Layout, slots: Slots, sector: int, lines: list[str]) -> None:
    """Write a label at an edge of a sector, in the middle of the inner one or where it hides fewer satellites."""
    size = layout.text_size("small")
    labels = [glyphs.text(words, size, theme.SPACE) for words in lines]
    width = max(label.get_width() for label in labels)
    frame = pygame.Rect(0, 0, round(width + size * 0.8), round(size * 1.2 * len(labels) + size * 0.2))
    geometry, ring = layout.geometry, int(ring_of(sector))
    candidates = []
    edges = geometry.inner_edge(ring), geometry.outer_edge(ring)
    for part, distance in itertools.product((0.0, 0.3, -0.3), edges):
        candidate = frame.copy()
        across, down = geometry.point((distance, middle_angle(sector) + part * sector_angle(ring)))
        candidate.center = round(across), round(down)
        candidates.append(candidate.clamp(layout.board))
    places = [geometry.point(slot.place) for slot in slots.values()]
    frame = min(candidates, key=lambda one: sum(one.inflate(size, size).collidepoint(place) for place in places))
    pygame.draw.rect(surface, theme.CHOICE, frame, border_radius=size // 2)
    for row, label in enumerate(labels):
        surface.blit(label, label.get_rect(center=(frame.centerx, frame.top + round(size * (0.7 + 1.2 * row)))))


def _put_rows(surface: pygame.Surface, layout: Layout, desk: OrderDesk) -> None:
    """Mark the selected satellite's row, and write orders into the table."""
    size = layout.text_size("tiny")
    for number in sorted({*desk.pending, *([] if desk.selected is None else [desk.selected])}):
        row = row_of(layout, desk.side, number)
        option = desk.option_of(number)
        if option is not None:
            field = pygame.Rect(row.left + row.width * (BAR - 0.02), row.top, row.width * (1.02 - BAR), row.height)
            pygame.draw.rect(surface, theme.SIDES_DARK[desk.side], field.inflate(-2, -2), border_radius=3)
            words = glyphs.fitted(option.brief, size, field.width - 8)
            glyphs.put_text(surface, words, size, theme.SIDES_BRIGHT[desk.side], (field.left + 5, field.centery))
        if number == desk.selected:
            pygame.draw.rect(surface, theme.CHOICE, row, width=max(round(1.5 * layout.scale), 1), border_radius=4)


def draw_curtain(surface: pygame.Surface, layout: Layout, side: Side) -> None:
    """Hide the picture while one person hands over to the other."""
    other = "bravo" if side == "alpha" else "alpha"
    surface.fill(theme.SIDES_DARK[side])
    size = layout.text_size("huge")
    middle = surface.get_rect().center
    glyphs.put_text(surface, f"{side.upper()} GIVES ORDERS", size, theme.SIDES_BRIGHT[side], middle, "midbottom")
    words = f"{other}, please look away; then click"
    place = middle[0], middle[1] + size // 2
    glyphs.put_text(surface, words, layout.text_size("large"), theme.TEXT, place, "midtop")
