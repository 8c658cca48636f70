"""What a server keeps on disk: a file for each table and class. Those in use are in memory as well."""

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel

from geo_patrol.base.errors import GeoPatrolError, RecordingError, show
from geo_patrol.base.files import atomic_write, read_limited
from geo_patrol.base.validation import parse_model
from geo_patrol.web.protocol import ProtocolError

MAX_FILE_BYTES = 1 << 20
RETRY_SECONDS = 5.0
"""After which a client may try again what could not be saved."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_LOG = logging.getLogger("geo_patrol.web")

_Saved = TypeVar("_Saved", bound=BaseModel)


class Stored(Generic[_Saved]):
    """Something that is kept in a file, which only the server's own account may read.

    Args:
        name: its identifier, which is in links and names the file.
        saved: what the file holds.
        folder: folder of the file.
    """

    def __init__(self, name: str, saved: _Saved, folder: Path) -> None:
        self.id, self.saved, self._folder = name, saved, folder
        self._writing = threading.RLock()
        self._version: object = None  # of the file from which it was made

    @property
    def is_current(self) -> bool:
        """Whether its file is still as it was when the item was made from it."""
        return self._version == file_version(self.path)

    def note_version(self, version: object) -> None:
        """Note the version of the file from which it was made, as ``file_version`` returned it before."""
        self._version = version

    @property
    def path(self) -> Path:
        """The file."""
        return self._folder / f"{self.id}.json"

    def save(self, change: Callable[[_Saved], None] = lambda _: None) -> None:
        """Write the file, whole or not at all, and then change ``saved``. This may run in a thread.

        Nobody sees what is not saved yet, and what cannot be saved has not happened.

        Args:
            change: changes what the file holds; called with a copy first.

        Raises:
            ProtocolError: it cannot be written, with the code "not_saved" and the time after which to try again.
        """
        with self._writing:
            changed = self.saved.model_copy(deep=True)
            change(changed)
            try:
                self.write(changed)
            except OSError as error:
                raise not_saved(error) from None
            change(self.saved)  # which may have changed meanwhile, in other fields

    def write(self, saved: _Saved | None = None) -> None:
        """Write the file, whole or not at all, with ``saved`` or something else.

        Raises:
            OSError: it cannot be written.
        """
        with self._writing, atomic_write(self.path) as stream:
            Path(stream.name).chmod(0o600)
            stream.write(self._content(saved or self.saved))

    def _content(self, saved: _Saved) -> str:
        return saved.model_dump_json()


def read_content(path: Path) -> bytes:
    """Return what a file holds, without newlines at its end, and the NULs that a lost machine leaves where some were."""
    return read_limited(path, MAX_FILE_BYTES).rstrip(b"\n\0")


def file_version(path: Path) -> tuple[int, int, int] | None:
    """Return what tells a file from what it is after any change; None if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def not_saved(error: OSError) -> ProtocolError:
    """Return what a client is told whose request could not be saved."""
    text = (
        f"the server could not save this ({error.strerror or 'its disk failed'}): nothing has changed, try again later"
    )
    return ProtocolError("not_saved", text, RETRY_SECONDS)


_Item = TypeVar("_Item", bound=Stored[Any])


class Store(Generic[_Saved, _Item]):
    """The items of one kind. In memory are those that were used last; the others come back when somebody asks for them.

    Args:
        folder: folder of their files; created if necessary.
        model: what the files hold.
        restore: makes an item from its identifier and what its file holds.
        kind: what messages call an item.
        max_items: how many stay in memory.

    Attributes:
        folder: folder of their files.
        items: those in memory by identifier, those used last at the end.
        damaged: what is wrong with the files of those that cannot be restored, or not as they were, by identifier.
    """

    def __init__(
        self, folder: Path, model: type[_Saved], restore: Callable[[str, _Saved], _Item], kind: str, max_items: int
    ) -> None:
        self.folder, self._model, self._restore, self._kind, self.max_items = folder, model, restore, kind, max_items
        self.items: OrderedDict[str, _Item] = OrderedDict()
        # An item that has left memory may still be at work in a thread: there must not be a second one.
        self._alive: WeakValueDictionary[str, _Item] = WeakValueDictionary()
        self.damaged: dict[str, str] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in folder.glob("*.json*"):
            with suppress(OSError):  # of another account
                path.chmod(0o600)

    def read_all(self) -> dict[str, _Saved]:
        """Return what all files hold, by identifier; those changed last come last."""
        paths = sorted(self.folder.glob("[!.]*.json"), key=lambda path: path.stat().st_mtime)
        found = {path.stem: self.read(path.stem) for path in paths}
        return {name: saved for name, saved in found.items() if saved is not None}

    def read(self, name: str) -> _Saved | None:
        """Return what the file of an item holds; None if there is none, or it is damaged."""
        path = self.folder / f"{name}.json"
        if not _ID.fullmatch(name) or not path.exists():
            return None
        try:
            return parse_model(self._model, read_content(path), str(path))
        except (GeoPatrolError, OSError) as error:
            self._note_damage(name, error)
            return None

    def load(self, name: str, saved: _Saved | None = None) -> _Item | None:
        """Return the item in memory, or make one from its file; None if there is none, or it is damaged.

        Nothing is written or kept, and this may run in a thread. Whoever keeps the item checks that it ``is_current``.
        """
        known = self._alive.get(name)
        if known is not None:
            return known
        version = file_version(self.folder / f"{name}.json")
        saved = self.read(name) if saved is None else saved
        try:
            item = None if saved is None else self._restore(name, saved)
        except (GeoPatrolError, ValueError, OSError) as error:
            self._note_damage(name, error)
            return None
        if item is not None:
            item.note_version(version)
        return item

    def get(self, name: str) -> _Item | None:
        """Return an item, from its file if it is not in memory; None if there is none of that name."""
        item = self.load(name)
        if item is not None:
            self.keep(item)
        return item

    def find(self, name: str) -> _Item:
        """Return an item.

        Raises:
            ProtocolError: there is none of that name, or it is damaged.
        """
        item = self.get(name)
        if item is None:
            raise self.missing(name)
        return item

    def missing(self, name: str) -> ProtocolError:
        """Return what a client is told who asks for an item that does not exist."""
        if name in self.damaged:
            text = (
                f"{self._kind} {show(name)} cannot be continued: its files are damaged. The operator's messages say how"
            )
            return ProtocolError("no_table", text)
        return ProtocolError("no_table", f"there is no {self._kind} {show(name)}")

    def add(self, item: _Item) -> None:
        """Save a new item, and keep it."""
        item.save()
        self.keep(item)

    def keep(self, item: _Item) -> None:
        """Keep an item in memory, instead of the one that was not used for the longest time."""
        self._alive[item.id] = self.items[item.id] = item
        self.items.move_to_end(item.id)
        if len(self.items) > self.max_items:
            self.items.popitem(last=False)

    def remove_older(self, days: float, forget: Callable[[_Saved], None] = lambda _: None) -> None:
        """Remove items that have not changed for a number of days.

        Args:
            days: how many.
            forget: called with what the file of each held.
        """
        for path in self.folder.glob("[!.]*.json"):
            if time.time() - path.stat().st_mtime > 86_400 * days:
                self.items.pop(path.stem, None)
                self._alive.pop(path.stem, None)
                saved = self.read(path.stem)
                if saved is not None:
                    forget(saved)
                    path.unlink(missing_ok=True)

    def _note_damage(self, name: str, error: Exception) -> None:
        """Report what is wrong with the files of an item, once."""
        if name not in self.damaged:
            where = "" if isinstance(error, RecordingError) else f"{self.folder / name}.json: "
            self.damaged[name] = f"{where}{str(error).splitlines()[0]}"
            _LOG.error("damaged: %s", self.damaged[name])
