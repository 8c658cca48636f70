"""The folder where compiled code is stored between runs, and what happens when it is damaged or full.

Numba unpickles what it finds in its cache and runs the machine code in it, and lets every error of reading or writing end
the program. Here each file carries a digest of its content: a file that is damaged is compiled anew and written over, and
where nothing can be written the program runs with what it has compiled. Each is reported in one line.

Code is read from every folder that holds some, and stored in the first that can be written: what an administrator has
compiled into the installed package serves all users.
"""

import hashlib
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.base.files import user_cache_folder

_PACKAGE = Path(__file__).parents[1]
_PREFIX = "geo_patrol-kernels-"  # a cache folder chosen by the user may hold those of other packages
_COMPILED = [
    *(_PACKAGE / "base" / name for name in ("board.py", "compile_cache.py", "jit.py")),
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


def _cache_bases() -> Iterator[Path]:
    """List the folders that may hold compiled code, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    yield _PACKAGE / "__pycache__"
    try:
        yield user_cache_folder()
    except GeoPatrolError:  # a user without a home
        return


def _find_cache_folders() -> tuple[Path | None, tuple[Path, ...]]:
    """Return the folder to store compiled code in, None if none is writable, and all to look for it in, that one first."""
    name = f"{_PREFIX}{_digest()}"
    writable, readable = None, []
    for base in _cache_bases():
        folder = base / name
        try:
            if writable is None and not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)  # another process may have made it meanwhile
                remove_old_kernels(base, keep=name)
            if writable is None and os.access(folder, os.W_OK):
                writable = folder
            elif os.access(folder, os.R_OK | os.X_OK):
                readable.append(folder)
        except OSError:
            continue
    return writable, tuple(readable if writable is None else [writable, *readable])


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


CACHE_FOLDER, CACHE_FOLDERS = (None, ()) if numba.config.DISABLE_JIT else _find_cache_folders()  # type: ignore[attr-defined]
"""Where compiled code is stored between runs, None if nothing is writable or compilation is off; and where it is looked for."""

_reported: set[str] = set()


def _report(problem: str) -> None:
    """Print a line on standard error, the first time that something happens."""
    if problem not in _reported:
        _reported.add(problem)
        print(f"geo_patrol: {problem}", file=sys.stderr, flush=True)  # noqa: T201


class _CheckedFile(IndexDataCacheFile):
    """The index and the data of one function's compiled code, each after the digest of its content.

    The index numbers the files of data, and is written before them. A lost machine, or two processes at once, may leave
    an index that refers to code for other types under a number: so data hold the key that they were stored for.

    Args:
        path: the folder.
        name: how the names of the files begin.
        stamp: the state of the function's source.
        others: where code is looked for that this folder does not hold.
    """

    def __init__(self, path: str, name: str, stamp: Any, others: Sequence["_CheckedFile"] = ()) -> None:
        super().__init__(path, name, stamp)  # type: ignore[no-untyped-call]
        self._others = others

    def load(self, key: Any) -> Any:
        """Return compiled code, None if no folder holds it."""
        stored, data = super().load(key) or (None, None)  # type: ignore[no-untyped-call]
        data = data if stored == key else None
        for other in self._others:
            data = other.load(key) if data is None else data
        return data

    def save(self, key: Any, data: Any) -> None:
        """Store compiled code."""
        super().save(key, (key, data))  # type: ignore[no-untyped-call]

    @property
    def has_code(self) -> bool:
        """Whether there is code, for arguments of some types."""
        return bool(self._load_index()) or any(other.has_code for other in self._others)

    @property
    def _folder(self) -> Path:
        return Path(self._cache_path).parent

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
            _report(f"compiled code in {self._folder} cannot be read ({error.strerror}): compiling it again")
            return None
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() != digest:
            _report(f"compiled code in {self._folder} is damaged: compiling it again")
            return None
        return pickle.loads(data)  # noqa: S301 - written by this class, into a folder of this user or of the package

    def _load_index(self) -> dict[Any, str]:
        stamp, overloads = self._read(self._index_path) or (None, {})
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))  # type: ignore[no-untyped-call]


class _Locator(UserProvidedCacheLocator):
    """Where code is stored, tried when some is to be: Numba tries when a function is defined, and then reads nothing."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_func, py_file)


class _Implementation(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012 - as Numba declares it


class CheckedFiles:
    """Mixin of a cache of one function, Numba's or that of numba-cuda: its files are in ``CACHE_FOLDERS``, and no fault ends the program."""

    _impl: Any
    _cache_path: str
    _cache_file: Any

    def _check_files(self) -> None:
        """Read and write the files as ``_CheckedFile`` does."""
        name, stamp = self._impl.filename_base, self._impl.locator.get_source_stamp()
        first, *others = (str(folder / Path(self._cache_path).name) for folder in CACHE_FOLDERS)
        self._cache_file = _CheckedFile(first, name, stamp, [_CheckedFile(other, name, stamp) for other in others])

    @property
    def has_code(self) -> bool:
        """Whether code of the function is stored, for arguments of some types."""
        return bool(self._cache_file.has_code)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code; where that fails it is used by this process alone."""
        if CACHE_FOLDER is None:
            return
        try:
            super().save_overload(sig, data)  # type: ignore[misc]
        except OSError as error:
            _report(f"compiled code cannot be stored in {CACHE_FOLDER} ({error.strerror}): the next run compiles again")


class CheckedCache(CheckedFiles, FunctionCache):
    """Numba's cache of one function in ``CACHE_FOLDERS``."""

    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        numba.config.CACHE_DIR = str(CACHE_FOLDERS[0])  # type: ignore[attr-defined]
        try:
            super().__init__(function)  # type: ignore[no-untyped-call]
        finally:
            numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
        self._check_files()
