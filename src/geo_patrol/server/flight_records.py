"""Missions and flights as data for a browser, which knows nothing of the rules: pictures as shapes, orders as buttons."""

from collections.abc import Callable
from functools import partial
from typing import Any

from geo_patrol.browser.scenes import shape_data
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.grid import DIRECTIONS, LAUNCHES, point_name
from geo_patrol.flight.orders import ENGINE_KEYS
from geo_patrol.flight.pictures.chart import PAPER, Layout, add_map, score_lines
from geo_patrol.flight.pictures.scene import (
    COASTED,
    FLOWN,
    PULLED,
    add_choice,
    add_legend,
    add_outlook,
    add_path,
    order_label,
)
from geo_patrol.flight.status import Turn
from geo_patrol.flight.text import goals_text, points_text, result_text, turn_notes
from geo_patrol.scenes.shapes import Drawing
from geo_patrol.server.flights import Challenge

_MAP_TOP, _MAP_BOTTOM = 44.0, 66.0
"""Where the labels of endpoints above the map begin, and how far the legend reaches below the last row."""
_OFFSETS = (*DIRECTIONS, *LAUNCHES)
"""By order code: where an endpoint lies in relation to coasting, or to the planet."""


def challenge_record(challenge: Challenge) -> dict[str, Any]:
    """Return what stays of a challenge.

    Returns:
        ``title``; ``about``, lines ("left", "right") on the mission; ``best_known``, with ``score``, ``turns`` and
        ``is_proved``, or None; ``view``, left, top, width and height of the map; ``map``, its shapes.
    """
    mission, best = challenge.mission, challenge.saved.best_known
    layout = Layout(mission)
    goals = goals_text(mission).removeprefix("Mission: ")
    about = [("Mission", mission.title), ("Game", f"{mission.game_title}, {mission.turns} turns")]

    def draw(drawing: Drawing) -> None:
        add_map(drawing, layout)
        add_legend(drawing, layout)

    return {
        "title": challenge.saved.title,
        "about": [
            *about,
            *([("Task", mission.description)] if mission.description else []),
            *([("Goals", goals)] if goals else []),
        ],
        "best_known": None if best is None else best.model_dump(),
        "view": [0, _MAP_TOP, layout.width, layout.bottom + _MAP_BOTTOM - _MAP_TOP],
        "map": _shapes(layout, draw),
    }


def flight_record(flight: Flight) -> dict[str, Any]:
    """Return a flight.

    Returns:
        ``number`` of its orders; ``status``, in words; ``over``; ``success``; ``result``, in words, "" while it goes on;
        ``ship``, where it is in the picture; ``steps``, the shapes of the steps of the last turn, the last ones show all;
        ``outlook``, those of the next coast; ``choices``, the legal orders; ``log``, a row for each turn, the latest
        first; ``points``, lines of the score sheet with their totals.
    """
    layout = Layout(flight.mission)
    steps = (FLOWN,) if flight.mission.is_probe or not flight.turn else (COASTED, PULLED, FLOWN)
    has_outlook = flight.mode in ("flying", "docked") and not flight.is_over
    return {
        "number": len(flight.order_codes),
        "status": _status(flight),
        "over": flight.is_over,
        "success": flight.is_success,
        "result": result_text(flight) if flight.is_over else "",
        "ship": layout.at(flight.position),
        "steps": [_shapes(layout, partial(add_path, layout=layout, flight=flight, steps=step)) for step in steps],
        "outlook": _shapes(layout, lambda drawing: add_outlook(drawing, layout, flight)) if has_outlook else [],
        "choices": [_choice(flight, layout, code) for code in flight.action_mask().nonzero()[0].tolist()],
        "log": [_log_row(flight, turn) for turn in reversed(flight.turns)],
        "points": [[line, flight.score_sheet[line]] for line in score_lines(flight.mission)],
    }


def _shapes(layout: Layout, draw: Callable[[Drawing], None]) -> list[list[Any]]:
    """Return as data what a function draws."""
    drawing = Drawing(layout.width, layout.bottom, PAPER)
    draw(drawing)
    return list(map(shape_data, drawing.shapes))


def _status(flight: Flight) -> str:
    fuel = "" if flight.fuel_left is None else f", {flight.fuel_left} points of fuel left"
    where = f"{flight.mode} at {flight.position_name}"
    return f"Turn {flight.turn} of {flight.mission.turns}, {where}, score {flight.score}{fuel}"


def _choice(flight: Flight, layout: Layout, code: int) -> dict[str, Any]:
    """Return an order: its text, label, endpoint and key, where its button lies among the others, and its shapes."""
    end, label = flight.end_of(code), order_label(flight, code)
    return {
        "order": flight.order_text(code),
        "label": label,
        "end": point_name(end) if flight.mission.is_on_map(end) else "off",
        "cost": flight.cost_of(code),
        "key": ENGINE_KEYS[code] if code < len(ENGINE_KEYS) else None,
        "offset": _OFFSETS[code],
        "at": layout.at(end),
        "shapes": _shapes(layout, lambda drawing: add_choice(drawing, layout, end)),
        "chosen": _shapes(layout, lambda drawing: add_choice(drawing, layout, end, label)),
    }


def _log_row(flight: Flight, turn: Turn) -> list[Any]:
    """Return number, order, endpoint and points of a turn."""
    notes = turn_notes(flight, turn)
    end = point_name(turn.end)
    return [turn.number, turn.order, f"{end} ({notes})" if notes else end, points_text(turn)]
