"""Results of a match: every game, and their summary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import MissingPackageError
from geo_patrol.base.sides import SIDES
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO, TURN_LIMIT
from geo_patrol.evaluation.statistics import Rate, clustered_interval
from geo_patrol.game.notation import read_reasons

FIRST, SECOND, DRAW = 0, 1, -1
"""The winner of a game: the first agent, the second agent, or a draw."""

REASONS = tuple(dict.fromkeys(reason.reason for reason in read_reasons(2 * TURN_LIMIT - 1)))
"""All reasons for which a game can end, in the order of tables."""


@dataclass(frozen=True)
class Failure:
    """A failure of an agent: it raised an exception, hung, died, or returned something else than orders.

    Attributes:
        agent: 0 the first one, 1 the second.
        side: 0 alpha, 1 bravo.
        games: number of running games, which it lost; they are drawn if its opponent failed in the same phase.
        message: what happened, with the agent's name.
    """

    agent: int
    side: int
    games: int
    message: str


@dataclass(frozen=True)
class EndingCount:
    """Number of games that ended for a reason; several reasons may hold at once.

    Attributes:
        first: games in which it held for the first agent: its HVA lost, its win score reached.
        second: games in which it held for the second agent.
        games: games in which it held at all.
    """

    first: int
    second: int
    games: int


@dataclass(frozen=True, kw_only=True)
class WinRate:
    """Wins, draws and losses of an agent or a side, and its win rate.

    Attributes:
        wins, draws, losses: counts.
        games: their sum.
        win_rate: wins / games; a draw is no win.
        win_interval: its interval, 95% unless another level was asked for, see ``statistics.clustered_interval``.
        score: mean score per game; a draw scores 1/2.
    """

    wins: int
    draws: int
    losses: int
    games: int
    win_rate: float
    win_interval: tuple[float, float]
    score: float

    @classmethod
    def from_games(
        cls,
        wins: NDArray[np.bool_],
        draws: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
        confidence: float = 0.95,
        **fields: Any,
    ) -> Self:
        """Compute the win rate of games.

        Args:
            wins: (games,), whether each was won.
            draws: (games,), whether each was drawn.
            seeds: (games,), the seed of each: games that share one are not independent.
            confidence: the level of the interval.
            **fields: the other fields of a subclass.
        """
        _, clusters = np.unique(seeds, return_inverse=True)
        sizes, cluster_wins = np.bincount(clusters), np.bincount(clusters, wins).astype(np.int64)
        games, num_wins, num_draws = len(wins), int(wins.sum()), int(draws.sum())
        won = clustered_interval(Counter(zip(sizes.tolist(), cluster_wins.tolist(), strict=True)), confidence)
        return cls(
            wins=num_wins,
            draws=num_draws,
            losses=games - num_wins - num_draws,
            games=games,
            win_rate=won.value,
            win_interval=won.interval,
            score=(num_wins + num_draws / 2) / games,
            **fields,
        )

    @property
    def won(self) -> Rate:
        """The win rate with its interval."""
        return Rate(self.win_rate, *self.win_interval)

    def columns(self, prefix: str = "") -> dict[str, Any]:
        """Return the columns of a table, with a prefix."""
        low, high = self.win_interval
        columns = {name: getattr(self, name) for name in ("games", "wins", "draws", "losses", "win_rate")}
        columns |= {"win_rate_low": low, "win_rate_high": high, "score": self.score}
        return {f"{prefix}{name}": value for name, value in columns.items()}


@dataclass(frozen=True, kw_only=True)
class Tally(WinRate):
    """Summary statistics of games, from the point of view of the first agent.

    Attributes:
        mean_score_difference: mean of the first agent's points minus the second's.
        mean_turns: mean number of turns played, the last one included.
        endings: the number of games that ended for each reason.
        illegal_orders: number of illegal orders of the first and of the second agent, in all games.
    """

    mean_score_difference: float
    mean_turns: float
    endings: dict[str, EndingCount]
    illegal_orders: tuple[int, int]


@dataclass(frozen=True)
class Summary:
    """Summary of a match: the games that the first agent played as alpha, those as bravo, and all."""

    as_alpha: Tally
    as_bravo: Tally
    total: Tally
    seconds: float | None
    games_per_second: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data for JSON."""
        return asdict(self)


GAME_RESULT = np.dtype(
    [
        ("seeds", np.uint64),  # the game's own seed for ``Game``
        ("first_side", np.int64),  # the side of the first agent: 0 alpha, 1 bravo
        ("scores", np.int64, 2),  # final points of the first and of the second agent
        ("turns", np.int64),  # turns played, the last one included
        ("reasons", np.int64),  # bits that ``notation.read_reasons`` reads, of alpha and bravo
        ("winner", np.int64),  # 0 the first agent, 1 the second, -1 a draw
        ("illegal_orders", np.int64, 2),  # of the first and of the second agent
    ]
)
"""What is kept of a game of a match; its fields are attributes of ``MatchResult``."""


def to_frame(columns: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Any:
    """Return a table, given as columns or as rows, as a ``pandas.DataFrame``.

    Raises:
        MissingPackageError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise MissingPackageError("to_frame needs pandas, which is not installed: pip install pandas") from error
    return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class MatchResult:
    """A match, game by game; games 2 k and 2 k + 1 are pair k.

    Attributes:
        agents: names of the first and the second agent.
        config: configuration of the games.
        seed: seed of the match.
        games: (games,) records of layout ``GAME_RESULT``, whose fields are attributes of the match too:
            ``seeds``, ``first_side``, ``scores``, ``turns``, ``reasons``, ``winner`` and ``illegal_orders``.
        first_game: (phases, 2, 11) int64, the orders of alpha and bravo in game 0; ``geo_patrol.game.game.replay_orders`` plays it.
        failures: failures of agents, where ``on_failure`` is "forfeit".
        seconds: wall time of ``play_match``; None of a match in a tournament or a sequential test.
        versions: what the agents are beyond their names, see ``campaign.agent_version``.
    """

    agents: tuple[str, str]
    config: GameConfig
    seed: int
    games: NDArray[np.void]
    first_game: NDArray[np.int64]
    failures: tuple[Failure, ...] = ()
    seconds: float | None = None
    versions: tuple[str, str] = ("", "")

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Return a field of all games."""
        if name in (GAME_RESULT.names or ()):
            field: NDArray[Any] = self.games[name]
            return field
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(GAME_RESULT.names or ())]

    def __len__(self) -> int:
        return len(self.games)

    def __repr__(self) -> str:
        if not len(self):
            return f"<MatchResult {self.agents[0]} against {self.agents[1]}: no games>"
        total = self._tally(np.ones(len(self), np.bool_))
        return (
            f"<MatchResult {self.agents[0]} against {self.agents[1]}, {self.config.title}, {total.games:,} games, seed"
            f" {self.seed}:\n wins {total.won}, draws {total.draws / total.games:.1%},"
            f" losses {total.losses / total.games:.1%}>"
        )

    def summary(self) -> Summary:
        """Return summary statistics."""
        return Summary(
            as_alpha=self._tally(self.first_side == ALPHA),
            as_bravo=self._tally(self.first_side == BRAVO),
            total=self._tally(np.ones(len(self), np.bool_)),
            seconds=self.seconds,
            games_per_second=None if self.seconds is None else len(self) / max(self.seconds, 1e-9),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary and all failures as plain data for JSON."""
        return {
            "agents": {"first": self.agents[0], "second": self.agents[1]},
            "agent_versions": {"first": self.versions[0], "second": self.versions[1]},
            "games": len(self),
            "seed": self.seed,
            "summary": self.summary().to_dict(),
            "failures": [asdict(failure) for failure in self.failures],
        }

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a table with a row for every game, by the names of its columns; those by agent are given by side.

        The winner is an agent's name, and a side in the next column, both empty for a draw; several reasons have semicolons between them.
        """
        games, numbers = self.games, np.arange(len(self))
        names, versions, sides = np.array(self.agents), np.array(self.versions), games["first_side"]
        is_draw = games["winner"] == DRAW
        by_side = [sides, 1 - sides]  # the agents that play alpha and bravo
        bits, kinds = np.unique(games["reasons"], return_inverse=True)
        reasons = np.array(["; ".join(map(str, read_reasons(value))) for value in bits.tolist()], np.str_)
        alpha_score, bravo_score = (games["scores"][numbers, agent] for agent in by_side)
        alpha_illegal, bravo_illegal = (games["illegal_orders"][numbers, agent] for agent in by_side)
        return {
            "game": numbers,
            "pair": numbers // 2,
            "seed": games["seeds"],
            "alpha": names[by_side[ALPHA]],
            "bravo": names[by_side[BRAVO]],
            "alpha_version": versions[by_side[ALPHA]],
            "bravo_version": versions[by_side[BRAVO]],
            "winner": np.array([*self.agents, ""])[games["winner"]],
            "winner_side": np.where(is_draw, "", np.array(SIDES)[games["winner"] ^ sides]),
            "alpha_score": alpha_score,
            "bravo_score": bravo_score,
            "turns": games["turns"],
            "reasons": reasons[kinds],
            "alpha_illegal_orders": alpha_illegal,
            "bravo_illegal_orders": bravo_illegal,
        }

    def to_frame(self) -> Any:
        """Return a row for every game as a ``pandas.DataFrame``, see ``columns``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return to_frame(self.columns())

    def _tally(self, mask: NDArray[np.bool_]) -> Tally:
        """Summarise the games of a mask, (games,)."""
        winner, illegal = self.winner[mask], self.illegal_orders[mask].sum(axis=0)
        return Tally.from_games(
            winner == FIRST,
            winner == DRAW,
            self.seeds[mask],
            mean_score_difference=float((self.scores[mask, FIRST] - self.scores[mask, SECOND]).mean()),
            mean_turns=float(self.turns[mask].mean()),
            endings=_count_endings(self.reasons[mask], self.first_side[mask]),
            illegal_orders=(int(illegal[FIRST]), int(illegal[SECOND])),
        )


def join_results(results: Sequence[MatchResult]) -> MatchResult:
    """Concatenate the results of a match's chunks; agents, configuration and seed are those of the first."""
    return replace(
        results[0],
        games=np.concatenate([result.games for result in results]),
        failures=tuple(failure for result in results for failure in result.failures),
    )


def _count_endings(reasons: NDArray[np.int64], first_side: NDArray[np.int64]) -> dict[str, EndingCount]:
    """Count the games that ended for each reason, by the agent that it concerns."""
    by_agent: Counter[tuple[str, int]] = Counter()
    games: Counter[str] = Counter()
    for (bits, first), count in Counter(zip(reasons.tolist(), first_side.tolist(), strict=True)).items():
        reasons_of_game = read_reasons(bits)
        for name in {reason.reason for reason in reasons_of_game}:
            games[name] += count
        for reason in reasons_of_game:
            if reason.side is not None:
                by_agent[reason.reason, FIRST if (reason.side == "bravo") == first else SECOND] += count
    return {name: EndingCount(by_agent[name, FIRST], by_agent[name, SECOND], games[name]) for name in REASONS}
