"""Short names of agents for tables and plots."""

from collections.abc import Sequence
from pathlib import PurePath

from geo_patrol.agents.isolation.guard import is_own_agent


def short_names(names: Sequence[str]) -> list[str]:
    """Drop the files and modules of users' own agents, or their folders, as long as all names stay different."""
    for shorten in (_class_only, _without_folders):
        short = [shorten(name) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def _class_only(name: str) -> str:
    return PurePath(name.rpartition(":")[2]).name if is_own_agent(name) else name


def _without_folders(name: str) -> str:
    home, _, attribute = name.rpartition(":")
    return f"{PurePath(home).name}:{attribute}" if is_own_agent(name) else name
