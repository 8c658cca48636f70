"""What came of a match: the figures of every game, and their summary."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO, TURN_LIMIT
from geo_patrol.notation import read_reasons

FIRST, SECOND, DRAW = 0, 1, -1
"""Winners of a match's games: the agent named first, the one named second, nobody."""

REASONS = tuple(dict.fromkeys(reason.reason for reason in read_reasons(2 * TURN_LIMIT - 1)))
"""All reasons for which a game can end, in the order in which tables list them."""


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion, without continuity correction.

    Args:
        successes: how often it happened.
        trials: how often it could have.
        confidence: the level of the interval, between 0 and 1.

    Returns:
        Lower and upper end; 0 and 1 where there are no trials.

    Raises:
        ValueError: the counts or the level make no sense.
    """
    if not 0 <= successes <= trials or not 0 < confidence < 1:
        raise ValueError(f"{successes!r} of {trials!r} at {confidence!r}: give 0 <= successes <= trials, 0 < level < 1")
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    reach = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else (centre - reach) / scale  # rounding must not move the ends off 0 and 1
    high = 1.0 if successes == trials else (centre + reach) / scale
    return low, high


@dataclass(frozen=True)
class Failure:
    """An agent failed: it raised an exception, hung, died, or returned something else than orders.

    Attributes:
        agent: 0 the first one, 1 the second.
        side: 0 alpha, 1 bravo.
        games: how many games were running, which it lost by that; drawn if its opponent failed in the same phase.
        message: what it did, with its name.
    """

    agent: int
    side: int
    games: int
    message: str


@dataclass(frozen=True)
class Ending:
    """How often a reason ended games; several reasons may hold at once.

    Attributes:
        first: games where it held for the first agent: its HVA lost, its win score reached.
        second: games where it held for the second agent.
        games: games where it held at all.
    """

    first: int
    second: int
    games: int


@dataclass(frozen=True)
class Tally:
    """Games of a match summed up, as the first agent sees them.

    Attributes:
        games, wins, draws, losses: counts; a win is the first agent's.
        win_rate: wins / games; a draw is no win.
        win_interval: its 95 % Wilson interval.
        mean_score_difference: points of the first agent less those of the second, a game.
        mean_turns: turns played, a game, the last one included.
        endings: for every reason, how often it ended a game.
        illegal_orders: of the first and of the second agent, in all games.
    """

    games: int
    wins: int
    draws: int
    losses: int
    win_rate: float
    win_interval: tuple[float, float]
    mean_score_difference: float
    mean_turns: float
    endings: dict[str, Ending]
    illegal_orders: tuple[int, int]


@dataclass(frozen=True)
class Summary:
    """A match summed up: the games that the first agent played as alpha, those as bravo, and all."""

    as_alpha: Tally
    as_bravo: Tally
    total: Tally
    seconds: float
    games_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data, as a JSON file would hold it."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class MatchResult:
    """A match, game by game; index 2 k and 2 k + 1 are the games of pair k.

    Attributes:
        agents: what the first and the second agent are called.
        config: what was played.
        seed: of the match.
        seconds: wall time of the play.
        seeds: (games,) uint64, each game's own seed, as ``Game`` takes it.
        first_side: (games,) int64, which side the first agent had: 0 alpha, 1 bravo.
        scores: (games, 2) int64, final points of the first and of the second agent.
        turns: (games,) int64, turns played, the last one included.
        reasons: (games,) int64, bits that ``notation.read_reasons`` reads, of alpha and bravo.
        winner: (games,) int64, 0 the first agent, 1 the second, -1 nobody.
        illegal_orders: (games, 2) int64, of the first and of the second agent.
        first_game: (phases, 2, 11) int64, the orders that alpha and bravo gave in game 0; ``replays.rerun.replay`` plays it.
        failures: of agents, where ``play_match`` was told to go on after them.
    """

    agents: tuple[str, str]
    config: GameConfig
    seed: int
    seconds: float
    seeds: NDArray[np.uint64]
    first_side: NDArray[np.int64]
    scores: NDArray[np.int64]
    turns: NDArray[np.int64]
    reasons: NDArray[np.int64]
    winner: NDArray[np.int64]
    illegal_orders: NDArray[np.int64]
    first_game: NDArray[np.int64]
    failures: tuple[Failure, ...] = ()

    def __len__(self) -> int:
        return len(self.seeds)

    def summary(self) -> Summary:
        """Sum the match up."""
        return Summary(
            as_alpha=self._tally(self.first_side == ALPHA),
            as_bravo=self._tally(self.first_side == BRAVO),
            total=self._tally(np.ones(len(self), np.bool_)),
            seconds=self.seconds,
            games_per_second=len(self) / max(self.seconds, 1e-9),
        )

    def _tally(self, which: NDArray[np.bool_]) -> Tally:
        games, winner = int(which.sum()), self.winner[which]
        wins = int((winner == FIRST).sum())
        illegal = self.illegal_orders[which].sum(axis=0)
        return Tally(
            games=games,
            wins=wins,
            draws=int((winner == DRAW).sum()),
            losses=int((winner == SECOND).sum()),
            win_rate=wins / games,
            win_interval=wilson_interval(wins, games),
            mean_score_difference=float((self.scores[which, FIRST] - self.scores[which, SECOND]).mean()),
            mean_turns=float(self.turns[which].mean()),
            endings=_count_endings(self.reasons[which], self.first_side[which]),
            illegal_orders=(int(illegal[FIRST]), int(illegal[SECOND])),
        )


PER_GAME = ("seeds", "first_side", "scores", "turns", "reasons", "winner", "illegal_orders")
"""The fields of a match that have an entry for every game."""


def join_results(parts: Sequence[MatchResult]) -> MatchResult:
    """Put the parts of a match together, in their order; agents, configuration and seed are those of the first."""
    joined: dict[str, Any] = {field: np.concatenate([getattr(part, field) for part in parts]) for field in PER_GAME}
    return replace(
        parts[0],
        seconds=sum(part.seconds for part in parts),
        failures=tuple(failure for part in parts for failure in part.failures),
        **joined,
    )


def _count_endings(reasons: NDArray[np.int64], first_side: NDArray[np.int64]) -> dict[str, Ending]:
    """Count the reasons of games, by whom they held for."""
    by_agent: Counter[tuple[str, int]] = Counter()
    games: Counter[str] = Counter()
    for (bits, first), count in Counter(zip(reasons.tolist(), first_side.tolist(), strict=True)).items():
        held = read_reasons(bits)
        for name in {reason.reason for reason in held}:
            games[name] += count
        for reason in held:
            if reason.side is not None:
                by_agent[reason.reason, FIRST if (reason.side == "bravo") == first else SECOND] += count
    return {name: Ending(by_agent[name, FIRST], by_agent[name, SECOND], games[name]) for name in REASONS}
