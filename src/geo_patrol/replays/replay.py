"""Recorded games as they are read from files."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.notation import Outcome, Phase
from geo_patrol.replays.position import Position
from geo_patrol.replays.schema import MAX_NAME, EndLine


@dataclass(frozen=True, slots=True)
class ReplayPhase:
    """A recorded decision phase. The published implementation recorded more of it than replay files hold.

    Attributes:
        line: number of its line, from 1.
        turn: turn number, from 1.
        phase: "movement" or "engagement".
        codes: (2, 11) int8 order codes of alpha and bravo, -1 for one that does not exist.
        outcomes: outcomes of an engagement.
        after: the position after it, and after the drift that follows an engagement; None if the recording ends before
            the drift.
        before_drift: the position between an engagement and its drift, where it is recorded.
        legal: by side and satellite, the order codes that the rules allow whatever the fuel, where they are recorded.
    """

    line: int
    turn: int
    phase: Phase
    codes: NDArray[np.int8]
    outcomes: tuple[Outcome, ...]
    after: Position | None
    before_drift: Position | None = None
    legal: list[list[list[int]]] | None = None


@dataclass
class Replay:
    """A recorded game.

    Attributes:
        number: index of the game in its file, from 0.
        line: number of its first line, from 1.
        config: the configuration, with all values as they were sampled.
        seed: the game's seed; None if only the outcomes are known.
        agents: names of the agents of alpha and bravo.
        versions: versions of the programs that recorded it.
        initial: the position at the start, where it is recorded.
        phases: the decision phases.
        end: the result; None if the game was not played to the end, or the rest is lost.
        fleets: numbers of satellites of alpha and bravo in the recorded positions; (0, 0) before the first phase.
        refuses_illegal_orders: whether an order that the rules do not allow contradicts the recording; otherwise it
            counts as noop.
        fault: what is wrong with the rest of it; None if nothing is.
    """

    number: int
    line: int
    config: GameConfig
    seed: int | None
    agents: tuple[str, str]
    versions: dict[str, str] = field(default_factory=dict)
    initial: Position | None = None
    phases: list[ReplayPhase] = field(default_factory=list)
    end: EndLine | None = None
    fleets: tuple[int, int] = (0, 0)
    refuses_illegal_orders: bool = False
    fault: str | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the game was recorded to its end."""
        last = self.phases[-1].after if self.phases else None
        return self.end is not None or (last is not None and last.progress is not None and last.progress[2])


def clean(text: str) -> str:
    """Return a text from a file so that terminals, tables and pages can show it: on one line, at most 200 characters.

    Control characters could move the cursor or change the colours of a terminal.
    """
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:MAX_NAME])


def with_clean_texts(config: GameConfig) -> GameConfig:
    """Return a configuration whose title and description can be shown."""
    return config.model_copy(update={"title": clean(config.title), "description": clean(config.description)})
