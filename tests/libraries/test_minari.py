"""Replays become a Minari data set, whose environment is recovered."""

import numpy as np
import pytest

minari = pytest.importorskip("minari")

from geo_patrol import GeoPatrolError, play_match
from geo_patrol.base.sides import SIDES
from geo_patrol.replays import ReplayReader, datasets
from geo_patrol.replays.datasets import ReplayDataset

# Minari asks for the author's name and address and a link to code, which only a data set to publish needs.
pytestmark = pytest.mark.filterwarnings("ignore:`(?!eval_env).*` is set to None:UserWarning")


@pytest.fixture
def games(tmp_path, monkeypatch):
    """Return a replay file of four games; Minari keeps its data sets beside it."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    play_match("scripted", "random", config="case1", games=4, seed=1, save=tmp_path / "games.jsonl")
    return tmp_path / "games.jsonl"


def test_episodes_are_those_of_the_games(games):
    dataset = ReplayDataset(games, reward="score")
    written = dataset.to_minari("geo_patrol/scripted-v0", author="the tests", description="four games")
    loaded = minari.load_dataset("geo_patrol/scripted-v0")
    samples = dataset.read()
    assert loaded.total_episodes == written.total_episodes == 8
    assert loaded.total_steps == len(samples.actions)
    for index, episode in enumerate(loaded.iterate_episodes()):
        rows = (samples.games == index // 2) & (samples.sides == index % 2)
        assert (episode.actions == samples.actions[rows]).all()
        assert (episode.rewards == samples.rewards[rows]).all()
        assert (episode.observations["observation"][:-1] == samples.observations[rows]).all()
        assert (episode.observations["action_mask"][:-1] == samples.action_masks[rows]).all()
        assert episode.terminations.tolist() == samples.terminations[rows].tolist()
        assert not episode.truncations.any()
        assert (episode.infos["seat"] == index % 2).all()
        last = {name: values[-1] for name, values in episode.observations.items()}
        assert loaded.observation_space.contains(last)
        assert last["action_mask"].sum() == 11  # noops: the game is over


def test_the_environment_is_recovered_with_its_configuration(games):
    ReplayDataset(games, encoding="tokens").to_minari("scripted-v0")
    loaded = minari.load_dataset("scripted-v0")
    env = loaded.recover_environment()
    observation, _ = env.reset(seed=0)
    assert env.unwrapped.config.title.startswith("Case 1")
    assert loaded.observation_space == env.observation_space
    assert loaded.observation_space.contains(observation)
    assert loaded.action_space == env.action_space


def test_the_recovered_environment_plays_the_recorded_opponent(games, tmp_path):
    play_match("scripted", "idle", config="case1", games=4, seed=1, save=tmp_path / "idle.jsonl")
    dataset = ReplayDataset(tmp_path / "idle.jsonl", encoding="tokens", agent="scripted")
    loaded = dataset.to_minari("scripted-v0")
    seeds = [replay.seed for replay in ReplayReader(tmp_path / "idle.jsonl")]
    env = minari.load_dataset("scripted-v0").recover_environment()
    for seed, episode in zip(seeds, loaded.iterate_episodes(), strict=True):
        env.unwrapped._seat_choice = SIDES[
            episode.infos["seat"][0]
        ]  # otherwise "random", as scripted played both sides
        observations = [env.reset(seed=seed)[0], *(env.step(action)[0] for action in episode.actions)]
        for key, recorded in episode.observations.items():
            assert (np.array([observation[key] for observation in observations]) == recorded).all()


def test_several_opponents_are_met_as_often_as_they_are_recorded(games):
    play_match("raider", "idle", config="case1", games=2, seed=2, save=games.with_name("more.jsonl"))
    ReplayDataset(games.parent, on_damage="raise").to_minari("all-v0")
    env = minari.load_dataset("all-v0").recover_environment()
    assert env.unwrapped.opponent.name in ("scripted", "random", "raider", "idle")
    assert env.spec.kwargs["opponent"] == {"random": 4, "scripted": 4, "idle": 2, "raider": 2}
    ReplayDataset(games).to_minari("idle-v0", opponent="idle")
    assert minari.load_dataset("idle-v0").recover_environment().unwrapped.opponent.name == "idle"


def test_opponents_that_are_not_of_the_package_must_be_named(games, tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_bytes(games.read_bytes().replace(b'"random"', b'"bot.py:Mine"'))
    with pytest.raises(ValueError, match=r"opponent must be given: the recorded one, 'bot.py:Mine', is not an agent"):
        ReplayDataset(path, agent="scripted").to_minari("people-v0")
    assert not minari.list_local_datasets()
    ReplayDataset(path, agent="scripted").to_minari("people-v0", opponent="random")


def test_one_agent_in_a_game_that_was_not_finished(games, tmp_path):
    path = tmp_path / "unfinished.jsonl"
    path.write_bytes(b"".join(games.read_bytes().splitlines(keepends=True)[:4]))
    (episode,) = ReplayDataset(path, agent="random").to_minari("random-v0").iterate_episodes()
    assert len(episode.actions) == 3
    assert np.flatnonzero(episode.truncations).tolist() == [2]
    assert not episode.terminations.any()


def test_a_data_set_is_not_replaced(games):
    ReplayDataset(games).to_minari("geo_patrol/twice-v0")
    with pytest.raises(ValueError, match="twice-v0"):
        ReplayDataset(games).to_minari("geo_patrol/twice-v0")


def test_damaged_files_leave_no_data_set(games, monkeypatch):
    monkeypatch.setattr(datasets, "_PHASES_AT_ONCE", 10)
    games.write_bytes(games.read_bytes()[:-400])
    with pytest.raises(GeoPatrolError, match=r"games\.jsonl"):
        ReplayDataset(games).to_minari("damaged-v0")
    assert not minari.list_local_datasets()
