"""From a configuration to a starting position (rule book, Setup).

``compile_scenario`` turns a configuration into arrays, once; ``reset_games`` draws the figures that are left to
chance, game by game from each one's own stream, and sets the satellites up.
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import EARTH, sector_at
from geo_patrol.config.ranges import Choice, Range
from geo_patrol.config.schema import GameConfig, SideConfig
from geo_patrol.config.variants import scenarios
from geo_patrol.engine.drift import fuel_points
from geo_patrol.engine.rng import random_below, random_bits, random_unit, seed_stream
from geo_patrol.engine.state import (
    HVA,
    MOVEMENT,
    PATROLS,
    RULES,
    SATELLITES,
    SIDES,
    Record,
    Records,
    records,
)
from geo_patrol.jit import jit
from geo_patrol.sides import SIDES as SIDE_NAMES

FULL_FLEET_POINTS = 100
"""What a full fleet of Patrols is worth with an automatic weight."""

_WEIGHT_DENOMINATOR = 100_000
_WHOLE_RANGE, _REAL_RANGE = 0, -1  # in the place of the number of choices

Slots: TypeAlias = NDArray[np.int64]
"""Rules records as rows of eight-byte slots."""


class Scenario(NamedTuple):
    """What a reset draws from, as arrays."""

    variants: Slots
    """(variants, slots): the rules records to start from."""
    chances: NDArray[np.int64]
    """(variants,): their relative chances, summed up so far."""
    draws: NDArray[np.int64]
    """(draws, 5): variant, slot, width, first value, number of choices (or what kind of range)."""
    values: NDArray[np.int64]
    """The values that draws refer to, as slots."""
    mirrored: NDArray[np.int64]
    """(variants,): 1 where bravo gets alpha's figures."""
    mirror: NDArray[np.int64]
    """(slots of a side, 2): each slot of alpha's figures and bravo's of the same kind."""


def compile_scenario(config: GameConfig) -> Scenario:
    """Turn a configuration into the arrays that resets draw from."""
    variants, chances, mirrored = [], [], []
    draws: list[tuple[int, ...]] = []
    values: list[int] = []
    for place, (chance, variant) in enumerate(scenarios(config)):
        rules = records(RULES, 1)
        _fill_rules(rules[0], variant)
        for slot, rows, choices in _drawn_figures(variant):
            draws.append((place, slot, len(rows[0]), len(values), choices))
            values += itertools.chain.from_iterable(rows)
        variants.append(as_slots(rules)[0])
        chances.append(chance)
        mirrored.append(int(variant.mirror))
    return Scenario(
        variants=np.array(variants),
        chances=np.cumsum(chances).astype(np.int64),
        draws=np.array(draws, np.int64).reshape(-1, 5),
        values=np.array(values, np.int64),
        mirrored=np.array(mirrored, np.int64),
        mirror=np.array(list(_mirror_slots()), np.int64),
    )


def as_slots(rules: Records) -> Slots:
    """View rules records as rows of slots."""
    return rules.view(np.int64).reshape(len(rules), -1)


def _slot(field: str, *index: int) -> int:
    """Return the slot of a field's element."""
    kind, offset = RULES.fields[field][:2]  # type: ignore[index]
    return int(offset // 8 + np.ravel_multi_index(index, kind.shape))


def _mirror_slots() -> Iterator[tuple[int, int]]:
    for kind, offset in (RULES.fields[name][:2] for name in RULES.names or ()):  # type: ignore[index]
        if kind.shape:  # a figure of each side
            half = kind.itemsize // 16
            for place in range(half):
                yield offset // 8 + place, offset // 8 + half + place


_ENGAGEMENTS = ("shoot", "collide", "guard")
_MOVES = ("prograde", "retrograde", "radial_in", "radial_out")


def _side_figures(side: int, config: SideConfig) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """List a side's figures that a reset may draw: the place in the rules record, and the value."""
    hva, patrols, costs, odds, points = config.hva, config.patrols, config.costs, config.odds, config.points
    yield ("formation", side), patrols.formation
    yield ("patrol_count", side), PATROLS if patrols.count is None else patrols.count
    for kind, (fuel, ammo) in enumerate(((hva.fuel, hva.ammo), (patrols.fuel, patrols.ammo))):
        yield ("initial_fuel", side, kind), fuel
        yield ("initial_ammo", side, kind), ammo
    for move, name in enumerate(_MOVES, start=1):
        yield ("move_cost", side, move), getattr(costs, name)
    yield ("station_keeping_cost", side), costs.station_keeping
    for kind, name in enumerate(_ENGAGEMENTS):
        for distance in range(2):
            yield ("engagement_cost", side, kind, distance), getattr(costs, name)[distance]
            yield ("engagement_odds", side, kind, distance), getattr(odds, name)[distance]
    yield ("goal_points", side), points.goal
    yield ("adjacent_points", side), points.adjacent
    yield ("win_score", side), points.win


def _fill_rules(rules: Record, config: GameConfig) -> None:
    """Write a configuration into a rules record; what is drawn stays zero."""
    board = config.board
    rules.inner_ring, rules.outer_ring, rules.goal_ring = board.inner_ring, board.outer_ring, board.goal_ring
    rules.turn_limit = config.turn_limit
    rules.code_rules = config.rules == "code"
    rules.forfeit = config.illegal_orders == "forfeit"
    for side, name in enumerate(SIDE_NAMES):
        figures = config.side(name)
        for (field, *index), value in _side_figures(side, figures):
            if not isinstance(value, (Range, Choice)):
                rules[field][tuple(index)] = _formation_row(value) if field == "formation" else value
        _fill_weights(rules, side, figures)


def _fill_weights(rules: Record, side: int, config: SideConfig) -> None:
    automatic = config.patrols.weight == "auto"
    rules.automatic_weight[side] = automatic
    for kind, weight in enumerate((config.hva.weight, 0.0 if automatic else float(config.patrols.weight))):
        exact = Fraction(repr(weight)).limit_denominator(_WEIGHT_DENOMINATOR)
        rules.weight[side, kind] = weight
        rules.weight_numerator[side, kind], rules.weight_denominator[side, kind] = exact.as_integer_ratio()


def _formation_row(formation: tuple[tuple[int, int], ...]) -> list[int]:
    """Return the number of Patrols of a formation, then each one's azimuth offset, filled up with zeros."""
    offsets = [offset for offset, count in formation for _ in range(count)]
    return [len(offsets), *offsets, *[0] * (PATROLS - len(offsets))]


def _drawn_figures(config: GameConfig) -> Iterator[tuple[int, list[list[int]], int]]:
    """List what a reset draws: the slot, the rows of values, and the number of choices (or what kind of range).

    A mirrored bravo draws nothing of its own.
    """
    for side, name in enumerate(SIDE_NAMES[:1] if config.mirror else SIDE_NAMES):
        for (field, *index), value in _side_figures(side, config.side(name)):
            if field == "formation":
                if isinstance(value, Choice):
                    yield _slot(field, side, 0), [_formation_row(f) for f in value.choices], len(value.choices)
                continue
            kind = RULES[field].base
            if isinstance(value, Choice):
                yield _slot(field, *index), [_bits(choice, kind) for choice in value.choices], len(value.choices)
            elif isinstance(value, Range):
                rows = [_bits(value.low, kind), _bits(value.high, kind)]
                yield _slot(field, *index), rows, _REAL_RANGE if kind == np.float64 else _WHOLE_RANGE


def _bits(value: float, kind: np.dtype[Any]) -> list[int]:
    """Return a figure as the content of one slot."""
    return [int(np.array(value, kind).view(np.int64))]


@jit
def draw_variant(game: Record, scenario: Scenario) -> int:
    """Draw which variant of the scenario a game plays; a single one takes no random number."""
    if len(scenario.chances) == 1:
        return 0
    drawn = random_below(game, scenario.chances[-1])
    variant = 0
    while drawn >= scenario.chances[variant]:
        variant += 1
    return variant


@jit
def draw_figure(game: Record, scenario: Scenario, draw: Slots, slots: Slots) -> None:
    """Draw one figure of a game's rules and write it into its slot (a formation: its slots)."""
    slot, width, first, choices = draw[1], draw[2], draw[3], draw[4]
    if choices == _REAL_RANGE:
        ends = scenario.values[first : first + 2].view(np.float64)
        slots[slot : slot + 1].view(np.float64)[0] = ends[0] + (ends[1] - ends[0]) * random_unit(game)
    elif choices == _WHOLE_RANGE:
        low, high = scenario.values[first], scenario.values[first + 1]
        slots[slot] = low + random_below(game, high - low + 1)
    else:
        row = first + width * random_below(game, choices)
        slots[slot : slot + width] = scenario.values[row : row + width]


@jit
def draw_rules(game: Record, scenario: Scenario, slots: Slots) -> None:
    """Fill a game's rules, given as a row of slots, with figures drawn from its random stream."""
    variant = draw_variant(game, scenario)
    slots[:] = scenario.variants[variant]
    for place in range(len(scenario.draws)):
        if scenario.draws[place, 0] == variant:
            draw_figure(game, scenario, scenario.draws[place], slots)
    if scenario.mirrored[variant]:
        for place in range(len(scenario.mirror)):
            slots[scenario.mirror[place, 1]] = slots[scenario.mirror[place, 0]]


@jit
def is_in_fleet(rules: Record, side: int, place: int) -> bool:
    """Tell whether the Patrol at a place of the formation takes part: as many do as the count says, nearest first."""
    nearer = 0
    for other in range(rules.formation[side, 0]):
        difference = abs(rules.formation[side, 1 + other]) - abs(rules.formation[side, 1 + place])
        if difference < 0 or (difference == 0 and other < place):
            nearer += 1
    return nearer < rules.patrol_count[side]


@jit
def set_weight(rules: Record, side: int, fleet: int) -> None:
    """Set the weight of the Patrols' fuel so that a full fleet is worth its points."""
    full = max(fleet * rules.initial_fuel[side, 1], 1)
    rules.weight[side, 1] = FULL_FLEET_POINTS / full
    rules.weight_numerator[side, 1] = FULL_FLEET_POINTS
    rules.weight_denominator[side, 1] = full


@jit
def place_satellite(game: Record, rules: Record, side: int, number: int, azimuth: int) -> None:
    """Put a satellite on the goal ring with full tanks."""
    kind = 0 if number == HVA else 1
    game.sector[side, number] = sector_at(rules.goal_ring, azimuth)
    game.fuel[side, number] = rules.initial_fuel[side, kind]
    game.ammo[side, number] = rules.initial_ammo[side, kind]


@jit
def set_up_side(game: Record, rules: Record, side: int) -> None:
    """Set up a side: the HVA in its goal sector, the Patrols around it, numbered in the order of the formation."""
    goal_azimuth = side * (1 << (rules.goal_ring - 1))  # bravo's is half a turn from alpha's
    game.goal[side] = sector_at(rules.goal_ring, goal_azimuth)
    place_satellite(game, rules, side, HVA, goal_azimuth)
    fleet = 0
    for place in range(rules.formation[side, 0]):
        if is_in_fleet(rules, side, place):
            fleet += 1
            place_satellite(game, rules, side, fleet, goal_azimuth + rules.formation[side, 1 + place])
    rules.patrol_count[side] = fleet
    if rules.automatic_weight[side]:
        set_weight(rules, side, fleet)


@jit
def clear_game(game: Record) -> None:
    """Empty a game's record but for its random stream."""
    game.turn = 0
    game.phase = MOVEMENT
    game.done = 0
    game.reasons = 0
    for side in range(SIDES):
        game.goal_points[side] = 0
        game.score[side] = 0
        game.illegal_orders[side] = 0
        for number in range(SATELLITES):
            game.sector[side, number] = EARTH
            game.fuel[side, number] = 0
            game.ammo[side, number] = 0
            game.destroyed[side, number] = 0


@jit
def reset_game(game: Record, scenario: Scenario, rules: Record, slots: Slots) -> None:
    """Set a game up anew from its random stream. ``slots`` are those of ``rules``."""
    game.setup_key = random_bits(game)
    set_up_game(game, scenario, rules, slots)


@jit
def set_up_game(game: Record, scenario: Scenario, rules: Record, slots: Slots) -> None:
    """Set a game up as its setup key says, and leave its random stream as it is.

    The rules are drawn from a stream of their own, so that whoever can draw them again, from a save or a fork, learns
    nothing of the chance to come.
    """
    clear_game(game)
    key, counter = game.chance_key, game.chance_counter
    game.chance_key = game.setup_key
    game.chance_counter = np.uint64(0)
    draw_rules(game, scenario, slots)
    game.chance_key = key
    game.chance_counter = counter
    for side in range(SIDES):
        set_up_side(game, rules, side)
    for side in range(SIDES):
        game.score[side] = fuel_points(game, rules, side)


@jit
def reset_games(games: Records, scenario: Scenario, rules: Records, slots: Slots, which: NDArray[np.bool_]) -> None:
    """Set up anew those games of a batch that ``which`` marks.

    ``rules``: one record for each game, or a single one for all where nothing is drawn. ``slots``: the same memory.
    """
    for place in range(len(games)):
        if which[place]:
            of_rules = place if len(rules) > 1 else 0
            reset_game(games[place], scenario, rules[of_rules], slots[of_rules])


@jit
def set_up_games(games: Records, scenario: Scenario, rules: Records, slots: Slots) -> None:
    """Set up all games of a batch again as their setup keys say."""
    for place in range(len(games)):
        of_rules = place if len(rules) > 1 else 0
        set_up_game(games[place], scenario, rules[of_rules], slots[of_rules])


@jit
def seed_games(games: Records, seeds: NDArray[np.uint64], which: NDArray[np.bool_]) -> None:
    """Start the random streams of marked games afresh, each from its own seed."""
    for place in range(len(games)):
        if which[place]:
            seed_stream(games[place], seeds[place])
