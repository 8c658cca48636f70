"""Rings and sectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol.base.board import (
    EARTH,
    MAX_RING,
    adjacent_sectors,
    are_adjacent,
    azimuth_of,
    prograde,
    radial_in,
    radial_out,
    retrograde,
    ring_of,
    sector_at,
)

ALL = range(1, 2 ** (MAX_RING + 1) - 1)
sectors = st.integers(1, ALL[-1])


@pytest.mark.parametrize(
    ("ring", "first", "last"), [(1, 1, 2), (2, 3, 6), (3, 7, 14), (4, 15, 30), (5, 31, 62), (10, 1023, 2046)]
)
def test_sector_numbers_of_a_ring(ring, first, last):
    assert [sector_at(ring, azimuth) for azimuth in (0, -1)] == [first, last]
    assert {ring_of(sector) for sector in range(first, last + 1)} == {ring}
    assert [azimuth_of(sector) for sector in range(first, last + 1)] == list(range(2**ring))
    assert (ring_of(EARTH), azimuth_of(EARTH)) == (0, 0)


@pytest.mark.parametrize(
    ("sector", "outer_ring", "around"),
    [
        (1, 4, [2, 3, 4]),
        (2, 1, [1]),
        (3, 4, [1, 4, 6, 7, 8]),
        (7, 4, [3, 8, 14, 15, 16]),
        (15, 4, [7, 16, 30]),
        (15, 5, [7, 16, 30, 31, 32]),
        (23, 5, [11, 22, 24, 47, 48]),
        (62, 5, [30, 31, 61]),
    ],
)
def test_adjacent_sectors(sector, outer_ring, around):
    assert adjacent_sectors(sector, outer_ring) == around


def test_diagonals_are_not_adjacent():
    for one, other in ((15, 8), (7, 17), (15, 15), (15, 23)):
        assert not are_adjacent(one, other)


@pytest.mark.parametrize(
    ("step", "steps"),
    [
        (prograde, {15: 16, 30: 15, 6: 3, 2: 1, 1: 2, 62: 31}),
        (retrograde, {16: 15, 15: 30, 3: 6, 1: 2, 31: 62}),
        (radial_in, {15: 7, 16: 7, 17: 8, 30: 14, 7: 3, 3: 1, 6: 2, 31: 15}),
        (radial_out, {1: 3, 2: 5, 7: 15, 8: 17, 14: 29, 15: 31, 16: 33}),  # the retrograde one of two
    ],
)
def test_steps(step, steps):
    assert {sector: step(sector) for sector in steps} == steps


def test_adjacency_agrees_with_the_list_everywhere_on_six_rings():
    for one in range(1, 127):
        around = set(adjacent_sectors(one, 6))
        assert around == {other for other in range(1, 127) if are_adjacent(one, other)}
        assert all(one in adjacent_sectors(other, 6) for other in around)


def test_steps_undo_each_other_everywhere():
    for sector in ALL:
        assert prograde(retrograde(sector)) == retrograde(prograde(sector)) == sector
        assert ring_of(prograde(sector)) == ring_of(sector)
        assert azimuth_of(prograde(sector)) == (azimuth_of(sector) + 1) % 2 ** ring_of(sector)
        assert radial_in(radial_out(sector)) == radial_in(radial_out(sector) + 1) == sector
        assert azimuth_of(radial_in(sector)) == azimuth_of(sector) // 2 or ring_of(sector) == 1
        assert azimuth_of(radial_out(sector)) == 2 * azimuth_of(sector)


@given(st.integers(1, MAX_RING), st.integers(-5000, 5000))
def test_ring_and_azimuth_make_the_sector(ring, azimuth):
    sector = sector_at(ring, azimuth)
    assert (ring_of(sector), azimuth_of(sector)) == (ring, azimuth % 2**ring)
    assert sector_at(ring_of(sector), azimuth_of(sector)) == sector
