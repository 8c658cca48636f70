"""The network in PyTorch computes what the package's NumPy network does, and its samples are legal."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from geo_patrol import preset_names
from geo_patrol.agents.memory import MEMORY_SIZE
from geo_patrol.agents.policy import (
    PolicyAgent,
    Widths,
    initial_weights,
    joint_log_probs,
    probabilities,
    score_orders,
    shapes,
)
from geo_patrol.base.errors import ConfigError
from geo_patrol.training.network import PolicyNetwork, resolve_device, sample_actions


@pytest.fixture(scope="module")
def mixed_weights():
    """Return weights of three components with clearly different orders."""
    weights = initial_weights(shapes(Widths(components=3)), np.random.default_rng(1))
    for name in ("component", "simple", "attack", "query", "mixing"):
        weights[name] *= 5
    return weights


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("source", ["base", "random", "mixed"])
def test_numpy_equals_torch(preset, source, positions, random_weights, mixed_weights):
    """1,000 positions of every preset, with the weights of the package and with random ones, of one component and of three."""
    weights = {"base": PolicyAgent("base").weights, "random": random_weights, "mixed": mixed_weights}[source]
    exact = {name: array.astype(np.float64) for name, array in weights.items()}
    network, exact_network, compared = PolicyNetwork(weights), PolicyNetwork(exact).double(), 0
    for observations, masks in positions(preset, 25, 20, seed=4):
        inputs = torch.from_numpy(observations), torch.from_numpy(masks).bool()
        has_choice, logits, component_logits = score_orders(weights, observations, masks)
        exact_logits = score_orders(exact, observations, masks).logits
        with torch.no_grad():
            choices, torch_logits, torch_component_logits, _ = network(*inputs)
            exact_torch_logits = exact_network(*inputs).logits
        assert (np.flatnonzero(has_choice) == choices.numpy()).all()
        legal = np.isfinite(logits)
        of_components = logits.reshape(-1, 28)
        assert (
            np.abs(probabilities(of_components) - torch.softmax(torch_logits, 2).view(-1, 28).numpy()).max(initial=0)
            < 1e-5
        )
        np.testing.assert_allclose(component_logits, torch_component_logits.numpy(), rtol=1e-3, atol=1e-3)
        # In double precision: in single precision, the rounding of large logits would hide or fake a difference.
        np.testing.assert_allclose(exact_logits[legal], exact_torch_logits.numpy()[legal], rtol=1e-5, atol=1e-5)
        assert (torch_logits.numpy()[~legal] < -1e8).all()
        compared += len(observations)
    assert compared == 1000


def test_sampled_orders_are_legal_and_their_log_probabilities_right(positions):
    network = PolicyNetwork(PolicyAgent("base").weights)
    for observations, masks in positions("geo_patrol", 40, 12, seed=5):
        actions, log_probs, _ = sample_actions(network, torch.tensor(observations), torch.tensor(masks).bool())
        assert (np.take_along_axis(masks, actions.numpy()[:, :, None], 2) == 1).all()
        has_choice, of_components, _ = score_orders(PolicyAgent("base").weights, observations, masks)
        logits = of_components[:, 0]
        shifted = logits - logits.max(axis=1, keepdims=True)
        expected = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        sampled = np.take_along_axis(expected, actions.numpy()[has_choice][:, None], 1)[:, 0]
        assert np.allclose(log_probs.numpy()[has_choice], sampled, atol=1e-4)
        assert (log_probs.numpy()[~has_choice] == 0).all()


def test_log_probabilities_of_a_mixture_add_up_to_those_of_joint_orders(positions, mixed_weights):
    """And orders given those before them are distributions, for PPO treats satellites as if they chose in turn."""
    network, agent = PolicyNetwork(mixed_weights), PolicyAgent(mixed_weights)
    different = 0
    for observations, masks in positions("geo_patrol", 10, 6, seed=5):
        inputs = torch.tensor(observations), torch.tensor(masks).bool()
        actions, log_probs, _ = sample_actions(network, *inputs)
        assert (np.take_along_axis(masks, actions.numpy()[:, :, None], 2) == 1).all()
        weights, orders = agent.component_probabilities(observations, masks)
        chosen = np.take_along_axis(orders, actions.numpy()[:, None, :, None], 3)[..., 0]
        joint = (weights * chosen.prod(axis=2)).sum(axis=1)
        np.testing.assert_allclose(log_probs.sum(1).numpy(), np.log(joint), rtol=1e-4, atol=1e-4)
        scores = score_orders(mixed_weights, observations[:1], masks[:1])
        np.testing.assert_allclose(
            joint_log_probs(scores, actions[:1].numpy(), np.float64), np.log(joint[:1]), rtol=1e-4, atol=1e-4
        )
        with torch.no_grad():
            given = network(*inputs).given(actions).exp().sum(1)
        np.testing.assert_allclose(given.numpy(), 1, atol=1e-4)
        marginals = np.take_along_axis(agent.order_probabilities(observations, masks), actions.numpy()[:, :, None], 2)
        different += (np.abs(np.log(marginals).sum(axis=(1, 2)) - np.log(joint)) > 0.1).sum()
    assert different > 20, "otherwise this test shows nothing"


def test_numpy_equals_torch_with_a_memory(positions):
    weights = initial_weights(shapes(Widths(memory=MEMORY_SIZE)), np.random.default_rng(1))
    rng = np.random.default_rng(2)
    weights["memory"] = rng.normal(0, 1, weights["memory"].shape).astype(np.float32)
    network = PolicyNetwork(weights)
    for observations, masks in positions("geo_patrol", 10, 4, seed=5):
        memory = rng.integers(0, 1000, (len(masks), MEMORY_SIZE)).astype(np.int16)
        _, logits, _ = score_orders(weights, observations, masks, memory)
        with torch.no_grad():
            inputs = torch.from_numpy(np.concatenate([observations, memory], axis=1))
            torch_logits = network(inputs, torch.from_numpy(masks).bool()).logits
        assert np.abs(probabilities(logits[:, 0]) - torch.softmax(torch_logits[:, 0], 1).numpy()).max(initial=0) < 1e-5


def test_weights_survive_the_network(random_network, random_weights):
    exported = random_network.weights()
    assert exported.keys() == random_weights.keys()
    assert all((exported[name] == random_weights[name]).all() for name in exported)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"), [(False, False, "cpu"), (False, True, "mps"), (True, True, "cuda")]
)
def test_the_device_auto_is_a_gpu_if_there_is_one(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert resolve_device("auto") == torch.device(expected)
    assert resolve_device("cpu") == torch.device("cpu")
    if not cuda:
        with pytest.raises(ConfigError, match="device = 'cuda': PyTorch finds no such device here"):
            resolve_device("cuda")
