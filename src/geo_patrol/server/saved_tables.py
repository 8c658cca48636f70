"""What is saved of a table beside its replay."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from geo_patrol.server.seats import Seat
from geo_patrol.sides import Side


class SavedTable(BaseModel):
    """What a table needs beside its replay to go on after a restart."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: Literal[1] = 1
    title: Annotated[str, StringConstraints(max_length=80)]
    config: dict[str, Any]
    seed: Annotated[int, Field(ge=0, lt=2**64)]
    clock: Annotated[float, Field(gt=0)] | None
    on_timeout: Literal["hold", "forfeit"]
    hints: bool = True
    """Whether people may ask for hints."""
    is_over: bool = False
    alpha: Seat
    bravo: Seat

    def seat(self, side: Side) -> Seat:
        """Return the seat of a side."""
        return self.alpha if side == "alpha" else self.bravo
