"""Reading games from replay files, and from recordings of the published implementation.

Files are untrusted: every line is bounded and validated before it is used, and errors name the line and the field.
What precedes a fault is valid and is returned.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from geo_patrol.config.presets import read_saved_config
from geo_patrol.config.schema import MAX_TURNS
from geo_patrol.errors import GeoPatrolError, RecordingError, show
from geo_patrol.notation import Outcome
from geo_patrol.replays.published import PublishedGame, read_published
from geo_patrol.replays.replay import VERSION, EndLine, GameLine, PhaseLine, RecordedPhase, Replay, read_orders
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
        self._num_bytes = self._num_games = 0

    def __iter__(self) -> Iterator[Replay]:
        self._num_games = num_idle = 0
        for number, line, is_whole in self._lines():
            finished = self._read_line(number, line, is_whole) if line.strip() else []
            yield from finished
            is_idle = not line.strip() or (not finished and self._current is None)
            num_idle = num_idle + 1 if is_idle else 0
            if num_idle > MAX_IDLE_LINES:
                self._add_fault(f"line {number}: no game in {MAX_IDLE_LINES:,} lines; reading ends here")
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
                raise RecordingError(f"{where}: type = {show(kind)}: give 'game', 'phase' or 'end'")
            finished = self._finish_game()
            if kind is None:
                replay = read_published(parse_model(PublishedGame, data, where), self._num_games, number)
                if replay.fault:
                    self._add_fault(f"{where}: {replay.fault}")
                finished.append(replay)
            else:
                self._current, self._num_bytes = _read_game(number, data, self._num_games), len(line)
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
            replay.phases.append(_read_phase(number, parse_model(PhaseLine, data, where)))
            return []
        replay.end = parse_model(EndLine, data, where)
        return self._finish_game()


def _parse(line: bytes, where: str, is_whole: bool) -> dict[str, Any]:
    try:
        data = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise RecordingError(f"{where}: not JSON: {error}" if is_whole else f"{where} is cut short") from None
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
    return Replay(index, number, config, line.seed, (line.agents.alpha, line.agents.bravo), line.versions)


def _read_phase(number: int, line: PhaseLine) -> RecordedPhase:
    return RecordedPhase(
        line=number,
        turn=line.turn,
        name=line.phase,
        codes=read_orders(line.orders, f"line {number}"),
        outcomes=tuple(Outcome(**vars(outcome)) for outcome in line.outcomes),
        after=line.after,
    )


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
