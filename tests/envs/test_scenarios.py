"""Scenarios with names: which variant and which values a game has, and weights of variants that change."""

import contextlib
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol import (
    Game,
    Games,
    RecordingError,
    geo_patrol_satellites_v0,
    geo_patrol_v0,
    load_config,
    make_vec,
    observation_names,
)
from geo_patrol.base.sides import SIDES
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.evaluation import play_match
from geo_patrol.replays import ReplayReader, check
from tests.support.strategies import play_on, seeds

NAMES = ("alike", "rich", "apart")
FORMATIONS = {"choices": [[[0, 10]], [[-3, 5], [3, 5]]]}
CONFIG = load_config(
    {
        "extends": "geo_patrol",
        "both": {
            "patrols": {"count": {"low": 2, "high": 5}, "fuel": {"low": 40, "high": 100}},
            "odds": {"shoot": [{"low": 0.25, "high": 0.75}, 0.4]},
        },
        "variants": [
            {"name": "alike", "mirror": True},
            {"name": "rich", "chance": 3, "bravo": {"points": {"goal": 12}}},
            {"name": "apart", "chance": 2, "alpha": {"patrols": {"formation": FORMATIONS}}},
        ],
    }
)
SINGLE = [
    geo_patrol_v0.parallel_env,
    geo_patrol_v0.env,
    geo_patrol_satellites_v0.parallel_env,
    lambda config: SoloGeoPatrol(config, opponent="idle"),
]


def info_of(env):
    """Return an info of the game as it is now."""
    if hasattr(env, "infos"):
        return env.infos["alpha"]
    info = env.view()[1]
    return info if "score" in info else next(iter(info.values()))


def value_of(config, key):
    value = config
    for part in key.split("."):
        value = value[int(part)] if part.isdecimal() else getattr(value, part)
    return value


@pytest.mark.parametrize("make", SINGLE)
def test_infos_say_what_was_sampled(make):
    env = make(config=CONFIG)
    env.reset(seed=1)
    seen = set()
    for _ in range(40):
        info, config = info_of(env), env.game().config
        assert NAMES[info["variant"]] == config.variant
        assert set(info["sampled"]) == {
            *(f"{side}.patrols.{key}" for side in ("alpha", "bravo") for key in ("count", "fuel")),
            *("alpha.odds.shoot.0", "bravo.odds.shoot.0", "alpha.patrols.formation"),
        }
        sampled = dict(info["sampled"])
        formation = sampled.pop("alpha.patrols.formation")
        assert sampled == {key: value_of(config, key) for key in sampled}
        seen.add((config.variant, formation, config.alpha.patrols.formation))
        env.reset()
    presets = load_config("geo_patrol").alpha.patrols.formation
    assert seen == {
        ("alike", 0, presets),
        ("rich", 0, presets),
        ("apart", 1, ((0, 10),)),
        ("apart", 2, ((-3, 5), (3, 5))),
    }


def test_sampled_values_fill_their_ranges_and_are_those_of_the_game():
    envs = make_vec(CONFIG, 1000, observation="tokens")
    values = envs.reset(seed=1)[1]["sampled"]
    games = envs.games()
    assert np.unique(values["alpha.patrols.count"]).tolist() == list(range(2, 6))
    assert np.unique(values["bravo.patrols.fuel"]).tolist() == list(range(40, 101))
    assert 0.25 <= values["alpha.odds.shoot.0"].min() < 0.26
    assert 0.74 < values["alpha.odds.shoot.0"].max() <= 0.75
    assert np.bincount(games.variant) / 1000 == pytest.approx([1 / 6, 3 / 6, 2 / 6], abs=0.05)
    for game in games[:50]:
        for side in SIDES:
            hva, *patrols = game.satellites(side)
            config = game.config.side(side)
            assert (len(patrols), hva.fuel) == (config.patrols.count, 100)
            assert {one.fuel for one in patrols} == {config.patrols.fuel}
            assert game.scores[side] == 200
        if game.config.variant == "alike":
            assert np.array_equal(game.observation("alpha"), game.observation("bravo"))


def test_sampled_values_are_the_same_in_a_batch():
    batch, env = Games(CONFIG, 16, seed=0), geo_patrol_v0.parallel_env(config=CONFIG)
    for seed, game in enumerate(batch):
        env.reset(seed=seed)
        assert env.game() == game
    assert len({row.tobytes() for row in batch.state.rules}) == 16


def test_overrides_take_precedence_over_variants_and_ranges():
    games = Games(CONFIG, 20, seed=1, overrides={"bravo.points.goal": 7, "both.patrols.fuel": 50, "mirror": False})
    assert {game.config.bravo.points.goal for game in games} == {7}
    assert {one.fuel for game in games for side in SIDES for one in game.satellites(side)[1:]} == {50}


def test_infos_do_not_share_what_was_sampled():
    env = geo_patrol_v0.parallel_env(config=CONFIG)
    _, infos = env.reset(seed=0)
    kept = dict(infos["bravo"]["sampled"])
    infos["alpha"]["sampled"].clear()
    assert infos["bravo"]["sampled"] == env.view()[1]["alpha"]["sampled"] == kept


def test_infos_of_steps_before_a_reset_stay_what_they_were():
    envs = make_vec(CONFIG, 8, max_cycles=3)
    _, infos = envs.reset(seed=2)
    fuel = infos["sampled"]["alpha.patrols.fuel"]
    before = fuel.copy()
    for _ in range(4):
        _, _, _, _, infos = envs.step(envs.sample_actions())
    assert np.array_equal(fuel, before)
    assert not np.array_equal(infos["sampled"]["alpha.patrols.fuel"], before)


def test_configurations_without_chance_have_no_sampled_values():
    env = geo_patrol_v0.parallel_env(config="case1")
    _, infos = env.reset(seed=0)
    assert infos["alpha"]["variant"] == -1
    assert "sampled" not in infos["alpha"]
    _, infos = make_vec("case1", 2).reset(seed=0)
    assert infos["variant"].tolist() == [-1] * 4
    assert "sampled" not in infos
    assert "sampled" not in infos["finished_episode"]


# The configuration of a running game


def test_the_configuration_of_a_game_is_what_was_sampled():
    game = Game(CONFIG, seed=4)
    assert not game.config.is_randomized
    assert game.config.variant in NAMES
    assert game.copy().config is game.config
    again = Game(game.config, seed=4)
    assert again.key == game.key
    game.step()
    again.step()
    assert again.key == game.key


def test_games_of_a_match_are_split_by_their_seeds():
    result = play_match("idle", "idle", config=load_config(CONFIG, {"turn_limit": 1}), games=40, seed=3)
    variants = Games(CONFIG, len(result), seed=result.seeds).variant
    names = [Game(CONFIG, seed=int(seed)).config.variant for seed in result.seeds]
    assert [NAMES[variant] for variant in variants] == names
    assert Games("case1", 3, seed=0).variant.tolist() == [-1] * 3


# Sensor ranges that are sampled

SENSORS = load_config(
    {
        "extends": "geo_patrol",
        "variants": [
            {"name": "open"},
            {"name": "short", "both": {"sensor_range": {"low": 1, "high": 3}}},
            {"name": "one-sided", "alpha": {"sensor_range": {"choices": [2, 5]}}},
        ],
    }
)
RANGES = {"open": {(0, 0)}, "short": {(i, j) for i in (1, 2, 3) for j in (1, 2, 3)}, "one-sided": {(2, 0), (5, 0)}}


def test_observations_and_infos_agree_on_sampled_sensor_ranges():
    env = geo_patrol_v0.parallel_env(config=SENSORS, observation="tokens")
    names = observation_names("tokens", hides_enemies=True)
    seen = {name: set() for name in RANGES}
    for seed in range(200):
        observations, infos = env.reset(seed=seed)
        config = env.game().config
        ranges = tuple(side.sensor_range or 0 for side in (config.alpha, config.bravo))
        seen[config.variant].add(ranges)
        assert config.hides_enemies == (config.variant != "open")
        assert tuple(infos["alpha"]["sampled"][f"{side}.sensor_range"] for side in SIDES) == ranges
        observation = dict(zip(names, observations["bravo"]["observation"].tolist(), strict=True))
        assert (observation["enemy_sensor_range"], observation["own_sensor_range"]) == ranges
    assert seen == RANGES


@pytest.mark.slow
def test_games_of_sampled_sensor_ranges_play_like_those_of_their_configuration():
    env = geo_patrol_v0.parallel_env(config=SENSORS)
    hidden = dict.fromkeys(RANGES, 0)
    for seed in range(6):
        env.reset(seed=seed)
        game, plain = env.game(), Game(env.game().config, seed=seed)
        while not game.is_over:
            actions = env.sample_actions()
            env.step(actions)
            game, phase = env.game(), plain.step(**actions)
            assert plain.position == game.position
            for side in SIDES:
                seen = game.seen_by(side)
                assert seen.position == plain.seen_by(side).position
                assert seen.config is game.config
                assert phase.seen_by(side).hides_enemies == game.config.hides_enemies
                hidden[game.config.variant] += len(seen.out_of_sight)
        restored = Game.restore(json.loads(json.dumps(game.save())))
        assert (restored, restored.config) == (game, game.config)
    assert hidden["open"] == 0
    assert min(hidden["short"], hidden["one-sided"]) > 0


def test_replays_keep_sampled_sensor_ranges(tmp_path):
    result = play_match("scripted", "random", config=SENSORS, games=12, seed=1, save=tmp_path / "games.jsonl")
    for seed, replay in zip(result.seeds, ReplayReader(tmp_path / "games.jsonl"), strict=True):
        assert replay.config == Game(SENSORS, seed=int(seed)).config
        assert check(replay) is None


# Weights


@pytest.mark.parametrize("make", SINGLE)
def test_resets_sample_by_the_weights_that_were_set(make):
    env = make(config=CONFIG)
    env.reset(seed=1)
    before = info_of(env)["variant"]
    env.set_variants({"rich": 0.5, "apart": 1.5, "alike": 0})
    assert info_of(env)["variant"] == before
    seen = []
    for _ in range(200):
        env.reset()
        seen.append(NAMES[info_of(env)["variant"]])
    assert set(seen) == {"rich", "apart"}
    assert np.mean([name == "apart" for name in seen]) == pytest.approx(3 / 4, abs=0.1)
    env.set_variants("alike")
    env.reset(seed=5)
    assert NAMES[info_of(env)["variant"]] == "alike"


def test_episodes_that_start_follow_the_weights_and_games_in_progress_go_on():
    envs = make_vec(CONFIG, 64, max_cycles=5)
    _, infos = envs.reset(seed=0)
    before = infos["variant"].copy()
    assert set(before) == {0, 1, 2}
    envs.set_variants({"apart": 1})
    for step in range(1, 8):
        _, _, _, _, infos = envs.step(envs.sample_actions())
        expected = before if step <= 5 else [2] * envs.num_envs
        assert infos["variant"].tolist() == list(expected)


def test_the_weights_of_the_configuration_sample_as_it_does():
    envs, others = make_vec(CONFIG, 64), make_vec(CONFIG, 64)
    others.set_variants({variant.name: variant.chance for variant in CONFIG.variants})
    for each in (envs, others):
        each.reset(seed=7)
    assert all(envs.game(i) == others.game(i) for i in range(64))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("aparts", "there is no variant 'aparts'; did you mean 'apart'? The variants are: alike, rich, apart."),
        ({5: 1}, "there is no variant 5. The variants are: alike, rich, apart."),
        ({"apart": -1}, "variant 'apart': weight must be a finite number of at least 0, got -1"),
        ({"apart": float("nan")}, "variant 'apart': weight must be a finite number of at least 0, got nan"),
        ({"apart": True}, "variant 'apart': weight must be a finite number of at least 0, got True"),
        ({"apart": 0}, "variants must have at least one with a positive weight, got {'apart': 0}"),
        ({}, "variants must have at least one with a positive weight, got {}"),
        (5, "variants must be a name, or a mapping of names to weights, got 5"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    envs = make_vec(CONFIG, 2)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        envs.set_variants(weights)


def test_weights_of_a_configuration_without_variants_are_refused():
    with pytest.raises(ValueError, match=r"there is no variant 'apart': 'Case 1.*' has none"):
        make_vec("case1", 2).set_variants("apart")


# Saves


def test_a_game_of_changed_weights_is_restored_as_it_was():
    env = geo_patrol_v0.parallel_env(config=CONFIG)
    env.set_variants("alike")
    games = []
    for seed in range(6):
        env.reset(seed=seed)
        env.step(env.sample_actions())
        saved = json.loads(json.dumps(env.save()))
        assert saved["games"][0]["chance"]["variant"] == "alike"
        other = geo_patrol_v0.parallel_env(config=CONFIG)
        other.restore(saved)
        assert other.game() == env.game()
        assert other.view()[1] == env.view()[1]
        assert Game.restore(env.game().save()) == env.game()
        games.append(env.game())
    assert {Game(CONFIG, seed=seed).config.variant for seed in range(6)} != {"alike"}


def test_restored_environments_keep_their_weights():
    env = geo_patrol_v0.parallel_env(config=CONFIG)
    env.reset(seed=0)
    saved = env.save()
    env.set_variants("apart")
    env.restore(saved)
    for _ in range(10):
        _, infos = env.reset()
        assert infos["alpha"]["variant"] == 2


@pytest.mark.slow
@given(st.data(), seeds)
def test_saved_games_hold_what_was_sampled(data, seed):
    game = Game(CONFIG, seed=seed)
    saved = json.loads(json.dumps(game.save()))
    restored = Game.restore(saved)
    assert (restored, restored.config) == (game, game.config)
    assert restored.save()["chance"] == saved["chance"]
    values = saved["chance"]["sampled"]
    i = data.draw(st.integers(0, len(values) - 1))
    values[i] = data.draw(st.sampled_from([-1, 101, 2.5, math.nan, True, "3", None]) | st.integers() | st.floats())
    with contextlib.suppress(RecordingError):  # or another value that can be sampled
        config = Game.restore(saved).config
        for side in SIDES:
            values = config.side(side)
            assert 2 <= values.patrols.count <= 5
            assert 40 <= values.patrols.fuel <= 100
            assert 0.25 <= values.odds.shoot[0] <= 0.75


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": None}, "saved game: chance.variant must be one of alike, rich, apart"),
        ({"sampled": None}, "saved game: chance.sampled must have 6 values, got 0"),
        ({"sampled": [6, 40, 0.5, 2, 40, 0.5]}, "saved game: chance.sampled.0 must be an integer from 2 to 5, got 6"),
        ({"sampled": [2, 40.5, 0.5, 2, 40, 0.5]}, "chance.sampled.1 must be an integer from 40 to 100, got 40.5"),
        ({"sampled": [2, 40, 1, 2, 40, 0.5]}, "saved game: chance.sampled.2 must be a number from 0.25 to 0.75, got 1"),
        ({"sampled": [2, 40, math.nan, 2, 40, 0.5]}, "chance.sampled.2 must be a number from 0.25 to 0.75, got nan"),
        ({"variant": "alike"}, "saved game: chance.sampled must have 3 values, got 6"),
        ({"variant": "apart", "sampled": [2, *[2, 40, 0.5] * 2]}, "sampled.0 must be an integer from 0 to 1, got 2"),
    ],
)
def test_saved_games_of_what_cannot_be_sampled_are_refused(changes, message):
    saved = Game(CONFIG, seed=4).save()
    assert saved["chance"]["variant"] == "rich"
    saved["chance"] |= changes
    with pytest.raises(RecordingError, match=re.escape(message)):
        Game.restore(saved)


@pytest.mark.parametrize(
    ("config", "right"),
    [(CONFIG, "one of alike, rich, apart"), ("case1", "left out, as the configuration has no variants")],
)
def test_saved_games_of_an_unknown_variant_are_refused(config, right):
    saved = Game(config, seed=0).save()
    saved["chance"]["variant"] = "poor"
    with pytest.raises(RecordingError, match=f"saved game: chance.variant must be {right}, got 'poor'"):
        Game.restore(saved)


# Single Patrols

SINGLE_PATROLS = load_config(
    {
        "extends": "case1",
        "both": {"patrols": {"fuel": {"low": 40, "high": 100}}},
        "alpha": {"patrols": {"single": {"2": {"fuel": {"low": 10, "high": 20}, "ammo": {"choices": [0, 5]}}}}},
        "variants": [
            {"name": "alike", "mirror": True},
            {"name": "apart", "bravo": {"patrols": {"count": 3, "single": {"1": {"ammo": 9}, "8": {"fuel": 1}}}}},
        ],
    }
)


def test_supplies_of_single_patrols_are_sampled_saved_and_part_of_the_configuration():
    for game in Games(SINGLE_PATROLS, 40, seed=0):
        assert game.config.variant in ("alike", "apart")
        alpha, bravo = game.satellites("alpha"), game.satellites("bravo")
        assert 10 <= alpha[2].fuel <= 20
        assert alpha[2].ammo in (0, 5)
        assert 40 <= alpha[1].fuel == alpha[3].fuel <= 100
        if game.config.variant == "alike":
            assert [(one.fuel, one.ammo) for one in bravo] == [(one.fuel, one.ammo) for one in alpha]
        else:
            assert [one.ammo for one in bravo] == [0, 9, 3, 3]
        alone = Game(game.config, seed=5)
        assert (alone.position.fuel, alone.position.ammo) == (game.position.fuel, game.position.ammo)
        assert alone.scores == game.scores
        assert Game.restore(json.loads(json.dumps(game.save()))) == game
    _, infos = geo_patrol_v0.parallel_env(config=SINGLE_PATROLS).reset(seed=1)
    single = (f"alpha.patrols.single.2.{name}" for name in ("fuel", "ammo"))
    assert set(infos["alpha"]["sampled"]) == {"alpha.patrols.fuel", "bravo.patrols.fuel", *single}


def test_single_patrols_without_values_of_their_own_change_nothing():
    plain = load_config("case1")
    values = {"both.patrols.single": {"3": {}, "1": {"fuel": 60}}, "alpha.patrols.single.1.fuel": 100}
    single = load_config("case1", values)
    assert "single" not in plain.to_dict()["alpha"]["patrols"]
    mine, theirs = Game(plain, seed=3), Game(single, seed=3)
    for game in (mine, theirs):
        play_on(game, 12, seed=4)
    assert np.array_equal(mine.observation("alpha"), theirs.observation("alpha"))
    assert mine.position == theirs.position


# The split of the package


def test_scenarios_that_are_held_out_leave_the_ranges_of_those_to_train_on():
    train, held_out = load_config("generalization/train"), load_config("generalization/held_out")
    assert not {variant.name for variant in train.variants} & {variant.name for variant in held_out.variants}
    for index in range(len(held_out.variants)):
        games = Games(held_out, 200, seed=0)
        config = games[int(np.flatnonzero(games.variant == index)[0])].config
        patrols, costs, odds = config.alpha.patrols, config.alpha.costs, config.alpha.odds
        is_inside = (
            3 <= patrols.count <= 10
            and 40 <= patrols.fuel <= 100
            and patrols.ammo <= 4
            and (odds.shoot, odds.guard) == ((0.8, 0.4), (0.8, 0.4))
            and costs.prograde == 5
            and max(abs(offset) for offset, _ in patrols.formation) <= 2
            and len(patrols.formation) > 1
        )
        assert not is_inside, config.variant
        assert config.alpha == config.bravo
