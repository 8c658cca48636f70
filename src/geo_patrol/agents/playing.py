"""Two agents at the sides of a batch of games: asking both for their orders, and playing the games out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import RandomAgent
from geo_patrol.agents.protocol import (
    Agent,
    compute_actions,
    copy_games,
    errors_of,
    is_stateless,
    reset_agent,
    takes_keys,
)
from geo_patrol.agents.registry import as_agent
from geo_patrol.base.arguments import check_limit
from geo_patrol.base.errors import AgentError
from geo_patrol.base.sides import SIDES
from geo_patrol.engine import rng, steps
from geo_patrol.engine.own import Observation
from geo_patrol.engine.state import NUM_SIDES, SATELLITES
from geo_patrol.game.game import Games, make_outputs


@dataclass(frozen=True)
class SeatedAgent:
    """An agent on one side of a batch of games.

    Attributes:
        agent: the agent.
        name: what messages call it.
        side: 0 alpha, 1 bravo.
        generator: the source of its randomness; None for an agent that takes keys, from the games' own streams.
    """

    agent: Agent
    name: str
    side: int
    generator: np.random.Generator | None


class AgentPair:
    """A batch of games with the agents that play them; finished games stay as they are, so that rows do not move."""

    def __init__(self, games: Games, players: Sequence[SeatedAgent]) -> None:
        self._games, self._players = games, players
        rows, outer_ring = NUM_SIDES * len(games), games.config.board.outer_ring
        features = {"hides_enemies": games.hides_enemies, "counts_patrols": games.config.counts_patrols}
        self._outputs = {  # written in every phase, so that they are allocated once
            encoding: make_outputs(rows, encoding, outer_ring, **features, masks=True)
            for encoding in {player.agent.observation for player in players}
        }

    def reset(self) -> dict[int, AgentError]:
        """Reset all agents for new games; return the errors by side."""
        errors = {}
        for player in self._players:
            try:
                reset_agent(player.agent, player.name, np.ones(len(self._games), np.bool_))
            except AgentError as error:
                errors[player.side] = error
        return errors

    def compute_orders(self) -> tuple[NDArray[np.int64], dict[int, AgentError]]:
        """Return the orders of both sides, (n, 2, 11), and the errors by side. Agents may keep the arrays they get."""
        orders, errors = np.zeros((len(self._games), NUM_SIDES, SATELLITES), np.int64), {}
        for outputs in self._outputs.values():
            self._games.run(steps.OBSERVE, outputs=outputs)
        for player in self._players:
            try:
                orders[:, player.side] = self._compute_orders_of(player)
            except AgentError as error:
                errors[player.side] = error
        return orders, errors

    def _compute_orders_of(self, player: SeatedAgent) -> NDArray[np.int64]:
        """Return the orders of one side, (n, 11)."""
        agent, name, n = player.agent, player.name, len(self._games)
        outputs = self._outputs[agent.observation]
        both_sides = outputs.tokens if agent.observation == "tokens" else outputs.onehot
        if isinstance(agent.observation, Observation):
            with errors_of(name, "observation"):
                both_sides = self._games.observe(agent.observation)
        observations = both_sides.reshape(n, NUM_SIDES, -1)[:, player.side].copy()
        masks = outputs.masks.reshape(n, NUM_SIDES, *outputs.masks.shape[1:])[:, player.side].copy()
        randomness = player.generator or rng.next_keys(self._games.state.choices["stream"])
        return compute_actions(
            agent, name, observations, masks, randomness, lambda: copy_games(self._games), player.side
        )


def check_pair(first: str | Agent, second: str | Agent) -> None:
    """Check that an object which plays against itself keeps no state between calls.

    Raises:
        ValueError: it does.
    """
    if first is second and not isinstance(first, str) and not is_stateless(first):
        raise ValueError(
            f"agent {first.name!r} keeps a state between calls, so it cannot play both sides: give another object, or its name"
        )


def play_out(
    games: Games, alpha: str | Agent = "random", bravo: str | Agent = "random", *, max_phases: int | None = None
) -> Games:
    """Let two agents play games to their end, and return the games themselves.

    >>> from geo_patrol import Games, play_out
    >>> play_out(Games("geo_patrol", 1000, seed=7), "raider", "random").returns.mean(axis=0)
    array([ 0.998, -0.998])

    All randomness comes from the games' own streams, so equal games are played out equally. ``"random"`` on both sides
    is compiled as a whole, the same orders as those of ``sample_actions`` before every step (``Games.play_randomly``). With
    agents that have ``act_seeded``, as nearly all of the package, a game is played out alike in a batch of any size; others
    draw from one generator for all games, which starts from the streams of all.

    Args:
        games: the games, played in place; ``games.copy()`` keeps them.
        alpha: the agent of alpha, by its name, see ``agent_names``, or itself. Agents are reset first.
        bravo: the agent of bravo; another object, unless the agent is stateless.
        max_phases: the number of decision phases to play at most; None plays all games to their end.

    Raises:
        AgentError: an agent raised an exception, or returned something else than orders; the phases before were played.
        ValueError: an argument is wrong.
    """
    limit = check_limit("max_phases", max_phases)
    agents = as_agent(alpha, "alpha"), as_agent(bravo, "bravo")
    check_pair(*agents)
    if all(type(agent) is RandomAgent for agent in agents):
        return games.play_randomly(limit)
    streams = games.state.choices["stream"]
    pair = AgentPair(
        games,
        [
            SeatedAgent(
                agent,
                f"{agent.name} ({SIDES[side]})",
                side,
                None if takes_keys(agent) else np.random.default_rng(rng.next_keys(streams)),
            )
            for side, agent in enumerate(agents)
        ],
    )
    errors, played = pair.reset(), 0
    while not errors and played < limit and not games.is_over.all():
        orders, errors = pair.compute_orders()
        if not errors:
            games.step(orders)
            played += 1
    if errors:
        raise next(iter(errors.values()))
    return games
