"""Orders and outcomes as the texts and plain data of replay files."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine import state
from geo_patrol.errors import OrderError, RecordingError
from geo_patrol.notation import Order, Outcome, SatelliteId, short_name
from geo_patrol.replays.schema import OutcomeLine, SideOrders
from geo_patrol.sides import SIDES

_UNKNOWN = -1
"""Stands for order codes that do not exist; a game counts them as illegal orders."""
_UNKNOWN_TEXT = "unknown"

_TEXTS = [
    [str(Order.from_code(number, code)) for code in range(state.ORDERS)] + [f"{short_name(number)} {_UNKNOWN_TEXT}"]
    for number in range(state.SATELLITES)
]  # the index -1 is the text of unknown codes
_CODES = {
    text: (number, code if code < state.ORDERS else _UNKNOWN)
    for number, row in enumerate(_TEXTS)
    for code, text in enumerate(row)
}


def write_orders(codes: NDArray[np.integer[Any]]) -> list[str]:
    """Return the eleven order codes of a side as texts, without noops; codes that do not exist become "unknown"."""
    return [
        _TEXTS[number][code if 0 <= code < state.ORDERS else _UNKNOWN]
        for number, code in enumerate(codes.tolist())
        if code != state.NOOP
    ]


def read_orders(orders: SideOrders, where: str) -> NDArray[np.int8]:
    """Return the orders of both sides as (2, 11) order codes, -1 for those that do not exist.

    Raises:
        RecordingError: one cannot be read, or a satellite has two.
    """
    codes = np.zeros((state.SIDES, state.SATELLITES), np.int8)
    for side, texts in enumerate((orders.alpha, orders.bravo)):
        named = set()
        for index, text in enumerate(texts):
            field = f"{where}: orders.{SIDES[side]}.{index}"
            number, code = _read_order(text, field)
            if number in named:
                raise RecordingError(f"{field} = {text!r}: {short_name(number)} has an order already")
            named.add(number)
            codes[side, number] = code
    return codes


def _read_order(text: str, field: str) -> tuple[int, int]:
    known = _CODES.get(text)
    if known is not None:
        return known
    try:
        order = Order.parse(text)
    except OrderError as error:
        raise RecordingError(f"{field} = {text!r}: {error}") from None
    return order.satellite, order.code


def write_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data, without the satellites that it does not have."""
    data: dict[str, Any] = {"action": outcome.action}
    if outcome.attacker is not None:
        data["attacker"] = str(outcome.attacker)
    if outcome.guardian is not None:
        data["guardian"] = str(outcome.guardian)
    return data | {
        "target": str(outcome.target),
        "probability": outcome.probability,
        "success": outcome.success,
    }


_SATELLITES = {
    str(satellite): satellite
    for satellite in (SatelliteId(side, number) for side in SIDES for number in range(state.SATELLITES))
}


def read_outcome(line: OutcomeLine, where: str) -> Outcome:
    """Return a recorded outcome.

    Raises:
        RecordingError: a satellite of it does not exist.
    """
    return Outcome(
        action=line.action,
        attacker=None if line.attacker is None else _read_satellite(line.attacker, f"{where}.attacker"),
        guardian=None if line.guardian is None else _read_satellite(line.guardian, f"{where}.guardian"),
        target=_read_satellite(line.target, f"{where}.target"),
        probability=line.probability,
        success=line.success,
    )


def _read_satellite(text: str, where: str) -> SatelliteId:
    if text not in _SATELLITES:
        raise RecordingError(f"{where} = {text!r}: give a satellite such as alpha:HVA:0 or bravo:Patrol:3")
    return _SATELLITES[text]
