"""Board games of pgx on the CPU, with the whole step in one compiled function, sampling and resets included."""

from typing import Any

from benchmarks.contestants.base import Contestant, Workload
from benchmarks.contestants.ours import BATCH, QUICK_BATCH

_XLA_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def make_game(batch: int, game: str) -> Workload:
    """Create a batch of a game with random legal actions."""
    import jax
    import numpy as np
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


CONTESTANTS = [
    Contestant(
        name=f"pgx-{game}",
        title=f"pgx {game}, jit + vmap",
        process="pgx",
        packages=("pgx", "jax", "jaxlib"),
        batch=BATCH,
        quick_batch=QUICK_BATCH,
        includes="legal sampling, rules, mask and observation of the side to move, auto-reset",
        make=lambda batch, game=game: make_game(batch, game),  # type: ignore[misc]
        environment=(("JAX_PLATFORMS", "cpu"), ("XLA_FLAGS", _XLA_FLAGS)),
    )
    for game in ("connect_four", "backgammon")
]
