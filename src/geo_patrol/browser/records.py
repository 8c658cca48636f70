"""Recorded and live games as JSON for a browser: what the panels beside the board say, and the board's frames."""

from typing import Any

from geo_patrol.board_text import reasons_text
from geo_patrol.browser.scenes import SIZE, SceneEncoder
from geo_patrol.game import Game
from geo_patrol.notation import Outcome, Satellite
from geo_patrol.scenes.satellites import full_fuel
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, outcome_text, result_tab
from geo_patrol.sessions.score_changes import score_changes
from geo_patrol.sessions.timeline import Timeline
from geo_patrol.sides import SIDES


def game_record(timeline: Timeline, title: str) -> dict[str, Any]:
    """Return a whole game: what ``board_record`` returns, ``symbols``, ``shapes`` and ``moments``."""
    game = timeline[0].game
    encoder = SceneEncoder(game.config)
    moments = [moment_record(timeline, i, encoder) for i in range(len(timeline))]
    return {
        "title": title,
        "preset": game.config.title,
        "names": list(timeline.names),
        "turnLimit": game.config.turn_limit,
        **board_record(timeline, encoder),
        "symbols": encoder.symbols,
        "shapes": encoder.shapes,
        "moments": moments,
    }


def board_record(timeline: Timeline, encoder: SceneEncoder) -> dict[str, Any]:
    """Return what stays the same in a game: ``size``, ``board`` and ``turning`` as markup, and ``rules`` in words."""
    game = timeline[0].game
    return {
        "size": SIZE,
        "board": encoder.board(),
        "turning": encoder.board(is_turning=True),
        "rules": [aim_tab(game), costs_tab(game)],
    }


def moment_record(timeline: Timeline, index: int, encoder: SceneEncoder) -> dict[str, Any]:
    """Return what a browser shows of a moment; its frames refer to the shapes of the encoder."""
    snapshot, turn = timeline.snapshot(index), timeline.last_engagement(index)
    game, before = snapshot.game, snapshot.before
    return {
        "turn": game.turn,
        "phase": "over" if game.is_over else game.phase,
        "winner": (game.winner or "draw") if game.is_over else None,
        "reasons": reasons_text(game),
        "score": [game.scores[side] for side in SIDES],
        "goal": [game.goal_points[side] for side in SIDES],
        "fleets": [[_satellite(game, satellite) for satellite in game.satellites(side)] for side in SIDES],
        "orders": [[str(order) for order in orders] for orders in before.orders] if before is not None else [[], []],
        "outcomes": [_outcome(outcome) for outcome in snapshot.outcomes],
        "outcomesTurn": snapshot.outcomes_turn,
        "changes": [] if turn is None else [str(change) for change in score_changes(*turn)],
        "result": result_tab(timeline).lines if game.is_over else [],
        "engaged": before is not None and bool(before.outcomes),
        **encoder.frames(snapshot),
    }


def _satellite(game: Game, satellite: Satellite) -> list[Any]:
    """Return name, sector, fuel, full tank, ammo and state of a satellite."""
    state = "" if satellite.is_active else "destroyed" if satellite.destroyed else "no fuel"
    full = full_fuel(game, satellite.id.side, satellite.id.number)
    return [satellite.id.short, satellite.sector, satellite.fuel, full, satellite.ammo, state]


def _outcome(outcome: Outcome) -> list[Any]:
    """Return an outcome in words, whether it succeeded, and whether it is a guard without an attack."""
    text = f"{outcome.actor.side} {outcome.actor.short} {outcome_text(outcome)}"
    return [text, outcome.success, outcome.action == "guard" and outcome.attacker is None]
