"""Playing recorded games by the rules, and comparing every phase with the recording."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.legality import ILLEGAL, write_order_costs
from geo_patrol.errors import RecordingError
from geo_patrol.game import Game
from geo_patrol.notation import Order, Outcome, short_name
from geo_patrol.replays.referee import step_with_outcomes
from geo_patrol.replays.replay import Position, Replay, ReplayPhase, read_position
from geo_patrol.replays.schema import write_outcome
from geo_patrol.runner import GameRunner, PlayedPhase
from geo_patrol.sides import SIDES

_OUTCOME_FIELDS = ("action", "attacker", "guardian", "target", "probability", "success")
_PROGRESS_FIELDS = ("turn", "phase", "done")
_Where = tuple[int, int, str]
"""Number of the game, turn and phase."""


class Disagreement(RecordingError):  # noqa: N818 - a finding, not a failure of the program
    """The first difference between a recorded game and the rules.

    Attributes:
        number: index of the game in its file.
        turn: turn number, from 1.
        phase: "movement", "engagement" or "drift"; "start" for the initial position, "end" for the result.
        difference: what differs, in words.

    Args:
        where: ``number``, ``turn`` and ``phase``.
        field: name of what differs.
        recorded: its value in the recording.
        replayed: its value by the rules.
        reason: replaces the two values in the message.
    """

    def __init__(self, where: _Where, field: str, recorded: object, replayed: object, reason: str = "") -> None:
        self.number, self.turn, self.phase = where
        self.field, self.recorded, self.replayed = field, recorded, replayed
        self.difference = reason or f"{field}: recorded {_as_text(recorded)}, replayed {_as_text(replayed)}"
        super().__init__(f"game {self.number}, turn {self.turn}, {self.phase}: {self.difference}")


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


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
    for recorded in replay.phases:
        where = (replay.number, recorded.turn, recorded.phase)
        _compare_phase(where, recorded, runner)
        _compare_legal_orders(where, replay, recorded, runner)
        played, before_drift = _play_phase(where, replay, recorded, runner)
        _compare_outcomes(where, recorded.outcomes, played.outcomes)
        after = where
        if recorded.before_drift is not None and before_drift is not None:
            _compare_position(where, "after.", recorded.before_drift, before_drift)
            after = (replay.number, recorded.turn, "drift")
        if recorded.after is not None:
            _compare_position(after, "after.", recorded.after, read_position(runner.batch))
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
        _compare_position((replay.number, 1, "start"), "", replay.initial, read_position(runner.batch))
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
    if recorded.legal is None and not replay.refuses_illegal_orders:
        return
    batch = runner.batch
    costs = np.empty((state.SIDES, state.SATELLITES, state.ORDERS), np.int64)
    write_order_costs(batch.games[0], batch.rules[0], costs)
    if recorded.legal is not None:
        _compare_lists_of_orders(where, recorded.legal, batch, costs)
    if replay.refuses_illegal_orders:
        _refuse_illegal_orders(where, recorded.codes, costs)


def _compare_lists_of_orders(
    where: _Where, recorded: list[list[list[int]]], batch: Batch, costs: NDArray[np.int64]
) -> None:
    """Compare all orders that the rules allow; those among them that can be paid must be those of the mask."""
    masks, fuel = batch.masks()[0], batch.games[0].fuel
    for side, name in enumerate(SIDES):
        for number, codes in enumerate(recorded[side]):
            allowed = np.flatnonzero(costs[side, number] != ILLEGAL).tolist()
            payable = [code for code in codes if costs[side, number, code] <= fuel[side, number]]
            legal = np.flatnonzero(masks[side, number]).tolist()
            for theirs, ours in ((sorted(codes), allowed), (sorted(payable), legal)):
                if theirs != ours:
                    field = f"legal of {name} {short_name(number)}"
                    raise Disagreement(where, field, _orders_text(theirs), _orders_text(ours))


def _orders_text(codes: list[int]) -> str:
    return "[" + ", ".join(str(Order.from_code(0, code)).removeprefix("HVA ") for code in codes) + "]"


def _refuse_illegal_orders(where: _Where, codes: NDArray[np.int8], costs: NDArray[np.int64]) -> None:
    """Raise if one of (2, 11) order codes is not allowed by the rules, whatever the fuel."""
    costs_of_orders = np.take_along_axis(costs, codes.astype(np.int64)[..., np.newaxis], axis=2)[..., 0]
    for side, number in np.argwhere(costs_of_orders == ILLEGAL).tolist():
        field, order = f"orders of {SIDES[side]}", Order.from_code(number, int(codes[side, number]))
        raise Disagreement(where, field, order, None, f"{field}: recorded {str(order)!r}, which is not legal")


def _compare_outcomes(where: _Where, recorded: Sequence[Outcome], played: Sequence[Outcome]) -> None:
    if recorded == played:
        return
    for index, pair in enumerate(zip(recorded, played, strict=False)):
        theirs, ours = map(write_outcome, pair)
        for field in _OUTCOME_FIELDS:
            if theirs.get(field) != ours.get(field):
                raise Disagreement(where, f"outcomes.{index}.{field}", theirs.get(field), ours.get(field))
    raise Disagreement(where, "number of outcomes", len(recorded), len(played))


def _compare_position(where: _Where, prefix: str, recorded: Position, replayed: Position) -> None:
    if recorded.fields != replayed.fields:
        theirs, ours = recorded.named_values(), replayed.named_values()
        if theirs.keys() != ours.keys():
            raise Disagreement(where, f"{prefix}number of values of the position", len(theirs), len(ours))
        name = next(name for name, value in ours.items() if theirs[name] != value)
        raise Disagreement(where, f"{prefix}{name}", theirs[name], ours[name])
    for field, progress, expected in zip(
        _PROGRESS_FIELDS, recorded.progress or (), replayed.progress or (), strict=False
    ):
        if progress != expected:
            reason = f"{prefix}{field}: recorded {progress!r}, replayed {expected!r}"
            raise Disagreement(where, f"{prefix}{field}", progress, expected, reason)


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
