"""What is measured: environments, positions, replays and pictures of geo_patrol, and other libraries beside them."""

import functools
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

Encoding = Literal["tokens", "onehot"]
ENCODINGS: tuple[Encoding, ...] = ("tokens", "onehot")
BATCH = 1024
SIDES = 2
_MEBIBYTE = 2**20


@dataclass(frozen=True)
class Workload:
    """A contestant that is ready to step."""

    step: Callable[[], Any]
    """Plays one step of all environments."""
    agent_steps: int = 0
    """Decisions of agents per step: two per game where both sides act simultaneously."""
    env_steps: int = 0
    """Steps of single environments per step: for ours, phases of games; of a contestant with a unit, how many of it."""
    payload: int = 0
    """Bytes of observations and action masks per step (for the copy: the bytes copied)."""
    fraction_ended: Callable[[Any], float] | None = None
    """Computes the fraction of environments that ended in a step from what the step returned."""


@dataclass(frozen=True)
class Contestant:
    """Something to measure. Its libraries are imported in a worker process."""

    name: str
    """Short and unique, used in the raw results."""
    title: str
    """Its name in tables."""
    process: str
    """The worker process; contestants with the same name share it."""
    includes: str
    """What a step includes."""
    make: Callable[[int], Workload]
    """Creates a batch. Raises ModuleNotFoundError if a package is missing."""
    batch: int = 1
    """The number of environments (MiB for the copy)."""
    threads: int = 1
    unit: str = ""
    """What it does, if that is not stepping environments: ``env_steps`` counts these."""


def fraction_ended(result: Any) -> float:
    """Return the fraction of environments that ended, from the return value of a vector environment's step."""
    _, _, terminations, truncations, _ = result
    return float(np.mean(terminations | truncations))


def make_vector(batch: int, observation: Encoding, **options: Any) -> Workload:
    """Create the vector environment with both seats of every game and random legal orders."""
    import geo_patrol

    envs = geo_patrol.make_vec("geo_patrol", batch, seats="both", observation=observation, mask_in="info", **options)
    observations, infos = envs.reset(seed=0)
    if isinstance(
        observations, dict
    ):  # of satellites; what they have of their own is otherwise a view of what their team sees
        observations = observations.get("team", observations["own"])

    def step() -> Any:
        return envs.step(envs.sample_actions())

    payload = observations.nbytes + infos["action_mask"].nbytes
    return Workload(step, envs.num_envs, batch, payload, fraction_ended)


def make_parallel(_: int, *, satellites: bool = False) -> Workload:
    """Create the parallel environment, or that of satellites, with its defaults and random legal orders."""
    from geo_patrol import geo_patrol_satellites_v0, geo_patrol_v0

    env: Any = (geo_patrol_satellites_v0 if satellites else geo_patrol_v0).parallel_env()
    env.reset(seed=0)

    def step() -> None:
        env.step(env.sample_actions())
        if not env.agents:
            env.reset()

    return Workload(step, SIDES, 1)


class Planner:
    """A user's planning agent that gives no orders: what it costs to hand it the games."""

    name, observation, stateless = "planner", "tokens", True

    def reset(self, new_games: Any) -> None:
        """Do nothing."""

    def act(self, *_: Any) -> Any:
        """Refuse: it plans."""
        raise NotImplementedError

    def plan(self, games: Any, *_: Any) -> Any:
        """Give no orders."""
        return np.zeros((len(games), 11), np.int64)


def make_against(batch: int, opponent: str | None) -> Workload:
    """Create the vector environment against an agent, a ``Planner`` without a name, and random legal orders."""
    import geo_patrol

    agent: Any = Planner() if opponent is None else opponent
    envs = geo_patrol.make_vec("geo_patrol", batch, opponent=agent, observation="tokens", copy=False)
    observations, infos = envs.reset(seed=0)
    payload = observations.nbytes + infos["action_mask"].nbytes
    return Workload(lambda: envs.step(envs.sample_actions()), batch, batch, payload, fraction_ended)


def make_stage(batch: int, stage: str) -> Workload:
    """Describe games under way with some of the outputs of a step, or play a step with sampled orders and no outputs."""
    from geo_patrol.config.presets import load_config
    from geo_patrol.envs.episodes import Episodes

    games = Episodes(load_config("geo_patrol"), batch, "onehot" if stage == "onehot" else "tokens")
    whole, sampled = games.new_outputs(), np.empty((games.num_envs, 11), np.int64)
    nothing = whole._replace(masks=whole.masks[:0], onehot=whole.onehot[:0], tokens=whole.tokens[:0])
    sampling = nothing._replace(sampled=sampled)
    outputs = {
        "legal orders": nothing,
        "sampling": sampling,
        "masks": nothing._replace(masks=whole.masks),
        "tokens": nothing._replace(tokens=whole.tokens),
        "onehot": nothing._replace(onehot=whole.onehot),
    }

    def play() -> None:
        games.describe(sampling)
        games.step(sampled, nothing)
        over = np.flatnonzero(games.games.is_over)
        if len(over) > 0:
            games.reset(over)

    games.seed(range(batch))
    games.reset()
    for _ in range(64):
        play()
    return Workload(play if stage == "rules" else lambda: games.describe(outputs[stage]), env_steps=1)


def make_play_outs(batch: int) -> Workload:
    """Play copies of one position out at random, each with random streams of its own."""
    import geo_patrol

    game = geo_patrol.Game("geo_patrol", seed=7)
    return Workload(lambda: game.repeat(batch).reseed(1).play_randomly(), env_steps=batch)


def make_game_play_out(_: int) -> Workload:
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


def make_game_call(_: int, method: Literal["copy", "legal_orders", "step"]) -> Workload:
    """Call a method of a game in its first position."""
    import geo_patrol

    game = geo_patrol.Game("geo_patrol", seed=7)
    calls: dict[str, Callable[[], Any]] = {
        "copy": game.copy,
        "legal_orders": lambda: game.legal_orders("alpha"),
        "step": lambda: game.copy().step(),
    }
    return Workload(calls[method], env_steps=1)


def make_samples(games: int, observation: Encoding) -> Workload:
    """Read recorded games as batches of samples; recording them is not measured."""
    import geo_patrol
    from geo_patrol.replays.datasets import ReplayDataset

    folder = tempfile.TemporaryDirectory()
    geo_patrol.play_match("policy:base", "scripted", games=games, seed=1, save=Path(folder.name, "games.jsonl.gz"))

    def read() -> int:
        return sum(len(samples.actions) for samples in ReplayDataset(folder.name, encoding=observation).batches())

    return Workload(read, env_steps=read())


def make_frames(_: int, size: tuple[int, int], phase: Literal["moving", "engaged"]) -> Workload:
    """Draw a movement on its way, or an engagement and its drift."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    from geo_patrol import load_config, make_agent
    from geo_patrol.play.live import LiveGame
    from geo_patrol.window.picture import Picture

    live = LiveGame(load_config("geo_patrol"), (make_agent("scripted"), make_agent("scripted")), 13)
    while not live.is_over:
        live.advance()
    index = 7 if phase == "moving" else live.timeline.next_engagement(0) or 0
    snapshot, picture, shown = live.timeline.snapshot(index), Picture(*size, live.config), 0

    def draw() -> None:
        nonlocal shown
        shown = (shown + 1) % 100
        picture.frame(snapshot, shown / 100)

    return Workload(draw, env_steps=1)


def make_step_and_frame(_: int) -> Workload:
    """Play a step of the parallel environment and draw it."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    from geo_patrol import geo_patrol_v0

    env = geo_patrol_v0.parallel_env(render_mode="rgb_array")
    env.reset(seed=1)

    def draw() -> None:
        if not env.agents:
            env.reset()
        env.step(env.sample_actions())
        env.render()

    return Workload(draw, env_steps=1)


def make_cartpole_frame(_: int) -> Workload:
    """Draw Gymnasium's CartPole."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    import gymnasium

    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=1)
    return Workload(env.render, env_steps=1)


def make_single(_: int, name: str, **options: Any) -> Workload:
    """Create a single Gymnasium environment with random actions, legal ones for a game of ours."""
    import gymnasium

    import geo_patrol  # noqa: F401 - registers our games

    env: gymnasium.Env[Any, Any] = gymnasium.make(name, **options)
    env.action_space.seed(0)
    sample = getattr(env.unwrapped, "sample_action", env.action_space.sample)
    env.reset(seed=0)

    def step() -> None:
        *_, terminated, truncated, _ = env.step(sample())
        if terminated or truncated:
            env.reset()

    return Workload(step, 1, 1)


def make_envpool(batch: int) -> Workload:
    """Create EnvPool's synchronous vector environment with one worker thread."""
    import envpool

    envs = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=batch, num_threads=1, seed=0)
    return _drive(envs, batch, np.int32)


def make_gymnasium(batch: int, mode: str) -> Workload:
    """Create Gymnasium's vector environment: in NumPy ("vector_entry_point") or one by one ("sync")."""
    import gymnasium

    return _drive(gymnasium.make_vec("CartPole-v1", num_envs=batch, vectorization_mode=mode), batch, np.int64)


def _drive(envs: Any, batch: int, action_type: type[np.integer[Any]]) -> Workload:
    """Return the workload of CartPoles with actions from one NumPy call per step."""
    generator = np.random.default_rng(0)
    observations, _ = envs.reset()
    return Workload(
        lambda: envs.step(generator.integers(0, 2, batch, action_type)),
        batch,
        batch,
        observations.nbytes,
        fraction_ended,
    )


def make_pgx(batch: int, game: str) -> Workload:
    """Create a batch of a game with random legal actions; sampling, step and resets are one compiled function."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.update({"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags})
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make(game)
    play = auto_reset(env.step, env.init)

    @jax.jit
    def play_all(states: Any, key: Any) -> Any:
        key, action_key, step_key = jax.random.split(key, 3)
        actions = act_randomly(action_key, states.legal_action_mask)
        return jax.vmap(play)(states, actions, jax.random.split(step_key, batch)), key

    key = jax.random.key(0)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, batch))

    def step() -> Any:
        nonlocal states, key
        states, key = jax.block_until_ready(play_all(states, key))
        return states

    payload = states.observation.nbytes + states.legal_action_mask.nbytes
    return Workload(step, batch, batch, payload, lambda states: float(np.mean(states.terminated | states.truncated)))


def make_supersuit(batch: int) -> Workload:
    """Create copies of our parallel environment as a vector environment of SuperSuit, with random legal orders."""
    import supersuit

    from geo_patrol import geo_patrol_v0
    from geo_patrol.engine.legal import sample_legal

    env = supersuit.pettingzoo_env_to_vec_env_v1(geo_patrol_v0.parallel_env(observation="tokens", mask_in="info"))
    envs = supersuit.concat_vec_envs_v1(env, batch, num_cpus=0, base_class="gymnasium")
    generator = np.random.default_rng(0)
    observations, infos = envs.reset(seed=0)

    def step() -> Any:
        nonlocal infos
        masks = np.array([info["action_mask"] for info in infos])
        result = envs.step(sample_legal(masks, generator))
        infos = result[-1]
        return result

    masks = sum(info["action_mask"].nbytes for info in infos)
    return Workload(step, envs.num_envs, batch, observations.nbytes + masks, fraction_ended)


def make_connect_four(_: int) -> Workload:
    """Create PettingZoo's connect four with random legal actions."""
    from pettingzoo.classic import connect_four_v3

    env = connect_four_v3.env()
    generator = np.random.default_rng(0)
    env.reset(seed=0)

    def step() -> None:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            observation = env.observe(env.agent_selection)
        env.step(int(generator.choice(np.flatnonzero(observation["action_mask"]))))

    return Workload(step, 1, 1)


def make_simple_spread(_: int) -> Workload:
    """Create MPE's simple spread for three agents with actions sampled from their spaces."""
    from mpe2 import simple_spread_v3

    env = simple_spread_v3.parallel_env()
    env.reset(seed=0)
    agents = len(env.agents)

    def step() -> None:
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        if not env.agents:
            env.reset()

    return Workload(step, agents, 1)


def make_copy(batch: int) -> Workload:
    """Create a copy of ``batch`` MiB from one array to another; each byte copied counts once."""
    source = np.ones(batch * _MEBIBYTE, np.uint8)
    target = np.zeros_like(source)
    return Workload(lambda: np.copyto(target, source), payload=source.nbytes)


_SATELLITES = {
    "side": ("-satellites", " of satellites"),
    "own": ("-satellites-own", " of satellites that see for themselves"),
}


def _vector(observation: Encoding, threads: int, *, copy: bool = False, view: str | None = None) -> Contestant:
    agents: dict[str, Any] = {} if view is None else {"agents": "satellites", "view": view}
    ending, kind = ("", "") if view is None else _SATELLITES[view]
    what = f"vector{kind}, {observation}, {threads} thread{'s' if threads > 1 else ''}"
    arrays = "new arrays every step (the default)" if copy else "the same arrays every step (copy=False)"
    return Contestant(
        f"{observation}-{threads}{'-copy' if copy else ''}{ending}",
        f"geo_patrol {what}{', new arrays' if copy else ''}",
        f"geo_patrol-{threads}",
        f"legal sampling, rules, masks and observations of both sides, auto-reset, {arrays}",
        functools.partial(make_vector, observation=observation, threads=threads, copy=copy, **agents),
        BATCH,
        threads,
    )


def _single(name: str, title: str, process: str, environment: str, what: str) -> Contestant:
    includes = f"sampling{what}, reset; no masks"
    return Contestant(name, title, process, includes, functools.partial(make_single, name=environment))


def _cartpoles(name: str, title: str, process: str, make: Callable[[int], Workload]) -> Contestant:
    includes = "one call for random actions (NumPy), physics, observations of 4 floats, auto-reset; no masks"
    return Contestant(name, title, process, includes, make, BATCH)


_game = functools.partial(Contestant, process="geo_patrol-game")
_frame = functools.partial(Contestant, process="pictures", unit="frames")
_SIZES = ((640, 480), (1280, 720), (3840, 2160))
_STAGES = {
    "legal orders": "finding legal orders, and infos",
    "sampling": "the same, and sampling legal orders",
    "masks": "legal orders, and masks",
    "tokens": "legal orders, and observations",
    "onehot": "legal orders, and observations",
    "rules": "sampling as above, and then rules, the next legal orders and resets",
}

_ALL = [
    *(_vector(observation, threads) for threads in (1, 2) for observation in ENCODINGS),
    *(_vector(observation, 1, copy=True) for observation in ENCODINGS),
    *(_vector(observation, 1, view=view) for view in _SATELLITES for observation in ENCODINGS),
    Contestant(
        "parallel",
        "geo_patrol parallel_env",
        "geo_patrol-parallel",
        "legal sampling, rules, masks and one-hot observations of both sides, reset",
        make_parallel,
    ),
    Contestant(
        "parallel-satellites",
        "geo_patrol parallel_env of satellites",
        "geo_patrol-parallel",
        "legal sampling, rules, masks and one-hot observations of each satellite of both sides, reset",
        functools.partial(make_parallel, satellites=True),
    ),
    *(
        Contestant(
            f"solo-{opponent}",
            f"geo_patrol, gymnasium.make, against {opponent}",
            "geo_patrol-solo",
            "legal sampling and orders of the opponent, rules, mask and one-hot observation of one side, reset",
            functools.partial(make_single, name="GeoPatrol/GeoPatrol-v0", opponent=opponent),
        )
        for opponent in ("random", "scripted")
    ),
    *(
        Contestant(
            f"against-{opponent or 'planner'}",
            f"geo_patrol vector, tokens, against {opponent or 'an agent that plans'}",
            "geo_patrol-opponents",
            f"legal sampling, {'orders of the opponent' if opponent else 'copies of all games for the opponent'}, rules, masks "
            "and observations of one side, auto-reset, the same arrays every step (copy=False)",
            functools.partial(make_against, opponent=opponent),
            BATCH,
        )
        for opponent in ("idle", "random", "raider", "scripted", "policy", None)
    ),
    *(
        _game(
            f"stage-{stage.replace(' ', '-')}",
            f"a part of a step of {BATCH:,} games: {stage}",
            includes=includes,
            make=functools.partial(make_stage, stage=stage),
            batch=BATCH,
            unit="batches",
        )
        for stage, includes in _STAGES.items()
    ),
    _game(
        "play-outs",
        "Games.play_randomly",
        includes="copies of the first position, random streams, legal sampling and rules to the end of all games",
        make=make_play_outs,
        batch=BATCH,
        unit="play-outs",
    ),
    _game(
        "game-play-outs",
        "Game, random play-out",
        includes="a copy of the first position, legal_orders, random.choice and step to the end of the game",
        make=make_game_play_out,
        unit="play-outs",
    ),
    *(
        _game(
            f"game-{method}",
            f"Game.{method}",
            includes=includes,
            make=functools.partial(make_game_call, method=method),
            unit="calls",
        )
        for method, includes in (
            ("copy", "a copy of a position"),
            ("legal_orders", "those of one side"),
            ("step", "a copy, and a movement phase without orders, with the phase that was played"),
        )
    ),
    *(
        _game(
            f"samples-{observation}",
            f"ReplayDataset, {observation}",
            includes="of both sides, from packed replays: parsing, playing, comparing; observation, mask, orders, reward, return, outcome",
            make=functools.partial(make_samples, observation=observation),
            batch=300,
            unit="samples",
        )
        for observation in ENCODINGS
    ),
    *(
        _frame(
            f"frame-{width}",
            f"frames of {width} x {height}",
            includes="a movement on its way",
            make=functools.partial(make_frames, size=(width, height), phase="moving"),
        )
        for width, height in _SIZES
    ),
    _frame(
        "frame-engagement",
        "frames of 1280 x 720, engagement",
        includes="an engagement and its drift",
        make=functools.partial(make_frames, size=(1280, 720), phase="engaged"),
    ),
    _frame(
        "frame-step",
        "steps and frames of 1280 x 720",
        includes="a step of parallel_env, render",
        make=make_step_and_frame,
    ),
    _frame("frame-cartpole", "frames of CartPole-v1", includes="render of 600 x 400", make=make_cartpole_frame),
    *(
        _single(
            name.lower(),
            f"geo_patrol {name}-v0",
            "geo_patrol-flight",
            f"GeoPatrol/{name}-v0",
            " of legal actions, rules, observations",
        )
        for name in ("SpaceshipCommander", "PlanetaryProbe")
    ),
    _cartpoles("envpool-cartpole", "EnvPool CartPole-v1, 1 thread", "envpool", make_envpool),
    _cartpoles(
        "gymnasium-vector-cartpole",
        "Gymnasium CartPole-v1, in NumPy",
        "gymnasium",
        functools.partial(make_gymnasium, mode="vector_entry_point"),
    ),
    _cartpoles(
        "gymnasium-sync-cartpole",
        "Gymnasium CartPole-v1, SyncVectorEnv",
        "gymnasium",
        functools.partial(make_gymnasium, mode="sync"),
    ),
    _single(
        "gymnasium-cartpole",
        "Gymnasium CartPole-v1",
        "gymnasium-single",
        "CartPole-v1",
        " by the space, physics, observations of 4 floats",
    ),
    *(
        Contestant(
            f"pgx-{game}",
            f"pgx {game}, jit + vmap",
            "pgx",
            "legal sampling, rules, mask and observation of the side to move, auto-reset",
            functools.partial(make_pgx, game=game),
            BATCH,
        )
        for game in ("connect_four", "backgammon")
    ),
    Contestant(
        "supersuit",
        "geo_patrol parallel_env behind SuperSuit",
        "supersuit",
        "legal sampling, rules, masks and token observations of both sides, auto-reset",
        make_supersuit,
        64,
    ),
    Contestant(
        "pettingzoo-connect-four",
        "PettingZoo connect_four_v3",
        "pettingzoo",
        "legal sampling (NumPy), rules, mask and observation of the side to move, reset",
        make_connect_four,
    ),
    Contestant(
        "mpe-simple-spread",
        "MPE simple_spread_v3",
        "pettingzoo",
        "sampling by the spaces, physics, observations of all agents, reset; no masks",
        make_simple_spread,
    ),
    Contestant(
        "copy", "numpy.copyto, large arrays (batch: MiB)", "memory", "bytes copied, counted once each", make_copy, 256
    ),
]
CONTESTANTS = {contestant.name: contestant for contestant in _ALL}
"""All contestants by name."""
