"""``geo-patrol exploit --exact``: best responses by backward induction, on games small enough to be solved."""

import time
from typing import TYPE_CHECKING, Any

from geo_patrol.cli.errors import bad_input
from geo_patrol.cli.output import STDOUT, check_output, plain_table, print_heading, write_json
from geo_patrol.versions import versions

if TYPE_CHECKING:
    from geo_patrol.evaluation import Exploitability


def exploit_exactly(agent: str, config: str, overrides: list[str] | None, json: str | None) -> None:
    """Compute what best responses to an agent achieve, and report it."""
    from geo_patrol.agents import make_agent
    from geo_patrol.agents.policy import MixtureAgent
    from geo_patrol.config.presets import load_config
    from geo_patrol.evaluation import ExactBoard
    from geo_patrol.evaluation.executors import usable_cores
    from geo_patrol.solving import Limits

    with bad_input():
        player, resolved = make_agent(agent), load_config(config, overrides)
    check_output(json)
    start = time.perf_counter()
    found = ExactBoard(resolved, Limits(threads=usable_cores())).exploitability(player)
    seconds = time.perf_counter() - start
    is_bound = isinstance(player, MixtureAgent)
    data: dict[str, Any] = {
        "format": "geo_patrol exploit exact",
        "version": 1,
        "versions": versions(),
        "agent": agent,
        "config": {"source": config, "overrides": overrides or [], "values": resolved.to_dict()},
        "seconds": seconds,
        "upper_bound": is_bound,
        "exploitability": {reward: _report(result) for reward, result in found.items()},
    }
    write_json(json, data)
    if json != STDOUT:
        kind = "an upper bound: they know which policy was drawn" if is_bound else "exact"
        console = print_heading(
            f"Best responses to {agent}", f"{resolved.title} ({config}), {kind}, from alpha's view, {seconds:.1f} s"
        )
        table = plain_table("reward", numbers=("agent as alpha", "agent as bravo", "exploitability"))
        for reward, result in found.items():
            table.add_row(reward, *(f"{value + 0.0:+.4f}" for value in _rounded(result)), f"{abs(result.mean):.4f}")
        console.print(table)


def _rounded(result: "Exploitability") -> list[float]:
    return [round(value, 9) + 0.0 for value in (result.as_alpha, result.as_bravo)]


def _report(result: "Exploitability") -> dict[str, float]:
    return {"as_alpha": result.as_alpha, "as_bravo": result.as_bravo, "mean": result.mean}
