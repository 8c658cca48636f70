"""What helps people at their browsers: the guided first game, hints, and warnings of danger to the own HVA.

All of it is computed in threads, where clients take turns.
"""

import asyncio
import gzip
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from geo_patrol.agents import make_agent
from geo_patrol.base.errors import show
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.presets import load_config
from geo_patrol.engine.state import SATELLITES
from geo_patrol.game.game import Game
from geo_patrol.game.notation import Order, short_name
from geo_patrol.play.advice import Hint, find_hint, hva_threat, loss_probability
from geo_patrol.play.analysis import analyse
from geo_patrol.play.live import LiveGame
from geo_patrol.web import requests
from geo_patrol.web.protocol import ProtocolError, Screen
from geo_patrol.web.records import analysis_record, attempt_record, game_record, hint_record, num_steps, step_record
from geo_patrol.web.tables import GivenHint, Table, TableStore

_MAX_HINTS = 1_000
"""That are kept, in case somebody asks again."""
_MAX_ANALYSES = 60
"""That are kept, finished or not; each takes some seconds."""
_ANALYSIS_PATIENCE = 10.0
"""Seconds after which an analysis that nobody asks about any more is given up; pages ask every second."""
_DEMO_SEED = 4
_LOG = logging.getLogger("geo_patrol.web")
_NO_DANGER: dict[str, Any] = {"attackers": []}
_OrderTexts = Annotated[list[Annotated[str, StringConstraints(max_length=60)]], Field(max_length=SATELLITES)]


class Attempt(requests.Body):
    """What a player did in a step of the lesson: selected a satellite, or committed orders."""

    select: Annotated[str, StringConstraints(max_length=4)] | None = None
    orders: _OrderTexts = Field(default=[])
    screen: Screen = "wide"


class HintRequest(requests.SecretBody):
    """The owner of a seat asks for a hint, or about danger."""

    orders: _OrderTexts = Field(default=[])
    """That he has entered so far."""
    turn: int | None = None
    """Of these orders, like ``phase``; None: the present one."""
    phase: Literal["movement", "engagement"] | None = None
    screen: Screen = "wide"
    """On which a hint is drawn."""


class HintRoutes:
    """The routes of the guided first game, of hints and of warnings.

    Args:
        tables: the tables.
        look_up: returns a table to read, whether it is in memory or not, by its name and the address that asks.
        write: does what is written to a table's file.
        limits: what clients may ask for.
        quick: threads for warnings and the lesson.
        slow: threads for hints, which take a second.
    """

    def __init__(
        self,
        tables: TableStore,
        look_up: Callable[[str, str], Awaitable[Table]],
        write: Callable[[Table, Callable[[], None]], Awaitable[None]],
        limits: requests.ClientLimits,
        quick: requests.FairThreads,
        slow: requests.FairThreads,
    ) -> None:
        self._tables, self._look_up, self._write = tables, look_up, write
        self._limits, self._quick, self._slow = limits, quick, slow
        self._hints: OrderedDict[tuple[str, Side], tuple[int, Hint]] = OrderedDict()
        self._analyses: OrderedDict[tuple[str, Side], dict[Screen, dict[str, Any]] | None] = OrderedDict()
        self._asked: dict[tuple[str, Side], float] = {}
        self._running: set[asyncio.Task[None]] = set()

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/api/choices", self._choices, methods=["GET"]),
            Route("/api/demo", self._demo, methods=["GET"]),
            Route("/api/lesson/{step:int}", self._step, methods=["GET"]),
            Route("/api/lesson/{step:int}", self._attempt, methods=["POST"]),
            Route("/api/tables/{table}/analysis/{side}", self._analysis, methods=["GET"]),
            Route("/api/tables/{table}/danger", self._danger, methods=["POST"]),
            Route("/api/tables/{table}/hint", self._hint, methods=["POST"]),
        ]

    def close(self) -> None:
        """Give up what is being analysed."""
        self._asked.clear()
        for job in self._running:
            job.cancel()

    async def _choices(self, _request: Request) -> Response:
        agents = requests.agent_choices(self._tables.own_agents)
        return JSONResponse({"games": requests.game_choices(), "levels": requests.level_choices(), "agents": agents})

    async def _demo(self, request: Request) -> Response:
        """Return a game for the start page, compressed."""
        site = requests.client_site(request)
        self._limits.take("views", site)
        content = await self._slow.run(site, _demo_content)
        return Response(content, media_type="application/json", headers={"content-encoding": "gzip"})

    # The guided first game

    async def _step(self, request: Request) -> Response:
        index, screen = requests.step_index(request, num_steps()), _screen(request)
        site = requests.client_site(request)
        self._limits.take("views", site)
        return JSONResponse(await self._quick.run(site, lambda: step_record(index, is_narrow=screen == "narrow")))

    async def _attempt(self, request: Request) -> Response:
        index, attempt = requests.step_index(request, num_steps()), await requests.read_body(request, Attempt)
        site = requests.client_site(request)
        self._limits.take("views", site)
        is_narrow = attempt.screen == "narrow"
        run = partial(attempt_record, index, attempt.select, attempt.orders, is_narrow=is_narrow)
        return JSONResponse(await self._quick.run(site, run))

    # Tables

    async def _danger(self, request: Request) -> Response:
        table, side, asked = await self._read(request)
        game = table.game
        # The page asks while a player is still choosing. A commit, which takes another way, may come before the question.
        if _has_ordered(table, side) or asked.turn not in (None, game.turn) or asked.phase not in (None, game.phase):
            return JSONResponse(_NO_DANGER)
        orders, game = table.read_orders(side, asked.orders), game.seen_by(side)
        site = requests.client_site(request)
        return JSONResponse(await self._quick.run(site, lambda: _danger_record(game, side, orders)))

    async def _hint(self, request: Request) -> Response:
        table, side, asked = await self._read(request)
        if _has_ordered(table, side):
            raise ProtocolError("too_late", "you have nothing to order now")
        if not table.saved.hints:
            raise ProtocolError("no_seat", "there are no hints at this table")
        game, num_events = table.game.seen_by(side), table.num_events
        known = self._hints.get((table.id, side))
        if known is None or known[0] != num_events:
            known = num_events, await self._slow.run(requests.client_site(request), lambda: find_hint(game, side))
            self._hints[table.id, side] = known
            if len(self._hints) > _MAX_HINTS:
                self._hints.popitem(last=False)
        proposed = [str(order) for order in known[1].orders]
        given = GivenHint(side=side, phases=num_events, orders=proposed)
        if given not in table.saved.hinted:
            await self._write(table, partial(table.note_hint, given))
        draw = partial(hint_record, game, side, table.scenes[asked.screen].layout, known[1])
        return JSONResponse(await self._quick.run(requests.client_site(request), draw))

    async def _analysis(self, request: Request) -> Response:
        """Return the analysis of a game that is over as far as it has come; the first request begins it."""
        site, name, side = requests.client_site(request), request.path_params["table"], request.path_params["side"]
        screen = _screen(request)
        self._limits.take("views", site)
        table = await self._look_up(name, site)
        if side not in SIDES:
            raise ProtocolError("bad_message", f"side must be alpha or bravo, got {show(side)}")
        if not table.is_over:
            raise ProtocolError("too_soon", "the game is not over: its analysis would be advice")
        key = table.id, side
        self._asked[key] = time.monotonic()
        if key not in self._analyses:
            while len(self._analyses) >= _MAX_ANALYSES:
                old, _ = self._analyses.popitem(last=False)
                self._asked.pop(old, None)
            self._analyses[key] = None
            self._running.add(job := asyncio.create_task(self._analyse(key, table, site)))
            job.add_done_callback(self._running.discard)
        found = self._analyses.get(key)  # none any more if it was given up
        nothing = {"done": 0, "total": 1, "chances": [], "moments": [], "best": None, "luck": None, "failed": False}
        return JSONResponse(nothing if found is None else nothing | found[screen])

    async def _analyse(self, key: tuple[str, Side], table: Table, site: str) -> None:
        timeline = table.live.timeline

        def run() -> None:
            for analysis in analyse(timeline, key[1], table.proposed(key[1])):
                if time.monotonic() - self._asked.get(key, 0.0) > _ANALYSIS_PATIENCE:  # whoever asked has gone
                    self._asked.pop(key, None)
                    self._analyses.pop(key, None)
                    return
                self._analyses[key] = {
                    screen: analysis_record(timeline, key[1], analysis, table.scenes[screen].layout)
                    for screen in get_args(Screen)
                }

        try:
            await self._slow.run(site, run)
        except ProtocolError:  # too much waits for the threads: the next request begins it again
            self._asked.pop(key, None)
            self._analyses.pop(key, None)
        except Exception:
            _LOG.exception("the analysis of table %s failed", table.id)
            self._analyses[key] = {screen: {"done": 1, "failed": True} for screen in get_args(Screen)}

    async def _read(self, request: Request) -> tuple[Table, Side, HintRequest]:
        """Return the table, the side that asks, and what it asks."""
        asked, name = await requests.read_body(request, HintRequest), request.path_params["table"]
        with self._limits.owner(request, asked.secret):
            table = self._tables.items.get(name)  # who asks is there
            if table is None:
                raise self._tables.missing(name)
            return table, table.side_of(asked.secret), asked


@cache
def _demo_content() -> bytes:
    """Return a game of two of the better levels, drawn, as compressed JSON."""
    agents = make_agent("level:hubble"), make_agent("level:meteosat")
    live = LiveGame(load_config("geo_patrol"), agents, _DEMO_SEED)
    while not live.is_over:
        live.advance()
    return gzip.compress(json.dumps(game_record(live.timeline, live.title), separators=(",", ":")).encode())


def _screen(request: Request) -> Screen:
    """Return for which screen a request asks for drawings; the wide one by default."""
    screen = request.query_params.get("screen", "wide")
    for known in get_args(Screen):
        if screen == known:
            return known  # type: ignore[no-any-return]
    raise ProtocolError("bad_message", f"screen must be wide or narrow, got {show(screen)}")


def _has_ordered(table: Table, side: Side) -> bool:
    return table.is_over or side in table.submitted


def _danger_record(game: Game, side: Side, orders: Sequence[Order]) -> dict[str, Any]:
    """Return how the HVA can be attacked next with these orders.

    Returns:
        ``phase``; ``attackers``, who can attack; ``lost``, the percentage with which it is lost if all of them do, after a
        movement without guards, otherwise with those ordered; ``guarding``, who is ordered to guard; ``able``, who can;
        ``points`` that are lost with it.
    """
    threat = hva_threat(game, side, orders)
    if threat is None:
        return _NO_DANGER
    is_engagement = game.phase == "engagement"
    lost = loss_probability(game, side, orders, threat) if is_engagement else threat.probability
    return {
        "phase": game.phase,
        "attackers": [short_name(one.order.satellite) for one in threat.attacks],
        "lost": round(100 * lost),
        "guarding": [short_name(order.satellite) for order in orders if order.action == "guard"],
        "able": [short_name(one.order.satellite) for one in threat.guards],
        "points": threat.points,
    }
