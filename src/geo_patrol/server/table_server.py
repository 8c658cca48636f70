"""Connections to a table, and the task that plays its phases. Only the agents' decisions leave the event loop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from pydantic import BaseModel

from geo_patrol.server import protocol
from geo_patrol.server.tables import Table, submit
from geo_patrol.sides import SIDES, Side
from geo_patrol.textplay import prompt_text

MAX_QUEUED = 200
"""Messages that wait for a slow client, before its connection is closed."""
_LOG = logging.getLogger("geo_patrol.server")


class Connection:
    """A client at a table.

    Args:
        side: whose seat it has; None watches.
        scene: whether it is a browser that draws.
        text: whether it plays by text.

    Attributes:
        queue: messages to it; None ends the connection.
    """

    def __init__(self, side: Side | None, *, scene: bool, text: bool) -> None:
        self.side, self.scene, self.text = side, scene, text
        self.queue: asyncio.Queue[str | None] = asyncio.Queue(MAX_QUEUED)
        self.is_open = True

    def send(self, message: BaseModel | str | None) -> None:
        """Send a message, encoded or not; a client that does not take its messages is disconnected, and may resume."""
        if not self.is_open:
            return
        if message is None or self.queue.full():
            self.is_open = False
            while self.queue.full():
                self.queue.get_nowait()
            self.queue.put_nowait(None)
            return
        self.queue.put_nowait(message if isinstance(message, str) else message.model_dump_json())


class TableServer:
    """A table with its connections.

    Args:
        table: the table.
        run: runs a function in a worker thread.

    Attributes:
        connections: connections of its clients.
        last_used: when a client was last connected, by the event loop's clock.
    """

    def __init__(self, table: Table, run: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        self.table, self._run = table, run
        self.connections: list[Connection] = []
        self.last_used = self._now()
        self._changed = asyncio.Event()
        self._is_playing = False  # a phase, in a worker thread
        self._drawing = asyncio.Lock()  # of several who come together, the first one draws
        self._task = asyncio.create_task(self._play())

    async def close(self) -> None:
        """End the task and all connections."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        for connection in self.connections:
            connection.send(None)

    async def join(self, hello: protocol.Hello) -> Connection:
        """Connect a client; of two connections to a seat the later one stays.

        Raises:
            ProtocolError: the secret opens no seat.
        """
        table = self.table
        if hello.scene:
            async with self._drawing:
                await asyncio.to_thread(table.draw_since, table.num_known(hello.last_event))
        side = None if hello.secret is None else table.side_of(hello.secret)
        connection = Connection(side, scene=hello.scene, text=hello.text)
        if side is not None:
            self._end_seat(side)
            table.connected.add(side)
            table.rename(side, hello.name)
        self.connections.append(connection)
        connection.send(table.welcome(side, hello.last_event, scene=hello.scene))
        self.notify()
        self._send_turn(connection)
        return connection

    @property
    def is_waiting(self) -> bool:
        """Whether nothing happens until somebody comes."""
        table = self.table
        is_still = table.wait_seconds(self._now()) is None
        return not self.connections and not self._drawing.locked() and is_still  # who comes is drawn for first

    def depart(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self.last_used = self._now()
        if connection in self.connections:
            self.connections.remove(connection)
            if connection.side is not None:
                self.table.connected.discard(connection.side)
            self.notify()

    def receive(
        self,
        connection: Connection,
        message: protocol.Hello
        | protocol.Orders
        | protocol.Answer
        | protocol.Leave
        | protocol.Resign
        | protocol.Draw
        | protocol.Ping,
    ) -> None:
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
            self.table.leave_seat(side)
            self._end_seat(side)
            self.notify()
        elif isinstance(message, protocol.Resign | protocol.Draw):
            self._settle(side, message)
        else:
            is_new = side not in self.table.submitted
            orders = submit(self.table, side, message)
            connection.send(
                protocol.Accepted(game=orders.game, turn=orders.turn, phase=orders.phase, orders=orders.orders)
            )
            if is_new:  # nobody else gets messages for orders that come again
                self.notify()

    def _settle(self, side: Side, message: protocol.Resign | protocol.Draw) -> None:
        """Let a side resign or offer a draw; while a phase is being played this waits for it."""
        table = self.table
        if table.is_over:
            return
        if self._is_playing:
            asyncio.get_running_loop().call_later(0.05, self._settle, side, message)
            return
        if isinstance(message, protocol.Resign):
            table.resign(side)
        else:
            table.offer_draw(side, is_offered=message.offer)
        if table.is_over:
            self._send_events(table.num_events)
        self.notify()

    def _end_seat(self, side: Side) -> None:
        for other in [one for one in self.connections if one.side == side]:
            self.connections.remove(other)
            other.send(protocol.Left())
            other.send(None)

    def pause(self, *, is_paused: bool) -> None:
        """Stop the clock, or let it run again from the start of the phase."""
        self.table.is_paused = is_paused
        self.table.restart_clock()
        self.notify()

    def notify(self) -> None:
        """Send the status to everybody, after a change."""
        self._changed.set()
        status = self.status().model_dump_json()  # once for all of them
        for connection in self.connections:
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
            paused=table.is_paused and not table.is_over,
            people=table.people,
            draw_offered=[side for side in SIDES if side in table.draw_offered],
        )

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _send_turn(self, connection: Connection) -> None:
        if connection.side is None or self.table.is_over:
            return
        turn = self.table.your_turn(connection.side, self._now(), scene=connection.scene)
        if connection.text:
            turn = turn.model_copy(update={"text": prompt_text(self.table.game, connection.side)})
        connection.send(turn)

    async def _play(self) -> None:
        """Play phases as soon as all orders are in, or the time is up."""
        table = self.table
        while not table.is_over:
            self._changed.clear()
            wait = table.wait_seconds(self._now())
            if wait != 0.0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait)
                continue
            table.close_phase()
            self._is_playing = True
            try:
                await self._run(table.play)
            except Exception:  # of an agent, a full disk: other tables go on
                _LOG.exception("table %s is paused", table.id)
                self.pause(is_paused=True)
                continue
            finally:
                self._is_playing = False
            self._broadcast()

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
            texts: dict[bool, str] = {}  # encoded once for all browsers, and once for all others
            for connection in self.connections:
                if connection.scene not in texts:
                    texts[connection.scene] = self.table.event(number, scene=connection.scene).model_dump_json()
                connection.send(texts[connection.scene])
