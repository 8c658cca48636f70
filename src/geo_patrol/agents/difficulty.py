"""Opponents by difficulty, for people who do not know the agents."""

from typing import NamedTuple


class Difficulty(NamedTuple):
    """An opponent.

    Attributes:
        name: "easy", "medium" or "hard".
        agent: the name of the agent.
        elo: its rating on ``geo_patrol``.
        note: how it plays.
    """

    name: str
    agent: str
    elo: int
    note: str

    @property
    def summary(self) -> str:
        """Its rating, and how it plays."""
        return f"rating {self.elo:+}; {self.note}"


# Ratings: geo-patrol tournament random turtle raider scripted policy:base --games 400 --seed 1. The 95 % intervals are about
# 100 to either side; the order is the same on od2d and king_of_the_hill.
DIFFICULTIES = (
    Difficulty("easy", "turtle", -159, "guards its HVA and never attacks"),
    Difficulty("medium", "scripted", 378, "weighs every engagement by the points that it gains"),
    Difficulty("hard", "policy:base", 736, "a neural network, trained by self-play"),
)
