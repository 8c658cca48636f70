"""The routes of classes: pupils come and wait for their tables, the teacher watches, pauses and takes the results."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from pydantic import StringConstraints

from geo_patrol.errors import optional_import
from geo_patrol.server.bodies import Body, read_body
from geo_patrol.server.class_models import NewClass
from geo_patrol.server.classes import Classes, SchoolClass
from geo_patrol.server.hall import Hall
from geo_patrol.server.limits import MessageLimit
from geo_patrol.server.table_server import TableServer

with optional_import("server"):
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

_OPENINGS = (1.0, 10)
"""A second, and at once, of new classes."""


class Arrival(Body):
    """What a pupil says on coming."""

    name: Annotated[str, StringConstraints(max_length=200)]


class Key(Body):
    """The secret of a pupil or of the teacher."""

    secret: Annotated[str, StringConstraints(max_length=80)]


class Pause(Key):
    """Whether the clocks stand still, of a table or of all."""

    paused: bool
    table: Annotated[str, StringConstraints(max_length=40)] | None = None


class ClassRoutes:
    """The routes of classes.

    Args:
        hall: opens their tables.
        server_of: returns the server of a table.
        check_opening: counts a class that an address opens, and refuses one too many.
    """

    def __init__(
        self, hall: Hall, server_of: Callable[[str], TableServer], check_opening: Callable[[Request], None]
    ) -> None:
        self.classes, self._server_of, self._check_opening = Classes(hall), server_of, check_opening
        self._limit = MessageLimit(*_OPENINGS)

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        base = "/api/classes/{name}"
        return [
            Route("/api/classes", self._open, methods=["POST"]),
            Route(f"{base}/pupils", self._arrive, methods=["POST"]),
            Route(f"{base}/place", self._seat_of, methods=["POST"]),
            Route(f"{base}/again", self._again, methods=["POST"]),
            Route(f"{base}/overview", self._overview, methods=["POST"]),
            Route(f"{base}/agent", self._seat_with_agent, methods=["POST"]),
            Route(f"{base}/pause", self._pause, methods=["POST"]),
            Route(f"{base}/results", self._results, methods=["POST"]),
        ]

    def _find(self, request: Request) -> SchoolClass:
        one = self.classes.find(request.path_params["name"])
        one.limit.take(asyncio.get_running_loop().time())
        return one

    def _start(self, one: SchoolClass) -> None:
        """Let the tables that were opened be played."""
        for table in one.tables:
            self._server_of(table.id)

    async def _open(self, request: Request) -> Response:
        new = await read_body(request, NewClass)
        self._check_opening(request)
        self._limit.take(asyncio.get_running_loop().time())
        opened, secret = self.classes.open_class(new)
        return JSONResponse({"class": opened.id, "secret": secret}, 201)

    # Pupils

    async def _arrive(self, request: Request) -> Response:
        one = self._find(request)
        secret = one.add_pupil((await read_body(request, Arrival)).name)
        self._start(one)
        return JSONResponse({"secret": secret}, 201)

    async def _seat_of(self, request: Request) -> Response:
        one = self._find(request)
        number = one.pupil_of((await read_body(request, Key)).secret)
        if one.saved.pupils[number].is_waiting:  # a table may have become free
            one.seat_if_possible()
            self._start(one)
        return JSONResponse(one.seat_record(number))

    async def _again(self, request: Request) -> Response:
        one = self._find(request)
        number = one.pupil_of((await read_body(request, Key)).secret)
        one.play_again(number)
        self._start(one)
        return JSONResponse(one.seat_record(number))

    # The teacher

    async def _taught(self, request: Request) -> SchoolClass:
        """Return the class of a request by its teacher."""
        one = self._find(request)
        one.check_teacher((await read_body(request, Key)).secret)
        return one

    async def _overview(self, request: Request) -> Response:
        return JSONResponse((await self._taught(request)).overview())

    async def _seat_with_agent(self, request: Request) -> Response:
        one = await self._taught(request)
        try:
            one.seat_pupils(with_agent=True)
        finally:  # also those that were opened before there were too many
            one.save()
            self._start(one)
        return JSONResponse(one.overview())

    async def _pause(self, request: Request) -> Response:
        one, asked = self._find(request), await read_body(request, Pause)
        one.check_teacher(asked.secret)
        for table in one.pause(asked.table, is_paused=asked.paused):
            self._server_of(table.id).pause(is_paused=asked.paused)
        return JSONResponse(one.overview())

    async def _results(self, request: Request) -> Response:
        one = await self._taught(request)
        return Response(one.results(str(request.base_url)), media_type="text/csv; charset=utf-8")
