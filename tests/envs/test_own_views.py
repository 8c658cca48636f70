"""``view="own"``: satellites that observe for themselves, and nothing of the enemies out of their sight."""

import re

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import assume, given
from hypothesis import strategies as st

from geo_patrol import Game, geo_patrol_satellites_v0, load_config, make_vec, observation_names
from geo_patrol.base.board import are_within, azimuth_of, ring_of
from geo_patrol.base.sides import SIDES, enemy_of
from tests.envs.vector_reference import assert_same
from tests.support.strategies import configs, play_on, seeds

ENCODINGS = ["onehot", "tokens"]
FAR = 512
"""A range that reaches across every board."""
ATTACK = {"overrides": {"both.odds.shoot": [1.0, 1.0]}}


def make(**options):
    return geo_patrol_satellites_v0.parallel_env(**{"view": "own", **options})


def name_of(number):
    return "hva" if number == 0 else f"patrol_{number}"


@st.composite
def positions(draw):
    """An environment in the middle of a game on any board, and the steps that satellites of either side see."""
    configured, given_range = draw(st.none() | st.integers(1, 4)), draw(st.integers(1, 4))
    config = load_config(draw(configs()), {"alpha.sensor_range": configured} if configured else None)
    game = play_on(Game(config, seed=draw(seeds)), draw(st.integers(0, 30)), draw(seeds) % 99)
    assume(not game.is_over)
    env = make(
        config=game.config,
        observation=draw(st.sampled_from(ENCODINGS)),
        fleet=draw(st.sampled_from(["all", "in_range"])),
        sensor_range=given_range,
    )
    env.reset(options={"game": game})
    return env, {"alpha": configured or given_range, "bravo": given_range}


# What is observed


def expected(env, agent, reach, sees_fleet, encoding):
    """Return the local features that are not 0 by their names, from the game as it is."""
    game, scale = env.game(), 1 / 4 if encoding == "onehot" else 1
    side, number = agent.split("_")
    fleets = {"own": game.satellites(side), "enemy": game.satellites(enemy_of(side))}
    me = fleets["own"][int(number)]
    ring, azimuth = int(ring_of(me.sector)), int(azimuth_of(me.sector))
    values = {}
    for whose, fleet in fleets.items():
        for other in fleet:
            within = not me.destroyed and are_within(me.sector, other.sector, reach, game.config.board.inner_ring)
            if not within and not (whose == "own" and sees_fleet) and other is not me:
                continue
            other_ring = int(ring_of(other.sector))
            apart = int(azimuth_of(other.sector)) - int(azimuth * 2**other_ring // 2**ring)
            half = 2**other_ring // 2
            row = {
                "in_sight": 1,
                "ring_offset": (other_ring - ring) * scale,
                "azimuth_offset": ((apart + half) % (2 * half) - half) * scale,
                "fuel": other.fuel / 100 if encoding == "onehot" else other.fuel,
                "ammo": other.ammo,
                "active": int(other.fuel > 0),
            }
            values |= {f"{whose}_{name_of(other.id.number)}_{name}": value for name, value in row.items()}
    return values


@pytest.mark.slow
@given(positions(), st.integers(0, 4))
def test_every_feature_has_the_value_that_its_name_states(position, first):
    env, reaches = position
    encoding, sees_fleet = env.episodes.encoding, env._ezpickle_kwargs["fleet"] == "all"
    names = observation_names(encoding, env.config.board.outer_ring, view="own")
    side_names = observation_names(encoding, env.config.board.outer_ring, counts_patrols=env.config.counts_patrols)
    whole = dict(zip(SIDES, env.episodes.games.observe(encoding, whole=True)[0].tolist(), strict=True))
    for agent, observation in [*env.view()[0].items()][first::5]:
        side, number = agent.split("_")
        assert env.observation_space(agent).contains(observation)
        got = dict(zip(names, observation["observation"].tolist(), strict=True))
        of_side = dict(zip(side_names, whole[side], strict=True))
        local = expected(env, agent, reaches[side], sees_fleet, encoding)
        for name, value in got.items():
            if name.startswith("number"):
                assert value == (name == f"number_{number}" if encoding == "onehot" else int(number))
            elif name.startswith("self_"):
                assert value == of_side[f"own_{name_of(int(number))}_{name.removeprefix('self_')}"], name
            elif name == "enemy_score":
                assert value == 0
            elif re.fullmatch(r"(own|enemy)_(hva|patrol_\d+)_(in_sight|.*_offset|fuel|ammo|active)", name):
                assert value == pytest.approx(local.get(name, 0)), name
            else:
                assert value == of_side[name], name


@pytest.mark.slow
@given(positions(), st.integers(0, 2**32))
def test_nothing_about_enemies_out_of_sight_changes_what_a_satellite_observes(position, seed):
    env, reaches = position
    rng, games = np.random.default_rng(seed), env.episodes.games.state.games
    agent = env.agents[rng.integers(len(env.agents))]
    side, number = SIDES.index(agent.split("_")[0]), int(agent.split("_")[1])
    reach = reaches[SIDES[side]]
    board, here = env.config.board, int(games["sector"][0, side, number])
    hidden = [1 - side] + ([side] if env._ezpickle_kwargs["fleet"] == "in_range" else [])
    before = env.view()[0][agent]
    far = [
        sector
        for sector in range(2**board.inner_ring - 1, 2 ** (board.outer_ring + 1) - 1)
        if not are_within(here, sector, reach, board.inner_ring)
    ]
    for owner in hidden:
        for other in range(11):
            there = int(games["sector"][0, owner, other])
            if there == 0 or are_within(here, there, reach, board.inner_ring):
                continue
            games["sector"][0, owner, other] = far[rng.integers(len(far))]
            for field, highest in (("fuel", 200), ("ammo", 3), ("destroyed", 1)):
                games[field][0, owner, other] = rng.integers(highest + 1)
    games["score"][0, 1 - side], games["goal_points"][0, 1 - side] = rng.integers(1000, size=2)
    after = env.view()[0][agent]
    assert np.array_equal(before["observation"], after["observation"])
    if reach > 1 and hidden == [1 - side]:  # with a range of 1, guards know of enemies next to their HVA
        assert np.array_equal(before["action_mask"], after["action_mask"])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_mirrored_positions_look_the_same_to_both_sides(encoding):
    env = make(observation=encoding)
    observations, _ = env.reset(seed=3)
    for number in range(11):
        alpha, bravo = (observations[f"{side}_{number}"]["observation"] for side in SIDES)
        assert np.array_equal(alpha, bravo)


def test_destroyed_satellites_see_no_enemies():
    env = make(sensor_range=FAR, **ATTACK)
    env.reset(seed=1)
    names = observation_names("onehot", view="own")
    enemies = [names.index(f"enemy_{name_of(number)}_in_sight") for number in range(11)]
    left = 0
    while env.agents:
        orders = env.sample_actions()
        for agent in env.agents:
            shots = np.flatnonzero(env.action_masks(agent)[5:16])
            orders[agent] = 5 + int(shots[-1]) if len(shots) else orders[agent]
        observations = env.step(orders)[0]
        for agent, observation in observations.items():
            side, number = agent.split("_")
            is_destroyed = env.game().satellites(side)[int(number)].destroyed
            left += is_destroyed
            assert observation["observation"][enemies].all() == (not is_destroyed)
    assert left > 0


def test_the_states_for_a_critic_show_everything():
    env = make(config="geo_patrol_hidden")
    env.reset(seed=5)
    for _ in range(7):
        env.step(env.sample_actions())
    assert env.state_space.contains(env.state())
    whole = env.episodes.games.observe("onehot", whole=True)
    assert np.array_equal(env.state(), whole[0, 0])


@pytest.mark.parametrize("view", ["side", "own"])
@pytest.mark.parametrize("options", [{}, {"opponent": "random", "seats": "alternate"}], ids=str)
def test_states_from_both_seats(view, options):
    envs = make_vec("case1", 2, agents="satellites", view=view, **options)
    envs.reset(seed=5)
    envs.step(envs.sample_actions())
    sides = [(i, side) for i, side in enumerate(SIDES)] if options else [(i, side) for i in range(2) for side in SIDES]
    assert np.array_equal(envs.state(from_seats=True), [envs.game(i).observation(side) for i, side in sides])
    assert np.array_equal(envs.state(), [envs.game(i).observation("alpha") for i in range(2)])


# As environments


def test_the_games_are_those_of_the_other_view():
    own, side = make(config="case1"), make(config="case1", view="side")
    own.reset(seed=3)
    side.reset(seed=3)
    while own.agents:
        orders = side.sample_actions()
        assert own.sample_actions() == orders
        assert own.step(orders)[1:] == side.step(orders)[1:]
        assert own.game() == side.game()
    assert side.agents == []


@pytest.mark.parametrize("view", ["side", "own"])
def test_the_aec_environment_plays_the_same_games(view):
    aec, parallel = geo_patrol_satellites_v0.env(view=view, **ATTACK), make(view=view, **ATTACK)
    aec.reset(seed=4)
    observations, _ = parallel.reset(seed=4)
    totals = dict.fromkeys(parallel.agents, 0.0)
    expected_totals = dict(totals)
    orders = parallel.sample_actions()
    for agent in aec.agent_iter():
        observation, reward, terminated, truncated, _ = aec.last()
        totals[agent] += reward
        if terminated or truncated:
            aec.step(None)
            continue
        assert data_equivalence(observation, observations[agent])
        aec.step(orders[agent])
        if agent == parallel.agents[-1]:
            observations, rewards, _, _, _ = parallel.step(orders)
            for player, points in rewards.items():
                expected_totals[player] += points
            orders = parallel.sample_actions()
    assert not parallel.agents
    assert totals == pytest.approx(expected_totals)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "team"}, "view must be 'side' or 'own', got 'team'"),
        ({"view": "own", "fleet": "none"}, "fleet must be 'all' or 'in_range', got 'none'"),
        ({"view": "own", "sensor_range": 0}, "sensor_range must be an integer from 1 to 512, got 0"),
        ({"view": "own", "sensor_range": 2.0}, "sensor_range must be an integer from 1 to 512, got 2.0"),
        ({"sensor_range": 2}, 'sensor_range = 2 needs view = "own": by default, '),
        ({"view": "side", "fleet": "all"}, "fleet = 'all' needs view = \"own\""),
        ({"views": "own"}, "unexpected keyword argument 'views'; did you mean 'view'?"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        geo_patrol_satellites_v0.parallel_env(**options)
    with pytest.raises(ValueError, match=re.escape(message)):
        make_vec(agents="satellites", **options)


def test_sides_have_no_view():
    with pytest.raises(ValueError, match="unexpected keyword argument 'view'"):
        make_vec(view="own")


# Thousands of games


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("mask_in", ["info", "obs"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_vector_environment_returns_what_single_environments_do(encoding, mask_in, mode):
    options = {"config": "case1", "observation": encoding, "mask_in": mask_in, "fleet": "in_range"}
    envs = make_vec(num_games=3, agents="satellites", view="own", autoreset=mode, threads=2, **options)
    singles = [make(**options) for _ in range(3)]
    observations, infos = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    seen = [single.reset(seed=1 + i)[0] for i, single in enumerate(singles)]
    is_over, finals = [False] * 3, 0

    def assert_shown(i, own):
        for agent, observation in seen[i].items():
            side, number = agent.split("_")
            vector = observation["observation"] if mask_in == "obs" else observation
            assert np.array_equal(own[2 * i + SIDES.index(side), int(number)], vector)

    for _ in range(60):
        for i, single in enumerate(singles):
            if is_over[i] and mode == "same_step":
                assert_shown(i, infos["final_obs"]["own"])
                seen[i], is_over[i] = single.reset()[0], False
                finals += 1
            assert_shown(i, observations["own"])
        orders = np.zeros((6, 11), np.int64)
        chosen = [single.sample_actions() for single in singles]
        for i, by_agent in enumerate(chosen):
            for agent, order in by_agent.items():
                side, number = agent.split("_")
                orders[2 * i + SIDES.index(side), int(number)] = order
        observations, _, _, _, infos = envs.step(orders)
        for i, single in enumerate(singles):
            if is_over[i]:  # it is reset in this step
                seen[i], is_over[i] = single.reset()[0], False
                finals += 1
                continue
            seen[i] = single.step(chosen[i])[0]
            is_over[i] = not single.agents
    assert finals > 0


def test_the_same_arrays_and_opponents():
    options = {"agents": "satellites", "view": "own", "opponent": "scripted", "seats": "alternate"}
    envs, copies = make_vec("case1", 4, copy=False, **options), make_vec("case1", 4, **options)
    assert_same(envs.reset(seed=1), copies.reset(seed=1))
    for _ in range(30):
        orders = copies.sample_actions()
        assert_same(orders, envs.sample_actions())
        out = np.empty_like(envs.view()[0]["own"])
        stepped, returned = envs.step(orders), copies.step(orders, out=out)
        assert np.shares_memory(returned[0]["own"], out)
        assert_same(stepped, returned)
