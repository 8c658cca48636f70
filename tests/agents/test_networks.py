"""Users' networks as agents: what they get, what they must return, and how orders are chosen."""

import re

import numpy as np
import pytest

from geo_patrol import AgentError, PolicyError, make_agent, play_match
from geo_patrol.agents.networks import NetworkAgent
from geo_patrol.agents.protocol import CorrelatedAgent
from geo_patrol.agents.registry import is_user_defined
from geo_patrol.evaluation.figures import short_names


class Logits:
    """A network that returns the same logits for every observation, and records what it got."""

    def __init__(self, logits, *input_names):
        self.logits, self.input_names, self.inputs = np.asarray(logits, np.float32), input_names or ("tokens",), []

    def __call__(self, inputs):
        self.inputs.append(inputs)
        num_rows = len(next(iter(inputs.values())))
        return np.broadcast_to(self.logits, (num_rows, *self.logits.shape))


MASKS = np.zeros((3, 11, 28), np.int8)
MASKS[:, :, 0] = 1
MASKS[0, 2, [1, 3, 20]] = 1
MASKS[2, 10, 27] = 1


def act(network, *, greedy=False, masks=MASKS, seed=0):
    agent = NetworkAgent("net", network, greedy=greedy)
    return agent.act(np.zeros((len(masks), 249), np.int16), masks, np.random.default_rng(seed))


@pytest.mark.parametrize("shape", [(308,), (11, 28)])
def test_the_likeliest_legal_orders(shape):
    orders = act(Logits(np.tile(np.arange(28), 11).reshape(shape)), greedy=True)
    expected = np.zeros((3, 11), np.int64)
    expected[0, 2], expected[2, 10] = 20, 27
    np.testing.assert_array_equal(orders, expected)


def test_a_network_gets_the_inputs_that_it_names_as_one_batch():
    network = Logits(np.zeros(308), "tokens", "action_mask")
    act(network)
    assert [list(inputs) for inputs in network.inputs] == [["tokens", "action_mask"]]
    assert network.inputs[0]["tokens"].shape == (3, 249)
    np.testing.assert_array_equal(network.inputs[0]["action_mask"], MASKS)
    assert NetworkAgent("net", Logits(np.zeros(308), "onehot")).observation == "onehot"


@pytest.mark.parametrize("names", [("obs",), ("onehot", "tokens"), ("action_mask",), ("onehot", "hidden")])
def test_inputs_of_other_names(names):
    listed = ", ".join(map(repr, names))
    with pytest.raises(PolicyError, match=f"its inputs are {listed}: name one 'onehot' or 'tokens'"):
        NetworkAgent("net", Logits(np.zeros(308), *names))


@pytest.mark.parametrize(
    "logits", [np.zeros(28), np.zeros((28, 11)), np.zeros((1, 11, 28)), np.zeros(308, np.int64)], ids=str
)
def test_logits_of_other_shapes_and_types(logits):
    network = Logits(logits)
    network.logits = logits = logits.astype(np.float32 if logits.dtype.kind == "f" else np.int64)
    message = f"agent 'net': its logits are {logits.dtype} of shape {(3, *logits.shape)} for 3 observations: give"
    with pytest.raises(AgentError, match=re.escape(message)):
        act(network)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_logits_that_are_not_finite(value):
    logits = np.zeros((11, 28))
    logits[2, 3] = value
    with pytest.raises(AgentError, match="agent 'net': its logits of legal orders are NaN or infinite for 1 of 2 sat"):
        act(Logits(logits))


def test_minus_infinity_is_a_probability_of_zero():
    logits = np.full((11, 28), -np.inf)
    logits[:, 0] = logits[2, 3] = 0
    orders = act(Logits(logits), masks=np.repeat(MASKS, 100, axis=0))
    assert set(orders[:, 2]) == {0, 3}
    logits[:, 0] = -np.inf  # leaves no order to a satellite that has only noop beside an excluded one
    with pytest.raises(AgentError, match="NaN or infinite for 1 of 2 satellites"):
        act(Logits(logits))


def test_it_plays_matches():
    agent = NetworkAgent("net", Logits(np.zeros(308)))
    assert play_match(agent, "random", config="case1", games=2, seed=0).summary().total.games == 2


def test_names():
    for name in ("onnx:net.onnx", "torch:net.py:make", "torch:net.pt,greedy", "rllib:runs/net", "onnx"):
        assert is_user_defined(name)
    assert short_names(["onnx:runs/a.onnx", "torch:nets/b.py:make"]) == ["a.onnx", "make"]
    assert short_names(["onnx:runs/1/a.onnx", "onnx:runs/2/a.onnx"]) == ["onnx:runs/1/a.onnx", "onnx:runs/2/a.onnx"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch:nowhere.py:make", "there is no file 'nowhere.py'"),
        ("torch:nowhere.pt", "there is no file 'nowhere.pt'"),
        ("torch:net", "its name must be torch:FILE.py:make or torch:FILE.pt"),
        ("torch:module:make", "its name must be torch:FILE.py:make or torch:FILE.pt"),
        ("torch", "name its file behind torch: as docs/train/networks.md says"),
        ("onnx:,greedy", "name its file behind onnx: as docs/train/networks.md says"),
        ("rllib:nowhere", "there is no folder '.*nowhere'"),
        ("rllib:.", "'.*' is not a checkpoint of RLlib, which algorithm.save_to_path"),
    ],
)
def test_names_of_no_network(name, message):
    with pytest.raises(AgentError, match=f"agent '{name}': {message}"):
        make_agent(name)


@pytest.mark.parametrize("greedy", [False, True])
def test_orders_are_drawn_from_the_probabilities_of_the_legal_ones(greedy):
    logits = np.zeros((11, 28))
    logits[2, :] = 9  # of orders that are mostly illegal
    logits[2, [0, 1, 3, 20]] = np.log([0.1, 0.2, 0.3, 0.4])
    agent = NetworkAgent("net", Logits(logits), greedy=greedy)
    probabilities = agent.order_probabilities(np.zeros((3, 249), np.int16), MASKS)
    expected = np.zeros((3, 11, 28))
    expected[:, :, 0] = 1
    expected[0, 2, [0, 1, 3, 20]] = [0, 0, 0, 1] if greedy else [0.1, 0.2, 0.3, 0.4]
    expected[2, 10, [0, 27]] = [1, 0] if greedy else 0.5
    np.testing.assert_allclose(probabilities, expected, atol=1e-7)
    orders = act(Logits(logits), greedy=greedy, masks=np.repeat(MASKS[:1], 20_000, axis=0))[:, 2]
    np.testing.assert_allclose(np.bincount(orders, minlength=28) / 20_000, expected[0, 2], atol=0.015)


class Mixture:
    """A network of two components: in the first, satellites move prograde, in the second retrograde."""

    input_names = ("tokens",)

    def __init__(self, shape=(2,), components=2):
        self.logits = np.full((components, 11, 28), -50, np.float32)
        for component in range(components):
            self.logits[component, :, 1 + component % 2] = 0
        self.of_components = np.resize(np.log([0.25, 0.75]).astype(np.float32), shape)

    def __call__(self, inputs):
        rows = len(inputs["tokens"])
        outputs = self.logits, self.of_components
        return tuple(np.broadcast_to(array, (rows, *array.shape)) for array in outputs)


def test_all_satellites_follow_the_component_that_is_drawn():
    masks = np.zeros((20_000, 11, 28), np.int8)
    masks[:, :3, :5] = masks[:, 3:, 0] = 1
    orders = act(Mixture(), masks=masks)[:, :3]
    assert (orders == orders[:, :1]).all()
    assert np.mean(orders == 2) == pytest.approx(0.75, abs=0.02)
    assert (act(Mixture(), greedy=True, masks=masks)[:, :3] == 2).all()
    agent = NetworkAgent("net", Mixture())
    assert isinstance(agent, CorrelatedAgent)
    weights, by_component = agent.component_probabilities(np.zeros((1, 249), np.int16), masks[:1])
    np.testing.assert_allclose(weights, [[0.25, 0.75]], atol=1e-6)
    np.testing.assert_allclose(by_component[0, :, 0, 1:3], np.eye(2), atol=1e-6)
    found = agent.order_probabilities(np.zeros((1, 249), np.int16), masks[:1])
    np.testing.assert_allclose(found[0, :3, 1:3], [[0.25, 0.75]] * 3, atol=1e-6)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (Mixture(shape=(3,)), "the logits of its components are float32 of shape (3, 3): give floating-point numbers"),
        (Mixture(shape=(17,), components=17), "it must have 1 to 16 components, got 17"),
    ],
)
def test_logits_of_components_that_are_wrong(network, message):
    with pytest.raises(AgentError, match=re.escape(f"agent 'net': {message}")):
        act(network)
    unknown = Mixture()
    unknown.of_components[0] = np.nan
    with pytest.raises(AgentError, match="the logits of its components are NaN or infinite"):
        act(unknown)
