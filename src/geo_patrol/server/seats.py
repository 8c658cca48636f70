"""Seats of a table: who may play them, and their secrets."""

import hashlib
import hmac
import secrets
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from geo_patrol.agents import Agent, make_agent
from geo_patrol.agents.isolation.guard import is_own_agent, seat_agent
from geo_patrol.agents.policy.agent import GREEDY
from geo_patrol.agents.policy.weights import shipped_names
from geo_patrol.agents.search import Searcher
from geo_patrol.agents.search.budget import read_budget, read_search
from geo_patrol.errors import show
from geo_patrol.server.protocol import ProtocolError

_MAX_SEARCH_SECONDS, _MAX_ROLLOUTS = 2.0, 2_000
"""For one decision of an agent that a stranger names."""
_SCRIPTS = ("random", "idle", "turtle", "raider", "mixed", "scripted")
"""Agents whose parameters name neither files nor other agents."""


class Seat(BaseModel):
    """A seat as it is saved: its secret only as a hash.

    Attributes:
        kind: "agent", or for people "open", which anybody may take, or "taken", which needs its secret.
        name: of the agent, or what the person wants to be called.
        secret_hash: SHA-256 of the secret, as hexadecimal digits; "" without one.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["agent", "open", "taken"]
    name: Annotated[str, StringConstraints(max_length=200)]
    secret_hash: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""

    def accepts(self, secret: str) -> bool:
        """Return whether a secret is the seat's, in a time that does not depend on it."""
        return self.kind == "taken" and accepts(self.secret_hash, secret)

    def take(self) -> str:
        """Take the seat; return its new secret, which is not stored."""
        secret = secrets.token_urlsafe(24)
        self.kind, self.secret_hash = "taken", hash_secret(secret)
        return secret

    def leave(self) -> None:
        """Leave the seat open for others; its secret is void."""
        self.kind, self.secret_hash = "open", ""


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret: SHA-256, as hexadecimal digits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def accepts(secret_hash: str, secret: str) -> bool:
    """Return whether a secret has a hash, in a time that does not depend on it."""
    return hmac.compare_digest(secret_hash, hash_secret(secret))


def make_seat_agent(name: str, own_agents: frozenset[str]) -> Agent:
    """Make the agent that somebody names for a seat.

    Args:
        name: a name of the package's agents, or one of ``own_agents``.
        own_agents: names of users' own agents that the operator of the server allows; each plays in a process of its own.
            Policies in files are among them.

    Raises:
        ProtocolError: there is no agent of that name, or it takes too long, with the code "bad_message".
    """
    if name in own_agents:
        return seat_agent(name)
    if is_own_agent(name):
        raise ProtocolError("bad_message", f"agent {name!r}: this server does not run agents of users' own")
    try:
        _check_without_files(name)
        agent = make_agent(name)
    except ValueError as error:
        raise ProtocolError("bad_message", str(error)) from None
    if isinstance(agent, Searcher):
        seconds, rollouts = read_budget(agent.search)
        if seconds > _MAX_SEARCH_SECONDS or rollouts > _MAX_ROLLOUTS:
            raise ProtocolError(
                "bad_message", f"agent {name!r}: give at most {_MAX_SEARCH_SECONDS} s or {_MAX_ROLLOUTS:,} rollouts"
            )
    return agent


def _check_without_files(name: str) -> None:
    """Raise ProtocolError if an agent, or one that it names, is read from a file: files of the server are no client's."""
    base, _, text = name.partition(":")
    if base == "search":
        search = read_search(text) if text else None
        for other in filter(None, (search.propose, search.enemy) if search else ()):
            _check_without_files(other)
    elif base not in _SCRIPTS and not (base == "policy" and text.removesuffix(GREEDY) in ("", *shipped_names())):
        policies = ", ".join(f"policy:{one}" for one in shipped_names())
        text = f"this server plays {', '.join(_SCRIPTS)}, search, {policies}"
        raise ProtocolError("bad_message", f"agent {show(name)}: {text}")
