"""The rules chapter by chapter, in constructed positions.

On the four-ring board alpha's goal sector is 15 (next to it 16, 30 and 7), bravo's is 23 (next to it 22, 24 and 11).
"""

from collections import Counter

import pytest

from geo_patrol import Game, Games, OrderError, geo_patrol_v0
from geo_patrol.base.board import prograde
from tests.support.positions import arrange
from tests.support.strategies import small

ALWAYS = {"shoot": [1, 1], "collide": [1, 1], "guard": [1, 1]}
NEVER = {"shoot": [0, 0], "collide": [0, 0], "guard": [0, 0]}
HVAS = {"alpha": {0: 15}, "bravo": {0: 23}}


def satellite_values(game, side, field):
    return [getattr(satellite, field) for satellite in game.satellites(side)]


def texts(outcomes):
    return [str(outcome) for outcome in outcomes]


def reasons(game):
    return {str(reason) for reason in game.reasons}


def frequencies(game, view, times=1500, **orders):
    """Return the frequency of each value after a phase, over forks with different random streams."""
    seen = Counter()
    for seed in range(times):
        fork = game.fork(seed)
        fork.step(**orders)
        seen[view(fork)] += 1
    return {value: count / times for value, count in seen.items()}


# Setup


def test_setup_of_geo_patrol():
    game = Game("geo_patrol", seed=1)
    assert satellite_values(game, "alpha", "sector") == [15, 29, 29, 30, 30, 15, 15, 16, 16, 17, 17]
    assert satellite_values(game, "bravo", "sector") == [23, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25]
    assert satellite_values(game, "alpha", "fuel") == [100] * 11
    assert satellite_values(game, "bravo", "ammo") == [0] + [1] * 10
    assert game.goals == {"alpha": 15, "bravo": 23}
    assert game.scores == {"alpha": 200, "bravo": 200}


@pytest.mark.parametrize("preset", ["od2d", "king_of_the_hill"])
def test_setup_on_five_rings(preset):
    game = Game(preset, seed=1)
    assert satellite_values(game, "alpha", "sector") == [15, 29, 30, 30, 30, 15, 15, 16, 16, 16, 17]
    assert game.config.board.outer_ring == 5


@pytest.mark.parametrize(("case", "alpha", "bravo"), [("case1", 10, 8), ("case3", 10, 7), ("case5", 10, 4)])
def test_setup_of_unequal_fleets(case, alpha, bravo):
    game = Game(case, seed=1)
    assert (len(game.satellites("alpha")), len(game.satellites("bravo"))) == (alpha + 1, bravo + 1)
    assert game.scores == {"alpha": 200, "bravo": 200}


def test_count_takes_the_patrols_nearest_to_the_goal():
    config = small(patrols={"formation": [[-2, 2], [1, 1], [-1, 1], [0, 1]], "count": 3})
    assert satellite_values(Game(config, seed=1), "alpha", "sector") == [15, 16, 30, 15]


def test_count_above_the_formation_fills_the_places_with_the_fewest_patrols():
    eight = satellite_values(Game("case2", seed=1), "bravo", "sector")
    ten = Game("case2", overrides={"bravo.patrols.count": 10}, seed=1)
    # The two places with one are two sectors retrograde and two prograde.
    assert satellite_values(ten, "bravo", "sector") == [*eight, 21, 25]
    assert ten.scores["bravo"] == 200  # a full fleet is worth 100 points, whatever its size


def test_count_above_the_formation_prefers_the_nearest_place():
    config = small(patrols={"formation": [[-2, 1], [1, 1], [-1, 1]], "count": 6})
    assert satellite_values(Game(config, seed=1), "alpha", "sector") == [15, 29, 16, 30, 16, 30, 29]


def test_sampled_count_gives_the_fleet_of_that_count():
    counts = set()
    for sampled in Games("case2", 60, seed=1, overrides={"bravo.patrols.count": {"low": 1, "high": 10}}):
        fleet = satellite_values(sampled, "bravo", "sector")
        alone = Game("case2", overrides={"bravo.patrols.count": len(fleet) - 1}, seed=1)
        assert fleet == satellite_values(alone, "bravo", "sector")
        counts.add(len(fleet) - 1)
    assert counts == set(range(1, 11))


def test_single_patrols_have_fuel_and_rounds_of_their_own():
    config = small(patrols={"fuel": 60, "ammo": 1, "single": {"2": {"fuel": 90}, "4": {"ammo": 3}, "5": {"fuel": 1}}})
    game = Game(config, seed=1)
    assert satellite_values(game, "alpha", "fuel") == [100, 60, 90, 60, 60]
    assert satellite_values(game, "alpha", "ammo") == [0, 1, 1, 1, 3]
    game.step(alpha=["P2 prograde"])
    assert game.satellite("alpha", 2).fuel == 85


def test_the_automatic_weight_makes_a_fleet_of_single_patrols_worth_100_points():
    single = {"1": {"fuel": 180}, "2": {"fuel": 10}, "3": {"fuel": 9_000}}  # the third is not in the fleet
    game = Game(small(2, patrols={"fuel": 60, "single": single}), seed=1)
    assert game.scores == {"alpha": 200, "bravo": 200}
    game.step(alpha=["P1 prograde", "P2 prograde"], bravo=[])
    game.step()
    fuel = sum(satellite_values(game.fork(0), "alpha", "fuel")[1:])
    assert fuel == 190 - 2 * 5 - 2 * 1
    assert game.scores["alpha"] - game.goal_points["alpha"] == 100 + int(100 * 180 / 190)  # scored before the drift


# Movement


def test_each_side_pays_its_own_costs_of_moving():
    game = Game(small(bravo={"costs": {"prograde": 7, "radial_in": 12}}), seed=1)
    game.step(alpha=["P1 prograde", "P2 radial_in"], bravo=["P1 prograde", "P2 radial_in"])
    assert satellite_values(game, "alpha", "fuel")[:4] == [100, 95, 90, 100]
    assert satellite_values(game, "bravo", "fuel")[:4] == [100, 93, 88, 100]


@pytest.mark.parametrize(
    ("move", "cost", "sector"),
    [("noop", 0, 8), ("prograde", 5, 9), ("retrograde", 5, 7), ("radial_in", 10, 3), ("radial_out", 10, 17)],
)
def test_movement_costs_and_destinations(move, cost, sector):
    game = arrange(small(), {0: 15, 1: (8, 60)}, HVAS["bravo"], phase="movement")
    game.step(alpha=f"P1 {move}")
    patrol = game.satellite("alpha", 1)
    assert (patrol.sector, patrol.fuel) == (sector, 60 - cost)
    assert game.phase == "engagement"


@pytest.mark.parametrize(("sector", "move"), [(1, "radial_in"), (2, "radial_in"), (15, "radial_out")])
def test_movement_off_the_board_is_illegal(sector, move):
    game = arrange(small(), {0: 15, 1: sector}, HVAS["bravo"], phase="movement")
    with pytest.raises(OrderError, match="ring"):
        game.step(alpha=f"P1 {move}")


def test_movement_with_the_last_fuel_leaves_an_inactive_satellite_where_it_went():
    game = arrange(small(), {0: 15, 1: (8, 5)}, HVAS["bravo"], phase="movement")
    game.step(alpha="P1 prograde")
    patrol = game.satellite("alpha", 1)
    assert (patrol.sector, patrol.fuel, patrol.is_active, patrol.destroyed) == (9, 0, False, False)


def test_movement_that_cannot_be_paid_is_not_legal():
    game = arrange(small(), {0: 15, 1: (8, 9)}, HVAS["bravo"], phase="movement")
    assert [order.action for order in game.legal_orders("alpha")[1]] == ["noop", "prograde", "retrograde"]


def test_a_satellite_without_fuel_takes_no_orders_even_if_they_cost_nothing():
    free = {"prograde": 0, "retrograde": 0, "radial_in": 0, "radial_out": 0, "shoot": [0, 0], "collide": [0, 0]}
    config = small(costs=free)
    for phase in ("movement", "engagement"):
        game = arrange(config, {0: 15, 1: (17, 0)}, {0: 23, 1: 17}, phase=phase)
        assert [order.action for order in game.legal_orders("alpha")[1]] == ["noop"]
        assert len(game.legal_orders("bravo")[1]) == (4 if phase == "movement" else 1)


# Ranges, costs and odds of engagements


@pytest.mark.parametrize("preset", ["geo_patrol", "od2d", "king_of_the_hill"])
@pytest.mark.parametrize("where", ["same", "adjacent"])
@pytest.mark.parametrize("action", ["shoot", "collide", "guard"])
def test_engagement_costs_and_odds_by_range(preset, where, action):
    costs = {"shoot": (5, 7), "collide": (20, 30), "guard": (5, 10)}
    odds = {"shoot": (0.7, 0.3), "collide": (0.8, 0.4), "guard": (0.9, 0.5)} if preset == "od2d" else {}
    near = 0 if where == "same" else 1
    game = arrange(small(preset=preset), {0: 15, 1: (15, 100), 2: (16, 100)}, {0: 23, 1: (15, 80)})
    (outcome,) = game.step(alpha=f"P{1 + near} {action}{' P1' * (action != 'guard')}").outcomes
    assert outcome.probability == odds.get(action, (0.8, 0.4))[near]
    if not outcome.success or action == "shoot":
        assert game.satellite("alpha", 1 + near).fuel == 100 - costs[action][near] - 1


@pytest.mark.parametrize(("sector", "probability"), [(15, 0.8), (30, 0.4)])
def test_engagement_hits_with_the_frequency_of_the_odds(sector, probability):
    game = arrange(small(), {0: 15, 1: (15, 100)}, {0: 23, 1: sector})
    seen = frequencies(game, lambda played: played.satellite("bravo", 1).destroyed, alpha="P1 shoot P1")
    assert seen[True] == pytest.approx(probability, abs=0.05)


@pytest.mark.parametrize("sector", [14, 17, 8, 23])
def test_engagement_out_of_range_is_illegal(sector):
    game = arrange(small(), {0: 15, 1: (15, 100)}, {0: 23, 1: sector})
    with pytest.raises(OrderError, match="out of range"):
        game.step(alpha="P1 shoot P1")


@pytest.mark.parametrize("sector", [31, 32])
def test_engagement_reaches_both_sectors_radially_out(sector):
    game = arrange(small(preset="od2d"), {0: 15, 1: 15}, {0: 23, 1: sector})
    (outcome,) = game.step(alpha="P1 shoot P1").outcomes
    assert outcome.probability == 0.3


def test_engagement_range_is_measured_after_movement():
    game = arrange(small(), {0: 15, 1: (15, 100)}, {0: 23, 1: 17}, phase="movement")
    game.step(alpha="P1 prograde")
    (outcome,) = game.step(alpha="P1 shoot P1").outcomes
    assert outcome.probability == 0.4


def test_engagement_that_cannot_be_paid_is_not_legal():
    game = arrange(small(), {0: 15, 1: (15, 19), 2: (16, 6), 3: (16, 9)}, {0: 23, 1: 15})
    assert [str(order) for order in game.legal_orders("alpha")[1]] == ["P1 noop", "P1 shoot P1", "P1 guard"]
    assert [str(order) for order in game.legal_orders("alpha")[2]] == ["P2 noop"]
    assert [str(order) for order in game.legal_orders("alpha")[3]] == ["P3 noop", "P3 shoot P1"]


def test_engagement_needs_ammo_to_shoot_which_no_hva_has():
    game = arrange(small(), {0: 15, 1: (15, 100, 0)}, {0: 23, 1: 15})
    for shooter in ("P1", "HVA"):
        with pytest.raises(OrderError, match=f"{shooter} has no ammo"):
            game.step(alpha=f"{shooter} shoot P1")


def test_engagement_ammo_is_spent_hit_or_miss():
    for odds in (ALWAYS, NEVER):
        game = arrange(small(odds=odds, patrols={"ammo": 3}), {0: 15, 1: (15, 100, 3)}, {0: 23, 1: 15})
        game.step(alpha="P1 shoot P1")
        assert game.satellite("alpha", 1).ammo == 2
        assert game.satellite("bravo", 1).destroyed == (odds is ALWAYS)


def test_engagement_an_inactive_enemy_can_neither_be_attacked_nor_threaten_the_hva():
    game = arrange(small(), {0: 15, 1: 15}, {0: 23, 1: (15, 0)})
    for action in ("shoot", "collide"):
        with pytest.raises(OrderError, match="bravo:Patrol:1 is inactive"):
            game.step(alpha=f"P1 {action} P1")
    with pytest.raises(OrderError, match="no active enemy"):
        game.step(alpha="P1 guard")


def test_engagement_the_hva_can_neither_collide_nor_guard():
    game = arrange(small(hva={"ammo": 1}), {0: 15}, {0: 23, 1: 15})
    for order in ("HVA collide P1", "HVA guard"):
        with pytest.raises(OrderError, match="an HVA cannot"):
            game.step(alpha=order)


def test_engagement_an_hva_armed_by_the_configuration_shoots():
    game = arrange(small(hva={"ammo": 1}, odds=ALWAYS), {0: (15, 100, 1)}, {0: 23, 1: 15})
    game.step(alpha="HVA shoot P1")
    assert game.satellite("bravo", 1).destroyed
    assert game.satellite("alpha", 0).ammo == 0


# Guards in engagements


def test_guard_odds_halve_with_each_further_attack():
    game = arrange(small(odds={**NEVER, "guard": [0.8, 0.4]}), {0: 15, 1: 15}, {0: 23, 1: 15, 2: 15, 3: 16})
    outcomes = game.step(alpha="P1 guard", bravo="P1 shoot HVA; P2 collide HVA; P3 shoot HVA").outcomes
    guards = [outcome for outcome in outcomes if outcome.action == "guard"]
    assert [outcome.probability for outcome in guards] == [0.8, 0.4, 0.2]
    assert {outcome.attacker.number for outcome in guards} == {1, 2, 3}


def test_guard_intercepts_with_the_frequency_of_the_odds_in_any_order():
    config = small(odds={"shoot": [1, 1], "collide": [1, 1], "guard": [1, 1]})
    game = arrange(config, {0: 15, 1: 15}, {0: 23, 1: 15, 2: 15, 3: 15})
    orders = {"alpha": "P1 guard", "bravo": "P1 shoot HVA; P2 shoot HVA; P3 shoot HVA"}
    saved = frequencies(game, lambda played: not played.satellite("alpha", 0).destroyed, **orders)
    assert saved[True] == pytest.approx(1 / 8, abs=0.035)
    first = frequencies(game, lambda played: played.outcomes[0].attacker.number, **orders)
    assert first == pytest.approx(dict.fromkeys((1, 2, 3), 1 / 3), abs=0.05)


def test_guard_with_nothing_to_intercept_has_one_outcome_and_moves_anyway():
    game = arrange(small(), {0: 15, 1: (16, 50)}, {0: 23, 1: 15})
    assert texts(game.step(alpha="P1 guard").outcomes) == ["alpha:Patrol:1 guard: no attacker"]
    assert (game.satellite("alpha", 1).sector, game.satellite("alpha", 1).fuel) == (16, 39)  # 15, drifted


def test_guard_ignores_attacks_on_others():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15, 2: 15}, {0: 23, 1: 15})
    game.step(alpha="P1 guard", bravo="P1 shoot P2")
    assert texts(game.outcomes)[0] == "alpha:Patrol:1 guard: no attacker"
    assert game.satellite("alpha", 2).destroyed


def test_guard_sees_only_what_earlier_guards_left():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15, 2: 15}, {0: 23, 1: 15})
    outcomes = game.step(alpha="P1 guard; P2 guard", bravo="P1 shoot HVA").outcomes
    assert [outcome.action for outcome in outcomes] == ["guard", "guard", "shoot"]
    assert outcomes[0].success
    assert outcomes[1].attacker is None
    assert not outcomes[1].success
    assert outcomes[2].target == outcomes[0].guardian


def test_guards_of_both_sides_come_in_uniformly_random_order():
    game = arrange(small(odds=NEVER), {0: 15, 1: 15, 2: 15}, {0: 16, 1: 16})
    orders = {"alpha": "P1 guard; P2 guard", "bravo": "P1 guard"}
    first = frequencies(game, lambda played: str(played.outcomes[0].guardian), **orders)
    guards = ("alpha:Patrol:1", "alpha:Patrol:2", "bravo:Patrol:1")
    assert first == pytest.approx(dict.fromkeys(guards, 1 / 3), abs=0.05)


def test_guard_takes_the_redirected_attack_with_the_probability_it_had_against_the_hva():
    game = arrange(small(odds={"guard": [1, 1]}), {0: 15, 1: 16}, {0: 23, 1: 16})
    _, shot = game.step(alpha="P1 guard", bravo="P1 shoot HVA").outcomes
    assert str(shot.target) == "alpha:Patrol:1"
    assert shot.probability == 0.4  # attacker and guard stood in one sector, the HVA in the next


@pytest.mark.parametrize("odds", [ALWAYS, NEVER])
def test_guard_moves_to_its_hva_success_or_not(odds):
    game = arrange(small(odds={**NEVER, "guard": odds["guard"]}), {0: 15, 1: 30}, {0: 23, 1: 15})
    outcomes = game.step(alpha="P1 guard", bravo="P1 shoot HVA").outcomes
    assert outcomes[0].success == (odds is ALWAYS)
    assert game.satellite("alpha", 1).sector == game.satellite("alpha", 0).sector


# Shots and collisions in engagements


def test_shots_come_before_collisions_and_guards_before_both():
    game = arrange(small(odds=NEVER), {0: 15, 1: 15, 2: 15, 3: 15}, {0: 23, 1: 15, 2: 15})
    outcomes = game.step(alpha="P1 collide P1; P2 shoot P1; P3 guard", bravo="P1 collide HVA; P2 shoot HVA").outcomes
    assert [outcome.action for outcome in outcomes] == ["guard"] * 2 + ["shoot"] * 2 + ["collide"] * 2


def test_shots_are_simultaneous_so_that_both_may_fall():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15}, {0: 23, 1: 15})
    game.step(alpha="P1 shoot P1", bravo="P1 shoot P1")
    assert game.satellite("alpha", 1).destroyed
    assert game.satellite("bravo", 1).destroyed


def test_shots_at_one_target_all_count():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15, 2: 15}, {0: 23, 1: 15})
    assert len(game.step(alpha="P1 shoot P1; P2 shoot P1").outcomes) == 2
    assert satellite_values(game, "alpha", "ammo")[1:3] == [0, 0]


@pytest.mark.parametrize("odds", [ALWAYS, NEVER])
def test_collision_moves_the_attacker_hit_or_miss_and_destroys_both_or_none(odds):
    game = arrange(small(odds=odds), {0: 15, 1: 15}, {0: 23, 1: 16})
    game.step(alpha="P1 collide P1")
    assert game.satellite("alpha", 1).sector == 17  # 16, drifted
    assert game.satellite("bravo", 1).sector == 17
    hit = odds is ALWAYS
    assert (game.satellite("alpha", 1).destroyed, game.satellite("bravo", 1).destroyed) == (hit, hit)
    assert satellite_values(game, "alpha", "fuel")[1] == (0 if hit else 69)
    assert satellite_values(game, "bravo", "fuel")[1] == (0 if hit else 99)


@pytest.mark.parametrize("hit", ["attacker", "target"])
def test_collision_is_void_after_a_shot_destroyed_one_of_the_pair(hit):
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15, 2: 15}, {0: 23, 1: 16, 2: 16})
    if hit == "attacker":
        outcomes = game.step(alpha="P1 collide P1", bravo="P2 shoot P1").outcomes
    else:
        outcomes = game.step(alpha="P1 collide P1; P2 shoot P1").outcomes
    assert [outcome.action for outcome in outcomes] == ["shoot"]
    assert game.satellite("alpha", 1).sector == 16  # 15, drifted: it did not move
    assert game.satellite("alpha", 1).fuel == (0 if hit == "attacker" else 69)  # paid all the same


def test_collision_is_void_after_another_collision_took_one_of_the_pair():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15, 2: 15}, {0: 23, 1: 16})
    (outcome,) = game.step(alpha="P1 collide P1; P2 collide P1").outcomes
    void = 3 - outcome.attacker.number
    assert game.satellite("alpha", void).fuel == 69
    assert not game.satellite("alpha", void).destroyed


def test_collisions_come_in_uniformly_random_order():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 15, 2: 15}, {0: 23, 1: 16})
    first = frequencies(game, lambda played: played.outcomes[0].attacker.number, alpha="P1 collide P1; P2 collide P1")
    assert first == pytest.approx({1: 0.5, 2: 0.5}, abs=0.05)


def test_collision_redirected_to_a_guard_ends_in_the_sector_of_the_hva():
    game = arrange(small(odds={**NEVER, "guard": [1, 1]}), {0: 15, 1: 16}, {0: 23, 1: 16})
    outcomes = game.step(alpha="P1 guard", bravo="P1 collide HVA").outcomes
    assert str(outcomes[1].target) == "alpha:Patrol:1"
    assert game.satellite("bravo", 1).sector == 16  # 15, drifted


def test_collisions_of_two_with_each_other_are_resolved_one_after_the_other():
    game = arrange(small(odds=NEVER), {0: 15, 1: 15}, {0: 23, 1: 16})
    outcomes = game.step(alpha="P1 collide P1", bravo="P1 collide P1").outcomes
    assert [outcome.probability for outcome in outcomes] == [0, 0]


# Drift and score


def test_drift_moves_everything_one_sector_prograde_destroyed_satellites_too():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 30, 2: (14, 0)}, {0: 23, 1: 30, 2: 2})
    before = {side: satellite_values(game, side, "sector") for side in ("alpha", "bravo")}
    game.step(alpha="P1 shoot P1")
    for side in ("alpha", "bravo"):
        assert satellite_values(game, side, "sector") == [prograde(sector) for sector in before[side]]
    assert game.satellite("bravo", 1).destroyed
    assert game.goals == {"alpha": 16, "bravo": 24}
    assert (game.turn, game.phase) == (2, "movement")


def test_drift_station_keeping_never_takes_fuel_below_zero():
    game = arrange(small(costs={"station_keeping": 5}), {0: 15, 1: (8, 3), 2: (8, 5), 3: (8, 6)}, HVAS["bravo"])
    game.step()
    assert satellite_values(game, "alpha", "fuel") == [95, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("sector", "points"), [(15, 10), (16, 3), (30, 3), (7, 3), (17, 0), (14, 0), (31, 3), (32, 3), (33, 0)]
)
def test_drift_goal_points(sector, points):
    game = arrange(small(preset="king_of_the_hill"), {0: sector}, HVAS["bravo"])
    game.step()
    assert game.goal_points == {"alpha": points, "bravo": 10}


def test_drift_scores_fuel_from_before_station_keeping():
    game = arrange(small(2), {0: (15, 80), 1: (15, 50), 2: (15, 25)}, HVAS["bravo"])
    game.step()
    assert game.scores["alpha"] == 10 + 80 + 37  # 75 of 200 fuel are worth 37.5
    assert game.scores["bravo"] == 110


def test_drift_scores_published_defense_points():
    game = Game("case1", seed=1)
    game.step()
    game.step()
    assert game.goal_points == {"alpha": 10, "bravo": 12}


# End of the game


def test_end_by_the_loss_of_an_hva_is_decided_by_points():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 23}, {0: 23, 1: 23, 2: 23}, goal_points=[0, 200])
    game.step(alpha="P1 shoot HVA")
    assert reasons(game) == {"hva_destroyed (bravo)"}
    assert game.scores == {"alpha": 133, "bravo": 250}
    assert game.winner == "bravo"
    assert (game.phase, game.is_over, game.turn) == ("drift", True, 1)


def test_end_by_an_hva_that_spent_its_fuel():
    game = arrange(small(), {0: (16, 5)}, HVAS["bravo"], phase="movement")
    game.step(alpha="HVA retrograde")
    assert not game.is_over
    game.step()
    assert reasons(game) == {"hva_out_of_fuel (alpha)"}
    assert game.goal_points["alpha"] == 0


def test_end_by_win_score():
    game = arrange(small(), HVAS["alpha"], {0: (23, 99)}, goal_points=[240, 240])
    game.step()
    assert reasons(game) == {"win_score (alpha)"}
    assert game.winner == "alpha"


@pytest.mark.parametrize("goal_points", [239, 240])
def test_end_win_score_must_be_reached(goal_points):
    game = arrange(small(), HVAS["alpha"], {0: 17}, goal_points=[goal_points, 0])
    game.step()
    assert game.is_over == (goal_points == 240)


def test_end_for_several_reasons_at_once():
    game = arrange(small(odds=ALWAYS), {0: 15, 1: 23}, {0: 23, 1: 15, 2: 15}, turn=49, goal_points=[400, 0])
    game.step(alpha="P1 shoot HVA", bravo="P1 shoot HVA")
    assert reasons(game) == {"hva_destroyed (alpha)", "hva_destroyed (bravo)", "win_score (alpha)", "turn_limit"}
    assert game.winner == "alpha"


def test_end_with_equal_points_is_a_draw():
    game = arrange(small(), HVAS["alpha"], HVAS["bravo"], turn=49)
    game.step()
    assert reasons(game) == {"turn_limit"}
    assert game.scores["alpha"] == game.scores["bravo"]
    assert game.winner is None


def test_end_is_final():
    game = arrange(small(), {0: 15, 1: 15}, {0: 23, 1: 15}, turn=49)
    game.step()
    with pytest.raises(OrderError, match="the game is over: turn_limit"):
        game.step()
    for side in ("alpha", "bravo"):
        assert game.action_mask(side).sum() == game.action_mask(side)[:, 0].sum() == 11


# Forfeits


def test_forfeit_costs_the_whole_score():
    env = geo_patrol_v0.parallel_env(config=small(top={"illegal_orders": "forfeit"}))
    env.reset(seed=1)
    _, rewards, terminations, _, infos = env.step({"alpha": [4] + [0] * 10, "bravo": [0] * 11})
    assert terminations == {"alpha": True, "bravo": True}
    assert rewards == {"alpha": -200.0, "bravo": 200.0}
    assert infos["alpha"]["illegal_orders"] == 1
    assert reasons(env.game()) == {"forfeit (alpha)"}
    assert env.game().winner == "bravo"


def test_forfeit_of_both_is_a_draw():
    env = geo_patrol_v0.parallel_env(config=small(top={"illegal_orders": "forfeit"}), reward="outcome")
    env.reset(seed=1)
    _, rewards, *_ = env.step({"alpha": [4] + [0] * 10, "bravo": [27] * 11})
    assert rewards == {"alpha": 0.0, "bravo": 0.0}
    assert reasons(env.game()) == {"forfeit (alpha)", "forfeit (bravo)"}
    assert env.game().winner is None


def test_who_forfeits_alone_loses_a_game_without_points_too():
    worthless = {"hva": {"weight": 0}, "patrols": {"weight": 0}}
    env = geo_patrol_v0.parallel_env(config=small(top={"illegal_orders": "forfeit"}, **worthless))
    env.reset(seed=1)
    env.step({"alpha": [0] * 11, "bravo": [27] * 11})
    assert env.game().scores == {"alpha": 0, "bravo": 0}
    assert env.game().winner == "alpha"


# Book and code


@pytest.mark.parametrize(("rules", "turns"), [("book", 50), ("code", 51)])
def test_book_and_code_turn_limit(rules, turns):
    game = Game(small(top={"rules": rules}, points={"goal": 0, "adjacent": 0}, costs={"station_keeping": 0}), seed=1)
    phases = 0
    while not game.is_over:
        game.step()
        phases += 1
    assert phases == 2 * turns
    assert game.turn == turns
    assert reasons(game) == {"turn_limit"}


@pytest.mark.parametrize(("rules", "is_over"), [("book", True), ("code", False)])
def test_book_and_code_hva_out_of_fuel_through_station_keeping(rules, is_over):
    game = arrange(small(top={"rules": rules}), {0: (15, 1)}, HVAS["bravo"])
    game.step()
    assert game.is_over == is_over
    assert game.goal_points["alpha"] == 10
    if not is_over:
        game.step()
        game.step()
    assert reasons(game) == {"hva_out_of_fuel (alpha)"}
    assert game.turn == (1 if is_over else 2)


@pytest.mark.parametrize(("rules", "points"), [("book", 0), ("code", 10)])
def test_book_and_code_goal_points_of_a_destroyed_hva(rules, points):
    game = arrange(small(odds=ALWAYS, top={"rules": rules}), HVAS["alpha"], {0: 23, 1: 15})
    game.step(bravo="P1 shoot HVA")
    assert reasons(game) == {"hva_destroyed (alpha)"}
    assert game.goal_points["alpha"] == points


@pytest.mark.parametrize(("rules", "points"), [("book", 0), ("code", 3)])
def test_book_and_code_goal_points_of_an_hva_that_spent_its_fuel(rules, points):
    game = arrange(small(top={"rules": rules}), {0: (17, 5)}, HVAS["bravo"], phase="movement")
    game.step(alpha="HVA retrograde")
    game.step()
    assert game.goal_points["alpha"] == points


@pytest.mark.parametrize("rules", ["book", "code"])
def test_book_and_code_engagement_paid_with_the_last_fuel(rules):
    game = arrange(small(odds=ALWAYS, top={"rules": rules}), {0: 15, 1: (15, 5)}, {0: 23, 1: 15})
    game.step(alpha="P1 shoot P1", bravo="P1 shoot P1")
    payer, enemy = game.satellite("alpha", 1), game.satellite("bravo", 1)
    assert payer.fuel == 0
    if rules == "book":
        assert (payer.destroyed, enemy.destroyed, payer.ammo, enemy.ammo) == (True, True, 0, 0)
    else:
        assert game.outcomes == ()
        assert (payer.destroyed, enemy.destroyed, payer.ammo, enemy.ammo) == (False, False, 1, 1)
        assert enemy.fuel == 94  # its own order, void as well, stays paid


@pytest.mark.parametrize(("rules", "saved"), [("book", True), ("code", False)])
def test_book_and_code_guard_paid_with_the_last_fuel(rules, saved):
    game = arrange(small(odds=ALWAYS, top={"rules": rules}), {0: 15, 1: (15, 5)}, {0: 23, 1: 15})
    game.step(alpha="P1 guard", bravo="P1 shoot HVA")
    assert game.satellite("alpha", 0).destroyed != saved
    assert game.satellite("alpha", 1).destroyed == saved


@pytest.mark.parametrize("rules", ["book", "code"])
def test_book_and_code_fuel_points_before_the_floor(rules):
    config = small(7, top={"rules": rules})  # a unit of fuel is worth a seventh
    lost = 0
    for fuel in range(1, 101):
        game = arrange(config, {0: 17, **dict.fromkeys(range(1, 8), (8, fuel))}, HVAS["bravo"])
        game.step()
        points = 100.0
        for _ in range(7):
            points += fuel * (100 / 700)
        assert game.scores["alpha"] == (100 + fuel if rules == "book" else int(points))
        lost += int(points) < 100 + fuel
    assert lost > 20


# The worked example of the books


def test_worked_example_of_the_books():
    game = Game("od2d", seed=1)
    game.step(
        alpha="P1 radial_in; P2 radial_in; P3 radial_in; P8 radial_in; P9 radial_in; P10 prograde",
        bravo=["P1 retrograde", "P2 radial in", "P3 radial in", "P7 radial in", "P8 radial in", "P10 prograde"],
    )
    assert game.step().outcomes == ()
    assert satellite_values(game, "alpha", "sector") == [16, 7, 7, 7, 15, 16, 16, 17, 8, 8, 19]
    assert satellite_values(game, "alpha", "fuel") == [99, 89, 89, 89, 99, 99, 99, 99, 89, 89, 94]
    assert satellite_values(game, "bravo", "sector") == [24, 21, 11, 11, 23, 24, 24, 12, 12, 25, 27]
    assert satellite_values(game, "bravo", "fuel") == [99, 94, 89, 89, 99, 99, 99, 89, 89, 99, 94]
    assert game.scores == {"alpha": 204, "bravo": 205}
    assert (game.turn, game.phase) == (2, "movement")


# Points for destroyed Patrols

PRIZES = {"alpha": {"points": {"patrol": 7}}, "bravo": {"points": {"patrol": 20}}}


def earned(game):
    """Return the points of the sides but for their fuel."""
    return game.goal_points["alpha"], game.goal_points["bravo"]


def test_a_destroyed_patrol_gives_points_to_its_enemy_once():
    config = small(odds=ALWAYS, points={"goal": 0, "adjacent": 0}, patrols={"ammo": 3}, **PRIZES)
    game = arrange(config, {0: 15, 1: 1, 2: 1}, {0: 23, 1: 1, 2: 1})
    game.step(alpha=["P1 shoot P1", "P2 shoot P1"])  # two hits, one Patrol
    assert earned(game) == (7, 0)
    assert Game.from_position(game.position, config).position == game.position


def test_a_collision_gives_points_to_both_sides():
    game = arrange(small(odds=ALWAYS, points={"goal": 0}, **PRIZES), {0: 15, 1: 1}, {0: 23, 1: 1})
    game.step(alpha=["P1 collide P1"])
    assert earned(game) == (7, 20)


def test_a_destroyed_hva_gives_no_points_for_a_patrol():
    game = arrange(small(odds=ALWAYS, points={"goal": 0, "adjacent": 0}, **PRIZES), {0: 15, 1: 11}, {0: 23})
    game.step(alpha=["P1 collide HVA"])
    assert game.satellite("bravo", 0).destroyed
    assert earned(game) == (0, 20)


def test_the_exact_distribution_counts_destroyed_patrols():
    config = small(odds={"shoot": [0.5, 0.5]}, points={"goal": 0, "adjacent": 0}, patrols={"ammo": 3}, **PRIZES)
    game = arrange(config, {0: 15, 1: 1}, {0: 23, 1: 1})
    distribution = game.outcome_distribution(alpha=["P1 shoot P1"])
    points = {one.goal_points["alpha"]: chance for one, chance in zip(*distribution, strict=True)}
    assert points == {0: 0.5, 7: 0.5}
