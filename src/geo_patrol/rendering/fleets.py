"""The tables of both fleets: sector, fuel and ammo of every satellite, as the rule books print them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pygame

from geo_patrol.config.ranges import largest
from geo_patrol.game import Game, Satellite
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.tokens import Look, fuel_steps, put_token
from geo_patrol.sides import SIDES, Side

if TYPE_CHECKING:
    from geo_patrol.config.schema import SideConfig

SECTOR, FUEL, BAR, AMMO = 0.34, 0.51, 0.55, 0.8
"""Columns, as parts of a table's width: right edges of the numbers, left edges of bar and pips."""
_MOST_PIPS = 5


def full_fuel(game: Game, side: Side, number: int) -> int:
    """Return the most fuel that a satellite may have started with."""
    config = game.config
    figures: SideConfig = config.side("alpha" if config.mirror else side)
    return int(largest(figures.hva.fuel if number == 0 else figures.patrols.fuel))


def look_of(game: Game, satellite: Satellite) -> Look:
    """Return how a satellite of a game looks."""
    state = "active" if satellite.is_active else "destroyed" if satellite.destroyed else "empty"
    steps = fuel_steps(satellite.fuel, full_fuel(game, satellite.id.side, satellite.id.number))
    return Look(satellite.id.side, satellite.id.number, steps, satellite.ammo, state)


def row_of(layout: Layout, side: Side, number: int) -> pygame.Rect:
    """Return where a satellite's row is."""
    table = layout.tables[SIDES.index(side)]
    line = layout.line("small")
    return pygame.Rect(table.left, table.top + line * (number + 1), table.width, line)


def draw_fleets(surface: pygame.Surface, layout: Layout, game: Game, satellites: Sequence[Satellite]) -> None:
    """Draw both tables of a game with these satellites."""
    for side, table in zip(SIDES, layout.tables, strict=True):
        radius = max(round(6 * layout.scale), 3)
        pygame.draw.rect(surface, theme.CARD, table, border_radius=radius)
        _draw_heading(surface, layout, side, table)
    for satellite in satellites:
        _draw_row(surface, layout, game, satellite)


def _draw_heading(surface: pygame.Surface, layout: Layout, side: Side, table: pygame.Rect) -> None:
    size, line = layout.text_size("tiny"), layout.line("small")
    middle = table.top + line * 0.58
    pad = max(round(6 * layout.scale), 3)
    glyphs.put_text(surface, side.upper(), size, theme.SIDES_BRIGHT[side], (table.left + pad, middle))
    columns = [(FUEL, "fuel"), (0.98, "ammo")]
    longest = max(glyphs.text_width(f"{name.upper()} sector", size) for name in SIDES)  # both tables look alike
    if pad + longest <= table.width * (SECTOR + 0.02):
        columns.append((SECTOR + 0.02, "sector"))
    for column, words in columns:
        glyphs.put_text(surface, words, size, theme.FAINT, (table.left + table.width * column, middle), "midright")


def _draw_row(surface: pygame.Surface, layout: Layout, game: Game, satellite: Satellite) -> None:
    row = row_of(layout, satellite.id.side, satellite.id.number)
    size = layout.text_size("small")
    look = look_of(game, satellite)
    colour = theme.TEXT if satellite.is_active else theme.FAINT
    pad = max(round(6 * layout.scale), 3)
    put_token(surface, look, (row.left + pad + row.height * 0.42, row.centery), row.height * 0.44, with_gauges=False)
    glyphs.put_text(
        surface, str(satellite.sector), size, colour, (row.left + row.width * SECTOR, row.centery), "midright"
    )
    if not satellite.is_active:
        note = "destroyed" if satellite.destroyed else "no fuel"
        note = glyphs.fitted(note, size, round(row.width * (1 - BAR)) - pad)
        glyphs.put_text(surface, note, size, theme.FAINT, (row.left + row.width * BAR, row.centery))
    _put_fuel(surface, row, str(satellite.fuel), size, colour)
    if satellite.is_active:
        _draw_bar(surface, row, look, satellite.fuel / full_fuel(game, satellite.id.side, satellite.id.number))
        _draw_ammo(surface, layout, row, satellite)


def _put_fuel(surface: pygame.Surface, row: pygame.Rect, words: str, size: int, colour: theme.Colour) -> None:
    """Write fuel, smaller where so many digits would run into the sector."""
    room = row.width * (FUEL - SECTOR) - size / 3
    size = min(size, round(size * room / glyphs.text_width(words, size)))
    glyphs.put_text(surface, words, size, colour, (row.left + row.width * FUEL, row.centery), "midright")


def _draw_bar(surface: pygame.Surface, row: pygame.Rect, look: Look, part: float) -> None:
    height = max(round(row.height * 0.28), 3)
    bar = pygame.Rect(row.left + row.width * BAR, row.centery - height // 2, row.width * (AMMO - BAR - 0.05), height)
    pygame.draw.rect(surface, theme.FUEL_TRACK, bar, border_radius=height // 2)
    filled = pygame.Rect(bar.left, bar.top, max(round(bar.width * min(part, 1.0)), 1), height)
    pygame.draw.rect(surface, look.body, filled, border_radius=height // 2)


def _draw_ammo(surface: pygame.Surface, layout: Layout, row: pygame.Rect, satellite: Satellite) -> None:
    left = row.left + row.width * AMMO
    if satellite.ammo > _MOST_PIPS or (satellite.ammo == 0 and satellite.id.number == 0):
        words = str(satellite.ammo) if satellite.ammo else "-"
        glyphs.put_text(surface, words, layout.text_size("small"), theme.SOFT, (left, row.centery))
        return
    radius = max(row.height * 0.15, 1.8)
    for pip in range(max(satellite.ammo, 1)):
        place = round(left + radius + pip * radius * 2.6), row.centery
        if satellite.ammo:
            pygame.draw.aacircle(surface, theme.TEXT, place, radius)
        else:
            pygame.draw.aacircle(surface, theme.FAINT, place, radius, 1)
