"""Reading games from replay files, and from recordings of the published implementation.

Files are data of strangers: every line is bounded and checked before it is used, and whatever is wrong with one is
said with its line and field. What stands before a fault is sound and is kept.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json

from geo_patrol.config.presets import read_saved_config
from geo_patrol.config.schema import MAX_TURNS
from geo_patrol.errors import GeoPatrolError, RecordingError, show
from geo_patrol.replays.layout import (
    VERSION,
    EndLine,
    GameLine,
    Line,
    PhaseLine,
    flatten,
    read_order_codes,
    read_outcome,
)
from geo_patrol.replays.recorded import read_published
from geo_patrol.replays.replay import Replay, ReplayPhase, clean, with_clean_texts
from geo_patrol.replays.streams import read_lines
from geo_patrol.verify.recording import RecordedGame, parse_record

MAX_GAME_BYTES = 1 << 23
"""A game of 10,000 turns takes about seven million bytes."""
MAX_IDLE_LINES = 10_000
"""So many lines in a row that belong to no game end the reading."""
MAX_FAULTS = 20
"""Faults that a reader keeps; more are only counted."""

_Kind = TypeVar("_Kind", bound=Line)


class ReplayReader:
    """The games of a file, one after the other; at most one is held in memory.

    >>> for replay in ReplayReader("games.jsonl"):                   # doctest: +SKIP
    ...     print(replay.agents, replay.end)

    Iterating raises ``RecordingError`` if there is no game in the file. Faults beside sound games stand in ``faults``.

    Args:
        path: a replay file, or recorded games of the published implementation; plain, gzip or zstd.

    Attributes:
        faults: what was wrong so far, with the line's number; twenty are kept.
        fault_count: how many faults there were.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.faults: list[str] = []
        self.fault_count = 0
        self._current: Replay | None = None
        self._bytes = 0

    def __iter__(self) -> Iterator[Replay]:
        count = idle = 0
        for number, line in self._lines():
            if not line.strip():
                idle += 1
            else:
                done = self._take(number, line, count)
                for replay in done:
                    count += 1
                    yield replay
                idle = 0 if done or self._current is not None else idle + 1
            if idle > MAX_IDLE_LINES:
                self._complain(f"line {number}: no game in {MAX_IDLE_LINES:,} lines; reading ends here")
                break
        for replay in self._let_go():
            count += 1
            yield replay
        if count == 0:
            raise RecordingError(f"{self.path}: {self.faults[0] if self.faults else 'there is no game in it'}")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Read the lines; one that is cut short is no line, but the end of what was being written."""
        number = 0
        try:
            for number, line, is_whole in read_lines(self.path):
                if not is_whole and not _is_json(line):
                    self._complain(f"line {number} is cut short")
                    return
                yield number, line
        except RecordingError as error:
            text = str(error)
            self._complain(text if text.startswith("line ") or number == 0 else f"{text}, after line {number}")

    def _complain(self, fault: str) -> None:
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)
        if self._current is not None:
            self._current.fault = self._current.fault or fault

    def _let_go(self) -> list[Replay]:
        """Give away the game that was being read."""
        done = [] if self._current is None else [self._current]
        self._current = None
        return done

    def _take(self, number: int, line: bytes, count: int) -> list[Replay]:
        """Take in a line; return the games that are complete with it."""
        try:
            data = _parse(line, f"line {number}")
            kind = data.get("type")
            if kind in ("phase", "end"):
                return self._take_more(number, line, data)
            if kind != "game" and "phases" not in data:
                raise RecordingError(f"line {number}: type = {show(kind)}: give 'game', 'phase' or 'end'")
            done = self._let_go()
        except GeoPatrolError as error:
            self._complain(str(error))
            return self._let_go()
        try:
            started = _begin(number, data, count + len(done))
        except GeoPatrolError as error:
            self._complain(str(error))
            return done
        if started.published is not None:
            return [*done, started]
        self._current, self._bytes = started, len(line)
        return done

    def _take_more(self, number: int, line: bytes, data: dict[str, Any]) -> list[Replay]:
        replay, where = self._current, f"line {number}"
        if replay is None:
            if self.fault_count == 0:
                self._complain(f"{where}: a line of type {data['type']!r} that belongs to no game")
            return []
        self._bytes += len(line)
        if self._bytes > MAX_GAME_BYTES or len(replay.phases) > 2 * (MAX_TURNS + 1):
            raise RecordingError(f"{where}: the game is longer than {MAX_GAME_BYTES:,} bytes; none is that long")
        if data["type"] == "phase":
            line_read = _check(PhaseLine, data, where)
            replay.phases.append(_read_phase(number, line_read))
            replay.fleets = replay.fleets if any(replay.fleets) else _fleets(line_read)
            return []
        replay.end = _check(EndLine, data, where)
        return self._let_go()


def _is_json(line: bytes) -> bool:
    try:
        from_json(line)
    except ValueError:
        return False
    return True


def _parse(line: bytes, where: str) -> dict[str, Any]:
    try:
        data = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise RecordingError(f"{where}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise RecordingError(f"{where} = {show(data)}: give an object")
    return data


def _check(kind: type[_Kind], data: dict[str, Any], where: str) -> _Kind:
    checked: _Kind = parse_record(kind, data, where)
    return checked


def _begin(number: int, data: dict[str, Any], place: int) -> Replay:
    """Read the first line of a game, or a whole one of the published implementation."""
    where = f"line {number}"
    if "type" not in data and "phases" in data:
        return read_published(number, parse_record(RecordedGame, data, where), place)
    version = data.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise RecordingError(
            f"{where}: version = {show(version)}: a later format than this program reads, which is {VERSION}; update geo_patrol"
        )
    line = _check(GameLine, data, where)
    try:
        config = read_saved_config(line.config)
    except GeoPatrolError as error:
        raise RecordingError(f"{where}: config: {error}") from None
    if config.is_drawn:
        raise RecordingError(f"{where}: config: a replay holds every figure as it was drawn, no ranges or choices")
    agents = clean(line.agents.alpha), clean(line.agents.bravo)
    return Replay(place, number, with_clean_texts(config), line.seed, agents, line.versions)


def _fleets(line: PhaseLine) -> tuple[int, int]:
    alpha, bravo = line.after.sector
    return len(alpha), len(bravo)


def _read_phase(number: int, line: PhaseLine) -> ReplayPhase:
    where = f"line {number}"
    return ReplayPhase(
        line=number,
        turn=line.turn,
        phase=line.phase,
        codes=read_order_codes(line.orders, where),
        outcomes=tuple(
            read_outcome(outcome, f"{where}: outcomes.{place}") for place, outcome in enumerate(line.outcomes)
        ),
        figures=flatten(line.after),
    )


def read_replay(path: str | Path, number: int = 0) -> Replay:
    """Read one game of a file.

    Args:
        path: of the file.
        number: of the game, from 0.

    Raises:
        RecordingError: there is none of that number, or it is damaged from its first line on.
    """
    return find(ReplayReader(path), number)


def find(reader: ReplayReader, number: int) -> Replay:
    """Return one game of a reader that has not been iterated.

    Raises:
        RecordingError: there is none of that number, or it is damaged from its first line on.
    """
    count = 0
    for replay in reader:
        if replay.number == number:
            return replay
        count += 1
    faults = f" that can be read; {reader.faults[0]}" if reader.faults else ""
    games = f"{count} games, 0 to {count - 1}" if count != 1 else "one game, 0"
    raise RecordingError(f"{reader.path}: there is no game {number}: the file holds {games}{faults}")
