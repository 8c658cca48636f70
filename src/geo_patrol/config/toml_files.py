"""What users write: TOML files read within bounds, tables laid over each other, single values, and their faults."""

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from geo_patrol.errors import ConfigError, show

MAX_FILE_BYTES = 1 << 16
_MAX_FAULTS = 20
MAX_DEPTH = 16

Overrides: TypeAlias = Mapping[str, Any] | Iterable[str]
"""Values by dotted key, ``{"bravo.patrols.ammo": 3}``, or as text, ``["bravo.patrols.ammo=3"]``."""

Data: TypeAlias = dict[str, Any]


def copy_plain(data: Any, depth: int = 0) -> Any:
    """Copy nested plain data, so that nobody else's is changed."""
    if depth > MAX_DEPTH:
        raise ConfigError(f"configuration: tables and lists are nested more than {MAX_DEPTH} deep")
    if isinstance(data, Mapping):
        return {key: copy_plain(value, depth + 1) for key, value in data.items()}
    return [copy_plain(value, depth + 1) for value in data] if isinstance(data, list) else data


def find_file(
    source: str | Path,
    beside: Path | None,
    names: Sequence[str],
    path_of: Callable[[str], Path],
    words: tuple[str, str],
) -> Path:
    """Return the file of a name, or of a path.

    Args:
        source: one of the names, or a path.
        beside: the folder that a relative path starts from; None for the current one.
        names: of the files that come with the package.
        path_of: gives the file of a name.
        words: what a name and what a path stands for, such as ("preset", "configuration file").

    Raises:
        ConfigError: there is no such name, or no such file.
    """
    name, (preset, file) = str(source), words
    if name in names:
        return path_of(name)
    try:
        path = Path(source).expanduser()
        path = path if beside is None or path.is_absolute() else beside / path
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
        size, text = path.stat().st_size, path.read_bytes()[: MAX_FILE_BYTES + 1]
        data = tomllib.loads(text.decode("utf-8-sig")) if size <= MAX_FILE_BYTES else None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # of TOML, of the text encoding, or a number of too many digits
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
    if data is None:
        raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes, too large for a configuration.")
    copied: Data = copy_plain(data)
    return copied


_DRAWS = ({"low", "high"}, {"choices"})


def merge(below: Data, above: Data) -> Data:
    """Lay one table over another; a range or a choice is a value and is replaced whole."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and set(value) not in _DRAWS and set(old) not in _DRAWS:
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
    """Set the value at a path of keys; ``key`` is what the user wrote, for messages.

    Raises:
        ConfigError: the path leads through a single value, or to no place of a list.
    """
    for place, step in enumerate(path[:-1]):
        inner = data.setdefault(step, {})
        if isinstance(inner, list) and place == len(path) - 2:
            _set_item(inner, key, path[-1], value)
            return
        if not isinstance(inner, dict):
            raise ConfigError(f"override {key} = {show(value)}: {step} is a single value and has no keys")
        data = inner
    old, new = data.get(path[-1]), copy_plain(value)
    data[path[-1]] = merge({"": old}, {"": new})[""]  # tables are laid over each other, values replaced


def _set_item(items: list[Any], key: str, place: str, value: Any) -> None:
    """Set one figure of a list, such as ``bravo.odds.shoot.0``, the odds in the same sector."""
    if not place.isascii() or not place.isdigit() or int(place) >= len(items):
        raise ConfigError(f"override {key} = {show(value)}: give a place in the list, 0 to {len(items) - 1}")
    items[int(place)] = copy_plain(value)


def faults_of(model: type[BaseModel], data: Data, prefix: str = "") -> list[str]:
    """Return what a model finds wrong with data, a line for each fault."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        return [_explain(model, detail, prefix) for detail in error.errors()]
    return []


def faults_message(origin: str, faults: list[str]) -> str:
    """Return the message of an error that lists faults, the first twenty of them."""
    lines = [f"  {fault}" for fault in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        lines.append(f"  and {len(faults) - _MAX_FAULTS} more")
    return "\n".join([f"{origin}: {len(faults)} fault{'s' * (len(faults) != 1)}", *lines])


def _explain(root: type[BaseModel], error: ErrorDetails, prefix: str) -> str:
    context = error.get("ctx", {})
    steps = [str(step) for step in error["loc"]]
    value = context.get("value", error["input"])
    if "key" in context:
        steps.append(str(context["key"]))
    path = prefix + ".".join(steps)
    match error["type"]:
        case "wrong_value":
            return f"{path} = {show(value)}: give {context['right']}"
        case "missing":
            return f"{path} is missing"
        case "extra_forbidden":
            return f"{path} = {show(value)}: there is no such key; {_known_keys(root, error['loc'])}"
        case "literal_error":
            return f"{path} = {show(value)}: give {context['expected']}"
        case "model_type" | "dict_type":
            return f"{path} = {show(value)}: give a table"
        case "string_type":
            return f"{path} = {show(value)}: give a text in quotes"
        case "bool_type" | "bool_parsing":
            return f"{path} = {show(value)}: give true or false"
        case "tuple_type":
            return f"{path} = {show(value)}: give a list"
    return f"{path} = {show(value)}: {error['msg']}"


def _known_keys(root: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """Name the keys that a table has, the likeliest first."""
    model: Any = root
    for step in location[:-1]:
        if isinstance(step, str):
            model = model.model_fields[step].annotation
            arguments = [kind for kind in getattr(model, "__args__", ()) if kind is not Ellipsis]
            model = arguments[0] if arguments else model
    keys = list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []
    close = difflib.get_close_matches(str(location[-1]), keys, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return f"the keys here are {', '.join(keys)}"
