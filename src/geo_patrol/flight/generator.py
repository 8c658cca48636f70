"""Random missions, every one of which can be fulfilled.

How one is drawn: a map of the usual size with two to five planets, their places and gravity at random, wells apart,
at least one planet weak, which is home; turns from 10 to 25; in Spaceship Commander advanced rules and up to two
stations in half of all missions. Then a number of random flights are flown from it, and the one that has done most is
kept as the witness. What the mission asks for is drawn from what the witness has done: so it can be fulfilled, as the
witness shows. A limit of fuel is never below what the witness has spent. Maps on which no flight earns anything are
drawn anew.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geo_patrol.flight.engine.state import COAST
from geo_patrol.flight.flight import Ending, Flight
from geo_patrol.flight.grid import STRONG, WEAK, Point, distance, point_name
from geo_patrol.flight.mission import GameName, Mission

_COLUMNS, _ROWS = 25, 9
_FLIGHTS = 40
"""Random flights among which the witness is chosen."""
_COASTING = 0.6
"""Chance that a random flight coasts where it may."""


@dataclass(frozen=True)
class RandomMission:
    """A random mission, and a flight that fulfils it."""

    mission: Mission
    witness: Flight


def random_mission(random: np.random.Generator, *, game: GameName = "spaceship_commander") -> Mission:
    """Draw a mission that can be fulfilled; the same generator state gives the same mission.

    Args:
        random: where chance comes from.
        game: "spaceship_commander" or "planetary_probe".
    """
    return random_mission_with_witness(random, game=game).mission


def random_mission_with_witness(
    random: np.random.Generator, *, game: GameName = "spaceship_commander"
) -> RandomMission:
    """Draw a mission together with a flight that fulfils it.

    Raises:
        ValueError: there is no such game.
    """
    if game not in ("spaceship_commander", "planetary_probe"):
        raise ValueError(f"game = {game!r}: give 'spaceship_commander' or 'planetary_probe'")
    while True:
        mission = _random_map(random, game)
        flight = _best_random_flight(random, mission)
        if flight is None:
            continue
        goals = _draw_goals(random, flight)
        settled = Mission.model_validate(mission.to_dict() | goals)
        witness = _fly_again(settled, flight)
        if witness.is_success:  # not where it reaches the end before the rest is done
            return RandomMission(settled, witness)


def _random_map(random: np.random.Generator, game: GameName) -> Mission:
    planets: dict[Point, int] = {}
    wanted = int(random.integers(2, 6))
    for _ in range(60):
        if len(planets) == wanted:
            break
        point = int(random.integers(3, _COLUMNS - 1)), int(random.integers(3, _ROWS - 1))
        reach = WEAK if not planets or random.random() < 0.6 else STRONG  # the first one is home
        if all(distance(point, other) > reach + planets[other] for other in planets):
            planets[point] = reach
    is_probe = game == "planetary_probe"
    is_advanced = not is_probe and random.random() < 0.5
    return Mission(
        title="Random mission",
        game=game,
        turns=25 if is_probe else int(random.integers(10, 26)),
        columns=_COLUMNS,
        rows=_ROWS,
        planets={point_name(point): "weak" if reach == WEAK else "strong" for point, reach in planets.items()},
        stations=_random_stations(random, set(planets)) if is_advanced else (),
        home=point_name(next(iter(planets))),
        advanced=is_advanced,
    )


def _random_stations(random: np.random.Generator, taken: set[Point]) -> tuple[str, ...]:
    stations: set[Point] = set()
    for _ in range(int(random.integers(3))):
        point = int(random.integers(1, _COLUMNS + 1)), int(random.integers(1, _ROWS + 1))
        if point not in taken:
            stations.add(point)
    return tuple(point_name(point) for point in sorted(stations))


def _best_random_flight(random: np.random.Generator, mission: Mission) -> Flight | None:
    """Fly at random a number of times, and return the flight that has done most; None if all were in vain."""
    best: tuple[Any, Flight] | None = None
    for _ in range(_FLIGHTS):
        flight = random_flight(random, mission)
        if flight.ending == Ending.TRAPPED or not flight.surveyed:
            continue
        done = len(flight.docked_at) + len(flight.landed_on) + len(flight.surveyed), flight.score
        if best is None or done > best[0]:
            best = done, flight
    return None if best is None else best[1]


def random_flight(random: np.random.Generator, mission: Mission, coasting: float = _COASTING) -> Flight:
    """Fly a mission with random legal orders, which stay on the map where they can.

    Args:
        random: where chance comes from.
        mission: what is flown.
        coasting: chance that an order is to coast or to stay, where that is legal and stays on the map.
    """
    flight = Flight(mission)
    while not flight.is_over:
        orders = np.flatnonzero(flight.staying_mask()).tolist() or np.flatnonzero(flight.action_mask()).tolist()
        coasts = orders[0] == COAST and random.random() < coasting
        flight.fly(COAST if coasts else orders[int(random.random() * len(orders))])
    return flight


def _draw_goals(random: np.random.Generator, flight: Flight) -> dict[str, Any]:
    """Draw what a mission asks for, all of which a flight has done."""
    mission = flight.mission
    goals: dict[str, Any] = {}
    surveyed = [planet for planet in flight.surveyed if random.random() < 0.5]
    landed = [planet for planet in flight.landed_on if random.random() < 0.5]
    if surveyed:
        goals["survey"] = surveyed
    if landed:
        goals["land_on"] = landed
    if random.random() < 0.4:
        goals["end_at"] = _draw_end(random, flight)
    if (surveyed or landed or "end_at" in goals) and random.random() < 0.4:
        goals["race"] = True
    if not mission.is_probe and random.random() < 0.3:
        goals["fuel_limit"] = _fuel_spent(flight) + int(random.integers(0, 7))
    return goals


def _fly_again(mission: Mission, flight: Flight) -> Flight:
    """Fly the same orders in a mission that may be over earlier."""
    again = Flight(mission)
    for order in flight.order_codes:
        if not again.is_over:
            again.fly(order)
    return again


def _draw_end(random: np.random.Generator, flight: Flight) -> str:
    """Draw a place that a flight has reached."""
    places = [f"well {planet}" for planet in flight.surveyed]
    places += [f"planet {planet}" for planet in flight.landed_on]
    places += [f"station {station}" for station in flight.docked_at]
    return str(random.choice(places))


def _fuel_spent(flight: Flight) -> int:
    sheet = flight.score_sheet
    return -sheet["fuel"] - sheet["launch"]
