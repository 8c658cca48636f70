"""Playing recorded games by the rules, and comparing every phase with the recording.

A game with a seed is played again from its orders, and everything has to come out as recorded. A game without one is
played with its recorded outcomes, which have to be possible: the engine takes its decisions from them, and where they are
impossible it arrives at other outcomes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from geo_patrol.base.errors import OrderError, RecordingError
from geo_patrol.base.sides import SIDES
from geo_patrol.engine.engagement import play_engagement
from geo_patrol.engine.state import make_outcomes
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import Order, Outcome, outcome_records, short_name
from geo_patrol.game.position import Position
from geo_patrol.replays.replay import RecordedPhase, Replay, write_outcome

_OUTCOME_FIELDS = ("action", "attacker", "guardian", "target", "probability", "success")
_PROBABILITY_TOLERANCE = 1e-12  # of recorded odds, which other programs may have rounded
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
    game = Game(replay.config, seed=replay.seed or 0)
    if replay.initial is not None:
        _compare_position((replay.number, 1, "start"), "", replay.initial, game.position)
    return game


def play(replay: Replay) -> Iterator[Phase]:
    """Play a recorded game again, and compare every phase with the rules.

    Yields:
        The phases, as long as they agree.

    Raises:
        Disagreement: at the first difference.
    """
    game = start(replay)
    for recorded in replay.phases:
        where = (replay.number, recorded.turn, recorded.name)
        _compare_phase(where, recorded, game)
        _compare_legal_orders(where, replay, recorded, game)
        try:
            phase = game.step_actions(recorded.codes, recorded.outcomes if replay.seed is None else None)
        except OrderError as error:
            raise Disagreement(where, "outcomes", recorded.outcomes, None, reason=f"outcomes: {error}") from None
        _compare_outcomes(where, recorded.outcomes, phase.outcomes)
        after = where
        if recorded.before_drift is not None:
            _compare_position(where, "after.", recorded.before_drift, _before_drift(phase, recorded))
            after = (replay.number, recorded.turn, "drift")
        if recorded.after is not None:
            _compare_position(after, "after.", recorded.after, phase.after.position)
        yield phase
    _compare_end(replay, game)


def check(replay: Replay) -> str | None:
    """Return the first difference between a recorded game and the rules, or None if there is none."""
    try:
        for _ in play(replay):
            pass
    except RecordingError as error:
        return str(error)
    return None


def _before_drift(phase: Phase, recorded: RecordedPhase) -> Position:
    """Return the position between an engagement that was played and its drift."""
    games = phase.before.as_games().copy()
    orders, arrays = games.replace_illegal(recorded.codes[None])[0], games.state
    outcomes = outcome_records(recorded.outcomes)
    play_engagement(arrays.games[0], arrays.rules[0], orders, outcomes, make_outcomes())
    return Position.of(games.state)


def _compare_phase(where: _Where, recorded: RecordedPhase, game: Game) -> None:
    if game.is_over:
        reasons = ", ".join(map(str, game.reasons))
        raise Disagreement(where, "game", "goes on", f"over since turn {game.turn} ({reasons})")
    if (recorded.turn, recorded.name) != (game.turn, game.phase):
        theirs, ours = f"turn {recorded.turn}, {recorded.name}", f"turn {game.turn}, {game.phase}"
        raise Disagreement((where[0], game.turn, game.phase), "phase", theirs, ours)


def _compare_legal_orders(where: _Where, replay: Replay, recorded: RecordedPhase, game: Game) -> None:
    """Compare the orders that the rules allow whatever the fuel, where they are recorded; refuse others if asked to."""
    if recorded.legal is None and not replay.refuses_illegal_orders:
        return
    for index, side in enumerate(SIDES):
        allowed = game.allowed_mask(side)
        for number, codes in enumerate(recorded.legal[index] if recorded.legal is not None else ()):
            theirs, ours = sorted(codes), np.flatnonzero(allowed[number]).tolist()
            if theirs != ours:
                field = f"legal of {side} {short_name(number)}"
                raise Disagreement(where, field, _orders_text(theirs), _orders_text(ours))
        for number, code in enumerate(recorded.codes[index].tolist() if replay.refuses_illegal_orders else ()):
            if not allowed[number, code]:
                field, order = f"orders of {side}", Order.from_code(number, code)
                raise Disagreement(where, field, order, None, f"{field}: recorded {str(order)!r}, which is not legal")


def _orders_text(codes: list[int]) -> str:
    return "[" + ", ".join(str(Order.from_code(0, code)).removeprefix("HVA ") for code in codes) + "]"


def _compare_outcomes(where: _Where, recorded: Sequence[Outcome], played: Sequence[Outcome]) -> None:
    if recorded == played:
        return
    for index, pair in enumerate(zip(recorded, played, strict=False)):
        theirs, ours = map(write_outcome, pair)
        for field in _OUTCOME_FIELDS:
            if theirs.get(field) != ours.get(field) and not _are_close(theirs.get(field), ours.get(field)):
                raise Disagreement(where, f"outcomes.{index}.{field}", theirs.get(field), ours.get(field))
    if len(recorded) != len(played):
        raise Disagreement(where, "number of outcomes", len(recorded), len(played))


def _are_close(theirs: Any, ours: Any) -> bool:
    return isinstance(theirs, float) and isinstance(ours, float) and abs(theirs - ours) <= _PROBABILITY_TOLERANCE


def _compare_position(where: _Where, prefix: str, recorded: Position, replayed: Position) -> None:
    if all(getattr(recorded, name) == getattr(replayed, name) for name in recorded.model_fields_set):
        return
    theirs, ours = recorded.values(), replayed.values()
    if len(recorded.sector[0]) != len(replayed.sector[0]) or len(recorded.sector[1]) != len(replayed.sector[1]):
        raise Disagreement(where, f"{prefix}number of values of the position", len(theirs), len(ours))
    name = next(name for name, value in theirs.items() if value != ours[name])
    raise Disagreement(where, f"{prefix}{name}", theirs[name], ours[name])


def _compare_end(replay: Replay, game: Game) -> None:
    end, where = replay.end, (replay.number, game.turn, "end")
    if end is None:  # not played to the end, or the last line is lost
        return
    settled = None if game.is_over else end.settled
    if not game.is_over and settled is None:
        raise Disagreement(where, "game", "over", f"goes on with {game.phase}")
    fields: tuple[tuple[str, Any, Any], ...] = (
        ("winner", end.winner, game.winner if settled is None else settled.settled_for),
        ("score", end.score, list(game.scores.values())),
        ("turns", end.turns, game.turn),
        ("reasons", end.reasons, [str(reason) for reason in (game.reasons if settled is None else (settled,))]),
    )
    for field, recorded, replayed in fields:
        if recorded != replayed:
            raise Disagreement(where, field, recorded, replayed)
