"""Functions for tests: flights in any situation, and Hypothesis strategies for missions."""

import json
import random
from pathlib import Path

from hypothesis import strategies as st

from geo_patrol import ConfigError
from geo_patrol.flight import Flight, load_mission
from geo_patrol.flight.mission import point_name, read_point
from geo_patrol.flight.rules import Mode

BEST = json.loads((Path(__file__).parents[1] / "data" / "best_flights.json").read_text(encoding="utf-8"))
"""The best known flight of each mission; its status, and the orders that fly it."""
SAMPLE = {"E6": "strong", "E16": "weak", "F22": "weak"}


def mission(planets=None, /, **values):
    """Return a mission on the sample map, or on another one."""
    defaults = {"title": "test", "turns": 20, "home": "E16", "planets": dict(planets or SAMPLE)}
    return load_mission(defaults | values)


def ship(flown, at, move=(0, 0), *, docked=False, landed=False, turn=3):
    """Return a flight on its way: at a point, after a move, or landed or docked there."""
    flight = Flight(flown)
    record = flight.record
    record["column"], record["row"] = read_point(at)
    record["right"], record["down"] = move
    record["turn"], record["mode"], record["site"] = turn, Mode.FLYING, -1
    if landed:
        record["mode"], record["site"] = Mode.LANDED, list(flown.planets).index(at)
    if docked:
        record["mode"], record["site"] = Mode.DOCKED, len(flown.planets) + flown.stations.index(at)
    if landed or docked:
        record["visited"][record["site"]] = 1
    return flight


def earned(turn):
    """Return the points of a turn, but for those that are 0."""
    return {name: points for name, points in turn.points.items() if points}


def sample_map(rng, columns, rows, planets):
    """Sample planets on a map; the first one has weak gravity and is home."""
    width, height = rng.randint(*columns), rng.randint(*rows)
    planets_so_far = {}
    num_planets = rng.randint(1, planets)
    for _ in range(40):
        reference = point_name((rng.randint(1, width), rng.randint(1, height)))
        gravity = rng.choice(["weak", "strong"]) if planets_so_far else "weak"
        try:
            sampled = planets_so_far | {reference: gravity}
            mission(sampled, home=next(iter(sampled)), columns=width, rows=height)
        except ConfigError:
            continue
        planets_so_far = sampled
        if len(planets_so_far) == num_planets:
            break
    return {"columns": width, "rows": height, "planets": planets_so_far, "home": next(iter(planets_so_far))}


def sample_mission(rng, probe=None, turns=(1, 12), columns=(8, 25), rows=(8, 12), planets=4):
    """Sample a mission of any kind."""
    values = sample_map(rng, columns, rows, planets) | {"title": "sampled", "turns": rng.randint(*turns)}
    weak = [name for name, gravity in values["planets"].items() if gravity == "weak"]
    others = [name for name in values["planets"] if name != values["home"]]
    ends_at = [f"well {name}" for name in values["planets"]]

    def some(names):
        return rng.sample(names, rng.randint(0, min(2, len(names))))

    values["survey"] = some(others) if rng.random() < 0.4 else []
    if rng.random() < 0.3 if probe is None else probe:
        values["game"] = "planetary_probe"
    else:
        points = [(right + 1, down + 1) for right in range(values["columns"]) for down in range(values["rows"])]
        values["stations"] = some([name for name in map(point_name, points) if name not in values["planets"]])
        values["advanced"] = rng.random() < 0.5
        values["land_on"] = some(weak) if rng.random() < 0.4 else []
        ends_at += [f"planet {name}" for name in weak] + [f"station {name}" for name in values["stations"]]
        if rng.random() < 0.4:
            values["fuel_limit"] = rng.randint(0, 20)
    if rng.random() < 0.3:
        values["end_at"] = rng.choice(ends_at)
    has_goals = bool(values["survey"] or values.get("land_on") or "end_at" in values)
    values["race"] = has_goals and rng.random() < 0.5
    return load_mission(values)


# Hypothesis generates seeds rather than maps: otherwise it hardly ever leaves the simplest ones.


def maps(columns=(8, 25), rows=(8, 12), planets=4):
    """Values of maps."""
    return st.integers(0, 2**32).map(lambda seed: sample_map(random.Random(seed), columns, rows, planets))


def missions(**limits):
    """Missions of all kinds."""
    return st.integers(0, 2**32).map(lambda seed: sample_mission(random.Random(seed), **limits))


def flights(coasting=0.5, **limits):
    """Flights of random legal orders to the end."""
    return st.builds(
        lambda loaded, seed: fly_at_random(Flight(loaded), random.Random(seed), coasting),
        missions(**limits),
        st.integers(0, 2**32),
    )


def fly_at_random(flight, rng, coasting=0.5):
    """Fly on with random legal orders to the end."""
    while not flight.is_over:
        orders = [int(code) for code in flight.action_mask().nonzero()[0]]
        coasts = orders[0] == 0 and rng.random() < coasting
        flight.fly(0 if coasts else rng.choice(orders))
    return flight
