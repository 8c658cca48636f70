"""The published networks' file format: stand-ins in TorchScript, called as the study calls its own, and wrong files."""

import io
import json
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from geo_patrol import AgentError, Games, make_agent, play_match
from geo_patrol.agents import networks
from geo_patrol.agents.isolation.agent import make_match_agent
from geo_patrol.agents.published import INPUT_SIZE, observe_published, published_mask
from geo_patrol.cli.app import main

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, of TorchScript


class StandIn(torch.nn.Module):
    """Takes and returns what the published networks do; a mask in front of the observation, orders that it rules out included."""

    def __init__(self, outputs: int = 11 * 38):
        super().__init__()
        self.layer = torch.nn.Linear(INPUT_SIZE, outputs)

    def forward(
        self, obs: dict[str, torch.Tensor], state: list[torch.Tensor], seq_lens: torch.Tensor
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        assert obs["obs"].dtype == torch.float32
        assert state[0].shape == seq_lens.shape == [1]
        return self.layer(obs["obs"]), state


def save(network, path):
    torch.jit.script(network).save(path)
    return f"published:{path}"


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return StandIn()


@pytest.fixture
def name(network, tmp_path):
    return save(network, tmp_path / "model.pt")


def test_whole_games_of_both_sides_in_a_process_of_its_own_as_here(name):
    here = play_match(make_agent(name), "scripted", config="case3", games=4, seed=3)
    agent = make_match_agent(name, move_time=60)
    there = play_match(agent, "scripted", config="case3", games=4, seed=3)
    agent.close()
    assert here.summary().total.games == 4
    np.testing.assert_array_equal(here.games, there.games)
    assert not here.games["illegal_orders"].any()


def test_a_match_names_the_file(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["geo-patrol", "match", name, "random", "--games", "4", "--json", "-"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["failures"] == []


@pytest.mark.parametrize("moves", [0, 9])
def test_the_file_gets_mask_and_observation(network, name, moves):
    games = Games("case1", seed=moves)
    for _ in range(moves):
        games.step(games.sample_actions())
    game = games[0]
    for side in range(2):
        mask = published_mask(game, side)
        inputs = torch.from_numpy(np.concatenate([mask.ravel(), observe_published(game, side)])).float()
        logits = network.layer(inputs).detach().numpy().reshape(mask.shape)
        best = np.where(mask, logits, -np.inf).argmax(axis=1)
        masks = games.action_masks()[:, side]
        orders = make_agent(name).plan([game], np.array([side]), None, masks, np.random.default_rng(0))
        np.testing.assert_array_equal(orders[0], np.where(masks[0, range(11), best], best, 0))


@pytest.mark.parametrize("how", ["script", "trace"])
def test_a_network_of_the_inputs_alone(network, tmp_path, how):
    layer = network.layer
    made = torch.jit.script(layer) if how == "script" else torch.jit.trace(layer, torch.zeros(1, INPUT_SIZE))
    made.save(tmp_path / "alone.pt")
    save(network, tmp_path / "both.pt")
    alone, both = (
        play_match(f"published:{tmp_path}/{file}.pt", "idle", config="case5", games=2, seed=1)
        for file in ("alone", "both")
    )
    np.testing.assert_array_equal(alone.games, both.games)


class State(torch.nn.Module):
    def forward(self, obs: torch.Tensor) -> list[int]:
        return obs.shape


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            StandIn(308),
            r"its logits are float32 of shape \(1, 308\): give 418 floating-point numbers, 38 for each of 11 satellites",
        ),
        (
            torch.nn.Linear(1591, 418),
            "it fails with 1,505 inputs, mask and observation: RuntimeError: mat1 and mat2 shapes ",
        ),
        (torch.nn.Bilinear(2, 2, 2), "it fails with 1,505 inputs, mask and observation: .*"),
        (State(), "the network must return a tensor, or a tuple that begins with one, got int"),
    ],
)
def test_networks_of_other_inputs_or_outputs(network, message, tmp_path):
    name = save(network, tmp_path / "net.pt")
    with pytest.raises(AgentError, match=f"^agent '{name}': {message}[^\n]*$"):
        make_agent(name)


def zipped(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"net/{name}.pkl", text)
    return content.getvalue()


@pytest.mark.parametrize("kind", ["published", "torch"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"weights", "it is no TorchScript: torch.jit.save writes such files"),
        (zipped(data="weights"), "it is no TorchScript: torch.jit.save writes such files"),
        (zipped(constants="weights"), "PyTorch does not load it: RuntimeError: "),
        (zipped(constants="", data=b"0" * 2_000_000), "the file unpacks to more than 1,000,000 bytes"),
        (b"0" * 1_000_001, "the file has more than 1,000,000 bytes"),
    ],
)
def test_files_that_are_no_torchscript(kind, content, message, tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "MAX_FILE_SIZE", 1_000_000)
    path = tmp_path / "net.pt"
    path.write_bytes(content)
    with pytest.raises(AgentError) as error:
        make_agent(f"{kind}:{path}")
    assert str(error.value).startswith(f"agent '{kind}:{path}': {message}")
    assert "\n" not in str(error.value)


def test_weights_alone_are_no_torchscript(network, tmp_path):
    torch.save(network.state_dict(), tmp_path / "net.pt")
    with pytest.raises(AgentError, match="it is no TorchScript"):
        make_agent(f"published:{tmp_path}/net.pt")
