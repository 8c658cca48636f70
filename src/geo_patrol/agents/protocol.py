"""What an agent is, and how one is asked."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.encodings import ENCODINGS, Encoding
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.errors import AgentError

_MAX_MESSAGE = 300


@runtime_checkable
class Agent(Protocol):
    """A player of many games at once, from either side.

    An agent keeps whatever it likes between calls; row i of every batch is the same game until ``reset`` says that
    it is a new one.
    """

    name: str
    """What tables call it."""
    observation: Encoding
    """The encoding of the observations that it wants."""

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Hear that games begin.

        Args:
            new_games: (n,), True where a row of the batch begins a new game. The number of rows may change only when
                all are new.
        """

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Give orders for one decision phase.

        Args:
            observations: (n, size), what the agent's side sees of each game, in its encoding.
            action_masks: (n, 11, 28) int8, 1 where a satellite may be given an order.
            generator: where the agent takes its chance from.

        Returns:
            (n, 11) int64 order codes; illegal ones count as noop.
        """
        ...


@runtime_checkable
class KeyedAgent(Agent, Protocol):
    """An agent whose orders in a game depend on what it sees there and on a key alone, not on the games beside it.

    It remembers nothing. The vector environment gives it a key from each game's own stream of chance, so that a game
    plays the same in a batch of any size and on any number of threads; it calls ``act_by_keys`` from several threads
    at once.
    """

    def act_by_keys(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Give orders for one decision phase, as ``act`` does, with chance from ``keys``, (n,), one for each row."""
        ...


def is_stateless(agent: Agent) -> bool:
    """Tell whether an agent says of itself, by an attribute ``stateless``, that it remembers nothing between calls.

    Such an agent is asked about the games that it plays alone; another one keeps a row of every game of a batch.
    """
    return isinstance(agent, KeyedAgent) or bool(getattr(agent, "stateless", False))


def check_agent(given: Any, what: str) -> Agent:
    """Return an agent.

    Raises:
        ValueError: it is none, or wants observations in an encoding that there is not.
    """
    if not isinstance(given, Agent) or isinstance(given, type):
        raise ValueError(f"{what} = {given!r}: give an agent's name or an Agent")
    if given.observation not in ENCODINGS:
        known = " or ".join(map(repr, ENCODINGS))
        raise ValueError(f"{what}: agent {given.name!r} has observation = {given.observation!r}: it must be {known}")
    return given


def ask_agent(
    agent: Agent, name: str, observations: NDArray[Any], masks: NDArray[np.int8], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return an agent's orders, (n, 11) int64; codes that do not exist stay for the engine to count as illegal.

    Raises:
        AgentError: the agent raised an exception, or returned something else than orders.
    """
    try:
        orders = agent.act(observations, masks, generator)
    except AgentError:  # of one that asks another process, which has said all
        raise
    except Exception as error:
        raise AgentError(f"agent {name!r}: act raised {describe_error(error)}") from error
    return check_orders_of_agent(orders, name, len(masks))


def ask_by_keys(
    agent: KeyedAgent, name: str, observations: NDArray[Any], masks: NDArray[np.int8], keys: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return an agent's orders, (n, 11), with chance from keys, (n,).

    Raises:
        AgentError: the agent raised an exception, or returned something else than orders.
    """
    try:
        orders = agent.act_by_keys(observations, masks, keys)
    except Exception as error:
        raise AgentError(f"agent {name!r}: act_by_keys raised {describe_error(error)}") from error
    return check_orders_of_agent(orders, name, len(masks))


def check_orders_of_agent(orders: Any, name: str, games: int) -> NDArray[np.int64]:
    """Return orders as (games, 11) int64.

    Raises:
        AgentError: they are none.
    """
    shape = (games, SATELLITES)
    if not isinstance(orders, np.ndarray):
        raise AgentError(f"agent {name!r}: act returned {type(orders).__name__}: give a NumPy array")
    plain: NDArray[Any] = np.asarray(orders)  # not of a subclass, which may do as it likes
    if plain.shape != shape:
        raise AgentError(f"agent {name!r}: act returned orders of shape {plain.shape}: give {shape}")
    if plain.dtype.kind not in "iu":
        raise AgentError(f"agent {name!r}: act returned orders of type {plain.dtype}: give whole numbers")
    known: NDArray[np.int64] = np.clip(plain, -1 if plain.dtype.kind == "i" else 0, ORDERS).astype(np.int64)
    return known


def tell_agent(agent: Agent, name: str, new_games: NDArray[np.bool_]) -> None:
    """Tell an agent which games are new.

    Raises:
        AgentError: it raised an exception.
    """
    try:
        agent.reset(new_games)
    except AgentError:
        raise
    except Exception as error:
        raise AgentError(f"agent {name!r}: reset raised {describe_error(error)}") from error


def describe_error(error: Exception) -> str:
    """Return what an exception says, with its kind: one line that fits into a table's notes, whatever it is."""
    kind = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception:
        return f"{kind}, which does not say what it is"
    told = "".join(letter if letter.isprintable() else "?" for letter in text[:_MAX_MESSAGE])
    return f"{kind}: {told}{'...' if len(text) > _MAX_MESSAGE else ''}"
