"""Crowded sectors, magnified in the corners of the board, where their satellites' numbers can be read."""

import math

import pygame

from geo_patrol.board import ring_of
from geo_patrol.game import Game
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.board_art import put_outline
from geo_patrol.rendering.fleets import look_of
from geo_patrol.rendering.geometry import middle_angle
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.slots import by_sector, crowded_sectors
from geo_patrol.rendering.tokens import put_token

_CORNERS = ("topright", "bottomright", "topleft")  # the legend is in the fourth one
_SMALLEST_RADIUS = 7


def put_lenses(surface: pygame.Surface, layout: Layout, game: Game) -> None:
    """Magnify the three fullest of the crowded sectors, each in the free corner next to it."""
    free = list(_CORNERS)
    satellites = by_sector(game)
    for sector in crowded_sectors(layout.geometry, game)[: len(free)]:
        place = layout.geometry.point((layout.geometry.radius, middle_angle(sector)))
        corner = min(free, key=lambda name: math.dist(place, getattr(layout.board, name)))
        free.remove(corner)
        _put_lens(surface, layout, game, sector, corner, len(satellites[sector]))


def _put_lens(surface: pygame.Surface, layout: Layout, game: Game, sector: int, corner: str, count: int) -> None:
    geometry = layout.geometry
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    size = layout.text_size("tiny")
    room = layout.board.width / 2 - geometry.radius / math.sqrt(2) - size
    radius = max(min(room / (2.1 * columns), 15 * layout.scale), _SMALLEST_RADIUS)
    pitch = 2.1 * radius
    card = pygame.Rect(0, 0, round(columns * pitch) + 6, round(rows * pitch) + round(size * 1.3) + 6)
    setattr(card, corner, getattr(layout.board, corner))
    card.move_ip(-3 if "right" in corner else 3, 3 if "top" in corner else -3)
    middle = (geometry.inner_edge(int(ring_of(sector))) + geometry.outer_edge(int(ring_of(sector)))) / 2
    anchor = geometry.point((middle, middle_angle(sector)))
    pygame.draw.aaline(surface, theme.SOFT, card.center, anchor, max(round(layout.scale), 1))
    put_outline(surface, geometry, sector, 0.0, theme.SOFT, max(round(1.5 * layout.scale), 1))
    pygame.draw.rect(surface, theme.CARD, card, border_radius=6)
    pygame.draw.rect(surface, theme.SOFT, card, width=max(round(layout.scale), 1), border_radius=6)
    words = f"sector {sector}"
    if glyphs.text_width(words, size) > card.width:
        words = str(sector)
    glyphs.put_text(surface, words, size, theme.SOFT, (card.centerx, card.top + size * 0.75), "center")
    for place, satellite in enumerate(by_sector(game)[sector]):
        across, down = place % columns, place // columns
        centre = card.left + 3 + (across + 0.5) * pitch, card.top + size * 1.3 + 1 + (down + 0.5) * pitch
        put_token(surface, look_of(game, satellite), centre, radius, with_gauges=False)
