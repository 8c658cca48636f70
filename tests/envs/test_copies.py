"""Copies of environments play the configuration that the environment was made with, whatever has become of its source."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from geo_patrol import Game, Games, geo_patrol_satellites_v0, geo_patrol_v0, load_config, make_vec
from geo_patrol.agents.policy import read_policies, write_weights
from geo_patrol.envs.single import SoloGeoPatrol

CROWD = {"both": {"patrols": {"formation": [[0, 4]]}, "odds": {"shoot": [1.0, 1.0]}}, "extends": "king_of_the_hill"}
MAKERS = {
    "parallel": geo_patrol_v0.parallel_env,
    "aec": geo_patrol_v0.raw_env,
    "wrapped aec": geo_patrol_v0.env,
    "satellites": geo_patrol_satellites_v0.parallel_env,
    "solo": SoloGeoPatrol,
    "own view": lambda config, **options: geo_patrol_satellites_v0.parallel_env(config, view="own", **options),
    "vector": make_vec,
    "vector of satellites": lambda config, **options: make_vec(config, agents="satellites", **options),
}
every_kind = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
COPIES = {"deep copy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
every_copy = pytest.mark.parametrize("twin_of", COPIES.values(), ids=COPIES)


def config_of(env):
    return env.unwrapped.config


@every_kind
@every_copy
def test_copies_have_the_configuration_as_it_was(make, twin_of):
    data, overrides = load_config("case1").to_dict(), {"bravo.patrols.ammo": 3, "alpha.costs": {"prograde": 2}}
    env = make(data, overrides=overrides)
    expected = load_config("case1", {"bravo.patrols.ammo": 3, "alpha.costs": {"prograde": 2}})
    data["turn_limit"] = 99
    overrides["bravo.patrols.ammo"] = 1
    overrides["alpha.costs"]["prograde"] = 7
    twin = twin_of(env)
    assert config_of(twin) == config_of(env) == expected
    assert config_of(twin_of(twin)) == expected


@every_kind
@every_copy
def test_copies_have_the_arguments(make, twin_of):
    env = make(
        "case1", observation="tokens", mask_in="info", reward="outcome", max_cycles=2, overrides={"turn_limit": 7}
    )
    twin = twin_of(env)
    for each in (env, twin):
        each.reset(seed=2)
    assert twin.save() == env.save()
    while not hasattr(env, "agent_selection"):
        actions = env.sample_action() if isinstance(env, SoloGeoPatrol) else env.sample_actions()
        one, other = env.step(actions), twin.step(actions)
        assert data_equivalence(one, other)
        truncated = one[3]
        if np.any(list(truncated.values()) if isinstance(truncated, dict) else truncated):
            break


@every_kind
@every_copy
def test_copies_of_an_environment_from_a_file_do_not_read_it_again(make, twin_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.toml").write_text('extends = "case1"\nturn_limit = 7\n')
    env = make("game.toml", overrides=(text for text in ["bravo.patrols.ammo=3"]))
    (tmp_path / "game.toml").write_text('extends = "case1"\nturn_limit = 99\n')
    assert config_of(twin_of(env)).turn_limit == 7
    monkeypatch.chdir("/")
    (tmp_path / "game.toml").unlink()
    twin = twin_of(env)
    assert config_of(twin) == config_of(env)
    assert (config_of(twin).turn_limit, config_of(twin).bravo.patrols.ammo) == (7, 3)


@every_copy
def test_copies_have_the_opponents_and_the_size_of_pictures_as_they_were(twin_of):
    mixture, size = {"random": 2, "scripted": 1}, [640, 480]
    envs = make_vec("case1", 4, opponent=mixture)
    env = SoloGeoPatrol("case1", render_mode="rgb_array", render_size=size)
    mixture["turtle"] = mixture.pop("random")
    size[:] = [320, 240]
    assert twin_of(envs).opponent_names == ("random", "scripted")
    changed = {"idle": 1}
    envs.set_opponents(changed)
    changed["turtle"] = 1
    envs.reset(seed=1)
    copied = twin_of(envs)
    assert copied.opponent_names == ("idle",)
    with pytest.raises(RuntimeError, match="call reset"):
        copied.step(np.zeros((4, 11), np.int64))
    twin = twin_of(env)
    twin.reset(seed=1)
    assert twin.render().shape == (480, 640, 3)


AGENT = """
import numpy as np


class Mine:
    name, observation, stateless = "mine", "tokens", True

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return np.full((len(observations), 11), {code}, np.int64)
"""


@every_copy
@pytest.mark.parametrize("name", ["agent.py:Mine", "agent:Mine"])
def test_copies_play_the_same_opponent_in_another_working_directory(twin_of, name, tmp_path, monkeypatch):
    for code, folder in enumerate(("here", "there")):
        path = tmp_path / folder
        path.mkdir()
        (path / "agent.py").write_text(AGENT.format(code=3 * code))
    monkeypatch.chdir(tmp_path / "here")
    envs, mixed, changed = (make_vec("case1", 3, opponent=each) for each in (name, {name: 1, "idle": 1}, "idle"))
    changed.set_opponents(name)
    solo = SoloGeoPatrol("case1", opponent=name)
    monkeypatch.chdir(tmp_path / "there")
    for env in (envs, mixed, changed):
        played = [roll_out(each) for each in (env, twin_of(env))]
        np.testing.assert_array_equal(*played)
    twin = twin_of(solo)
    np.testing.assert_array_equal(
        twin.opponent.act(np.zeros(2), None, None), solo.opponent.act(np.zeros(2), None, None)
    )


def roll_out(envs):
    envs.reset(seed=1)
    observations = [envs.step(np.zeros((envs.num_envs, 11), np.int64))[0] for _ in range(4)]
    return np.stack(observations)


@every_copy
def test_copies_take_the_games_of_an_environment_whose_opponent_is_a_file(twin_of, tmp_path, monkeypatch):
    weights = read_policies("base").weights[0]
    monkeypatch.chdir(tmp_path)
    write_weights("mine.safetensors", weights)
    envs = make_vec("case1", 2, opponent="policy:mine.safetensors")
    envs.reset(seed=1)
    twin = twin_of(envs)
    twin.restore(envs.save())
    actions = envs.sample_actions()
    np.testing.assert_array_equal(twin.step(actions)[0], envs.step(actions)[0])


def test_an_environment_shows_the_outcomes_of_its_own_game():
    env, other = (geo_patrol_v0.parallel_env(CROWD) for _ in range(2))
    env.reset(seed=1)
    other.reset(seed=2)
    while not env.game().outcomes:
        before, orders = env.game(), env.sample_actions()
        env.step(orders)
        other.step(other.sample_actions())
        expected = before.step_actions(np.stack(list(orders.values()))).outcomes
        assert env.game().outcomes == expected
    kept = env.game()
    env.step(env.sample_actions())
    assert env.game().outcomes == ()
    assert kept.outcomes == expected

    other.reset(options={"game": kept})
    assert other.game().outcomes == expected
    other.restore(other.save())
    assert other.game().outcomes == ()
    env.reset(options={"game": Games.from_games([kept])[0]})
    assert env.game().outcomes == ()


@pytest.mark.parametrize("num_games", [1, 3])
@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_games_of_a_vector_environment_show_no_outcomes(num_games, autoreset):
    envs = make_vec(CROWD, num_games, autoreset=autoreset)
    envs.reset(seed=1)
    engagements = 0
    for _ in range(40):
        envs.step(envs.sample_actions())
        engagements += int((envs._episodes.games.state.games["outcome_count"] > 0).sum())
        assert all(envs.game(i).outcomes == () for i in range(num_games))
    assert engagements
    played = engaged = Game(CROWD, seed=1)
    while not engaged.outcomes:
        played.step_actions(played.repeat(1).sample_actions()[0])
    envs.reset(options={"games": played.repeat(num_games)})
    assert envs.game(0).outcomes == ()
