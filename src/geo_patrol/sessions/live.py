"""A live game: agents and people give orders, and a timeline records it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents import Agent
from geo_patrol.agents.protocol import compute_actions, is_stateless, reset_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.game import Game, Phase
from geo_patrol.games import check_seed, fresh_seed
from geo_patrol.notation import Order
from geo_patrol.sessions.timeline import BothOrders, Moment, Timeline
from geo_patrol.sessions.waiting import Wait, wait_blocking

Observer: TypeAlias = Callable[["LiveGame", Moment], None]
"""Called after every phase with the game, and the moment with the orders of both sides and their outcomes."""


class LiveGame:
    """One game with its timeline.

    Args:
        config: configuration of the game.
        agents: agents of alpha and bravo; None is a person, whose orders come with ``play``.
        seed: seed of all random streams, the agents' too; None takes one from the operating system.
        observers: called after every phase.
        start: the position to start from, with its random stream; None starts a new game.

    Attributes:
        last_codes: (2, 11) order codes of the last phase, illegal ones included.
        last_phase: the last phase, with its legal orders and outcomes.

    Raises:
        ValueError: the seed is wrong.
        AgentError: an agent raised an exception.
    """

    last_codes: NDArray[np.int64]
    last_phase: Phase

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
        for agent in agents:
            if agent is not None:
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

    def _play(self, codes: NDArray[np.int64]) -> None:
        self.last_codes = codes
        self.last_phase = phase = self._game.step_actions(codes)
        moment = self.timeline.append(phase.orders, phase.after)
        for observer in self.observers:
            observer(self, moment)

    def _codes(self, side: int, orders: tuple[Order, ...], wait: Wait) -> NDArray[np.int64]:
        agent = self.agents[side]
        if agent is not None:
            return self._compute(agent, side, wait)
        codes = np.full(SATELLITES, NOOP, np.int64)
        for order in orders:
            codes[order.satellite] = order.code
        return codes

    def _compute(self, agent: Agent, side: int, wait: Wait) -> NDArray[np.int64]:
        observation = self._game.as_games().observe(agent.observation)[:, side].copy()
        mask = self._game.as_games().action_masks()[:, side].copy()
        rng = np.random.default_rng([self.seed % 2**64, side, len(self.timeline)])
        games = [self.game]
        return wait(
            agent.name, lambda: compute_actions(agent, agent.name, observation, mask, rng, lambda: games, side)[0]
        )
