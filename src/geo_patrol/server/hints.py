"""What helps people at their browsers: the guided first game, hints, and warnings of danger to the own HVA.

All of it is computed in threads, where clients take turns.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from geo_patrol.browser.records import attempt_record, hint_record, num_steps, step_record
from geo_patrol.engine.state import SATELLITES
from geo_patrol.errors import optional_import
from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.server import requests
from geo_patrol.server.protocol import ProtocolError
from geo_patrol.server.tables import Table, TableStore
from geo_patrol.sessions.advice import Hint, find_hint, hva_choices, hva_threat
from geo_patrol.sessions.game_pages import danger_tab
from geo_patrol.sides import Side

with optional_import("server"):
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

_MAX_HINTS = 1_000
"""That are kept, in case somebody asks again."""
_NO_DANGER: dict[str, Any] = {"text": "", "lines": []}
_OrderTexts = Annotated[list[Annotated[str, StringConstraints(max_length=60)]], Field(max_length=SATELLITES)]


class Attempt(requests.Body):
    """What a player did in a step of the lesson: selected a satellite, or committed orders."""

    select: Annotated[str, StringConstraints(max_length=4)] | None = None
    orders: _OrderTexts = Field(default=[])


class HintRequest(requests.SecretBody):
    """The owner of a seat asks for a hint, or about danger."""

    orders: _OrderTexts = Field(default=[])
    """That he has entered so far."""
    turn: int | None = None
    """Of these orders, like ``phase``; None: the present one."""
    phase: Literal["movement", "engagement"] | None = None


class HintRoutes:
    """The routes of the guided first game, of hints and of warnings.

    Args:
        tables: the tables.
        limits: what clients may ask for.
        quick: threads for warnings and the lesson.
        slow: threads for hints, which take a second.
    """

    def __init__(
        self, tables: TableStore, limits: requests.Limits, quick: requests.FairThreads, slow: requests.FairThreads
    ) -> None:
        self._tables, self._limits, self._quick, self._slow = tables, limits, quick, slow
        self._hints: OrderedDict[tuple[str, Side], tuple[int, Hint]] = OrderedDict()

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/api/choices", self._choices, methods=["GET"]),
            Route("/api/lesson/{step:int}", self._step, methods=["GET"]),
            Route("/api/lesson/{step:int}", self._attempt, methods=["POST"]),
            Route("/api/tables/{table}/danger", self._danger, methods=["POST"]),
            Route("/api/tables/{table}/hint", self._hint, methods=["POST"]),
        ]

    async def _choices(self, _request: Request) -> Response:
        agents = requests.agent_choices(self._tables.own_agents)
        return JSONResponse(
            {"games": requests.game_choices(), "opponents": requests.opponent_choices(), "agents": agents}
        )

    # The guided first game

    async def _step(self, request: Request) -> Response:
        index, site = _step_index(request), requests.client_site(request)
        self._limits.take("views", site)
        return JSONResponse(await self._quick.run(site, lambda: step_record(index)))

    async def _attempt(self, request: Request) -> Response:
        index, attempt = _step_index(request), await requests.read_body(request, Attempt)
        site = requests.client_site(request)
        self._limits.take("views", site)
        return JSONResponse(await self._quick.run(site, lambda: attempt_record(index, attempt.select, attempt.orders)))

    # Tables

    async def _danger(self, request: Request) -> Response:
        table, side, asked = await self._read(request)
        game = table.game
        # The page asks while a player is still choosing. A commit, which takes another way, may come before the question.
        if _has_ordered(table, side) or asked.turn not in (None, game.turn) or asked.phase not in (None, game.phase):
            return JSONResponse(_NO_DANGER)
        orders = table.read_orders(side, asked.orders)
        site = requests.client_site(request)
        return JSONResponse(await self._quick.run(site, lambda: _danger_record(game, side, orders)))

    async def _hint(self, request: Request) -> Response:
        table, side, _ = await self._read(request)
        if _has_ordered(table, side):
            raise ProtocolError("too_late", f"{side} has nothing to order now")
        if not table.saved.hints:
            raise ProtocolError("no_seat", "there are no hints at this table")
        game, num_events = table.game, table.num_events
        known = self._hints.get((table.id, side))
        if known is None or known[0] != num_events:
            known = num_events, await self._slow.run(requests.client_site(request), lambda: find_hint(game, side))
            self._hints[table.id, side] = known
            if len(self._hints) > _MAX_HINTS:
                self._hints.popitem(last=False)
        return JSONResponse(hint_record(game, side, table.scenes.layout, known[1]))

    async def _read(self, request: Request) -> tuple[Table, Side, HintRequest]:
        """Return the table, the side that asks, and what it asks."""
        asked, name = await requests.read_body(request, HintRequest), request.path_params["table"]

        def find(secret: str) -> tuple[Table, Side]:
            table = self._tables.items.get(name)  # who asks is there
            if table is None:
                raise self._tables.missing(name)
            return table, table.side_of(secret)

        return *self._limits.owner(request, asked.secret, find), asked


def _step_index(request: Request) -> int:
    number: int = request.path_params["step"]
    if not 1 <= number <= num_steps():
        raise ProtocolError("bad_message", f"step must be 1 to {num_steps()}, got {number}")
    return number - 1


def _has_ordered(table: Table, side: Side) -> bool:
    return table.is_over or side in table.submitted


def _danger_record(game: Game, side: Side, orders: Sequence[Order]) -> dict[str, Any]:
    """Return ``text``, how the HVA can be attacked next with these orders, "" if it cannot, and ``lines`` about it."""
    threat = hva_threat(game, side, orders)
    if threat is None:
        return _NO_DANGER
    moves = hva_choices(game, side, orders) if game.phase == "movement" else ()
    return {"text": threat.texts[0], "lines": danger_tab(threat, moves).lines}
