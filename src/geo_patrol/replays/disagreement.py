"""Where a recorded game and the rules differ."""

from geo_patrol.errors import RecordingError


class Disagreement(RecordingError):  # noqa: N818 - a finding, not a failure of the program
    """The first difference between a recorded game and the rules.

    Attributes:
        number: index of the game in its file.
        turn: turn number, from 1.
        phase: "movement", "engagement" or "drift"; "start" for the initial position, "end" for the result.
        field: name of what differs.
        recorded: its value in the recording.
        replayed: its value by the rules.
        difference: all of this but where it is, in words.

    Args:
        where: number of the game, turn and phase.
        field: see Attributes.
        recorded: see Attributes.
        replayed: see Attributes.
        reason: replaces the two values in the message.
    """

    def __init__(
        self, where: tuple[int, int, str], field: str, recorded: object, replayed: object, reason: str = ""
    ) -> None:
        self.number, self.turn, self.phase = where
        self.field, self.recorded, self.replayed = field, recorded, replayed
        self.difference = reason or f"{field}: recorded {_show(recorded)}, replayed {_show(replayed)}"
        super().__init__(f"game {self.number}, turn {self.turn}, {self.phase}: {self.difference}")


def _show(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
