"""Paths equal brute force: every cost, and every first move leads to its target at that cost."""

import numpy as np
import pytest

from geo_patrol.agents.scripted.paths import (
    FAR,
    IN_SECTOR,
    MOVES,
    NEARBY,
    NEARBY_PREMIUM,
    UNREACHABLE,
    PathCosts,
    find_paths,
    find_table,
    make_paths,
    make_table,
    write_steps,
)
from geo_patrol.base.board import adjacent_sectors, prograde, ring_of
from geo_patrol.engine.state import RADIAL_IN, RADIAL_OUT, RULES, records
from geo_patrol.engine.turn import destination

PATH_COSTS = [
    PathCosts(1, 3, ((5, 5, 10, 10), (1, 7, 2, 3)), (1, 0)),
    PathCosts(1, 4, ((5, 5, 10, 10), (0, 0, 0, 0)), (1, 2)),
    PathCosts(2, 2, ((5, 3, 10, 10), (10_000, 10_000, 10_000, 10_000)), (10_000, 1)),
    PathCosts(1, 1, ((5, 5, 10, 10), (5, 5, 10, 10)), (1, 1)),
]


def moves_from(path_costs, sector):
    """List the moves of a sector: order and destination."""
    ring = ring_of(sector)
    for order in range(5):
        off = (order == RADIAL_IN and ring == path_costs.inner_ring) or (
            order == RADIAL_OUT and ring == path_costs.outer_ring
        )
        if not off:
            yield order, destination(sector, order)


def brute_force(path_costs, side, reach, target, sector, turns):
    """Return the least fuel by trying every path, without a table."""
    costs, keeping = (0, *path_costs.move_costs[side]), path_costs.station_keeping_costs[side]
    frontier = {sector: 0}
    for _ in range(turns):
        drifted = {}
        for here, spent in frontier.items():
            for order, ahead in moves_from(path_costs, here):
                there, price = prograde(ahead), spent + costs[order] + keeping
                drifted[there] = min(price, drifted.get(there, price))
        frontier, target = drifted, prograde(target)
    ends = {target: 0}
    if reach == NEARBY:
        ends |= dict.fromkeys(adjacent_sectors(target, path_costs.outer_ring), NEARBY_PREMIUM) | {target: 0}
    arrivals = [
        spent + costs[order] + ends[ahead]
        for sector, spent in frontier.items()
        for order, ahead in moves_from(path_costs, sector)
        if ahead in ends
    ]
    return min([*arrivals, FAR])


@pytest.mark.parametrize("path_costs", PATH_COSTS, ids=str)
def test_prices_and_first_moves_equal_brute_force(path_costs):
    inner_ring, outer_ring, *costs = path_costs
    table, rules = make_table(path_costs), records(RULES, 1)
    rules["inner_ring"], rules["outer_ring"] = inner_ring, outer_ring
    rules["move_cost"][0, :, 1:], rules["station_keeping_cost"][0] = costs
    horizon = table.prices.shape[-1]
    assert horizon >= 6
    num_sectors = (2 << outer_ring) - 1
    steps, paths, workspace = np.zeros((num_sectors, MOVES), np.int64), make_paths(horizon), np.zeros(num_sectors, int)
    write_steps(inner_ring, outer_ring, steps)
    sectors, generator = range((1 << inner_ring) - 1, num_sectors), np.random.default_rng(0)
    for _ in range(100):
        side, reach = generator.integers(2, size=2).tolist()
        target, sector = generator.choice(sectors, 2).tolist()
        turns = int(generator.integers(horizon))
        index = side, reach, target, sector, turns
        expected = brute_force(path_costs, *index)
        find_paths(rules[0], side, target, (UNREACHABLE, NEARBY_PREMIUM)[reach], steps, workspace, paths)
        price, move = paths[turns, :, sector].tolist()
        assert table.prices[index] == min(price, FAR) == expected
        for order in {move, int(table.moves[index])} if expected < FAR else ():
            ahead = dict(moves_from(path_costs, sector))[order]
            rest = expected - (0, *path_costs.move_costs[side])[order]
            if turns > 0:
                rest -= path_costs.station_keeping_costs[side]
                assert rest == brute_force(path_costs, side, reach, prograde(target), prograde(ahead), turns - 1)
            else:
                assert rest == (0 if ahead == target else NEARBY_PREMIUM)


def test_known_paths_to_the_other_side_of_geo_patrol():
    """An attack takes four turns at least; the cheapest path into the opposite sector takes eight drifts and 28 fuel."""
    costs = (5, 5, 10, 10)
    table = find_table(PathCosts(1, 4, (costs, costs), (1, 1)))
    nearby, within = table.prices[0, NEARBY, 23, 15], table.prices[0, IN_SECTOR, 23, 15]
    assert nearby[:4].tolist() == [FAR, FAR, FAR, 23 + NEARBY_PREMIUM]
    assert (within.argmin(), within.min()) == (8, 28)


def test_a_table_is_made_once():
    path_costs = PathCosts(1, 2, ((1, 2, 3, 4), (5, 6, 7, 8)), (9, 10))
    assert find_table(path_costs) is find_table(PathCosts(*path_costs))


def test_tables_of_the_largest_boards_stay_small():
    table = make_table(PathCosts(1, 10, ((5, 5, 10, 10), (5, 5, 10, 10)), (1, 1)))
    assert table.prices.nbytes + table.moves.nbytes < 100_000_000
