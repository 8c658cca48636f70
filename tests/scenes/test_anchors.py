"""Anchors of satellites: inside their sectors and without overlap, on any board, for any number of satellites."""

import itertools
import math

import pytest

from geo_patrol.base.board import ring_of
from geo_patrol.config.schema import BoardConfig
from geo_patrol.drawing.shapes import Rect
from geo_patrol.game.notation import SatelliteId
from geo_patrol.scenes.layout import BoardGeometry, make_layout, sector_angle
from geo_patrol.scenes.satellites import all_satellites, at_one_place, satellite_anchors, sector_anchors
from tests.support.positions import arranged, everywhere

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


@pytest.mark.parametrize(("inner", "outer", "goal"), [(1, 4, 4), (1, 5, 4), (2, 6, 3), (3, 3, 3)])
def test_the_ring_of_the_goals_is_three_times_as_wide_as_others_and_its_neighbours_one_and_a_half(inner, outer, goal):
    board = BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=goal)
    geometry = BoardGeometry(board, (400, 400), 378)
    widths = {ring: geometry.outer_edge(ring) - geometry.inner_edge(ring) for ring in range(inner, outer + 1)}
    weights = {ring: {0: 3.0, 1: 1.5}.get(abs(ring - goal), 1.0) for ring in widths}
    unit = 378 * 0.87 / sum(weights.values())
    assert widths == pytest.approx({ring: weight * unit for ring, weight in weights.items()})
    assert geometry.inner_edge(inner) == pytest.approx(0.13 * 378)
    assert geometry.outer_edge(outer) == pytest.approx(378)


def test_satellites_of_a_goal_sector_are_large():
    geometry = make_layout(1280, 800, BoardConfig(inner_ring=1, outer_ring=4, goal_ring=4), 11).geometry
    diameters = [2 * sector_anchors(geometry, 4, count)[0].radius for count in (1, 4, 10, 22)]
    assert diameters[0] == diameters[1] == 44
    assert diameters[2] > 32
    assert diameters[3] > 20


def test_a_sector_lists_alpha_before_bravo_and_hvas_first():
    game = arranged(alpha=everywhere(18, 3), bravo=everywhere(18, 2))
    geometry = make_layout(1280, 720, game.config.board, 11).geometry
    anchors = satellite_anchors(geometry, all_satellites(game))
    here = [one for one in anchors if one.number < (3 if one.side == "alpha" else 2)]
    ordered = sorted(here, key=lambda one: (-round(anchors[one].position[0]), -anchors[one].position[1]))
    assert [(one.side, one.number) for one in ordered] == [
        ("alpha", 0), ("alpha", 1), ("alpha", 2), ("bravo", 0), ("bravo", 1),
    ]  # fmt: skip


def test_a_sector_too_full_for_numbers_shows_a_stack_of_each_side_beside_the_hvas():
    game = arranged(alpha=everywhere(20), bravo=everywhere(20))
    geometry = make_layout(1280, 720, game.config.board, 11).geometry
    places = [list(here) for _, here in at_one_place(satellite_anchors(geometry, all_satellites(game)))]
    assert [(here[0].side, here[0].number, len(here)) for here in places] == [
        ("alpha", 0, 1), ("alpha", 1, 10), ("bravo", 0, 1), ("bravo", 1, 10),
    ]  # fmt: skip


def test_destroyed_satellites_take_no_place():
    fallen = {number: {"fuel": 0, "destroyed": 1} for number in range(1, 10)}
    game = arranged(
        alpha={number: {"sector": 20, **fallen.get(number, {})} for number in range(11)}, bravo=everywhere(25)
    )
    geometry = make_layout(1280, 720, game.config.board, 11).geometry
    anchors = satellite_anchors(geometry, all_satellites(game))
    assert {one.number for one in anchors if one.side == "alpha"} == {0, 10}
    assert anchors[SatelliteId("alpha", 10)].radius == geometry.max_token / 2


@pytest.mark.parametrize(("inner", "outer"), BOARDS)
def test_a_click_into_a_sector_finds_it(inner, outer):
    geometry = BoardGeometry(BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=outer), (360, 350), 345)
    for sector in range((1 << inner) - 1, (2 << outer) - 1):
        ring = int(ring_of(sector))
        outline = geometry.outline(sector, inset=3 if ring < 8 else 0.4)
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
    areas = [layout.board, layout.header, *layout.tables]
    assert layout.board.clamped(Rect(0, 0, *size)) == layout.board
    assert all(area.left >= 0 and area.right <= size[0] for area in areas)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(areas, 2))
    if size[0] >= 640:
        assert layout.outcomes.height > 0
        assert layout.toolbar.bottom <= size[1]


@pytest.mark.parametrize("size", [(640, 480), (640, 712), (640, 860), (690, 720), (720, 720), (1280, 720), (720, 1280)])
def test_engagements_fit_windows_of_any_shape(size):
    layout = make_layout(
        *size, BoardConfig(inner_ring=1, outer_ring=4, goal_ring=4), 11, toolbar=lambda _width: size[1] // 18
    )
    assert layout.outcomes.height >= 4 * layout.line_height("normal")
