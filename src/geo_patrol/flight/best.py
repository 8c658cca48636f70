"""The best flights that are known of the missions of the package."""

from functools import cache
from typing import NamedTuple

from geo_patrol.config.toml_files import mission_names
from geo_patrol.flight.mission import Mission, load_mission


class BestKnown(NamedTuple):
    """The best flight that is known of a mission.

    Attributes:
        score: its points.
        turns: that it takes.
        is_proved: whether no flight is better.
    """

    score: int
    turns: int
    is_proved: bool

    def rank(self, mission: Mission) -> tuple[int, int, int]:
        """Return its sort key among flights of the mission, as ``geo_patrol.flight.rank`` does."""
        return 1, -self.turns if mission.race else 0, self.score

    def reached(self, mission: Mission) -> str:
        """Return in words what counts: its turns in a race, otherwise its points."""
        return f"{self.turns} turns" if mission.race else f"{self.score} points"


# geo-patrol fly --mission NAME --solve
_BEST = {
    "base_camp": BestKnown(47, 18, is_proved=True),
    "courier": BestKnown(23, 13, is_proved=True),
    "docking_race": BestKnown(4, 6, is_proved=True),
    "grand_tour": BestKnown(108, 40, is_proved=False),
    "probe_race": BestKnown(9, 5, is_proved=True),
    "probe_slalom": BestKnown(16, 10, is_proved=True),
    "sample": BestKnown(21, 15, is_proved=True),
    "sample_20": BestKnown(23, 20, is_proved=True),
    "sample_probe": BestKnown(8, 8, is_proved=True),
    "short_tank": BestKnown(22, 17, is_proved=True),
    "survey_loop": BestKnown(21, 24, is_proved=True),
    "survey_sprint": BestKnown(15, 9, is_proved=True),
    "touchdown": BestKnown(19, 15, is_proved=True),
}


def best_known(mission: Mission) -> BestKnown | None:
    """Return the best flight that is known of a mission; None for one that is not in the package."""
    return next((_BEST[name] for name, one in _missions().items() if one == mission), None)


@cache
def _missions() -> dict[str, Mission]:
    return {name: load_mission(name) for name in mission_names()}
