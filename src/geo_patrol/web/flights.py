"""Challenges: everybody flies the same mission of the flight games, and the best flights are ranked."""

import secrets
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_serializer
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from geo_patrol.config.toml_files import MAX_FILE_BYTES, mission_names
from geo_patrol.drawing.shapes import Drawing, Shape
from geo_patrol.flight.best import BestKnown, best_known
from geo_patrol.flight.flight import (
    ENGINE_KEYS,
    Ending,
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
from geo_patrol.flight.solver import QUICK_STATES, Solution, rank, solve
from geo_patrol.web import requests
from geo_patrol.web.names import name_key, read_name
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.records import shape_data
from geo_patrol.web.replay_page import color_variable
from geo_patrol.web.store import Store, Stored

MAX_PILOTS = 100
RANDOM = "random"
_Order = Annotated[str, StringConstraints(max_length=40)]
_Orders = Annotated[list[_Order], Field(max_length=MAX_TURNS)]


class NewChallenge(requests.Body):
    """What is asked for a new challenge."""

    title: Annotated[str, StringConstraints(max_length=80)] = ""
    mission: Annotated[str, StringConstraints(max_length=80)] = "sample"
    """The name of a mission of the package, or "random"."""
    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None = None
    """A mission as TOML instead of a name; it may extend one of the package, but no file."""
    game: GameName = "spaceship_commander"
    """Game of a random mission."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Seed of a random mission; the same seed gives the same mission."""
    hints: bool = False
    """Whether the solver tells pilots the order that it finds best."""


class BestFlight(BaseModel):
    """A pilot's best flight."""

    model_config = ConfigDict(extra="forbid")

    orders: _Orders
    turns: int
    rank: tuple[int, int, int]
    """See ``geo_patrol.flight.rank``: whether the mission was accomplished, turns of a race, points."""
    lost: bool
    """Whether the ship left the map."""

    @property
    def score(self) -> int:
        """Points."""
        return self.rank[2]

    @property
    def success(self) -> bool:
        """Whether the mission was accomplished."""
        return bool(self.rank[0])


class Pilot(BaseModel):
    """Somebody who flies; the secret only as a hash.

    Attributes:
        orders: orders of the flight in progress, or of the last one.
        num_flights: that have ended.
        best: best of the flights that have ended.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    secret_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    orders: _Orders = []
    num_flights: int = 0
    best: BestFlight | None = None


class SavedChallenge(BaseModel):
    """A challenge as it is saved."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    title: str
    mission: Mission
    best_known: BestKnown | None
    hints: bool = False
    """Whether pilots may ask for hints."""
    pilots: Annotated[list[Pilot], Field(max_length=MAX_PILOTS)] = []

    @field_serializer("mission")
    def _write_mission(self, mission: Mission) -> dict[str, Any]:
        return mission.to_dict()


MAX_CHALLENGES = 200
"""In memory."""
_MAX_RANDOM_SEED = 1_000_000
_MAX_STATES = 1_000
"""Width of the search for a good flight of a mission that is not of the package: about a second."""
_COLUMNS = ("rank", "name", "score", "turns", "accomplished", "lost", "flights", "orders")


class Challenge(Stored[SavedChallenge]):
    """A challenge. Pilots take back turns and fly again as often as they like; each flight that ends is ranked.

    Args:
        name: its identifier, which is in the link for everybody.
        saved: its mission and its pilots.
        folder: folder of its file.
    """

    @property
    def mission(self) -> Mission:
        """What everybody flies."""
        return self.saved.mission

    @property
    def best(self) -> BestKnown | None:
        """The best flight that is known."""
        return self.saved.best_known

    def learn(self, flight: Flight, *, is_proved: bool = False) -> bool:
        """Keep what a flight has reached if none is known that is better; return whether it was kept."""
        best = self.best
        if not flight.is_success or (best is not None and rank(flight) <= best.rank(self.mission)):
            return False
        self.saved.best_known = BestKnown(score=flight.score, turns=flight.turn, is_proved=is_proved)
        return True

    # Pilots

    def add_pilot(self, name: str, secret: str | None = None) -> str:
        """Let somebody fly; return the secret.

        Args:
            name: what the pilot is called.
            secret: one of the pilot's own making; whoever comes with it again has come already.

        Raises:
            ProtocolError: there are too many, or there is somebody of that name, or with that secret.
        """
        if secret is not None and any(requests.accepts(pilot.secret_hash, secret) for pilot in self.saved.pilots):
            if name_key(self.pilot_of(secret).name) != name_key(read_name(name)):
                raise ProtocolError("no_seat", "secret: it is somebody else's")
            return secret
        name = read_name(name, (pilot.name for pilot in self.saved.pilots))
        if len(self.saved.pilots) >= MAX_PILOTS:
            raise ProtocolError("too_many", f"at most {MAX_PILOTS} pilots fly a mission")
        secret = secret or secrets.token_urlsafe(24)
        self.saved.pilots.append(Pilot(name=name, secret_hash=requests.hash_secret(secret)))
        self.save()
        return secret

    def pilot_of(self, secret: str) -> Pilot:
        """Return the pilot with a secret.

        Raises:
            ProtocolError: nobody has it.
        """
        found = [pilot for pilot in self.saved.pilots if requests.accepts(pilot.secret_hash, secret)]
        if not found:
            raise ProtocolError("wrong_secret", "this secret belongs to no pilot of this mission")
        return found[0]

    def flight_of(self, pilot: Pilot) -> Flight:
        """Return the flight in progress, or the last one."""
        return Flight.from_orders(self.mission, pilot.orders)

    # Orders; each names the number of orders before it, so that one that is sent twice counts once

    def fly(self, pilot: Pilot, number: int, order: str) -> Flight:
        """Fly a turn; return the flight.

        Raises:
            ProtocolError: the flight is elsewhere.
            OrderError: the order cannot be read or is illegal.
        """
        flight = self.flight_of(pilot)
        if number == len(pilot.orders) - 1 and order == pilot.orders[number]:
            return flight
        _check_number(pilot, number)
        pilot.orders = [*pilot.orders, flight.fly(order).order]
        if flight.is_over:
            pilot.num_flights += 1
            if pilot.best is None or rank(flight) > pilot.best.rank:
                pilot.best = BestFlight(
                    orders=pilot.orders, turns=flight.turn, rank=rank(flight), lost=flight.ending == Ending.LEFT_MAP
                )
            self.learn(flight)
        self.save()
        return flight

    def take_back(self, pilot: Pilot, number: int, *, everything: bool) -> Flight:
        """Take back the last order, or all of them; return the flight.

        Raises:
            ProtocolError: the flight is elsewhere.
        """
        _check_number(pilot, number)
        pilot.orders = [] if everything else pilot.orders[:-1]
        self.save()
        return self.flight_of(pilot)

    # The ranking

    def ranking(self) -> list[dict[str, Any]]:
        """Return a row for each pilot, the best first; equal flights share a rank.

        Who has not ended a flight has none, nor who was lost in space without a point.
        """
        flown = sorted(
            ((pilot, pilot.best) for pilot in self.saved.pilots if pilot.best is not None),
            key=lambda pair: pair[1].rank,
            reverse=True,
        )
        ranks = [best.rank for _, best in flown]
        rows = [_row(pilot, ranks.index(best.rank) + 1, best) for pilot, best in flown]
        return [*rows, *(_row(pilot, None, None) for pilot in self.saved.pilots if pilot.best is None)]

    def results(self) -> str:
        """Return the ranking as CSV, with the orders of each best flight, which ``geo-patrol fly --orders`` takes."""
        orders = {pilot.name: "; ".join(pilot.best.orders) for pilot in self.saved.pilots if pilot.best is not None}
        rows = self.ranking()
        return requests.csv_text(_COLUMNS, ([*row.values(), orders.get(row["name"], "")] for row in rows))


def _row(pilot: Pilot, number: int | None, best: BestFlight | None) -> dict[str, Any]:
    return {
        "rank": None if best is None or (best.lost and best.score <= 0) else number,
        "name": pilot.name,
        "score": None if best is None else best.score,
        "turns": None if best is None else best.turns,
        "accomplished": best is not None and best.success,
        "lost": best is not None and best.lost,
        "flights": pilot.num_flights,
    }


def _check_number(pilot: Pilot, number: int) -> None:
    if number != len(pilot.orders):
        text = f"number = {number}: {len(pilot.orders)} orders have been flown; load the page again"
        raise ProtocolError("too_late" if number < len(pilot.orders) else "too_soon", text)


class ChallengeStore(Store[SavedChallenge, Challenge]):
    """The challenges of a server.

    Args:
        folder: folder of the server's files.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(
            folder / "flights",
            SavedChallenge,
            lambda name, saved: Challenge(name, saved, self.folder),
            "challenge",
            MAX_CHALLENGES,
        )
        for name, saved in list(self.read_all().items())[-MAX_CHALLENGES:]:
            self.items[name] = self._alive[name] = Challenge(name, saved, self.folder)

    def make_challenge(self, new: NewChallenge, mission: Mission | None = None) -> Challenge:
        """Return a new challenge. This takes a second for a mission that is not of the package, and may run in a thread.

        Args:
            new: what is asked for.
            mission: what is flown, instead of the mission that is asked for.

        Raises:
            ProtocolError: there is no such mission.
            ConfigError: the mission is wrong.
        """
        mission = mission or _make_mission(new)
        title = new.title or mission.title
        saved = SavedChallenge(title=title, mission=mission, best_known=_find_best(mission), hints=new.hints)
        return Challenge(secrets.token_urlsafe(8), saved, self.folder)


def _make_mission(new: NewChallenge) -> Mission:
    if new.scenario is None and new.mission == RANDOM:
        seed = secrets.randbelow(_MAX_RANDOM_SEED) if new.seed is None else new.seed
        mission = random_mission(np.random.default_rng(seed), game=new.game)
        return mission.model_copy(update={"title": f"Random mission {seed}"})
    return load_mission(requests.read_scenario("mission", new.mission, new.scenario, mission_names()))


def _find_best(mission: Mission) -> BestKnown | None:
    """Return the best flight that is known or found quickly; None if no flight is found that accomplishes the mission."""
    known = best_known(mission)
    if known is not None:
        return known
    found = solve(mission, max_states=_MAX_STATES)
    if not found.flight.is_success:
        return None
    return BestKnown(score=found.score, turns=found.flight.turn, is_proved=found.is_proved)


_MAP_TOP, _MAP_BOTTOM = 40.0, 46.0
"""Where the labels of endpoints above the map begin, and how far the numbers reach below the last row."""
_OFFSETS = (*DIRECTIONS, *LAUNCHES)
"""By order code: where an endpoint lies in relation to coasting, or to the planet."""


def challenge_record(challenge: Challenge) -> dict[str, Any]:
    """Return what stays of a challenge.

    Returns:
        ``title``; ``about``, the mission in words; ``rules``, headings with lines; ``scoring``, lines of
        the score sheet with what they are for; ``hints``, whether there are any; ``view``, left, top, width and height of
        the map; ``map``, its shapes; ``legend``, its marks and lines: what each means and its shapes, as
        ``scene.line_legend`` returns them.
    """
    mission = challenge.mission
    title = "" if challenge.saved.title == mission.title else f"{mission.title}. "
    *rules, scoring = rules_tabs(mission)
    return {
        "title": challenge.saved.title,
        "about": f"{title}{mission.game_title}, up to {mission.turns} turns. {_task(mission)}".strip(),
        "rules": rules,
        "scoring": scoring.lines,
        "hints": challenge.saved.hints,
        **_map_record(mission, {"where you can go": [scene.choice_mark((17, 0))]}),
    }


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
        ``number`` of its orders; ``status``, in words; ``over``; ``success``; ``result``, in words, "" while it goes on;
        ``ship``, where it is in the picture; ``steps``, the shapes of the steps of the last turn, the last ones show all;
        ``outlook``, those of the next coast; ``choices``, the legal orders; ``log``, a row for each turn, the latest
        first; ``points``, lines of the score sheet with their totals.
    """
    layout = scene.MapLayout(flight.mission)
    is_whole = flight.mission.is_probe or not flight.turn or flight.turns[-1].is_launch
    steps = (scene.FLOWN,) if is_whole else (scene.COASTED, scene.PULLED, scene.FLOWN)
    has_outlook = flight.mode in ("flying", "docked") and not flight.is_over
    return {
        "number": len(flight.order_codes),
        "status": _status(flight),
        "over": flight.is_over,
        "success": flight.is_success,
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
        ``challenge_record`` returns them; the rest as ``lesson_attempt_record`` does.
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
        "at": layout.at(end),
        "shapes": _shapes(layout, lambda drawing: scene.add_choice(drawing, layout, end)),
        "chosen": _shapes(layout, lambda drawing: scene.add_choice(drawing, layout, end, label)),
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


class Change(requests.SecretBody):
    """A change to a pilot's flight after a number of orders."""

    number: Annotated[int, Field(ge=0, le=MAX_TURNS)]


class NewOrder(Change):
    """An order."""

    order: Annotated[str, StringConstraints(max_length=40)]


class LessonOrder(requests.Body):
    """An order in a step of the guided first flight."""

    order: Annotated[str, StringConstraints(max_length=40)]


class FlightRoutes:
    """The routes of challenges and of the guided first flight. Everything that changes them runs in one thread.

    Args:
        folder: folder of the server's files.
        limits: what clients may ask for.
        quick: the thread in which pilots fly.
        slow: threads that open challenges, which takes a second.
    """

    def __init__(
        self, folder: Path, limits: requests.ClientLimits, quick: requests.FairThreads, slow: requests.FairThreads
    ) -> None:
        self.challenges = ChallengeStore(folder)
        self._limits, self._quick, self._slow = limits, quick, slow

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        base = "/api/flights/{name}"
        return [
            Route("/api/missions", _missions, methods=["GET"]),
            Route("/api/flight-lesson/{step:int}", self._step, methods=["GET"]),
            Route("/api/flight-lesson/{step:int}", self._attempt, methods=["POST"]),
            Route("/api/flights", self._open, methods=["POST"]),
            Route(base, self._show, methods=["GET"]),
            Route(f"{base}/ranking", self._ranking, methods=["GET"]),
            Route(f"{base}/ranking.csv", self._results, methods=["GET"]),
            Route(f"{base}/pilots", self._arrive, methods=["POST"]),
            Route(f"{base}/flight", self._flight, methods=["POST"]),
            Route(f"{base}/picture", self._picture, methods=["POST"]),
            Route(f"{base}/orders", self._fly, methods=["POST"]),
            Route(f"{base}/undo", partial(self._take_back, everything=False), methods=["POST"]),
            Route(f"{base}/again", partial(self._take_back, everything=True), methods=["POST"]),
            Route(f"{base}/hint", self._hint, methods=["POST"]),
        ]

    def _view(self, request: Request) -> tuple[Challenge, str]:
        """Return the challenge that somebody looks at, and the address."""
        site = requests.client_site(request)
        self._limits.take("views", site)
        return self.challenges.find(request.path_params["name"]), site

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

    # Challenges

    async def _open(self, request: Request) -> Response:
        new, site = await requests.read_body(request, NewChallenge), requests.client_site(request)
        self._limits.take("requests", site)
        self._limits.take("openings", site)

        def open_challenge() -> Challenge:
            opened = self.challenges.make_challenge(new)
            opened.write()
            return opened

        opened = await self._slow.run(site, open_challenge)
        self.challenges.keep(opened)
        return JSONResponse({"challenge": opened.id}, 201)

    async def _show(self, request: Request) -> Response:
        one, site = self._view(request)
        return JSONResponse(await self._quick.run(site, lambda: challenge_record(one)))

    async def _ranking(self, request: Request) -> Response:
        one, site = self._view(request)
        return JSONResponse(await self._quick.run(site, partial(_ranking_record, one)))

    async def _results(self, request: Request) -> Response:
        one, site = self._view(request)
        headers = {"content-disposition": 'attachment; filename="ranking.csv"'}
        return Response(await self._quick.run(site, one.results), media_type="text/csv; charset=utf-8", headers=headers)

    # Pilots

    async def _arrive(self, request: Request) -> Response:
        new, site = await requests.read_body(request, requests.Arrival), requests.client_site(request)
        self._limits.take("requests", site)
        one = self.challenges.find(request.path_params["name"])
        return JSONResponse({"secret": await self._quick.run(site, lambda: one.add_pilot(new.name, new.secret))}, 201)

    async def _flight(self, request: Request) -> Response:
        key = await requests.read_body(request, requests.SecretBody)
        return await self._answer(request, key, lambda one, pilot: one.flight_of(pilot))

    async def _picture(self, request: Request) -> Response:
        key = await requests.read_body(request, requests.SecretBody)
        one = self._owned(request, key.secret)
        flight = one.flight_of(one.pilot_of(key.secret))
        return JSONResponse({"svg": await self._quick.run(requests.client_site(request), flight.svg)})

    async def _fly(self, request: Request) -> Response:
        new = await requests.read_body(request, NewOrder)
        return await self._answer(request, new, lambda one, pilot: one.fly(pilot, new.number, new.order))

    async def _take_back(self, request: Request, *, everything: bool) -> Response:
        change = await requests.read_body(request, Change)
        return await self._answer(
            request, change, lambda one, pilot: one.take_back(pilot, change.number, everything=everything)
        )

    async def _hint(self, request: Request) -> Response:
        key = await requests.read_body(request, requests.SecretBody)
        one = self._owned(request, key.secret)
        flight = one.flight_of(one.pilot_of(key.secret))
        if not one.saved.hints or flight.is_over:
            raise ProtocolError("no_seat", "the flight is over" if one.saved.hints else "there are no hints here")
        site = requests.client_site(request)
        solution = await self._slow.run(site, partial(solve, flight, max_states=QUICK_STATES))
        return JSONResponse(await self._quick.run(site, lambda: _hint_record(one, flight, solution)))

    def _owned(self, request: Request, secret: str) -> Challenge:
        """Return the challenge of the address, for a pilot with a secret."""
        with self._limits.owner(request, secret):
            one = self.challenges.find(request.path_params["name"])
            one.pilot_of(secret)
            return one

    async def _answer(
        self, request: Request, key: requests.SecretBody, change: Callable[[Challenge, Pilot], Flight]
    ) -> Response:
        """Change the flight of the pilot with a secret; return it as it is then."""
        one = self._owned(request, key.secret)

        def run() -> dict[str, Any]:
            pilot = one.pilot_of(key.secret)  # an earlier change that could not be saved has replaced all of them
            return {"name": pilot.name, **flight_record(change(one, pilot), one.best)}

        return JSONResponse(await self._quick.run(requests.client_site(request), run))


def _hint_record(challenge: Challenge, flight: Flight, solution: Solution) -> dict[str, Any]:
    """Return the ``order`` that a search of some seconds finds best, and in a ``text`` what it leads to."""
    if challenge.learn(solution.flight, is_proved=solution.is_proved and not flight.turn):
        challenge.save()
    text, best = solution.summary, challenge.best
    if not flight.turn and best is not None and rank(solution.flight) < best.rank(challenge.mission):
        text = f"leads to {solution.reached}; a flight with {best.reached(challenge.mission)} is known"
    return {"order": flight.order_text(solution.flight.order_codes[flight.turn]), "text": text}


def _ranking_record(challenge: Challenge) -> dict[str, Any]:
    """Return the ``ranking``, and the ``best_known`` flight with ``score``, ``turns`` and ``is_proved``, or None."""
    best = challenge.best
    return {"ranking": challenge.ranking(), "best_known": None if best is None else best.model_dump()}


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
        ``scoring`` as ``challenge_record`` returns them.
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
