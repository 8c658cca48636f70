"""Compiling ahead what the first use of the package would compile: for images, continuous integration and classes."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from geo_patrol.agents.basic import RandomAgent
from geo_patrol.agents.solved import SolvedAgent
from geo_patrol.config.presets import load_config
from geo_patrol.config.toml_files import preset_names
from geo_patrol.envs.make import make_vec
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.evaluation.campaign import warm_up
from geo_patrol.evaluation.exploitability import ExactBoard
from geo_patrol.evaluation.match import play_match
from geo_patrol.flight.envs import SpaceshipCommander
from geo_patrol.flight.mission import load_mission
from geo_patrol.flight.solver import solve
from geo_patrol.game.game import Game
from geo_patrol.play.advice import hva_threat, loss_probability
from geo_patrol.solving import solve as solve_exactly


def compile_all(device: str = "cpu") -> Iterator[tuple[str, float]]:
    """Compile what environments, matches, windows, the flight games and the solver call, as far as it is not in the cache.

    Args:
        device: "cpu"; or "cuda", for games on a GPU as well, which come first.

    Yields:
        The name of each piece when it is ready, and the seconds that it took.

    Raises:
        CudaError, MissingPackageError: there is no GPU, or the extra ``[cuda]`` is not installed.
    """
    pieces = _PIECES if device == "cpu" else {"games on a GPU": _compile_for_gpu} | _PIECES
    for name, compile_piece in pieces.items():
        start = time.perf_counter()
        compile_piece()
        yield name, time.perf_counter() - start


def _compile_environments() -> None:
    env = ParallelGeoPatrol()
    observations, _ = env.reset(seed=0)
    env.step(env.sample_actions())
    env.action_space("alpha").sample(observations["alpha"]["action_mask"])
    ranges = {"alpha.patrols.fuel": {"low": 50, "high": 100}}
    envs = make_vec(num_games=2, overrides=ranges, observation="tokens")
    envs.reset(seed=0)
    envs.step(envs.sample_actions())
    game = Game(seed=0)
    game.fork(1).cost("alpha", "P1 prograde")


def _compile_scripted_agents() -> None:
    warm_up(("scripted", "raider", "turtle"), load_config("geo_patrol"))


def compile_rules() -> None:
    """Compile what a single game needs."""
    game = Game(seed=0)
    game.fork(1).cost("alpha", "P1 prograde")
    game.copy().step()


def compile_opponents() -> None:
    """Compile what the levels need."""
    warm_up(("level:1",), load_config("geo_patrol"))


def compile_warnings() -> None:
    """Compile what warnings of danger need."""
    game = Game(load_config("geo_patrol", {"bravo.patrols.formation": [[7, 2]]}), seed=0)
    game.step()
    threat = hva_threat(game, "alpha")
    if threat is not None:
        loss_probability(game, "alpha", (), threat)


def compile_search() -> None:
    """Compile what the agent ``search`` and hints need."""
    warm_up(("search:1ms", "search:1ms,propose=policy:base"), load_config("geo_patrol"))


def compile_flight_games() -> None:
    """Compile what flights and the solver need."""
    env = SpaceshipCommander()
    env.reset(seed=0)
    env.step(env.sample_action())
    solve(load_mission("sample"), max_states=100)


def compile_hidden_enemies() -> None:
    """Compile what games need that hide enemies: they call the engine with what each side knows."""
    config = load_config("geo_patrol_hidden")
    warm_up(("level:1", "search:1ms,propose=policy:base"), config)
    game = Game(config, seed=0).seen_by("alpha")
    game.fork(1).cost("alpha", "P1 prograde")
    game.copy().step()


def _compile_solver() -> None:
    config = load_config({"extends": "duel", "turn_limit": 1})
    play_match(SolvedAgent(solve_exactly(config)), "random", config=config, games=2, seed=0)
    ExactBoard(config).exploitability(RandomAgent())


def _compile_for_gpu() -> None:
    ranges = {"alpha.patrols.fuel": {"low": 50, "high": 100}}
    sampled = [("geo_patrol", ranges), ("geo_patrol_hidden", ranges)]
    for config, overrides in [*((name, {}) for name in preset_names()), *sampled]:
        _step_on_gpu(config, overrides=overrides, opponent={"scripted": 1.0, "raider": 1.0})
    for observation in ("onehot", "tokens"):
        _step_on_gpu("geo_patrol", agents="satellites", view="own", observation=observation)


def _step_on_gpu(config: str, **options: Any) -> None:
    envs = make_vec(config, 2, autoreset="same_step", device="cuda", **options)
    envs.reset(seed=0)
    envs.step(envs.sample_actions())


_PIECES: dict[str, Callable[[], None]] = {
    "environments": _compile_environments,
    "scripted agents": _compile_scripted_agents,
    "searching agents": compile_search,
    "flight games": compile_flight_games,
    "hidden enemies": compile_hidden_enemies,
    "exact solver": _compile_solver,
}
