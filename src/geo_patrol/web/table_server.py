"""Connections to a table, and the task that plays its phases.

Agents decide, pictures are drawn and files are written in threads, for which the event loop does not wait.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from pydantic import BaseModel

from geo_patrol.base.errors import AgentError, GeoPatrolError
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.play.text_game import prompt_text
from geo_patrol.web import protocol
from geo_patrol.web.store import RETRY_SECONDS
from geo_patrol.web.tables import Table, submit

MAX_QUEUED = 200
"""Messages that wait for a slow client, before its connection is closed."""
MAX_FAILURES = 3
"""How often in a row an agent may fail at a phase before it loses the game."""
FAILURE_SECONDS = 1.0
"""Before a phase is tried again."""
_NOT_SAVED = (
    "the server could not save the phase, its disk may be full: your orders are not taken, send them again later"
)
_LOG = logging.getLogger("geo_patrol.web")


class Connection:
    """A client at a table.

    Args:
        side: whose seat it has; None watches.
        screen: what it draws on if it is a browser that draws.
        text: whether it plays by text.

    Attributes:
        queue: messages to it; None ends the connection.
        is_behind: whether it is still receiving the past of the game, before anything else.
        task: sends it the past.
    """

    def __init__(self, side: Side | None, screen: protocol.Screen | None, *, text: bool) -> None:
        self.side, self.screen, self.text = side, screen, text
        self.queue: asyncio.Queue[str | None] = asyncio.Queue(MAX_QUEUED)
        self.is_open = self.is_behind = True
        self.task: asyncio.Task[None] | None = None

    def send(self, message: BaseModel | str | None) -> None:
        """Send a message, encoded or not; a client that does not take its messages is disconnected, and may resume."""
        if not self.is_open:
            return
        if message is None or self.queue.full():
            self.is_open = False
            while self.queue.full():
                self.queue.get_nowait()
                self.queue.task_done()
            self.queue.put_nowait(None)
            return
        self.queue.put_nowait(message if isinstance(message, str) else message.model_dump_json())


Run: TypeAlias = Callable[[Callable[[], None]], Awaitable[None]]
"""Runs a function in a worker thread."""


class TableServer:
    """A table with its connections.

    Args:
        table: the table.
        run: runs a phase.
        draw: draws for a browser.
        write: does what is written to the table's file.
        is_own: whether only the operator plays, who may read what an agent says that fails; its kind is told to others.

    Attributes:
        connections: connections of its clients.
    """

    def __init__(self, table: Table, run: Run, draw: Run, write: Run, *, is_own: bool = False) -> None:
        self.table, self._run, self._draw, self._write, self._is_own = table, run, draw, write, is_own
        self.connections: list[Connection] = []
        self._changed = asyncio.Event()
        self._drawing = asyncio.Lock()  # of several who come together, the first one draws
        self._retry_at = 0.0  # until then no orders are taken: a phase could not be saved
        self._task = asyncio.create_task(self._play())

    def cancel(self) -> None:
        """End the task and all connections."""
        self._task.cancel()
        connections, self.connections = self.connections, []
        self._note_attendance()
        for connection in connections:
            connection.send(None)

    async def close(self) -> None:
        """End the task and all connections, and wait for the task."""
        self.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def join(self, hello: protocol.Hello) -> Connection:
        """Connect a client; of two connections to a seat the later one stays.

        Raises:
            ProtocolError: the secret opens no seat, or a new name cannot be saved.
        """
        table = self.table
        if hello.secret is None and table.hides_enemies and not table.is_over:
            raise protocol.ProtocolError("wrong_secret", "enemies are hidden in this game: watch it when it is over")
        side = None if hello.secret is None else table.side_of(hello.secret)
        if side is not None and hello.name is not None and table.new_name(side, hello.name) is not None:
            async with table.changing():
                side = table.side_of(hello.secret or "")
                await self._write(partial(table.rename, side, hello.name))
        if side is not None:
            self._end_seat(side)
            table.connected.add(side)
        connection = Connection(side, hello.screen if hello.scene else None, text=hello.text)
        self.connections.append(connection)
        self._note_attendance()
        self.notify()
        self._bring_up(connection, table.num_known(hello.last_event), is_new=True)
        return connection

    def _bring_up(self, connection: Connection, last_event: int, *, is_new: bool = False) -> None:
        """Send a client what follows an event before anything else, drawn in a thread for a browser."""
        connection.is_behind = True
        connection.task = asyncio.create_task(self._catch_up(connection, last_event, is_new=is_new))

    async def _catch_up(self, connection: Connection, last: int, *, is_new: bool) -> None:
        """Send a client the game after an event, a page after the other, and then what it is to do."""
        table, side, screen = self.table, connection.side, connection.screen
        is_welcome = is_new
        while connection.is_behind:
            try:
                await self._draw_page(last, screen, side)
            except protocol.ProtocolError as error:  # too much is being drawn
                connection.send(error.message)
                connection.send(None)
                return
            events = table.history(last + 1, screen, side)
            if is_welcome:
                connection.send(table.welcome(side, last, screen))
            elif is_new and events:
                connection.send(protocol.History(events=events))
            else:
                for event in events:
                    connection.send(event)
            is_welcome, last = False, last + len(events)
            connection.is_behind = last < table.num_events
            if connection.is_behind:
                await connection.queue.join()  # until the client has taken the page
        connection.send(self.status())
        self._send_turn(connection)

    async def _draw_page(self, last: int, screen: protocol.Screen | None, side: Side | None) -> None:
        """Draw the page after an event for a browser, with what its side may order next."""
        while screen is not None and not self.table.is_drawn(last, screen, side):
            async with self._drawing:
                await self._draw(partial(self.table.draw_page, last, screen, side))

    def _note_attendance(self) -> None:
        """Let the clock run when the first one comes, and stand still when the last one goes."""
        table = self.table
        if table.is_attended != bool(self.connections):
            table.hold_clock(self._now())
            table.is_attended = bool(self.connections)
        table.last_used = time.monotonic()

    def depart(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        if connection.task is not None:
            connection.task.cancel()
        if connection in self.connections:
            self.connections.remove(connection)
            if connection.side is not None:
                self.table.connected.discard(connection.side)
            self._note_attendance()
            self.notify()

    async def receive(self, connection: Connection, message: protocol.ClientMessage) -> None:
        """Handle a message of a client.

        Raises:
            ProtocolError: it is refused.
        """
        side = connection.side
        if isinstance(message, protocol.Ping):
            connection.send(protocol.Pong(number=message.number))
        elif isinstance(message, protocol.Hello):
            raise protocol.ProtocolError("bad_message", "hello: it is only the first message of a connection")
        elif side is None:
            raise protocol.ProtocolError("wrong_secret", "who watches gives no orders")
        elif isinstance(message, protocol.Leave):
            async with self.table.changing():
                await self._write(partial(self.table.leave_seat, side))
                self._end_seat(side)
                self._note_attendance()
                self.notify()
        elif isinstance(message, protocol.Resign | protocol.Draw):
            async with self.table.changing():
                await self._settle(side, message)
        elif self._now() < self._retry_at:
            raise protocol.ProtocolError("not_saved", _NOT_SAVED, self._retry_at - self._now())
        else:
            is_new = side not in self.table.submitted
            orders = submit(self.table, side, message)
            connection.send(
                protocol.Accepted(game=orders.game, turn=orders.turn, phase=orders.phase, orders=orders.orders)
            )
            if is_new and self.table.wait_seconds(self._now()) == 0.0 and len(self.table.people) > 1:
                self._changed.set()  # the event that comes at once says it as well
            elif is_new:  # nobody else gets messages for orders that come again
                self.notify()

    async def _settle(self, side: Side, message: protocol.Resign | protocol.Draw) -> None:
        """Let a side resign or offer a draw; nothing happens after the end."""
        table = self.table
        if table.is_over:
            return
        if isinstance(message, protocol.Resign):
            await self._write(partial(table.resign, side))
        else:
            await self._write(partial(table.offer_draw, side, is_offered=message.offer))
        if table.is_over:
            self._send_events(table.num_events)
        self.notify()

    def _end_seat(self, side: Side) -> None:
        for other in [one for one in self.connections if one.side == side]:
            self.connections.remove(other)
            other.send(protocol.Left())
            other.send(None)

    def refresh(self) -> None:
        """Let everybody know of a new name or seat, or that a teacher has paused, continued or stopped the game."""
        table = self.table
        if table.is_still:
            table.restart_clock()
        if table.saved.is_stopped:
            for side in table.people:
                self._end_seat(side)
            self._note_attendance()
        self.notify()
        if not table.is_still:
            for connection in self.connections:  # who was refused before orders now
                self._send_turn(connection)

    def notify(self) -> None:
        """Send the status to everybody, after a change."""
        self._changed.set()
        status = self.status().model_dump_json()  # once for all of them
        for connection in self.connections:
            if not connection.is_behind:
                connection.send(status)

    def status(self) -> protocol.Status:
        """Return who is there and who has ordered."""
        table = self.table
        present = {*table.connected, *(side for side in SIDES if side not in table.people)}
        return protocol.Status(
            turn=table.game.turn,
            phase="drift" if table.is_over else table.game.phase,
            names=table.names,
            submitted=[side for side in SIDES if side in table.submitted],
            connected=[side for side in SIDES if side in present],
            seconds_left=table.seconds_left(self._now()),
            watching=sum(connection.side is None for connection in self.connections),
            paused=(table.saved.is_paused and not table.is_over) or table.saved.is_stopped,
            fault=table.fault,
            people=table.people,
            draw_offered=[side for side in SIDES if side in table.draw_offered],
            went_back=table.went_back,
        )

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _send_turn(self, connection: Connection) -> None:
        if connection.side is None or connection.is_behind or self.table.is_over:
            return
        last = self.table.num_events
        if connection.screen is not None and not self.table.is_drawn(last, connection.screen, connection.side):
            self._bring_up(connection, last)
            return
        turn = self.table.your_turn(connection.side, self._now(), connection.screen)
        if connection.text:
            turn = turn.model_copy(
                update={"text": prompt_text(self.table.game, connection.side, self.table.live.timeline.phases[-1:])}
            )
        connection.send(turn)

    async def _play(self) -> None:
        """Play phases as soon as all orders are in, or the time is up."""
        table, failures = self.table, 0
        while not table.is_over:
            self._changed.clear()
            wait = table.wait_seconds(self._now())
            if wait == 0.0:
                wait = max(self._retry_at - self._now(), 0.0)
            if wait != 0.0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait)
                continue
            async with table.changing():
                if table.wait_seconds(self._now()) == 0.0:  # it may have been settled or paused meanwhile
                    failures = await self._play_phase(failures)

    async def _play_phase(self, failures: int) -> int:
        """Play a phase, and tell everybody; return how often in a row an agent has failed at it, before and now."""
        table = self.table
        table.close_phase()
        try:
            await self._run(table.play_again if failures else table.play)
            await self._draw_last()
        except protocol.ProtocolError as error:  # too much waits for the threads
            await asyncio.sleep(error.retry_after or 1.0)
        except OSError as error:
            self._go_back(error)
        except AgentError as error:
            failures += 1
            await self._note_failure(error, failures)
        except Exception:  # other tables go on
            self._stand_still()
        else:
            failures = 0
            self._broadcast()
        return failures

    async def _note_failure(self, error: AgentError, failures: int) -> None:
        """Let the phase be tried again after an agent has failed; the last time, it loses the game."""
        table = self.table
        if failures < MAX_FAILURES:
            _LOG.warning("table %s tries again: %s", table.id, error)
            await asyncio.sleep(FAILURE_SECONDS)
            return
        _LOG.error("table %s ends: %s", table.id, error)
        assert error.side is not None  # of a live game
        try:
            await self._write(partial(table.fail, error.side, str(error) if self._is_own else error.summary))
        except protocol.ProtocolError:  # it cannot be saved now
            self._stand_still()
            return
        self._send_events(table.num_events)
        self.notify()

    def _stand_still(self) -> None:
        """Take no more orders after a failure of the server itself, until the table is loaded again."""
        _LOG.exception("table %s stands still", self.table.id)
        self.table.fault = "the server failed while it played the phase: its operator can see how"
        self.refresh()

    def _go_back(self, error: OSError) -> None:
        """Ask for the orders of a phase again that could not be saved, on a full disk for instance."""
        _LOG.error("table %s waits: %s", self.table.id, error)
        asked = self.table.sides_with_choice
        try:
            self.table.restart()
        except (OSError, GeoPatrolError):
            self._stand_still()
        self._retry_at = self._now() + RETRY_SECONDS
        message = protocol.ProtocolError("not_saved", _NOT_SAVED, RETRY_SECONDS).message
        for connection in self.connections:
            if connection.side in asked:
                connection.send(message)
        self.notify()

    async def _draw_last(self) -> None:
        """Draw the phase that was played for everybody who is there; others have it drawn with the past."""
        viewers = {(one.screen, one.side) for one in self.connections if one.screen is not None and not one.is_behind}
        with suppress(protocol.ProtocolError):  # too much is being drawn
            for screen, side in viewers:
                await self._draw(partial(self.table.draw_last, screen, side))

    def _broadcast(self) -> None:
        first = self.table.num_events + 1
        self.table.finish_phase()
        self._send_events(first)
        self.notify()
        for connection in self.connections:
            self._send_turn(connection)

    def _send_events(self, first: int) -> None:
        """Send the events from a number on to everybody."""
        for number in range(first, self.table.num_events + 1):
            # Encoded once for all that draw alike and know the same, and once for all others.
            texts: dict[tuple[protocol.Screen | None, Side | None], str] = {}
            for connection in [one for one in self.connections if not one.is_behind]:
                screen = connection.screen
                if screen is not None and not self.table.is_drawn(number - 1, screen, connection.side):
                    self._bring_up(connection, number - 1)
                    continue
                viewer = screen, connection.side if self.table.hides_enemies else None
                if viewer not in texts:
                    texts[viewer] = self.table.event(number, *viewer).model_dump_json()
                connection.send(texts[viewer])
