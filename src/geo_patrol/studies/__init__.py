"""Studies of scenarios: their files, what is played for them, questions and answers, figures, the report.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geo_patrol.studies.comparison import compare_settings, compare_studies
    from geo_patrol.studies.study import Study, play_study, play_sweep, read_study

__all__ = ["Study", "compare_settings", "compare_studies", "play_study", "play_sweep", "read_study"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from geo_patrol.studies import comparison, study  # noqa: PLC0415

        return getattr(comparison if name.startswith("compare") else study, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
