"""Positions as shapes, independent of how they are drawn."""
