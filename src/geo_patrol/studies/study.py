"""Studies: what is played for a study file, the results, and how two studies differ. A sweep is the short form of one.

Games are played in chunks and kept by what they depend on: configuration, agents, seed and place in the match. A study's
folder can therefore be resumed, asked further questions and given further values; the games that it has already are not
played again.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.isolation.agent import MOVE_TIME
from geo_patrol.agents.playing import check_pair
from geo_patrol.agents.protocol import Agent, agent_name
from geo_patrol.base.errors import ConfigError
from geo_patrol.base.files import atomic_write
from geo_patrol.base.versions import __version__
from geo_patrol.config.presets import ConfigSource, load_config, read_saved_config
from geo_patrol.config.toml_files import parse_overrides
from geo_patrol.evaluation.campaign import (
    Campaign,
    ChunkStore,
    FolderError,
    Journal,
    MissingGamesError,
    digest_files,
    read_plan,
    read_seed,
    warm_up,
)
from geo_patrol.evaluation.chunks import CHUNK_PAIRS, CURVE, Chunk, PlannedMatch, PlayedChunk, join_curves
from geo_patrol.evaluation.executors import WorkerOptions, check_processes
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.results import DRAW, Failure, to_frame
from geo_patrol.studies.answers import (
    GAME,
    MEASURES,
    Cell,
    Estimate,
    Pair,
    Request,
    StudyGames,
    list_measures,
    summarise_games,
)
from geo_patrol.studies.factors import MAX_CELLS, column_type, parse_factors, short_pair
from geo_patrol.studies.plan import Question, StudyFile, StudyPlan, plan_study
from geo_patrol.studies.questions import Answered, answer_questions
from geo_patrol.studies.study_agents import Seats, StudyAgents, describe_changes, join_versions, version_columns
from geo_patrol.studies.study_file import parse_study, read_study_file

STUDY = "study.json"
"""What a folder's study is, without the files that it was made of."""
MAX_CURVES = 1_000
"""Cells and pairs of a study that has curves."""
CURVE_TURNS = 200
"""Curves go up to this turn."""

TABLES = ("results", "curves", "answers", "levels")
TableName: TypeAlias = Literal["results", "curves", "answers", "levels"]


# Games


class _GamesBySide(NamedTuple):
    """The games of a chunk by side."""

    games: StudyGames
    curve: NDArray[np.int32]
    failures: tuple[Failure, ...]

    @classmethod
    def of(cls, chunk: PlayedChunk) -> Self:
        """Return the games of a chunk by side rather than by agent."""
        result = chunk.result
        games, numbers, alpha = np.zeros(len(result), GAME), np.arange(len(result)), result.first_side
        games["winner"] = np.where(result.winner == DRAW, DRAW, result.winner ^ alpha)
        for name in ("scores", "illegal_orders"):
            by_agent = result.games[name]
            games[name] = np.stack([by_agent[numbers, alpha], by_agent[numbers, 1 - alpha]], axis=1)
        games["turns"], games["reasons"] = result.turns, result.reasons
        return cls(games, chunk.curve.astype(np.int32), result.failures)


class _Player:
    """Plays the games of a study, and keeps them.

    Args:
        plan: the study.
        seats: the agents of every pair; None makes them by their names.
        move_time: seconds for a decision of a user-defined agent.
        store: where games are from.
    """

    def __init__(self, plan: StudyPlan, seats: Seats | None, move_time: float, store: ChunkStore) -> None:
        self.plan, self.agents, self.move_time, self._store = plan, StudyAgents(plan, seats), move_time, store
        self._most: dict[str, int] = {}
        self._config = lru_cache(maxsize=64)(plan.config)
        self._files = {pair: digest_files(pair) for pair in plan.file.agents}
        self._asked: dict[str, int] = {}
        self._played: dict[str, _GamesBySide] = {}

    def play(self, requests: Sequence[Request], remaining: int = 0) -> list[StudyGames]:
        """Return the games of every request, see ``questions.Source``."""
        found, before = [self.chunks(request) for request in requests], self.total
        for request, chunks in zip(requests, found, strict=True):
            digest = chunks[0].match.digest
            self._most[digest] = max(self._most.get(digest, 0), request.games)
            self._asked |= {chunk.key: chunk.games for chunk in chunks}
        missing = {chunk.key: chunk for chunks in found for chunk in chunks if chunk.key not in self._played}
        if missing:
            with closing(self._store.play(missing.values(), before=before, after=remaining)) as finished:
                for chunk, played in finished:
                    self._played[chunk.key] = _GamesBySide.of(played)
        return [np.concatenate([self._played[chunk.key].games for chunk in chunks]) for chunks in found]

    def chunks(self, request: Request) -> list[Chunk]:
        """Return the chunks of a request."""
        cell, pair, games, seed = request
        return self._match(cell, pair, seed).chunks(games // 2 if pair[0] == pair[1] else games)

    def _match(self, cell: Cell, pair: Pair, seed: int) -> PlannedMatch:
        return PlannedMatch(
            self.agents.seats(cell, pair),
            self._config(cell),
            seed,
            self.move_time,
            names=pair,
            swaps=pair[0] == pair[1],
            files=self._files[pair],
        )

    def games_asked(self, cell: Cell, pair: Pair) -> int:
        """Return the most games with the study's own seed that were asked for in a cell."""
        return self._most.get(self._match(cell, pair, self.plan.file.seed).digest, 0)

    def curve(self, request: Request) -> NDArray[np.int64]:
        """Return the curve of a request that was played."""
        return join_curves([self._played[chunk.key].curve.astype(np.int64) for chunk in self.chunks(request)])

    @property
    def total(self) -> int:
        """The number of different games that were asked for."""
        return sum(self._asked.values())

    def failures(self) -> tuple[Failure, ...]:
        """Return the failures of agents in all games, in the order in which they were asked for."""
        return tuple(failure for key in self._asked for failure in self._played[key].failures)


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


# Results


@dataclass(frozen=True, eq=False)
class Study:
    """A study that was played.

    Attributes:
        plan: the file with its scenarios and cells.
        games: by cell and pair of agents, in their order, records of layout ``questions.GAME``.
        curves: likewise, (turns, 5), see ``chunks.CURVE``; empty for more than a thousand cells and pairs.
        answered: questions and answers.
        failures: failures of agents.
        digest: hash of everything that the games depend on.
        total: number of games of cells and questions together, each counted once.
        versions: by cell and pair, what played alpha and bravo beyond their names, see ``StudyAgents.versions``.
    """

    plan: StudyPlan
    games: Mapping[tuple[int, int], StudyGames]
    curves: Mapping[tuple[int, int], NDArray[np.int64]]
    answered: tuple[Answered, ...]
    failures: tuple[Failure, ...] = ()
    digest: str = ""
    total: int = 0
    versions: Mapping[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        plan = self.plan
        varied = ", ".join(plan.file.factors) or "nothing"
        pairs = ", ".join(f"{alpha}-{bravo}" for alpha, bravo in plan.file.agents)
        return (
            f"<Study {plan.file.title!r}: {varied} varied in {len(plan.cells):,} cells, {pairs},"
            f" {plan.file.games:,} games per cell and pair, seed {plan.file.seed}, {self.digest}>"
        )

    @property
    def stamp(self) -> dict[str, Any]:
        """What every row says about where it is from."""
        return {"seed": self.plan.file.seed, "geo_patrol": __version__, "study": self.digest}

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """A warning for every pair of agents of which other networks play in other cells."""
        return describe_changes(self.plan, self.versions)

    def describe_agents(self) -> list[str]:
        """Return a line for every pair of agents, where the same networks play in all cells, such as "policy: network 3 of 7"."""
        lines = []
        for index, pair in enumerate(self.plan.file.agents):
            found = {self.versions.get((number, index), ("", "")) for number in range(len(self.plan.cells))}
            text = join_versions(found.pop()) if len(found) == 1 else ""
            lines += [f"{short_pair(pair)}: {text}"] if text else []
        return lines

    def places(self) -> Iterator[tuple[int, Cell, int, Pair]]:
        """Yield the index of every cell, the cell, the index of every pair of agents, and the pair."""
        for number, cell in enumerate(self.plan.cells):
            for index, pair in enumerate(self.plan.file.agents):
                yield number, cell, index, pair

    def rows(self, table: TableName = "results") -> list[dict[str, Any]]:
        """Return the rows of a table, by the names of columns.

        ``results`` has one for each cell, pair of agents and measure; ``curves`` for each turn; ``answers`` for each answer;
        ``levels`` for each value that the search of a threshold or a fair value played.
        """
        return list(self._rows(table))

    def columns(self, table: TableName = "results") -> dict[str, list[Any]]:
        """Return the columns of a table, see ``rows``; they take a third of the memory."""
        columns: dict[str, list[Any]] = {}
        for row in self._rows(table):
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
        return columns

    def _rows(self, table: TableName) -> Iterator[dict[str, Any]]:
        if table == "answers":
            yield from self._answer_rows()
        elif table == "levels":
            yield from self._level_rows()
        elif table == "curves":
            for place in self.places():
                yield from self._curve_rows(*place)
        elif table == "results":
            measures = list_measures(self.games.values())
            for place in self.places():
                yield from self._result_rows(*place, measures)
        else:
            raise ValueError(f"table must be {', '.join(map(repr, TABLES))}, got {table!r}")

    @cached_property
    def _factor_types(self) -> dict[str, Callable[[Any], Any]]:
        """What makes the values of each factor those of a column."""
        columns = zip(*(cell.values for cell in self.plan.cells), strict=True)
        return dict(zip(self.plan.file.factors, map(column_type, columns), strict=True))

    def to_frame(self, table: TableName = "results") -> Any:
        """Return a table as a ``pandas.DataFrame``, see ``rows``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return to_frame(self.columns(table))

    def to_dict(self) -> dict[str, Any]:
        """Return the study with all results as plain data for JSON; nothing in it depends on time or machine."""
        return {
            "study": self.plan.file.model_dump(mode="json", exclude_none=True),
            "scenarios": [
                {"name": each.name, "config": each.source, "set": dict(each.overrides), "values": each.config.to_dict()}
                for each in self.plan.scenarios
            ],
            **self.stamp,
            "results": [self._to_dict(*place) for place in self.places()],
            "answers": self.rows("answers"),
            "warnings": list(self.warnings),
            "summaries": [{"question": each.title, "summary": list(each.summary)} for each in self.answered],
            "failures": [asdict(failure) for failure in self.failures],
        }

    def _to_dict(self, number: int, cell: Cell, index: int, pair: Pair) -> dict[str, Any]:
        games = self.games[number, index]
        found = {measure: summarise_games(games, measure, ()) for measure in MEASURES}
        return {
            "scenario": self.plan.scenarios[cell.scenario].name,
            "values": dict(zip(self.plan.file.factors, cell.values, strict=True)),
            "alpha": pair[0],
            "bravo": pair[1],
            **version_columns(self.versions.get((number, index), ("", ""))),
            "games": len(games),
            **{measure: [each["mean"], each["low"], each["high"]] for measure, each in found.items()},
        }

    def _where(self, cell: Cell, pair: Pair, versions: tuple[str, str]) -> dict[str, Any]:
        """Return the columns that say where something was found."""
        scenario, values = self.plan.scenarios[cell.scenario], cell.values or (None,) * len(self._factor_types)
        return {
            "scenario": scenario.name,
            "config": scenario.source,
            "overrides": self.plan.overrides(cell),
            **{
                name: None if value is None else convert(value)
                for (name, convert), value in zip(self._factor_types.items(), values, strict=True)
            },
            "alpha": pair[0],
            "bravo": pair[1],
            **version_columns(versions),
        }

    def _cell_columns(self, number: int, cell: Cell, index: int, pair: Pair) -> dict[str, Any]:
        versions = self.versions.get((number, index), ("", ""))
        return {"title": self.plan.file.title, **self._where(cell, pair, versions)}

    def _result_rows(
        self, number: int, cell: Cell, index: int, pair: Pair, measures: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        games, where, stamp = self.games[number, index], self._cell_columns(number, cell, index, pair), self.stamp
        for measure in measures:
            yield {**where, "measure": measure, **summarise_games(games, measure, self.plan.file.quantiles), **stamp}

    def _curve_rows(self, number: int, cell: Cell, index: int, pair: Pair) -> Iterator[dict[str, Any]]:
        curve = self.curves.get((number, index))
        if curve is None:
            return
        games, where = len(self.games[number, index]), self._cell_columns(number, cell, index, pair)
        for turn, counts in enumerate(curve[:CURVE_TURNS], start=1):
            means = dict(zip(CURVE, (counts / games).tolist(), strict=True))
            yield {**where, "turn": turn, "games": games, **means, **self.stamp}

    def _answers(self) -> Iterator[tuple[dict[str, Any], Question, Estimate]]:
        """Yield every answer with its question and the columns that say what it is about."""
        for number, answered in enumerate(self.answered, start=1):
            about = {"question": number, "kind": answered.question.kind, "title": answered.title}
            for answer in answered.answers:
                where = self._where(answer.cell, answer.pair, answer.versions)
                yield {**about, **where, "subject": answer.subject}, answered.question, answer

    def _answer_rows(self) -> Iterator[dict[str, Any]]:
        for where, question, answer in self._answers():
            low, high = answer.interval or (None, None)
            answer_low, answer_high = answer.answer_interval or (None, None)
            yield {
                **where,
                "statistic": answer.statistic,
                "measure": question.measured,
                "rate": getattr(question, "rate", None),  # which thresholds ask for
                "answer": answer.answer,
                "answer_low": answer_low,
                "answer_high": answer_high,
                "estimate": answer.estimate,
                "low": _finite(low),
                "high": _finite(high),
                "games": answer.games,
                "text": answer.text,
                **self.stamp,
            }

    def _level_rows(self) -> Iterator[dict[str, Any]]:
        played = [(where, question, level) for where, question, answer in self._answers() for level in answer.levels]
        convert = column_type([level.value for *_, level in played])
        for where, question, level in played:
            yield {
                **where,
                **version_columns(level.versions),
                "measure": question.measured,
                "value": convert(level.value),
                "games": level.games,
                "rate": level.rate.value,
                "low": level.rate.low,
                "high": level.rate.high,
                **self.stamp,
            }


def _finite(end: float | None) -> float | None:
    return end if end is not None and math.isfinite(end) else None


# Playing and reading


StudySource: TypeAlias = str | Path | Mapping[str, Any] | StudyFile | StudyPlan
"""The path of a study file, the same content as a mapping, or what was made of it."""


def play_study(source: StudySource, *, folder: Path | str | None = None, **options: Unpack[WorkerOptions]) -> Study:
    """Play a study and answer its questions.

    Args:
        source: the path of a study file, the same content as a mapping, or a ``StudyFile`` or ``StudyPlan``.
        folder: stores finished games; None stores nothing. A study that was interrupted goes on in its folder; it may also have
            got further questions or values. Its agents are given by name.
        **options: ``move_time``, ``processes``, ``executor``, ``progress``, see ``WorkerOptions``.

    Raises:
        ConfigError: the file, a configuration, a key or a value is wrong, in any cell; nothing is played then.
        AgentError: a user-defined agent cannot be made.
        FolderError: the folder holds something else.
        MissingPackageError: the design or a question needs a package that is not installed.
        ValueError: another argument is wrong.
    """
    return _run(load_plan(source), None, folder, options)


def load_plan(source: StudySource) -> StudyPlan:
    """Read and resolve a study, see ``play_study``."""
    if isinstance(source, StudyPlan):
        return source
    file, folder = (source, Path.cwd()) if isinstance(source, StudyFile) else read_study_file(source)
    return plan_study(file, folder)


def _run(plan: StudyPlan, seats: Seats | None, folder: Path | str | None, options: WorkerOptions) -> Study:
    check_questions(plan)
    given = plan.file.agents if seats is None else tuple(seats.values())
    agents = list(dict.fromkeys(agent for pair in given for agent in pair))
    with ExitStack() as stack:
        campaign = stack.enter_context(Campaign(agents, folder=folder, **options))
        journal = None
        if folder is not None:
            identity = {
                "kind": "study",
                "geo_patrol": __version__,
                "title": plan.file.title,
                "seed": plan.file.seed,
                "move_time": campaign.move_time,
            }
            journal = stack.enter_context(closing(Journal(Path(folder), identity)))
            with atomic_write(Path(folder) / STUDY) as file:
                file.write(json.dumps(_saved(plan), indent=1) + "\n")
        return _collect(_Player(plan, seats, campaign.move_time, ChunkStore(campaign, journal)))


def check_questions(plan: StudyPlan) -> None:
    """Build the configurations that questions ask about, so that a wrong value is found before anything is played."""
    places = len(plan.asked_cells) * len(plan.file.agents) * len(plan.file.question)
    if places > MAX_CELLS:
        raise ConfigError(
            f"the questions are asked {places:,} times, for every cell and pair of agents; {MAX_CELLS:,} are allowed"
        )
    for question in plan.file.question:
        question.check_plan(plan)


def _saved(plan: StudyPlan) -> dict[str, Any]:
    """Return a study as plain data from which it can be planned again without its files."""
    return {
        "format": "geo_patrol study",
        "version": 1,
        "study": plan.file.model_dump(mode="json", exclude_none=True),
        "configs": [scenario.base.to_dict() for scenario in plan.scenarios],
    }


def _collect(player: _Player) -> Study:
    """Play what the questions need, then the cells of the design: of a cell that a question has played, all its games count."""
    plan = player.plan
    places = [(number, index) for number in range(len(plan.cells)) for index in range(len(plan.file.agents))]
    answered = answer_questions(plan, player, player.agents, remaining=len(places) * plan.file.games)
    requests = {}
    for number, index in places:
        cell, pair = plan.cells[number], plan.file.agents[index]
        count = max(plan.file.games, player.games_asked(cell, pair))
        requests[number, index] = Request(cell, pair, count, plan.file.seed)
    games = dict(zip(requests, player.play(list(requests.values())), strict=True))
    has_curves = len(requests) <= MAX_CURVES
    curves = {place: player.curve(request) for place, request in requests.items()} if has_curves else {}
    files = {" ".join(pair): found for pair in plan.file.agents if (found := digest_files(pair))}
    digest = _digest([__version__, _saved(plan), files, player.move_time])[:12]
    versions = {
        (number, index): player.agents.versions(plan.cells[number], plan.file.agents[index]) for number, index in places
    }
    return Study(plan, games, curves, answered, player.failures(), digest, player.total, versions)


def read_study(folder: Path | str) -> Study:
    """Return the study of a folder, which was played to its end.

    Raises:
        FolderError: there is none, or it is not finished.
    """
    path = Path(folder)
    plan = read_plan(path)
    if plan is None or plan.get("kind") != "study":
        raise FolderError(f"{folder} holds no study: geo-patrol study run FILE.toml --out {folder}")
    with closing(Journal(path, {key: plan[key] for key in plan if key not in ("format", "version")})) as journal:
        try:
            saved = json.loads((path / STUDY).read_bytes())
            file = parse_study(saved["study"], STUDY)
            configs = [read_saved_config(config) for config in saved["configs"]]
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            raise FolderError(f"{path / STUDY} cannot be read: {error}") from None
        planned = plan_study(file, path, configs=configs, checks=False)
        try:
            return _collect(_Player(planned, None, plan.get("move_time", MOVE_TIME), ChunkStore(None, journal)))
        except MissingGamesError:
            raise FolderError("the study is not finished: play it to the end with geo-patrol study run") from None


@dataclass(frozen=True)
class StudyCost:
    """What a study takes.

    Attributes:
        cells: number of cells of the design.
        games: games of the design.
        expected: about how many with the questions.
        most: games at most.
        seconds: how long they take, about.
        processes: of so many processes.
    """

    cells: int
    games: int
    expected: int
    most: int
    seconds: float
    processes: int


def estimate_study(plan: StudyPlan, processes: int | None = None, move_time: float = MOVE_TIME) -> StudyCost:
    """Estimate what a study takes: a block of games of every pair is played in the first cell, and not kept."""
    check_questions(plan)
    agents = list(dict.fromkeys(name for pair in plan.file.agents for name in pair))
    seconds, player = 0.0, _Player(plan, None, move_time, ChunkStore(None, None))
    with Campaign(agents, move_time=move_time, processes=1) as campaign:
        warm_up(agents, plan.scenarios[0].config)
        for pair in plan.file.agents:
            games = min(plan.file.games, CHUNK_PAIRS)
            chunk, *_ = player.chunks(Request(plan.cells[0], pair, games + games % 2, plan.file.seed))
            start = time.perf_counter()
            list(campaign.play([chunk], warms_up=False))
            seconds += (time.perf_counter() - start) / chunk.games
    count = len(plan.cells) * len(plan.file.agents) * plan.file.games
    asked = len(plan.asked_cells) * len(plan.file.agents)
    questions = [question.expected for question in plan.file.question]
    expected, most = (count + asked * sum(each[i] for each in questions) for i in range(2))
    workers = check_processes(processes)
    each = seconds / len(plan.file.agents) / workers
    return StudyCost(len(plan.cells), count, expected, most, expected * each, workers)


# Sweeps


def play_sweep(
    first: str | Agent,
    second: str | Agent,
    vary: Sequence[str],
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Sequence[str] = (),
    games: int = 200,
    seed: int | None = None,
    folder: Path | str | None = None,
    **options: Unpack[WorkerOptions],
) -> Study:
    """Play a match at every point of a grid of configuration values: a study of two agents, each as alpha and as bravo.

    Args:
        first: an agent, as ``play_tournament`` takes them.
        second: its opponent, perhaps the same.
        vary: for every key a text ``key=values``, see ``study_file.parse_values``.
        config: see ``load_config``.
        overrides: texts ``key=value`` for every cell.
        games: number of games per cell, even: half of them with the sides swapped.
        seed: see ``play_tournament``; every cell is the match that ``play_match`` plays with it.
        folder: see ``play_study``.
        **options: see ``play_study``.

    Raises:
        ConfigError: a key or a value is wrong, in any cell; nothing is played then.
        AgentError: a user-defined agent cannot be made.
        FolderError: the folder holds something else.
        ValueError: another argument is wrong.
    """
    check_pair(first, second)
    names = agent_name(first), agent_name(second)
    plan = plan_sweep(names, vary, config, overrides, games, read_seed(seed, folder))
    seats = {plan.file.agents[0]: (first, second), plan.file.agents[-1]: (second, first)}
    return _run(plan, seats if len(seats) > 1 else {plan.file.agents[0]: (first, second)}, folder, options)


def plan_sweep(
    agents: Pair, vary: Sequence[str], config: ConfigSource, overrides: Sequence[str], games: int, seed: int
) -> StudyPlan:
    """Return the study that a sweep is the short form of, see ``play_sweep``."""
    if not vary:
        raise ConfigError("nothing is varied: vary must have at least one key=values, such as bravo.patrols.ammo=0..4")
    factors, (first, second) = parse_factors(vary), agents
    count = check_games(games)
    base = load_config(config)
    file = StudyFile.model_validate(
        {
            "title": f"{first} against {second}: {', '.join(factors)}",
            "config": str(config) if isinstance(config, (str, Path)) else base.title,
            "set": dict(parse_overrides(overrides)),
            "agents": [[first, second]] if first == second else [[first, second], [second, first]],
            "factors": factors,
            "games": count if first == second else count // 2,
            "seed": seed,
        }
    )
    return plan_study(file, Path.cwd(), configs=[base])
