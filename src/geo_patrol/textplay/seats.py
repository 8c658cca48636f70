r"""A seat that is played by text alone: positions, legal orders and orders, for language models and for people.

>>> from geo_patrol import Game
>>> game = Game("geo_patrol", seed=7)
>>> parse_orders("I approach over a lower ring.\nP1: radial in\nP2 prograde", game, "alpha")
(Order(satellite=1, action='radial_in', target=None), Order(satellite=2, action='prograde', target=None))
"""

import re
from collections.abc import Iterator, Sequence

from geo_patrol.board_text import reasons_text
from geo_patrol.errors import OrderError, printable
from geo_patrol.game import Game
from geo_patrol.notation import Order, Satellite, short_name
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, outcome_text
from geo_patrol.sessions.order_entry import Option, describe
from geo_patrol.sides import Side, enemy_of

MAX_ANSWER = 20_000
"""Characters of an answer that are read; longer ones are refused."""
_BLOCK = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_ORDER = re.compile(r"[\s>*+\d.)-]*?\b(?P<satellite>HVA|P\d+)\b[\s:=*-]*(?P<rest>.*?)[\s.,*]*", re.IGNORECASE)
_NOTHING = re.compile(r"\W*(?:no orders|none|hold|noop)\W*", re.IGNORECASE)
_SHOWN = 60


def rules_text(game: Game) -> str:
    """Return board, aim, scoring, costs and odds of a game, with its values."""
    board = game.config.board
    lines = [
        (
            f"Board: rings {board.inner_ring} to {board.outer_ring} around the Earth. Ring r has 2^r sectors, numbered from "
            "2^r - 1 counterclockwise (prograde). A sector is adjacent to the next and the previous one of its ring, to the one "
            "inside of it, and to the two outside of it; radial_out leads to the lower-numbered of these."
        )
    ]
    for tab in (aim_tab(game), costs_tab(game)):
        lines.append(f"{tab.title}:")
        lines += [f"- {line.left.strip()}: {line.right}" if line.right else f"{line.left}:" for line in tab.lines]
    return "\n".join(lines)


def observe_text(game: Game, side: Side) -> str:
    """Return a position as text for the player of a side, who sees what the other side sees.

    About 1,100 characters at the start of ``geo_patrol``; the same position always has the same text.

    Args:
        game: the position; its pending orders and random stream are not shown.
        side: "alpha" or "bravo".

    Raises:
        OrderError: there is no such side.
    """
    fleet = game.satellites(side)
    enemy, goals, scores = enemy_of(side), game.goals, game.scores
    lines = [
        f"{game.config.title}: turn {game.turn} of {game.config.turn_limit}, {game.phase} phase. You are {side}.",
        f"Score: you {scores[side]}, enemy {scores[enemy]}.",
        f"Goal sectors: yours {goals[side]}, the enemy's {goals[enemy]}.",
        f"Your satellites:\n{_fleet(fleet)}",
        f"The enemy's satellites ({enemy}):\n{_fleet(game.satellites(enemy))}",
    ]
    if game.outcomes:
        lines.append("Last engagement:")
        lines += [f"- {outcome.actor.side} {outcome.actor.short} {outcome_text(outcome)}" for outcome in game.outcomes]
    if game.is_over:
        result = {side: "you win", enemy: "the enemy wins", None: "a draw"}[game.winner]
        lines.append(f"The game is over: {result}, {reasons_text(game)}.")
    return "\n".join(lines)


def _fleet(satellites: Sequence[Satellite]) -> str:
    return "\n".join(f"- {one.id.short}: {_state(one)}" for one in satellites)


def _state(satellite: Satellite) -> str:
    if satellite.destroyed:
        return "destroyed"
    fuel = f"{satellite.fuel} fuel" if satellite.is_active else "no fuel, takes no orders"
    return f"sector {satellite.sector}, ring {satellite.ring}, {fuel}, {satellite.ammo} ammo"


def legal_orders_text(game: Game, side: Side) -> str:
    """Return the legal orders of a side's satellites with what they cost, where they lead and how likely they succeed.

    Satellites that can only hold are left out.

    Raises:
        OrderError: there is no such side.
    """
    lines = []
    for number, orders in game.legal_orders(side).items():
        options = [_option_text(describe(game, side, order)) for order in orders if order.action != "noop"]
        if options:
            lines.append(f"{short_name(number)}: {'; '.join(options)}")
    return "\n".join(lines) or "None: your satellites can only hold."


def _option_text(option: Option) -> str:
    action = str(option.order).partition(" ")[2]
    if option.probability is None:
        return f"{action} (to {option.sector}, {option.cost} fuel)"
    return f"{action} ({option.cost} fuel, {option.probability:.0%})"


def parse_orders(text: str, game: Game, side: Side) -> tuple[Order, ...]:
    """Read the orders of a side from an answer that may have other text around them.

    An order is a line, or a part of one between semicolons, that begins with a satellite: "P3 shoot HVA", "- P4: radial
    in". If the answer has a fenced block (```), the last one alone is read. "none" is no orders at all: everything holds.

    Args:
        text: the answer, at most 20,000 characters.
        game: the position.
        side: whose orders they are.

    Returns:
        The orders, legal in this position; satellites without one hold.

    Raises:
        OrderError: an order cannot be read or is illegal, a satellite has two, or there are no orders; the message names
            the order, and says what is wrong.
    """
    if len(text) > MAX_ANSWER:
        raise OrderError(f"an answer of {len(text):,} characters: give at most {MAX_ANSWER:,}")
    blocks = _BLOCK.findall(text)
    orders: dict[int, Order] = {}
    for piece in _pieces(blocks[-1] if blocks else text):
        order = Order.parse(piece)
        game.cost(side, order)  # raises with the reason if it is illegal
        if order.satellite in orders:
            raise OrderError(f"order {piece!r}: {short_name(order.satellite)} has an order already")
        orders[order.satellite] = order
    if not orders and not any(map(_NOTHING.fullmatch, text.splitlines())):
        raise OrderError('there is no order in the answer: give one a line, such as "P3 prograde", or "none" to hold')
    return tuple(orders.values())


def _pieces(text: str) -> Iterator[str]:
    """Yield what begins like an order, in its plain form."""
    for piece in re.split(r"[;\n]", text):
        match = _ORDER.fullmatch(piece)
        if match:
            yield printable(f"{match['satellite']} {match['rest']}", _SHOWN)
