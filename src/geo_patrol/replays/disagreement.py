"""Where a recorded game and the rules part."""

from geo_patrol.errors import RecordingError
from geo_patrol.verify.games import Difference


class Disagreement(RecordingError):  # noqa: N818 - what is looked for, not a failure of the program
    """The first place where a recorded game and the rules part.

    Attributes:
        number: the game's, in its file, from 0.
        turn: from 1.
        phase: "movement" or "engagement", or "end" for the last line of the game.
        field: what differs.
        recorded: its value in the file.
        replayed: its value by the rules.
    """

    def __init__(self, number: int, turn: int, phase: str, field: str, recorded: object, replayed: object) -> None:
        self.number, self.turn, self.phase, self.field = number, turn, phase, field
        self.recorded, self.replayed = recorded, replayed
        super().__init__(
            f"game {number}, turn {turn}, {phase}: {field}: recorded {_show(recorded)}, replayed {_show(replayed)}"
        )


def _show(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def disagreement(number: int, turn: int, phase: str, difference: Difference) -> RecordingError:
    """Turn the verifier's difference into a disagreement; into an error with its words where it names no field."""
    if not difference.field:
        return RecordingError(f"game {number}, turn {turn}, {phase}: {difference}")
    return Disagreement(number, turn, phase, difference.field, difference.recorded, difference.replayed)
