"""The tables of both fleets: sector, fuel and ammo of every satellite, as the rule books print them."""

from collections.abc import Iterator, Sequence

from geo_patrol.game import Game
from geo_patrol.notation import Satellite
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.satellites import full_fuel, satellite_shape, style_of
from geo_patrol.scenes.shapes import Box, Circle, Color, Rect, Shape, Text, box
from geo_patrol.sides import SIDES, Side

SECTOR, FUEL, BAR, AMMO = 0.34, 0.51, 0.55, 0.8
"""Columns, as fractions of a table's width: right edges of the numbers, left edges of bar and pips."""
_MAX_PIPS = 5


def row_of(layout: Layout, side: Side, number: int) -> Rect:
    """Return where a satellite's row is."""
    table = layout.tables[SIDES.index(side)]
    line = layout.line_height("small")
    return Rect(table.left, table.top + line * (number + 1), table.width, line)


def fleet_shapes(layout: Layout, game: Game, satellites: Sequence[Satellite]) -> Iterator[Shape]:
    """Draw both tables of a game with these satellites."""
    for side, table in zip(SIDES, layout.tables, strict=True):
        yield box(table, theme.CARD, r=max(round(6 * layout.scale), 3))
        yield from _heading(layout, side, table)
    for satellite in satellites:
        yield from _row(layout, game, satellite)


def _heading(layout: Layout, side: Side, table: Rect) -> Iterator[Text]:
    size, line = layout.text_size("tiny"), layout.line_height("small")
    y = table.top + line * 0.58
    padding = max(round(6 * layout.scale), 3)
    yield Text((table.left + padding, y), side.upper(), size, theme.SIDES_BRIGHT[side])
    columns = [(FUEL, "fuel"), (0.98, "ammo")]
    longest = max(layout.text_width(f"{name.upper()} sector", size) for name in SIDES)  # both tables style alike
    if padding + longest <= table.width * (SECTOR + 0.02):
        columns.append((SECTOR + 0.02, "sector"))
    for column, name in columns:
        yield Text((table.left + table.width * column, y), name, size, theme.FAINT, "midright")


def _row(layout: Layout, game: Game, satellite: Satellite) -> Iterator[Shape]:
    row = row_of(layout, satellite.id.side, satellite.id.number)
    size = layout.text_size("small")
    style = style_of(game, satellite)
    color = theme.TEXT if satellite.is_active else theme.FAINT
    padding = max(round(6 * layout.scale), 3)
    y = row.center[1]
    yield satellite_shape(style, (row.left + padding + row.height * 0.42, y), row.height * 0.44, with_gauges=False)
    yield Text((row.left + row.width * SECTOR, y), str(satellite.sector), size, color, "midright")
    if not satellite.is_active:
        note = "destroyed" if satellite.destroyed else "no fuel"
        note = layout.fitted(note, size, round(row.width * (1 - BAR)) - padding)
        yield Text((row.left + row.width * BAR, y), note, size, theme.FAINT)
    fuel = str(satellite.fuel)
    width = row.width * (FUEL - SECTOR) - size / 3
    fuel_size = min(size, round(size * width / layout.text_width(fuel, size)))  # many digits must not reach the sector
    yield Text((row.left + row.width * FUEL, y), fuel, fuel_size, color, "midright")
    if satellite.is_active:
        yield from _bar(row, style.body, satellite.fuel / full_fuel(game, satellite.id.side, satellite.id.number))
        yield from _ammo(layout, row, satellite)


def _bar(row: Rect, color: Color, fraction: float) -> Iterator[Box]:
    height = max(round(row.height * 0.28), 3)
    top = row.center[1] - height // 2
    bar = Rect.truncated(row.left + row.width * BAR, top, row.width * (AMMO - BAR - 0.05), height)
    yield box(bar, theme.FUEL_TRACK, r=height // 2)
    yield box(bar._replace(width=max(round(bar.width * min(fraction, 1.0)), 1)), color, r=height // 2)


def _ammo(layout: Layout, row: Rect, satellite: Satellite) -> Iterator[Shape]:
    left, y = row.left + row.width * AMMO, row.center[1]
    if satellite.ammo > _MAX_PIPS or (satellite.ammo == 0 and satellite.id.number == 0):
        text = str(satellite.ammo) if satellite.ammo else "-"
        yield Text((left, y), text, layout.text_size("small"), theme.SOFT)
        return
    radius = max(row.height * 0.15, 1.8)
    for pip in range(max(satellite.ammo, 1)):
        center = round(left + radius + pip * radius * 2.6), y
        if satellite.ammo:
            yield Circle(center, radius, theme.TEXT)
        else:
            yield Circle(center, radius - 0.5, None, theme.FAINT)
