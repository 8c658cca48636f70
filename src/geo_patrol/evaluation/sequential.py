"""A match that is played until a sequential test has its answer."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.isolation.guard import MOVE_TIME
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.evaluation.campaign import Progress, check_agents, choose_seed, warm_up
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.pool import check_processes, play_tasks
from geo_patrol.evaluation.results import PER_GAME, MatchResult, join_results
from geo_patrol.evaluation.sprt import KINDS, POINTS, Sprt, Verdict, pair_kinds, pair_variance, score_elo
from geo_patrol.evaluation.tasks import PlannedMatch, Record, cut, put_together


@dataclass(frozen=True, eq=False)
class SprtResult:
    """What came of a sequential test.

    Attributes:
        test: what was asked.
        match: the games that were needed for the answer, or all that were allowed.
        verdict: "elo0" or "elo1", whichever is accepted, or None if the games did not suffice.
        ratios: (pairs,), the log likelihood ratio after every pair.
    """

    test: Sprt
    match: MatchResult
    verdict: Verdict
    ratios: NDArray[np.float64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """(5,), how many pairs gave the first agent 0, 1/2, 1, 3/2 and 2 points."""
        return np.bincount(pair_kinds(self.match.winner), minlength=KINDS)

    @property
    def score(self) -> tuple[float, float, float]:
        """The first agent's mean score a game, and its 95 % interval, from the spread of the pairs.

        A test stops when things look clear, so they look a little clearer than they are.
        """
        mean = float(self.counts @ POINTS / self.counts.sum())
        reach = NormalDist().inv_cdf(0.975) * math.sqrt(float(pair_variance(self.counts)) / self.counts.sum())
        return mean, max(mean - reach, 0.0), min(mean + reach, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        mean, low, high = self.score
        elo = [score_elo(value) for value in (mean, low, high)]
        summary = self.match.summary()
        return {
            "agents": {"first": self.match.agents[0], "second": self.match.agents[1]},
            "seed": self.match.seed,
            "test": {
                "model": "pentanomial",
                "elo0": self.test.elo0,
                "elo1": self.test.elo1,
                "alpha": self.test.alpha,
                "beta": self.test.beta,
                "bounds": list(self.test.bounds),
            },
            "accepted": self.verdict,
            "log_likelihood_ratio": float(self.ratios[-1]),
            "games": len(self.match),
            "pairs": dict(zip(("0", "0.5", "1", "1.5", "2"), self.counts.tolist(), strict=True)),
            "score": mean,
            "score_interval": [low, high],
            "elo": [value if math.isfinite(value) else None for value in elo],
            "first_as_alpha": asdict(summary.as_alpha),
            "first_as_bravo": asdict(summary.as_bravo),
            "failures": [failure.message for failure in self.match.failures],
        }


def play_sprt(
    first: str,
    second: str,
    test: Sprt | None = None,
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    max_games: int = 20_000,
    seed: int | None = None,
    move_time: float = MOVE_TIME,
    processes: int | None = None,
    progress: Progress | None = None,
) -> SprtResult:
    """Play two agents until a sequential probability ratio test has its answer, see ``ratings.sprt``.

    The games are those of ``play_match`` with the same seed, in its order, and the test is made after every pair: where
    it stops does not depend on the number of processes.

    Args:
        first: of whom the Elo difference is asked; a name as ``play_tournament`` takes them.
        second: its opponent.
        test: what is asked; 0 against 20 Elo with errors of 5 % by default.
        config: see ``load_config``.
        overrides: see ``load_config``.
        max_games: after which the test gives up, an even number.
        seed: of the match; None takes a fresh one.
        move_time: see ``play_tournament``.
        processes: see ``play_tournament``.
        progress: see ``play_tournament``.

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: an agent of the user's own cannot be made.
        ValueError: another argument is wrong.
    """
    asked = Sprt() if test is None else test
    pairs = check_games(max_games) // 2
    chosen = choose_seed(seed, None)
    settled = load_config(config, overrides)
    count = check_processes(processes)
    check_agents([first, second], move_time)
    warm_up([first, second], settled)
    tasks = cut([PlannedMatch(first, second, settled, pairs, chosen)], move_time)

    def report(games: int) -> None:
        if progress is not None:
            progress(games, 2 * pairs)

    playing = play_tasks(tasks, count, report)
    parts: list[MatchResult] = []
    try:
        for record in _in_order(playing):
            parts += put_together([tasks[record.task]], [record])
            verdict, _, _ = asked.run(pair_kinds(np.concatenate([part.winner for part in parts])))
            if verdict is not None:
                break
    finally:
        playing.close()
    return _judge(asked, parts)


def _judge(test: Sprt, parts: Sequence[MatchResult]) -> SprtResult:
    """Keep the games up to the answer."""
    match = join_results(parts)
    verdict, needed, ratios = test.run(pair_kinds(match.winner))
    kept: dict[str, Any] = {field: getattr(match, field)[: 2 * needed] for field in PER_GAME}
    return SprtResult(test, replace(match, **kept), verdict, ratios)


def _in_order(records: Iterator[Record]) -> Iterator[Record]:
    """Put what is finished into the order of the tasks."""
    early: dict[int, Record] = {}
    wanted = 0
    for record in records:
        early[record.task] = record
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1
