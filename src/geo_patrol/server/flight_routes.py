"""The routes of challenges: pilots come, fly, take turns back, and see the ranking."""

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from geo_patrol.config.preset_files import mission_names
from geo_patrol.errors import optional_import
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.mission import MAX_TURNS, Mission, load_mission
from geo_patrol.flight.text import goals_text
from geo_patrol.server.bodies import Body, read_body
from geo_patrol.server.flight_models import NewChallenge, Pilot
from geo_patrol.server.flight_records import challenge_record, flight_record
from geo_patrol.server.flights import Challenge, Challenges
from geo_patrol.server.workers import Worker

with optional_import("server"):
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

_MAX_WAITING, _MAX_OPENING = 200, 4
"""Requests that wait for a thread: of pilots, and for a new challenge."""


class NewPilot(Body):
    """What somebody says on coming."""

    name: Annotated[str, StringConstraints(max_length=200)]


class Key(Body):
    """The secret of a pilot."""

    secret: Annotated[str, StringConstraints(max_length=80)]


class Change(Key):
    """A change to a pilot's flight after a number of orders."""

    number: Annotated[int, Field(ge=0, le=MAX_TURNS)]


class NewOrder(Change):
    """An order."""

    order: Annotated[str, StringConstraints(max_length=40)]


class FlightRoutes:
    """The routes of challenges. Everything that changes them runs in one thread.

    Args:
        folder: of the server's files.
        check_write: counts a request of an address, and refuses one too many.
        check_opening: counts a challenge that an address opens as well.
    """

    def __init__(
        self, folder: Path, check_write: Callable[[Request], None], check_opening: Callable[[Request], None]
    ) -> None:
        self.challenges = Challenges(folder)
        self._check_write, self._check_opening = check_write, check_opening
        self._worker, self._opener = Worker("flights", _MAX_WAITING), Worker("challenges", _MAX_OPENING)

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        base = "/api/flights/{name}"
        return [
            Route("/api/missions", _missions, methods=["GET"]),
            Route("/api/flights", self._open, methods=["POST"]),
            Route(base, self._show, methods=["GET"]),
            Route(f"{base}/ranking", self._ranking, methods=["GET"]),
            Route(f"{base}/ranking.csv", self._results, methods=["GET"]),
            Route(f"{base}/pilots", self._arrive, methods=["POST"]),
            Route(f"{base}/flight", self._flight, methods=["POST"]),
            Route(f"{base}/orders", self._fly, methods=["POST"]),
            Route(f"{base}/undo", self._undo, methods=["POST"]),
            Route(f"{base}/again", self._again, methods=["POST"]),
        ]

    def close(self) -> None:
        """End the threads when they are idle."""
        self._worker.close()
        self._opener.close()

    def _find(self, request: Request) -> Challenge:
        one = self.challenges.find(request.path_params["name"])
        one.limit.take(asyncio.get_running_loop().time())
        return one

    async def _open(self, request: Request) -> Response:
        new = await read_body(request, NewChallenge)
        self._check_opening(request)
        opened = await self._opener.run(lambda: self.challenges.open_challenge(new))
        return JSONResponse({"challenge": opened.id}, 201)

    async def _show(self, request: Request) -> Response:
        one = self._find(request)
        return JSONResponse(await self._worker.run(lambda: challenge_record(one)))

    async def _ranking(self, request: Request) -> Response:
        one = self._find(request)
        return JSONResponse({"ranking": await self._worker.run(one.ranking)})

    async def _results(self, request: Request) -> Response:
        one = self._find(request)
        headers = {"content-disposition": 'attachment; filename="ranking.csv"'}
        return Response(await self._worker.run(one.results), media_type="text/csv; charset=utf-8", headers=headers)

    # Pilots

    async def _arrive(self, request: Request) -> Response:
        self._check_write(request)
        one, new = self._find(request), await read_body(request, NewPilot)
        return JSONResponse({"secret": await self._worker.run(lambda: one.add_pilot(new.name))}, 201)

    async def _flight(self, request: Request) -> Response:
        one, key = self._find(request), await read_body(request, Key)
        return await self._answer(one, key, one.flight_of)

    async def _fly(self, request: Request) -> Response:
        one, new = self._find(request), await read_body(request, NewOrder)
        return await self._answer(one, new, lambda pilot: one.fly(pilot, new.number, new.order))

    async def _undo(self, request: Request) -> Response:
        one, change = self._find(request), await read_body(request, Change)
        return await self._answer(one, change, lambda pilot: one.take_back(pilot, change.number, everything=False))

    async def _again(self, request: Request) -> Response:
        one, change = self._find(request), await read_body(request, Change)
        return await self._answer(one, change, lambda pilot: one.take_back(pilot, change.number, everything=True))

    async def _answer(self, one: Challenge, key: Key, change: Callable[[Pilot], Flight]) -> Response:
        """Change the flight of the pilot with a secret; return it as it is then."""

        def run() -> dict[str, Any]:
            pilot = one.pilot_of(key.secret)
            return {"name": pilot.name, **flight_record(change(pilot))}

        return JSONResponse(await self._worker.run(run))


async def _missions(_request: Request) -> Response:
    return JSONResponse({"missions": _mission_choices()})


@cache
def _mission_choices() -> list[tuple[str, str, str]]:
    """Return names, titles and tasks of the missions, those of Planetary Probe first, which are the easiest."""
    missions = {name: load_mission(name) for name in mission_names()}
    names = sorted(missions, key=lambda name: (not missions[name].is_probe, name))
    return [(name, f"{missions[name].game_title}: {missions[name].title}", _task(missions[name])) for name in names]


def _task(mission: Mission) -> str:
    goals = goals_text(mission)
    return f"{mission.description} {goals}." if goals else mission.description
