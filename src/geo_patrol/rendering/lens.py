"""Crowded sectors, magnified in the corners of the board, where their satellites' numbers can be read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pygame

from geo_patrol.board import are_adjacent, ring_of
from geo_patrol.game import Game, Satellite
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.board_art import put_outline
from geo_patrol.rendering.fleets import look_of
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.tokens import put_token
from geo_patrol.scenes.anchors import by_sector, crowded_sectors, satellite_slots
from geo_patrol.scenes.geometry import Point, middle_angle

_CORNERS = ("topright", "bottomright", "topleft", "bottomleft")
_MOST_LENSES = 3
_SMALLEST_RADIUS = 7
_MOST_COLUMNS = 5
_PAD = 3


@dataclass(frozen=True)
class Lens:
    """Magnified sectors that lie side by side.

    Attributes:
        sectors: which ones.
        card: where they are shown.
        radius: of their satellites, in pixels.
        labels: the sectors' numbers, and where they stand: the middle of their left edge.
        places: of the satellites.
    """

    sectors: tuple[int, ...]
    card: pygame.Rect
    radius: float
    labels: tuple[tuple[int, Point], ...]
    places: tuple[tuple[Satellite, Point], ...]


def find_lenses(layout: Layout, satellites: Sequence[Satellite]) -> list[Lens]:
    """Lay out lenses for the three fullest groups of crowded sectors, each in a corner where it hides least."""
    groups = _groups(crowded_sectors(layout.geometry, satellites))[:_MOST_LENSES]
    if not groups:
        return []
    sectors = by_sector(satellites)
    places = [layout.geometry.point(slot.place) for slot in satellite_slots(layout.geometry, satellites).values()]
    lenses: list[Lens] = []
    for group in groups:
        taken = [layout.legend, *(lens.card for lens in lenses)]
        lens = _find_lens(layout, {sector: sectors[sector] for sector in group}, places, taken)
        if lens is not None:
            lenses.append(lens)
    return lenses


def _find_lens(
    layout: Layout, sectors: dict[int, list[Satellite]], places: list[Point], taken: list[pygame.Rect]
) -> Lens | None:
    """Lay out a lens in the nearest corner that is free, or in one where it hides fewer satellites."""
    numbers = list(sectors)
    magnified = layout.geometry.point((layout.geometry.radius, middle_angle(numbers[len(numbers) // 2])))
    best, fewest = None, math.inf
    for corner in sorted(_CORNERS, key=lambda name: math.dist(magnified, getattr(layout.board, name))):
        lens = _make_lens(layout, sectors, corner)
        hidden = sum(map(lens.card.collidepoint, places))
        if lens.card.collidelist(taken) < 0 and hidden < fewest:
            best, fewest = lens, hidden
        if fewest == 0:
            break
    return best


def _groups(crowded: list[int]) -> list[list[int]]:
    """Put sectors that touch together, in the order of the fullest of each group."""
    groups: list[list[int]] = []
    for sector in crowded:
        near = [group for group in groups if any(are_adjacent(sector, other) for other in group)]
        merged = sorted({sector, *(other for group in near for other in group)})
        groups = (
            [merged if group is near[0] else group for group in groups if group not in near[1:]]
            if near
            else [*groups, merged]
        )
    return groups


def _make_lens(layout: Layout, sectors: dict[int, list[Satellite]], corner: str) -> Lens:
    size = layout.text_size("tiny")
    fullest = max(map(len, sectors.values()))
    alone = len(sectors) == 1  # its number stands above, otherwise numbers stand on the left
    columns = min(math.ceil(math.sqrt(fullest)) if alone else fullest, _MOST_COLUMNS)
    indent = 0 if alone else max(glyphs.text_width(str(sector), size) for sector in sectors) + 2 * _PAD
    above = _PAD + (round(size * 1.2) if alone else 0)
    room = layout.board.width / 2 - layout.geometry.radius / math.sqrt(2) - indent
    radius = max(min(room / (2.1 * columns), 13 * layout.scale), _SMALLEST_RADIUS)
    pitch = 2.1 * radius
    labels: list[tuple[int, Point]] = []
    places: list[tuple[Satellite, Point]] = []
    row = 0
    for sector, here in sectors.items():
        labels.append((sector, (2.0 * _PAD, size * 0.8 if alone else above + (row + 0.5) * pitch)))
        for place, satellite in enumerate(here):
            across, down = place % columns, row + place // columns
            places.append((satellite, (indent + _PAD + (across + 0.5) * pitch, above + (down + 0.5) * pitch)))
        row += -(-len(here) // columns)
    card = pygame.Rect(0, 0, round(indent + columns * pitch) + 2 * _PAD, round(row * pitch) + above + _PAD)
    setattr(card, corner, getattr(layout.board, corner))
    card.move_ip(-3 if "right" in corner else 3, 3 if "top" in corner else -3)
    left, top = card.topleft
    return Lens(
        sectors=tuple(sectors),
        card=card,
        radius=radius,
        labels=tuple((sector, (left + x, top + y)) for sector, (x, y) in labels),
        places=tuple((satellite, (left + x, top + y)) for satellite, (x, y) in places),
    )


def put_lenses(surface: pygame.Surface, layout: Layout, game: Game, satellites: Sequence[Satellite]) -> None:
    """Draw the lenses of a position with these satellites."""
    for lens in find_lenses(layout, satellites):
        _put_lens(surface, layout, game, lens)


def _put_lens(surface: pygame.Surface, layout: Layout, game: Game, lens: Lens) -> None:
    geometry, card = layout.geometry, lens.card
    sector = lens.sectors[len(lens.sectors) // 2]
    ring = int(ring_of(sector))
    anchor = geometry.point(((geometry.inner_edge(ring) + geometry.outer_edge(ring)) / 2, middle_angle(sector)))
    stroke = max(round(layout.scale), 1)
    pygame.draw.aaline(surface, theme.SOFT, card.center, anchor, stroke)
    for one in lens.sectors:
        put_outline(surface, geometry, one, 0.0, theme.SOFT, max(round(1.5 * layout.scale), 1))
    pygame.draw.rect(surface, theme.CARD, card, border_radius=6)
    pygame.draw.rect(surface, theme.SOFT, card, width=stroke, border_radius=6)
    for number, place in lens.labels:
        glyphs.put_text(surface, str(number), layout.text_size("tiny"), theme.SOFT, place)
    for satellite, place in lens.places:
        put_token(surface, look_of(game, satellite), place, lens.radius, with_gauges=False)
