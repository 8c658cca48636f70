"""A page about a set of recorded games, in one HTML file that needs nothing else."""

from geo_patrol.report.page import write_report

__all__ = ["write_report"]
