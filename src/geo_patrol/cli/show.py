"""Printing games turn by turn."""

from typing import TYPE_CHECKING

from geo_patrol.game import Game
from geo_patrol.runner import PlayedPhase, replay_orders
from geo_patrol.textplay.transcript import phase_text, position_text, result_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from geo_patrol.evaluation.results import MatchResult


def print_first_game(result: "MatchResult") -> None:
    """Print the first game of a match."""
    first, second = result.agents
    seed = int(result.seeds[0])
    print(f"GAME 0 of {len(result):,}: {first} (alpha) against {second} (bravo), seed of the game {seed}\n")
    start = Game(result.config, seed=seed)
    print_game(start, replay_orders(result.config, seed, result.first_game), (first, second))


def print_game(start: Game, phases: "Iterable[PlayedPhase]", names: tuple[str, str]) -> None:
    """Print a game: orders, engagements and scores, and the board at the start and the end.

    Args:
        start: the initial position.
        phases: the phases.
        names: names of the agents of alpha and bravo.
    """
    print(position_text(start))
    game = start
    for phase in phases:
        print(("\n" if phase.name == "movement" else "") + phase_text(phase))
        game = phase.game
    print(f"\n{position_text(game)}\n")
    print(f"{result_text(game, *names)}\n")
