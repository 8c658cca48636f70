"""Orders as text ("launch D13", "coast", "stay", "engines down-right") and as codes of the action space."""

from typing import Any

import numpy as np

from geo_patrol.errors import OrderError, show
from geo_patrol.flight.engine.state import COAST, ENGINES, ORDERS, Mode
from geo_patrol.flight.grid import DIRECTION_NAMES, LAUNCHES, Point, point_name, read_point

MODE_NAMES = ("on the pad", "flying", "landed", "docked")
ONLY_FROM_PLANETS = "only a ship on a planet is launched"
ENGINE_KEYS = "swedcxzaq"
"""The key of each direction of the engines by order code: around S, keys lie in the directions of the engines."""
_FORMS: dict[int, str] = {
    Mode.ON_PAD: '"launch D13"',
    Mode.FLYING: '"coast", or "engines" with up, up-right, right, down-right, down, down-left, left or up-left',
    Mode.LANDED: '"stay", or "launch D13"',
    Mode.DOCKED: '"stay", or "engines" with a direction',
}


def order_text(order: int, mode: int, position: Point) -> str:
    """Return an order as text, which depends on the mode of the ship and, for launches, on its position."""
    if order >= ENGINES:
        right, down = LAUNCHES[order - ENGINES]
        return f"launch {point_name((position[0] + right, position[1] + down))}"
    if order == COAST:
        return "coast" if mode == Mode.FLYING else "stay"
    return f"engines {DIRECTION_NAMES[order]}"


def read_order(text: Any, mode: int, position: Point) -> int:
    """Return the code of an order.

    Args:
        text: the order in the form of ``order_text``, "none", the name of a direction, or an order code.
        mode: mode of the ship.
        position: position of the ship, from which launches start.

    Raises:
        OrderError: the order cannot be parsed.
    """
    if not isinstance(text, str):
        code = parse_code(text, ORDERS)
        if code is None:
            raise OrderError(f"order {show(text)}: give {_FORMS[mode]}, or a code from 0 to {ORDERS - 1}")
        return code
    match text.lower().split():
        case ["coast"] | ["stay"] | ["none"] | ["engines", "none"]:
            return COAST
        case ["engines", direction] | [direction] if direction in DIRECTION_NAMES:
            return DIRECTION_NAMES.index(direction)
        case ["launch", _] if mode in (Mode.FLYING, Mode.DOCKED):
            raise OrderError(f"order {show(text)}: the ship is {MODE_NAMES[mode]}; {ONLY_FROM_PLANETS}")
        case ["launch", reference]:
            return _read_launch(text, reference, position)
    raise OrderError(f"order {show(text)}: give {_FORMS[mode]}")


def parse_code(value: Any, num_codes: int) -> int | None:
    """Return a whole number of any type as an int; None if it is not one from 0 to ``num_codes`` - 1."""
    try:
        code = -1 if isinstance(value, np.ndarray) and value.ndim else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return code if 0 <= code < num_codes and code == value and not isinstance(value, bool) else None


def _read_launch(text: str, reference: str, position: Point) -> int:
    try:
        column, row = read_point(reference)
    except ValueError as error:
        raise OrderError(f"order {show(text)}: give {error}") from None
    move = column - position[0], row - position[1]
    if move not in LAUNCHES:
        start = point_name(position)
        raise OrderError(f"order {show(text)}: give a point at a distance of exactly three grids from {start}")
    return ENGINES + LAUNCHES.index(move)
