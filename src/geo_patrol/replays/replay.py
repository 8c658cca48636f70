"""A recorded game as it was read."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.notation import Outcome, Phase
from geo_patrol.replays.layout import MAX_NAME, EndLine
from geo_patrol.verify.recording import RecordedGame


@dataclass(frozen=True, slots=True)
class ReplayPhase:
    """A decision phase as it was recorded.

    Attributes:
        line: the number of its line, from 1.
        turn: from 1.
        phase: "movement" or "engagement".
        codes: (2, 11) int8 order codes of alpha and bravo, -1 for one that does not exist.
        outcomes: what became of an engagement.
        figures: the position after it, see ``layout.flatten``.
    """

    line: int
    turn: int
    phase: Phase
    codes: NDArray[np.int8]
    outcomes: tuple[Outcome, ...]
    figures: NDArray[np.int32]


@dataclass
class Replay:
    """A recorded game.

    Attributes:
        number: its place in the file, from 0.
        line: where it begins, from 1.
        config: what was played, every figure as it was drawn.
        seed: where its chance comes from; None if only what it led to is known.
        agents: who played alpha and bravo.
        versions: of the programs that recorded it.
        phases: what was played.
        end: how it ended; None if it was not played to the end, or the rest is lost.
        fleets: satellites of alpha and bravo, as the recorded positions have them; (0, 0) before the first phase.
        published: the game as the published implementation recorded it, with more in it than ``phases``.
        fault: what is wrong with the rest of it; None if nothing is.
    """

    number: int
    line: int
    config: GameConfig
    seed: int | None
    agents: tuple[str, str]
    versions: dict[str, str] = field(default_factory=dict)
    phases: list[ReplayPhase] = field(default_factory=list)
    end: EndLine | None = None
    fleets: tuple[int, int] = (0, 0)
    published: RecordedGame | None = None
    fault: str | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the game was recorded to its end."""
        return self.end is not None or (self.published is not None and self.published.phases[-1].after.done)


def clean(text: str) -> str:
    """Return a stranger's text as a terminal, a table and a page can show it: in one line, at most 200 letters.

    Control characters could move the cursor or change the colours of whoever looks at it.
    """
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:MAX_NAME])


def with_clean_texts(config: GameConfig) -> GameConfig:
    """Return a configuration whose texts can be shown."""
    return config.model_copy(update={"title": clean(config.title), "description": clean(config.description)})
