"""Who sits at a side: a person at the terminal, or an agent."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.match import agent_chance
from geo_patrol.agents.protocol import Agent
from geo_patrol.engine import state
from geo_patrol.errors import AgentError
from geo_patrol.game import Game
from geo_patrol.notation import Side
from geo_patrol.replays.story import position_text
from geo_patrol.textplay.console import Console
from geo_patrol.textplay.dialogue import OrderDialogue


class Seat(Protocol):
    """A side's player."""

    def order(self, game: Game) -> NDArray[np.int64]:
        """Return the eleven order codes for the phase that a position is in."""
        ...


class PersonSeat:
    """A person who is asked at the terminal.

    Args:
        console: where.
        side: which side is played.
        shares_screen: whether the other side sits at the same screen and must not see the orders.
    """

    def __init__(self, console: Console, side: Side, *, shares_screen: bool) -> None:
        self._console, self._side, self._shares_screen = console, side, shares_screen

    def order(self, game: Game) -> NDArray[np.int64]:
        """Ask for orders."""
        if self._shares_screen and has_choice(game, self._side):  # what is legal is no secret
            self._console.ask(f"\n{self._side}, turn {game.turn}, {game.phase}: press Enter when you sit alone. ")
            self._console.tell(f"\n{position_text(game)}")
        codes = np.full(state.SATELLITES, state.NOOP, np.int64)
        for order in OrderDialogue(self._console, game, self._side).run():
            codes[order.satellite] = order.code
        if self._shares_screen and has_choice(game, self._side):
            self._console.draw_curtain()
        return codes


def has_choice(game: Game, side: Side) -> bool:
    """Tell whether a side can do anything but noop."""
    return any(len(orders) > 1 for orders in game.legal_orders(side).values())


class AgentSeat:
    """An agent that plays one game.

    Args:
        agent: who.
        side: which side is played.
        seed: the game's; the agent's chance comes from it too.
    """

    def __init__(self, agent: Agent, side: Side, seed: int) -> None:
        self._agent, self._side = agent, side
        self._chance = agent_chance(seed, 0, 0 if side == "alpha" else 1, agent.name)
        agent.reset(np.ones(1, np.bool_))

    def order(self, game: Game) -> NDArray[np.int64]:
        """Ask the agent.

        Raises:
            AgentError: it raised an exception, or returned no orders.
        """
        observation = game.observation(self._side, self._agent.observation)[np.newaxis]
        mask = game.action_mask(self._side)[np.newaxis]
        try:
            orders = np.asarray(self._agent.act(observation, mask, self._chance))
        except Exception as error:
            raise AgentError(f"agent {self._agent.name!r}: act raised {type(error).__name__}: {error}") from error
        if orders.shape != (1, state.SATELLITES) or orders.dtype.kind not in "iu":
            raise AgentError(
                f"agent {self._agent.name!r}: act returned {orders.dtype} of shape {orders.shape}: "
                f"give whole numbers of shape {(1, state.SATELLITES)}"
            )
        codes: NDArray[np.int64] = orders[0].clip(-1, state.ORDERS).astype(np.int64)
        return codes
