"""Loading compiled code at a known moment: a Ctrl-C that arrives while LLVM loads code may be lost."""

from typing import TYPE_CHECKING

from geo_patrol.cli.errors import leave_at_once

if TYPE_CHECKING:
    from geo_patrol.agents import Agent


def quick(agent: "Agent") -> "Agent":
    """Return an agent that calls the same compiled code as another one, with a minimal time budget."""
    from geo_patrol.agents.search import Searcher

    return agent.hurried() if isinstance(agent, Searcher) else agent


def load_rules() -> None:
    """Load all compiled code that playing, showing and checking games calls, except that of agents."""
    with leave_at_once():
        import numpy as np

        from geo_patrol import board
        from geo_patrol.config.presets import load_config
        from geo_patrol.engine.drift import winner_of
        from geo_patrol.engine.engagement import attack_probability, guard_probability
        from geo_patrol.engine.legality import order_cost
        from geo_patrol.engine.state import NOOP, SATELLITES, SIDES
        from geo_patrol.notation import Order
        from geo_patrol.runner import GameRunner

        runner = GameRunner(load_config("geo_patrol"), seed=0)
        runner.play(np.zeros((SIDES, SATELLITES), np.int64))
        game, rules = runner.batch.games[0], runner.batch.rules[0]
        order_cost(game, rules, 0, 1, NOOP)
        attack_probability(game, rules, 0, 1, Order(1, "shoot", 0).code)
        guard_probability(game, rules, 0, 1)
        winner_of(game)
        moves = (board.prograde, board.retrograde, board.radial_in, board.radial_out)
        for function in (board.ring_of, board.azimuth_of, *moves):
            function(2)
        board.sector_at(2, 0)
