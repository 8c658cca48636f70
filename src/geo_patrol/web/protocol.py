"""The protocol: messages between clients and the server, and how a game becomes messages."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.base.validation import describe_fault
from geo_patrol.config import schema
from geo_patrol.engine.state import SATELLITES
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import EndReason, Outcome, PhaseName, SatelliteId
from geo_patrol.game.position import Position
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.order_entry import Option, OrderEntry


class Message(BaseModel):
    """A message, or a part of one."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class Both(Message):
    """A number of each side."""

    alpha: int
    bravo: int


class BothOrders(Message):
    """The legal orders that each side gave."""

    alpha: list[str]
    bravo: list[str]


class OutcomeState(Message):
    """What became of an engagement order; satellites as in "alpha:Patrol:3"."""

    action: Literal["shoot", "collide", "guard"]
    attacker: str | None
    guardian: str | None
    target: str
    probability: float
    success: bool


class Played(Message):
    """A phase was played, with the orders of both sides."""

    kind: Literal["phase"] = "phase"
    turn: int
    phase: Literal["movement", "engagement"]
    orders: BothOrders
    outcomes: list[OutcomeState]
    position: Position | None
    """After it, as the side that gets it knows it; null for browsers, whose ``scene`` shows it."""
    unseen: list[list[int]]
    """Phases since that side last saw each satellite, by side and number; empty where nothing is hidden. Satellites out of sight
    are given as if they had drifted since."""


class End(Message):
    """Why a game ended."""

    reason: Literal[
        "hva_destroyed",
        "hva_out_of_fuel",
        "win_score",
        "forfeit",
        "turn_limit",
        "resigned",
        "failed",
        "agreed",
    ]
    """"failed": an agent of the server raised an exception again and again; "agreed": both offered a draw."""
    side: Side | None
    """The side it happened to, or that reached the win score; null for the turn limit and for a draw."""


class Ended(Message):
    """The game is over."""

    kind: Literal["end"] = "end"
    winner: Side | None
    reasons: list[End]
    fault: str | None
    """What the agent raised, where one has failed; its kind alone unless it is the page of whoever runs the agent."""
    score: Both
    seed: int
    """Repeats the game; secret until now, because it foretells outcomes."""


VERSION = 1
PAGE = 20
"""Events of the past in one message: about 45 kB, 500 kB with scenes."""
MAX_MESSAGE_BYTES = 1 << 14
"""Largest size of a message to the server."""

MAX_RETRY_SECONDS = 3600.0
"""After which a client that was refused may try again, at most."""

Screen: TypeAlias = Literal["wide", "narrow"]
"""What a browser draws on: a phone's is narrow, and so are quarters of other screens."""

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
    """Secret of the seat to take; null watches."""
    name: Annotated[str, StringConstraints(max_length=40)] | None = None
    """What to call who takes the seat; only before the first phase is played."""
    last_event: _Count = 0
    """The number of the last event that the client has; the welcome brings those after it."""
    scene: bool = False
    """Whether messages bring drawings for a browser, too."""
    screen: Screen = "wide"
    """For which these are: on a narrow one satellites are larger, and stacks where they would not be large enough."""
    text: bool = False
    """Whether ``YourTurn`` brings a prompt for a language model, too."""


class Orders(Message):
    """The orders of a side for one phase. Once accepted they stand; sent again they are accepted again, unchanged.

    A server that is killed may ask for them again: ``submitted`` is null in ``YourTurn`` then.
    """

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


class Resign(Message):
    """Gives the game up: the other side wins."""

    type: Literal["resign"] = "resign"


class Draw(Message):
    """Offers a draw, accepts one that was offered, or takes an offer back; it stands until the phase is played."""

    type: Literal["draw"] = "draw"
    offer: bool = True
    """False takes it back."""


class Ping(Message):
    """Asks for a ``Pong``."""

    type: Literal["ping"] = "ping"
    number: _Count = 0


ClientMessage: TypeAlias = Annotated[
    Hello | Orders | Answer | Leave | Resign | Draw | Ping, Field(discriminator="type")
]

# From the server


class Event(Message):
    """Something that changed the game."""

    type: Literal["event"] = "event"
    number: _Turn
    event: Annotated[Played | Ended, Field(discriminator="kind")]
    scene: dict[str, Any] | None = None
    """For browsers: ``moment``, its ``shapes``, and its ``symbols`` but for those of the moment before."""


class Players(Message):
    """Who plays each side, as pages call them."""

    alpha: str
    bravo: str


class Welcome(Message):
    """Answers ``Hello``: the game from its start, or from the client's last event."""

    type: Literal["welcome"] = "welcome"
    version: Literal[1] = 1
    game: _Id
    title: str
    names: Players
    you: Side | None
    """The side of the client's seat; null for those who watch."""
    config: dict[str, Any]
    """All values of the scenario, as they were sampled where it has ranges or choices."""
    clock: float | None
    """Seconds for a phase; null: no limit."""
    on_timeout: Literal["hold", "forfeit"]
    start: Position | None
    """Before the first event; null for browsers, whose ``scene`` shows it."""
    first_event: _Turn
    """The number of the first of ``events``: 1 if the client's last event does not belong to this game."""
    last_event: _Count
    """The number of the last event so far. Those after ``events`` follow in ``History``, before ``Status`` and ``YourTurn``."""
    events: Annotated[list[Event], Field(max_length=PAGE)]
    """In order."""
    scene: dict[str, Any] | None = None
    """For browsers: ``board``, ``turning``, ``sectors``, ``tokens``, ``size``, and ``shapes``, ``symbols`` and ``moment`` of
    the start; null where ``first_event`` is not 1."""


class History(Message):
    """More events of the past, after a welcome that does not hold all of them."""

    type: Literal["history"] = "history"
    events: Annotated[list[Event], Field(max_length=PAGE)]
    """In order."""


class WentBack(Message):
    """The game went back to a phase, because those after it were lost with the server's machine or disk."""

    turn: int
    phase: PhaseName
    lost: int
    """How many phases are lost, at least."""


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
    """Whether no orders are taken: the teacher has paused the game, or ended it."""
    fault: str | None
    """Why the game stands still although nobody has paused it; null: it does not."""
    people: list[Side]
    """Sides that people play, or bots of theirs: they may offer each other a draw."""
    draw_offered: list[Side]
    """Sides that offer a draw."""
    went_back: WentBack | None
    """To which phase the game went back; null: it has all phases that were ever shown."""


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
    game: _Id
    turn: _Turn
    phase: Literal["movement", "engagement"]
    seconds_left: float | None
    options: dict[str, list[OptionState]]
    """By satellite; holding, which is always legal, is left out, and so are satellites that can do nothing else."""
    submitted: list[str] | None
    """The side's orders if they are in already, for instance after a lost connection."""
    scene: dict[str, Any] | None = None
    """For browsers: what ``choices_record`` returns, and the number of hints that are left."""
    text: str | None = None
    """Where ``Hello`` asked for it: rules, position, legal orders and how to answer, about 4,000 characters."""


class Accepted(Message):
    """Orders are in."""

    type: Literal["accepted"] = "accepted"
    game: _Id
    turn: _Turn
    phase: Literal["movement", "engagement"]
    orders: list[str]


ErrorCode: TypeAlias = Literal[
    "bad_message",
    "no_table",
    "wrong_secret",
    "no_seat",
    "bad_order",
    "too_late",
    "too_soon",
    "paused",
    "not_saved",
    "too_many",
    "closed",
]


class FaultState(Message):
    """What is wrong with a value of a scenario."""

    key: str
    """Its dotted key."""
    text: str
    """What is wrong, to follow the key."""


class Error(Message):
    """A message was refused; nothing has changed. After no_table, wrong_secret and closed the connection ends."""

    type: Literal["error"] = "error"
    code: ErrorCode
    text: str
    retry_after: Annotated[float, Field(ge=0, le=MAX_RETRY_SECONDS)] | None = None
    """Seconds after which to send the message again, with too_many and not_saved."""
    faults: list[FaultState] | None = None
    """Of a scenario: what ``text`` says of each value, at most twenty of them; null: it says something else."""


class Left(Message):
    """The seat was left, or taken by somebody else: the connection ends."""

    type: Literal["left"] = "left"


class Pong(Message):
    """Answers ``Ping``."""

    type: Literal["pong"] = "pong"
    number: int


ServerMessage: TypeAlias = Annotated[
    Welcome | History | Event | Status | YourTurn | Accepted | Error | Left | Pong, Field(discriminator="type")
]

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
_SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)
_MessageT = TypeVar("_MessageT")


class ProtocolError(GeoPatrolError):
    """A message that is refused.

    Args:
        code: the code of the ``Error`` that answers it.
        text: what is wrong, and what would be right.
        retry_after: seconds after which to try again.
        faults: what is wrong with each value of a scenario.
    """

    def __init__(
        self,
        code: ErrorCode,
        text: str,
        retry_after: float | None = None,
        faults: Sequence[schema.Fault] | None = None,
    ) -> None:
        super().__init__(text)
        self.code: ErrorCode = code
        self.retry_after, self._faults = retry_after, faults

    @property
    def message(self) -> Error:
        """The answer."""
        faults = None if self._faults is None else [FaultState(key=one.key, text=one.text) for one in self._faults]
        return Error(code=self.code, text=str(self), retry_after=self.retry_after, faults=faults)


def read_client_message(text: str | bytes) -> ClientMessage:
    """Read a message to the server.

    Raises:
        ProtocolError: it is none, with the code "bad_message".
    """
    return _read(_CLIENT, text)


def read_server_message(text: str | bytes) -> ServerMessage:
    """Read a message of the server.

    Raises:
        ProtocolError: it is none, with the code "bad_message".
    """
    return _read(_SERVER, text)


def _read(adapter: TypeAdapter[_MessageT], text: str | bytes) -> _MessageT:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(step) for step in fault["loc"][1:]) or "message"
        raise ProtocolError("bad_message", f"{field} {describe_fault(fault)}") from None


# Answers to GET /api/tables and GET /api/tables/TABLE


class SeatState(Message):
    """A seat of a table."""

    kind: Literal["agent", "open", "taken"]
    """"agent": an agent of the server; "open": anybody may take it; "taken": its secret is needed."""
    name: str
    """Who has it, as pages call them."""
    agent: str | None
    """The agent that has it, as it is named for another table."""
    connected: bool


class BothSeats(Message):
    """The seats of both sides."""

    alpha: SeatState
    bravo: SeatState


class TableState(Message):
    """What everybody may know of a table."""

    table: str
    title: str
    turn: int
    phase: PhaseName
    over: bool
    winner: Side | None
    """Null also for a draw, and while the game goes on."""
    score: Both | None
    """Null while a game goes on that hides enemies."""
    clock: float | None
    """Seconds for a phase; null: no limit."""
    seats: BothSeats


class TableList(Message):
    """The games in progress that somebody plays or has just left, and the latest that are over; none of classes."""

    tables: list[TableState]


def schemas() -> dict[str, Any]:
    """Return the JSON schema of all messages.

    ``ClientMessage`` and ``ServerMessage`` are those of each direction, ``TableList`` and ``TableState`` answers over HTTP.
    """
    named, schema = TypeAdapter.json_schemas(
        [
            ("ClientMessage", "validation", _CLIENT),
            ("ServerMessage", "validation", _SERVER),
            ("TableList", "validation", TypeAdapter(TableList)),
        ],
        title="geo_patrol protocol",
    )
    schema["$defs"] |= {name: directed for (name, _), directed in named.items() if "$ref" not in directed}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def visible_position(game: Game) -> Position:
    """Return a position for players: without the numbers of illegal orders, which belong to the side that gave them."""
    return game.position.model_copy(update={"illegal_orders": [0, 0]})


def played(phase: Phase, *, has_position: bool) -> Played:
    """Return a phase that was played, and the position that followed if it is asked for."""
    alpha, bravo = ([str(order) for order in orders] for orders in phase.orders)
    assert phase.name != "drift"
    unseen = [[] if phase.after.hides_enemies else list(phase.after.unseen(side)) for side in SIDES]
    return Played(
        turn=phase.turn,
        phase=phase.name,
        orders=BothOrders(alpha=alpha, bravo=bravo),
        outcomes=[_outcome_state(outcome) for outcome in phase.outcomes],
        position=visible_position(phase.after) if has_position else None,
        unseen=unseen if any(map(any, unseen)) else [],
    )


def _outcome_state(outcome: Outcome) -> OutcomeState:
    return OutcomeState.model_validate(
        {
            "action": outcome.action,
            "attacker": _name(outcome.attacker),
            "guardian": _name(outcome.guardian),
            "target": str(outcome.target),
            "probability": outcome.probability,
            "success": outcome.success,
        }
    )


def _name(satellite: SatelliteId | None) -> str | None:
    return None if satellite is None else str(satellite)


def ended(timeline: Timeline, seed: int, fault: str | None = None) -> Ended:
    """Return the end of a game; ``fault`` is what an agent raised, where one has failed."""
    return Ended(
        winner=timeline.winner,
        reasons=end_states(timeline.reasons),
        fault=fault,
        score=Both(**timeline[-1].scores),
        seed=seed,
    )


def end_states(reasons: Sequence[EndReason]) -> list[End]:
    """Return why a game ended."""
    return [End.model_validate({"reason": one.reason, "side": one.side}) for one in reasons]


def option_states(game: Game, entry: OrderEntry) -> dict[str, list[OptionState]]:
    """Return the legal orders of a side besides holding, by the names of its satellites."""
    listed = {one.id.short: entry.options(one.id.number) for one in game.satellites(entry.side)}
    return {name: [_option_state(option) for option in options] for name, options in listed.items() if options}


def _option_state(option: Option) -> OptionState:
    return OptionState(
        order=str(option.order),
        cost=option.cost,
        probability=option.probability,
        sector=option.sector,
        target=_name(option.target),
    )
