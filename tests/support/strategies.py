"""Hypothesis strategies shared by the tests, and functions that build positions or reach them by random play."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from geo_patrol import Game, GameConfig, load_config, preset_names
from geo_patrol.base.board import azimuth_of, ring_of, sector_at
from geo_patrol.base.sides import SIDES
from geo_patrol.engine.legal import sample_legal

OPEN_PRESETS = tuple(name for name in preset_names() if not load_config(name).hides_enemies)
"""Those in which both sides see everything."""
FULL_SIZE_PRESETS = tuple(name for name in OPEN_PRESETS if name not in ("duel", "skirmish"))
"""Those for which scripts are made; the others are small enough to be solved, or hide enemies."""

seeds = st.integers(0, 2**63 - 1)
costs = st.sampled_from([0, 1, 2, 5]) | st.sampled_from([5, 7, 10, 20]) | st.integers(0, 100)
cost_pairs = st.tuples(costs, costs).map(list)
free_odds = st.sampled_from([0.5, 0.4, 0.8]) | st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
fuels = st.sampled_from([60, 80, 100, 200]) | st.integers(1, 200)
supplies = st.fixed_dictionaries({}, optional={"fuel": fuels, "ammo": st.integers(0, 3)})
win_scores = st.just(10_000) | st.integers(300, 1_000_000) | st.integers(1, 300)
weights = st.integers(0, 3) | st.floats(0, 2) | st.sampled_from([0.1, 0.125, 1 / 3])


@st.composite
def boards(draw):
    """Any board; small ones, where the sides meet, are the most frequent."""
    max_ring = draw(st.sampled_from([2, 3, 4, 10]))
    inner, goal, outer = sorted(draw(st.lists(st.integers(1, max_ring), min_size=3, max_size=3)))
    if draw(st.sampled_from([False] * 5 + [True])):
        goal = outer = 10
    return {"inner_ring": inner, "goal_ring": goal, "outer_ring": outer}


@st.composite
def formations(draw):
    groups, remaining = [], draw(st.sampled_from([4, 10]) | st.integers(1, 10))
    while remaining:
        count = draw(st.integers(1, remaining))
        groups.append([draw(st.integers(-3, 3) | st.integers(-1023, 1023)), count])
        remaining -= count
    return groups


@st.composite
def side_values(draw, odds):
    pair = st.tuples(odds, odds).map(list)
    return {
        "hva": {"fuel": draw(fuels), "ammo": draw(st.integers(0, 3)), "weight": draw(weights)},
        "patrols": {
            "formation": draw(formations()),
            "fuel": draw(fuels),
            "ammo": draw(st.integers(0, 3)),
            "weight": draw(weights | st.just("auto")),
            "single": draw(st.dictionaries(st.sampled_from([str(i) for i in range(1, 11)]), supplies, max_size=3)),
        },
        "costs": {
            **{name: draw(costs) for name in ("prograde", "retrograde", "radial_in", "radial_out")},
            "station_keeping": draw(st.integers(0, 5)),
            **{name: draw(cost_pairs) for name in ("shoot", "collide", "guard")},
        },
        "odds": {name: draw(pair) for name in ("shoot", "collide", "guard")},
        "points": {
            "goal": draw(st.integers(0, 20)),
            "adjacent": draw(st.integers(0, 20)),
            "win": draw(win_scores),
            "patrol": draw(st.sampled_from([0, 0, 0, 7])),
        },
    }


@st.composite
def configs(draw, *, symmetric=None, rules=None, odds=free_odds):
    """Any configuration without ranges and choices."""
    alpha = draw(side_values(odds))
    is_symmetric = draw(st.booleans()) if symmetric is None else symmetric
    return load_config(
        {
            "title": "from Hypothesis",
            "rules": rules or draw(st.sampled_from(["book", "code"])),
            "turn_limit": draw(st.sampled_from([50, 60]) | st.integers(1, 60)),
            "board": draw(boards()),
            "alpha": alpha,
            "bravo": alpha if is_symmetric else draw(side_values(odds)),
        }
    )


def random_orders(game: Game, rng: np.random.Generator) -> dict[str, Any]:
    """Sample legal orders for both sides, as order codes."""
    masks = np.stack([game.action_mask(side) for side in SIDES])
    return dict(zip(SIDES, sample_legal(masks, rng), strict=True))


def play_on(game: Game, phases: int, seed: int = 0) -> Game:
    """Play a number of phases at random, or until the game is over."""
    rng = np.random.default_rng(seed)
    for _ in range(phases):
        if game.is_over:
            break
        game.step(**random_orders(game, rng))
    return game


@st.composite
def games(draw, config=None, max_phases=40):
    """A game in progress or over."""
    game = Game(draw(configs() if config is None else config), seed=draw(seeds))
    return play_on(game, draw(st.integers(0, max_phases)), draw(st.integers(0, 2**32)))


def small(fleet: int = 4, /, *, preset: str = "geo_patrol", **tables: Mapping[str, Any]) -> GameConfig:
    """Return a preset with few Patrols, all starting in the goal sector, and values of both sides changed.

    ``small(odds={"shoot": [1, 1]})`` never misses.
    """
    both: dict[str, Any] = {name: dict(table) for name, table in tables.items() if name not in ("top", *SIDES)}
    both["patrols"] = {"formation": [[0, fleet]], **both.get("patrols", {})}
    config: dict[str, Any] = {"extends": preset, "both": both, **tables.get("top", {})}
    return load_config(config | {side: dict(tables[side]) for side in SIDES if side in tables})


def opposite(sector: int) -> int:
    """Return the sector half a turn away."""
    ring = int(ring_of(sector))
    return int(sector_at(ring, azimuth_of(sector) + 2 ** (ring - 1)))


def mirrored(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved game with the sides swapped and everything turned by half a turn."""
    position = dict(saved["position"])
    position["goal"] = [opposite(goal) for goal in position["goal"]]
    position["sector"] = [[opposite(sector) for sector in fleet] for fleet in position["sector"]]
    bits = position["reasons"]
    swapped = {name: value[::-1] for name, value in position.items() if isinstance(value, list)}
    reasons = (bits & 0x55) << 1 | (bits & 0xAA) >> 1 | (bits & 0x100)
    return {**saved, "position": {**position, **swapped, "reasons": reasons}}
