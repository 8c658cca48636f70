"""An estimate, within a second, of what solving a game takes: positions, memory, time."""

from collections.abc import Iterator
from typing import NamedTuple

from geo_patrol.board import adjacent_sectors, are_adjacent, prograde, ring_of
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import (
    COLLISION,
    GUARDING,
    HVA,
    NOOP,
    RADIAL_IN,
    RADIAL_OUT,
    SHOT,
    SIDES,
    Record,
)
from geo_patrol.engine.turn import destination
from geo_patrol.solving.layers import start_of

ENOUGH = 10**12
"""Positions from which counting stops: no machine solves such a game."""
BYTES_PER_POSITION = 40
SECONDS_PER_POSITION = 1e-5
"""On one core; measured on ``duel``, where a side has up to 25 joint orders. More joint orders take longer."""

State = tuple[int, int, int]
"""Of one satellite: sector and fuel; and ammo, or the goal points that an HVA has earned."""


class Estimate(NamedTuple):
    """What solving a game takes at most."""

    positions: int
    """Counting stops at ``ENOUGH``."""

    @property
    def gigabytes(self) -> float:
        """Memory."""
        return self.positions * BYTES_PER_POSITION / 1e9

    @property
    def minutes(self) -> float:
        """Time on one core."""
        return self.positions * SECONDS_PER_POSITION / 60

    def __str__(self) -> str:
        if self.positions >= ENOUGH:
            return f"more than {ENOUGH:.0e} positions"
        return f"up to {self.positions:,} positions, {self.gigabytes:.1f} GB and {self.minutes:.1f} minutes on one core"


def estimate(config: GameConfig) -> Estimate:
    """Estimate what solving a game takes.

    Counts the configurations of every satellite as if enemies were always in reach and satellites moved independently of
    what happens to others: an upper bound of the positions.

    Raises:
        SolvingError: values are sampled at each reset.
    """
    games, all_rules = start_of(config)
    game, rules = games[0], all_rules[0]
    fleets = [
        [{(int(game.sector[side, n]), int(game.fuel[side, n]), _third(game, side, n))} for n in range(patrols + 1)]
        for side, patrols in enumerate(rules.patrol_count.tolist())
    ]
    total = 0
    goals = game.goal.tolist()
    for _ in range(config.turn_limit):
        for play in (_move, _engage):
            total += _count(fleets)
            if total >= ENOUGH:
                return Estimate(ENOUGH)
            for side, fleet in enumerate(fleets):
                fleet[:] = [
                    {end for state in states for end in play(state, rules, side, number, goals[side])}
                    for number, states in enumerate(fleet)
                ]
        goals = [prograde(goal) for goal in goals]
    return Estimate(total)


def _third(game: Record, side: int, number: int) -> int:
    return 0 if number == HVA else int(game.ammo[side, number])


def _count(fleets: list[list[set[State]]]) -> int:
    count = 1
    for fleet in fleets:
        for states in fleet:
            count *= len(states)
    return count


def _move(state: State, rules: Record, side: int, number: int, goal: int) -> Iterator[State]:  # noqa: ARG001 - as _engage
    """Yield what a movement can make of a satellite."""
    sector, fuel, third = state
    yield state
    for order in range(NOOP + 1, RADIAL_OUT + 1):
        cost = int(rules.move_cost[side, order])
        leaves = (order == RADIAL_IN and ring_of(sector) <= rules.inner_ring) or (
            order == RADIAL_OUT and ring_of(sector) >= rules.outer_ring
        )
        if 0 < fuel >= cost and not leaves:
            yield int(destination(sector, order)), fuel - cost, third


def _engage(state: State, rules: Record, side: int, number: int, goal: int) -> Iterator[State]:
    """Yield what an engagement and the drift can make of a satellite; an HVA without fuel ends the game."""
    cost = int(rules.station_keeping_cost[side])
    for sector, fuel, third in {*_fight(state, rules, side, number)}:
        left = max(fuel - cost, 0)
        if number == HVA:
            points = rules.goal_points if sector == goal else rules.adjacent_points
            earned = int(points[side]) if sector == goal or are_adjacent(sector, goal) else 0
            if left > 0:
                yield prograde(sector), left, third + earned
        else:
            yield (prograde(sector), left, third) if left > 0 else (0, 0, 0)


def _fight(state: State, rules: Record, side: int, number: int) -> Iterator[State]:
    """Yield what an engagement can make of a satellite, wherever enemies are."""
    sector, fuel, third = state
    yield state
    if number == HVA or fuel <= 0:
        return
    yield 0, 0, 0
    for kind in (SHOT, COLLISION, GUARDING):
        for distance in range(SIDES):
            left = fuel - int(rules.engagement_cost[side, kind, distance])
            if left < 0 or (kind == SHOT and third == 0):
                continue
            if kind == SHOT:
                yield sector, left, third - 1
                continue
            reach = [sector] if distance == 0 else adjacent_sectors(sector, int(rules.outer_ring))
            yield from ((other, left, third) for other in reach)
