"""The arena: an agent against a frozen population on frozen boards and seeds, so that results of years compare.

``data/arena.toml`` is the whole of it: opponents, boards, seeds and numbers of games. A part is held out: opponents and
boards that nobody should train against, as in Melting Pot (Leibo et al., "Scalable evaluation of multi-agent reinforcement
learning with Melting Pot", 2021). What an agent loses there against the visible part is what it learned about its opponents
rather than about the game.

An opponent is frozen by what it does: the tests compare what ``fingerprint`` returns with what it was when the arena was made.
A change of a script, of a file of weights or of a rule that alters a game fails there.
"""

import hashlib
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self, Unpack

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.base.files import expand_user, read_limited, without_mark
from geo_patrol.base.validation import describe_fault, field_of
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA
from geo_patrol.evaluation.campaign import Campaign, digest_files, play_matches
from geo_patrol.evaluation.chunks import PlannedMatch
from geo_patrol.evaluation.executors import WorkerOptions
from geo_patrol.evaluation.results import DRAW, FIRST, MatchResult, to_frame
from geo_patrol.evaluation.statistics import Rate, normal_quantile

_MAX_BYTES = 1 << 20
_FINGERPRINT_GAMES = 4


class ArenaError(GeoPatrolError):
    """A file that is no result of the arena, or one of another arena."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ArenaBoard(_Record):
    """A configuration of the arena: a preset, perhaps with other values."""

    name: str
    config: str = ""
    """The preset; by default that of the board's name."""
    overrides: dict[str, Any] = {}
    held_out: bool = False

    @property
    def game_config(self) -> GameConfig:
        """The configuration of the games."""
        return load_config(self.config or self.name, self.overrides)


class Opponent(_Record):
    """A member of the population."""

    name: str
    agent: str = ""
    """How ``make_agent`` calls it, with policies by the names of their files in the arena's folder; by default the name."""
    held_out: bool = False

    @property
    def agent_name(self) -> str:
        """The name by which ``make_agent`` makes it here."""
        return (self.agent or self.name).replace("policy:", f"policy:{_folder()}/")


class Arena(_Record):
    """What is played.

    Attributes:
        version: the number of the population; results of different ones do not compare.
        seed: seed of every match.
        games: of each cell, an opponent on a board; ``quick_games`` in the quick form.
        quick_boards: the names of those of the quick form.
        boards: configurations.
        opponents: the population.
    """

    version: int
    seed: int
    games: int
    quick_games: int
    quick_boards: tuple[str, ...]
    boards: tuple[ArenaBoard, ...]
    opponents: tuple[Opponent, ...]

    def agents(self, agent: str) -> list[str]:
        """Return the names of all that play where an agent does, itself first: their files travel to the nodes of a cluster."""
        return [agent, *(opponent.agent_name for opponent in self.opponents)]

    def cells(self, *, quick: bool) -> list[tuple[Opponent, ArenaBoard]]:
        """Return what an agent plays, board by board."""
        boards = [board for board in self.boards if not quick or board.name in self.quick_boards]
        return [(opponent, board) for board in boards for opponent in self.opponents]


class CellResult(_Record):
    """The games of an agent against an opponent on a board, half of them from each side.

    Attributes:
        opponent, board: names.
        held_out: whether the opponent or the board is.
        games: their number.
        wins, draws: of the agent.
        score: points per game, a draw counting one half.
        standard_error: of the score, from pairs of games that share a seed.
        score_as_alpha: that of the games in which the agent was alpha.
    """

    opponent: str
    board: str
    held_out: bool
    games: int
    wins: int
    draws: int
    score: float
    standard_error: float
    score_as_alpha: float

    @classmethod
    def of(cls, opponent: Opponent, board: ArenaBoard, match: MatchResult) -> Self:
        """Count the games of a match."""
        points = np.where(match.winner == FIRST, 1.0, np.where(match.winner == DRAW, 0.5, 0.0))
        pairs = points.reshape(-1, 2).mean(axis=1)
        # One more pair that was half won: a cell whose games all ended alike is not certain.
        deviations = np.append(pairs - pairs.mean(), 0.5)
        return cls(
            opponent=opponent.name,
            board=board.name,
            held_out=opponent.held_out or board.held_out,
            games=len(points),
            wins=int((match.winner == FIRST).sum()),
            draws=int((match.winner == DRAW).sum()),
            score=_rounded(points.mean()),
            standard_error=_rounded(np.sqrt((deviations**2).sum()) / len(pairs)),
            score_as_alpha=_rounded(points[match.first_side == ALPHA].mean()),
        )


class Score(_Record):
    """The mean score of cells, each counting the same, with its 95% interval."""

    score: float
    low: float
    high: float

    @classmethod
    def of(cls, cells: Sequence[CellResult]) -> Self:
        """Average cells; they are independent, and their games are many, so the interval is normal."""
        mean = math.fsum(cell.score for cell in cells) / len(cells)
        error = math.sqrt(math.fsum(cell.standard_error**2 for cell in cells)) / len(cells)
        margin = normal_quantile(0.95) * error
        return cls(score=_rounded(mean), low=_rounded(max(mean - margin, 0)), high=_rounded(min(mean + margin, 1)))

    def __str__(self) -> str:
        return str(self.rate)

    @property
    def rate(self) -> Rate:
        """The score with its interval."""
        return Rate(self.score, self.low, self.high)


def _rounded(value: float) -> float:
    return round(float(value), 6)


class ArenaResult(_Record):
    """What an agent scored. The same agent gives the same result, bit for bit, on the same kind of processor.

    Attributes:
        format, arena: what it is a result of, and the arena's version.
        agent: its name, as it was given.
        files: SHA-256 digests of the files that the name mentions, by path.
        quick: whether it is of the quick form.
        total, visible, held_out: mean scores of all cells, and of those that are not and that are held out.
        failures: how often the agent raised, hung, died or returned something else than orders; each lost its running games.
        cells: one for each opponent and board.
    """

    format: Literal["geo_patrol arena"] = "geo_patrol arena"
    arena: int
    agent: str
    files: dict[str, str]
    quick: bool
    total: Score
    visible: Score
    held_out: Score
    failures: int
    cells: tuple[CellResult, ...]

    def __repr__(self) -> str:
        form = "quick form of the arena" if self.quick else "arena"
        return (
            f"<ArenaResult of {self.agent}, {form} {self.arena}:\n"
            f" {self.total}; visible {self.visible}, held out {self.held_out}>"
        )

    def boards(self) -> dict[str, Score]:
        """Return the score on each board."""
        return _group(self.cells, "board")

    def opponents(self) -> dict[str, Score]:
        """Return the score against each opponent."""
        return _group(self.cells, "opponent")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return self.model_dump()

    def to_frame(self) -> Any:
        """Return a row for each cell as a ``pandas.DataFrame``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return to_frame([cell.model_dump() for cell in self.cells])


def _group(cells: Iterable[CellResult], key: str) -> dict[str, Score]:
    groups: dict[str, list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(getattr(cell, key), []).append(cell)
    return {name: Score.of(members) for name, members in groups.items()}


def _folder() -> Path:
    return Path(str(resources.files("geo_patrol.evaluation") / "data"))


@cache
def read_arena() -> Arena:
    """Return the arena of this version of the package."""
    return Arena.model_validate(tomllib.loads((_folder() / "arena.toml").read_text("utf-8")))


AGENT = "agent"
"""What every agent is called in its games: its random stream must not depend on where its files are."""


def play_arena(
    agent: str, *, quick: bool = False, folder: Path | str | None = None, **options: Unpack[WorkerOptions]
) -> ArenaResult:
    """Let an agent play the population, pairs of games with the same seed and the sides swapped.

    Args:
        agent: its name: a built-in agent, ``policy:FILE``, ``file.py:Name``, ...
        quick: fewer boards and games: a first look.
        folder: see ``play_tournament``.
        **options: ``move_time``, ``processes``, ``executor``, ``progress``, see ``WorkerOptions``. A ``RayExecutor`` needs the
            files of all of ``read_arena().agents(agent)``.

    Raises:
        AgentError: the agent cannot be made. If it fails later, it loses games.
        FolderError: the folder holds something else.
        ValueError: there is no such agent, or another argument is wrong.
    """
    arena = read_arena()
    cells, games = arena.cells(quick=quick), arena.quick_games if quick else arena.games
    configs = {board.name: board.game_config for board in arena.boards}
    plan = {"kind": "arena", "arena": arena.version, "quick": quick, "agents": [agent]}
    with Campaign(arena.agents(agent), folder=folder, **options) as campaign:
        matches = [
            PlannedMatch(
                (agent, opponent.agent_name),
                configs[board.name],
                arena.seed,
                campaign.move_time,
                (AGENT, opponent.name),
            )
            for opponent, board in cells
        ]
        played = play_matches(campaign, matches, games // 2, plan, folder)
    results = tuple(CellResult.of(*cell, match) for cell, match in zip(cells, played, strict=True))
    failures = sum(failure.agent == FIRST for match in played for failure in match.failures)
    return ArenaResult(
        arena=arena.version,
        agent=agent,
        files=digest_files([agent]),
        quick=quick,
        total=Score.of(results),
        visible=Score.of([cell for cell in results if not cell.held_out]),
        held_out=Score.of([cell for cell in results if cell.held_out]),
        failures=failures,
        cells=results,
    )


def read_result(path: Path | str) -> ArenaResult:
    """Read what ``geo-patrol arena --json`` wrote.

    Raises:
        ArenaError: it is no such file, or of another arena.
        OSError: it cannot be read.
    """
    content = read_limited(expand_user(path), _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise ArenaError(f"{path} is larger than a result of the arena")
    try:
        result = ArenaResult.model_validate_json(without_mark(content))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ArenaError(f"{path} is no result of the arena: {field_of(fault)} {describe_fault(fault)}") from None
    if result.arena != read_arena().version:
        raise ArenaError(f"{path} is a result of arena {result.arena}: this version has arena {read_arena().version}")
    return result


def fingerprint(opponent: Opponent) -> str:
    """Return a digest of some games of an opponent on each board: the orders of the first one, and the results of all."""
    digest, agents = hashlib.sha256(), (opponent.agent_name, "random")
    matches = [PlannedMatch(agents, board.game_config, 0, names=(AGENT, "random")) for board in read_arena().boards]
    with Campaign(agents, processes=1) as campaign:
        played = play_matches(campaign, matches, _FINGERPRINT_GAMES // 2, {"agents": []})
    for match in played:
        digest.update(match.first_game.tobytes() + match.games.tobytes())
    return digest.hexdigest()[:16]


def differences(expected: ArenaResult, played: ArenaResult) -> list[str]:
    """Return what two results of one agent differ in, in words; nothing if they agree."""
    found = [
        f"{name}: {there} in the file, {here} now"
        for name, there, here in (
            ("total score", expected.total, played.total),
            ("failures", expected.failures, played.failures),
        )
        if there != here
    ]
    before: Mapping[tuple[str, str], CellResult] = {(cell.opponent, cell.board): cell for cell in expected.cells}
    for cell in played.cells:
        old = before.get((cell.opponent, cell.board))
        if old != cell:
            was = "missing" if old is None else f"{old.score:.3f}"
            found.append(f"{cell.opponent} on {cell.board}: {was} in the file, {cell.score:.3f} now")
    return found
