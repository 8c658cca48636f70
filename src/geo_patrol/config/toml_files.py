"""TOML files of bounded size, merging of tables, and overrides of single values."""

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from geo_patrol.config.ranges import is_range_table
from geo_patrol.errors import ConfigError, show
from geo_patrol.files import read_limited

MAX_FILE_BYTES = 1 << 16
MAX_DEPTH = 16

Overrides: TypeAlias = Mapping[str, Any] | Iterable[str]
"""Values by dotted key, ``{"bravo.patrols.ammo": 3}``, or as text, ``["bravo.patrols.ammo=3"]``."""

Data: TypeAlias = dict[str, Any]


def copy_plain(data: Any, depth: int = 0) -> Any:
    """Return a deep copy of plain data.

    Raises:
        ConfigError: it is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise ConfigError(f"configuration: tables and lists are nested more than {MAX_DEPTH} deep")
    if isinstance(data, Mapping):
        return {key: copy_plain(value, depth + 1) for key, value in data.items()}
    return [copy_plain(value, depth + 1) for value in data] if isinstance(data, list) else data


def find_file(
    source: str | Path,
    folder: Path | None,
    names: Sequence[str],
    path_of: Callable[[str], Path],
    kinds: tuple[str, str],
) -> Path:
    """Return the path of a file.

    Args:
        source: one of the names, or a path.
        folder: the folder that relative paths start from; None for the current one.
        names: names of the files that are part of the package.
        path_of: returns the path of a name.
        kinds: what messages call a name and a path, such as ("preset", "configuration file").

    Raises:
        ConfigError: there is no such name or file.
    """
    name, (preset, file) = str(source), kinds
    if name in names:
        return path_of(name)
    try:
        path = Path(source).expanduser()
        path = path if folder is None or path.is_absolute() else folder / path
        if path.is_file():
            return path
    except (OSError, ValueError, RuntimeError) as error:  # too long, no text of a path, no such home
        raise ConfigError(f"{file} {show(name)} cannot be looked for: {error}") from None
    if not path.suffix and "/" not in name and "\\" not in name:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ConfigError(f"there is no {preset} {name!r}{hint} The {preset}s are: {', '.join(names)}.")
    right = f"the path of a TOML file, or a {preset}: {', '.join(names)}"
    raise ConfigError(f"there is no {file} {str(path)!r}: give {right}")


def read_toml(path: Path) -> Data:
    """Read a file of a bounded size.

    Raises:
        ConfigError: it cannot be read, is too large, or is not TOML.
    """
    try:
        content = read_limited(path, MAX_FILE_BYTES)
        data = tomllib.loads(content.decode("utf-8-sig")) if len(content) <= MAX_FILE_BYTES else None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # of TOML, of the text encoding, or a number of too many digits
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
    if data is None:
        raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes, too large for a configuration.")
    copied: Data = copy_plain(data)
    return copied


def merge(base: Data, changes: Data) -> Data:
    """Return a table with changes merged into it, recursively; a range or a choice is replaced as a whole."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not is_range_table(value) and not is_range_table(old):
            merged[key] = merge(old, value)
        else:
            merged[key] = value
    return merged


def parse_overrides(overrides: Overrides | None) -> Iterable[tuple[str, Any]]:
    """Yield keys and values.

    Raises:
        ConfigError: a text is not of the form key=value.
    """
    if overrides is None:
        return
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        overrides = [str(overrides)]
    for text in overrides:
        key, sign, value = str(text).partition("=")
        if not sign or not key.strip():
            raise ConfigError(f"override {show(text)}: give key=value, such as bravo.patrols.ammo=3")
        yield key.strip(), _parse_value(value.strip())


def _parse_value(text: str) -> Any:
    """Read a value as TOML; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def set_value(data: Data, key: str, path: list[str], value: Any) -> None:
    """Set the value at a path of keys; ``key`` is the key as the user wrote it, for messages.

    Raises:
        ConfigError: the path leads through a single value, or to no index of a list.
    """
    for depth, step in enumerate(path[:-1]):
        inner = data.setdefault(step, {})
        if isinstance(inner, list) and depth == len(path) - 2:
            _set_item(inner, key, path[-1], value)
            return
        if not isinstance(inner, dict):
            raise ConfigError(f"override {key} = {show(value)}: {step} is a single value and has no keys")
        data = inner
    old, new = data.get(path[-1]), copy_plain(value)
    data[path[-1]] = merge({"": old}, {"": new})[""]  # tables are merged, values replaced


def _set_item(items: list[Any], key: str, index: str, value: Any) -> None:
    """Set one item of a list, such as ``bravo.odds.shoot.0``, the odds in the same sector."""
    if not index.isascii() or not index.isdigit() or int(index) >= len(items):
        raise ConfigError(f"override {key} = {show(value)}: give an index of the list, 0 to {len(items) - 1}")
    items[int(index)] = copy_plain(value)
