"""Playing recorded games by the rules, and comparing every phase with the recording."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from geo_patrol.errors import RecordingError
from geo_patrol.game import Game
from geo_patrol.notation import Outcome
from geo_patrol.replays.conversion import write_outcome
from geo_patrol.replays.disagreement import Disagreement
from geo_patrol.replays.enact import step_with_outcomes
from geo_patrol.replays.legality import find_illegal_order, find_legal_difference
from geo_patrol.replays.position import Position, PositionReader
from geo_patrol.replays.replay import Replay, ReplayPhase
from geo_patrol.runner import GameRunner, PlayedPhase

_OUTCOME_FIELDS = ("action", "attacker", "guardian", "target", "probability", "success")
_PROGRESS_FIELDS = ("turn", "phase", "done")
_Where = tuple[int, int, str]
"""Number of the game, turn and phase."""


def start(replay: Replay) -> Game:
    """Return the initial position of a recorded game.

    Raises:
        Disagreement: another one is recorded.
    """
    return _start(replay).game


def play(replay: Replay) -> Iterator[PlayedPhase]:
    """Play a recorded game again, and compare every phase with the rules.

    Yields:
        The phases, as long as they agree.

    Raises:
        Disagreement: at the first difference.
    """
    runner = _start(replay)
    positions = PositionReader(runner.batch)
    for recorded in replay.phases:
        where = (replay.number, recorded.turn, recorded.phase)
        _compare_phase(where, recorded, runner)
        _compare_legal_orders(where, replay, recorded, runner)
        played, before_drift = _play_phase(where, replay, recorded, runner)
        _compare_outcomes(where, recorded.outcomes, played.outcomes)
        after = where
        if recorded.before_drift is not None and before_drift is not None:
            _compare_position(where, "after.", positions, recorded.before_drift, before_drift)
            after = (replay.number, recorded.turn, "drift")
        if recorded.after is not None:
            _compare_position(after, "after.", positions, recorded.after, positions.read())
        yield played
    _compare_end(replay, runner.game)


def check(replay: Replay) -> str | None:
    """Return the first difference between a recorded game and the rules, or None if there is none."""
    try:
        for _ in play(replay):
            pass
    except RecordingError as error:
        return str(error)
    return None


def _start(replay: Replay) -> GameRunner:
    runner = GameRunner(replay.config, replay.seed or 0)
    if replay.initial is not None:
        positions = PositionReader(runner.batch)
        _compare_position((replay.number, 1, "start"), "", positions, replay.initial, positions.read())
    return runner


def _play_phase(
    where: _Where, replay: Replay, recorded: ReplayPhase, runner: GameRunner
) -> tuple[PlayedPhase, Position | None]:
    """Play a phase; with recorded outcomes if there is no seed to sample them from."""
    if replay.seed is not None:
        return runner.step(recorded.codes), None
    try:
        return step_with_outcomes(runner, recorded.codes, recorded.outcomes)
    except RecordingError as error:
        raise Disagreement(where, "outcomes", recorded.outcomes, None, reason=str(error)) from None


def _compare_phase(where: _Where, recorded: ReplayPhase, runner: GameRunner) -> None:
    if runner.is_over:
        reasons = ", ".join(map(str, runner.game.reasons))
        raise Disagreement(where, "game", "goes on", f"over since turn {runner.turn} ({reasons})")
    if (recorded.turn, recorded.phase) != (runner.turn, runner.phase):
        theirs, ours = f"turn {recorded.turn}, {recorded.phase}", f"turn {runner.turn}, {runner.phase}"
        raise Disagreement((where[0], runner.turn, runner.phase), "phase", theirs, ours)


def _compare_legal_orders(where: _Where, replay: Replay, recorded: ReplayPhase, runner: GameRunner) -> None:
    if recorded.legal is not None and (difference := find_legal_difference(runner.batch, recorded.legal)):
        raise Disagreement(where, *difference)
    if replay.refuses_illegal_orders and (illegal := find_illegal_order(runner.batch, recorded.codes)):
        side, order = illegal
        reason = f"orders of {side}: recorded {str(order)!r}, which is not legal"
        raise Disagreement(where, f"orders of {side}", order, None, reason)


def _compare_outcomes(where: _Where, recorded: Sequence[Outcome], played: Sequence[Outcome]) -> None:
    if recorded == played:
        return
    for index, pair in enumerate(zip(recorded, played, strict=False)):
        theirs, ours = map(write_outcome, pair)
        for field in _OUTCOME_FIELDS:
            if theirs.get(field) != ours.get(field):
                raise Disagreement(where, f"outcomes.{index}.{field}", theirs.get(field), ours.get(field))
    raise Disagreement(where, "number of outcomes", len(recorded), len(played))


def _compare_position(
    where: _Where, prefix: str, positions: PositionReader, recorded: Position, replayed: Position
) -> None:
    if len(recorded.values) != len(replayed.values):
        sizes = len(recorded.values), len(replayed.values)
        raise Disagreement(where, f"{prefix}number of values of the position", *sizes)
    for index in np.flatnonzero(recorded.values != replayed.values).tolist():
        theirs, ours = recorded.values[index].item(), replayed.values[index].item()
        raise Disagreement(where, f"{prefix}{positions.names()[index]}", theirs, ours)
    for field, theirs, ours in zip(_PROGRESS_FIELDS, recorded.progress or (), replayed.progress or (), strict=False):
        if theirs != ours:
            reason = f"{prefix}{field}: recorded {theirs!r}, replayed {ours!r}"
            raise Disagreement(where, f"{prefix}{field}", theirs, ours, reason)


def _compare_end(replay: Replay, game: Game) -> None:
    end, where = replay.end, (replay.number, game.turn, "end")
    if end is None:  # not played to the end, or the last line is lost
        return
    if not game.is_over:
        raise Disagreement(where, "game", "over", f"goes on with {game.phase}")
    fields: tuple[tuple[str, Any, Any], ...] = (
        ("winner", end.winner, game.winner),
        ("score", end.score, list(game.scores.values())),
        ("turns", end.turns, game.turn),
        ("reasons", end.reasons, [str(reason) for reason in game.reasons]),
    )
    for field, recorded, replayed in fields:
        if recorded != replayed:
            raise Disagreement(where, field, recorded, replayed)
