"""Agents' names as tables and pictures have room for them."""

from collections.abc import Sequence
from pathlib import PurePath

from geo_patrol.agents.isolation.guard import is_own_agent


def short_names(names: Sequence[str]) -> list[str]:
    """Leave files and modules of users' own agents away, or their folders, as far as that leaves no two alike."""
    for shorten in (_class_alone, _without_folders):
        short = [shorten(name) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def _class_alone(name: str) -> str:
    return name.rpartition(":")[2] if is_own_agent(name) else name


def _without_folders(name: str) -> str:
    home, _, attribute = name.rpartition(":")
    return f"{PurePath(home).name}:{attribute}" if is_own_agent(name) else name
