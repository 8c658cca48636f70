"""A window with a flight: the map, the endpoints to choose from, and what is said about it; no controls."""

import os
from collections import deque
from collections.abc import Iterator

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

from geo_patrol.flight.best import best_known
from geo_patrol.flight.flight import Flight, goals_text
from geo_patrol.flight.pictures.scene import PAPER, MapLayout, add_choice, add_outlook, flight_drawing, order_label
from geo_patrol.rendering.base_window import Window
from geo_patrol.rendering.painter import paint_drawing, text_extent
from geo_patrol.rendering.screen import Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import TextStyle
from geo_patrol.scenes.pages import line_shapes
from geo_patrol.scenes.shapes import Drawing, Rect, Shape, box
from geo_patrol.sessions.pages import PageLine, Tab

_CLICK_RANGE = 18.0
_MIN_SHEET_SCALE = 0.6
"""Pixels for each of the drawing, from which its score sheet can be read."""
_MAP_MARGIN = 30.0
"""Beneath a map without score sheet."""


class FlightView(Window):
    """A window with a flight.

    Attributes:
        flight: the flight so far.
        orders: the legal orders.
        chosen: index of the order that the next turn is flown with, unless another one is chosen.
        scale: pixels for each of the drawing.
    """

    def __init__(self, flight: Flight, screen: Screen | None = None, size: tuple[int, int] = (1280, 900)) -> None:
        self.drawing: Drawing | None = None
        self.scale = 1.0
        self.animation: deque[tuple[Flight, int]] = deque()
        """Flights that are shown one after the other, and how much of their last turn."""
        self.set_flight(flight)
        super().__init__(f"geo_patrol: {flight.mission.title}", size, screen)

    @property
    def style(self) -> TextStyle:
        """How texts are written; arranges the buttons."""
        width, height = self.screen.size
        style = TextStyle(theme.scale_of(width, height), text_extent)
        margin = style.text_size("normal") // 2
        line = style.line_height("normal")
        above = height - self.bar.height(style, width - 2 * margin) - line - 2 * margin
        self._toolbar = Rect(0, above, width, height - above)
        self.bar.arrange(style, Rect(margin, above + line + margin, width - 2 * margin, height - above - line))
        return style

    @property
    def content_area(self) -> Rect:
        """Where the drawing is, above the buttons."""
        self.style  # noqa: B018 - arranges the buttons
        return Rect(0, 0, self.screen.size[0], self._toolbar.top)

    @property
    def message_area(self) -> Rect:
        """The map, at whose bottom messages are."""
        return self.content_area

    def draw_content(self) -> pygame.Surface:
        """Draw map, flight and score sheet."""
        surface = pygame.Surface(self.screen.size, 0, 32)
        surface.fill(PAPER)
        if self.drawing is None:
            self.drawing = self._draw_flight()
        width, height = self.space_for(self.drawing, surface)
        shown = self.shown_height(self.drawing)
        self.scale = min(width / self.drawing.width, height / shown)
        visible = 0, 0, width, round(shown * self.scale)
        surface.blit(paint_drawing(self.drawing, self.scale), (0, 0), visible)
        return surface

    def shown_height(self, drawing: Drawing) -> float:
        """Return how much of a drawing is shown: in a small window the map alone, without its score sheet."""
        area = self.content_area
        fits = min(area.width / drawing.width, area.height / drawing.height) >= _MIN_SHEET_SCALE
        return drawing.height if fits else MapLayout(self.flight.mission).bottom + _MAP_MARGIN

    def space_for(self, drawing: Drawing, surface: pygame.Surface) -> tuple[int, int]:  # noqa: ARG002 - for subclasses
        """Return the width and the height that a drawing may take at the top left."""
        return self.content_area.width, self.content_area.height

    def _draw_flight(self) -> Drawing:
        if self.animation:
            flight, steps = self.animation[0]
            return flight_drawing(flight, steps=steps)
        flight, layout = self.flight, MapLayout(self.flight.mission)
        drawing = flight_drawing(flight)
        if flight.mode in ("flying", "docked") and not flight.is_over:
            add_outlook(drawing, layout, flight)
        for index, order in enumerate(self.orders):
            if index != self.chosen:
                add_choice(drawing, layout, flight.end_of(order))
        if self.orders:
            order = self.orders[self.chosen]
            add_choice(drawing, layout, flight.end_of(order), order_label(flight, order))
        return drawing

    def overlay(self) -> Iterator[Shape]:
        """Draw the ground of the buttons, and a line that says how the flight stands and what to do."""
        style = self.style
        yield box(self._toolbar, theme.PANEL)
        margin = style.text_size("normal") // 2
        area = Rect(
            margin, self._toolbar.top + margin // 2, self._toolbar.width - 2 * margin, style.line_height("normal")
        )
        yield from line_shapes(style, area, self.prompts, theme.CHOICE)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The line above the buttons, the shorter the later."""
        flight = self.flight
        status = f"turn {flight.turn} of {flight.mission.turns}, score {flight.score}, {self._best_text()}"
        if flight.is_over:
            return f"{status}; {flight.reason}", status
        order = order_label(flight, self.orders[self.chosen]) if self.orders else ""
        return f"{status}; click an endpoint, or Fly: {order}", f"{status}; {order}", status

    def _best_text(self) -> str:
        best = best_known(self.flight.mission)
        if best is None:
            return "best known: press Solve"
        if self.flight.mission.race:
            return f"best known: {best.turns} turns"
        return f"best known {best.score}"

    def help_tabs(self) -> tuple[Tab, ...]:
        """Return the keys, and the mission with its scoring."""
        mission = self.flight.mission
        lines = [
            PageLine(mission.game_title),
            PageLine(mission.title, mission.description),
            *([PageLine("goals", goals)] if (goals := goals_text(mission)) else []),
            PageLine("best known", self._best_text()),
            PageLine(
                "turn", "the ship coasts by its last move, gravity pulls where it arrives, engines push by one point"
            ),
            PageLine(
                "engines", "W up, E up right, D right, C down right, X down, Z down left, A left, Q up left; S coasts"
            ),
        ]
        return (*super().help_tabs(), Tab("Mission", tuple(lines)))

    def help_lines(self) -> list[tuple[str, str]]:
        """Return the lines of the page of keys; the engines have one of their own."""
        return [(keys, name) for keys, name in super().help_lines() if not name.startswith("engines ")]

    def set_flight(self, flight: Flight) -> None:
        """Go on with another flight."""
        self.flight = flight
        self.orders: list[int] = flight.action_mask().nonzero()[0].tolist()
        self.choose(0)

    def choose(self, index: int) -> None:
        """Choose an order by its index."""
        self.chosen, self.drawing = index, None

    def pixel_of(self, order: int) -> tuple[int, int]:
        """Return where the endpoint of an order is."""
        x, y = MapLayout(self.flight.mission).at(self.flight.end_of(order))
        return round(x * self.scale), round(y * self.scale)

    def choice_at(self, pixel: tuple[int, int]) -> int | None:
        """Return the index of the order whose endpoint is nearest to a pixel; None if none is near."""
        x, y = pixel[0] / self.scale, pixel[1] / self.scale
        layout = MapLayout(self.flight.mission)
        ends = [layout.at(self.flight.end_of(order)) for order in self.orders]
        distances = [max(abs(end[0] - x), abs(end[1] - y)) for end in ends]
        nearest = min(distances, default=_CLICK_RANGE)
        return distances.index(nearest) if nearest < _CLICK_RANGE else None
