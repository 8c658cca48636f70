"""Recording a game and reading it back gives the game that was played."""

import gzip
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from geo_patrol import Game, OrderError, RecordingError, load_config, play_match, preset_names
from geo_patrol.agents import basic
from geo_patrol.game.notation import read_reasons
from geo_patrol.game.position import VISIBLE_FIELDS
from geo_patrol.replays import Recorder, ReplayReader, check, play, read_replay, save_path, start, write_replays
from geo_patrol.replays.summaries import table_rows
from tests.support.replay_files import ENDINGS, read, record
from tests.support.strategies import configs, seeds, small

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "data" / "reference_games.jsonl.gz"
SCENARIOS = ROOT / "examples" / "random_scenarios.toml"


@pytest.mark.slow
@pytest.mark.parametrize("config", [*preset_names(), SCENARIOS])
def test_random_games_of_every_preset(config, tmp_path):
    path = tmp_path / "games.jsonl.zst"
    result = play_match("random", "random", config=config, games=40, seed=11, save=path)
    replays = list(ReplayReader(path))
    assert len(replays) == 40
    for index, replay in enumerate(replays):
        assert check(replay) is None
        assert replay.number == index
        assert replay.seed == result.seeds[index]
        first = int(result.first_side[index])
        assert replay.agents == (result.agents[first], result.agents[1 - first])
        assert replay.end.score == [int(score) for score in result.scores[index][[first, 1 - first]]]
        assert replay.end.turns == result.turns[index]
        assert replay.end.reasons == [str(reason) for reason in read_reasons(int(result.reasons[index]))]
        winner = int(result.winner[index])
        assert replay.end.winner == (None if winner < 0 else ("alpha", "bravo")[winner ^ first])
    plain, again = tmp_path / "plain.jsonl", tmp_path / "again.jsonl"
    assert write_replays(plain, ReplayReader(path)) == 40
    write_replays(again, ReplayReader(plain))
    assert plain.read_bytes() == again.read_bytes()


@pytest.mark.slow
def test_all_recorded_games_survive_a_round_trip(tmp_path):
    path = tmp_path / "golden.jsonl.gz"
    assert write_replays(path, ReplayReader(GOLDEN)) == 300
    for published, replay in zip(ReplayReader(GOLDEN), ReplayReader(path), strict=True):
        assert check(replay) is None
        assert replay.config == published.config
        assert published.is_finished
        for recorded, again in zip(published.phases, replay.phases, strict=True):
            assert (recorded.turn, recorded.name, recorded.outcomes) == (again.turn, again.name, again.outcomes)
            assert (recorded.codes == again.codes).all()
            for name in VISIBLE_FIELDS:
                assert getattr(recorded.after, name) == getattr(again.after, name)


def test_replayed_positions_are_those_of_the_game(tmp_path):
    path = tmp_path / "game.jsonl"
    game = record(path, "case1", seed=4)
    replay = read_replay(path)
    assert (replay.agents, replay.seed, replay.config) == (("ann", "bob"), 4, load_config("case1"))
    assert start(replay) == Game("case1", seed=4)
    *_, last = play(replay)
    assert last.after == game
    assert last.after.outcomes == game.outcomes == last.outcomes
    assert replay.is_finished


@pytest.mark.slow
@given(config=configs(), seed=seeds)
def test_games_of_any_configuration(config, seed, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "game.jsonl"
    record(path, config, seed=seed, phases=20)
    (replay,), faults = read(path)
    assert (check(replay), faults, replay.fault) == (None, [], None)


@pytest.mark.parametrize("ending", ENDINGS)
def test_suffixes_select_the_compression_of_files(ending, tmp_path):
    record(tmp_path / "plain", seed=2)
    record(tmp_path / f"game.{ending}", seed=2)
    packed = (tmp_path / f"game.{ending}").read_bytes()
    starts = {"jsonl": b"{", "jsonl.gz": b"\x1f\x8b", "jsonl.zst": b"\x28\xb5\x2f\xfd"}
    assert packed.startswith(starts[ending])
    if ending == "jsonl.gz":
        assert gzip.decompress(packed) == (tmp_path / "plain").read_bytes()
    (tmp_path / "renamed").write_bytes(packed)  # the content decides how a file is read
    assert check(read_replay(tmp_path / "renamed")) is None


def test_saving_changes_no_match_and_equal_games_give_equal_files(tmp_path):
    plain = play_match("scripted", "random", games=20, seed=3)
    paths = tmp_path / "one.jsonl.gz", tmp_path / "two.jsonl.gz"
    for path in paths:
        saved = play_match("scripted", "random", games=20, seed=3, save=path)
        assert (plain.scores == saved.scores).all()
        assert (plain.first_game == saved.first_game).all()
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("loses", ["noop", "forfeit"])
def test_illegal_orders_and_codes_that_do_not_exist_are_recorded(loses, tmp_path, monkeypatch):
    codes = np.array([27, 99, -5, 4, 16, 0, 1, 2, 3, 4, 5])

    def act(self, observations, action_masks, generator):
        return np.tile(codes, (len(action_masks), 1))

    monkeypatch.setattr(basic.IdleAgent, "act", act)
    path = tmp_path / "games.jsonl"
    config = load_config("geo_patrol", {"illegal_orders": loses})
    result = play_match("idle", "random", config=config, games=4, seed=1, save=path)
    for index, replay in enumerate(ReplayReader(path)):
        phases = list(play(replay))
        first = int(result.first_side[index])
        assert sum(phase.illegal_orders[first] for phase in phases) == result.illegal_orders[index, 0] > 0
    assert '"P1 unknown","P2 unknown","P3 radial_out"' in path.read_text()


@given(seed=seeds)
def test_replays_hold_sampled_values(seed):
    config = load_config(SCENARIOS)
    game = Game(config, seed=seed)
    sampled = game.config
    assert not sampled.is_randomized
    assert Game(sampled, seed=seed).position == game.position
    ours, theirs = Game(sampled, seed=seed).as_games().state, game.as_games().state
    assert ours.games.tobytes() == theirs.games.tobytes()
    assert Game(sampled, seed=seed).key == game.key


def test_replays_and_their_tables_name_the_sampled_variant(tmp_path):
    names = {"short": 40, "long": 90}
    variants = [{"name": name, "alpha": {"patrols": {"fuel": fuel}}} for name, fuel in names.items()]
    config = load_config("case1", {"variants": variants, "turn_limit": 1})
    path = tmp_path / "games.jsonl"
    play_match("idle", "idle", config=config, games=30, seed=2, save=path)
    seen = set()
    for replay in ReplayReader(path):
        assert replay.config.alpha.patrols.fuel == names[replay.config.variant]
        (row,) = table_rows(replay, "games")[1]
        assert (row["variant"], row["alpha.patrols.fuel"]) == (replay.config.variant, replay.config.alpha.patrols.fuel)
        seen.add(replay.config.variant)
    assert seen == set(names)


# The recorder


def test_the_recorder_refuses_phases_out_of_step_and_invalid_arguments(tmp_path):
    path = tmp_path / "game.jsonl"
    game = Game("case1", seed=3)
    with Recorder(path, game.config) as recorder:
        recorder.begin(seed=3, alpha="a" * 500, bravo="b")
        assert recorder.game == game
        with pytest.raises(OrderError, match="P3 has an order already"):
            recorder.record(alpha="P3 prograde; P3 retrograde")
        recorder.record(alpha="P3 prograde", bravo={4: "radial_in"})
        game.step(alpha="P3 prograde", bravo={4: "radial_in"})
        assert recorder.game == game
    with pytest.raises(FileExistsError, match="no game is written over: choose another name, or delete this file"):
        Recorder(path, game.config)
    replay = read_replay(path)
    assert [len(name) for name in replay.agents] == [200, 1]
    assert not replay.is_finished
    over = small(1, top={"turn_limit": 1})
    with Recorder(tmp_path / "over.jsonl", over) as recorder:
        recorder.begin(seed=1, alpha="a", bravo="b")
        recorder.record()
        recorder.record()
        with pytest.raises(OrderError, match="the game is over"):
            recorder.record()


def test_a_recorder_that_records_nothing_leaves_no_file(tmp_path):
    with Recorder(tmp_path / "none.jsonl.gz", load_config("case1")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_long_texts_are_shortened(tmp_path):
    config = load_config("case1", {"title": "x" * 300_000, "description": "y " * 300_000})
    with Recorder(tmp_path / "long.jsonl", config) as recorder:
        recorder.begin(seed=1, alpha="a" * 300_000, bravo="b")
        recorder.record()
    replay = read_replay(tmp_path / "long.jsonl")
    assert replay.config == config
    texts = replay.config.title, replay.config.description, replay.agents[0]
    assert [len(text) for text in texts] == [200, 1000, 200]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_phase_is_in_the_file_at_once(ending, tmp_path):
    path = tmp_path / f"game.{ending}"
    recorder = Recorder(path, load_config("case1"))
    recorder.begin(seed=3, alpha="a", bravo="b")
    for phases in range(1, 6):
        recorder.record()
        (replay,), _ = read(path)
        assert len(replay.phases) == phases
        assert check(replay) is None
    recorder.close()


_WRITER = """
import sys
from geo_patrol import load_config
from geo_patrol.replays import Recorder
recorder = Recorder(sys.argv[1], load_config("case1", {"turn_limit": 10000, "both.points.win": 1000000, "both.hva.fuel": 9999}))
recorder.begin(seed=3, alpha="a", bravo="b")
while True:
    recorder.record()
    print("phase", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_killed_process_loses_at_most_the_phase_in_progress(ending, tmp_path):
    path = tmp_path / f"game.{ending}"
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    count = 0
    deadline = time.monotonic() + 100
    while count < 40 and time.monotonic() < deadline:
        count += writer.stdout.readline() == "phase\n"
    writer.kill()
    count += writer.communicate()[0].count("phase\n")
    (replay,), _ = read(path)
    assert 40 <= count <= len(replay.phases) <= count + 1
    assert check(replay) is None


# Where games are saved


def test_a_folder_gets_a_new_file_each_time(tmp_path):
    one = save_path(tmp_path / "games", "scripted human")
    one.touch()
    two = save_path(f"{tmp_path}/games/", "scripted human")
    assert one != two
    assert {path.parent for path in (one, two)} == {tmp_path / "games"}
    assert all("scripted-human" in path.name and path.name.endswith(".jsonl.gz") for path in (one, two))
    assert "/" not in save_path(tmp_path, "../../etc/passwd \x1b[2J").name


def test_nothing_is_written_over(tmp_path):
    path = tmp_path / "game.jsonl"
    path.touch()
    with pytest.raises(RecordingError, match="is there already: choose another name, or a folder"):
        save_path(path, "a b")
    with pytest.raises(RecordingError, match="there is no folder"):
        save_path(tmp_path / "no" / "game.jsonl", "a b")


def test_a_reader_that_stopped_early_reads_from_the_beginning(tmp_path):
    path = tmp_path / "games.jsonl"
    with Recorder(path, load_config("case1")) as recorder:
        for seed in (1, 2):
            recorder.begin(seed=seed, alpha="idle", bravo="idle")
            recorder.record_codes(np.zeros((2, 11), np.int64))
    reader = ReplayReader(path)
    assert [len(read_replay(reader, number).phases) for number in (0, 1, 0)] == [1, 1, 1]
