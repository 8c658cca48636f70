"""Reports: self-contained HTML pages about a set of recorded games, and about a study."""

from geo_patrol.report.page import write_report
from geo_patrol.report.study_page import write_study_report

__all__ = ["write_report", "write_study_report"]
