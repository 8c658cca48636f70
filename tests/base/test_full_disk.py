"""A full disk: errors name the file, no failed save is reported as a success, and older files stay readable.

A limit on the size of files simulates the full disk.
"""

import contextlib
from pathlib import Path

import pytest

from geo_patrol import load_config
from geo_patrol.base.files import atomic_write
from geo_patrol.evaluation.campaign import GAMES, FolderError, Journal
from geo_patrol.evaluation.chunks import ChunkRecord, PlannedMatch
from geo_patrol.evaluation.executors import play_in_worker
from geo_patrol.replays import ReplayReader
from tests.support.commands import run

resource = pytest.importorskip("resource")


@contextlib.contextmanager
def largest_file(size):
    """Let no file grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def run_on_full_disk(size, *arguments, typed=None):
    """Run a command that cannot write more than some bytes to a file."""
    with largest_file(size):
        return run(*arguments, typed=typed)


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_a_game_that_cannot_be_saved_is_not_called_saved(ending, tmp_path):
    path = tmp_path / f"game.{ending}"
    done = run_on_full_disk(
        0, "play", "--text", "--save", path, "--against", "random", "--seed", "1", typed="rest\n\n" * 500
    )
    assert done.exit_code == 2, done.stderr
    assert f"geo-patrol: {path}: File too large" in done.stderr
    assert "saved" not in done.stderr
    assert not path.exists()


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_what_was_saved_before_the_disk_was_full_can_be_read(ending, tmp_path):
    path, size = tmp_path / f"game.{ending}", 5_000 if ending == "jsonl" else 1_800
    done = run_on_full_disk(
        size, "play", "--text", "--save", path, "--against", "random", "--seed", "1", typed="rest\n\n" * 500
    )
    assert done.exit_code == 2, done.stdout + done.stderr
    assert f"geo-patrol: {path}: File too large" in done.stderr
    assert "The game is saved up to the phase before" in done.stderr
    (replay,) = ReplayReader(path)
    assert len(replay.phases) >= 2
    assert not replay.is_finished


def test_tables_that_cannot_be_written_name_their_file_and_leave_the_old_one(tmp_path):
    path = tmp_path / "match.json"
    path.write_text("old")
    done = run_on_full_disk(100, "match", "idle", "idle", "--games", "2", "--seed", "1", "--json", path)
    assert done.exit_code == 2, done.stderr
    assert f"{path}: File too large" in done.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_writes_name_the_file(tmp_path):
    path = tmp_path / "table.csv"
    with pytest.raises(OSError, match="File too large") as caught, largest_file(10), atomic_write(path) as file:
        file.write("x" * 100_000)
    assert Path(caught.value.filename) == path
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def finished():
    """Return the chunks of a match, each with its games."""
    return [
        (chunk, play_in_worker(chunk))
        for chunk in PlannedMatch(("idle", "random"), load_config("case1"), 1).chunks(300)
    ]


def contents(finished):
    return [(chunk.key, played.result.games.tobytes(), played.curve.tobytes()) for chunk, played in finished]


def open_journal(folder):
    return Journal(folder, {"kind": "test"})


def read(journal, finished):
    chunks = {chunk.key: chunk for chunk, _ in finished}
    return contents((chunks[key], stored.restore(chunks[key])) for key, stored in journal.read())


def test_a_journal_holds_whole_lines_only(finished, tmp_path):
    first, *rest = finished
    journal = open_journal(tmp_path)
    journal.append(ChunkRecord.of(*first))
    before = (tmp_path / GAMES).read_bytes()
    with largest_file(len(before) + 100), pytest.raises(OSError, match="File too large") as caught:
        journal.append(ChunkRecord.of(*rest[0]))
    assert Path(caught.value.filename) == tmp_path / GAMES
    assert (tmp_path / GAMES).read_bytes() == before
    assert read(journal, finished) == contents([first])
    for record in rest:
        journal.append(ChunkRecord.of(*record))
    journal.close()
    assert read(open_journal(tmp_path), finished) == contents(finished)


def test_a_folder_is_used_by_one_process_at_a_time(finished, tmp_path):
    journal = open_journal(tmp_path)
    with pytest.raises(FolderError, match=f"{tmp_path} is in use by another process: wait until it ends"):
        open_journal(tmp_path)
    journal.append(ChunkRecord.of(*finished[0]))
    journal.close()
    assert read(open_journal(tmp_path), finished) == contents(finished[:1])
