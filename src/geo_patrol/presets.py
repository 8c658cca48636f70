"""Reading configurations: presets by name, files by path, single values on top.

``extends`` names the preset or the file (relative to its own) that a configuration starts from. A table ``[both]``
holds figures of both sides, ``[alpha]`` and ``[bravo]`` those of one. Later layers win over earlier ones, and within
a layer a side's own table over ``[both]``.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from geo_patrol.config import SIDES, GameConfig
from geo_patrol.errors import ConfigError, show
from geo_patrol.preset_files import preset_names, preset_path

MAX_FILE_BYTES = 1 << 16
_MAX_FAULTS = 20
_MAX_EXTENDS = 8
_MAX_DEPTH = 16

ConfigSource: TypeAlias = str | Path | Mapping[str, Any] | GameConfig
"""A preset's name, a file's path, the content of such a file, or a finished configuration."""
Overrides: TypeAlias = Mapping[str, Any] | Iterable[str]
"""Values by dotted key, ``{"bravo.patrols.ammo": 3}``, or as text, ``["bravo.patrols.ammo=3"]``."""

_Data: TypeAlias = dict[str, Any]


def load_config(source: ConfigSource = "geo_patrol", overrides: Overrides | None = None) -> GameConfig:
    """Build a configuration.

    Args:
        source: a preset's name, the path of a TOML file, the same content as a mapping, or a ``GameConfig``.
        overrides: single values that replace those of the source, in all its variants, by dotted key.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value wrong. The message lists every fault
            with the key's full path, the value, and what would be right.
    """
    values = list(_parse_overrides(overrides))
    if isinstance(source, GameConfig):
        if not values:
            return source
        data, origin = source.to_dict(), source.title
    elif isinstance(source, (str, Path)):
        if isinstance(source, str) and not values and source in preset_names():
            return _load_preset(source)
        data, origin = _read(source)
    elif isinstance(source, Mapping):
        data, origin = _resolve(_copy(source), "configuration", Path.cwd(), depth=0), "configuration"
    else:
        raise ConfigError(f"config = {show(source)}: give a preset's name, a path, a mapping or a GameConfig")
    for key, value in values:
        _override(data, key, value)
    return _validate(data, f"{origin} with overrides" if values else origin)


@cache
def _load_preset(name: str) -> GameConfig:
    data, origin = _read(name)
    return _validate(data, origin)


def read_saved_config(data: Mapping[str, Any]) -> GameConfig:
    """Build a configuration that was saved whole, from ``GameConfig.to_dict``: it refers to no file.

    Raises:
        ConfigError: a key is unknown or a value wrong.
    """
    return _validate(_copy(data), "saved configuration")


def _copy(data: Any, depth: int = 0) -> Any:
    """Copy nested plain data, so that nobody else's is changed."""
    if depth > _MAX_DEPTH:
        raise ConfigError(f"configuration: tables and lists are nested more than {_MAX_DEPTH} deep")
    if isinstance(data, Mapping):
        return {key: _copy(value, depth + 1) for key, value in data.items()}
    return [_copy(value, depth + 1) for value in data] if isinstance(data, list) else data


def _find(source: str | Path, beside: Path | None) -> Path:
    name = str(source)
    if name in preset_names():
        return preset_path(name)
    try:
        path = Path(source).expanduser()
        path = path if beside is None or path.is_absolute() else beside / path
        if path.is_file():
            return path
    except (OSError, ValueError, RuntimeError) as error:  # too long, no text of a path, no such home
        raise ConfigError(f"configuration file {show(name)} cannot be looked for: {error}") from None
    if not path.suffix and "/" not in name and "\\" not in name:
        close = difflib.get_close_matches(name, preset_names(), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ConfigError(f"there is no preset {name!r}{hint} The presets are: {', '.join(preset_names())}.")
    right = f"the path of a TOML file, or a preset: {', '.join(preset_names())}"
    raise ConfigError(f"there is no configuration file {str(path)!r}: give {right}")


def _read(source: str | Path, beside: Path | None = None, depth: int = 0) -> tuple[_Data, str]:
    path = _find(source, beside)
    try:
        size, text = path.stat().st_size, path.read_bytes()[: MAX_FILE_BYTES + 1]
        data = tomllib.loads(text.decode("utf-8-sig")) if size <= MAX_FILE_BYTES else None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # of TOML, of the text encoding, or a number of too many digits
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
    if data is None:
        raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes, too large for a configuration.")
    data = _copy(data)
    return _resolve(data, path.name, path.parent, depth), path.name


def _resolve(data: _Data, origin: str, folder: Path, depth: int) -> _Data:
    """Spread ``[both]`` over the sides, and put the data on top of what it extends."""
    _spread_both(data, origin)
    for place, variant in enumerate(_variant_tables(data)):
        _spread_both(variant, f"{origin}: variants.{place}")
    base = data.pop("extends", None)
    if base is None:
        return data
    if depth >= _MAX_EXTENDS:
        raise ConfigError(
            f"{origin}: extends = {show(base)}: more than {_MAX_EXTENDS} files extend each other, or in a circle."
        )
    if not isinstance(base, str):
        raise ConfigError(f"{origin}: extends = {show(base)}: give a preset's name or a path")
    below, _ = _read(base, folder, depth + 1)
    return _merge(below, data)


def _variant_tables(data: _Data) -> list[_Data]:
    """Return the variants that are tables; validation complains of all else."""
    variants = data.get("variants")
    return [variant for variant in variants if isinstance(variant, dict)] if isinstance(variants, list) else []


def _spread_both(data: _Data, origin: str) -> None:
    both = data.pop("both", None)
    if both is None:
        return
    if not isinstance(both, dict):
        raise ConfigError(f"{origin}: both = {show(both)}: give a table of figures of both sides")
    for side in SIDES:
        own = data.get(side, {})
        data[side] = _merge(_copy(both), own) if isinstance(own, dict) else own


_DRAWS = ({"low", "high"}, {"choices"})


def _merge(below: _Data, above: _Data) -> _Data:
    """Lay one table over another; a range or a choice is a value and is replaced whole."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and set(value) not in _DRAWS and set(old) not in _DRAWS:
            merged[key] = _merge(old, value)
        else:
            merged[key] = value
    return merged


def _parse_overrides(overrides: Overrides | None) -> Iterable[tuple[str, Any]]:
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


def _override(data: _Data, key: str, value: Any) -> None:
    """Set a value by its dotted key, in every variant too: what is set by hand is not drawn."""
    if not isinstance(key, str) or key.count(".") > _MAX_DEPTH:
        raise ConfigError(f"override {show(key)}: give a dotted key, such as bravo.patrols.ammo")
    first, _, rest = key.partition(".")
    for target in [*SIDES] if first == "both" else [first]:
        _set(data, key, [target, *rest.split(".")] if rest else [target], value)
        for variant in _variant_tables(data) if target in (*SIDES, "mirror") else []:
            _set(variant, key, [target, *rest.split(".")] if rest else [target], value)


def _set(data: _Data, key: str, path: list[str], value: Any) -> None:
    for place, step in enumerate(path[:-1]):
        inner = data.setdefault(step, {})
        if isinstance(inner, list) and place == len(path) - 2:
            _set_item(inner, key, path[-1], value)
            return
        if not isinstance(inner, dict):
            raise ConfigError(f"override {key} = {show(value)}: {step} is a single value and has no keys")
        data = inner
    old, new = data.get(path[-1]), _copy(value)
    data[path[-1]] = _merge({"": old}, {"": new})[""]  # tables are laid over each other, values replaced


def _set_item(items: list[Any], key: str, place: str, value: Any) -> None:
    """Set one figure of a list, such as ``bravo.odds.shoot.0``, the odds in the same sector."""
    if not place.isascii() or not place.isdigit() or int(place) >= len(items):
        raise ConfigError(f"override {key} = {show(value)}: give a place in the list, 0 to {len(items) - 1}")
    items[int(place)] = _copy(value)


def _validate(data: _Data, origin: str) -> GameConfig:
    faults = _faults(data, prefix="")
    if not faults:
        config = GameConfig.model_validate(data)
        for place, variant in enumerate(config.variants):
            faults += _faults(_variant_data(config, variant), prefix=f"variants.{place}.")
        if not faults:
            return config
    lines = [f"  {fault}" for fault in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        lines.append(f"  and {len(faults) - _MAX_FAULTS} more")
    raise ConfigError("\n".join([f"{origin}: {len(faults)} fault{'s' * (len(faults) != 1)}", *lines]))


def _variant_data(config: GameConfig, variant: Any) -> _Data:
    data = config.to_dict()
    del data["variants"]
    changes = {"alpha": variant.alpha, "bravo": variant.bravo}
    if variant.mirror is not None:
        changes["mirror"] = variant.mirror
    return _merge(data, changes)


def scenarios(config: GameConfig) -> list[tuple[int, GameConfig]]:
    """Return the configurations that a reset draws from, each with its relative chance; itself where it has no variants."""
    if not config.variants:
        return [(1, config)]
    return [(variant.chance, GameConfig.model_validate(_variant_data(config, variant))) for variant in config.variants]


def _faults(data: _Data, prefix: str) -> list[str]:
    try:
        GameConfig.model_validate(data)
    except ValidationError as error:
        return [_explain(detail, prefix) for detail in error.errors()]
    return []


def _explain(error: ErrorDetails, prefix: str) -> str:
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
            return f"{path} = {show(value)}: there is no such key; {_known_keys(error['loc'])}"
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


def _known_keys(location: tuple[int | str, ...]) -> str:
    """Name the keys that a table has, the likeliest first."""
    model: Any = GameConfig
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
