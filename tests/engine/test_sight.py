"""Hidden enemies: what a side sees, and that nothing it receives depends on what it cannot see."""

import json
from collections import deque

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from geo_patrol import Game, Games, OrderError, RecordingError, geo_patrol_v0, load_config
from geo_patrol.base.board import adjacent_sectors, are_within, retrograde, ring_of
from geo_patrol.base.sides import SIDES, enemy_of
from geo_patrol.engine.legal import sample_legal
from geo_patrol.engine.observe import NUM_SIGHT_FEATURES
from geo_patrol.engine.rng import stream_number
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.play.advice import hva_threat
from geo_patrol.play.text_game import legal_orders_text, observe_text, read_answer
from tests.support.positions import arrange
from tests.support.strategies import configs, play_on, random_orders, seeds, small

GAMMA = 0x9E3779B97F4A7C15
"""What a random stream advances by."""
FAR = 512
"""A range that reaches across every board."""
KNOWN = ("turn", "phase", "done", "reasons", "goal", "goal_points", "score", "sector", "fuel", "ammo", "destroyed")


def distances_from(sector, inner_ring, outer_ring):
    """Return the steps from a sector to all others by a breadth-first search."""
    steps, waiting = {sector: 0}, deque([sector])
    while waiting:
        here = waiting.popleft()
        for other in adjacent_sectors(here, outer_ring):
            if ring_of(other) >= inner_ring and other not in steps:
                steps[other] = steps[here] + 1
                waiting.append(other)
    return steps


@pytest.mark.parametrize(("inner_ring", "outer_ring"), [(1, 1), (1, 6), (2, 5), (3, 6), (6, 7)])
def test_steps_between_sectors_are_those_of_a_search(inner_ring, outer_ring):
    for sector in range((1 << inner_ring) - 1, (2 << outer_ring) - 1):
        for other, steps in distances_from(sector, inner_ring, outer_ring).items():
            assert [are_within(sector, other, steps + more, inner_ring) for more in (-1, 0, 1)] == [False, True, True]


def with_ranges(config, alpha, bravo):
    ranges = {"alpha.sensor_range": alpha, "bravo.sensor_range": bravo}
    return load_config(config, {key: reach for key, reach in ranges.items() if reach})


def seeing(reach, fleet, **tables):
    """Return ``geo_patrol`` with few Patrols and a sensor range of both sides."""
    return with_ranges(small(fleet, **tables), reach, reach)


# Who sees what


def test_enemies_within_the_range_are_seen():
    # 15 is the goal sector of alpha; 17 is two steps along the ring, 18 three.
    game = arrange(seeing(2, 2), {0: 15, 1: 15}, {0: 23, 1: 17, 2: 18}, phase="movement")
    assert game.seen_by("alpha").out_of_sight == {}  # both sides know where a game starts
    game.step()
    assert game.unseen("bravo") == (1, 0, 1)
    assert [str(one) for one in game.seen_by("alpha").out_of_sight] == ["bravo:HVA:0", "bravo:Patrol:2"]


def test_an_enemy_out_of_sight_is_where_it_would_have_drifted():
    game = arrange(seeing(1, 2), {0: 15, 1: 15}, {0: 23, 1: 17, 2: 19}, phase="movement")
    game.step(bravo="P1 prograde; P2 radial_in")
    game.step()
    seen = game.seen_by("alpha")
    assert [(one.sector, one.fuel) for one in seen.satellites("bravo")] == [(24, 99), (18, 99), (20, 99)]
    assert [(one.sector, one.fuel) for one in game.satellites("bravo")] == [(24, 99), (19, 94), (10, 89)]
    assert game.last_seen("bravo") == (1, 1, 1)
    assert seen.satellites("alpha") == game.satellites("alpha")


def test_a_satellite_without_fuel_sees_and_a_destroyed_one_does_not():
    config = seeing(1, 2, odds={"shoot": [1, 1]})
    game = arrange(config, {0: 15, 1: (19, 0), 2: 27}, {0: 23, 1: 20, 2: 28}, phase="movement")
    game.step()
    assert game.unseen("bravo") == (1, 0, 0)
    game.step(bravo="P2 shoot P2")
    # The Patrol that shot is known by its shot, in the turn before; the one beside the empty satellite is in sight.
    assert game.unseen("bravo") == (2, 0, 1)
    assert game.last_seen("bravo") == (1, 2, 1)


def test_what_was_destroyed_stays_known():
    config = seeing(1, 2, odds={"collide": [1, 1]})
    game = arrange(config, {0: 15, 1: 27}, {0: 23, 1: 28}, phase="engagement")
    game.step(alpha="P1 collide P1")
    for _ in range(4):
        assert game.unseen("bravo")[1] == 0
        assert game.seen_by("alpha").satellite("bravo", 1) == game.satellite("bravo", 1)
        game.step()


def test_one_side_may_see_everything():
    game = play_on(Game("geo_patrol", seed=3, overrides={"alpha.sensor_range": 1}), 9)
    assert not game.is_over
    assert game.seen_by("bravo").satellites("alpha") == game.satellites("alpha")
    assert game.seen_by("bravo").scores == game.scores
    assert any(game.unseen("bravo"))


def test_when_the_game_is_over_both_sides_know_everything():
    game = play_on(Game("geo_patrol", seed=5, overrides={"both.sensor_range": 1}), 200)
    assert game.is_over
    for side in SIDES:
        seen = game.seen_by(side)
        assert seen.out_of_sight == {}
        assert (seen.scores, seen.winner, seen.reasons) == (game.scores, game.winner, game.reasons)
        assert seen.position == game.position.model_copy(update={"illegal_orders": seen.position.illegal_orders})


@pytest.mark.slow
@given(configs(), seeds, st.integers(0, 2**32))
def test_a_range_across_the_board_hides_nothing(config, seed, choices):
    """Beliefs, scores and rewards are those of the game without sensor ranges, bit for bit."""
    plain, hidden = Games(config, 2, seed=seed), Games(with_ranges(config, FAR, FAR), 2, seed=seed)
    rng = np.random.default_rng(choices)
    for _ in range(40):
        for side in range(2):
            beliefs = hidden.sight.beliefs[side::2]
            for field in KNOWN:
                assert (beliefs[field] == plain.state.games[field]).all(), field
        for encoding in ("tokens", "onehot"):
            seen = hidden.observe(encoding)
            assert (seen[..., :-NUM_SIGHT_FEATURES] == plain.observe(encoding)).all()
            assert not seen[..., -NUM_SIGHT_FEATURES + 2 :].any()
        assert (hidden.action_masks() == plain.action_masks()).all()
        actions = sample_legal(plain.action_masks().reshape(4, SATELLITES, -1), rng).reshape(2, 2, SATELLITES)
        plain.step(actions)
        hidden.step(actions)


# Nothing leaks


class Onlooker:
    """Keeps what a side may know of a game, found by plain rules beside those of the engine."""

    def __init__(self, game, side, reach):
        self.side, self.reach, board = side, reach, game.config.board
        self.steps = {
            sector: distances_from(sector, board.inner_ring, board.outer_ring)
            for sector in range((1 << board.inner_ring) - 1, (2 << board.outer_ring) - 1)
        }

    def in_sight(self, game, *, turned_back=False):
        """Return the enemies in sight; ``turned_back``: before the drift that has just happened."""

        def sector_of(one):
            return int(retrograde(one.sector)) if turned_back else one.sector

        own = [one for one in game.satellites(self.side) if not one.destroyed]
        return {
            one.id.number
            for one in game.satellites(enemy_of(self.side))
            if any(self.steps[sector_of(other)].get(sector_of(one), FAR + 1) <= self.reach for other in own)
        }

    def report(self, phase, destroyed):
        """Return what a phase shows, as a value that can be compared, and the enemies that are known to be destroyed."""
        game, enemy = phase.after, enemy_of(self.side)
        if game.is_over:
            return ("over", game.key), destroyed
        before, now = self.in_sight(phase.before), self.in_sight(game)
        between = self.in_sight(game, turned_back=True) if phase.name == "engagement" else set()
        told = [
            one
            for one in phase.outcomes
            if one.attacker is not None or one.actor.side == self.side or one.actor.number in before | between | now
        ]
        involved = {
            one.number
            for outcome in told
            if outcome.attacker is not None
            for one in (outcome.attacker, outcome.guardian, outcome.target)
            if one is not None and one.side == enemy and not (outcome.guardian and one == outcome.target)
        }
        seen = now | between | involved | destroyed
        fleet = game.satellites(enemy)
        destroyed = destroyed | {number for number in seen if fleet[number].destroyed}
        watched = (before | destroyed) & (now | destroyed)
        watched |= {
            one.number for outcome in told for one in (outcome.actor, outcome.attacker) if one and one.side == enemy
        }
        orders = phase.orders[SIDES.index(enemy)]
        return (
            [(number, fleet[number].sector, fleet[number].fuel, fleet[number].ammo) for number in sorted(seen)],
            [number in now for number in sorted(seen)],
            game.satellites(self.side),
            told,
            [order for order in orders if order.satellite in watched],
        ), destroyed


def received(game, side, phase):
    """Return all that a side is given of a game, beside what an environment returns."""
    index, seen = SIDES.index(side), game.seen_by(side)
    known = phase.seen_by(side)
    texts = [
        observe_text(game, side, [phase]),
        observe_text(game, side),
        legal_orders_text(game, side),
        str(seen),
        repr(seen),
        seen.svg((640, 360)) if game.turn % 10 == 4 else "",
        *(
            read_answer(f"P1 {action} {target}", game, side).problems
            for action in ("shoot", "collide")
            for target in ("HVA", "P1", "P2")
        ),
        read_answer("P1 guard\nP2 radial_out\nP99 guard", game, side).problems,
    ]
    arrays = [
        game.as_games().observe("tokens")[0, index],
        game.as_games().observe("onehot")[0, index],
        game.action_mask(side),
        seen.action_mask(side),
        game.allowed_mask(side) if not game.hides_enemies else np.zeros(0),
    ]
    values = [
        json.dumps(seen.save()),
        seen.key,
        seen.satellites("alpha"),
        seen.satellites("bravo"),
        seen.scores,
        seen.outcomes,
        seen.out_of_sight,
        seen.is_over and seen.winner,
        known.orders,
        known.actions.tolist(),
        known.illegal_orders,
        known.outcomes,
        known.before.key,
        known.after.key,
    ]
    return texts, [array.tolist() for array in arrays], values


def of_side(returned, side):
    """Return what a step of the parallel environment has for a side."""
    observations, rewards, terminations, truncations, infos = returned
    observation = {name: array.tolist() for name, array in observations[side].items()}
    return observation, rewards[side], terminations[side], truncations[side], infos[side]


def change_unseen(env, other, side, unseen, rng):
    """Return legal actions for two environments that differ in orders of enemies that a side does not see."""
    actions = []
    for one in (env, other):
        masks = np.stack([one.action_masks(each) for each in SIDES])
        sampled = sample_legal(masks, rng)
        sampled[rng.random(sampled.shape) < 0.5] = NOOP
        actions.append(sampled)
    first, second = actions
    index, enemy = SIDES.index(side), 1 - SIDES.index(side)
    second[index] = first[index]
    seen = [number for number in range(SATELLITES) if number not in unseen]
    second[enemy, seen] = first[enemy, seen]
    return tuple(dict(zip(SIDES, one, strict=True)) for one in actions)


BOARDS = ("geo_patrol", "od2d", "case1", small(3, preset="od2d", odds={"shoot": [0.7, 0.3]}))


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.sampled_from(BOARDS),
    st.integers(1, 3),
    st.sampled_from(SIDES),
    st.integers(0, 2**20),
    st.sampled_from(["score", "outcome"]),
)
def test_nothing_that_a_side_receives_depends_on_what_it_cannot_see(board, reach, side, seed, reward):
    """Two games go on in which only enemies out of sight do other things: what a side receives stays the same.

    When the games begin to differ in something that it may know, the second one starts again from the first.
    """
    config = with_ranges(load_config(board), reach, reach)
    options = {"config": config, "reward": reward, "max_cycles": 60}
    env, twin = (geo_patrol_v0.parallel_env(**options) for _ in range(2))
    env.reset(seed=seed)
    twin.reset(seed=seed)
    onlooker, rng = Onlooker(env.game(), side, reach), np.random.default_rng(seed)
    destroyed = other_destroyed = frozenset()
    compared = differing = 0
    while env.agents:
        game, other = env.game(), twin.game()
        unseen = set(range(SATELLITES)) - onlooker.in_sight(game) - destroyed
        actions, others = change_unseen(env, twin, side, unseen, rng)
        returned, other_returned = env.step(actions), twin.step(others)
        phase, other_phase = (
            before.copy().step_actions(np.stack([codes[each] for each in SIDES]))
            for before, codes in ((game, actions), (other, others))
        )
        known, destroyed = onlooker.report(phase, destroyed)
        other_known, other_destroyed = onlooker.report(other_phase, other_destroyed)
        if known != other_known:
            twin.restore(env.save())
            other_destroyed = destroyed
            continue
        if phase.after.is_over:
            break
        assert of_side(returned, side) == of_side(other_returned, side)
        for mine, its in zip(
            received(phase.after, side, phase), received(other_phase.after, side, other_phase), strict=True
        ):
            assert mine == its
        compared += 1
        differing += phase.after.key != other_phase.after.key
    event("differing games" if differing else "equal games")


def test_the_test_of_leaks_compares_games_that_differ():
    """Most phases of the test above are of two games that are in different positions."""
    config = with_ranges(load_config("od2d"), 2, 2)
    game = Game(config, seed=1)
    onlooker, rng, differing = Onlooker(game, "alpha", 2), np.random.default_rng(0), 0
    for _ in range(20):
        orders = random_orders(game, rng)
        unseen = sorted(set(range(SATELLITES)) - onlooker.in_sight(game))
        twin = game.copy()
        changed = {**orders, "bravo": orders["bravo"].copy()}
        changed["bravo"][unseen] = NOOP
        phase, other = game.step(**orders), twin.step(**changed)
        same = onlooker.report(phase, frozenset())[0] == onlooker.report(other, frozenset())[0]
        differing += same and phase.after.key != other.after.key
    assert differing >= 5


# The view of a side


def test_a_view_can_be_played_on_and_saved():
    game = play_on(Game("geo_patrol", seed=2, overrides={"both.sensor_range": 2}), 8, seed=4)
    seen = game.seen_by("bravo")
    assert seen.is_same_position(game.seen_by("bravo"))
    assert (seen.action_mask("bravo") == game.action_mask("bravo")).all()
    assert play_on(seen.fork(1), 500).is_over
    restored = Game.restore(json.loads(json.dumps(seen.save())))
    assert restored.satellites("alpha") == seen.satellites("alpha")


def test_a_view_says_nothing_of_the_random_stream_or_of_what_the_other_side_sees():
    game = play_on(Game("geo_patrol", seed=2, overrides={"both.sensor_range": 2}), 8, seed=4)
    seen = game.seen_by("alpha")
    assert not seen.as_games().state.choices["stream"].any()
    assert seen.unseen("alpha") == (0,) * 11
    assert not any(seen.as_games().state.games[name][0] for name in ("rng_key", "rng_counter"))


def unmixed(number):
    """Return the number of which ``rng.mix`` made this one: it can be computed, as all that a stream holds."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        found = number
        for _ in range(64 // shift):
            found = number ^ found >> shift
        number = found * pow(factor, -1, 2**64) % 2**64
    return number


def numbers_of(value):
    """Return all whole numbers of plain data or of a game's arrays."""
    if isinstance(value, np.ndarray):
        return np.frombuffer(value.tobytes(), np.uint64, value.nbytes // 8).tolist()
    if isinstance(value, (dict, list, tuple)):
        return [
            number for part in (value.values() if isinstance(value, dict) else value) for number in numbers_of(part)
        ]
    return [value] if isinstance(value, int) else []


@pytest.mark.parametrize("config", ["geo_patrol", "generalization/train"])
def test_the_random_stream_cannot_be_computed_from_what_a_planner_gets(config):
    game = play_on(Game(config, seed=2, overrides={"both.sensor_range": 2}), 8, seed=4)
    key, used = (int(game.as_games().state.games[name][0]) for name in ("rng_key", "rng_counter"))
    drawn = int(stream_number(np.uint64(key), np.uint64(3)))
    assert unmixed(drawn) == (key + 4 * GAMMA) % 2**64

    def reveals(received):
        """Return whether one of the numbers in it is the key, or was drawn from the stream."""
        held = {*numbers_of(received.save()), *numbers_of(tuple(received.as_games().state))}
        return any({number, unmixed(number)} & {(key + i * GAMMA) % 2**64 for i in range(used + 1)} for number in held)

    assert reveals(game)
    for received in (game.seen_by("alpha"), game.fork(1), game.seen_by("alpha").fork(1), game.repeat(2).reseed(1)[0]):
        assert not reveals(received)


@pytest.mark.slow
@given(configs(), seeds, st.integers(1, 4), st.sampled_from(SIDES), st.integers(0, 30))
def test_a_view_has_the_sectors_in_sight(config, seed, reach, side, phases):
    game = play_on(Game(with_ranges(config, reach, None), seed=seed), phases)
    seen, board = game.seen_by(side), config.board
    if side == "bravo" or game.is_over:
        assert seen.sectors_in_sight is None
        return
    own = {one.sector for one in game.satellites(side) if not one.destroyed}
    steps = [distances_from(sector, board.inner_ring, board.outer_ring) for sector in own]
    assert seen.sectors_in_sight == {one for found in steps for one, distance in found.items() if distance <= reach}
    assert game.sectors_in_sight is None
    assert seen.copy().sectors_in_sight == seen.sectors_in_sight


def test_an_enemy_is_no_danger_where_it_is_seen_not_to_be():
    game = arrange(seeing(1, 2), {0: 15, 1: 27}, {0: 23, 1: 16, 2: 17}, phase="movement")
    assert [one.order.satellite for one in hva_threat(game.seen_by("alpha"), "alpha").attacks] == [1, 2]
    game.step(bravo="P1 prograde")
    seen = game.seen_by("alpha")
    assert (seen.satellite("bravo", 1).sector, game.satellite("bravo", 1).sector) == (16, 17)
    assert hva_threat(seen, "alpha") is None
    game.step()  # Patrol 2 was never seen to leave, and may come
    assert [one.order.satellite for one in hva_threat(game.seen_by("alpha"), "alpha").attacks] == [2]


def test_nobody_is_told_that_an_enemy_out_of_sight_has_no_fuel():
    game = arrange(seeing(1, 1), {0: 15, 1: 15}, {0: 23, 1: (24, 1)}, phase="movement")
    game.step()
    phase = game.step()
    assert phase.after.seen_by("alpha").satellite("bravo", 1).fuel == 0
    assert "lost" not in observe_text(game, "alpha", [phase])
    assert "lost: bravo P1 has no fuel left" in observe_text(game, "bravo", [phase])


def test_the_heading_marks_a_score_that_is_an_estimate():
    game = Game("geo_patrol_hidden", seed=1)
    game.step()
    assert str(game.seen_by("alpha")).startswith(
        "GEO Patrol, hidden enemies | turn 1, engagement | score alpha 200, bravo ~200"
    )
    assert "~" not in str(game).splitlines()[0]


def test_history_is_seen_by_a_side():
    game = Game("geo_patrol", seed=2, overrides={"both.sensor_range": 2}, keep_history=True)
    play_on(game, 8, seed=4)
    history = game.seen_by("alpha").history
    assert all(
        one.after.key == other.after.known_to("alpha").key for one, other in zip(history, game.history, strict=True)
    )
    assert sum(len(phase.orders[1]) for phase in history) < sum(len(phase.orders[1]) for phase in game.history)


def test_an_order_against_an_enemy_out_of_sight_says_when_it_was_seen():
    game = Game("geo_patrol", seed=2, overrides={"both.sensor_range": 1})
    game.step()
    with pytest.raises(OrderError, match="bravo:HVA:0 is out of sight; it was last seen in turn 1"):
        game.check_orders("alpha", "P1 shoot HVA")


def test_a_game_without_sensor_ranges_is_seen_as_it_is():
    game = Game("geo_patrol", seed=2)
    assert game.seen_by("alpha") is game
    assert game.unseen("bravo") == (0,) * 11


# Copies, batches and saves


def test_a_saved_game_keeps_what_the_sides_know():
    game = play_on(Game("case1", seed=7, overrides={"both.sensor_range": 2}), 11, seed=1)
    restored = Game.restore(json.loads(json.dumps(game.save())))
    assert restored == game
    play_on(game, 10, seed=2)
    play_on(restored, 10, seed=2)
    assert game.key == restored.key
    assert all(game.seen_by(side).key == restored.seen_by(side).key for side in SIDES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sector": [0] * 11}, r"known.0.sector.0 must be a sector of rings 1 to 4, got 0"),
        ({"fuel": [999] * 11}, r"known.0.fuel.0 must be at most 100, got 999"),
        ({"ammo": [0] * 10}, r"known.0.ammo must have 11 values, got 10"),
        ({"unseen": [99] * 11}, r"known.0.unseen.0 must be at most \d+, got 99"),
        ({"score": -1}, "known.0.score must be"),
    ],
)
def test_a_damaged_save_is_refused(change, message):
    saved = play_on(Game("geo_patrol", seed=7, overrides={"both.sensor_range": 2}), 7, seed=1).save()
    saved["known"][0] |= change
    with pytest.raises(RecordingError, match=message):
        Game.restore(saved)


def test_games_of_a_batch_are_those_of_single_games():
    games = Games("od2d", 4, seed=11, overrides={"both.sensor_range": 2})
    singles = [Game("od2d", seed=11 + i, overrides={"both.sensor_range": 2}) for i in range(4)]
    for _ in range(12):
        actions = games.sample_actions()
        games.step(actions)
        for game, codes in zip(singles, actions, strict=True):
            game.step_actions(codes)
    joined, chosen = Games.from_games(singles), games[[2, 0]]
    assert games.position_keys() == joined.position_keys() == [game.key for game in singles]
    assert (games.observe() == joined.observe()).all()
    assert chosen.position_keys() == [singles[2].key, singles[0].key]
    assert games[1].seen_by("alpha").key == singles[1].seen_by("alpha").key
    assert [game.key for game in (games.seen_by(1)[i] for i in range(4))] == [
        game.seen_by("bravo").key for game in singles
    ]


def test_the_hva_is_a_sensor_too():
    game = arrange(seeing(1, 1), {0: 15, 1: 19}, {0: 23, 1: 16}, phase="movement")
    game.step()
    assert game.unseen("bravo")[1] == 0


def test_both_sides_know_the_points_for_destroyed_patrols():
    config = load_config("geo_patrol_hidden", {"both.points.patrol": 6, "both.odds.collide": [1, 1]})
    game = arrange(config, {0: 15, 1: 1}, {0: 23, 1: 1})
    game.step(alpha=["P1 collide P1"])
    for side in SIDES:
        view = game.seen_by(side)
        assert view.goal_points == game.goal_points
        assert min(view.goal_points.values()) >= 6
