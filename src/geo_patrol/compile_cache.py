"""The folder where compiled code is stored between runs, and what happens when it is damaged or full.

Numba unpickles what it finds in its cache and runs the machine code in it, and lets every error of reading or writing end
the program. Here each file carries a digest of its content: a file that is damaged is compiled anew and written over, and
where nothing can be written the program runs with what it has compiled. Each is reported in one line.
"""

import hashlib
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

_PACKAGE = Path(__file__).parent
_PREFIX = "geo_patrol-kernels-"  # a cache folder chosen by the user may hold those of other packages
_COMPILED = [
    _PACKAGE / "jit.py",
    Path(__file__),
    _PACKAGE / "board.py",
    *sorted(_PACKAGE.glob("engine/*.py")),
    *sorted(_PACKAGE.glob("agents/scripted/*.py")),
    *(_PACKAGE / "flight" / name for name in ("mission.py", "rules.py", "solver.py")),
    _PACKAGE / "agents" / "search.py",
    *sorted(_PACKAGE.glob("solving/*.py")),
]
_DIGEST_BYTES = hashlib.sha256().digest_size


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
                folder.mkdir(parents=True, exist_ok=True)  # another process may have made it meanwhile
                remove_old_kernels(base, keep=name)
            if os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    return None


def remove_old_kernels(base: Path, keep: str) -> None:
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
"""Where compiled code is stored between runs; None if nothing is writable or compilation is off."""

_reported: set[str] = set()


def _report(problem: str) -> None:
    """Print a line on standard error, the first time that something happens."""
    if problem not in _reported:
        _reported.add(problem)
        print(f"geo_patrol: {problem}", file=sys.stderr, flush=True)  # noqa: T201


class _CheckedFile(IndexDataCacheFile):
    """The index and the data of one function's compiled code, each after the digest of its content."""

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)  # type: ignore[no-untyped-call]
        return hashlib.sha256(data).digest() + data

    def _read(self, path: str) -> Any:
        """Return what a file contains; None if there is none, or it is damaged, which is reported."""
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _report(f"compiled code in {CACHE_FOLDER} cannot be read ({error.strerror}): compiling it again")
            return None
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() != digest:
            _report(f"compiled code in {CACHE_FOLDER} is damaged: compiling it again")
            return None
        return pickle.loads(data)  # noqa: S301 - written by this class, into a folder of this user

    def _load_index(self) -> dict[Any, str]:
        stamp, overloads = self._read(self._index_path) or (None, {})
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))  # type: ignore[no-untyped-call]


class CheckedCache(FunctionCache):
    """Numba's cache of one function in ``CACHE_FOLDER``, of which no fault ends the program."""

    def __init__(self, function: Callable[..., Any]) -> None:
        before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
        try:
            super().__init__(function)  # type: ignore[no-untyped-call]
        finally:
            numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
        self._cache_file = _CheckedFile(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    @property
    def has_code(self) -> bool:
        """Whether code of the function is stored, for arguments of some types."""
        file: Any = self._cache_file
        return bool(file._load_index())  # noqa: SLF001 - of the class above

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code; where that fails it is used by this process alone."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _report(f"compiled code cannot be stored in {CACHE_FOLDER} ({error.strerror}): the next run compiles again")
