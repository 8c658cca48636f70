"""The raw figures of a run, and what is worked out of them."""

import statistics
from typing import NamedTuple

from pydantic import BaseModel


class Machine(BaseModel):
    """What was measured on, and with."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    versions: dict[str, str]
    load: float | None
    """How busy the machine was before the run: processes that wanted to run, over a minute."""
    is_pinned: bool
    """Whether every process was held on as many cores as it has threads."""


class Point(BaseModel):
    """A contestant with a batch size, over all rounds; without figures if it is missing."""

    name: str
    title: str
    batch: int
    threads: int
    includes: str
    is_peer: bool
    missing: str | None = None
    agent_steps: int = 0
    env_steps: int = 0
    payload: int = 0
    ended: float | None = None
    steps_per_second: list[float] = []
    """Steps of the whole batch, round by round."""
    cores: list[float] = []
    """Seconds of processor time in a second, round by round."""


class Startup(BaseModel):
    """Seconds from nothing to the first step, each in a fresh interpreter."""

    imports: list[tuple[float, float]] = []
    """``import geo_patrol``, and the libraries under it together; round by round."""
    warm: list[float] = []
    """From the end of ``import geo_patrol`` to the end of the first step, compiled before."""
    cold: float | None = None
    """The same, with everything to be compiled."""


class Memory(BaseModel):
    """What the vector environment holds."""

    observation: str
    games: tuple[int, int]
    """A small and a large batch ..."""
    peak_bytes: tuple[int, int]
    """... and the peak memory of a process that stepped each."""
    payload_per_game: int
    """Bytes of observations and masks of a game."""

    @property
    def per_game(self) -> float:
        """Bytes that one more game takes."""
        (few, many), (low, high) = self.games, self.peak_bytes
        return (high - low) / (many - few)


class Profile(BaseModel):
    """Where the time of a step of the vector environment goes."""

    observation: str
    games: int
    missing: str | None = None
    parts: dict[str, list[float]] = {}
    """Microseconds that the compiled parts take, each by itself, for the whole batch; round by round."""


class Results(BaseModel):
    """Everything that a run has found."""

    machine: Machine
    is_quick: bool
    rounds: int
    seconds: float
    """Length of a contestant's turn in a round."""
    points: list[Point]
    startup: Startup
    memory: list[Memory] = []
    profiles: list[Profile] = []

    def point(self, name: str, batch: int | None = None) -> Point | None:
        """Return a contestant's figures, with the batch of the comparison (its first) or another; None if missing."""
        found = [point for point in self.points if point.name == name and batch in {None, point.batch}]
        return found[0] if found and found[0].steps_per_second else None

    def sweep(self, name: str) -> list[Point]:
        """Return a contestant's figures for all its batch sizes, the smallest first."""
        found = [point for point in self.points if point.name == name and point.steps_per_second]
        return sorted(found, key=lambda point: point.batch)


class Summary(NamedTuple):
    """Rounds in three numbers."""

    median: float
    low: float
    high: float


def summarize(rounds: list[float]) -> Summary:
    """Return the median, the lowest and the highest of all rounds."""
    return Summary(statistics.median(rounds), min(rounds), max(rounds))


def agent_rates(point: Point) -> list[float]:
    """Return agent steps a second, round by round."""
    return [rate * point.agent_steps for rate in point.steps_per_second]


def env_rates(point: Point) -> list[float]:
    """Return steps of single environments (for ours: phases of games) a second, round by round."""
    return [rate * point.env_steps for rate in point.steps_per_second]


def payload_rates(point: Point) -> list[float]:
    """Return bytes of observations and masks a second, round by round."""
    return [rate * point.payload for rate in point.steps_per_second]


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    """Return one to the other, round by round: a round that was disturbed disturbed both."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]
