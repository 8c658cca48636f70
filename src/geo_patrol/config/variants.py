"""Variants: the scenarios that a configuration samples at reset."""

from geo_patrol.config.schema import GameConfig, Variant
from geo_patrol.config.toml_files import Data, merge


def variant_tables(data: Data) -> list[Data]:
    """Return the variants in the content of a file that are tables; validation rejects all others."""
    variants = data.get("variants")
    return [variant for variant in variants if isinstance(variant, dict)] if isinstance(variants, list) else []


def variant_data(config: GameConfig, variant: Variant) -> Data:
    """Return the content of a configuration with the changes of one of its variants."""
    data = config.to_dict()
    del data["variants"]
    changes: Data = {"alpha": variant.alpha, "bravo": variant.bravo}
    if variant.mirror is not None:
        changes["mirror"] = variant.mirror
    return merge(data, changes)


def scenarios(config: GameConfig) -> list[tuple[int, GameConfig]]:
    """Return the configurations that a reset samples from, each with its relative frequency.

    A configuration without variants is its only scenario.
    """
    if not config.variants:
        return [(1, config)]
    return [(variant.chance, GameConfig.model_validate(variant_data(config, variant))) for variant in config.variants]
