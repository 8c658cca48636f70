"""The arithmetic of PPO."""

import math
from copy import deepcopy

import pytest

torch = pytest.importorskip("torch")

from geo_patrol.training.config import METHODS
from geo_patrol.training.network import NetworkOutput, sample_actions
from geo_patrol.training.ppo import RolloutBuffer, explained_variance, mean_divergence, update_policy

GAMMA, GAE_LAMBDA = 0.97, 0.9


def test_advantages_equal_a_plain_loop():
    generator = torch.Generator().manual_seed(1)
    rollout = RolloutBuffer(7, 5, torch.device("cpu"))
    rollout.rewards = torch.randn((7, 5), generator=generator)
    rollout.values = torch.randn((8, 5), generator=generator)
    rollout.dones = torch.rand((7, 5), generator=generator) < 0.3
    advantages = rollout.advantages(GAMMA, GAE_LAMBDA)
    for env in range(5):
        for step in range(7):
            total, weight = 0.0, 1.0
            for later in range(step, 7):
                done = bool(rollout.dones[later, env])
                next_value = 0.0 if done else float(rollout.values[later + 1, env])
                delta = float(rollout.rewards[later, env]) + GAMMA * next_value - float(rollout.values[later, env])
                total += weight * delta
                weight *= GAMMA * GAE_LAMBDA
                if done:
                    break
            assert advantages[step, env] == pytest.approx(total, abs=1e-5)


def test_an_update_makes_rewarded_orders_more_likely(make_trainer):
    trainer = make_trainer(num_steps=8, num_minibatches=4, config=("geo_patrol",))
    network, optimizer, rollout = trainer.state.network, trainer.state.optimizer, trainer.rollout
    rollout.collect(network, trainer.envs)
    target = rollout.actions[:, :, 1:].eq(0).float().mean(2)  # the more Patrols do nothing, the better
    rollout.rewards[:] = target - target.mean()
    rollout.values[:] = 0
    rollout.dones[:] = True
    before = sample_actions(network, rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))[0]
    for group in optimizer.param_groups:
        group["lr"] = 0.003
    for _ in range(5):
        metrics = update_policy(network, optimizer, rollout, trainer.config, 0.0)
    after = sample_actions(network, rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))[0]
    assert after[:, 1:].eq(0).float().mean() > before[:, 1:].eq(0).float().mean() + 0.02
    names = {"policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac", "explained_variance"}
    assert metrics.keys() == names
    assert all(map(math.isfinite, metrics.values()))


def test_explained_variance():
    returns = torch.tensor([1.0, 2.0, 4.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(torch.zeros(3), returns) == pytest.approx(0)
    assert math.isnan(explained_variance(returns, torch.ones(3)))


def fill(trainer, seed=1):
    torch.manual_seed(seed)
    trainer.rollout.collect(trainer.state.network, trainer.envs)
    return trainer


def test_the_gradient_of_the_divergence_equals_a_numerical_one():
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn((4, 28), generator=generator, dtype=torch.float64, requires_grad=True)
    magnet_logits = torch.randn((4, 28), generator=generator, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: mean_divergence(x, magnet_logits), (logits,))
    probabilities, magnet = logits.detach().softmax(1), magnet_logits.softmax(1)
    expected = (probabilities * (probabilities / magnet).log()).sum() / 4
    logits = logits.detach()
    assert float(mean_divergence(logits, magnet_logits)) == pytest.approx(float(expected))
    assert float(mean_divergence(logits, logits)) == 0


def test_illegal_orders_add_nothing_to_the_divergence():
    legal = torch.tensor([[0.5, -1.0]])
    padded = torch.tensor([[0.5, -1.0, -1e9]])
    assert float(mean_divergence(padded, torch.tensor([[0.0, 0.0, -1e9]]))) == pytest.approx(
        float(mean_divergence(legal, torch.zeros(1, 2)))
    )


@pytest.mark.parametrize(("magnet_coef", "is_same"), [(0.0, True), (0.5, False)])
def test_with_coefficient_0_a_magnet_changes_nothing(make_trainer, random_network, magnet_coef, is_same):
    weights = []
    for magnet in (None, random_network):
        trainer = fill(make_trainer(magnet_coef=magnet_coef))
        torch.manual_seed(2)
        with torch.no_grad():
            for parameter in random_network.parameters():
                parameter.mul_(1.5)
        state = trainer.state
        update_policy(state.network, state.optimizer, trainer.rollout, trainer.config, 0.01, magnet)
        weights.append(state.network.weights())
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0]) == is_same


def test_a_magnet_holds_the_policy_back(make_trainer):
    metrics = {}
    for magnet_coef in (1e-6, 5.0):
        torch.manual_seed(1)
        trainer = make_trainer(magnet_coef=magnet_coef, average_step_size=0.0, learning_rate=0.01, anneal_lr=False)
        metrics[magnet_coef] = [trainer.iterate()["losses/magnet_kl"] for _ in range(3)][-1]
    assert 0 < metrics[5.0] < metrics[1e-6] / 2


def test_a_magnet_with_an_interval_stands_still_and_is_then_renewed(make_trainer):
    trainer = make_trainer(magnet_coef=0.2, magnet_interval=2 * 16 * 64, learning_rate=0.01)
    state, first = trainer.state, trainer.state.network.weights()
    trainer.iterate()
    assert all((state.magnet.weights()[name] == first[name]).all() for name in first)
    trainer.iterate()
    renewed = state.network.weights()
    assert all((state.magnet.weights()[name] == renewed[name]).all() for name in first)
    trainer.iterate()
    assert all((state.magnet.weights()[name] == renewed[name]).all() for name in first)
    assert any((state.network.weights()[name] != renewed[name]).any() for name in first)


class Table(torch.nn.Module):
    """A policy of the game ``AllOrNone``: logits for alpha and for bravo, by component."""

    def __init__(self, components):
        super().__init__()
        self.logits = torch.nn.Parameter(torch.randn(2, 11, components, 28) * 0.5)
        self.component_logits = torch.nn.Parameter(torch.zeros(2, components))
        self.values = torch.nn.Parameter(torch.zeros(2))
        self.device = torch.device("cpu")

    def forward(self, observations, masks):
        sides = observations[:, 0].long()
        choices = (masks.sum(2) > 1).view(-1).nonzero()[:, 0]
        logits = self.logits[sides].flatten(0, 1)[choices]
        logits = logits.masked_fill(~masks.view(-1, 1, 28)[choices], -1e9)
        return NetworkOutput(choices, logits, self.component_logits[sides], self.values[sides])


class AllOrNone:
    """A matrix game: alpha's two satellites must agree, and bravo must not guess on what; else alpha loses."""

    def __init__(self, num_games):
        self.observations = torch.zeros((2 * num_games, 249), dtype=torch.int16)
        self.observations[1::2, 0] = 1
        self.masks = torch.zeros((2 * num_games, 11, 28), dtype=torch.int8)
        self.masks[:, :, 0] = self.masks[:, 0, 1] = self.masks[::2, 1, 1] = 1

    def step(self, actions):
        first, second, guess = actions[::2, 0], actions[::2, 1], actions[1::2, 0]
        payoffs = torch.where((first == second) & (first != guess), 1.0, -1.0)
        rewards = torch.stack([payoffs, -payoffs], dim=1).flatten()
        return rewards, torch.ones(len(rewards), dtype=torch.bool)

    def record_results(self):
        pass


@pytest.mark.parametrize("method", ["mmd", "nashpg", "entropy"])
def test_regularised_self_play_converges_to_strategies_that_independent_satellites_cannot_play(small_config, method):
    """Alpha is sure of 0 if it mixes "both the one" and "both the other"; independent satellites are sure of -1/2 at most.

    Measured is the mean of the policies of the second half: single ones of ``mmd`` and ``entropy`` go round the equilibrium.
    """
    torch.manual_seed(0)
    settings = {"learning_rate": 0.01, "num_steps": 2, "num_minibatches": 2, "num_envs": 256}
    renewal = min(METHODS[method].get("magnet_interval", 0), 50)  # iterations: the game is small
    config = small_config(**METHODS[method] | settings)
    network, envs, rollout = Table(2), AllOrNone(128), RolloutBuffer(2, 256, torch.device("cpu"))
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate)
    magnet, strategies = deepcopy(network), []
    for iteration in range(400):
        rollout.collect(network, envs)
        update_policy(network, optimizer, rollout, config, config.ent_coef, magnet if config.magnet_coef else None)
        if renewal and (iteration + 1) % renewal == 0:
            magnet = deepcopy(network)
        strategies.append(play(network))
    on_first, on_second, guess = torch.stack(strategies[200:]).mean(0).tolist()
    assert 2 * min(on_first, on_second) - 1 > -0.25, "what alpha is sure of"
    assert 2 * max(guess, 1 - guess) - 1 < 0.25, "how far bravo's guesses are from even"


def play(network):
    """Return how likely alpha's satellites agree on the first order and on the second, and bravo guesses the second."""
    with torch.no_grad():
        weights = network.component_logits.softmax(1)
        ones = network.logits[:, :2, :, :2].softmax(3)[..., 1]
        on_first, on_second = ((weights[0] * of_both.prod(0)).sum() for of_both in (1 - ones[0], ones[0]))
        return torch.stack([on_first, on_second, (weights[1] * ones[1, 0]).sum()])


def test_the_averaged_weights_follow_the_policy(make_trainer):
    trainer = make_trainer(average_step_size=0.25)
    before, average = trainer.state.network.weights(), trainer.state.average
    trainer.iterate()
    after, moved = trainer.state.network.weights(), average.weights()
    assert (before["order"] != after["order"]).any()
    for name, weights in moved.items():
        assert weights == pytest.approx(0.75 * before[name] + 0.25 * after[name], abs=1e-6)
