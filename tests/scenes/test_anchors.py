"""Anchors of satellites: inside their sectors and without overlap, on any board, for any number of satellites."""

import itertools
import math

import pytest
from positions import arranged, everywhere

from geo_patrol.board import ring_of
from geo_patrol.config.schema import BoardConfig
from geo_patrol.scenes.layout import BoardGeometry, make_layout, sector_angle
from geo_patrol.scenes.picture import find_lenses
from geo_patrol.scenes.satellites import all_satellites, satellite_anchors, sector_anchors
from geo_patrol.scenes.shapes import Rect

BOARDS = [(1, 4), (1, 5), (1, 7), (4, 4), (2, 6), (1, 1), (1, 10)]


@pytest.mark.parametrize(("inner", "outer"), BOARDS)
def test_satellites_of_a_sector_do_not_overlap(inner, outer):
    geometry = BoardGeometry(BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=outer), (360, 360), 345)
    for ring in range(inner, outer + 1):
        for count in (1, 2, 3, 5, 8, 11, 16, 22):
            anchors = sector_anchors(geometry, ring, count)
            assert len(anchors) == count
            points = [geometry.point(anchor.position) for anchor in anchors]
            for (one, anchor), (other, _) in itertools.combinations(zip(points, anchors, strict=True), 2):
                assert math.dist(one, other) >= 2 * anchor.radius
            for anchor in anchors:
                distance, angle = anchor.position
                assert (
                    geometry.inner_edge(ring) + anchor.radius <= distance <= geometry.outer_edge(ring) - anchor.radius
                )
                assert distance * math.sin(sector_angle(ring) / 2 - abs(angle)) >= anchor.radius or ring == 1


def test_twenty_two_satellites_of_a_sector_are_distinguishable():
    geometry = make_layout(1280, 720, BoardConfig(inner_ring=1, outer_ring=4, goal_ring=4), 11).geometry
    assert sector_anchors(geometry, 4, 22)[0].radius > 6
    assert sector_anchors(geometry, 4, 2)[0].radius > 15


@pytest.mark.parametrize(("inner", "outer"), BOARDS)
def test_a_click_into_a_sector_finds_it(inner, outer):
    geometry = BoardGeometry(BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=outer), (360, 350), 345)
    for sector in range((1 << inner) - 1, (2 << outer) - 1):
        ring = int(ring_of(sector))
        outline = geometry.outline(sector, inset=geometry.ring_width * 0.1 if ring < 8 else 0.4)
        middle = [sum(axis) / len(outline) for axis in zip(*outline, strict=True)]
        if ring > 1:  # the middle of half a ring is nearer to the Earth
            assert geometry.sector_of(tuple(middle)) == sector
    assert geometry.sector_of((360, 350)) is None
    assert geometry.sector_of((0, 0)) is None


@pytest.mark.parametrize(
    "size", [(320, 240), (640, 480), (1280, 720), (720, 1280), (3840, 2160), (1000, 1000), (3440, 1440)]
)
@pytest.mark.parametrize("toolbar", [0, 3])
def test_areas_of_a_picture_lie_inside_it_without_overlap(size, toolbar):
    layout = make_layout(*size, BoardConfig(inner_ring=1, outer_ring=5, goal_ring=4), 11, lambda _width: 20 * toolbar)
    whole = Rect(0, 0, *size)
    areas = [layout.board, layout.header, *layout.tables]
    for area in areas:
        assert layout.board.clamped(whole) == layout.board
        assert area.left >= 0
        assert area.right <= size[0]
    for one, other in itertools.combinations(areas, 2):
        assert not one.overlaps(other)
    if size[0] >= 640:
        assert layout.outcomes.height > 0
        assert layout.toolbar.bottom <= size[1]


@pytest.mark.parametrize("size", [(640, 480), (640, 900), (690, 720)])
@pytest.mark.parametrize("sector", range(15, 31))
def test_a_lens_hides_neither_a_satellite_nor_the_legend(size, sector):
    game = arranged(alpha=everywhere(sector), bravo=everywhere(sector))
    layout = make_layout(*size, game.config.board, 11)
    satellites = all_satellites(game)
    (lens,) = find_lenses(layout, satellites)
    assert not lens.card.overlaps(layout.legend)
    for anchor in satellite_anchors(layout.geometry, satellites).values():
        assert not lens.card.contains(layout.geometry.point(anchor.position))


@pytest.mark.parametrize("size", [(640, 480), (640, 712), (640, 860), (690, 720), (720, 720), (1280, 720), (720, 1280)])
def test_engagements_fit_windows_of_any_shape(size):
    layout = make_layout(
        *size, BoardConfig(inner_ring=1, outer_ring=4, goal_ring=4), 11, toolbar=lambda _width: size[1] // 18
    )
    assert layout.outcomes.height >= 4 * layout.line_height("normal")
