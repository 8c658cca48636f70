"""Tournaments: everybody against everybody, from both sides."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.isolation.guard import MOVE_TIME
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO
from geo_patrol.evaluation import Equilibrium, Ratings, equilibrium, rate
from geo_patrol.evaluation.campaign import Progress, check_agents, choose_seed, describe_plan, play_all
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.results import DRAW, FIRST, SECOND, MatchResult, wilson_interval
from geo_patrol.evaluation.tasks import PlannedMatch

MAX_AGENTS = 100


@dataclass(frozen=True)
class Record:
    """Games of one agent against another, or against all.

    Attributes:
        wins, draws, losses: counts.
        win_rate: wins / games; a draw is no win.
        win_interval: its 95 % Wilson interval.
        score: mean score a game, a draw counts 1/2.
    """

    wins: int
    draws: int
    losses: int
    games: int = field(init=False)
    win_rate: float = field(init=False)
    win_interval: tuple[float, float] = field(init=False)
    score: float = field(init=False)

    def __post_init__(self) -> None:
        games = self.wins + self.draws + self.losses
        for name, value in (
            ("games", games),
            ("win_rate", self.wins / games),
            ("win_interval", wilson_interval(self.wins, games)),
            ("score", (self.wins + self.draws / 2) / games),
        ):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Trouble:
    """What an agent did wrong in a tournament.

    Attributes:
        agent: its name.
        failures: how often it raised, hung, died, or returned something else than orders.
        games_lost: how many games that cost.
        illegal_orders: how many illegal orders it gave; they count as noop, or forfeit the game, as configured.
        message: of its first failure.
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
        agents: names, in the order given.
        config: what was played.
        seed: of every match in it: ``play_match(first, second, config=..., games=..., seed=...)`` plays one again.
        games: a pairing.
        mirror: whether every agent also met itself.
        matches: of every pairing, the agents in the order of ``pairings``.
    """

    agents: tuple[str, ...]
    config: GameConfig
    seed: int
    games: int
    mirror: bool
    matches: tuple[MatchResult, ...]

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The agents of every match: (0, 1), (0, 2), ..., (1, 2), ...; then those against themselves."""
        return _pairings(len(self.agents), self.mirror)

    @property
    def _meetings(self) -> list[tuple[int, int]]:
        """The pairings of different agents."""
        return _pairings(len(self.agents), mirror=False)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(K, K, 3): of the games of row as alpha against column as bravo, how many alpha won, drew and lost."""
        counts = np.zeros((len(self.agents), len(self.agents), 3), np.int64)
        for (first, second), match in zip(self.pairings, self.matches, strict=True):
            for side, pair in ((ALPHA, (first, second)), (BRAVO, (second, first))):
                winner = match.winner[match.first_side == side]
                won, lost = (FIRST, SECOND) if side == ALPHA else (SECOND, FIRST)
                counts[pair] += [(winner == result).sum() for result in (won, DRAW, lost)]
        return counts

    @cached_property
    def ratings(self) -> Ratings:
        """Bradley-Terry ratings."""
        return rate(self.counts)

    def record(self, agent: int, opponent: int | None = None, side: int | None = None) -> Record:
        """Return an agent's games against one opponent or all others, as alpha (0), bravo (1) or either."""
        rows = self.counts[agent] if side != BRAVO else np.zeros_like(self.counts[agent])
        columns = self.counts[:, agent, ::-1] if side != ALPHA else np.zeros_like(rows)
        others = [other for other in range(len(self.agents)) if other != agent] if opponent is None else [opponent]
        wins, draws, losses = (rows + columns)[others].sum(axis=0).tolist()
        return Record(wins, draws, losses)

    @cached_property
    def payoffs(self) -> NDArray[np.float64]:
        """(K, K): wins less losses a game of row as alpha against column as bravo; 0 where none was played."""
        games = np.maximum(self.counts.sum(axis=2), 1)
        return np.asarray((self.counts[:, :, 0] - self.counts[:, :, 2]) / games, np.float64)

    @cached_property
    def mixture(self) -> Equilibrium:
        """The equilibrium for a player who does not know which side will be his: payoffs from both sides, averaged."""
        return equilibrium((self.payoffs - self.payoffs.T) / 2)

    @cached_property
    def side_mixtures(self) -> Equilibrium | None:
        """The equilibrium of alpha, the rows, against bravo, the columns: its value is what the game is worth to alpha.

        None if agents did not meet themselves, so that some payoffs are not known.
        """
        return equilibrium(self.payoffs) if self.mirror else None

    @cached_property
    def troubles(self) -> tuple[Trouble, ...]:
        """What agents did wrong, by agent; those who did nothing wrong are not listed."""
        found = []
        for number, name in enumerate(self.agents):
            played = [
                (match, place)
                for pair, match in zip(self.pairings, self.matches, strict=True)
                for place in (FIRST, SECOND)
                if pair[place] == number
            ]
            failures = [one for match, place in played for one in match.failures if one.agent == place]
            illegal = sum(int(match.illegal_orders[:, place].sum()) for match, place in played)
            if failures or illegal:
                lost = sum(one.games for one in failures)
                found.append(Trouble(name, len(failures), lost, illegal, failures[0].message if failures else ""))
        return tuple(found)

    def surprise(self) -> tuple[int, int, float, float]:
        """Return the pairing that the ratings predict worst: two agents, the first one's score measured and expected."""
        expected = (self.ratings.expected + 1 - self.ratings.expected.T) / 2  # from either side
        both = [
            (first, second, self.record(first, second).score, float(expected[first, second]))
            for first, second in self._meetings
        ]
        return max(both, key=lambda one: abs(one[2] - one[3]))

    def to_dict(self) -> dict[str, Any]:
        """Return all tables as plain data, as a JSON file would hold it; nothing in it depends on time or machine."""
        ratings, mixture, sides = self.ratings, self.mixture, self.side_mixtures
        return {
            "agents": list(self.agents),
            "games_a_pairing": self.games,
            "seed": self.seed,
            "ratings": [
                {
                    "agent": name,
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
            "pairings": [self._pairing(first, second) for first, second in self._meetings],
            "equilibrium": {
                "payoff": "wins less losses a game, both sides averaged",
                "value": mixture.value,
                "mixture": dict(zip(self.agents, mixture.rows.tolist(), strict=True)),
            },
            "side_equilibrium": None
            if sides is None
            else {
                "payoff": "wins less losses a game, of alpha",
                "value": sides.value,
                "alpha": dict(zip(self.agents, sides.rows.tolist(), strict=True)),
                "bravo": dict(zip(self.agents, sides.columns.tolist(), strict=True)),
            },
            "payoffs": self.payoffs.tolist(),
            "troubles": [asdict(trouble) for trouble in self.troubles],
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


def check_names(agents: Sequence[str]) -> tuple[str, ...]:
    """Return the agents of a tournament.

    Raises:
        ValueError: they are fewer than two, too many, or one is there twice.
    """
    names = tuple(agents)
    if not 2 <= len(names) <= MAX_AGENTS:
        raise ValueError(f"{len(names)} agents: give 2 to {MAX_AGENTS}")
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"agent {name!r} is there twice: give every agent once")
    return names


def play_tournament(
    agents: Sequence[str],
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    games: int = 400,
    seed: int | None = None,
    mirror: bool = False,
    move_time: float = MOVE_TIME,
    processes: int | None = None,
    folder: Path | str | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Play a round robin: every two agents meet in a match of side-swapped pairs of games.

    Worker processes import the main module anew: a script that calls this keeps its own work under
    ``if __name__ == "__main__":``.

    Args:
        agents: names of built-in agents, ``file.py:Name`` or ``module:Name``; two or more.
        config: see ``load_config``.
        overrides: see ``load_config``.
        games: a pairing, an even number.
        seed: of every match; None takes that of ``folder``, or a fresh one. The same seed gives the same tournament,
            whatever the number of processes.
        mirror: let every agent also meet itself, so that the equilibrium between the sides can be found.
        move_time: seconds for a decision in one game, for agents of the user's own, see ``guard.seat_agent``.
        processes: how many at once; None for one on every core.
        folder: keeps finished games, so that a tournament that was killed goes on; None keeps nothing.
        progress: is called several times a second with the number of finished games and of all games.

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: an agent of the user's own cannot be made. Agents that fail later lose games.
        FolderError: the folder holds something else.
        ValueError: another argument is wrong.
    """
    names = check_names(agents)
    pairs = check_games(games) // 2
    where = None if folder is None else Path(folder)
    chosen = choose_seed(seed, where)
    settled = load_config(config, overrides)
    check_agents(names, move_time)
    matches = [
        PlannedMatch(names[first], names[second], settled, pairs, chosen)
        for first, second in _pairings(len(names), mirror)
    ]
    plan = {**describe_plan("tournament", names, settled, games, chosen), "mirror": mirror}
    played = play_all(matches, move_time=move_time, processes=processes, folder=where, plan=plan, progress=progress)
    return Tournament(names, settled, chosen, games, mirror, tuple(played))
