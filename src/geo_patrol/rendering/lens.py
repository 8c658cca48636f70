"""Crowded sectors, magnified in the corners of the board, where their satellites' numbers can be read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pygame

from geo_patrol.board import ring_of
from geo_patrol.game import Game, Satellite
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.board_art import put_outline
from geo_patrol.rendering.fleets import look_of
from geo_patrol.rendering.geometry import Point, middle_angle
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.slots import by_sector, crowded_sectors
from geo_patrol.rendering.tokens import put_token

_CORNERS = ("topright", "bottomright", "topleft")  # the legend is in the fourth one
_SMALLEST_RADIUS = 7


@dataclass(frozen=True)
class Lens:
    """A magnified sector.

    Attributes:
        sector: which one.
        card: where it is shown.
        radius: of its satellites, in pixels.
        places: of its satellites.
    """

    sector: int
    card: pygame.Rect
    radius: float
    places: tuple[tuple[Satellite, Point], ...]


def find_lenses(layout: Layout, satellites: Sequence[Satellite]) -> list[Lens]:
    """Lay out lenses for the three fullest of the crowded sectors, each in the free corner next to it."""
    free = list(_CORNERS)
    sectors = by_sector(satellites)
    lenses = []
    for sector in crowded_sectors(layout.geometry, satellites)[: len(free)]:
        place = layout.geometry.point((layout.geometry.radius, middle_angle(sector)))
        corner = min(free, key=lambda name: math.dist(place, getattr(layout.board, name)))
        free.remove(corner)
        lenses.append(_make_lens(layout, sector, corner, sectors[sector]))
    return lenses


def _make_lens(layout: Layout, sector: int, corner: str, satellites: list[Satellite]) -> Lens:
    columns = math.ceil(math.sqrt(len(satellites)))
    rows = math.ceil(len(satellites) / columns)
    size = layout.text_size("tiny")
    room = layout.board.width / 2 - layout.geometry.radius / math.sqrt(2) - size
    radius = max(min(room / (2.1 * columns), 15 * layout.scale), _SMALLEST_RADIUS)
    pitch = 2.1 * radius
    card = pygame.Rect(0, 0, round(columns * pitch) + 6, round(rows * pitch) + round(size * 1.3) + 6)
    setattr(card, corner, getattr(layout.board, corner))
    card.move_ip(-3 if "right" in corner else 3, 3 if "top" in corner else -3)
    left, top = card.left + 3, card.top + size * 1.3 + 1
    places = [
        (satellite, (left + (place % columns + 0.5) * pitch, top + (place // columns + 0.5) * pitch))
        for place, satellite in enumerate(satellites)
    ]
    return Lens(sector, card, radius, tuple(places))


def put_lenses(surface: pygame.Surface, layout: Layout, game: Game, satellites: Sequence[Satellite]) -> None:
    """Draw the lenses of a position with these satellites."""
    for lens in find_lenses(layout, satellites):
        _put_lens(surface, layout, game, lens)


def _put_lens(surface: pygame.Surface, layout: Layout, game: Game, lens: Lens) -> None:
    geometry, card = layout.geometry, lens.card
    size = layout.text_size("tiny")
    ring = int(ring_of(lens.sector))
    middle = (geometry.inner_edge(ring) + geometry.outer_edge(ring)) / 2
    anchor = geometry.point((middle, middle_angle(lens.sector)))
    pygame.draw.aaline(surface, theme.SOFT, card.center, anchor, max(round(layout.scale), 1))
    put_outline(surface, geometry, lens.sector, 0.0, theme.SOFT, max(round(1.5 * layout.scale), 1))
    pygame.draw.rect(surface, theme.CARD, card, border_radius=6)
    pygame.draw.rect(surface, theme.SOFT, card, width=max(round(layout.scale), 1), border_radius=6)
    words = f"sector {lens.sector}"
    if glyphs.text_width(words, size) > card.width:
        words = str(lens.sector)
    glyphs.put_text(surface, words, size, theme.SOFT, (card.centerx, card.top + size * 0.75), "center")
    for satellite, centre in lens.places:
        put_token(surface, look_of(game, satellite), centre, lens.radius, with_gauges=False)
