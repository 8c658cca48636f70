"""The registries of Gymnasium and PettingZoo: an id for each preset, such as ``GeoPatrol/Case1-v0``."""

import itertools

import gymnasium
import pettingzoo

from geo_patrol.config.toml_files import preset_names

FLIGHT_IDS = {
    "GeoPatrol/PlanetaryProbe-v0": "geo_patrol.flight.envs:PlanetaryProbe",
    "GeoPatrol/SpaceshipCommander-v0": "geo_patrol.flight.envs:SpaceshipCommander",
}
_SPELLED = {"od2d": "OD2D"}


def environment_id(preset: str) -> str:
    """Return the id under which a preset is registered."""
    name = _SPELLED.get(preset) or "".join(word.capitalize() for word in preset.split("_"))
    return f"GeoPatrol/{name}-v0"


def register_environments() -> None:
    """Register every preset, with Gymnasium against an agent, with PettingZoo for two; and the flight games.

    Ids that are registered already, as after ``importlib.reload``, are replaced without the warnings of both registries.
    """
    ids = [*map(environment_id, preset_names()), *FLIGHT_IDS]
    for registry, name in itertools.product(
        (gymnasium.registry, pettingzoo.aec_registry, pettingzoo.parallel_registry), ids
    ):
        registry.pop(name, None)
    for preset in preset_names():
        name, arguments = environment_id(preset), {"config": preset}
        gymnasium.register(
            name,
            entry_point="geo_patrol.envs.single:SoloGeoPatrol",
            vector_entry_point="geo_patrol.envs.make:make_gymnasium_vec",
            kwargs=arguments,
        )
        for kind, entry_point in (("aec", "env"), ("parallel", "parallel_env")):
            pettingzoo.register(kind, name, f"geo_patrol.geo_patrol_v0:{entry_point}", kwargs=arguments)
    for name, entry_point in FLIGHT_IDS.items():
        gymnasium.register(name, entry_point=entry_point)
