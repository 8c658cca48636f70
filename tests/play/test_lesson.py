"""The guided first game without a window: its steps, played by the real rules."""

import pytest

from geo_patrol import Game, Order, load_config
from geo_patrol.play.lesson import GameLesson, LessonSession

LESSON = GameLesson()
STEPS = [step.id for step in LESSON.steps]


def session_of(name):
    lesson = GameLesson()
    lesson.go(STEPS.index(name))
    return LessonSession(lesson)


def give(session, *orders):
    for order in orders:
        session.entry.give(Order.parse(order))


def do(session):
    """Do what the step requires, and let it be shown to its end."""
    step = session.lesson.step
    if step.select is not None:
        session.entry.select(0)
        session.check_selection()
        return
    give(session, *step.orders)
    session.commit()
    while session.is_showing:
        session.end_showing()


@pytest.mark.parametrize("name", STEPS)
def test_doing_what_a_step_requires_completes_it(name):
    session = session_of(name)
    before = session.card
    assert before.task
    assert before.hint == ""
    do(session)
    assert session.lesson.is_done
    after = session.card
    assert (after.task, after.hint) == ("", "")
    assert after.text != before.text
    assert "{" not in before.text + before.task + after.text


@pytest.mark.parametrize("name", STEPS[:-1])  # the last one offers nothing else
def test_anything_else_shows_the_hint_and_plays_nothing(name):
    session = session_of(name)
    required = [Order.parse(order) for order in session.lesson.step.orders]
    offered = [option.order for number in (3, 2, 1) for option in session.entry.options(number)]
    other = next(order for order in offered if order not in required)
    session.entry.select(other.satellite)
    session.check_selection()
    session.entry.give(other)
    session.commit()
    assert session.card.hint == session.lesson.card(session.lesson.values(session.live)).hint != ""
    assert "{" not in session.card.hint
    assert not session.lesson.is_done
    assert session.entry is not None
    assert len(session.live.timeline) == 1
    session.entry.give_all([])
    do(session)
    assert session.lesson.is_done
    assert session.card.hint == ""


def test_too_little_and_too_much_are_refused():
    session = session_of("move")
    session.commit()
    assert session.card.hint == "You have not ordered anything yet: choose Patrol 3."
    give(session, "P3 prograde", "P1 prograde")
    session.commit()
    assert session.card.hint.startswith("Only ")
    assert session.entry is not None


def test_nothing_can_be_done_after_a_step():
    session = session_of("fuel")
    do(session)
    give(session, "P3 prograde")
    session.commit()
    assert session.lesson.is_done
    assert len(session.live.timeline) == 1
    session.lesson.go(0)
    assert not session.lesson.is_done


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("shoot", ["alpha:Patrol:3 shoot bravo:Patrol:1: success at 80%"]),
        (
            "guard",
            [
                "alpha:Patrol:2 guard against bravo:Patrol:1: success at 80%",
                "bravo:Patrol:1 shoot alpha:Patrol:2: success at 80%",
            ],
        ),
        ("end", ["alpha:Patrol:1 collide bravo:HVA:0: success at 80%"]),
    ],
)
def test_engagements_turn_out_as_the_texts_say(name, outcomes):
    session = session_of(name)
    do(session)
    assert [str(outcome) for outcome in session.live.timeline.phases[0].outcomes] == outcomes


def test_another_seed_may_turn_out_otherwise():
    """The outcomes are sampled by the engine."""
    step = next(step for step in LESSON.steps if step.id == "guard")
    games = [step.model_copy(update={"seed": seed}).position(LESSON.config) for seed in range(20)]
    assert {game.step(list(step.orders), list(step.enemy)).outcomes[0].success for game in games} == {True, False}


def test_numbers_are_those_of_the_rules():
    shown = {}
    for name in STEPS:
        session = session_of(name)
        before = session.card
        do(session)
        shown[name] = f"{before.text} {before.task} {session.card.text}"
    assert "100 for the fuel of the HVA and 100 for that of all Patrols together make 200" in shown["fuel"]
    assert "has paid 5 and has 95 fuel left" in shown["move"]
    assert "it costs 7 and hits with 40%" in shown["shoot"]
    assert "costs 10, with 40%" in shown["guard"]
    assert "cost 5 points of fuel, and the goal earned 10: your score is 205; gold, whose HVA held" in shown["score"]
    assert "176 to 100, you win" in shown["end"]


def test_texts_follow_the_rules_when_these_change():
    lesson = GameLesson()
    lesson.config = load_config(lesson.config, {"alpha.costs.prograde": 9, "alpha.odds.shoot": [0.6, 0.2]})
    texts = []
    for index in range(len(STEPS)):
        lesson.go(index)
        texts.append(LessonSession(lesson).card.text)
    assert any("for 9 fuel" in text for text in texts)
    assert any("hits with 60%" in text for text in texts)


def test_claims_about_the_positions_are_true():
    """What the texts say of positions without values that are filled in."""
    positions = {step.id: step.position(LESSON.config) for step in LESSON.steps}
    shoot, guard, end = (positions[name] for name in ("shoot", "guard", "end"))
    assert shoot.satellite("bravo", 1).sector == shoot.satellite("alpha", 3).sector
    assert guard.satellite("alpha", 2).sector == guard.satellite("alpha", 0).sector
    assert end.satellite("alpha", 1).ammo == 0
    assert end.satellite("alpha", 1).sector == end.satellite("bravo", 0).sector
    assert not any(order.action == "guard" for orders in end.legal_orders("bravo").values() for order in orders)
    session = session_of("score")
    assert session.live.game.satellite("alpha", 0).sector != session.live.game.goals["alpha"]
    do(session)
    game = session.live.game
    assert game.satellite("alpha", 0).sector == game.goals["alpha"]
    session = session_of("end")
    do(session)
    assert session.live.game.winner == "alpha"
    assert Game(LESSON.config).config.board == load_config("geo_patrol").board
