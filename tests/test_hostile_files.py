"""Untrusted files: loading them is bounded in size and time, and messages quote them as plain text."""

import functools
import gzip
import json
import multiprocessing
import os
import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from geo_patrol import ConfigError, Game, GeoPatrolError, RecordingError, load_config
from geo_patrol.agents.policy import PolicyAgent, read_weights, write_weights
from geo_patrol.base.errors import MAX_MESSAGE_LINE, MAX_MESSAGE_LINES, PolicyError, SolvingError, printable
from geo_patrol.base.files import read_limited
from geo_patrol.flight.mission import load_mission
from geo_patrol.replays import ReplayReader
from geo_patrol.solving import read_solution
from tests.support.commands import run
from tests.support.replay_files import short_game, write_lines

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes and /proc")


@pytest.fixture
def sparse(tmp_path):
    """Return a sparse file of four gigabytes, which occupies no disk space."""
    path = tmp_path / "sparse.toml"
    with path.open("wb") as file:
        file.truncate(4 << 30)
    return path


@contextmanager
def memory_below(megabytes):
    """Check how much memory a block takes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (load_config, ConfigError, "larger than 65,536 bytes"),
        (load_mission, ConfigError, "larger than 65,536 bytes"),
        (read_weights, PolicyError, "more than 16,000,000 bytes"),
    ],
)
def test_huge_files_are_refused_without_being_read(load, error, message, sparse):
    with memory_below(40), pytest.raises(error, match=message):
        load(sparse)


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


MILLION = {f"k{number}": 1 for number in range(1_000_000)}


@pytest.mark.parametrize("table", ["content", "config", "position"])
def test_tables_with_a_million_fields_are_refused_at_once(table):
    """Pydantic would make an error of each, with a copy of the table's text."""
    saved = Game("case1", seed=0).save()
    changed = saved if table == "content" else saved[table]
    changed |= MILLION
    message = r"a table has 1,000,\d\d\d fields, which no save has"
    with memory_below(100), pytest.raises(RecordingError, match=message):
        Game.restore(saved)


def test_variants_are_counted_before_they_are_read(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load_config("case1", {"variants": [{"name": 1}] * 101})
    assert str(caught.value).splitlines()[1:] == ["  variants must be at most 100, got '101 variants'"]
    with pytest.raises(ConfigError, match="a table or list has 100,000 entries; at most 20,000"):
        load_config("case1", {"variants": [{}] * 100_000})
    line = short_game()[0]
    line["config"]["variants"] = [{"name": 1}]
    with pytest.raises(RecordingError, match="config: a replay holds every value as it was sampled"):
        list(ReplayReader(write_lines(tmp_path / "games.jsonl", [line])))


def packed(path, text, count):
    """Write a text and its number of repetitions, as a gzip file."""
    with gzip.open(path, "wb", 9) as file:
        for _ in range(count // 1000):
            file.write(text * 1000)
        file.write(text * (count % 1000))
    return path


ENGAGEMENTS = json.loads((Path(__file__).parent / "data" / "reference_odds.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "count", "message"),
    [
        (b"\n", 60_000_000, "no phase of a game in 10,000 lines"),
        (b"{}\n", 20_000_000, "line 1: type must be 'game', 'phase' or 'end', got None"),
        (b"[", 5_000_000, "line 1 is longer than 262,144 bytes"),
        (json.dumps(ENGAGEMENTS).encode(), 1, "line 1 must be an object"),
    ],
    ids=["empty lines", "faults", "long line", "odds"],
)
def test_verify_gives_up_on_hostile_games(text, count, message, tmp_path):
    assert_refused(packed(tmp_path / "games.jsonl.gz", text, count), message)


def assert_refused(path, message):
    """Check that a file is refused, without much memory."""
    with memory_below(200):
        ran = run("verify", path)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert message in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 5_000_000, "larger than 1,048,576 bytes"),
        (b"[" * 1_000_000, "invalid JSON: recursion limit exceeded"),
        (b"[{}" + b",{}" * 300_000 + b"]", "0.name is missing"),
        (b"[{" + b",".join(b'"%d":1' % number for number in range(90_000)) + b"}]", "0.name is missing"),
        (json.dumps(ENGAGEMENTS * 3).encode(), "more than 2,000,000 draws in a file"),
    ],
    ids=["large", "nesting", "engagements", "keys", "draws"],
)
def test_verify_gives_up_on_hostile_odds(content, message, tmp_path):
    path = tmp_path / "odds.json"
    path.write_bytes(content)
    assert_refused(path, message)


CONFIG = load_config("duel", {"turn_limit": 1}).to_dict()
METADATA = {"format": "geo_patrol solution 1", "config": CONFIG, "certified_gap": 0.0}


def solution_arrays():
    """Return the arrays of a solution of two phases, of one position each."""
    arrays = {}
    for number in range(2):
        arrays |= {f"{number}/alpha": np.array([5]), f"{number}/bravo": np.array([7])}
        arrays[f"{number}/indices"] = np.zeros((1, 2), np.int32)
        arrays[f"{number}/values"] = np.zeros((1, 2))
    return arrays


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"0/values": np.zeros((1, 3))}, r"0/values: F64 of shape \(1, 3\)"),
        ({"0/values": np.zeros((1, 2), np.float32)}, "0/values: F32 of shape"),
        ({"0/values": np.zeros((2, 2))}, "phase 0: 1 positions, 2 values"),
        ({"1/values": np.full((1, 2), np.nan)}, "phase 1: values that no game has"),
        ({"1/values": np.array([[0, 1.5]])}, "phase 1: values that no game has"),
        ({"1/values": np.array([[1e300, 0]])}, "phase 1: values that no game has"),
        ({"0/indices": np.ones((1, 2), np.int32)}, "phase 0: indices out of range"),
        ({"0/indices": np.zeros((2, 2), np.int32), "0/values": np.zeros((2, 2))}, "phase 0: indices out of order"),
        ({"0/alpha": np.array([5, 5])}, "phase 0: codes out of order"),
        ({"0/alpha": np.array([[5]])}, r"0/alpha: I64 of shape \(1, 1\)"),
        ({"1/bravo": None}, "arrays of 1 phases"),
        ({"1/bravo": None, "1/more": np.zeros(1)}, "1/bravo"),
        ({f"{number}/{name}": np.zeros(1) for number in range(2, 6) for name in "abcd"}, "arrays of 6 phases"),
    ],
)
def test_arrays_that_are_no_solution_are_refused(change, message, tmp_path):
    path = tmp_path / "x.safetensors"
    arrays = {name: array for name, array in (solution_arrays() | change).items() if array is not None}
    save_file(arrays, path, {"geo_patrol": json.dumps(METADATA)})
    with pytest.raises(SolvingError, match=message) as caught:
        read_solution(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (METADATA | {"format": "x"}, "metadata: format must be 'geo_patrol solution 1', got 'x'"),
        ({"format": "geo_patrol solution 1", "certified_gap": 0.0}, "metadata: config is missing"),
        (METADATA | {"config": []}, r"metadata: config must be a table, got \[\]"),
        (METADATA | {"config": {"a": 1}}, "not a solution"),
        (METADATA | {"config": CONFIG | {"turn_limit": {"low": 1, "high": 9}}}, "not a solution"),
        (METADATA | {"certified_gap": float("nan")}, "metadata: certified_gap must be a finite number, got nan"),
        (METADATA | {"certified_gap": -1.0}, "metadata: certified_gap must be at least 0"),
        (METADATA | {"more": 1}, "metadata: more = 1: there is no such key"),
        ("[" * 90_000, "recursion limit"),
        ("x" * 100_001, "its metadata are too long"),
        ("", "metadata: content"),
    ],
)
def test_metadata_that_are_of_no_solution_are_refused(metadata, message, tmp_path):
    path = tmp_path / "x.safetensors"
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    save_file(solution_arrays(), path, {"geo_patrol": text})
    with pytest.raises(SolvingError, match=message) as caught:
        read_solution(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= MAX_MESSAGE_LINE


def test_solutions_with_enormous_or_truncated_contents_are_refused_in_bounded_memory(sparse, tmp_path):
    path = tmp_path / "x.safetensors"
    save_file(solution_arrays(), path, {"geo_patrol": json.dumps(METADATA)})
    whole = path.read_bytes()
    sparse.write_bytes((50_000_000).to_bytes(8, "little") + b"{")
    os.truncate(sparse, 60_000_000)
    with memory_below(10):
        with pytest.raises(SolvingError, match="its header is longer than 4,000,000 bytes"):
            read_solution(sparse)
        for length in (0, 7, 100, len(whole) - 1):
            path.write_bytes(whole[:length])
            with pytest.raises(SolvingError, match="not a solution of geo_patrol"):
                read_solution(path)
    path.write_bytes(whole)
    assert read_solution(path).num_positions == len(load_file(path)) // 4


@functools.cache
def saved_game():
    return json.dumps(Game("duel", seed=1).save())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", "", "not JSON"),
        ("x.json", "[" * 100_000, "not JSON"),
        ("x.json", "9" * 10_000, "not JSON"),
        ("x.json", " " * 1_000_001, "larger than 1,000,000 bytes"),
        ("x.json", "NaN", "not a saved game"),
        ("x.json", lambda: saved_game().replace('"fuel": [', '"fuel": [NaN, ', 1), "fuel"),
        ("x.json", lambda: saved_game().replace('"fuel": [', '"fuel": [1e400, ', 1), "fuel"),
        ("x.toml", "turn = 1", "x.toml"),
    ],
)
def test_odds_of_hostile_files_are_refused_in_one_line(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_text(content() if callable(content) else content)
    ran = run("odds", path, *(("--turn", 1) if name.endswith(".toml") else ()))
    assert ran.exit_code == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
