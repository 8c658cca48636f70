"""Pictures: golden images, their contents, and what is cached."""

import itertools

import numpy as np
import pygame
import pytest

from geo_patrol import Game, preset_names
from geo_patrol.drawing import painter
from geo_patrol.drawing.shapes import Box, Rect, Text, rgb
from geo_patrol.game.notation import SatelliteId
from geo_patrol.game.timeline import Snapshot
from geo_patrol.scenes import theme
from geo_patrol.scenes.engagements import beat_shapes, card_shapes
from geo_patrol.scenes.layout import make_layout
from geo_patrol.scenes.satellites import Motion, full_fuel
from geo_patrol.window.picture import Picture
from geo_patrol.window.watch import WatchWindow
from tests.support.positions import arranged, collisions, destroyed, guards, moves, played, shots
from tests.window.golden_images import NAMES, TOLERANCE, difference, draw, load


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_golden_images(name):
    assert difference(draw(name), load(name)) <= TOLERANCE


@pytest.mark.parametrize("change", [{"fuel": 20}, {"sector": 30}, {"fuel": 0}])
def test_golden_images_see_a_change_of_one_satellite(change):
    timeline = played(arranged(alpha={1: change}))
    frame = Picture(1280, 720, timeline[0].config).frame(timeline.snapshot(0))
    assert difference(frame, load("start")) > TOLERANCE


def test_ammo_shows_on_the_satellite_and_in_its_fleet():
    picture = Picture(1280, 720, Game(seed=1).config)
    one, none = (picture.frame(arranged(alpha={1: {"ammo": ammo}})).astype(int) for ammo in (1, 0))
    changed = np.argwhere(np.abs(one - none).max(axis=-1) > 60)
    assert (changed[:, 1] < 700).sum() > 5
    assert (changed[:, 1] > 740).sum() > 5


@pytest.mark.parametrize("size", [(320, 240), (640, 480), (1279, 721)])
def test_frames_are_new_arrays_of_the_requested_size(size):
    picture = Picture(*size, Game(seed=1).config)
    frames = [picture.frame(Game(seed=1)) for _ in range(2)]
    assert frames[0].shape == (size[1], size[0], 3)
    assert frames[0].dtype == np.uint8
    assert frames[0].flags.c_contiguous
    assert np.array_equal(*frames)
    assert not np.shares_memory(*frames)
    frames[0][:] = 0
    assert np.array_equal(picture.frame(Game(seed=1)), frames[1])


@pytest.mark.parametrize("size", [(319, 240), (640, 100), (9000, 800), (640.0, 480), (True, 480)])
def test_invalid_sizes_are_refused(size):
    with pytest.raises(ValueError, match=r"of a picture must be an integer from"):
        Picture(*size, Game(seed=1).config)


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_has_a_picture(preset):
    game = Game(preset, seed=1)
    assert len(np.unique(Picture(640, 360, game.config).frame(game).reshape(-1, 3), axis=0)) > 100


@pytest.mark.parametrize(("inner", "outer", "goal"), [(1, 1, 1), (1, 10, 10), (3, 3, 3), (5, 7, 6)])
def test_unusual_boards_have_a_picture(inner, outer, goal):
    config = {"extends": "geo_patrol", "board": {"inner_ring": inner, "outer_ring": outer, "goal_ring": goal}}
    timeline = played(Game(config, seed=1), ("", ""), ("", ""))
    picture = Picture(640, 480, timeline[0].config)
    for progress in (0, 0.5, 1):
        picture.frame(timeline.snapshot(-1), progress)


def test_progress_leads_from_one_position_to_the_next():
    timeline = played(arranged(), ("P1 radial_in; P9 prograde", "P3 retrograde"))
    picture = Picture(1280, 720, timeline[0].config)
    board = np.s_[:, :710]
    start, end = picture.frame(timeline.snapshot(0))[board], picture.frame(timeline.snapshot(1))[board]
    assert np.array_equal(picture.frame(timeline.snapshot(1), 0)[board], start)
    assert np.array_equal(picture.frame(timeline.snapshot(1), 5), picture.frame(timeline.snapshot(1), 1))
    assert not np.array_equal(picture.frame(timeline.snapshot(1), 0.5)[board], start)
    assert not np.array_equal(picture.frame(timeline.snapshot(1), 0.5)[board], end)


def test_the_board_turns_with_the_drift():
    timeline = played(arranged(phase="engagement"), ("", ""))
    motion = Motion(Picture(1280, 720, timeline[0].config).layout.geometry, timeline.snapshot(1))
    assert motion.has_drifted
    clock = motion.clock(0.5)
    moving = motion.anchors(clock)
    for satellite, anchor in motion.key(0).anchors.items():
        moved = moving[satellite].position[1] - anchor.position[1]
        assert moved == pytest.approx(2 * np.pi / 16 / 2)
    assert motion.goal("alpha", clock) == (16, -0.5)


def test_half_a_turn_moves_in_the_direction_of_the_order():
    timeline = played(arranged(alpha={1: {"sector": 1}, 2: {"sector": 2}}), ("P1 prograde; P2 retrograde", ""))
    motion = Motion(Picture(640, 480, timeline[0].config).layout.geometry, timeline.snapshot(1))
    start, moving = motion.key(0).anchors, motion.anchors(motion.clock(0.9))
    ahead, behind = (
        moving[one].position[1] - start[one].position[1] for one in (SatelliteId("alpha", 1), SatelliteId("alpha", 2))
    )
    assert ahead > 2
    assert behind < -2


def test_a_frame_does_not_depend_on_those_before_it():
    timeline = guards()
    timeline.append(timeline[-1].copy().step(alpha="P1 prograde"))
    game = timeline[-1]
    reused = Picture(640, 480, game.config)
    for index, progress in [(1, 0.1), (1, 0.2), (1, 0.7), (2, 0.3), (2, 1), (1, 0.7), (0, 1), (1, 1), (2, 0.3)]:
        snapshot = timeline.snapshot(index)
        frame = reused.frame(snapshot, progress)
        assert np.array_equal(frame, Picture(640, 480, game.config).frame(snapshot, progress))
        assert np.array_equal(frame, reused.frame(snapshot, progress))
        if index == 1:
            reused.draw(snapshot, 0.5).fill((255, 0, 0))


def test_pictures_survive_a_restart_of_pygame():
    picture = Picture(640, 480, Game(seed=1).config)
    before = picture.frame(Game(seed=1))
    pygame.quit()
    assert np.array_equal(picture.frame(Game(seed=1)), before)


def test_an_engagement_is_played_beat_by_beat():
    timeline = guards()
    snapshot = timeline.snapshot(-1)
    layout = Picture(1280, 720, snapshot.game.config).layout
    motion = Motion(layout.geometry, snapshot)
    actions = [beat[0].action for beat in motion.beats]
    assert actions == sorted(actions)
    assert {"guard", "shoot"} == set(actions)
    seen = [motion.clock(step / 200) for step in range(201)]
    assert [clock.beat for clock in seen] == sorted(clock.beat for clock in seen)
    assert {clock.beat for clock in seen} == set(range(len(motion.beats) + 1))
    assert all(clock.drift == 0 for clock in seen if clock.beat < len(motion.beats))
    lines = [list(beat_shapes(layout, motion, clock)) for clock in seen]
    assert all(lines[i] == [] for i, clock in enumerate(seen) if clock.beat == len(motion.beats))
    during = {clock.beat for i, clock in enumerate(seen) if lines[i]}
    assert during == set(range(len(motion.beats)))


def test_what_an_engagement_destroys_is_a_wreck_until_its_end():
    timeline = collisions()
    motion = Motion(Picture(1280, 720, timeline[0].config).layout.geometry, timeline.snapshot(-1))
    places = [motion.key(beat).anchors for beat in range(len(motion.beats) + 1)]
    assert len({len(anchors) for anchors in places}) == 1
    styles = [motion.key(beat).styles.values() for beat in range(len(places))]
    fallen = [sum(style.state == "destroyed" for style in shown) for shown in styles]
    hits = [beat[0].success for beat in motion.beats]
    assert [after - before for before, after in itertools.pairwise(fallen)] == [2 * hit for hit in hits]
    assert True in hits
    assert len(motion.anchors(motion.clock(1.0))) == len(places[0]) - fallen[-1]


@pytest.mark.parametrize("make", [shots, collisions, guards])
def test_satellites_keep_their_places_during_an_engagement_but_for_guards_and_those_that_collide(make):
    snapshot = make().snapshot(-1)
    motion = Motion(Picture(1280, 720, snapshot.game.config).layout.geometry, snapshot)
    movers = {one.actor for one in snapshot.outcomes if one.action != "shoot"}
    last = motion.key(len(motion.beats)).anchors
    for satellite, anchor in motion.key(0).anchors.items():
        assert satellite in movers or last[satellite] == anchor


def test_an_attack_on_an_hva_has_a_beat_of_its_own_in_a_closer_view_with_odds_and_a_verdict():
    snapshot = guards().snapshot(-1)
    layout = Picture(1280, 720, snapshot.game.config).layout
    motion = Motion(layout.geometry, snapshot)
    clocks = [motion.clock(step / 500) for step in range(501)]
    decisive = [beat for beat, aim in enumerate(motion.aims) if aim is not None]
    assert decisive
    for beat in decisive:
        (outcome,) = motion.beats[beat]
        played = [clock for clock in clocks if clock.beat == beat and clock.growth == 1]
        words = [[one.text for one in beat_shapes(layout, motion, clock) if isinstance(one, Text)] for clock in played]
        odds, verdict = f"{outcome.probability:.0%}", words[-1][0]
        assert words[0][0] == odds
        assert words[0][1].startswith(f"{outcome.actor.short} at ")
        assert words[-1][1] == f"{words[0][1]}, {odds}", "the odds stay beside the verdict"
        assert (verdict == "MISSED") != outcome.success
        assert all(motion.view(clock)[1] > 1.5 for clock in played)
    assert motion.view(clocks[0]) == motion.view(clocks[-1]) == (layout.geometry.center, 1.0)


@pytest.mark.parametrize("make", [shots, collisions, guards, destroyed, moves])
def test_satellites_end_where_the_next_picture_begins(make):
    snapshot = make().snapshot(-1)
    geometry = Picture(1280, 720, snapshot.game.config).layout.geometry
    motion, still = Motion(geometry, snapshot), Motion(geometry, Snapshot.of(snapshot.game))
    ends, begins = motion.anchors(motion.clock(1.0)), still.anchors(still.clock(1.0))
    assert set(ends) == set(begins)
    for satellite, anchor in ends.items():
        assert geometry.point(anchor.position) == pytest.approx(geometry.point(begins[satellite].position))
        assert anchor.radius == begins[satellite].radius


def test_cards_fit_beside_the_board_in_any_size():
    snapshot = guards().snapshot(-1)
    for size in ((640, 480), (1280, 720), (390, 844), (3840, 2160)):
        layout = make_layout(*size, snapshot.game.config.board, 11, measure=painter.text_extent)
        shapes = list(card_shapes(layout, snapshot))
        boxes = [
            Rect(*map(round, (one.left, one.top, one.width, one.height))) for one in shapes if isinstance(one, Box)
        ]
        assert boxes
        for rect in boxes:
            assert rect.clamped(layout.outcomes) == rect


def test_the_window_draws_the_lines_of_the_card_under_the_pointer():
    window = WatchWindow(shots())
    window.playback.to_end()
    still = pygame.surfarray.array3d(window.draw())
    first = next(one for one in card_shapes(window.layout, window.playback.snapshot) if isinstance(one, Box))
    window.pointer = round(first.left) + 4, round(first.top) + 4
    right = window.layout.board.right
    assert not np.array_equal(still[:right], pygame.surfarray.array3d(window.draw())[:right])


def test_mirrored_fleets_have_the_fuel_of_alpha():
    game = Game({"extends": "case1", "mirror": True}, seed=1)
    assert full_fuel(game, "bravo", 1) == full_fuel(game, "alpha", 1) == 100


# Colours

_DEFICIENCIES = {  # Machado, Oliveira, Fernandes 2009, severity 1
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "usual": np.eye(3),
}


def lab(colour, matrix):
    """Return a colour as it is seen, in CIELAB."""
    linear = np.array(
        [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in np.array(rgb(colour)) / 255]
    )
    seen = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", _DEFICIENCIES)
def test_colours_are_distinguishable_with_any_colour_vision(vision):
    matrix = _DEFICIENCIES[vision]
    colours = [*theme.SIDES.values(), theme.INACTIVE, theme.RING, theme.TEXT]
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(lab(one, matrix) - lab(other, matrix)) > 25


def contrast(one, other):
    def luminance(colour):
        return (lab(colour, np.eye(3))[0] + 16) ** 3 / 116**3

    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_texts_contrast_with_their_background(scheme):
    def shown(colour):
        return theme.LIGHT.get(colour, colour) if scheme == "light" else colour

    for ground in map(shown, (theme.PANEL, theme.CARD)):
        for colour in map(shown, (theme.TEXT, theme.SOFT, theme.FAINT, theme.LOST, theme.SAFE)):
            assert contrast(colour, ground) > 4.5
        assert contrast(shown(theme.TEXT), ground) > 12
    for ground in map(shown, (theme.RING, theme.PANEL)):
        assert contrast(shown(theme.SECTOR_NUMBER), ground) > 4.5
    for side in ("alpha", "bravo"):
        assert contrast(theme.INK[side], shown(theme.SIDES[side])) > 4.3
        assert contrast(shown(theme.SIDES_BRIGHT[side]), shown(theme.PANEL)) > 4.5
        assert contrast(shown(theme.LOST_INK), shown(theme.SIDES_LOST[side])) > 3.5


def test_sides_differ_in_lightness_as_well():
    for look in ({}, theme.LIGHT):
        alpha, bravo = (lab(look.get(colour, colour), np.eye(3))[0] for colour in theme.SIDES.values())
        assert bravo - alpha > 25


def test_each_dark_colour_has_one_light_one():
    named = [value for name, value in vars(theme).items() if name.isupper() and isinstance(value, str)]
    named += [
        colour
        for name in ("SIDES", "SIDES_BRIGHT", "SIDES_DARK", "SIDES_LOST", "BURNT")
        for colour in vars(theme)[name].values()
    ]
    assert all(named.count(colour) == 1 for colour in theme.LIGHT)
