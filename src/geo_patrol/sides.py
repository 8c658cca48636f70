"""The two sides of a game."""

from typing import Literal, TypeAlias

Side: TypeAlias = Literal["alpha", "bravo"]

SIDES: tuple[Side, Side] = ("alpha", "bravo")
