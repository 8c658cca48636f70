"""Campaigns: many matches on an executor, resumable. The common part of tournaments, sweeps and sequential tests.

A campaign's folder is its journal: ``plan.json`` says what is played, and ``games.jsonl`` has a line for every finished
chunk. Lines are appended whole; an incomplete last line, as a killed process may leave it, is dropped when the folder is
opened again.
"""

import hashlib
import json
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from filelock import FileLock, Timeout
from pydantic import ValidationError

from geo_patrol.agents.files import mentioned_files
from geo_patrol.agents.isolation.agent import MOVE_TIME, check_agent_name, check_move_time
from geo_patrol.config.schema import GameConfig
from geo_patrol.errors import GeoPatrolError, show
from geo_patrol.evaluation.chunks import Chunk, ChunkRecord, Chunks, PlannedMatch
from geo_patrol.evaluation.executors import ProcessExecutor, check_processes, play_chunks
from geo_patrol.evaluation.match import Progress, new_seed, warm_up
from geo_patrol.evaluation.results import MatchResult, join_results
from geo_patrol.files import atomic_write, named_errors
from geo_patrol.games import check_seed
from geo_patrol.versions import __version__

PLAN, GAMES, LOCK = "plan.json", "games.jsonl", "lock"
FORMAT = "geo_patrol plan"


class FolderError(GeoPatrolError):
    """A folder that cannot store the games, or stores others."""


class Journal:
    """The finished chunks of a plan, in a folder.

    Args:
        folder: created if it does not exist.
        plan: plain data with everything on which the games depend; a folder with another plan is refused.
        chunks: all chunks of the plan.

    Raises:
        FolderError: the folder holds something else, or a damaged file, or another process uses it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any], chunks: Chunks) -> None:
        self._folder = folder
        self._chunks = chunks
        expected = {"format": FORMAT, "version": 1, **json.loads(json.dumps(plan))}
        found = read_plan(folder)
        if found is not None:
            _check_plan(folder, found, expected)
        elif self._path.exists():
            raise FolderError(f"{folder} has {GAMES} and no {PLAN}: use another folder")
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            message = f"{folder} is in use by another process: wait until it ends, or use another folder"
            raise FolderError(message) from None
        if found is None:
            with atomic_write(folder / PLAN) as file:
                file.write(json.dumps(expected, indent=2) + "\n")

    def append(self, record: ChunkRecord) -> None:
        """Store a finished chunk.

        Raises:
            OSError: it cannot be written; what was stored before stays as it is.
        """
        line = record.model_dump_json().encode() + b"\n"
        with named_errors(self._path), self._path.open("ab", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            try:
                remaining = memoryview(line)
                while remaining:
                    remaining = remaining[file.write(remaining) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.release()

    @property
    def _path(self) -> Path:
        return self._folder / GAMES

    def read(self) -> Iterator[ChunkRecord]:
        """Yield the record of every chunk that is finished, once.

        Raises:
            FolderError: a line does not belong to this plan.
        """
        if not self._path.exists():
            return
        finished = set()
        with self._path.open("r+b") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(file.seek(-len(line), os.SEEK_END))
                    return
                record = self._parse(line)
                if record is None:
                    message = f"{self._path} is damaged in line {number}: delete that line to play its games again"
                    raise FolderError(message)
                if record.chunk not in finished:
                    finished.add(record.chunk)
                    yield record

    def _parse(self, line: bytes) -> ChunkRecord | None:
        """Parse a line; None if it does not belong to this plan."""
        try:
            record = ChunkRecord.model_validate_json(line)
        except ValidationError:
            return None
        belongs = 0 <= record.chunk < len(self._chunks) and record.fits(self._chunks.games_of(record.chunk))
        return record if belongs else None


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return the plan of a folder; None if it has none.

    Raises:
        FolderError: it cannot be read.
    """
    path = folder / PLAN
    if folder.exists() and not folder.is_dir():
        raise FolderError(f"{folder} is no folder")
    if not path.exists():
        return None
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        raise FolderError(f"{path} is no plan of geo-patrol: use another folder")
    return plan


def _check_plan(folder: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for key in expected:
        if found.get(key) != expected[key]:
            raise FolderError(
                f"{folder} holds something else: its {key} is {show(found.get(key))}, not {show(expected[key])}: "
                "use another folder, or the same arguments to go on"
            )


def digest_files(names: Sequence[str]) -> dict[str, str]:
    """Return SHA-256 digests, by path, of what agents' names mention, files and folders: it changes the games."""
    return {piece: _digest(path) for piece, path in mentioned_files(names).items()}


def _digest(path: Path) -> str:
    if path.is_dir():
        contents = {str(file.relative_to(path)): _digest(file) for file in sorted(path.rglob("*")) if file.is_file()}
        return hashlib.sha256(json.dumps(contents).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class WorkerOptions(TypedDict, total=False):
    """Keyword arguments of functions that play on an executor, by default in worker processes.

    These import the main module anew: a script that calls such a function keeps its own work under
    ``if __name__ == "__main__":``.
    """

    move_time: float
    """Seconds for a decision in one game, for user-defined agents, see ``make_match_agent``."""
    processes: int | None
    """Number of worker processes; None for one per core. The games do not depend on it."""
    executor: Executor | None
    """Plays the games instead of new processes, for example on a cluster; it is not shut down. The games do not depend on
    it either, if its workers have the same version of the package, and the files of user-defined agents."""
    progress: Progress | None
    """Called several times a second with the number of finished games and of all games."""


class CampaignOptions(WorkerOptions, total=False):
    """Keyword arguments of tournaments and sweeps."""

    folder: Path | str | None
    """Stores finished games, so that a campaign that was killed can be resumed; None stores nothing."""


@dataclass(frozen=True)
class Workers:
    """Workers of an executor; the fields are those of ``WorkerOptions``.

    Raises:
        ValueError: an option is invalid.
    """

    move_time: float = MOVE_TIME
    processes: int | None = None
    executor: Executor | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_move_time(self.move_time)
        check_processes(self.processes)
        if self.processes is not None and self.executor is not None:
            raise ValueError(f"processes = {self.processes}: an executor has its own number of workers, leave it out")

    def play_chunks(
        self, chunks: Chunks, finished: AbstractSet[int] = frozenset()
    ) -> Generator[tuple[Chunk, MatchResult], None, None]:
        """Play all chunks but the finished ones, whose games count as progress. See ``executors.play_chunks``."""
        finished_games = sum(map(chunks.games_of, finished))

        def report(games: int) -> None:
            if self.progress is not None:
                self.progress(finished_games + games, chunks.games)

        if len(finished) < len(chunks):
            missing = (chunks[number] for number in range(len(chunks)) if number not in finished)
            with self._open_executor() as executor, closing(play_chunks(missing, executor, report)) as played:
                for chunk, (result, _orders) in played:
                    yield chunk, result
        report(chunks.games - finished_games)

    def _open_executor(self) -> AbstractContextManager[Executor]:
        """Return a context of the given executor, or of new processes that end with it."""
        return ProcessExecutor(check_processes(self.processes)) if self.executor is None else nullcontext(self.executor)


@dataclass(frozen=True)
class Campaign(Workers):
    """A set of matches; the fields are those of ``CampaignOptions``."""

    folder: Path | str | None = None

    def resolve_seed(self, seed: int | None) -> int:
        """Return the given seed; or that of the plan in the folder, to resume it; or a new one.

        Raises:
            ValueError: the seed is invalid.
            FolderError: the folder's plan cannot be read.
        """
        if seed is not None:
            return check_seed(seed)
        plan = None if self.folder is None else read_plan(Path(self.folder))
        if plan is None:
            return new_seed()
        try:
            return check_seed(plan.get("seed"))
        except ValueError as error:
            raise FolderError(f"{self.folder} holds a damaged plan: {error}") from None

    def play(
        self, matches: Sequence[PlannedMatch], pairs: int, seed: int, plan: Mapping[str, Any]
    ) -> Iterator[tuple[int, MatchResult]]:
        """Play matches, or those of their games that the folder does not hold yet.

        Agents that fail lose games, which ``MatchResult.failures`` lists.

        Args:
            matches: what to play, between the same agents in the same configurations whenever an item is asked for.
            pairs: number of pairs of games of every match.
            seed: seed of every match.
            plan: plain data that identifies this set of matches, without the agents' files and the move time.

        Yields:
            The index and the result of every match as it is finished; only unfinished matches are kept.
        """
        chunks = Chunks(matches, pairs, seed, self.move_time)
        names: list[str] = plan["agents"]
        full_plan = {**plan, "move_time": self.move_time, "files": digest_files(names)}
        journal = None if self.folder is None else Journal(Path(self.folder), full_plan, chunks)
        unfinished = _UnfinishedMatches(chunks.chunks_per_match)
        finished: set[int] = set()
        try:
            for record in () if journal is None else journal.read():
                finished.add(record.chunk)
                chunk = chunks[record.chunk]
                yield from unfinished.add(chunk, record.to_result(chunk))
            if len(finished) < len(chunks):
                warm_up(names, matches[0].config)
            with closing(self.play_chunks(chunks, finished)) as played:
                for chunk, result in played:
                    if journal is not None:
                        journal.append(ChunkRecord.of(chunk, result))
                    yield from unfinished.add(chunk, result)
        finally:
            if journal is not None:
                journal.close()


class _UnfinishedMatches:
    """The chunks of matches until the last of a match comes."""

    def __init__(self, chunks_per_match: int) -> None:
        self._chunks_per_match = chunks_per_match
        self._results: dict[int, dict[int, MatchResult]] = {}

    def add(self, chunk: Chunk, result: MatchResult) -> Iterator[tuple[int, MatchResult]]:
        """Add a chunk; yield the index and the result of its match if that was the last one."""
        match_index = chunk.number // self._chunks_per_match
        results = self._results.setdefault(match_index, {})
        results[chunk.index] = result
        if len(results) == self._chunks_per_match:
            del self._results[match_index]
            yield match_index, join_results([results[index] for index in sorted(results)])


def describe_plan(kind: str, agents: Sequence[str], config: GameConfig, games: int, seed: int) -> dict[str, Any]:
    """Return what identifies any set of matches."""
    return {
        "kind": kind,
        "geo_patrol": __version__,
        "agents": list(agents),
        "games": games,
        "seed": seed,
        "config": config.to_dict(),
    }


def check_agents(names: Sequence[str], move_time: float) -> None:
    """Make every agent once, user-defined agents in processes of their own.

    Raises:
        ValueError: there is no such built-in agent, or a user-defined one cannot be made.
    """
    check_move_time(move_time)
    for name in names:
        check_agent_name(name, move_time)
