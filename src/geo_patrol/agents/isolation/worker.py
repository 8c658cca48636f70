"""The worker process of a user-defined agent: calls its methods as requested over a socket, see ``isolation/agent.py``."""

import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from geo_patrol.agents.protocol import Agent, call_planner, compute_actions, errors_of, is_planner, reset_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.base.errors import AgentError
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.own import Observation
from geo_patrol.game.game import Games
from geo_patrol.game.position import SavedData, SavedGenerator

LENGTH = struct.Struct("!Q")
"""The length of a message, before its content."""
MAX_MEMORY_FRACTION = 0.5
"""The fraction of the machine's memory that an agent's process may allocate, on Linux."""


class Reply(SavedData):
    """What the worker sends: plain data, which cannot make the process that reads it execute anything.

    Attributes:
        error: why the request failed.
        summary: the same for strangers.
        observation, plans: those of the agent that was made.
        orders: (games, 11) order codes.
        generator: state of the random generator after them.
    """

    error: str | None = None
    summary: str | None = None
    observation: Encoding | None = None
    plans: bool = False
    orders: list[list[int]] | None = None
    generator: SavedGenerator | None = None


def send_message(channel: socket.socket, content: bytes) -> None:
    """Send a message: its length in eight bytes, and its content."""
    channel.sendall(LENGTH.pack(len(content)) + content)


def serve(name: str, channel: socket.socket) -> None:
    """Make an agent, and process requests until the channel is closed.

    Args:
        name: ``file.py:Name`` or ``module:Name``.
        channel: delivers requests, pickled (method, *arguments), and takes a ``Reply`` to each as JSON.
    """
    _limit_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    _end_group_with_parent()
    os.dup2(2, 1)  # what an agent prints must not get into the tables
    agent: Any = None
    request: tuple[Any, ...] = ("make",)
    requests = channel.makefile("rb")
    while True:
        try:
            agent, reply = _answer(name, agent, *request)
        except AgentError as error:
            reply = Reply(error=str(error), summary=error.summary)
        send_message(channel, reply.model_dump_json(exclude_defaults=True).encode())
        header = requests.read(LENGTH.size)
        if not header:
            break
        request = pickle.loads(requests.read(*LENGTH.unpack(header)))  # noqa: S301 - from the parent process
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # with the processes that the agent started


def _answer(name: str, agent: Any, method: str, *arguments: Any) -> tuple[Agent, Reply]:
    """Do what a request says; return the agent, and what to reply."""
    if method == "make":
        agent = make_agent(name)
        if isinstance(agent.observation, Observation):  # a function, which stays here: it is given the games
            return agent, Reply(observation="tokens", plans=True)
        return agent, Reply(observation=agent.observation, plans=is_planner(agent))
    if method == "reset":
        reset_agent(agent, name, *arguments)
        return agent, Reply()
    plans = method == "plan" and is_planner(agent)
    if isinstance(agent.observation, Observation):
        games, sides, _, *others = arguments
        with errors_of(name, "observation"):
            seen = Games.from_games(games).observe(agent.observation)[np.arange(len(games)), sides]
        arguments = (games, sides, seen, *others) if plans else (seen, *others)
    actions = (call_planner if plans else compute_actions)(agent, name, *arguments)
    state = SavedGenerator.model_validate(arguments[-1].bit_generator.state)
    return agent, Reply(orders=actions.tolist(), generator=state)


_GUARD = """exec 3<&0; { read _ <&3; kill -9 "-$1"; } &"""
"""Waits for the end of its input, then ends a process group. As a grandchild it is none of the agent's children."""


def _end_group_with_parent() -> None:
    """See that this process and those that the agent will start end with the parent, however that ends.

    A shell waits for it: the agent may keep the interpreter's lock for ever.
    """
    parent = parent_process()
    assert parent is not None
    if hasattr(os, "setpgrp"):
        os.setpgrp()
        command = ["/bin/sh", "-c", _GUARD, "sh", str(os.getpid())]
        null = subprocess.DEVNULL
        subprocess.run(command, stdin=parent.sentinel, stdout=null, stderr=null, check=True)  # noqa: S603 - no input
    else:
        threading.Thread(target=end_with_parent, daemon=True).start()


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
