"""Loading configurations: presets, files, mappings, and values that replace others."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from geo_patrol.base.errors import ConfigError, show
from geo_patrol.base.sides import SIDES
from geo_patrol.config.schema import GameConfig, faults_of, refuse
from geo_patrol.config.toml_files import (
    MAX_DEPTH,
    Data,
    Layers,
    Overrides,
    change_value,
    config_path,
    copy_plain,
    is_relative,
    merge,
    parse_overrides,
    preset_names,
    scenario_set_names,
    set_value,
    value_at,
)

__all__ = ["ConfigSource", "Overrides", "load_config", "read_saved_config"]


ConfigSource: TypeAlias = str | Path | Mapping[str, Any] | GameConfig
"""A preset's name, a file's path, the content of such a file, or a finished configuration."""


_NOTHING = object()


def load_config(source: ConfigSource = "geo_patrol", overrides: Overrides | None = None) -> GameConfig:
    """Build a configuration.

    Args:
        source: a preset's name, the path of a TOML file, the same content as a mapping, or a ``GameConfig``.
        overrides: values that replace those of the source and of all its variants, by dotted key. A text such as "+20", "-1"
            or "+10%" is relative to the value of the source.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value invalid. The message lists every fault
            with the key's full path, the value, and what is valid. Or a value of bravo's has no effect, as it has alpha's.
    """
    values = dict(parse_overrides(overrides))
    config = _LAYERS.load(source, values)
    if config.is_mirrored:
        for key, value in values.items():
            side, dot, rest = key.partition(".")
            if side == "bravo" and values.get(f"alpha{dot}{rest}", _NOTHING) != value:
                raise ConfigError(f"override {key} must be alpha{dot}{rest}: mirror = true gives bravo alpha's values")
    return config


def read_saved_config(data: Mapping[str, Any]) -> GameConfig:
    """Build a configuration from ``GameConfig.to_dict``, which refers to no files.

    Raises:
        ConfigError: a key is unknown or a value invalid.
    """
    return _validate(copy_plain(data), "saved configuration")


def target_keys(key: str) -> list[str]:
    """Return the keys for which a key of an override stands: those of both sides for one of ``both``."""
    first, dot, rest = key.partition(".")
    return [f"{side}{dot}{rest}" for side in SIDES] if first == "both" else [key]


def current_value(config: GameConfig, key: str) -> Any:
    """Return the value of a configuration at the dotted key of one side, or of the whole game; None if there is none."""
    return _value_of(config.to_dict(), key)


def _value_of(data: Data, key: str) -> Any:
    """Return the value at a key of a configuration as plain data, or what stands for it where it is not set."""
    value = value_at(data, key)
    if value is not None:
        return value
    side, _, rest = key.partition(".")
    if rest == "patrols.count":  # all Patrols of the formation
        formation = value_at(data, f"{side}.patrols.formation")
        return sum(count for _, count in formation) if isinstance(formation, list) else None
    if rest == "points.patrol":
        return 0
    if re.fullmatch(r"patrols\.single\.\d+\.\w+", rest):  # a Patrol without a value of its own has that of its fleet
        return value_at(data, f"{side}.patrols.{rest.rpartition('.')[2]}")
    return None


def resolve_value(config: GameConfig, key: str, value: Any) -> Any:
    """Return a value that may be relative to that of a configuration, rounded to a whole number where that is one.

    Raises:
        ConfigError: it is relative to something that is no number, or variants have values of their own there, for which it
            would be another.
    """
    before = current_value(config, key)
    changed = change_value(key, before, value)
    for variant in config.with_variants() if is_relative(value) else ():
        own = _value_of(variant, key)
        if own not in (None, before) and change_value(key, own, value) != changed:
            raise ConfigError(
                f"{key} = {show(value)}: it is relative, and the variant {variant['variant']!r} has a value of its own, {show(own)}; "
                "it must be a value"
            )
    return changed


def resolve_overrides(config: GameConfig, overrides: Overrides | None) -> dict[str, Any]:
    """Return what overrides replace in a configuration, by keys of single sides and with nothing relative in it.

    Raises:
        ConfigError: a value is relative to something that is no number, or an override would undo one before it.
    """
    return _LAYERS.resolve(config, overrides)


def list_changes(before: GameConfig, after: GameConfig, overrides: Overrides | None) -> list[str]:
    """Return what overrides have changed, such as "bravo.patrols.fuel 60 -> 80"; one text if it is the same for both sides."""
    return _LAYERS.list_changes(before, after, overrides, current_value)


def _expand_tables(data: Data, origin: str) -> None:
    """Merge ``[both]`` into the tables of the sides, in every variant too."""
    _expand_both(data, origin)
    for index, variant in enumerate(_variant_tables(data)):
        _expand_both(variant, f"{origin}: variants.{index}")


def _variant_tables(data: Data) -> list[Data]:
    """Return the variants in the content of a file that are tables; validation rejects all others."""
    variants = data.get("variants")
    if not isinstance(variants, (list, tuple)):  # a tuple in what GameConfig.to_dict returns
        return []
    return [variant for variant in variants if isinstance(variant, dict)]


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
    path = key.split(".")
    set_value(data, key, path, value)
    for variant in _variant_tables(data) if path[0] in (*SIDES, "mirror") else []:
        set_value(variant, key, path, value)


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
    resolve=resolve_value,
    targets=target_keys,
)
