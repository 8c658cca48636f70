"""The game at a terminal: the rule books' dialogue, against an agent or between two people at one keyboard."""

from geo_patrol.textplay.session import Leave, play_text

__all__ = ["Leave", "play_text"]
