"""What a report needs of its games, gathered game by game, in bounded memory."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import azimuth_of, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.game import Game
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.summaries import GameSummary, summarise
from geo_patrol.runner import PlayedPhase
from geo_patrol.sides import SIDES

MAX_GAMES = 100_000
MAX_LISTED = 200
"""Games in the table of games."""
MAX_FAULTS = 20
_CURVE_TURNS = 200
"""Score curves and losses are drawn up to this turn."""


@dataclass
class Standing:
    """Results of an agent, on one side or on both."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    margin: int = 0

    @property
    def losses(self) -> int:
        """Games that the other side won."""
        return self.games - self.wins - self.draws


@dataclass
class BoardHeat:
    """Where satellites were and were lost, on the boards of one shape, by sector as seen from alpha's goal sector."""

    presence: dict[str, Counter[int]] = field(default_factory=lambda: {side: Counter() for side in SIDES})
    """By side: how often a Patrol with fuel was in a sector when a turn began."""
    losses: Counter[int] = field(default_factory=Counter)
    games: int = 0


@dataclass(frozen=True)
class Snapshot:
    """A position that the report shows."""

    game: Game
    anchor: str
    occasion: str
    outcomes: tuple[str, ...]


@dataclass
class ListedGame:
    """A game in the table of games."""

    summary: GameSummary
    snapshots: list[Snapshot] = field(default_factory=list)


@dataclass
class Collected:
    """Everything that a report tells.

    Attributes:
        titles: games by the title of their configuration.
        games: games that follow the rules; only they are counted anywhere below.
        unfinished: of these, games without an end; they have no result.
        standings: by agent and side ("alpha", "bravo", "either").
        reasons: how often each reason ended a game, several at once may hold.
        turns: turns played, of finished games.
        curves: by side, the scores after every turn: a list of them for each turn.
        losses: by (turn, side, whether the HVA).
        causes: by (side, cause).
        engagements: by (side, action): tries and successes.
        heat: by board.
        listed: the first games.
        faults: games that do not follow the rules, and damage of the files.
        fault_count: how many there are.
        cut_off: whether there were more games than a report takes.
    """

    titles: Counter[str] = field(default_factory=Counter)
    games: int = 0
    unfinished: int = 0
    standings: dict[tuple[str, str], Standing] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)
    curves: dict[str, list[list[int]]] = field(default_factory=lambda: {side: [] for side in SIDES})
    losses: Counter[tuple[int, str, bool]] = field(default_factory=Counter)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    engagements: dict[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)
    heat: dict[tuple[int, int, int], BoardHeat] = field(default_factory=dict)
    listed: list[ListedGame] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fault_count: int = 0
    cut_off: bool = False

    def complain(self, fault: str) -> None:
        """Note that something is wrong."""
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)


class Collector:
    """Gathers games.

    Args:
        positions: of how many games positions are shown.
    """

    def __init__(self, positions: int) -> None:
        self.collected = Collected()
        self._positions = positions

    @property
    def is_full(self) -> bool:
        """Whether a report takes no more games."""
        return self.collected.games >= MAX_GAMES

    def add(self, replay: Replay, source: str) -> None:
        """Take in a game."""
        watcher = _Watcher(keeps_snapshots=len(self.collected.listed) < self._positions)
        summary = summarise(replay, watcher.watch)
        if summary.status == "disagrees":
            self.collected.complain(f"{source}: {summary.fault}")
            return
        self._count(summary, watcher)
        if len(self.collected.listed) < MAX_LISTED:
            listed = ListedGame(summary)
            self.collected.listed.append(listed)
            number = len(self.collected.listed)
            listed.snapshots = [
                Snapshot(game, f"game-{number}-position-{place}", occasion, outcomes)
                for place, (game, occasion, outcomes) in enumerate(watcher.snapshots, start=1)
            ]

    def _count(self, summary: GameSummary, watcher: "_Watcher") -> None:
        collected = self.collected
        collected.games += 1
        collected.titles[summary.replay.config.title] += 1
        if summary.status == "finished":
            self._count_result(summary)
        else:
            collected.unfinished += 1
        for side, curve in zip(SIDES, zip(*summary.curve, strict=True), strict=True):
            _extend(collected.curves[side], curve[: _CURVE_TURNS + 1])
        for loss in summary.losses:
            is_hva = loss.satellite.number == 0
            collected.losses[min(loss.turn, _CURVE_TURNS), loss.satellite.side, is_hva] += 1
            collected.causes[loss.satellite.side, loss.cause] += 1
        for key, counts in summary.engagements.items():
            collected.engagements[key] = collected.engagements.get(key, np.zeros(2, np.int64)) + counts
        board = summary.replay.config.board
        heat = collected.heat.setdefault((board.inner_ring, board.outer_ring, board.goal_ring), BoardHeat())
        heat.games += 1
        heat.losses += watcher.lost_at
        for side in SIDES:
            heat.presence[side] += watcher.presence[side]

    def _count_result(self, summary: GameSummary) -> None:
        collected = self.collected
        collected.turns[min(summary.turns, _CURVE_TURNS)] += 1
        for reason in summary.reasons:
            collected.reasons[reason] += 1
        for place, side in enumerate(SIDES):
            name = summary.replay.agents[place]
            for where in (side, "either"):
                standing = collected.standings.setdefault((name, where), Standing())
                standing.games += 1
                standing.wins += summary.winner == side
                standing.draws += summary.winner is None
                standing.margin += summary.scores[place] - summary.scores[1 - place]


def _extend(curves: list[list[int]], curve: tuple[int, ...]) -> None:
    """Put the scores of one game to those of the others, turn by turn."""
    while len(curves) < len(curve):
        curves.append([])
    for scores, score in zip(curves, curve, strict=False):
        scores.append(score)


class _Watcher:
    """Looks at the positions of one game while it is played again."""

    def __init__(self, *, keeps_snapshots: bool) -> None:
        self.presence: dict[str, Counter[int]] = {side: Counter() for side in SIDES}
        self.lost_at: Counter[int] = Counter()
        self.snapshots: list[tuple[Game, str, tuple[str, ...]]] = []
        self._keeps_snapshots = keeps_snapshots

    def watch(self, before: Game, played: PlayedPhase) -> None:
        """See a phase."""
        if before.phase == "movement":
            self._count_presence(before)
        lost = self._count_losses(before, played.game)
        if self._keeps_snapshots and (lost or played.game.is_over):
            end = "The end" if played.game.is_over else f"After turn {played.turn}"
            occasion = f"{end}: {', '.join(lost)} lost" if lost else end
            self._keep(played.game, occasion, tuple(map(str, played.outcomes)))

    def _keep(self, game: Game, occasion: str, outcomes: tuple[str, ...]) -> None:
        """Keep a position; of a game with many losses the first ones and the last."""
        if len(self.snapshots) == _SNAPSHOTS:
            self.snapshots.pop()
        self.snapshots.append((game.copy(), occasion, outcomes))

    def _count_presence(self, game: Game) -> None:
        board, goal = game.config.board, game.goals["alpha"]
        for side in SIDES:
            for satellite in game.satellites(side)[1:]:
                if satellite.is_active:
                    self.presence[side][seen_from_goal(satellite.sector, goal, board)] += 1

    def _count_losses(self, before: Game, after: Game) -> list[str]:
        """Count what was lost in a phase, where it was when the phase began; return the names."""
        lost = []
        board, goal = before.config.board, before.goals["alpha"]
        for side in SIDES:
            for old, new in zip(before.satellites(side), after.satellites(side), strict=True):
                if old.is_active and not new.is_active:
                    self.lost_at[seen_from_goal(old.sector, goal, board)] += 1
                    lost.append(f"{side} {old.id.short}")
        return lost


_SNAPSHOTS = 6


def seen_from_goal(sector: int, goal: int, board: BoardConfig) -> int:
    """Return the sector where a satellite would be if alpha's goal were where it starts.

    The board drifts, its inner rings faster than the outer ones; what stays the same is where a sector is in relation
    to the goals.
    """
    ring, goal_ring = int(ring_of(sector)), board.goal_ring
    turned = int(azimuth_of(goal))
    turned = turned << (ring - goal_ring) if ring > goal_ring else turned >> (goal_ring - ring)
    return int(sector_at(ring, int(azimuth_of(sector)) - turned))
