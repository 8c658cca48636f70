"""Checkpoints of RLlib play as agents."""

import re

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from geo_patrol import AgentError, make_agent, make_vec, play_match
from geo_patrol.adapters.rllib import MultiAgentGeoPatrol, OrderModule, ppo_config
from geo_patrol.agents.isolation.agent import IsolatedAgent, make_match_agent

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment")
MODULE = "learner_group/learner/rl_module/default_policy"


@pytest.fixture(scope="module")
def algorithm():
    algorithm = ppo_config("case1", num_envs=8, opponent="random").debugging(seed=0).build_algo()
    yield algorithm
    algorithm.stop()


@pytest.fixture(scope="module")
def checkpoint(algorithm, tmp_path_factory):
    return algorithm.save_to_path(str(tmp_path_factory.mktemp("rllib")))


@pytest.mark.parametrize("folder", ["", f"/{MODULE}"])
def test_the_agent_plays_by_the_weights_of_the_checkpoint(algorithm, checkpoint, folder):
    agent = make_agent(f"rllib:{checkpoint}{folder},greedy")
    observations, infos = make_vec("case1", 20).reset(seed=0)
    seen = {"observation": observations, "action_mask": infos["action_mask"]}
    with torch.no_grad():
        batch = {Columns.OBS: {name: torch.from_numpy(array) for name, array in seen.items()}}
        logits = algorithm.get_module().forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
    orders = agent.act(observations, infos["action_mask"], np.random.default_rng(0))
    np.testing.assert_array_equal(orders, logits.view(-1, 11, 28).argmax(-1))


def test_it_plays_a_match_in_a_process_of_its_own(checkpoint):
    agent = make_match_agent(f"rllib:{checkpoint}")
    assert isinstance(agent, IsolatedAgent)
    result = play_match(agent, "random", config="case1", games=20, seed=0)
    agent.close()
    assert len(result) == 20
    assert result.illegal_orders.sum() == 0


def test_a_checkpoint_of_several_modules_names_them(checkpoint, tmp_path):
    for name in ("alpha", "bravo"):
        module = tmp_path / "learner_group" / "learner" / "rl_module" / name
        module.mkdir(parents=True)
        (module / "class_and_ctor_args.pkl").touch()
    message = f"agent 'rllib:{tmp_path}': it has the modules alpha, bravo: the folder must be that of one"
    with pytest.raises(AgentError, match=re.escape(message)):
        make_agent(f"rllib:{tmp_path}")


@pytest.mark.parametrize("observation", ["onehot", "tokens"])
def test_a_module_of_satellites_orders_for_each_of_them(observation, tmp_path):
    env = MultiAgentGeoPatrol({"config": "case1", "agents": "satellites", "observation": observation})
    spaces = {"observation_space": env.observation_spaces["alpha_0"], "action_space": env.action_spaces["alpha_0"]}
    torch.manual_seed(0)
    module = RLModuleSpec(module_class=OrderModule, model_config={}, **spaces).build()
    module.save_to_path(str(tmp_path / "module"))
    agent = make_agent(f"rllib:{tmp_path / 'module'},greedy")
    seen, _ = env.reset(seed=3)
    games = env.game.game().as_games()
    for side, name in enumerate(("alpha", "bravo")):
        observations, masks = games.observe(observation)[:, side], games.action_masks()[:, side]
        orders = agent.act(observations, masks, np.random.default_rng(0))[0]
        for agent_name in (of_side for of_side in seen if of_side.startswith(name)):
            number, mine = int(agent_name.removeprefix(f"{name}_")), seen[agent_name]
            with torch.no_grad():
                batch = {Columns.OBS: {name: torch.from_numpy(array)[None] for name, array in mine.items()}}
                logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS][0]
            assert orders[number] == logits.argmax()
