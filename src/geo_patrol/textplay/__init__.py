"""The game at a terminal: the rule books' dialogue, against an agent or between two people at one keyboard."""

from geo_patrol.textplay.console import Console, Leave
from geo_patrol.textplay.session import play_text

__all__ = ["Console", "Leave", "play_text"]
