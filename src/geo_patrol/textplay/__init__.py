"""The game at a terminal: the dialogue of the rule books, against an agent or between two people."""

from geo_patrol.textplay.console import Console, Leave
from geo_patrol.textplay.dialogue import play_text

__all__ = ["Console", "Leave", "play_text"]
