"""Errors and interrupts of commands: one line on standard error and an exit status, without a traceback.

Only the errors of ``geo_patrol.base.errors``, errors of the operating system and Ctrl-C are reported that way. Any other
exception is a bug and keeps its traceback.
"""

import csv as csv_format
import inspect
import json as json_format
import math
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import is_dataclass
from functools import wraps
from io import TextIOWrapper, UnsupportedOperation
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeAlias

import typer
from pydantic_core import PydanticSerializationError
from typer.core import TyperCommand, TyperOption

from geo_patrol.base.errors import AgentError, GeoPatrolError, optional_import
from geo_patrol.base.files import atomic_path, atomic_write, remove_temporary_files

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.status import Status
    from rich.table import Column, Table

    from geo_patrol.replays import ReplayReader


BAD_INPUT, FAILED = 2, 1
"""Exit statuses: of wrong arguments, and files that cannot be read or written; of all that fails later."""
SIGNALLED = 128
"""Added to the number of a signal that has ended the command, as in shells."""


class InputError(GeoPatrolError):
    """Invalid arguments of a command."""


class _Command(TyperCommand):
    """A command that reports errors in one line, and refuses an option that is given twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option in dict.fromkeys(order):
            if isinstance(option, TyperOption) and not option.multiple and order.count(option) > 1:
                ctx.fail(f"Option '{option.opts[0]}' must be given once, got it {order.count(option)} times.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with plain_errors(), _handle_interrupts():
            return super().invoke(ctx)


class Commands(typer.Typer):
    """Commands that report errors in one line, and whose single options must be given once.

    A command may take dataclasses of options, each of whose fields is an option.
    """

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Return a decorator for a command, see ``typer.Typer.command``."""
        register = super().command(name, cls=_Command, **settings)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            register(_with_single_options(function))
            return function

        return decorate


def _with_single_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the fields of a command's dataclasses instead of these, as Typer needs it."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        group = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            fields = inspect.signature(group, eval_str=True).parameters
            groups[name] = group, list(fields)
            parameters += fields.values()
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(function)
    def call(**options: Any) -> Any:
        grouped = {
            name: group(**{each: options.pop(each) for each in fields}) for name, (group, fields) in groups.items()
        }
        return function(**options, **grouped)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


@contextmanager
def bad_input() -> Iterator[None]:
    """Convert a ValueError of the block to an InputError.

    For blocks that only validate arguments from the command line; elsewhere a ValueError is a bug.
    """
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from error


@contextmanager
def plain_errors() -> Iterator[None]:
    """Report errors of the block in one line, and end the program with the corresponding status."""
    try:
        yield
    except AgentError as error:
        _exit(str(error), FAILED)
    except GeoPatrolError as error:
        _exit(str(error), BAD_INPUT)
    except KeyboardInterrupt as error:
        _exit("interrupted", SIGNALLED + (error.args[0] if error.args else signal.SIGINT))
    except PydanticSerializationError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _exit(
            "interrupted", SIGNALLED + signal.SIGINT
        )  # pydantic wraps an interrupt that comes while it serialises a value
    except BrokenPipeError:
        _discard_output()
        sys.exit(FAILED)
    except ConnectionError as error:
        _exit(str(error), FAILED)
    except FileExistsError as error:
        _exit(str(InputError(f"{error.filename} is there already: choose another name")), BAD_INPUT)
    except OSError as error:
        if error.filename is None:
            _discard_output()
        _exit(str(InputError(f"{error.filename or 'output'}: {error.strerror or error}")), BAD_INPUT)


_ENDING_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Sent by systems that shut down, ``timeout`` and terminals that are closed: what is being written must not be left half done."""


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; but end the process immediately while it compiles code or loads it from the cache.

    An exception that is raised inside a callback of LLVM is lost, and may crash the compiler.
    """
    if number in _ENDING_SIGNALS:
        if signal.getsignal(signal.SIGTERM) is not _interrupt:  # a server handles it in its own way, but no SIGHUP
            signal.raise_signal(signal.SIGTERM)
            return
        for ending in _ENDING_SIGNALS:  # timeout and systemd send two, of which the second one would end the clean-up
            signal.signal(ending, signal.SIG_IGN)
    compiler = sys.modules.get("numba.core.compiler_lock")  # not imported here: most commands do not need it
    if compiler is not None and compiler.global_compiler_lock.is_locked():
        from rich.console import Console

        remove_temporary_files()
        Console(stderr=True).show_cursor()  # which a progress bar may have hidden
        with suppress(OSError):  # the terminal may be gone
            os.write(2, b"geo-patrol: interrupted\n")  # sys.stderr may be in the middle of a write
        os._exit(SIGNALLED + number)
    raise KeyboardInterrupt(number)


@contextmanager
def _handle_interrupts() -> Iterator[None]:
    """Handle Ctrl-C and the like with ``_interrupt`` during the block, unless they are ignored or this is not the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled = [number for number in (signal.SIGINT, *_ENDING_SIGNALS) if signal.getsignal(number) != signal.SIG_IGN]
    previous = {number: signal.signal(number, _interrupt) for number in handled}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _exit(message: str, status: int) -> NoReturn:
    with suppress(OSError):  # standard error may be full, or its reader gone
        print(f"geo-patrol: {message}", file=sys.stderr)
    sys.exit(status)


def _discard_output() -> None:
    """Discard buffered output that cannot be written: flushing it at exit would fail once more."""
    with suppress(UnsupportedOperation):  # a test reads it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


STDOUT = "-"
"""The file of an option such as ``--json FILE|-`` that stands for standard output."""


@contextmanager
def output_file(target: str) -> Iterator[TextIO]:
    """Open a file as ``atomic_write`` does.

    Raises:
        InputError: nothing can be written there.
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(atomic_write(target))
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror}") from None
        yield stream


@contextmanager
def output_stream(target: str | None) -> Iterator[TextIO]:
    """Open the file of an option such as ``--json FILE|-``; without one, what is written is discarded."""
    if target == STDOUT:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(
                encoding="utf-8", errors="backslashreplace"
            )  # as in a file, whatever the terminal's is
        yield sys.stdout
    else:
        with output_file(target or os.devnull) as stream:
            yield stream


class _Untouched(Exception):  # noqa: N818 - no error
    """Leaves a file as it is."""


def check_output(target: str | None) -> None:
    """Check that the file of an option can be written, before any work is done for it.

    Raises:
        InputError: nothing can be written there.
    """
    if target is None or target == STDOUT or Path(target).is_fifo() or Path(target).is_char_device():
        return
    with suppress(_Untouched), output_file(target):
        raise _Untouched


def check_outputs(outputs: Mapping[str, str | Path | None], others: Sequence[str | Path | None] = ()) -> None:
    """Check that the files of options can be written, and that none of them is another one's.

    Args:
        outputs: the files, by option.
        others: files that are read, or written by other means.

    Raises:
        InputError: one cannot be written, or two are the same.
    """
    read = {os.path.realpath(path) for path in others if path is not None}
    places: dict[str, tuple[str, str]] = {}
    for option, target in ((option, str(target)) for option, target in outputs.items() if target is not None):
        place = STDOUT if target == STDOUT else os.path.realpath(target)
        if place in read:
            raise InputError(f"{option} must be a file of its own, got {target}, which the command uses already")
        first, written = places.setdefault(place, (option, target))
        if first != option and place != os.devnull:
            raise InputError(f"{first} and {option} both go to {written}: they must be two files")
        check_output(target)


def check_folder(folder: Path | None) -> None:
    """Check that a folder can be written, which need not exist, before any work is done for it.

    Raises:
        InputError: nothing can be written there.
    """
    if folder is None:
        return
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"{folder} cannot be written: {existing} is not a folder")
    if not os.access(existing, os.W_OK):
        raise InputError(f"{folder} cannot be written: {existing} is write-protected")


def write_json(target: str | None, data: Mapping[str, Any]) -> None:
    """Write JSON to the file of an option; numbers that are not finite, for which JSON has no words, are null."""
    with output_stream(target) as stream:
        json_format.dump(_finite(data), stream, indent=2, allow_nan=False)
        stream.write("\n")


def _finite(data: Any) -> Any:
    """Return plain data with None for infinite numbers, such as the ends of an interval that one game leaves open, and NaN."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


Columns: TypeAlias = "Mapping[str, Sequence[Any] | NDArray[Any]]"


def _columns(table: "Sequence[Mapping[str, Any]] | Columns") -> Columns:
    """Return the columns of a table, given as rows or as columns by their names."""
    return table if isinstance(table, Mapping) else {name: [row[name] for row in table] for name in table[0]}


@contextmanager
def csv_stream(target: str | None) -> Iterator[TextIO]:
    """Open the file of a table as ``output_stream`` does.

    A file with letters beyond ASCII begins with a byte order mark, by which Excel knows UTF-8; it would be part of the first
    column's name for programs that do not expect one, so no other file has one.
    """
    if target is None or target == STDOUT:
        with output_stream(target) as stream:
            yield stream
        return
    with SpooledTemporaryFile(1 << 24, "w+", encoding="utf-8", errors="backslashreplace", newline="") as table:
        yield table  # type: ignore[misc]
        table.seek(0)
        is_ascii = all(text.isascii() for text in iter(lambda: table.read(1 << 20), ""))
        table.seek(0)
        with output_file(target) as stream:
            stream.write("" if is_ascii else "\ufeff")
            shutil.copyfileobj(table, stream)


def write_csv(target: str, table: "Sequence[Mapping[str, Any]] | Columns") -> None:
    """Write a table, given as rows or as columns by their names, as CSV to the file of an option."""
    columns = _columns(table)
    with csv_stream(target) as stream:
        writer = csv_format.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_results(
    to_dict: Callable[[], Mapping[str, Any]],
    print_tables: Callable[[], None],
    *,
    json: str | None = None,
    csv: str | None = None,
    parquet: str | None = None,
    table: "Callable[[], Sequence[Mapping[str, Any]] | Columns] | None" = None,
    quiet: bool = False,
) -> None:
    """Write results to the files of options, and print them.

    Args:
        to_dict: returns them for JSON.
        print_tables: prints them for people; called unless one of the files is standard output.
        json: the file of an option.
        csv: likewise.
        parquet: likewise.
        table: returns them as the table for CSV and Parquet.
        quiet: whether nothing is printed.
    """
    writers: list[tuple[str | None, Callable[[str], None]]] = [(json, lambda target: write_json(target, to_dict()))]
    if table is not None:
        writers.append((csv, lambda target: write_csv(target, table())))
        writers.append((parquet, lambda target: write_parquet(target, table())))
    for target, write in sorted(writers, key=lambda each: each[0] == STDOUT):  # last, as its reader may be gone
        if target is not None:
            write(target)
    if not quiet and STDOUT not in (json, csv):
        print_tables()


def check_parquet() -> None:
    """Check that Parquet can be written, before any work is done for it.

    Raises:
        MissingPackageError: pyarrow is not installed.
    """
    with optional_import("study"):
        import pyarrow.parquet  # noqa: F401


def write_parquet(target: str, table: "Sequence[Mapping[str, Any]] | Columns") -> None:
    """Write a table, given as rows or as columns by their names, as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_path(target) as temporary:
        pq.write_table(pa.table(dict(_columns(table))), temporary)


def plain_table(*headings: str, numbers: Sequence[str] = ()) -> "Table":
    """Return an empty table with a line below its headings and no frame; columns of numbers follow those of text.

    Print it with ``print_table``.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


_NAME_WIDTH = 12
"""Of a name in a column of text: where a line is too short, longer ones are folded; less would not be legible."""
_GAP = 2
"""Between two columns of a plain table."""
_MAX_WIDTH = 10_000
"""Of a line that nobody reads at a terminal."""


def print_table(console: "Console", table: "Table", least: Sequence[str] = ()) -> None:
    """Print a plain table; where the terminal is too narrow, without some columns of numbers, which are named below.

    Rich would shrink columns of text to nothing, and a row of numbers without its name says nothing.

    Args:
        console: where it is printed.
        table: the table.
        least: the headings of the columns that are left out first, in this order; then the last ones are.
    """
    from rich.text import Text

    columns = list(table.columns)
    by_worth = {heading: len(least) - i for i, heading in enumerate(least)}
    while sum(map(_needed_width, columns)) + _GAP * (len(columns) - 1) > console.width:
        numbers = [column for column in reversed(columns) if column.no_wrap]
        if not numbers:
            break
        columns.remove(max(numbers, key=lambda column: by_worth.get(str(column.header), 0)))
    dropped = [str(column.header) for column in table.columns if column not in columns]
    if dropped:
        fitted = plain_table()
        for column in columns:
            fitted.add_column(
                column.header,
                justify=column.justify,
                overflow=column.overflow,
                no_wrap=column.no_wrap,
                min_width=column.min_width,
            )
        for row, *cells in zip(table.rows, *(column.cells for column in columns), strict=True):
            fitted.add_row(*cells, style=row.style)
        fitted.caption, fitted.caption_justify = table.caption, table.caption_justify
        table = fitted
    console.print(table)
    if dropped:
        console.print(Text(f"Too narrow for: {', '.join(dropped)}."))


def _needed_width(column: "Column") -> int:
    """Return the width below which a column is not legible."""
    texts = [str(column.header), *map(str, column.cells)]
    if column.no_wrap:
        return max(map(len, texts))
    words = max(len(word) for text in texts for word in text.split() or [""])
    return min(words if column.justify == "right" else max(map(len, texts)), _NAME_WIDTH)


def open_console() -> "Console":
    """Return the console for tables; the lines of a file or a pipe are as long as they need to be, unless COLUMNS says otherwise."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)  # paths of agents may have brackets
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _MAX_WIDTH
    return console


def print_heading(heading: str, settings: str) -> "Console":
    """Print a bold heading and a line of settings; return the console for the rest."""
    from rich.text import Text

    console = open_console()
    console.print(Text(heading, style="bold"), soft_wrap=True)
    console.print(Text(settings), soft_wrap=True)
    console.print()
    return console


def show_status(text: str) -> "Status":
    """Return a context manager that shows, on a terminal, what is being done."""
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(text))


def print_faults(reader: "ReplayReader") -> int:
    """Print what is damaged in a file that was read, on standard error; return the number of faults."""
    faults = [*reader.faults]
    if reader.fault_count > len(faults):
        faults.append(f"and {reader.fault_count - len(faults):,} more faults")
    for fault in faults:
        print(f"geo-patrol: {reader.path}: {fault}", file=sys.stderr)
    return reader.fault_count


@contextmanager
def progress_bar(label: str | Callable[[], str], *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar if standard error is a terminal; yields a function of (completed, total).

    The bar appears with the first call: before that, what is being compiled is reported. A label that is a function is called
    at every step.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
    describe = label if callable(label) else lambda: label
    task = bar.add_task(describe(), total=None)

    def update(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total, description=describe())
        bar.start()

    try:
        yield update
    finally:
        bar.stop()
