"""RLlib's PPO on the environment: its checks, masks, and batches of games as episodes."""

import itertools

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from geo_patrol import make_vec
from geo_patrol.adapters.rllib import MultiAgentGeoPatrol, OrderModule, RLlibOrderDistribution, ppo_config

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment")  # RLlib registers one for every runner
torch.set_num_threads(1)
SMALL = {"train_batch_size_per_learner": 256, "minibatch_size": 64, "num_epochs": 1}
CASE1 = {"config": "case1", "reward": "outcome"}


@pytest.fixture
def build():
    """Return a function that builds an algorithm, which is stopped in the end."""
    algorithms = []

    def make(config):
        algorithms.append(config.debugging(seed=0, log_level="ERROR").build_algo())
        return algorithms[-1]

    yield make
    for algorithm in algorithms:
        algorithm.stop()


@pytest.mark.parametrize("agents", ["sides", "satellites"])
@pytest.mark.parametrize("observation", ["onehot", "tokens"])
def test_the_environment_passes_the_checks_of_rllib(agents, observation):
    check_multiagent_environments(MultiAgentGeoPatrol({**CASE1, "agents": agents, "observation": observation}))


def test_unknown_agents_are_named():
    with pytest.raises(ValueError, match="agents must be 'sides' or 'satellites', got 'teams'"):
        MultiAgentGeoPatrol({"agents": "teams"})


def test_a_game_ends_for_both_agents_at_once():
    env = MultiAgentGeoPatrol({**CASE1, "max_cycles": 3})
    env.reset(seed=1)
    for step in range(3):
        _, rewards, terminations, truncations, _ = env.step(env.game.sample_actions())
        assert set(rewards) == {"alpha", "bravo"}
        assert terminations == dict.fromkeys(("alpha", "bravo", "__all__"), False)
        assert truncations == dict.fromkeys(("alpha", "bravo", "__all__"), step == 2)


def play_satellites(max_cycles=None):
    """Play a game at random; return its agents and the results of every step."""
    env = MultiAgentGeoPatrol({**CASE1, "agents": "satellites", "max_cycles": max_cycles})
    env.reset(seed=1)
    generator, played = np.random.default_rng(1), []
    while env.agents:
        orders = {agent: generator.choice(np.flatnonzero(env.game.action_masks(agent))) for agent in env.agents}
        played.append((list(env.agents), *env.step(orders)))
    return env, played


def test_satellites_leave_when_they_are_destroyed():
    env, played = play_satellites()
    assert played[0][0] == env.possible_agents
    for (agents, observations, _, terminations, truncations, _), following in itertools.pairwise(played):
        assert agents == list(observations)
        assert not terminations.pop("__all__")
        assert not any(truncations.values())
        assert following[0] == [agent for agent in agents if not terminations[agent]]
    assert len(played[-1][0]) < len(env.possible_agents)
    assert all(played[-1][3].values())


def test_a_game_that_is_cut_short_when_a_satellite_is_destroyed_is_truncated():
    _, played = play_satellites()
    destroyed = next(step for step, (*_, terminations, _, _) in enumerate(played) if any(terminations.values()))
    env, played = play_satellites(max_cycles=destroyed + 1)
    terminations, truncations = played[-1][3:5]
    assert any(terminations.values())
    assert {agent: terminations[agent] != truncations[agent] for agent in terminations} == dict.fromkeys(
        terminations, True
    )
    assert truncations["__all__"]
    assert env.agents == []


def satellites(**options):
    """Return a configuration with one policy for the HVAs and another for all Patrols."""
    return (
        PPOConfig()
        .environment(MultiAgentGeoPatrol, env_config={**CASE1, "agents": "satellites", **options})
        .env_runners(num_env_runners=0)
        .multi_agent(
            policies={"hva", "patrol"},
            policy_mapping_fn=lambda agent, *_, **__: "hva" if agent.endswith("_0") else "patrol",
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=OrderModule))
        .training(**SMALL | {"train_batch_size_per_learner": 64})
    )


def test_satellites_train_with_shared_parameters(build):
    algorithm = build(satellites())
    before = algorithm.get_module("patrol").state_dict()["pi.net.mlp.0.weight"].clone()
    results = algorithm.train()
    assert {"hva", "patrol"} < set(results["learners"])
    assert (algorithm.get_module("patrol").state_dict()["pi.net.mlp.0.weight"] != before).any()


@pytest.mark.parametrize("observation", ["onehot", "tokens"])
def test_satellites_give_legal_orders_until_they_are_destroyed(build, observation):
    algorithm = build(satellites(observation=observation))
    lengths = set()
    for game in algorithm.env_runner.sample(num_episodes=2):
        for episode in game.agent_episodes.values():
            masks = episode.get_observations(slice(0, len(episode)))["action_mask"]
            assert np.take_along_axis(masks, episode.get_actions()[:, None], 1).all()
            assert episode.is_terminated
            lengths.add(len(episode) < len(game))
    assert lengths == {False, True}


def test_rllibs_own_multi_agent_runners_train_two_policies(build):
    config = (
        PPOConfig()
        .environment(MultiAgentGeoPatrol, env_config=CASE1)
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"alpha", "bravo"}, policy_mapping_fn=lambda agent, *_, **__: agent)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=OrderModule))
        .training(**SMALL)
    )
    results = build(config).train()
    assert results["env_runners"]["num_agent_steps_sampled"] == {"alpha": 256, "bravo": 256}
    assert set(results["learners"]) > {"alpha", "bravo"}


def test_two_iterations_of_self_play_change_the_weights_and_give_no_illegal_order(build):
    algorithm = build(ppo_config("case1", num_envs=16, opponent=None, reward="outcome").training(**SMALL))
    before = algorithm.get_module().state_dict()["pi.net.mlp.0.weight"].clone()
    results = [algorithm.train() for _ in range(2)][-1]
    assert results["env_runners"]["num_env_steps_sampled_lifetime"] == 512
    assert (algorithm.get_module().state_dict()["pi.net.mlp.0.weight"] != before).any()
    runner = algorithm.env_runner
    runner.sample(num_timesteps=640)
    assert not runner.env.unwrapped.step(runner._forward(explore=True)["actions"])[-1]["illegal_orders"].any()


@pytest.mark.parametrize("explore", [True, False])
def test_the_module_never_gives_an_illegal_order(build, explore):
    algorithm = build(ppo_config("geo_patrol", num_envs=32, opponent="scripted", seats="alternate").training(**SMALL))
    runner = algorithm.env_runner
    for episode in runner.sample(num_timesteps=32 * 20, explore=explore):
        masks = episode.get_observations(slice(0, len(episode)))["action_mask"]
        actions = episode.get_actions()
        assert np.take_along_axis(masks, actions[..., None], 2).all()


def test_samples_hold_the_games_of_the_vector_environment(build):
    """Replays the actions of a sample in a vector environment of its own."""
    algorithm = build(ppo_config("case1", num_envs=4, opponent=None, reward="score", max_cycles=7).training(**SMALL))
    num_steps = 10
    episodes = algorithm.env_runner.sample(num_timesteps=4 * num_steps)
    assert [len(episode) for episode in episodes] == [7, 3] * 4
    assert [episode.is_truncated for episode in episodes] == [True, False] * 4

    envs = make_vec("case1", 2, mask_in="obs", autoreset="same_step", max_cycles=7)
    observations, _ = envs.reset(seed=0)
    for step in range(num_steps):
        index, row = divmod(step, 7)
        of_step = [episodes[2 * env + index] for env in range(4)]
        for name in observations:
            seen = [episode.get_observations(row)[name] for episode in of_step]
            np.testing.assert_array_equal(seen, observations[name])
        actions = np.array([episode.get_actions(row) for episode in of_step])
        observations, rewards, _, _, infos = envs.step(actions)
        np.testing.assert_array_equal([episode.get_rewards(row) for episode in of_step], rewards)
        if step == 6:
            last = [episode.get_observations(-1)["observation"] for episode in of_step]
            np.testing.assert_array_equal(last, infos["final_obs"]["observation"])


def test_metrics_are_those_of_whole_episodes(build):
    algorithm = build(ppo_config("case1", num_envs=8, opponent="idle", max_cycles=10).training(**SMALL))
    results = algorithm.train()["env_runners"]
    assert results["episode_len_mean"] == 10
    assert results["num_episodes"] == 8 * (256 // 8 // 10)
    assert results["agent_episode_return_mean"]["default_agent"] == results["episode_return_mean"]
    counted = algorithm.env_runner.take_results()
    assert {name for name, _ in counted} == {"idle"}
    assert counted.total() == results["num_episodes"]
    assert not algorithm.env_runner.take_results()


def test_runners_in_processes_of_their_own_play_other_games(build):
    config = ppo_config("case1", num_envs=8, opponent="random").env_runners(num_env_runners=2).training(**SMALL)
    samples = build(config).env_runner_group.foreach_env_runner(
        lambda runner: runner.sample(num_timesteps=64), local_env_runner=False
    )
    first, second = ([episode.get_actions().tolist() for episode in episodes] for episodes in samples)
    assert first != second


def test_orders_of_the_distribution_are_independent_and_masked():
    logits = torch.zeros(2, 11, 28).fill_(-1e9)
    logits[:, :, 4] = 0.0
    logits[:, :, 9] = 1.0
    orders = RLlibOrderDistribution.from_logits(logits.flatten(1))
    assert set(orders.sample().unique().tolist()) == {4, 9}
    expected = 11 * torch.log_softmax(torch.tensor([0.0, 1.0]), 0)
    torch.testing.assert_close(orders.logp(torch.full((2, 11), 9)), expected[1].expand(2))
    assert (orders.to_deterministic().sample() == 9).all()
    torch.testing.assert_close(orders.kl(orders), torch.zeros(2))
    assert RLlibOrderDistribution.required_input_dim(make_vec("case1").single_action_space) == 308
