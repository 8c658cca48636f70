"""Programs that play: the server's messages on their standard input, theirs on their standard output, one a line."""

import json
import random
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, Self
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from urllib.request import urlopen

import numpy as np
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, reset_agent
from geo_patrol.config.presets import read_saved_config
from geo_patrol.errors import AgentError, GeoPatrolError, show
from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.position import FLEET_FIELDS
from geo_patrol.server import protocol
from geo_patrol.sides import SIDES


class ProgramPlayer:
    """Plays a seat by a program, which answers by a line: every ``YourTurn`` without orders, and every ``Error`` it receives.

    It receives those errors that other orders would correct.

    Args:
        command: the program with its arguments, as for a shell.

    Raises:
        AgentError: it cannot be started.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except (OSError, ValueError, IndexError) as error:
            raise AgentError(f"command {command!r} cannot be started: {error}") from None

    def handle(self, message: protocol.Message) -> list[protocol.Message]:
        """Send a message to the program; return its answer.

        Raises:
            AgentError: it has ended, or answers something else than a message.
        """
        if isinstance(message, protocol.Error) and message.code not in {"bad_message", "bad_order"}:
            return []  # orders that came too late, for instance: there is nothing to answer
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(message.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise AgentError(f"command {self._command!r} has ended") from None
        if not (
            isinstance(message, protocol.Error)
            or (isinstance(message, protocol.YourTurn) and message.submitted is None)
        ):
            return []
        line = self._process.stdout.readline(protocol.MAX_MESSAGE_BYTES)
        if not line:
            raise AgentError(f"command {self._command!r} has ended")
        try:
            return [protocol.read_client_message(line)]
        except protocol.ProtocolError as error:
            raise AgentError(f"command {self._command!r}: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


_MAX_BYTES = 1 << 26
_WAITS = (0.25, 0.5, 1.0, 2.0, 4.0, *[10.0] * 12)
"""Seconds before each attempt to connect again, about two minutes in all; each is varied so that many do not come at once."""


class Client:
    """A connection to a table, which is made again when it is lost and then goes on after the last event.

    Args:
        url: the link to a seat, ``http://HOST/static/table.html#table=TABLE&secret=SECRET``; without a secret it watches.
        name: what the player is called.
        last_event: the number of the last event of an earlier connection.
        text: whether ``YourTurn`` brings a prompt for a language model.

    Raises:
        GeoPatrolError: the link is none.
        OSError: the server cannot be reached.
    """

    def __init__(self, url: str, name: str | None = None, last_event: int = 0, *, text: bool = False) -> None:
        self._address, table, secret = read_link(url)
        self._hello = protocol.Hello(table=table, secret=secret, name=name, last_event=last_event, text=text)
        self._waits = iter(_WAITS)
        self._has_ended = False
        self._open = ExitStack()
        self._connect()

    def _connect(self) -> None:
        try:
            connection = connect(f"{self._address}/ws/{self._hello.table}", max_size=_MAX_BYTES)
            self._socket: ClientConnection = self._open.enter_context(connection)
        except WebSocketException as error:  # of a reverse proxy whose server is down, for instance
            raise ConnectionError(f"{self._address} does not serve games: {error}") from None
        except OSError as error:
            raise ConnectionError(f"{self._address} cannot be reached: {error.strerror or error}") from None
        self.send(self._hello)

    def send(self, message: protocol.Message) -> None:
        """Send a message; on a connection that is lost it gets lost, too, and the server asks again."""
        self._last_sent = message
        with suppress(ConnectionClosed):
            self._socket.send(message.model_dump_json())

    def __iter__(self) -> Iterator[protocol.Message]:
        """Receive messages until the game is over, or the seat is left or taken by somebody else.

        Raises:
            GeoPatrolError: there is no such table, or the secret opens no seat.
            OSError: a connection was lost, and the server could not be reached for two minutes.
        """
        while True:
            with suppress(ConnectionClosed):
                for text in self._socket:
                    message = protocol.read_server_message(text)
                    if isinstance(message, protocol.Error) and message.retry_after is not None:
                        time.sleep(message.retry_after)
                        self.send(self._last_sent)
                        continue
                    self._note(message)
                    yield message
                    if self._has_ended:
                        return
            self._reconnect()

    def _note(self, message: protocol.Message) -> None:
        """Remember how far the game is."""
        if isinstance(message, protocol.Error) and message.code in {"no_table", "wrong_secret"}:
            raise GeoPatrolError(message.text)
        if isinstance(message, protocol.Welcome):
            self._waits = iter(_WAITS)
        events = events_of(message)
        if events:
            self._hello = self._hello.model_copy(update={"last_event": events[-1].number})
        self._has_ended = isinstance(message, protocol.Left) or end_of(message) is not None

    def _reconnect(self) -> None:
        """Connect again, after waits that grow until a connection is welcomed."""
        self._open.close()
        for wait in self._waits:
            time.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            with suppress(OSError):
                self._connect()
                return
        raise ConnectionError(f"{self._address} cannot be reached any more")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def events_of(message: protocol.Message) -> list[protocol.Event]:
    """Return the events that a message of the server brings."""
    if isinstance(message, (protocol.Welcome, protocol.History)):
        return message.events
    return [message] if isinstance(message, protocol.Event) else []


def end_of(message: protocol.Message) -> protocol.Ended | None:
    """Return the end of the game, if a message brings it."""
    events = events_of(message)
    return events[-1].event if events and isinstance(events[-1].event, protocol.Ended) else None


def read_link(url: str) -> tuple[str, str, str | None]:
    """Return the address of the WebSocket server, the table and the secret of a link.

    Raises:
        GeoPatrolError: the link is none to a table.
    """
    link = urlsplit(url)
    values = {key: listed[0] for key, listed in parse_qs(link.fragment).items()}
    if link.scheme not in ("http", "https") or not link.netloc or "table" not in values:
        raise GeoPatrolError(
            f"link must be like http://127.0.0.1:8000/static/table.html#table=1f3a&secret=SECRET, got {url!r}"
        )
    return f"ws{link.scheme.removeprefix('http')}://{link.netloc}", values["table"], values.get("secret")


_POLL_SECONDS = 2.0


def seats(url: str, name: str) -> Iterator[str]:
    """Yield links to seats, each when its game can be played.

    Args:
        url: a link to a seat, which is the only one then; to a table, of which an open seat is taken; or to a class, in which
            a pupil plays one game after another.
        name: what the pupil is called.

    Raises:
        GeoPatrolError: the link is none, no seat is open, or the class is full or has a pupil of that name.
        OSError: the server cannot be reached.
    """
    link = urlsplit(url)
    values = {key: listed[0] for key, listed in parse_qs(link.fragment).items()}
    kind, _, code = link.path.strip("/").partition("/")
    if kind in ("table", "class") and code:
        values.setdefault(kind, code)
    server = f"{link.scheme}://{link.netloc}"
    if "secret" in values or not {"table", "class"} & set(values):
        yield url
    elif "class" in values:
        yield from _seats_of_pupil(server, values["class"], name)
    else:
        yield _open_seat(server, values["table"])


def _seats_of_pupil(server: str, code: str, name: str) -> Iterator[str]:
    address = f"{server}/api/classes/{quote(code)}"
    key = {"secret": _request(f"{address}/pupils", {"name": name})["secret"]}
    while True:
        place = _request(f"{address}/place", key)
        if place["table"] is not None and not place["over"]:
            yield f"{server}/static/table.html#{urlencode({'table': place['table'], **key})}"
        elif not place["waiting"]:
            _request(f"{address}/again", key)
        time.sleep(_POLL_SECONDS)


def _open_seat(server: str, table: str) -> str:
    address = f"{server}/api/tables/{quote(table)}"
    state = _request(address)
    side = next((side for side in SIDES if state["seats"][side]["kind"] == "open"), None)
    if side is None:
        raise GeoPatrolError("no seat of this table is open; a link to a seat has its secret")
    secret = _request(f"{address}/seats/{side}", {})["secret"]
    return f"{server}/static/table.html#{urlencode({'table': table, 'secret': secret})}"


def _request(address: str, body: dict[str, Any] | None = None) -> Any:
    """Send a request, with a body if there is one; return its answer.

    Raises:
        GeoPatrolError: it is refused.
        OSError: the server cannot be reached.
    """
    if not address.startswith(("http://", "https://")):
        raise GeoPatrolError(f"link must begin with http:// or https://, got {show(address)}")
    try:
        with urlopen(address, None if body is None else json.dumps(body).encode(), timeout=30) as answer:  # noqa: S310
            return json.loads(answer.read(_MAX_BYTES))
    except HTTPError as error:
        with error:
            raise GeoPatrolError(str(_error_text(error.read(_MAX_BYTES)) or error)) from None
    except URLError as error:
        raise ConnectionError(f"{address} cannot be reached: {error.reason}") from None
    except ValueError:
        raise GeoPatrolError(f"{address} is not a server of games") from None


def _error_text(body: bytes) -> str:
    try:
        return protocol.Error.model_validate_json(body).text
    except ValueError:
        return ""


class AgentPlayer:
    """Plays a seat by an agent of the package, or a user-defined one, on this computer.

    Args:
        agent: the agent. A planner plans from a copy of the visible position, without the game's random stream.
        seed: seed of the agent's random choices.

    Attributes:
        num_illegal: number of its orders that were illegal, which are not sent.
    """

    def __init__(self, agent: Agent, seed: int) -> None:
        self._agent, self._seed = agent, seed
        self.num_illegal = 0
        self._welcome: protocol.Welcome | None = None
        self._position: protocol.PositionState | None = None

    def handle(self, message: protocol.Message) -> list[protocol.Message]:
        """Answer ``YourTurn`` with the agent's orders."""
        if isinstance(message, protocol.Welcome):
            self._welcome = message
            if message.first_event == 1:
                self._position = message.start
                reset_agent(self._agent, self._agent.name, np.ones(1, np.bool_))
        for event in events_of(message):
            if not isinstance(event.event, protocol.Ended):
                self._position = event.event.position
        if isinstance(message, protocol.YourTurn) and message.submitted is None:
            return [self._orders(message)]
        return []

    def _orders(self, turn: protocol.YourTurn) -> protocol.Orders:
        """Return the agent's orders in the current position."""
        assert self._welcome is not None
        assert self._welcome.you is not None
        side = self._welcome.you
        game = self._game()
        games = game.as_games()
        number = SIDES.index(side)
        rng = np.random.default_rng([self._seed, number, 2 * game.turn + (game.phase == "engagement")])
        observation = games.observe(self._agent.observation)[:, number].copy()
        mask = games.action_masks()[:, number].copy()
        offered = [Order.parse(option.order) for options in turn.options.values() for option in options]
        if game.hides_enemies:  # what is out of sight is in the position as if it had drifted, and no target
            mask[..., 1:] = 0
            for order in offered:
                mask[0, order.satellite, order.code] = 1
        codes = compute_actions(self._agent, self._agent.name, observation, mask, rng, lambda: [game], number)[0]
        orders = [Order.from_code(i, int(code)) for i, code in enumerate(codes) if code > 0]
        legal = [str(order) for order in orders if mask[0, order.satellite, order.code]]
        self.num_illegal += len(orders) - len(legal)
        return protocol.Orders(game=turn.game, turn=turn.turn, phase=turn.phase, orders=legal)

    def _game(self) -> Game:
        """Build the position as a game; its future differs from the real one's, which nobody knows."""
        assert self._welcome is not None
        position = self._position
        if position is None:
            raise GeoPatrolError("the server sent no position, as if this were a browser")
        fleets = [getattr(position.satellites, side) for side in SIDES]
        by_side = {name: getattr(position, name) for name in ("score", "goal_points")} | {"goal": position.goals}
        data = {
            "turn": position.turn - 1,
            "phase": position.phase,
            **{name: [getattr(both, side) for side in SIDES] for name, both in by_side.items()},
            **{name: [[getattr(one, name) for one in fleet] for fleet in fleets] for name in FLEET_FIELDS},
            "destroyed": [[int(one.destroyed) for one in fleet] for fleet in fleets],
        }
        game = Game.from_position(data, read_saved_config(self._welcome.config), seed=self._seed)
        if game.hides_enemies:
            last_seen = game.as_games().sight.sightings["phase"][0]
            for side, fleet in enumerate(fleets):
                last_seen[side, : len(fleet)] -= [one.unseen for one in fleet]
        return game


def play_seat(client: Client, player: ProgramPlayer | AgentPlayer) -> protocol.Ended | None:
    """Play a seat until the game is over; return its end, or None if the seat is left or taken by somebody else.

    Raises:
        GeoPatrolError: the link has no secret of a seat; and see ``Client.__iter__``.
        OSError: see ``Client.__iter__``.
    """
    for message in client:
        if isinstance(message, protocol.Welcome) and message.you is None:
            raise GeoPatrolError("this link only watches; a link to a seat has its secret")
        for answer in player.handle(message):
            client.send(answer)
        end = end_of(message)
        if end is not None:
            return end
    return None
