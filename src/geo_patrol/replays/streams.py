"""Files of lines, plain, gzip or zstd: written so that a crash leaves all but the last phase readable, read within bounds.

The ending decides the compression of a new file, the first bytes how a file is read. Files are untrusted: too long
lines, and files that decompress to far more than recorded games do, are refused.
"""

import gzip
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from geo_patrol.errors import RecordingError

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


_Bytes = TypeVar("_Bytes", bytes, bytearray)


class LineStream(Protocol):
    """A file that lines are written to."""

    def write(self, data: bytes, /) -> int:
        """Write bytes."""

    def sync(self) -> None:
        """Flush to the operating system, so that a crash of this process loses nothing."""

    def close(self) -> None:
        """Close the stream and the file."""


class _Stream:
    """A file, compressed if ``packer`` is given; flushing the packer with ``flush_mode`` makes all of it readable."""

    def __init__(self, file: BinaryIO, packer: Any = None, flush_mode: Any = None) -> None:
        self._file, self._packer, self._flush_mode = file, packer, flush_mode

    def write(self, data: bytes, /) -> int:
        return int((self._packer or self._file).write(data))

    def sync(self) -> None:
        if self._packer is not None:
            self._packer.flush(self._flush_mode)
        self._file.flush()

    def close(self) -> None:
        with self._file:
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
        return _Stream(file, gzip.GzipFile("", "wb", fileobj=file, mtime=0), zlib.Z_SYNC_FLUSH)
    if path.suffix == ".zst":
        options = {int(zstd.CompressionParameter.checksum_flag): 1}
        return _Stream(file, zstd.ZstdFile(file, "w", options=options), zstd.ZstdFile.FLUSH_BLOCK)
    return _Stream(file)


def read_lines(path: Path, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes, bool]]:
    """Read the lines of a file, compressed or not.

    Yields:
        The number of a line from 1, its bytes, and whether it ends with a newline; only the last one may not.

    Raises:
        RecordingError: the file cannot be read, or is damaged from here on; the lines before are valid.
    """
    number, rest = 0, bytearray()
    for chunk in _unpacked(path):
        if b"\n" in chunk:
            *lines, end = bytes(rest + chunk).split(b"\n")
            rest = bytearray(end)
            for line in lines:
                number += 1
                yield number, _check_length(number, line, max_line_bytes), True
        else:
            rest += chunk
        _check_length(number + 1, rest, max_line_bytes)
    if rest:
        yield number + 1, bytes(rest), False


def _check_length(number: int, line: _Bytes, maximum: int) -> _Bytes:
    if len(line) > maximum:
        raise RecordingError(f"line {number} is longer than {maximum:,} bytes; no recorded game has such lines")
    return line


def _unpacked(path: Path) -> Iterator[bytes]:
    """Read a file in pieces, decompressed if its first bytes are those of gzip or zstd."""
    size = 0
    try:
        with path.open("rb") as file:
            start = file.read(4)
            pieces = _pieces(file, start)
            kind = _Gzip if start[:2] == b"\x1f\x8b" else _Zstd if start == b"\x28\xb5\x2f\xfd" else None
            if kind is None:
                yield from pieces
                return
            for packed_size, piece in _unpack(pieces, kind):
                size += len(piece)
                if size > max(_MIN_UNPACKED_LIMIT, _MAX_RATIO * packed_size):
                    raise RecordingError(
                        f"unpacks to more than {_MAX_RATIO} times its size, which no recorded games do"
                    )
                yield piece
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}") from None


def _pieces(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    piece = start
    while piece:
        yield piece
        piece = file.read(_CHUNK)


class _Unpacker:
    """Decompresses one gzip member or zstd frame, in pieces of bounded size.

    Attributes:
        needs_input: whether it needs more of the file to return more.
    """

    def __init__(self, unpacker: Any) -> None:
        self._unpacker = unpacker
        self.needs_input = True

    @property
    def is_complete(self) -> bool:
        """Whether the end has been reached."""
        return bool(self._unpacker.eof)

    @property
    def unused(self) -> bytes:
        """Input beyond the end."""
        return bytes(self._unpacker.unused_data)

    def feed(self, data: bytes) -> bytes:
        """Process a piece of the file; return a decompressed piece."""
        raise NotImplementedError

    def more(self) -> bytes:
        """Return a further decompressed piece."""
        raise NotImplementedError


class _Gzip(_Unpacker):
    def __init__(self) -> None:
        super().__init__(zlib.decompressobj(wbits=31))

    def feed(self, data: bytes) -> bytes:
        unpacked: bytes = self._unpacker.decompress(data, _CHUNK)
        self.needs_input = len(unpacked) < _CHUNK and not self._unpacker.unconsumed_tail
        return unpacked

    def more(self) -> bytes:
        return self.feed(self._unpacker.unconsumed_tail)


class _Zstd(_Unpacker):
    def __init__(self) -> None:
        options = {int(zstd.DecompressionParameter.window_log_max): _WINDOW_LOG_MAX}
        super().__init__(zstd.ZstdDecompressor(options=options))

    def feed(self, data: bytes) -> bytes:
        unpacked: bytes = self._unpacker.decompress(data, _CHUNK)
        self.needs_input = self._unpacker.needs_input
        return unpacked

    def more(self) -> bytes:
        return self.feed(b"")


def _unpack(pieces: Iterator[bytes], kind: type[_Gzip | _Zstd]) -> Iterator[tuple[int, bytes]]:
    """Decompress consecutive gzip members or zstd frames; yield the number of bytes read, and the next piece."""
    consumed, member, pending = 0, None, b""
    try:
        while True:
            if not pending:
                pending = next(pieces, b"")
                consumed += len(pending)
                if not pending:
                    break
            member = member or kind()
            yield consumed, member.feed(pending)
            pending = b""
            while not member.is_complete and not member.needs_input:
                yield consumed, member.more()
            if member.is_complete:
                pending, member = member.unused, None
    except (zlib.error, zstd.ZstdError) as error:
        raise RecordingError(f"is damaged: {error}") from None
    if member is not None:
        raise RecordingError("is cut short: the packed file has no end")
