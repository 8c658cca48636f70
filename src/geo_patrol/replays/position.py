"""Visible positions as rows of numbers, for comparison, and as plain data, for files."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.batch import Batch
from geo_patrol.errors import RecordingError
from geo_patrol.notation import PHASES, Phase, short_name
from geo_patrol.sides import SIDES

FLEET_FIELDS = ("sector", "fuel", "ammo")
SIDE_FIELDS = ("goal", "score")


@dataclass(frozen=True, slots=True)
class Position:
    """A visible position.

    Attributes:
        values: sector, fuel and ammo, each of alpha's satellites and of bravo's, then the goal sectors and the scores.
        progress: completed turns, phase, and whether the game is over; None where a recording does not say so.
    """

    values: NDArray[Any]
    progress: tuple[int, Phase, bool] | None = None


class PositionReader:
    """Reads the visible position of a batch of one, repeatedly while it is played.

    Args:
        batch: the game; its rules must not change.
    """

    def __init__(self, batch: Batch) -> None:
        self._games = batch.games
        self._fleets = [1 + int(count) for count in batch.rules[0].patrol_count]
        self._fields = {field: batch.games[field][0] for field in (*FLEET_FIELDS, *SIDE_FIELDS)}  # views, not copies

    def read(self) -> Position:
        """Return the current position."""
        alpha, bravo = self._fleets
        rows = [
            row for field in FLEET_FIELDS for row in (self._fields[field][0, :alpha], self._fields[field][1, :bravo])
        ]
        values = np.concatenate([*rows, *(self._fields[field] for field in SIDE_FIELDS)], dtype=np.int32)
        turn, phase, done = (self._games[field][0] for field in ("turn", "phase", "done"))
        return Position(values, (int(turn), PHASES[phase], bool(done)))

    def to_dict(self) -> dict[str, Any]:
        """Return the current position as plain data, as ``schema.PositionLine`` has it."""
        alpha, bravo = self._fleets
        data: dict[str, Any] = {}
        for field, values in self._fields.items():
            plain = values.tolist()
            data[field] = [plain[0][:alpha], plain[1][:bravo]] if field in FLEET_FIELDS else plain
        return data

    def names(self) -> list[str]:
        """Return the names of the values of a position, in order."""
        fleets = [
            f"{field} of {side} {short_name(number)}"
            for field in FLEET_FIELDS
            for side, fleet in zip(SIDES, self._fleets, strict=True)
            for number in range(fleet)
        ]
        return [*fleets, *(f"{field} of {side}" for field in SIDE_FIELDS for side in SIDES)]


def flatten(position: Any, dtype: type[np.number[Any]]) -> NDArray[Any]:
    """Return a recorded position, which has a list of values for every field, as a row of values."""
    fleets = [row for field in FLEET_FIELDS for row in getattr(position, field)]
    return np.concatenate([*fleets, position.goal, position.score]).astype(dtype)


def to_dict(position: Position, fleets: tuple[int, int]) -> dict[str, Any]:
    """Return a position as plain data.

    Args:
        position: the position.
        fleets: numbers of satellites of alpha and bravo.

    Raises:
        RecordingError: a value is not a whole number from 0 to 2^31 - 1.
    """
    values = position.values
    if not np.all((values >= 0) & (values < 2**31) & (values == np.floor(values))):
        raise RecordingError("a position has values that are not whole numbers from 0")
    row: list[int] = values.astype(np.int64).tolist()
    data = {}
    for field in FLEET_FIELDS:
        data[field] = [row[: fleets[0]], row[fleets[0] : sum(fleets)]]
        row = row[sum(fleets) :]
    return data | {"goal": row[:2], "score": row[2:]}
