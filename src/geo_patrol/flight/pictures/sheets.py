"""Sheets to print a flight game on: map, score sheet, handout with the rules, answer key."""

from geo_patrol.flight.flight import goals_text
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.pictures.scene import blank_map, flight_drawing, score_lines, score_sheet
from geo_patrol.flight.rules import ENGINES_COST, EXPLORE_POINTS, LANDING_POINTS, LAUNCH_COST, RETURN_POINTS, SURVEY_CAP
from geo_patrol.flight.solver import Solution
from geo_patrol.scenes.shapes import Drawing
from geo_patrol.scenes.sheets import add_tab, new_sheet
from geo_patrol.sessions.pages import PageLine, Tab

_SCORING = {
    "explore": f"+{EXPLORE_POINTS} for each planet but home in whose well a turn ends, once for each",
    "survey": "+1 for each turn that ends in the well of a planet but home",
    "microgravity": "+1 for each turn after the launch without engines",
    "fuel": f"-{ENGINES_COST} for each turn with engines",
    "landing": f"+{LANDING_POINTS} for each planet landed on and each station docked at",
    "return": f"+{RETURN_POINTS} for each planet landed on, when the ship lands at home again",
    "launch": f"-{LAUNCH_COST} for each launch but the first",
}


def mission_sheets(mission: Mission, solution: Solution) -> dict[str, Drawing]:
    """Return all sheets of a mission by name, in the order in which they are printed.

    Args:
        mission: the mission.
        solution: its best flight, for the answer key.
    """
    return {
        "handout": handout(mission),
        "map": blank_map(mission),
        "score-sheet": score_sheet(mission),
        "answers": flight_drawing(solution.flight),
    }


def handout(mission: Mission) -> Drawing:
    """Return a page with the task, the steps of a turn and the scoring of a mission."""
    drawing = new_sheet(mission.title, f"{mission.game_title}, {mission.turns} turns")
    top = 90.0
    for tab in (_task(mission), *rules_tabs(mission)):
        top = add_tab(drawing, tab, top) + 26
    return drawing


def rules_tabs(mission: Mission) -> tuple[Tab, ...]:
    """Return the steps of a turn, the advanced rules if the mission has them, and the scoring."""
    return (_turn(mission), *([_landing()] if mission.advanced else []), _scoring(mission))


def _task(mission: Mission) -> Tab:
    goals = goals_text(mission)
    lines = [
        PageLine("mission", mission.description),
        *([PageLine("goals", goals.removeprefix("Mission: "))] if goals else []),
        PageLine("pencil and paper", "draw every move on the map, write it into the log, count the points at the end"),
    ]
    return Tab("Your task", tuple(lines))


def _turn(mission: Mission) -> Tab:
    launch = PageLine(
        "turn 1: launch", f"draw an arrow from home (H, {mission.home}) to one of the small circles around it"
    )
    coast = PageLine("coast", "repeat the last move: as many grids to the side, as many up or down")
    gravity = PageLine(
        "gravity",
        "if that point is in a planet's well (it has a stroke), go one grid along the stroke, toward the planet",
    )
    engines = PageLine("engines", "if you want, go one grid in any of the eight directions")
    crash = PageLine("crash", "a path that ends on a planet, or passes exactly through one, crashes")
    if mission.is_probe:
        steps = (launch, coast, gravity, PageLine("", "the launch is your only decision: choose it well"), crash)
    else:
        steps = (launch, coast, gravity, engines, crash._replace(right=f"{crash.right}: it is not allowed"))
    return Tab("A turn", (*steps, PageLine("end", "after the last turn, or when a turn ends off the map")))


def _landing() -> Tab:
    """Return the advanced rules."""
    return Tab(
        "Landing and docking",
        (
            PageLine(
                "landing", "a move of exactly one grid onto a planet with weak gravity lands; a longer one crashes"
            ),
            PageLine(
                "docking", "a move of exactly one grid onto a station (a diamond) docks; passing over one is allowed"
            ),
            PageLine(
                "landed",
                "stay, or launch again: to a point on the square three grids around the planet, without coasting",
            ),
            PageLine("docked", "stay, or leave by gravity and engines, without coasting"),
        ),
    )


def _scoring(mission: Mission) -> Tab:
    cap = "" if mission.is_probe else f", at most {SURVEY_CAP} for each planet"
    texts = _SCORING | {"survey": _SCORING["survey"] + cap}
    return Tab("Points", tuple(PageLine(line, texts[line]) for line in score_lines(mission)))
