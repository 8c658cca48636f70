"""What a class consists of, as it is saved."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from geo_patrol.server.hall import NewTable

MAX_PUPILS = 60
MAX_GAMES = 2_000
"""Of a class."""
_Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class NewClass(NewTable):
    """What is asked for a new class: the game of its tables, and who plays whom."""

    alpha: Literal["open"] = "open"
    bravo: Literal["open"] = "open"
    agent: _Name = "turtle"
    """Plays those who have no partner."""
    pairs: bool = True
    """Whether pupils play each other; otherwise everybody plays the agent."""


class Pupil(BaseModel):
    """Somebody who has come to a class; the secret only as a hash."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: _Name
    secret_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    is_waiting: bool = True


class ClassGame(BaseModel):
    """A game of a class: its table, the number of the pupil on each side, None for the agent, and whether it is paused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    table: str
    alpha: int | None
    bravo: int | None
    is_paused: bool = False

    @property
    def pupils(self) -> tuple[int | None, int | None]:
        """The numbers of the pupils of alpha and bravo."""
        return self.alpha, self.bravo


class SavedClass(BaseModel):
    """A class as it is saved."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: Literal[1] = 1
    new: NewClass
    teacher_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    pupils: Annotated[list[Pupil], Field(max_length=MAX_PUPILS)] = []
    games: Annotated[list[ClassGame], Field(max_length=MAX_GAMES)] = []
    is_paused: bool = False
