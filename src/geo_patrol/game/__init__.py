"""Positions as values: many games (``games``), one (``game``), orders and outcomes as text, what was played (``timeline``)."""
