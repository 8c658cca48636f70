"""The parameters of scripts of the raiding family, and their records for compiled code."""

from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from geo_patrol.agents.scripted.valuation import Fraction
from geo_patrol.engine.state import PATROLS, Record, Records, records

TACTICS = np.dtype(
    [
        ("raids", "i8"),  # 1: Patrols leave for the enemy HVA and attack, 0: they guard and do nothing else
        ("defenders", "i8"),
        ("is_quick", "i8"),
        ("reach", "i8"),  # IN_SECTOR or NEARBY
        ("patrols_first", "i8"),
        ("lead", "f8"),
        ("dodge", "f8"),
    ],
    align=True,
)
"""Tactics as a record."""


class Raid(NamedTuple):
    """The parameters of a raider."""

    defenders: Annotated[int, Field(ge=0, le=PATROLS)] = 6
    """How many Patrols stay at home."""
    path: Literal["quick", "cheap"] = "quick"
    """Whether raiders take the turn of arrival that is next or the one that costs least."""
    reach: Literal["sector", "adjacent"] = "adjacent"
    """Whether they attack in the sector of the enemy HVA alone, or from an adjacent one too."""
    first: Literal["hva", "patrols"] = "hva"
    """Whether shots are saved for the enemy HVA, or fired at enemy Patrols that come into the same sector."""
    lead: Fraction = 0.5
    """The probability that raiders expect the enemy HVA to give way in the turn of the strike."""
    dodge: Fraction = 0.0
    """The probability that the own HVA gives way when it can be attacked in this turn."""


def write_raid(raid: Raid, tactics: Record) -> None:
    """Write a raider's parameters as a record."""
    tactics.raids = 1
    tactics.defenders = raid.defenders
    tactics.is_quick = raid.path == "quick"
    tactics.reach = raid.reach == "adjacent"
    tactics.patrols_first = raid.first == "patrols"
    tactics.lead, tactics.dodge = raid.lead, raid.dodge


def raid_tactics(*raids: Raid) -> Records:
    """Return the parameters of raiders as records."""
    tactics = records(TACTICS, len(raids))
    for i, raid in enumerate(raids):
        write_raid(raid, tactics[i])
    return tactics


def turtle_tactics() -> Records:
    """Return the parameters of a turtle as one record."""
    tactics = records(TACTICS, 1)
    tactics["defenders"] = PATROLS
    return tactics


RAID_CHOICES: dict[str, tuple[Any, ...]] = {
    "defenders": tuple(range(7)),
    "path": ("quick", "cheap"),
    "reach": ("sector", "adjacent"),
    "first": ("hva", "patrols"),
    "lead": (0.0, 0.5, 1.0),
    "dodge": (0.0, 0.5, 1.0),
}
"""The values from which ``mixed`` samples the parameters of a raider, uniformly."""


def sample_raid(generator: np.random.Generator) -> Raid:
    """Sample the parameters of a raider."""
    return Raid(**{name: choices[generator.integers(len(choices))] for name, choices in RAID_CHOICES.items()})
