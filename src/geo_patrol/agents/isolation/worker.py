"""What runs in the process of an agent of a user's own, see ``guard``: the agent, asked over a pipe."""

import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, compute_actions, reset_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.engine.encodings import Encoding
from geo_patrol.errors import AgentError

MEMORY_SHARE = 0.5
"""How much of the machine's memory an agent's process may take; on Linux."""


def serve(name: str, connection: Connection) -> None:
    """Make an agent, and answer what is asked of it, until nobody asks any more.

    Args:
        name: ``file.py:Name`` or ``module:Name``.
        connection: where questions come from. What is sent back is ("done", answer) or ("failed", message).
    """
    _limit_memory()
    threading.Thread(target=end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the match to hear
    os.dup2(2, 1)  # what an agent prints must not get into the tables
    agent = _answer(connection, _make, name)
    while True:
        try:
            what, *arguments = connection.recv()
        except EOFError:
            return
        if what == "make":
            agent = _answer(connection, _make, name)
        else:
            _answer(connection, _reset if what == "reset" else _act, name, agent, *arguments)


def _answer(connection: Connection, work: Any, name: str, *arguments: Any) -> Any:
    """Do some work, and send its answer or what went wrong; return what it keeps."""
    try:
        kept, answer = work(name, *arguments)
    except AgentError as error:
        connection.send(("failed", str(error)))
        return None
    connection.send(("done", answer))
    return kept


def _make(name: str) -> tuple[Agent, Encoding]:
    agent = make_agent(name)
    return agent, agent.observation


def _reset(name: str, agent: Agent, new_games: NDArray[np.bool_]) -> tuple[None, str]:
    reset_agent(agent, name, new_games)
    return None, "reset"


def _act(
    name: str,
    agent: Agent,
    observations: NDArray[Any],
    masks: NDArray[np.int8],
    generator: np.random.Generator,
) -> tuple[None, tuple[NDArray[np.int64], Any]]:
    orders = compute_actions(agent, name, observations, masks, generator)
    return None, (orders, generator.bit_generator.state)


def end_with_parent() -> None:
    """End this process when the one that started it is gone, even if an agent hangs; runs in a thread."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _limit_memory() -> None:
    """Let an agent that takes too much memory get an error, or be the one that is ended, not the match or another program."""
    if sys.platform != "linux":
        return
    import resource  # noqa: PLC0415 - not on all systems

    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    share = int(MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = share if hard == resource.RLIM_INFINITY else min(share, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
