"""A game turn by turn, in print."""

import textwrap
from typing import TYPE_CHECKING

from geo_patrol.game import Game
from geo_patrol.rendering.text import board_text, fleets_text, heading_text, outcomes_text
from geo_patrol.replays.playback import PlayedPhase, replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from geo_patrol.agents.results import MatchResult
    from geo_patrol.notation import Order

_WIDTH = 80


def print_first_game(result: "MatchResult") -> None:
    """Print the first game of a match as it was played."""
    first, second = result.agents
    seed = int(result.seeds[0])
    print(f"GAME 0 of {len(result):,}: {first} (alpha) against {second} (bravo), seed of the game {seed}\n")
    start = Game(result.config, seed=seed)
    print_game(start, replay(result.config, seed, result.first_game), (first, second))


def print_game(start: Game, phases: "Iterable[PlayedPhase]", names: tuple[str, str]) -> Game:
    """Print a game: orders, engagements and scores, boards at both ends.

    Args:
        start: the position that it begins with.
        phases: what is played.
        names: who plays alpha and bravo.

    Returns:
        The position that it ends with.
    """
    print(_position(start))
    game = start
    for phase in phases:
        _print_phase(phase)
        game = phase.game
    print(f"\n{_position(game)}\n")
    print(f"{_result_text(game, *names)}\n")
    return game


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
    if not game.is_over:
        scores = game.scores
        return (
            f"Not played to its end: turn {game.turn}, {game.phase}, alpha {scores['alpha']}, bravo {scores['bravo']}"
        )
    names = {"alpha": first, "bravo": second}
    result = "Draw" if game.winner is None else f"{names[game.winner]} ({game.winner}) wins"
    reasons = ", ".join(map(str, game.reasons))
    return f"{result} in turn {game.turn}, {game.scores['alpha']} to {game.scores['bravo']}: {reasons}"
