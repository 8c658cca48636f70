"""Who plays a seat of a server from another program: the connection, and the agents and programs that answer its messages.

A server may be anybody's: whatever it sends ends in an error that says what is wrong with it.
"""

import hashlib
import json
import random
import secrets
import shlex
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar
from urllib.error import HTTPError
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

import numpy as np
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, reset_agent
from geo_patrol.base.errors import AgentError, GeoPatrolError, printable, show
from geo_patrol.base.files import atomic_write, read_limited
from geo_patrol.base.sides import SIDES
from geo_patrol.config.presets import read_saved_config
from geo_patrol.game.game import Game
from geo_patrol.game.notation import Order
from geo_patrol.game.position import Position
from geo_patrol.replays import saved_games_folder
from geo_patrol.web import protocol
from geo_patrol.web.requests import is_local


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
_MAX_NAME = 40
"""Letters of a name in ``Hello``."""
_WAITS = (0.25, 0.5, 1.0, 2.0, 4.0, *[10.0] * 12)
"""Seconds before each attempt to connect again, about two minutes in all; each is varied so that many do not come at once."""


def _pause(seconds: float) -> None:
    time.sleep(seconds * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


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
        name = name and printable(name, _MAX_NAME)
        self._hello = protocol.Hello(table=table, secret=secret, name=name, last_event=last_event, text=text)
        self._waits = iter(_WAITS)
        self._is_welcomed = self._has_ended = False
        self._open = ExitStack()
        self._connect()

    def _connect(self) -> None:
        try:
            url = f"{self._address}/ws/{self._hello.table}"
            connection = connect(url, max_size=_MAX_BYTES, proxy=None if _is_own(url) else True)
            self._socket: ClientConnection = self._open.enter_context(connection)
        except WebSocketException as error:  # of a reverse proxy whose server is down, for instance
            raise ConnectionError(f"{self._address} does not serve games: {error}") from None
        except OSError as error:
            raise ConnectionError(f"{self._address} cannot be reached: {error.strerror or error}") from None
        except ValueError as error:  # a port or a label of the host name that cannot be
            raise GeoPatrolError(f"{self._address} is no address: {error}") from None
        self._is_welcomed = False
        self.send(self._hello)

    def send(self, message: protocol.Message) -> None:
        """Send a message; on a connection that is lost it gets lost, too, and the server asks again."""
        self._last_sent = message
        with suppress(ConnectionClosed):
            self._socket.send(message.model_dump_json())

    def __iter__(self) -> Iterator[protocol.Message]:
        """Receive messages until the game is over, or the seat is left or taken by somebody else.

        Raises:
            GeoPatrolError: there is no such table, the secret opens no seat, or the server does not keep to the protocol.
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
        """Remember how far the game is.

        Raises:
            GeoPatrolError: there is no such table, the secret opens no seat, or the message does not come in its order.
        """
        if isinstance(message, protocol.Error) and message.code in {"no_table", "wrong_secret"}:
            raise GeoPatrolError(message.text)
        if isinstance(message, protocol.Welcome):
            self._check_order(not self._is_welcomed, "welcome comes twice")
            first, known = message.first_event, self._hello.last_event
            self._check_order(first in (1, known + 1), f"welcome begins with event {first} after event {known}")
            self._is_welcomed, self._waits = True, iter(_WAITS)
            self._hello = self._hello.model_copy(update={"last_event": first - 1})
        else:
            is_early = isinstance(message, protocol.Error | protocol.Left | protocol.Pong)
            self._check_order(self._is_welcomed or is_early, f"{message.type} comes before welcome")  # type: ignore[attr-defined]
        for event in events_of(message):
            known = self._hello.last_event
            self._check_order(event.number == known + 1, f"event {event.number} follows event {known}")
            self._hello = self._hello.model_copy(update={"last_event": event.number})
        self._has_ended = isinstance(message, protocol.Left) or end_of(message) is not None

    def _check_order(self, is_right: bool, fault: str) -> None:
        if not is_right:
            raise GeoPatrolError(f"{self._address} does not keep to the protocol: {fault}")

    def _reconnect(self) -> None:
        """Connect again, after waits that grow until a connection is welcomed."""
        self._open.close()
        for wait in self._waits:
            _pause(wait)
            with suppress(OSError):
                self._connect()
                return
        raise ConnectionError(f"{self._address} cannot be reached any more")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _is_own(url: str) -> bool:
    """Return whether an address is this computer's, to which no proxy leads."""
    host = urlsplit(url).hostname or ""
    return is_local(host) or host.endswith(".localhost")


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
    server, values = _read_link(url)
    try:
        hello = protocol.Hello(table=values.get("table", ""), secret=values.get("secret"))
    except ValidationError:
        raise _no_link(url) from None
    return f"ws{server.removeprefix('http')}", hello.table, hello.secret


def _read_link(url: str) -> tuple[str, dict[str, str]]:
    """Return the address of a server, and what is in a link to it: "table" or "class", and perhaps "secret"."""
    try:
        link = urlsplit(url)
        is_link = link.scheme in ("http", "https") and bool(link.hostname) and link.port != 0
    except ValueError:
        is_link = False
    if not is_link:
        raise _no_link(url)
    values = {key: listed[0] for key, listed in parse_qs(link.fragment).items()}
    kind, _, code = link.path.strip("/").partition("/")
    if kind in ("table", "class") and code:
        values.setdefault(kind, unquote(code))
    return f"{link.scheme}://{link.netloc}", values


def _no_link(url: str) -> GeoPatrolError:
    right = "http://127.0.0.1:8000/static/table.html#table=1f3a&secret=SECRET, http://127.0.0.1:8000/class/CODE"
    return GeoPatrolError(f"link must be like {right}, got {show(url)}")


_POLL_SECONDS = 2.0


class _Answer(BaseModel):
    """What a server answers to a request; a newer one may say more."""

    model_config = ConfigDict(extra="ignore", strict=True)


class _Taken(_Answer):
    secret: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,80}$")]


class _Place(_Answer):
    table: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}$")] | None
    over: bool
    waiting: bool


class _OwnGames(_Answer):
    games: list[dict[str, Any] | None]


_AnswerT = TypeVar("_AnswerT", bound=BaseModel)


def is_class_link(url: str) -> bool:
    """Return whether a link leads to a class, in which ``seats`` yields one game after another."""
    values = _read_link(url)[1]
    return "class" in values and "secret" not in values


def seats(url: str, name: str) -> Iterator[str]:
    """Yield links to seats, each when its game can be played.

    Secrets of seats that are taken here are kept: the same link under the same name goes on with the same seat later.

    Args:
        url: a link to a seat, which is the only one then; to a table, of which an open seat is taken; or to a class, in which
            a pupil plays one game after another.
        name: what the pupil is called.

    Raises:
        GeoPatrolError: the link is none, no seat is open, or the class is full or has a pupil of that name; or somebody plays
            under the name on this computer.
        OSError: the server cannot be reached, or could not be for two minutes.
    """
    server, values = _read_link(url)
    if "secret" in values or not {"table", "class"} & set(values):
        yield url
        return
    kind = "class" if "class" in values else "table"
    with _kept_secret(server, kind, values[kind], name) as kept:
        if kind == "class":
            yield from _seats_of_pupil(server, values["class"], name, kept)
        else:
            yield _open_seat(server, values["table"], kept)


class _Kept:
    """The secret of a seat or a pupil in a file; None without one, or where nothing can be stored."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> str | None:
        """Return the secret."""
        if self._path is not None:
            with suppress(OSError, ValueError):
                return _Taken(secret=read_limited(self._path, 100).decode()).secret
        return None

    def write(self, secret: str) -> str:
        """Keep a secret, which only this user's account can read; return it."""
        if self._path is not None:
            with suppress(OSError), atomic_write(self._path) as stream:
                Path(stream.name).chmod(0o600)
                stream.write(secret)
        return secret


@contextmanager
def _kept_secret(*seat: str) -> Iterator[_Kept]:
    """Yield where the secret of a seat is kept, which no other process of this user plays during the block."""
    name = hashlib.sha256("\n".join(seat).encode()).hexdigest()[:32]
    with ExitStack() as stack:
        path = None
        with suppress(OSError, GeoPatrolError):  # no home, or one that cannot be written
            folder = saved_games_folder().parent / "seats"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(folder / f"{name}.lock", timeout=0, mode=0o600, thread_local=False)
            is_free = False
            with suppress(Timeout):
                stack.enter_context(lock)
                is_free = True
            path = folder / name
        if path is not None and not is_free:
            raise GeoPatrolError(f"{show(seat[-1])} plays there already, from this computer: use another --name")
        yield _Kept(path)


def _seats_of_pupil(server: str, code: str, name: str, kept: _Kept) -> Iterator[str]:
    address = f"{server}/api/classes/{quote(code, safe='')}"
    secret, place = kept.read(), None
    if secret is not None:
        with suppress(protocol.ProtocolError):  # the pupil was removed: whoever comes now is another one
            place = _ask(f"{address}/place", _Place, {"secret": secret})
    if place is None:
        secret = kept.write(secrets.token_urlsafe(24))  # before it is sent: the answer may be lost
        secret = kept.write(_ask(f"{address}/pupils", _Taken, {"name": name, "secret": secret}).secret)
    key = {"secret": secret}
    while True:
        place = _ask(f"{address}/place", _Place, key, _WAITS)
        if place.table is not None and not place.over:
            yield f"{server}/static/table.html#{urlencode({'table': place.table, **key})}"
        elif not place.waiting:
            try:
                _ask(f"{address}/again", _Place, key, _WAITS)
            except protocol.ProtocolError as error:
                if error.code != "no_seat":  # an earlier request seated the pupil, and its answer was lost
                    raise
        time.sleep(_POLL_SECONDS)


def _open_seat(server: str, table: str, kept: _Kept) -> str:
    address = f"{server}/api/tables/{quote(table, safe='')}"
    state = _ask(address, protocol.TableState)
    secret = kept.read()
    own = {"games": [{"table": state.table, "secret": secret}]}
    if secret is None or _ask(f"{server}/api/games", _OwnGames, own).games == [None]:
        side = next((side for side in SIDES if getattr(state.seats, side).kind == "open"), None)
        if side is None:
            raise GeoPatrolError("no seat of this table is open; a link to a seat has its secret")
        secret = kept.write(_ask(f"{address}/seats/{side}", _Taken, {}).secret)
    return f"{server}/static/table.html#{urlencode({'table': state.table, 'secret': secret})}"


def _ask(
    address: str, model: type[_AnswerT], body: dict[str, Any] | None = None, waits: Iterable[float] = ()
) -> _AnswerT:
    """Send a request until the server has time for it; return its answer.

    Args:
        address: where to.
        model: what the answer is.
        body: what is sent, if anything.
        waits: seconds to wait before each further attempt to reach the server.

    Raises:
        ProtocolError: it is refused.
        GeoPatrolError: the answer is none of a server of games.
        OSError: the server cannot be reached.
    """
    left = iter(waits)
    while True:
        try:
            return _request(address, model, body)
        except protocol.ProtocolError as error:
            if error.retry_after is None:
                raise
            time.sleep(error.retry_after)
        except ConnectionError:
            wait = next(left, None)
            if wait is None:
                raise
            _pause(wait)


def _request(address: str, model: type[_AnswerT], body: dict[str, Any] | None = None) -> _AnswerT:
    opener = build_opener(*([ProxyHandler({})] if _is_own(address) else []))
    try:
        with opener.open(address, None if body is None else json.dumps(body).encode(), timeout=30) as answer:
            return model.model_validate_json(answer.read(_MAX_BYTES))
    except HTTPError as error:
        refusal = None
        with error, suppress(ValueError, OSError, HTTPException):
            refusal = protocol.Error.model_validate_json(error.read(_MAX_BYTES))
        if refusal is not None:
            raise protocol.ProtocolError(refusal.code, refusal.text, refusal.retry_after) from None
        if error.code in _DOWN:
            raise ConnectionError(f"{address} cannot be reached: {error}") from None
        raise GeoPatrolError(f"{address} is not a server of games: {error}") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionError(f"{address} cannot be reached: {reason}") from None
    except ValueError:
        raise GeoPatrolError(f"{address} is not a server of games") from None


_DOWN = (502, 503, 504)
"""Statuses of a reverse proxy whose server is down."""


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
        self._position: Position | None = None
        self._unseen: list[list[int]] = []

    def handle(self, message: protocol.Message) -> list[protocol.Message]:
        """Answer ``YourTurn`` with the agent's orders."""
        if isinstance(message, protocol.Welcome):
            self._welcome = message
            if message.first_event == 1:
                self._position, self._unseen = message.start, []
                reset_agent(self._agent, self._agent.name, np.ones(1, np.bool_))
        for event in events_of(message):
            if not isinstance(event.event, protocol.Ended):
                self._position, self._unseen = event.event.position, event.event.unseen
        if isinstance(message, protocol.YourTurn) and message.submitted is None:
            return [self._orders(message)]
        return []

    def _orders(self, turn: protocol.YourTurn) -> protocol.Orders:
        """Return the agent's orders in the current position."""
        welcome, position = self._welcome, self._position
        if welcome is None or welcome.you is None or position is None:
            raise GeoPatrolError("your_turn comes without a seat, or without a position")
        side = welcome.you
        game = self._game(welcome, position)
        if (game.turn, game.phase) != (turn.turn, turn.phase):
            raise GeoPatrolError(f"your_turn is for turn {turn.turn}, {turn.phase}, in turn {game.turn}, {game.phase}")
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

    def _game(self, welcome: protocol.Welcome, position: Position) -> Game:
        """Build the position as a game; its future differs from the real one's, which nobody knows."""
        game = Game.from_position(position, read_saved_config(welcome.config), seed=self._seed)
        if game.hides_enemies:
            last_seen = game.as_games().sight.sightings["phase"][0]
            for side, phases in enumerate(self._unseen):
                last_seen[side, : len(phases)] -= phases
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
