"""A position as data, for files and messages, and saved games, which are a position with its configuration and streams.

Everything here comes from outside the program at times, so it is validated before it is used: types and ranges by the
model, what is possible on a board when a position is written to a game.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from geo_patrol.base.board import EARTH, azimuth_of, ring_of, sector_at
from geo_patrol.base.errors import RecordingError
from geo_patrol.base.sides import SIDES
from geo_patrol.base.validation import parse_model
from geo_patrol.config.schema import MAX_FUEL, MAX_POINTS, MAX_TITLE, MAX_TURNS, MAX_WEIGHT
from geo_patrol.config.toml_files import MAX_ENTRIES
from geo_patrol.engine import state
from geo_patrol.engine.sight import phase_number
from geo_patrol.game.notation import PHASES, PhaseName, short_name

_MAX_FAULTS = 10
_Model = TypeVar("_Model", bound=BaseModel)

_Int16 = Annotated[int, Field(ge=0, lt=2**15)]
_UInt64 = Annotated[int, Field(ge=0, lt=2**64)]
_Count = Annotated[int, Field(ge=0, le=state.SATELLITES)]
_GoalPoints = Annotated[int, Field(ge=0, le=MAX_TURNS * MAX_POINTS)]
_Score = Annotated[int, Field(ge=0, le=MAX_TURNS * MAX_POINTS + MAX_WEIGHT * MAX_FUEL * state.SATELLITES)]
_Fleet = Annotated[list[_Int16], Field(min_length=2, max_length=state.SATELLITES)]
_Flags = Annotated[list[Literal[0, 1]], Field(min_length=2, max_length=state.SATELLITES)]
_Both = Field(min_length=2, max_length=2)
_MAX_SAMPLED = 100

FLEET_FIELDS = ("sector", "fuel", "ammo")
SIDE_FIELDS = ("goal", "score")
VISIBLE_FIELDS = (*FLEET_FIELDS, *SIDE_FIELDS)
"""The fields that replay files hold of every position."""


class Position(BaseModel):
    """A position. Values are by side, alpha first; those of satellites by number, the HVA first.

    Fields with a default may be left out, such as in replays, which hold what can be seen on a board.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    sector: Annotated[list[_Fleet], _Both]
    fuel: Annotated[list[_Fleet], _Both]
    ammo: Annotated[list[_Fleet], _Both]
    goal: Annotated[list[_Int16], _Both]
    """Goal sectors."""
    score: Annotated[list[_Score], _Both]
    """Points when they were last counted: goal points so far and fuel points."""
    turn: Annotated[int, Field(ge=0, le=MAX_TURNS)] = 0
    """Number of completed turns."""
    phase: PhaseName = "movement"
    """What is to be ordered now; "drift" when the game is over."""
    done: bool = False
    """Whether the game is over."""
    reasons: Annotated[int, Field(ge=0, lt=2 * state.TURN_LIMIT)] = 0
    """Why it ended, as bits, see ``geo_patrol.read_reasons``."""
    goal_points: Annotated[list[_GoalPoints], _Both] = [0, 0]
    """Goal points so far, points for destroyed Patrols included."""
    illegal_orders: Annotated[list[_Count], _Both] = [0, 0]
    """Illegal orders in the last phase."""
    destroyed: Annotated[list[_Flags], Field(max_length=2)] = []
    """1 for satellites that were shot or collided; an empty list if there are none."""

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        sizes = [*map(len, self.sector)]
        if any([*map(len, fleets)] != sizes for fleets in (self.fuel, self.ammo, self.destroyed or self.sector)):
            raise ValueError("sector, fuel, ammo and destroyed must be equally long")
        return self

    @classmethod
    def of(cls, arrays: state.State, index: int = 0) -> "Position":
        """Return the position of one game of a batch."""
        game, rules = arrays.games, arrays.rules
        patrols = rules["patrol_count"][index if len(rules) > 1 else 0].tolist()
        by_satellite = {name: game[name][index].tolist() for name in (*FLEET_FIELDS, "destroyed")}
        values: dict[str, Any] = {
            name: [rows[side][: 1 + patrols[side]] for side in range(2)] for name, rows in by_satellite.items()
        }
        values |= {name: game[name][index].tolist() for name in (*SIDE_FIELDS, "goal_points", "illegal_orders")}
        return cls.model_construct(  # the engine's own values need no validation
            **values,
            turn=int(game["turn"][index]),
            phase=PHASES[game["phase"][index]],
            done=bool(game["done"][index]),
            reasons=int(game["reasons"][index]),
        )

    def write(self, arrays: state.State, where: str = "position", *, supplies_are_limited: bool = True) -> None:
        """Set a batch of one, which was just set up, to this position.

        Args:
            arrays: the batch; its random streams stay as they are, and its legal orders are still to be found.
            where: source of the position, for messages.
            supplies_are_limited: whether no satellite may have more fuel or ammo than at the start.

        Raises:
            RecordingError: the position is impossible with the configuration; nothing has changed then.
        """
        game, rules = arrays.games[0], arrays.rules[0]
        if fault := next(self._find_faults(game, rules, supplies_are_limited), None):
            raise RecordingError(f"{where}: {fault}")
        destroyed = self.destroyed or [[0] * len(fleet) for fleet in self.sector]
        for name, rows in (*((name, getattr(self, name)) for name in FLEET_FIELDS), ("destroyed", destroyed)):
            for side in range(2):
                game[name][side, : len(rows[side])] = rows[side]
        for name in (*SIDE_FIELDS, "goal_points", "illegal_orders"):
            game[name][:] = getattr(self, name)
        game.turn, game.phase = self.turn, PHASES.index(self.phase)
        game.done, game.reasons = self.done, self.reasons
        game.outcome_count = 0

    def _find_faults(self, game: state.Record, rules: state.Record, supplies_are_limited: bool) -> Iterator[str]:
        """Yield what is impossible in the position, given a game that was just set up and its rules."""
        for side, name in enumerate(SIDES):
            fleet = 1 + int(rules.patrol_count[side])
            if len(self.sector[side]) != fleet:
                yield f"{name} has {len(self.sector[side])} satellites; its configuration gives it {fleet}"
            if ring_of(self.goal[side]) != rules.goal_ring:
                yield f"goal.{side} must be a sector of the goal ring, {rules.goal_ring}, got {self.goal[side]}"
            for number, sector in enumerate(self.sector[side]):
                if sector == EARTH or not rules.inner_ring <= ring_of(sector) <= rules.outer_ring:
                    rings = f"rings {rules.inner_ring} to {rules.outer_ring}"
                    yield f"sector.{side}.{number} must be a sector of {rings}, got {sector}"
                for field in ("fuel", "ammo"):
                    value, initial = getattr(self, field)[side][number], int(game[field][side, number])
                    if value > initial and supplies_are_limited:
                        yield f"{field}.{side}.{number} must be at most {initial}, as at the start, got {value}"
                if self.destroyed and self.destroyed[side][number] and self.fuel[side][number] > 0:
                    yield f"fuel.{side}.{number} of a destroyed satellite must be 0, got {self.fuel[side][number]}"
        if self.done != (self.phase == "drift") or self.done != (self.reasons > 0):
            values = f"phase {self.phase!r}, done {self.done}, reasons {self.reasons}"
            yield f"a game must be over in its drift, for a reason, got {values}"
        last = int(rules.turn_limit) + int(rules.code_rules)
        if self.turn >= last:
            yield f"turn must be less than {last}, got {self.turn}"
        half_circle = 1 << (int(rules.goal_ring) - 1)
        if self.goal[1] != sector_at(int(rules.goal_ring), azimuth_of(self.goal[0]) + half_circle):
            yield f"goal sectors must be opposite each other, got {self.goal[0]} and {self.goal[1]}"

    def values(self) -> dict[str, Any]:
        """Return the fields that were stated as single values by name, such as "fuel of alpha P3"."""
        values: dict[str, Any] = {}
        for field in FLEET_FIELDS:
            for side, fleet in zip(SIDES, getattr(self, field), strict=True):
                values |= {f"{field} of {side} {short_name(number)}": value for number, value in enumerate(fleet)}
        for field in SIDE_FIELDS:
            values |= {f"{field} of {side}": value for side, value in zip(SIDES, getattr(self, field), strict=True)}
        return values | {
            name: getattr(self, name) for name in ("turn", "phase", "done") if name in self.model_fields_set
        }


# Saved games

FORMAT = "geo_patrol game"
VERSION = 1


class SavedData(BaseModel):
    """Data of a save: of exactly these fields, with exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _RandomStreams(SavedData):
    key: _UInt64
    counter: _UInt64
    variant: Annotated[str, Field(max_length=MAX_TITLE)] | None = None
    """Its name, if there is one."""
    sampled: Annotated[list[int | float], Field(max_length=_MAX_SAMPLED)] | None = None
    """What was sampled for the game, see ``engine.setup.read_sampled``."""


_KNOWN_FIELDS = (*FLEET_FIELDS, "destroyed")


class Known(SavedData):
    """What a side knows of the enemy, where it does not see everything; values of satellites by number."""

    sector: _Fleet
    fuel: _Fleet
    ammo: _Fleet
    destroyed: _Flags
    unseen: Annotated[list[Annotated[int, Field(ge=0, le=2 * MAX_TURNS)]], Field(max_length=state.SATELLITES)]
    """The decision phases since it last saw each satellite."""
    goal_points: _GoalPoints
    score: _Score

    @classmethod
    def of(cls, arrays: state.State, sight: state.Sight, index: int, side: int) -> "Known":
        """Return what a side knows in one game of a batch."""
        enemy, beliefs = 1 - side, sight.beliefs[state.NUM_SIDES * index + side]
        rules, phase = arrays.rules, phase_number(arrays.games[index])
        fleet = 1 + int(rules["patrol_count"][index if len(rules) > 1 else 0, enemy])
        return cls.model_construct(
            **{name: beliefs[name][enemy, :fleet].tolist() for name in _KNOWN_FIELDS},
            unseen=(phase - sight.sightings[index].phase[enemy, :fleet]).tolist(),
            goal_points=int(beliefs.goal_points[enemy]),
            score=int(beliefs.score[enemy]),
        )

    def write(self, arrays: state.State, sight: state.Sight, side: int, start: state.Record, where: str) -> None:
        """Set what a side knows in a batch of one that was set to its position.

        Raises:
            RecordingError: it is impossible with the configuration.
        """
        enemy, rules, phase = 1 - side, arrays.rules[0], phase_number(arrays.games[0])
        fleet = 1 + int(rules.patrol_count[enemy])
        for name in (*_KNOWN_FIELDS, "unseen"):
            if len(getattr(self, name)) != fleet:
                raise RecordingError(f"{where}.{name} must have {fleet} values, got {len(getattr(self, name))}")
        for number, sector in enumerate(self.sector):
            if sector == EARTH or not rules.inner_ring <= ring_of(sector) <= rules.outer_ring:
                rings = f"rings {rules.inner_ring} to {rules.outer_ring}"
                raise RecordingError(f"{where}.sector.{number} must be a sector of {rings}, got {sector}")
            for name, highest in (
                ("fuel", int(start.fuel[enemy, number])),
                ("ammo", int(start.ammo[enemy, number])),
                ("unseen", phase),
            ):
                value = getattr(self, name)[number]
                if value > highest:
                    raise RecordingError(f"{where}.{name}.{number} must be at most {highest}, got {value}")
        belief = sight.beliefs[side]
        for name in _KNOWN_FIELDS:
            belief[name][enemy, :fleet] = getattr(self, name)
        sight.sightings[0].phase[enemy, :fleet] = phase - np.array(self.unseen)
        belief.goal_points[enemy], belief.score[enemy] = self.goal_points, self.score


class SavedState(SavedData):
    """A saved game without its configuration, as ``save_state`` writes it."""

    chance: _RandomStreams
    position: Position
    known: Annotated[list[Known], _Both] | None = None
    """What alpha and bravo know of each other, where the configuration hides enemies."""


class SavedGame(SavedState):
    """A saved game, as ``save_game`` writes it."""

    format: Literal["geo_patrol game"]
    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    config: dict[str, Any]


def check_saved(model: type[_Model], saved: Any, where: str) -> _Model:
    """Validate saved data.

    Raises:
        RecordingError: a field is invalid; the message names each with its value.
    """
    unread = [saved]
    while unread:  # Pydantic would make an error of each of a million unknown fields, with its data
        table = unread.pop()
        if isinstance(table, dict):
            if len(table) > MAX_ENTRIES:
                raise RecordingError(f"{where}: a table has {len(table):,} fields, which no save has")
            unread += [value for value in table.values() if isinstance(value, (dict, list))]
        elif isinstance(table, list):
            unread += [value for value in table if isinstance(value, (dict, list))]
    return parse_model(model, saved, where, max_errors=_MAX_FAULTS)


class _GeneratorState(SavedData):
    state: Annotated[int, Field(ge=0, lt=2**128)]
    inc: Annotated[int, Field(ge=0, lt=2**128)]


class SavedGenerator(SavedData):
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
