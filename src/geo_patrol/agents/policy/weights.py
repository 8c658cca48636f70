"""The weights of a policy: their names and shapes, and the files that hold them.

A file is in the safetensors format: plain numbers behind a header, nothing that could be executed, never larger in
memory than on disk. A stranger's file is checked before anything is computed with it.
"""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from geo_patrol.engine.observe import GAME_FEATURES, SATELLITE_FEATURES
from geo_patrol.engine.state import SATELLITES
from geo_patrol.errors import PolicyError, show
from geo_patrol.files import atomic_path, read_limited

Weights = Mapping[str, NDArray[Any]]

SECTORS = 63
"""Sectors that a policy knows: those of five rings, and 0 for a satellite that is absent."""
KINDS = 4
"""Own HVA, own Patrols, enemy HVA, enemy Patrols."""
SIMPLE_ORDERS = 6
"""Orders without a target: noop, the four moves, guard."""
ATTACKS = 2
"""Orders with a target: shoot, collide."""
FORMAT = "geo_patrol policy 1"
MIXTURE_FORMAT = "geo_patrol mixture 1"
MIXTURE_WEIGHTS = "mixture_weights"
"""In a file of several policies, the array that says how often each is drawn."""
SUFFIX = ".safetensors"
MAX_FILE_SIZE = 16_000_000
"""Bytes of a file of weights."""
MAX_WIDTH = 1024


class Widths(NamedTuple):
    """How wide the layers are."""

    satellite: int = 64
    context: int = 128
    order: int = 64
    key: int = 16


def shapes(widths: Widths) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of weights; docs/agents.md draws the network."""
    satellite, context, order, key = widths
    game = len(GAME_FEATURES)
    return {
        "place": (KINDS * SECTORS, satellite),
        "number": (SATELLITES, satellite),
        "own_figures": (len(SATELLITE_FEATURES), satellite),
        "enemy_figures": (len(SATELLITE_FEATURES), satellite),
        "game": (game, satellite),
        "satellite_bias": (satellite,),
        "board": (KINDS * SECTORS, context),
        "pool": (KINDS * satellite + game, context),
        "pool_bias": (context,),
        "context": (context, context),
        "context_bias": (context,),
        "order": (satellite, order),
        "order_context": (context, order),
        "order_bias": (order,),
        "simple": (order, SIMPLE_ORDERS),
        "simple_bias": (SIMPLE_ORDERS,),
        "attack": (order, ATTACKS),
        "attack_same_sector": (order, ATTACKS),
        "query": (order, ATTACKS * key),
        "key": (satellite, ATTACKS * key),
        "value": (context, 1),
        "value_bias": (1,),
    }


def widths_of(weights: Weights) -> Widths:
    """Return how wide the layers of weights are."""
    return Widths(
        weights["place"].shape[1], weights["board"].shape[1], weights["order"].shape[1], weights["key"].shape[1] // 2
    )


def write_weights(path: str | Path, weights: Weights, metadata: Mapping[str, str] | None = None) -> None:
    """Write weights to a file, atomically.

    Args:
        path: the file; an existing one is replaced.
        weights: arrays by name, as ``shapes`` says.
        metadata: strings for the header of the file, such as how it was trained.

    Raises:
        PolicyError: a name, a shape or a value is wrong.
        OSError: the file cannot be written.
    """
    check_weights(weights, str(path))
    arrays = {name: np.ascontiguousarray(weights[name], np.float32) for name in sorted(weights)}
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(arrays, {**(metadata or {}), "format": FORMAT}))


def write_mixture(path: str | Path, policies: Sequence[tuple[Weights, float]]) -> None:
    """Write several policies to one file, atomically; the names of their arrays get a number in front, as ``0/place``.

    Args:
        path: the file; an existing one is replaced.
        policies: the weights of each, and how often it is drawn, relative to the others.

    Raises:
        PolicyError: a name, a shape or a value is wrong, or the file would be too large to be read.
        OSError: the file cannot be written.
    """
    arrays = {MIXTURE_WEIGHTS: np.array([weight for _, weight in policies], np.float32)}
    for number, (weights, _) in enumerate(policies):
        check_weights(weights, str(path))
        arrays |= {f"{number}/{name}": np.ascontiguousarray(weights[name], np.float32) for name in sorted(weights)}
    content = save(arrays, {"format": MIXTURE_FORMAT})
    parse_policies(content, str(path))
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def read_policies(path: str | Path) -> list[tuple[dict[str, NDArray[np.float32]], float]]:
    """Read a file of one or several policies: the weights of each, and how often it is drawn.

    Raises:
        PolicyError: it is too large, is no such file, or holds something else.
        OSError: it cannot be read.
    """
    return parse_policies(read_limited(path, MAX_FILE_SIZE), str(path))


def read_weights(path: str | Path) -> dict[str, NDArray[np.float32]]:
    """Read a file of weights.

    Raises:
        PolicyError: it is too large, is no such file, or holds something else.
        OSError: it cannot be read.
    """
    return parse_weights(read_limited(path, MAX_FILE_SIZE), str(path))


def parse_weights(content: bytes, where: str) -> dict[str, NDArray[np.float32]]:
    """Return the weights that a file's content holds.

    Raises:
        PolicyError: it is too long, or holds something else.
    """
    policies = parse_policies(content, where)
    if len(policies) > 1:
        raise PolicyError(f"{where}: a mixture of {len(policies)} policies: give a file of one")
    return policies[0][0]


def parse_policies(content: bytes, where: str) -> list[tuple[dict[str, NDArray[np.float32]], float]]:
    """Return the policies that a file's content holds, and how often each is drawn.

    Raises:
        PolicyError: it is too long, or holds something else.
    """
    if len(content) > MAX_FILE_SIZE:
        raise PolicyError(f"{where}: more than {MAX_FILE_SIZE:,} bytes: a policy is smaller")
    try:
        arrays = load(content)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise PolicyError(f"{where}: no file of weights in the safetensors format: {error}") from None
    if MIXTURE_WEIGHTS not in arrays:
        return [(_checked(arrays, where), 1.0)]
    mixture_weights = arrays.pop(MIXTURE_WEIGHTS)
    _check_mixture_weights(mixture_weights, where)
    policies: list[dict[str, NDArray[Any]]] = [{} for _ in mixture_weights]
    for key, array in sorted(arrays.items()):
        number, _, name = key.partition("/")
        if number not in map(str, range(len(mixture_weights))):
            raise PolicyError(f"{where}: {show(key)}: its policies are numbered from 0 to {len(mixture_weights) - 1}")
        policies[int(number)][name] = array
    checked = [_checked(weights, f"{where}, policy {number}") for number, weights in enumerate(policies)]
    return list(zip(checked, map(float, mixture_weights), strict=True))


def _checked(weights: Weights, where: str) -> dict[str, NDArray[np.float32]]:
    check_weights(weights, where)
    return {name: array.astype(np.float32, copy=False) for name, array in weights.items()}


def _check_mixture_weights(mixture_weights: NDArray[Any], where: str) -> None:
    is_right = (
        mixture_weights.ndim == 1
        and mixture_weights.dtype.kind == "f"
        and np.isfinite(mixture_weights).all()
        and (mixture_weights >= 0).all()
    )
    if not is_right or not mixture_weights.sum() > 0 or not np.isfinite(mixture_weights.sum(dtype=np.float64)):
        raise PolicyError(f"{where}: {MIXTURE_WEIGHTS} must be numbers of at least 0, one for each policy, not all 0")


def check_weights(weights: Weights, where: str) -> None:
    """Do nothing if weights are a policy's.

    Raises:
        PolicyError: one is missing, is unknown, or has a wrong shape, type or value.
    """
    for name in ("place", "board", "order", "key"):
        if name not in weights:
            raise PolicyError(f"{where}: weights {name!r} are missing: this is no policy of geo_patrol")
        if weights[name].ndim != 2:
            raise PolicyError(f"{where}: {name} has shape {weights[name].shape}: give a matrix")
    widths = widths_of(weights)
    if not all(1 <= width <= MAX_WIDTH for width in widths):
        raise PolicyError(f"{where}: layers are {tuple(widths)} wide: give 1 to {MAX_WIDTH}")
    right = shapes(widths)
    for name in weights.keys() - right.keys():
        raise PolicyError(f"{where}: {show(name)} is no name of weights; the names are: {', '.join(right)}")
    for name, shape in right.items():
        if name not in weights:
            raise PolicyError(f"{where}: weights {name!r} are missing")
        array = weights[name]
        if array.shape != shape:
            raise PolicyError(f"{where}: {name} has shape {array.shape}: it must be {shape}")
        if array.dtype.kind != "f":
            raise PolicyError(f"{where}: {name} is of type {array.dtype}: give floating-point numbers")
        with np.errstate(over="ignore"):
            is_finite = np.isfinite(array.astype(np.float32)).all()
        if not is_finite:
            raise PolicyError(f"{where}: {name} holds numbers that are not finite in float32")


def shipped_names() -> tuple[str, ...]:
    """Return the names of the policies that come with the package."""
    folder = resources.files("geo_patrol.agents.policy") / "data"
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in folder.iterdir() if file.name.endswith(SUFFIX)))


def read_shipped(name: str) -> list[tuple[dict[str, NDArray[np.float32]], float]]:
    """Read a policy that comes with the package, such as ``base``, as ``read_policies`` does."""
    file = resources.files("geo_patrol.agents.policy") / "data" / f"{name}{SUFFIX}"
    return parse_policies(file.read_bytes(), file.name)
