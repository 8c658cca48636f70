"""Comparing recorded legal orders with those of the rules."""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.legality import ILLEGAL, write_order_costs
from geo_patrol.notation import Order, SatelliteId
from geo_patrol.sides import SIDES


def find_legal_difference(batch: Batch, recorded: list[list[list[int]]]) -> tuple[str, str, str] | None:
    """Return the first difference in legal orders: the satellite, the recorded orders and those by the rules.

    Recordings list all orders that the rules allow; those among them that can be paid must be those of the mask.
    """
    masks, costs, fuel = batch.masks()[0], _costs(batch), batch.games[0].fuel
    for side, name in enumerate(SIDES):
        for number, orders in enumerate(recorded[side]):
            expected = sorted(orders)
            allowed = np.flatnonzero(costs[side, number] != ILLEGAL).tolist()
            payable = [code for code in expected if costs[side, number, code] <= fuel[side, number]]
            legal = np.flatnonzero(masks[side, number]).tolist()
            for theirs, ours in ((expected, allowed), (payable, legal)):
                if theirs != ours:
                    return f"legal of {name} {SatelliteId(name, number).short}", _show(theirs), _show(ours)
    return None


def find_illegal_order(batch: Batch, codes: NDArray[np.int8]) -> tuple[str, Order] | None:
    """Return the side and the order of the first of (2, 11) order codes that the rules do not allow, whatever the fuel."""
    costs = np.take_along_axis(_costs(batch), codes.astype(np.int64)[..., np.newaxis], axis=2)[..., 0]
    for side, number in np.argwhere(costs == ILLEGAL).tolist():
        return SIDES[side], Order.from_code(number, int(codes[side, number]))
    return None


def _costs(batch: Batch) -> NDArray[np.int64]:
    costs = np.empty((state.SIDES, state.SATELLITES, state.ORDERS), np.int64)
    write_order_costs(batch.games[0], batch.rules[0], costs)
    return costs


def _show(codes: list[int]) -> str:
    return "[" + ", ".join(str(Order.from_code(0, code))[4:] for code in codes) + "]"
