"""Ways for tests to a flight in any situation, and Hypothesis strategies for missions."""

import random

from hypothesis import strategies as st

from geo_patrol import ConfigError
from geo_patrol.flight import Flight, load_mission
from geo_patrol.flight.engine.state import DOCKED, FLYING, LANDED
from geo_patrol.flight.grid import point_name, read_point

SAMPLE = {"E6": "strong", "E16": "weak", "F22": "weak"}


def mission(planets=None, /, **values):
    """Return a mission on the sample map, or on another one."""
    basic = {"title": "test", "turns": 20, "home": "E16", "planets": dict(planets or SAMPLE)}
    return load_mission(basic | values)


def ship(settled, at, move=(0, 0), *, docked=False, landed=False, turn=3):
    """Return a flight on its way: at a point, after a move, or landed or docked there."""
    flight = Flight(settled)
    record = flight._record
    record["column"], record["row"] = read_point(at)
    record["right"], record["down"] = move
    record["turn"], record["mode"], record["place"] = turn, FLYING, -1
    if landed:
        record["mode"], record["place"] = LANDED, list(settled.planets).index(at)
        record["landed"][record["place"]] = 1
    if docked:
        record["mode"], record["place"] = DOCKED, settled.stations.index(at)
        record["docked"][record["place"]] = 1
    return flight


def ends(flight):
    """Return the endpoints of all turns, as the paper log lists them."""
    return " ".join(point_name(turn.end) for turn in flight.turns)


def draw_map(chooser, columns, rows, planets):
    """Draw planets on a small or a usual map; the first one is weak and is home."""
    width, height = chooser.randint(*columns), chooser.randint(*rows)
    chosen = {}
    wanted = chooser.randint(1, planets)
    for _ in range(40):
        reference = point_name((chooser.randint(1, width), chooser.randint(1, height)))
        gravity = chooser.choice(["weak", "strong"]) if chosen else "weak"
        try:
            mission(chosen | {reference: gravity}, home=next(iter(chosen), reference), columns=width, rows=height)
        except ConfigError:
            continue
        chosen[reference] = gravity
        if len(chosen) == wanted:
            break
    return {"columns": width, "rows": height, "planets": chosen, "home": next(iter(chosen))}


def draw_mission(chooser, probe=None, turns=(1, 12), columns=(8, 25), rows=(8, 12), planets=4):
    """Draw any mission on such a map."""
    values = draw_map(chooser, columns, rows, planets) | {"title": "drawn", "turns": chooser.randint(*turns)}
    weak = [name for name, gravity in values["planets"].items() if gravity == "weak"]
    others = [name for name in values["planets"] if name != values["home"]]
    ends_at = [f"well {name}" for name in values["planets"]]

    def some(names):
        return chooser.sample(names, chooser.randint(0, min(2, len(names))))

    values["survey"] = some(others) if chooser.random() < 0.4 else []
    if chooser.random() < 0.3 if probe is None else probe:
        values["game"] = "planetary_probe"
    else:
        points = [(right + 1, down + 1) for right in range(values["columns"]) for down in range(values["rows"])]
        values["stations"] = some([name for name in map(point_name, points) if name not in values["planets"]])
        values["advanced"] = chooser.random() < 0.5
        values["land_on"] = some(weak) if chooser.random() < 0.4 else []
        ends_at += [f"planet {name}" for name in weak] + [f"station {name}" for name in values["stations"]]
        if chooser.random() < 0.4:
            values["fuel_limit"] = chooser.randint(0, 20)
    if chooser.random() < 0.3:
        values["end_at"] = chooser.choice(ends_at)
    has_goals = bool(values["survey"] or values.get("land_on") or "end_at" in values)
    values["race"] = has_goals and chooser.random() < 0.5
    return load_mission(values)


# Seeds rather than parts are drawn by Hypothesis: left to itself it hardly leaves the simplest maps.


def maps(columns=(8, 25), rows=(8, 12), planets=4):
    """Figures of maps."""
    return st.integers(0, 2**32).map(lambda seed: draw_map(random.Random(seed), columns, rows, planets))


def missions(**limits):
    """Missions of all kinds."""
    return st.integers(0, 2**32).map(lambda seed: draw_mission(random.Random(seed), **limits))


def fly_at_random(flight, chooser, coasting=0.5):
    """Fly on with random legal orders to the end."""
    while not flight.is_over:
        orders = [int(code) for code in flight.action_mask().nonzero()[0]]
        coasts = orders[0] == 0 and chooser.random() < coasting
        flight.fly(0 if coasts else chooser.choice(orders))
    return flight
