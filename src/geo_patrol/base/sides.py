"""The two sides of a game."""

import re
from typing import Literal, TypeAlias

Side: TypeAlias = Literal["alpha", "bravo"]

SIDES: tuple[Side, Side] = ("alpha", "bravo")
COLORS: dict[Side, str] = {"alpha": "blue", "bravo": "gold"}
"""What pages and sheets to print call the sides."""


def enemy_of(side: Side) -> Side:
    """Return the other side."""
    return "bravo" if side == "alpha" else "alpha"


def in_colors(text: str) -> str:
    """Return a text with the sides as pages and sheets to print call them."""
    return re.sub(rf"\b({'|'.join(SIDES)})\b", lambda match: COLORS[match[0]], text)  # type: ignore[index]
