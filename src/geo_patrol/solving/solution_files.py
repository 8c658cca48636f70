"""Files of solutions: safetensors, plain numbers behind a header, nothing that could be executed."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from geo_patrol.board import prograde
from geo_patrol.config.presets import read_saved_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ENGAGEMENT, MOVEMENT
from geo_patrol.errors import ConfigError, SolvingError
from geo_patrol.files import atomic_path, read_limited
from geo_patrol.solving.codes import make_codec
from geo_patrol.solving.effects import make_effects
from geo_patrol.solving.layers import Positions, start_of
from geo_patrol.solving.solution import Phase, Solution
from geo_patrol.solving.transitions import Board

FORMAT = "geo_patrol solution 1"
MAX_FILE_SIZE = 8_000_000_000
MAX_HEADER = 4_000_000
"""Bytes: four arrays for each of thousands of phases."""
_MAX_CONFIG = 100_000
_MAX_PAYOFF = 1e12
_TYPES = {"alpha": "I64", "bravo": "I64", "indices": "I32", "values": "F64"}


def write_solution(path: str | Path, solution: Solution) -> None:
    """Write a solution to a file, atomically.

    Raises:
        OSError: the file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for number, phase in enumerate(solution.phases):
        positions = phase.positions
        held = (*positions.codes, positions.indices, phase.values)
        arrays |= {f"{number}/{name}": np.ascontiguousarray(array) for name, array in zip(_TYPES, held, strict=True)}
    metadata = {
        "format": FORMAT,
        "config": json.dumps(solution.config.to_dict()),
        "phases": str(len(solution.phases)),
        "certified_gap": repr(solution.certified_gap),
    }
    with atomic_path(path) as temporary:
        mode = temporary.stat().st_mode
        save_file(arrays, temporary, metadata)
        temporary.chmod(mode)  # safetensors leaves a file that only its owner can read


def read_solution(path: str | Path) -> Solution:
    """Read a solution.

    Raises:
        SolvingError: the file cannot be read, is too large, or is no solution.
    """
    try:
        return _open(Path(path))
    except OSError as error:
        raise SolvingError(f"{path}: {error.strerror or error}") from None
    except (SafetensorError, ConfigError, SolvingError, ValueError, KeyError, RecursionError) as error:
        reason, *_ = str(error).splitlines() or [type(error).__name__]
        raise SolvingError(f"{path}: not a solution of geo_patrol ({reason})") from None


def _open(path: Path) -> Solution:
    length = read_limited(path, 7)  # refuses what is no regular file; eight bytes: the length of the header
    if path.stat().st_size > MAX_FILE_SIZE:
        raise SolvingError(f"larger than {MAX_FILE_SIZE:,} bytes")
    if int.from_bytes(length, "little") > MAX_HEADER:
        raise SolvingError(f"its header is longer than {MAX_HEADER:,} bytes")
    with safe_open(path, framework="numpy") as file:
        return _read(file)


def _read(file: Any) -> Solution:
    metadata = file.metadata() or {}
    if metadata.get("format") != FORMAT:
        raise SolvingError(f"format {metadata.get('format')!r}: it must be {FORMAT!r}")
    if missing := {"config", "phases", "certified_gap"} - set(metadata):
        raise SolvingError(f"without {', '.join(sorted(missing))}")
    if len(metadata["config"]) > _MAX_CONFIG:
        raise SolvingError("the configuration is too long")
    config = read_saved_config(json.loads(metadata["config"]))
    count, gap = int(metadata["phases"]), float(metadata["certified_gap"])
    if not (0 < count <= 2 * (config.turn_limit + 1) and count % 2 == 0 and 0 <= gap < math.inf):
        raise SolvingError(f"{count} phases, certified gap {gap}")
    board = _make_board(config)
    boards = itertools.islice(itertools.accumulate(itertools.repeat(board), lambda last, _: _next_board(last)), count)
    phases = tuple(_read_phase(file, number, each) for number, each in enumerate(boards))
    return Solution(config, phases, gap)


def _make_board(config: GameConfig) -> Board:
    """Return the board of the first phase; effects are found where they are needed."""
    start, rules = start_of(config)
    codec = make_codec(start[0], rules[0], is_complete=False)
    return Board(start, rules, codec, make_effects({0}, codec, rules[0]))


def _next_board(board: Board) -> Board:
    """Return the board of the following phase."""
    template = board.template.copy()
    if template["phase"][0] == MOVEMENT:
        template["phase"] = ENGAGEMENT
    else:
        template["phase"] = MOVEMENT
        template["turn"] += 1
        template["goal"] = [[prograde(int(goal)) for goal in template["goal"][0]]]
    return board._replace(template=template)


def _read_phase(file: Any, number: int, board: Board) -> Phase:
    shapes = {"alpha": (None,), "bravo": (None,), "indices": (None, 2), "values": (None, 2)}
    held = {name: _take(file, f"{number}/{name}", kind, shapes[name]) for name, kind in _TYPES.items()}
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
    return Phase(Positions(board, codes, indices), held["values"])


def _take(file: Any, name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return an array of a file, which is not read before its type and shape are right."""
    held = file.get_slice(name)
    found = held.get_shape()
    if (
        held.get_dtype() != kind
        or len(found) != len(shape)
        or any(size not in (None, real) for size, real in zip(shape, found, strict=True))
    ):
        raise SolvingError(f"{name}: {held.get_dtype()} of shape {tuple(found)}")
    array: NDArray[Any] = file.get_tensor(name)
    return array
