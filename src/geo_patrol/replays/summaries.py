"""Statistics of recorded games: result, score curve, losses and engagements, for tables and reports."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.schema import GameConfig
from geo_patrol.config.toml_files import flatten
from geo_patrol.game.game import Phase
from geo_patrol.game.notation import ENGAGEMENTS, EndReason, Outcome, SatelliteId
from geo_patrol.replays.checking import play, start
from geo_patrol.replays.replay import Replay

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
    turns: int = 0
    reasons: tuple[EndReason, ...] = ()
    curve: list[tuple[int, int]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    engagements: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    illegal_orders: tuple[int, int] = (0, 0)

    @property
    def scores(self) -> tuple[int, int]:
        """Last scores of alpha and bravo."""
        return self.curve[-1] if self.curve else (0, 0)

    def lost(self, side: Side) -> int:
        """Return how many satellites a side lost."""
        return sum(loss.satellite.side == side for loss in self.losses)

    def hva_lost(self, side: Side) -> int | None:
        """Return the turn in which a side lost its HVA."""
        return next((loss.turn for loss in self.losses if loss.satellite == SatelliteId(side, 0)), None)


def summarise(replay: Replay, watch: Callable[[Phase], None] | None = None) -> GameSummary:
    """Play a recorded game again and return its statistics, up to the first disagreement with the rules.

    Args:
        replay: the game.
        watch: called with every phase.
    """
    summary = GameSummary(replay)
    try:
        game = start(replay)
        summary.curve.append((game.scores["alpha"], game.scores["bravo"]))
        for played in play(replay):
            _add_phase(summary, played)
            if watch is not None:
                watch(played)
            game = played.after
        settled = None if game.is_over or replay.end is None else replay.end.settled
        if settled is not None:
            summary.winner, summary.reasons, summary.turns = settled.settled_for, (settled,), game.turn
        is_finished = game.is_over or settled is not None
        summary.status = "finished" if is_finished else "damaged" if replay.fault else "unfinished"
        summary.fault = replay.fault
    except GeoPatrolError as error:
        summary.status, summary.fault = "disagrees", str(error)
    return summary


def _add_phase(summary: GameSummary, played: Phase) -> None:
    game = played.after
    summary.turns = played.turn
    alpha, bravo = map(sum, zip(summary.illegal_orders, played.illegal_orders, strict=True))
    summary.illegal_orders = alpha, bravo
    for outcome in played.outcomes:
        key = (outcome.actor.side, outcome.action)
        tries, successes = summary.engagements.get(key, (0, 0))
        summary.engagements[key] = (tries + (outcome.attacker is not None), successes + outcome.success)
    summary.losses += _losses(played)
    if played.name == "engagement" or game.is_over:
        summary.curve.append((game.scores["alpha"], game.scores["bravo"]))
    if game.is_over:
        summary.winner = game.winner
        summary.reasons = tuple(game.reasons)


def _losses(played: Phase) -> Iterator[Loss]:
    for side in SIDES:
        fleets = played.before.satellites(side), played.after.satellites(side)
        for old, new in zip(*fleets, strict=True):
            if (old.is_active and not new.is_active) or (new.destroyed and not old.destroyed):
                yield Loss(played.turn, new.id, _cause(new.id, played.outcomes) if new.destroyed else "fuel")


def _cause(satellite: SatelliteId, outcomes: tuple[Outcome, ...]) -> Cause:
    shot = any(o.success and o.action == "shoot" and o.target == satellite for o in outcomes)
    return "shoot" if shot else "collide"


Rows: TypeAlias = Literal["games", "phases", "engagements"]
"""What a table has a row for."""
_PHASE_COLUMNS = (
    *("game", "turn", "phase"),
    *(f"{side}_{name}" for side in SIDES for name in ("score", "fuel", "active")),
    *(f"{side}_{name}" for side in SIDES for name in ("orders", "illegal_orders")),
)
_ENGAGEMENT_COLUMNS = ("game", "turn", "side", "action", "attacker", "guardian", "target", "probability", "success")


def table_rows(replay: Replay, rows: Rows) -> tuple[GameSummary, list[dict[str, Any]]]:
    """Return the statistics of a game, and its rows of a table, by column.

    Texts that a spreadsheet would evaluate as formulas are prefixed with an apostrophe.
    """
    table: list[dict[str, Any]] = []

    def add(played: Phase) -> None:
        if rows == "phases":
            table.append(_phase_row(replay.number, played))
        elif rows == "engagements":
            table.extend(_engagement_row(replay.number, played.turn, outcome) for outcome in played.outcomes)

    summary = summarise(replay, add)
    return summary, [_game_row(summary)] if rows == "games" else table


def table_columns(replay: Replay, rows: Rows) -> list[str]:
    """Return the columns of a table, of which a first game tells the scenario's."""
    if rows == "games":
        return list(_game_row(GameSummary(replay)))
    return list(_PHASE_COLUMNS if rows == "phases" else _ENGAGEMENT_COLUMNS)


def _phase_row(number: int, played: Phase) -> dict[str, Any]:
    """Return a phase as a row; scores, fuel and active satellites are those after it."""
    after = []
    for side in SIDES:
        fleet = played.after.satellites(side)
        after += [played.after.scores[side], sum(one.fuel for one in fleet), sum(one.is_active for one in fleet)]
    orders = [
        number for side in range(len(SIDES)) for number in (len(played.orders[side]), played.illegal_orders[side])
    ]
    values = (number, played.turn, played.name, *after, *orders)
    return dict(zip(_PHASE_COLUMNS, values, strict=True))


def _engagement_row(number: int, turn: int, outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of an engagement as a row."""
    satellites = ("" if one is None else one.short for one in (outcome.attacker, outcome.guardian, outcome.target))
    values = (number, turn, outcome.actor.side, outcome.action, *satellites, outcome.probability, int(outcome.success))
    return dict(zip(_ENGAGEMENT_COLUMNS, values, strict=True))


def _scenario(config: GameConfig) -> dict[str, Any]:
    """Return the values of a configuration, as they were sampled, by the keys of overrides."""
    data = config.to_dict()
    values = {"rules": data["rules"], "turn_limit": data["turn_limit"], "variant": _as_text(data.get("variant", ""))}
    for side in SIDES:
        patrols = data[side]["patrols"]
        groups = patrols.pop("formation")
        patrols["count"] = patrols.get("count", sum(count for _, count in groups))
    for key, value in flatten({name: data[name] for name in ("board", *SIDES)}):
        if isinstance(value, (list, tuple)):
            values |= {f"{key}.{index}": inner for index, inner in enumerate(value)}
        else:
            values[key] = value
    return values


def _game_row(summary: GameSummary) -> dict[str, Any]:
    """Return a game as a row: result, scenario, losses and engagements."""
    replay = summary.replay
    row: dict[str, Any] = {
        "game": replay.number,
        "line": replay.line,
        "title": _as_text(replay.config.title),
        "seed": replay.seed,
        **{side: _as_text(agent) for side, agent in zip(SIDES, replay.agents, strict=True)},
        "status": summary.status,
        "winner": (summary.winner or "draw") if summary.status == "finished" else "",
        **{f"{side}_score": score for side, score in zip(SIDES, summary.scores, strict=True)},
        "turns": summary.turns,
        "reasons": "; ".join(map(str, summary.reasons)),
    }
    for index, side in enumerate(SIDES):
        row[f"{side}_lost"] = summary.lost(side)
        row[f"{side}_hva_lost_turn"] = summary.hva_lost(side)
        row[f"{side}_illegal_orders"] = summary.illegal_orders[index]
    for side in SIDES:
        for action in ENGAGEMENTS:
            row[f"{side}_{action}_tries"], row[f"{side}_{action}_successes"] = summary.engagements.get(
                (side, action), (0, 0)
            )
    return row | _scenario(replay.config) | {"fault": _as_text(summary.fault or "")}


def _as_text(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
