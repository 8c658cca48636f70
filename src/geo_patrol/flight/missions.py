"""Reading missions: those of the package by name, files by path, single values on top.

``extends`` names the mission or the file (relative to its own) that a mission starts from; what a file says itself
wins, tables are laid over each other.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from geo_patrol.errors import ConfigError, show
from geo_patrol.flight.mission import Mission
from geo_patrol.preset_files import mission_names, mission_path
from geo_patrol.toml_files import (
    MAX_DEPTH,
    Data,
    Overrides,
    copy_plain,
    faults_message,
    faults_of,
    find_file,
    merge,
    parse_overrides,
    read_toml,
    set_value,
)

MissionSource: TypeAlias = str | Path | Mapping[str, Any] | Mission
"""A mission's name, a file's path, the content of such a file, or a finished mission."""

_MAX_EXTENDS = 8
_WORDS = ("mission", "mission file")

__all__ = ["MissionSource", "Overrides", "load_mission", "mission_names"]


def load_mission(source: MissionSource = "sample", overrides: Overrides | None = None) -> Mission:
    """Build a mission.

    Args:
        source: a mission's name, the path of a TOML file, the same content as a mapping, or a ``Mission``.
        overrides: single values that replace those of the source, by dotted key: ``{"turns": 20}``, ``["turns=20"]``.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value wrong. The message lists the faults
            with the key's full path, the value, and what would be right.
    """
    values = list(parse_overrides(overrides))
    if isinstance(source, Mission):
        if not values:
            return source
        data, origin = source.to_dict(), source.title
    elif isinstance(source, (str, Path)):
        if isinstance(source, str) and not values and source in mission_names():
            return _load_named(source)
        data, origin = _read(source)
    elif isinstance(source, Mapping):
        data, origin = _resolve(copy_plain(source), "mission", Path.cwd(), depth=0), "mission"
    else:
        raise ConfigError(f"mission = {show(source)}: give a mission's name, a path, a mapping or a Mission")
    for key, value in values:
        _override(data, key, value)
    return _validate(data, f"{origin} with overrides" if values else origin)


@cache
def _load_named(name: str) -> Mission:
    return _validate(*_read(name))


def _read(source: str | Path, beside: Path | None = None, depth: int = 0) -> tuple[Data, str]:
    path = find_file(source, beside, mission_names(), mission_path, _WORDS)
    return _resolve(read_toml(path), path.name, path.parent, depth), path.name


def _resolve(data: Data, origin: str, folder: Path, depth: int) -> Data:
    """Lay the data over what it extends."""
    base = data.pop("extends", None)
    if base is None:
        return data
    if depth >= _MAX_EXTENDS:
        raise ConfigError(
            f"{origin}: extends = {show(base)}: more than {_MAX_EXTENDS} files extend each other, or in a circle."
        )
    if not isinstance(base, str):
        raise ConfigError(f"{origin}: extends = {show(base)}: give a mission's name or a path")
    below, _ = _read(base, folder, depth + 1)
    return merge(below, data)


def _override(data: Data, key: Any, value: Any) -> None:
    if not isinstance(key, str) or key.count(".") > MAX_DEPTH:
        raise ConfigError(f"override {show(key)}: give a dotted key, such as turns")
    if value == "none":  # TOML has no such value, and what another mission asks for must be undone somehow
        data.pop(key, None)
        return
    set_value(data, key, key.split("."), value)


def _validate(data: Data, origin: str) -> Mission:
    faults = faults_of(Mission, data)
    if faults:
        raise ConfigError(faults_message(origin, faults))
    return Mission.model_validate(data)
