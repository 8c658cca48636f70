"""A game that is being played: agents and people give orders, and its past is kept."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, is_stateless, reset_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import check_seed, fresh_seed
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.runner import GameRunner, PlayedPhase
from geo_patrol.sessions.timeline import BothOrders, Moment, Timeline
from geo_patrol.sessions.waiting import Wait, wait_blocking
from geo_patrol.sides import SIDES

Observer: TypeAlias = Callable[["LiveGame", Moment], None]
"""Hears of every finished phase: the game, and the moment with the orders of both sides and what followed from them."""


class LiveGame:
    """One game with its timeline.

    Args:
        config: what is played.
        agents: who orders for alpha and for bravo; None is a person, whose orders come with ``play``.
        seed: where all chance comes from, the agents' too; None takes one from the operating system.
        observers: are called after every phase.

    Attributes:
        last_codes: (2, 11) order codes of the last phase, illegal ones included.
        last_phase: the last phase.

    Raises:
        ValueError: the seed is wrong.
        AgentError: an agent raised an exception.
    """

    last_codes: NDArray[np.int64]
    last_phase: PlayedPhase

    def __init__(
        self,
        config: GameConfig,
        agents: tuple[Agent | None, Agent | None],
        seed: int | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.seed = fresh_seed() >> 31 if seed is None else check_seed(seed)  # short enough to be typed again
        self.config = config
        self.agents = agents
        self.observers = list(observers)
        self._runner = GameRunner(config, self.seed)
        for agent in agents:
            if agent is not None:
                reset_agent(agent, agent.name, np.ones(1, np.bool_))
        names = ("you" if agents[0] is None else agents[0].name, "you" if agents[1] is None else agents[1].name)
        self.timeline = Timeline(self.game, ("person 1", "person 2") if agents == (None, None) else names)

    @property
    def game(self) -> Game:
        """The game as it stands; a copy."""
        return self._runner.game

    @property
    def title(self) -> str:
        """What stands in the frame of its window: what is played, who plays, and the seed that repeats it."""
        alpha, bravo = self.timeline.names
        return f"{self.config.title}: {alpha} (alpha) against {bravo} (bravo), seed {self.seed}"

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.timeline.is_complete

    def advance(self, wait: Wait = wait_blocking) -> None:
        """Let the agents play the next phase; people hold. A finished game stays as it is.

        Args:
            wait: waits for the orders of agents.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        self.play(((), ()), wait)

    def play(self, orders: BothOrders, wait: Wait = wait_blocking) -> None:
        """Play the next phase. A finished game stays as it is.

        Args:
            orders: of the people, legal ones; those of agents are asked for.
            wait: waits for the orders of agents; nothing has happened yet when it raises an exception.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        if self.is_over:
            return
        self._play(np.array([self._codes(side, orders[side], wait) for side in range(len(SIDES))], np.int64))

    def resume(self, past: Iterable[NDArray[np.integer[Any]]]) -> None:
        """Play what was played of the game before, as (2, 11) order codes of every phase.

        Agents that remember are asked again, and not heeded. Others need not be, which may take them long: their chance
        in a phase does not depend on the phases before.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders.
        """
        for codes in past:
            for side, agent in enumerate(self.agents):
                if agent is not None and not is_stateless(agent):
                    self._ask(agent, side, wait_blocking)
            self._play(codes.astype(np.int64))

    def _play(self, codes: NDArray[np.int64]) -> None:
        self.last_codes = codes
        self.last_phase = self._runner.step(codes)
        moment = self.timeline.append(self.last_phase.orders, self.last_phase.game)
        for observer in self.observers:
            observer(self, moment)

    def _codes(self, side: int, orders: tuple[Order, ...], wait: Wait) -> NDArray[np.int64]:
        agent = self.agents[side]
        if agent is not None:
            return self._ask(agent, side, wait)
        codes = np.full(SATELLITES, NOOP, np.int64)
        for order in orders:
            codes[order.satellite] = order.code
        return codes

    def _ask(self, agent: Agent, side: int, wait: Wait) -> NDArray[np.int64]:
        observation = self._runner.batch.observe(agent.observation)[:, side].copy()
        mask = self._runner.batch.masks()[:, side].copy()
        chance = np.random.default_rng([self.seed % 2**64, side, len(self.timeline)])
        return wait(agent.name, lambda: compute_actions(agent, agent.name, observation, mask, chance)[0])
