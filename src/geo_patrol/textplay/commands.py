"""The commands of the text games, the orbital ones and the flight games alike."""

from typing import Literal, TypeAlias, get_args

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
