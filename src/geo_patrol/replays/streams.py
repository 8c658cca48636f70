"""Files of lines, plain, gzip or zstd: written so that a crash leaves all but the last phase readable, read within bounds.

The ending decides the compression of a new file, the first bytes how a file is read. Files are untrusted: too long
lines, and files that decompress to far more than recorded games do, are refused.
"""

import gzip
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from geo_patrol.errors import RecordingError
from geo_patrol.files import named_errors

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_LINE_BYTES = 1 << 18
"""A line is a phase, or a game of the published implementation; those take up to 120 kB."""
_CHUNK = 1 << 14
_MIN_UNPACKED_LIMIT = 1 << 26
"""Decompressed size that is accepted of any file, in bytes."""
_MAX_RATIO = 400
"""Accepted ratio of decompressed to compressed size of larger files; thousands of equal games reach about 150."""
_WINDOW_LOG_MAX = 23  # 8 MB; our own files use less, and a file must not choose how much memory it takes


class LineStream:
    """A file that lines are written to.

    Args:
        file: the file.
        path: its path, which errors name.
        packer: compresses the lines; None for a plain file.
        flush_mode: argument of the packer's ``flush`` that makes everything written so far readable.
    """

    def __init__(self, file: BinaryIO, path: Path, packer: Any = None, flush_mode: Any = None) -> None:
        self._file, self._path, self._packer, self._flush_mode = file, path, packer, flush_mode

    def write(self, data: bytes) -> None:
        """Write bytes."""
        with named_errors(self._path):
            (self._packer or self._file).write(data)

    def sync(self) -> None:
        """Flush to the operating system, so that a crash of this process loses nothing."""
        with named_errors(self._path):
            if self._packer is not None:
                self._packer.flush(self._flush_mode)
            self._file.flush()

    def close(self) -> None:
        """Close the stream and the file."""
        with named_errors(self._path), self._file:
            if self._packer is not None:
                self._packer.close()


def open_stream(path: Path, mode: str) -> LineStream:
    """Open a file for writing lines, compressed by its ending: ``.gz``, ``.zst``, otherwise plain.

    Args:
        path: path of the file.
        mode: "x" for a new file; "w" to replace an existing one; "a" to append, as a gzip member or zstd frame of its own.

    Raises:
        OSError: it cannot be opened; ``FileExistsError`` if it exists already, with mode "x".
    """
    file: BinaryIO = path.open(f"{mode}b")  # type: ignore[assignment]
    if path.suffix == ".gz":
        # Neither name nor time go into the file: the same games give the same bytes.
        return LineStream(file, path, gzip.GzipFile("", "wb", fileobj=file, mtime=0), zlib.Z_SYNC_FLUSH)
    if path.suffix == ".zst":
        options = {int(zstd.CompressionParameter.checksum_flag): 1}
        return LineStream(file, path, zstd.ZstdFile(file, "w", options=options), zstd.ZstdFile.FLUSH_BLOCK)
    return LineStream(file, path)


def read_lines(path: Path, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes, bool]]:
    """Read the lines of a file, compressed or not.

    Yields:
        The number of a line from 1, its bytes, and whether it ends with a newline; only the last one may not.

    Raises:
        RecordingError: the file cannot be read, or is damaged from here on; the lines before are valid.
    """
    number, rest = 1, bytearray()
    for chunk in _unpacked(path):
        *ends, start = chunk.split(b"\n")
        for end in ends:
            line = bytes(rest + end)
            _check_length(number, line, max_line_bytes)
            yield number, line, True
            number, rest = number + 1, bytearray()
        rest += start
        _check_length(number, rest, max_line_bytes)
    if rest:
        yield number, bytes(rest), False


def _check_length(number: int, line: bytes | bytearray, maximum: int) -> None:
    if len(line) > maximum:
        raise RecordingError(f"line {number} is longer than {maximum:,} bytes; no recorded game has such lines")


def _unpacked(path: Path) -> Iterator[bytes]:
    """Read a file in chunks, decompressed if its first bytes are those of gzip or zstd."""
    size = 0
    try:
        with path.open("rb") as file:
            packed = _CountingReader(file)
            stream = _unpacking_stream(file.peek(4), packed)
            while chunk := (stream or file).read1(_CHUNK):
                size += len(chunk)
                if stream is not None and size > max(_MIN_UNPACKED_LIMIT, _MAX_RATIO * packed.size):
                    raise RecordingError(
                        f"unpacks to more than {_MAX_RATIO} times its size, which no recorded games do"
                    )
                yield chunk
    except (zlib.error, gzip.BadGzipFile, zstd.ZstdError) as error:
        raise RecordingError(f"is damaged: {error}") from None
    except EOFError:
        raise RecordingError("is cut short: the packed file has no end") from None
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}") from None


class _CountingReader:
    """A file that counts the bytes that are read of it; it may be a pipe, which has no position."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size = file, 0

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.size += len(data)
        return data


def _unpacking_stream(start: bytes, packed: Any) -> Any:
    """Return a stream of the decompressed content of a file by its first bytes; None if it is not compressed."""
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=packed, mode="rb")
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return zstd.ZstdFile(packed, options={int(zstd.DecompressionParameter.window_log_max): _WINDOW_LOG_MAX})
    return None
