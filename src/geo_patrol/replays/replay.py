"""Recorded games as they are read from files."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import Batch
from geo_patrol.errors import printable
from geo_patrol.notation import PHASES, Outcome, PhaseName, short_name
from geo_patrol.replays.schema import MAX_NAME, EndLine
from geo_patrol.sides import SIDES

FLEET_FIELDS = ("sector", "fuel", "ammo")
SIDE_FIELDS = ("goal", "score")


@dataclass(frozen=True, slots=True)
class Position:
    """A visible position.

    Attributes:
        fields: sector, fuel and ammo of the satellites, each by side (alpha, bravo) and number, and the goal sectors and
            scores by side, as in ``schema.PositionLine``.
        progress: completed turns, phase, and whether the game is over; None where a recording does not say so.
    """

    fields: dict[str, list[Any]]
    progress: tuple[int, PhaseName, bool] | None = None

    def named_values(self) -> dict[str, float]:
        """Return all values by their names, such as "fuel of alpha P3"."""
        values = {
            f"{field} of {side} {short_name(number)}": value
            for field in FLEET_FIELDS
            for side, fleet in zip(SIDES, self.fields[field], strict=True)
            for number, value in enumerate(fleet)
        }
        for name in SIDE_FIELDS:
            values |= {f"{name} of {side}": value for side, value in zip(SIDES, self.fields[name], strict=True)}
        return values


def read_position(batch: Batch) -> Position:
    """Return the current position of a batch of one."""
    games = batch.games
    alpha, bravo = (1 + batch.rules["patrol_count"][0]).tolist()
    fields: dict[str, list[Any]] = {}
    for name in FLEET_FIELDS:
        rows = games[name][0].tolist()
        fields[name] = [rows[0][:alpha], rows[1][:bravo]]
    for name in SIDE_FIELDS:
        fields[name] = games[name][0].tolist()
    return Position(fields, (int(games["turn"][0]), PHASES[games["phase"][0]], bool(games["done"][0])))


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
    phase: PhaseName
    codes: NDArray[np.int8]
    outcomes: tuple[Outcome, ...]
    after: Position | None
    before_drift: Position | None = None
    legal: list[list[list[int]]] | None = None


@dataclass
class Replay:
    """A recorded game, with control characters removed from the names of agents and the texts of the configuration.

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
    refuses_illegal_orders: bool = False
    fault: str | None = None

    def __post_init__(self) -> None:
        self.agents = printable(self.agents[0], MAX_NAME), printable(self.agents[1], MAX_NAME)

    @property
    def is_finished(self) -> bool:
        """Whether the game was recorded to its end."""
        last = self.phases[-1].after if self.phases else None
        return self.end is not None or (last is not None and last.progress is not None and last.progress[2])

    def _repr_html_(self) -> str:
        """Show the game in notebooks, as ``geo-patrol replay --html`` does."""
        from geo_patrol.browser.replay_page import replay_frame  # noqa: PLC0415 - pages are above replays

        return replay_frame(self)
