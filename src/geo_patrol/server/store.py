"""What a server keeps on disk: a file for each table, class and challenge, restored when the server starts again."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from geo_patrol.errors import GeoPatrolError, show
from geo_patrol.files import atomic_write, read_limited
from geo_patrol.server.protocol import ProtocolError

MAX_FILE_BYTES = 1 << 20
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")

_Saved = TypeVar("_Saved", bound=BaseModel)


class Stored(Generic[_Saved]):
    """Something that is kept in a file.

    Args:
        name: its identifier, which is in links and names the file.
        saved: what the file holds.
        folder: folder of the file.
    """

    def __init__(self, name: str, saved: _Saved, folder: Path) -> None:
        self.id, self.saved, self._folder = name, saved, folder

    def save(self) -> None:
        """Write the file, whole or not at all."""
        with atomic_write(self._folder / f"{self.id}.json") as stream:
            stream.write(self.saved.model_dump_json())


_Item = TypeVar("_Item", bound=Stored[Any])


class Store(Generic[_Saved, _Item]):
    """The items of one kind.

    Args:
        folder: folder of their files; created if necessary.
        model: what the files hold.
        restore: makes an item from its identifier and what its file holds.
        kind: what messages call an item.

    Attributes:
        folder: folder of their files.
        items: those in memory, by identifier.
        damaged: what is wrong with those that cannot be restored.
    """

    def __init__(self, folder: Path, model: type[_Saved], restore: Callable[[str, _Saved], _Item], kind: str) -> None:
        self.folder, self._model, self._restore, self._kind = folder, model, restore, kind
        self.items: dict[str, _Item] = {}
        self.damaged: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)

    def read_all(self) -> dict[str, _Saved]:
        """Return what all files hold, by identifier."""
        found = {path.stem: self._read(path) for path in sorted(self.folder.glob("[!.]*.json"))}
        return {name: saved for name, saved in found.items() if saved is not None}

    def restore(self, name: str, saved: _Saved) -> None:
        """Bring an item into memory as its file holds it."""
        try:
            self.items[name] = self._restore(name, saved)
        except (GeoPatrolError, ValueError, OSError) as error:
            self._note_damage(self._path(name), error)

    def get(self, name: str) -> _Item | None:
        """Return an item, from its file if it is not in memory; None if there is none of that name."""
        if name not in self.items and _ID.fullmatch(name) and self._path(name).exists():
            saved = self._read(self._path(name))
            if saved is not None:
                self.restore(name, saved)
        return self.items.get(name)

    def find(self, name: str) -> _Item:
        """Return an item.

        Raises:
            ProtocolError: there is none of that name.
        """
        item = self.get(name)
        if item is None:
            raise ProtocolError("no_table", f"there is no {self._kind} {show(name)}")
        return item

    def add(self, item: _Item) -> None:
        """Save a new item, and keep it."""
        item.save()
        self.items[item.id] = item

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _read(self, path: Path) -> _Saved | None:
        try:
            return self._model.model_validate_json(read_limited(path, MAX_FILE_BYTES))
        except (GeoPatrolError, ValidationError, OSError) as error:
            self._note_damage(path, error)
            return None

    def _note_damage(self, path: Path, error: Exception) -> None:
        text = f"{path}: {str(error).splitlines()[0]}"
        if text not in self.damaged:
            self.damaged.append(text)
