"""The windows to watch and to play in, with posted events and without a screen."""

import math
import time

import pygame
import pytest

from geo_patrol import Order, SatelliteId, load_config, make_agent
from geo_patrol.rendering import screen
from geo_patrol.rendering.play import PlayWindow
from geo_patrol.rendering.watch import WatchWindow, watch
from geo_patrol.scenes import theme
from geo_patrol.sessions.live import LiveGame

CONFIG = load_config("geo_patrol")


def pump(window):
    for event in window.screen.events():
        window.handle(event)


def press(window, key, character="", mod=0):
    event = pygame.event.Event(pygame.KEYDOWN, key=key, unicode=character, mod=mod, window=window.screen.window)
    pygame.event.post(event)
    pump(window)


def click(window, pixel):
    event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=pixel, button=1, window=window.screen.window)
    pygame.event.post(event)
    pump(window)


def push(window, name):
    click(window, window.bar.rect_of(name).center)


def watching(size=(1000, 600)):
    live = LiveGame(load_config("case1"), (make_agent("scripted"), make_agent("random")), 4)
    window = WatchWindow(live.timeline, live.advance, size=size)
    window.draw()
    return window


@pytest.mark.parametrize("size", [(640, 480), (1000, 600), (1280, 720)])
def test_speed_and_pause_are_shown(size):
    window = watching(size)

    def shown():
        course = window.progress_bar
        rest = window.picture.layout.toolbar.right - course.right
        strip = window.draw().subsurface(course.right, course.top, rest, course.height)
        return pygame.image.tobytes(strip, "RGB")

    usual = shown()
    push(window, "faster")
    faster = shown()
    press(window, pygame.K_SPACE, " ")
    assert len({usual, faster, shown()}) == 3


def test_every_control_of_watching_has_its_key():
    window = watching()
    go = window.playback
    press(window, pygame.K_SPACE, " ")
    assert not go.is_playing
    press(window, pygame.K_RIGHT)
    press(window, pygame.K_RIGHT)
    press(window, pygame.K_RIGHT)
    assert go.index == 2
    press(window, pygame.K_LEFT)
    assert go.index == 1
    press(window, pygame.K_PAGEDOWN)
    assert go.index == 2
    press(window, pygame.K_DOWN)
    press(window, pygame.K_UP)
    assert go.index == 2
    press(window, pygame.K_PAGEUP)
    assert go.index == 0
    press(window, pygame.K_e, "e")
    assert go.snapshot.outcomes
    first = go.index
    press(window, pygame.K_e, "e")
    assert go.index > first
    press(window, pygame.K_e, "E", pygame.KMOD_LSHIFT)
    assert go.index == first
    press(window, pygame.K_PLUS, "+")
    assert go.speed == 2
    press(window, pygame.K_MINUS, "-")
    press(window, pygame.K_MINUS, "-")
    assert go.speed == 0.5
    press(window, pygame.K_END)
    assert go.index == len(go.timeline) - 1
    press(window, pygame.K_r, "r")
    assert (go.index, go.is_playing) == (0, True)


def test_every_button_of_watching_works():
    window = watching()
    go = window.playback
    push(window, "pause or go on")
    push(window, "a step forward")
    push(window, "a step forward")
    assert (go.is_playing, go.index) == (False, 1)
    push(window, "a step back")
    assert go.index == 0
    push(window, "a turn forward")
    assert go.index == 2
    push(window, "a turn back")
    push(window, "jump to the next engagement")
    assert go.snapshot.outcomes
    push(window, "jump to the engagement before")
    assert go.index == 0
    push(window, "faster")
    push(window, "slower")
    assert go.speed == 1
    click(window, (window.progress_bar.right - 1, window.progress_bar.center[1]))
    assert go.index == len(go.timeline) - 1
    push(window, "begin again")
    assert go.index == 0
    window.draw()


def test_time_passes_while_watching():
    window = watching()
    assert window.tick(5)
    window.tick(5)
    assert window.playback.index > 0
    index = window.playback.index
    press(window, pygame.K_F1)
    window.tick(100)
    assert window.playback.index == index  # the help is shown


@pytest.mark.parametrize("size", [(640, 480), (1000, 600), (700, 740)])
def test_the_help_names_all_keys(size):
    window = watching(size)
    before = window.draw().copy()
    press(window, pygame.K_SLASH, "?")
    assert window.page is not None
    assert pygame.image.tobytes(window.draw(), "RGB") != pygame.image.tobytes(before, "RGB")
    lines = dict(window.help_lines())
    assert lines["Space"] == "pause or go on"
    assert lines["Shift E"] == "jump to the engagement before"
    assert set(lines.values()) == {control.name for control in window.controls if control.keys}
    press(window, pygame.K_a, "a")
    assert window.page is None
    push(window, "show or hide this page")
    assert window.page is not None
    click(window, (5, 5))
    assert window.page is None


def test_saved_pictures_overwrite_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    window = watching()
    press(window, pygame.K_s, "s")
    push(window, "save a picture")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["geo_patrol-1.png", "geo_patrol-2.png"]
    assert pygame.image.load(str(tmp_path / "geo_patrol-1.png")).get_size() == window.screen.size
    window.draw()
    monkeypatch.setattr(pygame.image, "save", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    press(window, pygame.K_s, "s")
    assert "disk full" in window._message
    window.draw()


def test_closing_the_window_ends_watching(monkeypatch):
    live = LiveGame(load_config("case1"), (make_agent("scripted"), make_agent("random")), 4)
    monkeypatch.setattr(screen.Screen, "show", lambda *_: pygame.event.post(pygame.event.Event(pygame.QUIT)))
    watch(live.timeline, live.advance)
    assert screen.open_screens == []
    monkeypatch.undo()
    window = watching()
    press(window, pygame.K_q, "q")
    assert not window.screen.is_open
    window.run()


def test_failing_agents_close_the_window():
    live = LiveGame(load_config("case1"), (make_agent("scripted"), make_agent("random")), 4)

    def fail(_wait):
        raise RuntimeError("agent")

    window = WatchWindow(live.timeline, fail)
    with pytest.raises(RuntimeError, match="agent"):
        window.run()
    assert screen.open_screens == []


def test_a_stale_quit_event_does_not_close_a_new_window():
    window = watching()
    window.screen.close()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window = watching()
    pump(window)
    assert window.screen.is_open


def test_clicks_are_in_points_and_pictures_in_pixels():
    class Dense:
        size = (1000, 600)

        def get_surface(self):
            return pygame.Surface((2000, 1200))

        def destroy(self):
            pass

    window = watching()
    window.screen.window.destroy()
    window.screen.window = Dense()
    assert window.draw().get_size() == (2000, 1200)
    center = window.bar.rect_of("pause or go on").center
    event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(center[0] // 2, center[1] // 2), button=1)
    window.handle(event)
    assert not window.playback.is_playing


def test_a_resized_window_gets_a_picture_of_its_size():
    window = watching()
    window.screen.window.size = (800, 500)
    assert window.draw().get_size() == window.screen.size == (800, 500)
    push(window, "pause or go on")
    assert not window.playback.is_playing


# Playing


def playing(agents=(None, "scripted"), seed=4, size=(1000, 600), config=CONFIG, start=None):
    made = tuple(name and make_agent(name) for name in agents)
    window = PlayWindow(lambda: LiveGame(config, made, seed, start=start), size=size)
    window.draw()
    return window


def token(window, side, number):
    across, down = window.picture.layout.geometry.point(window._anchors()[SatelliteId(side, number)].position)
    return round(across), round(down)


def sector_pixel(window, sector):
    return tuple(map(round, window.layout.geometry.sector_center(sector)))


def test_a_click_on_a_satellite_and_a_sector_gives_an_order():
    window = playing()
    entry = window.session.entry
    click(window, token(window, "alpha", 10))
    assert entry.selected == 10
    window.draw()
    click(window, sector_pixel(window, 8))
    assert entry.orders == (Order(10, "radial_in"),)
    click(window, token(window, "alpha", 10))
    click(window, sector_pixel(window, 18))
    assert entry.orders == (Order(10, "prograde"),)
    push(window, "undo")
    assert entry.orders == (Order(10, "radial_in"),)
    window.draw()
    click(window, token(window, "alpha", 1))
    click(window, token(window, "bravo", 1))
    assert entry.selected is None
    click(window, token(window, "alpha", 9))
    click(window, token(window, "alpha", 8))
    assert entry.selected == 8
    click(window, (3, 3))
    push(window, "hold with all: take every order back")
    assert entry.orders == ()


def test_rows_of_the_table_and_the_list_of_orders_work_as_well():
    from geo_patrol.scenes.panel import row_of

    window = playing()
    entry = window.session.entry
    click(window, row_of(window.picture.layout, "alpha", 4).center)
    assert entry.selected == 4
    option, rect = window._option_buttons()[1]
    click(window, rect.center)
    assert entry.orders == (option.order,)
    press(window, pygame.K_TAB, "\t")
    press(window, pygame.K_TAB, "\t")
    click(window, row_of(window.picture.layout, "alpha", 4).center)
    hold, rect = window._option_buttons()[-1]
    assert hold is None
    click(window, rect.center)
    assert entry.orders == ()


def test_a_click_that_means_several_orders_opens_a_menu():
    config = load_config({"extends": "geo_patrol", "board": {"inner_ring": 1, "outer_ring": 4, "goal_ring": 1}})
    window = playing(config=config)
    entry = window.session.entry
    click(window, token(window, "alpha", 1))
    other = {option.sector for option in entry.options(1) if option.order.action == "prograde"}.pop()
    geometry = window.picture.layout.geometry
    distance = geometry.outer_edge(1) - 2
    pixel = tuple(map(round, geometry.point((distance, (other - 0.6) * math.pi))))
    click(window, pixel)
    assert [str(option.order) for option, _ in window.menu] == ["P1 prograde", "P1 retrograde"]
    window.draw()
    click(window, window.menu[1][1].center)
    assert entry.orders == (Order(1, "retrograde"),)
    assert window.menu == []


def test_engagements_are_ordered_by_clicking_targets():
    from positions import arranged

    game = arranged(phase="engagement", bravo={1: {"sector": 17}}, alpha={1: {"sector": 17}})
    window = playing(start=game)
    session = window.session
    entry = session.entry
    click(window, token(window, "alpha", 9))
    window.draw()
    click(window, token(window, "bravo", 1))
    assert [option.order.action for option, _ in window.menu] == ["shoot", "collide"]
    click(window, window.menu[0][1].center)
    assert entry.orders == (Order(9, "shoot", 1),)
    window.draw()
    push(window, "commit the orders of this phase")
    assert session.stage == "showing"
    assert session.live.timeline.phases[0].orders[0] == (Order(9, "shoot", 1),)


def test_every_key_of_playing():
    window = playing()
    entry = window.session.entry
    press(window, pygame.K_TAB, "\t")
    assert entry.selected == 0
    click(window, token(window, "alpha", 9))
    click(window, sector_pixel(window, 8))
    press(window, pygame.K_u, "u")
    assert entry.orders == ()
    press(window, pygame.K_g, "g")  # no satellite is threatened
    press(window, pygame.K_x, "x")
    press(window, pygame.K_l, "l")  # nothing was played yet
    press(window, pygame.K_n, "n")  # the game is not over
    assert window.session.entry is entry
    press(window, pygame.K_RETURN, "\r")
    assert window.session.stage == "showing"
    assert "Click to go on" in window.prompt
    click(window, (5, 5))
    window.tick(0.01)
    window.tick(10)
    window.tick(10)
    assert window.session.stage == "ordering"
    press(window, pygame.K_l, "l")
    assert window.playback.progress < 1
    click(window, (5, 5))
    assert window.playback.progress == 1


def test_escape_steps_back_from_the_menu_to_leaving(monkeypatch):
    window = playing()
    entry = window.session.entry
    click(window, token(window, "alpha", 9))
    click(window, sector_pixel(window, 8))
    orders = entry.orders
    click(window, token(window, "alpha", 3))
    window.menu = [(None, window.layout.board)]
    press(window, pygame.K_ESCAPE)
    assert window.menu == []
    assert entry.selected == 3
    press(window, pygame.K_ESCAPE)
    assert entry.selected is None
    press(window, pygame.K_ESCAPE)
    assert window.screen.is_open
    assert window._message == "Escape again leaves the game; the orders of this phase are lost"
    now = time.monotonic()
    with monkeypatch.context() as later:
        later.setattr(time, "monotonic", lambda: now + 60)
        press(window, pygame.K_ESCAPE)  # too late for an answer: it asks again
    assert window.screen.is_open
    assert entry.orders == orders
    press(window, pygame.K_ESCAPE)
    assert not window.screen.is_open


def test_escape_leaves_a_game_that_is_over_and_a_window_to_watch_at_once():
    window = playing(config=load_config("case1", {"turn_limit": 1}))
    while window.session.stage != "over":
        press(window, pygame.K_RETURN, "\r")
        window.tick(10)
    press(window, pygame.K_ESCAPE)  # closes the page about the result
    assert window.page is None
    press(window, pygame.K_ESCAPE)
    assert not window.screen.is_open
    window = watching()
    press(window, pygame.K_ESCAPE)
    assert not window.screen.is_open


def test_a_resumed_game_shows_the_position_that_orders_are_for():
    played, resumed = (LiveGame(CONFIG, (None, make_agent("scripted")), 4) for _ in range(2))
    past = []
    played.observers.append(lambda _, phase: past.append(phase.actions))
    for _ in range(4):
        played.advance()
    resumed.resume(past)
    window = PlayWindow(lambda: resumed, size=(1000, 600))
    window.draw()
    assert window.session.stage == "ordering"
    assert window.playback.snapshot.game.turn == 3
    assert window.playback.snapshot.game.is_same_position(played.game)
    assert window.playback.is_finished


def test_the_title_is_that_of_the_game_that_is_played():
    seeds = iter((4, 5))
    config = load_config("geo_patrol", {"turn_limit": 1})
    window = PlayWindow(lambda: LiveGame(config, (None, make_agent("idle")), next(seeds)))
    assert window.screen.window.title == "GEO Patrol: you (alpha) against idle (bravo), seed 4"
    while window.session.stage != "over":
        window.session.commit()
        window.session.end_showing()
    press(window, pygame.K_n, "n")
    assert window.screen.window.title == "GEO Patrol: you (alpha) against idle (bravo), seed 5"


def test_the_curtain_hides_everything():
    window = playing((None, None))
    curtain = pygame.image.tobytes(window.draw(), "RGB")
    press(window, pygame.K_SPACE, " ")
    assert window.session.stage == "ordering"
    click(window, token(window, "alpha", 9))
    click(window, sector_pixel(window, 8))
    push(window, "commit the orders of this phase")
    assert (window.session.stage, window.session.side) == ("curtain", "bravo")
    other = pygame.image.tobytes(window.draw(), "RGB")
    assert not set(theme.SIDES.values()) & set(zip(*[iter(other)] * 3, strict=True))
    assert other != curtain
    click(window, window.bar.rect_of("commit the orders of this phase").center)
    assert (window.session.stage, window.session.side) == ("ordering", "bravo")
    assert window.session.entry.orders == ()
    press(window, pygame.K_ESCAPE)
    assert window.screen.is_open
    press(window, pygame.K_ESCAPE)
    assert not window.screen.is_open


@pytest.mark.parametrize("size", [(640, 480), (1000, 600)])
def test_a_game_is_played_to_its_end_by_mouse_alone(size):
    window = playing(size=size)
    phases = []
    window.session.live.observers.append(lambda _, phase: phases.append(phase))
    for _ in range(400):
        if window.session.stage == "over":
            break
        entry = window.session.entry
        if window.session.stage == "showing" or not window.playback.is_finished:
            click(window, (5, 5))
            window.tick(0.01)
            continue
        for number in (1, 5, 9):
            if entry.options(number):
                from geo_patrol.scenes.panel import row_of

                click(window, row_of(window.picture.layout, "alpha", number).center)
                option, rect = window._option_buttons()[0]
                click(window, rect.center)
                assert entry.pending[number] == option.order
        push(window, "commit the orders of this phase")
    assert window.session.live.is_over
    assert phases == window.session.live.timeline.phases
    window.draw()
    assert window.page.tab.title == "Result"
    click(window, (window.screen.size[0] // 2, window.screen.size[1] // 2))
    assert window.page is None
    old = window.session
    push(window, "a new game")
    assert window.session is not old
    assert window.session.stage == "ordering"
