"""Agents by name: ``make_agent``, and the names that it knows."""

from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.files import local_name, with_absolute_paths
from geo_patrol.agents.levels import LevelAgent
from geo_patrol.agents.loading import load_agent, split_location
from geo_patrol.agents.networks import is_network, load_network
from geo_patrol.agents.policy import GREEDY, MemoryAgent, MixtureAgent, PolicyAgent, read_policy
from geo_patrol.agents.protocol import Agent, check_agent
from geo_patrol.agents.scripted import MixedAgent, Raid, ScriptedAgent, ScriptedStyle, TurtleAgent, make_raider
from geo_patrol.agents.scripted.script import read_parameters
from geo_patrol.agents.search import Critic, LookaheadAgent, Search, SearchAgent, read_search, split_search
from geo_patrol.agents.solved import read_solved
from geo_patrol.base.errors import AgentError, suggest
from geo_patrol.config.schema import GameConfig


class _AgentKind(NamedTuple):
    """A name of the registry."""

    make: Callable[..., Agent]
    about: str
    """What the agent does, in a clause for people who do not know the package."""
    parameters: type[Any] | None = None
    """What ``make`` takes, if the name has parameters: a NamedTuple of them, or ``str``, the text after the colon as it is."""


def _make_search(text: str | None = None) -> Agent:
    """Make a searching agent from the text after the colon, with the agents that it names."""
    search = Search() if text is None else read_search(text)
    proposer = _make_builtin(search.propose) if search.propose else None
    enemy = _make_builtin(search.enemy) if search.enemy else None
    if isinstance(proposer, Critic):
        return LookaheadAgent(search, proposer, enemies=None if enemy is None else [(enemy, 1.0)])
    return SearchAgent(search, models=None if enemy is None else [enemy], proposer=proposer)


_ENTRIES: dict[str, _AgentKind] = {
    "random": _AgentKind(RandomAgent, "gives legal orders at random"),
    "idle": _AgentKind(IdleAgent, "gives no orders, so that everything drifts"),
    "turtle": _AgentKind(TurtleAgent, "guards its own HVA with all Patrols, and does nothing else"),
    "raider": _AgentKind(make_raider, "sends all Patrols but a few against the enemy HVA", Raid),
    "mixed": _AgentKind(MixedAgent, "plays every game as a raider with other parameters"),
    "scripted": _AgentKind(
        ScriptedAgent, "follows rules written by hand: it guards its own HVA and raids the enemy's", ScriptedStyle
    ),
    "search": _AgentKind(_make_search, "tries orders by playing the game on from there, and chooses the best", str),
    "policy": _AgentKind(read_policy, "plays by a neural network that has learned by playing against itself", str),
    "level": _AgentKind(
        LevelAgent, "an opponent for people: the network of policy, which misses orders now and then", str
    ),
    "solved": _AgentKind(read_solved, "plays an equilibrium of a game that was solved exactly", str),
}


def agent_names() -> tuple[str, ...]:
    """Return the names of the built-in agents."""
    return tuple(_ENTRIES)


def describe_agent(name: str) -> str:
    """Return what an agent does, in a clause for people, from its name; of any that is not built in, that it is a user's."""
    kind = _ENTRIES.get(name.partition(":")[0])
    return "an agent of the user" if kind is None or is_user_defined(name) else kind.about


def is_builtin(name: str) -> bool:
    """Tell whether a name, parameters included, is that of a built-in agent."""
    return name.partition(":")[0] in _ENTRIES


def is_user_defined(name: str) -> bool:
    """Tell whether a name leads to a user's file or module, a network's included. A name that is wrong may be neither."""
    return is_network(name) or (split_location(name) is not None and not is_builtin(name))


def absolute_name(name: str) -> str:
    """Return an agent's name with absolute paths in it, by which it names the same agent in any working directory.

    A module of the working directory, ``module:Name``, becomes its file; modules of packages keep their names.
    """
    module, _, attribute = name.partition(":")
    file = Path(f"{module}.py").absolute()
    if is_user_defined(name) and not is_network(name) and module.isidentifier() and file.is_file():
        found = PathFinder.find_spec(module)
        if found is None or found.origin == str(file):
            return f"{file}:{attribute}"
    return with_absolute_paths(name)


def make_agent(name: str) -> Agent:
    """Make an agent from its name, such as ``random``, or from name and parameters, such as ``raider:defenders=2``.

    A user-defined agent is named by its location, ``file.py:Name`` or ``module:Name``; making it runs its code, see
    ``load_agent``. A user's network is named by its file, ``onnx:net.onnx`` or ``torch:file.py:make``, see
    ``load_network``.

    Raises:
        ValueError: there is no agent of that name, or a parameter is wrong.
    """
    name = local_name(str(name))
    if not is_user_defined(name):
        return _make_builtin(name)
    try:
        name.encode()
    except UnicodeEncodeError:  # results, replays and random streams are made with names
        raise AgentError(f"agent {name!r}: its name must be text, and has bytes that are none in this locale") from None
    return load_network(name) if is_network(name) else load_agent(name, agent_names())


def as_agent(agent: str | Agent, what: str) -> Agent:
    """Return an agent that is given by its name, or as it is.

    Args:
        agent: its name, see ``make_agent``, or the agent.
        what: how messages refer to it.

    Raises:
        ValueError: it is neither.
    """
    return check_agent(make_agent(agent) if isinstance(agent, str) else agent, what)


def _make_builtin(name: str) -> Agent:
    """Make a built-in agent. A name inside a name, possibly from an untrusted file, never runs user code."""
    base, colon, text = str(name).partition(":")
    if base not in _ENTRIES:
        hint = suggest(base, _ENTRIES) or "."
        raise ValueError(f"there is no agent {name!r}{hint} The agents are: {', '.join(_ENTRIES)}.")
    entry = _ENTRIES[base]
    if not colon:
        return entry.make()
    if entry.parameters is None:
        raise ValueError(f"agent {name!r}: {base!r} takes no parameters")
    return entry.make(text if entry.parameters is str else read_parameters(name, text, entry.parameters))


def fix_network(agent: str | Agent, config: GameConfig) -> str | Agent:
    """Return an agent whose network does not change with the rules: the one that plays games of a configuration plays all.

    It concerns policies whose file holds several networks, such as ``policy:base``, wherever an agent's name has one, and
    ``PolicyAgent`` and ``LevelAgent``. One that names a network, or ``network=rules``, stays as it is, and so do all other agents.

    Raises:
        ValueError: there is no such built-in agent.
    """
    if not isinstance(agent, str):
        if isinstance(agent, LevelAgent):
            return make_agent(str(fix_network(agent.name, config)))
        return agent.with_network_for(config) if isinstance(agent, PolicyAgent) else agent
    base, colon, text = agent.partition(":")
    if base == "search":
        own, nested = split_search(text)
        return "".join([base, colon, own, *(f"{before}{fix_network(name, config)}" for before, name in nested)])
    made = read_networks(agent)
    if not isinstance(made, PolicyAgent) or made.with_network_for(config) is made:
        return agent
    chosen = f",network={made.with_network_for(config).network}"
    text, greedy = text.removesuffix(GREEDY), GREEDY if text.endswith(GREEDY) else ""
    return f"{base}:{text or ('base' if base == 'policy' else 'telstar')}{chosen}{greedy}"


def network_version(agent: str | Agent, config: GameConfig, read: Callable[[str], Agent | None] | None = None) -> str:
    """Return which networks an agent plays games of a configuration with, see ``PolicyAgent.version``; "" without any.

    Args:
        agent: an agent's name, or an agent.
        config: the configuration.
        read: ``read_networks``, or a function that keeps what it returned.

    Raises:
        ValueError: there is no such built-in agent.
    """
    if isinstance(agent, str) and agent.startswith("search:"):
        found = [network_version(name, config, read) for _, name in split_search(agent.partition(":")[2])[1]]
        return "; ".join(dict.fromkeys(filter(None, found)))
    made = (read or read_networks)(agent) if isinstance(agent, str) else agent
    if isinstance(made, LevelAgent | MemoryAgent):
        made = made.policy
    if isinstance(made, MixtureAgent):
        return f"{len(made.policies)} networks, drawn by chance"
    return made.version(config) if isinstance(made, PolicyAgent) else ""


def read_networks(name: str) -> Agent | None:
    """Return the policy that an agent's name is made of; None without one.

    Raises:
        ValueError: there is no such policy.
    """
    if name.partition(":")[0] not in ("policy", "level"):
        return None
    agent = make_agent(name)
    return agent.policy if isinstance(agent, LevelAgent) else agent
