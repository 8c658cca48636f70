"""Reports: a self-contained HTML page about a set of recorded games."""

from geo_patrol.report.page import write_report

__all__ = ["write_report"]
