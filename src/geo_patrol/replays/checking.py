"""Playing a recorded game by the rules, and saying where a recording and the rules part."""

from collections.abc import Iterator, Sequence
from typing import Any

from geo_patrol.errors import RecordingError
from geo_patrol.game import Game
from geo_patrol.notation import Outcome
from geo_patrol.replays.disagreement import Disagreement, disagreement
from geo_patrol.replays.layout import PositionWriter, write_outcome
from geo_patrol.replays.published import play_published, start_published
from geo_patrol.replays.replay import Replay, ReplayPhase
from geo_patrol.replays.rerun import PlayedPhase, Rerun
from geo_patrol.verify.games import Difference

_OUTCOME_FIELDS = ("action", "attacker", "guardian", "target", "probability", "success")


def start(replay: Replay) -> Game:
    """Return the position that a recorded game begins with.

    Raises:
        RecordingError: a recording of the published implementation begins with another one.
    """
    if replay.published is not None:
        return start_published(replay)
    return Rerun(replay.config, replay.seed or 0).game


def play(replay: Replay) -> Iterator[PlayedPhase]:
    """Play a recorded game again, and compare every phase with the rules.

    Yields:
        The phases, as long as they agree.

    Raises:
        Disagreement: at the first figure that differs.
        RecordingError: a recording of the published implementation does not make sense.
    """
    if replay.published is not None:
        yield from play_published(replay)
        return
    rerun = Rerun(replay.config, replay.seed or 0)
    position = PositionWriter(rerun.batch)
    for recorded in replay.phases:
        _compare_phase(replay, recorded, rerun.game)
        try:
            played = rerun.show(recorded.codes, recorded.outcomes if replay.seed is None else None)
        except Difference as difference:
            raise disagreement(replay.number, recorded.turn, recorded.phase, difference) from None
        _compare_outcomes(replay, recorded, played.outcomes)
        _compare_figures(replay, recorded, position)
        yield played
    _compare_end(replay, rerun.game)


def check(replay: Replay) -> str | None:
    """Return where a recorded game and the rules part, or None if they agree throughout."""
    try:
        for _ in play(replay):
            pass
    except RecordingError as error:
        return str(error)
    return None


def _compare_phase(replay: Replay, recorded: ReplayPhase, game: Game) -> None:
    if game.is_over:
        reasons = ", ".join(map(str, game.reasons))
        raise Disagreement(
            replay.number, recorded.turn, recorded.phase, "game", "goes on", f"over since turn {game.turn} ({reasons})"
        )
    if (recorded.turn, recorded.phase) != (game.turn, game.phase):
        raise Disagreement(
            replay.number,
            game.turn,
            game.phase,
            "phase",
            f"turn {recorded.turn}, {recorded.phase}",
            f"turn {game.turn}, {game.phase}",
        )


def _compare_outcomes(replay: Replay, recorded: ReplayPhase, played: Sequence[Outcome]) -> None:
    def differ(field: str, theirs: object, ours: object) -> Disagreement:
        return Disagreement(replay.number, recorded.turn, recorded.phase, field, theirs, ours)

    if recorded.outcomes == tuple(played):
        return
    for place, (theirs, ours) in enumerate(zip(recorded.outcomes, played, strict=False)):
        plain = write_outcome(theirs), write_outcome(ours)
        for field in _OUTCOME_FIELDS:
            values = [outcome.get(field) for outcome in plain]
            if values[0] != values[1]:
                raise differ(f"outcomes.{place}.{field}", *values)
    raise differ("number of outcomes", len(recorded.outcomes), len(played))


def _compare_figures(replay: Replay, recorded: ReplayPhase, position: PositionWriter) -> None:
    replayed = position.figures()
    if len(recorded.figures) != len(replayed):
        field, values = "number of figures of the position", (len(recorded.figures), len(replayed))
    elif (places := (recorded.figures != replayed).nonzero()[0]).size:
        place = int(places[0])
        field, values = position.names()[place], (int(recorded.figures[place]), int(replayed[place]))
    else:
        return
    raise Disagreement(replay.number, recorded.turn, recorded.phase, f"after.{field}", *values)


def _compare_end(replay: Replay, game: Game) -> None:
    end = replay.end
    if end is None:  # not played to the end, or the line that says so is lost
        return
    if not game.is_over:
        raise Disagreement(replay.number, game.turn, "end", "game", "over", f"goes on with {game.phase}")
    fields: tuple[tuple[str, Any, Any], ...] = (
        ("winner", end.winner, game.winner),
        ("score", end.score, list(game.scores.values())),
        ("turns", end.turns, game.turn),
        ("reasons", end.reasons, [str(reason) for reason in game.reasons]),
    )
    for field, recorded, replayed in fields:
        if recorded != replayed:
            raise Disagreement(replay.number, game.turn, "end", field, recorded, replayed)
