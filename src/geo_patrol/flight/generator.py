"""Random missions, each with a flight that fulfils it (the witness).

A map with two to five planets at random positions, wells apart, the home planet with weak gravity; 10 to 25 turns; in
Spaceship Commander, half of the missions with the advanced rules and up to two stations. Random flights are flown on it,
and the one that has achieved most becomes the witness. Goals are sampled from what it has achieved, and a fuel limit is
at least what it has spent. Maps on which no flight achieves anything are rejected (rejection sampling).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geo_patrol.flight.flight import Ending, Flight
from geo_patrol.flight.mission import STRONG, WEAK, GameName, Mission, Point, distance, point_name
from geo_patrol.flight.rules import COAST

_COLUMNS, _ROWS = 25, 9
_NUM_FLIGHTS = 40
"""Number of random flights among which the witness is selected."""
_COAST_PROBABILITY = 0.6


@dataclass(frozen=True)
class RandomMission:
    """A random mission and a flight that fulfils it."""

    mission: Mission
    witness: Flight


def random_mission(random: np.random.Generator, *, game: GameName = "spaceship_commander") -> Mission:
    """Sample a mission that can be fulfilled.

    Args:
        random: the random number generator.
        game: "spaceship_commander" or "planetary_probe".
    """
    return random_mission_with_witness(random, game=game).mission


def random_mission_with_witness(
    random: np.random.Generator, *, game: GameName = "spaceship_commander"
) -> RandomMission:
    """Sample a mission together with a flight that fulfils it.

    Raises:
        ValueError: ``game`` is unknown.
    """
    if game not in ("spaceship_commander", "planetary_probe"):
        raise ValueError(f"game must be 'spaceship_commander' or 'planetary_probe', got {game!r}")
    while True:
        mission = _random_map(random, game)
        flight = _best_random_flight(random, mission)
        if flight is None:
            continue
        goals = _sample_goals(random, flight)
        mission = Mission.model_validate(mission.to_dict() | goals)
        witness = _replay(mission, flight)
        if witness.is_success:  # not if it reaches the end before the other goals
            return RandomMission(mission, witness)


def _random_map(random: np.random.Generator, game: GameName) -> Mission:
    planets: dict[Point, int] = {}
    num_planets = int(random.integers(2, 6))
    for _ in range(60):
        if len(planets) == num_planets:
            break
        point = int(random.integers(3, _COLUMNS - 1)), int(random.integers(3, _ROWS - 1))
        reach = WEAK if not planets or random.random() < 0.6 else STRONG  # the first one is the home planet
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
    """Return the random flight that has achieved most, None if none has achieved anything."""
    flights = [random_flight(random, mission) for _ in range(_NUM_FLIGHTS)]
    achieved = [flight for flight in flights if flight.surveyed and flight.ending != Ending.TRAPPED]

    def achievements(flight: Flight) -> tuple[int, int]:
        return len(flight.docked_at) + len(flight.landed_on) + len(flight.surveyed), flight.score

    return max(achieved, key=achievements, default=None)


def random_flight(random: np.random.Generator, mission: Mission, coasting: float = _COAST_PROBABILITY) -> Flight:
    """Fly a mission with random legal orders that stay on the map where possible.

    Args:
        random: the random number generator.
        mission: the mission.
        coasting: probability to coast or to stay, where that is legal and stays on the map.
    """
    flight = Flight(mission)
    while not flight.is_over:
        orders = np.flatnonzero(flight.staying_mask()).tolist() or np.flatnonzero(flight.action_mask()).tolist()
        coasts = orders[0] == COAST and random.random() < coasting
        flight.fly(COAST if coasts else orders[int(random.random() * len(orders))])
    return flight


def _sample_goals(random: np.random.Generator, flight: Flight) -> dict[str, Any]:
    """Sample goals that a flight has met."""
    mission = flight.mission
    goals: dict[str, Any] = {}
    for key, achieved in (("survey", flight.surveyed), ("land_on", flight.landed_on)):
        goals[key] = [planet for planet in achieved if random.random() < 0.5]
    if random.random() < 0.4:
        ends = [f"well {planet}" for planet in flight.surveyed]
        ends += [f"planet {planet}" for planet in flight.landed_on]
        ends += [f"station {station}" for station in flight.docked_at]
        goals["end_at"] = str(random.choice(ends))
    if any(goals.values()):
        goals["race"] = random.random() < 0.4
    if not mission.is_probe and random.random() < 0.3:
        spent = -flight.score_sheet["fuel"] - flight.score_sheet["launch"]
        goals["fuel_limit"] = spent + int(random.integers(0, 7))
    return goals


def _replay(mission: Mission, flight: Flight) -> Flight:
    """Fly the orders of a flight in a mission that may be over earlier."""
    replayed = Flight(mission)
    for order in flight.order_codes:
        if not replayed.is_over:
            replayed.fly(order)
    return replayed
