"""The raw results of a run, and statistics of them."""

import statistics
from typing import NamedTuple

from pydantic import BaseModel

SWEPT = {
    f"{observation}-{threads}": f"{observation}, {threads} thread{'s' if threads > 1 else ''}"
    for observation in ("tokens", "onehot")
    for threads in (1, 2)
}
"""The contestants that are measured with several batch sizes, and what tables call them."""


class Machine(BaseModel):
    """The machine and the software of a run."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    versions: dict[str, str]
    load: float | None
    """The load average over one minute before the run."""
    is_pinned: bool
    """Whether every process was pinned to as many cores as it has threads."""


class Point(BaseModel):
    """The results of a contestant with a batch size; empty if it is missing."""

    name: str
    title: str
    batch: int
    threads: int
    includes: str
    unit: str = ""
    missing: str | None = None
    agent_steps: int = 0
    env_steps: int = 0
    payload: int = 0
    ended: float | None = None
    """The fraction of environments that end per step."""
    steps_per_second: list[float] = []
    """Steps of the whole batch for each round."""
    cores: list[float] = []
    """Processor time over elapsed time for each round."""


class Startup(BaseModel):
    """Seconds to import the package and to get to the first step, each in a fresh interpreter."""

    imports: list[tuple[float, float]] = []
    """``import geo_patrol``, and all its libraries together, for each round."""
    warm: list[float] = []
    """From the end of ``import geo_patrol`` to the end of the first step, compiled code in the cache."""
    cold: float | None = None
    """The same with an empty cache."""
    first_use: float | None = None
    """The same, and a step of a vector environment and a match with the scripted agent after it."""


class Memory(BaseModel):
    """The memory of the vector environment."""

    observation: str
    games: tuple[int, int]
    """A small and a large batch size."""
    peak_bytes: tuple[int, int]
    """The peak memory of a process with each batch size."""
    payload_per_game: int
    """Bytes of observations and masks per game."""

    @property
    def per_game(self) -> float:
        """Bytes of each additional game."""
        (few, many), (low, high) = self.games, self.peak_bytes
        return (high - low) / (many - few)


class Results(BaseModel):
    """All results of a run."""

    machine: Machine
    is_quick: bool
    rounds: int
    seconds: float
    """Seconds per contestant and round."""
    points: list[Point]
    startup: Startup
    memory: list[Memory] = []

    def point(self, name: str, batch: int | None = None) -> Point | None:
        """Return the results of a contestant with a batch size, by default that of the comparison; None if missing."""
        found = [point for point in self.points if point.name == name and batch in {None, point.batch}]
        return found[0] if found and found[0].steps_per_second else None

    def sweep(self, name: str) -> list[Point]:
        """Return the results of a contestant for all batch sizes in ascending order."""
        found = [point for point in self.points if point.name == name and point.steps_per_second]
        return sorted(found, key=lambda point: point.batch)


class Summary(NamedTuple):
    """Statistics of all rounds."""

    median: float
    low: float
    high: float


def summarize(rounds: list[float]) -> Summary:
    """Return the median, minimum and maximum of all rounds."""
    return Summary(statistics.median(rounds), min(rounds), max(rounds))


def agent_steps_per_second(point: Point) -> list[float]:
    """Return agent steps per second for each round."""
    return [steps * point.agent_steps for steps in point.steps_per_second]


def env_steps_per_second(point: Point) -> list[float]:
    """Return steps of single environments (for ours, phases of games) per second for each round."""
    return [steps * point.env_steps for steps in point.steps_per_second]


def bytes_per_second(point: Point) -> list[float]:
    """Return bytes of observations and masks per second for each round."""
    return [steps * point.payload for steps in point.steps_per_second]


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    """Return the ratio for each round: a busy machine slows down both sides of a round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]
