"""Users' networks in PyTorch as agents, and the way from training to an ONNX file that plays."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from geo_patrol import AgentError, evaluation, make_agent, make_vec, play_match
from geo_patrol.agents.isolation.agent import make_match_agent
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork
from geo_patrol.evaluation.arena import ArenaResult, read_result
from research import libraries

ROOT = Path(__file__).parents[2]
OWN = Path(__file__).with_name("own_networks.py")


@pytest.mark.parametrize("attribute", ["Net", "Masked", "ready", "function"])
def test_what_a_file_may_hold(attribute):
    result = play_match(f"torch:{OWN}:{attribute}", "random", config="case1", games=2, seed=0)
    assert result.summary().total.games == 2


def test_a_network_plays_in_a_process_of_its_own_as_here():
    name = f"torch:{OWN}:Net"
    agent = make_match_agent(name, move_time=60)
    there = play_match(agent, "idle", config="case1", games=4, seed=3)
    agent.close()
    here = play_match(make_agent(name), "idle", config="case1", games=4, seed=3)
    np.testing.assert_array_equal(there.scores, here.scores)


def test_a_network_is_an_opponent():
    envs = make_vec("case1", 8, opponent=f"torch:{OWN}:Net,greedy", observation="tokens")
    envs.reset(seed=0)
    envs.step(envs.sample_actions())
    assert envs.opponent_names == (f"torch:{OWN}:Net,greedy",)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, of TorchScript
@pytest.mark.parametrize("how", ["script", "trace"])
def test_torchscript(tmp_path, how):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1591, 308)

        def forward(self, onehot):
            return self.layer(onehot)

    made = torch.jit.script(Net()) if how == "script" else torch.jit.trace(Net(), torch.zeros(2, 1591))
    made.save(tmp_path / "net.pt")
    agent = make_agent(f"torch:{tmp_path}/net.pt")
    assert agent.observation == "onehot"
    play_match(agent, "random", config="case1", games=2, seed=0)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("nothing", "has no 'nothing'"),
        ("raises", "cannot be made: RuntimeError: no weights"),
        ("Wrong", "cannot be made: TypeError"),
    ],
)
def test_networks_that_cannot_be_made(attribute, message):
    with pytest.raises(AgentError, match=message):
        make_agent(f"torch:{OWN}:{attribute}")


def test_what_is_no_tensor():
    with pytest.raises(AgentError, match="the network must return a tensor"):
        play_match(f"torch:{OWN}:size", "random", config="case1", games=2, seed=0)


def run(*command, folder):
    result = subprocess.run(
        [sys.executable, *map(str, command)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_from_training_to_an_onnx_file_that_plays(tmp_path):
    for package in ("onnx", "onnxruntime", "onnxscript"):
        pytest.importorskip(package)
    small = ["--minutes", "0.02", "--num-envs", "16", "--num-steps", "8", "--eval-games", "2", "--device", "cpu"]
    run(ROOT / "examples" / "ppo_geo_patrol.py", *small, "--config", "case1", folder=tmp_path)
    weights = tmp_path / "runs" / "ppo_geo_patrol" / "agent.pt"
    assert "saved" in run(ROOT / "examples" / "export_onnx.py", weights, folder=tmp_path)
    name = f"onnx:{weights.with_suffix('.onnx')}"
    command = ["-m", "geo_patrol", "match", name, "scripted", "--config", "case1", "--games", "4", "--json", "-"]
    assert '"failures": []' in run(*command, folder=tmp_path)


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, of TorchScript and of its export
def test_networks_of_training_libraries_enter_the_arena(tmp_path, monkeypatch):
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package)
    entered = tmp_path / "research" / "arena"
    entered.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(libraries, "ROOT", tmp_path)
    monkeypatch.setattr(libraries, "SUBMISSIONS", entered)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(1591, 32), torch.nn.ReLU(), torch.nn.Linear(32, 308))
    torch.jit.trace(network, torch.zeros(2, 1591)).save(tmp_path / "mine.pt")
    result = ArenaResult.model_validate_json((ROOT / "research" / "arena" / "random.json").read_bytes())
    played = []
    monkeypatch.setattr(evaluation, "play_arena", lambda *agent, **options: played.append((*agent, options)) or result)

    libraries.arena(tmp_path)

    assert played == [("onnx:research/arena/mine.onnx", {"folder": tmp_path / "arena-mine"})]
    assert (entered / "mine.onnx").stat().st_size < 2.1 * (1591 * 32 + 32 * 308)
    assert read_result(entered / "mine.json") == result

    envs = make_vec("geo_patrol", 8, observation="onehot")
    observations, infos = envs.reset(seed=0)
    agent = NetworkAgent("mine", TorchNetwork(lambda onehot: network(onehot)))  # noqa: PLW0108 - the parameter's name
    exported, trained = (
        each.order_probabilities(observations, infos["action_mask"]) for each in (make_agent(played[0][0]), agent)
    )
    np.testing.assert_allclose(exported, trained, atol=2e-3)  # half precision
