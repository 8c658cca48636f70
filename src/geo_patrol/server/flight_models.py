"""What a challenge consists of, as it is asked for and as it is saved."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_serializer

from geo_patrol.config.toml_files import MAX_FILE_BYTES
from geo_patrol.flight.mission import MAX_TURNS, GameName, Mission
from geo_patrol.server.bodies import Body

MAX_PILOTS = 100
RANDOM = "random"
_Order = Annotated[str, StringConstraints(max_length=40)]
_Orders = Annotated[list[_Order], Field(max_length=MAX_TURNS)]


class NewChallenge(Body):
    """What is asked for a new challenge."""

    title: Annotated[str, StringConstraints(max_length=80)] = ""
    mission: Annotated[str, StringConstraints(max_length=80)] = "sample"
    """The name of a mission of the package, or "random"."""
    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None = None
    """A mission as TOML instead of a name; it may extend one of the package, but no file."""
    game: GameName = "spaceship_commander"
    """Of a random mission."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Of a random mission; the same seed gives the same mission."""


class BestFlight(BaseModel):
    """A pilot's best flight."""

    model_config = ConfigDict(extra="forbid")

    orders: _Orders
    turns: int
    rank: tuple[int, int, int]
    """See ``geo_patrol.flight.rank``: whether the mission was accomplished, turns of a race, points."""

    @property
    def score(self) -> int:
        """Points."""
        return self.rank[2]

    @property
    def success(self) -> bool:
        """Whether the mission was accomplished."""
        return bool(self.rank[0])


class Pilot(BaseModel):
    """Somebody who flies; the secret only as a hash.

    Attributes:
        orders: of the flight in progress, or of the last one.
        num_flights: that have ended.
        best: of the flights that have ended.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    secret_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    orders: _Orders = []
    num_flights: int = 0
    best: BestFlight | None = None


class KnownScore(BaseModel):
    """The best flight that is known of a mission; ``is_proved``: no flight is better."""

    model_config = ConfigDict(extra="forbid")

    score: int
    turns: int
    is_proved: bool


class SavedChallenge(BaseModel):
    """A challenge as it is saved."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    title: str
    mission: Mission
    best_known: KnownScore | None
    pilots: Annotated[list[Pilot], Field(max_length=MAX_PILOTS)] = []

    @field_serializer("mission")
    def _write_mission(self, mission: Mission) -> dict[str, Any]:
        return mission.to_dict()
