"""Answers in words: orders of a seat that is played by text."""

from geo_patrol.errors import OrderError
from geo_patrol.game import Game
from geo_patrol.server.protocol import Answer, Orders, ProtocolError
from geo_patrol.server.tables import Table
from geo_patrol.sides import Side
from geo_patrol.textplay import parse_orders


def read_answer(table: Table, side: Side, answer: Answer) -> Orders:
    """Return the orders that an answer gives; one that came before gives the same orders later.

    Raises:
        ProtocolError: an order cannot be read or is illegal, with the code "bad_order", or the phase has not come.
    """
    try:
        orders = parse_orders(answer.text, _position(table, answer), side)
    except OrderError as error:
        raise ProtocolError("bad_order", str(error)) from None
    texts = [str(order) for order in orders]
    return Orders(game=answer.game, turn=answer.turn, phase=answer.phase, orders=texts)


def _position(table: Table, answer: Answer) -> Game:
    """Return the position that an answer is about."""
    for moment in table.live.timeline:
        if (moment.game.turn, moment.game.phase) == (answer.turn, answer.phase):
            return moment.game
    raise ProtocolError("too_soon", f"turn {answer.turn}, {answer.phase}: it is not to be ordered now")
