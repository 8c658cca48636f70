"""Properties of every game on every board, with any orders."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from geo_patrol import Game, Order, SatelliteId, geo_patrol_v0, load_config
from geo_patrol.base.board import adjacent_sectors
from geo_patrol.base.sides import SIDES
from geo_patrol.engine import state
from geo_patrol.engine.engagement import pay_for_engagements
from geo_patrol.engine.turn import move_satellites
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.game.game import Games
from geo_patrol.game.notation import MOVES
from tests.support.positions import arrange
from tests.support.strategies import configs, games, mirrored, opposite, play_on, random_orders, seeds, small

few = settings(max_examples=15)
play_seeds = st.integers(0, 2**32)
odd_codes = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 40) | st.sampled_from([-(2**63), 2**63 - 1, 28, 2**32])


def expected_cost(game, side, order):
    """Return the fuel that an order costs by the rules, or None for an illegal one: an independent implementation."""
    config = game.config.side(side)
    own, enemy = game.satellites(side), game.satellites("bravo" if side == "alpha" else "alpha")
    satellite, hva = own[order.satellite], own[0]
    if order.action in MOVES:
        if game.phase != "movement":
            return None
        board = game.config.board
        if (order.action, satellite.ring) in (("radial_in", board.inner_ring), ("radial_out", board.outer_ring)):
            return None
        return getattr(config.costs, order.action)
    if game.phase != "engagement":
        return None

    def distance(one, other):
        return 0 if one == other else 1 if other in adjacent_sectors(one) else None

    target = hva if order.action == "guard" else enemy[order.target] if order.target < len(enemy) else None
    if target is None or (order.target is not None and target.fuel == 0):
        return None
    near = distance(satellite.sector, target.sector)
    threats = [foe for foe in enemy if foe.fuel > 0 and distance(hva.sector, foe.sector) is not None]
    if near is None or (order.action == "guard" and not threats):
        return None
    if (order.action == "shoot" and satellite.ammo == 0) or (order.action != "shoot" and order.satellite == 0):
        return None
    return getattr(config.costs, order.action)[near]


def engine(game):
    arrays = game.repeat(1, same_chance=True).state
    return arrays.games[0], arrays.rules[0]


def environment(game, kind=geo_patrol_v0.parallel_env, **arguments):
    """Return an environment that continues a game."""
    env = kind(config=game.config, **arguments)
    env.reset(seed=0)
    saved = env.save()
    state, difference = game.save(), game.scores["alpha"] - game.scores["bravo"]
    saved["games"] = [{name: state[name] for name in ("chance", "position", "known") if name in state}]
    saved["episodes"][0] |= {"score_difference": [difference, -difference], "is_over": int(game.is_over)}
    env.restore(saved)
    return env


def through_json(saved):
    return json.loads(json.dumps(saved))


# Legal orders


@pytest.mark.slow
@given(games())
def test_masks_and_costs_follow_the_rules(game):
    for side in SIDES:
        mask = game.action_mask(side)
        fleet = game.satellites(side)
        assert not mask[len(fleet) :, 1:].any()
        assert mask[:, state.NOOP].all()
        for satellite in fleet:
            for code in range(1, state.ORDERS):
                order = Order.from_code(satellite.id.number, code)
                cost = expected_cost(game, side, order)
                is_legal = not game.is_over and satellite.fuel > 0 and cost is not None and cost <= satellite.fuel
                assert bool(mask[satellite.id.number, code]) == is_legal, (side, str(order))
                assert game.is_legal(side, order) == is_legal


@pytest.mark.slow
@given(games(max_phases=12), play_seeds)
def test_legal_orders_are_accepted_and_charged_exactly(game, seed):
    assume(not game.is_over)
    orders = random_orders(game, np.random.default_rng(seed))
    record, rules = engine(game)
    codes, expected = np.array([orders["alpha"], orders["bravo"]]), record.fuel.copy()
    for index, number in np.argwhere(codes):
        expected[index, number] -= expected_cost(game, SIDES[index], Order.from_code(number, codes[index, number]))
    if game.phase == "movement":
        move_satellites(record, rules, codes)
    else:
        pay_for_engagements(record, rules, codes)
    assert np.array_equal(record.fuel, expected)
    played = environment(game)
    _, _, _, _, infos = played.step(orders)
    assert [infos[side]["illegal_orders"] for side in SIDES] == [0, 0]


@pytest.mark.slow
@given(games(), st.lists(st.lists(odd_codes, min_size=11, max_size=11), min_size=2, max_size=2))
def test_all_other_codes_count_as_illegal_and_become_noop(game, codes):
    assume(not game.is_over)
    env, expected = environment(game), game.copy()
    resolved, illegal = {}, {}
    for side, side_codes in zip(SIDES, codes, strict=True):
        mask = game.action_mask(side)
        legal = [0 <= code < state.ORDERS and bool(mask[number, code]) for number, code in enumerate(side_codes)]
        resolved[side] = np.where(legal, side_codes, 0)
        illegal[side] = legal.count(False)
    _, _, _, _, infos = env.step({side: np.array(numbers) for side, numbers in zip(SIDES, codes, strict=True)})
    expected.step(**resolved)
    assert {side: infos[side]["illegal_orders"] for side in SIDES} == illegal
    assert env.game() == expected


# Invariants of play


@pytest.mark.slow
@settings(max_examples=80)
@given(configs(), seeds, play_seeds)
def test_fuel_and_ammo_never_rise_and_satellites_stay_on_the_board(config, seed, play_seed):
    game = Game(config, seed=seed)
    generator = np.random.default_rng(play_seed)
    max_turns = config.turn_limit + (config.rules == "code")
    phases = 0
    while not game.is_over:
        before = engine(game)[0]
        game.step(**random_orders(game, generator))
        after = engine(game)[0]
        phases += 1
        assert ((after.fuel >= 0) & (after.fuel <= before.fuel)).all()
        assert ((after.ammo >= 0) & (after.ammo <= before.ammo)).all()
        assert (after.destroyed >= before.destroyed).all()
        assert not (after.fuel * after.destroyed).any()
        assert opposite(int(after.goal[0])) == after.goal[1]
        for side in SIDES:
            for satellite in game.satellites(side):
                assert config.board.inner_ring <= satellite.ring <= config.board.outer_ring
        assert len(game.outcomes) <= state.MAX_OUTCOMES
    assert game.turn <= max_turns
    assert phases <= 2 * max_turns
    assert game.reasons


@pytest.mark.slow
@given(games(max_phases=15))
def test_score_is_goal_points_and_fuel_points(game):
    if game.phase == "movement":
        game.step()
    before = {side: (game.satellites(side), game.goals[side], game.goal_points[side]) for side in SIDES}
    assume(not game.is_over and game.config.rules == "book")
    game.step()
    for side in SIDES:
        fleet, goal, points = before[side]
        config = game.config.side(side)
        near = fleet[0].sector in adjacent_sectors(goal)
        earned = config.points.goal if fleet[0].sector == goal else config.points.adjacent if near else 0
        points += earned if fleet[0].fuel else 0
        enemy = "bravo" if side == "alpha" else "alpha"
        lost = [
            now.destroyed and not then.destroyed
            for then, now in zip(before[enemy][0], game.satellites(enemy), strict=True)
        ]
        points += config.points.patrol * sum(lost[1:])
        assert game.goal_points[side] == points
        weight = config.patrols.weight
        if weight == "auto":
            weight = 100 / sum(satellite.fuel for satellite in Game(game.config, seed=0).satellites(side)[1:])
        fuel = config.hva.weight * fleet[0].fuel + weight * sum(satellite.fuel for satellite in fleet[1:])
        assert game.scores[side] in {points + int(fuel - 1e-3), points + int(fuel + 1e-3)}


# Symmetry


@given(games(configs(symmetric=True)))
def test_mirrored_games_give_the_same_observations(game):
    twin = Game.restore(mirrored(game.save()))
    for mine, theirs in (SIDES, SIDES[::-1]):
        assert np.array_equal(game.action_mask(mine), twin.action_mask(theirs))
        for encoding in ("onehot", "tokens"):
            assert np.array_equal(game.observation(mine, encoding), twin.observation(theirs, encoding))


@st.composite
def deterministic_symmetric_configs(draw):
    """Sample symmetric configurations that are random only in the order of collisions: shots all hit or all miss, all else fails."""
    values = draw(configs(symmetric=True)).to_dict()
    hit = draw(st.sampled_from([0, 1]))
    for side in SIDES:
        values[side]["odds"] = {"shoot": [hit, hit], "collide": [0, 0], "guard": [0, 0]}
    return load_config(values)


def without_collisions(codes):
    return np.where((codes >= state.COLLIDE) & (codes < state.GUARD), state.NOOP, codes)


@pytest.mark.slow
@given(games(deterministic_symmetric_configs(), max_phases=10), play_seeds)
def test_mirrored_games_play_the_same(game, seed):
    assume(not game.is_over)
    env, twin = environment(game), environment(Game.restore(mirrored(game.save())))
    generator = np.random.default_rng(seed)
    while env.agents:
        orders = {side: without_collisions(codes) for side, codes in random_orders(env.game(), generator).items()}
        step = env.step(orders)
        twin_step = twin.step({"alpha": orders["bravo"], "bravo": orders["alpha"]})
        for mine, theirs in (SIDES, SIDES[::-1]):
            assert np.array_equal(step[0][mine]["observation"], twin_step[0][theirs]["observation"])
            assert np.array_equal(step[0][mine]["action_mask"], twin_step[0][theirs]["action_mask"])
            assert step[1][mine] == twin_step[1][theirs]
    assert twin.agents == []


# Rewards


@given(configs(), seeds)
def test_rewards_add_up_to_the_final_score_difference(config, seed):
    env = geo_patrol_v0.parallel_env(config=config)
    env.reset(seed=seed)
    totals = {"alpha": 0.0, "bravo": 0.0}
    while env.agents:
        _, rewards, *_ = env.step(env.sample_actions())
        assert rewards["alpha"] == -rewards["bravo"]
        assert all(type(reward) is float for reward in rewards.values())
        totals = {side: totals[side] + rewards[side] for side in SIDES}
    scores = env.game().scores
    assert totals["alpha"] == scores["alpha"] - scores["bravo"]


@pytest.mark.slow
@given(configs(), seeds)
def test_outcome_rewards_follow_from_the_winner(config, seed):
    env = geo_patrol_v0.parallel_env(config=config, reward="outcome")
    env.reset(seed=seed)
    earlier, last = [], {}
    while env.agents:
        earlier += last.values()
        _, last, *_ = env.step(env.sample_actions())
    assert not any(earlier)
    assert last["alpha"] == {"alpha": 1.0, "bravo": -1.0, None: 0.0}[env.game().winner]
    assert last["bravo"] == -last["alpha"]


# Saving, copies, seeds


@pytest.mark.slow
@given(games(), play_seeds)
def test_saved_games_continue_identically(game, seed):
    twin = Game.restore(through_json(game.save()))
    assert twin == game
    assert twin.save() == game.save()
    assert play_on(twin, 30, seed) == play_on(game, 30, seed)
    assert twin.save() == game.save()


def roll_out(env, steps):
    """Continue an environment with its own sampled orders; return all that it returns."""
    returned = []
    for _ in range(steps):
        if isinstance(env, SoloGeoPatrol):
            with contextlib.suppress(RuntimeError):  # the episode is over
                returned.append(env.step(env.sample_action()))
        elif hasattr(env, "agent_selection"):
            if env.agents:
                agent = env.agent_selection
                dead = env.terminations[agent] or env.truncations[agent]
                env.step(None if dead else env.sample_actions()[agent])
                returned.append((dict(env.rewards), dict(env.terminations), dict(env.infos), env.agents[:]))
        else:
            returned.append(env.step(env.sample_actions()) if env.agents else None)
    return repr(returned), env.save()


@pytest.mark.parametrize(
    "make",
    [
        geo_patrol_v0.parallel_env,
        geo_patrol_v0.raw_env,
        geo_patrol_v0.env,
        SoloGeoPatrol,
        lambda **arguments: SoloGeoPatrol(seat="random", opponent="random", reward="outcome", **arguments),
        lambda **arguments: geo_patrol_v0.parallel_env(max_cycles=9, **arguments),
    ],
    ids=["parallel", "raw_env", "env", "solo", "solo with a random seat", "truncated"],
)
@few
@given(config=configs(), seed=st.integers(0, 2**31), steps=st.integers(0, 21))
def test_saved_environments_continue_identically(make, config, seed, steps):
    env, twin = make(config=config), make(config=config)
    env.reset(seed=seed)
    roll_out(env, steps)
    saved = through_json(env.save())
    twin.restore(saved)
    assert through_json(twin.save()) == saved
    assert roll_out(twin, 20) == roll_out(env, 20)


def test_aec_environment_is_saved_between_alpha_and_bravo():
    env, twin = geo_patrol_v0.env(), geo_patrol_v0.env()
    env.reset(seed=5)
    env.step(np.array([1] * 11))
    twin.restore(through_json(env.save()))
    assert twin.agent_selection == "bravo"
    for board in (env, twin):
        board.step(np.array([2] * 11))
    assert twin.save() == env.save()
    assert env.unwrapped.game().satellite("alpha", 3).fuel == 95


@pytest.mark.slow
@given(games(max_phases=20), play_seeds)
def test_copies_continue_identically_and_are_independent(game, seed):
    before = game.save()
    copy = play_on(game.copy(), 20, seed)
    assert game.save() == before
    assert play_on(game, 20, seed) == copy


@pytest.mark.slow
@given(games(max_phases=20), seeds)
def test_forks_do_not_reveal_the_random_stream_of_the_game(game, seed):
    real, forked = game.save()["chance"], game.fork(seed).save()["chance"]
    assert real["key"] not in forked.values()
    for key in forked.values():
        guess = game.fork(seed).save()
        guess["chance"] |= {"key": key, "counter": real["counter"]}
        assert Game.restore(guess) != game


def test_forks_keep_no_number_of_the_random_stream():
    """The first number of the stream is the key of the setup, from which the whole stream can be computed."""
    assert Game("geo_patrol", seed=1).fork(3).save() == Game("geo_patrol", seed=2).fork(3).save()


def test_the_history_of_a_fork_does_not_reveal_the_random_stream_of_the_game():
    game = play_on(Game("geo_patrol", seed=1, keep_history=True), 6)
    fork = game.fork(3)
    past = [one for phase in fork.history for one in (phase.before, phase.after)]
    past += [phase.before for one in past for phase in one.history]
    assert game.save()["chance"]["key"] not in [number for one in past for number in one.save()["chance"].values()]
    assert [phase.orders for phase in fork.history] == [phase.orders for phase in game.history]
    assert all(one.after.is_same_position(other.after) for one, other in zip(fork.history, game.history, strict=True))
    assert fork.history[-1].after == fork


@given(games(max_phases=20), seeds)
def test_forks_have_the_same_position_and_another_random_stream(game, seed):
    fork = game.fork(seed + 2**63)
    assert fork.is_same_position(game)
    assert fork.fork(seed + 2**63) == fork
    assert fork != game
    assert game.fork() != game.fork()


def test_forks_have_independent_outcomes():
    game = arrange(small(odds={"shoot": [0.5, 0.5]}), {0: 15, 1: 15, 2: 15, 3: 15}, {0: 23, 1: 15, 2: 15, 3: 15})
    orders = {"alpha": "P1 shoot P1; P2 shoot P2; P3 shoot P3", "bravo": "P1 shoot P1; P2 shoot P2; P3 shoot P3"}

    def hits(board):
        return tuple(outcome.success for outcome in board.step(**orders).outcomes)

    futures = {hits(game.fork()) for _ in range(600)}
    assert len(futures) > 55  # of 64, equally likely
    assert len({hits(game.copy()) for _ in range(20)}) == 1
    agreement = np.mean([np.array(hits(game.fork(seed))) == np.array(hits(game.copy())) for seed in range(400)])
    assert agreement == pytest.approx(0.5, abs=0.05)


@given(configs(), st.sampled_from([1, 7, 64]), seeds, st.sampled_from(["onehot", "tokens"]))
@few
def test_games_of_a_batch_are_bit_for_bit_single_games(config, count, seed, encoding):
    compare_batch(config, count, seed, encoding)


def test_randomized_games_of_a_batch_are_bit_for_bit_single_games():
    sampled = {"both.patrols.fuel": {"low": 40, "high": 100}, "both.odds.shoot": [{"low": 0, "high": 1}, 0.5]}
    compare_batch(load_config("geo_patrol", sampled), 64, 11, "onehot")


def compare_batch(config, count, seed, encoding):
    games = Games(config, count, seed=seed)
    alone = {i: Game(config, seed=seed + i) for i in {0, count // 2, count - 1}}
    orders = np.zeros((count, 2, 11), np.int64)
    for _ in range(12):
        masks = games.action_masks()
        for i, game in alone.items():
            assert np.array_equal(masks[i], np.stack([game.action_mask(side) for side in SIDES]))
            if not game.is_over:
                game.step(alpha=orders[i, 0], bravo=orders[i, 1])
        games.step(orders)
        orders, observations = games.sample_actions(), games.observe(encoding)
        arrays = games.state
        for i, game in alone.items():
            assert games[i] == game
            assert games.position_keys()[i] == game.key
            assert games.returns[i].tolist() == list(game.returns.values())
            assert arrays.games[i].tobytes() == engine(game)[0].tobytes()
            assert arrays.rules[i if len(arrays.rules) > 1 else 0].tobytes() == engine(game)[1].tobytes()
            for side, name in enumerate(SIDES):
                assert np.array_equal(observations[i, side], game.observation(name, encoding))


# Notation


@given(st.integers(0, 10), st.integers(0, 27))
@example(0, 27)
@example(10, 26)
def test_order_to_text_and_back(satellite, code):
    order = Order.from_code(satellite, code)
    assert Order.parse(str(order)) == order
    assert order.code == code
    assert str(Order.parse(str(order).upper())) == str(order)


names = st.sampled_from(["HVA", *(f"P{number}" for number in range(1, 11))])
texts = st.builds("{} {}".format, names, st.sampled_from([*MOVES, "guard"])) | st.builds(
    "{} {} {}".format, names, st.sampled_from(["shoot", "collide"]), names
)


@given(texts)
def test_text_to_order_and_back(text):
    assert str(Order.parse(text)) == text
    assert str(Order.parse(text.lower().replace("_", " "))) == text


@given(st.sampled_from(SIDES), st.integers(0, 10))
def test_satellite_names_to_text_and_back(side, number):
    satellite = SatelliteId(side, number)
    assert SatelliteId.parse(str(satellite)) == satellite
    assert SatelliteId.parse(str(satellite).upper()) == satellite


@pytest.mark.parametrize("preset", ["od2d", "generalization/train"])
def test_same_seed_same_game(preset):
    one, other, third = (play_on(Game(preset, seed=seed), 60, 4) for seed in (1, 1, 2))
    assert one.save() == other.save()
    assert one != third


@pytest.mark.parametrize("layout", [state.GAME, state.RULES])
def test_records_have_no_padding_so_that_equal_games_are_equal_byte_by_byte(layout):
    assert layout.itemsize == sum(kind.itemsize for kind, *_ in layout.fields.values())
