"""Vector environments by their arguments: on processors or a GPU, with sides or satellites as agents."""

from typing import Any, get_args

from geo_patrol.base.arguments import check_choice, check_count, check_names
from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import NUM_SIDES
from geo_patrol.envs.opponents import Mixture, VectorOptions
from geo_patrol.envs.vector import Agents, VectorGeoPatrol, VectorSatelliteOptions, VectorSatellites
from geo_patrol.game.game import MAX_GAMES


def make_vec(
    config: ConfigSource = "geo_patrol",
    num_games: int = 1,
    *,
    agents: Agents = "sides",
    device: str = "cpu",
    **options: Any,
) -> Any:
    """Create a vector environment.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games, 1 to 1,048,576.
        agents: "sides", or "satellites" for ``VectorSatellites``, where each satellite is an agent.
        device: "cpu", or "cuda" for ``geo_patrol.envs.cuda.CudaVectorGeoPatrol``, whose arrays are tensors on a GPU.
        **options: the other arguments of ``VectorGeoPatrol``: ``overrides``, ``opponent``, ``seats``, ``threads``,
            ``autoreset``, ``mask_in``, ``observation``, ``reward``, ``max_cycles``, ``count_events``, ``copy``,
            ``render_mode``, ``render_size``; of ``VectorSatellites`` also ``view``, ``fleet``, ``sensor_range``.

    Raises:
        ConfigError: the configuration is invalid.
        CudaError: there is no such device.
        MissingPackageError: the extra ``[cuda]`` is not installed.
        ValueError: another argument is invalid.

    >>> envs = make_vec("case1", 256, observation="tokens")
    >>> observations, infos = envs.reset(seed=0)
    >>> observations.shape, infos["action_mask"].shape
    ((512, 249), (512, 11, 28))
    """
    check_choice("agents", agents, get_args(Agents))
    kind = VectorSatelliteOptions if agents == "satellites" else VectorOptions
    check_names(options, kind, "config", "num_games", "agents", "device")
    if device != "cpu":
        with optional_import("cuda"):
            from geo_patrol.envs.cuda import CudaVectorGeoPatrol, CudaVectorSatellites  # noqa: PLC0415 - needs the extra
        if agents == "satellites":
            return CudaVectorSatellites(config, num_games, device=device, **options)
        return CudaVectorGeoPatrol(config, num_games, device=device, **options)
    if agents == "satellites":
        return VectorSatellites(config, num_games, **options)
    return VectorGeoPatrol(config, num_games, **options)


def make_gymnasium_vec(*, num_envs: int, opponent: Mixture | None = "random", **arguments: Any) -> Any:
    """Create what ``gymnasium.make_vec`` asks for: ``num_envs`` environments, a game each, or in self-play two per game.

    Raises:
        ValueError: self-play with an odd number of environments, or what ``VectorGeoPatrol`` raises.
    """
    games = check_count("num_envs", num_envs, MAX_GAMES)
    if opponent is None:
        if games % NUM_SIDES:
            raise ValueError(f"num_envs must be even in self-play, where a game has two environments, got {num_envs}")
        games //= NUM_SIDES
    return make_vec(num_games=games, opponent=opponent, **arguments)
