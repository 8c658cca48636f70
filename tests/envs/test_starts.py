"""Environments that start from a position, that are saved as a batch, and names of options that do not exist."""

import json
import re

import gymnasium
import numpy as np
import pytest

from geo_patrol import Game, Games, RecordingError, geo_patrol_satellites_v0, geo_patrol_v0, make_vec
from geo_patrol.base.sides import SIDES
from geo_patrol.envs.single import SoloGeoPatrol
from tests.envs.vector_reference import assert_same
from tests.support.strategies import play_on

SINGLE = [geo_patrol_v0.parallel_env, geo_patrol_v0.env, geo_patrol_satellites_v0.parallel_env, SoloGeoPatrol]
RANDOMIZED = {
    "extends": "case1",
    "both": {"patrols": {"count": {"low": 2, "high": 5}, "fuel": {"low": 40, "high": 100}}},
}
WEIGHTED = {"alpha.hva.fuel": 90}


def played_game(phases=5, seed=3):
    return play_on(Game("case1", seed=seed), phases, seed)


def step_without_orders(env):
    if isinstance(env, SoloGeoPatrol):
        return env.step(np.zeros(11, np.int64))
    if hasattr(env, "agent_selection"):
        return [env.step(np.zeros(11, np.int64)) for _ in SIDES]
    return env.step({agent: 0 if "_" in agent else np.zeros(11, np.int64) for agent in env.agents})


def make_idle(make, **arguments):
    return make(**arguments, **({"opponent": "idle"} if make is SoloGeoPatrol else {}))


# From a position


@pytest.mark.parametrize("make", SINGLE)
def test_a_reset_goes_on_with_a_game_and_its_stream(make):
    game = played_game()
    before = game.save()
    env = make_idle(make, config="case1")
    env.reset(seed=99)
    env.reset(options={"game": game})
    assert env.game() == game
    following = game.copy()
    for _ in range(4):
        step_without_orders(env)
        following.step()
    assert env.game() == following
    assert game.save() == before


@pytest.mark.parametrize("make", SINGLE)
def test_a_seed_starts_a_new_stream_from_the_position(make):
    game, saves = played_game(), []
    for stream, seed in ((game, 7), (played_game(seed=8).fork(1), 7), (game, 9)):
        start = Game.from_position(game.position, config="case1", seed=0) if stream is not game else game
        env = make_idle(make, config="case1")
        env.reset(seed=seed, options={"game": start})
        assert env.game().is_same_position(game)
        assert env.game() != game
        saves.append(env.game().save()["chance"])
    assert saves[0]["key"] == saves[1]["key"] != saves[2]["key"]
    assert {chance["counter"] for chance in saves} == {0}


def test_rewards_from_a_position_are_those_of_the_whole_game():
    whole = geo_patrol_v0.parallel_env("case1", overrides=WEIGHTED)
    whole.reset(seed=4)
    part = geo_patrol_v0.parallel_env("case1", overrides=WEIGHTED)
    while whole.agents:
        part.reset(options={"game": whole.game()})
        orders = whole.sample_actions()
        assert part.step(orders)[1:] == whole.step(orders)[1:]
        assert part.game() == whole.game()


def test_cycles_are_counted_from_the_position():
    env = geo_patrol_v0.parallel_env("case1", max_cycles=2)
    env.reset(options={"game": played_game()})
    assert not step_without_orders(env)[3]["alpha"]
    assert step_without_orders(env)[3]["alpha"]


def test_a_sampled_scenario_starts_with_its_values():
    env = geo_patrol_v0.parallel_env(RANDOMIZED)
    env.reset(seed=1)
    game = Game(RANDOMIZED, seed=5)
    env.reset(options={"game": game})
    assert env.game() == game
    assert len(env.game().satellites("alpha")) == len(game.satellites("alpha"))
    restored = geo_patrol_v0.parallel_env(RANDOMIZED)
    restored.restore(json.loads(json.dumps(env.save())))
    assert restored.game() == env.game()
    assert np.array_equal(restored.view()[0]["alpha"]["observation"], env.view()[0]["alpha"]["observation"])


def test_a_vector_environment_starts_from_positions():
    games = Games.from_games([played_game(phases=phases, seed=phases) for phases in range(4)])
    envs = make_vec("case1", 4, observation="tokens")
    observations, infos = envs.reset(options={"games": games})
    assert np.array_equal(observations, games.observe("tokens").reshape(8, -1))
    assert infos["turn"][::2].tolist() == (games.turn - 1).tolist()
    for _ in range(3):
        envs.step(np.zeros((8, 11), np.int64))
        games.step(np.zeros((4, 2, 11), np.int64))
    for i in range(4):
        assert envs.game(i) == games[i]


def test_some_games_of_a_vector_environment_start_from_positions():
    envs, twin = (make_vec("case1", 3, observation="tokens") for _ in range(2))
    for each in (envs, twin):
        each.reset(seed=0)
        each.step(np.zeros((6, 11), np.int64))
    mask = np.array([False, False, True, True, True, True])
    games = Games.from_games([played_game(phases=phases) for phases in (2, 3)])
    envs.reset(seed=[None, None, 11], options={"games": games, "reset_mask": mask})
    assert envs.game(0) == twin.game(0)
    assert envs.game(1) == games[0]
    assert envs.game(2).is_same_position(games[1])
    assert envs.game(2) != games[1]
    single = geo_patrol_v0.parallel_env("case1")
    single.reset(seed=11, options={"game": games[1]})
    assert envs.game(2) == single.game()


def test_a_vector_environment_plays_from_a_position_as_a_gymnasium_environment_does():
    envs = make_vec("case1", 1, opponent="scripted", seats="bravo", observation="tokens")
    single = gymnasium.make("GeoPatrol/Case1-v0", opponent="scripted", seat="bravo", observation="tokens")
    envs.reset(seed=5, options={"games": played_game(phases=2).repeat(1)})
    single.reset(seed=5, options={"game": played_game(phases=2)})
    for _ in range(6):
        orders = single.unwrapped.sample_action()
        observation, reward, *_ = single.step(orders)
        observations, rewards, *_ = envs.step(orders[None])
        assert np.array_equal(observations[0], observation)
        assert rewards[0] == reward


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Game("case2", seed=1), "option 'game' must have the configuration of the environment, '"),
        (Game("case1", seed=1, overrides={"turn_limit": 3}), "and its overrides, got "),
        (played_game(phases=200), "option 'game' must go on: game 0 is over"),
        (5, "option 'game' must be a geo_patrol.Game, got 5"),
        (Games("case1", 1), "option 'game' must be a geo_patrol.Game, got <geo_patrol.game.game.Games"),
    ],
)
@pytest.mark.parametrize("make", SINGLE)
def test_a_game_that_an_environment_cannot_go_on_with(make, game, message):
    env = make(config="case1")
    env.reset(seed=1)
    before = env.save()
    with pytest.raises(ValueError, match=re.escape(message)):
        env.reset(seed=2, options={"game": game})
    assert env.save() == before


@pytest.mark.parametrize(
    ("games", "message"),
    [
        (Games("case1", 3), "option 'games' must be a geo_patrol.Games of 2, the selected games, got Games of 3"),
        (Games("case2", 2), "option 'games' must have the configuration of the environment"),
        (played_game(phases=200).repeat(2), "option 'games' must go on: game 0 is over"),
        ([Game("case1")] * 2, "option 'games' must be a geo_patrol.Games of 2, the selected games, got [<Game"),
    ],
)
def test_games_that_a_vector_environment_cannot_go_on_with(games, message):
    envs = make_vec("case1", 2, observation="tokens")
    envs.reset(seed=1)
    before = envs.save()
    with pytest.raises(ValueError, match=re.escape(message)):
        envs.reset(seed=2, options={"games": games})
    assert envs.save() == before


# Names that do not exist


@pytest.mark.parametrize("make", SINGLE)
def test_an_option_that_is_not_known(make):
    env = make()
    with pytest.raises(ValueError, match=r"there is no option 'gane' of reset; did you mean 'game'\?; there are game"):
        env.reset(options={"gane": Game()})
    with pytest.raises(ValueError, match=r"options must be a dict, such as {'game': \.\.}, got 'game'"):
        env.reset(options="game")


def test_an_option_of_a_vector_environment_that_is_not_known():
    message = "there is no option 'reset_masks' of reset; did you mean 'reset_mask'?; there are reset_mask, games"
    with pytest.raises(ValueError, match=re.escape(message)):
        make_vec().reset(options={"reset_masks": None})


@pytest.mark.parametrize(
    "make",
    [
        *SINGLE[:3],
        make_vec,
        lambda **options: gymnasium.make("GeoPatrol/Case1-v0", **options),
        lambda **options: gymnasium.make_vec("GeoPatrol/Case1-v0", num_envs=2, **options),
    ],
)
def test_a_misspelt_argument(make):
    message = "unexpected keyword argument 'rewards'; did you mean 'reward'?; there are config, "
    with pytest.raises(ValueError, match=re.escape(message)):
        make(rewards="outcome")


# Saved vector environments


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"autoreset": "same_step", "agents": "satellites"},
        {"opponent": {"random": 1, "scripted": 2}, "seats": "alternate", "max_cycles": 9},
        {"opponent": "turtle", "mask_in": "obs", "copy": False, "config": RANDOMIZED},
    ],
    ids=str,
)
def test_a_restored_vector_environment_plays_on_bit_for_bit(options):
    arguments = {"config": "case1", "num_games": 5, "observation": "tokens", **options}
    envs, twin = make_vec(**arguments), make_vec(**arguments)
    envs.reset(seed=2)
    for _ in range(13):
        envs.step(envs.sample_actions())
    saved = json.loads(json.dumps(envs.save()))
    twin.restore(saved)
    assert json.loads(json.dumps(twin.save())) == saved
    assert_same(twin.view(), envs.view())
    for _ in range(30):
        one, other = (each.step(each.sample_actions()) for each in (envs, twin))
        assert_same(one, other)


def test_finished_games_are_restored_as_finished():
    envs, twin = (make_vec("case1", 2, autoreset="disabled", max_cycles=3, observation="tokens") for _ in range(2))
    envs.reset(seed=2)
    for _ in range(3):
        envs.step(envs.sample_actions())
    twin.restore(envs.save())
    with pytest.raises(RuntimeError, match="2 games are over"):
        twin.step(np.zeros((4, 11), np.int64))


def test_an_opponent_that_was_released_cannot_be_restored():
    class Guest:
        name, observation, stateless = "guest", "tokens", True

        def reset(self, new_games):
            pass

        def act(self, observations, action_masks, generator):
            return np.zeros((len(observations), 11), np.int64)

    envs = make_vec("case1", 1, opponent=Guest(), observation="tokens", max_cycles=1)
    envs.reset(seed=1)
    envs.set_opponents("random")
    saved = envs.save()
    for _ in range(4):
        envs.step(envs.sample_actions())
    envs.set_opponents("scripted")
    envs.set_opponents("random")
    for _ in range(2):
        envs.step(envs.sample_actions())
    with pytest.raises(RecordingError, match="it has the opponents 'guest', 'random', but there are"):
        envs.restore(saved)
