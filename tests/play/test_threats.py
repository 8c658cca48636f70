"""Threats to an HVA: exactly the attacks that the rules allow after what the enemy can do."""

import numpy as np
import pytest

from geo_patrol import Game, Order
from geo_patrol.play.advice import hva_threat, loss_probability
from tests.support.positions import arranged


def attackers(threat):
    return {} if threat is None else {one.order.satellite: one.probability for one in threat.attacks}


def test_nobody_reaches_an_hva_at_the_start():
    assert hva_threat(Game("geo_patrol", seed=1), "alpha") is None


def test_in_an_engagement_phase_the_attacks_are_the_legal_ones():
    bravo = {1: {"sector": 15}, 2: {"sector": 16}, 3: {"sector": 17}, 4: {"sector": 15, "fuel": 6, "ammo": 0}}
    threat = hva_threat(arranged(phase="engagement", bravo=bravo), "alpha")
    assert attackers(threat) == {1: 0.8, 2: 0.4}  # 3 is too far away, 4 can pay for nothing
    assert threat.probability == pytest.approx(1 - 0.2 * 0.6)
    assert threat.points == 100
    assert {guard.order.satellite: guard.cost for guard in threat.guards} == {3: 10, 4: 10, 5: 5, 6: 5, 7: 10, 8: 10}


def test_a_move_is_paid_before_the_attack():
    far = {"sector": 17, "fuel": 5 + 6}
    assert hva_threat(arranged(bravo={1: far}), "alpha") is None
    far["fuel"] += 1
    assert attackers(hva_threat(arranged(bravo={1: far}), "alpha")) == {1: 0.4}


def test_moving_the_hva_away_ends_the_threat():
    game = arranged(bravo={1: {"sector": 17}})
    assert attackers(hva_threat(game, "alpha")) == {1: 0.4}
    assert hva_threat(game, "alpha", (Order(0, "retrograde"),)) is None
    assert game.phase == "movement"


def test_the_probability_of_a_loss_counts_guards_and_is_that_of_the_exact_odds():
    bravo = {1: {"sector": 15}, 2: {"sector": 16}}
    game = arranged(phase="engagement", bravo=bravo)
    threat = hva_threat(game, "alpha")
    assert loss_probability(game, "alpha", (), threat) == pytest.approx(threat.probability, abs=0.03)
    guards = [Order(5, "guard"), Order(6, "guard")]
    attacks = [attack.order for attack in threat.attacks]
    games, probabilities = game.outcome_distribution(guards, attacks)
    exact = probabilities[games.destroyed[:, 0, 0] != 0].sum()
    assert loss_probability(game, "alpha", guards, threat) == pytest.approx(exact, abs=0.03)
    assert game.phase == "engagement"


def test_attacks_in_a_movement_phase_are_those_that_some_moves_of_the_enemy_make_legal():
    """Random moves of all enemies find no other attacks, and together they find all of them."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        sectors = rng.choice([3, 7, 8, 15, 16, 17, 18, 30, 29], 10)
        bravo = {
            number: {"sector": int(sector), "fuel": int(rng.integers(1, 30))}
            for number, sector in enumerate(sectors, start=1)
        }
        game = arranged(bravo=bravo)
        expected = attackers(hva_threat(game, "alpha"))
        found = {}
        legal = game.legal_orders("bravo")
        for _ in range(60):
            position = game.copy()
            position.step(bravo=[orders[rng.integers(len(orders))] for orders in legal.values()])
            for number, orders in position.legal_orders("bravo").items():
                for order in orders:
                    if order.target == 0:
                        odds = position.probability("bravo", order)
                        found[number] = max(found.get(number, 0.0), odds)
        assert found == expected
