"""A server that listens, in a thread."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from geo_patrol.web.app import Server


@contextmanager
def serving(tables, port=0, host="127.0.0.1"):
    """Serve tables on a host; yield the address on this computer."""
    app = Server(tables, ("127.0.0.1",) if host == "127.0.0.1" else ("*",), host=host).app()
    options = {"log_level": "warning", "ws": "websockets-sansio", "timeout_graceful_shutdown": 1}
    server = uvicorn.Server(uvicorn.Config(app, host=host, port=port, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < end
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
