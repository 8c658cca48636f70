"""The statistics of a report, accumulated game by game in bounded memory."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import azimuth_of, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.evaluation.statistics import clustered_interval
from geo_patrol.game import Game, Phase
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.summaries import GameSummary, summarise
from geo_patrol.sides import SIDES

MAX_GAMES = 100_000
MAX_LISTED = 200
"""Rows of the table of games."""
MAX_FAULTS = 20
MAX_SNAPSHOTS = 6
"""Positions shown of a game."""
_CURVE_TURNS = 200
"""Score curves and losses are drawn up to this turn."""


@dataclass
class AgentResults:
    """Results of an agent, on one side or on both.

    Attributes:
        margin: sum of score differences.
        by_seed: number of games and of wins by seed; games without a seed have negative numbers of their own.
    """

    games: int = 0
    wins: int = 0
    draws: int = 0
    margin: int = 0
    by_seed: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, seed: int | None, *, is_win: bool, is_draw: bool, margin: int) -> None:
        """Count a game."""
        self.games += 1
        self.wins += is_win
        self.draws += is_draw
        self.margin += margin
        key = -self.games if seed is None else seed
        games, wins = self.by_seed.get(key, (0, 0))
        self.by_seed[key] = games + 1, wins + is_win

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the win rate, from the variance between seeds."""
        return clustered_interval(Counter(self.by_seed.values()))

    @property
    def losses(self) -> int:
        """Games that the other side won."""
        return self.games - self.wins - self.draws


@dataclass
class BoardHeat:
    """Where satellites were and were lost, on boards of one shape, by sector relative to alpha's goal sector."""

    presence: dict[str, Counter[int]] = field(default_factory=lambda: {side: Counter() for side in SIDES})
    """By side: counts of active Patrols at the start of each turn."""
    losses: Counter[int] = field(default_factory=Counter)
    games: int = 0


@dataclass(frozen=True)
class Snapshot:
    """A position of the report."""

    game: Game
    occasion: str
    outcomes: tuple[str, ...]


@dataclass
class ListedGame:
    """A row of the table of games."""

    number: int
    summary: GameSummary
    snapshots: list[Snapshot]


@dataclass
class Collected:
    """The content of a report, to which games are added.

    Attributes:
        positions: number of games of which positions are shown.
        titles: number of games by title of the configuration.
        games: number of games that follow the rules; only these are counted below.
        unfinished: number of games without an end; they have no result.
        agent_results: by agent and side ("alpha", "bravo", "either").
        reasons: number of games by reason of their end; several may hold at once.
        turns: histogram of the lengths of finished games.
        curves: by side, for each turn a list of the games' scores after it.
        losses: by (turn, side, whether it is the HVA).
        causes: by (side, cause).
        engagements: by (side, action): tries and successes.
        heat: by board.
        listed: the first games.
        faults: the first messages about games that do not follow the rules, and damaged files.
        fault_count: number of all such messages.
        cut_off: whether there were more games than ``MAX_GAMES``.
    """

    positions: int
    titles: Counter[str] = field(default_factory=Counter)
    games: int = 0
    unfinished: int = 0
    agent_results: dict[tuple[str, str], AgentResults] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)
    curves: dict[str, defaultdict[int, list[int]]] = field(
        default_factory=lambda: {side: defaultdict(list) for side in SIDES}
    )
    losses: Counter[tuple[int, str, bool]] = field(default_factory=Counter)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    engagements: dict[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)
    heat: dict[tuple[int, int, int], BoardHeat] = field(default_factory=dict)
    listed: list[ListedGame] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fault_count: int = 0
    cut_off: bool = False

    def add_fault(self, fault: str) -> None:
        """Count a fault, and list it if there are not too many."""
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)

    @property
    def is_full(self) -> bool:
        """Whether ``MAX_GAMES`` is reached."""
        return self.games >= MAX_GAMES

    def add(self, replay: Replay, source: str) -> None:
        """Add a game of a file."""
        observer = _Observer(keeps_snapshots=len(self.listed) < self.positions)
        summary = summarise(replay, observer.observe)
        if summary.status == "disagrees":
            self.add_fault(f"{source}: {summary.fault}")
            return
        self._count(summary)
        board = replay.config.board
        heat = self.heat.setdefault((board.inner_ring, board.outer_ring, board.goal_ring), BoardHeat())
        heat.games += 1
        heat.losses += observer.lost_at
        for side in SIDES:
            heat.presence[side] += observer.presence[side]
        if len(self.listed) < MAX_LISTED:
            self.listed.append(ListedGame(len(self.listed) + 1, summary, observer.snapshots))

    def _count(self, summary: GameSummary) -> None:
        self.games += 1
        self.titles[summary.replay.config.title] += 1
        if summary.status == "finished":
            self._count_result(summary)
        else:
            self.unfinished += 1
        for side, curve in zip(SIDES, zip(*summary.curve, strict=True), strict=True):
            for turn, score in enumerate(curve[: _CURVE_TURNS + 1]):
                self.curves[side][turn].append(score)
        for loss in summary.losses:
            is_hva = loss.satellite.number == 0
            self.losses[min(loss.turn, _CURVE_TURNS), loss.satellite.side, is_hva] += 1
            self.causes[loss.satellite.side, loss.cause] += 1
        for key, counts in summary.engagements.items():
            self.engagements[key] = self.engagements.get(key, np.zeros(2, np.int64)) + counts

    def _count_result(self, summary: GameSummary) -> None:
        self.turns[min(summary.turns, _CURVE_TURNS)] += 1
        self.reasons.update(summary.reasons)
        for i, side in enumerate(SIDES):
            for where in (side, "either"):
                results = self.agent_results.setdefault((summary.replay.agents[i], where), AgentResults())
                margin = summary.scores[i] - summary.scores[1 - i]
                results.add(
                    summary.replay.seed, is_win=summary.winner == side, is_draw=summary.winner is None, margin=margin
                )


class _Observer:
    """Observes the positions of one game while it is replayed."""

    def __init__(self, *, keeps_snapshots: bool) -> None:
        self.presence: dict[str, Counter[int]] = {side: Counter() for side in SIDES}
        self.lost_at: Counter[int] = Counter()
        self.snapshots: list[Snapshot] = []
        self._keeps_snapshots = keeps_snapshots

    def observe(self, before: Game, played: Phase) -> None:
        """Count a phase."""
        if before.phase == "movement":
            self._count_presence(before)
        lost = self._count_losses(before, played.after)
        if self._keeps_snapshots and (lost or played.after.is_over):
            end = "The end" if played.after.is_over else f"After turn {played.turn}"
            occasion = f"{end}: {', '.join(lost)} lost" if lost else end
            if len(self.snapshots) == MAX_SNAPSHOTS:  # the first ones and the last are kept
                self.snapshots.pop()
            self.snapshots.append(Snapshot(played.after, occasion, tuple(map(str, played.outcomes))))

    def _count_presence(self, game: Game) -> None:
        board, goal = game.config.board, game.goals["alpha"]
        for side in SIDES:
            for satellite in game.satellites(side)[1:]:
                if satellite.is_active:
                    self.presence[side][relative_sector(satellite.sector, goal, board)] += 1

    def _count_losses(self, before: Game, after: Game) -> list[str]:
        """Count the satellites lost in a phase, in the sectors where it began; return their names."""
        lost = []
        board, goal = before.config.board, before.goals["alpha"]
        for side in SIDES:
            for old, new in zip(before.satellites(side), after.satellites(side), strict=True):
                if old.is_active and not new.is_active:
                    self.lost_at[relative_sector(old.sector, goal, board)] += 1
                    lost.append(f"{side} {old.id.short}")
        return lost


def relative_sector(sector: int, goal: int, board: BoardConfig) -> int:
    """Return a sector rotated with the board so that alpha's goal is at azimuth 0.

    The board drifts, its inner rings faster than the outer ones; the position relative to the goals is invariant.
    """
    ring, goal_ring = int(ring_of(sector)), board.goal_ring
    rotation = int(azimuth_of(goal))
    rotation = rotation << (ring - goal_ring) if ring > goal_ring else rotation >> (goal_ring - ring)
    return int(sector_at(ring, int(azimuth_of(sector)) - rotation))
