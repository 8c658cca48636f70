"""The agent ``scripted``: exact path finding, and engagements by their expected gain in points."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.fights import Fight, decide_engagement, make_fight
from geo_patrol.agents.scripted.movement import decide_movement
from geo_patrol.agents.scripted.parameters import describe_parameters
from geo_patrol.agents.scripted.pathfinding import write_steps
from geo_patrol.agents.scripted.perception import MOVEMENT_PHASE, check_observations, read_game, read_rules
from geo_patrol.agents.scripted.raids import Plans, make_plans
from geo_patrol.agents.scripted.seeded import SeededScript
from geo_patrol.agents.scripted.valuation import Style
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.state import GAME, NOOP, RULES, SATELLITES, IntArray, Record, records
from geo_patrol.jit import jit


@jit
def decide(
    observations: IntArray,
    masks: IntArray,
    style: Style,
    keys: NDArray[np.uint64],
    game: Record,
    rules: Record,
    plans: Plans,
    fight: Fight,
    orders: IntArray,
) -> None:
    """Write the orders of a batch.

    ``observations``: (n, size) tokens, ``masks``: (n, 11, 28), ``keys``: (n,), ``orders``: (n, 11), all noop.
    ``game``, ``rules``, ``plans`` and ``fight`` are buffers. The same key gives the same orders.
    """
    inner_ring, outer_ring = 0, 0
    for row in range(len(observations)):
        read_rules(observations[row], rules)
        read_game(observations[row], game, rules)
        if rules.inner_ring != inner_ring or rules.outer_ring != outer_ring:
            inner_ring, outer_ring = rules.inner_ring, rules.outer_ring
            write_steps(inner_ring, outer_ring, plans.steps)
        if observations[row, MOVEMENT_PHASE]:
            decide_movement(game, rules, masks[row], plans, style, keys[row], orders[row])
        else:
            decide_engagement(game, rules, masks[row], style, fight, orders[row])
        for number in range(SATELLITES):
            if not masks[row, number, orders[row, number]]:
                orders[row, number] = NOOP


class ScriptedAgent(SeededScript):
    """Guards its own HVA and raids the enemy's.

    The HVA stays in its goal sector and returns to it when displaced. A few Patrols stay at home; the others fly to
    the enemy HVA along the cheapest paths on which they arrive together, on the turn that balances cost and haste, if
    enough of them can pay for it. In the turn of the strike they spread over the sectors where that HVA may go. When
    enemies come within reach, the Patrols at home gather in the sector of their HVA, and if the strike is likely to
    hit, the HVA evades, at random so that it cannot be foreseen. In an engagement every satellite in turn is
    given the order with the highest expected gain in points: a shot, a collision, guarding, or none.

    Args:
        style: its parameters; the defaults were found by playing many variants against each other.
    """

    def __init__(self, style: Style | None = None) -> None:
        self.style = Style() if style is None else style
        self.name = describe_parameters("scripted", self.style)

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase; equal observations and equal keys give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        masks = check_masks(action_masks)
        seen = check_observations(observations, len(masks))
        orders = np.full(masks.shape[:2], NOOP, np.int64)
        game, rules = records(GAME, 1), records(RULES, 1)  # of this call alone: threads may share the agent
        decide(seen, masks, self.style, keys, game[0], rules[0], make_plans(), make_fight(), orders)
        return orders
