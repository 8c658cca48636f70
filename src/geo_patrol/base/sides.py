"""The two sides of a game."""

from typing import Literal, TypeAlias

Side: TypeAlias = Literal["alpha", "bravo"]

SIDES: tuple[Side, Side] = ("alpha", "bravo")


def enemy_of(side: Side) -> Side:
    """Return the other side."""
    return "bravo" if side == "alpha" else "alpha"
