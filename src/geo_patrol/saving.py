"""Saved games: plain JSON data, validated when they are restored.

The configuration, the random stream and the position are saved. Sampled values of the configuration are not: they are
sampled again from the stream of the game's setup.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from geo_patrol.board import EARTH, azimuth_of, ring_of, sector_at
from geo_patrol.config.presets import read_saved_config
from geo_patrol.config.schema import MAX_FUEL, MAX_POINTS, MAX_TURNS, MAX_WEIGHT
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.errors import RecordingError
from geo_patrol.notation import PHASES, PhaseName
from geo_patrol.sides import SIDES
from geo_patrol.validation import parse_model

_MAX_FAULTS = 10
_Saved = TypeVar("_Saved", bound=BaseModel)

FORMAT = "geo_patrol game"
VERSION = 1

_UInt64 = Annotated[int, Field(ge=0, lt=2**64)]
_Int16 = Annotated[int, Field(ge=0, lt=2**15)]
_GoalPoints = Annotated[int, Field(ge=0, le=MAX_TURNS * MAX_POINTS)]
_Score = Annotated[int, Field(ge=0, le=MAX_TURNS * MAX_POINTS + MAX_WEIGHT * MAX_FUEL * state.SATELLITES)]
_Satellites = Annotated[list[_Int16], Field(min_length=2, max_length=state.SATELLITES)]
_Flags = Annotated[list[Literal[0, 1]], Field(min_length=2, max_length=state.SATELLITES)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _GeneratorState(_Table):
    state: Annotated[int, Field(ge=0, lt=2**128)]
    inc: Annotated[int, Field(ge=0, lt=2**128)]


class SavedGenerator(_Table):
    """The state of a NumPy generator, as ``generator.bit_generator.state`` returns it for ``PCG64``."""

    bit_generator: Literal["PCG64"]
    state: _GeneratorState
    has_uint32: Literal[0, 1]
    uinteger: Annotated[int, Field(ge=0, lt=2**32)]

    def restore(self) -> np.random.Generator:
        """Return a generator in this state."""
        generator = np.random.Generator(np.random.PCG64())
        generator.bit_generator.state = self.model_dump()
        return generator


class _RandomStream(_Table):
    key: _UInt64
    counter: _UInt64
    setup_key: _UInt64


class _SavedSide(_Table):
    goal: _Int16
    goal_points: _GoalPoints
    score: _Score
    illegal_orders: Annotated[int, Field(ge=0, le=state.SATELLITES)]
    sector: _Satellites
    fuel: _Satellites
    ammo: _Satellites
    destroyed: _Flags

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if not len(self.sector) == len(self.fuel) == len(self.ammo) == len(self.destroyed):
            raise ValueError("sector, fuel, ammo and destroyed must be equally long")
        return self


class _SavedGame(_Table):
    format: Literal["geo_patrol game"]
    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    config: dict[str, Any]
    chance: _RandomStream
    turn: Annotated[int, Field(ge=0, le=MAX_TURNS)]
    phase: Literal["movement", "engagement", "drift"]
    done: bool
    reasons: Annotated[int, Field(ge=0, lt=2 * state.TURN_LIMIT)]
    alpha: _SavedSide
    bravo: _SavedSide


_SIDE_FIELDS = ("goal", "goal_points", "score", "illegal_orders")
_SATELLITE_FIELDS = ("sector", "fuel", "ammo", "destroyed")


def save_game(batch: Batch, index: int = 0) -> dict[str, Any]:
    """Return one game of a batch as plain data for ``json.dumps``."""
    game, rules = batch.games[index], batch.rules[index if len(batch.rules) > 1 else 0]
    phase: PhaseName = PHASES[game.phase]
    saved: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "config": batch.config.to_dict(),
        "chance": {
            "key": int(game.rng_key),
            "counter": int(game.rng_counter),
            "setup_key": int(game.setup_key),
        },
        "turn": int(game.turn),
        "phase": phase,
        "done": bool(game.done),
        "reasons": int(game.reasons),
    }
    for side, name in enumerate(SIDES):
        fleet = 1 + int(rules.patrol_count[side])
        saved[name] = {field: int(game[field][side]) for field in _SIDE_FIELDS}
        saved[name] |= {field: game[field][side, :fleet].tolist() for field in _SATELLITE_FIELDS}
    return saved


def restore_game(saved: Any) -> Batch:
    """Restore a saved game as a batch of one.

    Raises:
        RecordingError: the data are not a saved game, or the position is impossible with its configuration.
        ConfigError: its configuration is invalid.
    """
    data = check_saved(_SavedGame, saved, "saved game")
    batch = Batch(read_saved_config(data.config))
    game, rules = batch.games[0], batch.rules[0]
    game.setup_key = np.uint64(data.chance.setup_key)
    batch.set_up_again()
    if fault := next(_find_faults(data, game, rules), None):
        raise RecordingError(f"saved game: {fault}")
    for side, name in enumerate(SIDES):
        saved_side: _SavedSide = getattr(data, name)
        for field in _SIDE_FIELDS:
            game[field][side] = getattr(saved_side, field)
        for field in _SATELLITE_FIELDS:
            game[field][side, : len(saved_side.sector)] = getattr(saved_side, field)
    game.rng_key, game.rng_counter = np.uint64(data.chance.key), np.uint64(data.chance.counter)
    game.turn, game.phase = data.turn, PHASES.index(data.phase)
    game.done, game.reasons = data.done, data.reasons
    batch.describe()
    return batch


def _find_faults(saved: _SavedGame, game: state.Record, rules: state.Record) -> Iterator[str]:
    """Yield what is impossible in a saved game, given its initial position and rules."""
    for side, name in enumerate(SIDES):
        for fault in _find_side_faults(getattr(saved, name), game, rules, side):
            yield f"{name}{fault}"
    if saved.done != (saved.phase == "drift") or saved.done != (saved.reasons > 0):
        values = f"phase = {saved.phase!r}, done = {saved.done}, reasons = {saved.reasons}"
        yield f"{values}: a game is over in its drift, for a reason"
    last = int(rules.turn_limit) + int(rules.code_rules)
    if saved.turn >= last:
        yield f"turn = {saved.turn}: fewer than {last} turns are completed in it"
    goals = saved.alpha.goal, saved.bravo.goal
    half_circle = 1 << (int(rules.goal_ring) - 1)
    if goals[1] != sector_at(int(rules.goal_ring), azimuth_of(goals[0]) + half_circle):
        yield f"the goal sectors {goals[0]} and {goals[1]} are not opposite each other"


def _find_side_faults(saved: _SavedSide, game: state.Record, rules: state.Record, side: int) -> Iterator[str]:
    fleet = 1 + int(rules.patrol_count[side])
    if len(saved.sector) != fleet:
        yield f" has {len(saved.sector)} satellites; its configuration gives it {fleet}"
    if ring_of(saved.goal) != rules.goal_ring:
        yield f".goal = {saved.goal}: give a sector of the goal ring, {rules.goal_ring}"
    for number, sector in enumerate(saved.sector):
        if sector == EARTH or not rules.inner_ring <= ring_of(sector) <= rules.outer_ring:
            yield f".sector.{number} = {sector}: give a sector of rings {rules.inner_ring} to {rules.outer_ring}"
        for field in ("fuel", "ammo"):
            value, initial = getattr(saved, field)[number], int(game[field][side, number])
            if value > initial:
                yield f".{field}.{number} = {value}: it starts with {initial}"
        if saved.destroyed[number] and saved.fuel[number] > 0:
            yield f".fuel.{number} = {saved.fuel[number]}: a destroyed satellite has none"


def check_saved(model: type[_Saved], saved: Any, where: str) -> _Saved:
    """Validate saved data.

    Raises:
        RecordingError: naming the fields that are wrong, with their values.
    """
    return parse_model(model, saved, where, max_errors=_MAX_FAULTS)


def position_bytes(batch: Batch) -> tuple[bytes, bytes]:
    """Return the game and its rules without the random stream and the bookkeeping of the last phase."""
    game = batch.games.copy()
    for field in ("rng_key", "rng_counter", "setup_key", "illegal_orders"):
        game[field] = 0
    return game.tobytes(), batch.rules.tobytes()
