"""Texts about tokens, actions and targets."""

from collections.abc import Iterator, Sequence

from geo_patrol.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.game import Game
from geo_patrol.notation import MOVES, Order, SatelliteId
from geo_patrol.sides import Side

HELP = """
Answer with a number of the list, or with the order itself: "radial in",
"shoot P3", "guard".
  rest        this token and the rest do nothing
  all ACTION  this token and the rest do the same where it is legal: all guard
  u           undo: back to the token before
  o           the orders so far
  b           the board and both fleets
  q           leave; the game is saved, --resume goes on with it
  ?           this help
Orders count when you commit them at the end of the phase; the other side
does not see them before it has committed its own. Moves come first, then
engagements, then everything drifts one sector prograde."""

_DESTINATIONS = {
    "prograde": prograde,
    "retrograde": retrograde,
    "radial_in": radial_in,
    "radial_out": radial_out,
}
_ENEMY: dict[Side, Side] = {"alpha": "bravo", "bravo": "alpha"}


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
    action = orders[0].action
    if action == "noop":
        return ""
    if action in MOVES:
        here = game.satellite(side, orders[0].satellite).sector
        return f"{game.cost(side, orders[0]):>3} fuel, to sector {_DESTINATIONS[action](here)}"
    if action == "guard":
        return f"{game.cost(side, orders[0]):>3} fuel, {game.probability(side, orders[0]):.0%} for the first attack"
    costs = sorted({game.cost(side, order) for order in orders})
    odds = sorted({game.probability(side, order) for order in orders}, reverse=True)
    targets = f"{len(orders)} target{'s' * (len(orders) != 1)}"
    return f"{_either(costs):>3} fuel, {' or '.join(f'{probability:.0%}' for probability in odds)}, {targets}"


def _either(costs: Sequence[int]) -> str:
    return " or ".join(map(str, costs))


def target_lines(game: Game, side: Side, orders: Sequence[Order]) -> Iterator[str]:
    """List the targets of an attack by their numbers, with range, cost and odds."""
    here = game.satellite(side, orders[0].satellite).sector
    for order in orders:
        assert order.target is not None
        target = game.satellite(_ENEMY[side], order.target)
        distance = "same sector" if target.sector == here else "adjacent sector"
        name = str(SatelliteId(_ENEMY[side], order.target))
        yield (
            f" {order.target:>2} - {name:<15} {distance:<15} {game.cost(side, order):>3} fuel, "
            f"{game.probability(side, order):.0%}   (it has fuel {target.fuel}, ammo {target.ammo})"
        )
