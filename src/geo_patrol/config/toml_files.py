"""Configurations as data: the TOML files of the package, layers of overrides, and values sampled for every game.

Importing this module is cheap: neither the engine nor pydantic is loaded.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from geo_patrol.base.errors import ConfigError, show, suggest
from geo_patrol.base.files import expand_user, read_limited


@dataclass(frozen=True)
class Range:
    """A value sampled uniformly at each reset, both ends included: ``{ low = 40, high = 100 }``."""

    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """A value sampled uniformly from a list at each reset: ``{ choices = [0, 1, 4] }``."""

    choices: tuple[Any, ...]


def to_plain(value: Any) -> Any:
    """Return a value as plain data, with tables for ranges and choices and lists for tuples."""
    if isinstance(value, (Range, Choice)):
        return {name: to_plain(item) for name, item in vars(value).items()}
    return [to_plain(item) for item in value] if isinstance(value, tuple) else value


def largest(value: float | Range | Choice) -> float:
    """Return the largest value that can be sampled."""
    if isinstance(value, Range):
        return value.high
    return max(value.choices) if isinstance(value, Choice) else value


def is_range_table(value: Any) -> bool:
    """Return whether a value of a file is the table of a range or a choice."""
    return isinstance(value, Mapping) and set(value) in ({"low", "high"}, {"choices"})


def has_ranges(value: Any) -> bool:
    """Return whether there is a range or a choice anywhere in plain data."""
    if isinstance(value, Mapping):
        return is_range_table(value) or any(map(has_ranges, value.values()))
    return isinstance(value, list) and any(map(has_ranges, value))


def count_choices(value: Any) -> int:
    """Return the number of choices in plain data, those of all values together."""
    if isinstance(value, Mapping):
        choices = value["choices"] if is_range_table(value) and "choices" in value else None
        return len(choices) if isinstance(choices, (list, tuple)) else sum(map(count_choices, value.values()))
    return sum(map(count_choices, value)) if isinstance(value, (list, tuple)) else 0


MAX_FILE_BYTES = 1 << 16
MAX_DEPTH = 16
MAX_ENTRIES = 20_000
"""Of a table or list: more than a file of the largest size can have."""
_MAX_DOTS = 200
"""In a line: the parser's time grows with the square of the parts of a dotted key."""
_MAX_EXTENDS = 8
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

Overrides: TypeAlias = Mapping[str, Any] | Iterable[str]
"""Values by dotted key, ``{"bravo.patrols.ammo": 3}``, or as text, ``["bravo.patrols.ammo=3"]``."""

Data: TypeAlias = dict[str, Any]


def copy_plain(data: Any, depth: int = 0) -> Any:
    """Return a deep copy of plain data, with Python's numbers and lists for those of NumPy.

    Raises:
        ConfigError: it is nested too deeply, or a table or list is too long.
    """
    if depth > MAX_DEPTH:
        raise ConfigError(f"configuration: tables and lists are nested more than {MAX_DEPTH} deep")
    if isinstance(data, (Mapping, list, tuple)) and len(data) > MAX_ENTRIES:
        raise ConfigError(
            f"configuration: a table or list has {len(data):,} entries; at most {MAX_ENTRIES:,} are allowed"
        )
    if isinstance(data, Mapping):
        return {key: copy_plain(value, depth + 1) for key, value in data.items()}
    if type(data) in (list, tuple):
        return type(data)(copy_plain(value, depth + 1) for value in data)
    if type(data).__module__ == "numpy" and not isinstance(data, str):  # not imported here
        return copy_plain(data.tolist(), depth)
    return data


def read_toml(path: Path) -> Data:
    """Read a file of a bounded size.

    Raises:
        ConfigError: it cannot be read, is too large, or is not TOML.
    """
    try:
        content = read_limited(path, MAX_FILE_BYTES)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    if len(content) > MAX_FILE_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes, too large for a configuration.")
    if any(line.count(b".") > _MAX_DOTS for line in content.splitlines()):
        raise ConfigError(f"{path}: a line has more than {_MAX_DOTS} dots, too many for a configuration.")
    try:
        data = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # of TOML, of the text encoding, or a number of too many digits
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
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


def parse_overrides(overrides: Overrides | None) -> Iterator[tuple[str, Any]]:
    """Yield keys and values; a value that begins with a sign is relative and stays a text, see ``is_relative``.

    Raises:
        ConfigError: a text is not of the form key=value, a value has a sign and is not relative, or a key is there twice.
    """
    if overrides is None:
        return
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        overrides = [str(overrides)]
    keys = set[str]()
    for text in overrides:
        key, sign, value = map(str.strip, str(text).partition("="))
        if not sign or not key:
            raise ConfigError(f"override must be key=value, such as bravo.patrols.ammo=3, got {show(text)}")
        if key in keys:
            raise ConfigError(f"override {key} must be given once")
        keys.add(key)
        try:
            yield key, parse_setting(value)
        except ValueError as error:
            raise ConfigError(f"override {key}: {error}") from None


def parse_setting(text: str) -> Any:
    """Read what replaces a value: a relative value, which stays a text, or what ``parse_value`` reads.

    Raises:
        ValueError: it begins with a sign, as relative values do, and is none; or it is a list or a table of numbers with signs.
    """
    if is_relative(text):
        return text
    if text.startswith(("+", "-")):
        raise ValueError(f"a value that begins with a sign must be relative, such as +20, -1 or +10%, got {show(text)}")
    if text.startswith(("[", "{")) and _has_signs(text):
        raise ValueError(
            f"numbers in a list or a table must have no sign, got {show(text)}: a relative value stands alone, for the first number"
            " of a pair as KEY.0=+0.1"
        )
    return parse_value(text)


_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SIGNED = re.compile(r"(?<![\w.])[+-][0-9.]")


def _has_signs(text: str) -> bool:
    """Return whether a list or a table holds numbers with signs, beside the offsets of a formation, which are lists in a list."""
    text = _QUOTED.sub("", text)
    befores = (text[: match.start()] for match in _SIGNED.finditer(text))
    return any(before.count("[") - before.count("]") < 2 for before in befores)


def parse_value(text: str) -> Any:
    """Read a value as TOML; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


RELATIVE = re.compile(r"([+-][0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(%?)")
"""A value relative to the one that it replaces: a number with its sign, and whether it is a percentage."""


def is_relative(value: Any) -> bool:
    """Return whether a value is relative to the one that it replaces, such as "+20", "-1" or "+10%".

    No single value of a configuration or a mission is negative, so a sign has no other meaning.
    """
    return isinstance(value, str) and RELATIVE.fullmatch(value) is not None


def change_value(key: str, old: Any, value: Any) -> Any:
    """Return what replaces a value; whole numbers stay whole, ranges and choices are changed at all their numbers.

    Args:
        key: of the value, for messages.
        old: the value that is replaced; None if there is none.
        value: what is to replace it, which may be relative to it. In place of a text, or of nothing, it stands for itself.

    Raises:
        ConfigError: it is relative to something that is no number.
    """
    match = RELATIVE.fullmatch(value) if isinstance(value, str) else None
    if match is None or old is None or isinstance(old, str):
        return value
    number, is_share = Decimal(match[1]), bool(match[2])

    def change(each: Any) -> Any:
        if isinstance(each, bool) or not isinstance(each, Real):
            raise ConfigError(f"{key} = {show(value)}: it is relative, and the value is no number but {show(old)}")
        exact = Decimal(str(each))
        changed = exact * (1 + number / 100) if is_share else exact + number
        return round(changed) if isinstance(each, Integral) else float(round(changed, 9))

    if is_range_table(old):
        return {
            name: [change(each) for each in item] if name == "choices" else change(item) for name, item in old.items()
        }
    return change(old)


def value_at(data: Any, key: str) -> Any:
    """Return the value of plain data at a dotted key; None if there is none."""
    for step in key.split("."):
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, (list, tuple)) and step.isascii() and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data


def value_text(value: Any) -> str:
    """Return a value for people: as TOML would write it, a text without quotes."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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


def remove_value(data: Data, path: list[str]) -> None:
    """Remove the value at a path of keys, if there is one, and tables that are empty then."""
    inner = data.get(path[0])
    if len(path) == 1:
        data.pop(path[0], None)
    elif isinstance(inner, dict):
        remove_value(inner, path[1:])
        if not inner:
            del data[path[0]]


def _set_item(items: list[Any], key: str, index: str, value: Any) -> None:
    """Set one item of a list, such as ``bravo.odds.shoot.0``, the odds in the same sector."""
    if not index.isascii() or not index.isdigit() or int(index) >= len(items):
        raise ConfigError(f"override {key} must be an index of the list, 0 to {len(items) - 1}, got {show(value)}")
    items[int(index)] = copy_plain(value)


def to_toml(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml_key(key)} = {to_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(to_toml, value))}]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    text = value if isinstance(value, (bool, str)) else str(value)
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_toml(data: Data) -> str:
    """Return the content of a file: single values first, then a section for each table that holds single values."""
    return "\n\n".join(_sections(data, "", "")) + "\n"


def _sections(table: Mapping[str, Any], path: str, heading: str) -> Iterator[str]:
    lines = [f"{_toml_key(key)} = {to_toml(value)}" for key, value in table.items() if not _is_section(value)]
    if lines or heading.startswith("[["):
        yield "\n".join([heading, *lines] if heading else lines)
    for key, value in table.items():
        if _is_section(value):
            inner = f"{path}{_toml_key(key)}"
            if isinstance(value, Mapping):
                yield from _sections(value, f"{inner}.", f"[{inner}]")
            else:
                for each in value:
                    yield from _sections(each, f"{inner}.", f"[[{inner}]]")


def _is_section(value: Any) -> bool:
    """Return whether a value is written below a heading of its own: a table, or a list of tables."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_section, value)) and not any(isinstance(each, list) for each in value)
    return isinstance(value, Mapping) and not is_range_table(value)


def flatten(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of nested tables by their dotted keys; a range is a single value."""
    for key, value in data.items():
        if isinstance(value, Mapping) and not is_range_table(value):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else to_toml(key)


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
        override: sets a value in the content, by its key.
        build: builds an object from the content and the name of its file, or raises ``ConfigError``.
        resolve: returns what replaces the value of an object at a key, as ``change_value`` does.
        targets: returns the keys for which the key of an override stands.
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
        resolve: Callable[[_T, str, Any], Any] = lambda before, key, value: change_value(
            key, value_at(before.to_dict(), key), value
        ),
        targets: Callable[[str], list[str]] = lambda key: [key],
        expand: Callable[[Data, str], None] = lambda _data, _origin: None,
    ) -> None:
        self._model, (self._argument, self._name, self._file) = model, kinds
        self._names, self._path_of = names, path_of
        self._expand, self._override, self._build = expand, override, build
        self._resolve_value, self._targets = resolve, targets
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
        for key, value in self._settings(values, lambda: self._build(copy_plain(data), origin)).items():
            self._override(data, key, value)
        return self._build(data, f"{origin} with overrides" if values else origin)

    def list_changes(
        self,
        before: _T,
        after: _T,
        overrides: Overrides | None,
        current_value: Callable[[_T, str], Any] = lambda each, key: value_at(each.to_dict(), key),
    ) -> list[str]:
        """Return what overrides have changed, such as "turns 15 -> 20"; one text where it is the same for all targets.

        ``current_value`` returns the value of an object at a key.
        """
        changes: dict[str, str] = {}
        for key in (key for whole, value in parse_overrides(overrides) for key, _ in flatten({whole: value})):
            pairs = {
                target: " -> ".join(value_text(current_value(each, target)) for each in (before, after))
                for target in self._targets(key)
            }
            if len(set(pairs.values())) == 1:
                pairs = {key: next(iter(pairs.values()))}
            changes |= pairs
        return [f"{key} {change}" for key, change in changes.items()]

    def resolve(self, source: _T, overrides: Overrides | None) -> Data:
        """Return what overrides replace in an object, by key: nothing relative in it, no tables, and targets for all keys.

        Raises:
            ConfigError: a value is relative to something that is no number, or an override would undo one before it.
        """
        return self._settings(parse_overrides(overrides), lambda: source)

    def _settings(self, values: Iterable[tuple[Any, Any]], read_source: Callable[[], _T]) -> dict[Any, Any]:
        """See ``resolve``; relative values are relative to the source as it stands, whatever is replaced beside them."""
        settings: dict[Any, Any] = {}
        given: dict[str, str] = {}
        before: _T | None = None
        for whole, table in values:
            inner = list(flatten({whole: copy_plain(table)}))
            self._check_order(given, (key for key, _ in inner))
            for key, value in inner if any(is_relative(value) for _, value in inner) else [(whole, table)]:
                for target in self._targets(key) if isinstance(key, str) else [key]:
                    if is_relative(value):
                        before = before or read_source()
                        settings[target] = self._resolve_value(before, target, value)
                    else:
                        settings[target] = value
        return settings

    def _check_order(self, given: dict[str, str], keys: Iterable[str]) -> None:
        """Raise an error if one of the keys would undo a key that was given before; add them to those given."""
        for key in keys:
            for target in self._targets(key):
                if given.get(target) == key:
                    raise ConfigError(f"override {key} must be given once")
                for other, earlier in given.items():
                    if (other == target and target != key) or other.startswith(f"{target}."):
                        raise ConfigError(f"override {key} must stand before {earlier}, which it would undo")
                given[target] = key

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
        right = f"a {self._name}'s name, a path, a mapping or a {self._model.__name__}"
        raise ConfigError(f"{self._argument} must be {right}, got {show(source)}")

    def _read(self, source: str | Path, folder: Path | None = None, depth: int = 0) -> tuple[Data, str]:
        path = self._find(source, folder)
        return self._resolve(read_toml(path), path.name, path.parent, depth), path.name

    def _find(self, source: str | Path, folder: Path | None) -> Path:
        """Return the path of a name or a file; relative paths start from the folder, or from the current one."""
        name, names = str(source), self._names()
        if name in names:
            return self._path_of(name)
        try:
            path = Path(expand_user(source))
            path = path if folder is None else folder / path
            if path.is_file():
                return path
        except (OSError, ValueError) as error:  # too long, no text of a path, no such home
            raise ConfigError(f"{self._file} {show(name)} cannot be looked for: {error}") from None
        listed = ", ".join(names)
        if not path.suffix and "/" not in name and "\\" not in name:
            hint = suggest(name, names) or "."
            raise ConfigError(f"there is no {self._name} {name!r}{hint} The {self._name}s are: {listed}.")
        raise ConfigError(
            f"there is no {self._file} {str(path)!r}: it must be the path of a TOML file, or a {self._name}: {listed}"
        )

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
            raise ConfigError(f"{origin}: extends must be a {self._name}'s name or a path, got {show(base)}")
        base_data, _ = self._read(base, folder, depth + 1)
        base_data.pop("description", None)  # which is not true of what is changed
        return merge(base_data, data)


def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, in alphabetical order."""
    return _names(_folder(), "presets")


def scenario_set_names() -> tuple[str, ...]:
    """Return the names of the sets of scenarios, "generalization/held_out" and "generalization/train"."""
    return tuple(f"{_SCENARIO_SETS}/{name}" for name in _names(_folder() / _SCENARIO_SETS, "sets of scenarios"))


def config_path(name: str) -> Path:
    """Return the path of a file of the package, such as "case1", "generalization/train" or "lessons/geo_patrol"."""
    return _folder() / f"{name}.toml"


def mission_names() -> tuple[str, ...]:
    """Return the names of all missions of the flight games, in alphabetical order."""
    return _names(_folder() / "flight", "missions")


def mission_path(name: str) -> Path:
    """Return the path of a mission."""
    return _folder() / "flight" / f"{name}.toml"


def study_names() -> tuple[str, ...]:
    """Return the names of all studies of the package, in alphabetical order."""
    return _names(_folder() / "studies", "studies")


_SCENARIO_SETS = "generalization"


def _folder() -> Path:
    """Return the folder of the presets: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "configs"
    return installed if installed.is_dir() else package.parents[1] / "configs"


@cache
def _names(folder: Path, kind: str) -> tuple[str, ...]:
    """Return the names of the TOML files in a folder.

    Raises:
        FileNotFoundError: there are none: the installation is damaged.
    """
    names = tuple(sorted(path.stem for path in folder.glob("*.toml")))
    if not names:
        raise FileNotFoundError(f"there are no {kind} in {folder}: install geo_patrol anew")
    return names
