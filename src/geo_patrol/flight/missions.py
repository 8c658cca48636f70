"""Loading missions: by name, from files or mappings, with overrides.

``extends`` names the mission or the file (relative path) that a file is based on; its own values take precedence, tables
are merged.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from geo_patrol.config.errors import faults_message, faults_of
from geo_patrol.config.layers import Layers
from geo_patrol.config.preset_files import mission_names, mission_path
from geo_patrol.config.toml_files import MAX_DEPTH, Data, Overrides, set_value
from geo_patrol.errors import ConfigError, show
from geo_patrol.flight.mission import Mission

MissionSource: TypeAlias = str | Path | Mapping[str, Any] | Mission
"""A mission's name, a file's path, the content of such a file, or a ``Mission``."""

__all__ = ["MissionSource", "Overrides", "load_mission", "mission_names"]


def load_mission(source: MissionSource = "sample", overrides: Overrides | None = None) -> Mission:
    """Load a mission.

    Args:
        source: a mission's name, the path of a TOML file, the same content as a mapping, or a ``Mission``.
        overrides: values that replace those of the source, by dotted key: ``{"turns": 20}``, ``["turns=20"]``.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value invalid. The message lists every error
            with the key's full path, the value, and what is expected.
    """
    return _layers().load(source, overrides)


@cache
def _layers() -> Layers[Mission]:
    kinds = ("mission", "mission", "mission file")
    return Layers(Mission, kinds, mission_names, mission_path, override=_override, build=_validate)


def _override(data: Data, key: Any, value: Any) -> None:
    if not isinstance(key, str) or key.count(".") > MAX_DEPTH:
        raise ConfigError(f"override {show(key)}: give a dotted key, such as turns")
    if value == "none":  # TOML has no null; this removes a goal of the mission that is extended
        data.pop(key, None)
        return
    set_value(data, key, key.split("."), value)


def _validate(data: Data, origin: str) -> Mission:
    faults = faults_of(Mission, data)
    if faults:
        raise ConfigError(faults_message(origin, faults))
    return Mission.model_validate(data)
