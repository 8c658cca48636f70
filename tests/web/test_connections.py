"""Clients that do not read, or send what no client needs to send: nobody waits for them. Clocks are told the time."""

import asyncio
import logging
import socket
import struct
from unittest.mock import Mock

import pytest
import uvicorn
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from geo_patrol.web import connections, local
from geo_patrol.web.app import Server
from geo_patrol.web.connections import CONTROL_FRAMES, STALLED_SECONDS, WatchedHttp, WatchedWebSocket
from geo_patrol.web.tables import TableStore
from tests.support.coroutines import run_coroutine


async def no_application(_scope, _receive, _send):
    pass


class Loop:
    """An event loop whose time a test tells."""

    def __init__(self):
        self.now, self.later, self.soon = 1000.0, [], []

    def time(self):
        return self.now

    def call_later(self, delay, function, *arguments):
        handle = asyncio.TimerHandle(self.now + delay, function, arguments, self)
        self.later.append(handle)
        return handle

    def call_soon(self, function, *arguments):
        handle = asyncio.Handle(function, arguments, self)
        self.soon.append(handle)
        return handle

    def get_debug(self):
        return False

    def _timer_handle_cancelled(self, _handle):
        pass

    def create_task(self, work, **_options):
        work.close()  # of the application, which the test plays
        return Mock()

    def pass_seconds(self, seconds):
        """Let time pass, and run what is due."""
        self.now += seconds
        for handle in [one for one in self.later if one.when() <= self.now]:
            self.later.remove(handle)
            if not handle.cancelled():
                handle._run()

    def take_turns(self, limit=10_000):
        """Run what waits for its turn; return how many turns that took."""
        count = 0
        while self.soon and count < limit:
            self.soon.pop(0)._run()
            count += 1
        return count


class Transport:
    """A connection to a client that takes only what the test lets it take."""

    def __init__(self, protocol):
        self.protocol, self.waiting, self.limit = protocol, b"", None
        self.is_reading, self.is_full, self.closed = True, False, None

    def set_write_buffer_limits(self, high):
        self.limit = high

    def get_write_buffer_size(self):
        return len(self.waiting)

    def write(self, data):
        assert self.closed is None or not data
        if self.is_full:
            self.waiting += data
            if len(self.waiting) > self.limit and self.protocol.writable.is_set():
                self.protocol.pause_writing()

    def take(self, count):
        self.waiting = self.waiting[count:]
        if not self.waiting:
            self.protocol.resume_writing()

    def pause_reading(self):
        self.is_reading = False

    def resume_reading(self):
        self.is_reading = True

    def is_closing(self):
        return self.closed is not None

    def close(self):
        self.closed = self.closed or "closed"

    def abort(self):
        self.closed = "aborted"

    def get_extra_info(self, _name):
        return None


@pytest.fixture
def opened():
    """Return a WebSocket after its handshake, with its loop and transport."""
    loop = Loop()
    config = uvicorn.Config(no_application, interface="asgi3", log_config=None, ws=WatchedWebSocket)
    config.load()
    state = uvicorn.server.ServerState()
    protocol = WatchedWebSocket(config, state, {}, _loop=loop)
    protocol.connection_made(transport := Transport(protocol))
    client = ClientProtocol(parse_uri("ws://127.0.0.1/"))
    client.send_request(client.connect())
    protocol.data_received(b"".join(client.data_to_send()))
    assert protocol.queue.get_nowait() == {"type": "websocket.connect"}
    run_coroutine(protocol.send({"type": "websocket.accept"}))
    loop.take_turns()
    return protocol, loop, transport


def frame(opcode, data=b"", *, fin=True):
    return Frame(opcode, data, fin).serialize(mask=True)


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (b"", frame(Opcode.PING)),
        (b"", frame(Opcode.PING, b"x" * 125)),
        (b"", frame(Opcode.PONG)),
        (frame(Opcode.TEXT, fin=False), frame(Opcode.CONT, fin=False)),
        (frame(Opcode.BINARY, b"x", fin=False), frame(Opcode.CONT, fin=False)),
    ],
    ids=["pings", "long pings", "pongs", "pieces of a text", "pieces of bytes"],
)
def test_who_sends_more_frames_than_a_client_needs_is_disconnected(opened, first, more):
    protocol, loop, transport = opened
    burst = CONTROL_FRAMES[1]
    protocol.data_received(first + more * burst)
    loop.take_turns()
    assert transport.closed is None
    loop.now += 1
    protocol.data_received(more * int(CONTROL_FRAMES[0]))
    loop.take_turns()
    assert transport.closed is None, "a second later it may send some more"
    protocol.data_received(more * 40_000)
    loop.take_turns()
    assert transport.closed == "closed"
    assert protocol.queue.get_nowait()["code"] == 1008


def test_others_get_their_turn_after_every_few_frames(opened):
    protocol, loop, _ = opened
    taken = []
    protocol._take = lambda limit, _count=1: limit is not protocol._frames or taken.append(0) or True
    protocol.data_received(frame(Opcode.PONG) * 10_000)
    first = len(taken)
    assert 0 < first < 200
    assert loop.take_turns() >= 50
    assert len(taken) == 10_000


@pytest.mark.slow
def test_no_more_is_read_than_the_application_takes(opened):
    protocol, loop, transport = opened
    protocol.data_received(frame(Opcode.TEXT, b"{}") * 2_000)
    loop.take_turns()
    assert protocol.queue.qsize() < 1000
    assert not transport.is_reading
    for _ in range(2_000):
        assert run_coroutine(protocol.receive())["text"] == "{}"
        loop.take_turns()
    assert transport.is_reading


def test_nothing_is_read_while_the_client_does_not_read(opened):
    protocol, loop, transport = opened
    transport.is_full = True
    protocol.data_received(frame(Opcode.PING, b"x" * 125) * 40)
    loop.take_turns()
    assert not transport.is_reading
    protocol.data_received(frame(Opcode.PING) * 5)
    loop.take_turns()
    assert len(transport.waiting) < 8_000
    transport.is_full = False
    transport.take(8_000)
    loop.take_turns()
    assert transport.is_reading


def test_a_client_that_takes_nothing_is_aborted(opened):
    protocol, loop, transport = opened
    transport.is_full = True
    transport.write(b"x" * 1000)
    protocol.transport.close()  # which waits for the client
    loop.pass_seconds(STALLED_SECONDS - 1)
    assert transport.closed == "closed"
    loop.pass_seconds(1)
    assert transport.closed == "aborted"


def test_a_slow_client_is_not_aborted(opened):
    protocol, loop, transport = opened
    transport.is_full = True
    transport.write(b"x" * 1000)
    for _ in range(9):
        transport.take(100)
        loop.pass_seconds(STALLED_SECONDS)
        assert transport.closed is None
    transport.is_full = False
    transport.take(10_000)
    assert protocol.writable.is_set()
    loop.pass_seconds(STALLED_SECONDS - 1)
    assert transport.closed is None, "it has taken everything"


def test_a_client_that_does_not_answer_pings_is_disconnected(opened):
    _, loop, transport = opened
    for _ in range(2):
        assert transport.closed is None
        loop.pass_seconds(20)
    assert transport.closed == "closed"


def test_a_client_that_takes_nothing_of_an_answer_is_aborted():
    loop = Loop()
    config = uvicorn.Config(no_application, interface="asgi3", log_config=None)
    config.load()
    protocol = WatchedHttp(config, uvicorn.server.ServerState(), {}, _loop=loop)
    transport = Transport(protocol)
    protocol.writable = asyncio.Event()
    protocol.writable.set()
    protocol.connection_made(transport)
    transport.is_full = True
    transport.write(b"x")
    loop.pass_seconds(STALLED_SECONDS)
    assert transport.closed == "aborted"


def test_a_text_that_is_none_is_refused_and_not_logged(opened, caplog):
    protocol, loop, transport = opened
    protocol.data_received(frame(Opcode.TEXT, b"\xff\xff"))
    loop.take_turns()
    assert transport.closed == "closed"
    assert protocol.queue.get_nowait()["code"] == 1007
    assert caplog.text == ""


# Requests that are cut off, to a server that listens


REQUESTS = (
    "/api/tables",
    "/api/games",
    "/api/classes",
    "/api/flights",
    "/api/scenario",
    "/api/lesson/1",
    "/api/rating",
)


@pytest.mark.parametrize("is_reset", [False, True])
def test_bodies_that_are_cut_off_are_not_logged_and_counted(tmp_path, caplog, is_reset):
    server = Server(TableStore(tmp_path))
    counted, take = [], server._limits.take
    server._limits.take = lambda kind, client: counted.append(kind) or take(kind, client)

    async def cut_off(port):
        for path in REQUESTS:
            request = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{{"
            with socket.create_connection(("127.0.0.1", port)) as one:
                if is_reset:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.sendall(request.encode())
        while counted.count("requests") < len(REQUESTS):  # noqa: ASYNC110 - the server counts, and tells nobody
            await asyncio.sleep(0.01)

    async def run():
        config = local.web_server(server.app())
        bound = local.bind(config)
        bound.listen()
        serving = uvicorn.Server(config)
        task = asyncio.create_task(serving.serve([bound]))
        await asyncio.wait_for(cut_off(bound.getsockname()[1]), 20)
        serving.should_exit = True
        await task

    logging.getLogger("uvicorn").propagate = True
    with caplog.at_level(logging.WARNING):
        run_coroutine(run())
    assert "Traceback" not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_the_server_uses_these_connections():
    config = local.web_server(no_application)
    config.load()
    assert (config.http_protocol_class, config.ws_protocol_class) == (WatchedHttp, WatchedWebSocket)
    assert config.ws_max_size == connections.MAX_FRAME_BYTES
