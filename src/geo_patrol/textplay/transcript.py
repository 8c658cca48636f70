"""Games as text: positions, phases and results."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from geo_patrol.board_text import board_text, fleets_text, heading_text, outcomes_text
from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.runner import PlayedPhase
from geo_patrol.sides import SIDES

WIDTH = 80


def position_text(game: Game) -> str:
    """Return heading, board and both fleets."""
    return f"{heading_text(game)}\n\n{board_text(game)}\n\n{fleets_text(game)}"


def game_text(start: Game, phases: Iterable[PlayedPhase], names: tuple[str, str]) -> Iterator[str]:
    """Yield a game paragraph by paragraph: orders, engagements and scores, and the board at the start and the end.

    Args:
        start: the initial position.
        phases: the phases.
        names: names of the agents of alpha and bravo.
    """
    yield position_text(start)
    game = start
    for phase in phases:
        yield ("\n" if phase.name == "movement" else "") + phase_text(phase)
        game = phase.game
    yield f"\n{position_text(game)}\n\n{result_text(game, *names)}\n"


def phase_text(phase: PlayedPhase) -> str:
    """Return the orders or outcomes of a phase; after an engagement, also the score."""
    lines = []
    if phase.name == "movement":
        lines.append(f"--- Turn {phase.turn} {'-' * (WIDTH - 10 - len(str(phase.turn)))}")
        lines.append("MOVEMENT:")
        lines += [orders_text(side, orders) for side, orders in zip(SIDES, phase.orders, strict=True)]
    else:
        lines.append(outcomes_text(phase.outcomes))
    for side, count in zip(SIDES, phase.illegal_orders, strict=True):
        if count:
            lines.append(f"    {side}: {count} illegal order{'s' * (count > 1)}")
    if phase.name == "engagement" or phase.game.is_over:
        scores = phase.game.scores
        lines.append(f"SCORE: alpha {scores['alpha']}, bravo {scores['bravo']}")
    return "\n".join(lines)


def orders_text(side: str, orders: Sequence[Order]) -> str:
    """Return a side's orders in lines of at most 80 characters."""
    listed = ", ".join(map(str, orders)) or "no orders"
    return textwrap.fill(f"{side}: {listed}", WIDTH, initial_indent="    ", subsequent_indent=" " * 11)


def result_text(game: Game, alpha: str, bravo: str) -> str:
    """Return the winner, turn, score and reasons; of an unfinished game, its turn, phase and score."""
    score = f"{game.scores['alpha']} to {game.scores['bravo']}"
    if not game.is_over:
        return f"Not played to its end: turn {game.turn}, {game.phase}, {score}"
    names = {"alpha": alpha, "bravo": bravo}
    result = "Draw" if game.winner is None else f"{names[game.winner]} ({game.winner}) wins"
    return f"{result} in turn {game.turn}, {score}: {', '.join(map(str, game.reasons))}"
