"""What goes wrong, said in a line on standard error: no tracebacks for wrong input, Ctrl-C or a closed pipe."""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, ParamSpec

import typer
from pydantic_core import PydanticSerializationError

from geo_patrol.errors import AgentError, GeoPatrolError

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
"""Exit statuses."""

_Arguments = ParamSpec("_Arguments")


class InputError(GeoPatrolError):
    """Arguments of a command that do not make sense."""


@contextmanager
def bad_input() -> Iterator[None]:
    """Turn any ValueError of the block into an InputError: what the block checks comes from the user."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from error


def plain_errors(command: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
    """Make a command report errors in plain words, and leave with the status that goes with them."""

    @functools.wraps(command)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except AgentError as error:
            _leave(str(error), FAILED)
        except GeoPatrolError as error:
            _leave(str(error), BAD_INPUT)
        except KeyboardInterrupt:
            _leave("interrupted", INTERRUPTED)
        except PydanticSerializationError as error:
            if not isinstance(error.__cause__, KeyboardInterrupt):
                raise
            _leave("interrupted", INTERRUPTED)  # while a figure was being written, which pydantic takes for a fault
        except BrokenPipeError:
            _abandon_output()
            raise typer.Exit(FAILED) from None
        except OSError as error:
            _leave(f"{error.filename or 'output'}: {error.strerror or error}", FAILED)

    return run


@contextmanager
def leave_at_once(before: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Let Ctrl-C end the process on the spot while compiled code is being built or loaded.

    A KeyboardInterrupt that is raised inside a callback of LLVM is lost there, and the compiler may crash over it.

    Args:
        before: what is still to be done then.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears Ctrl-C
        yield
        return

    def leave(_signal: int, _frame: object) -> NoReturn:
        from rich.console import Console

        before()
        Console(stderr=True).show_cursor()  # which a progress bar may have hidden
        os.write(2, b"geo-patrol: interrupted\n")  # the streams may be in the middle of something
        os._exit(INTERRUPTED)

    usual = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _leave(message: str, status: int) -> NoReturn:
    print(f"geo-patrol: {message}", file=sys.stderr)
    raise typer.Exit(status)


def _abandon_output() -> None:
    """Throw away what is still to be printed: nobody reads it, and the interpreter would complain on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
