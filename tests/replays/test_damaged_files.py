"""Files that are damaged, cut short, tampered with or hostile: a clear message, or the undamaged games."""

import gzip
import json
import random
import subprocess
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import RecordingError, load_config
from geo_patrol.replays import Disagreement, Recorder, ReplayReader, check, files, play, read_replay, write_replays
from tests.support.replay_files import ENDINGS, read, read_tolerantly, short_game, short_lines, write_lines

GOLDEN = Path(__file__).parents[1] / "data" / "reference_games.jsonl.gz"


def positions(replay):
    """Return the positions of a replay up to where it violates the rules."""
    values = []
    with suppress(RecordingError):
        for phase in play(replay):
            game = phase.after
            values.append([game.scores, game.satellites("alpha"), game.satellites("bravo")])
    return values


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "game.jsonl"
    path.write_bytes(b"".join(short_lines()))
    replay = read_replay(path)
    assert check(replay) is None
    return positions(replay)


@pytest.mark.slow
def test_cut_short_at_every_byte(whole, tmp_path):
    data, path = b"".join(short_lines()), tmp_path / "cut.jsonl"
    header, seen = len(short_lines()[0]), -1
    for size in range(len(data)):
        path.write_bytes(data[:size])
        if size < header - 1:
            with pytest.raises(RecordingError, match=r"line 1 is cut short|there is no game in it"):
                list(ReplayReader(path))
            continue
        (replay,), faults = read(path)
        complete = data[:size].count(b"\n") - 1
        assert len(replay.phases) >= complete - 1
        if len(replay.phases) != seen:  # the same phases as one byte before need no second check
            seen = len(replay.phases)
            assert positions(replay) == whole[:seen]
        is_between_lines = data[:size].endswith((b"\n", b"}")) and not faults
        assert is_between_lines or faults[0].endswith("is cut short")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS[1:])
def test_packed_files_cut_short_at_every_byte(ending, whole, tmp_path):
    plain, path, cut = tmp_path / "game.jsonl", tmp_path / f"game.{ending}", tmp_path / "cut"
    plain.write_bytes(b"".join(short_lines()))
    write_replays(path, ReplayReader(plain))
    data, seen = path.read_bytes(), 0
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        replays, faults = read_tolerantly(cut)
        assert faults
        assert replays or faults[0].startswith(f"{cut}: ")
        for replay in replays:
            if len(replay.phases) != seen:  # the same phases as one byte before need no second check
                seen = len(replay.phases)
                assert positions(replay) == whole[:seen]
    assert seen >= len(whole) - 1


@pytest.mark.slow
def test_flipped_bits(whole, tmp_path):
    data, path = b"".join(short_lines()), tmp_path / "flipped.jsonl"
    generator, detected = random.Random(5), 0
    for _ in range(500):
        index, bit = generator.randrange(len(data)), 1 << generator.randrange(8)
        path.write_bytes(data[:index] + bytes([data[index] ^ bit]) + data[index + 1 :])
        replays, faults = read_tolerantly(path)
        assert replays or faults[0].startswith(f"{path}: line 1")
        detected += not replays
        for replay in replays:
            fault = replay.fault or check(replay)
            detected += fault is not None or bool(faults)
            if fault is None and not faults:  # in a name, or in a value that did not matter in this game
                assert positions(replay) == whole
    assert detected > 350


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS[1:])
def test_bits_flipped_in_packed_files(ending, whole, tmp_path):
    plain, path, flipped = tmp_path / "game.jsonl", tmp_path / f"game.{ending}", tmp_path / "flipped"
    plain.write_bytes(b"".join(short_lines()))
    write_replays(path, ReplayReader(plain))
    data, generator = path.read_bytes(), random.Random(6)
    for _ in range(150):
        index, bit = generator.randrange(len(data)), 1 << generator.randrange(8)
        flipped.write_bytes(data[:index] + bytes([data[index] ^ bit]) + data[index + 1 :])
        replays, faults = read_tolerantly(flipped)
        assert replays or faults[0].startswith(f"{flipped}: ")
        for replay in replays:
            assert replay.fault or faults or check(replay) or positions(replay) == whole


def test_games_after_a_damaged_one_are_read(tmp_path):
    path = tmp_path / "games.jsonl"
    good, bad = b"".join(short_lines()), list(short_lines())
    bad[3] = bad[3].replace(b'"phase"', b'"phrase"', 1)
    path.write_bytes(good + b"".join(bad) + b"\n\n" + good)
    replays, faults = read(path)
    assert [check(replay) for replay in replays] == [None, None, None]
    assert [len(replay.phases) for replay in replays] == [4, 2, 4]
    line = len(short_lines()) + 4
    assert faults == [f"line {line}: type must be 'game', 'phase' or 'end', got 'phrase'"]
    assert [replay.fault for replay in replays] == [None, faults[0], None]
    assert [replay.number for replay in replays] == [0, 1, 2]


# Tampered games: where they stop agreeing

TAMPERED = [
    ((0, "seed"), 123, r"game 0, turn 1, engagement: outcomes"),
    (
        (0, "config", "alpha", "hva", "fuel"),
        50,
        r"turn 1, movement: after.fuel of alpha HVA: recorded \d+, replayed \d+",
    ),
    ((1, "turn"), 2, r"game 0, turn 1, movement: phase: recorded turn 2, movement, replayed turn 1, movement"),
    ((1, "phase"), "engagement", r"phase: recorded turn 1, engagement, replayed turn 1, movement"),
    ((1, "after", "fuel", 1, 2), 7, r"game 0, turn 1, movement: after.fuel of bravo P2: recorded 7, replayed \d+"),
    ((2, "after", "goal", 0), 1, r"after.goal of alpha: recorded 1, replayed 2"),
    ((2, "outcomes", 0, "success"), None, r"turn 1, engagement: outcomes.0.success: recorded \w+, replayed \w+"),
    ((2, "outcomes", 0, "probability"), 0.25, r"outcomes.0.probability: recorded 0.25, replayed 0.\d"),
    ((2, "outcomes", 0, "target"), "alpha:Patrol:9", r"0.target: recorded alpha:Patrol:9, replayed \w+:\w+:\d"),
    ((2, "outcomes"), [], r"number of outcomes: recorded 0, replayed \d"),
    ((-1, "score", 0), 77, r"turn \d, end: score: recorded \[77, \d+\], replayed \[\d+, \d+\]"),
    ((-1, "turns"), 9, r"end: turns: recorded 9, replayed \d"),
    ((-1, "reasons"), ["win_score (alpha)"], r"end: reasons: recorded \['win_score \(alpha\)'\], replayed"),
]


def tamper(steps, value):
    """Return the lines of the short game with a value replaced; None turns a flag around."""
    *steps, last = steps
    target = lines = short_game()
    for step in steps:
        target = target[step]
    target[last] = (not target[last]) if value is None else value
    return lines


@pytest.mark.parametrize(("steps", "value", "message"), TAMPERED, ids=lambda value: str(value)[:40])
def test_a_tampered_game_says_where_it_leaves_the_rules(steps, value, message, tmp_path):
    path = write_lines(tmp_path / "game.jsonl", tamper(steps, value))
    (replay,), faults = read(path)
    assert faults == []
    with pytest.raises(Disagreement, match=message) as caught:
        list(play(replay))
    assert caught.value.recorded != caught.value.replayed
    assert caught.value.turn >= 1


def fault_of(path, lines):
    """Return where the one game of a file leaves the rules."""
    (replay,), _ = read(write_lines(path, lines))
    return check(replay)


def test_a_tampered_order_is_found_in_its_phase(tmp_path):
    lines = short_game()
    orders = lines[3]["orders"]["alpha"]
    orders[:] = [] if orders else ["HVA prograde"]
    assert fault_of(tmp_path / "game.jsonl", lines).startswith("game 0, turn 2, movement: after.")


def test_a_game_that_goes_on_after_its_end(tmp_path):
    lines, path = short_game(), tmp_path / "game.jsonl"
    lines.insert(-1, lines[1])
    assert "turn 1, movement: game: recorded goes on, replayed over since turn" in fault_of(path, lines)
    del lines[-3:-1]
    assert "end: game: recorded over, replayed goes on with engagement" in fault_of(path, lines)


def test_games_without_a_seed_are_checked_by_their_outcomes(tmp_path):
    lines, path = short_game(), tmp_path / "game.jsonl"
    lines[0]["seed"] = None
    assert fault_of(path, lines) is None
    lines[2]["outcomes"][0]["probability"] = 0.123
    assert "outcomes.0.probability: recorded 0.123, replayed 0.4" in fault_of(path, lines)


def published_game():
    """Return a game recorded by the published implementation."""
    return json.loads(gzip.decompress(GOLDEN.read_bytes()).splitlines()[0])


@pytest.mark.slow
def test_recordings_of_the_published_implementation_are_read_up_to_a_missing_phase(tmp_path):
    recorded = published_game()
    del recorded["phases"][4]
    (replay,), faults = read(write_lines(tmp_path / "games.jsonl", [recorded]))
    assert faults == ["line 1: phase 4 (drift): phase: recorded 'drift', replayed 'engagement'"]
    assert (replay.fault, check(replay)) == (faults[0].removeprefix("line 1: "), None)
    assert [phase.name for phase in replay.phases] == ["movement", "engagement", "movement"]


def test_games_that_cannot_all_be_written_leave_no_file(tmp_path):
    plain, path = write_lines(tmp_path / "plain.jsonl", short_game()), tmp_path / "games.jsonl.zst"

    def games():
        yield from ReplayReader(plain)
        yield from ReplayReader(tmp_path / "missing.jsonl")

    with pytest.raises(RecordingError, match=r"missing\.jsonl: cannot be read"):
        write_replays(path, games())
    assert not path.exists()
    assert write_replays(path, ReplayReader(plain)) == 1


def test_recordings_of_the_published_implementation_may_end_before_a_drift(tmp_path):
    recorded, path = published_game(), tmp_path / "again.jsonl"
    recorded["phases"] = recorded["phases"][:5]
    (replay,), faults = read(write_lines(tmp_path / "games.jsonl", [recorded]))
    assert (faults, check(replay), len(list(play(replay)))) == ([], None, 4)
    write_replays(path, [replay])
    again = read_replay(path)  # without the engagement, whose position after the drift is not known
    assert (check(again), len(again.phases)) == (None, 3)


# Lines that do not make sense: line and field

WRONG = [
    ((0, "version"), 2, "line 1: version = 2: a later format than this program reads, which is 1; update geo_patrol"),
    ((0, "format"), "chess", "line 1: format must be 'geo_patrol replay', got 'chess'"),
    ((0, "seed"), -1, "line 1: seed must be at least 0, got -1"),
    ((0, "seed"), 2**64, "line 1: seed must be below 18446744073709551616, got 18446744073709551616"),
    ((0, "agents", "alpha"), 3, "line 1: agents.alpha must be a text in quotes, got 3"),
    ((0, "config", "turn_limit"), 0, "line 1: config: saved configuration: 1 fault\n  turn_limit must be an integer"),
    ((0, "config", "alpha", "patrols", "fuel"), {"low": 1, "high": 2}, "a replay holds every value as it was sampled"),
    ((0, "extra"), 5, "line 1: extra = 5: there is no such key"),
    ((1, "phase"), "drift", "line 2: phase must be 'movement' or 'engagement', got 'drift'"),
    ((1, "orders", "alpha"), ["P1 fly"], "line 2: orders.alpha.0 = 'P1 fly': order 'P1 fly': 'fly' is not an action"),
    ((1, "orders", "bravo"), ["P1 guard", "P1 noop"], "line 2: orders.bravo.1 = 'P1 noop': P1 has an order already"),
    ((1, "after", "fuel", 0), [1, 2], "line 2: after = {'sector': "),
    ((1, "after", "ammo", 0, 0), 10**6, "line 2: after.ammo.0.0 must be below 32768, got 1000000"),
    ((2, "outcomes", 0, "target"), "alpha:HVA:1", "outcomes.0.target = 'alpha:HVA:1': give a satellite such as"),
    ((2, "outcomes", 0, "probability"), 2, "line 3: outcomes.0.probability must be at most"),
    ((-1, "winner"), "nobody", "winner must be 'alpha' or 'bravo', got 'nobody'"),
]


@pytest.mark.parametrize(("steps", "value", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_lines_are_named_with_their_field(steps, value, message, tmp_path):
    lines = tamper(steps, value)
    path = write_lines(tmp_path / "game.jsonl", lines)
    replays, (fault, *_) = read_tolerantly(path)
    phases = steps[0] % len(lines) - 1  # those before the line
    assert [(len(replay.phases), replay.fault) for replay in replays] == [(phases, fault)] * (phases >= 0)
    assert replays or fault.startswith(f"{path}: ")
    assert message in fault
    assert len(fault) < 500


def test_names_and_titles_cannot_control_a_terminal(tmp_path):
    lines = short_game()
    lines[0]["agents"]["alpha"] = "\x1b[2Jann\n\u202e"
    lines[0]["config"]["title"] = "\x1b]0;owned\x07" + "x" * 1000
    (replay,), _ = read(write_lines(tmp_path / "game.jsonl", lines))
    assert replay.agents[0] == r"\x1b[2Jann\n\u202e"
    assert replay.config.title.isprintable()
    assert len(replay.config.title) == 200
    assert check(replay) is None


# Hostile files: bounded in memory and time

_MEASURE = r"""
import json, re, sys
from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.replays import ReplayReader
def peak():  # of this program, not of the one that started it
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
base = peak()
for path in sys.argv[1:]:
    games, fault = 0, None
    try:
        reader = ReplayReader(path)
        for replay in reader:
            games += 1
        fault = reader.faults[0] if reader.faults else None
    except GeoPatrolError as error:
        fault = str(error).removeprefix(f"{path}: ")
    print(json.dumps([path, games, fault, (peak() - base) // 1024]), flush=True)
"""


def zstd_frame(window, size, body):
    """Build a zstd frame with any window descriptor and any claimed content size."""
    return b"\x28\xb5\x2f\xfd" + bytes([0xC0]) + bytes([window]) + size.to_bytes(8, "little") + body


def gzip_of(chunk, times):
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(chunk) for _ in range(times)) + packer.flush()


def hostile_files():
    """List names, contents and their expected messages."""
    lines = [line.decode() for line in short_lines()]
    header = short_game()[0]
    deep = lines[0].replace('"description"', '"deep": ' + "[" * 50_000 + "]" * 50_000 + ', "description"', 1)
    many = json.dumps({**header, **{f"k{number}": 0 for number in range(20_000)}})
    listed = json.dumps({**short_game()[1], "orders": {"alpha": [0] * 80_000, "bravo": []}})
    keys = json.dumps({**header, "config": {f"k{number}": 0 for number in range(20_000)}})
    million = "\n".join(["{}"] * 1_000_000)
    return {
        "digits.jsonl": (lines[0].replace('"seed":5', '"seed":' + "9" * 200_000), "not JSON: number out of range"),
        "power.jsonl": (lines[0].replace('"seed":5', '"seed":1e99999'), "line 1: seed must be "),
        "deep.jsonl": (deep, "line 1: not JSON: recursion limit exceeded"),
        "long.jsonl": ("x" * 10_000_000, "line 1 is longer than 262,144 bytes"),
        "zeros.jsonl.gz": (gzip_of(b"\0" * (1 << 20), 256), "line 1 is longer than 262,144 bytes"),
        "blank.jsonl.gz": (gzip_of(b"\n" * (1 << 20), 256), "no phase of a game in 10,000 lines; reading ends here"),
        "claim.jsonl.zst": (zstd_frame(0xF8, 1 << 40, b"\x01\x00\x00"), "takes more than 128 MB of memory to unpack"),
        "members.jsonl.gz": (gzip.compress(b"x") * 100_000, "has more than one packed piece in 100 bytes"),
        "million.jsonl.gz": (
            gzip.compress(million.encode()),
            "line 1: type must be 'game', 'phase' or 'end', got None",
        ),
        "keys.jsonl": (many, "line 1: "),
        "list.jsonl": (lines[0] + listed, "line 2: orders.alpha must have a length of at most 11"),
        "config.jsonl": (keys, "line 1: config: saved configuration: "),
        "endless.jsonl.gz": (
            gzip_of(lines[0].encode(), 1) + gzip_of(lines[1].encode() * 100, 300),
            "game is longer than",
        ),
        "noise.jsonl": (random.Random(1).randbytes(1_000_000), "line 1"),
        "text16.jsonl": (lines[0].encode("utf-16"), "line 1: not JSON"),
        "later.jsonl": (json.dumps({**header, "version": 99}), "line 1: version = 99: a later format"),
        "golden.jsonl": ('{"phases": ' + "[" * 100_000, "line 1 is cut short"),
    }


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="does not report its peak of memory")
def test_hostile_files_are_bounded_in_memory_and_time(tmp_path):
    messages = {}
    for name, (content, message) in hostile_files().items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        messages[str(tmp_path / name)] = message
    start = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-c", _MEASURE, *messages], capture_output=True, text=True, timeout=300, check=True
    )
    assert time.monotonic() - start < 120
    results = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [result[0] for result in results] == list(messages)
    for path, games, message, growth in results:
        assert messages[path] in message, path
        assert len(message) < 4000
        assert games <= 1
        assert growth < 60, path


def test_files_that_unpack_to_too_much_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MIN_UNPACKED_LIMIT", 1 << 16)
    monkeypatch.setattr(files, "_MAX_RATIO", 40)
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(gzip_of(b"".join(short_lines()), 2000))
    reader = ReplayReader(path)
    assert sum(1 for _ in reader) < 2000
    assert "unpacks to more than 40 times its size" in reader.faults[-1]


@pytest.mark.slow
def test_a_long_game_fits(tmp_path):
    path = tmp_path / "long.jsonl.zst"
    config = load_config("case1", {"turn_limit": 10_000, "both.points.win": 1_000_000, "both.costs.station_keeping": 0})
    with Recorder(path, config, sync=False) as recorder:
        recorder.begin(seed=1, alpha="a", bravo="b")
        nothing = np.zeros((2, 11), np.int64)
        while not recorder.is_over:
            recorder.record_codes(nothing)
    (replay,), faults = read(path)
    assert faults == []
    assert replay.is_finished
    assert len(replay.phases) == 20_000
