"""Positions of the golden images and of other tests. Odds of 0 and 1 make their engagements deterministic."""

import numpy as np

from geo_patrol import Game
from geo_patrol.base.board import are_within
from geo_patrol.game.timeline import Timeline

SIDES = ("alpha", "bravo")
CERTAIN = {
    "alpha.odds.shoot": [1, 1],
    "alpha.odds.collide": [1, 1],
    "bravo.odds.shoot": [0, 0],
    "bravo.odds.collide": [0, 0],
}
BOARD_7 = {"extends": "geo_patrol", "board": {"inner_ring": 1, "outer_ring": 7, "goal_ring": 7}}


def arrange(
    config, alpha, bravo, *, phase="engagement", seed=0, overrides=None, others_active=False, **position_values
):
    """Build a position: satellites by number as a sector, (sector, fuel), (sector, fuel, ammo) or a dictionary of fields.

    The others are where they start, without fuel unless ``others_active``.
    """
    position = Game(config, seed=seed, overrides=overrides).position.model_dump() | {"phase": phase} | position_values
    for side, satellites in enumerate((alpha, bravo)):
        for number in range(len(position["fuel"][side])):
            values = satellites.get(number, {} if others_active else {"fuel": 0})
            if not isinstance(values, dict):
                values = values if isinstance(values, tuple) else (values,)
                values = dict(zip(("sector", "fuel", "ammo"), values, strict=False))
            for field, value in values.items():
                position[field][side][number] = value
    return Game.from_position(position, config, seed=seed, overrides=overrides)


def arranged(config="geo_patrol", *, alpha=None, bravo=None, phase="movement", **options):
    """Build a position of whole fleets: satellites that are not named have their fuel."""
    return arrange(config, alpha or {}, bravo or {}, phase=phase, seed=1, others_active=True, **options)


def everywhere(sector, count=11):
    """Put a number of satellites of a side into a sector."""
    return {number: {"sector": sector} for number in range(count)}


def played(game, *phases):
    """Play phases, each a pair of orders, and return the timeline."""
    timeline = Timeline(game, SIDES_PLAYERS)
    game = game.copy()
    for alpha, bravo in phases:
        timeline.append(game.step(alpha, bravo))
    return timeline


SIDES_PLAYERS = ("scripted", "random")


def fight(alpha_orders, bravo_orders, overrides=CERTAIN):
    """Move Patrols to sectors around 19, and return the timeline of one engagement."""
    alpha = {1: {"sector": 19}, 2: {"sector": 19}, 3: {"sector": 20}, 4: {"sector": 9}}
    bravo = {
        0: {"sector": 20},
        1: {"sector": 19},
        2: {"sector": 20},
        3: {"sector": 21},
        4: {"sector": 9},
        5: {"sector": 20},
    }
    game = arranged(overrides=overrides, phase="engagement", turn=6, alpha=alpha, bravo=bravo)
    return played(game, (alpha_orders, bravo_orders))


def shots():
    return fight("P1 shoot P1; P2 shoot P2; P3 shoot P5", "P2 shoot P3; P3 shoot P3; P4 shoot P4")


def collisions():
    return fight("P1 collide P1; P4 collide P4", "P2 collide P3; P3 collide P3")


def guards():
    overrides = CERTAIN | {"bravo.odds.guard": [1, 0]}
    return fight("P3 shoot HVA; P2 shoot HVA", "P2 guard; P3 guard; P5 guard", overrides)


def moves():
    game = arranged(turn=3, alpha={1: {"sector": 7, "fuel": 35}, 2: {"sector": 1}, 3: {"sector": 4, "fuel": 12}})
    return played(
        game, ("P1 radial_out; P2 prograde; P3 radial_in; P9 prograde; HVA retrograde", "P1 radial_in; P10 prograde")
    )


def destroyed():
    """End a game: alpha's HVA is shot, after a few satellites have used up their fuel."""
    empty = {number: {"fuel": 0} for number in (3, 4)} | {5: {"fuel": 0, "destroyed": 1}}
    alpha = {0: {"sector": 20, "fuel": 64}} | empty
    bravo = {1: {"sector": 20}, 2: {"sector": 19}} | empty
    game = arranged(overrides={"bravo.odds.shoot": [1, 1]}, phase="engagement", turn=11, alpha=alpha, bravo=bravo)
    return played(game, ("", "P1 shoot HVA"))


def equal_scores():
    return played(arranged(overrides={"turn_limit": 1}, phase="engagement"), ("", ""))


def crowd():
    return played(arranged(alpha=everywhere(20), bravo=everywhere(20)))


def three_crowds():
    alpha = everywhere(40, 6) | {number: {"sector": 55} for number in range(6, 11)}
    return played(arranged("od2d", alpha=alpha, bravo=everywhere(31, 11)))


def ring_7():
    return played(
        arranged(BOARD_7, phase="engagement", alpha={5: {"sector": 100}}, bravo={6: {"sector": 49}}), ("", "")
    )


def small_fleets():
    return played(arranged("case5"))


PICTURES = {
    "start": (lambda: played(arranged()), 1.0, (1280, 720)),
    "moving": (moves, 0.5, (1280, 720)),
    "shots growing": (shots, 0.12, (1280, 720)),
    "shots": (shots, 1.0, (1280, 720)),
    "collisions": (collisions, 0.6, (1280, 720)),
    "guards": (guards, 1.0, (1280, 720)),
    "drifting": (guards, 0.8, (1280, 720)),
    "crowd": (crowd, 1.0, (1280, 720)),
    "three crowds": (three_crowds, 1.0, (1280, 720)),
    "hva destroyed": (destroyed, 1.0, (1280, 720)),
    "draw": (equal_scores, 1.0, (1280, 720)),
    "ring 7": (ring_7, 1.0, (1280, 720)),
    "ring 7 drifting": (ring_7, 0.4, (1280, 720)),
    "small fleets": (small_fleets, 1.0, (1280, 720)),
    "small": (shots, 1.0, (640, 480)),
    "small crowd": (crowd, 1.0, (640, 480)),
    "upright": (shots, 1.0, (720, 1280)),
    "4k": (shots, 1.0, (3840, 2160)),
}
"""Name: timeline whose last snapshot is shown, progress, size."""


def snapshot_of(make):
    """Return the last snapshot of a timeline."""
    return make().snapshot(-1)


def elsewhere(game, side, seed=0):
    """Return a game that a side cannot tell from one that hides enemies.

    Enemies out of sight are at other places out of its sight, with other fuel and ammo; the enemy's score, what the enemy
    sees, and the random streams differ as well. Where a side sees all enemies, only the random streams differ.
    """
    games, rng = game.repeat(1, same_chance=True), np.random.default_rng(seed)
    record, rules, index = games.state.games[0], games.state.rules[0], SIDES.index(side)
    reach, inner = int(rules.sensor_range[index]), int(rules.inner_ring)
    own = [one.sector for one in game.satellites(side) if not one.destroyed]
    board = range((1 << inner) - 1, (2 << int(rules.outer_ring)) - 1)
    hidden = [sector for sector in board if not any(are_within(here, sector, reach, inner) for here in own)]
    for number in np.flatnonzero(games.unseen[0, 1 - index]).tolist():
        record.sector[1 - index, number] = rng.choice(hidden)
        record.fuel[1 - index, number] = rng.integers(1, 60)
        record.ammo[1 - index, number] = rng.integers(2)
        record.score[1 - index] += 1
        games.sight.sightings["phase"][0, index] = 0
    belief = games.sight.beliefs[1 - index]  # of the enemy, who knows its own satellites
    for field in ("sector", "fuel", "ammo"):
        belief[field][1 - index] = record[field][1 - index]
    games.reseed(seed)
    games.describe()
    return Game.from_games(games)
