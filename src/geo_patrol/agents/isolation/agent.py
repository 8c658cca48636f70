"""User-defined agents in worker processes, so that one that raises, hangs or dies only loses its games.

That contains mistakes, not malice: the process has the rights of the user who named the agent. Its answers are data, read
within bounds and before a deadline.

Built-in agents run in the process of the match. A user-defined one runs in a worker process, with a deadline for each
call. When it fails in any way, ``AgentError`` tells how, its process is ended, and the next batch of games starts
another one.
"""

import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from geo_patrol.agents.isolation.worker import LENGTH, Reply, send_message, serve
from geo_patrol.agents.protocol import Agent, check_actions
from geo_patrol.agents.registry import is_user_defined as is_user_defined  # noqa: PLC0414 - for the server
from geo_patrol.agents.registry import make_agent
from geo_patrol.base.errors import AgentError
from geo_patrol.game.game import Game

if TYPE_CHECKING:
    from geo_patrol.engine.observe import Encoding

MOVE_TIME = 0.1
"""Seconds that an agent of a user may take by default for a decision in one game."""
CALL_SECONDS = 2.0
"""Seconds that every call may take on top, however few games it is about."""
FIRST_SECONDS = 8.0
"""Seconds that a process's first decision may take on top of that: compiled code is loaded then."""
START_SECONDS = 60.0
"""Seconds in which an agent must be imported and made."""
_DEATH_SECONDS, _POLL_SECONDS = 5.0, 0.25
_MAX_ANSWER = 4 << 20
"""Bytes; the orders of a batch take a few thousand."""


def make_match_agent(name: str, move_time: float = MOVE_TIME) -> Agent:
    """Make an agent for match play: a built-in one as it is, a user-defined one in a process of its own.

    Args:
        name: a built-in agent's name, ``file.py:Name`` or ``module:Name``.
        move_time: seconds that a user-defined one may take for a decision in one game; a call about n games may
            take n times as long, and ``CALL_SECONDS`` on top, the first one ``FIRST_SECONDS`` more.

    Raises:
        ValueError: there is no built-in agent of that name, or the time is not positive.
        AgentError: the user-defined agent cannot be made.
    """
    check_move_time(move_time)
    return IsolatedAgent(name, move_time) if is_user_defined(name) else make_agent(name)


def check_agent_name(name: str, move_time: float = MOVE_TIME) -> str:
    """Make an agent as ``make_match_agent`` does, and end it; return its name in results.

    Raises:
        ValueError: there is no built-in agent of that name, or the time is not positive.
        AgentError: the user-defined agent cannot be made.
    """
    agent = make_match_agent(name, move_time)
    if isinstance(agent, IsolatedAgent):
        agent.close()
    return agent.name


def check_move_time(move_time: Any) -> float:
    """Return a time for a decision.

    Raises:
        ValueError: it is not a positive number of seconds.
    """
    if (
        isinstance(move_time, bool)
        or not isinstance(move_time, (int, float, np.integer, np.floating))
        or not 0 < move_time <= 86_400
    ):
        raise ValueError(f"move time must be seconds for a decision, more than 0 and at most 86400, got {move_time!r}")
    return float(move_time)


class IsolatedAgent:
    """A user-defined agent, in a process that is ended when it takes too long.

    Close it when it is no longer needed; it closes by itself when this process ends, however that happens.

    Args:
        name: ``file.py:Name`` or ``module:Name``.
        move_time: seconds for a decision in one game, see ``make_match_agent``; an attribute that may be set.
        start: whether to make the agent at once; otherwise that is done when it is first needed.

    Raises:
        AgentError: the agent cannot be made.
    """

    def __init__(self, name: str, move_time: float = MOVE_TIME, *, start: bool = True) -> None:
        self.name = name
        self.observation: Encoding = "tokens"
        self.plans = False
        self.move_time = move_time
        self._process: Any = None
        self._channel: socket.socket | None = None
        self._has_decided = False
        if start:
            self._start()

    def renew(self) -> None:
        """Make the agent anew in the same process, without any of its state."""
        if self._process is None:
            self._start()
        else:
            self._read_agent(self._request("make", START_SECONDS))

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Call the agent's ``reset``; start its process again if it has failed before."""
        if self._process is None:
            self._start()
        self._request("reset", self._seconds(len(new_games)), new_games)

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose orders by the agent's ``act_seeded`` if it has that method, otherwise by its ``act``."""
        return self._choose("act", len(action_masks), generator, observations, action_masks)

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose orders by the agent's ``plan``, if it has that method, see ``plans``."""
        return self._choose("plan", len(games), generator, list(games), sides, observations, action_masks)

    def _choose(
        self, method: str, num_games: int, generator: np.random.Generator, *arguments: Any
    ) -> NDArray[np.int64]:
        seconds = self._seconds(num_games) + (0.0 if self._has_decided else FIRST_SECONDS)
        answer = self._request(method, seconds, *arguments, generator)
        if answer.orders is None or answer.generator is None:
            self._give_up(f"its answer to {method} had no orders")
        self._has_decided = True
        generator.bit_generator.state = answer.generator.model_dump()  # advance it here by what was sampled there
        try:
            actions = np.array(answer.orders, np.int64)
        except (ValueError, OverflowError):
            self._give_up(f"its answer to {method} was not a list of orders")
        return check_actions(actions, self.name, num_games, method)

    def close(self) -> None:
        """End the agent's process."""
        if self._process is not None:
            if hasattr(os, "killpg"):
                with suppress(OSError):  # it is dead, or has not made its group yet
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._channel is not None:
            self._channel.close()
        self._process = self._channel = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would inherit locks and compiled code half way through
        self._channel, theirs = socket.socketpair()
        weakref.finalize(self, self._channel.close)
        self._process = context.Process(target=serve, args=(self.name, theirs), daemon=True)
        with without_main():
            self._process.start()
        theirs.close()
        self._has_decided = False
        self._read_agent(self._receive("being made", time.monotonic() + START_SECONDS, START_SECONDS))

    def _read_agent(self, made: Reply) -> None:
        if made.observation is None:
            self._give_up("being made was answered without an observation")
        self.observation, self.plans = made.observation, made.plans

    def _seconds(self, games: int) -> float:
        return self.move_time * games + CALL_SECONDS

    def _request(self, what: str, seconds: float, *arguments: Any) -> Reply:
        assert self._channel is not None
        deadline = time.monotonic() + seconds
        self._channel.settimeout(seconds)
        try:
            send_message(self._channel, pickle.dumps((what, *arguments)))
        except TimeoutError:
            self._give_up(f"{what} took longer than {seconds:g} s")
        except OSError:
            pass  # the process is dead: receiving tells how it ended
        return self._receive(what, deadline, seconds)

    def _receive(self, what: str, deadline: float, seconds: float) -> Reply:
        """Return the whole answer to a request, which must arrive before a deadline."""
        (length,) = LENGTH.unpack(self._read(LENGTH.size, what, deadline, seconds))
        if length > _MAX_ANSWER:
            self._give_up(f"its answer to {what} has {length:,} bytes: at most {_MAX_ANSWER:,} are read")
        try:
            answer = Reply.model_validate_json(self._read(length, what, deadline, seconds))
        except ValidationError:
            self._give_up(f"its answer to {what} could not be read")
        if answer.error is not None:
            self.close()
            raise AgentError(answer.error, answer.summary)
        return answer

    def _read(self, size: int, what: str, deadline: float, seconds: float) -> bytes:
        """Return the next bytes of an answer."""
        assert self._channel is not None
        content = bytearray()
        while len(content) < size:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                self._give_up(f"{what} took longer than {seconds:g} s")
            ready = wait([self._channel, self._process.sentinel], min(remaining, _POLL_SECONDS))
            if not ready and self._process.is_alive():  # a child of its own may hold both of them open
                continue
            piece = b""
            if self._channel in ready:
                with suppress(OSError):  # the process is dead
                    piece = self._channel.recv(size - len(content))
            if not piece:
                self._process.join(_DEATH_SECONDS)  # its end of the channel closes a moment before it ends
                self._give_up(f"{_explain_end(self._process.exitcode)} in {what}")
            content += piece
        return bytes(content)

    def _give_up(self, message: str) -> NoReturn:
        self.close()
        raise AgentError(f"agent {self.name!r}: {message}")


def _explain_end(code: int | None) -> str:
    """Say how a process ended."""
    if code is None:
        return "its process no longer answered"
    if code < 0:
        with suppress(ValueError):  # not all systems name all signals
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with exit status {code}"


_main_lock = threading.RLock()


@contextmanager
def without_main() -> Iterator[None]:
    """Keep processes that start in the block from importing the main module, of which they need nothing.

    Otherwise a script that plays without ``if __name__ == "__main__":`` would play again in each of them, and a main module
    that is no file, such as one read from standard input, would end them.
    """
    with _main_lock:
        main = vars(sys.modules["__main__"])
        hidden: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
        main.pop("__file__", None)
        main["__spec__"] = None
        try:
            yield
        finally:
            main.update(hidden)
