"""Positions as drawings of plain shapes, independent of how these are rendered."""
