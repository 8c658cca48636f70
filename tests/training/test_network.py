"""The network in PyTorch computes what the package's NumPy network does, and its samples are legal."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from geo_patrol import preset_names
from geo_patrol.agents.policy import PolicyAgent, probabilities, score_orders
from geo_patrol.base.errors import ConfigError
from geo_patrol.training.network import PolicyNetwork, resolve_device, sample_actions


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("source", ["base", "random"])
def test_numpy_equals_torch(preset, source, positions, random_weights):
    """1,000 positions of every preset, with the weights of the package and with random ones."""
    weights = PolicyAgent("base").weights if source == "base" else random_weights
    exact = {name: array.astype(np.float64) for name, array in weights.items()}
    network, exact_network, compared = PolicyNetwork(weights), PolicyNetwork(exact).double(), 0
    for observations, masks in positions(preset, 25, 20, seed=4):
        inputs = torch.from_numpy(observations), torch.from_numpy(masks).bool()
        has_choice, logits = score_orders(weights, observations, masks)
        _, exact_logits = score_orders(exact, observations, masks)
        with torch.no_grad():
            choices, torch_logits, _ = network(*inputs)
            _, exact_torch_logits, _ = exact_network(*inputs)
        assert (np.flatnonzero(has_choice) == choices.numpy()).all()
        legal = np.isfinite(logits)
        assert np.abs(probabilities(logits) - torch.softmax(torch_logits, 1).numpy()).max(initial=0) < 1e-5
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
        has_choice, logits = score_orders(PolicyAgent("base").weights, observations, masks)
        shifted = logits - logits.max(axis=1, keepdims=True)
        expected = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        sampled = np.take_along_axis(expected, actions.numpy()[has_choice][:, None], 1)[:, 0]
        assert np.allclose(log_probs.numpy()[has_choice], sampled, atol=1e-4)
        assert (log_probs.numpy()[~has_choice] == 0).all()


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
