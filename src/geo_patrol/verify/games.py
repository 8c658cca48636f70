"""Replaying a recorded game: legal orders, outcomes and positions, phase by phase."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import ring_of
from geo_patrol.config.schema import MAX_AMMO, MAX_FUEL, GameConfig
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.drift import play_drift
from geo_patrol.engine.engagement import enact_engagements, pay_for_engagements
from geo_patrol.engine.legal_sets import legal_sets
from geo_patrol.engine.legality import ILLEGAL, write_order_costs
from geo_patrol.engine.movement import strike_illegal_orders
from geo_patrol.engine.turn import play_movement, play_phase
from geo_patrol.errors import RecordingError
from geo_patrol.notation import PHASES, Order, Outcome, SatelliteId, short_name, write_outcomes
from geo_patrol.sides import SIDES
from geo_patrol.verify.recording import (
    RecordedGame,
    RecordedOutcome,
    RecordedPhase,
    RecordedState,
    order_code,
    read_config,
)
from geo_patrol.verify.referee import Referee


class Difference(Exception):  # noqa: N818 - what is looked for, not a failure of the program
    """The first place where a recording and the engine part.

    Attributes:
        field: what differs.
        recorded: its value in the recording; None where the message says all.
        replayed: its value by the rules.
    """

    def __init__(self, message: str, field: str = "", recorded: Any = None, replayed: Any = None) -> None:
        super().__init__(message)
        self.field, self.recorded, self.replayed = field, recorded, replayed


def check_game(recorded: RecordedGame) -> str | None:
    """Replay a recorded game; return the first difference, or None if there is none.

    Raises:
        RecordingError: the recording does not make sense.
        ConfigError: its configuration does not.
    """
    where = "initial"
    try:
        batch = start_recorded(recorded)
        for number, phase in enumerate(recorded.phases):
            where = f"phase {number} ({phase.phase})"
            replay_phase(batch, phase)
    except Difference as difference:
        return f"{where}: {difference}"
    return None


def start_recorded(recorded: RecordedGame, config: GameConfig | None = None) -> Batch:
    """Set up the position that a recorded game begins with, as a batch of one.

    Args:
        recorded: the game.
        config: its configuration, if it has been read already.

    Raises:
        Difference: the recording begins with another one.
        ConfigError: its configuration is wrong.
    """
    batch = Batch(config or read_config(recorded.config))
    batch.seed([0])
    batch.reset()
    _compare_state(batch, recorded.initial)
    return batch


def replay_phase(batch: Batch, phase: RecordedPhase) -> NDArray[np.int64]:
    """Play a recorded phase with its recorded outcomes; return the orders carried out, (2, 11), none in a drift.

    Raises:
        Difference: the recording and the rules part in it.
        RecordingError: it does not make sense.
    """
    game, rules = batch.games[0], batch.rules[0]
    orders = np.zeros((state.SIDES, state.SATELLITES), np.int64)
    _compare("phase", phase.phase, PHASES[game.phase])
    _compare("done", False, bool(game.done))
    if phase.phase == "drift":
        play_drift(game, rules)
    else:
        if phase.legal is not None:
            _compare_legal(batch, phase.legal)
        orders = _read_given_orders(batch, phase.orders or [[], []])
        strike_illegal_orders(game, legal_sets(game, rules), orders)
        if phase.phase == "movement":
            play_movement(game, rules, orders)
        else:
            _replay_engagement(batch, orders, [read_recorded_outcome(outcome) for outcome in phase.outcomes or []])
    _compare_state(batch, phase.after, prefix="after.")
    return orders


def _read_given_orders(batch: Batch, recorded: Any) -> NDArray[np.int64]:
    """Return recorded orders, all of which the rules must allow; some may cost more fuel than there is."""
    for side, name in enumerate(SIDES):
        _compare(f"number of orders of {name}", len(recorded[side]), 1 + int(batch.rules[0].patrol_count[side]))
    orders = read_orders(recorded)
    costs = np.take_along_axis(_costs(batch), orders[..., np.newaxis], axis=2)[..., 0]
    for side, number in np.argwhere(costs == ILLEGAL)[:1]:
        order = Order.from_code(int(number), int(orders[side, number]))
        raise Difference(f"orders of {SIDES[side]}: recorded {str(order)!r}, which is not legal")
    return orders


def _costs(batch: Batch) -> NDArray[np.int64]:
    costs = np.empty((state.SIDES, state.SATELLITES, state.ORDERS), np.int64)
    write_order_costs(batch.games[0], batch.rules[0], costs)
    return costs


def play_given(batch: Batch, orders: NDArray[np.int64], outcomes: Sequence[Outcome]) -> None:
    """Play a decision phase of a batch of one with outcomes that are given instead of drawn; the drift follows.

    Args:
        batch: the game, played on in place.
        orders: (2, 11) order codes; illegal ones become noop in place.
        outcomes: what became of an engagement; they are left in ``batch.outcomes``.

    Raises:
        Difference: the outcomes cannot have come from the orders.
    """
    game, rules = batch.games[0], batch.rules[0]
    carried_out = orders.copy()
    strike_illegal_orders(game, legal_sets(game, rules), carried_out)
    forfeits = rules.forfeit and game.illegal_orders.any()
    if game.phase == state.MOVEMENT or forfeits or not carried_out.any():
        _compare("number of outcomes", len(outcomes), 0)
        play_phase(game, rules, orders, batch.outcomes)  # it draws nothing
        return
    orders[:] = carried_out
    _replay_engagement(batch, orders, outcomes)
    play_drift(game, rules)


def _replay_engagement(batch: Batch, orders: NDArray[np.int64], outcomes: Sequence[Outcome]) -> None:
    game, rules = batch.games[0], batch.rules[0]
    pay_for_engagements(game, rules, orders)
    if fault := Referee(game, rules, orders).judge(outcomes):
        raise Difference(f"outcomes: {fault}")
    count = write_outcomes(list(outcomes), batch.outcomes)
    enact_engagements(game, batch.outcomes, count)
    game.phase = state.DRIFT


def read_recorded_outcome(recorded: RecordedOutcome) -> Outcome:
    """Return a recorded outcome."""
    return Outcome(
        action=recorded.action,
        attacker=SatelliteId(*recorded.attacker) if recorded.attacker else None,
        guardian=SatelliteId(*recorded.guardian) if recorded.guardian else None,
        target=SatelliteId(*recorded.target),
        probability=recorded.probability,
        success=recorded.success,
    )


def read_orders(recorded: Any) -> NDArray[np.int64]:
    """Return recorded orders of both sides as (2, 11) order codes."""
    orders = np.zeros((state.SIDES, state.SATELLITES), np.int64)
    for side in range(state.SIDES):
        codes = [order_code(order) for order in recorded[side]]
        orders[side, : len(codes)] = codes
    return orders


def load_state(batch: Batch, recorded: RecordedState) -> None:
    """Set a batch of one to a recorded position in which engagements are ordered.

    Raises:
        RecordingError: a figure does not fit into a game.
    """
    game, rules = batch.games[0], batch.rules[0]
    if recorded.phase != "engagement" or recorded.done:
        raise RecordingError(f"state: phase = {recorded.phase!r}, done = {recorded.done}: give an engagement phase")
    for side, name in enumerate(SIDES):
        fleet = 1 + int(rules.patrol_count[side])
        for field, most in (("sector", 2**11 - 2), ("fuel", MAX_FUEL), ("ammo", MAX_AMMO)):
            values = getattr(recorded, field)[side]
            if len(values) != fleet:
                raise RecordingError(f"state: {field} of {name} has {len(values)} figures; its fleet has {fleet}")
            game[field][side, :fleet] = [_whole(value, field, most) for value in values]
        rings = [ring_of(int(sector)) for sector in game.sector[side, :fleet]]
        if min(rings) < rules.inner_ring or max(rings) > rules.outer_ring:
            raise RecordingError(
                f"state: sector of {name}: give sectors of rings {rules.inner_ring} to {rules.outer_ring}"
            )
    game.phase = state.ENGAGEMENT


def _whole(value: float, field: str, most: int) -> int:
    if not 0 <= value <= most or value != int(value):
        raise RecordingError(f"state: {field} = {value!r}: give whole numbers from 0 to {most}")
    return int(value)


def _check_fleets(batch: Batch, recorded: RecordedState, prefix: str = "") -> None:
    for field in ("sector", "fuel", "ammo"):
        for side, name in enumerate(SIDES):
            fleet = 1 + int(batch.rules[0].patrol_count[side])
            _compare(f"{prefix}number of {field} figures of {name}", len(getattr(recorded, field)[side]), fleet)


def _compare(field: str, recorded: Any, replayed: Any) -> None:
    if recorded != replayed:
        raise Difference(f"{field}: recorded {recorded!r}, replayed {replayed!r}", field, recorded, replayed)


def _compare_state(batch: Batch, recorded: RecordedState, prefix: str = "") -> None:
    game = batch.games[0]
    _check_fleets(batch, recorded, prefix)
    for side, name in enumerate(SIDES):
        for field in ("sector", "fuel", "ammo"):
            for number, value in enumerate(getattr(recorded, field)[side]):
                _compare(f"{prefix}{field} of {name} {short_name(number)}", value, int(game[field][side, number]))
        for field in ("goal", "score"):
            _compare(f"{prefix}{field} of {name}", getattr(recorded, field)[side], int(game[field][side]))
    _compare(f"{prefix}turn", recorded.turn, int(game.turn))
    _compare(f"{prefix}phase", recorded.phase, PHASES[game.phase])
    _compare(f"{prefix}done", recorded.done, bool(game.done))


def _compare_legal(batch: Batch, recorded: Any) -> None:
    """Compare the legal orders: recorded are all that the rules allow, ours are those among them that can be paid."""
    masks, costs, fuel = batch.masks()[0], _costs(batch), batch.games[0].fuel
    for side, name in enumerate(SIDES):
        fleet = 1 + int(batch.rules[0].patrol_count[side])
        _compare(f"number of satellites in legal of {name}", len(recorded[side]), fleet)
        for number, orders in enumerate(recorded[side]):
            theirs = sorted(map(order_code, orders))
            allowed = np.flatnonzero(costs[side, number] != ILLEGAL).tolist()
            if theirs != allowed:
                raise Difference(_legal_difference(name, number, theirs, allowed))
            payable = [code for code in theirs if costs[side, number, code] <= fuel[side, number]]
            ours = np.flatnonzero(masks[side, number]).tolist()
            if payable != ours:
                raise Difference(_legal_difference(name, number, payable, ours))


def _legal_difference(name: str, number: int, recorded: list[int], replayed: list[int]) -> str:
    who = f"legal of {name} {short_name(number)}"
    return f"{who}: recorded {_show_orders(recorded)}, replayed {_show_orders(replayed)}"


def _show_orders(codes: list[int]) -> str:
    return "[" + ", ".join(str(Order.from_code(0, code))[4:] for code in codes) + "]"
