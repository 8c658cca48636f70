"""Who plays the games of a study: which of its networks a policy plays with, in which cell."""

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import fix_network, read_networks
from geo_patrol.base.sides import SIDES
from geo_patrol.evaluation.campaign import agent_version
from geo_patrol.studies.answers import Cell, Pair
from geo_patrol.studies.factors import short_pair
from geo_patrol.studies.plan import StudyPlan

Seats: TypeAlias = Mapping[Pair, tuple[str | Agent, str | Agent]]
"""The agents of every pair of names."""
_MAX_LISTED = 6


class StudyAgents:
    """The agents of a study.

    A policy whose file holds several networks plays with the one for the study's base scenario, whatever factors and questions
    change: otherwise a difference between two cells might be one between two networks. The base scenario is the first one
    that is made from the same configuration. ``policy:base,network=3`` names another network, and with
    ``policy:base,network=rules`` the rules of every game decide, as in a match.

    Args:
        plan: the study.
        seats: the agents, where they are not given by name.
    """

    def __init__(self, plan: StudyPlan, seats: Seats | None = None) -> None:
        self._plan = plan
        self._given: Seats = {pair: pair for pair in plan.file.agents} if seats is None else seats
        sources = [scenario.source for scenario in plan.scenarios]
        self._bases = [plan.scenarios[sources.index(source)].config for source in sources]
        self._fixed: dict[tuple[int, Pair], tuple[str | Agent, str | Agent]] = {}
        self._versions: dict[tuple[int, str | int], str] = {}
        self._read = cache(read_networks)

    def seats(self, cell: Cell, pair: Pair) -> tuple[str | Agent, str | Agent]:
        """Return the agents that play alpha and bravo in a cell, each with its network."""
        place = cell.scenario, pair
        if place not in self._fixed:
            base, (alpha, bravo) = self._bases[cell.scenario], self._given[pair]
            fixed = fix_network(alpha, base)
            self._fixed[place] = fixed, fixed if bravo is alpha else fix_network(bravo, base)
        return self._fixed[place]

    def versions(self, cell: Cell, pair: Pair) -> tuple[str, str]:
        """Return what plays alpha and bravo in a cell beyond their names: networks, or digests of the agents' files; or ""."""
        alpha, bravo = self.seats(cell, pair)
        return self._version(alpha, cell), self._version(bravo, cell)

    def _version(self, agent: str | Agent, cell: Cell) -> str:
        if _goes_by_rules(agent):
            return agent_version(agent, self._plan.config(cell), self._read)
        key = cell.scenario, agent if isinstance(agent, str) else id(agent)
        if key not in self._versions:
            self._versions[key] = agent_version(agent, self._bases[cell.scenario], self._read)
        return self._versions[key]


def _goes_by_rules(agent: str | Agent) -> bool:
    name = agent if isinstance(agent, str) else agent.name
    return ",network=rules" in name


def describe_changes(plan: StudyPlan, versions: Mapping[tuple[int, int], tuple[str, str]]) -> tuple[str, ...]:
    """Return a warning for every pair of agents of which other networks play in other cells.

    Args:
        plan: the study.
        versions: by the indices of a cell and a pair, see ``StudyAgents.versions``.
    """
    warnings = []
    for index, pair in enumerate(plan.file.agents):
        cells: dict[tuple[str, str], list[str]] = {}
        for number, cell in enumerate(plan.cells):
            if (number, index) in versions:
                cells.setdefault(versions[number, index], []).append(plan.describe(cell))
        if len(cells) > 1:
            listed = "; ".join(f"{join_versions(each)} with {_list_cells(where)}" for each, where in cells.items())
            warnings.append(
                f"With {short_pair(pair)}, other networks play in other cells: {listed}. Differences between these cells"
                " are differences between networks too."
            )
    return tuple(warnings)


def join_versions(versions: tuple[str, str]) -> str:
    """Return what plays beyond the names of a pair, for people: "network 3 of 7 (54e53de7)"; "" if there is nothing."""
    alpha, bravo = versions
    if alpha == bravo:
        return alpha
    return ", ".join(f"{side}: {each}" for side, each in zip(SIDES, versions, strict=True) if each)


def _list_cells(descriptions: list[str]) -> str:
    shown = descriptions if len(descriptions) <= _MAX_LISTED else descriptions[: _MAX_LISTED - 1]
    more = len(descriptions) - len(shown)
    return " or ".join(shown) + (f" or in {more:,} more cells" if more else "")


def version_columns(versions: tuple[str, str]) -> dict[str, str]:
    """Return the columns of a table that say what plays beyond the names of agents."""
    return {f"{side}_version": version for side, version in zip(SIDES, versions, strict=True)}
