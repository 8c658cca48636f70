"""TorchRL plays many games as one batched environment, and trains a policy whose orders are all legal."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

with warnings.catch_warnings():  # the library warns of classes of its own
    warnings.simplefilter("ignore", DeprecationWarning)
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs.utils import check_env_specs

from geo_patrol import make_vec
from geo_patrol.adapters.torchrl import TorchRLEnv, make_actor

OPTIONS = [
    {},
    {"observation": "tokens"},
    {"opponent": {"random": 1, "scripted": 1}, "seats": "alternate", "reward": "outcome"},
    {"max_cycles": 9, "count_events": True},
]
NUM_GAMES = 4
NOOP, COLLIDE = 0, 16


def make(**options):
    return TorchRLEnv("case1", NUM_GAMES, **options)


def always(code):
    """Return a policy that gives all satellites one order."""
    orders = lambda observations: torch.full((*observations.shape[:-1], 11), code)  # noqa: E731
    return TensorDictModule(orders, in_keys=["observation"], out_keys=["action"])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_specs(options):
    check_env_specs(make(**options), seed=0)


def test_it_plays_what_the_vector_environment_plays():
    env, envs = make(reward="score"), make_vec("case1", NUM_GAMES, reward="score", autoreset="same_step")
    env.set_seed(3)
    batch = env.rollout(60, always(NOOP), break_when_any_done=False)
    observations, infos = envs.reset(seed=3)
    num_over = 0
    for step in range(60):
        played = batch[:, step]
        assert (played["observation"].numpy() == observations).all()
        assert (played["action_mask"].numpy() == infos["action_mask"].astype(bool)).all()
        observations, rewards, terminations, _, infos = envs.step(np.zeros((2 * NUM_GAMES, 11), np.int64))
        after = played["next"]
        assert (after["reward"].squeeze(-1).numpy() == rewards).all()
        assert (after["done"].squeeze(-1).numpy() == terminations).all()
        assert (after["outcome"].squeeze(-1).numpy() == infos["finished_episode"]["outcome"]).all()
        last = np.where(terminations[:, None], infos["final_obs"], observations)
        assert (after["observation"].numpy() == last).all()
        num_over += terminations.sum()
    assert num_over > 0


def test_resetting_one_game_leaves_the_others_alone():
    env = make()
    env.set_seed(0)
    before = env.rollout(5, always(NOOP))[:, -1]["next"]
    selected = torch.zeros((2 * NUM_GAMES, 1), dtype=torch.bool)
    selected[2:4] = True
    after = env.reset(before.clone().set("_reset", selected))
    assert (after["turn"].squeeze(-1)[2:4] == 0).all()
    others = ~selected.squeeze(-1)
    assert (before["turn"][others] > 0).all()
    assert (after["observation"][others] == before["observation"][others]).all()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_random_actions_are_legal(options):
    batch = make(**options).rollout(80, break_when_any_done=False)
    assert batch["next", "done"].any()
    assert batch["next", "illegal_orders"].sum() == 0
    assert (batch["action"] > 0).any()


def test_illegal_orders_are_counted():
    batch = make().rollout(3, always(COLLIDE))
    assert batch["next", "illegal_orders"].sum() > 0


def test_truncated_games_are_not_terminated():
    ends = make(max_cycles=3, reward="outcome").rollout(3, always(NOOP))[:, -1]["next"]
    assert ends["truncated"].all()
    assert not ends["terminated"].any()
    assert ends["done"].all()


def test_a_collector_with_an_actor_orders_nothing_illegal():
    env = make(opponent="scripted", seats="alternate")
    collector = Collector(
        env, make_actor(torch.nn.Linear(1591, 308)), frames_per_batch=240, total_frames=240,
        auto_register_policy_transforms=False,
    )  # fmt: skip
    (batch,) = collector
    assert batch["next", "illegal_orders"].sum() == 0
    assert batch["action_mask"].gather(-1, batch["action"].unsqueeze(-1)).all()
    assert batch["action_log_prob"].shape == batch.shape
    assert batch["next", "done"].any()
