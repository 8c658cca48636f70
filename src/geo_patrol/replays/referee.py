"""Playing phases with recorded outcomes, which must be possible by the rules (rule book, Engagement Phase).

The engine samples outcomes; the referee checks outcomes that were sampled elsewhere: that every order was resolved
that had to be, in the right order, with the right odds, and against the right target after redirections.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine import state
from geo_patrol.engine.drift import play_drift
from geo_patrol.engine.engagement import (
    GUARD_DECAY,
    attack_probability,
    enact_engagements,
    guard_probability,
    pay_for_engagements,
    target_of,
)
from geo_patrol.errors import RecordingError
from geo_patrol.notation import Outcome, SatelliteId, write_outcomes
from geo_patrol.replays.replay import Position, read_position
from geo_patrol.runner import GameRunner, PlayedPhase
from geo_patrol.sides import SIDES

_TOLERANCE = 1e-12


def step_with_outcomes(
    runner: GameRunner, codes: NDArray[np.integer[Any]], outcomes: Sequence[Outcome]
) -> tuple[PlayedPhase, Position | None]:
    """Play a decision phase with recorded outcomes; the drift follows an engagement.

    Args:
        runner: the game.
        codes: (2, 11) order codes; illegal ones count as noop.
        outcomes: outcomes of the engagement.

    Returns:
        The phase, and the position before the drift; None if there was no drift.

    Raises:
        RecordingError: the outcomes cannot have come from the orders.
    """
    batch, turn, phase = runner.batch, runner.turn, runner.phase
    game, rules = batch.games[0], batch.rules[0]
    legal_codes = batch.legal_actions(codes)[0]
    game.illegal_orders[:] = (legal_codes != codes).sum(axis=1)
    if phase == "movement" or (rules.forfeit and game.illegal_orders.any()):
        if outcomes:
            raise RecordingError(f"number of outcomes: recorded {len(outcomes)}, replayed 0")
        return runner.step(codes), None  # nothing in it is sampled
    pay_for_engagements(game, rules, legal_codes)
    if fault := Referee(game, rules, legal_codes).find_fault(outcomes):
        raise RecordingError(f"outcomes: {fault}")
    count = write_outcomes(outcomes, batch.outcomes)
    enact_engagements(game, batch.outcomes, count)
    game.phase = state.DRIFT
    before_drift = read_position(batch)
    play_drift(game, rules)
    batch.episodes["outcome_count"] = count
    batch.describe()
    return runner.played(turn, phase, legal_codes, count), before_drift


class Referee:
    """Checks the outcomes of one engagement, one by one.

    Args:
        game: record of the game after all orders were paid for.
        rules: record of its rules.
        orders: (2, 11) order codes that were carried out.
    """

    def __init__(self, game: state.Record, rules: state.Record, orders: state.IntArray) -> None:
        self._game, self._rules = game, rules
        self._codes = {
            SatelliteId(SIDES[side], number): int(code)
            for (side, number), code in np.ndenumerate(orders)
            if code != state.NOOP
        }
        self._guards = {who for who, code in self._codes.items() if code == state.GUARD}
        self._aim = {
            who: SatelliteId("bravo" if who.side == "alpha" else "alpha", int(target_of(code)))
            for who, code in self._codes.items()
            if code != state.GUARD
        }
        self._shots = {who for who, code in self._codes.items() if state.SHOOT <= code < state.COLLIDE}
        self._collisions = set(self._aim) - self._shots
        self._destroyed: set[SatelliteId] = set()

    def find_fault(self, outcomes: Sequence[Outcome]) -> str | None:
        """Return what is wrong with the outcomes and where, or None if they are possible."""
        index = 0
        while index < len(outcomes) and outcomes[index].action == "guard":
            guardian = outcomes[index].guardian
            block = [
                outcome for outcome in outcomes[index:] if outcome.action == "guard" and outcome.guardian == guardian
            ]
            if fault := self._check_guard(outcomes[index : index + len(block)]):
                return f"outcome {index}: {fault}"
            index += len(block)
        if self._guards:
            return f"outcome {index}: the guard of {min(self._guards)} is missing"
        hits: set[SatelliteId] = set()
        while index < len(outcomes) and outcomes[index].action == "shoot":
            if fault := self._check_attack(outcomes[index], self._shots):
                return f"outcome {index}: {fault}"
            hits |= {outcomes[index].target} if outcomes[index].success else set()
            index += 1
        if self._shots:
            return f"outcome {index}: the shot of {min(self._shots)} is missing"
        self._destroyed |= hits
        for later in range(index, len(outcomes)):
            if fault := self._check_collision(outcomes[later]):
                return f"outcome {later}: {fault}"
        pending = {who for who in self._collisions if not {who, self._aim[who]} & self._destroyed}
        return f"outcome {len(outcomes)}: the collision of {min(pending)} is missing" if pending else None

    def _check_guard(self, block: Sequence[Outcome]) -> str | None:
        guardian = block[0].guardian
        if guardian is None or guardian not in self._guards:
            return f"{guardian} does not guard, or has done so already"
        hva = SatelliteId(guardian.side, state.HVA)
        attackers = {who for who, target in self._aim.items() if target == hva}
        probability = guard_probability(self._game, self._rules, SIDES.index(guardian.side), guardian.number)
        met: set[SatelliteId | None] = {outcome.attacker for outcome in block}
        if met != ({*attackers} if attackers else {None}) or len(block) != max(len(attackers), 1):
            return f"{guardian} must meet {sorted(map(str, attackers)) or 'no attacker'}, each once and one after the other"
        for outcome in block:
            if outcome.target != hva:
                return f"{guardian} guards {outcome.target}, not its HVA"
            if fault := _find_odds_fault(outcome, probability):
                return fault
            if outcome.success:
                if outcome.attacker is None:
                    return f"{guardian} succeeds against nobody"
                self._aim[outcome.attacker] = guardian
            probability *= GUARD_DECAY
        self._guards.remove(guardian)
        return None

    def _check_attack(self, outcome: Outcome, pending: set[SatelliteId]) -> str | None:
        who = outcome.attacker
        if who is None or who not in pending:
            return f"{who} has no such order, or it is resolved already"
        pending.remove(who)
        if outcome.guardian is not None:
            return f"{outcome.guardian} has no part in a {outcome.action}"
        if outcome.target != self._aim[who]:
            return f"{who} aims at {outcome.target}, by the rules at {self._aim[who]}"
        side = SIDES.index(who.side)
        return _find_odds_fault(
            outcome, attack_probability(self._game, self._rules, side, who.number, self._codes[who])
        )

    def _check_collision(self, outcome: Outcome) -> str | None:
        if outcome.action != "collide":
            return f"a {outcome.action} after the collisions began"
        if fault := self._check_attack(outcome, self._collisions):
            return fault
        pair = {outcome.attacker, outcome.target}
        if pair & self._destroyed:
            return f"{outcome.attacker} or {outcome.target} is destroyed already"
        if outcome.success:
            self._destroyed |= {who for who in pair if who is not None}
        return None


def _find_odds_fault(outcome: Outcome, probability: float) -> str | None:
    if outcome.success and outcome.probability <= 0:
        return "success at probability 0"
    if not outcome.success and outcome.probability >= 1 and outcome.attacker is not None:
        return "failure at probability 1"
    if abs(outcome.probability - probability) > _TOLERANCE:
        return f"probability {outcome.probability}, by the rules {probability}"
    return None
