"""The table of paths equals brute force: every price, and every first move leads where it promises."""

import numpy as np
import pytest

from geo_patrol.agents.scripted.paths import FAR, IN_SECTOR, NEARBY, NEARBY_PREMIUM, PathCosts, find_table, make_table
from geo_patrol.board import adjacent_sectors, prograde, ring_of
from geo_patrol.engine.movement import destination
from geo_patrol.engine.state import RADIAL_IN, RADIAL_OUT

FIGURES = [
    PathCosts(1, 3, ((5, 5, 10, 10), (1, 7, 2, 3)), (1, 0)),
    PathCosts(1, 4, ((5, 5, 10, 10), (0, 0, 0, 0)), (1, 2)),
    PathCosts(2, 2, ((5, 3, 10, 10), (10_000, 10_000, 10_000, 10_000)), (10_000, 1)),
    PathCosts(1, 1, ((5, 5, 10, 10), (5, 5, 10, 10)), (1, 1)),
]


def moves_from(figures, sector):
    """List the moves of a sector: order, where it leads."""
    ring = ring_of(sector)
    for order in range(5):
        off = (order == RADIAL_IN and ring == figures.inner_ring) or (
            order == RADIAL_OUT and ring == figures.outer_ring
        )
        if not off:
            yield order, destination(sector, order)


def brute_force(figures, side, reach, target, sector, turns):
    """Return the least fuel by trying every way, without looking anything up."""
    costs, keeping = (0, *figures.move_costs[side]), figures.station_keeping_costs[side]
    frontier = {sector: 0}
    for _ in range(turns):
        drifted = {}
        for place, spent in frontier.items():
            for order, ahead in moves_from(figures, place):
                there, price = prograde(ahead), spent + costs[order] + keeping
                drifted[there] = min(price, drifted.get(there, price))
        frontier, target = drifted, prograde(target)
    ends = {target: 0}
    if reach == NEARBY:
        ends |= dict.fromkeys(adjacent_sectors(target, figures.outer_ring), NEARBY_PREMIUM) | {target: 0}
    arrivals = [
        spent + costs[order] + ends[ahead]
        for place, spent in frontier.items()
        for order, ahead in moves_from(figures, place)
        if ahead in ends
    ]
    return min([*arrivals, FAR])


@pytest.mark.parametrize("figures", FIGURES, ids=str)
def test_table_equals_brute_force(figures):
    table = make_table(figures)
    sectors = range((1 << figures.inner_ring) - 1, (1 << (figures.outer_ring + 1)) - 1)
    generator = np.random.default_rng(0)
    horizon = table.prices.shape[-1]
    assert horizon >= 6
    for _ in range(400):
        side, reach = (int(drawn) for drawn in generator.integers(2, size=2))
        target, sector = (int(drawn) for drawn in generator.choice(sectors, 2))
        turns = int(generator.integers(horizon))
        place = side, reach, target, sector, turns
        assert table.prices[place] == brute_force(figures, *place)
        if table.prices[place] < FAR:
            order, costs = table.moves[place], (0, *figures.move_costs[side])
            ahead = dict(moves_from(figures, sector))[order]
            rest = table.prices[place] - costs[order]
            if turns > 0:
                keeping = figures.station_keeping_costs[side]
                assert rest - keeping == table.prices[side, reach, prograde(target), prograde(ahead), turns - 1]
            else:
                assert rest == (0 if ahead == target else NEARBY_PREMIUM)


def test_known_ways_to_the_other_side_of_geo_patrol():
    """An attack takes four turns at least; the cheapest way into the opposite sector takes eight drifts and 28 fuel."""
    costs = (5, 5, 10, 10)
    table = find_table(PathCosts(1, 4, (costs, costs), (1, 1)))
    nearby, within = table.prices[0, NEARBY, 23, 15], table.prices[0, IN_SECTOR, 23, 15]
    assert nearby[:4].tolist() == [FAR, FAR, FAR, 23 + NEARBY_PREMIUM]
    assert (within.argmin(), within.min()) == (8, 28)


def test_a_table_is_made_once():
    figures = PathCosts(1, 2, ((1, 2, 3, 4), (5, 6, 7, 8)), (9, 10))
    assert find_table(figures) is find_table(PathCosts(*figures))


def test_tables_of_the_largest_boards_stay_small():
    table = make_table(PathCosts(1, 10, ((5, 5, 10, 10), (5, 5, 10, 10)), (1, 1)))
    assert table.prices.nbytes + table.moves.nbytes < 100_000_000
