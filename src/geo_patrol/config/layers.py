"""Configurations and missions from layered TOML files, by name or path, with overrides.

``extends`` names the file that another one is based on: one of the package, or a path relative to its own folder. A
file's own values take precedence; tables are merged.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from geo_patrol.config.toml_files import Data, Overrides, copy_plain, find_file, merge, parse_overrides, read_toml
from geo_patrol.errors import ConfigError, show

_MAX_EXTENDS = 8


class _Model(Protocol):
    """What is built from such files."""

    @property
    def title(self) -> str: ...

    def to_dict(self) -> Data: ...


_T = TypeVar("_T", bound=_Model)


class Layers(Generic[_T]):
    """Loads objects of one class from layered files.

    Args:
        model: the class.
        kinds: what messages call the argument, a name, and a file, such as ("config", "preset", "configuration file").
        names: returns the names of the files that are part of the package.
        path_of: returns the path of a name.
        override: sets a value in the content, by the key that the user gave.
        build: builds an object from the content and the name of its file, or raises ``ConfigError``.
        expand: changes a layer's own content, given with the name of its file, before it is merged into its base.
    """

    def __init__(
        self,
        model: type[_T],
        kinds: tuple[str, str, str],
        names: Callable[[], tuple[str, ...]],
        path_of: Callable[[str], Path],
        *,
        override: Callable[[Data, Any, Any], None],
        build: Callable[[Data, str], _T],
        expand: Callable[[Data, str], None] = lambda _data, _origin: None,
    ) -> None:
        self._model, (self._argument, self._name, self._file) = model, kinds
        self._names, self._path_of = names, path_of
        self._expand, self._override, self._build = expand, override, build
        self._loaded: dict[str, _T] = {}

    def load(self, source: Any, overrides: Overrides | None) -> _T:
        """Build an object from a name, a path, a mapping or a finished object, with overrides.

        Raises:
            ConfigError: a file is missing or not TOML, a key is unknown or a value invalid.
        """
        values = list(parse_overrides(overrides))
        if not values:
            if isinstance(source, self._model):
                return source
            if isinstance(source, str) and source in self._names():
                return self._load_named(source)
        data, origin = self._content(source)
        for key, value in values:
            self._override(data, key, value)
        return self._build(data, f"{origin} with overrides" if values else origin)

    def _load_named(self, name: str) -> _T:
        if name not in self._loaded:
            self._loaded[name] = self._build(*self._read(name))
        return self._loaded[name]

    def _content(self, source: Any) -> tuple[Data, str]:
        """Return the merged layers of a source, and what messages call it."""
        if isinstance(source, self._model):
            return source.to_dict(), source.title
        if isinstance(source, (str, Path)):
            return self._read(source)
        if isinstance(source, Mapping):
            origin = self._file.removesuffix(" file")
            return self._resolve(copy_plain(source), origin, Path.cwd(), depth=0), origin
        right = f"give a {self._name}'s name, a path, a mapping or a {self._model.__name__}"
        raise ConfigError(f"{self._argument} = {show(source)}: {right}")

    def _read(self, source: str | Path, folder: Path | None = None, depth: int = 0) -> tuple[Data, str]:
        path = find_file(source, folder, self._names(), self._path_of, (self._name, self._file))
        return self._resolve(read_toml(path), path.name, path.parent, depth), path.name

    def _resolve(self, data: Data, origin: str, folder: Path, depth: int) -> Data:
        """Merge the data into what they extend."""
        self._expand(data, origin)
        base = data.pop("extends", None)
        if base is None:
            return data
        if depth >= _MAX_EXTENDS:
            raise ConfigError(
                f"{origin}: extends = {show(base)}: more than {_MAX_EXTENDS} files extend each other, or in a circle."
            )
        if not isinstance(base, str):
            raise ConfigError(f"{origin}: extends = {show(base)}: give a {self._name}'s name or a path")
        base_data, _ = self._read(base, folder, depth + 1)
        return merge(base_data, data)
