"""Statistics of recorded games: result, score curve, losses and engagements, for tables and reports."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from geo_patrol.errors import GeoPatrolError
from geo_patrol.game import Game
from geo_patrol.notation import ENGAGEMENTS, Outcome, SatelliteId
from geo_patrol.replays.checking import play, start
from geo_patrol.replays.replay import Replay
from geo_patrol.runner import PlayedPhase
from geo_patrol.sides import SIDES, Side

Cause: TypeAlias = Literal["shoot", "collide", "fuel"]
"""Why a satellite was lost: shot, in a collision (its own or an enemy's), or out of fuel."""
Status: TypeAlias = Literal["finished", "unfinished", "damaged", "disagrees"]


@dataclass(frozen=True)
class Loss:
    """A satellite that went inactive."""

    turn: int
    satellite: SatelliteId
    cause: Cause


@dataclass
class GameSummary:
    """Statistics of a recorded game, as far as it agrees with the rules.

    Attributes:
        replay: the game.
        status: "finished" or "unfinished"; "damaged" if the file is; "disagrees" with the rules.
        fault: the damage, or the first disagreement.
        winner: winner of a finished game; None for a draw.
        scores: last scores of alpha and bravo.
        turns: number of turns, the last one included.
        reasons: why the game ended.
        curve: scores of alpha and bravo at the start and after every turn.
        losses: lost satellites, in order.
        engagements: tries and successes by side and action; a guard tries once for every attack that it meets.
        illegal_orders: numbers of illegal orders of alpha and bravo.
    """

    replay: Replay
    status: Status = "unfinished"
    fault: str | None = None
    winner: Side | None = None
    scores: tuple[int, int] = (0, 0)
    turns: int = 0
    reasons: tuple[str, ...] = ()
    curve: list[tuple[int, int]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    engagements: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    illegal_orders: tuple[int, int] = (0, 0)

    def lost(self, side: Side) -> int:
        """Return how many satellites a side lost."""
        return sum(loss.satellite.side == side for loss in self.losses)

    def hva_lost(self, side: Side) -> int | None:
        """Return the turn in which a side lost its HVA."""
        return next((loss.turn for loss in self.losses if loss.satellite == SatelliteId(side, 0)), None)


Watcher: TypeAlias = Callable[[Game, PlayedPhase], None]
"""Called with the position before a phase, and the phase."""


def summarise(replay: Replay, watch: Watcher | None = None) -> GameSummary:
    """Play a recorded game again and return its statistics, up to the first disagreement with the rules.

    Args:
        replay: the game.
        watch: called after every phase.
    """
    summary = GameSummary(replay)
    try:
        game = start(replay)
        _take_scores(summary, game)
        for played in play(replay):
            _take(summary, game, played)
            if watch is not None:
                watch(game, played)
            game = played.game
        summary.status = "finished" if game.is_over else "damaged" if replay.fault else "unfinished"
        summary.fault = replay.fault
    except GeoPatrolError as error:
        summary.status, summary.fault = "disagrees", str(error)
    return summary


def _take(summary: GameSummary, before: Game, played: PlayedPhase) -> None:
    game = played.game
    summary.turns = played.turn
    summary.illegal_orders = (
        summary.illegal_orders[0] + played.illegal_orders[0],
        summary.illegal_orders[1] + played.illegal_orders[1],
    )
    for outcome in played.outcomes:
        key = (_actor(outcome).side, outcome.action)
        tries, successes = summary.engagements.get(key, (0, 0))
        summary.engagements[key] = (tries + (outcome.attacker is not None), successes + outcome.success)
    summary.losses += _losses(before, played)
    if played.name == "engagement" or game.is_over:
        _take_scores(summary, game)
    if game.is_over:
        summary.winner = game.winner
        summary.reasons = tuple(map(str, game.reasons))


def _take_scores(summary: GameSummary, game: Game) -> None:
    summary.scores = (game.scores["alpha"], game.scores["bravo"])
    summary.curve.append(summary.scores)


def _actor(outcome: Outcome) -> SatelliteId:
    actor = outcome.guardian if outcome.action == "guard" else outcome.attacker
    assert actor is not None
    return actor


def _losses(before: Game, played: PlayedPhase) -> Iterator[Loss]:
    for side in SIDES:
        fleets = before.satellites(side), played.game.satellites(side)
        for old, new in zip(*fleets, strict=True):
            if (old.is_active and not new.is_active) or (new.destroyed and not old.destroyed):
                yield Loss(played.turn, new.id, _cause(new.id, played.outcomes) if new.destroyed else "fuel")


def _cause(satellite: SatelliteId, outcomes: tuple[Outcome, ...]) -> Cause:
    shot = any(o.success and o.action == "shoot" and o.target == satellite for o in outcomes)
    return "shoot" if shot else "collide"


CSV_COLUMNS = (
    "game",
    "line",
    "title",
    "seed",
    "alpha",
    "bravo",
    "status",
    "winner",
    "alpha_score",
    "bravo_score",
    "turns",
    "reasons",
    *(f"{side}_{what}" for side in SIDES for what in ("lost", "hva_lost_turn", "illegal_orders")),
    *(f"{side}_{action}_{what}" for side in SIDES for action in ENGAGEMENTS for what in ("tries", "successes")),
    "fault",
)


def csv_row(summary: GameSummary) -> list[Any]:
    """Return a game as a row of ``CSV_COLUMNS``.

    Texts that a spreadsheet would evaluate as formulas are prefixed with an apostrophe.
    """
    replay = summary.replay
    winner = (summary.winner or "draw") if summary.status == "finished" else ""
    row: list[Any] = [
        replay.number,
        replay.line,
        _as_text(replay.config.title),
        replay.seed,
        *map(_as_text, replay.agents),
        summary.status,
        winner,
        *summary.scores,
        summary.turns,
        "; ".join(summary.reasons),
    ]
    for index, side in enumerate(SIDES):
        row += [summary.lost(side), summary.hva_lost(side), summary.illegal_orders[index]]
    for side in SIDES:
        for action in ENGAGEMENTS:
            row += summary.engagements.get((side, action), (0, 0))
    return [*row, _as_text(summary.fault or "")]


def _as_text(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
