"""The best flights that are known of the missions of the package."""

from pydantic import BaseModel, ConfigDict

from geo_patrol.flight.mission import Mission, load_mission


class BestKnown(BaseModel):
    """The best flight that is known of a mission.

    Attributes:
        score: its points.
        turns: that it takes.
        is_proved: whether no flight is better.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    "base_camp": BestKnown(score=47, turns=18, is_proved=True),
    "courier": BestKnown(score=23, turns=13, is_proved=True),
    "docking_race": BestKnown(score=4, turns=6, is_proved=True),
    "grand_tour": BestKnown(score=108, turns=40, is_proved=False),
    "probe_race": BestKnown(score=9, turns=5, is_proved=True),
    "probe_slalom": BestKnown(score=16, turns=10, is_proved=True),
    "sample": BestKnown(score=21, turns=15, is_proved=True),
    "sample_20": BestKnown(score=23, turns=20, is_proved=True),
    "sample_probe": BestKnown(score=8, turns=8, is_proved=True),
    "short_tank": BestKnown(score=22, turns=17, is_proved=True),
    "survey_loop": BestKnown(score=21, turns=24, is_proved=True),
    "survey_sprint": BestKnown(score=15, turns=9, is_proved=True),
    "touchdown": BestKnown(score=19, turns=15, is_proved=True),
}


def best_known(mission: Mission) -> BestKnown | None:
    """Return the best flight that is known of a mission; None for one that is not in the package."""
    return next((best for name, best in _BEST.items() if load_mission(name) == mission), None)
