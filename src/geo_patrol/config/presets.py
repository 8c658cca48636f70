"""Loading configurations: presets, files, mappings, and values that replace others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from geo_patrol.config.schema import GameConfig, faults_of, refuse
from geo_patrol.config.toml_files import (
    MAX_DEPTH,
    Data,
    Layers,
    Overrides,
    config_path,
    copy_plain,
    merge,
    preset_names,
    scenario_set_names,
    set_value,
)
from geo_patrol.errors import ConfigError, show
from geo_patrol.sides import SIDES

__all__ = ["ConfigSource", "Overrides", "load_config", "read_saved_config"]


ConfigSource: TypeAlias = str | Path | Mapping[str, Any] | GameConfig
"""A preset's name, a file's path, the content of such a file, or a finished configuration."""


def load_config(source: ConfigSource = "geo_patrol", overrides: Overrides | None = None) -> GameConfig:
    """Build a configuration.

    Args:
        source: a preset's name, the path of a TOML file, the same content as a mapping, or a ``GameConfig``.
        overrides: values that replace those of the source and of all its variants, by dotted key.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value invalid. The message lists every fault
            with the key's full path, the value, and what is valid.
    """
    return _LAYERS.load(source, overrides)


def read_saved_config(data: Mapping[str, Any]) -> GameConfig:
    """Build a configuration from ``GameConfig.to_dict``, which refers to no files.

    Raises:
        ConfigError: a key is unknown or a value invalid.
    """
    return _validate(copy_plain(data), "saved configuration")


def _expand_tables(data: Data, origin: str) -> None:
    """Merge ``[both]`` into the tables of the sides, in every variant too."""
    _expand_both(data, origin)
    for index, variant in enumerate(_variant_tables(data)):
        _expand_both(variant, f"{origin}: variants.{index}")


def _variant_tables(data: Data) -> list[Data]:
    """Return the variants in the content of a file that are tables; validation rejects all others."""
    variants = data.get("variants")
    return [variant for variant in variants if isinstance(variant, dict)] if isinstance(variants, list) else []


def _expand_both(data: Data, origin: str) -> None:
    both = data.pop("both", None)
    if both is None:
        return
    if not isinstance(both, dict):
        raise ConfigError(f"{origin}: both must be a table of values of both sides, got {show(both)}")
    for side in SIDES:
        own = data.get(side, {})
        data[side] = merge(copy_plain(both), own) if isinstance(own, dict) else own


def _override(data: Data, key: Any, value: Any) -> None:
    """Set a value by its dotted key, in every variant too: overridden values are not sampled."""
    if not isinstance(key, str) or key.count(".") > MAX_DEPTH:
        raise ConfigError(f"override must be a dotted key, such as bravo.patrols.ammo, got {show(key)}")
    first, _, rest = key.partition(".")
    for target in [*SIDES] if first == "both" else [first]:
        set_value(data, key, [target, *rest.split(".")] if rest else [target], value)
        for variant in _variant_tables(data) if target in (*SIDES, "mirror") else []:
            set_value(variant, key, [target, *rest.split(".")] if rest else [target], value)


def _validate(data: Data, origin: str) -> GameConfig:
    refuse(origin, faults_of(GameConfig, data))
    config = GameConfig.model_validate(data)
    variants = enumerate(config.with_variants())
    refuse(origin, (fault for i, variant in variants for fault in faults_of(GameConfig, variant, f"variants.{i}.")))
    return config


_LAYERS = Layers(
    GameConfig,
    ("config", "preset", "configuration file"),
    lambda: preset_names() + scenario_set_names(),
    config_path,
    expand=_expand_tables,
    override=_override,
    build=_validate,
)
