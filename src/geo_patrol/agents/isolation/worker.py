"""The worker process of a user-defined agent: calls its methods as requested over a pipe, see ``guard``."""

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

from geo_patrol.agents.protocol import Agent, call_agent, is_planner, reset_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.engine.encodings import Encoding
from geo_patrol.errors import AgentError

MAX_MEMORY_FRACTION = 0.5
"""The fraction of the machine's memory that an agent's process may allocate, on Linux."""


def serve(name: str, connection: Connection) -> None:
    """Make an agent, and process requests until the connection is closed.

    Args:
        name: ``file.py:Name`` or ``module:Name``.
        connection: delivers requests, (method, *arguments). Each is answered by ("done", result) or
            ("failed", message).
    """
    _limit_memory()
    threading.Thread(target=end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    os.dup2(2, 1)  # what an agent prints must not get into the tables
    agent = _reply(connection, _make, name)
    while True:
        try:
            method, *arguments = connection.recv()
        except EOFError:
            return
        if method == "make":
            agent = _reply(connection, _make, name)
        elif method == "reset":
            _reply(connection, _reset, name, agent, *arguments)
        else:
            _reply(connection, _choose, name, agent, method, *arguments)


def _reply(connection: Connection, function: Any, *arguments: Any) -> Any:
    """Send the second value that a function returns, or its error; return the first."""
    try:
        value, result = function(*arguments)
    except AgentError as error:
        connection.send(("failed", str(error)))
        return None
    connection.send(("done", result))
    return value


def _make(name: str) -> tuple[Agent, tuple[Encoding, bool]]:
    agent = make_agent(name)
    return agent, (agent.observation, is_planner(agent))


def _reset(name: str, agent: Agent, new_games: NDArray[np.bool_]) -> tuple[None, str]:
    reset_agent(agent, name, new_games)
    return None, "reset"


def _choose(name: str, agent: Agent, method: str, *arguments: Any) -> tuple[None, tuple[NDArray[np.int64], Any]]:
    """Call ``act`` or ``plan``; the state of the generator, the last argument, goes back with the orders."""
    actions = call_agent(agent, name, method, *arguments)
    return None, (actions, arguments[-1].bit_generator.state)


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
    limit = int(MAX_MEMORY_FRACTION * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
