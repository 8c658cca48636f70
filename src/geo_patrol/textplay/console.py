"""Input and output of the text game: a terminal, or a script behind a pipe."""

import sys
from collections.abc import Callable

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_SCREEN = 60
"""Number of empty lines that hide earlier output where the screen cannot be cleared."""


class Leave(Exception):  # noqa: N818 - a request, not a failure
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
            raise Leave from None
        except UnicodeDecodeError:
            answer = "?" * 8  # not a valid answer to any prompt
        if not self._is_interactive:
            self.write(answer)  # the output reads like the session
        return answer

    def hide_screen(self) -> None:
        """Hide the output so far."""
        self.write(_CLEAR if self._is_screen else "\n" * _SCREEN)
