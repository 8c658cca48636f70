"""What the forms of the lobby offer: games and agents, with what is said of them."""

from collections.abc import Iterable
from functools import cache

from geo_patrol.agents.difficulty import DIFFICULTIES
from geo_patrol.config.preset_files import preset_names
from geo_patrol.config.presets import load_config

Offer = tuple[str, str, str]
"""A value, what it is called, and a sentence about it."""
_OTHER_AGENTS = {
    "search": "plays candidate orders out to the end of the game, for a hundredth of a second",
    "search:1s": "plays candidate orders out as well, for a whole second",
    "raider": "sends all Patrols but a few to the enemy HVA at once",
    "mixed": "a raider that plays differently in every game",
    "idle": "gives no orders",
    "random": "gives every satellite a random order",
}


@cache
def game_offers() -> list[Offer]:
    """Return the presets, the usual one first."""
    names = sorted(preset_names(), key=lambda name: name != "geo_patrol")
    configs = {name: load_config(name) for name in names}
    return [(name, config.title, config.description) for name, config in configs.items()]


def opponent_offers() -> list[Offer]:
    """Return the opponents for people who do not know the agents, the easiest first."""
    return [(one.agent, f"{one.name} ({one.agent})", f"{one.agent}: {one.summary}") for one in DIFFICULTIES]


def agent_offers(own_agents: Iterable[str]) -> list[Offer]:
    """Return the agents that may be named for a seat, with those that the operator of the server allows."""
    others = [(name, name, f"{name}: {note}") for name, note in _OTHER_AGENTS.items()]
    own = [(name, name, "an agent of whoever runs this server") for name in sorted(own_agents)]
    return [*opponent_offers(), *others, *own]
