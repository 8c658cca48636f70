"""Gymnasium's vector API: ids, spaces, wrappers, reset in all modes, seeds, copies, closing."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import vector as wrappers

from geo_patrol import environment_id, make_vec
from geo_patrol.envs.single import SoloGeoPatrol
from tests.envs.vector_reference import assert_same

MODES = ("next_step", "same_step", "disabled")
TOKENS = {"observation": "tokens"}


def test_made_by_id():
    envs = gymnasium.make_vec(environment_id("od2d"), num_envs=3, opponent="idle", **TOKENS)
    assert isinstance(envs, VectorEnv)
    assert (envs.spec.id, envs.num_envs) == (environment_id("od2d"), 3)
    twin = make_vec("od2d", 3, opponent="idle", **TOKENS)
    assert_same(envs.reset(seed=1), twin.reset(seed=1))
    assert_same(envs.step(envs.sample_actions()), twin.step(twin.sample_actions()))
    default = gymnasium.make_vec(environment_id("case1"))
    assert (default.num_envs, default.unwrapped.opponent_names) == (1, ("random",))


def test_made_by_id_for_self_play():
    """``num_envs`` counts environments, of which a game has two."""
    envs = gymnasium.make_vec(environment_id("case1"), num_envs=8, opponent=None, **TOKENS)
    assert (envs.num_envs, envs.unwrapped.num_games) == (8, 4)
    assert envs.reset(seed=1)[0].shape == (8, 249)
    with pytest.raises(ValueError, match="num_envs must be even in self-play"):
        gymnasium.make_vec(environment_id("case1"), num_envs=7, opponent=None)


@pytest.mark.parametrize("mask_in", ["obs", "info"])
@pytest.mark.parametrize("encoding", ["onehot", "tokens"])
@pytest.mark.parametrize("opponent", [None, "random"])
def test_spaces(mask_in, encoding, opponent):
    envs = make_vec("case1", 3, opponent=opponent, mask_in=mask_in, observation=encoding)
    single = SoloGeoPatrol("case1", mask_in=mask_in, observation=encoding)
    assert envs.num_envs == (6 if opponent is None else 3)
    assert envs.single_observation_space == single.observation_space
    assert envs.single_action_space == single.action_space
    assert envs.observation_space == batch_space(single.observation_space, envs.num_envs)
    assert envs.observation_space is envs.observation_space
    assert envs.action_space == batch_space(single.action_space, envs.num_envs)
    assert envs.observation_space.contains(envs.reset(seed=1)[0])
    for _ in range(9):
        actions = envs.action_space.sample()
        assert envs.action_space.contains(actions)
        assert envs.observation_space.contains(envs.step(actions)[0])
        assert envs.action_space.contains(envs.sample_actions())


def test_sampled_actions_and_those_of_the_space_are_legal():
    envs = make_vec("case1", 20, **TOKENS)
    envs.reset(seed=1)
    envs.action_space.seed(1)
    for step in range(30):
        masks = envs.action_masks()
        assert (masks.shape, masks.dtype) == ((40, 308), np.bool_)
        shaped = masks.reshape(40, 11, 28)
        for actions in (envs.sample_actions(), envs.action_space.sample(mask=shaped), envs.action_space.sample(masks)):
            assert np.take_along_axis(shaped, actions[..., None], 2).all()
        infos = envs.step(actions)[4]
        assert not infos["illegal_orders"].any(), step


# Wrappers


def roll(envs, steps=60):
    envs.reset(seed=3)
    returned = [envs.step(envs.unwrapped.sample_actions()) for _ in range(steps)]
    envs.close()
    return returned


@pytest.mark.parametrize("mode", MODES[:2])
@pytest.mark.parametrize("opponent", [None, "random"])
def test_record_episode_statistics_agrees_with_ours(mode, opponent):
    if mode == "same_step" and gymnasium.__version__.startswith("1.2."):
        pytest.skip("this version counts a step too few")
    envs = make_vec("case1", 5, autoreset=mode, opponent=opponent, max_cycles=25, **TOKENS)
    episodes = 0
    for _, _, terminations, truncations, infos in roll(wrappers.RecordEpisodeStatistics(envs), 110):
        over, ours = terminations | truncations, infos["finished_episode"]
        assert (infos["_finished_episode"] == over).all()
        if over.any():
            assert_same(infos["episode"]["r"], ours["return"])
            assert_same(infos["episode"]["l"], ours["length"])
            episodes += over.sum()
        assert not ours["return"][~over].any()
    assert episodes >= 20


@pytest.mark.parametrize("mask_in", ["obs", "none"])
def test_infos_as_lists(mask_in):
    options = {"autoreset": "same_step", "mask_in": mask_in, "max_cycles": 7, **TOKENS}
    lists = roll(wrappers.DictInfoToList(make_vec("case1", 2, **options)))
    tables = roll(make_vec("case1", 2, **options))
    for (_, _, _, _, rows), (_, _, _, _, table) in zip(lists, tables, strict=True):
        for i, row in enumerate(rows):
            assert row["score"] == table["score"][i]
            assert ("finished_episode" in row) == bool(table["_finished_episode"][i])
            if table["_final_obs"][i]:
                assert row["final_info"]["turn"] == table["final_info"]["turn"][i]
                final = table["final_obs"]
                expected = {key: value[i] for key, value in final.items()} if mask_in == "obs" else final[i]
                assert_same(row["final_obs"], expected)


def test_wrappers_of_observations_and_rewards():
    plain = roll(make_vec("case1", 3, **TOKENS))
    flat = roll(wrappers.FlattenObservation(make_vec("case1", 3, mask_in="obs", **TOKENS)))
    assert flat[0][0].shape == (6, 249 + 308)
    double = roll(wrappers.DtypeObservation(make_vec("case1", 3, **TOKENS), np.float64))
    clipped = roll(wrappers.ClipReward(make_vec("case1", 3, **TOKENS), -1, 1))
    filtered = roll(wrappers.FilterObservation(make_vec("case1", 3, mask_in="obs", **TOKENS), ["observation"]))
    for step, returned in enumerate(plain):
        assert_same(double[step][0], returned[0].astype(float))
        assert_same(clipped[step][1], np.clip(returned[1], -1, 1))
        assert_same(filtered[step][0]["observation"], returned[0])


# Comparison with SyncVectorEnv


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_agrees_with_sync_vector_env(mode, mask_in):
    options = {"opponent": "scripted", "mask_in": mask_in, "max_cycles": 9, **TOKENS}
    envs = make_vec("case1", 4, autoreset=mode, **options)
    autoreset = AutoresetMode[mode.upper()]
    sync = SyncVectorEnv([lambda: SoloGeoPatrol("case1", **options)] * 4, autoreset_mode=autoreset)
    assert envs.metadata["autoreset_mode"] == sync.metadata["autoreset_mode"]
    assert envs.observation_space == sync.observation_space
    (observations, infos), (expected, their_infos) = envs.reset(seed=7), sync.reset(seed=7)
    assert_same(observations, expected)
    for step in range(60):
        actions = envs.sample_actions()
        returned, expected = envs.step(actions), sync.step(actions)
        assert_same(returned[:4], expected[:4], f"step {step}")
        infos, their_infos = returned[4], expected[4]
        for name in set(their_infos) - {"final_obs", "final_info", "_final_obs", "_final_info"}:
            assert_same(infos[name], their_infos[name], f"step {step}, {name}")
        for name in {"_final_obs", "_final_info"} & set(their_infos):
            assert_same(infos[name], their_infos[name])
        for row in np.flatnonzero(their_infos.get("_final_obs", [])):
            ours, theirs = infos["final_obs"], their_infos["final_obs"][row]
            one = {key: value[row] for key, value in ours.items()} if mask_in == "obs" else ours[row]
            assert_same(one, theirs)
            for name in set(their_infos["final_info"]):
                assert_same(infos["final_info"][name][row], their_infos["final_info"][name][row])
        over = returned[2] | returned[3]
        if mode == "disabled" and over.any():
            (observations, _), (expected, _) = (one.reset(options={"reset_mask": over.copy()}) for one in (envs, sync))
            assert_same(observations, expected)


# Resets


class Drawing:
    """Draws orders for all games from the generator that they share."""

    name, observation = "drawing", "tokens"

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return generator.integers(0, 28, (len(observations), 11))


@pytest.mark.parametrize("seed", [7, [7, 8, 9, 10], [None, None, 9, None]])
@pytest.mark.parametrize("games", [None, "games"])
def test_a_reset_of_some_games_touches_no_other(seed, games):
    envs, others = (make_vec("case1", 4, opponent=Drawing(), **TOKENS) for _ in range(2))
    mask = np.array([False, False, True, False])
    for one in (envs, others):
        one.reset(seed=1)
        one.step(one.sample_actions())
    before = envs.np_random.bit_generator.state
    start = {} if games is None else {"games": envs.game(2).repeat(1)}
    envs.reset(seed=seed, options={"reset_mask": mask, **start})
    assert envs.np_random.bit_generator.state == before
    for _ in range(6):
        actions = others.sample_actions()
        observations, *_ = envs.step(actions)
        expected, *_ = others.step(actions)
        assert np.array_equal(observations[~mask], expected[~mask])
        for i in np.flatnonzero(~mask):
            assert envs.game(i) == others.game(i)


def test_the_generator_of_opponents_starts_anew_when_all_games_do():
    envs = make_vec("case1", 2, opponent=Drawing(), **TOKENS)
    envs.reset(seed=5)
    start = envs.np_random.bit_generator.state
    for seeds in ([5, 6], [5, 1], 5):
        envs.step(envs.sample_actions())
        envs.reset(seed=seeds)
        assert envs.np_random.bit_generator.state == start
    envs.step(envs.sample_actions())
    later = envs.np_random.bit_generator.state
    assert later != start
    for seeds in (None, [5, None], [None, 5]):
        envs.reset(seed=seeds)
        assert envs.np_random.bit_generator.state == later


def test_finished_games_are_not_stepped_when_autoreset_is_disabled():
    envs = make_vec("case1", 3, autoreset="disabled", max_cycles=4, **TOKENS)
    envs.reset(seed=1)
    for _ in range(4):
        over = envs.step(envs.sample_actions())[3]
    assert over.all()
    before = [envs.game(i) for i in range(3)]
    with pytest.raises(RuntimeError, match="3 games are over, the first is game 0: reset them with reset_mask"):
        envs.step(envs.sample_actions())
    envs.reset(options={"reset_mask": np.array([True, True, False, False, True, True])})
    with pytest.raises(RuntimeError, match="1 games are over, the first is game 1"):
        envs.step(envs.sample_actions())
    assert envs.game(1) == before[1]
    assert envs.game(0) != before[0]
    envs.reset(options={"reset_mask": np.array([False, False, True, True, False, False])})
    assert not envs.step(envs.sample_actions())[3].any()


def test_a_first_reset_without_seed_is_random():
    one, other = (make_vec("geo_patrol", 4, **TOKENS) for _ in range(2))
    one.reset(), other.reset()
    assert one.game(0) != other.game(0)
    assert len({one.game(i).save()["chance"]["key"] for i in range(4)}) == 4
    one.reset(seed=[5, None, 5, None])
    assert one.game(0) == one.game(2)
    assert one.game(1) != one.game(3)


# Copies, closing


def test_before_reset_and_after_close():
    envs = make_vec("case1", 2, **TOKENS)
    calls = (envs.sample_actions, envs.action_masks, lambda: envs.game(0), lambda: envs.step(np.zeros((4, 11), int)))
    for call in calls:
        with pytest.raises(RuntimeError, match="call reset"):
            call()
    observations, _ = envs.reset(seed=1)
    before = observations.copy()
    envs.close()
    envs.close()
    for call in (*calls, envs.reset):
        with pytest.raises(RuntimeError, match="the environment is closed"):
            call()
    assert_same(observations, before)


@pytest.mark.parametrize("seats", ["both", "alternate"])
def test_pictures_are_those_of_the_single_environments(seats):
    config, opponent = "geo_patrol_hidden", None if seats == "both" else "idle"
    options = {"opponent": opponent, "seats": seats, "render_mode": "rgb_array", "render_size": (640, 360), **TOKENS}
    envs = make_vec(config, 2, **options)
    with pytest.raises(RuntimeError, match="call reset"):
        envs.render()
    envs.reset(seed=3)
    envs.step(np.zeros(envs.action_space.shape, np.int64))
    pictures = envs.render()
    assert len(pictures) == envs.num_envs
    for row, picture in enumerate(pictures):
        game, seat = (row // 2, row % 2) if seats == "both" else (row, row % 2)
        single = {"seat": ("alpha", "bravo")[seat], "render_mode": "rgb_array", "render_size": (640, 360)}
        solo = SoloGeoPatrol(config, opponent="idle", **single)
        solo.reset(seed=0, options={"game": envs.game(game)})
        assert np.array_equal(picture, solo.render())
    assert not np.array_equal(pictures[0], pictures[1])
    envs.close()


def test_both_sides_of_a_game_have_one_picture_where_nothing_is_hidden():
    envs = gymnasium.make_vec(environment_id("case1"), num_envs=4, opponent=None, render_mode="rgb_array", **TOKENS)
    envs.reset(seed=0)
    pictures = envs.render()
    assert [picture.shape for picture in pictures] == [(720, 1280, 3)] * 4
    assert np.array_equal(pictures[0], pictures[1])
    assert envs.metadata["render_fps"] == SoloGeoPatrol.metadata["render_fps"]
    assert make_vec("case1").render() is None
    with pytest.raises(ValueError, match="render_mode must be 'rgb_array' or None, got 'human'"):
        make_vec("case1", render_mode="human")
