"""What helps a player: the danger to an HVA, why a score changed, and hints."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geo_patrol.agents.search import Search, SearchAgent
from geo_patrol.base.sides import SIDES, Side, enemy_of
from geo_patrol.engine.state import SATELLITES
from geo_patrol.game.game import Game
from geo_patrol.game.notation import MOVES, Order, order_codes, read_orders
from geo_patrol.play.order_entry import Option, describe


@dataclass(frozen=True)
class Threat:
    """What can happen to an HVA in the next engagement phase.

    Attributes:
        attacks: the attack of each enemy that is most likely to succeed, the most likely first.
        guards: the guard orders that the own Patrols may then give, the most likely to succeed first.
        points: fuel points that are lost with the HVA.
    """

    attacks: tuple[Option, ...]
    guards: tuple[Option, ...]
    points: int

    @property
    def probability(self) -> float:
        """The probability that the HVA is destroyed if all of them attack and nobody guards."""
        return 1 - math.prod(1 - (attack.probability or 0.0) for attack in self.attacks)


_PLAYED = 4_000
"""Engagements that are played to estimate a probability: its standard error is below 1%."""


def loss_probability(game: Game, side: Side, orders: Sequence[Order], threat: Threat) -> float:
    """Return how likely a side loses its HVA in an engagement phase if all of the threat's attacks come.

    Args:
        game: the position, in an engagement phase; it is not changed.
        side: whose HVA it is.
        orders: its legal orders, with its guards.
        threat: how its HVA can be attacked, from ``hva_threat``.
    """
    actions = np.zeros((_PLAYED, len(SIDES), SATELLITES), np.int64)
    own = SIDES.index(side)
    actions[:, own] = order_codes(orders, side)
    actions[:, 1 - own] = order_codes([attack.order for attack in threat.attacks], enemy_of(side))
    played = game.repeat(_PLAYED).reseed()
    played.step(actions)
    return float(played.destroyed[:, own, 0].mean())


def hva_threat(game: Game, side: Side, orders: Sequence[Order] = ()) -> Threat | None:
    """Return how a side's HVA can be attacked in the next engagement phase; None if it cannot.

    Args:
        game: the position, in a movement or engagement phase; it is not changed. Where it hides enemies, those count that
            the side sees, and those that may be where it expects them.
        side: whose HVA it is.
        orders: legal orders of that side in this phase; its other satellites hold.
    """
    positions = [game] if game.phase == "engagement" else _positions(game, side, orders)
    attacks: dict[int, Option] = {}
    guards: dict[int, Option] = {}
    enemy = enemy_of(side)
    elsewhere = _not_where_expected(game, enemy)
    for position in positions:
        for attack in _options(position, enemy, ("shoot", "collide"), target=0):
            best = attacks.get(attack.order.satellite)
            if attack.order.satellite in elsewhere:
                continue
            if best is None or (attack.probability or 0) > (best.probability or 0):
                attacks[attack.order.satellite] = attack
        guards |= {guard.order.satellite: guard for guard in _options(position, side, ("guard",), target=None)}
    if not attacks:
        return None
    hva = positions[0].satellite(side, 0)
    points = round(hva.fuel * float(game.as_games().state.rules["weight"][0, SIDES.index(side), 0]))
    return Threat(_likeliest(attacks), _likeliest(guards), points)


def _not_where_expected(game: Game, enemy: Side) -> set[int]:
    """Return the enemies that are out of sight although a side sees the sectors in which it expects them."""
    in_sight = game.sectors_in_sight or ()
    unseen = game.out_of_sight
    return {one.id.number for one in game.satellites(enemy) if one.id in unseen and one.sector in in_sight}


def _positions(game: Game, side: Side, orders: Sequence[Order]) -> list[Game]:
    """Return the positions after each kind of move of all enemies that can make it."""
    enemy = enemy_of(side)
    legal = game.legal_orders(enemy)
    positions = []
    for move in MOVES:
        moves = [order for options in legal.values() for order in options if order.action == move]
        position = game.copy()
        position.step(**{side: list(orders), enemy: moves})
        positions.append(position)
    return positions


def _options(game: Game, side: Side, actions: Sequence[str], target: int | None) -> list[Option]:
    return [
        describe(game, side, order)
        for orders in game.legal_orders(side).values()
        for order in orders
        if order.action in actions and order.target == target
    ]


def _likeliest(options: dict[int, Option]) -> tuple[Option, ...]:
    return tuple(sorted(options.values(), key=lambda option: (-(option.probability or 0.0), option.order.satellite)))


HINT_AGENT = SearchAgent(Search(budget="1s"))


@dataclass(frozen=True)
class Hint:
    """Suggested orders.

    Attributes:
        orders: for the satellites that should not hold.
        win_probability: the fraction of the games won that the search played out with them, draws counted as half.
        rollouts: how many games those were.
    """

    orders: tuple[Order, ...]
    win_probability: float
    rollouts: int


def find_hint(game: Game, side: Side) -> Hint:
    """Search for the best orders of a side that has a choice; it takes a second.

    Args:
        game: the position; it is not changed, and its random stream stays unknown to the search, like enemies that are hidden
            from the side.
        side: who orders.
    """
    game = game.seen_by(side)
    index, rng = SIDES.index(side), np.random.default_rng()
    HINT_AGENT.with_minimal_budget().advise(
        game.fork(), index, rng
    )  # the first time it compiles, which must not cost the budget
    advice = HINT_AGENT.advise(game.fork(), index, rng)
    return Hint(tuple(read_orders(advice.orders)), advice.win_probability, advice.rollouts)
