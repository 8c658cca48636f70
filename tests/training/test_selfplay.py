"""Training runs: the files that they write, how they are resumed, and what they print."""

import csv
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from rich.console import Console
from safetensors import safe_open

from geo_patrol import load_config, make_agent
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.memory import OrderMemory
from geo_patrol.agents.policy import MemoryAgent, PolicyAgent, Widths, read_weights, shapes
from geo_patrol.base.errors import ConfigError, PolicyError
from geo_patrol.engine.observe import TOKEN_SIZE
from geo_patrol.training import selfplay, train, train_best_response, train_runs
from geo_patrol.training.network import sample_actions
from geo_patrol.training.population import Population
from geo_patrol.training.selfplay import ScalarWriter

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_selfplay.py"


def read_csv(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("boards", [("duel",), ("duel", "case1")])
def test_a_training_starts_from_the_network_for_its_configurations(small_config, boards):
    state = selfplay.initial_state(small_config(config=boards, initial_policy="base"), torch.device("cpu"))
    expected = PolicyAgent("base").weights_for([load_config(board) for board in boards])
    assert all((array == expected[name]).all() for name, array in state.network.weights().items())


def test_a_training_writes_a_policy_and_can_be_resumed(small_config):
    config = small_config(config=("case1", "od2d"))
    curve = train(config, Console(quiet=True))
    assert read_weights(config.out / "policy.safetensors").keys() == shapes(Widths()).keys()
    with safe_open(config.out / "policy.safetensors", "np") as file:
        metadata = json.loads(file.metadata()["geo_patrol"])
    assert (metadata["configs"], metadata["begun_with"], metadata["seed"]) == ("case1, od2d", "random weights", "0")
    rows = read_csv(config.out / "curve.csv")
    assert list(rows[0]) == ["minutes", "steps", "random", "random low", "random high"]
    assert [int(row["steps"]) for row in rows] == [point.steps for point in curve]
    assert len(rows) == 2

    longer = small_config(config=("case1", "od2d"), total_timesteps=2 * config.total_timesteps)
    console = Console(record=True, file=StringIO(), width=150)
    train(longer, console)
    more = read_csv(config.out / "curve.csv")
    assert more[:2] == rows
    assert int(more[-1]["steps"]) == longer.total_timesteps
    text = console.export_text()
    assert "final evaluation: 10 games against each of random" in text
    assert "of the latest games against policy at step" in text


def test_a_file_with_variants_can_be_named_twice(make_trainer):
    variants = str(EXAMPLE.parent / "four_rings.toml")
    trainer = make_trainer(config=(variants, "case1", variants), num_envs=48, self_play_fraction=0)
    assert [env.num_envs for env in trainer.envs.envs] == [32, 16]


def test_the_same_seed_gives_the_same_policy(small_config, tmp_path):
    weights = []
    for name in ("first", "second"):
        config = small_config(out=tmp_path / name, total_timesteps=3 * 16 * 64)
        train(config, Console(quiet=True))
        weights.append(read_weights(config.out / "policy.safetensors"))
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])


def test_interrupting_saves_a_checkpoint(small_config, monkeypatch):
    config, iterations = small_config(), []

    def iterate(trainer):
        iterations.append(original(trainer))
        if len(iterations) == 2:
            raise KeyboardInterrupt
        return iterations[-1]

    original = selfplay.Trainer.iterate
    monkeypatch.setattr(selfplay.Trainer, "iterate", iterate)
    assert train(config, Console(quiet=True)) == []
    assert (config.out / "checkpoint.pt").exists()
    assert selfplay.Trainer(config, Console(quiet=True)).state.global_step == 2 * 16 * 64


def test_a_complete_training_is_not_changed(small_config):
    config = small_config(total_timesteps=16 * 64, num_evaluations=1)
    curve = train(config, Console(quiet=True))
    before = (config.out / "policy.safetensors").read_bytes()
    assert train(config, Console(quiet=True)) == curve
    assert (config.out / "policy.safetensors").read_bytes() == before


def test_a_checkpoint_of_another_version_is_named(small_config):
    config = small_config()
    config.out.mkdir(parents=True)
    torch.save({"network": {}}, config.out / "checkpoint.pt")
    with pytest.raises(PolicyError, match="written by another version"):
        train(config, Console(quiet=True))


def test_wrong_names_are_found_before_training(small_config):
    with pytest.raises(ValueError, match="no agent 'raidr'"):
        train(small_config(eval_opponents=("raidr",)), Console(quiet=True))


def test_policies_of_evaluations_are_saved(small_config):
    config = small_config(total_timesteps=4 * 16 * 64, num_evaluations=2, save_policies=True)
    train(config, Console(quiet=True))
    folder, steps = config.out / "policies", (2 * 16 * 64, 4 * 16 * 64)
    for ending in ("", "-average"):
        saved = [folder / f"{number:012d}{ending}.safetensors" for number in steps]
        final = read_weights(config.out / f"policy{ending}.safetensors")["order"]
        first, last = (read_weights(path)["order"] for path in saved)
        assert (last == final).all()
        assert (first != final).any()
    assert len(list(folder.iterdir())) == 4


def test_annealing(make_trainer):
    trainer = make_trainer(learning_rate=0.01, anneal_ent_coef=False)
    learning_rates = [trainer.iterate()["charts/learning_rate"] for _ in range(6)]
    assert learning_rates == pytest.approx([0.01 * (1 - i / 6) for i in range(6)])
    assert trainer.envs.score_coef == pytest.approx(0.5 / 6)
    assert make_trainer(learning_rate=0.01, anneal_lr=False).iterate()["charts/learning_rate"] == 0.01


def test_a_best_response_plays_only_the_agent(small_config):
    curve = train_best_response("idle", small_config(total_timesteps=40 * 16 * 64), Console(quiet=True))
    assert curve[-1].win_rates.keys() == {"idle"}
    assert curve[-1].win_rates["idle"].value > 0.5


def test_a_policy_with_a_memory(small_config, tmp_path):
    """It starts from a policy without one, and plays as it was trained; nothing but a policy with a memory continues it."""
    config = small_config(memory=True, initial_policy="base", num_past_policies=2)
    train(config, Console(quiet=True))
    agent = make_agent(f"policy:{config.out / 'policy.safetensors'}")
    assert isinstance(agent, MemoryAgent)
    before, after = PolicyAgent("base").weights_for([load_config("case1")]), agent.policy.weights
    assert after["memory"].any()
    assert after.keys() == before.keys() | {"memory"}
    file = str(config.out / "policy.safetensors")
    with pytest.raises(ConfigError, match=r"memory must be true, as .* has one"):
        train(small_config(out=tmp_path / "other", initial_policy=file))
    train(small_config(out=tmp_path / "more", initial_policy=file, memory=True), Console(quiet=True))
    with pytest.raises(ConfigError, match="memory must be false: the mixture of a population has policies without one"):
        Population(config, games=2)


def test_games_of_a_training_are_remembered_one_by_one(make_trainer):
    """What the network gets is what an agent remembers that plays these games; a new game begins with nothing."""
    trainer = make_trainer(memory=True, config=("duel",), num_envs=16, self_play_fraction=0.5, num_past_policies=0)
    memory, envs, ended = OrderMemory(), trainer.envs, 0
    assert (envs.observations[:, TOKEN_SIZE:] == 0).all()
    memory.update(envs.observations[:, :TOKEN_SIZE].numpy())
    for _ in range(60):
        dones = envs.step(sample_actions(trainer.state.network, envs.observations, envs.masks.bool())[0])[1].numpy()
        memory.reset(dones)
        observations = envs.observations.numpy()
        assert (observations[:, TOKEN_SIZE:] == memory.update(observations[:, :TOKEN_SIZE])).all()
        assert not observations[dones, TOKEN_SIZE:].any()
        ended += dones.sum()
    assert ended > 10
    assert observations[:, TOKEN_SIZE:].any()


def test_a_best_response_to_an_object(small_config):
    agent = RandomAgent()
    agent.name = "mine"
    curve = train_best_response(agent, small_config(), Console(quiet=True))
    assert curve[-1].win_rates.keys() == {"mine"}


def test_an_opponent_that_is_an_object_must_be_stateless_and_have_its_own_name(small_config):
    with pytest.raises(
        ConfigError, match=r"agent 'mixed' keeps a state between calls: give its name, such as file\.py:Name"
    ):
        train_best_response(make_agent("mixed"), small_config())
    with pytest.raises(ConfigError, match="two opponents are called 'idle': give them different names"):
        train_best_response({IdleAgent(): 1, IdleAgent(): 1}, small_config())
    with pytest.raises(ConfigError, match="two opponents are called 'idle': give them different names"):
        train_best_response({IdleAgent(): 1, "idle": 1}, small_config())
    with pytest.raises(
        ConfigError, match="an opponent must be an agent's name or an Agent, got the PyTorch module Linear"
    ):
        train_best_response(torch.nn.Linear(2, 2), small_config())
    with pytest.raises(ConfigError, match="opponents of runs in other processes must be names, got <"):
        train_runs([small_config(opponents=(IdleAgent(),))])


def test_scalars_are_written_to_tensorboard_if_it_is_installed(small_config, monkeypatch):
    """With a writer of the same interface, whether or not TensorBoard is installed."""
    written, closed = {}, []
    writer = SimpleNamespace(
        add_scalar=lambda tag, value, step: written.setdefault(tag, []).append((step, value)),
        close=lambda: closed.append(True),
    )
    monkeypatch.setattr(selfplay, "_open_writer", lambda _: writer)
    train(small_config(total_timesteps=2 * 16 * 64), Console(quiet=True))
    assert [step for step, _ in written["losses/entropy"]] == [16 * 64, 2 * 16 * 64]
    assert {"charts/SPS", "charts/learning_rate", "losses/approx_kl", "charts/win_rate/random"} <= written.keys()
    assert closed == [True]


def test_without_tensorboard_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    writer = ScalarWriter(tmp_path)
    writer.write({"losses/entropy": 1.0}, 1)
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_event_files(tmp_path):
    pytest.importorskip("tensorboard", reason="TensorBoard is optional")
    writer = ScalarWriter(tmp_path)
    writer.write({"losses/entropy": 1.0}, 1)
    writer.close()
    assert [path.name for path in tmp_path.iterdir() if "tfevents" in path.name]


def run_example(*arguments):
    return subprocess.run([sys.executable, EXAMPLE, *arguments], capture_output=True, text=True, check=False)


def test_the_example(tmp_path):
    small = ["--num-envs", "64", "--total-timesteps", "2048", "--eval-games", "2", "--num-evaluations", "1"]
    small += ["--num-threads", "1", "--config", "case1", "od2d", "--opponents", "random", "--no-anneal-lr"]
    result = run_example(*small, "--out", str(tmp_path / "run"))
    assert result.returncode == 0, result.stderr
    assert "final evaluation: 10 games against each of random, raider, scripted" in result.stdout
    assert (tmp_path / "run" / "policy.safetensors").exists()
    wrong = run_example("--clip-coef", "-1")
    assert wrong.returncode == 2
    assert "clip_coef must be at least 0, got -1.0" in wrong.stderr


def test_exploit(tmp_path):
    command = [sys.executable, "-m", "geo_patrol", "exploit", "idle", "--minutes", "0.1", "--games", "20"]
    command += ["--config", "case1", "--threads", "1", "--device", "cpu", "--json", "-"]
    result = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "final evaluation: 100 games against each of idle" in result.stderr
    data = json.loads(result.stdout)
    assert (data["agent"], data["device"]) == ("idle", "cpu")
    assert data["lower_bound"]["win_rate"] > 0.8
    assert data["curve"][-1]["win_rate"] == data["lower_bound"]["win_rate"]
    assert read_weights(tmp_path / "policy.safetensors")


def test_configurations_with_and_without_hidden_enemies_are_trained_together(small_config):
    (*_, last) = train(small_config(config=("case1", "geo_patrol_hidden")), Console(quiet=True))
    assert last.steps >= 6 * 16 * 64
