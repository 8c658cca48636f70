"""A search for scripts that beat an agent: ``python -m research.parameter_search policy:base``.

Half of the candidates are raiders and half are ``scripted``, each with parameters of its own. Those of the first
generation are random; later ones combine the parameters of the best candidates so far. All play the same games, and
the best play again with another seed, because the games that chose them flatter them.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is used: docs/train/training.md, Threads

import numpy as np
import typer

from geo_patrol import play_match
from geo_patrol.agents.scripted import Raid, ScriptedStyle
from geo_patrol.agents.scripted.script import describe_parameters
from geo_patrol.base.versions import versions
from geo_patrol.cli.output import plain_errors
from geo_patrol.engine.state import PATROLS
from geo_patrol.evaluation.statistics import Rate

GENERATIONS = 4
PARENTS = 10
"""The best candidates so far of a family, whose parameters the next generation combines."""
MUTATION_PROBABILITY = 0.2
"""That a parameter is sampled anew instead of taken from a parent."""
_SEED_OFFSET = 500_000_000  # of the games that the best play again

Sampler = Callable[[np.random.Generator], Any]


def _uniform(low: float, high: float) -> Sampler:
    return lambda rng: round(float(rng.uniform(low, high)), 3)


def _log_uniform(low: float, high: float) -> Sampler:
    return lambda rng: round(float(np.exp(rng.uniform(np.log(low), np.log(high)))), 3)


def _choice(*values: Any) -> Sampler:
    return lambda rng: values[rng.integers(len(values))]


FAMILIES: dict[str, tuple[type[Any], dict[str, Sampler]]] = {
    "raider": (
        Raid,
        {
            "defenders": _choice(*range(PATROLS + 1)),
            "path": _choice("quick", "cheap"),
            "reach": _choice("sector", "adjacent"),
            "first": _choice("hva", "patrols"),
            "lead": _uniform(0, 1),
            "dodge": _uniform(0, 1),
        },
    ),
    "scripted": (
        ScriptedStyle,
        {
            **dict.fromkeys(("home_share", "threshold", "trust", "lead", "foresight"), _uniform(0, 1)),
            "defenders_per_raider": _uniform(0, 2),
            "dodge": _uniform(0, 1.2),
            "haste": _log_uniform(0.5, 30),
            "premium": _log_uniform(1, 100),
            "temperature": _log_uniform(0.5, 30),
            "ending": _log_uniform(5, 300),
            "danger": _log_uniform(0.5, 30),
        },
    ),
}
"""The parameters of each family, and from what a search samples them."""


def sample_candidate(family: str, parents: Sequence[Any], rng: np.random.Generator) -> Any:
    """Return the parameters of a candidate: of random parents each, or sampled anew; all sampled if there are none."""
    kind, samplers = FAMILIES[family]
    values = {}
    for name, sample in samplers.items():
        is_new = not parents or rng.random() < MUTATION_PROBABILITY
        values[name] = sample(rng) if is_new else getattr(parents[rng.integers(len(parents))], name)
    return kind(**values)


def play(candidate: str, agent: str, config: str, games: int, seed: int) -> dict[str, Any]:
    """Let a candidate play the agent, sides swapped, and return its results as JSON data."""
    total = play_match(candidate, agent, config=config, games=games, seed=seed).summary().total
    return {"candidate": candidate, "games": games, "seed": seed, **total.won.to_dict()}


def search(agent: str, config: str, candidates: int, games: int, seed: int) -> list[dict[str, Any]]:
    """Return the results of all candidates, the best first."""
    rng = np.random.default_rng(seed)
    found: dict[str, tuple[str, Any]] = {}
    results: list[dict[str, Any]] = []
    for generation in range(GENERATIONS):
        generated = candidates * (generation + 1) // GENERATIONS
        ranked = [found[result["candidate"]] for result in results]
        parents = {family: [p for kind, p in ranked if kind == family][:PARENTS] for family in FAMILIES}
        new: dict[str, tuple[str, Any]] = {}
        while len(found) + len(new) < generated:
            family = list(FAMILIES)[len(new) % len(FAMILIES)]
            parameters = sample_candidate(family, parents[family], rng)
            name = describe_parameters(family, parameters)
            if name not in found:
                new[name] = family, parameters
        found |= new
        results += [play(name, agent, config, games, seed) for name in new]
        results.sort(key=lambda result: -result["win_rate"])
        best = results[0]
        print(f"{len(results)} candidates, the best wins {best['win_rate']:.1%}: {best['candidate']}", flush=True)
    return results


def main(
    agent: Annotated[str, typer.Argument(help="The agent that is to be beaten.")] = "policy:base",
    config: Annotated[str, typer.Option(help="Preset to play.")] = "geo_patrol",
    candidates: Annotated[int, typer.Option(min=GENERATIONS, help="Scripts that are tried.")] = 200,
    games: Annotated[int, typer.Option(min=2, help="Games of each candidate.")] = 400,
    best: Annotated[int, typer.Option(min=1, help="How many of the best play again.")] = 5,
    final_games: Annotated[int, typer.Option(min=2, help="Games of each of the best.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of candidates and games.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all results to this file.")] = None,
) -> None:
    """Search for parameters of raiders and of ``scripted`` that win against an agent."""
    results = search(agent, config, candidates, games, seed)
    chosen = [result["candidate"] for result in results[:best]]
    final = [play(candidate, agent, config, final_games, seed + _SEED_OFFSET) for candidate in chosen]
    for result in final:
        print(f"{Rate.from_dict(result)} of {final_games:,} games: {result['candidate']}")
    if json_file is not None:
        data = {"agent": agent, "config": config, "versions": versions(), "best": final, "candidates": results}
        json_file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with plain_errors():
        typer.run(main)
