"""A text game: people enter their orders token by token, as in the rule books' program.

Numbers are the books': 0 NOOP, 1 Prograde, 2 Retrograde, 3 Radial In, 4 Radial Out; 0 NOOP, 1 Shoot, 2 Collide,
3 Guard. Only what is legal is listed, with what it costs and how likely it is to succeed.
"""

from collections.abc import Iterable

from geo_patrol.board_text import position_text
from geo_patrol.errors import OrderError
from geo_patrol.game import Game
from geo_patrol.notation import ENGAGEMENTS, MOVES, Order, short_name
from geo_patrol.sessions.hints import Hint, find_hint
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sides import SIDES, Side
from geo_patrol.textplay.commands import read_command
from geo_patrol.textplay.console import Console, Leave
from geo_patrol.textplay.texts import (
    HELP,
    action_lines,
    orders_text,
    phase_text,
    result_text,
    target_lines,
    token_text,
)

_ACTIONS = {"movement": MOVES, "engagement": ("noop", *ENGAGEMENTS)}
_ILLEGAL = "Invalid selection. Please select a legal action"


def play_text(live: LiveGame, console: Console | None = None) -> None:
    """Play a game at the terminal, to its end.

    Args:
        live: the game, new or in progress; people give the orders of sides without an agent. To save the game, add an
            observer that records every phase.
        console: input and output; the terminal of this process by default.

    Raises:
        Leave: a player stops the game.
        AgentError: an agent failed.
    """
    console = console or Console()
    people: list[Side] = [side for side, agent in zip(SIDES, live.agents, strict=True) if agent is None]
    shared = len(people) > 1
    while not live.is_over:
        game = live.game
        if not shared:  # otherwise shown to each person in turn
            console.write(f"\n{_board(game)}")
        alpha, bravo = (_enter_orders(console, game, side, shared) if side in people else () for side in SIDES)
        live.play((alpha, bravo))
        console.write(f"\n{phase_text(live.last_phase)}")
    console.write(f"\n{position_text(live.game)}\n\n{result_text(live.game, *live.timeline.names)}")


def _board(game: Game) -> str:
    return position_text(game, with_sectors=True)


def _enter_orders(console: Console, game: Game, side: Side, shared: bool) -> tuple[Order, ...]:
    """Return the orders that a person enters; on a shared screen, the other side does not see them."""
    hides = shared and any(len(orders) > 1 for orders in game.legal_orders(side).values())  # what is legal is no secret
    if hides:
        console.prompt(f"\n{side}, turn {game.turn}, {game.phase}: press Enter when you sit alone. ")
        console.write(f"\n{_board(game)}")
    orders = OrderDialogue(console, game, side).run()
    if hides:
        console.hide_screen()
    return orders


class OrderDialogue:
    """Prompts a player for the orders of one phase, which may be changed until they are committed.

    Args:
        console: input and output.
        game: the position; it is not changed.
        side: the player's side.
    """

    def __init__(self, console: Console, game: Game, side: Side) -> None:
        self._console, self._game, self._side = console, game, side
        self._actions = _ACTIONS[game.phase]
        self._legal = game.legal_orders(side)
        self._tokens = [number for number, orders in self._legal.items() if len(orders) > 1]
        self._chosen: dict[int, Order] = {}
        self._index = 0
        self._hint: Hint | None = None

    def run(self) -> tuple[Order, ...]:
        """Return the orders that the player commits, without noops.

        Raises:
            Leave: the player stops the game.
        """
        if not self._tokens:
            self._console.write(f"\nNo token of {self._side} has a choice in this {self._game.phase} phase.")
            return ()
        while True:
            while self._index < len(self._tokens):
                self._enter_order(self._tokens[self._index])
            if self._is_committed():
                return self._orders()

    def _orders(self) -> tuple[Order, ...]:
        return tuple(order for _, order in sorted(self._chosen.items()) if order.action != "noop")

    def _enter_order(self, number: int) -> None:
        """Prompt for the order of a token, until there is one or a command leads elsewhere."""
        write = self._console.write
        write(f"\n{token_text(self._game, self._side, number)}")
        write("Select an action from the list")
        write("\n".join(action_lines(self._game, self._side, self._legal[number], self._actions)))
        while True:
            answer = self._console.prompt("Select action: ")
            if self._is_command(answer):
                return
            order = self._read_order(number, answer)
            if order is not None:
                self._chosen[number] = order
                self._index += 1
                return

    def _read_order(self, number: int, answer: str) -> Order | None:
        """Return the order of an answer; None, with a message, if it is not valid."""
        if answer.isascii() and answer.isdigit() and len(answer) < 3 and int(answer) < len(self._actions):
            return self._order_of(number, self._actions[int(answer)])
        try:
            order = Order.parse(f"{short_name(number)} {answer}")
        except OrderError:
            if answer in ENGAGEMENTS and self._game.phase == "engagement":
                return self._order_of(number, answer)
            legal = {order.action for order in self._legal[number]}
            listed = [index for index, action in enumerate(self._actions) if action in legal]
            self._console.write(f"{_no_number(listed)} (? for help)")
            return None
        if order not in self._legal[number]:
            self._console.write(_ILLEGAL)
            return None
        return order

    def _order_of(self, number: int, action: str) -> Order | None:
        """Return the order for an action; the player selects its target if it takes one."""
        orders = [order for order in self._legal[number] if order.action == action]
        if not orders:
            self._console.write(_ILLEGAL)
            return None
        return orders[0] if orders[0].target is None else self._select_target(orders)

    def _select_target(self, orders: list[Order]) -> Order | None:
        write = self._console.write
        write("Select a target from the list (u: another action)")
        write("\n".join(target_lines(self._game, self._side, orders)))
        by_target = {order.target: order for order in orders}
        while True:
            answer = self._console.prompt("Select target: ")
            command = read_command(answer)
            if command == "undo":
                return None
            if command == "quit":
                raise Leave
            target = _target_number(answer)
            if target in by_target:
                return by_target[target]
            write(_ILLEGAL if target is not None else _no_number(by_target))

    def _is_command(self, answer: str) -> bool:
        """Execute a command; return whether the answer was one."""
        match read_command(answer):
            case "quit":
                raise Leave
            case "undo":
                self._undo()
            case "again":
                self._start_again()
            case "hint":
                self._find_hint()
            case "take":
                self._take_hint()
            case "help":
                self._console.write(HELP)
            case "board":
                self._console.write(f"\n{_board(self._game)}")
            case "orders":
                self._console.write(orders_text(f"{self._side} so far", self._orders()))
            case None:
                return self._is_order_for_all(answer)
        return True

    def _is_order_for_all(self, answer: str) -> bool:
        """Give orders to this token and the rest; return whether the answer says so."""
        if answer == "rest":
            self._order_rest("noop")
        elif answer.startswith("all "):
            self._order_all(answer.removeprefix("all ").strip())
        else:
            return False
        return True

    def _undo(self) -> None:
        if self._index == 0:
            self._console.write("There is nothing to undo in this phase.")
            return
        self._index -= 1
        number = self._tokens[self._index]
        taken = self._chosen.pop(number, None)
        if taken is not None:
            self._console.write(f"Undone: {taken}")

    def _start_again(self) -> None:
        self._chosen.clear()
        self._index = 0

    def _find_hint(self) -> None:
        """Print the orders that a search finds best, with its estimate."""
        self._hint = hint = find_hint(self._game, self._side)
        self._console.write(orders_text("hint", hint.orders))
        estimate = f"won {hint.win_probability:.0%} of {hint.rollouts:,} games that were played out"
        self._console.write(f"    {estimate}; take gives these orders")

    def _take_hint(self) -> None:
        """Give the orders of the last hint, and noop to all other tokens."""
        if self._hint is None:
            self._console.write("Ask for a hint first.")
            return
        suggested = {order.satellite: order for order in self._hint.orders}
        self._chosen = {number: suggested.get(number, Order(number, "noop")) for number in self._tokens}
        self._index = len(self._tokens)

    def _order_all(self, action: str) -> None:
        """Give this token and the remaining ones an action without a target."""
        action = action.replace(" ", "_").replace("hold", "noop")
        if action not in self._actions or action in ("shoot", "collide"):
            self._console.write(f"all {action}: give an action of this phase that takes no target")
        else:
            self._order_rest(action)

    def _order_rest(self, action: str) -> None:
        """Give this token and the remaining ones an action where it is legal, otherwise noop."""
        for number in self._tokens[self._index :]:
            order = Order(number, action)
            self._chosen[number] = order if order in self._legal[number] else Order(number, "noop")
        self._index = len(self._tokens)

    def _is_committed(self) -> bool:
        """Show the orders and prompt for confirmation."""
        orders = self._orders()
        fuel = sum(self._game.cost(self._side, order) for order in orders)
        self._console.write(f"\n{self._game.phase.upper()} orders for {fuel} fuel:\n{orders_text(self._side, orders)}")
        while True:
            answer = self._console.prompt("Commit (Enter), undo the last (u), or begin again (r)? ")
            if answer in ("", "y", "yes", "commit"):
                return True
            if self._is_command(answer):
                return False
            self._console.write("Invalid selection. Press Enter to commit, u to undo, r to begin again, ? for help")


def _no_number(listed: Iterable[int | None]) -> str:
    return f"Invalid selection. Please select one of these: {', '.join(map(str, listed))}"


def _target_number(answer: str) -> int | None:
    """Return the number of a target: "3", "p3" or "hva"."""
    if answer == "hva":
        return 0
    digits = answer.removeprefix("p")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 3 and int(digits) <= 10 else None
