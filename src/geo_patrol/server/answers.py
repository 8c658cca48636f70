"""Orders of a seat, also as answers in words, by which a seat is played by text."""

from geo_patrol.errors import OrderError
from geo_patrol.game import Game
from geo_patrol.server.protocol import Answer, Orders, ProtocolError
from geo_patrol.server.tables import FORFEIT, Table
from geo_patrol.sides import Side
from geo_patrol.textplay import parse_orders


def submit(table: Table, side: Side, message: Orders | Answer) -> Orders:
    """Submit the orders of a side; return those that are in.

    An answer that came before gives the same orders later. The third one to a phase that cannot be read forfeits it, as
    with ``TextAgent``: its side gives a single illegal order.

    Raises:
        ProtocolError: an order cannot be read or is illegal, with the code "bad_order", or the phase has not come.
    """
    if isinstance(message, Orders):
        table.submit(side, message)
        return message
    game = _position(table, message)
    is_current = (game.turn, game.phase) == (table.game.turn, table.game.phase)
    try:
        orders = _orders(message, [str(order) for order in parse_orders(message.text, game, side)])
    except OrderError as error:
        if not is_current or not table.is_forfeited(side):
            raise ProtocolError("bad_order", str(error)) from None
        return _orders(message, [str(order) for order in FORFEIT])
    table.submit(side, orders)
    return orders


def _orders(answer: Answer, texts: list[str]) -> Orders:
    return Orders(game=answer.game, turn=answer.turn, phase=answer.phase, orders=texts)


def _position(table: Table, answer: Answer) -> Game:
    """Return the position that an answer is about."""
    for moment in table.live.timeline:
        if (moment.game.turn, moment.game.phase) == (answer.turn, answer.phase):
            return moment.game
    raise ProtocolError("too_soon", f"turn {answer.turn}, {answer.phase}: it is not to be ordered now")
