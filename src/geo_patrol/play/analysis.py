"""What decided a game: the chances to win over its phases, and the phases in which other orders would have been better.

Chances are those of the policy that comes with the package playing on for both sides. Its estimate of a position finds the
phases; games that are played out then measure what the better order would have been worth.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.base.sides import SIDES, Side, enemy_of
from geo_patrol.engine.state import SATELLITES
from geo_patrol.game.game import Game, Games
from geo_patrol.game.notation import Order, order_codes
from geo_patrol.game.timeline import Timeline

_SAMPLES = 48
"""Enemy orders and chances with which each order of a satellite is tried."""
_CANDIDATES = 6
"""Phases with the largest estimated gains, which are measured."""
_PLAYED_OUT = 600
"""Games that measure a chance: its standard error is at most 2%."""
_MIN_GAIN = 0.05
"""Smaller gains are not told: they may be errors of the measurement."""
_MIN_LUCK = 0.12
MOMENTS = 3


class Moment(NamedTuple):
    """A phase in which one of two orders of a satellite is better than the other.

    Attributes:
        position: index of the position in which the orders were given.
        given: the order of the satellite that is worse, a noop holds: where it was a mistake the one that was given.
        better: the better one: the best that was given, or that would have been better than what was.
        before: chance to win with the worse one.
        after: chance to win with the better one, the others unchanged.
    """

    position: int
    given: Order
    better: Order
    before: float
    after: float


class Analysis(NamedTuple):
    """What decided a game for a side.

    Attributes:
        done: how many of the ``total`` steps of the analysis are done.
        total: number of steps.
        chances: chance to win of each position: the policy's estimate, or where games were played out what these say, so that
            a moment and the curve tell the same.
        moments: the phases that decided it, in order; empty until the analysis is complete.
        luck: index of the position after the engagement in which luck changed the chance most, and by how much; None if it
            did not change much.
        best: the order that was given which was worth most, beside holding; None unless the side won, and where none was worth
            much.
    """

    done: int
    total: int
    chances: tuple[float, ...]
    moments: tuple[Moment, ...] = ()
    luck: tuple[int, float] | None = None
    best: Moment | None = None


def analyse(
    timeline: Timeline, side: Side, proposed: Mapping[int, Sequence[Order]] | None = None, seed: int = 0
) -> Iterator[Analysis]:
    """Analyse a game for a side, step by step.

    Args:
        timeline: a game that is over.
        side: for whom.
        proposed: orders that hints proposed to the side, by index of the position; what followed them is no mistake.
        seed: seed of the games that are played out.

    Yields:
        The analysis as far as it has come; the last one is complete.
    """
    policy, rng = PolicyAgent(), np.random.default_rng(seed)
    phases = timeline.phases
    chances = tuple(chance_of(policy, list(timeline), side).tolist())
    total = len(phases) + _CANDIDATES + 2
    yield Analysis(0, total, chances)
    found: list[tuple[float, int, Order, Order]] = []
    merits: list[tuple[float, int, Order]] = []
    expected: list[float] = []
    for index, phase in enumerate(phases):
        orders, followed = phase.orders[SIDES.index(side)], (proposed or {}).get(index)
        mean, gain, merit = _changes(policy, timeline[index], side, orders, rng, followed)
        expected.append(mean)
        if gain is not None:
            found.append((gain[0], index, *gain[1:]))
        if merit is not None:
            merits.append((merit[0], index, merit[1]))
        yield Analysis(index + 1, total, chances)
    moments, curve = [], list(chances)
    for step, (_, index, given, better) in enumerate(sorted(found, key=lambda one: -one[0])[:_CANDIDATES]):
        orders = phases[index].orders[SIDES.index(side)]
        before, after = (
            _played_out(policy, timeline[index], side, planned, rng) for planned in (orders, _changed(orders, better))
        )
        curve[index] = before
        if after - before >= _MIN_GAIN:
            moments.append(Moment(index, given, better, before, after))
        yield Analysis(len(phases) + step + 1, total, tuple(curve))
    largest = sorted(moments, key=lambda one: one.before - one.after)[:MOMENTS]
    luck = np.array(chances[1:]) - np.array(expected)
    luck[[not phase.outcomes for phase in phases]] = 0.0  # elsewhere it is the other side's orders that surprise
    worst = int(np.abs(luck).argmax()) if len(luck) else 0
    told = (worst + 1, float(luck[worst])) if len(luck) and abs(luck[worst]) >= _MIN_LUCK else None
    yield Analysis(total - 1, total, tuple(curve))
    best = None
    if merits and timeline.winner == side:
        _, index, order = max(merits, key=lambda one: one[0])
        orders, held = phases[index].orders[SIDES.index(side)], Order(order.satellite, "noop")
        before, after = (
            _played_out(policy, timeline[index], side, one, rng) for one in (_changed(orders, held), orders)
        )
        best = Moment(index, held, order, before, after) if after - before >= _MIN_GAIN else None
    yield Analysis(total, total, tuple(curve), tuple(sorted(largest)), told, best)


def chance_of(policy: PolicyAgent, games: Sequence[Game] | Games, side: Side) -> NDArray[np.float64]:
    """Return the chance of a side to win each game, (n,); draws count half."""
    batch = games if isinstance(games, Games) else Games.from_games(games)
    own = SIDES.index(side)
    seen = batch.observe("tokens")
    values = [policy.value(seen[:, index]).astype(np.float64) for index in (own, 1 - own)]
    estimate = 0.5 + (values[0] - values[1]) / 4
    certain = (1 + batch.returns[:, own]) / 2
    return np.where(batch.is_over, certain, np.clip(estimate, 0.0, 1.0))


def _changes(
    policy: PolicyAgent,
    game: Game,
    side: Side,
    orders: Sequence[Order],
    rng: np.random.Generator,
    proposed: Sequence[Order] | None = None,
) -> tuple[float, tuple[float, Order, Order] | None, tuple[float, Order] | None]:
    """Return the estimated chance with the orders given, the best change of one, and the one that was worth most.

    The best change is its gain, with both orders; an order is worth what it gains over holding. All changes meet the same enemy orders and the same luck, so that their differences are small errors. Orders that a
    hint proposed are not changed.
    """
    own = SIDES.index(side)
    given, advice = ({order.satellite: order for order in some} for some in (orders, proposed or ()))
    changes: list[tuple[Order, Order] | None] = [None]
    for number, legal in game.legal_orders(side).items():
        noop = Order(number, "noop")
        now = given.get(number, noop)
        if proposed is not None and now == advice.get(number, noop):
            continue
        changes += [(now, other) for other in legal if other != now]
    actions = np.zeros((len(changes), _SAMPLES, 2, SATELLITES), np.int64)
    actions[:, :, own] = order_codes(orders, side)
    for i, change in enumerate(changes):
        if change is not None:
            actions[i, :, own, change[1].satellite] = change[1].code
    actions[:, :, 1 - own] = _replies(policy, game, side, _SAMPLES, rng)
    games = game.repeat(len(changes) * _SAMPLES)
    games.reseed(np.tile(rng.integers(1 << 62, size=_SAMPLES), len(changes)))
    games.step(actions.reshape(-1, 2, SATELLITES))
    chances = chance_of(policy, games, side).reshape(len(changes), _SAMPLES).mean(axis=1)
    best = int(chances.argmax())
    change = changes[best]
    gain = None if change is None else (float(chances[best] - chances[0]), *change)
    held = [i for i, one in enumerate(changes) if one is not None and one[1].action == "noop"]
    worst = min(held, key=lambda i: chances[i], default=0)
    dropped = changes[worst]
    return float(chances[0]), gain, None if dropped is None else (float(chances[0] - chances[worst]), dropped[0])


def _played_out(
    policy: PolicyAgent, game: Game, side: Side, orders: Sequence[Order], rng: np.random.Generator
) -> float:
    """Return the fraction of games that a side wins with orders in a position, the policy playing on for both."""
    own = SIDES.index(side)
    games = game.repeat(_PLAYED_OUT)
    games.reseed(rng.integers(1 << 62, size=_PLAYED_OUT))
    actions = np.zeros((_PLAYED_OUT, 2, SATELLITES), np.int64)
    actions[:, own] = order_codes(orders, side)
    actions[:, 1 - own] = _replies(policy, game, side, _PLAYED_OUT, rng)
    games.step(actions)
    while not games.is_over.all():
        going = np.flatnonzero(~games.is_over)
        seen, masks = games.observe("tokens")[going], games.action_masks()[going]
        for index in range(len(SIDES)):
            actions[going, index] = policy.act(seen[:, index], masks[:, index], rng)
        games.step(actions)
    return float((1 + games.returns[:, own]).mean() / 2)


def _replies(policy: PolicyAgent, game: Game, side: Side, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return orders of the enemy of a side, (count, 11)."""
    enemy = enemy_of(side)
    seen = np.repeat(game.observation(enemy, "tokens")[None], count, axis=0)
    masks = np.repeat(game.action_mask(enemy)[None], count, axis=0)
    return policy.act(seen, masks, rng)


def _changed(orders: Sequence[Order], change: Order) -> tuple[Order, ...]:
    return (*(order for order in orders if order.satellite != change.satellite), change)
