"""Ways for tests to a flight in any situation, and Hypothesis strategies for missions."""

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


@st.composite
def maps(draw, columns=(8, 25), rows=(8, 12), planets=4, weak_only=False):
    """Planets on a small or a usual map; the first one is weak."""
    width, height = draw(st.integers(*columns)), draw(st.integers(*rows))
    chosen = {}
    for _ in range(draw(st.integers(1, planets))):
        reference = point_name((draw(st.integers(1, width)), draw(st.integers(1, height))))
        gravity = "weak" if not chosen or weak_only else draw(st.sampled_from(["weak", "strong"]))
        home = next(iter(chosen), reference)
        try:
            mission(chosen | {reference: gravity}, home=home, columns=width, rows=height)
        except ConfigError:
            continue
        chosen[reference] = gravity
    if not chosen:
        chosen = {point_name((width // 2, height // 2)): "weak"}
    return {"columns": width, "rows": height, "planets": chosen, "home": next(iter(chosen))}


@st.composite
def missions(draw, probe=None, turns=(1, 12), **limits):
    """Any mission on such a map."""
    figures = draw(maps(**limits))
    planets, home = figures["planets"], figures["home"]
    weak = [name for name, gravity in planets.items() if gravity == "weak"]
    others = [name for name in planets if name != home]
    is_probe = draw(st.booleans()) if probe is None else probe
    values = figures | {"title": "drawn", "turns": draw(st.integers(*turns))}
    ends_at = [f"well {name}" for name in planets]
    subset = lambda names: draw(st.lists(st.sampled_from(names), unique=True, max_size=2)) if names else []  # noqa: E731
    values["survey"] = subset(others) if draw(st.booleans()) else []
    if is_probe:
        values["game"] = "planetary_probe"
    else:
        points = [
            point_name((column, row))
            for column in range(1, figures["columns"] + 1)
            for row in range(1, figures["rows"] + 1)
        ]
        free = [point for point in points if point not in planets]
        values["stations"] = subset(free)
        values["advanced"] = draw(st.booleans())
        values["land_on"] = subset(weak) if draw(st.booleans()) else []
        ends_at += [f"planet {name}" for name in weak] + [f"station {name}" for name in values["stations"]]
        if draw(st.booleans()):
            values["fuel_limit"] = draw(st.integers(0, 20))
    if draw(st.integers(0, 3)) == 0:
        values["end_at"] = draw(st.sampled_from(ends_at))
    values["race"] = bool(values["survey"] or values.get("land_on") or "end_at" in values) and draw(st.booleans())
    return load_mission(values)


def fly_at_random(flight, random, coasting=0.5):
    """Fly on with random legal orders to the end."""
    while not flight.is_over:
        orders = [int(code) for code in flight.action_mask().nonzero()[0]]
        coasts = orders[0] == 0 and random.random() < coasting
        flight.fly(0 if coasts else random.choice(orders))
    return flight
