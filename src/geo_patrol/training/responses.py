"""How far an agent can be exploited: responses to it are trained or searched, and play again for their maximum.

The win rate of a response is a lower bound: more training may find more, and so may other starts, more seeds and a search.
``evaluation.exploitability`` computes best responses exactly, on games that are small enough.
"""

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geo_patrol.agents import Agent, make_agent
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.protocol import agent_name
from geo_patrol.agents.registry import as_agent
from geo_patrol.base.errors import show
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.evaluation.match import check_games
from geo_patrol.evaluation.results import to_frame
from geo_patrol.evaluation.statistics import Rate
from geo_patrol.evaluation.tournament import play_tournament

if TYPE_CHECKING:
    from rich.console import Console

    from geo_patrol.training import Evaluation, TrainingConfig

RANDOM_WEIGHTS = "nothing"
"""Stands for no policy among those to start from."""
_NUM_EVALUATIONS = 10
_FINAL_GAMES = 5  # times the games of an evaluation
_SEED_OFFSET = 500_000_000  # of the games that several responses play again
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class ExploitResult:
    """Responses to an agent, and what the best of them wins.

    Attributes:
        agent: name of the agent.
        config: configuration of the games.
        minutes: training time of each response.
        device: where they were trained.
        responses: each as plain data: its kind ("training" or "search"), name, seed, seconds and lower bound; of a training also
            the policy that it began with, whether it has a memory, its steps and its learning curve.
        lower_bound: win rate, interval, level of the interval and number of games of the best response. Where there are several,
            all of them have played new games, and the level of each of k intervals is 1 - 0.05 / k (Bonferroni's correction), so
            that all of them hold the true win rates with a probability of 95%, that of the best one included.
    """

    agent: str
    config: GameConfig
    minutes: float
    device: str
    responses: tuple[dict[str, Any], ...]
    lower_bound: dict[str, Any]

    def __repr__(self) -> str:
        return (
            f"<ExploitResult {self.agent}, {self.config.title}: {self.best['response']}\n"
            f" wins {Rate.from_dict(self.lower_bound)}>"
        )

    @property
    def best(self) -> dict[str, Any]:
        """The response with the highest win rate."""
        return _best(self.responses)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain data for JSON."""
        curve = _best([response for response in self.responses if response["kind"] == "training"])
        return {
            "agent": self.agent,
            "minutes": self.minutes,
            "device": self.device,
            **{name: curve[name] for name in ("begin", "memory", "seed", "curve")},
            "best": self.best["response"],
            "lower_bound": self.lower_bound,
            "responses": list(self.responses),
        }

    def to_frame(self) -> Any:
        """Return the learning curves as a ``pandas.DataFrame``: a row for every evaluation of every trained response.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        rows = []
        for response in self.responses:
            for point in response.get("curve", ()):
                low, high = point["win_interval"]
                numbers = {name: point[name] for name in ("minutes", "steps", "win_rate")}
                named = {name: response[name] for name in ("response", "begin", "memory", "seed")}
                rows.append({**named, **numbers, "win_rate_low": low, "win_rate_high": high})
        return to_frame(rows)


def exploit(
    agent: str | Agent,
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    minutes: float = 10.0,
    initial_policies: Sequence[str] = ("base",),
    seeds: int = 1,
    seed: int = 0,
    memory: bool = False,
    search: str | None = None,
    games: int = 400,
    device: str = "auto",
    threads: int = 1,
    executor: Executor | None = None,
    out: Path | str | None = None,
    console: "Console | None" = None,
) -> ExploitResult:
    """Train best responses to an agent, and measure what the best of them wins, as ``geo-patrol exploit`` does.

    Args:
        agent: its name, or a stateless ``Agent``, which has a single response. It does not learn.
        config: see ``load_config``.
        overrides: see ``load_config``.
        minutes: training time of each response.
        initial_policies: policies to start from, such as "base" or a file; "nothing" stands for random weights.
        seeds: number of responses from each of them.
        seed: the first seed.
        memory: also trains each of them with a memory of how often the agent gave each order in a game. If the agent draws one of
            several ways to play for each game, a response without one may miss which.
        search: lets a search that knows the agent play too; the time for a decision, such as "10ms".
        games: games of an evaluation, even; the final one plays five times that, and several responses play as many new ones.
        device: "auto", "cpu", "cuda" or "mps".
        threads: threads of PyTorch.
        executor: trains several responses and plays the search; None uses processes of this machine.
        out: folder of the responses, in which an interrupted call is continued; None keeps only the results.
        console: where progress is printed; standard output by default.

    Raises:
        ConfigError, PolicyError: a configuration, the device or a policy is wrong.
        MissingPackageError: PyTorch is not installed.
        KeyboardInterrupt: it was interrupted before the first evaluation.
        ValueError: another argument is wrong.
    """
    game_config = check_exploit(
        agent, config, overrides, minutes=minutes, initial_policies=initial_policies, search=search, games=games
    )
    if not isinstance(agent, str) and (search is not None or memory or len(initial_policies) * seeds > 1):
        raise ValueError(f"agent must be a name where several responses are made, got {show(agent)}")
    from geo_patrol.training import TrainingConfig  # noqa: PLC0415 - needs PyTorch

    with ExitStack() as stack:
        folder = Path(out or stack.enter_context(tempfile.TemporaryDirectory(prefix="geo_patrol-")))
        settings = TrainingConfig(
            out=folder,
            minutes=minutes,
            seed=seed,
            device=device,
            num_threads=threads,
            config=(game_config,),
            eval_config=game_config,
            eval_games=games,
            num_evaluations=_NUM_EVALUATIONS,
        )
        responses = _train(agent, _plan_runs(settings, initial_policies, seeds, memory=memory), executor, console)
        if search is not None:
            responses.append(_search(str(agent), search, initial_policies, settings, executor))
        if len(responses) > 1:
            again = settings.replace(seed=seed + _SEED_OFFSET)
            confidence = 1 - (1 - _CONFIDENCE) / len(responses)
            for response in responses:
                response["lower_bound"] = _measure(
                    response["response"], str(agent), response["lower_bound"]["games"], again, executor, confidence
                )
    best = _best(responses)
    return ExploitResult(agent_name(agent), game_config, minutes, device, tuple(responses), best["lower_bound"])


def check_exploit(
    agent: str | Agent,
    config: ConfigSource,
    overrides: Overrides | None,
    *,
    minutes: float,
    initial_policies: Sequence[str],
    search: str | None,
    games: int,
) -> GameConfig:
    """Check arguments before PyTorch is imported, and return the game's configuration.

    Raises:
        ConfigError: the configuration is wrong.
        ValueError: another argument is wrong.
    """
    if not 0 < minutes <= 10_000:
        raise ValueError(f"minutes must be more than 0 and at most 10,000, got {minutes:g}")
    if not initial_policies or len(set(initial_policies)) < len(initial_policies):
        raise ValueError(
            "policies to start from must be named once each, and seeds are how many of each, "
            f"got {', '.join(initial_policies)}"
        )
    as_agent(agent, "agent")
    for policy in initial_policies:
        if policy != RANDOM_WEIGHTS and "memory" in PolicyAgent(policy).weights:
            raise ValueError(f"policies to start from must be without a memory, and {policy!r} has one")
    if search is not None:
        make_agent(_name_search(str(agent), search, initial_policies))
    check_games(games)
    return load_config(config, overrides)


def _plan_runs(
    settings: "TrainingConfig", initial_policies: Sequence[str], seeds: int, *, memory: bool
) -> "list[TrainingConfig]":
    """Return the settings of a run from each policy with each seed, in folders of their own if there are several.

    With ``memory``, there are two of each: one without a memory and one with it.
    """
    runs = []
    for number, policy in enumerate(initial_policies):
        for seed in range(settings.seed, settings.seed + seeds):
            names = [f"from{number}"] * (len(initial_policies) > 1) + [f"seed{seed}"] * (seeds > 1)
            initial_policy = None if policy == RANDOM_WEIGHTS else policy
            for remembers in (False, True) if memory else (False,):
                out = settings.out / "-".join(names + ["memory"] * remembers)
                runs.append(settings.replace(seed=seed, out=out, initial_policy=initial_policy, memory=remembers))
    return runs


def _train(
    agent: str | Agent, runs: "list[TrainingConfig]", executor: Executor | None, console: "Console | None"
) -> list[dict[str, Any]]:
    """Train a run in this process; several, or those on a cluster, on an executor. Return the results as JSON data."""
    from geo_patrol.training import train_best_response, train_runs  # noqa: PLC0415 - needs PyTorch

    if len(runs) == 1 and executor is None:
        curves = [train_best_response(agent, runs[0], console)]
    else:
        curves = train_runs(runs, str(agent), executor=executor, console=console)
    if not curves[0]:
        raise KeyboardInterrupt  # before the first evaluation
    return [_report_run(agent_name(agent), run, curve) for run, curve in zip(runs, curves, strict=True)]


def _name_search(agent: str, budget: str, initial_policies: Sequence[str]) -> str:
    """Return the name of a search whose enemy is the agent; the agent proposes its orders too if it is a policy."""
    policies = [f"policy:{name}" for name in (*initial_policies, "base") if name != RANDOM_WEIGHTS]
    proposer = agent if agent.partition(":")[0] == "policy" else policies[0]
    return f"search:{budget},enemy={agent},propose={proposer}"


def _search(
    agent: str, budget: str, initial_policies: Sequence[str], settings: "TrainingConfig", executor: Executor | None
) -> dict[str, Any]:
    """Let a search that knows the agent play against it, and return the results as JSON data."""
    name, start = _name_search(agent, budget, initial_policies), time.perf_counter()
    bound = _measure(name, agent, settings.eval_games, settings, executor)
    seconds = time.perf_counter() - start
    return {"kind": "search", "response": name, "seed": settings.seed, "seconds": seconds, "lower_bound": bound}


def _best(responses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return max(responses, key=lambda response: response["lower_bound"]["win_rate"])


def _measure(
    response: str,
    agent: str,
    games: int,
    settings: "TrainingConfig",
    executor: Executor | None = None,
    confidence: float = _CONFIDENCE,
) -> dict[str, Any]:
    """Play games of a response, and return its win rate as JSON data."""
    tournament = play_tournament(
        [response, agent], config=settings.eval_config, games=games, seed=settings.seed, executor=executor
    )
    result = tournament.record(0, 1, confidence=confidence)
    return {**result.won.to_dict(), "confidence": confidence, "games": result.games}


def _report_run(agent: str, run: "TrainingConfig", curve: "Sequence[Evaluation]") -> dict[str, Any]:
    """Return the results of a training as JSON data."""
    last = curve[-1]
    # A training that was interrupted ends with a short evaluation.
    is_final = last.minutes >= round(run.minutes, 3)
    games = (_FINAL_GAMES if is_final else 1) * run.eval_games
    return {
        "kind": "training",
        "response": f"policy:{run.out / 'policy.safetensors'}",
        "begin": run.initial_policy or RANDOM_WEIGHTS,
        "memory": run.memory,
        "seed": run.seed,
        "seconds": 60 * last.minutes,
        "steps": last.steps,
        "lower_bound": {**last.win_rates[agent].to_dict(), "confidence": _CONFIDENCE, "games": games},
        "curve": [
            {"minutes": point.minutes, "steps": point.steps, **point.win_rates[agent].to_dict()} for point in curve
        ],
    }
