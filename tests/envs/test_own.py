"""Observations and rewards of users' own: what they get, where they arrive, and what is said about wrong ones."""

import copy
import json
import pickle

import gymnasium
import numpy as np
import pytest

from geo_patrol import (
    AgentError,
    Games,
    Observation,
    Reward,
    geo_patrol_satellites_v0,
    geo_patrol_v0,
    make_agent,
    make_vec,
    observation_names,
    play_out,
)
from geo_patrol.agents.isolation.agent import make_match_agent
from geo_patrol.envs.single import SoloGeoPatrol

HIDDEN = "geo_patrol_hidden"


def write_fleets(game, rules, side, out):
    for number in range(11):
        out[number] = game.sector[side, number]
        out[11 + number] = game.sector[1 - side, number]
        out[22 + number] = game.fuel[side, number]
    out[33] = game.score[side] - game.score[1 - side]
    out[34] = rules.turn_limit - game.turn


def fleets_of(games):
    both = [games.sector, games.sector[:, ::-1], games.fuel]
    turns_left = np.repeat(games.config.turn_limit - games.turn[:, None] + 1, 2, axis=1)
    ends = [games.scores - games.scores[:, ::-1], turns_left]
    return np.concatenate([*both, *(end[..., None] for end in ends)], axis=2)


def reward_losses(game, rules, episode, side):
    return episode.reward[side] + 0.1 * (episode.losses[1 - side] - episode.losses[side]) + 0.25 * side


def losses_of(before, after):
    lost = (after.destroyed - before.destroyed).sum(axis=2)
    gained = (after.scores - before.scores) * (before.turn + before.phase > 1)[:, None]  # rewards count from 0
    return (gained - gained[:, ::-1]) + 0.1 * (lost[:, ::-1] - lost) + np.array([0.0, 0.25])


def lost(infos):
    """Return how many satellites more the enemies have lost, in episodes that ended as well."""
    final = infos.get("final_info", infos)
    losses = infos["enemy_losses"] - infos["losses"]
    return np.where(infos["_finished_episode"], final["enemy_losses"] - final["losses"], losses)


def write_half(game, rules, side, out):
    out[0] = 1


BOUNDS = {"low": -(2**31), "high": 2**31 - 1, "dtype": np.int32}
COMPILED = Observation(write_fleets, 35, **BOUNDS)
OF_GAMES = Observation(fleets_of, 35, **BOUNDS, compiled=False)
LOSSES, LOSSES_OF_GAMES = Reward(reward_losses), Reward(losses_of, compiled=False)
every_observation = pytest.mark.parametrize("own", [COMPILED, OF_GAMES], ids=["compiled", "of games"])
every_reward = pytest.mark.parametrize("own", [LOSSES, LOSSES_OF_GAMES], ids=["compiled", "of games"])


def known(games):
    """Return the own observations of both sides, from what each knows."""
    return np.stack([fleets_of(games.seen_by(side))[:, side] for side in range(2)], axis=1)


# Observations


@every_observation
@pytest.mark.parametrize("config", ["case1", HIDDEN])
def test_both_sides_of_a_vector_environment(own, config):
    envs = make_vec(config, 5, observation=own, autoreset="same_step", mask_in="none", max_cycles=31)
    observations, infos = envs.reset(seed=3)
    assert observations.shape == (10, 35)
    num_finished = 0
    for _ in range(40):
        games = envs.games()
        assert np.array_equal(observations, known(games).reshape(10, 35))
        assert observations in envs.observation_space
        assert np.array_equal(games.observe(own).reshape(10, 35), observations)
        before, actions = games, envs.sample_actions()
        observations, _, _, _, infos = envs.step(actions)
        before.step(actions.reshape(5, 2, 11))
        finished = infos["_finished_episode"]
        num_finished += np.count_nonzero(finished)
        assert np.array_equal(infos["final_obs"], np.where(finished[:, None], known(before).reshape(10, 35), 0))
    assert num_finished > 10


@every_observation
@pytest.mark.parametrize("options", [{}, {"copy": False}, {"threads": 2}, {"autoreset": "next_step"}])
def test_against_an_opponent(own, options):
    options = {"opponent": "scripted", "seats": "alternate", "max_cycles": 9, "autoreset": "same_step"} | options
    envs, named = make_vec(HIDDEN, 16, observation=own, **options), make_vec(HIDDEN, 16, **options)
    observations, infos = envs.reset(seed=1)
    named.reset(seed=1)
    for _ in range(20):
        rows = np.arange(16), infos["seat"]
        assert np.array_equal(observations, known(envs.games())[rows])
        actions = envs.sample_actions().copy()
        observations, rewards, _, _, infos = envs.step(actions)
        _, same, _, _, as_named = named.step(actions)  # the games, their opponents and rewards are the same
        assert np.array_equal(rewards, same)
        assert np.array_equal(infos["seat"], as_named["seat"])
        if "final_obs" in infos:
            ended = infos["_final_obs"]
            assert ended.any() == infos["final_obs"][:, 22:33].any()
            assert not infos["final_obs"][~ended].any()
    assert [*envs.games().position_keys()] == [*named.games().position_keys()]


@every_observation
@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_environments_of_a_single_game(own, mask_in):
    options = {"observation": own, "mask_in": mask_in}
    env, aec = geo_patrol_v0.parallel_env(config="case1", **options), geo_patrol_v0.env(config="case1", **options)
    solo = gymnasium.make("GeoPatrol/Case1-v0", opponent="random", seat="bravo", **options)
    observations, _ = env.reset(seed=2)
    aec.reset(seed=2)
    alone, _ = solo.reset(seed=2)
    for _ in range(5):
        expected = dict(zip(env.agents, known(env.game().as_games())[0], strict=True))
        for agent, row in expected.items():
            assert observations[agent] in env.observation_space(agent)
            for seen in (observations[agent], aec.observe(agent)):
                assert np.array_equal(seen["observation"] if mask_in == "obs" else seen, row)
        assert alone in solo.observation_space
        assert np.array_equal(
            alone["observation"] if mask_in == "obs" else alone, known(solo.unwrapped.game().as_games())[0, 1]
        )
        actions = env.sample_actions()
        observations, *_ = env.step(actions)
        for agent in env.agents:
            aec.step(actions[agent])
        alone, *_ = solo.step(actions["bravo"])


def test_what_a_function_does_not_write_is_zero():
    half = Observation(write_half, 3, low=0, high=1)
    envs = make_vec("case1", 2, observation=half, copy=False)
    observations, _ = envs.reset(seed=0)
    for _ in range(3):
        assert observations.tolist() == [[1, 0, 0]] * 4
        observations[:] = 7
        observations, *_ = envs.step(envs.sample_actions())


def write_patrol_fuel(game, rules, side, out):
    out[0] = rules.initial_fuel[side, 1]


@pytest.mark.slow
def test_rules_are_those_of_the_game():
    own = Observation(write_patrol_fuel, 1, low=0, high=10_000)
    envs = make_vec("generalization/train", 8, observation=own, opponent="random", seats="bravo")
    observations, infos = envs.reset(seed=0)
    assert observations[:, 0].tolist() == infos["sampled"]["bravo.patrols.fuel"].tolist()
    assert len(set(observations[:, 0])) > 2


def test_names_and_bounds():
    own = Observation(write_half, 2, low=[0, -1.5], high=2, names=("here", "there"))
    assert observation_names(own) == ["here", "there"]
    assert observation_names(COMPILED)[-1] == "34"
    space = make_vec("case1", 1, observation=own).single_observation_space
    assert space == gymnasium.spaces.Box(np.array([0, -1.5], np.float32), np.float32(2), dtype=np.float32)


# Rewards


@pytest.mark.slow
@every_reward
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_rewards_and_returns(own, mode):
    envs = make_vec("case1", 6, reward=own, autoreset=mode, observation="tokens", max_cycles=50)
    named = make_vec("case1", 6, autoreset=mode, observation="tokens", max_cycles=50, count_events=True)
    envs.reset(seed=5)
    named.reset(seed=5)
    returns, finished_episodes, over = np.zeros(12), 0, np.zeros(12, np.bool_)
    for _ in range(120):
        if mode == "disabled" and over.any():
            options = {"reset_mask": over}
            assert np.array_equal(envs.reset(options=options)[0], named.reset(options=options)[0])
        actions = envs.sample_actions()
        seen, rewards, terminated, truncated, infos = envs.step(actions)
        same, scores, _, _, counted = named.step(actions)
        assert np.array_equal(seen, same)  # games are the same
        is_reset = over if mode == "next_step" else np.zeros(12, np.bool_)
        expected = np.where(is_reset, 0, scores + 0.1 * lost(counted) + np.tile([0, 0.25], 6))
        assert rewards == pytest.approx(expected, abs=1e-12)
        returns = returns * ~over + rewards
        over = terminated | truncated
        finished = infos["_finished_episode"]
        assert np.array_equal(finished, over)
        assert np.array_equal(infos["finished_episode"]["return"], np.where(finished, returns, 0))
        finished_episodes += finished.sum()
    assert finished_episodes > 12
    assert "losses" not in infos


@pytest.mark.slow
@every_reward
def test_rewards_against_an_opponent(own):
    envs = make_vec("case1", 16, reward=own, opponent="random", seats="alternate", autoreset="same_step", threads=2)
    named = make_vec("case1", 16, opponent="random", seats="alternate", autoreset="same_step", count_events=True)
    _, infos = envs.reset(seed=5)
    named.reset(seed=5)
    for _ in range(10):
        seats, actions = infos["seat"], envs.sample_actions()
        _, rewards, _, _, infos = envs.step(actions)
        _, scores, _, _, counted = named.step(actions)
        assert rewards == pytest.approx(scores + 0.1 * lost(counted) + 0.25 * seats)


def test_rewards_of_environments_of_a_single_game():
    env, aec = (make(config="case1", reward=LOSSES) for make in (geo_patrol_v0.parallel_env, geo_patrol_v0.env))
    satellites = geo_patrol_satellites_v0.parallel_env(config="case1", reward=LOSSES)
    solo = SoloGeoPatrol("case1", opponent="idle", seat="bravo", reward=LOSSES)
    named = geo_patrol_v0.parallel_env(config="case1", count_events=True)
    for one in (env, aec, satellites, named, solo):
        one.reset(seed=2)
    for _ in range(6):
        actions = env.sample_actions()
        _, rewards, *_ = env.step(actions)
        _, scores, _, _, infos = named.step(actions)
        for agent in ("alpha", "bravo"):
            lost = infos[agent]["enemy_losses"] - infos[agent]["losses"]
            assert rewards[agent] == pytest.approx(scores[agent] + 0.1 * lost + 0.25 * (agent == "bravo"))
            aec.step(actions[agent])
        assert aec.unwrapped.rewards == rewards
        orders = {agent: actions[agent.split("_")[0]][int(agent.split("_")[1])] for agent in satellites.agents}
        _, of_satellites, *_ = satellites.step(orders)
        assert {agent: rewards[agent.split("_")[0]] for agent in of_satellites} == of_satellites
    assert solo.step(solo.sample_action())[1] == 0.25


def known_difference(game, rules, episode, side):
    return game.score[side] - game.score[1 - side]


def test_a_reward_follows_what_its_side_knows():
    of_games = Reward(lambda _, after: after.scores - after.scores[:, ::-1], compiled=False)
    envs = [make_vec(HIDDEN, 4, reward=own) for own in (Reward(known_difference), of_games)]
    for one in envs:
        one.reset(seed=0)
    differs = False
    for _ in range(60):
        actions = envs[0].sample_actions()
        (_, rewards, *_), (_, same, *_) = (one.step(actions) for one in envs)
        scores = envs[0].games().known_scores
        expected = np.stack([scores[:, 0, 0] - scores[:, 0, 1], scores[:, 1, 1] - scores[:, 1, 0]], axis=1)
        assert np.array_equal(rewards, same)
        assert np.array_equal(rewards, expected.ravel())
        differs |= bool((rewards[::2] != -rewards[1::2]).any())
    assert differs


# Saves, copies, games


@pytest.mark.parametrize(
    ("own", "reward"), [(COMPILED, LOSSES), (OF_GAMES, LOSSES_OF_GAMES)], ids=["compiled", "of games"]
)
@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_saves_and_copies(own, reward, twin_of):
    envs = make_vec("case1", 3, observation=own, reward=reward, autoreset="same_step", max_cycles=25)
    envs.reset(seed=4)
    for _ in range(7):
        envs.step(envs.sample_actions())
    twin = twin_of(envs)
    twin.restore(json.loads(json.dumps(envs.save())))
    assert np.array_equal(twin.view()[0], envs.view()[0])
    for _ in range(30):
        actions = envs.sample_actions()
        (seen, rewards, _, _, infos), (same, paid, _, _, others) = envs.step(actions), twin.step(actions)
        assert np.array_equal(seen, same)
        assert np.array_equal(rewards, paid)
        assert np.array_equal(infos["finished_episode"]["return"], others["finished_episode"]["return"])
    aec = geo_patrol_v0.raw_env(config="case1", observation=own, reward=reward)
    assert twin_of(aec).observation_space("alpha") == aec.observation_space("alpha")


def test_games_are_copies_with_their_streams():
    envs = make_vec("case1", 4)
    with pytest.raises(RuntimeError, match="call reset"):
        envs.games()
    envs.reset(seed=0)
    games = envs.games()
    assert isinstance(games, Games)
    assert games[2] == envs.game(2)
    actions = games.sample_actions()
    games.step(actions)
    assert envs.games().turn.tolist() == [1] * 4
    assert (envs.games().phase == 0).all()
    envs.step(actions.reshape(8, 11))
    assert games.position_keys() == envs.games().position_keys()


# Agents

SEEN = []


class Learned:
    """An agent that remembers what it has seen, and moves all satellites that can."""

    name, observation, stateless = "learned", COMPILED, True

    def reset(self, new_games): ...

    def act(self, observations, action_masks, generator):
        SEEN.append(observations)
        orders = action_masks[..., 1:5].argmax(2) + 1
        return np.where(observations[:, :11] > 0, orders, 0)


class OfGames(Learned):
    observation = OF_GAMES


@pytest.mark.parametrize("config", ["case1", HIDDEN])
def test_agents_have_observations_of_their_own(config):
    games = Games(config, 4, seed=1)
    SEEN.clear()
    play_out(games, Learned(), OfGames(), max_phases=9)
    again = Games(config, 4, seed=1)
    for alpha, bravo in zip(SEEN[::2], SEEN[1::2], strict=True):
        expected = known(again)
        assert np.array_equal(alpha, expected[:, 0])
        assert np.array_equal(bravo, expected[:, 1])
        masks = again.action_masks()
        both = [Learned().act(expected[:, side], masks[:, side], None) for side in range(2)]
        again.step(np.stack(both, axis=1))
    assert again.position_keys() == games.position_keys()


@pytest.mark.parametrize("agent", [Learned(), OfGames()], ids=["compiled", "of games"])
def test_opponents_have_observations_of_their_own(agent):
    envs = make_vec(HIDDEN, 6, opponent=agent, seats="alternate", observation=Observation(write_half, 1, low=0, high=1))
    solo = SoloGeoPatrol(HIDDEN, opponent=agent)
    _, infos = envs.reset(seed=0)
    solo.reset(seed=0)
    for _ in range(6):
        SEEN.clear()
        seats, before = infos["seat"], envs.games()
        actions = envs.sample_actions()
        *_, infos = envs.step(actions)
        solo.step(actions[0])
        in_all, in_one = SEEN
        assert np.array_equal(in_all, known(before)[np.arange(6), 1 - seats])
        assert np.array_equal(in_one, in_all[:1])


BOT = """
import numpy as np
from geo_patrol import Observation

def ammo(game, rules, side, out):
    out[0] = 100 * side + game.ammo[1 - side, INDEX]

class Bot:
    name, observation, stateless = "bot", Observation(ammo, 1, low=0, high=1000), True
    def reset(self, new_games): ...
    def act(self, observations, masks, generator):
        assert observations.shape == (len(masks), 1) and set(observations[:, 0]) <= {3, 103}
        return np.zeros(masks.shape[:2], np.int64)
"""


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_agent, make_match_agent], ids=["here", "in a process of its own"])
def test_agents_of_files(make, tmp_path):
    overrides = {"alpha.patrols.ammo": 3, "bravo.patrols.ammo": 3}
    (tmp_path / "good.py").write_text(BOT.replace("INDEX", "1"))
    (tmp_path / "bad.py").write_text(BOT.replace("INDEX", "11"))
    games = Games("case1", 4, seed=0, overrides=overrides)
    play_out(games, make(f"{tmp_path}/good.py:Bot"), make(f"{tmp_path}/good.py:Bot"), max_phases=3)
    assert games.turn.tolist() == [2] * 4
    with pytest.raises(AgentError, match=r"agent '.*': observation raised IndexError: index is out of bounds"):
        play_out(games, make(f"{tmp_path}/bad.py:Bot"), "idle")


def test_an_opponent_whose_observation_fails():
    class Failing(Learned):
        observation = Observation(beyond, 2, low=0, high=1)

    for env in (make_vec("case1", 2, opponent=Failing()), SoloGeoPatrol("case1", opponent=Failing())):
        env.reset(seed=0)
        with pytest.raises(AgentError, match="agent 'learned': observation raised IndexError: index is out of bounds"):
            env.step(env.action_space.sample() * 0)


# Errors


def misspelt(game, rules, side, out):
    out[0] = game.feul[side, 0]


def of_text(game, rules, side, out):
    out[0] = "full"


def beyond(game, rules, side, out):
    out[5] = 1


def sometimes(game, rules, episode, side):
    return 1.0 if side == 0 else None


def observation(function=write_half, size=2, low=0, high=1, **more):
    return Observation(function, size, low=low, high=high, **more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: observation(lambda games: games), r"observation: function must take \(game, rules, side, out\) with compiled=True, got <lambda>\(games\)"),
        (lambda: observation(compiled=False), r"observation: function must take \(games\) with compiled=False, got write_half\(game, rules, side, out\)"),
        (lambda: observation(7), "observation: function must take .*, got 7"),
        (lambda: observation(size=0), "observation: size must be an integer from 1 to 1,048,576, got 0"),
        (lambda: observation(low=-np.inf), "observation: low must be finite numbers of float32, got -inf"),
        (lambda: observation(high=[1, np.nan]), "observation: high must be finite numbers of float32, got nan"),
        (lambda: observation(high=[1, 2, 3]), r"observation: high must be a number or an array of 2, got \[1, 2, 3\]"),
        (lambda: observation(high="1"), "observation: high must be a number or an array of 2, got '1'"),
        (lambda: observation(high=300, dtype="int8"), "observation: high must be finite numbers of int8, got 300"),
        (lambda: observation(low=[0, 3], high=2), "observation: low must not be above high, got 3.0 and 2.0 at index 1"),
        (lambda: observation(dtype="float16"), "observation: dtype must be one of float32, float64, int8, .*, got 'float16'"),
        (lambda: observation(dtype="pixels"), "observation: dtype must be one of .*, got 'pixels'"),
        (lambda: observation(names=["a", "a"]), r"observation: names must be 2 different strings, got \['a', 'a'\]"),
        (lambda: observation(compiled="no"), "observation: compiled must be True or False, got 'no'"),
        (lambda: Reward(losses_of), r"reward: function must take \(game, rules, episode, side\) with compiled=True, got losses_of\(before, after\)"),
        (lambda: make_vec("case1", observation=write_half), "observation must be 'onehot', 'tokens' or a geo_patrol.Observation, got <function"),
        (lambda: make_vec("case1", reward=sometimes), "reward must be 'score', 'outcome' or a geo_patrol.Reward, got <function"),
        (lambda: make_vec("case1", observation=observation(misspelt)), "observation: misspelt cannot be compiled: there is no field 'feul'"),
        (lambda: make_vec("case1", observation=observation(of_text)), r"observation: of_text cannot be compiled: No implementation .* \(test_own.py, line \d+\)"),
        (lambda: make_vec("case1", reward=Reward(sometimes)), "reward: sometimes cannot be compiled: No implementation"),
        (lambda: make_vec("case1", observation=observation(), agents="satellites"), "observation must be a name where satellites are agents, got Observation"),
        (lambda: geo_patrol_satellites_v0.parallel_env(observation=observation()), "observation must be a name where satellites are agents, got Observation"),
    ],
)  # fmt: skip
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


def test_an_index_beyond_the_observation_is_an_error():
    envs = make_vec("case1", 2, observation=observation(beyond))
    with pytest.raises(IndexError, match="out of bounds") as error:
        envs.reset(seed=0)
    assert error.value.__notes__ == ["raised by beyond, the observation"]


def test_functions_of_games_that_return_something_else():
    envs = make_vec("case1", 3, observation=observation(lambda games: games.fuel, compiled=False))
    message = "<lambda> must return an array of shape {} and type {}, got {}"
    of_games = message.format(r"\(3, 2, 2\)", "float32", r"\(3, 2, 11\) of int16")
    with pytest.raises(ValueError, match=f"^observation: {of_games}$"):
        envs.reset(seed=0)
    envs = make_vec("case1", 3, reward=Reward(lambda _, after: after.is_over, compiled=False))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="^reward: " + message.format(r"\(3, 2\)", "float64", r"\(3,\) of bool$")):
        envs.step(envs.sample_actions())
    whole = Observation(lambda games: games.fuel / 1, 11, low=0, high=100, dtype=np.int16, compiled=False)
    with pytest.raises(ValueError, match=r"type int16, got .* of float64"):
        Games("case1", 3, seed=0).observe(whole)
