"""Self-play on RLlib: opponents, rewards, promotion by a sequential test, and checkpoints that go on."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from geo_patrol import make_agent, play_match
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.evaluation.statistics import Sprt
from geo_patrol.training.rllib import (
    SELF,
    LeaguePPO,
    PastPolicy,
    PolicyModule,
    evaluate_against,
    get_state,
    league_config,
    play_sequentially,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment")
torch.set_num_threads(1)
SETTINGS = {"opponents": ("random", "idle"), "total_steps": 2_000, "candidate_interval": 2, "resample_interval": 1}


def build(**settings):
    config = league_config("case1", num_envs=16, **SETTINGS | settings)
    return config.debugging(seed=0, log_level="ERROR").build_algo()


@pytest.fixture(scope="module")
def trained():
    algorithm = build()
    results = [algorithm.train() for _ in range(2)]
    yield algorithm, results
    algorithm.stop()


def test_it_trains_and_reports_the_league(trained):
    algorithm, results = trained
    assert algorithm.num_steps == 2 * 16 * 16
    assert set(results[-1]["league"]["win_rate"]) >= {"random", "idle", "policy at step 0"}
    learner = results[-1]["learners"]["default_policy"]
    assert np.isfinite(learner["policy_loss"])
    assert learner["entropy"] > 0
    before = algorithm.league.past_policies["policy at step 0"].state
    after = get_state(algorithm)
    assert before.keys() == after.keys()
    assert any((before[name] != after[name]).any() for name in before)


def test_the_step_size_declines(trained):
    _, (first, second) = trained
    learning_rates = [
        results["learners"]["default_policy"]["default_optimizer_learning_rate"] for results in (first, second)
    ]
    assert learning_rates[1] < learning_rates[0] < 1e-3


def test_orders_are_legal_and_their_log_probabilities_those_of_the_learner(trained):
    algorithm, _ = trained
    module, runner = algorithm.get_module(), algorithm.env_runner
    episode = max(runner.sample(num_timesteps=16 * 16), key=len)
    observations, actions = episode.get_observations(slice(0, len(episode))), episode.get_actions()
    assert np.take_along_axis(observations["action_mask"], actions[..., None], 2).all()
    batch = {Columns.OBS: {name: torch.from_numpy(array) for name, array in observations.items()}}
    with torch.no_grad():
        logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS].view(-1, 11, 28)
    expected = logits.log_softmax(-1).gather(-1, torch.from_numpy(actions)[..., None]).squeeze(-1)
    np.testing.assert_allclose(episode.get_extra_model_outputs("order_log_probs"), expected, atol=1e-5)
    np.testing.assert_allclose(episode.get_extra_model_outputs(Columns.ACTION_LOGP), expected.sum(1), atol=1e-4)


def test_opponents_of_new_games_come_from_the_mixture(trained):
    algorithm, _ = trained
    runner, state = algorithm.env_runner, get_state(algorithm)
    envs = runner.env.unwrapped
    runner.set_league([("random", 0.25), (SELF, 0.5), (PastPolicy("old", state), 0.25)], 0.5)
    past = runner._past["old"]
    runner.sample(num_timesteps=16 * 400)
    runner.take_results()
    runner.sample(num_timesteps=16 * 100)
    assert {name for name, _ in runner.take_results()} == {"random", SELF, "old"}
    num_opponents = len(envs.opponent_names)
    runner.set_league([(PastPolicy("old", state), 1.0)], 0.5)
    assert runner._past == {"old": past}
    assert len(envs.opponent_names) == num_opponents


def test_rewards_are_the_outcome_and_a_fraction_of_the_score(trained):
    algorithm, _ = trained
    infos = {"finished_episode": {"outcome": np.array([0, 1, -1])}}
    algorithm.env_runner.set_league([("random", 1.0)], 0.5)
    rewards = algorithm.env_runner.shape_rewards(np.array([100.0, 20.0, 0.0]), infos)
    np.testing.assert_allclose(rewards, [0.5, 1.1, -1])


@pytest.mark.parametrize(("verdict", "num_past_policies"), [("elo1", 2), ("elo0", 1), (None, 1)])
def test_a_policy_joins_the_league_if_the_test_says_that_it_is_stronger(monkeypatch, verdict, num_past_policies):
    monkeypatch.setattr(LeaguePPO, "test_candidate", lambda _: verdict)
    algorithm = build()
    algorithm.train()
    assert len(algorithm.league.past_policies) == 1  # a candidate every second iteration
    algorithm.train()
    assert len(algorithm.league.past_policies) == num_past_policies
    algorithm.stop()


def test_candidates_play_the_newest_past_policy():
    config = league_config("case1", num_envs=16, **SETTINGS, promotion=Sprt(0, 100))
    base = RLModuleSpec(module_class=PolicyModule, model_config={"initial_policy": "base"})
    algorithm = config.rl_module(rl_module_spec=base).debugging(seed=0).build_algo()
    assert algorithm.test_candidate() != "elo1"  # the newest past policy is the policy itself
    random_weights = PolicyModule(**vars_of(algorithm.get_module()), model_config={"seed": 1}).get_state()
    algorithm.league.add("weaker", PastPolicy("weaker", random_weights))
    assert algorithm.test_candidate() == "elo1"
    algorithm.stop()


def vars_of(module):
    return {"observation_space": module.observation_space, "action_space": module.action_space}


def test_sequential_tests_stop_at_a_verdict_and_at_the_limit():
    arguments = {"config": "case1", "seed": 0}
    test = Sprt(0, 50)
    assert play_sequentially(RandomAgent(), make_agent("scripted"), test, max_games=400, **arguments) == "elo0"
    assert play_sequentially(make_agent("scripted"), RandomAgent(), test, max_games=400, **arguments) == "elo1"
    assert play_sequentially(IdleAgent(), make_agent("turtle"), Sprt(0, 1), max_games=20, **arguments) is None


def test_a_checkpoint_goes_on_and_plays(trained, tmp_path):
    algorithm, _ = trained
    algorithm.save_to_path(str(tmp_path / "checkpoint"))
    restored = build()
    restored.restore_from_path(str(tmp_path / "checkpoint"))
    assert restored.num_steps == algorithm.num_steps
    assert restored.training_iteration == algorithm.training_iteration
    assert list(restored.league.past_policies) == list(algorithm.league.past_policies)
    assert restored.league.results == algorithm.league.results
    state, expected = get_state(restored), get_state(algorithm)
    assert all((state[name] == expected[name]).all() for name in expected)
    results = restored.train()
    assert restored.num_steps == algorithm.num_steps + 16 * 16
    assert results["training_iteration"] == algorithm.training_iteration + 1
    restored.stop()
    assert play_match(f"rllib:{tmp_path}/checkpoint", "random", config="case1", games=10).illegal_orders.sum() == 0


def test_evaluations_by_name(trained):
    algorithm, _ = trained
    win_rates = evaluate_against(algorithm, ("random", "scripted"), games=20, config="case1")
    assert win_rates["scripted"].low <= win_rates["scripted"].value <= win_rates["random"].high


def test_runners_in_processes_of_their_own_play_the_league():
    config = league_config("case1", num_envs=8, **SETTINGS | {"candidate_interval": 1, "max_test_games": 2})
    algorithm = config.env_runners(num_env_runners=2).build_algo()
    before = get_state(algorithm)
    results = [algorithm.train() for _ in range(3)][-1]
    assert any((before[name] != array).any() for name, array in get_state(algorithm).items())
    assert results["env_runners"]["num_env_steps_sampled"] == 8 * 16
    assert sum(map(len, algorithm.league.results.values())) > 0
    algorithm.stop()
