"""The errors that geo_patrol raises on bad input. Each says what is wrong, with the value, and what would be right."""

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

MAX_MESSAGE_LINE, MAX_MESSAGE_LINES = 480, 40
JOINED = "(?<=[^\0-\xff])[\u200c\u200d](?=[^\0-\xff])|(?<=\U0001f3f4)[\U000e0020-\U000e007e]+\U000e007f"
"""Pattern of what is between the letters of Persian or Hindi, and the parts of an emoji: joiners, and the tags of a flag."""
_JOINED = re.compile(f"({JOINED})")


class GeoPatrolError(ValueError):
    """Base of all errors that a user's input can cause.

    A message may quote a stranger's file: it is shortened, and what a terminal would not print as a character is escaped.
    """

    def __init__(self, message: object = "") -> None:
        lines = str(message).split("\n")[:MAX_MESSAGE_LINES]
        super().__init__("\n".join(printable(line, MAX_MESSAGE_LINE) for line in lines))


class ConfigError(GeoPatrolError):
    """A configuration that cannot be read or does not make sense; lists every fault with its key's full path."""


class OrderError(GeoPatrolError):
    """An order that cannot be read, or is not legal where legality is demanded."""


class AgentError(GeoPatrolError):
    """An agent raised an exception, or returned something else than orders.

    Args:
        message: what has happened.
        summary: the same for strangers, without the words of the agent, which may quote its author's files; the message by
            default.

    Attributes:
        side: "alpha" or "bravo", where it played for a side of a live game; otherwise None.
    """

    side: Literal["alpha", "bravo"] | None = None

    def __init__(self, message: object = "", summary: str | None = None) -> None:
        super().__init__(message)
        self.summary = str(self) if summary is None else printable(summary, MAX_MESSAGE_LINE)


class PolicyError(GeoPatrolError):
    """A file of a policy's weights, or of a user's network, that cannot be read or holds something else."""


class MissingPackageError(GeoPatrolError, ImportError):
    """A package of one of the extras is needed and not installed."""


class SolvingError(GeoPatrolError):
    """A game that cannot be solved exactly, or a file of a solution that cannot be read."""


class RecordingError(GeoPatrolError):
    """A saved or recorded game that cannot be read."""


@contextmanager
def optional_import(extra: str, otherwise: str = "") -> Iterator[None]:
    """Import optional dependencies in the block; where one is missing, say which extra installs it.

    Args:
        extra: name of the extra.
        otherwise: what does without it, for the end of the message.

    Raises:
        MissingPackageError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        raise MissingPackageError(
            f"{package} is not installed: pip install 'geo_patrol[{extra}]'{otherwise}"
        ) from error


def printable(text: str, max_length: int) -> str:
    """Return a text on one line, shortened, with everything escaped that could control a terminal or reorder a line."""
    if len(text) <= max_length and text.isprintable():
        return text
    parts = _JOINED.split(text[: max_length + 1])
    escaped = "".join(part if i % 2 else "".join(map(_escape, part)) for i, part in enumerate(parts))
    return escaped if len(escaped) <= max_length else f"{escaped[: max_length - 3]}..."


def _escape(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode("ascii")


def show(value: object) -> str:
    """Return a value for a message: at most 80 characters, whatever it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of too many digits, tables of too many levels
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 agent" or "2 agents"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a question after the known name most similar to an unknown one, to append to a message; "" without any."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
