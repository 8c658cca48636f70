"""The legal orders of a side as JSON for a browser, with what it draws for them: scripts know nothing of the rules."""

from collections.abc import Iterable, Sequence
from typing import Any

from geo_patrol.browser.scenes import shape_data
from geo_patrol.game import Game
from geo_patrol.notation import Satellite, SatelliteId
from geo_patrol.rendering.svg_writer import symbol_markup, symbol_name
from geo_patrol.scenes import theme
from geo_patrol.scenes.board import highlight_shapes
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.orders import cost_shapes, hint_shapes, pending_order_shapes, ring_shape
from geo_patrol.scenes.satellites import Anchors, all_satellites, satellite_anchors
from geo_patrol.scenes.shapes import Circle, Polygon, Shape, Use
from geo_patrol.sessions.hints import Hint
from geo_patrol.sessions.order_entry import Option, OrderEntry
from geo_patrol.sides import Side

_MIN_REACH = 16.0
"""Radius of the circle around a satellite that takes clicks, at least, in pixels."""


def choices_record(game: Game, side: Side, layout: Layout) -> dict[str, Any]:
    """Return what a person of a side may order now.

    Args:
        game: the position; it is not changed.
        side: who orders.
        layout: of the board, as in ``SceneEncoder.layout``.

    Returns:
        ``satellites``: those with a legal order, each with its options and the shapes that mark them; ``areas``: of
        satellites ("bravo:HVA") and of sectors ("13"), its name, the shape that takes clicks and the shapes that light
        it up; ``symbols``: markup by name.
    """
    encoder = _ChoiceEncoder(game, side, layout)
    return {
        "side": side,
        "turn": game.turn,
        "phase": game.phase,
        "satellites": encoder.choices(),
        "areas": encoder.areas,
        "symbols": encoder.symbols,
    }


def hint_record(game: Game, side: Side, layout: Layout, hint: Hint) -> dict[str, Any]:
    """Return a hint for the side: its ``orders``, ``text``, and the ``shapes`` and ``symbols`` that show it."""
    encoder = _ChoiceEncoder(game, side, layout)
    shapes = hint_shapes(layout, encoder.anchors, encoder.entry, hint.orders)
    return {
        "orders": [str(order) for order in hint.orders],
        "text": f"Hint: {hint.estimate}",
        "shapes": encoder.encode(shapes),
        "symbols": encoder.symbols,
    }


class _ChoiceEncoder:
    def __init__(self, game: Game, side: Side, layout: Layout) -> None:
        self.layout = layout
        self.entry = OrderEntry(game, side)
        self.satellites: Sequence[Satellite] = all_satellites(game)
        self.sectors = {one.id: one.sector for one in self.satellites}
        self.anchors: Anchors = satellite_anchors(layout.geometry, self.satellites)
        self.areas: dict[str, dict[str, Any]] = {}
        self.symbols: dict[str, str] = {}

    def choices(self) -> list[dict[str, Any]]:
        """Return the choices of every satellite that has any."""
        own = [one for one in self.satellites if one.id.side == self.entry.side]
        return [self._choice(one) for one in own if self.entry.options(one.id.number)]

    def _choice(self, satellite: Satellite) -> dict[str, Any]:
        options = self.entry.options(satellite.id.number)
        free = ring_shape(self.layout, self.anchors[satellite.id], self.layout.stroke(1.4))
        return {
            "name": satellite.id.short,
            "label": f"sector {satellite.sector}, {satellite.fuel} fuel, {satellite.ammo} ammo",
            "area": self._satellite_area(satellite.id),
            "ring": self.encode([free]),
            "costs": self.encode(cost_shapes(self.layout, self.satellites, self.anchors, options)),
            "options": [self._option(satellite.id, option) for option in options],
        }

    def _option(self, actor: SatelliteId, option: Option) -> dict[str, Any]:
        color = theme.SIDES_BRIGHT[actor.side]
        return {
            "order": str(option.order),
            "action": option.order.action,
            "text": option.text,
            "cost": option.cost_text,
            "area": self._sector_area(option.sector) if option.target is None else self._satellite_area(option.target),
            "arrow": self.encode(pending_order_shapes(self.layout, self.anchors, actor, option, color)),
        }

    def _satellite_area(self, satellite: SatelliteId) -> str:
        anchor = self.anchors[satellite]
        center = self.layout.geometry.point(anchor.position)
        ring = ring_shape(self.layout, anchor, max(round(3 * self.layout.scale), 2))
        name = f"{satellite.side} {satellite.short}, sector {self.sectors[satellite]}"
        hit = Circle(center, max(anchor.radius, _MIN_REACH), theme.CHOICE)
        return self._area(f"{satellite.side}:{satellite.short}", name, hit, [ring])

    def _sector_area(self, sector: int | None) -> str:
        assert sector is not None
        outline = self.layout.geometry.outline(sector)
        lit = highlight_shapes(self.layout.geometry, sector, theme.CHOICE, 40 / 255)
        return self._area(str(sector), f"sector {sector}", Polygon(outline, theme.CHOICE), lit)

    def _area(self, key: str, name: str, hit: Shape, lit: Iterable[Shape]) -> str:
        self.areas[key] = {"name": name, "hit": shape_data(hit), "lit": self.encode(lit)}
        return key

    def encode(self, shapes: Iterable[Shape]) -> list[list[Any]]:
        """Return shapes as data; their symbols are added to ``symbols``."""
        shapes = list(shapes)
        for shape in shapes:
            if isinstance(shape, Use):
                self.symbols[symbol_name(shape.symbol)] = symbol_markup(shape.symbol)
        return [shape_data(shape) for shape in shapes]
