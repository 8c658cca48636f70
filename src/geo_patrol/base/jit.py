"""Compilation: the decorators of every compiled function, and the announcement of what is being compiled.

``NUMBA_DISABLE_JIT=1`` runs the same source as plain Python, for debugging and coverage.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numba.core.dispatcher
import numba.core.event
from numba.extending import register_jitable

from geo_patrol.base.compile_cache import CACHE_FOLDER, CACHE_FOLDERS, CheckedCache

_Function = TypeVar("_Function", bound=Callable[..., Any])

COMPILED: list[Callable[..., Any]] = []
"""All functions that are decorated here, as plain Python: ``engine.cuda`` compiles them for a GPU as well."""


def jit(function: _Function) -> _Function:
    """Compile a function that Python calls: an entry point into the engine, cached, which releases the GIL.

    What it calls is best decorated with ``jitable``: every ``jit`` function holds its callees' code again, and compiles
    it again.
    """
    COMPILED.append(function)
    dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]  # the stubs lack an option
    if CACHE_FOLDERS:
        dispatcher._cache = CheckedCache(function)  # noqa: SLF001 - Numba has no way to choose a cache
    return cast("_Function", dispatcher)


def has_cached_code(function: Callable[..., Any]) -> bool:
    """Return whether a ``jit`` function is in the cache, for arguments of some types, or needs no compilation."""
    if not isinstance(function, numba.core.dispatcher.Dispatcher):
        return True  # compilation is off
    cache = getattr(function, "_cache", None)
    return isinstance(cache, CheckedCache) and cache.has_code


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
    COMPILED.append(function)
    return register_jitable(forceinline=True, nogil=True, no_cfunc_wrapper=True)(function)


def jitable_call(function: _Function) -> _Function:
    """Like ``jitable``, for code that seldom runs or takes long: it is called instead of inlined, which compiles faster.

    ``forceinline`` is turned off explicitly: Numba takes options that are not given from the caller.
    """
    COMPILED.append(function)
    return register_jitable(forceinline=False, nogil=True, no_cfunc_wrapper=True)(function)


_PIECES = {
    "geo_patrol.engine.cuda": "games on a GPU",
    "geo_patrol.agents.scripted.cuda": "scripts on a GPU",
    "geo_patrol.engine.legal.sample": "the sampling of actions",
    "geo_patrol.engine.setup.sample": "sampled scenarios",
    "geo_patrol.agents.scripted": "the scripted agents",
    "geo_patrol.agents.search": "the searching agents",
    "geo_patrol.flight": "the flight games",
    "geo_patrol.solving": "the exact solver",
}
"""What is announced, by the beginning of the name of the function that Python calls; anything else is the game engine."""


class _Announcer(numba.core.event.Listener):
    """Reports on standard error what is being compiled: a line for each piece, at a terminal one that shows progress.

    Loading from the cache is no event.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._functions = 0
        self._piece = ""
        self._announced: set[str] = set()

    def on_start(self, event: numba.core.event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if self._depth > 0 or function.__module__.startswith("geo_patrol."):
            self._depth += 1
            if self._depth == 1:
                name = f"{function.__module__}.{function.__qualname__}"
                known = (piece for start, piece in _PIECES.items() if name.startswith(start))
                self._piece = next(known, "the game engine")
            self._report(self._piece)

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
