"""Round-robin tournaments."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.playing import check_pair
from geo_patrol.agents.protocol import Agent, agent_name, unique_name
from geo_patrol.base.versions import __version__
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO
from geo_patrol.evaluation.campaign import Campaign, agent_version, play_matches, read_seed
from geo_patrol.evaluation.chunks import PlannedMatch
from geo_patrol.evaluation.executors import WorkerOptions
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.results import DRAW, FIRST, SECOND, MatchResult, WinRate, to_frame
from geo_patrol.evaluation.statistics import (
    Equilibrium,
    EquilibriumIntervals,
    Ratings,
    equilibrium,
    equilibrium_intervals,
    fit_ratings,
)

MAX_AGENTS = 100
_RESAMPLES = 400
"""Of the bootstrap intervals of an equilibrium."""


@dataclass(frozen=True)
class AgentErrors:
    """Failures and illegal orders of an agent in a tournament.

    Attributes:
        agent: its name.
        failures: how often it raised, hung, died, or returned something else than orders.
        games_lost: games lost by failures.
        illegal_orders: their number; they count as noop, or forfeit the game, as configured.
        message: message of its first failure.
    """

    agent: str
    failures: int
    games_lost: int
    illegal_orders: int
    message: str


@dataclass(frozen=True, eq=False)
class Tournament:
    """A finished tournament.

    Attributes:
        agents: names.
        config: configuration of the games.
        seed: seed of every match: ``play_match(first, second, config=..., games=..., seed=...)`` plays one again.
        games: number of games per pairing.
        mirror: whether every agent also played against itself.
        matches: in the order of ``pairings``.
        versions: what every agent is beyond its name, see ``campaign.agent_version``.
    """

    agents: tuple[str, ...]
    config: GameConfig
    seed: int
    games: int
    mirror: bool
    matches: tuple[MatchResult, ...]
    versions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Tournament of {', '.join(self.agents)}: {self.config.title}, {self.games:,} games per pairing,"
            f" seed {self.seed}>"
        )

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The agents of every match: (0, 1), (0, 2), ..., (1, 2), ...; then those against themselves."""
        return _pairings(len(self.agents), self.mirror)

    def version(self, agent: int) -> str:
        """Return what an agent is beyond its name: the network that it plays with, or digests of its files; or ""."""
        return self.versions[agent] if self.versions else ""

    @cached_property
    def games_played(self) -> NDArray[np.int64]:
        """(n, 4), of every game alpha, bravo, the result (0 alpha won, 1 drawn, 2 bravo won), and a number of its seed."""
        seeds = np.concatenate([match.seeds for match in self.matches])
        rows = [
            np.stack(
                [
                    np.where(match.first_side == ALPHA, *pairing),
                    np.where(match.first_side == ALPHA, *pairing[::-1]),
                    np.where(match.winner == DRAW, 1, 2 * (match.winner ^ match.first_side)),
                ],
                axis=1,
            )
            for pairing, match in zip(self.pairings, self.matches, strict=True)
        ]
        return np.column_stack([np.concatenate(rows), np.unique(seeds, return_inverse=True)[1]])

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(K, K, 3): of the games of row as alpha against column as bravo, the wins of alpha, draws and losses."""
        counts = np.zeros((len(self.agents), len(self.agents), 3), np.int64)
        np.add.at(counts, tuple(self.games_played[:, :3].T), 1)
        return counts

    @cached_property
    def ratings(self) -> Ratings:
        """Bradley-Terry ratings; their intervals account for games that share a seed."""
        return fit_ratings(self.counts, games=self.games_played)

    def record(
        self, agent: int, opponent: int | None = None, side: int | None = None, *, confidence: float = 0.95
    ) -> WinRate:
        """Return an agent's results against one opponent or all others, as alpha (0), bravo (1) or both (None).

        Args:
            agent: its index.
            opponent: the index of the other; None for all.
            side: as above.
            confidence: the level of the interval.
        """
        wins, draws, seeds = [], [], []
        for pairing, match in zip(self.pairings, self.matches, strict=True):
            if agent in pairing and pairing[0] != pairing[1] and (opponent is None or opponent in pairing):
                i = pairing.index(agent)
                mask = np.ones(len(match), np.bool_) if side is None else (match.first_side ^ i) == side
                wins.append(match.winner[mask] == (FIRST, SECOND)[i])
                draws.append(match.winner[mask] == DRAW)
                seeds.append(match.seeds[mask])
        return WinRate.from_games(np.concatenate(wins), np.concatenate(draws), np.concatenate(seeds), confidence)

    @cached_property
    def payoffs(self) -> NDArray[np.float64]:
        """(K, K): wins minus losses per game of row as alpha against column as bravo; 0 where none was played."""
        games = np.maximum(self.counts.sum(axis=2), 1)
        return np.asarray((self.counts[:, :, 0] - self.counts[:, :, 2]) / games, np.float64)

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """The equilibrium of the payoffs averaged over both sides, for players who do not know their side."""
        return equilibrium((self.payoffs - self.payoffs.T) / 2)

    @cached_property
    def side_equilibrium(self) -> Equilibrium | None:
        """The equilibrium of alpha (rows) against bravo (columns); its value is that of the game for alpha.

        None without mirror matches, because some payoffs are unknown.
        """
        return equilibrium(self.payoffs) if self.mirror else None

    @cached_property
    def equilibrium_intervals(self) -> EquilibriumIntervals:
        """95% intervals of ``equilibrium``; games of a single seed do not tell any."""
        return self._intervals(lambda payoffs: (payoffs - payoffs.T) / 2)

    @cached_property
    def side_equilibrium_intervals(self) -> EquilibriumIntervals | None:
        """95% intervals of ``side_equilibrium``."""
        return self._intervals(lambda payoffs: payoffs) if self.mirror else None

    def _intervals(self, convert: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> EquilibriumIntervals:
        """Return intervals from bootstrap samples: seeds are drawn with replacement, each with all its games."""
        size, (alphas, bravos, results, seeds) = len(self.agents), self.games_played.T
        if not seeds.any():
            anything = np.tile([0.0, 1.0], (size, 1))
            return EquilibriumIntervals((-1.0, 1.0), anything, anything)
        cells, generator, num_seeds = size * alphas + bravos, np.random.default_rng(self.seed), int(seeds.max()) + 1
        found = []
        for _ in range(_RESAMPLES):
            weights = generator.multinomial(num_seeds, np.full(num_seeds, 1 / num_seeds))[seeds]
            games, points = (np.bincount(cells, each, size**2) for each in (weights, weights * (1 - results)))
            found.append(convert((points / np.maximum(games, 1)).reshape(size, size)))
        return equilibrium_intervals(found)

    @cached_property
    def agent_errors(self) -> tuple[AgentErrors, ...]:
        """Failures and illegal orders by agent; agents without any are not listed."""
        found = []
        for agent, name in enumerate(self.agents):
            matches = [
                (match, i)
                for pair, match in zip(self.pairings, self.matches, strict=True)
                for i in (FIRST, SECOND)
                if pair[i] == agent
            ]
            failures = [failure for match, i in matches for failure in match.failures if failure.agent == i]
            illegal = sum(int(match.illegal_orders[:, i].sum()) for match, i in matches)
            if failures or illegal:
                lost = sum(failure.games for failure in failures)
                found.append(AgentErrors(name, len(failures), lost, illegal, failures[0].message if failures else ""))
        return tuple(found)

    def largest_residual(self) -> tuple[int, int, float, float]:
        """Return the pairing that the ratings fit worst: two agents, the first one's measured and expected score."""
        expected = (self.ratings.expected + 1 - self.ratings.expected.T) / 2  # averaged over the sides
        residuals = [
            (first, second, self.record(first, second).score, float(expected[first, second]))
            for first, second in _pairings(len(self.agents), mirror=False)
        ]
        return max(residuals, key=lambda row: abs(row[2] - row[3]))

    def to_dict(self) -> dict[str, Any]:
        """Return all tables as plain data for JSON; nothing in it depends on time or machine."""
        ratings, sides, intervals = self.ratings, self.side_equilibrium, self.side_equilibrium_intervals
        return {
            "agents": list(self.agents),
            "games_a_pairing": self.games,
            "seed": self.seed,
            "ratings": [
                {
                    "agent": name,
                    "version": self.version(number),
                    "elo": float(ratings.elo[number]),
                    "elo_interval": ratings.intervals[number].tolist(),
                    "total": asdict(self.record(number)),
                    "as_alpha": asdict(self.record(number, side=ALPHA)),
                    "as_bravo": asdict(self.record(number, side=BRAVO)),
                }
                for number, name in enumerate(self.agents)
            ],
            "alpha_advantage": {"elo": ratings.alpha_advantage, "elo_interval": list(ratings.alpha_interval)},
            "confidence": ratings.confidence,
            "comparable_groups": [[self.agents[number] for number in group] for group in ratings.groups],
            "pairings": [self._pairing(first, second) for first, second in _pairings(len(self.agents), mirror=False)],
            "equilibrium": {
                "payoff": "wins less losses a game, both sides averaged",
                "value": self.equilibrium.value,
                "mixture": dict(zip(self.agents, self.equilibrium.rows.tolist(), strict=True)),
                "mixture_intervals": dict(zip(self.agents, self.equilibrium_intervals.rows.tolist(), strict=True)),
            },
            "side_equilibrium": None
            if sides is None or intervals is None
            else {
                "payoff": "wins less losses a game, of alpha",
                "value": sides.value,
                "value_interval": list(intervals.value),
                "alpha": dict(zip(self.agents, sides.rows.tolist(), strict=True)),
                "alpha_intervals": dict(zip(self.agents, intervals.rows.tolist(), strict=True)),
                "bravo": dict(zip(self.agents, sides.columns.tolist(), strict=True)),
                "bravo_intervals": dict(zip(self.agents, intervals.columns.tolist(), strict=True)),
            },
            "payoffs": self.payoffs.tolist(),
            "troubles": [asdict(errors) for errors in self.agent_errors],
        }

    def rows(self, table: Literal["ratings", "pairings"] = "ratings") -> list[dict[str, Any]]:
        """Return a row for every agent, or for every pairing, by the names of columns."""
        if table == "pairings":
            return [self._pairing_row(*pairing) for pairing in _pairings(len(self.agents), mirror=False)]
        if table != "ratings":
            raise ValueError(f"table must be 'ratings' or 'pairings', got {table!r}")
        elo, intervals = self.ratings.elo.tolist(), self.ratings.intervals.tolist()
        return [
            {
                "agent": name,
                "version": self.version(i),
                "elo": elo[i],
                "elo_low": intervals[i][0],
                "elo_high": intervals[i][1],
            }
            | self.record(i).columns()
            | self.record(i, side=ALPHA).columns("alpha_")
            | self.record(i, side=BRAVO).columns("bravo_")
            for i, name in enumerate(self.agents)
        ]

    def to_frame(self, table: Literal["ratings", "pairings"] = "ratings") -> Any:
        """Return a row for every agent, or for every pairing, as a ``pandas.DataFrame``, see ``rows``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return to_frame(self.rows(table))

    def _pairing_row(self, first: int, second: int) -> dict[str, Any]:
        difference, low, high = self.ratings.difference(first, second)
        return {
            "first": self.agents[first],
            "second": self.agents[second],
            "first_version": self.version(first),
            "second_version": self.version(second),
            **self.record(first, second).columns(),
            **self.record(first, second, ALPHA).columns("first_as_alpha_"),
            **self.record(first, second, BRAVO).columns("first_as_bravo_"),
            "elo_difference": difference,
            "elo_difference_low": low,
            "elo_difference_high": high,
        }

    def _pairing(self, first: int, second: int) -> dict[str, Any]:
        gap, low, high = self.ratings.difference(first, second)
        return {
            "first": self.agents[first],
            "second": self.agents[second],
            "total": asdict(self.record(first, second)),
            "first_as_alpha": asdict(self.record(first, second, ALPHA)),
            "first_as_bravo": asdict(self.record(first, second, BRAVO)),
            "elo_difference": gap,
            "elo_difference_interval": [low, high],
        }


def _pairings(agents: int, mirror: bool) -> list[tuple[int, int]]:
    return [*combinations(range(agents), 2), *((agent, agent) for agent in range(agents) if mirror)]


def check_names(agents: Sequence[str | Agent]) -> tuple[str, ...]:
    """Return the names of a tournament's agents; of objects with the same name, the second is called "net (2)".

    Raises:
        ValueError: they are fewer than two, too many, or one is there twice.
    """
    if not 2 <= len(agents) <= MAX_AGENTS:
        raise ValueError(f"a tournament has 2 to {MAX_AGENTS} agents, got {len(agents)}")
    names: list[str] = []
    for i, agent in enumerate(agents):
        name = agent_name(agent)
        if any(agent is other or (isinstance(agent, str) and agent == other) for other in agents[:i]):
            raise ValueError(f"agent {name!r} is there twice")
        names.append(unique_name(name, names))
    return tuple(names)


def play_tournament(
    agents: Sequence[str | Agent],
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    games: int = 400,
    seed: int | None = None,
    mirror: bool = False,
    folder: Path | str | None = None,
    **options: Unpack[WorkerOptions],
) -> Tournament:
    """Play a round robin: every two agents play a match of side-swapped pairs of games.

    Args:
        agents: two or more: names of built-in agents, ``file.py:Name`` or ``module:Name``, or objects. Objects play in this
            process, and keep their state from match to match.
        config: see ``load_config``.
        overrides: see ``load_config``.
        games: number of games per pairing, even.
        seed: seed of every match; None takes that of ``folder``, or a new one. The same seed gives the same tournament,
            wherever it is played.
        mirror: whether every agent also plays against itself, which the equilibrium between the sides needs; objects must
            be stateless then.
        folder: stores finished games, so that a tournament that was interrupted can be resumed; None stores nothing. Its
            agents are given by name.
        **options: ``move_time``, ``processes``, ``executor``, ``progress``, see ``WorkerOptions``.

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: a user-defined agent cannot be made. Agents that fail later lose games.
        FolderError: the folder holds something else.
        ValueError: another argument is wrong.
    """
    names = check_names(agents)
    pairs = check_games(games) // 2
    seed = read_seed(seed, folder)
    resolved = load_config(config, overrides)
    pairings = _pairings(len(names), mirror)
    for first, second in pairings:
        check_pair(agents[first], agents[second])
    plan = {
        "kind": "tournament",
        "geo_patrol": __version__,
        "agents": list(names),
        "games": games,
        "seed": seed,
        "config": resolved.to_dict(),
        "mirror": mirror,
    }
    with Campaign(agents, folder=folder, **options) as campaign:
        matches = [
            PlannedMatch((agents[i], agents[k]), resolved, seed, campaign.move_time, (names[i], names[k]))
            for i, k in pairings
        ]
        played = play_matches(campaign, matches, pairs, plan, folder)
    versions = tuple(agent_version(agent, resolved) for agent in agents)
    results = tuple(
        replace(match, versions=(versions[first], versions[second]))
        for match, (first, second) in zip(played, pairings, strict=True)
    )
    return Tournament(names, resolved, seed, games, mirror, results, versions)
