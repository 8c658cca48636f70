"""Reading configurations: presets by name, files by path, single values on top.

``extends`` names the preset or the file (relative to its own) that a configuration starts from. A table ``[both]``
holds figures of both sides, ``[alpha]`` and ``[bravo]`` those of one. Later layers win over earlier ones, and within
a layer a side's own table over ``[both]``.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from geo_patrol.config.layers import Layers
from geo_patrol.config.preset_files import preset_names, preset_path
from geo_patrol.config.schema import GameConfig
from geo_patrol.config.toml_files import (
    MAX_DEPTH,
    Data,
    Overrides,
    copy_plain,
    faults_message,
    faults_of,
    merge,
    set_value,
)
from geo_patrol.errors import ConfigError, show
from geo_patrol.sides import SIDES

__all__ = ["ConfigSource", "Overrides", "load_config", "read_saved_config", "scenarios"]

ConfigSource: TypeAlias = str | Path | Mapping[str, Any] | GameConfig
"""A preset's name, a file's path, the content of such a file, or a finished configuration."""


def load_config(source: ConfigSource = "geo_patrol", overrides: Overrides | None = None) -> GameConfig:
    """Build a configuration.

    Args:
        source: a preset's name, the path of a TOML file, the same content as a mapping, or a ``GameConfig``.
        overrides: single values that replace those of the source, in all its variants, by dotted key.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value wrong. The message lists every fault
            with the key's full path, the value, and what would be right.
    """
    return _layers().load(source, overrides)


def read_saved_config(data: Mapping[str, Any]) -> GameConfig:
    """Build a configuration that was saved whole, from ``GameConfig.to_dict``: it refers to no file.

    Raises:
        ConfigError: a key is unknown or a value wrong.
    """
    return _validate(copy_plain(data), "saved configuration")


@cache
def _layers() -> Layers[GameConfig]:
    words = ("config", "preset", "configuration file")
    return Layers(
        GameConfig, words, preset_names, preset_path, spread=_spread_tables, override=_override, build=_validate
    )


def _spread_tables(data: Data, origin: str) -> None:
    """Spread ``[both]`` over the sides, in every variant too."""
    _spread_both(data, origin)
    for place, variant in enumerate(_variant_tables(data)):
        _spread_both(variant, f"{origin}: variants.{place}")


def _variant_tables(data: Data) -> list[Data]:
    """Return the variants that are tables; validation complains of all else."""
    variants = data.get("variants")
    return [variant for variant in variants if isinstance(variant, dict)] if isinstance(variants, list) else []


def _spread_both(data: Data, origin: str) -> None:
    both = data.pop("both", None)
    if both is None:
        return
    if not isinstance(both, dict):
        raise ConfigError(f"{origin}: both = {show(both)}: give a table of figures of both sides")
    for side in SIDES:
        own = data.get(side, {})
        data[side] = merge(copy_plain(both), own) if isinstance(own, dict) else own


def _override(data: Data, key: Any, value: Any) -> None:
    """Set a value by its dotted key, in every variant too: what is set by hand is not drawn."""
    if not isinstance(key, str) or key.count(".") > MAX_DEPTH:
        raise ConfigError(f"override {show(key)}: give a dotted key, such as bravo.patrols.ammo")
    first, _, rest = key.partition(".")
    for target in [*SIDES] if first == "both" else [first]:
        set_value(data, key, [target, *rest.split(".")] if rest else [target], value)
        for variant in _variant_tables(data) if target in (*SIDES, "mirror") else []:
            set_value(variant, key, [target, *rest.split(".")] if rest else [target], value)


def _validate(data: Data, origin: str) -> GameConfig:
    faults = faults_of(GameConfig, data)
    if not faults:
        config = GameConfig.model_validate(data)
        for place, variant in enumerate(config.variants):
            faults += faults_of(GameConfig, _variant_data(config, variant), prefix=f"variants.{place}.")
        if not faults:
            return config
    raise ConfigError(faults_message(origin, faults))


def _variant_data(config: GameConfig, variant: Any) -> Data:
    data = config.to_dict()
    del data["variants"]
    changes = {"alpha": variant.alpha, "bravo": variant.bravo}
    if variant.mirror is not None:
        changes["mirror"] = variant.mirror
    return merge(data, changes)


def scenarios(config: GameConfig) -> list[tuple[int, GameConfig]]:
    """Return the configurations that a reset draws from, each with its relative chance; itself where it has no variants."""
    if not config.variants:
        return [(1, config)]
    return [(variant.chance, GameConfig.model_validate(_variant_data(config, variant))) for variant in config.variants]
