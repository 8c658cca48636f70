"""Games as text: phases and results, and the options of a player who enters orders."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from geo_patrol.board_text import outcomes_text, position_text
from geo_patrol.game import Game, Phase
from geo_patrol.notation import Order
from geo_patrol.sessions.order_entry import describe
from geo_patrol.sides import SIDES, Side

WIDTH = 80
HELP = """
Answer with a number of the list, or with the order itself: "radial in",
"shoot P3", "guard".
  rest        this token and the rest do nothing
  all ACTION  this token and the rest do the same where it is legal: all guard
  u, undo     back to the token before
  r, again    start this phase again
  i, hint     the orders that a search finds best; t, take gives them
  o, orders   the orders so far
  b, board    the board and both fleets
  q, quit     leave; the game is saved, --resume goes on with it
  ?, help     this help
Orders count when you commit them at the end of the phase; the other side
does not see them before it has committed its own. Moves come first, then
engagements, then everything drifts one sector prograde."""


def token_text(game: Game, side: Side, number: int) -> str:
    """Return the heading of a token: phase, name, sector, fuel and ammo."""
    token = game.satellite(side, number)
    return (
        f"Turnphase: {game.phase}\n"
        f"Token: {token.id}   sector {token.sector} (ring {token.ring}), fuel {token.fuel}, ammo {token.ammo}"
    )


def action_lines(game: Game, side: Side, legal: Sequence[Order], actions: Sequence[str]) -> Iterator[str]:
    """List the legal actions of a token by their numbers, with cost and destination or odds."""
    for index, action in enumerate(actions):
        orders = [order for order in legal if order.action == action]
        if orders:
            yield f" {index} - {_title(action):<11}{_terms(game, side, orders)}".rstrip()


def _title(action: str) -> str:
    return "NOOP" if action == "noop" else action.replace("_", " ").title()


def _terms(game: Game, side: Side, orders: Sequence[Order]) -> str:
    if orders[0].action == "noop":
        return ""
    options = [describe(game, side, order) for order in orders]
    first = options[0]
    if first.probability is None:
        return f"{first.cost:>3} fuel, to sector {first.sector}"
    if first.order.target is None:
        return f"{first.cost:>3} fuel, {first.probability:.0%} for the first attack"
    costs = " or ".join(map(str, sorted({option.cost for option in options})))
    odds = sorted({option.probability for option in options if option.probability is not None}, reverse=True)
    targets = f"{len(options)} target{'s' * (len(options) != 1)}"
    return f"{costs:>3} fuel, {' or '.join(f'{probability:.0%}' for probability in odds)}, {targets}"


def target_lines(game: Game, side: Side, orders: Sequence[Order]) -> Iterator[str]:
    """List the targets of an attack by their numbers, with range, cost and odds."""
    here = game.satellite(side, orders[0].satellite).sector
    for option in (describe(game, side, order) for order in orders):
        assert option.target is not None
        target = game.satellite(option.target.side, option.target.number)
        distance = "same sector" if target.sector == here else "adjacent sector"
        yield (
            f" {target.id.number:>2} - {target.id!s:<15} {distance:<15} {option.cost:>3} fuel, "
            f"{option.probability:.0%}   (it has fuel {target.fuel}, ammo {target.ammo})"
        )


def game_text(start: Game, phases: Iterable[Phase], names: tuple[str, str]) -> Iterator[str]:
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
        game = phase.after
    yield f"\n{position_text(game)}\n\n{result_text(game, *names)}\n"


def phase_text(phase: Phase) -> str:
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
    if phase.name == "engagement" or phase.after.is_over:
        scores = phase.after.scores
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
