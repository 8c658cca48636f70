"""The flight games on pages: missions, a flight that one pilot flies with hints, and the guided first flight."""

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, lru_cache, partial
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from geo_patrol.config.toml_files import MAX_FILE_BYTES, mission_names, write_toml
from geo_patrol.drawing.shapes import Drawing, Shape
from geo_patrol.flight.best import BestKnown, best_known
from geo_patrol.flight.flight import (
    ENGINE_KEYS,
    Flight,
    Turn,
    goals_of,
    move_words,
    points_text,
    result_text,
    turn_notes,
)
from geo_patrol.flight.generator import random_mission
from geo_patrol.flight.lesson import FlightLesson, turn_story
from geo_patrol.flight.mission import (
    DIRECTIONS,
    LAUNCHES,
    MAX_TURNS,
    GameName,
    Mission,
    distance,
    load_mission,
    point_name,
)
from geo_patrol.flight.pictures import scene
from geo_patrol.flight.pictures.sheets import SURVEYING, rules_tabs
from geo_patrol.flight.solver import QUICK_STATES, rank, solve
from geo_patrol.web import requests
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.records import shape_data
from geo_patrol.web.replay_page import color_variable

_Order = Annotated[str, StringConstraints(max_length=40)]


class NewMission(requests.Body):
    """What is asked for another mission than those of the package."""

    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None = None
    """A mission as TOML, which may extend one of the package, but no file; None for a random mission."""
    game: GameName = "spaceship_commander"
    """Game of a random mission."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Seed of a random mission; the same seed gives the same mission."""

    def make(self) -> Mission:
        """Return the mission.

        Raises:
            ProtocolError: the scenario is no TOML.
            ConfigError: the mission is wrong.
        """
        if self.scenario is not None:
            return _load(scenario=self.scenario)
        seed = secrets.randbelow(_MAX_RANDOM_SEED) if self.seed is None else self.seed
        mission = random_mission(np.random.default_rng(seed), game=self.game)
        return mission.model_copy(update={"title": f"Random mission {seed}"})


class AskedFlight(requests.Body):
    """A flight: its mission, as the address of its page names it, and the orders so far."""

    mission: Annotated[str, StringConstraints(max_length=80)] = "sample"
    """The name of a mission of the package."""
    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None = None
    """A mission as TOML instead of a name; it may extend one of the package, but no file."""
    orders: Annotated[list[_Order], Field(max_length=MAX_TURNS)] = Field(default=[])

    def fly(self) -> Flight:
        """Return the flight.

        Raises:
            ProtocolError: there is no such mission.
            ConfigError: the mission is wrong.
            OrderError: an order cannot be read or is illegal.
        """
        return Flight.from_orders(_load(self.mission, self.scenario), self.orders)


_MAX_RANDOM_SEED = 1_000_000
_MAX_STATES = 1_000
"""Width of the search for a good flight of a mission that is not of the package: about a second."""
_MAX_SEARCHED = 200
"""Missions whose best flights are kept in memory."""


def _load(name: str = "", scenario: str | None = None) -> Mission:
    return load_mission(requests.read_scenario("mission", name, scenario, mission_names()))


def flight_page(mission: Mission) -> str:
    """Return the address on the server of the page on which a mission is flown; it holds the whole mission."""
    name = next((name for name in mission_names() if load_mission(name) == mission), None)
    asked = {"scenario": write_toml(mission.to_dict())} if name is None else {"mission": name}
    return f"/static/flight.html#{urlencode(asked)}"


def find_best(mission: Mission) -> BestKnown | None:
    """Return the best flight that is known or found quickly; None if no flight is found that accomplishes the mission.

    The search takes about a second, the first time that a mission is asked for.
    """
    return best_known(mission) or _search_best(json.dumps(mission.to_dict()))


@lru_cache(_MAX_SEARCHED)
def _search_best(mission: str) -> BestKnown | None:
    found = solve(load_mission(json.loads(mission)), max_states=_MAX_STATES)
    if not found.flight.is_success:
        return None
    return BestKnown(score=found.score, turns=found.flight.turn, is_proved=found.is_proved)


_MAP_TOP, _MAP_BOTTOM = 40.0, 46.0
"""Where the labels of endpoints above the map begin, and how far the numbers reach below the last row."""
_OFFSETS = (*DIRECTIONS, *LAUNCHES)
"""By order code: where an endpoint lies in relation to coasting, or to the planet."""


def mission_record(mission: Mission, best: BestKnown | None) -> dict[str, Any]:
    """Return what stays of a mission while it is flown.

    Args:
        mission: the mission.
        best: the best flight of it that is known.

    Returns:
        ``title``; ``about``, the mission in words; ``known``, the best flight in words; ``rules``, headings with lines;
        ``scoring``, lines of the score sheet with what they are for; ``view``, left, top, width and height of the map; ``map``,
        its shapes; ``legend``, its marks and lines: what each means and its shapes, as ``scene.line_legend`` returns them.
    """
    *rules, scoring = rules_tabs(mission)
    return {
        "title": mission.title,
        "about": f"{mission.game_title}, up to {mission.turns} turns. {_task(mission)}".strip(),
        "known": _known_text(mission, best),
        "rules": rules,
        "scoring": scoring.lines,
        **_map_record(mission, {"where you can go": [scene.choice_mark((17, 0))]}),
    }


def _known_text(mission: Mission, best: BestKnown | None) -> str:
    if best is None:
        return "No flight is known that accomplishes the mission."
    return f"Best known: {best.reached(mission)}{', proved' if best.is_proved else ''}."


def _map_record(mission: Mission, marks: dict[str, list[Shape]]) -> dict[str, Any]:
    layout = scene.MapLayout(mission)
    legend = marks | scene.mark_legend(mission) | scene.line_legend(mission)
    return {
        "view": [0, _MAP_TOP, layout.width, layout.bottom + _MAP_BOTTOM - _MAP_TOP],
        "map": _shapes(layout, lambda drawing: scene.add_map(drawing, layout)),
        "legend": [[name, list(map(shape_data, shapes))] for name, shapes in legend.items()],
    }


def flight_record(flight: Flight, best: BestKnown | None = None) -> dict[str, Any]:
    """Return a flight; ``best`` is the best one that is known of its mission.

    Returns:
        ``number`` of its orders; ``status``, in words; ``over``; ``success``, unless it is lost in space; ``result``, in words,
        "" while it goes on; ``ship``, where it is in the picture; ``steps``, the shapes of the steps of the last turn, the last
        ones show all; ``outlook``, those of the next coast; ``choices``, the legal orders; ``log``, a row for each turn, the
        latest first; ``points``, lines of the score sheet with their totals.
    """
    layout = scene.MapLayout(flight.mission)
    is_whole = flight.mission.is_probe or not flight.turn or flight.turns[-1].is_launch
    steps = (scene.FLOWN,) if is_whole else (scene.COASTED, scene.PULLED, scene.FLOWN)
    has_outlook = flight.mode in ("flying", "docked") and not flight.is_over
    return {
        "number": len(flight.order_codes),
        "status": _status(flight),
        "over": flight.is_over,
        "success": flight.is_success and not flight.is_lost,
        "result": result_text(flight, best) if flight.is_over else "",
        "ship": layout.at(flight.position, flight.turns[-1].start if flight.turns else None),
        "steps": [_shapes(layout, partial(scene.add_path, layout=layout, flight=flight, steps=step)) for step in steps],
        "outlook": _shapes(layout, lambda drawing: scene.add_outlook(drawing, layout, flight)) if has_outlook else [],
        "choices": [_choice(flight, layout, code) for code in flight.action_mask().nonzero()[0].tolist()],
        "log": [_log_row(flight, turn) for turn in reversed(flight.turns)],
        "points": [[line, flight.score_sheet[line]] for line in scene.score_lines(flight.mission)],
    }


@cache
def num_flight_steps() -> int:
    """Return the number of steps of the guided first flight."""
    return len(FlightLesson().steps)


@cache
def lesson_step_record(index: int) -> dict[str, Any]:
    """Return a step of the guided first flight as it begins.

    Args:
        index: index of the step, from 0.

    Returns:
        ``title`` of the lesson; ``steps``, their number; ``scoring``, ``view``, ``map`` and ``legend`` as
        ``mission_record`` returns them; the rest as ``lesson_attempt_record`` does.
    """
    lesson = FlightLesson()
    lesson.go(index)
    scoring = rules_tabs(lesson.mission)[-1].lines
    marks: dict[str, list[Shape]] = {
        "where to fly": [scene.ring_mark((17, 0), 10, is_target=True)],
        "what the text is about": [scene.ring_mark((17, 0), 10)],
        "where you could go": [scene.choice_mark((17, 0))],
    }
    return {
        "title": lesson.title,
        "steps": len(lesson.steps),
        "scoring": scoring,
        **_map_record(lesson.mission, marks),
        **_lesson_record(lesson, lesson.begin()),
    }


def lesson_attempt_record(index: int, order: str) -> dict[str, Any]:
    """Return what becomes of an order in a step of the guided first flight.

    Args:
        index: index of the step, from 0.
        order: the order.

    Returns:
        ``done``, whether it is what the step requires; ``card``, what is read then; ``flight`` as ``flight_record`` returns
        it; ``story``, what happened in the turn that was flown, in words, a line for each of the flight's ``steps``
        and one for the points; ``order``, that the step requires; ``sights`` and ``target``, shapes of the points that the text
        speaks of, and of where to fly.

    Raises:
        OrderError: the order cannot be read or is illegal.
    """
    lesson = FlightLesson()
    lesson.go(index)
    flight = lesson.begin()
    if lesson.fly(flight, flight.read_order(order)):
        flight.fly(order)
        lesson.finish()
    return _lesson_record(lesson, flight)


def _lesson_record(lesson: FlightLesson, flight: Flight) -> dict[str, Any]:
    layout = scene.MapLayout(lesson.mission)

    def draw_sights(drawing: Drawing) -> None:
        for point in lesson.sights:
            scene.add_mark(drawing, layout, point)

    return {
        "done": lesson.is_done,
        "card": asdict(lesson.card_of(flight)),
        "flight": flight_record(flight),
        "story": turn_story(flight.turns[-1]) if lesson.is_done else [],
        "order": lesson.step.orders[0],
        "sights": _shapes(layout, draw_sights),
        "target": _shapes(layout, lambda drawing: scene.add_mark(drawing, layout, lesson.target, is_target=True)),
    }


def _shapes(layout: scene.MapLayout, draw: Callable[[Drawing], None]) -> list[tuple[Any, ...]]:
    """Return as data what a function draws."""
    drawing = Drawing(layout.width, layout.bottom, scene.PAPER)
    draw(drawing)
    return list(map(shape_data, drawing.shapes))


def _status(flight: Flight) -> str:
    fuel = "" if flight.fuel_left is None else f", {flight.fuel_left} points of fuel left"
    where = "" if flight.is_over else f", {flight.mode} at {flight.position_name}"
    return f"{flight.turn} of {flight.mission.turns} turns flown{where}, score {flight.score}{fuel}"


def _choice(flight: Flight, layout: scene.MapLayout, code: int) -> dict[str, Any]:
    """Return an order: text, label, what it means, endpoint, key, where its button lies among the others, and shapes."""
    end, label = flight.end_of(code), scene.order_label(flight, code)
    return {
        "order": flight.order_text(code),
        "label": label,
        "means": _meaning(flight, code),
        "end": point_name(end) if flight.mission.is_on_map(end) else "off",
        "cost": flight.cost_of(code),
        "key": ENGINE_KEYS[code] if code < len(ENGINE_KEYS) else None,
        "offset": _OFFSETS[code],
        "at": layout.at(end, flight.position),
        "shapes": _shapes(layout, lambda drawing: scene.add_choice(drawing, layout, flight, code)),
        "chosen": _shapes(layout, lambda drawing: scene.add_choice(drawing, layout, flight, code, is_chosen=True)),
    }


def _meaning(flight: Flight, code: int) -> str:
    """Return in a sentence what an order does to a ship."""
    mission, start, end = flight.mission, flight.position, flight.end_of(code)
    if not mission.is_on_map(end):
        return "The ship leaves the map and is lost in space."
    if end == start:
        return "The ship stays where it is."
    if point_name(end) in mission.planets:  # where a ship would crash, the order is not legal
        return "The ship lands there."
    if point_name(end) in mission.stations and distance(start, end) == 1:
        return "The ship docks there."
    change = "gravity changes it" if mission.is_probe else "gravity or engines change it"
    return f"The move is then {move_words((end[0] - start[0], end[1] - start[1]))}, each turn until {change}."


def _log_row(flight: Flight, turn: Turn) -> list[Any]:
    """Return number, order, endpoint and points of a turn."""
    notes = turn_notes(flight, turn)
    end = point_name(turn.end)
    return [turn.number, turn.order, f"{end} ({notes})" if notes else end, points_text(turn)]


class LessonOrder(requests.Body):
    """An order in a step of the guided first flight."""

    order: _Order


class FlightRoutes:
    """The routes of flights and of the guided first flight. The server keeps nothing of a flight: who flies sends its orders.

    Args:
        limits: what clients may ask for.
        quick: the thread in which flights are computed.
        slow: threads that search for good flights, which takes a second.
    """

    def __init__(self, limits: requests.ClientLimits, quick: requests.FairThreads, slow: requests.FairThreads) -> None:
        self._limits, self._quick, self._slow = limits, quick, slow

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/api/missions", _missions, methods=["GET"]),
            Route("/api/missions", self._make_mission, methods=["POST"]),
            Route("/api/flight-lesson/{step:int}", self._step, methods=["GET"]),
            Route("/api/flight-lesson/{step:int}", self._attempt, methods=["POST"]),
            Route("/api/flights", self._fly, methods=["POST"]),
            Route("/api/flights/mission", self._mission, methods=["POST"]),
            Route("/api/flights/picture", self._picture, methods=["POST"]),
            Route("/api/flights/hint", self._hint, methods=["POST"]),
        ]

    # The guided first flight

    async def _step(self, request: Request) -> Response:
        index, site = requests.step_index(request, num_flight_steps()), requests.client_site(request)
        self._limits.take("views", site)
        return JSONResponse(await self._quick.run(site, lambda: lesson_step_record(index)))

    async def _attempt(self, request: Request) -> Response:
        index = requests.step_index(request, num_flight_steps())
        attempt, site = await requests.read_body(request, LessonOrder), requests.client_site(request)
        self._limits.take("views", site)
        return JSONResponse(await self._quick.run(site, lambda: lesson_attempt_record(index, attempt.order)))

    # Flights

    async def _make_mission(self, request: Request) -> Response:
        new, site = await requests.read_body(request, NewMission), requests.client_site(request)
        self._limits.take("requests", site)
        return JSONResponse({"page": await self._slow.run(site, lambda: flight_page(new.make()))})

    async def _read(self, request: Request, limit: str = "views") -> tuple[Flight, str]:
        """Return the flight that somebody asks about, and the address."""
        asked, site = await requests.read_body(request, AskedFlight), requests.client_site(request)
        self._limits.take(limit, site)
        return await self._quick.run(site, asked.fly), site

    async def _mission(self, request: Request) -> Response:
        flight, site = await self._read(request, "requests")
        best = await self._slow.run(site, partial(find_best, flight.mission))
        return JSONResponse(await self._quick.run(site, partial(mission_record, flight.mission, best)))

    async def _fly(self, request: Request) -> Response:
        flight, site = await self._read(request)
        best = await self._slow.run(site, partial(find_best, flight.mission)) if flight.is_over else None
        return JSONResponse(await self._quick.run(site, partial(flight_record, flight, best)))

    async def _picture(self, request: Request) -> Response:
        flight, site = await self._read(request)
        return JSONResponse({"svg": await self._quick.run(site, flight.svg)})

    async def _hint(self, request: Request) -> Response:
        flight, site = await self._read(request, "requests")
        if flight.is_over:
            raise ProtocolError("no_seat", "the flight is over")
        return JSONResponse(await self._slow.run(site, partial(_hint_record, flight)))


def _hint_record(flight: Flight) -> dict[str, Any]:
    """Return the ``order`` that a search of some seconds finds best, and in a ``text`` what it leads to."""
    solution = solve(flight, max_states=QUICK_STATES)
    text, best = solution.summary, None if flight.turn else find_best(flight.mission)
    if best is not None and rank(solution.flight) < best.rank(flight.mission):
        text = f"leads to {solution.reached}; a flight with {best.reached(flight.mission)} is known"
    return {"order": flight.order_text(solution.flight.order_codes[flight.turn]), "text": text}


def _missions(_request: Request) -> Response:  # not in the event loop, because maps are drawn the first time
    return JSONResponse(_mission_choices())


_LEVELS = {"Easy": 2, "Medium": 3, "Hard": 5}
"""Headings of missions, and the difficulty up to which they are meant."""


@cache
def _mission_choices() -> dict[str, Any]:
    """Return the missions from easy to hard, and the rules of a ship that does not land.

    Returns:
        ``levels``, each a heading and its missions with ``name``, ``title``, ``kind`` of ship, ``difficulty`` from 1 to 5, the
        ``task`` in a sentence, ``turns``, what is ``known``, and a small map: ``size`` and ``map``, its shapes. ``rules`` and
        ``scoring`` as ``mission_record`` returns them.
    """
    missions = {name: load_mission(name) for name in mission_names()}
    by_difficulty = sorted(missions, key=lambda name: (*_difficulty(missions[name]), missions[name].turns))
    levels: dict[str, list[dict[str, Any]]] = {level: [] for level in _LEVELS}
    for name in by_difficulty:
        mission, (difficulty, _) = missions[name], _difficulty(missions[name])
        best, small = best_known(mission), scene.small_map(mission)
        lands = any(map(mission.can_land_on, mission.planets))
        choice = {
            "name": name,
            "title": mission.title,
            "kind": "probe" if mission.is_probe else "ship that lands" if lands else "ship",
            "difficulty": difficulty,
            "task": mission.description,
            "turns": mission.turns,
            "known": "" if best is None else best.reached(mission),
            "size": [small.width, small.height],
            "map": list(map(shape_data, small.shapes)),
        }
        levels[next(level for level, hardest in _LEVELS.items() if difficulty <= hardest)].append(choice)
    *rules, scoring = rules_tabs(load_mission("sample"))
    return {"levels": list(levels.items()), "rules": rules, "scoring": scoring.lines}


def _difficulty(mission: Mission) -> tuple[int, int]:
    """Return how hard a mission is, from 1 to 5, and how many conditions a flight has to fulfil.

    A ship with engines has more to decide than a probe, one that lands more than that; and it is harder to fulfil more
    conditions: places to go to, the end, a fuel limit, a race.
    """
    others = mission.end_at, mission.fuel_limit is not None, mission.race
    conditions = len(mission.survey) + len(mission.land_on) + sum(map(bool, others))
    kind = 0 if mission.is_probe else 2 if mission.advanced else 1
    return 1 + kind + min((conditions + 1) // 2, 2), conditions


def map_css() -> str:
    """Return what the colors of maps become in dark pages."""
    colors = (color_variable(f"--c-{light[1:]}", light, dark) for light, dark in scene.DARK.items())
    return f".map, .legend {{{''.join(colors)} }}\n"


def _task(mission: Mission) -> str:
    """Return what a flight is to do; that there are advanced rules is said elsewhere."""
    goals = goals_of(mission)
    said = [f"Goals: {'; '.join(goals)}."] if goals else []
    surveying = [f"Survey: {SURVEYING}."] if mission.survey else []
    return " ".join([mission.description, *said, *surveying]).strip()
