"""A game of a match, turn by turn."""

import textwrap
from typing import TYPE_CHECKING

from geo_patrol.agents.replay import PlayedPhase, replay
from geo_patrol.game import Game
from geo_patrol.rendering.text import board_text, fleets_text, heading_text, outcomes_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geo_patrol.agents.results import MatchResult
    from geo_patrol.notation import Order

_WIDTH = 80


def print_first_game(result: "MatchResult") -> None:
    """Print the first game of a match as it was played: orders, engagements and scores, boards at both ends."""
    first, second = result.agents
    seed = int(result.seeds[0])
    print(f"GAME 0 of {len(result):,}: {first} (alpha) against {second} (bravo), seed of the game {seed}\n")
    print(_position(Game(result.config, seed=seed)))
    phase = None
    for phase in replay(result.config, seed, result.first_game):
        _print_phase(phase)
    assert phase is not None
    print(f"\n{_position(phase.game)}\n")
    print(f"{_result_text(phase.game, first, second)}\n")


def _position(game: Game) -> str:
    return f"{heading_text(game)}\n\n{board_text(game)}\n\n{fleets_text(game)}"


def _print_phase(phase: PlayedPhase) -> None:
    if phase.name == "movement":
        print(f"\n--- Turn {phase.turn} {'-' * (_WIDTH - 10 - len(str(phase.turn)))}")
        print("MOVEMENT:")
        for side, orders in zip(("alpha", "bravo"), phase.orders, strict=True):
            print(_orders_text(side, orders))
    else:
        print(outcomes_text(phase.outcomes))
    for side, count in zip(("alpha", "bravo"), phase.illegal_orders, strict=True):
        if count:
            print(f"    {side}: {count} illegal order{'s' * (count > 1)}")
    if phase.name == "engagement" or phase.game.is_over:
        scores = phase.game.scores
        print(f"SCORE: alpha {scores['alpha']}, bravo {scores['bravo']}")


def _orders_text(side: str, orders: "Sequence[Order]") -> str:
    listed = ", ".join(map(str, orders)) or "no orders"
    return textwrap.fill(f"{side}: {listed}", _WIDTH, initial_indent="    ", subsequent_indent=" " * 11)


def _result_text(game: Game, first: str, second: str) -> str:
    names = {"alpha": first, "bravo": second}
    result = "Draw" if game.winner is None else f"{names[game.winner]} ({game.winner}) wins"
    reasons = ", ".join(map(str, game.reasons))
    return f"{result} in turn {game.turn}, {game.scores['alpha']} to {game.scores['bravo']}: {reasons}"
