"""Files of lines, plain, gzip or zstd: a crash, or the loss of the machine, leaves all but the last phase readable.

The ending decides the compression of a new file, the first bytes how a file is read within bounds. Files are untrusted: too long
lines, and files that decompress to far more than recorded games do, are refused.
"""

import errno
import gzip
import os
import re
import sys
import time
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from geo_patrol.base.errors import GeoPatrolError, OrderError, RecordingError, show
from geo_patrol.base.files import atomic_path, expand_user, named_errors, sync_folder, without_mark
from geo_patrol.base.sides import Side
from geo_patrol.base.validation import parse_model
from geo_patrol.base.versions import versions
from geo_patrol.config.presets import read_saved_config
from geo_patrol.config.schema import MAX_TURNS, GameConfig
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import EndReason, Orders, Outcome, order_codes
from geo_patrol.game.position import VISIBLE_FIELDS, Position
from geo_patrol.game.timeline import Timeline
from geo_patrol.replays.checking import play, start
from geo_patrol.replays.published import PublishedGame, read_published
from geo_patrol.replays.replay import (
    FORMAT,
    MAX_NAME,
    VERSION,
    EndLine,
    GameLine,
    PhaseLine,
    RecordedPhase,
    Replay,
    read_orders,
    write_orders,
    write_outcome,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_LINE_BYTES = 1 << 18
"""A line is a phase, or a game of the published implementation; those take up to 120 kB."""
_CHUNK = 1 << 14
_MIN_UNPACKED_LIMIT = 1 << 24
"""Decompressed size that is accepted of any file, in bytes."""
_MAX_RATIO = 400
"""Accepted ratio of decompressed to compressed size of larger files; thousands of equal games reach about 150."""
_WINDOW_LOG_MAX = 27  # 128 MB, as of zstd --ultra -22; a file must not choose how much memory it takes
_MIN_FRAME_BYTES = 100
"""Accepted mean size of the frames of a file, beyond the first thousand; a phase takes more."""


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
        self._has_name = False  # on the disk

    def write(self, data: bytes) -> None:
        """Write bytes."""
        with named_errors(self._path):
            (self._packer or self._file).write(data)

    def flush(self) -> None:
        """Hand everything to the operating system, so that a crash of this process loses nothing."""
        with named_errors(self._path):
            if self._packer is not None:
                self._packer.flush(self._flush_mode)
            self._file.flush()

    def sync(self) -> None:
        """Have the disk store everything, so that the loss of the machine loses nothing."""
        self.flush()
        with named_errors(self._path):
            os.fsync(self._file.fileno())
            if not self._has_name:
                sync_folder(self._path.parent)
                self._has_name = True

    def close(self) -> None:
        """Close the stream and the file, when the disk has stored everything."""
        with named_errors(self._path), self._file:
            if self._packer is not None:
                self._packer.close()
            self._file.flush()
            os.fsync(self._file.fileno())


def open_stream(path: Path, mode: str) -> LineStream:
    """Open a file for writing lines, compressed by its ending: ``.gz``, ``.zst``, otherwise plain.

    Args:
        path: path of the file.
        mode: "x" for a new file; "w" to replace an existing one; "a" to append, as a gzip member or zstd frame of its own.

    Raises:
        OSError: it cannot be opened; ``FileExistsError`` if it exists already, with mode "x".
    """
    try:
        file: BinaryIO = path.open(f"{mode}b")  # type: ignore[assignment]
    except FileExistsError:
        message = "no game is written over: choose another name, or delete this file first"
        raise FileExistsError(errno.EEXIST, message, str(path)) from None
    if path.suffix == ".gz":
        # Neither name nor time go into the file: the same games give the same bytes.
        return LineStream(file, path, gzip.GzipFile("", "wb", fileobj=file, mtime=0), zlib.Z_SYNC_FLUSH)
    if path.suffix == ".zst":
        options = {int(zstd.CompressionParameter.checksum_flag): 1}
        return LineStream(file, path, zstd.ZstdFile(file, "w", options=options), zstd.ZstdFile.FLUSH_BLOCK)
    return LineStream(file, path)


def read_lines(path: Path, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes, bool]]:
    """Read the lines of a file, compressed or not, without byte order marks.

    Yields:
        The number of a line from 1, its bytes, and whether it ends with a newline; only the last one may not.

    Raises:
        RecordingError: the file cannot be read, or is damaged from here on; the lines before are valid.
    """
    number, rest = 1, b""
    for chunk in _unpacked(path):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            _check_length(number, line, max_line_bytes)
            yield number, without_mark(line), True  # not in the first line alone: files are concatenated
            number += 1
        _check_length(number, rest, max_line_bytes)
    if rest := without_mark(rest):
        yield number, rest, False


def _check_length(number: int, line: bytes, maximum: int) -> None:
    if len(line) > maximum:
        raise RecordingError(f"line {number} is longer than {maximum:,} bytes; no recorded game has such lines")


def _unpacked(path: Path) -> Iterator[bytes]:
    """Read a file in chunks, decompressed if its first bytes are those of gzip or zstd."""
    position = _Position()
    try:
        with path.open("rb") as file:
            new_frame = _frame_type(file.peek(4))
            if new_frame is not None:
                yield from _unpacked_frames(file, new_frame, position)
                return
            while chunk := file.read1(_CHUNK):
                yield chunk
    except (zlib.error, zstd.ZstdError) as error:
        if "too much memory" in str(error):
            raise RecordingError(f"takes more than {1 << _WINDOW_LOG_MAX >> 20} MB of memory to unpack") from None
        if path.is_file():
            yield from _before_damage(path, position)
        raise RecordingError(f"is damaged: {error}") from None
    except EOFError:
        raise RecordingError("is cut short: the packed file has no end") from None
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}") from None


@dataclass
class _Position:
    """How far a packed file has been read."""

    piece: int = 0
    """Where the latest piece begins, in packed bytes."""
    size: int = 0
    """Number of bytes unpacked."""


def _before_damage(path: Path, position: _Position) -> Iterator[bytes]:
    """Read a packed file once more up to its damage: where they find damage, decompressors give nothing of the whole piece.

    What a lost machine leaves of a phase, after those that are whole, is such damage.
    """
    known = position.size
    with path.open("rb") as file, suppress(zlib.error, zstd.ZstdError, EOFError):
        new_frame = _frame_type(file.peek(4))
        assert new_frame is not None
        for chunk in _unpacked_frames(file, new_frame, _Position(), whole=position.piece):
            yield chunk[known:]
            known = max(known - len(chunk), 0)


def _frame_type(start: bytes) -> "Callable[[], _GzipMember | zstd.ZstdDecompressor] | None":
    """Return what unpacks a frame of a file that begins with these bytes; None if it is not compressed."""
    if start.startswith(b"\x1f\x8b"):
        return _GzipMember
    if start.startswith(b"\x28\xb5\x2f\xfd") or (start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5):  # one to skip
        return partial(
            zstd.ZstdDecompressor, options={int(zstd.DecompressionParameter.window_log_max): _WINDOW_LOG_MAX}
        )
    return None


class _GzipMember:
    """Unpacks a member of a gzip file; has what ``ZstdDecompressor`` has."""

    def __init__(self) -> None:
        self._unpacker, self._rest, self.needs_input = zlib.decompressobj(16 + zlib.MAX_WBITS), b"", True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        chunk = self._unpacker.decompress(self._rest + data, max_length)
        self._rest = self._unpacker.unconsumed_tail
        self.needs_input = len(chunk) < max_length
        return chunk

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data


def _unpacked_frames(
    file: BufferedReader,
    new_frame: "Callable[[], _GzipMember | zstd.ZstdDecompressor]",
    position: _Position,
    whole: int = sys.maxsize,
) -> Iterator[bytes]:
    """Unpack the frames of a file, one after the other.

    Args:
        file: the file.
        new_frame: returns what unpacks a frame.
        position: is kept up to date.
        whole: so many bytes are read in large pieces, the others one by one.

    Raises:
        RecordingError: there are more of them, or more in them, than recorded games make.
        EOFError: the last one has no end.
    """
    frame, data = None, b""
    packed_size = num_frames = 0
    while True:
        if not data:
            data = file.read1(min(_CHUNK, whole - packed_size) if packed_size < whole else 1)
            position.piece = packed_size
            packed_size += len(data)
            if not data and frame is not None:
                raise EOFError
            if not data:
                return
        if frame is None:
            data = data.lstrip(b"\0") if new_frame is _GzipMember else data  # what tapes append
            if not data:
                continue
            frame, num_frames = new_frame(), num_frames + 1
            if num_frames > 1_000 + packed_size // _MIN_FRAME_BYTES:
                raise RecordingError(
                    f"has more than one packed piece in {_MIN_FRAME_BYTES} bytes, which no recorded games have"
                )
        chunk = frame.decompress(data, _CHUNK)
        while True:
            position.size += len(chunk)
            if position.size > max(_MIN_UNPACKED_LIMIT, _MAX_RATIO * packed_size):
                raise RecordingError(f"unpacks to more than {_MAX_RATIO} times its size, which no recorded games do")
            if chunk:
                yield chunk
            if frame.eof or frame.needs_input:
                break
            chunk = frame.decompress(b"", _CHUNK)
        data = frame.unused_data
        if frame.eof:
            frame = None


MAX_GAME_BYTES = 1 << 23
"""A game of 10,000 turns takes about seven million bytes."""
MAX_IDLE_LINES = 10_000
"""Reading ends after so many consecutive lines without a phase of a game."""
MAX_FAULTS = 20
"""Number of faults that a reader stores; more are only counted."""
MAX_FAULTY_BYTES = 1 << 22
"""Reading ends after so many bytes of lines with faults: to find out what is wrong takes longer than to read what is right."""


class ReplayReader:
    """Iterates over the games of a file, with at most one game in memory.

    >>> for replay in ReplayReader("games.jsonl"):                   # doctest: +SKIP
    ...     print(replay.agents, replay.end)

    Iterating raises ``RecordingError`` if there is no game in the file. Faults beside valid games are in ``faults``.

    Args:
        path: a replay file, or recorded games of the published implementation; plain, gzip or zstd.

    Attributes:
        faults: the first twenty faults so far of the latest iteration, with their line numbers.
        fault_count: number of its faults so far.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.faults: list[str] = []
        self.fault_count = 0
        self._current: Replay | None = None
        self._num_bytes = self._num_games = 0
        self._config: tuple[Any, GameConfig] | None = None

    def __iter__(self) -> Iterator[Replay]:
        self._current, self._num_games = None, 0
        self.faults, self.fault_count = [], 0
        num_idle = num_faulty = 0
        for number, line, is_whole in self._lines():
            count = self.fault_count
            finished = self._read_line(number, line, is_whole) if line.strip() else []
            num_faulty += len(line) if self.fault_count > count else 0
            yield from finished
            if num_faulty > MAX_FAULTY_BYTES:
                self._end_with(f"line {number}: more than {MAX_FAULTY_BYTES:,} bytes with faults; reading ends here")
                break
            is_idle = not line.strip() or not any(
                game.phases for game in (*finished, self._current) if game is not None
            )
            num_idle = num_idle + 1 if is_idle else 0
            if num_idle > MAX_IDLE_LINES:
                self._end_with(f"line {number}: no phase of a game in {MAX_IDLE_LINES:,} lines; reading ends here")
                break
        yield from self._finish_game()
        if self._num_games == 0:
            raise RecordingError(f"{self.path}: {self.faults[0] if self.faults else 'there is no game in it'}")

    def _lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """Read the lines up to damage of the file, as ``read_lines`` does."""
        number = 0
        try:
            for number, line, is_whole in read_lines(self.path):
                yield number, line, is_whole
        except RecordingError as error:
            text = str(error)
            self._add_fault(text if text.startswith("line ") or number == 0 else f"{text}, after line {number}")

    def _add_fault(self, fault: str) -> None:
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)
        if self._current is not None:
            self._current.fault = self._current.fault or fault

    def _end_with(self, fault: str) -> None:
        """Add the fault that ends the reading, in the place of another one if there are too many."""
        self.fault_count += 1
        self.faults[MAX_FAULTS - 1 :] = [fault]

    def _finish_game(self) -> list[Replay]:
        """Return the game that was being read, if any."""
        finished, self._current = self._current, None
        return [] if finished is None else [finished]

    def _read_line(self, number: int, line: bytes, is_whole: bool) -> list[Replay]:
        """Read a line; return the games that are complete with it."""
        where, finished = f"line {number}", []
        try:
            data = _parse(line, where, is_whole)
            kind = data.get("type")
            if kind in ("phase", "end"):
                return self._continue_game(number, len(line), data)
            if kind != "game" and "phases" not in data:
                raise RecordingError(f"{where}: type must be 'game', 'phase' or 'end', got {show(kind)}")
            finished = self._finish_game()
            if kind is None:
                replay = read_published(parse_model(PublishedGame, data, where), self._num_games, number)
                if replay.fault:
                    self._add_fault(f"{where}: {replay.fault}")
                finished.append(replay)
            else:
                self._current, self._num_bytes = _read_game(number, data, self._num_games, self._config), len(line)
                self._config = data["config"], self._current.config
            self._num_games += 1
        except GeoPatrolError as error:
            self._add_fault(str(error))
            finished += self._finish_game()
        return finished

    def _continue_game(self, number: int, num_bytes: int, data: dict[str, Any]) -> list[Replay]:
        replay, where = self._current, f"line {number}"
        if replay is None:
            if self.fault_count == 0:
                self._add_fault(f"{where}: a line of type {data['type']!r} that belongs to no game")
            return []
        self._num_bytes += num_bytes
        if self._num_bytes > MAX_GAME_BYTES or len(replay.phases) > 2 * (MAX_TURNS + 1):
            raise RecordingError(f"{where}: the game is longer than {MAX_GAME_BYTES:,} bytes; none is that long")
        if data["type"] == "phase":
            replay.phases.append(self._read_phase(number, data))
            return []
        replay.end = parse_model(EndLine, data, where)
        return self._finish_game()

    def _read_phase(self, number: int, data: dict[str, Any]) -> RecordedPhase:
        """Return a phase from its line."""
        line = parse_model(PhaseLine, data, f"line {number}")
        return RecordedPhase(
            line=number,
            turn=line.turn,
            name=line.phase,
            codes=read_orders((line.orders.alpha, line.orders.bravo), f"line {number}"),
            outcomes=tuple(Outcome(**vars(outcome)) for outcome in line.outcomes),
            after=line.after,
        )


def _parse(line: bytes, where: str, is_whole: bool) -> dict[str, Any]:
    try:
        data = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise RecordingError(f"{where}: not JSON: {error}" if is_whole else f"{where} is cut short") from None
    if not isinstance(data, dict):
        raise RecordingError(f"{where} must be an object, got {show(data)}")
    return data


def _read_game(number: int, data: dict[str, Any], index: int, known: tuple[Any, GameConfig] | None) -> Replay:
    """Read the first line of a game; ``known`` is the configuration of the one before, as data and read, often the same."""
    where = f"line {number}"
    version = data.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise RecordingError(
            f"{where}: version = {show(version)}: a later format than this program reads, which is {VERSION}; update geo_patrol"
        )
    line = parse_model(GameLine, data, where)
    config = known[1] if known is not None and known[0] == line.config else _read_config(line.config, where)
    return Replay(index, number, config, line.seed, (line.agents.alpha, line.agents.bravo), line.versions)


def _read_config(data: dict[str, Any], where: str) -> GameConfig:
    try:
        config = None if data.get("variants") else read_saved_config(data)  # variants take long to be read
    except GeoPatrolError as error:
        raise RecordingError(f"{where}: config: {error}") from None
    if config is None or config.is_randomized:
        raise RecordingError(f"{where}: config: a replay holds every value as it was sampled, no ranges or choices")
    return config


def read_replay(source: str | Path | ReplayReader, number: int = 0) -> Replay:
    """Read one game of a file.

    Args:
        source: path of the file, or a reader of it.
        number: index of the game, from 0.

    Raises:
        RecordingError: there is no such game, or its first line is damaged.
    """
    reader = source if isinstance(source, ReplayReader) else ReplayReader(source)
    count = 0
    for replay in reader:
        if replay.number == number:
            return replay
        count += 1
    faults = f" that can be read; {reader.faults[0]}" if reader.faults else ""
    games = f"{count} games, 0 to {count - 1}" if count != 1 else "one game, 0"
    raise RecordingError(f"{reader.path}: there is no game {number}: the file holds {games}{faults}")


class Recorder:
    """Records games of one configuration, one after the other.

    A file cannot hold anything that did not happen: phases are either played here, from the seed and the orders, or
    refused unless they begin where the recorded game stands.

    >>> with Recorder("games.jsonl", config) as recorder:            # doctest: +SKIP
    ...     recorder.begin(seed=7, alpha="ann", bravo="scripted")
    ...     while not recorder.is_over:
    ...         ...                                                  # alpha_orders, bravo_orders
    ...         recorder.record(alpha_orders, bravo_orders)

    Args:
        path: a new file; its ending decides the compression (``.gz``, ``.zst``, otherwise none).
        config: configuration of the games.
        append: append to an existing file.
        sync: have the disk store every phase, so that the loss of the machine loses one phase at most. Otherwise ``flush()``
            and ``sync()`` do so.

    Raises:
        OSError: the file cannot be written; ``FileExistsError`` if it exists already.
    """

    def __init__(self, path: str | Path, config: GameConfig, *, append: bool = False, sync: bool = True) -> None:
        self._config = config
        self._game = Game(config, seed=0)
        self._sync_each = sync
        self._versions = versions()
        self._plain_config = None if config.is_randomized else config.to_dict()
        self.path = Path(path)
        self._stream = open_stream(self.path, "a" if append else "x")
        self._is_empty, self._is_closed = not append, False
        self._first_line = b""

    @property
    def game(self) -> Game:
        """The current position of the game that is being recorded, a copy."""
        return self._game.copy()

    @property
    def is_over(self) -> bool:
        """Whether the game that is being recorded has ended."""
        return self._game.is_over

    def begin(self, *, seed: int, alpha: str, bravo: str) -> None:
        """Begin a game; it is written together with its first phase.

        Args:
            seed: seed of the game, as for ``Game``.
            alpha: name of alpha's agent.
            bravo: name of bravo's agent.
        """
        self._game = Game(self._config, seed=seed)
        config = self._plain_config or self._game.config.to_dict()
        self._first_line = _as_bytes(_game_line((alpha, bravo), seed % 2**64, config, self._versions))

    def resume(self, game: Game) -> None:
        """Continue a game whose phases so far are at the end of the file, at the position that it has reached."""
        self._game = game.copy()

    def record(self, alpha: Orders = None, bravo: Orders = None) -> None:
        """Record a phase from the orders of both sides, and the result if the game has ended.

        Raises:
            OrderError: the game is over, or an order cannot be read.
        """
        self.record_codes(np.array([order_codes(alpha, "alpha"), order_codes(bravo, "bravo")], np.int64))

    def record_codes(self, codes: NDArray[np.int64]) -> None:
        """Record a phase from (2, 11) order codes; illegal ones are recorded too.

        Raises:
            OrderError: the game is over.
        """
        self.record_phase(self.game.step_actions(codes))

    def record_phase(self, phase: Phase) -> None:
        """Record a phase that was played, and the result if the game has ended.

        Raises:
            OrderError: the game is over.
            ValueError: the phase does not begin at the position of the game that is being recorded.
        """
        if self.is_over:
            raise OrderError("the game is over: there is nothing more to record of it")
        if phase.before != self._game:
            raise ValueError("phase must begin at the position of the recorded game, with its random stream")
        self._game = phase.after.copy()
        line = _phase_line(phase.turn, phase.name, phase.actions, phase.outcomes, _visible(phase.after.position))
        self._write(line)
        if self.is_over:
            self._write(self._end(self._game.winner, self._game.reasons))

    def settle(self, reason: EndReason) -> None:
        """Record that the game was ended here, where the rules would let it go on; before its first phase too.

        Args:
            reason: that a side resigned, that its agent failed, or that both agreed on a draw.

        Raises:
            OrderError: the game is over.
            ValueError: the reason is another one.
        """
        if self.is_over:
            raise OrderError("the game is over: there is nothing more to record of it")
        if not reason.is_settled:
            raise ValueError(f"reason must be resigned or failed, with a side, or agreed, got {str(reason)!r}")
        self._write(self._end(reason.settled_for, (reason,)))

    def _end(self, winner: Side | None, reasons: Iterable[EndReason]) -> dict[str, Any]:
        game = self._game
        return {
            "type": "end",
            "winner": winner,
            "score": list(game.scores.values()),
            "turns": game.turn,
            "reasons": [str(reason) for reason in reasons],
        }

    def _write(self, data: dict[str, Any]) -> None:
        self._stream.write(self._first_line + _as_bytes(data))
        self._first_line = b""
        if self._sync_each:
            self._stream.sync()
        self._is_empty = False

    def flush(self) -> None:
        """Hand everything to the operating system, so that a crash of this process loses nothing."""
        self._stream.flush()

    def sync(self) -> None:
        """Have the disk store everything, so that the loss of the machine loses nothing."""
        self._stream.sync()

    def close(self) -> None:
        """Close the file; it is removed if nothing has been written."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._stream.close()
        finally:
            if self._is_empty:
                self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_replays(path: str | Path, replays: Iterable[Replay]) -> int:
    """Write games that have been read into a new file, as far as they are valid; return their number.

    Raises:
        OSError: the file cannot be written; ``FileExistsError`` if it exists already.
        RecordingError: a position has values that are not integers. Where this or an error of ``replays`` is raised, the file is
            removed.
    """
    target, count = Path(path), 0
    stream = open_stream(target, "x")
    try:
        with closing(stream):
            for replay in replays:
                for line in _lines(replay):
                    stream.write(_as_bytes(line))
                count += 1
    except BaseException:
        target.unlink()
        raise
    return count


def _lines(replay: Replay) -> Iterator[dict[str, Any]]:
    yield _game_line(replay.agents, replay.seed, replay.config.to_dict(), replay.versions)
    for phase in replay.phases:
        if phase.after is not None:
            yield _phase_line(phase.turn, phase.name, phase.codes, phase.outcomes, _integers(phase.after))
    if replay.end is not None:
        yield replay.end.model_dump()


def _visible(position: Position) -> dict[str, Any]:
    """Return what the line of a phase holds of a position."""
    return {name: getattr(position, name) for name in VISIBLE_FIELDS}


def _integers(position: Position) -> dict[str, Any]:
    """Return the same of a position of the published implementation, whose numbers may be any.

    Raises:
        RecordingError: a value is not an integer, or out of range.
    """
    try:
        return _visible(Position.model_validate(_visible(position), strict=False))
    except ValidationError:
        raise RecordingError("a position must hold non-negative integers") from None


def _game_line(
    agents: tuple[str, str], seed: int | None, config: dict[str, Any], versions: dict[str, str]
) -> dict[str, Any]:
    """Return the first line of a game."""
    return {
        "type": "game",
        "format": FORMAT,
        "version": VERSION,
        "versions": versions,
        "agents": {"alpha": agents[0][:MAX_NAME], "bravo": agents[1][:MAX_NAME]},
        "seed": seed,
        "config": config,
    }


def _phase_line(
    turn: int, phase: str, codes: NDArray[np.integer[Any]], outcomes: Sequence[Outcome], after: dict[str, Any]
) -> dict[str, Any]:
    """Return the line of a decision phase."""
    line: dict[str, Any] = {
        "type": "phase",
        "turn": turn,
        "phase": phase,
        "orders": {"alpha": write_orders(codes[0]), "bravo": write_orders(codes[1])},
    }
    if outcomes:
        line["outcomes"] = [write_outcome(outcome) for outcome in outcomes]
    return line | {"after": after}


def _as_bytes(data: dict[str, Any]) -> bytes:
    """Return a line of the file."""
    return to_json(data) + b"\n"


_ENDING = ".jsonl.gz"


def save_path(target: str | Path, agents: str) -> Path:
    """Return the path of a new file to save games in. Existing files are never overwritten.

    Args:
        target: a file, or a folder, which is created if necessary: an existing folder, a path that ends with a slash,
            or one without an ending. A file in a folder is named after the time and the agents.
        agents: names of the agents.

    Raises:
        RecordingError: the file exists already, or its folder does not.
    """
    path = Path(expand_user(target))
    if path.is_dir() or str(target).endswith(("/", os.sep)) or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        return _unused_path(path, agents)
    if path.exists():
        raise RecordingError(f"{target} is there already: choose another name, or a folder, to keep both")
    if not path.parent.is_dir():
        raise RecordingError(f"{target} cannot be written: there is no folder {path.parent}")
    return path


def _unused_path(folder: Path, agents: str) -> Path:
    """Return an unused path: time and agents, and a number where two games start in the same second."""
    stem = f"{time.strftime('%Y-%m-%d_%H%M%S')}_{re.sub(r'[^A-Za-z0-9]+', '-', agents).strip('-')[:60]}"
    number, path = 1, folder / f"{stem}{_ENDING}"
    while path.exists():
        number += 1
        path = folder / f"{stem}_{number}{_ENDING}"
    return path


def saved_games_folder() -> Path:
    """Return the default folder for games that are played by people.

    Raises:
        GeoPatrolError: no home directory is known.
    """
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or expand_user("~/.local/state")
    return Path(base) / "geo_patrol" / "games"


def unfinished_game(path: str | Path) -> Replay:
    """Return the last game of a file, which must have been interrupted.

    Raises:
        RecordingError: the file cannot be read, its last game is over, or does not follow the rules.
    """
    (replay,) = deque(ReplayReader(path), maxlen=1)  # the last one; a file without games raises
    if replay.seed is None:
        raise RecordingError(f"{path}: its last game, {replay.number}, has no seed: it cannot be continued")
    last_phase = deque(play(replay), maxlen=1)
    if replay.is_finished or any(phase.after.is_over for phase in last_phase):
        raise RecordingError(f"{path}: its last game, {replay.number}, is over; geo-patrol replay shows it")
    return replay


def reopen(path: Path, replay: Replay, *, sync: bool = True) -> Recorder:
    """Open a file to append to its last game; the recorder continues it with ``resume``.

    What a crash left of a phase is removed: the file is rewritten up to there and replaced atomically.

    Args:
        path: the file.
        replay: its last game.
        sync: as for ``Recorder``.

    Raises:
        OSError: the file cannot be written.
    """
    last = replay.phases[-1].line if replay.phases else replay.line
    with atomic_path(path) as temporary, closing(open_stream(temporary, "w")) as stream:
        for number, line, _ in read_lines(path):
            stream.write(line + b"\n")
            if number == last:
                break
    return Recorder(path, replay.config, append=True, sync=sync)


MAX_LISTED = 200
"""Games of a file that a list shows, and that are kept in memory."""


class GameList:
    """The games of a file, read when they are asked for.

    Args:
        reader: reader of the file.

    Attributes:
        faults: the first difference from the rules of each game that was shown and differs.
    """

    def __init__(self, reader: ReplayReader) -> None:
        self.reader = reader
        self.faults: list[str] = []
        self._replays: OrderedDict[int, Replay] = OrderedDict()
        self._rest: Iterator[Replay] = iter(reader)
        self._num_read = 0

    def has(self, number: int) -> bool:
        """Return whether the file has a game of this number, from 0."""
        while self._num_read <= number and (replay := next(self._rest, None)) is not None:
            self._keep(replay)
            self._num_read = replay.number + 1
        return 0 <= number < self._num_read

    def _keep(self, replay: Replay) -> None:
        self._replays[replay.number] = replay
        if len(self._replays) > MAX_LISTED:
            self._replays.popitem(last=False)

    def _replay(self, number: int) -> Replay:
        if not self.has(number) or number not in self._replays:
            self._keep(read_replay(self.reader.path, number))
        return self._replays[number]

    def timeline(self, number: int) -> Timeline:
        """Return a game, as far as it follows the rules.

        Raises:
            RecordingError: there is no such game, or its initial position is wrong.
        """
        timeline, fault = replay_timeline(self._replay(number))
        if fault and fault not in self.faults:
            self.faults.append(fault)
        return timeline

    def title(self, number: int) -> str:
        """Return the title of a game.

        Raises:
            RecordingError: there is no such game.
        """
        return f"{self.reader.path.name}, {game_title(self._replay(number))}"


def replay_timeline(replay: Replay) -> tuple[Timeline, str]:
    """Return a recorded game as far as it follows the rules, and the first difference from them; "" if there is none.

    Raises:
        Disagreement: the initial position is another one.
    """
    timeline = Timeline(start(replay), replay.agents)
    try:
        for phase in play(replay):
            timeline.append(phase)
    except RecordingError as error:
        return timeline, str(error)
    if replay.end is not None and not timeline.is_complete:
        timeline.settled = replay.end.settled
    return timeline, ""


def game_title(replay: Replay) -> str:
    """Return the number of a game and who played it."""
    alpha, bravo = replay.agents
    return f"game {replay.number}: {alpha} (alpha) against {bravo} (bravo)"
