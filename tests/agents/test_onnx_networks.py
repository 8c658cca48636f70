"""Networks in ONNX files, which are data of strangers."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from geo_patrol import AgentError, Games, make_agent, play_match
from geo_patrol.agents import networks
from geo_patrol.agents.isolation.agent import make_match_agent
from tests.agents.test_networks import Mixture

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

FLOAT, INT64, INT16 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.INT16


def value(name, kind, *shape):
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def linear_model(inputs, outputs, num_logits=308):
    """Return a network of one layer on its first input, and an output that is no logits."""
    width = inputs[0].type.tensor_type.shape.dim[-1].dim_value
    weights = np.random.default_rng(0).normal(0, 0.1, (width, num_logits)).astype(np.float32)
    nodes = [
        onnx.helper.make_node("Cast", [inputs[0].name], ["features"], to=FLOAT),
        onnx.helper.make_node("MatMul", ["features", "weights"], ["logits"]),
        onnx.helper.make_node("ReduceMax", ["features", "last"], ["value"]),
    ]
    constants = [onnx.numpy_helper.from_array(weights, "weights"), onnx.numpy_helper.from_array(np.array([-1]), "last")]
    graph = onnx.helper.make_graph(nodes, "net", inputs, outputs, constants)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10)


ONEHOT = value("onehot", FLOAT, "n", 1591)
LOGITS, VALUE = value("logits", FLOAT, "n", 308), value("value", FLOAT, "n", 1)


@pytest.fixture
def save(tmp_path):
    """Return a function that saves a model and returns the name of its agent."""

    def write(model):
        path = tmp_path / "net.onnx"
        path.write_bytes(model.SerializeToString())
        return f"onnx:{path}"

    return write


@pytest.mark.slow
def test_a_file_plays_the_same_in_this_process_and_in_one_of_its_own(save):
    name = save(linear_model([ONEHOT], [LOGITS, VALUE]))
    here = play_match(make_agent(name), "idle", config="case1", games=6, seed=3)
    agent = make_match_agent(name, move_time=60)
    there = play_match(agent, "idle", config="case1", games=6, seed=3)
    agent.close()
    np.testing.assert_array_equal(here.games, there.games)
    assert play_match(f"{name},greedy", "idle", config="case1", games=2, seed=3).agents[0] == f"{name},greedy"


def mixing_model(outputs):
    """Return a network of two components whose logits do not depend on the observation, and those of the components."""
    mixture = Mixture()
    constants = [
        onnx.numpy_helper.from_array(mixture.logits[None], "constant"),
        onnx.numpy_helper.from_array(mixture.of_components[None], "constant_of_components"),
        onnx.numpy_helper.from_array(np.array([[0.0]], np.float32), "zero"),
        onnx.numpy_helper.from_array(np.array([-1]), "last"),
        onnx.numpy_helper.from_array(np.array([-1, 1, 1, 1]), "axes"),
    ]
    nodes = [
        onnx.helper.make_node("ReduceMax", ["onehot", "last"], ["column"]),
        onnx.helper.make_node("Mul", ["column", "zero"], ["nothing"]),
        onnx.helper.make_node("Reshape", ["nothing", "axes"], ["more_nothing"]),
        onnx.helper.make_node("Add", ["constant", "more_nothing"], ["logits"]),
        onnx.helper.make_node("Add", ["constant_of_components", "nothing"], ["of_components"]),
    ]
    graph = onnx.helper.make_graph(nodes, "net", [ONEHOT], outputs, constants)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10)


def test_a_network_of_components(save):
    logits, of_components = value("logits", FLOAT, "n", 2, 11, 28), value("of_components", FLOAT, "n", 2)
    agent = make_agent(save(mixing_model([logits, of_components])))
    batch = Games("geo_patrol", 5, seed=0)
    seen, masks = batch.observe("onehot")[:, 0], batch.action_masks()[:, 0]
    np.testing.assert_allclose(agent.component_probabilities(seen, masks)[0], [[0.25, 0.75]] * 5, atol=1e-6)
    orders = agent.act(seen, masks, np.random.default_rng(0))[:, 1:]
    assert (orders == orders[:, :1]).all()
    with pytest.raises(
        AgentError, match=r"has shape \(n, 2, 11, 28\): the second one must be the logits of the components"
    ):
        make_agent(save(mixing_model([logits])))


@pytest.mark.parametrize("kind", [INT64, INT16, FLOAT])
def test_tokens(save, kind):
    agent = make_agent(save(linear_model([value("tokens", kind, "n", 249)], [LOGITS])))
    assert agent.observation == "tokens"
    play_match(agent, "random", config="case1", games=2, seed=0)


SCORES = value("logits", FLOAT, "n", 28)


@pytest.mark.parametrize(
    ("observations", "outputs", "message"),
    [
        (value("obs", FLOAT, "n", 1591), [LOGITS], "its inputs are 'obs': name one 'onehot' or 'tokens'"),
        (value("onehot", FLOAT, "n", 9), [LOGITS], "its input 'onehot' has shape (n, 9): it must be (n, 1591)"),
        (value("onehot", FLOAT, 1, 1591), [LOGITS], "shape (1, 1591): it must be (n, 1591), with a dynamic first"),
        (value("onehot", INT64, "n", 1591), [LOGITS], "input 'onehot' is a tensor(int64): it must be a tensor(float)"),
        (ONEHOT, [SCORES], "its first output, 'logits', is a tensor(float) of shape (n, 28)"),
        (ONEHOT, [VALUE, LOGITS], "its first output, 'value', is a tensor(float) of shape (n, 1): it must be the log"),
    ],
)
def test_other_inputs_and_outputs(save, observations, outputs, message):
    with pytest.raises(AgentError, match=re.escape(message)):
        make_agent(save(linear_model([observations], outputs, 28 if outputs == [SCORES] else 308)))


def test_weights_in_other_files_are_refused(save, tmp_path):
    """Reading them would let a file take numbers from any file of the user."""
    model = linear_model([ONEHOT], [LOGITS])
    (tmp_path / "secret.bin").write_bytes(model.graph.initializer[0].raw_data)
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "../secret.bin")
    model.graph.initializer[0].ClearField("raw_data")
    with pytest.raises(AgentError, match=re.escape("its weights are in another file, '../secret.bin': export it with")):
        make_agent(save(model))


def test_such_weights_are_found_in_nested_graphs_too(save):
    model = linear_model([ONEHOT], [LOGITS])
    tensor = onnx.numpy_helper.from_array(np.zeros(1, np.float32))
    onnx.external_data_helper.set_external_data(tensor, "/etc/hostname")
    constant = onnx.helper.make_node("Constant", [], ["inner"], value=tensor)
    branch = onnx.helper.make_graph([constant], "branch", [], [value("inner", FLOAT, 1)])
    model.graph.node.append(onnx.helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch))
    with pytest.raises(AgentError, match="its weights are in another file, '/etc/hostname'"):
        make_agent(save(model))


def test_operators_from_elsewhere_are_refused(save):
    model = linear_model([ONEHOT], [LOGITS])
    model.graph.node[0].domain = "stranger"
    model.opset_import.append(onnx.helper.make_opsetid("stranger", 1))
    with pytest.raises(AgentError, match=r"ONNX Runtime does not load it: .*stranger"):
        make_agent(save(model))


MEASURE = """
import resource, sys
from geo_patrol import make_agent

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes
import onnx, onnxruntime
before = peak()
make_agent(sys.argv[1])
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
def test_loading_computes_nothing(save):
    """Otherwise a small file could take any time and memory before its process has a deadline."""
    model = linear_model([ONEHOT], [LOGITS])
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([100_000_000]), "size"))  # 400 MB
    model.graph.node.insert(0, onnx.helper.make_node("ConstantOfShape", ["size"], ["zeros"]))
    model.graph.node.append(onnx.helper.make_node("ReduceMax", ["zeros"], ["zero"]))
    model.graph.node.append(onnx.helper.make_node("Add", ["logits", "zero"], ["sum"]))
    model.graph.output[0].name = "sum"
    ran = subprocess.run([sys.executable, "-c", MEASURE, save(model)], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 200_000


def test_files_that_are_no_models(tmp_path, monkeypatch):
    path = tmp_path / "net.onnx"
    with pytest.raises(AgentError, match=r"there is no file '.*net.onnx'"):
        make_agent(f"onnx:{path}")
    for content in (b"", b"\0" * 100, b"\x08\x07ORTM and more", os.urandom(1000)):
        path.write_bytes(content)
        with pytest.raises(AgentError, match=r"it is no ONNX file|ONNX Runtime does not load it"):
            make_agent(f"onnx:{path}")
    monkeypatch.setattr(networks, "MAX_FILE_SIZE", 999)
    with pytest.raises(AgentError, match="the file has more than 999 bytes"):
        make_agent(f"onnx:{path}")
    with pytest.raises(AgentError, match="it is not a regular file"):
        make_agent("onnx:/dev/zero")
