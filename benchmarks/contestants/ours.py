"""The environments of geo_patrol."""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.contestants.base import Contestant, Workload

BATCH, QUICK_BATCH = 1024, 32
SIDES = 2


def make_vector(batch: int, observation: Literal["onehot", "tokens"], **options: Any) -> Workload:
    """Create the vector environment with both seats of every game and random legal orders."""
    import geo_patrol

    envs = geo_patrol.make_vec("geo_patrol", batch, seats="both", observation=observation, mask_in="info", **options)
    observations, infos = envs.reset(seed=0)
    if isinstance(observations, dict):  # of satellites
        observations = observations["team"]

    def step() -> Any:
        return envs.step(envs.sample_actions())

    payload = observations.nbytes + infos["action_mask"].nbytes
    return Workload(step, envs.num_envs, batch, payload, fraction_ended)


def fraction_ended(result: Any) -> float:
    """Return the fraction of environments that ended, from the return value of a vector environment's step."""
    _, _, terminations, truncations, _ = result
    return float(np.mean(terminations | truncations))


def make_parallel(batch: int) -> Workload:  # noqa: ARG001 - always one game
    """Create the parallel environment with its defaults and random legal orders."""
    from geo_patrol import geo_patrol_v0

    env = geo_patrol_v0.parallel_env()
    env.reset(seed=0)

    def step() -> None:
        env.step(env.sample_actions())
        if not env.agents:
            env.reset()

    return Workload(step, SIDES, 1)


def make_play_outs(batch: int) -> Workload:
    """Play copies of one position out at random, each with random streams of its own."""
    import geo_patrol

    game = geo_patrol.Game("geo_patrol", seed=7)
    return Workload(lambda: game.repeat(batch).reseed(1).play_out(), env_steps=batch)


def make_game_play_out(batch: int) -> Workload:  # noqa: ARG001 - always one game
    """Play a copy of one position out at random, step by step and with orders as values."""
    import random

    import geo_patrol

    game, choose = geo_patrol.Game("geo_patrol", seed=7), random.Random(0).choice

    def play_out() -> None:
        copy = game.copy()
        while not copy.is_over:
            alpha, bravo = ([*map(choose, copy.legal_orders(side).values())] for side in ("alpha", "bravo"))
            copy.step(alpha, bravo)

    return Workload(play_out, env_steps=1)


def make_game_call(method: Literal["copy", "legal_orders", "step"]) -> Workload:
    """Call a method of a game in its first position."""
    import geo_patrol

    game = geo_patrol.Game("geo_patrol", seed=7)
    calls: dict[str, Callable[[], Any]] = {
        "copy": game.copy,
        "legal_orders": lambda: game.legal_orders("alpha"),
        "step": lambda: game.copy().step(),
    }
    return Workload(calls[method], env_steps=1)


def make_samples(games: int, observation: Literal["onehot", "tokens"]) -> Workload:
    """Read recorded games as batches of samples; recording them is not measured."""
    import geo_patrol
    from geo_patrol.replays.datasets import ReplayDataset

    folder = tempfile.TemporaryDirectory()
    geo_patrol.play_match("policy:base", "scripted", games=games, seed=1, save=Path(folder.name, "games.jsonl.gz"))

    def read() -> int:
        return sum(len(samples.actions) for samples in ReplayDataset(folder.name, encoding=observation).batches())

    return Workload(read, env_steps=read())


def _game(
    name: str, title: str, unit: str, includes: str, make: Callable[[int], Workload], batch: int = 1
) -> Contestant:
    return Contestant(
        name=name,
        title=title,
        process="geo_patrol-game",
        packages=(),
        batch=batch,
        quick_batch=min(batch, QUICK_BATCH),
        includes=includes,
        make=make,
        is_peer=False,
        unit=unit,
    )


def _vector(
    observation: Literal["onehot", "tokens"], threads: int, *, copy: bool = False, satellites: bool = False
) -> Contestant:
    plural = "threads" if threads > 1 else "thread"
    agents: dict[str, Any] = {"agents": "satellites"} if satellites else {}
    what = f"vector{' of satellites' if satellites else ''}, {observation}, {threads} {plural}"
    return Contestant(
        name=f"{observation}-{threads}{'-copy' if copy else ''}{'-satellites' if satellites else ''}",
        title=f"geo_patrol {what}{', new arrays' if copy else ''}",
        process=f"geo_patrol-{threads}",
        packages=("numpy", "numba", "gymnasium"),
        batch=BATCH,
        quick_batch=QUICK_BATCH,
        includes="legal sampling, rules, masks and observations of both sides, auto-reset"
        + (", new arrays every step (the default)" if copy else ", the same arrays every step (copy=False)"),
        make=lambda batch: make_vector(batch, observation, threads=threads, copy=copy, **agents),
        threads=threads,
        is_peer=False,
    )


CONTESTANTS = [
    *(_vector(observation, threads) for threads in (1, 2) for observation in ("tokens", "onehot")),
    *(_vector(observation, 1, copy=True) for observation in ("tokens", "onehot")),
    *(_vector(observation, 1, satellites=True) for observation in ("tokens", "onehot")),
    Contestant(
        name="parallel",
        title="geo_patrol parallel_env",
        process="geo_patrol-parallel",
        packages=("pettingzoo",),
        batch=1,
        quick_batch=1,
        includes="legal sampling, rules, masks and one-hot observations of both sides, reset",
        make=make_parallel,
        is_peer=False,
    ),
    _game(
        "play-outs",
        "Games.play_out, random",
        "play-outs",
        "copies of the first position, random streams, legal sampling and rules to the end of all games",
        make_play_outs,
        BATCH,
    ),
    _game(
        "game-play-outs",
        "Game, random play-out",
        "play-outs",
        "a copy of the first position, legal_orders, random.choice and step to the end of the game",
        make_game_play_out,
    ),
    _game("game-copy", "Game.copy", "calls", "a copy of a position", lambda _: make_game_call("copy")),
    _game(
        "game-legal_orders", "Game.legal_orders", "calls", "those of one side", lambda _: make_game_call("legal_orders")
    ),
    _game(
        "game-step",
        "Game.step",
        "calls",
        "a copy, and a movement phase without orders, with the phase that was played",
        lambda _: make_game_call("step"),
    ),
    *(
        _game(
            f"samples-{observation}",
            f"ReplayDataset, {observation}",
            "samples",
            "of both sides, from packed replays: parsing, playing, comparing; observation, mask, orders, reward, return, outcome",
            functools.partial(make_samples, observation=observation),
            300,
        )
        for observation in ("tokens", "onehot")
    ),
]
