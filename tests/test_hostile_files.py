"""Untrusted files: loading them is bounded in size and time, and messages quote them as plain text."""

import gzip
import io
import json
import multiprocessing
import os
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from geo_patrol import ConfigError, GeoPatrolError, load_config
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.policy.weights import read_weights, write_weights
from geo_patrol.errors import MAX_MESSAGE_LINE, MAX_MESSAGE_LINES, PolicyError, printable
from geo_patrol.files import read_limited
from geo_patrol.flight.mission import load_mission
from geo_patrol.verify.__main__ import check_file

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes and /proc")


@pytest.fixture
def sparse(tmp_path):
    """Return a sparse file of four gigabytes, which occupies no disk space."""
    path = tmp_path / "sparse.toml"
    with path.open("wb") as file:
        file.truncate(4 << 30)
    return path


@pytest.mark.parametrize("load", [load_config, load_mission])
def test_huge_files_are_refused_without_being_read(load, sparse):
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="larger than 65,536 bytes"):
            load(sparse)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_a_huge_policy_is_refused_without_being_read(sparse):
    with pytest.raises(PolicyError, match="more than 16,000,000 bytes"):
        read_weights(sparse)


def _load(load, path):
    try:
        load(path)
    except (GeoPatrolError, OSError):
        os._exit(42)


@posix_only
@pytest.mark.parametrize("load", [load_config, load_mission, read_weights])
@pytest.mark.parametrize("source", ["pipe", "/dev/zero", "/proc/kmsg", "extends /proc/kmsg"])
def test_pipes_and_devices_are_refused_at_once(load, source, tmp_path):
    if source == "pipe":
        source = tmp_path / "pipe.toml"
        os.mkfifo(source)
    elif source.startswith("extends"):
        path = tmp_path / "extending.toml"
        path.write_text('extends = "/proc/kmsg"')
        source = path
    process = multiprocessing.get_context("fork").Process(target=_load, args=(load, source))
    process.start()
    process.join(timeout=10)
    process.kill()
    assert process.exitcode == 42


def test_read_limited_returns_one_byte_more_than_the_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abcdef")
    assert read_limited(path, 6) == b"abcdef"
    assert read_limited(path, 5) == b"abcdef"
    assert read_limited(path, 3) == b"abcd"
    with pytest.raises(OSError, match=r"regular|denied"):
        read_limited(tmp_path, 3)


def test_numbers_that_a_cast_makes_infinite_are_refused(tmp_path):
    weights = dict(PolicyAgent("base").weights)
    weights["value"] = weights["value"].astype(np.float64)
    weights["value"][0, 0] = 1e300
    with pytest.raises(PolicyError, match="value holds numbers that are not finite in float32"):
        write_weights(tmp_path / "infinite.safetensors", weights)


def test_printable_escapes_what_controls_a_terminal():
    assert printable("Überflug 地球 🛰", 80) == "Überflug 地球 🛰"
    assert printable("\x1b[2J\a\x9b\u202e\u2028\ud800", 80) == r"\x1b[2J\x07\x9b\u202e\u2028\ud800"
    assert printable("x" * 81, 80) == "x" * 77 + "..."


def test_messages_quote_hostile_text_escaped_and_bounded():
    error = GeoPatrolError("first \x1b]0;title\a\n" + "x" * 10_000 + "\n" * 10_000)
    first, second, *rest = str(error).split("\n")
    assert first == r"first \x1b]0;title\x07"
    assert len(second) == MAX_MESSAGE_LINE
    assert len(rest) == MAX_MESSAGE_LINES - 2


def test_unknown_keys_are_escaped(tmp_path):
    path = tmp_path / "keys.toml"
    path.write_text('"\\u001b[31m" = 1\n"' + "k" * 5000 + '" = 2\n')
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert r"\x1b[31m" in str(caught.value)
    assert all(line.isprintable() and len(line) <= MAX_MESSAGE_LINE for line in str(caught.value).split("\n"))


@pytest.mark.parametrize("line", ["a." * 30_000 + "a = 1", "[" + "a . " * 16_000 + "a]", "'a b'." * 10_000 + "a = 1"])
def test_keys_with_many_dots_are_refused_before_they_are_parsed(line, tmp_path):
    path = tmp_path / "deep.toml"
    path.write_text(line)
    with pytest.raises(ConfigError, match="more than 200 dots"):
        load_config(path)


def packed(path, *segments):
    """Write segments, each a text and its number of repetitions, as a gzip file."""
    with gzip.open(path, "wb", 9) as file:
        for text, count in segments:
            for _ in range(count // 1000):
                file.write(text * 1000)
            file.write(text * (count % 1000))
    return path


ENGAGEMENTS = json.loads((Path(__file__).parent / "data" / "reference_odds.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([(b"\n", 60_000_000)], "more than 10,000 empty lines"),
        ([(b"{}\n", 20_000_000)], "100 faults: the rest is not checked"),
        ([(b"[", 5_000_000)], "line 1 is longer than 4,194,304 bytes"),
        ([(b"[" * 1000, 4_000)], "not JSON"),
        ([(b"[{},\n", 1), (b"{},\n", 5_000_000)], "more than 4,194,304 characters"),
        ([(json.dumps(ENGAGEMENTS * 3).encode(), 1)], "more than 2,000,000 draws in a file"),
    ],
    ids=["empty lines", "faults", "long line", "nesting", "list", "draws"],
)
def test_verify_gives_up_on_hostile_recordings(segments, message, tmp_path, capsys):
    path = packed(tmp_path / "games.jsonl.gz", *segments)
    tracemalloc.start()
    try:
        assert not check_file(path, Console(file=io.StringIO()))
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
    assert message in capsys.readouterr().out
