"""The guided first flight: its steps, flown by the real rules."""

import pytest

from geo_patrol.flight import Flight
from geo_patrol.flight.flight import Ending
from geo_patrol.flight.lesson import FlightLesson, turn_story

STEPS = ["launch", "velocity", "gravity", "engines", "limits", "score"]


def lesson_at(name):
    lesson = FlightLesson()
    lesson.go(STEPS.index(name))
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


PHRASES = {
    "launch": "flight has 15 turns; 24 green points; all 3 grids away; Choose D13; You are at D13; 3 left, 1 up",
    "velocity": "3 left, 1 up, leads to C10; coasted to C10; earns 1 point",
    "gravity": "leads to B7 now, and gravity from there to C7; 3 points for exploring; there 1 for; up to 5",
    "engines": "any of 8 directions; costs 2 points; reach F5 now; at G6; move is now 2 right, 1 down",
    "limits": "lead to E6 now, onto the planet; passed the planet at E7",
    "score": "Explore 6, survey 7, microgravity 12, fuel -4: 21 points",
}


@pytest.mark.parametrize("name", PHRASES)
def test_numbers_are_those_of_the_rules(name):
    text = text_of(name)
    assert "{" not in text
    assert [phrase for phrase in PHRASES[name].split("; ") if phrase not in text] == []


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


@pytest.mark.parametrize("name", STEPS)
def test_what_a_text_speaks_of_is_on_the_map(name):
    lesson = lesson_at(name)
    assert all(map(lesson.mission.is_on_map, (*lesson.sights, lesson.target)))
    assert lesson.target not in lesson.sights


def test_the_story_of_a_turn():
    flight = Flight.from_orders("sample", ["launch D13", *["coast"] * 5, "engines down-right"])
    launch, velocity, *_, engines = map(turn_story, flight.turns)
    assert launch == ["Launch: 3 left, 1 up, from E16 to D13.", "Points: none."]
    assert velocity == [
        "Coast: the last move again, from D13 to C10.", "Gravity: none here.", "Engines: off.", "Points: microgravity +1.",
    ]  # fmt: skip
    assert engines == [
        "Coast: the last move again, from F4 to G4.",
        "Gravity: pulls one grid up-right, from G4 to F5.",
        "Engines: one grid down-right, from F5 to G6.",
        "Points: survey +1, fuel -2.",
    ]
