"""Campaigns: many matches on an executor, resumable, as tournaments and the arena play them.

``Campaign`` plays for matches and sequential tests too. A ``ChunkStore`` plays what the journal does not have yet, also for studies.

A campaign's folder is its journal: ``plan.json`` says what is played, and ``games.jsonl`` has a line for every finished
chunk, by a digest of what its games depend on (``Chunk.key``). Lines are appended whole, and are on the disk before the
next one; an incomplete last line, as a killed process or a lost machine may leave it, is dropped when the folder is opened
again.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from filelock import FileLock, Timeout
from pydantic import ValidationError

from geo_patrol.agents.basic import RandomAgent
from geo_patrol.agents.files import imported_files, mentioned_files
from geo_patrol.agents.isolation.agent import MOVE_TIME, IsolatedAgent, check_move_time
from geo_patrol.agents.protocol import Agent, check_agent
from geo_patrol.agents.registry import is_user_defined, make_agent, network_version
from geo_patrol.agents.search import Searcher
from geo_patrol.base.arguments import check_seed, fresh_seed
from geo_patrol.base.errors import GeoPatrolError, show
from geo_patrol.base.files import atomic_write, named_errors, sync_folder, without_mark
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.evaluation.chunks import (
    Chunk,
    ChunkRecord,
    OnFailure,
    PlannedMatch,
    PlayedChunk,
    StoredChunk,
    play_chunk,
)
from geo_patrol.evaluation.executors import (
    AgentCache,
    ProcessExecutor,
    WorkerOptions,
    check_processes,
    play_here,
    play_on,
    run_tasks,
)
from geo_patrol.evaluation.results import MatchResult, join_results
from geo_patrol.game.game import replay_orders

PLAN, GAMES, LOCK = "plan.json", "games.jsonl", "lock"
FORMAT = "geo_patrol plan"


class FolderError(GeoPatrolError):
    """A folder that cannot store the games, or stores others."""


class MissingGamesError(FolderError):
    """Games are not stored, and nothing plays them."""


class Journal:
    """The finished chunks of a plan, in a folder.

    Args:
        folder: created if it does not exist.
        plan: plain data with everything on which the games depend; a folder with another plan is refused.

    Raises:
        FolderError: the folder holds something else, or a damaged file, or another process uses it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self._folder = folder
        expected = {"format": FORMAT, "version": 1, **json.loads(json.dumps(plan))}
        self._has_plan(expected)  # nothing is written into another folder, not even a lock
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            message = f"{folder} is in use by another process: wait until it ends, or use another folder"
            raise FolderError(message) from None
        try:
            if not self._has_plan(expected):  # another process may have written one before the lock was taken
                with atomic_write(folder / PLAN) as file:
                    file.write(json.dumps(expected, indent=2) + "\n")
        except BaseException:
            self.close()
            raise

    def _has_plan(self, expected: Mapping[str, Any]) -> bool:
        """Tell whether the folder has this plan; False if it has none.

        Raises:
            FolderError: it has another plan, or games without one.
        """
        found = read_plan(self._folder)
        if found is not None:
            _check_plan(self._folder, found, expected)
        elif self._path.exists():
            raise FolderError(
                f"{self._folder} has {GAMES} but no {PLAN}, which says what the games are: use another folder"
            )
        return found is not None

    def append(self, record: ChunkRecord) -> None:
        """Store the record of a finished chunk.

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
                if size == 0:
                    sync_folder(self._folder)
            except OSError:
                file.truncate(size)
                raise

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.release()

    @property
    def _path(self) -> Path:
        return self._folder / GAMES

    def read(self) -> Iterator[tuple[str, StoredChunk]]:
        """Yield the key of every chunk that is stored, with its games.

        Raises:
            FolderError: a line is damaged.
        """
        if not self._path.exists():
            return
        with self._path.open("r+b") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n") or (b"\0" in line and not file.peek(1)):
                    file.truncate(file.seek(-len(line), os.SEEK_END))
                    return
                try:
                    record = ChunkRecord.model_validate_json(without_mark(line))
                    stored = record.read()
                except ValidationError:
                    stored = None
                if stored is None:
                    message = f"{self._path} is damaged in line {number}: delete that line to play its games again"
                    raise FolderError(message)
                yield record.chunk, stored


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return the plan of a folder; None if it has none.

    Raises:
        FolderError: it cannot be read.
    """
    path = folder / PLAN
    if folder.exists() and not folder.is_dir():
        raise FolderError(f"{folder} is not a folder")
    if not path.exists():
        return None
    try:
        plan = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        raise FolderError(f"{path} was not written by geo-patrol: use another folder")
    return plan


def _check_plan(folder: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for name in expected:
        if found.get(name) != expected[name]:
            path, old, new = _first_difference(name, found.get(name), expected[name])
            file = path.removeprefix("files.")
            change = f"{_PLAN_WORDS.get(path, path)} was {show(old)} and is now {show(new)}"
            raise FolderError(
                f"the games in {folder} were not played with these arguments: "
                f"{change if file == path else f'{file} is another file or has changed'}. "
                "Use another folder, or the earlier arguments to go on with these games"
            )


_PLAN_WORDS = {
    "version": "the version of the folder",
    "kind": "the command",
    "title": "the title of the study",
    "geo_patrol": "the version of geo_patrol",
    "agents": "the list of agents",
    "games": "the number of games",
    "seed": "the seed",
    "move_time": "the time for a decision in seconds",
    "mirror": "the option to play agents against themselves",
}
"""What messages call the entries of a plan; others are called by their keys, such as config.turn_limit."""


def _first_difference(key: str, old: Any, new: Any) -> tuple[str, Any, Any]:
    """Return the dotted key of the first value that differs, and both values."""
    while isinstance(old, dict) and isinstance(new, dict):
        inner = next(name for name in (*old, *new) if old.get(name) != new.get(name))
        key, old, new = f"{key}.{inner}", old.get(inner), new.get(inner)
    return key, old, new


def digest_files(names: Sequence[str]) -> dict[str, str]:
    """Return SHA-256 digests, by path, of what agents' names mention, files and folders: it changes the games.

    That of a Python file is also of the files that it imports from its folder.
    """
    return {piece: _digest(path) for piece, path in mentioned_files(names).items()}


def _digest(path: Path) -> str:
    if path.is_dir():
        return _digest_all(path, (file for file in sorted(path.rglob("*")) if file.is_file()))
    imported = imported_files(path) if path.suffix == ".py" else [path]
    return _digest_file(path) if imported == [path] else _digest_all(path.parent, imported)


def _digest_all(folder: Path, files: Iterable[Path]) -> str:
    contents = {file.relative_to(folder).as_posix(): _digest_file(file) for file in files}
    return hashlib.sha256(json.dumps(contents).encode()).hexdigest()


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Campaign:
    """Agents that are checked, and where they play: in this process, in worker processes or on an executor.

    Every agent that is given by name is made once, a user-defined one in a process of its own; it plays there unless workers
    make it. The end of a ``with`` block ends all processes.

    Args:
        agents: all agents that will play.
        folder: where finished games are stored, for which agents are given by name; None stores nothing.
        **options: see ``WorkerOptions``.

    Attributes:
        move_time: seconds for a decision of a user-defined agent.

    Raises:
        AgentError: a user-defined agent cannot be made.
        ValueError: there is no such built-in agent, an object is no agent, or an option is wrong.
    """

    def __init__(
        self, agents: Sequence[str | Agent], *, folder: Path | str | None = None, **options: Unpack[WorkerOptions]
    ) -> None:
        self._agents, self._cache, self._stack = agents, AgentCache(), ExitStack()
        self.move_time = check_move_time(options.get("move_time", MOVE_TIME))
        self._executor, self._progress = options.get("executor"), options.get("progress")
        processes = options.get("processes")
        self._processes = check_processes(processes)
        if processes is not None and self._executor is not None:
            raise ValueError(f"processes = {processes}: an executor has its own number of workers, leave it out")
        objects = [check_agent(agent, "agent") for agent in agents if not isinstance(agent, str)]
        if objects:
            self._refuse_objects(objects, processes, folder)
            self._processes = 1
        with ExitStack() as made:
            made.callback(self._cache.close)
            self._names = {name: self._cache.check(name, self.move_time) for name in agents if isinstance(name, str)}
            made.pop_all()
        self._is_warm = False

    def _refuse_objects(self, objects: Sequence[Agent], processes: int | None, folder: Path | str | None) -> None:
        if self._executor is not None or (processes or 1) > 1:
            raise ValueError(
                f"agents must be names where worker processes or an executor make them, got {show(objects[0])}"
            )
        if folder is not None:
            raise ValueError(
                f"agents must be names where a folder stores their games, got {show(objects[0])}: a name says whether it is the "
                "same agent when they are resumed"
            )

    def names_of(self, agents: tuple[str | Agent, str | Agent]) -> tuple[str, str]:
        """Return how the results of a match call two agents."""
        first, second = (self._names[agent] if isinstance(agent, str) else agent.name for agent in agents)
        return first, second

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cache.close()
        self._stack.__exit__(error, value, trace)

    def play(
        self,
        chunks: Sequence[Chunk],
        *,
        before: int = 0,
        after: int = 0,
        on_failure: OnFailure = "forfeit",
        keeps_orders: bool = False,
        warms_up: bool = True,
    ) -> Generator[tuple[Chunk, PlayedChunk], None, None]:
        """Play chunks. Close the generator to cancel the rest.

        A user-defined agent that is given by name has a process of its own: it cannot be the reason for a ``WorkerError``.

        Args:
            chunks: what to play.
            before: games that were finished before, which count as progress.
            after: games that are expected after these.
            on_failure: see ``play_match``.
            keeps_orders: see ``play_chunk``.
            warms_up: whether to compile first, once, what the games call; in one of several workers, as it takes memory.

        Yields:
            Every chunk with its games, as they are finished.

        Raises:
            WorkerError: a worker died, or the executor was shut down.
        """
        games = sum(chunk.games for chunk in chunks)

        def report(finished: int) -> None:
            if self._progress is not None:
                self._progress(before + finished, before + games + after)

        if self._executor is None and self._processes > 1 and len(chunks) + (after > 0) > 1:
            self._cache.close()  # the workers make the agents
            self._executor = self._stack.enter_context(ProcessExecutor(self._processes))
        try:
            if warms_up and chunks:
                self._warm_up(chunks[0].match.config)
            if self._executor is None:
                yield from play_here(self._cache, chunks, report, on_failure, keeps_orders=keeps_orders)
            else:
                yield from play_on(self._executor, chunks, report, on_failure, keeps_orders=keeps_orders)
        except BaseException:  # also where no more games are asked for: what still runs is of no use
            self._stack.__exit__(*sys.exc_info())
            raise
        report(games)

    def _warm_up(self, config: GameConfig) -> None:
        if self._is_warm:
            return
        if isinstance(self._executor, ProcessExecutor):
            list(run_tasks(self._executor, partial(warm_up, config=config), [self._agents]))
        else:
            warm_up(self._agents, config)
        self._is_warm = True


def warm_up(agents: Iterable[str | Agent], config: GameConfig) -> None:
    """Compile, or load from the cache, what games of agents call: before a clock starts, or several processes compile it.

    Games of one turn call all of it. User-defined agents, which may be slow or keep a state, do not play in them.
    """
    one_turn = load_config(config, {"turn_limit": 1})
    for agent in ["random", *agents]:
        if isinstance(agent, str):
            if is_user_defined(agent):
                continue
            agent = make_agent(agent)  # noqa: PLW2901
        if isinstance(agent, IsolatedAgent) or not type(agent).__module__.startswith("geo_patrol."):
            continue
        if isinstance(agent, Searcher):
            agent = agent.with_minimal_budget()  # noqa: PLW2901 - the same code in less time
        pair = agent, RandomAgent()
        (chunk,) = PlannedMatch(pair, one_turn, 0).chunks(1)
        result = play_chunk(pair, chunk, "forfeit").result
        list(replay_orders(one_turn, int(result.seeds[0]), result.first_game))


class ChunkStore:
    """Games by what they depend on: those that a journal holds, and those that are played, each once.

    Args:
        campaign: plays games; without one missing games are an error.
        journal: where finished games are stored; None stores nothing.
    """

    def __init__(self, campaign: Campaign | None, journal: Journal | None) -> None:
        self._campaign, self._journal = campaign, journal
        self._stored = {} if journal is None else dict(journal.read())

    def play(
        self, chunks: Iterable[Chunk], *, before: int = 0, after: int = 0
    ) -> Generator[tuple[Chunk, PlayedChunk], None, None]:
        """Play chunks that are not stored. Close the generator to cancel the rest.

        Args:
            chunks: different ones.
            before: games that were finished before, which count as progress.
            after: games that are expected after these.

        Yields:
            Every chunk with its games, once: first what is stored, then the others as they are finished.

        Raises:
            FolderError: a line of the journal is damaged.
            MissingGamesError: games are missing, and there is no campaign.
            WorkerError: see ``Campaign.play``.
        """
        missing = []
        for chunk in chunks:
            stored = self._stored.pop(chunk.key, None)
            if stored is None:
                missing.append(chunk)
                continue
            if len(stored.games) != chunk.games:
                raise FolderError(
                    f"{GAMES} is damaged: chunk {chunk.key} has {len(stored.games)} games instead of {chunk.games}: "
                    "delete its line to play them again"
                )
            before += chunk.games
            yield chunk, stored.restore(chunk)
        if self._campaign is None:
            if missing:
                raise MissingGamesError(f"{len(missing)} chunks of games are missing")
            return
        with closing(self._campaign.play(missing, before=before, after=after)) as finished:
            for chunk, played in finished:
                if self._journal is not None:
                    self._journal.append(ChunkRecord.of(chunk, played))
                yield chunk, played


def play_matches(
    campaign: Campaign,
    matches: Sequence[PlannedMatch],
    pairs: int,
    plan: Mapping[str, Any],
    folder: Path | str | None = None,
) -> list[MatchResult]:
    """Play matches, or those of their games that a folder does not hold yet.

    Agents that fail lose games, which ``MatchResult.failures`` lists.

    Args:
        campaign: plays them.
        matches: what to play.
        pairs: number of pairs of games of every match.
        plan: plain data that identifies this set of matches, without the agents' files and the move time.
        folder: stores finished games, so that a campaign that was killed can be resumed; None stores nothing.
    """
    full_plan = {**plan, "move_time": campaign.move_time, "files": digest_files(plan["agents"])}
    chunks = {chunk.key: chunk for match in matches for chunk in match.chunks(pairs)}
    with (
        nullcontext() if folder is None else closing(Journal(Path(folder), full_plan)) as journal,
        closing(ChunkStore(campaign, journal).play(chunks.values())) as finished,
    ):
        results = {chunk.key: played.result for chunk, played in finished}
    return [join_results([results[chunk.key] for chunk in match.chunks(pairs)]) for match in matches]


def read_seed(seed: int | None, folder: Path | str | None = None) -> int:
    """Return the given seed; or that of the plan in the folder, to resume it; or a new one.

    Raises:
        ValueError: the seed is invalid.
        FolderError: the folder's plan cannot be read.
    """
    if seed is not None:
        return check_seed(seed)
    plan = None if folder is None else read_plan(Path(folder))
    if plan is None:
        return fresh_seed() >> 31  # short enough to type
    try:
        return check_seed(plan.get("seed"))
    except ValueError as error:
        raise FolderError(f"{folder} has a damaged {PLAN}: {error}") from None


def agent_version(agent: str | Agent, config: GameConfig, read: Callable[[str], Agent | None] | None = None) -> str:
    """Return what plays as an agent beyond its name: networks, or the beginnings of digests of its files; "" if neither."""
    if isinstance(agent, IsolatedAgent):
        agent = agent.name
    found = network_version(agent, config, read)
    if found or not isinstance(agent, str):
        return found
    return ", ".join(digest[:8] for digest in digest_files([agent]).values())
