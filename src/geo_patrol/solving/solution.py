"""The exact solution of a game: the value of every position, from which the strategies follow; its file and its cost.

Files are in the safetensors format: plain numbers behind a header, nothing that could be executed.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from geo_patrol.base.errors import SolvingError
from geo_patrol.base.files import atomic_path, read_limited
from geo_patrol.base.validation import parse_model
from geo_patrol.config.presets import ConfigSource, Overrides, load_config, read_saved_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import (
    ALPHA,
    BRAVO,
    MOVEMENT,
    NUM_SIDES,
    Record,
    records,
)
from geo_patrol.solving.backward_induction import SOLVING, Limits, Positions, go_back, list_turns, make_board
from geo_patrol.solving.matrices import Floats, solve_matrix
from geo_patrol.solving.transitions import (
    TRANSITION,
    Board,
    encode_side,
    find_patterns,
    joint_moves,
    list_moves,
    list_outcomes,
    make_effects,
    next_board,
)

Reward: TypeAlias = Literal["score", "outcome"]
REWARDS: tuple[Reward, ...] = get_args(Reward)


class Strategy(NamedTuple):
    """How a side plays a position: joint orders, each chosen with its probability."""

    orders: NDArray[np.int64]
    """(n, 11) order codes."""
    probabilities: Floats
    """(n,); they sum to 1."""


@dataclass(frozen=True, eq=False)
class SolvedPhase:
    """The positions of one phase of one turn, with their values."""

    positions: Positions
    values: Floats
    """(n, 2), from alpha's view: what the score difference will still change to, see ``GameSolution``; and the outcome."""

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """(n,), each position as one number, ascending."""
        indices = self.positions.indices.astype(np.int64)
        return indices[:, 0] * len(self.positions.codes[1]) + indices[:, 1]

    def find(self, alpha: NDArray[np.int64], bravo: NDArray[np.int64]) -> Floats:
        """Return the values of positions by the codes of both sides, (.., 2).

        Raises:
            SolvingError: one of them cannot be reached.
        """
        indices = []
        for codes, known in zip((alpha, bravo), self.positions.codes, strict=True):
            index = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            if not np.array_equal(known[index], codes):
                raise SolvingError("the position cannot be reached from the start of the solved game")
            indices.append(index)
        numbers = indices[0] * len(self.positions.codes[1]) + indices[1]
        found = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        if not np.array_equal(self._numbers[found], numbers):
            raise SolvingError("the position cannot be reached from the start of the solved game")
        values: Floats = self.values[found]
        return values


@dataclass(frozen=True, eq=False)
class GameSolution:
    """The solution of a game.

    Attributes:
        config: the game.
        phases: movement and engagement phase of each turn, in the order in which they are played.
        certified_gap: the largest duality gap of all matrix games: what both sides together could gain in one decision.
    """

    config: GameConfig
    phases: tuple[SolvedPhase, ...]
    certified_gap: float

    @property
    def num_positions(self) -> int:
        """How many positions, decision phases included, can be reached."""
        return sum(len(phase.values) for phase in self.phases)

    @property
    def value(self) -> dict[Reward, float]:
        """The value of the game from alpha's view, by reward.

        "score" is the expected score difference at the end, "outcome" the probability that alpha wins minus that of bravo.
        """
        return dict(zip(REWARDS, self.phases[0].values[0].tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the value and what is known of it as plain data for JSON."""
        return {"value": self.value, "states": self.num_positions, "certified_gap": self.certified_gap}

    def strategy(self, game: Record, side: int, reward: Reward) -> Strategy:
        """Return an equilibrium strategy of a side in one position.

        Args:
            game: a record of the layout ``GAME``, of a game of the same configuration that is not over.
            side: 0 alpha, 1 bravo.
            reward: which value the side maximizes.

        Raises:
            SolvingError: the position cannot be reached from the start of the game.
        """
        number = 2 * int(game.turn) + (game.phase != MOVEMENT)
        if game.done or not 0 <= number < len(self.phases):
            raise SolvingError("the position cannot be reached from the start of the solved game")
        phase = self.phases[number]
        codec = phase.positions.board.codec
        codes = np.array([encode_side(game, codec, each) for each in range(NUM_SIDES)])
        phase.find(codes[:1], codes[1:])
        make_matrix = self._movement_matrix if game.phase == MOVEMENT else self._engagement_matrix
        joints, matrix = make_matrix(number, codes, REWARDS.index(reward))
        strategies = np.empty(len(joints[ALPHA])), np.empty(len(joints[BRAVO]))
        solve_matrix(matrix, *strategies)
        return Strategy(joints[side], strategies[side])

    def _movement_matrix(
        self, number: int, codes: NDArray[np.int64], payoff: int
    ) -> tuple[tuple[NDArray[np.int64], ...], Floats]:
        """Return the joint orders of both sides in a movement phase, and the matrix of values."""
        board = self.phases[number].positions.board
        ends = [list_moves(board, side, codes[side : side + 1])[1] for side in range(NUM_SIDES)]
        alpha, bravo = np.meshgrid(*ends, indexing="ij")
        values = self.phases[number + 1].find(alpha, bravo)
        return joint_moves(board, codes), np.ascontiguousarray(values[..., payoff])

    def _engagement_matrix(
        self, number: int, codes: NDArray[np.int64], payoff: int
    ) -> tuple[tuple[NDArray[np.int64], ...], Floats]:
        """Return the joint orders of both sides in an engagement phase, and the matrix of values."""
        board = self.phases[number].positions.board
        patterns = find_patterns(board, codes[None])
        board = board._replace(effects=make_effects(patterns.tolist(), board.codec, board.rules[0]))
        *joints, transitions = list_outcomes(board, codes, records(TRANSITION, 64))
        values = transitions["payoff"][:, payoff].copy()
        goes_on = transitions["done"] == 0
        if goes_on.any():
            ends = transitions["code"][goes_on]
            values[goes_on] += self.phases[number + 1].find(ends[:, ALPHA], ends[:, BRAVO])[:, payoff]
        matrix = np.zeros((len(joints[ALPHA]), len(joints[BRAVO])))
        np.add.at(matrix, (transitions["row"], transitions["column"]), transitions["probability"] * values)
        return tuple(joints), matrix


def solve(config: ConfigSource, limits: Limits | None = None, *, overrides: Overrides | None = None) -> GameSolution:
    """Solve a game exactly, for both rewards.

    Every decision phase is a zero-sum matrix game over the joint orders of both sides. Its value depends on the values of
    what follows, so the last turn is solved first.

    Args:
        config: the game: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        limits: what it may take.
        overrides: single values that replace those of the configuration.

    Raises:
        ConfigError: the configuration is wrong.
        SolvingError: the game is too large, or its values are sampled at each reset.
    """
    config, limits = load_config(config, overrides), limits or Limits()
    phases: list[SolvedPhase] = []
    largest = 0.0
    for turn, movement, engagement, gap in go_back(list_turns(config, limits), SOLVING, limits):
        phases += [SolvedPhase(turn.engagement, engagement), SolvedPhase(turn.movement, movement)]
        largest = max(largest, gap)
    return GameSolution(config, tuple(reversed(phases)), largest)


FORMAT: Literal["geo_patrol solution 1"] = "geo_patrol solution 1"
MAX_FILE_SIZE = 8_000_000_000
MAX_HEADER = 4_000_000
"""Bytes: four arrays for each of thousands of phases."""
_MAX_METADATA = 100_000
_MAX_PAYOFF = 1e12
_TYPES = {"alpha": "I64", "bravo": "I64", "indices": "I32", "values": "F64"}
_KEY = "geo_patrol"
"""Of the metadata, a single one: safetensors writes several in an order that changes from run to run."""


class _Metadata(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal["geo_patrol solution 1"] = FORMAT
    config: dict[str, Any]
    certified_gap: float = Field(ge=0, allow_inf_nan=False)


def write_solution(path: str | Path, solution: GameSolution) -> None:
    """Write a solution to a file, atomically.

    Raises:
        OSError: the file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for number, phase in enumerate(solution.phases):
        positions = phase.positions
        held = (*positions.codes, positions.indices, phase.values)
        arrays |= {f"{number}/{name}": np.ascontiguousarray(array) for name, array in zip(_TYPES, held, strict=True)}
    metadata = _Metadata(config=solution.config.to_dict(), certified_gap=solution.certified_gap).model_dump_json()
    with atomic_path(path) as temporary:
        mode = temporary.stat().st_mode
        save_file(arrays, temporary, {_KEY: metadata})
        temporary.chmod(mode)  # safetensors leaves a file that only its owner can read


def read_solution(path: str | Path) -> GameSolution:
    """Read a solution.

    Raises:
        SolvingError: the file cannot be read, is too large, or is no solution.
    """
    try:
        return _open(Path(path))
    except OSError as error:
        raise SolvingError(f"{path}: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        reason, *_ = str(error).splitlines() or [type(error).__name__]
        raise SolvingError(f"{path}: not a solution of geo_patrol ({reason})") from None


def _open(path: Path) -> GameSolution:
    length = read_limited(path, 7)  # refuses what is no regular file; eight bytes: the length of the header
    if path.stat().st_size > MAX_FILE_SIZE:
        raise SolvingError(f"larger than {MAX_FILE_SIZE:,} bytes")
    if int.from_bytes(length, "little") > MAX_HEADER:
        raise SolvingError(f"its header is longer than {MAX_HEADER:,} bytes")
    with safe_open(path, framework="numpy") as file:
        return _read(file)


def _read(file: Any) -> GameSolution:
    text = (file.metadata() or {}).get(_KEY, "")
    if len(text) > _MAX_METADATA:
        raise SolvingError("its metadata are too long")
    metadata = parse_model(_Metadata, text.encode(), "metadata")
    config, count = read_saved_config(metadata.config), len(file.keys()) // len(_TYPES)
    if not 0 < count <= 2 * (config.turn_limit + 1) or count % 2:
        raise SolvingError(f"arrays of {count} phases")
    phases: list[SolvedPhase] = []
    board = make_board(config)
    for number in range(count):
        phases.append(_read_phase(file, number, board))
        board = next_board(board)
    return GameSolution(config, tuple(phases), metadata.certified_gap)


def _read_phase(file: Any, number: int, board: Board) -> SolvedPhase:
    rows = {"alpha": (), "bravo": (), "indices": (2,), "values": (2,)}
    held = {name: _take(file, f"{number}/{name}", kind, rows[name]) for name, kind in _TYPES.items()}
    codes, indices = (held["alpha"], held["bravo"]), held["indices"]
    if len(indices) == 0 or len(indices) != len(held["values"]):
        raise SolvingError(f"phase {number}: {len(indices)} positions, {len(held['values'])} values")
    if not (np.abs(held["values"]) <= (_MAX_PAYOFF, 1 + 1e-6)).all():
        raise SolvingError(f"phase {number}: values that no game has")
    if not all((np.diff(each) > 0).all() for each in codes):
        raise SolvingError(f"phase {number}: codes out of order")
    if not ((indices >= 0) & (indices < [len(each) for each in codes])).all():
        raise SolvingError(f"phase {number}: indices out of range")
    if not (np.diff(indices[:, 0].astype(np.int64) * len(codes[1]) + indices[:, 1]) > 0).all():
        raise SolvingError(f"phase {number}: indices out of order")
    return SolvedPhase(Positions(board, codes, indices), held["values"])


def _take(file: Any, name: str, kind: str, row: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of a file, which is not read before its type and the shape of its rows are right."""
    held = file.get_slice(name)
    shape = tuple(held.get_shape())
    if held.get_dtype() != kind or not shape or shape[1:] != row:
        raise SolvingError(f"{name}: {held.get_dtype()} of shape {shape}")
    array: NDArray[Any] = file.get_tensor(name)
    return array
