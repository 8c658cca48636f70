"""The guided first flight: its steps, flown by the real rules, without a window and in one without a screen."""

import pygame
import pytest

from geo_patrol.flight import Flight
from geo_patrol.flight.flight import Ending
from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.flight.pictures.learn import LessonWindow
from geo_patrol.flight.pictures.scene import MapLayout

STEPS = ["launch", "velocity", "gravity", "engines", "limits", "score"]
SIZES = [(1280, 720), (480, 360), (400, 724)]


def lesson_at(name):
    lesson = FlightLesson()
    while lesson.step.id != name:
        lesson.next()
    return lesson


def text_of(name):
    """Return all that a player reads who does what a step requires."""
    lesson = lesson_at(name)
    flight = lesson.begin()
    before = lesson.card_of(flight)
    code = flight.read_order(lesson.step.orders[0])
    assert lesson.fly(flight, code)
    flight.fly(code)
    lesson.finish()
    after = lesson.card_of(flight)
    assert after.task == ""
    return f"{before.text} {before.task} {after.text}"


def test_the_six_steps():
    lesson = FlightLesson()
    assert [step.id for step in lesson.steps] == STEPS
    for step in lesson.steps:
        for text in (step.title, step.text, step.task, step.hint, step.result):
            assert text.strip() == text != ""


@pytest.mark.parametrize("name", STEPS)
def test_any_other_order_shows_the_hint(name):
    lesson = lesson_at(name)
    flight = lesson.begin()
    assert lesson.card_of(flight).hint == ""
    for code in flight.action_mask().nonzero()[0].tolist():
        if flight.order_text(code) != lesson.step.orders[0]:
            assert not lesson.fly(flight, code)
            assert lesson.card_of(flight).hint
    assert "{" not in lesson.card_of(flight).hint


@pytest.mark.parametrize(
    ("name", "phrases"),
    [
        ("launch", ["flight of 15 turns", "24 marked points", "all 3 grids away", "moved L3 U1", "to D13"]),
        ("velocity", ["L3 U1, leads to C10", "coasted to C10", "earns 1 point"]),
        (
            "gravity",
            ["leads to B7 now, and gravity from there to C7", "3 points for exploring", "there 1 for", "up to 5"],
        ),
        ("engines", ["any of 8 directions", "costs 2 points", "reach F5 now", "at G6", "move is now R2 D1"]),
        ("limits", ["lead to E6 now, onto the planet", "passed the planet at E7"]),
        ("score", ["Explore 6, survey 7, microgravity 12, fuel -4: 21 points"]),
    ],
)
def test_numbers_are_those_of_the_rules(name, phrases):
    text = text_of(name)
    assert "{" not in text
    for phrase in phrases:
        assert phrase in text


def test_claims_about_the_flights_are_true():
    assert lesson_at("velocity").begin().turns[-1].points == dict.fromkeys(FlightLesson().begin().score_sheet, 0)
    gravity = lesson_at("gravity").begin()
    assert gravity.fly("coast").gravity != (0, 0)
    engines = lesson_at("engines").begin()
    turn = engines.copy().fly("engines down-right")
    assert (turn.points["fuel"], turn.points["microgravity"]) == (-2, 0)
    engines.fly("coast")
    assert "crash" in engines.why_illegal(0)
    limits = lesson_at("limits").begin()
    assert limits.position_name == engines.position_name
    assert "coast" not in limits.legal_orders()
    score = lesson_at("score").begin()
    assert score.turn == score.mission.turns - 1
    score.fly("coast")
    assert (score.ending, score.score) == (Ending.LAST_TURN, 21)


def test_leaving_the_well_after_the_engines():
    """The ship of step 4 leaves the well; the one that coasts there would crash, as step 5 shows."""
    flight = lesson_at("engines").begin()
    flight.fly_all(["engines down-right", "coast", "coast", "coast"])
    assert flight.turns[-1].well is None


class Mouse:
    """Clicks in a lesson's window, without a screen."""

    def __init__(self, size):
        self.lesson = FlightLesson()
        self.window = LessonWindow(self.lesson)
        self.window.screen.window.size = size
        self.window.draw()

    def run(self):
        for event in self.window.screen.events():
            self.window.handle(event)
        while self.window.screen.is_open and self.window.tick(1):
            pass
        if self.window.screen.is_open:
            self.window.draw()

    def click(self, pixel):
        position = tuple(map(round, pixel))
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=position, button=1))
        self.run()

    def press(self, key):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, unicode="", mod=0))
        self.run()

    def click_end_of(self, order):
        self.click(self.window.pixel_of(self.window.flight.read_order(order)))


@pytest.mark.parametrize("size", SIZES)
def test_the_lesson_is_flown_by_mouse(size):
    mouse = Mouse(size)
    lesson, window = mouse.lesson, mouse.window
    for step in lesson.steps:
        assert lesson.step is step
        flown = window.flight.turn
        mouse.click(window.card_area.center)  # not open yet
        others = [order for order in window.flight.legal_orders() if order != step.orders[0]]
        mouse.click_end_of(others[-1])
        assert window.card.hint
        assert window.flight.turn == flown
        mouse.click_end_of(step.orders[0])
        assert lesson.is_done
        assert window.flight.turn == flown + 1
        mouse.click(window.card_area.center)
    assert lesson.is_last
    assert window.flight.is_over
    window.screen.close()


def test_keys_of_the_lesson():
    mouse = Mouse((1280, 720))
    window = mouse.window
    mouse.press(pygame.K_RETURN)  # flies the chosen order, which is not that of the step
    assert window.card.hint
    mouse.press(pygame.K_BACKSPACE)
    assert window.card.hint == ""
    mouse.click_end_of("launch D13")
    mouse.press(pygame.K_SPACE)
    assert mouse.lesson.step.id == "velocity"
    mouse.press(pygame.K_RETURN)
    assert mouse.lesson.is_done
    assert window.flight == Flight.from_orders("sample", ["launch D13", "coast"])
    mouse.press(pygame.K_BACKSPACE)
    assert mouse.lesson.step.id == "launch"
    assert window.flight.turn == 0
    mouse.press(pygame.K_ESCAPE)
    assert not window.screen.is_open


@pytest.mark.parametrize("size", SIZES)
def test_the_card_leaves_the_map_visible(size):
    mouse = Mouse(size)
    window = mouse.window
    for _ in mouse.lesson.steps:
        mouse.lesson.has_failed = True
        window.draw()
        mission = window.flight.mission
        corner = [value * window.scale for value in MapLayout(mission).at((mission.columns, mission.rows))]
        area = window.card_area
        assert not area.contains(corner)
        assert area.left >= 0
        assert area.bottom <= window.content_area.bottom
        edge = window.draw().get_at((area.left + area.width // 2, area.bottom - 3))
        assert edge != window.draw().get_at((1, 1)), "the drawing does not cover the card"
        mouse.lesson.finish()
        window._next()
    window.screen.close()
