"""A game in progress, and the agents and people who give orders in it (``LiveGame``)."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, is_stateless, reset_agent
from geo_patrol.base.arguments import check_seed, fresh_seed
from geo_patrol.base.errors import AgentError
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.schema import GameConfig
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import Order, order_codes
from geo_patrol.game.timeline import BothOrders, Timeline

T = TypeVar("T")

Act: TypeAlias = Callable[[], NDArray[np.int64]]
"""Lets an agent choose its orders: (11,) order codes."""

Wait: TypeAlias = Callable[[str, Act], NDArray[np.int64]]
"""Waits for an agent's orders and returns them; arguments are the agent's name, and what lets it choose."""


def wait_blocking(_name: str, act: Act) -> NDArray[np.int64]:
    """Let an agent choose its orders in the calling thread."""
    return act()


class AgentThread:
    """A daemon thread in which agents choose their orders, always the same: some hold what belongs to a thread."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=self._run, name="geo_patrol-agents", daemon=True).start()

    def submit(self, act: Callable[[], T]) -> "Future[T]":
        """Let an agent choose its orders; return a future of them, or of the exception raised."""
        future: Future[T] = Future()
        self._queue.put((act, future))
        return future

    def shut_down(self) -> None:
        """End the thread when it is idle."""
        self._queue.put(None)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            act, future = job
            try:
                future.set_result(act())
            except BaseException as error:
                future.set_exception(error)
            del job, act, future  # and what they refer to


Observer: TypeAlias = Callable[["LiveGame", Phase], None]
"""Called after every phase with the game and the phase that was played."""


class LiveGame:
    """One game with its timeline.

    Args:
        config: configuration of the game.
        agents: agents of alpha and bravo; None is a person, whose orders come with ``play``.
        seed: seed of all random streams, the agents' too; None takes one from the operating system.
        observers: called after every phase.
        start: the position to start from, with its random stream; None starts a new game.

    Attributes:
        timeline: the game so far.

    Raises:
        ValueError: the seed is wrong.
        AgentError: an agent raised an exception.
    """

    def __init__(
        self,
        config: GameConfig,
        agents: tuple[Agent | None, Agent | None],
        seed: int | None = None,
        observers: Sequence[Observer] = (),
        start: Game | None = None,
    ) -> None:
        self.seed = fresh_seed() >> 31 if seed is None else check_seed(seed)  # short enough to be typed again
        self.config = config
        self.agents = agents
        self.observers = list(observers)
        self._game = Game(config, seed=self.seed) if start is None else start.copy()
        for side, agent in zip(SIDES, agents, strict=True):
            if agent is not None:
                with _errors_of(side):
                    reset_agent(agent, agent.name, np.ones(1, np.bool_))
        alpha, bravo = ("you" if agent is None else agent.name for agent in agents)
        self.timeline = Timeline(self.game, ("person 1", "person 2") if agents == (None, None) else (alpha, bravo))

    @property
    def game(self) -> Game:
        """The current position, a copy."""
        return self._game.copy()

    @property
    def title(self) -> str:
        """Title of its window: the configuration, the players, and the seed that repeats the game."""
        alpha, bravo = self.timeline.names
        return f"{self.config.title}: {alpha} (alpha) against {bravo} (bravo), seed {self.seed}"

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.timeline.is_complete

    def advance(self, wait: Wait = wait_blocking) -> None:
        """Play the next phase with the orders of the agents; people hold. Do nothing after the end.

        Args:
            wait: waits for the orders of agents.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        self.play(((), ()), wait)

    def play(self, orders: BothOrders, wait: Wait = wait_blocking) -> None:
        """Play the next phase. Do nothing after the end.

        Args:
            orders: legal orders of the people; those of sides with an agent are ignored.
            wait: waits for the orders of agents; where it raises an exception, the game is unchanged.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        if self.is_over:
            return
        self._play(np.array([self._codes(side, orders[side], wait) for side in range(len(self.agents))]))

    def resume(self, past: Iterable[NDArray[np.integer[Any]]]) -> None:
        """Repeat the recorded phases of an interrupted game.

        Stateful agents compute their orders again, which are ignored. Stateless ones need not: their random stream in
        a phase does not depend on the phases before.

        Args:
            past: (2, 11) order codes of every phase.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        for codes in past:
            for side, agent in enumerate(self.agents):
                if agent is not None and not is_stateless(agent):
                    self._compute(agent, side, wait_blocking)
            self._play(codes.astype(np.int64))

    def restart_agents(self) -> None:
        """Let the agents begin anew, and come to the current position again.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        again = LiveGame(self.config, self.agents, self.seed, start=self.timeline[0])
        again.resume(phase.actions for phase in self.timeline.phases)

    def _play(self, codes: NDArray[np.int64]) -> None:
        phase = self._game.step_actions(codes)
        self.timeline.append(phase)
        for observer in self.observers:
            observer(self, phase)

    def _codes(self, side: int, orders: tuple[Order, ...], wait: Wait) -> NDArray[np.int64]:
        agent = self.agents[side]
        if agent is not None:
            return self._compute(agent, side, wait)
        return np.array(order_codes(orders, SIDES[side]), np.int64)

    def _compute(self, agent: Agent, side: int, wait: Wait) -> NDArray[np.int64]:
        observation = self._game.as_games().observe(agent.observation)[:, side].copy()
        mask = self._game.as_games().action_masks()[:, side].copy()
        rng = np.random.default_rng([self.seed % 2**64, side, len(self.timeline)])
        games = [self.game]
        with _errors_of(SIDES[side]):
            return wait(
                agent.name, lambda: compute_actions(agent, agent.name, observation, mask, rng, lambda: games, side)[0]
            )


@contextmanager
def _errors_of(side: Side) -> Iterator[None]:
    """Name the side in errors of its agent."""
    try:
        yield
    except AgentError as error:
        error.side = side
        raise
