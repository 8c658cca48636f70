"""Attack a server on which games are played, and send it damaged messages and requests: no game is disturbed, nothing is logged.

    pip install geo_patrol
    python -m scripts.fuzz_server --messages 5000 --seed 0

Starts ``geo-patrol serve``. Two agents play a game after another by the protocol, while other connections, to a table of
their own with the secret of a seat and to the players' table as spectators, send mutated messages as text and as bytes,
and each address that takes a body gets mutated ones. Meanwhile others, each from an address of its own, open classes full of names
that nobody plays, scenarios of thousands of wrong keys and forty tables against an agent that searches for two seconds, ask for
the lesson as fast as they can, and guess secrets.

The server must answer each connection that stays open, log nothing,
answer no request with a status of 500 or more, and use no more memory than all that it may hold takes. Every game must be the one that ``geo-patrol verify`` expects from its seed and orders, and no phase of the games of a witness, against a
person and against a cheap agent, may take longer than ``--max-wait``. A violation ends the run with exit status 1.
"""

import argparse
import http.client
import itertools
import json
import logging
import multiprocessing
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from geo_patrol.agents import make_agent
from geo_patrol.replays import check, read_replay
from geo_patrol.web.client import AgentPlayer, Client, play_seat
from scripts.damage import mutate

MAX_GROWTH = 150.0
"""Memory that the server may use in addition after its first thousand messages, in MB: for the 400 tables that it may hold
0.16 MB each, for classes 22 MB, for searches 14 MB, and what Python does not give back between them."""
PER_CONNECTION = 25
_BODIES = {
    "/api/tables": {"preset": "king_of_the_hill", "seed": 3, "alpha": "link", "bravo": "no_agent", "clock": 30.5},
    "/api/tables/{table}/seats/bravo": {},
    "/api/tables/{table}/danger": {"secret": "{secret}", "orders": ["P1 prograde"]},
    "/api/tables/{table}/hint": {"secret": "no secret", "orders": []},
    "/api/lesson/1": {"orders": ["P1 prograde"]},
    "/api/classes": {"preset": "king_of_the_hill", "alpha": "no agent"},
    "/api/missions": {"game": "planetary_probe", "seed": 3},
    "/api/flights": {"mission": "sample", "orders": ["launch D13"]},
    "/api/flights/mission": {"scenario": "turns = 3"},
}


class ServerProcess:
    """The server, as its command starts it.

    Args:
        folder: of its games and its log.
    """

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.games, self._log, self.attacked = folder / "games", folder / "log.txt", ""
        port = self.address.rpartition(":")[2]
        # Otherwise the server would compile, beside the games.
        subprocess.run([sys.executable, "-m", "geo_patrol", "warmup"], check=True)
        command = [sys.executable, "-m", "geo_patrol", "serve", "--port", port, "--data", str(self.games)]
        command += ["--max-tables", "400", "--max-connections", "2000"]  # most come from one address
        with self._log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        while self.status("/api/tables") != 200:
            if self.process.poll() is not None:
                raise RuntimeError(self._log.read_text(encoding="utf-8"))
            time.sleep(0.1)
        self._first_lines = len(self.log())

    def log(self) -> list[str]:
        """Return the lines that it has printed."""
        return self._log.read_text(encoding="utf-8").splitlines()

    def faults(self) -> list[str]:
        """Return the lines that it has printed since it was started."""
        return self.log()[self._first_lines :]

    def memory(self) -> float:
        """Return its resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        return int(found[1]) / 1024

    def open_table(self, source: str = "127.0.0.1", **setup: Any) -> tuple[str, dict[str, str]]:
        """Open a table from an address of the loopback; return its name and the secrets of its seats."""
        body = {"preset": "king_of_the_hill", "alpha": "link", "bravo": "link"} | setup
        status, opened = self.post_from(source, "/api/tables", body)
        if status != 201:
            raise RuntimeError(f"a table is refused: {opened}")
        return opened["table"], opened["secrets"]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        with urllib.request.urlopen(f"http://{self.address}{path}", json.dumps(body).encode()) as answer:
            return json.load(answer)

    def post_from(self, source: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """Send a request from an address of the loopback; return the status and the answer."""
        host, _, port = self.address.rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60, source_address=(source, 0))
        with closing(connection):
            connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def connect_from(self, source: str, table: str, secret: str) -> ClientConnection:
        """Take a seat from an address of the loopback."""
        host, _, port = self.address.rpartition(":")
        opened = socket.create_connection((host, int(port)), source_address=(source, 0))
        connection = connect(f"ws://{self.address}/ws/{table}", sock=opened, max_size=None, legacy=True)
        connection.send(json.dumps({"type": "hello", "version": 1, "table": table, "secret": secret}))
        return connection

    def status(self, path: str, body: bytes | None = None) -> int:
        """Return the status of the answer to a request; 0 if the server cannot be reached."""
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", body) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return 0


class Players(threading.Thread):
    """Two agents who play a game after another, until ``is_over``.

    Args:
        server: where they play.
    """

    def __init__(self, server: ServerProcess) -> None:
        super().__init__(daemon=True)
        self._server, self.is_over = server, False
        self.num_games = 0
        self.faults: list[str] = []
        self._open()

    def _open(self) -> None:
        self.table, self._secrets = self._server.open_table(f"127.0.1.{1 + self.num_games // 50}", seed=self.num_games)

    def run(self) -> None:
        """Play games, and compare each with its replay."""
        while not self.is_over:
            if self.num_games:
                self._open()
            seats = [threading.Thread(target=self._play, args=(side,), daemon=True) for side in self._secrets]
            for seat in seats:
                seat.start()
            for seat in seats:
                seat.join()
            replay = read_replay(self._server.games / f"{self.table}.jsonl.gz")
            fault = check(replay)
            if fault is not None or not replay.is_finished or replay.seed != self.num_games:
                self.faults.append(f"game {self.num_games}: {fault}")
            self.num_games += 1

    def _play(self, side: str) -> None:
        link = f"http://{self._server.address}/static/table.html#table={self.table}&secret={self._secrets[side]}"
        with Client(link) as client:
            if play_seat(client, AgentPlayer(make_agent("random"), self.num_games)) is None:
                self.faults.append(f"game {self.num_games}: {side} lost the seat")


def order_nothing(connection: ClientConnection, turn: dict[str, Any]) -> bool:
    """Order nothing where orders are asked for; return whether they were."""
    if turn["type"] != "your_turn" or turn["submitted"] is not None:
        return False
    phase = {key: turn[key] for key in ("game", "turn", "phase")}
    connection.send(json.dumps({"type": "orders", **phase, "orders": []}))
    return True


class Witness:
    """Plays games with both seats, or one against an agent, and notes how long each phase takes from its last orders on.

    It does so in a process of its own: beside the threads of the attackers it would measure how these wait for each other.

    Args:
        server: where it plays.
        network: the beginning of its addresses, of which it opens fifty tables each.
        bravo: who plays bravo.
    """

    def __init__(self, server: ServerProcess, network: str, bravo: str) -> None:
        self._server, self._network, self._bravo = server, network, bravo
        context = multiprocessing.get_context("fork")
        self._is_over, (self._result, self._out) = context.Event(), context.Pipe(duplex=False)
        self._waits: list[float] = []
        self._process = context.Process(target=self._run, daemon=True)
        self._process.start()

    def end(self) -> tuple[list[float], str | None]:
        """End the games; return how long the phases took, in seconds, and what went wrong."""
        self._is_over.set()
        if not self._result.poll(timeout=120):
            return [], "a game does not go on"
        result: tuple[list[float], str | None] = self._result.recv()
        return result

    def _run(self) -> None:
        fault = None
        try:
            for number in itertools.count():
                if self._is_over.is_set():
                    break
                self._play(f"{self._network}.{1 + number // 50}")
        except (RuntimeError, OSError, WebSocketException) as error:
            fault = f"{type(error).__name__}: {error}"
        self._out.send((self._waits, fault))

    def _play(self, source: str) -> None:
        table, secrets = self._server.open_table(source, bravo=self._bravo)
        with ExitStack() as stack:
            seats = [
                stack.enter_context(self._server.connect_from(source, table, secret)) for secret in secrets.values()
            ]
            while not self._is_over.is_set() and self._play_phase(seats):
                time.sleep(0.05)

    def _play_phase(self, seats: list[ClientConnection]) -> bool:
        """Order when all are asked to; return whether the game goes on."""
        turns = [self._next(seat, "your_turn", "end") for seat in seats]
        if "end" in [turn["type"] for turn in turns]:
            return False
        was_asked = [order_nothing(seat, turn) for seat, turn in zip(seats, turns, strict=True)]
        start = time.monotonic()
        for seat in seats:
            self._next(seat, "phase")
        if any(was_asked):
            self._waits.append(time.monotonic() - start)
        return True

    def _next(self, seat: ClientConnection, *kinds: str) -> dict[str, Any]:
        """Return the next message of a type, or with an event of a kind."""
        while True:
            message: dict[str, Any] = json.loads(seat.recv(timeout=60))
            kind = message["event"]["kind"] if message["type"] == "event" else message["type"]
            if kind in kinds:
                return message | {"type": kind}


class Attacker(threading.Thread):
    """Repeats an attack from an address of its own until ``is_over``.

    Args:
        server: what is attacked.
        number: number of the attack.
    """

    def __init__(self, server: ServerProcess, number: int) -> None:
        super().__init__(daemon=True)
        self._server, self.is_over = server, False
        self._source = f"127.0.0.{10 + number}"
        self._attack = (self._fill, self._send_scenario, self._play_slowly, self._ask, self._guess)[number]

    def run(self) -> None:
        """Attack again and again."""
        while not self.is_over:
            self._attack()
            time.sleep(0.02)

    def _post(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        status, answer = self._server.post_from(self._source, path, body)
        if status == 429:
            time.sleep(0.2)
        return status, answer

    def _fill(self) -> None:
        status, opened = self._post("/api/classes", {"pairs": False})
        for i in range(60 if status == 201 and not self.is_over else 0):
            self._post(f"/api/classes/{opened['class']}/pupils", {"name": f"name {i}"})

    def _send_scenario(self) -> None:
        self._post("/api/tables", {"scenario": "\n".join(f"k{number:x}=1" for number in range(7_500))})
        self._post("/api/tables", {"scenario": "\n".join(f"k{number:x}=1" for number in range(2_900))})

    def _play_slowly(self) -> None:
        threads = [threading.Thread(target=self._play_slow_game, daemon=True) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _play_slow_game(self) -> None:
        status, opened = self._post("/api/tables", {"alpha": "link", "bravo": "search:2s"})
        if status == 201:
            with self._server.connect_from(self._source, opened["table"], opened["secrets"]["alpha"]) as seat:
                while not self.is_over:
                    with suppress(TimeoutError):
                        order_nothing(seat, json.loads(seat.recv(timeout=1)))

    def _ask(self) -> None:
        self._post("/api/lesson/1")

    def _guess(self) -> None:
        self._post(f"/api/tables/{self._server.attacked}/danger", {"secret": "guess"})


def samples(table: str, secret: str | None) -> list[bytes]:
    """Return valid messages to a table; ``leave``, which needs no change to end all others, is not among them."""
    phase = {"game": table, "turn": 1, "phase": "movement"}
    messages: list[dict[str, Any]] = [
        {"type": "hello", "version": 1, "table": table, "secret": secret, "last_event": 0, "name": "somebody"},
        {"type": "orders", **phase, "orders": ["P1 prograde", "P2 radial_out", "HVA noop"]},
        {"type": "answer", **phase, "text": "P1: prograde\nP2 radial in"},
        {"type": "ping", "number": 7},
    ]
    return [json.dumps(message).encode() for message in messages]


def attack(
    server: ServerProcess, table: str, secret: str | None, rng: random.Random, counts: Counter[str]
) -> str | None:
    """Send mutated messages over a connection and count the answers; return what is wrong about them."""
    valid, sent = samples(table, secret), 0
    while sent < PER_CONNECTION:
        try:
            with connect(f"ws://{server.address}/ws/{table}", max_size=None) as connection:
                sent += 1
                connection.send(mutate(valid[0], rng) if rng.random() < 0.1 else valid[0].decode())
                await_pong(connection, counts)
                while sent < PER_CONNECTION:
                    sent += 1
                    message = mutate(rng.choice(valid), rng)
                    connection.send(message.decode(errors="replace") if rng.random() < 0.8 else message)
                    await_pong(connection, counts)
        except ConnectionClosed:
            counts["closed"] += 1
        except (WebSocketException, OSError) as error:
            return f"{type(error).__name__}: {error}"
    return None


def await_pong(connection: ClientConnection, counts: Counter[str]) -> None:
    """Count all answers up to that to a ping."""
    connection.send('{"type": "ping", "number": 4711}')
    while (answer := json.loads(connection.recv(timeout=20))) != {"type": "pong", "number": 4711}:
        counts[answer.get("code", answer["type"])] += 1


def request(server: ServerProcess, names: dict[str, str], rng: random.Random) -> str | None:
    """Send a mutated body; return what is wrong about the answer. ``names`` are put into paths and bodies."""
    path, body = rng.choice([(path, json.dumps(body)) for path, body in _BODIES.items()])
    for key, value in names.items():
        path, body = path.replace(f"{{{key}}}", value), body.replace(f"{{{key}}}", value)
    status = server.status(path, mutate(body.encode(), rng))
    return f"POST {path}: status {status}" if status == 0 or status >= 500 else None


def run(server: ServerProcess, messages: int, seed: int, max_wait: float) -> int:
    """Fuzz a server; return the exit status."""
    faults: list[str] = []
    witnesses = [Witness(server, "127.0.2", "link"), Witness(server, "127.0.3", "scripted")]  # forked before threads
    os.nice(19)  # attackers have computers of their own: here they shall not take the server's processor
    players, counts, sent = Players(server), Counter[str](), 0
    table, secrets = server.open_table()
    names = {"table": table, "secret": secrets["alpha"]}
    server.attacked = players.table
    players.start()
    memory = 0.0
    attackers = [Attacker(server, number) for number in range(5)]
    for thread in attackers:
        thread.start()
    for number in range(messages // PER_CONNECTION):
        rng = random.Random(f"{seed} {number}")
        target = (table, secrets["alpha"]) if number % 2 else (players.table, None)
        faults += filter(None, [attack(server, *target, rng, counts), request(server, names, rng)])
        sent += PER_CONNECTION
        if sent <= 1000:
            memory = server.memory()
        if faults or server.faults() or players.faults:
            break
    waits: list[float] = []
    for witness in witnesses:
        took, fault = witness.end()
        waits += took
        faults += [fault] if fault else []
    for thread in (players, *attackers):
        thread.is_over = True
    for thread in (players, *attackers):
        thread.join(timeout=120)
    growth = server.memory() - memory
    if growth > MAX_GROWTH:
        faults.append(f"memory grew by {growth:.0f} MB")
    faults += [*server.faults(), *players.faults]
    if players.is_alive():
        faults.append("a game does not go on")
    longest = max(waits, default=0.0)
    if longest > max_wait:
        faults.append(f"a phase took {longest:.2f} s")
    for fault in faults[:20]:
        print(ascii(fault[:300]))
    print(
        f"{sent:,} messages, {sent // PER_CONNECTION} requests, {players.num_games} games;"
        f" {len(waits)} phases beside them, {1000 * longest:.0f} ms at most;"
        f" memory {memory:.0f} MB, {growth:+.1f} MB; answers {dict(counts)}"
    )
    return 1 if faults else 0


def main() -> int:
    """Start the server and fuzz it; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--max-wait", type=float, default=0.2, metavar="SECONDS", help="for a phase, on a quiet machine"
    )
    arguments = parser.parse_args()
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # connections are closed at any time
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder))
        try:
            return run(server, arguments.messages, arguments.seed, arguments.max_wait)
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    sys.exit(main())
