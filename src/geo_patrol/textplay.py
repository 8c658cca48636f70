r"""The game as text: the dialogue of the rule books at a terminal, and seats for language models.

>>> from geo_patrol import Game
>>> game = Game("geo_patrol", seed=7)
>>> parse_orders("I approach over a lower ring.\nP1: radial in\nP2 prograde", game, "alpha")
(Order(satellite=1, action='radial_in', target=None), Order(satellite=2, action='prograde', target=None))
"""

import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.board_text import outcomes_text, position_text, reasons_text
from geo_patrol.engine import state
from geo_patrol.errors import OrderError, printable
from geo_patrol.game import Game, Phase
from geo_patrol.notation import ENGAGEMENTS, MOVES, Order, Satellite, order_codes, short_name
from geo_patrol.sessions.advice import Hint, find_hint
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, outcome_text
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.order_entry import Option, describe
from geo_patrol.sides import SIDES, Side, enemy_of

__all__ = [
    "Console",
    "Quit",
    "TextAgent",
    "legal_orders_text",
    "observe_text",
    "parse_orders",
    "play_text",
    "prompt_text",
    "rules_text",
]


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


Command: TypeAlias = Literal["undo", "again", "hint", "take", "board", "orders", "help", "quit"]

_WORDS: dict[str, Command] = {
    **{command: command for command in get_args(Command)},
    "u": "undo",
    "back": "undo",
    "r": "again",
    "i": "hint",
    "t": "take",
    "b": "board",
    "map": "board",
    "o": "orders",
    "log": "orders",
    "?": "help",
    "h": "help",
    "q": "quit",
    "exit": "quit",
}


def read_command(answer: str) -> Command | None:
    """Return the command that an answer in lower case is, in full, short, or by a further name; None if it is none."""
    return _WORDS.get(answer)


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
        raise OrderError(f"an answer must have at most {MAX_ANSWER:,} characters, got {len(text):,}")
    blocks = _BLOCK.findall(text)
    orders: dict[int, Order] = {}
    for piece in _pieces(blocks[-1] if blocks else text):
        order = Order.parse(piece)
        game.cost(side, order)  # raises with the reason if it is illegal
        if order.satellite in orders:
            raise OrderError(f"order {piece!r}: {short_name(order.satellite)} has an order already")
        orders[order.satellite] = order
    if not orders and not any(map(_NOTHING.fullmatch, text.splitlines())):
        raise OrderError(
            'there is no order in the answer; it must have one a line, such as "P3 prograde", or "none" to hold'
        )
    return tuple(orders.values())


def _pieces(text: str) -> Iterator[str]:
    """Yield what begins like an order, in its plain form."""
    for piece in re.split(r"[;\n]", text):
        match = _ORDER.fullmatch(piece)
        if match:
            yield printable(f"{match['satellite']} {match['rest']}", _SHOWN)


_ACTIONS = {"movement": MOVES, "engagement": ("noop", *ENGAGEMENTS)}
_ILLEGAL = "Invalid selection. Please select a legal action"


class Quit(Exception):  # noqa: N818 - a request, not a failure
    """The player stops the game, or there is no more input."""


class Console:
    """Reads answers and writes texts.

    Args:
        read: prints a prompt and returns the answer; raises ``EOFError`` at the end of the input.
        write: prints a text.
    """

    def __init__(self, read: Callable[[str], str] = input, write: Callable[[str], None] = print) -> None:
        self._read, self.write = read, write
        self._is_interactive = sys.stdin is not None and sys.stdin.isatty()
        self._is_screen = sys.stdout is not None and sys.stdout.isatty()

    def prompt(self, text: str) -> str:
        """Return the answer to a prompt, stripped and in lower case.

        Raises:
            Leave: there is no more input.
        """
        try:
            answer = self._read(text).strip().lower()
        except EOFError:
            self.write("")
            raise Quit from None
        except UnicodeDecodeError:
            answer = "?" * 8  # not a valid answer to any prompt
        if not self._is_interactive:
            self.write(answer)  # the output reads like the session
        return answer

    def hide_screen(self) -> None:
        """Hide the output so far."""
        self.write(_CLEAR if self._is_screen else "\n" * _SCREEN)


ANSWER = (
    'Answer with one order a line, such as "P3 prograde" or "P3 shoot HVA". Satellites without an order hold. To hold with '
    'all of them, answer "none". Lines that do not begin with a satellite are ignored; if you write about satellites, put '
    "the orders between two lines of ```."
)


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
        console.write(f"\n{phase_text(live.timeline.phases[-1])}")
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
                raise Quit
            target = _target_number(answer)
            if target in by_target:
                return by_target[target]
            write(_ILLEGAL if target is not None else _no_number(by_target))

    def _is_command(self, answer: str) -> bool:
        """Execute a command; return whether the answer was one."""
        match read_command(answer):
            case "quit":
                raise Quit
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
            self._console.write(f"all {action}: it must be an action of this phase that takes no target")
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


_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_SCREEN = 60
"""Number of empty lines that hide earlier output where the screen cannot be cleared."""


class TextAgent(StatelessAgent):
    """Plays by a function from a prompt to an answer.

    The prompt has the rules, the position and the legal orders; an answer that cannot be read is asked for again, with the
    reason. If the last one cannot be read either, its side gives a single illegal order: results count it as such, and it
    is a noop or loses the game, as the configuration's ``illegal_orders`` says.

    Args:
        function: returns an answer to a prompt.
        name: name of the agent in tables.
        retries: how often an answer that cannot be read is asked for again.

    Attributes:
        prompts: number of calls of the function.
        forfeited_phases: number of phases in which no answer could be read.

    Raises:
        ValueError: ``retries`` is negative.
    """

    def __init__(self, function: Callable[[str], str], name: str = "text", retries: int = 2) -> None:
        if retries < 0:
            raise ValueError(f"retries must be a non-negative integer, got {retries!r}")
        self.name = name
        self.prompts = self.forfeited_phases = 0
        self._function, self._retries = function, retries

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Raise TypeError: texts are made from games, which ``plan`` receives."""
        del observations, action_masks, generator
        raise TypeError(f"agent {self.name!r} needs the games themselves: call plan")

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, see ``PlanningAgent``; games without a choice take no prompt."""
        del observations, generator
        codes = np.zeros(action_masks.shape[:2], np.int64)
        for row, (game, side) in enumerate(zip(games, sides, strict=True)):
            if action_masks[row, :, state.NOOP + 1 :].any():
                codes[row] = self._decide(game, SIDES[side])
        return codes

    def _decide(self, game: Game, side: Side) -> list[int]:
        prompt = prompt_text(game, side)
        for _ in range(1 + self._retries):
            self.prompts += 1
            answer = self._function(prompt)
            try:
                return order_codes(parse_orders(answer, game, side), side)
            except OrderError as error:
                prompt = f"{prompt_text(game, side)}\n\nYour last answer could not be read: {error}"
        self.forfeited_phases += 1
        return [state.GUARD] + [state.NOOP] * state.PATROLS  # an HVA never guards: this is illegal in every position


def prompt_text(game: Game, side: Side) -> str:
    """Return everything that a player of a side needs to decide, and how to answer."""
    return "\n\n".join(
        [rules_text(game), observe_text(game, side), f"Legal orders:\n{legal_orders_text(game, side)}", ANSWER]
    )
