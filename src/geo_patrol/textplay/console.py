"""Talking to a person at a terminal, or to a script behind a pipe."""

import sys
from collections.abc import Callable

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_SCREEN = 60
"""Lines that hide what was printed before, where a screen cannot be cleared."""


class Leave(Exception):  # noqa: N818 - a wish, not a failure
    """The player wants to stop here, or nobody is there any more."""


class Console:
    """Asks and tells.

    Args:
        ask: prints a prompt and returns the answer; raises ``EOFError`` if there are no more.
        tell: prints a text.
    """

    def __init__(self, ask: Callable[[str], str] = input, tell: Callable[[str], None] = print) -> None:
        self._ask, self.tell = ask, tell
        self._is_typed = sys.stdin is not None and sys.stdin.isatty()
        self._is_screen = sys.stdout is not None and sys.stdout.isatty()

    def ask(self, prompt: str) -> str:
        """Return the answer to a prompt, without blanks around it and in small letters.

        Raises:
            Leave: there are no more answers.
        """
        try:
            answer = self._ask(prompt).strip().lower()
        except EOFError:
            self.tell("")
            raise Leave from None
        except UnicodeDecodeError:
            answer = "?" * 8  # no answer that anything takes
        if not self._is_typed:
            self.tell(answer)  # whoever reads along sees what was answered
        return answer

    def draw_curtain(self) -> None:
        """Hide what stands on the screen."""
        self.tell(_CLEAR if self._is_screen else "\n" * _SCREEN)
