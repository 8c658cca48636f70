"""The messages between the server and those who play or watch, one JSON object each; ``docs/protocol.md`` explains them.

A connection begins with the client's ``Hello``, answered by ``Welcome`` with the game so far. Whatever changes the game
is an ``Event``; the events of a game are numbered from 1, without gaps, and keep their numbers when the server is
started again. Everything else is current state and replaces the message of the same type before it.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from geo_patrol.engine.state import SATELLITES
from geo_patrol.errors import GeoPatrolError, show
from geo_patrol.notation import PhaseName
from geo_patrol.server.models import Ended, Message, Played, PositionState
from geo_patrol.sides import Side

VERSION = 1
MAX_MESSAGE_BYTES = 1 << 14
"""Of a message to the server."""

_Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
_Secret = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
_OrderText = Annotated[str, StringConstraints(max_length=60)]
_Count = Annotated[int, Field(ge=0, lt=2**31)]
_Turn = Annotated[int, Field(ge=1, lt=2**31)]


# To the server


class Hello(Message):
    """The first message of a connection: takes a seat, or watches."""

    type: Literal["hello"] = "hello"
    version: Literal[1] = 1
    table: _Id
    secret: _Secret | None = None
    """Of the seat to take; null watches."""
    name: Annotated[str, StringConstraints(max_length=40)] | None = None
    """What to call who takes the seat; only before the first phase is played."""
    last_event: _Count = 0
    """The number of the last event that the client has; the welcome brings those after it."""
    scene: bool = False
    """Whether messages bring drawings for a browser, too."""
    text: bool = False
    """Whether ``YourTurn`` brings a prompt for a language model, too."""


class Orders(Message):
    """The orders of a side for one phase. Once accepted they stand; sent again they are accepted again, unchanged."""

    type: Literal["orders"] = "orders"
    game: _Id
    """The table whose game it is."""
    turn: _Turn
    phase: Literal["movement", "engagement"]
    orders: Annotated[list[_OrderText], Field(max_length=SATELLITES)]
    """Such as "P3 shoot HVA" and "P4 radial_in"; satellites without one hold."""


class Answer(Message):
    """Orders in words, such as a language model's answer to a prompt; otherwise like ``Orders``."""

    type: Literal["answer"] = "answer"
    game: _Id
    turn: _Turn
    phase: Literal["movement", "engagement"]
    text: Annotated[str, StringConstraints(max_length=12_000)]
    """One order a line; lines that do not begin with a satellite are ignored. "none" holds with all satellites."""


class Leave(Message):
    """Leaves the seat: its secret is void, and anybody may take it."""

    type: Literal["leave"] = "leave"


class Ping(Message):
    """Asks for a ``Pong``."""

    type: Literal["ping"] = "ping"
    number: _Count = 0


ClientMessage: TypeAlias = Annotated[Hello | Orders | Answer | Leave | Ping, Field(discriminator="type")]

# From the server


class Event(Message):
    """Something that changed the game."""

    type: Literal["event"] = "event"
    number: int
    event: Annotated[Played | Ended, Field(discriminator="kind")]
    scene: dict[str, Any] | None = None
    """For browsers: ``moment``, its ``shapes``, and its ``symbols`` but for those of the moment before."""


class Players(Message):
    """Who plays each side."""

    alpha: str
    bravo: str


class Welcome(Message):
    """Answers ``Hello``: the game from its start, or from the client's last event."""

    type: Literal["welcome"] = "welcome"
    version: Literal[1] = 1
    game: str
    title: str
    names: Players
    you: Side | None
    """The side of the client's seat; null for those who watch."""
    config: dict[str, Any]
    """All values of the scenario, as they were sampled where it has ranges or choices."""
    clock: float | None
    """Seconds for a phase; null: no limit."""
    on_timeout: Literal["hold", "forfeit"]
    start: PositionState
    """Before the first event."""
    first_event: int
    """The number of the first of ``events``: 1 if the client's last event does not belong to this game."""
    events: list[Event]
    """In order, up to the last one."""
    scene: dict[str, Any] | None = None
    """For browsers: ``board``, ``turning``, ``size``, and ``shapes``, ``symbols`` and ``moment`` of the start; null where
    ``first_event`` is not 1."""


class Status(Message):
    """Who is there and who has ordered in the current phase; sent when it changes. It says nothing of the orders."""

    type: Literal["status"] = "status"
    turn: int
    phase: PhaseName
    names: Players
    submitted: list[Side]
    """Sides whose orders are in."""
    connected: list[Side]
    """Sides whose seat is taken by an agent of the server, or has a connection."""
    seconds_left: float | None
    """Until the phase is played without the orders that are missing; null: no limit, or the clock stands still."""
    watching: int
    paused: bool


class OptionState(Message):
    """A legal order."""

    order: str
    cost: int
    """Fuel."""
    probability: float | None
    """That it succeeds; null for a move."""
    sector: int | None
    """Destination of a move."""
    target: str | None
    """The attacked satellite, or the guarded HVA, as "bravo:HVA:0"."""


class YourTurn(Message):
    """To the owner of a seat: the side's legal orders. Orders are expected until the phase is played."""

    type: Literal["your_turn"] = "your_turn"
    game: str
    turn: int
    phase: Literal["movement", "engagement"]
    seconds_left: float | None
    options: dict[str, list[OptionState]]
    """By satellite; holding, which is always legal, is left out, and so are satellites that can do nothing else."""
    submitted: list[str] | None
    """The side's orders if they are in already, for instance after a lost connection."""
    scene: dict[str, Any] | None = None
    """For browsers: what ``choices_record`` returns."""
    text: str | None = None
    """Where ``Hello`` asked for it: rules, position, legal orders and how to answer, about 4,000 characters."""


class Accepted(Message):
    """Orders are in."""

    type: Literal["accepted"] = "accepted"
    game: str
    turn: int
    phase: Literal["movement", "engagement"]
    orders: list[str]


ErrorCode: TypeAlias = Literal[
    "bad_message", "no_table", "wrong_secret", "no_seat", "bad_order", "too_late", "too_soon", "too_many", "closed"
]


class Error(Message):
    """A message was refused; nothing has changed. After no_table, wrong_secret and closed the connection ends."""

    type: Literal["error"] = "error"
    code: ErrorCode
    text: str
    retry_after: float | None = None
    """Seconds after which to try again, with too_many."""


class Left(Message):
    """The seat was left, or taken by somebody else: the connection ends."""

    type: Literal["left"] = "left"


class Pong(Message):
    """Answers ``Ping``."""

    type: Literal["pong"] = "pong"
    number: int


ServerMessage: TypeAlias = Annotated[
    Welcome | Event | Status | YourTurn | Accepted | Error | Left | Pong, Field(discriminator="type")
]

_CLIENT: TypeAdapter[Hello | Orders | Answer | Leave | Ping] = TypeAdapter(ClientMessage)
_SERVER: TypeAdapter[Welcome | Event | Status | YourTurn | Accepted | Error | Left | Pong] = TypeAdapter(ServerMessage)


class ProtocolError(GeoPatrolError):
    """A message that is refused.

    Args:
        code: the code of the ``Error`` that answers it.
        text: what is wrong, and what would be right.
        retry_after: seconds after which to try again.
    """

    def __init__(self, code: ErrorCode, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.code: ErrorCode = code
        self.retry_after = retry_after

    @property
    def message(self) -> Error:
        """The answer."""
        return Error(code=self.code, text=str(self), retry_after=self.retry_after)


def read_client_message(text: str | bytes) -> Hello | Orders | Answer | Leave | Ping:
    """Read a message to the server.

    Raises:
        ProtocolError: it is none, with the code "bad_message".
    """
    message: Hello | Orders | Answer | Leave | Ping = _read(_CLIENT, text)
    return message


def read_server_message(text: str | bytes) -> Welcome | Event | Status | YourTurn | Accepted | Error | Left | Pong:
    """Read a message of the server.

    Raises:
        ProtocolError: it is none, with the code "bad_message".
    """
    message: Welcome | Event | Status | YourTurn | Accepted | Error | Left | Pong = _read(_SERVER, text)
    return message


def _read(adapter: TypeAdapter[Any], text: str | bytes) -> Any:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(step) for step in fault["loc"][1:]) or "message"
        raise ProtocolError("bad_message", f"{field} = {show(fault['input'])}: {fault['msg']}") from None


def schemas() -> dict[str, Any]:
    """Return the JSON schema of all messages; ``ClientMessage`` and ``ServerMessage`` are those of each direction."""
    named, schema = TypeAdapter.json_schemas(
        [("ClientMessage", "validation", _CLIENT), ("ServerMessage", "validation", _SERVER)],
        title="geo_patrol protocol",
    )
    schema["$defs"] |= {name: directed for (name, _), directed in named.items()}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
