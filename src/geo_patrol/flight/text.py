"""A flight as plain text: map, flight log and score sheet, in the format of the paper game."""

from geo_patrol.flight.grid import DIRECTION_NAMES, DIRECTIONS, ROW_LETTERS, Point, point_name, read_point
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.status import LINE_NAMES, Ending, FlightStatus, Turn

_TURN_MARKS = "123456789abcdefghijklmnopqrstuvwxyzABCDE"
"""The mark of each of forty turns on the map."""


def flight_text(flight: FlightStatus) -> str:
    """Return heading, goals, map, log, score sheet and outcome of a flight."""
    sections = [heading_text(flight), map_text(flight), log_text(flight), score_text(flight)]
    if flight.is_over:
        sections.append(result_text(flight))
    return "\n\n".join(filter(None, sections))


def heading_text(flight: FlightStatus) -> str:
    """Return title, turn, position and score in a line, and the goals of the mission below it."""
    mission = flight.mission
    where = f"{flight.mode} at {flight.position_name}"
    lines = [
        f"{mission.title} | {mission.game_title} | turn {flight.turn} of {mission.turns}, {where} | score {flight.score}"
    ]
    goals = goals_text(mission)
    if goals:
        lines.append(goals)
    if flight.fuel_left is not None:
        lines.append(f"Fuel and launches: {flight.fuel_left} of {mission.fuel_limit} points left")
    return "\n".join(lines)


def goals_text(mission: Mission) -> str:
    """Return the goals and optional rules of a mission in a line; empty for the basic game."""
    goals = [f"survey {', '.join(mission.survey)}"] if mission.survey else []
    if mission.land_on:
        goals.append(f"land on {', '.join(mission.land_on)}")
    if mission.end_at:
        goals.append(f"end at {mission.end_at}")
    if mission.fuel_limit is not None:
        goals.append(f"at most {mission.fuel_limit} points of fuel and launches")
    if mission.race:
        goals.append("race: fewest turns win")
    if mission.advanced:
        goals.append("advanced rules")
    return f"Mission: {'; '.join(goals)}" if goals else ""


def map_text(flight: FlightStatus) -> str:
    """Return the map.

    "O" is a planet with weak gravity, "@" one with strong gravity, "H" the home planet; "+" a point of a gravity well,
    "S" a station, "." an empty point. A turn's endpoint is marked by its number, from turn 10 on by letters.
    """
    mission = flight.mission
    signs = {point: "+" for reference in mission.planets for point in mission.well(reference)}
    signs |= {turn.end: _TURN_MARKS[turn.number - 1] for turn in flight.turns}
    signs |= {read_point(planet): "O" if gravity == "weak" else "@" for planet, gravity in mission.planets.items()}
    signs |= {read_point(station): "S" for station in mission.stations} | {read_point(mission.home): "H"}
    columns = range(1, mission.columns + 1)
    heading = "".join(f"{column:>3}" for column in columns)
    lines = [f"  {heading}"]
    for row in range(1, mission.rows + 1):
        points = "".join(f"{signs.get((column, row), '.'):>3}" for column in columns)
        lines.append(f"{ROW_LETTERS[row - 1]} {points}")
    legend = "O weak gravity  @ strong gravity  H home  + gravity well"
    lines.append(f"  {legend}{'  S station' if mission.stations else ''}  1-9, a-z: turns")
    return "\n".join(lines)


def shift_text(shift: Point) -> str:
    """Return the direction of a shift of one grid, "-" for none."""
    return "-" if shift == (0, 0) else DIRECTION_NAMES[DIRECTIONS.index(shift)]


def move_text(move: Point) -> str:
    """Return a move in the notation of the paper log: grids right or left, then up or down, such as "R3 U1"."""
    right, down = move
    words = [f"{'R' if right > 0 else 'L'}{abs(right)}"] if right else []
    if down:
        words.append(f"{'D' if down > 0 else 'U'}{abs(down)}")
    return " ".join(words) or "0"


def log_text(flight: FlightStatus) -> str:
    """Return the flight log, a line for each turn: coast, gravity, engines, endpoint and points."""
    if not flight.turn:
        return ""
    heading = f"{'turn':>4}  {'from':<5}{'coast to':<10}{'gravity':<12}{'engines':<12}{'end':<5}{'move':<8}points"
    return "\n".join([heading, *(_log_line(flight, turn) for turn in flight.turns)])


def _log_line(flight: FlightStatus, turn: Turn) -> str:
    coast, gravity = point_name(turn.coasted), shift_text(turn.gravity)
    if turn.is_launch:
        coast, gravity, engines = "-", "-", "launch"
    elif turn.order == "stay" and turn.start == turn.end:
        coast, engines = "stays", "-"
    else:
        engines = shift_text(turn.engines)
    points, notes = points_text(turn), turn_notes(flight, turn)
    end = point_name(turn.end)
    line = f"{turn.number:>4}  {point_name(turn.start):<5}{coast:<10}{gravity:<12}{engines:<12}{end:<5}"
    return f"{line}{move_text(turn.move):<8}{points}{f'  ({notes})' if notes else ''}".rstrip()


def points_text(turn: Turn) -> str:
    """Return the points of a turn by line of the score sheet, such as "explore +3, fuel -1"."""
    return ", ".join(f"{name} {points:+d}" for name, points in turn.points.items() if points)


def turn_notes(flight: FlightStatus, turn: Turn) -> str:
    """Return what a turn has led to: "off the map", "crash", "landed", "docked", or nothing."""
    is_last = flight.is_over and turn.number == flight.turn
    if is_last and flight.ending == Ending.LEFT_MAP:
        return "off the map"
    if is_last and flight.ending == Ending.CRASHED:
        return "crash"
    return turn.mode if turn.mode != "flying" else ""


def score_text(flight: FlightStatus) -> str:
    """Return the score sheet: its lines by turn, and their totals."""
    turns = flight.turns
    if not turns:
        return ""
    heading = "".join(f"{turn.number:>3}" for turn in turns)
    lines = [f"{'':<13}{heading}  total"]
    for name in LINE_NAMES:
        points = "".join(f"{turn.points[name] or '.':>3}" for turn in turns)
        lines.append(f"{name:<13}{points}{flight.score_sheet[name]:>7}")
    sums = "".join(f"{turn.score or '.':>3}" for turn in turns)
    lines.append(f"{'total':<13}{sums}{flight.score:>7}")
    return "\n".join(lines)


def result_text(flight: FlightStatus) -> str:
    """Return whether the mission was fulfilled, how the flight ended, and the score."""
    outcome = "Mission accomplished" if flight.is_success else "Mission failed"
    return f"{outcome}: {flight.reason}. Score {flight.score}."
