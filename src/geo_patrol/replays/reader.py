"""Reading games from replay files, and from recordings of the published implementation.

Files are untrusted: every line is bounded and validated before it is used, and errors name the line and the field.
What precedes a fault is valid and is returned.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import from_json

from geo_patrol.config.presets import read_saved_config
from geo_patrol.config.schema import MAX_TURNS
from geo_patrol.errors import GeoPatrolError, RecordingError, show
from geo_patrol.replays.conversion import read_orders, read_outcome
from geo_patrol.replays.position import Position, flatten
from geo_patrol.replays.published import read_published
from geo_patrol.replays.published_schema import RecordedGame
from geo_patrol.replays.replay import Replay, ReplayPhase, clean, with_clean_texts
from geo_patrol.replays.schema import VERSION, EndLine, GameLine, PhaseLine
from geo_patrol.replays.streams import read_lines
from geo_patrol.validation import parse_model

MAX_GAME_BYTES = 1 << 23
"""A game of 10,000 turns takes about seven million bytes."""
MAX_IDLE_LINES = 10_000
"""Reading ends after so many consecutive lines that belong to no game."""
MAX_FAULTS = 20
"""Number of faults that a reader stores; more are only counted."""


class ReplayReader:
    """Iterates over the games of a file, with at most one game in memory.

    >>> for replay in ReplayReader("games.jsonl"):                   # doctest: +SKIP
    ...     print(replay.agents, replay.end)

    Iterating raises ``RecordingError`` if there is no game in the file. Faults beside valid games are in ``faults``.

    Args:
        path: a replay file, or recorded games of the published implementation; plain, gzip or zstd.

    Attributes:
        faults: the first twenty faults so far, with their line numbers.
        fault_count: number of faults so far.
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
                done = self._read_line(number, line, count)
                for replay in done:
                    count += 1
                    yield replay
                idle = 0 if done or self._current is not None else idle + 1
            if idle > MAX_IDLE_LINES:
                self._add_fault(f"line {number}: no game in {MAX_IDLE_LINES:,} lines; reading ends here")
                break
        for replay in self._finish_game():
            count += 1
            yield replay
        if count == 0:
            raise RecordingError(f"{self.path}: {self.faults[0] if self.faults else 'there is no game in it'}")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Read the lines, but for a last one that is cut short."""
        number = 0
        try:
            for number, line, is_whole in read_lines(self.path):
                if not is_whole and not _is_json(line):
                    self._add_fault(f"line {number} is cut short")
                    return
                yield number, line
        except RecordingError as error:
            text = str(error)
            self._add_fault(text if text.startswith("line ") or number == 0 else f"{text}, after line {number}")

    def _add_fault(self, fault: str) -> None:
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)
        if self._current is not None:
            self._current.fault = self._current.fault or fault

    def _finish_game(self) -> list[Replay]:
        """Return the game that was being read, if any."""
        done = [] if self._current is None else [self._current]
        self._current = None
        return done

    def _read_line(self, number: int, line: bytes, count: int) -> list[Replay]:
        """Read a line; return the games that are complete with it."""
        try:
            data = _parse(line, f"line {number}")
            kind = data.get("type")
            if kind in ("phase", "end"):
                return self._continue_game(number, line, data)
            if kind != "game" and "phases" not in data:
                raise RecordingError(f"line {number}: type = {show(kind)}: give 'game', 'phase' or 'end'")
            done = self._finish_game()
        except GeoPatrolError as error:
            self._add_fault(str(error))
            return self._finish_game()
        try:
            if kind is None:
                recorded = parse_model(RecordedGame, data, f"line {number}")
                replay = read_published(recorded, count + len(done), number)
                if replay.fault:
                    self._add_fault(f"line {number}: {replay.fault}")
                return [*done, replay]
            self._current, self._bytes = _read_game(number, data, count + len(done)), len(line)
        except GeoPatrolError as error:
            self._add_fault(str(error))
        return done

    def _continue_game(self, number: int, line: bytes, data: dict[str, Any]) -> list[Replay]:
        replay, where = self._current, f"line {number}"
        if replay is None:
            if self.fault_count == 0:
                self._add_fault(f"{where}: a line of type {data['type']!r} that belongs to no game")
            return []
        self._bytes += len(line)
        if self._bytes > MAX_GAME_BYTES or len(replay.phases) > 2 * (MAX_TURNS + 1):
            raise RecordingError(f"{where}: the game is longer than {MAX_GAME_BYTES:,} bytes; none is that long")
        if data["type"] == "phase":
            phase_line = parse_model(PhaseLine, data, where)
            replay.phases.append(_read_phase(number, phase_line))
            if not any(replay.fleets):
                alpha, bravo = phase_line.after.sector
                replay.fleets = len(alpha), len(bravo)
            return []
        replay.end = parse_model(EndLine, data, where)
        return self._finish_game()


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


def _read_game(number: int, data: dict[str, Any], index: int) -> Replay:
    """Read the first line of a game."""
    where = f"line {number}"
    version = data.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise RecordingError(
            f"{where}: version = {show(version)}: a later format than this program reads, which is {VERSION}; update geo_patrol"
        )
    line = parse_model(GameLine, data, where)
    try:
        config = read_saved_config(line.config)
    except GeoPatrolError as error:
        raise RecordingError(f"{where}: config: {error}") from None
    if config.is_randomized:
        raise RecordingError(f"{where}: config: a replay holds every value as it was sampled, no ranges or choices")
    agents = clean(line.agents.alpha), clean(line.agents.bravo)
    return Replay(index, number, with_clean_texts(config), line.seed, agents, line.versions)


def _read_phase(number: int, line: PhaseLine) -> ReplayPhase:
    where = f"line {number}"
    return ReplayPhase(
        line=number,
        turn=line.turn,
        phase=line.phase,
        codes=read_orders(line.orders, where),
        outcomes=tuple(
            read_outcome(outcome, f"{where}: outcomes.{index}") for index, outcome in enumerate(line.outcomes)
        ),
        after=Position(flatten(line.after, np.int32)),
    )


def read_replay(path: str | Path, number: int = 0) -> Replay:
    """Read one game of a file.

    Args:
        path: path of the file.
        number: index of the game, from 0.

    Raises:
        RecordingError: there is no such game, or its first line is damaged.
    """
    return find_game(ReplayReader(path), number)


def find_game(reader: ReplayReader, number: int) -> Replay:
    """Return one game of a reader that has not been iterated.

    Raises:
        RecordingError: there is no such game, or its first line is damaged.
    """
    count = 0
    for replay in reader:
        if replay.number == number:
            return replay
        count += 1
    faults = f" that can be read; {reader.faults[0]}" if reader.faults else ""
    games = f"{count} games, 0 to {count - 1}" if count != 1 else "one game, 0"
    raise RecordingError(f"{reader.path}: there is no game {number}: the file holds {games}{faults}")
