"""Files as other programs pack and edit them: byte order marks, frames, windows."""

import gzip

import pytest

from geo_patrol import RecordingError
from geo_patrol.replays import ReplayReader
from geo_patrol.replays.files import MAX_FAULTY_BYTES, zstd
from tests.support.replay_files import short_lines

LINES = short_lines()
TEXT = b"".join(LINES)
MARK = b"\xef\xbb\xbf"
SKIPPED = b"\x5a\x2a\x4d\x18" + (6).to_bytes(4, "little") + b"\x28\xb5\x2f\xfd\x00\x00"


def ultra(data):
    """Pack as ``zstd --ultra -22`` does from a pipe: with a window of 128 MB."""
    packer = zstd.ZstdCompressor(options={int(zstd.CompressionParameter.compression_level): 22})
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("content", "games"),
    [
        (MARK + TEXT, 1),
        (MARK + TEXT + MARK + TEXT, 2),
        (gzip.compress(MARK + TEXT), 1),
        (gzip.compress(TEXT) + gzip.compress(b"") + gzip.compress(TEXT) + bytes(500), 2),
        (ultra(TEXT), 1),
        (zstd.compress(TEXT) + ultra(TEXT), 2),
        (SKIPPED + zstd.compress(TEXT), 1),
        (zstd.compress(TEXT) + SKIPPED + zstd.compress(b"") + SKIPPED + zstd.compress(TEXT) + SKIPPED, 2),
        (b"".join(zstd.compress(line) for line in LINES), 1),
        (b"".join(gzip.compress(line) for line in LINES), 1),
    ],
)
def test_files_of_other_programs_are_read(content, games, tmp_path):
    path = tmp_path / "games"
    path.write_bytes(content)
    reader = ReplayReader(path)
    assert [len(replay.phases) for replay in reader] == [len(LINES) - 2] * games
    assert reader.faults == []


def test_a_window_that_takes_too_much_memory_is_refused(tmp_path):
    path = tmp_path / "games.zst"
    options = {int(zstd.CompressionParameter.window_log): 28, int(zstd.CompressionParameter.compression_level): 1}
    packer = zstd.ZstdCompressor(options=options)
    path.write_bytes(packer.compress(TEXT) + packer.flush())
    with pytest.raises(RecordingError, match="takes more than 128 MB of memory to unpack"):
        list(ReplayReader(path))


FRAMES = {"gzip": gzip.compress(b""), "zstd": zstd.compress(b""), "line": zstd.compress(b"\n"), "skipped": SKIPPED}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_files_of_tiny_frames_are_refused_early(frame, tmp_path):
    path = tmp_path / "games"
    path.write_bytes(frame * 3_000)
    with pytest.raises(RecordingError, match="one packed piece in 100 bytes"):
        list(ReplayReader(path))


def test_reading_ends_after_many_bytes_with_faults(tmp_path):
    path = tmp_path / "games.jsonl"
    line = b'{"phases": [' + b"{}," * 50_000 + b"{}]}\n"
    path.write_bytes(TEXT + line * 40 + TEXT)
    reader = ReplayReader(path)
    (replay,) = reader
    assert len(replay.phases) == len(LINES) - 2
    assert reader.fault_count == MAX_FAULTY_BYTES // len(line) + 2 <= 40
    assert reader.faults[-1].endswith("4,194,304 bytes with faults; reading ends here")


def test_faults_are_counted_once_however_often_a_file_is_read(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(TEXT + b"no game\n" * 3)
    reader = ReplayReader(path)
    for _ in range(3):
        assert len(list(reader)) == 1
        assert (reader.fault_count, len(reader.faults)) == (3, 3)
