"""From a configuration to a starting position (rule book, Setup).

``make_scenario`` turns a configuration into arrays, once. ``sample_rules`` samples the values that a configuration leaves
to chance, from a stream of each game's own, and ``sampled_config`` returns them as a configuration again; ``set_up_game``
places the satellites.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import EARTH, sector_at
from geo_patrol.base.errors import show
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.base.sides import SIDES as SIDE_NAMES
from geo_patrol.config.schema import GameConfig, SideConfig
from geo_patrol.config.toml_files import Choice, Range
from geo_patrol.engine import state
from geo_patrol.engine.observe import NUM_GAME_FEATURES, write_rule_features
from geo_patrol.engine.rng import random_below, random_bits, random_unit
from geo_patrol.engine.turn import fuel_points

FULL_FLEET_POINTS = 100
"""Points that a full fleet of Patrols is worth with an automatic weight."""

_WEIGHT_DENOMINATOR = 100_000
_INTEGER_RANGE, _REAL_RANGE = 0, -1  # instead of a number of choices
_AS_FLEET = -1  # a Patrol without fuel or ammo of its own, until rules are complete

Words: TypeAlias = NDArray[np.int64]
"""Rules records as rows of eight-byte words."""


class Scenario(NamedTuple):
    """What resets sample from, as arrays."""

    variants: Words
    """(variants, words): the rules records to start from."""
    cumulative_weights: NDArray[np.int64]
    """(variants,): the cumulative sum of their weights."""
    draws: NDArray[np.int64]
    """(draws, 5): variant, word, width, index of the first value, number of choices (or the kind of range)."""
    values: NDArray[np.int64]
    """The values that draws refer to, as words."""
    mirrored: NDArray[np.int64]
    """(variants,): 1 where bravo has alpha's values."""
    mirror: NDArray[np.int64]
    """(words of a side, 2): each word of alpha's values and bravo's of the same kind."""


def make_scenario(config: GameConfig) -> Scenario:
    """Return the arrays that resets sample from."""
    variants, weights, mirrored = [], [], []
    draws: list[tuple[int, ...]] = []
    values: list[int] = []
    for index, (weight, variant) in enumerate(config.scenarios()):
        rules = state.records(state.RULES, 1)
        _fill_rules(rules[0], variant)
        rules[0].variant = index if config.variants else state.NOBODY
        for word, rows, choices in _sampled_values(variant):
            draws.append((index, word, len(rows[0]), len(values), choices))
            values += itertools.chain.from_iterable(rows)
        variants.append(as_words(rules)[0])
        weights.append(weight)
        mirrored.append(int(variant.mirror))
    return Scenario(
        variants=np.array(variants),
        cumulative_weights=np.cumsum(weights).astype(np.int64),
        draws=np.array(draws, np.int64).reshape(-1, 5),
        values=np.array(values, np.int64),
        mirrored=np.array(mirrored, np.int64),
        mirror=np.array(list(_mirror_words()), np.int64),
    )


def as_words(rules: state.Records) -> Words:
    """View rules records as rows of words."""
    return rules.view(np.int64).reshape(len(rules), -1)


def _word(field: str, *index: int) -> int:
    """Return the word of a field's element."""
    kind, offset = state.RULES.fields[field][:2]  # type: ignore[index]
    return int(offset // 8 + np.ravel_multi_index(index, kind.shape))


def _mirror_words() -> Iterator[tuple[int, int]]:
    for name in state.RULES.names or ():
        kind, offset = state.RULES.fields[name][:2]  # type: ignore[index]
        if kind.shape and not name.endswith("_features"):  # a value of each side
            half = kind.itemsize // 16
            for i in range(half):
                yield offset // 8 + i, offset // 8 + half + i


_ENGAGEMENTS = ("shoot", "collide", "guard")
_MOVES = ("prograde", "retrograde", "radial_in", "radial_out")


def _side_values(side: int, config: SideConfig) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    """List a side's values that a reset may sample: key, field and index in the rules record, and the value."""
    patrols, costs, odds, points = config.patrols, config.costs, config.odds, config.points
    yield "patrols.formation", ("formation", side), patrols.formation
    yield "patrols.count", ("patrol_count", side), 0 if patrols.count is None else patrols.count
    for kind, name in enumerate(("hva", "patrols")):
        supplies = getattr(config, name)
        yield f"{name}.fuel", ("initial_fuel", side, kind), supplies.fuel
        yield f"{name}.ammo", ("initial_ammo", side, kind), supplies.ammo
    for move, name in enumerate(_MOVES, start=1):
        yield f"costs.{name}", ("move_cost", side, move), getattr(costs, name)
    yield "costs.station_keeping", ("station_keeping_cost", side), costs.station_keeping
    for kind, name in enumerate(_ENGAGEMENTS):
        for distance in range(2):
            yield f"costs.{name}.{distance}", ("engagement_cost", side, kind, distance), getattr(costs, name)[distance]
            yield f"odds.{name}.{distance}", ("engagement_odds", side, kind, distance), getattr(odds, name)[distance]
    yield "points.goal", ("goal_points", side), points.goal
    yield "points.adjacent", ("adjacent_points", side), points.adjacent
    yield "points.win", ("win_score", side), points.win
    yield "points.patrol", ("patrol_points", side), 0 if points.patrol is None else points.patrol
    yield "sensor_range", ("sensor_range", side), 0 if config.sensor_range is None else config.sensor_range
    for number, single in (patrols.single or {}).items():
        for name, value in single:
            if value is not None:
                yield f"patrols.single.{number}.{name}", (f"patrol_{name}", side, int(number) - 1), value


def _fill_rules(rules: state.Record, config: GameConfig) -> None:
    """Write a configuration into a rules record; values to be sampled stay zero."""
    board = config.board
    rules.inner_ring, rules.outer_ring, rules.goal_ring = board.inner_ring, board.outer_ring, board.goal_ring
    rules.turn_limit = config.turn_limit
    rules.code_rules = config.rules == "code"
    rules.forfeit = config.illegal_orders == "forfeit"
    rules.patrol_fuel[:] = rules.patrol_ammo[:] = _AS_FLEET
    for side, name in enumerate(SIDE_NAMES):
        values = config.side(name)
        for _, (field, *index), value in _side_values(side, values):
            if not isinstance(value, (Range, Choice)):
                rules[field][tuple(index)] = _formation_row(value) if field == "formation" else value
        _fill_weights(rules, side, values)


def _fill_weights(rules: state.Record, side: int, config: SideConfig) -> None:
    automatic = config.patrols.weight == "auto"
    rules.automatic_weight[side] = automatic
    for kind, weight in enumerate((config.hva.weight, 0.0 if automatic else float(config.patrols.weight))):
        exact = Fraction(repr(weight)).limit_denominator(_WEIGHT_DENOMINATOR)
        rules.weight[side, kind] = weight
        rules.weight_numerator[side, kind], rules.weight_denominator[side, kind] = exact.as_integer_ratio()


def _formation_row(formation: tuple[tuple[int, int], ...]) -> list[int]:
    """Return the number of Patrols of a formation, then ten azimuth offsets: theirs, and those that a larger count adds.

    Each Patrol that is added joins the place with the fewest, so that a fleet grows evenly: of several such places the
    one nearest to the goal sector, and of equally near ones the one listed first.
    """
    offsets = [offset for offset, count in formation for _ in range(count)]
    places = Counter(offsets)  # in the order of the list
    own = len(offsets)
    for _ in range(own, state.PATROLS):
        place = min(places, key=lambda offset: (places[offset], abs(offset)))
        places[place] += 1
        offsets.append(place)
    return [own, *offsets]


def _sampled_values(config: GameConfig) -> Iterator[tuple[int, list[list[int]], int]]:
    """List what a reset samples: the word, the rows of values, and the number of choices (or the kind of range).

    Nothing is sampled for a mirrored bravo.
    """
    for side, name in enumerate(SIDE_NAMES[:1] if config.mirror else SIDE_NAMES):
        for _, (field, *index), value in _side_values(side, config.side(name)):
            if field == "formation":
                if isinstance(value, Choice):
                    yield _word(field, side, 0), [_formation_row(f) for f in value.choices], len(value.choices)
                continue
            kind = state.RULES[field].base
            if isinstance(value, Choice):
                yield _word(field, *index), [_bits(choice, kind) for choice in value.choices], len(value.choices)
            elif isinstance(value, Range):
                rows = [_bits(value.low, kind), _bits(value.high, kind)]
                yield _word(field, *index), rows, _REAL_RANGE if kind == np.float64 else _INTEGER_RANGE


def _bits(value: float, kind: np.dtype[Any]) -> list[int]:
    """Return a value as the content of one word."""
    return [int(np.array(value, kind).view(np.int64))]


def sampled_config(config: GameConfig, rules: state.Record) -> GameConfig:
    """Return a configuration that leaves something to chance with what was sampled for a game, of which these are the rules.

    A game set up from it with the same seed is the same game, random stream included: values are sampled from a stream
    of their own.
    """
    sides = {name: _sampled_side(rules, side) for side, name in enumerate(SIDE_NAMES)}  # all that a variant changes
    data = config.to_dict() | sides | {"mirror": False, "variants": []}
    if rules.variant != state.NOBODY:
        data["variant"] = config.variants[rules.variant].name
    return GameConfig.model_validate(data)


def _sampled_side(rules: state.Record, side: int) -> dict[str, Any]:
    count, *offsets = rules.formation[side].tolist()  # of the Patrols, in the order of their numbers
    hva, patrol = (
        {"fuel": int(rules.initial_fuel[side, kind]), "ammo": int(rules.initial_ammo[side, kind])} for kind in range(2)
    )
    single = {
        str(number): own
        for number, (fuel, ammo) in enumerate(
            zip(rules.patrol_fuel[side], rules.patrol_ammo[side], strict=True), start=1
        )
        if (own := {"fuel": int(fuel), "ammo": int(ammo)}) != patrol
    }
    return {
        "hva": hva | {"weight": float(rules.weight[side, 0])},
        "patrols": patrol
        | ({"single": single} if single else {})
        | {
            "formation": [[offset, len(list(patrols))] for offset, patrols in itertools.groupby(offsets[:count])],
            "count": int(rules.patrol_count[side]),
            "weight": "auto" if rules.automatic_weight[side] else float(rules.weight[side, 1]),
        },
        "costs": {
            **{move: int(rules.move_cost[side, code]) for code, move in enumerate(_MOVES, start=1)},
            "station_keeping": int(rules.station_keeping_cost[side]),
            **{name: rules.engagement_cost[side, kind].tolist() for kind, name in enumerate(_ENGAGEMENTS)},
        },
        "odds": {name: rules.engagement_odds[side, kind].tolist() for kind, name in enumerate(_ENGAGEMENTS)},
        "points": {
            "goal": int(rules.goal_points[side]),
            "adjacent": int(rules.adjacent_points[side]),
            "win": int(rules.win_score[side]),
            **({"patrol": int(rules.patrol_points[side])} if rules.patrol_points[side] else {}),
        },
        **({"sensor_range": int(rules.sensor_range[side])} if rules.sensor_range[side] else {}),
    }


class SampledValue(NamedTuple):
    """Where the rules hold a value that a reset samples."""

    word: int
    is_real: bool
    formations: dict[tuple[int, ...], int]
    """The formations that it can be, as the rules hold them, with their indices; empty for a number."""

    def read_formations(self, words: Words) -> list[int]:
        """Return the index of the formation in many rules, given as rows of words."""
        size = state.RULES["formation"].shape[1]
        return [self.formations[tuple(row)] for row in words[:, self.word : self.word + size].tolist()]


def sampled_values(config: GameConfig) -> dict[str, SampledValue]:
    """Return the values that resets sample in any variant of a configuration, by key, such as "alpha.patrols.fuel"."""
    values: dict[str, SampledValue] = {}
    sampled = set()
    for _, variant in config.scenarios():
        for side, name in enumerate(SIDE_NAMES):
            is_mirrored = variant.mirror and side == state.BRAVO
            for key, (field, *index), value in _side_values(side, variant.side("alpha" if is_mirrored else name)):
                full_key, choices = f"{name}.{key}", value.choices if isinstance(value, Choice) else (value,)
                if field == "formation":
                    place = values.setdefault(full_key, SampledValue(_word(field, *index, 0), False, {}))
                    for formation in choices:
                        place.formations.setdefault(tuple(_formation_row(formation)), len(place.formations))
                else:
                    is_real = state.RULES[field].base == np.float64
                    values[full_key] = SampledValue(_word(field, *index), is_real, {})
                if isinstance(value, (Range, Choice)) and not is_mirrored:
                    sampled.add(full_key)
    return {key: value for key, value in values.items() if key in sampled}


@jitable
def sample_variant(game: state.Record, scenario: Scenario) -> int:
    """Sample which variant of the scenario a game plays; a single one takes no random number."""
    if len(scenario.cumulative_weights) == 1:
        return 0
    number = random_below(game, scenario.cumulative_weights[-1])
    variant = 0
    while number >= scenario.cumulative_weights[variant]:
        variant += 1
    return variant


@jitable
def sample_value(game: state.Record, scenario: Scenario, draw: state.IntArray, words: Words) -> None:
    """Sample one value of a game's rules and write it into its word (a formation: its words)."""
    word, width, first, choices = draw[1], draw[2], draw[3], draw[4]
    if choices == _REAL_RANGE:
        ends = scenario.values[first : first + 2].view(np.float64)
        words[word : word + 1].view(np.float64)[0] = ends[0] + (ends[1] - ends[0]) * random_unit(game)
    elif choices == _INTEGER_RANGE:
        low, high = scenario.values[first], scenario.values[first + 1]
        words[word] = low + random_below(game, high - low + 1)
    else:
        row = first + width * random_below(game, choices)
        for i in range(width):
            words[word + i] = scenario.values[row + i]


@jitable
def sample_words(game: state.Record, scenario: Scenario, variant: int, words: Words) -> None:
    """Fill a game's rules, given as a row of words, with values sampled from its random stream."""
    sampled = sample_variant(game, scenario)  # a known variant takes its number of the stream, too
    if variant == state.NOBODY:
        variant = sampled
    for word in range(len(words)):
        words[word] = scenario.variants[variant, word]
    for i in range(len(scenario.draws)):
        if scenario.draws[i, 0] == variant:
            sample_value(game, scenario, scenario.draws[i], words)
    mirror_words(scenario, variant, words)


@jitable
def mirror_words(scenario: Scenario, variant: int, words: Words) -> None:
    """Give bravo alpha's values where the variant says so."""
    if scenario.mirrored[variant]:
        for i in range(len(scenario.mirror)):
            words[scenario.mirror[i, 1]] = words[scenario.mirror[i, 0]]


@jitable
def is_in_fleet(rules: state.Record, side: int, index: int) -> bool:
    """Return whether the Patrol at an index takes part: as many as counted, of the formation the nearest, then the added."""
    own = rules.formation[side, 0]
    if index >= own:
        return index < rules.patrol_count[side]
    nearer = 0
    for other in range(own):
        difference = abs(rules.formation[side, 1 + other]) - abs(rules.formation[side, 1 + index])
        if difference < 0 or (difference == 0 and other < index):
            nearer += 1
    return nearer < rules.patrol_count[side]


@jitable
def complete_rules(rules: state.Record, features: NDArray[np.float64]) -> None:
    """Write what follows from the configuration: how many Patrols take part, fuel and ammo of each, automatic weights, the features.

    ``features``: (``NUM_GAME_FEATURES``,), overwritten.
    """
    for side in range(state.NUM_SIDES):
        if rules.patrol_count[side] == 0:  # no count is configured: the whole formation
            rules.patrol_count[side] = rules.formation[side, 0]
        full = 0
        for i in range(state.PATROLS):
            if rules.patrol_fuel[side, i] == _AS_FLEET:
                rules.patrol_fuel[side, i] = rules.initial_fuel[side, 1]
            if rules.patrol_ammo[side, i] == _AS_FLEET:
                rules.patrol_ammo[side, i] = rules.initial_ammo[side, 1]
            full += rules.patrol_fuel[side, i] * (i < rules.patrol_count[side])
        if rules.automatic_weight[side]:
            full = max(full, 1)
            rules.weight[side, 1] = FULL_FLEET_POINTS / full
            rules.weight_numerator[side, 1] = FULL_FLEET_POINTS
            rules.weight_denominator[side, 1] = full
    write_rule_features(rules, features)


@jitable
def sample_rules(
    game: state.Record,
    key: np.uint64,
    scenario: Scenario,
    variant: int,
    rules: state.Record,
    words: Words,
    features: NDArray[np.float64],
) -> None:
    """Sample the rules of a game from a stream of their own; the game's stream stays as it is.

    Args:
        game: the game.
        key: key of the stream. The game's stream can be computed from it, so nobody keeps it.
        scenario: what is sampled from.
        variant: index of the variant, where it is known: the weights may have been others when it was sampled. -1 samples it.
        rules: the rules, modified in place.
        words: the memory of ``rules``.
        features: (``NUM_GAME_FEATURES``,), overwritten.
    """
    games_key, counter = game.rng_key, game.rng_counter
    game.rng_key = key
    game.rng_counter = np.uint64(0)
    sample_words(game, scenario, variant, words)
    game.rng_key = games_key
    game.rng_counter = counter
    complete_rules(rules, features)


@jit
def sample_rules_of_games(
    rows: NDArray[np.int64], games: state.Records, rules: state.Records, words: Words, scenario: Scenario
) -> None:
    """Sample the rules of the games at ``rows``, with keys from their streams; ``words``: the memory of ``rules``."""
    features = np.empty(NUM_GAME_FEATURES, np.float64)
    for i in rows:
        key = random_bits(games[i])
        sample_rules(games[i], key, scenario, state.NOBODY, rules[i], words[i], features)


def read_sampled(scenario: Scenario, variant: int, words: Words) -> list[int | float]:
    """Return what was sampled for a game, in the order of the draws of its variant: numbers, and indices of choices.

    Args:
        scenario: what was sampled from.
        variant: index of the game's variant, -1 if the configuration has none.
        words: the memory of its rules.
    """
    sampled: list[int | float] = []
    for word, width, first, choices in scenario.draws[scenario.draws[:, 0] == max(variant, 0), 1:].tolist():
        if choices == _REAL_RANGE:
            sampled.append(float(words[word : word + 1].view(np.float64)[0]))
        elif choices == _INTEGER_RANGE:
            sampled.append(int(words[word]))
        else:
            rows = scenario.values[first : first + choices * width].reshape(choices, width)
            sampled.append(int((rows == words[word : word + width]).all(axis=1).argmax()))
    return sampled


def write_sampled(
    scenario: Scenario, variant: int, sampled: Sequence[int | float], rules: state.Record, words: Words
) -> None:
    """Write the rules of a game for which values were sampled, see ``read_sampled``; ``words``: the memory of ``rules``.

    Raises:
        ValueError: these cannot be sampled.
    """
    draws = scenario.draws[scenario.draws[:, 0] == max(variant, 0), 1:].tolist()
    if len(sampled) != len(draws):
        raise ValueError(f"sampled must have {len(draws)} values, got {len(sampled)}")
    words[:] = scenario.variants[max(variant, 0)]
    for i, (value, (word, width, first, choices)) in enumerate(zip(sampled, draws, strict=True)):
        is_real = choices == _REAL_RANGE
        ends = scenario.values[first : first + 2]
        low, high = (0, choices - 1) if choices > 0 else (ends.view(np.float64) if is_real else ends).tolist()
        if not low <= value <= high or (isinstance(value, float) and not is_real):
            kind = "a number" if is_real else "an integer"
            raise ValueError(f"sampled.{i} must be {kind} from {low} to {high}, got {show(value)}")
        if choices > 0:
            words[word : word + width] = scenario.values[first + width * int(value) :][:width]
        else:
            words[word] = np.array(value, np.float64 if is_real else np.int64).view(np.int64)
    mirror_words(scenario, variant, words)
    complete_rules(rules, np.empty(NUM_GAME_FEATURES, np.float64))


@jitable
def place_satellite(game: state.Record, rules: state.Record, side: int, number: int, azimuth: int) -> None:
    """Place a satellite on the goal ring with full tanks."""
    is_hva = number == state.HVA
    game.sector[side, number] = sector_at(rules.goal_ring, azimuth)
    game.fuel[side, number] = rules.initial_fuel[side, 0] if is_hva else rules.patrol_fuel[side, number - 1]
    game.ammo[side, number] = rules.initial_ammo[side, 0] if is_hva else rules.patrol_ammo[side, number - 1]


@jitable
def clear_game(game: state.Record) -> None:
    """Clear a game's record except its random stream."""
    game.turn = 0
    game.phase = state.MOVEMENT
    game.done = 0
    game.reasons = 0
    game.outcome_count = 0
    for side in range(state.NUM_SIDES):
        game.goal_points[side] = 0
        game.score[side] = 0
        game.illegal_orders[side] = 0
        for number in range(state.SATELLITES):
            game.sector[side, number] = EARTH
            game.fuel[side, number] = 0
            game.ammo[side, number] = 0
            game.destroyed[side, number] = 0


@jitable_call
def set_up_game(game: state.Record, rules: state.Record) -> None:
    """Set up a game: each HVA in its goal sector, its Patrols around it, numbered in the order of the formation."""
    clear_game(game)
    for side in range(state.NUM_SIDES):
        goal_azimuth = side * (1 << (rules.goal_ring - 1))  # bravo's is half a turn from alpha's
        game.goal[side] = sector_at(rules.goal_ring, goal_azimuth)
        place_satellite(game, rules, side, state.HVA, goal_azimuth)
        number = 0
        for i in range(state.PATROLS):
            if is_in_fleet(rules, side, i):
                number += 1
                place_satellite(game, rules, side, number, goal_azimuth + rules.formation[side, 1 + i])
    for side in range(state.NUM_SIDES):
        game.score[side] = fuel_points(game, rules, side)
