"""Files of agents travel: the names on another machine lead to the copies."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from geo_patrol import GeoPatrolError
from geo_patrol.agents import files as agent_files
from geo_patrol.agents import make_agent
from geo_patrol.agents.policy import PolicyAgent, write_weights

BOT = """
from pathlib import Path
from geo_patrol.agents.basic import IdleAgent
from parts.tables import NAME

class Bot(IdleAgent):
    name = NAME + (Path(__file__).parent / "suffix.txt").read_text()
"""


@pytest.fixture(autouse=True)
def _no_copies_afterwards(monkeypatch):
    monkeypatch.setenv("GEO_PATROL_AGENT_FILES", "")  # restores what it was
    monkeypatch.delenv("GEO_PATROL_AGENT_FILES")


def test_a_python_file_takes_its_folder_along(tmp_path):
    folder = tmp_path / "bots"
    (folder / "parts").mkdir(parents=True)
    (folder / "data").mkdir()
    for path, text in {
        "bot.py": BOT,
        "suffix.txt": "!",
        ".secret": "",
        "data/large.bin": "",
        "parts/__init__.py": "",
        "parts/tables.py": "NAME = 'travelled'",
    }.items():
        (folder / path).write_text(text)
    files = agent_files.collect_files([f"{folder}/bot.py:Bot", "scripted", "raider:defenders=2"])
    assert sorted(Path(path).name for path in files.contents) == ["__init__.py", "bot.py", "suffix.txt", "tables.py"]
    shutil.rmtree(folder)
    with agent_files.unpack_files(files):
        assert make_agent(f"{folder}/bot.py:Bot").name == "travelled!"
        assert make_agent("raider:defenders=2").name == "raider:defenders=2"


def test_a_policy_travels_alone_and_with_every_spelling_of_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_weights(tmp_path / "net.safetensors", PolicyAgent("base").weights, {})
    (tmp_path / "other.bin").write_bytes(b"1")
    names = [f"policy:{tmp_path}/net.safetensors", "policy:net.safetensors,greedy"]
    files = agent_files.collect_files(names)
    assert [Path(path).name for path in files.contents] == ["net.safetensors"]
    (tmp_path / "net.safetensors").unlink()
    with agent_files.unpack_files(files):
        assert [bool(make_agent(name).greedy) for name in names] == [False, True]


@pytest.mark.parametrize("name", ["rllib:checkpoint", "rllib:./checkpoint,greedy", "search:1ms,enemy=rllib:checkpoint"])
def test_the_folder_of_a_checkpoint_travels_whole(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for path in ("metadata.json", "learner/module/weights.pkl"):
        file = tmp_path / "checkpoint" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    files = agent_files.collect_files([name])
    shutil.rmtree(tmp_path / "checkpoint")
    with agent_files.unpack_files(files):
        kind, _, folder = agent_files.local_name(name).removesuffix(",greedy").rpartition(":")
        assert name.startswith(kind)
        assert Path(folder, "learner/module/weights.pkl").read_text() == "learner/module/weights.pkl"
        assert Path(folder, "metadata.json").is_file()


def test_folders_are_those_of_checkpoints_only(tmp_path, monkeypatch):
    """A folder beside the user that has the name of an agent or a parameter has nothing to do with it."""
    monkeypatch.chdir(tmp_path)
    for folder in ("scripted", "base"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file.txt").write_text("1")
    assert agent_files.collect_files(["scripted", "policy:base"]).contents == {}


@pytest.mark.parametrize("name", ["onnx:net.onnx", "torch:net.pt,greedy", "torch:net.py:make"])
def test_files_of_networks_travel(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / name.split(":")[1].removesuffix(",greedy")
    file.write_bytes(b"content")
    files = agent_files.collect_files([name])
    file.unlink()
    with agent_files.unpack_files(files):
        assert Path(agent_files.local_name(name).split(":")[1].removesuffix(",greedy")).read_bytes() == b"content"


def test_the_digest_changes_with_every_content(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text("1")
    before = agent_files.collect_files([f"{bot}:Bot"]).digest
    assert agent_files.collect_files([f"{bot}:Bot"]).digest == before
    (tmp_path / "more.py").write_text("")
    assert agent_files.collect_files([f"{bot}:Bot"]).digest != before


def test_folders_that_are_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(agent_files, "MAX_BYTES", 1 << 20)
    (tmp_path / "bot.py").write_text("")
    with (tmp_path / "film.bin").open("wb") as file:
        os.truncate(file.fileno(), 1 << 20)
    (tmp_path / "more.py").write_text(" ")
    with pytest.raises(GeoPatrolError, match=r"bot\.py: more than 1 MB would travel with it"):
        agent_files.collect_files([f"{tmp_path}/bot.py:Bot"])


@pytest.mark.skipif(sys.platform == "win32", reason="files there have no such names")
@pytest.mark.parametrize(
    ("path", "name"),
    [
        (r"C:\mine.py", "{}:Mine"),
        ("D:/best.safetensors", "policy:{},greedy"),
        (r"E:\mine.py", "search:agent={}:Mine"),
        ("e:/mine.py", "search:propose=raider,agent={}:Mine"),
    ],
)
def test_the_colon_of_a_drive_is_part_of_the_path(path, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).touch()
    assert agent_files.with_absolute_paths(name.format(path)) == name.format(tmp_path / path)
