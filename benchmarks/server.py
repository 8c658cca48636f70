"""Load on the server, over the loopback: tables with bots on both sides, and spectators who get what a browser draws.

    python -m benchmarks.server --tables 200 --spectators 1000 --minutes 5

The server is one process, all clients are another. Latency is the time from when a bot sends the last orders of a phase to
when a spectator has received the event. Every spectator checks that the events of its table come without gaps and once.
With ``--kill``, the server is killed in the middle and started again: bots and spectators connect again and go on.
"""

import argparse
import asyncio
import gc
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

_EVENT = re.compile(r'\{"type":"event","number":(\d+),')
_RETRY_SECONDS = 1.0


@dataclass
class Measurements:
    """What the clients have seen.

    Attributes:
        ordered: by table and number of the phase, when its last orders were sent.
        received: table, number of the event, and when a spectator had it.
        faults: what came twice, or not at all.
    """

    ordered: dict[tuple[str, int], float] = field(default_factory=dict)
    received: list[tuple[str, int, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    reconnections: int = 0


class Load:
    """The clients of a server.

    Args:
        address: of the server, as "127.0.0.1:8000".
        phase_seconds: how long a bot thinks, on average.
    """

    def __init__(self, address: str, phase_seconds: float) -> None:
        self.address, self.phase_seconds = address, phase_seconds
        self.measured, self.rng = Measurements(), random.Random(0)
        self.is_over = False

    def open_table(self, seed: int) -> tuple[str, dict[str, str]]:
        """Open a table; return its name and the secrets of its seats."""
        body = json.dumps({"seed": seed, "alpha": "link", "bravo": "link"}).encode()
        while True:
            try:
                with urllib.request.urlopen(f"http://{self.address}/api/tables", body) as answer:
                    opened = json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise
                time.sleep(float(error.headers["Retry-After"]))
            else:
                return opened["table"], opened["secrets"]

    async def _messages(self, table: str, last: list[int], **hello: Any) -> AsyncIterator[tuple[Any, str]]:
        """Yield a connection with each of its messages; connect again where it was lost, after the last event."""
        is_new = True
        while not self.is_over:
            try:
                async with connect(f"ws://{self.address}/ws/{table}", max_size=None) as connection:
                    self.measured.reconnections += not is_new
                    is_new = False
                    first = {"type": "hello", "version": 1, "table": table, "last_event": last[0], **hello}
                    await connection.send(json.dumps(first))
                    async for text in connection:
                        assert isinstance(text, str)
                        yield connection, text
            except (ConnectionClosed, OSError, InvalidHandshake, TimeoutError):
                await asyncio.sleep(self.rng.uniform(0, 2 * _RETRY_SECONDS))

    async def play(self, table: str, secret: str) -> None:
        """Play a seat: few orders, and none for the HVA, so that games last."""
        last = [0]
        async for connection, text in self._messages(table, last, secret=secret):
            message = json.loads(text)
            if message["type"] == "welcome":
                last[0] = max([last[0], *(event["number"] for event in message["events"])])
            elif message["type"] == "event":
                last[0] = message["number"]
                if message["event"]["kind"] == "end":
                    return
            elif message["type"] == "your_turn" and message["submitted"] is None:
                await asyncio.sleep(self.rng.uniform(0, 2 * self.phase_seconds))
                options = [options for name, options in message["options"].items() if name != "HVA"]
                orders = [self.rng.choice(some)["order"] for some in options if some and self.rng.random() < 0.05]
                reply = {key: message[key] for key in ("game", "turn", "phase")} | {"type": "orders", "orders": orders}
                self.measured.ordered[table, last[0] + 1] = time.monotonic()
                with suppress(ConnectionClosed):  # the server asks again
                    await connection.send(json.dumps(reply))

    async def watch(self, table: str) -> None:
        """Watch a table."""
        last = [0]
        async for _, text in self._messages(table, last, scene=True):
            now = time.monotonic()
            if (found := _EVENT.match(text)) is not None:
                number = int(found[1])
                self.measured.received.append((table, number, now))
                if number != last[0] + 1:
                    self.measured.faults.append(f"{table}: event {number} after {last[0]}")
                last[0] = number
            elif text.startswith('{"type":"welcome"'):
                numbers = [event["number"] for event in json.loads(text)["events"]]
                if numbers != list(range(last[0] + 1, last[0] + 1 + len(numbers))):
                    self.measured.faults.append(f"{table}: welcome with events {numbers} after {last[0]}")
                last[0] += len(numbers)


class ServerProcess:
    """The server, as its command starts it."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "geo_patrol", "serve", "--port", str(self.port), "--data", str(folder)]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen([*self._command, "--max-tables", "1000", "--max-connections", "2000"])
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/tables").close()
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("the server has ended") from None
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """Kill it without notice."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def usage(self) -> tuple[float, float]:
        """Return its resident memory in MB and its processor time in seconds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        memory = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return memory, (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


async def put_under_load(server: ServerProcess, options: argparse.Namespace) -> Measurements:
    """Let the clients play and watch; print memory every half minute."""
    load = Load(f"127.0.0.1:{server.port}", options.phase_seconds)
    tables = [load.open_table(seed) for seed in range(options.tables)]
    tasks = [asyncio.create_task(load.watch(tables[i % len(tables)][0])) for i in range(options.spectators)]
    await asyncio.sleep(options.spectators / 200)  # let them come before the games begin
    tasks += [asyncio.create_task(load.play(table, secret)) for table, secrets in tables for secret in secrets.values()]
    start, is_killed = time.monotonic(), not options.kill
    while (passed := time.monotonic() - start) < 60 * options.minutes:
        await asyncio.sleep(min(30, 60 * options.minutes - passed + 0.1))
        memory, seconds = server.usage()
        print(f"{time.monotonic() - start:5.0f} s: {memory:.0f} MB, {seconds:.0f} s of processor time", flush=True)
        if not is_killed and time.monotonic() - start > 30 * options.minutes:
            is_killed = True
            await asyncio.to_thread(lambda: (server.kill(), server.start()))
    load.is_over = True
    for task in tasks:
        task.cancel()
    for failure in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(failure, Exception):
            load.measured.faults.append(f"{type(failure).__name__}: {failure}")
    return load.measured


def report(measured: Measurements, options: argparse.Namespace) -> None:
    """Print the row of the table in docs/server.md, and the faults."""
    delays = [
        1e3 * (now - measured.ordered[table, number])
        for table, number, now in measured.received
        if (table, number) in measured.ordered
    ]
    p50, p95, p99 = np.percentile(delays, [50, 95, 99]) if delays else (np.nan,) * 3
    phases = len(measured.ordered) / (60 * options.minutes)
    print(
        f"{options.tables} tables, {options.spectators} spectators, {phases:.0f} phases/s, {len(delays):,} events seen"
    )
    print(f"latency: median {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms")
    print(f"{measured.reconnections} reconnections; {len(measured.faults)} faults {measured.faults[:5]}")


def main() -> None:
    """Start the server, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--spectators", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--phase-seconds", type=float, default=2.4, help="how long a bot thinks, on average")
    parser.add_argument("--kill", action="store_true", help="kill the server in the middle, and start it again")
    options = parser.parse_args()
    gc.disable()  # the clients' pauses are not the server's
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder))
        try:
            report(asyncio.run(put_under_load(server, options)), options)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
