"""What TOML files describe in layers: configurations and missions, by name, by path, with single values on top.

``extends`` names what a file starts from, one that comes with the package or a path relative to its own folder; what
a file says itself wins, tables are laid over each other.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from geo_patrol.config.toml_files import Data, Overrides, copy_plain, find_file, merge, parse_overrides, read_toml
from geo_patrol.errors import ConfigError, show

_MAX_EXTENDS = 8


class _Described(Protocol):
    """What is built of such files."""

    @property
    def title(self) -> str: ...

    def to_dict(self) -> Data: ...


_Thing = TypeVar("_Thing", bound=_Described)


class Layers(Generic[_Thing]):
    """One kind of things that files describe.

    Args:
        model: their class.
        words: what such a thing is called as an argument, by name, and as a file, such as ("config", "preset",
            "configuration file").
        names: gives the names of those that come with the package.
        path_of: gives the file of a name.
        spread: changes a layer's own content, with the name of its file, before it is laid over what it extends.
        override: sets a single value in the content, by what the user gave as its key.
        build: makes the thing of the content, with the name of its file, or says what is wrong.
    """

    def __init__(
        self,
        model: type[_Thing],
        words: tuple[str, str, str],
        names: Callable[[], tuple[str, ...]],
        path_of: Callable[[str], Path],
        *,
        spread: Callable[[Data, str], None],
        override: Callable[[Data, Any, Any], None],
        build: Callable[[Data, str], _Thing],
    ) -> None:
        self._model, (self._argument, self._name, self._file) = model, words
        self._names, self._path_of = names, path_of
        self._spread, self._override, self._build = spread, override, build
        self._loaded: dict[str, _Thing] = {}

    def load(self, source: Any, overrides: Overrides | None) -> _Thing:
        """Build a thing from a name, a path, a mapping or a finished one, with single values replaced.

        Raises:
            ConfigError: a file is missing or not TOML, a key is unknown or a value wrong.
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

    def _load_named(self, name: str) -> _Thing:
        if name not in self._loaded:
            self._loaded[name] = self._build(*self._read(name))
        return self._loaded[name]

    def _content(self, source: Any) -> tuple[Data, str]:
        """Return all layers of a source laid over each other, and what messages call it."""
        if isinstance(source, self._model):
            return source.to_dict(), source.title
        if isinstance(source, (str, Path)):
            return self._read(source)
        if isinstance(source, Mapping):
            origin = self._file.removesuffix(" file")
            return self._resolve(copy_plain(source), origin, Path.cwd(), depth=0), origin
        right = f"give a {self._name}'s name, a path, a mapping or a {self._model.__name__}"
        raise ConfigError(f"{self._argument} = {show(source)}: {right}")

    def _read(self, source: str | Path, beside: Path | None = None, depth: int = 0) -> tuple[Data, str]:
        path = find_file(source, beside, self._names(), self._path_of, (self._name, self._file))
        return self._resolve(read_toml(path), path.name, path.parent, depth), path.name

    def _resolve(self, data: Data, origin: str, folder: Path, depth: int) -> Data:
        """Put the data on top of what it extends."""
        self._spread(data, origin)
        base = data.pop("extends", None)
        if base is None:
            return data
        if depth >= _MAX_EXTENDS:
            raise ConfigError(
                f"{origin}: extends = {show(base)}: more than {_MAX_EXTENDS} files extend each other, or in a circle."
            )
        if not isinstance(base, str):
            raise ConfigError(f"{origin}: extends = {show(base)}: give a {self._name}'s name or a path")
        below, _ = self._read(base, folder, depth + 1)
        return merge(below, data)
