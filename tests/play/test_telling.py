"""What a game tells: engagements in beats and as cards."""

import pytest

from geo_patrol.game.notation import Order, Outcome, SatelliteId
from geo_patrol.play.playback import (
    BEAT_SECONDS,
    DECISIVE_SECONDS,
    DRIFT_SECONDS,
    LOST_SECONDS,
    MAX_BEATS_SECONDS,
    MOVING_FRACTION,
    SETTLING_SECONDS,
    beat_seconds,
    phase_seconds,
)
from geo_patrol.play.telling import beats, cards
from tests.support.positions import shots


def alpha(number):
    return SatelliteId("alpha", number)


def bravo(number):
    return SatelliteId("bravo", number)


def guarding(guard, attacker, success=True):
    return Outcome("guard", attacker, guard, SatelliteId(guard.side, 0), 0.8, success)


def attack(action, attacker, target, success=True):
    return Outcome(action, attacker, None, target, 0.4, success)


OUTCOMES = (
    guarding(bravo(2), alpha(1)),
    guarding(bravo(2), alpha(3), success=False),
    guarding(bravo(5), None),
    guarding(bravo(4), alpha(3)),
    attack("shoot", alpha(1), bravo(2)),
    attack("shoot", bravo(1), alpha(7), success=False),
    attack("collide", alpha(3), bravo(4)),
    attack("collide", bravo(6), alpha(7)),
)
"""Two guards take an attack on bravo's HVA each, one has nothing to do; a shot and a collision at alpha's P7."""
ORDERS = (
    (Order.parse("P1 shoot HVA"), Order.parse("P3 collide HVA"), Order.parse("P4 collide P6")),
    (Order.parse("P1 shoot P7"), Order.parse("P6 collide P7"), Order.parse("P2 guard")),
)


def test_beats_are_guard_by_guard_then_shots_those_at_an_hva_one_by_one_then_collision_by_collision():
    told = [[(one.action, one.actor.number) for one in beat] for beat in beats(OUTCOMES)]
    assert told == [
        [("guard", 2), ("guard", 2)],
        [("guard", 4)],
        [("guard", 5)],
        [("shoot", 1)],
        [("shoot", 1)],
        [("collide", 3)],
        [("collide", 6)],
    ]


def test_attacks_stand_on_the_card_of_the_target_that_was_ordered():
    hva, patrol, rammer = cards(OUTCOMES, ORDERS)
    assert (hva.target, hva.result) == (bravo(0), "safe")
    assert [(one.attacker, one.result, one.guard) for one in hva.attacks] == [
        (alpha(1), "hit", bravo(2)),
        (alpha(3), "hit", bravo(4)),
    ]
    assert hva.note == "guards 2, 4, 5 drew 2 of 2 attacks"
    assert (patrol.target, patrol.result) == (alpha(7), "lost")
    assert [(one.attacker, one.action, one.result) for one in patrol.attacks] == [
        (bravo(1), "shoot", "miss"),
        (bravo(6), "collide", "hit"),
    ]
    assert (rammer.target, rammer.result) == (bravo(6), "lost")  # by its own collision
    assert [(one.attacker, one.probability, one.result) for one in rammer.attacks] == [(alpha(4), None, "void")]
    assert (patrol.note, rammer.note) == ("", "collided with 7")


def test_a_card_says_how_its_target_was_lost_if_no_attack_on_it_succeeded():
    missed, own = attack("shoot", alpha(2), bravo(6), success=False), attack("collide", bravo(6), alpha(4))
    hit = attack("shoot", alpha(3), bravo(6))
    (card,) = [card for card in cards((missed, own)) if card.target == bravo(6)]
    assert ([one.result for one in card.attacks], card.result, card.note) == (["miss"], "lost", "collided with 4")
    assert [card.note for card in cards((missed, hit, own))] == ["", ""]
    assert [card.note for card in cards((missed, own), resolved=1)] == ["", ""]


def test_results_are_told_beat_by_beat():
    assert [one.result for card in cards(OUTCOMES, ORDERS, 0) for one in card.attacks] == ["", "", "", "", ""]
    hva, patrol, _ = cards(OUTCOMES, ORDERS, 5)
    assert [(one.result, one.guard) for one in hva.attacks] == [("hit", bravo(2)), ("", bravo(4))]
    assert (hva.result, patrol.result) == ("", "")


def test_a_guarded_hva_that_nobody_attacked_comes_last():
    first, last = cards((guarding(alpha(1), None), attack("shoot", alpha(2), bravo(9))))
    assert first.target == bravo(9)
    assert (last.target, last.result, last.note) == (alpha(0), "safe", "guard 1: no attack")


def test_attacks_on_an_hva_are_slow_and_its_loss_the_slowest():
    skirmish = (guarding(bravo(5), None), attack("shoot", bravo(1), alpha(7)))
    assert beat_seconds(skirmish) == (BEAT_SECONDS, BEAT_SECONDS)
    missed, lost = attack("shoot", alpha(1), bravo(0), success=False), attack("collide", alpha(3), bravo(0))
    assert beat_seconds((*skirmish, missed, lost))[2:] == (DECISIVE_SECONDS, DECISIVE_SECONDS + LOST_SECONDS)
    assert sum(beat_seconds((missed,) * 40)) == pytest.approx(MAX_BEATS_SECONDS)
    snapshot = shots().snapshot(-1)
    playing = sum(beat_seconds(snapshot.outcomes)) + SETTLING_SECONDS
    assert phase_seconds(snapshot) == pytest.approx(playing / MOVING_FRACTION + DRIFT_SECONDS)
