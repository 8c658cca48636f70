"""Value types for satellites, orders, outcomes and end reasons, which print and parse.

Names are short within a side (``"P3 shoot HVA"``, ``"P4 prograde"``, ``"P1 guard"``) and full otherwise
(``"alpha:Patrol:3"``, ``"bravo:HVA:0"``). Parsing ignores case.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import azimuth_of, ring_of
from geo_patrol.base.errors import OrderError
from geo_patrol.base.sides import SIDES, Side, enemy_of
from geo_patrol.engine import state

PhaseName: TypeAlias = Literal["movement", "engagement", "drift"]

PHASES: tuple[PhaseName, ...] = ("movement", "engagement", "drift")
MOVES = ("noop", "prograde", "retrograde", "radial_in", "radial_out")
ENGAGEMENTS = ("shoot", "collide", "guard")
_ACTIONS = (*MOVES, *ENGAGEMENTS)
_FIRST_CODE = {"shoot": state.SHOOT, "collide": state.COLLIDE}

_PATROL = r"(?P<patrol>0?[1-9]|10)"
_SHORT_NAME = re.compile(rf"hva|p{_PATROL}", re.IGNORECASE)
_FULL_NAME = re.compile(rf"(?P<side>alpha|bravo):(?:hva:0|patrol:{_PATROL})", re.IGNORECASE)


def short_name(number: int) -> str:
    """Return the name of a satellite within its side: "HVA" or "P3"."""
    return "HVA" if number == state.HVA else f"P{number}"


@dataclass(frozen=True, order=True)
class SatelliteId:
    """A satellite of a side; prints and parses as "alpha:Patrol:3" or "bravo:HVA:0"."""

    side: Side
    number: int

    def __str__(self) -> str:
        role = "HVA" if self.number == state.HVA else "Patrol"
        return f"{self.side}:{role}:{self.number}"

    @property
    def short(self) -> str:
        """Its name within its side: "HVA" or "P3"."""
        return short_name(self.number)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a full name.

        Raises:
            OrderError: the text is not one.
        """
        match = _FULL_NAME.fullmatch(text.strip())
        if match is None:
            raise OrderError(
                f"satellite must be a name such as alpha:Patrol:3 or bravo:HVA:0, Patrols 1 to 10, got {text!r}"
            )
        side: Any = match["side"].lower()
        return cls(side, int(match["patrol"] or state.HVA))


def _parse_number(text: str, order: str) -> int:
    match = _SHORT_NAME.fullmatch(text)
    if match is None:
        raise OrderError(f"order {order!r}: {text!r} is not a satellite; satellites are HVA and P1 to P10")
    return int(match["patrol"] or state.HVA)


@dataclass(frozen=True)
class Satellite:
    """A satellite as it is now.

    Attributes:
        id: its side and number; 0 is the HVA.
        sector: where it is.
        fuel: units of fuel left.
        ammo: rounds left.
        destroyed: whether it was shot or collided.
    """

    id: SatelliteId
    sector: int
    fuel: int
    ammo: int
    destroyed: bool

    @property
    def is_active(self) -> bool:
        """Whether it has fuel: it then takes orders and can be attacked."""
        return self.fuel > 0

    @property
    def ring(self) -> int:
        """The ring of its sector."""
        return int(ring_of(self.sector))

    @property
    def azimuth(self) -> int:
        """The azimuth of its sector on that ring."""
        return int(azimuth_of(self.sector))


@dataclass(frozen=True, order=True)
class Order:
    """An order of one satellite; prints and parses as "P3 shoot HVA", "P4 radial_in", "P1 guard".

    Attributes:
        satellite: number of the satellite, 0 for the HVA.
        action: noop, prograde, retrograde, radial_in, radial_out, shoot, collide or guard.
        target: number of the enemy to shoot or collide with; None for other actions.

    Raises:
        OrderError: the attributes do not make an order.
    """

    satellite: int
    action: str
    target: int | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.satellite):
            raise OrderError(
                f"order: satellite must be an integer from 0 (HVA) to {state.PATROLS}, got {self.satellite!r}"
            )
        if self.action not in _ACTIONS:
            raise OrderError(f"order: action must be one of {', '.join(_ACTIONS)}, got {self.action!r}")
        if self.action in _FIRST_CODE and not _is_number(self.target):
            raise OrderError(
                f"order: target = {self.target!r}: {self.action} needs an enemy's number, 0 to {state.PATROLS}"
            )
        if self.action not in _FIRST_CODE and self.target is not None:
            raise OrderError(f"order: target = {self.target!r}: {self.action} takes no target")

    def __str__(self) -> str:
        target = "" if self.target is None else f" {short_name(self.target)}"
        return f"{short_name(self.satellite)} {self.action}{target}"

    @functools.cached_property
    def code(self) -> int:
        """The order code, 0 to 27, as in the action space."""
        if self.action == "guard":
            return state.GUARD
        if self.target is None:
            return MOVES.index(self.action)
        return _FIRST_CODE[self.action] + self.target

    @classmethod
    def from_code(cls, satellite: int, code: int) -> Self:
        """Build the order of a code of the action space.

        Raises:
            OrderError: the code is not an integer from 0 to 27.
        """
        if isinstance(code, bool) or not hasattr(code, "__index__") or not 0 <= code < state.ORDERS:
            raise OrderError(f"order code must be an integer from 0 to {state.ORDERS - 1}, got {code!r}")
        code = int(code)
        if code < state.SHOOT:
            return cls(satellite, MOVES[code])
        if code == state.GUARD:
            return cls(satellite, "guard")
        action = "shoot" if code < state.COLLIDE else "collide"
        return cls(satellite, action, code - _FIRST_CODE[action])

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an order; "radial in" with a blank is accepted too.

        Raises:
            OrderError: the text is not one.
        """
        words = re.sub(r"\bradial[ -](?=in\b|out\b)", "radial_", str(text).strip().lower()).split()
        if not 2 <= len(words) <= 3:
            raise OrderError(
                f'order {text!r}: an order has a satellite, an action and perhaps a target, such as "P3 shoot HVA" or "P4 prograde"'
            )
        satellite = _parse_number(words[0], text)
        action = words[1]
        if action not in _ACTIONS:
            raise OrderError(f"order {text!r}: {action!r} is not an action; actions are {', '.join(_ACTIONS)}")
        if (action in _FIRST_CODE) != (len(words) == 3):
            needs = "needs a target, such as HVA or P3" if action in _FIRST_CODE else "takes no target"
            raise OrderError(f"order {text!r}: {action} {needs}")
        return cls(satellite, action, _parse_number(words[2], text) if len(words) == 3 else None)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__index__") and 0 <= value < state.SATELLITES


@dataclass(frozen=True)
class Outcome:
    """The outcome of one shot, collision or attempt to guard.

    Attributes:
        action: shoot, collide or guard.
        attacker: the attacker; None for a guard that had nothing to intercept.
        guardian: the guard; None for shots and collisions.
        target: the target of the attack; for a guard, the HVA that it guards.
        probability: probability of success, 0 to 1.
        success: whether the target was hit, collided with, or the attack intercepted.
    """

    action: str
    attacker: SatelliteId | None
    guardian: SatelliteId | None
    target: SatelliteId
    probability: float
    success: bool

    @property
    def actor(self) -> SatelliteId:
        """The satellite whose order had this outcome: the guard, or the attacker."""
        actor = self.guardian if self.action == "guard" else self.attacker
        assert actor is not None
        return actor

    def __str__(self) -> str:
        result = f"{'success' if self.success else 'failure'} at {self.probability:.0%}"
        if self.action != "guard":
            return f"{self.attacker} {self.action} {self.target}: {result}"
        if self.attacker is None:
            return f"{self.guardian} guard: no attacker"
        return f"{self.guardian} guard against {self.attacker}: {result}"


@dataclass(frozen=True, order=True)
class EndReason:
    """Why a game ended.

    Attributes:
        reason: hva_destroyed, hva_out_of_fuel, win_score, forfeit or turn_limit. Where it was ended without being played to
            its end: resigned, failed (its agent raised an exception) or agreed (on a draw).
        side: the side it happened to, or that reached the win score; None for the turn limit and for a draw.
    """

    reason: str
    side: Side | None = None

    @property
    def is_settled(self) -> bool:
        """Whether it ends a game that the rules would let go on."""
        return str(self) in _SETTLED

    @property
    def settled_for(self) -> Side | None:
        """Who wins where it ends a game that the rules would let go on: the other side; None for a draw."""
        return None if self.side is None else enemy_of(self.side)

    @property
    def result(self) -> "Result":
        """The result where it ends a game that the rules would let go on."""
        return Result(self.settled_for, (self,))

    def __str__(self) -> str:
        return self.reason if self.side is None else f"{self.reason} ({self.side})"

    @property
    def in_words(self) -> str:
        """The reason for people, such as "alpha's HVA destroyed"."""
        return _REASON_WORDS[self.reason].format(side=self.side)


class Result(NamedTuple):
    """How a game ended.

    Attributes:
        winner: who won; None for a draw.
        reasons: why it ended.
    """

    winner: Side | None
    reasons: tuple[EndReason, ...]

    @property
    def in_words(self) -> str:
        """The reasons for people."""
        return ", ".join(one.in_words for one in self.reasons)


_REASON_WORDS = {
    "hva_destroyed": "{side}'s HVA destroyed",
    "hva_out_of_fuel": "{side}'s HVA out of fuel",
    "win_score": "{side} reached the win score",
    "forfeit": "{side} forfeits",
    "turn_limit": "turn limit",
    "resigned": "{side} resigned",
    "failed": "{side}'s agent failed",
    "agreed": "draw agreed",
}
_SETTLED = {
    str(reason): reason
    for reason in (EndReason("agreed"), *(EndReason(name, side) for name in ("resigned", "failed") for side in SIDES))
}


def read_settled(text: str | None) -> EndReason | None:
    """Return the reason that ends a game that the rules would let go on, such as "resigned (alpha)"; None for other texts."""
    return None if text is None else _SETTLED.get(text)


_REASON_BITS = {
    "hva_destroyed": state.HVA_DESTROYED,
    "hva_out_of_fuel": state.HVA_OUT_OF_FUEL,
    "win_score": state.WIN_SCORE,
    "forfeit": state.FORFEIT,
}


def read_reasons(bits: int) -> tuple[EndReason, ...]:
    """Decode the reasons of an end from the bits of a game's record or of ``infos["reasons"]``."""
    reasons = [
        EndReason(reason, side)
        for reason, bit in _REASON_BITS.items()
        for index, side in enumerate(SIDES)
        if bits & (bit << index)
    ]
    return (*reasons, EndReason("turn_limit")) if bits & state.TURN_LIMIT else tuple(reasons)


def read_outcomes(outcomes: state.Records, count: int) -> tuple[Outcome, ...]:
    """Return the outcomes of an engagement from its records."""
    if count == 0:  # most phases, and to read no records takes a tenth of the time of a phase
        return ()
    return tuple(_read_outcome(*fields) for fields in outcomes[:count].tolist())  # much faster than record by record


def _read_outcome(
    kind: int, side: int, attacker: int, guardian: int, target: int, success: int, probability: float
) -> Outcome:
    """Build an outcome from the fields of a record, in order."""
    own, enemy = SIDES[side], SIDES[1 - side]
    is_guard = kind == state.GUARDING
    return Outcome(
        action=ENGAGEMENTS[kind],
        attacker=None if attacker < 0 else SatelliteId(enemy if is_guard else own, attacker),
        guardian=SatelliteId(own, guardian) if is_guard else None,
        target=SatelliteId(own if is_guard else enemy, target),
        probability=probability,
        success=bool(success),
    )


def outcome_records(outcomes: Sequence[Outcome]) -> state.Records:
    """Return outcomes as the engine's records, (k,), the inverse of ``read_outcomes``.

    Raises:
        OrderError: there are more than a game can have, or one is impossible.
    """
    if len(outcomes) > state.MAX_OUTCOMES:
        raise OrderError(f"{len(outcomes)} outcomes: an engagement has at most {state.MAX_OUTCOMES}")
    records = state.records(state.OUTCOME, len(outcomes))
    for record, outcome in zip(records, outcomes, strict=True):
        is_guard, defender = outcome.action == "guard", outcome.target.side
        actor = outcome.guardian if is_guard else outcome.attacker
        if actor is None or outcome.action not in ENGAGEMENTS:
            raise OrderError(f"outcome {outcome!r}: it does not say who acts")
        attacks_own_side = outcome.attacker is not None and outcome.attacker.side == defender
        if attacks_own_side or (is_guard and actor.side != defender):
            raise OrderError(f"outcome {outcome!r}: its satellites are on the wrong sides")
        record.kind = ENGAGEMENTS.index(outcome.action)
        record.side = SIDES.index(actor.side)
        record.attacker = -1 if outcome.attacker is None else outcome.attacker.number
        record.guardian = -1 if outcome.guardian is None else outcome.guardian.number
        record.target = outcome.target.number
        record.probability = outcome.probability
        record.success = outcome.success
    return records


Orders: TypeAlias = (
    str | Order | Iterable[Order | str] | Mapping[int, str] | Mapping[str, str] | NDArray[np.integer[Any]] | None
)
"""Orders of one side: texts or ``Order`` objects, one text with orders separated by ";", texts by satellite
(``{3: "shoot HVA"}``, ``{"P3": "shoot HVA"}``), an array of eleven order codes, or None.
Satellites without an order drift (noop)."""


def as_order(order: Order | str) -> Order:
    """Return an order, parsed if it is a text."""
    return order if isinstance(order, Order) else Order.parse(order)


def read_orders(orders: Orders) -> Sequence[Order]:
    """Parse the orders of one side from any of the forms of ``Orders``.

    Raises:
        OrderError: one cannot be read.
    """
    if orders is None:
        return []
    if isinstance(orders, Order):
        return [orders]
    if isinstance(orders, str):
        return [Order.parse(text) for text in orders.split(";") if text.strip()]
    if isinstance(orders, Mapping):
        return [
            Order.parse(f"{key if isinstance(key, str) else short_name(key)} {action}")
            for key, action in orders.items()
        ]
    if isinstance(orders, np.ndarray):
        if orders.shape != (state.SATELLITES,) or orders.dtype.kind not in "iu":
            raise OrderError(f"orders must be {state.SATELLITES} integers, got shape {orders.shape} of {orders.dtype}")
        return [_order_of_code(number, code) for number, code in enumerate(orders.tolist()) if code != state.NOOP]
    try:
        listed = list(orders)
    except TypeError:
        raise OrderError(f"orders must be texts or Order objects, got {orders!r}") from None
    return [as_order(order) for order in listed]


def order_codes(orders: Orders, side: Side) -> list[int]:
    """Return the orders of one side as eleven order codes.

    Raises:
        OrderError: one cannot be read, or a satellite has two.
    """
    codes, given = [state.NOOP] * state.SATELLITES, 0
    for order in read_orders(orders):
        if given >> order.satellite & 1:
            raise OrderError(f"{side} {order}: {short_name(order.satellite)} has an order already")
        given |= 1 << order.satellite
        codes[order.satellite] = order.code
    return codes


_order_of_code = functools.cache(Order.from_code)  # there are 308 of them


def legal_orders_from_codes(codes: Sequence[int], legal: Sequence[int]) -> tuple[Order, ...]:
    """Return the legal ones among the order codes of a side's satellites as orders, without noops.

    Args:
        codes: any integers.
        legal: the set of legal orders of each satellite, see ``codes_in``.
    """
    if not any(codes):  # as in most engagement phases
        return ()
    given = enumerate(codes)
    return tuple([_order_of_code(i, code) for i, code in given if 0 < code < state.ORDERS and legal[i] >> code & 1])


@functools.lru_cache(maxsize=1 << 14)
def codes_in(legal: int) -> tuple[int, ...]:
    """Return the order codes in a set of legal orders, an integer with bit k for code k."""
    return tuple(code for code in range(state.ORDERS) if legal >> code & 1)


@functools.lru_cache(maxsize=1 << 14)
def orders_in(number: int, legal: int) -> tuple[Order, ...]:
    """Return the orders of a satellite in its set of legal ones."""
    return tuple(_order_of_code(number, code) for code in codes_in(legal))
