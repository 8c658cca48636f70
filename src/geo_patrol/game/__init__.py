"""Positions as values: many games and one (``game``), orders and outcomes as text, what was played (``timeline``)."""
