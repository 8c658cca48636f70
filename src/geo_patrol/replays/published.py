"""Playing the recorded games of the published implementation, whose outcomes are given and not drawn."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.batch import Batch
from geo_patrol.game import Game
from geo_patrol.notation import Outcome
from geo_patrol.replays.disagreement import disagreement
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.rerun import PlayedPhase, as_orders
from geo_patrol.verify.games import Difference, read_recorded_outcome, replay_phase, start_recorded
from geo_patrol.verify.recording import RecordedPhase


def start_published(replay: Replay) -> Game:
    """Return the position that a recorded game begins with.

    Raises:
        RecordingError: it is not the one that its configuration sets up.
    """
    return Game.from_batch(_start(replay))


def _start(replay: Replay) -> Batch:
    assert replay.published is not None
    try:
        return start_recorded(replay.published, replay.config)
    except Difference as difference:
        raise disagreement(replay.number, 1, "start", difference) from None


def play_published(replay: Replay) -> Iterator[PlayedPhase]:
    """Play a recorded game with its recorded outcomes; a drift is shown with the engagement before it.

    Raises:
        RecordingError: the recording and the rules part.
    """
    assert replay.published is not None
    batch = _start(replay)
    waiting: tuple[int, NDArray[np.int64], tuple[Outcome, ...]] | None = None
    for phase in replay.published.phases:
        turn = int(batch.games[0].turn) + 1
        try:
            orders = replay_phase(batch, phase)
        except Difference as difference:
            raise disagreement(replay.number, turn, phase.phase, difference) from None
        if phase.phase == "movement":
            yield _played(batch, turn, "movement", orders, ())
        elif phase.phase == "engagement":
            waiting = turn, orders, _outcomes(phase)
        elif waiting is not None:
            turn, orders, outcomes = waiting
            yield _played(batch, turn, "engagement", orders, outcomes)
            waiting = None


def _outcomes(phase: RecordedPhase) -> tuple[Outcome, ...]:
    return tuple(read_recorded_outcome(outcome) for outcome in phase.outcomes or ())


def _played(
    batch: Batch, turn: int, name: str, orders: NDArray[np.int64], outcomes: tuple[Outcome, ...]
) -> PlayedPhase:
    return PlayedPhase(
        turn=turn,
        name=name,
        orders=(as_orders(orders[0]), as_orders(orders[1])),
        illegal_orders=(0, 0),
        outcomes=outcomes,
        game=Game.from_batch(batch, len(outcomes)),
    )
