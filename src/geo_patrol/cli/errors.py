"""Errors and interrupts of commands: one line on standard error and an exit status, without a traceback.

Only the errors of ``geo_patrol.errors``, errors of the operating system and Ctrl-C are reported that way. Any other
exception is a bug and keeps its traceback.
"""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, ParamSpec

import typer
from pydantic_core import PydanticSerializationError

import geo_patrol_command
from geo_patrol.errors import AgentError, GeoPatrolError
from geo_patrol.files import remove_temporary_files
from geo_patrol_command import INTERRUPTED

BAD_INPUT, FAILED = 2, 1
"""Exit statuses; INTERRUPTED is a third one."""

_Arguments = ParamSpec("_Arguments")


class InputError(GeoPatrolError):
    """Invalid arguments of a command."""


@contextmanager
def bad_input() -> Iterator[None]:
    """Convert a ValueError of the block to an InputError.

    For blocks that only validate arguments from the command line; elsewhere a ValueError is a bug.
    """
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from error


def plain_errors(command: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
    """Decorate a command to report errors in one line and to exit with the corresponding status."""

    @functools.wraps(command)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        try:
            with _on_interrupt(signal.default_int_handler):  # raises KeyboardInterrupt
                command(*args, **kwargs)
        except AgentError as error:
            _exit(str(error), FAILED)
        except GeoPatrolError as error:
            _exit(str(error), BAD_INPUT)
        except KeyboardInterrupt:
            _exit("interrupted", INTERRUPTED)
        except PydanticSerializationError as error:
            if not isinstance(error.__cause__, KeyboardInterrupt):
                raise
            _exit("interrupted", INTERRUPTED)  # pydantic wraps an interrupt that comes while it serialises a value
        except BrokenPipeError:
            discard_output()
            raise typer.Exit(FAILED) from None
        except ConnectionError as error:
            _exit(str(error), FAILED)
        except FileExistsError as error:
            _exit(str(InputError(f"{error.filename} is there already: give another name")), FAILED)
        except OSError as error:
            _exit(str(InputError(f"{error.filename or 'output'}: {error.strerror or error}")), FAILED)

    return run


@contextmanager
def leave_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process immediately while code is compiled or loaded from the cache.

    A KeyboardInterrupt that is raised inside a callback of LLVM is lost, and may crash the compiler.
    """

    def leave(_signal: int, _frame: object) -> None:
        from rich.console import Console

        remove_temporary_files()
        Console(stderr=True).show_cursor()  # which a progress bar may have hidden
        geo_patrol_command.leave()

    with _on_interrupt(leave):
        yield


@contextmanager
def _on_interrupt(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle Ctrl-C with a function during the block, unless it is ignored or this is not the main thread."""
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _exit(message: str, status: int) -> NoReturn:
    print(f"geo-patrol: {message}", file=sys.stderr)
    raise typer.Exit(status)


def discard_output() -> None:
    """Discard buffered output after a broken pipe: flushing it at exit would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
