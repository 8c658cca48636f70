r"""The game as text: the dialogue of the rule books at a terminal, and seats for language models.

>>> from geo_patrol import Game
>>> game = Game("geo_patrol", seed=7)
>>> parse_orders("I approach over a lower ring.\nP1: radial in\nP2 prograde", game, "alpha")
(Order(satellite=1, action='radial_in', target=None), Order(satellite=2, action='prograde', target=None))
"""

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents import Agent
from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.registry import as_agent
from geo_patrol.base.errors import OrderError, counted, printable
from geo_patrol.base.sides import SIDES, Side, enemy_of
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.engine import state
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import (
    ENGAGEMENTS,
    MOVES,
    EndReason,
    Order,
    Outcome,
    Result,
    Satellite,
    order_codes,
    short_name,
)
from geo_patrol.game.text import outcomes_text, position_text
from geo_patrol.play.advice import Hint, find_hint
from geo_patrol.play.live import LiveGame
from geo_patrol.play.order_entry import Option, describe
from geo_patrol.play.telling import outcome_text, rules_text, sight_text

__all__ = [
    "Console",
    "ParsedAnswer",
    "Quit",
    "TextAgent",
    "TextGame",
    "legal_orders_text",
    "observe_text",
    "parse_orders",
    "phases_text",
    "play_text",
    "prompt_text",
    "read_answer",
    "system_text",
    "turn_text",
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


def game_text(
    start: Game, phases: Iterable[Phase], names: tuple[str, str], settled: EndReason | None = None
) -> Iterator[str]:
    """Yield a game paragraph by paragraph: orders, engagements and scores, and the board at the start and the end.

    Args:
        start: the initial position.
        phases: the phases.
        names: names of the agents of alpha and bravo.
        settled: why it was ended after them where the rules would let it go on.
    """
    yield position_text(start)
    game = start
    for phase in phases:
        yield ("\n" if phase.name == "movement" else "") + phase_text(phase)
        game = phase.after
    result = game.result if settled is None else settled.result
    yield f"\n{position_text(game, result=result)}\n\n{result_text(game, names, result)}\n"


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


def result_text(game: Game, names: tuple[str, str], result: Result | None) -> str:
    """Return the winner, turn, score and reasons; of an unfinished game, its turn, phase and score."""
    score = f"{game.scores['alpha']} to {game.scores['bravo']}"
    if result is None:
        return f"Not played to its end: turn {game.turn}, {game.phase}, {score}"
    won = "Draw" if result.winner is None else f"{names[SIDES.index(result.winner)]} ({result.winner}) wins"
    return f"{won} in turn {game.turn}, {score}: {', '.join(map(str, result.reasons))}"


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
MAX_PROBLEMS = 20
"""Lines of an answer that are reported; reading stops there."""
_SHOWN, _LISTED = 60, 3

OnBadLines: TypeAlias = Literal["error", "skip"]
"""What becomes of an answer with a line that cannot be read: refused as a whole, or played without the line."""


class ParsedAnswer(NamedTuple):
    """What an answer says, as ``read_answer`` returns it."""

    orders: tuple[Order, ...]
    """The orders that could be read; each is legal, and no satellite has two."""
    problems: tuple[str, ...]
    """What could not be read and why, a line each; empty if everything was understood."""

    def playable(self, on_bad_lines: OnBadLines) -> bool:
        """Return whether the orders may be played: all was understood, or something was and the rest may be skipped."""
        return not self.problems or (on_bad_lines == "skip" and bool(self.orders))


def system_text(game: Game) -> str:
    """Return what holds for a whole game: its rules, and how to answer; the system prompt of a language model."""
    return f"{rules_text(game)}\n\n{ANSWER}"


def turn_text(game: Game, side: Side, phases: Sequence[Phase] = ()) -> str:
    """Return what a side is told before it gives the orders of a phase: what happened, the position, the legal orders."""
    return f"{observe_text(game, side, phases)}\n\nLegal orders:\n{legal_orders_text(game, side)}"


def prompt_text(game: Game, side: Side, phases: Sequence[Phase] = ()) -> str:
    """Return ``system_text`` and ``turn_text`` as one prompt, for players who remember nothing."""
    return f"{system_text(game)}\n\n{turn_text(game, side, phases)}"


def observe_text(game: Game, side: Side, phases: Sequence[Phase] = ()) -> str:
    """Return a position as text for the player of a side, and what led there.

    About 1,100 characters at the start of ``geo_patrol``; the same position and phases always have the same text. Where the
    configuration hides enemies, the text tells what the side knows.

    Args:
        game: the position; its pending orders and random stream are not shown.
        side: "alpha" or "bravo".
        phases: the phases played since this side was last told; without any, the last engagement is told.

    Raises:
        OrderError: there is no such side.
    """
    game = game.seen_by(side)
    enemy, goals, scores = enemy_of(side), game.goals, game.scores
    estimated = " by what you know" if game.out_of_sight else ""
    lines = [
        f"{game.config.title}: turn {game.turn} of {game.config.turn_limit}, {game.phase} phase. You are {side}.",
        *phases_text(phases, side).splitlines(),
        f"Score: you {scores[side]}, enemy {scores[enemy]}{estimated}.",
        f"Goal sectors: yours {goals[side]}, the enemy's {goals[enemy]}.",
        f"Your satellites:\n{_fleet(game, side)}",
        f"The enemy's satellites ({enemy}):\n{_fleet(game, enemy)}",
    ]
    if game.outcomes and not phases:
        lines += ["Last engagement:", *_outcome_lines(game.outcomes)]
    if game.result is not None:
        won = {side: "you win", enemy: "the enemy wins", None: "a draw"}[game.result.winner]
        lines.append(f"The game is over: {won}, {game.result.in_words}.")
    return "\n".join(lines)


def phases_text(phases: Sequence[Phase], side: Side) -> str:
    """Return what happened in some phases: moves and where they led, attacks, losses and scores; "" for none."""
    return "\n".join(line for phase in phases for line in _phase_lines(phase.seen_by(side), side))


def _phase_lines(phase: Phase, side: Side) -> Iterator[str]:
    yield f"What happened in turn {phase.turn}, {phase.name}:"
    for whose, orders, illegal in zip(SIDES, phase.orders, phase.illegal_orders, strict=True):
        if phase.name == "movement":
            moves = (f"{order} (to {phase.after.satellite(whose, order.satellite).sector})" for order in orders)
            none = "no moves" if whose == side or not phase.hides_enemies else "no moves that you saw"
            yield f"- {_title_of(whose, side)}: {', '.join(moves) or none}"
        if illegal:
            yield f"- {_title_of(whose, side)}: {counted(illegal, 'illegal order')}"
    if phase.name == "engagement":
        yield from _outcome_lines(phase.outcomes) if phase.outcomes else ["- no attacks"]
    yield from _loss_lines(phase)
    if phase.name == "engagement":
        gains = {each: phase.after.scores[each] - phase.before.scores[each] for each in SIDES}
        yield f"- scored: you {gains[side]:+}, enemy {gains[enemy_of(side)]:+}; then everything drifted one sector prograde"


def _title_of(whose: Side, side: Side) -> str:
    return f"{'you' if whose == side else 'enemy'} ({whose})"


def _outcome_lines(outcomes: Sequence[Outcome]) -> list[str]:
    return [f"- {outcome.actor.side} {outcome.actor.short} {outcome_text(outcome)}" for outcome in outcomes]


def _loss_lines(phase: Phase) -> Iterator[str]:
    out_of_sight = phase.after.out_of_sight
    for side in SIDES:
        for before, after in zip(phase.before.satellites(side), phase.after.satellites(side), strict=True):
            if before.is_active and not after.is_active and after.id not in out_of_sight:
                yield f"- lost: {side} {after.id.short} {'is destroyed' if after.destroyed else 'has no fuel left'}"


def _fleet(game: Game, side: Side) -> str:
    out_of_sight = game.out_of_sight
    return "\n".join(
        f"- {one.id.short}: "
        + (f"out of sight since turn {out_of_sight[one.id]}, by drifting in " if one.id in out_of_sight else "")
        + _state(one)
        for one in game.satellites(side)
    )


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
    game = game.seen_by(side)
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
    """Read the orders of a side from an answer, all or nothing; ``read_answer`` describes what can be read.

    Returns:
        The orders, legal in this position; satellites without one hold.

    Raises:
        OrderError: something in the answer cannot be read or is illegal; the message names it, and says what is wrong.
    """
    orders, problems = read_answer(text, game, side)
    if problems:
        raise OrderError(problems_text(problems))
    return orders


def problems_text(problems: Sequence[str]) -> str:
    """Return the first problems of an answer on one line."""
    more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
    return "; ".join(problems[:_LISTED]) + more


def read_answer(text: str, game: Game, side: Side) -> ParsedAnswer:
    """Read the orders of a side from an answer, and report every line that cannot be read.

    Orders stand in lines, or between semicolons or commas: "P3 shoot HVA", "- **Patrol 4**: radial in", "| P5 | guard |",
    "alpha:Patrol:6 collide bravo:HVA:0", and every line that ``legal_orders_text`` prints, with one of its orders. JSON does
    as well: orders by satellite, ``{"P3": "shoot HVA"}``, or a list of texts or of objects with "satellite", "action" and
    "target", alone or under the key "orders".

    If the answer has blocks between lines of ```, the last one alone is read, and every line in it has to be an order.
    Elsewhere, lines and parentheses that name neither a satellite nor an action are remarks and ignored. "none" as a line
    is no orders at all: everything holds.

    Args:
        text: the answer, at most 20,000 characters.
        game: the position.
        side: whose orders they are.

    Returns:
        Orders and problems. Whoever plays the orders although there are problems has to say so to the player.

    Raises:
        OrderError: there is no such side.
    """
    game = game.seen_by(side)  # raises if there is no such side
    if len(text) > MAX_ANSWER:
        return ParsedAnswer((), (f"an answer must have at most {MAX_ANSWER:,} characters, got {len(text):,}",))
    problems: list[str] = []
    orders: dict[int, Order] = {}
    *_, before, last = ["", *text.split("```")]
    fences = text.count("```")
    if fences % 2:
        problems.append("the block that ``` begins has no end; the answer may have been cut off")
    block = last if fences % 2 else before
    source = _LANGUAGE.sub("", block, count=1) if fences else text
    listed = _json_lines(source)
    holds = False
    for line in source.splitlines() if listed is None else listed:
        if _NOTHING.fullmatch(line):
            holds = True
            continue
        for words in _pieces(line, is_order=bool(fences) or listed is not None):
            try:
                order = _order(words, game, side)
            except OrderError as error:
                problems.append(str(error))
                continue
            if orders.setdefault(order.satellite, order) != order:
                problems.append(f"order {str(order)!r}: {short_name(order.satellite)} has an order already")
        if len(problems) >= MAX_PROBLEMS:
            problems[MAX_PROBLEMS - 1 :] = ["there are too many problems; the rest of the answer was not read"]
            break
    if holds and any(order.action != "noop" for order in orders.values()):
        problems.append('"none" means that everything holds, but there are orders as well')
    if not orders and not problems and not holds:
        problems.append(
            'there is no order in the answer; it must have one a line, such as "P3 prograde", or "none" to hold'
        )
    return ParsedAnswer(tuple(orders.values()), tuple(problems[:MAX_PROBLEMS]))


_LANGUAGE = re.compile(r"\A(?:json\b|[\w+-]*[ \t]*\n)", re.IGNORECASE)
"""What may stand behind the ``` that begins a block."""
_NOTHING = re.compile(r"\W*(?:no orders|none|hold|noop)\W*", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:#|//)")
_LIST_NUMBER = re.compile(r"\A[\s>*-]*[0-9]{1,3}[.)]\s")
_REMARK = re.compile(r"\([^()]*\)")
_SPELLINGS = (
    (re.compile(r"\b(alpha|bravo)\s?:\s?hva\s?:\s?0\b"), r"\1_hva"),
    (re.compile(r"\b(alpha|bravo)\s?:\s?patrol\s?:\s?([0-9]{1,3})\b"), r"\1_p\2"),
    (re.compile(r"\bpatrol[\s_#*:-]{0,4}([0-9]{1,3})\b"), r"p\1"),
    (re.compile(r"\bradial[\s_-]{1,3}(in|out)\b"), r"radial_\1"),
)
"""Names that consist of several words, and as one word."""
_NAME = re.compile(r"(?:(alpha|bravo)_)?(hva|p[0-9]{1,3})")
_NOOPS = ("hold", "none")


def _words(text: str) -> list[str]:
    """Return the words of a text without punctuation and Markdown."""
    return [word for word in (match.strip("_") for match in re.findall(r"\w+", text)) if word]


def _spelled(text: str) -> str:
    """Return a text in lower case, with every name as one word."""
    text = text.lower()
    for spelling, word in _SPELLINGS:
        text = spelling.sub(word, text)
    return text


def _says_something(words: Iterable[str]) -> bool:
    """Return whether words name a satellite or an action."""
    return any(word in _ORDER_WORDS or _NAME.fullmatch(word) for word in words)


_ORDER_WORDS = {*MOVES, *ENGAGEMENTS}


def _pieces(line: str, *, is_order: bool) -> Iterator[list[str]]:
    """Yield the orders of a line as words, the satellite first; remarks yield nothing.

    Args:
        line: the line.
        is_order: whether it has to be an order although it names neither a satellite nor an action.
    """
    line = _REMARK.sub(lambda match: match[0] if _says_something(_words(match[0])) else " ", _spelled(line))
    if not _says_something(_words(line)) and (not is_order or _COMMENT.match(line)):
        return
    satellite, action_missing = "", False
    for piece in re.split("[;,]", _LIST_NUMBER.sub("", line, count=1)):
        words = _words(piece)
        if not words:
            continue
        if _NAME.fullmatch(words[0]):
            if action_missing:
                yield [satellite]
            satellite = words.pop(0)
            action_missing = not words  # as in "P3, prograde"
        if words:
            yield [satellite, *words] if satellite else words
            action_missing = False
    if action_missing:
        yield [satellite]


def _order(words: Sequence[str], game: Game, side: Side) -> Order:
    """Return a legal order, made of words in lower case.

    Raises:
        OrderError: they are none.
    """
    plain = ["noop" if index == 1 and word in _NOOPS else word for index, word in enumerate(words)]
    for index, whose in ((0, side), (2, enemy_of(side))):
        match = _NAME.fullmatch(plain[index]) if index < len(plain) else None
        if match:
            if match[1] not in (None, whose):
                raise OrderError(
                    f"order {printable(' '.join(words), _SHOWN)!r}: {match[0]!r} is not a satellite of {whose}"
                )
            plain[index] = match[2].upper()
    order = Order.parse(printable(" ".join(plain), _SHOWN))
    game.satellite(side, order.satellite)  # raises if there is none of this number
    game.check_orders(side, order)
    return order


class _Pairs(list[tuple[str, Any]]):
    """A JSON object, with the keys that it has twice."""


def _json_lines(text: str) -> list[str] | None:
    """Return what a JSON text has instead of lines; None if it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, _Pairs) and "orders" in dict(value):
        found = [each for name, orders in value if name == "orders" for each in _json_orders(orders)]
        # What stands beside them are remarks, except under a satellite's name.
        found += _json_orders(_Pairs(pair for pair in value if _says_something(_words(_spelled(pair[0])))))
    else:
        found = list(_json_orders(value))
    return [line for order in found for line in order.splitlines()] or ["none"]


def _json_orders(value: Any) -> Iterator[str]:
    if isinstance(value, _Pairs) and "satellite" not in dict(value):
        for name, order in value:
            yield f"{name} {'none' if order is None else _json_order(order)}"
    elif isinstance(value, list) and not isinstance(value, _Pairs):
        yield from map(_json_order, value)
    else:
        yield _json_order(value)


def _json_order(value: Any) -> str:
    """Return an order, or what a satellite does, as text; what is none stays unreadable."""
    if not isinstance(value, _Pairs):
        return value if isinstance(value, str) else _json_word(value)
    parts = [_json_word(part) for field in _FIELDS for name, part in value if name == field]
    parts += [name for name, _ in value if _says_something(_words(_spelled(name)))]
    return " ".join(parts)


_FIELDS = ("satellite", "action", "target")


def _json_word(value: Any) -> str:
    if type(value) is int and 0 <= value < state.SATELLITES:
        return short_name(value)
    return "" if value is None else value if isinstance(value, str) else type(value).__name__


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
            Quit: there is no more input.
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
    'Answer with one order a line, such as "P3 prograde" or "P3 shoot HVA", between two lines of ```. You may write before the '
    "block, which alone is read. Every line in it has to be an order. Satellites without an order hold; to hold with all of "
    'them, answer "none".'
)


def play_text(live: LiveGame, console: Console | None = None) -> None:
    """Play a game at the terminal, to its end.

    Args:
        live: the game, new or in progress; people give the orders of sides without an agent. To save the game, add an
            observer that records every phase.
        console: input and output; the terminal of this process by default.

    Raises:
        Quit: a player stops the game.
        AgentError: an agent failed.
    """
    console = console or Console()
    people: list[Side] = [side for side, agent in zip(SIDES, live.agents, strict=True) if agent is None]
    shared = len(people) > 1
    told: dict[Side, str] = dict.fromkeys(people, "")
    if people and live.config.hides_enemies:
        console.write(f"\n{sight_text(live.game)}")
    while not live.is_over:
        game = live.game
        if not shared:  # otherwise shown to each person in turn
            console.write(f"\n{_board(game.seen_by(people[0]) if people else game)}")
        orders: dict[Side, tuple[Order, ...]] = {}
        for side in people:
            orders[side], told[side] = _enter_orders(console, game.seen_by(side), side, told[side], shared=shared)
        alpha, bravo = (orders.get(side, ()) for side in SIDES)
        live.play((alpha, bravo))
        phase = live.timeline.phases[-1]
        if not shared:
            console.write(f"\n{phase_text(phase.seen_by(people[0]) if people else phase)}")
        elif not phase.hides_enemies:
            console.write(f"\n{phase_text(phase)}")
        else:  # told to each person in turn
            told = {side: f"{told[side]}\n{phase_text(phase.seen_by(side))}\n" for side in people}
    console.write(
        f"\n{position_text(live.game)}\n\n{result_text(live.game, live.timeline.names, live.timeline.result)}"
    )


def _board(game: Game) -> str:
    return position_text(game, with_sectors=True)


def _enter_orders(
    console: Console, game: Game, side: Side, told: str, *, shared: bool
) -> tuple[tuple[Order, ...], str]:
    """Return the orders that a person enters, and what is still to be told to this person alone.

    Args:
        console: input and output.
        game: the position as the person knows it.
        side: the person's side.
        told: what has happened since the person was told.
        shared: whether two persons share the screen: the other one does not see what this one does.
    """
    has_choice = any(len(orders) > 1 for orders in game.legal_orders(side).values())
    hides = shared and (has_choice or game.config.hides_enemies)  # otherwise what is legal is no secret
    if hides:
        console.prompt(f"\n{side}, turn {game.turn}, {game.phase}: press Enter when you sit alone. ")
        console.write(f"\n{told}{_board(game)}")
        told = ""
    orders = OrderDialogue(console, game, side).run()
    if hides:
        if not has_choice:
            console.prompt("Press Enter to hide the board. ")
        console.hide_screen()
    return orders, told


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
            Quit: the player stops the game.
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
                self._chosen.clear()
                self._index = 0
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
            case None if answer == "rest":
                self._order_rest("noop")
            case None if answer.startswith("all "):
                self._order_all(answer.removeprefix("all ").strip())
            case None:
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
        on_bad_lines: what becomes of an answer with a line that cannot be read: "error" refuses it, "skip" plays its other
            orders, if it has any, and counts the line.

    Attributes:
        prompts: number of calls of the function.
        forfeited_phases: number of phases in which no answer could be read.
        skipped_lines: number of lines that could not be read in answers that were played.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        function: Callable[[str], str],
        name: str = "text",
        retries: int = 2,
        on_bad_lines: OnBadLines = "error",
    ) -> None:
        self._retries, self._on_bad_lines = _check_reading(retries, on_bad_lines)
        self.name = name
        self.prompts = self.forfeited_phases = self.skipped_lines = 0
        self._function = function

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
                codes[row] = order_codes(self._decide(game, SIDES[side]), SIDES[side])
        return codes

    def _decide(self, game: Game, side: Side) -> tuple[Order, ...]:
        prompt = prompt_text(game, side)
        for _ in range(1 + self._retries):
            self.prompts += 1
            answer = read_answer(self._function(prompt), game, side)
            if answer.playable(self._on_bad_lines):
                self.skipped_lines += len(answer.problems)
                return answer.orders
            prompt = (
                f"{prompt_text(game, side)}\n\nYour last answer could not be read: {problems_text(answer.problems)}"
            )
        self.forfeited_phases += 1
        return FORFEIT


FORFEIT = (Order(state.HVA, "guard"),)
"""Illegal in every position, for an HVA never guards: results count it, or the game is lost, as its rules say."""


def _check_reading(retries: int, on_bad_lines: OnBadLines) -> tuple[int, OnBadLines]:
    if isinstance(retries, bool) or not isinstance(retries, (int, np.integer)) or retries < 0:
        raise ValueError(f"retries must be a non-negative integer, got {retries!r}")
    if on_bad_lines not in get_args(OnBadLines):
        raise ValueError(f"on_bad_lines must be 'error' or 'skip', got {on_bad_lines!r}")
    return int(retries), on_bad_lines


TextReward: TypeAlias = Literal["outcome", "score"]


class TextGame:
    """One side of a game against an agent, as a conversation: what environments for language models are made of.

    ``system`` comes first; then ``prompt`` and ``answer`` alternate until ``is_over``. Phases in which the side can only
    hold are played without a prompt. An answer that cannot be read changes nothing, earns nothing, and the next prompt says
    why; after ``retries`` of them the side gives one illegal order, as ``TextAgent`` does. So a game always ends.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        opponent: an agent's name, see ``geo_patrol.agents.agent_names``, or an ``Agent``.
        side: "alpha" or "bravo".
        reward: "outcome" (1, 0 or -1 at the end) or "score" (the change of the score difference), as in the environments.
        seed: seed of the game and of its opponent; None takes one from the operating system.
        retries: how often in a phase an answer may be one that cannot be read.
        on_bad_lines: what becomes of an answer with a line that cannot be read: "error" refuses it, "skip" plays its other
            orders, if it has any; the next prompt names the line.

    Attributes:
        answers: number of answers.
        unreadable: number of answers that could not be read.
        skipped_lines: number of lines that could not be read in answers that were played.
        forfeited_phases: number of phases in which no answer could be read.
        problems: what was wrong with the last answer.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        opponent: str | Agent = "scripted",
        side: Side = "alpha",
        *,
        reward: TextReward = "outcome",
        seed: int | None = None,
        retries: int = 2,
        on_bad_lines: OnBadLines = "error",
    ) -> None:
        if side not in SIDES:
            raise ValueError(f"side must be 'alpha' or 'bravo', got {side!r}")
        if reward not in get_args(TextReward):
            raise ValueError(f"reward must be 'outcome' or 'score', got {reward!r}")
        self._retries, self._on_bad_lines = _check_reading(retries, on_bad_lines)
        agent = as_agent(opponent, "opponent")
        self.side: Side = side
        self.answers = self.unreadable = self.skipped_lines = self.forfeited_phases = 0
        self.problems: tuple[str, ...] = ()
        self._reward, self._failures = reward, 0
        self._live = LiveGame(load_config(config), (None, agent) if side == "alpha" else (agent, None), seed)
        self._told = 0
        """Number of phases that were told in earlier prompts."""
        self._result = ""
        """What became of the last answer, for the next prompt."""
        self._play_without_choice()

    @property
    def game(self) -> Game:
        """The position, a copy."""
        return self._live.game

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self._live.is_over

    @property
    def outcome(self) -> int:
        """1 for a game won, -1 for one lost; 0 for a draw, and while it goes on."""
        winner = self.game.winner
        return 0 if winner is None else 1 if winner == self.side else -1

    @property
    def score_difference(self) -> int:
        """Points of the side less those of the enemy, as far as the side knows them."""
        scores = self.game.seen_by(self.side).scores
        return scores[self.side] - scores[enemy_of(self.side)]

    @property
    def system(self) -> str:
        """The system prompt: rules, and how to answer."""
        return system_text(self.game)

    @property
    def prompt(self) -> str:
        """What to answer next: what happened since the last answer, the position and the legal orders; or the result."""
        game, phases = self.game, self._live.timeline.phases[self._told :]
        if game.is_over:
            return observe_text(game, self.side, phases)
        text = turn_text(game, self.side, phases)
        if not self.problems:
            return text
        return f"{text}\n\nYour last answer {self._result}: {problems_text(self.problems)}"

    def answer(self, text: str) -> float:
        """Give the orders of an answer, and return the reward.

        Raises:
            ValueError: the game is over.
            AgentError: the opponent failed.
        """
        if self.is_over:
            raise ValueError("the game is over")
        orders, self.problems = answer = read_answer(text, self.game, self.side)
        self.answers += 1
        if answer.playable(self._on_bad_lines):
            self.skipped_lines += len(self.problems)
            self._result = "was played without what could not be read"
        else:
            self.unreadable += 1
            self._failures += 1
            if self._failures <= self._retries:
                self._result = "could not be read"
                return 0.0
            self.forfeited_phases += 1
            self._result = "could not be read either, so you forfeited the phase"
            orders = FORFEIT
        self._failures = 0
        self._told = len(self._live.timeline.phases)
        before = self.score_difference
        self._play(orders)
        self._play_without_choice()
        return float(self.outcome if self._reward == "outcome" else self.score_difference - before)

    def _play(self, orders: tuple[Order, ...] = ()) -> None:
        self._live.play((orders, ()) if self.side == "alpha" else ((), orders))

    def _play_without_choice(self) -> None:
        while not self.is_over and all(len(orders) == 1 for orders in self.game.legal_orders(self.side).values()):
            self._play()
