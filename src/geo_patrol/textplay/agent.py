"""An agent that decides by text: what a language model, or any other function from text to text, plays with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.engine import state
from geo_patrol.errors import OrderError
from geo_patrol.game import Game
from geo_patrol.notation import order_codes
from geo_patrol.sides import SIDES, Side
from geo_patrol.textplay.seats import legal_orders_text, observe_text, parse_orders, rules_text

ANSWER = (
    'Answer with one order a line, such as "P3 prograde" or "P3 shoot HVA". Satellites without an order hold. To hold with '
    'all of them, answer "none". Lines that do not begin with a satellite are ignored; if you write about satellites, put '
    "the orders between two lines of ```."
)


class TextAgent(StatelessAgent):
    """Plays by a function from a prompt to an answer.

    The prompt has the rules, the position and the legal orders; an answer that cannot be read is asked for again, with the
    reason. If the last one cannot be read either, its side gives a single illegal order: results count it as such, and it
    is a noop or loses the game, as the configuration's ``illegal_orders`` says.

    Args:
        function: returns an answer to a prompt.
        name: of the agent in tables.
        retries: how often an answer that cannot be read is asked for again.

    Attributes:
        prompts: number of calls of the function.
        forfeited_phases: number of phases in which no answer could be read.

    Raises:
        ValueError: ``retries`` is negative.
    """

    def __init__(self, function: Callable[[str], str], name: str = "text", retries: int = 2) -> None:
        if retries < 0:
            raise ValueError(f"retries = {retries!r}: give a whole number from 0")
        self.name = name
        self.prompts = self.forfeited_phases = 0
        self._function, self._retries = function, retries

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Raise TypeError: texts are made from games, which ``plan`` receives."""
        del observations, action_masks, generator
        raise TypeError(f"agent {self.name!r} needs the games themselves: call plan")

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, see ``PlanningAgent``; games without a choice take no prompt."""
        del observations, generator
        codes = np.zeros(action_masks.shape[:2], np.int64)
        for row, (game, side) in enumerate(zip(games, sides, strict=True)):
            if action_masks[row, :, state.NOOP + 1 :].any():
                codes[row] = self._decide(game, SIDES[side])
        return codes

    def _decide(self, game: Game, side: Side) -> list[int]:
        prompt = prompt_text(game, side)
        for _ in range(1 + self._retries):
            self.prompts += 1
            answer = self._function(prompt)
            try:
                return order_codes(parse_orders(answer, game, side), side)
            except OrderError as error:
                prompt = f"{prompt_text(game, side)}\n\nYour last answer could not be read: {error}"
        self.forfeited_phases += 1
        return [state.GUARD] + [state.NOOP] * state.PATROLS  # an HVA never guards: this is illegal in every position


def prompt_text(game: Game, side: Side) -> str:
    """Return everything that a player of a side needs to decide, and how to answer."""
    return "\n\n".join(
        [rules_text(game), observe_text(game, side), f"Legal orders:\n{legal_orders_text(game, side)}", ANSWER]
    )
