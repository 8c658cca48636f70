"""Sheets to print a flight game on: map, score sheet, handout with the rules, answer key."""

from geo_patrol.drawing.shapes import Circle, Drawing, Polyline, Text, placed
from geo_patrol.drawing.sheet import HEIGHT, TEXT, WIDTH, PageLine, Tab, add_tabs, new_sheet
from geo_patrol.flight.flight import goals_text
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.pictures.scene import (
    FAINT,
    GREY,
    INK,
    PAPER,
    PLANETS,
    blank_map,
    flight_drawing,
    flown_line,
    score_lines,
    score_sheet,
)
from geo_patrol.flight.rules import ENGINES_COST, EXPLORE_POINTS, LANDING_POINTS, LAUNCH_COST, RETURN_POINTS, SURVEY_CAP
from geo_patrol.flight.solver import Solution

SURVEYING = "a turn has to end in the well of each planet that is to be surveyed"
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
    picture = _turn_picture(has_engines=not mission.is_probe)
    bottom = add_tabs(drawing, (_task(mission), *rules_tabs(mission)), 90)
    if bottom + picture.height <= HEIGHT - 20:
        drawing.add(*placed(picture.shapes, (20, bottom + 20)))
    return drawing


_GRID = 60.0
"""Units between the points of the picture of a turn."""


def _turn_picture(*, has_engines: bool) -> Drawing:
    """Draw three turns: the launch, a coast that gravity bends, and one with engines if the ship has them."""
    drawing = Drawing(WIDTH - 40, 3.8 * _GRID, PAPER)

    def at(column: float, row: float) -> tuple[float, float]:
        return (column + 0.4) * _GRID, (row + 0.4) * _GRID

    drawing.add(*(Polyline((at(column, 0), at(column, 3)), FAINT) for column in range(12)))
    drawing.add(*(Polyline((at(0, row), at(11, row)), FAINT) for row in range(4)))
    drawing.add(
        *(Polyline((at(column, row), at(column + right, row + down)), GREY, 2) for column, row, right, down in _STROKES)
    )
    end = at(10, 2) if has_engines else at(9, 1)
    lines = {
        "launch": (at(0, 2), at(3, 1), "1 launch", at(0.5, 1.3)),
        "coast": (at(3, 1), at(6, 0), "2 coast", at(3.3, 0.3)),
        "gravity": (at(6, 0), at(6, 1), "gravity", at(6.15, 0.5)),
        "path": (at(6, 1), end, "3", at(7.8, 1.75 if has_engines else 1.3)),
    }
    if has_engines:
        drawing.add(*flown_line("coast", at(6, 1), at(9, 1)), Text(at(7.9, 0.7), "coast", TEXT, INK))
        lines["engines"] = (at(9, 1), at(10, 2), "engines", at(9.7, 1.4))
    drawing.add(*flown_line("path", at(3, 1), at(6, 1)), Text(at(4.6, 1.3), "2", TEXT, INK))
    for kind, (start, finish, text, place) in lines.items():
        drawing.add(*flown_line(kind, start, finish), Text(place, text, TEXT, INK))
    drawing.add(
        *(
            Circle(at(*point), 16, fill, INK, 2)
            for point, fill in (((0, 2), PLANETS["weak"]), ((6, 2), PLANETS["strong"]))
        )
    )
    drawing.add(Text(at(0, 2), "H", TEXT, INK, "center"), Text(at(6.35, 2.3), "planet, with its well", TEXT, INK))
    return drawing


_STROKES = (
    *((5, 0, 0, 0.34), (6, 0, 0, 0.34), (7, 0, 0, 0.34), (4, 1, 0.34, 0), (8, 1, -0.34, 0), (5, 1, 0.24, 0.24)),
    *((6, 1, 0, 0.34), (7, 1, -0.24, 0.24), (4, 2, 0.34, 0), (5, 2, 0.34, 0), (7, 2, -0.34, 0), (8, 2, -0.34, 0)),
    *((4, 3, 0.34, 0), (5, 3, 0.24, -0.24), (6, 3, 0, -0.34), (7, 3, -0.24, -0.24), (8, 3, -0.34, 0)),
)
"""Of the picture's well: where each begins, and where it points."""


def rules_tabs(mission: Mission) -> tuple[Tab, ...]:
    """Return the steps of a turn, the advanced rules if the mission has them, and the scoring."""
    return (_turn(mission), *([_landing()] if mission.advanced else []), _scoring(mission))


def _task(mission: Mission) -> Tab:
    goals = goals_text(mission)
    lines = [
        PageLine("mission", mission.description),
        *([PageLine("goals", goals.removeprefix("Mission: "))] if goals else []),
        *([PageLine("survey", SURVEYING)] if mission.survey else []),
        PageLine("pencil and paper", "draw every move on the map, write it into the log, count the points at the end"),
    ]
    return Tab("Your task", tuple(lines))


def _turn(mission: Mission) -> Tab:
    launch = PageLine(
        "turn 1: launch",
        f"from home (H, {mission.home}) to one of the marked points around it; this is the ship's first move",
    )
    coast = PageLine("coast", "the ship repeats its last move: as many squares to the side, as many up or down")
    gravity = PageLine(
        "gravity",
        "where that point is in a planet's well (it has a stroke), the ship is pulled one grid along the stroke, toward the planet",
    )
    engines = PageLine("engines", "if you want, they push the ship one grid in any of the eight directions")
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
