"""Compilation: the ``jit`` decorator of every compiled function, and the folder where the results are note.

``NUMBA_DISABLE_JIT=1`` runs the same source as plain Python, for debugging and coverage.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.core.dispatcher
import numba.core.event
from numba.extending import register_jitable

_Function = TypeVar("_Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent
_PREFIX = "geo_patrol-kernels-"  # a cache folder chosen by the user may hold those of other packages
_COMPILED = [
    Path(__file__),
    _PACKAGE / "board.py",
    *sorted(_PACKAGE.glob("engine/*.py")),
    *sorted(_PACKAGE.glob("agents/scripted/*.py")),
    *sorted(_PACKAGE.glob("flight/engine/*.py")),
    *sorted(_PACKAGE.glob("agents/search/*.py")),
]


def _digest() -> str:
    """Name the state of the sources and of the compiler flags.

    Numba looks only at the file of the outermost function to judge whether a cached result is still good, so a change
    in a callee would go unnoticed. A folder for each state of the sources cannot be stale.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    digest.update(f"boundscheck={numba.config.BOUNDSCHECK} debug={numba.config.DEBUGINFO_DEFAULT}".encode())  # type: ignore[attr-defined]
    for source in _COMPILED:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "geo_patrol"


def _cache_bases() -> Iterator[Path]:
    """List the folders that may hold compiled code, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    yield _PACKAGE / "__pycache__"
    try:
        yield _user_cache()
    except RuntimeError:  # a user without a home
        return


def _find_cache_folder() -> Path | None:
    """Return a writable folder for compiled code, or None where there is none."""
    name = f"{_PREFIX}{_digest()}"
    for base in _cache_bases():
        folder = base / name
        try:
            if not folder.is_dir():
                folder.mkdir(parents=True)
                _remove_old_kernels(base, keep=name)
            if os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    return None


def _remove_old_kernels(base: Path, keep: str) -> None:
    """Delete the folders of older sources, but for the newest four: other versions may share a user's cache."""
    stamps = []
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            stamps.append((folder.stat().st_mtime, folder))
        except OSError:  # another process removed it
            continue
    for _, folder in sorted(stamps, reverse=True)[5:]:
        if folder.name != keep:
            shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = None if numba.config.DISABLE_JIT else _find_cache_folder()  # type: ignore[attr-defined]
"""Where compiled code is note between runs; None if nothing is writable or compilation is off."""


def jit(function: _Function) -> _Function:
    """Compile a function that Python calls: an entry point into the engine, cached, which releases the GIL.

    What it calls is best decorated with ``jitable``: every ``jit`` function holds its callees' code again, and compiles
    it again.
    """
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    if CACHE_FOLDER is not None:
        numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
    compiled = numba.njit(  # type: ignore[call-overload]  # the stubs lack an option
        nogil=True, cache=CACHE_FOLDER is not None, forceinline=True, no_cfunc_wrapper=True
    )
    try:
        return cast("_Function", compiled(function))
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


def resolve(function: _Function, *arguments: Any) -> _Function:
    """Return what a ``jit`` function runs for arguments of these types.

    Calling it saves Numba's look at the types of all arguments, which takes a microsecond where there are many; it must
    not be called with other types, which it does not notice.
    """
    if not isinstance(function, numba.core.dispatcher.Dispatcher):
        return function  # compilation is off
    types = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    return cast("_Function", function.compile(types))


def jitable(function: _Function) -> _Function:
    """Let compiled code call a function; called by Python, it stays the plain Python function.

    It is inlined into its callers, whatever its size: passing records and slices of arrays costs more than most of these
    functions do. Without wrappers for Python it takes a quarter less time to compile than a ``jit`` function.
    """
    return register_jitable(forceinline=True, nogil=True)(function)


def jitable_call(function: _Function) -> _Function:
    """Like ``jitable``, for code that seldom runs: it is called instead of inlined, which compiles faster.

    ``forceinline`` is turned off explicitly: Numba takes options that are not given from the caller.
    """
    return register_jitable(forceinline=False, nogil=True)(function)


_PIECES = {
    "geo_patrol.agents.scripted": "the scripted agents",
    "geo_patrol.agents.search": "the searching agents",
    "geo_patrol.flight": "the flight games",
}


class _Announcer(numba.core.event.Listener):
    """Reports on standard error what is being compiled: a line for each piece, at a terminal one that shows progress.

    Loading from the cache is no event.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._functions = 0
        self._announced: set[str] = set()

    def on_start(self, event: numba.core.event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if self._depth > 0 or function.__module__.startswith("geo_patrol."):
            self._depth += 1
            piece = next(
                (name for module, name in _PIECES.items() if function.__module__.startswith(module)), "the game engine"
            )
            self._report(piece)

    def on_end(self, event: numba.core.event.Event) -> None:  # noqa: ARG002 - numba's signature
        if self._depth > 0:
            self._depth -= 1
            self._functions += 1
            if self._depth == 0 and sys.stderr.isatty():
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # noqa: T201

    def _report(self, piece: str) -> None:
        note = "" if CACHE_FOLDER is not None else " (no folder is writable to keep the result)"
        text = f"geo_patrol: compiling {piece} for this machine, once{note} ..."
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text} {self._functions} functions", end="", file=sys.stderr, flush=True)  # noqa: T201
        elif self._depth == 1 and piece not in self._announced:
            self._announced.add(piece)
            print(text, file=sys.stderr, flush=True)  # noqa: T201


numba.core.event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]
