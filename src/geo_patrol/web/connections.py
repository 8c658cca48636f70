"""Connections as uvicorn serves them, within bounds: nobody waits for a client that does not read, or that sends too much."""

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from geo_patrol.web.protocol import MAX_MESSAGE_BYTES, ProtocolError
from geo_patrol.web.requests import TokenBucket

STALLED_SECONDS = 20.0
"""After which a client is disconnected that takes nothing of what is sent to it."""
CONTROL_FRAMES = (10.0, 50)
"""A second, and at once, of a connection: pings, pongs, and pieces of messages after the first one."""
MAX_FRAME_BYTES = 2 * MAX_MESSAGE_BYTES
RECEIVED_BYTES = (50.0 * MAX_FRAME_BYTES, 200 * MAX_FRAME_BYTES)
"""A second, and at once, of a connection: what the messages take that it may send."""
_PIECE = 1024
"""Bytes that are read of a connection before others get their turn: up to 170 frames."""


class _Watched(asyncio.Protocol):
    """A connection that is aborted when its client takes nothing for a time. A close would wait for the client.

    What is sent waits in this program only while the system's buffer is full, and then nothing more is sent.
    """

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        size = self.transport.get_write_buffer_size()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self._check_progress, size)

    def _stop_watching(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _check_progress(self, before: int) -> None:
        if self.transport.get_write_buffer_size() >= before:
            if (connection := self.transport.get_extra_info("socket")) is not None:
                # Otherwise the system would go on trying to send what it has.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        else:
            self._watch()


class WatchedHttp(_Watched, H11Protocol):
    """A connection for requests."""


class WatchedWebSocket(_Watched, WebSocketsSansIOProtocol):
    """A connection for messages. It reads a piece at a time, and nothing while its client or the application is behind."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._received = bytearray()
        self._reading: asyncio.Handle | None = None
        self._frames, self._bytes = TokenBucket(*CONTROL_FRAMES), TokenBucket(*RECEIVED_BYTES)

    def data_received(self, data: bytes) -> None:
        """Read what has come, as far as it is this connection's turn."""
        self._received += data
        if self._take(self._bytes, len(data)):
            self._read_piece()

    def _read_piece(self) -> None:
        self._reading = None
        if self._can_read and self._received:
            piece = bytes(self._received[:_PIECE])
            del self._received[:_PIECE]
            super().data_received(piece)
        self._go_on()

    @property
    def _can_read(self) -> bool:
        return self.writable.is_set() and not self.read_paused and not self.transport.is_closing()

    def _go_on(self) -> None:
        """Read what was received when it is this connection's turn again, and more after that."""
        if self._received or not self._can_read:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()
        if self._received and self._can_read and self._reading is None:
            self._reading = self.loop.call_soon(self._read_piece)

    async def receive(self) -> Any:
        """Return the next event for the application."""
        message = await super().receive()
        self._go_on()
        return message

    async def send(self, message: Any) -> None:
        """Send an event of the application, when the client has taken those before."""
        await super().send(message)
        self._go_on()

    def resume_writing(self) -> None:
        """Go on when the client has taken what was sent."""
        super().resume_writing()
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was received."""
        self._received.clear()
        super().connection_lost(exc)

    def _take(self, limit: TokenBucket, count: int = 1) -> bool:
        """Count what was received; close the connection and return False if it is too much, or was closed before."""
        if self.transport.is_closing():
            return False
        try:
            limit.take(self.loop.time(), count)
        except ProtocolError:
            self._fail(CloseCode.POLICY_VIOLATION, "too many frames or bytes at once")
            return False
        return True

    def _fail(self, code: CloseCode, reason: str) -> None:
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def handle_ping(self) -> None:
        """Answer a ping."""
        if self._take(self._frames):
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Take an answer to a ping."""
        if self._take(self._frames):
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """Take a further piece of a message."""
        if self._take(self._frames):
            super().handle_cont(event)

    def handle_text(self, event: Frame) -> None:
        """Take a text, or its first piece; after the end of the connection they count as well."""
        if not self.close_sent or self._take(self._frames):
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Take bytes, or their first piece, like texts."""
        if not self.close_sent or self._take(self._frames):
            super().handle_bytes(event)

    def send_receive_event_to_app(self) -> None:
        """Give the application a message."""
        try:
            if self.curr_msg_data_type == "text":
                b"".join(self.frames).decode()
        except UnicodeDecodeError:  # for which uvicorn would log a traceback
            self.frames = []
            self._fail(CloseCode.INVALID_DATA, "a text must be UTF-8")
        else:
            super().send_receive_event_to_app()

    def keepalive_timeout(self) -> None:
        """Disconnect a client that has not answered a ping, unless it is still to come to it."""
        if self.writable.is_set():
            super().keepalive_timeout()
        else:
            self.pong_timer = self.loop.call_later(STALLED_SECONDS, self.keepalive_timeout)
