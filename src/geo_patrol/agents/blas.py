"""One thread of linear algebra for small products.

OpenBLAS, which NumPy's wheels contain, divides a product of matrices among threads that wait for each other by spinning. On cores
that are busy with other work, a small network then takes ten times as long. NumPy has no function for the number of threads, but the
library has; with another library, nothing changes.
"""

import ctypes
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_FOLDERS = ("../numpy.libs", ".dylibs")
"""Of libraries in NumPy's wheels, from the package."""
_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


@cache
def thread_functions() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """Return the functions that get and set OpenBLAS's number of threads; None if NumPy has another library."""
    package = Path(np.__file__).parent
    for path in (path for folder in _FOLDERS for path in sorted((package / folder).glob("*openblas*"))):
        try:
            library = ctypes.CDLL(str(path.resolve()))  # NumPy has loaded it already
        except OSError:
            continue
        for name in _NAMES:
            get, set_ = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
            if get is not None and set_ is not None:
                return get, set_
    return None


class _OneThread(ContextDecorator):
    """A block, or a function, during which linear algebra has one thread, in the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 1

    def __enter__(self) -> None:
        self._enter_or_exit(1)

    def __exit__(self, *_: object) -> None:
        self._enter_or_exit(-1)

    def _enter_or_exit(self, change: int) -> None:
        functions = thread_functions()
        if functions is None:
            return
        get, set_ = functions
        with self._lock:
            was, self._users = self._users, self._users + change
            if was == 0:
                self._before = get()
                set_(1)
            elif self._users == 0:
                set_(self._before)


one_blas_thread = _OneThread()
