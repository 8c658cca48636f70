"""The agent protocols, and the functions through which the package calls agents.

Everything that plays asks agents by ``compute_actions``: by ``plan`` if the agent has it, otherwise by ``act_seeded`` if it has
that, otherwise by ``act``.
"""

import itertools
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.scripted.script import sample_keys
from geo_patrol.base.errors import AgentError, show
from geo_patrol.base.sides import SIDES
from geo_patrol.engine.observe import Encoding, check_observation
from geo_patrol.engine.own import Observation
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.game.game import Game, Games

_MAX_MESSAGE = 300


@runtime_checkable
class Agent(Protocol):
    """A player of many games at once, from either side.

    An agent may keep state between calls; row i of every batch is the same game until ``reset`` marks it as new.
    """

    name: str
    """Its name in tables."""

    @property
    def observation(self) -> Encoding | Observation:
        """What ``act`` receives of a position: an attribute, the name of an encoding or an ``Observation``."""

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Discard the state kept for games that are over.

        Args:
            new_games: (n,), True where a row of the batch begins a new game. The number of rows may change only when
                all are new.
        """

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase.

        Args:
            observations: (n, size), the observations of the agent's side in its encoding.
            action_masks: (n, 11, 28) int8, 1 where an order of a satellite is legal.
            generator: the source of all randomness of the agent.

        Returns:
            (n, 11) int64 order codes; illegal ones count as noop.
        """
        ...


@runtime_checkable
class SeededAgent(Agent, Protocol):
    """A stateless agent that chooses each row's orders from that row's observation and random key alone.

    Environments derive the keys from each game's own random stream, so a game plays the same in a batch of any size and on
    any number of threads; matches draw them from the agent's generator. ``act_seeded`` is called from several threads at
    once, and instead of ``act``, unless a subclass overrides ``act`` alone.
    """

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase like ``act``, with a random key for each row, (n,)."""
        ...


@runtime_checkable
class PlanningAgent(Agent, Protocol):
    """An agent that plans from the games themselves: wherever the package has them, it calls ``plan`` and no other method."""

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase.

        Args:
            games: n independent copies of the games, the agent's own to play on. Their random streams are forked from
                ``generator``: what happens in a copy says nothing about the future of the game. Where enemies are hidden,
                the games are what the agent's side knows of them, see ``Game.seen_by``.
            sides: (n,), the side for which to choose in each game: 0 alpha, 1 bravo.
            observations: (n, size), as for ``act``.
            action_masks: (n, 11, 28) int8, as for ``act``.
            generator: the source of all randomness of the agent.

        Returns:
            (n, 11) int64 order codes; illegal ones count as noop.
        """
        ...


@runtime_checkable
class ProbabilisticAgent(Agent, Protocol):
    """A stateless agent that gives the probabilities of its orders.

    Those of its satellites are independent, unless it is a ``CorrelatedAgent`` too. An agent whose orders depend on what it
    remembers must not have this method.
    """

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return the probabilities with which ``act`` chooses orders.

        Args:
            observations: (n, size), as for ``act``.
            action_masks: (n, 11, 28) int8, as for ``act``.

        Returns:
            (n, 11, 28), of each satellite's orders; they sum to 1, and illegal orders have 0.
        """
        ...


@runtime_checkable
class CorrelatedAgent(ProbabilisticAgent, Protocol):
    """An agent whose joint orders are a mixture of products over satellites: it draws a component, then each satellite's order."""

    def component_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """Return the mixtures that ``act`` draws joint orders from.

        Args:
            observations: (n, size), as for ``act``.
            action_masks: (n, 11, 28) int8, as for ``act``.

        Returns:
            The probabilities of k components, (n, k), which sum to 1; and those of each satellite's orders by each
            component, (n, k, 11, 28). ``order_probabilities`` is the sum of their products.
        """
        ...


@runtime_checkable
class TensorAgent(Agent, Protocol):
    """A stateless agent that can act on a GPU, as an opponent of an environment there."""

    def act_tensors(self, observations: Any, action_masks: Any) -> Any:
        """Choose the orders of one decision phase of n games.

        Args:
            observations: PyTorch tensor, (n, size): float32 ("onehot") or int16 ("tokens"). Not to be changed.
            action_masks: PyTorch tensor on the same device, (n, 11, 28) int8: 1 where an order is legal. Not to be changed.

        Returns:
            (n, 11), a tensor of integers on that device, order codes; illegal ones count as noop. All n games are asked
            for, those too in which the agent is not the opponent.
        """
        ...


def is_tensor_agent(agent: Agent) -> TypeGuard[TensorAgent]:
    """Tell whether an agent has the method ``act_tensors``."""
    return callable(getattr(agent, "act_tensors", None))


def mixture_of(
    agent: ProbabilisticAgent, observations: NDArray[Any], action_masks: NDArray[np.int8]
) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """Return the mixtures that an agent draws joint orders from, as ``CorrelatedAgent`` does; of others, one component each."""
    if len(action_masks) == 0:
        return np.ones((0, 1)), np.zeros((0, 1, SATELLITES, ORDERS))
    if isinstance(agent, CorrelatedAgent):
        return agent.component_probabilities(observations, action_masks)
    return np.ones((len(action_masks), 1)), agent.order_probabilities(observations, action_masks)[:, None]


def is_planner(agent: Agent) -> TypeGuard[PlanningAgent]:
    """Tell whether an agent has the method ``plan``; a wrapper may deny it by an attribute ``plans`` that is false."""
    # Not ``isinstance``, which looks up every member of the protocol, and takes longer than a phase of many games.
    return callable(getattr(agent, "plan", None)) and bool(getattr(agent, "plans", True))


def is_seeded(agent: Agent) -> TypeGuard[SeededAgent]:
    """Tell whether an agent chooses orders by ``act_seeded``: it has that method, and no subclass overrides ``act`` alone."""
    found = _defines_act_seeded(type(agent))
    return callable(getattr(agent, "act_seeded", None)) if found is None else found


@lru_cache(maxsize=1024)
def _defines_act_seeded(kind: type[Any]) -> bool | None:
    """Return whether the class that last defined how agents act did so by ``act_seeded``; None if no class did."""
    for base in kind.__mro__:
        if "act_seeded" in vars(base):
            return callable(vars(base)["act_seeded"])
        if "act" in vars(base):
            return False
    return None


def takes_keys(agent: Agent) -> TypeGuard[SeededAgent]:
    """Tell whether an agent is asked by ``act_seeded`` where the games are at hand, so that it needs random keys."""
    return is_seeded(agent) and not is_planner(agent)


def is_stateless(agent: Agent) -> bool:
    """Tell whether an agent keeps no state between calls: it acts by ``act_seeded``, or its ``stateless`` is true.

    A stateless agent is called with the rows of its own games only; another one with all rows of a batch, and with masks
    that allow noop alone in games of others.
    """
    return is_seeded(agent) or bool(getattr(agent, "stateless", False))


def agent_name(agent: str | Agent) -> str:
    """Return how results call an agent: the name by which it was given, or that of the object.

    Raises:
        ValueError: it is neither a name nor an agent.
    """
    return agent if isinstance(agent, str) else check_agent(agent, "agent").name


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken yet: the second "net" becomes "net (2)"."""
    names = itertools.chain([name], (f"{name} ({number})" for number in itertools.count(2)))
    return next(unique for unique in names if unique not in taken)


def check_agent(agent: Any, what: str) -> Agent:
    """Return ``agent`` if it is one.

    Args:
        agent: any object.
        what: how messages refer to it.

    Raises:
        ValueError: it does not implement ``Agent``, or its encoding does not exist.
    """
    if not isinstance(agent, Agent) or isinstance(agent, type):
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(agent, torch.nn.Module):
            raise ValueError(
                f"{what} must be an agent's name or an Agent, got the PyTorch module {type(agent).__name__}: it plays as "
                "NetworkAgent('my network', TorchNetwork(module)), both from geo_patrol.agents.networks"
            )
        raise ValueError(f"{what} must be an agent's name or an Agent, got {show(agent)}")
    try:
        check_observation(agent.observation)
    except ValueError as error:
        raise ValueError(f"{what}: agent {agent.name!r}: {error}") from None
    return agent


def compute_actions(
    agent: Agent,
    name: str,
    observations: NDArray[Any],
    action_masks: NDArray[np.int8],
    randomness: np.random.Generator | NDArray[np.uint64],
    games: Callable[[], Sequence[Game]] | None = None,
    sides: int | NDArray[np.int64] = 0,
) -> NDArray[np.int64]:
    """Return an agent's orders, (n, 11) int64, by the first that it has of ``plan``, ``act_seeded`` and ``act``.

    Args:
        agent: any agent.
        name: what messages call it.
        observations: (n, size), in its encoding.
        action_masks: (n, 11, 28).
        randomness: a generator; or random keys, (n,) uint64, for an agent that ``takes_keys``.
        games: returns the n games; only called for a ``PlanningAgent``, which receives forked copies. Without it,
            ``plan`` is not called.
        sides: the side of the agent in all games, or in each, (n,).

    Returns:
        Order codes; unknown ones stay for the engine to count as illegal.

    Raises:
        AgentError: the agent raised an exception, or returned something else than orders.
    """
    n = len(action_masks)
    if not isinstance(randomness, np.random.Generator):
        return _call_for_orders(agent, name, "act_seeded", n, observations, action_masks, randomness)
    if games is not None and is_planner(agent):
        seeds = randomness.integers(1 << 63, size=n).tolist()
        of_rows = np.broadcast_to(np.asarray(sides, np.int64), n)
        copies = [
            game.seen_by(SIDES[side]).fork(seed) for game, side, seed in zip(games(), of_rows, seeds, strict=True)
        ]
        return call_planner(agent, name, copies, of_rows, observations, action_masks, randomness)
    if is_seeded(agent) and getattr(type(agent), "act_seeded", None) not in _UNUSED:
        keys = sample_keys(randomness, n)
        return _call_for_orders(agent, name, "act_seeded", n, observations, action_masks, keys)
    return _call_for_orders(agent, name, "act", n, observations, action_masks, randomness)


_UNUSED = (RandomAgent.act_seeded, IdleAgent.act_seeded)
"""Where there is a generator, these agents draw from it by their ``act``, to the same effect: recorded matches depend on it."""


def call_planner(
    agent: PlanningAgent,
    name: str,
    games: Sequence[Game],
    sides: NDArray[np.int64],
    observations: NDArray[Any],
    action_masks: NDArray[np.int8],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the orders of a planner, which receives these games themselves.

    Raises:
        AgentError: the agent raised an exception, or returned something else than orders.
    """
    return _call_for_orders(agent, name, "plan", len(games), games, sides, observations, action_masks, generator)


def copy_games(batch: Games, rows: NDArray[np.int64] | None = None) -> list[Game]:
    """Return the games of a batch at ``rows``, or all, as independent copies."""
    return [batch[row] for row in (range(len(batch)) if rows is None else rows.tolist())]


def _call_for_orders(agent: Agent, name: str, method: str, num_games: int, *arguments: Any) -> NDArray[np.int64]:
    """Return the orders that a method of an agent chooses for a number of games, (num_games, 11) int64."""
    return check_actions(_call(agent, name, method, *arguments), name, num_games, method)


def reset_agent(agent: Agent, name: str, new_games: NDArray[np.bool_]) -> None:
    """Call an agent's ``reset``.

    Raises:
        AgentError: it raised an exception.
    """
    _call(agent, name, "reset", new_games)


def _call(agent: Agent, name: str, method: str, *arguments: Any) -> Any:
    with errors_of(name, method):
        return getattr(agent, method)(*arguments)


@contextmanager
def errors_of(name: str, method: str) -> Iterator[None]:
    """Turn what the code of an agent raises in the block into an ``AgentError``."""
    try:
        yield
    except AgentError:  # raised by a worker process, complete with the agent's name
        raise
    except Exception as error:
        what = f"agent {name!r}: {method} raised"
        raise AgentError(f"{what} {describe_error(error)}", f"{what} {type(error).__name__}") from error


def check_actions(actions: Any, name: str, num_games: int, method: str = "act") -> NDArray[np.int64]:
    """Return an agent's orders as (num_games, 11) int64.

    Raises:
        AgentError: they have another type or shape.
    """
    shape = (num_games, SATELLITES)
    if not isinstance(actions, np.ndarray):
        raise AgentError(f"agent {name!r}: {method} must return a NumPy array, got {type(actions).__name__}")
    plain: NDArray[Any] = np.asarray(actions)  # not of a subclass, which may override anything
    if plain.shape != shape:
        raise AgentError(f"agent {name!r}: {method} must return orders of shape {shape}, got {plain.shape}")
    if plain.dtype.kind not in "iu":
        raise AgentError(f"agent {name!r}: {method} must return integers, got {plain.dtype}")
    clipped: NDArray[np.int64] = np.clip(plain, -1 if plain.dtype.kind == "i" else 0, ORDERS).astype(np.int64)
    return clipped


def describe_error(error: Exception) -> str:
    """Return the type and message of any exception on one line of limited length, safe to print."""
    kind = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception:
        return f"{kind}, whose message cannot be read"
    message = "".join(letter if letter.isprintable() else "?" for letter in text[:_MAX_MESSAGE])
    return f"{kind}: {message}{'...' if len(text) > _MAX_MESSAGE else ''}"
