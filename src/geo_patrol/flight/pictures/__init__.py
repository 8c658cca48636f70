"""Drawings of the flight games as shapes, sheets to print, and the window."""
