"""Recorded and live games as JSON for a browser: what the panels beside the board say, and the board's frames."""

from typing import Any

from geo_patrol.board_text import reasons_text
from geo_patrol.browser.scenes import SIZE, SceneEncoder
from geo_patrol.game import Game
from geo_patrol.notation import Outcome, Satellite
from geo_patrol.scenes.satellites import full_fuel
from geo_patrol.sessions.game_pages import outcome_text
from geo_patrol.sessions.timeline import Snapshot, Timeline
from geo_patrol.sides import SIDES


def game_record(timeline: Timeline, title: str) -> dict[str, Any]:
    """Return a whole game: ``board`` and ``turning`` as markup, ``symbols``, ``shapes`` and ``moments``."""
    game = timeline[0].game
    encoder = SceneEncoder(game.config)
    moments = [moment_record(timeline.snapshot(i), encoder) for i in range(len(timeline))]
    return {
        "title": title,
        "preset": game.config.title,
        "names": list(timeline.names),
        "turnLimit": game.config.turn_limit,
        "size": SIZE,
        "board": encoder.board(),
        "turning": encoder.board(is_turning=True),
        "symbols": encoder.symbols,
        "shapes": encoder.shapes,
        "moments": moments,
    }


def moment_record(snapshot: Snapshot, encoder: SceneEncoder) -> dict[str, Any]:
    """Return what a browser shows of a snapshot; its frames refer to the shapes of the encoder."""
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
