"""Playing phases with recorded outcomes instead of sampled ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine import state
from geo_patrol.engine.drift import play_drift
from geo_patrol.engine.engagement import enact_engagements, pay_for_engagements
from geo_patrol.errors import RecordingError
from geo_patrol.notation import Outcome, write_outcomes
from geo_patrol.replays.position import Position, PositionReader
from geo_patrol.replays.referee import Referee
from geo_patrol.runner import GameRunner, PlayedPhase


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
    before_drift = PositionReader(batch).read()
    play_drift(game, rules)
    batch.episodes["outcome_count"] = count
    batch.describe()
    return runner.played(turn, phase, legal_codes, count), before_drift
