"""Matches that are played until a sequential probability ratio test accepts a hypothesis."""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.playing import check_pair
from geo_patrol.agents.protocol import Agent
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.evaluation import statistics
from geo_patrol.evaluation.campaign import Campaign, agent_version, read_seed
from geo_patrol.evaluation.chunks import PlannedMatch
from geo_patrol.evaluation.executors import WorkerOptions, in_order
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.results import MatchResult, join_results, to_frame


@dataclass(frozen=True, eq=False)
class SprtResult:
    """The result of a sequential test.

    Attributes:
        test: the hypotheses and error probabilities.
        match: the games up to the decision, or all that were allowed.
        verdict: the accepted hypothesis, "elo0" or "elo1"; None if the games did not suffice.
        ratios: (pairs,), the log likelihood ratio after every pair.
        is_interrupted: whether Ctrl-C ended it before a decision.
    """

    test: statistics.Sprt
    match: MatchResult
    verdict: statistics.Hypothesis | None
    ratios: NDArray[np.float64]
    is_interrupted: bool = False

    def __repr__(self) -> str:
        first, second = self.match.agents
        return (
            f"<SprtResult {first} against {second}, {self.match.config.title}, {len(self.match):,} games, seed"
            f" {self.match.seed}:\n accepted {self.verdict}, score {self.score}>"
        )

    @property
    def counts(self) -> NDArray[np.int64]:
        """(5,), the number of pairs in which the first agent scored 0, 1/2, 1, 3/2 and 2 points."""
        return np.bincount(statistics.pair_scores(self.match.winner), minlength=statistics.NUM_PAIR_SCORES)

    @property
    def score(self) -> statistics.Rate:
        """The first agent's mean score per game, with its 95% interval from the variance between pairs.

        A test stops when the result looks clear, so it looks a little clearer than it is.
        """
        mean = float(self.counts @ statistics.MEAN_SCORES / self.counts.sum())
        margin = statistics.student_quantile(0.95, max(len(self.ratios) - 1, 1)) * math.sqrt(
            float(statistics.pair_variance(self.counts)) / self.counts.sum()
        )
        return statistics.Rate(mean, max(mean - margin, 0.0), min(mean + margin, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        elo = [statistics.score_to_elo(value) for value in self.score]
        summary = self.match.summary()
        return {
            "agents": {"first": self.match.agents[0], "second": self.match.agents[1]},
            "seed": self.match.seed,
            "test": {"model": "pentanomial", **asdict(self.test), "bounds": list(self.test.bounds)},
            "accepted": self.verdict,
            "log_likelihood_ratio": float(self.ratios[-1]),
            "games": len(self.match),
            "pairs": dict(zip(("0", "0.5", "1", "1.5", "2"), self.counts.tolist(), strict=True)),
            "score": self.score.value,
            "score_interval": list(self.score.interval),
            "elo": [value if math.isfinite(value) else None for value in elo],
            "first_as_alpha": asdict(summary.as_alpha),
            "first_as_bravo": asdict(summary.as_bravo),
            "failures": [failure.message for failure in self.match.failures],
        }

    def to_frame(self) -> Any:
        """Return a row for every pair as a ``pandas.DataFrame``: the first agent's points, and the log likelihood ratio.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        points = statistics.pair_scores(self.match.winner) / 2
        return to_frame({"pair": np.arange(len(points)), "points": points, "log_likelihood_ratio": self.ratios})


class SprtInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sequential test of which some games have been played.

    Attributes:
        result: what is known by then.
    """

    def __init__(self, result: SprtResult) -> None:
        super().__init__()
        self.result = result


def play_sprt(
    first: str | Agent,
    second: str | Agent,
    *,
    elo0: float = 0.0,
    elo1: float = 20.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    max_games: int = 20_000,
    seed: int | None = None,
    **options: Unpack[WorkerOptions],
) -> SprtResult:
    """Play two agents until a sequential probability ratio test accepts a hypothesis, see ``Sprt``.

    The games are those of ``play_match`` with the same seed, in its order, and the test is made after every pair: where
    it stops does not depend on the number of processes.

    Args:
        first: the agent whose Elo difference is tested; as ``play_tournament`` takes them.
        second: its opponent.
        elo0: the Elo difference of the first agent over the second under the null hypothesis.
        elo1: the larger one under the alternative.
        alpha: the probability, at most, of accepting ``elo1`` where ``elo0`` is true.
        beta: the probability, at most, of accepting ``elo0`` where ``elo1`` is true.
        config: see ``load_config``.
        overrides: see ``load_config``.
        max_games: after which the test gives up, an even number.
        seed: seed of the match; None takes a new one.
        **options: ``move_time``, ``processes``, ``executor``, ``progress``, see ``WorkerOptions``.

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: a user-defined agent cannot be made.
        ValueError: another argument is wrong.
        SprtInterrupted: Ctrl-C ended the test; it holds the result so far. ``KeyboardInterrupt`` before the first games.
    """
    test = statistics.Sprt(elo0, elo1, alpha, beta)
    pairs, seed = check_games(max_games) // 2, read_seed(seed)
    resolved = load_config(config, overrides)
    check_pair(first, second)
    results: list[MatchResult] = []
    versions = agent_version(first, resolved), agent_version(second, resolved)
    with Campaign([first, second], **options) as campaign:
        chunks = PlannedMatch((first, second), resolved, seed, campaign.move_time).chunks(pairs)
        try:
            with closing(campaign.play(chunks)) as played:
                for _, (result, *_) in in_order(played):
                    results.append(result)
                    scores = statistics.pair_scores(np.concatenate([result.winner for result in results]))
                    if test.run(scores)[0] is not None:
                        break
        except KeyboardInterrupt:
            if not results:
                raise
            raise SprtInterrupted(replace(_to_result(test, results, versions), is_interrupted=True)) from None
    return _to_result(test, results, versions)


def _to_result(test: statistics.Sprt, results: Sequence[MatchResult], versions: tuple[str, str]) -> SprtResult:
    """Return the result with the games up to the decision."""
    match = replace(join_results(results), versions=versions)
    verdict, num_pairs, ratios = test.run(statistics.pair_scores(match.winner))
    return SprtResult(test, replace(match, games=match.games[: 2 * num_pairs]), verdict, ratios)
