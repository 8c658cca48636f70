"""The learned agent ``policy``: a small network in NumPy, its files, and the agent that samples from it.

One small network is applied to every satellite: its embedding and a context, which summarizes the whole position, give
the logits of its orders. Satellites are independent of each other, unless the policy has several components, as a mixture
density network has (Bishop, 1994): it then draws one of them for every decision, which all satellites follow. The chapters: files of weights, the network, the agent and its mixtures.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save
from threadpoolctl import ThreadpoolController

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.memory import MEMORY_FEATURES, MEMORY_SIZE, OrderMemory
from geo_patrol.agents.scripted.script import check_observations
from geo_patrol.base.errors import PolicyError, counted, show
from geo_patrol.base.files import atomic_path, expand_user, read_limited
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import observe
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.state import GUARD, NOOP, NUM_SIDES, ORDERS, SATELLITES, SHOOT
from geo_patrol.game.game import Games

__all__ = ["MemoryAgent", "MixtureAgent", "PolicyAgent"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# BLAS divides products among threads that wait for each other by spinning: on cores that are busy with other work, a small
# network then takes ten times as long.
_one_blas_thread: Callable[[_Function], _Function] = ThreadpoolController().wrap(limits=1, user_api="blas")


Weights = Mapping[str, NDArray[Any]]

MAX_OUTER_RING = 5
"""The outer ring of the largest board that a policy knows."""
SECTORS = 2 ** (MAX_OUTER_RING + 1) - 1
"""Sectors that a policy knows, and 0 for a satellite that is absent."""
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
BY_RULES_FORMAT = "geo_patrol policies by rules 1"
RULES = "rules"
"""In a file of policies for different games, the array with the rules that each of the first ones was trained for."""
OUTER_RINGS = "outer_rings"
"""In a file of policies for different games, the array that says up to which outer ring each of the others plays."""
MAX_DISTANCE = 1.0
"""How far rules may be from those that a policy was trained for, so that it plays rather than one for all rules: the Euclidean
distance of the features, scaled as the network reads them. One Patrol more counts 0.1, 10 units of fuel in the tanks 0.1, a
round of ammo 1. Other boards are never near enough."""
SUFFIX = ".safetensors"
MAX_FILE_SIZE = 16_000_000
"""Bytes of a file of weights."""
MAX_WIDTH = 1024
MAX_COMPONENTS = 16
RULE_FEATURES = observe.GAME_FEATURES[observe.NUM_CHANGING_FEATURES :]
"""The features of the game that stay the same from its start to its end."""
_RULE_COLUMNS = slice(observe.TOKEN_TABLE_SIZE + observe.NUM_CHANGING_FEATURES, observe.TOKEN_SIZE)
"""Where an observation in the encoding "tokens" has them."""
_OUTER_RING = [feature.name for feature in RULE_FEATURES].index("outer_ring")
_BOARD = [number for number, feature in enumerate(RULE_FEATURES) if feature.name.endswith("_ring")]


class Widths(NamedTuple):
    """How wide the layers are."""

    satellite: int = 64
    context: int = 128
    order: int = 64
    key: int = 16
    components: int = 1
    """Products over satellites that the policy mixes."""
    memory: int = 0
    """Numbers that it remembers of a game, ``MEMORY_SIZE`` or none."""


def shapes(widths: Widths) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of weights; docs/train/agents.md draws the network."""
    satellite, context, order, key, components, memory = widths
    game = len(observe.GAME_FEATURES)
    of_components = {"component": (components, order), "mixing": (context, components), "mixing_bias": (components,)}
    return {
        "place": (KINDS * SECTORS, satellite),
        "number": (SATELLITES, satellite),
        "own_figures": (len(observe.SATELLITE_FEATURES), satellite),
        "enemy_figures": (len(observe.SATELLITE_FEATURES), satellite),
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
        **(of_components if components > 1 else {}),
        **({"memory": (memory, context)} if memory else {}),
    }


def widths_of(weights: Weights) -> Widths:
    """Return how wide the layers of weights are."""
    return Widths(
        satellite=weights["place"].shape[1],
        context=weights["board"].shape[1],
        order=weights["order"].shape[1],
        key=weights["key"].shape[1] // ATTACKS,
        components=len(weights["component"]) if "component" in weights else 1,
        memory=MEMORY_SIZE if "memory" in weights else 0,
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
    _write(path, FORMAT, arrays, metadata or {})


def _write(path: str | Path, kind: str, arrays: dict[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    # A single key: safetensors writes several in an order that changes from run to run.
    header = {"geo_patrol": json.dumps({"format": kind, **metadata}, sort_keys=True)}
    content = save(arrays, header)
    parse_policies(content, str(path))
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_mixture(path: str | Path, policies: Sequence[tuple[Weights, float]]) -> None:
    """Write several policies to one file, atomically.

    Args:
        path: the file; an existing one is replaced.
        policies: the weights of each, and how often it is drawn for a game, relative to the others.

    Raises:
        PolicyError: a name, a shape or a value is wrong, or the file would be too large to be read.
        OSError: the file cannot be written.
    """
    shares = np.array([share for _, share in policies], np.float32)
    _write_several(path, MIXTURE_FORMAT, {MIXTURE_WEIGHTS: shares}, [weights for weights, _ in policies])


def write_by_rules(
    path: str | Path, specialists: Sequence[tuple[Weights, GameConfig]], others: Sequence[tuple[Weights, int]]
) -> None:
    """Write policies for different games to one file, atomically.

    Args:
        path: the file; an existing one is replaced.
        specialists: the weights of policies for certain rules, and a configuration that has them. A game is played by the one
            whose rules are nearest, if they are within ``MAX_DISTANCE``.
        others: the weights of policies for all rules, and the outer ring of the largest board that each plays on, in ascending
            order. The first one whose board is large enough plays all other games. The last outer ring must be 5.

    Raises:
        PolicyError: a name, a shape or a value is wrong, or the file would be too large to be read.
        OSError: the file cannot be written.
    """
    rules = [observe_rules(config)[:NUM_SIDES] for _, config in specialists]
    arrays: dict[str, NDArray[Any]] = {
        RULES: np.array(rules, np.int16).reshape(-1, NUM_SIDES, len(RULE_FEATURES)),
        OUTER_RINGS: np.array([outer_ring for _, outer_ring in others], np.int64),
    }
    _write_several(path, BY_RULES_FORMAT, arrays, [weights for weights, _ in (*specialists, *others)])


def observe_rules(config: GameConfig, games: int = 1) -> NDArray[np.int16]:
    """Return the features of the rules in the tokens of both sides of some games, (2 * games, features)."""
    observations = Games(config, games, seed=0).observe("tokens")
    return observations[..., _RULE_COLUMNS].reshape(-1, len(RULE_FEATURES))


def _write_several(path: str | Path, kind: str, arrays: dict[str, NDArray[Any]], policies: Sequence[Weights]) -> None:
    """Write policies to one file; the names of their arrays get a number in front, as ``0/place``.

    Arrays in half precision stay so: those of several policies take half of the space.
    """
    for number, weights in enumerate(policies):
        check_weights(weights, str(path))
        for name in sorted(weights):
            precision = np.float16 if weights[name].dtype == np.float16 else np.float32
            arrays[f"{number}/{name}"] = np.ascontiguousarray(weights[name], precision)
    _write(path, kind, arrays, {})


_NO_RULES = np.zeros((0, NUM_SIDES, len(RULE_FEATURES)), np.int16)


_MAX_HEADER = 1 << 20
"""Of a file: enough for the names of 400 policies."""


class Policies(NamedTuple):
    """What a file of weights holds: one policy, or several and what decides which of them plays a game."""

    weights: Sequence[Weights]
    """Those of each policy."""
    mixture_weights: tuple[float, ...] | None = None
    """How often each is drawn, relative to the others; None if the rules decide."""
    rules: NDArray[np.int16] = _NO_RULES
    """Of the first policies, those that they were trained for, as both sides observe them, (policies, 2, features)."""
    outer_rings: tuple[int, ...] = (MAX_OUTER_RING,)
    """Of the others, the outer ring of the largest board that each plays on, ascending."""


def read_policies(source: str | Path) -> Policies:
    """Read one or several policies.

    Args:
        source: the name of a policy that comes with the package, such as "base", or the path of a file.

    Raises:
        PolicyError: there is no policy of that name and no such file, or the file is too large, or holds something else.
        OSError: the file cannot be read.
    """
    shipped = shipped_names()
    if str(source) in shipped:
        file = _DATA / f"{source}{SUFFIX}"
        return parse_policies(file.read_bytes(), file.name)
    path = expand_user(source)
    if not Path(path).is_file():
        raise PolicyError(
            f"there is no policy {str(source)!r}; a policy is the path of a file of weights, or one of those that come with "
            f"the package: {', '.join(shipped)}"
        )
    return parse_policies(read_limited(path, MAX_FILE_SIZE), str(path))


def read_weights(path: str | Path) -> Weights:
    """Return the weights of a file of one policy, which is read as ``read_policies`` does.

    Raises:
        PolicyError: there is no such file, or it holds something else, such as several policies.
        OSError: it cannot be read.
    """
    policies = read_policies(path).weights
    if len(policies) > 1:
        raise PolicyError(f"{path}: {len(policies)} policies; it must be a file of one")
    return policies[0]


def parse_policies(content: bytes, where: str) -> Policies:
    """Return the policies that a file's content holds.

    Raises:
        PolicyError: it is too long, or holds something else.
    """
    if len(content) > MAX_FILE_SIZE:
        raise PolicyError(f"{where}: more than {MAX_FILE_SIZE:,} bytes: a policy is smaller")
    if _MAX_HEADER < int.from_bytes(content[:8], "little") <= len(content):  # a longer one is no file of this format
        raise PolicyError(f"{where}: its header is longer than {_MAX_HEADER:,} bytes: a policy's is shorter")
    try:
        arrays = load(content)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise PolicyError(f"{where}: no file of weights in the safetensors format: {error}") from None
    if MIXTURE_WEIGHTS in arrays:
        mixture_weights = arrays.pop(MIXTURE_WEIGHTS)
        weights = _parse_several(arrays, mixture_weights.size, where)
        _check_mixture_weights(mixture_weights, where)
        return Policies(weights, tuple(map(float, mixture_weights)))
    if OUTER_RINGS in arrays:
        rules, outer_rings = arrays.pop(RULES, _NO_RULES), _read_outer_rings(arrays.pop(OUTER_RINGS), where)
        if rules.dtype != np.int16 or rules.shape[1:] != _NO_RULES.shape[1:]:
            raise PolicyError(
                f"{where}: {RULES} must be int16 of shape (policies, {NUM_SIDES}, {len(RULE_FEATURES)}), got {rules.dtype} of "
                f"shape {rules.shape}"
            )
        weights = _parse_several(arrays, len(rules) + len(outer_rings), where)
        return Policies(weights, rules=rules, outer_rings=outer_rings)
    return Policies([_checked(arrays, where)])


def _parse_several(arrays: Mapping[str, NDArray[Any]], count: int, where: str) -> list[dict[str, NDArray[np.float32]]]:
    """Return the weights of each policy of a file, whose arrays have its number in front of their names."""
    needed = count * len(shapes(Widths()))
    if len(arrays) < needed:
        raise PolicyError(
            f"{where}: {counted(len(arrays), 'array')} of weights; {needed:,} belong to the policies that it names, {count:,}"
        )
    policies: dict[str, dict[str, NDArray[Any]]] = {str(number): {} for number in range(count)}
    for key, array in sorted(arrays.items()):
        number, _, name = key.partition("/")
        if number not in policies:
            raise PolicyError(f"{where}: {show(key)}: its policies are numbered from 0 to {count - 1}")
        policies[number][name] = array
    for number, weights in policies.items():
        if "memory" in weights:
            raise PolicyError(f"{where}, policy {number}: a policy with a memory must be in a file of its own")
    return [_checked(weights, f"{where}, policy {number}") for number, weights in policies.items()]


def _checked(weights: Weights, where: str) -> dict[str, NDArray[np.float32]]:
    check_weights(weights, where)
    return {name: array.astype(np.float32, copy=False) for name, array in weights.items()}


def _check_mixture_weights(mixture_weights: NDArray[Any], where: str) -> None:
    is_list = mixture_weights.ndim == 1 and mixture_weights.dtype.kind == "f"
    if not is_list or not (mixture_weights >= 0).all() or not 0 < mixture_weights.sum(dtype=np.float64) < np.inf:
        raise PolicyError(f"{where}: {MIXTURE_WEIGHTS} must be numbers of at least 0, one for each policy, not all 0")


def _read_outer_rings(outer_rings: NDArray[Any], where: str) -> tuple[int, ...]:
    is_list = outer_rings.ndim == 1 and outer_rings.dtype.kind in "iu" and len(outer_rings) <= MAX_OUTER_RING + 1
    rings = tuple(map(int, outer_rings)) if is_list else ()
    if rings != tuple(sorted(set(rings))) or rings[-1:] != (MAX_OUTER_RING,) or rings[0] < 0:
        raise PolicyError(
            f"{where}: {OUTER_RINGS} must be integers in ascending order, one for each policy that is not for certain rules, the "
            f"last {MAX_OUTER_RING}"
        )
    return rings


def check_weights(weights: Weights, where: str) -> None:
    """Do nothing if weights are a policy's.

    Raises:
        PolicyError: one is missing, is unknown, or has a wrong shape, type or value.
    """
    for name in ("place", "board", "order", "key"):
        if name not in weights:
            raise PolicyError(f"{where}: weights {name!r} are missing: this is not a policy of geo_patrol")
        if weights[name].ndim != 2:
            raise PolicyError(f"{where}: {name} must be a matrix, got shape {weights[name].shape}")
    if "component" in weights and (
        weights["component"].ndim != 2 or not 2 <= len(weights["component"]) <= MAX_COMPONENTS
    ):
        raise PolicyError(
            f"{where}: component must be a matrix of 2 to {MAX_COMPONENTS} rows, got shape {weights['component'].shape}"
        )
    widths = widths_of(weights)
    layers = widths[: -len(("components", "memory"))]
    if not all(1 <= width <= MAX_WIDTH for width in layers):
        raise PolicyError(f"{where}: layers must be 1 to {MAX_WIDTH} wide, got {layers}")
    right = shapes(widths)
    for name in weights.keys() - right.keys():
        raise PolicyError(f"{where}: {show(name)} is not a name of weights; the names are: {', '.join(right)}")
    for name, shape in right.items():
        if name not in weights:
            raise PolicyError(f"{where}: weights {name!r} are missing")
        array = weights[name]
        if array.shape != shape:
            raise PolicyError(f"{where}: {name} has shape {array.shape}: it must be {shape}")
        if array.dtype.kind != "f":
            raise PolicyError(f"{where}: {name} must be floating-point numbers, got {array.dtype}")
        with np.errstate(over="ignore"):
            is_finite = np.isfinite(array.astype(np.float32)).all()
        if not is_finite:
            raise PolicyError(f"{where}: {name} holds numbers that are not finite in float32")


_DATA = resources.files("geo_patrol.agents") / "data"


def shipped_names() -> tuple[str, ...]:
    """Return the names of the policies that come with the package."""
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in _DATA.iterdir() if file.name.endswith(SUFFIX)))


Floats = NDArray[np.float32]
_Real = TypeVar("_Real", np.float32, np.float64)

KIND_OF_ROW = np.array([0] + [1] * (SATELLITES - 1) + [2] + [3] * (SATELLITES - 1))
"""Own HVA, own Patrols, enemy HVA, enemy Patrols, as their indices in the tables of sectors."""
SATELLITE_SCALES = np.array([feature.scale / feature.token_scale for feature in observe.SATELLITE_FEATURES], np.float32)
GAME_SCALES = np.array([feature.scale / feature.token_scale for feature in observe.GAME_FEATURES], np.float32)
MEMORY_SCALES = np.array([feature.scale / feature.token_scale for feature in MEMORY_FEATURES], np.float32)
HIGHEST_INPUT = 10.0
"""Inputs are clipped here: practically unlimited limits would drown the others."""
FLEETS = (np.arange(KINDS)[:, None] == KIND_OF_ROW).astype(np.float32) * np.array(
    [[1], [0.25], [1], [0.25]], np.float32
)
"""What each satellite counts in the sums over own HVA, own Patrols, enemy HVA and enemy Patrols, (4, 22)."""
ACTIVE = 2
"""The index of "active" among a satellite's features."""


class Inputs(NamedTuple):
    """The inputs of the network."""

    sectors: NDArray[np.int64]
    """(n, 22), the sector of each satellite, 0 if it is absent."""
    features: Floats
    """(n, 22, features of a satellite), scaled."""
    game: Floats
    """(n, features of the game), scaled."""
    memory: Floats | None
    """(n, remembered features), scaled; None for a policy without a memory."""


def read_inputs(weights: Weights, observations: NDArray[np.int16], memory: NDArray[np.int16] | None = None) -> Inputs:
    """Split observations in the encoding "tokens", (n, size), into inputs.

    Args:
        weights: those of the network that gets them.
        observations: what it observes.
        memory: what ``OrderMemory`` remembers, (n, 22), for a network that has such inputs; others ignore it.

    Raises:
        PolicyError: a satellite is on a ring that no policy knows, or the network needs a memory and there is none.
    """
    remembered = None
    if "memory" in weights:
        if memory is None:
            raise PolicyError(
                "this policy remembers the orders of a game: it plays whole games, as make_agent makes it"
            )
        remembered = np.clip(memory * MEMORY_SCALES, 0, HIGHEST_INPUT)
    table = observations[:, : observe.TOKEN_TABLE_SIZE].reshape(-1, observe.OBSERVED_SATELLITES, observe.TOKEN_COLUMNS)
    sectors = table[..., 0].astype(np.int64)
    if sectors.size and sectors.max() >= SECTORS:
        raise PolicyError(f"the board has more than {SECTORS - 1} sectors: policies know boards of up to five rings")
    features = np.clip(table[..., 1:] * SATELLITE_SCALES, 0, HIGHEST_INPUT)
    game = np.clip(
        observations[:, observe.TOKEN_TABLE_SIZE : observe.TOKEN_SIZE] * GAME_SCALES, -HIGHEST_INPUT, HIGHEST_INPUT
    )
    return Inputs(sectors, features, game, remembered)


class Scores(NamedTuple):
    """What the network says of the orders of one side in n positions."""

    has_choice: NDArray[np.bool_]
    """(n, 11), which satellites have a choice."""
    logits: NDArray[np.floating[Any]]
    """(choices, k, 28), those of these satellites, in their order, by each component; -inf where an order is illegal."""
    component_logits: NDArray[np.floating[Any]]
    """(n, k), of the components."""


@_one_blas_thread
def score_orders(
    weights: Weights,
    observations: NDArray[np.int16],
    masks: NDArray[np.int8],
    memory: NDArray[np.int16] | None = None,
) -> Scores:
    """Score the legal orders of all satellites that have a choice.

    Args:
        weights: arrays as ``shapes`` says.
        observations: (n, size), in the encoding "tokens".
        masks: (n, 11, 28), 1 where an order is legal.
        memory: as for ``read_inputs``.
    """
    inputs = read_inputs(weights, observations, memory)
    has_choice = masks.sum(axis=2) > 1
    rows, numbers = np.nonzero(has_choice)
    satellites = _embed_satellites(weights, inputs)
    context = _sum_up(weights, inputs, satellites)
    component_logits = np.zeros((len(masks), 1), np.float32)
    wishes = (
        satellites[rows, numbers] @ weights["order"]
        + (context @ weights["order_context"])[rows]
        + weights["order_bias"]
    )
    if "component" in weights:
        component_logits = context @ weights["mixing"] + weights["mixing_bias"]
        wishes = (wishes[:, None] + weights["component"]).reshape(-1, wishes.shape[1])
    wishes = _relu(wishes)
    components = component_logits.shape[1]
    logits = np.empty((len(rows), components, ORDERS), np.float32)
    simple = (wishes @ weights["simple"] + weights["simple_bias"]).reshape(-1, components, SIMPLE_ORDERS)
    logits[..., : SIMPLE_ORDERS - 1] = simple[..., : SIMPLE_ORDERS - 1]
    logits[..., GUARD] = simple[..., SIMPLE_ORDERS - 1]
    logits[..., SHOOT:GUARD] = _score_attacks(weights, inputs, satellites[:, SATELLITES:], wishes, rows, numbers)
    logits.transpose(0, 2, 1)[masks[rows, numbers] == 0] = -np.inf
    return Scores(has_choice, logits, component_logits)


def draw_components(scores: Scores, rng: np.random.Generator | None) -> NDArray[np.floating[Any]]:
    """Return the logits of the satellites with a choice, (choices, 28), by a component that is drawn for each position.

    Args:
        scores: what ``score_orders`` returned.
        rng: samples the components; None takes the most likely ones.
    """
    drawn = scores.component_logits
    if drawn.shape[1] == 1:
        return scores.logits[:, 0]
    if rng is not None:
        drawn = drawn + rng.gumbel(size=drawn.shape).astype(np.float32)
    rows, _ = np.nonzero(scores.has_choice)
    chosen: NDArray[np.floating[Any]] = scores.logits[np.arange(len(rows)), drawn.argmax(axis=1)[rows]]
    return chosen


def joint_log_probs(scores: Scores, orders: NDArray[np.int64], dtype: type[_Real]) -> NDArray[_Real]:
    """Return how likely joint orders, (count, 11), are in one position: log-probabilities, (count,), over all components.

    Args:
        scores: of the one position.
        orders: the joint orders.
        dtype: in what precision they are added up.
    """
    chosen = orders[:, scores.has_choice[0]]
    by_component = [probabilities(logits)[np.arange(len(logits)), chosen] for logits in scores.logits.swapaxes(0, 1)]
    log_probs: NDArray[_Real] = np.log(np.maximum(by_component, _TINY)).sum(axis=2, dtype=dtype)
    log_weights = np.log(np.maximum(probabilities(scores.component_logits.astype(dtype))[0], _TINY))
    mixed: NDArray[_Real] = np.logaddexp.reduce(log_probs + log_weights[:, None], axis=0)
    return mixed


def choose_orders(
    has_choice: NDArray[np.bool_], logits: NDArray[np.floating[Any]], rng: np.random.Generator | None
) -> NDArray[np.int64]:
    """Sample the orders of all satellites from the probabilities that logits give, or take the most likely ones.

    Args:
        has_choice: (n, 11), which satellites have one; the others get a noop.
        logits: (choices, 28), those of these satellites, in their order; -inf where an order is illegal.
        rng: samples the orders, by the Gumbel-max trick; None takes the most likely ones.

    Returns:
        Order codes, (n, 11).
    """
    if rng is not None:
        # The Gumbel-max trick: the largest of logits with Gumbel noise is distributed as their softmax.
        logits = logits + rng.gumbel(size=logits.shape).astype(np.float32)
    orders = np.full(has_choice.shape, NOOP, np.int64)
    orders[has_choice] = logits.argmax(axis=1)
    return orders


def order_probabilities(
    has_choice: NDArray[np.bool_], logits: NDArray[np.floating[Any]], *, greedy: bool
) -> NDArray[np.float64]:
    """Return the probabilities with which ``choose_orders`` chooses, (n, 11, 28).

    Args:
        has_choice: as for ``choose_orders``.
        logits: as for ``choose_orders``.
        greedy: whether it takes the most likely orders.
    """
    if greedy:
        return np.eye(ORDERS)[choose_orders(has_choice, logits, None)]
    every = np.zeros((*has_choice.shape, ORDERS))
    every[..., NOOP] = 1
    every[has_choice] = probabilities(logits.astype(np.float64))
    return every


def component_probabilities(scores: Scores, *, greedy: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mixtures that joint orders are drawn from.

    Args:
        scores: what ``score_orders`` returned.
        greedy: whether the most likely component and orders are taken.

    Returns:
        The probabilities of the components, (n, k), and of each satellite's orders by each, (n, k, 11, 28).
    """
    likely = probabilities(scores.component_logits.astype(np.float64))
    if greedy:
        likely = np.eye(likely.shape[1])[likely.argmax(axis=1)]
    by_component = [
        order_probabilities(scores.has_choice, each, greedy=greedy) for each in scores.logits.swapaxes(0, 1)
    ]
    return likely, np.stack(by_component, axis=1)


@_one_blas_thread
def value_positions(weights: Weights, observations: NDArray[np.int16]) -> Floats:
    """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
    inputs = read_inputs(weights, observations)
    context = _sum_up(weights, inputs, _embed_satellites(weights, inputs))
    values: Floats = (context @ weights["value"] + weights["value_bias"])[:, 0]
    return values


def _relu(values: Floats) -> Floats:
    return np.maximum(values, 0, out=values)


def _embed_satellites(weights: Weights, inputs: Inputs) -> Floats:
    """Return the embedding of each satellite, (n, 22, width)."""
    own, enemy = inputs.features[:, :SATELLITES], inputs.features[:, SATELLITES:]
    known = weights["place"][inputs.sectors + KIND_OF_ROW * SECTORS]
    known[:, :SATELLITES] += own @ weights["own_figures"] + weights["number"]
    known[:, SATELLITES:] += enemy @ weights["enemy_figures"]
    known += (inputs.game @ weights["game"] + weights["satellite_bias"])[:, None]
    return _relu(known)


def _sum_up(weights: Weights, inputs: Inputs, satellites: Floats) -> Floats:
    """Return the context of the whole position, (n, width)."""
    is_active = inputs.features[..., ACTIVE]
    sums = (FLEETS * is_active[:, None]) @ satellites
    pool = np.concatenate([sums.reshape(len(sums), -1), inputs.game], axis=1)
    first = pool @ weights["pool"] + _count_sectors(inputs) @ weights["board"] + weights["pool_bias"]
    if inputs.memory is not None:
        first += inputs.memory @ weights["memory"]
    first = _relu(first)
    return _relu(first @ weights["context"] + weights["context_bias"])


def _count_sectors(inputs: Inputs) -> Floats:
    """Return how many active satellites of each kind are in each sector, (n, 4 * 63): quicker than their rows' sums."""
    indices = inputs.sectors + KIND_OF_ROW * SECTORS
    flat = indices + KINDS * SECTORS * np.arange(len(indices))[:, None]
    is_active = inputs.features[..., ACTIVE]
    counts = np.bincount(flat.ravel(), is_active.ravel(), minlength=KINDS * SECTORS * len(indices))
    return counts.astype(np.float32).reshape(len(indices), KINDS * SECTORS)


def _score_attacks(
    weights: Weights,
    inputs: Inputs,
    enemies: Floats,
    wishes: Floats,
    rows: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> Floats:
    """Return the scores of shooting at and colliding with each enemy by each component, (choices, k, 22)."""
    width, components = weights["key"].shape[1] // ATTACKS, widths_of(weights).components
    queries = np.zeros((len(enemies), SATELLITES, components, ATTACKS, width), np.float32)
    queries[rows, numbers] = (wishes @ weights["query"]).reshape(-1, components, ATTACKS, width)
    queries = queries.reshape(len(enemies), SATELLITES * components, ATTACKS, width)
    keys = (enemies @ weights["key"]).reshape(-1, SATELLITES, ATTACKS, width)
    products = queries.transpose(0, 2, 1, 3) @ keys.transpose(0, 2, 3, 1)
    products = products.reshape(len(enemies), ATTACKS, SATELLITES, components, SATELLITES)
    scores = products[rows, :, numbers].transpose(0, 2, 1, 3) / np.float32(width**0.5)
    scores += (wishes @ weights["attack"]).reshape(-1, components, ATTACKS, 1)
    is_same = inputs.sectors[rows, numbers, None] == inputs.sectors[rows, SATELLITES:]
    scores += (wishes @ weights["attack_same_sector"]).reshape(-1, components, ATTACKS, 1) * is_same[:, None, None]
    scored: Floats = scores.reshape(len(rows), components, ATTACKS * SATELLITES)
    return scored


def probabilities(logits: NDArray[_Real]) -> NDArray[_Real]:
    """Return the probabilities of orders, (choices, 28): the softmax of their logits."""
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    normalized: NDArray[_Real] = likely / likely.sum(axis=1, keepdims=True)
    return normalized


def initial_weights(shapes: dict[str, tuple[int, ...]], generator: np.random.Generator) -> dict[str, Floats]:
    """Sample weights to begin a training with: nearly uniform policies that ignore what they remember, biases 0."""
    weights: dict[str, Floats] = {}
    for name, shape in shapes.items():
        if len(shape) == 1 or name == "memory":
            weights[name] = np.zeros(shape, np.float32)
            continue
        is_lookup = name in {"place", "number", "board", "component"}
        spread = 0.3 if is_lookup else np.sqrt(2 / shape[0])
        if name in {"simple", "attack", "attack_same_sector", "query", "value", "mixing"}:
            spread *= 0.1
        weights[name] = generator.normal(0, spread, shape).astype(np.float32)
    return weights


_TINY = np.finfo(np.float32).tiny
_SAMPLED_GAMES = 16
"""Games whose rules stand for those of a configuration, which may have variants."""


def _scale_rules(rules: NDArray[np.int16]) -> NDArray[np.float64]:
    scales = GAME_SCALES[observe.NUM_CHANGING_FEATURES :].astype(np.float64)
    scaled: NDArray[np.float64] = np.clip(rules * scales, -HIGHEST_INPUT, HIGHEST_INPUT)
    scaled[:, _BOARD] *= 100 * MAX_DISTANCE  # a tenth a ring: boards with other rings are ten times too far
    return scaled


class MixtureAgent:
    """Plays every game by one of several policies, chosen at its first decision.

    Args:
        policies: one or more.
        weights: how often each is drawn, relative to the others.
        name: its name in tables.
    """

    observation: observe.Encoding = "tokens"

    def __init__(self, policies: "Sequence[PolicyAgent]", weights: Sequence[float], name: str) -> None:
        self.policies, self.name = tuple(policies), name
        self.probabilities = np.array(weights, np.float64) / np.sum(weights)
        self._chosen = np.zeros(0, np.int64)

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Let the policies of new games be chosen at the next decision."""
        if len(new_games) != len(self._chosen):
            self._chosen = np.full(len(new_games), -1)
        self._chosen[new_games] = -1

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11), as ``PolicyAgent.act`` does."""
        if len(self._chosen) != len(action_masks):
            self.reset(np.ones(len(action_masks), np.bool_))
        new = self._chosen < 0
        self._chosen[new] = self._draw(int(new.sum()), generator)
        orders = np.full((len(action_masks), SATELLITES), NOOP, np.int64)
        has_choice = (check_masks(action_masks).sum(axis=2) > 1).any(axis=1)
        for number in np.unique(self._chosen[has_choice]):
            rows = has_choice & (self._chosen == number)
            orders[rows] = self.policies[number].act(observations[rows], action_masks[rows], generator)
        return orders

    def sample(
        self,
        observation: NDArray[np.int16],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Sample joint orders for one position, of a policy chosen for each, as ``PolicyAgent.sample`` does.

        Returns:
            Orders, (count, 11), and their log-probabilities at temperature 1, (count,), whichever policy gives them.
        """
        chosen = self._draw(count, generator)
        orders = np.full((count, SATELLITES), NOOP, np.int64)
        for number in np.unique(chosen):
            rows = np.flatnonzero(chosen == number)
            sampled = self.policies[number].sample(observation, mask, len(rows), generator, temperature)
            orders[rows] = sampled[0]
        log_probs = [self._log_probs(policy, observation, mask, orders) for policy in self.policies]
        with np.errstate(divide="ignore"):  # a policy may have weight 0
            log_weights = np.log(self.probabilities)
        mixed: NDArray[np.float64] = np.logaddexp.reduce(log_weights[:, None] + log_probs, axis=0)
        return orders, mixed

    def value(self, observations: NDArray[np.int16]) -> NDArray[np.float32]:
        """Estimate how games will end for the side that sees them, (n,): the mean of the policies' estimates."""
        values: NDArray[np.float32] = np.average(
            [policy.value(observations) for policy in self.policies], axis=0, weights=self.probabilities
        ).astype(np.float32)
        return values

    def _draw(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        return generator.choice(len(self.policies), count, p=self.probabilities)

    @staticmethod
    def _log_probs(
        policy: "PolicyAgent", observation: NDArray[np.int16], mask: NDArray[np.int8], orders: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how likely a policy gives joint orders, (count, 11), in one position: log-probabilities, (count,)."""
        ((weights, _),) = policy.choose_networks(observation[None])
        return joint_log_probs(score_orders(weights, observation[None], mask[None]), orders, np.float64)


class MemoryAgent:
    """Plays by a network that has what ``OrderMemory`` remembers of a game among its inputs.

    Args:
        policy: the network.

    Attributes:
        policy: likewise.
        name: its name in tables.
    """

    observation: observe.Encoding = "tokens"

    def __init__(self, policy: "PolicyAgent") -> None:
        self.policy, self.name = policy, policy.name
        self._memory = OrderMemory()

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Forget the games that are over."""
        self._memory.reset(new_games)

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11), as ``PolicyAgent.act`` does."""
        masks = check_masks(action_masks)
        seen = check_observations(observations, len(masks))
        remembered, rng = self._memory.update(seen), None if self.policy.greedy else generator
        scores = score_orders(self.policy.weights, seen, masks, remembered)
        return choose_orders(scores.has_choice, draw_components(scores, rng), rng)


def read_policy(text: str = "base") -> "PolicyAgent | MixtureAgent | MemoryAgent":
    """Make a policy as its name says after the colon: ``base``, ``base,greedy``, ``base,network=3``, ``runs/policy.safetensors``.

    Raises:
        PolicyError: there is no such policy or network, or a file holds something else.
    """
    source, network, greedy = split_policy(text)
    try:
        policies = read_policies(source)
    except OSError as error:
        raise PolicyError(f"{source}: {error.strerror or error}") from None
    if policies.mixture_weights is None:
        agent = PolicyAgent(source, greedy=greedy, network=network)
        return MemoryAgent(agent) if "memory" in agent.weights else agent
    if network is not None:
        raise PolicyError(
            f"policy:{text}: network must be left out, because the {len(policies.weights)} policies of {source} are drawn by chance"
        )
    agents = [PolicyAgent(weights, greedy=greedy) for weights in policies.weights]
    return MixtureAgent(agents, policies.mixture_weights, f"policy:{source}{GREEDY if greedy else ''}")


GREEDY = ",greedy"
"""Behind the name of a network's agent: it takes the most likely orders."""
BY_RULES: Literal["rules"] = "rules"
"""In place of a network's number: the rules of every game decide which network plays it."""
_NETWORK = re.compile(r"(?P<source>.*),network=(?P<network>[^,]*)", re.DOTALL)


def split_policy(text: str) -> "tuple[str, int | Literal['rules'] | None, bool]":
    """Return what the name of a policy holds after the colon: the source, the network if one is named, and whether it is greedy.

    Raises:
        PolicyError: the network is neither a number from 1 on nor "rules".
    """
    source, greedy = text.removesuffix(GREEDY), text.endswith(GREEDY)
    match = _NETWORK.fullmatch(source)
    if match is None:
        return source or "base", None, greedy
    source, network = match["source"] or "base", match["network"]
    if network == BY_RULES:
        return source, BY_RULES, greedy
    if not (network.isascii() and network.isdigit() and len(network) < 4):
        raise PolicyError(f"policy:{text}: network must be a number from 1 on, or {BY_RULES}, got {show(network)}")
    return source, int(network), greedy


class PolicyAgent(StatelessAgent):
    """Plays by a trained network, on every board of up to five rings and from either side.

    Args:
        source: the name of a policy that comes with the package, such as "base"; the path of a file of weights, see
            ``geo_patrol.agents.policy``; or the weights themselves. One with a memory, which ``make_agent`` plays as a
            ``MemoryAgent``, does not act by itself. Of several policies in one file that are drawn by chance,
            which ``make_agent`` plays as a ``MixtureAgent``, it is the one with the largest weight.
        greedy: whether it takes the most likely order of each satellite instead of sampling one. Mixed strategies pay in
            these games, so sampling usually wins more.
        network: of several networks in one file, the number of the one that plays all games, from 1; "rules" or None if the
            rules of each game decide. Studies replace None by a number, see ``fix_network``.

    Raises:
        PolicyError: there is no policy of that name or no such network, or a file holds something else.
        OSError: the file cannot be read.
    """

    stateless = True

    def __init__(
        self,
        source: str | Path | Weights = "base",
        *,
        greedy: bool = False,
        network: int | Literal["rules"] | None = None,
    ) -> None:
        if isinstance(source, str | Path):
            policies = read_policies(source)
        else:
            check_weights(source, "weights")
            policies = Policies([source])
        if policies.mixture_weights is not None:
            policies = Policies([policies.weights[int(np.argmax(policies.mixture_weights))]])
        self.num_networks = len(policies.weights)
        if isinstance(network, int):
            if not 1 <= network <= self.num_networks:
                raise PolicyError(f"network must be a number from 1 to {self.num_networks}, got {network}")
            policies = Policies([policies.weights[network - 1]])
        self._source, self.greedy, self.network = source, greedy, network
        self._networks, self._outer_rings = policies.weights, policies.outer_rings
        self._rules = _scale_rules(policies.rules.reshape(-1, len(RULE_FEATURES)))
        label = source if isinstance(source, str | Path) else "weights"
        chosen = "" if network is None else f",network={network}"
        self.name = f"policy:{label}{chosen}{GREEDY if greedy else ''}"

    @property
    def weights(self) -> Weights:
        """The weights of its network; of several, those of the one for all rules and the largest boards."""
        return self._networks[-1]

    def weights_for(self, configs: Sequence[GameConfig]) -> Weights:
        """Return the weights of the network that plays games of some configurations.

        Where several networks do, it is the one for all rules that plays on the largest of the boards.
        """
        return self._networks[self._index_for(configs)]

    def with_network_for(self, config: GameConfig) -> "PolicyAgent":
        """Return this agent with the network that ``weights_for`` returns for a configuration, which then plays all games.

        An agent with one network, or whose ``network`` is given, is returned as it is.
        """
        if self.num_networks == 1 or self.network is not None:
            return self
        return PolicyAgent(self._source, greedy=self.greedy, network=1 + self._index_for([config]))

    def version(self, config: GameConfig) -> str:
        """Return which network plays games of a configuration, such as "network 3 of 7 (1f0a33c9)".

        In brackets is the beginning of a SHA-256 digest of its weights; of several networks, all are named.
        """
        if self.num_networks == 1 or isinstance(self.network, int):
            numbers = [self.network if isinstance(self.network, int) else 1]
            digests = [_digest(self._networks[0])]
        else:
            indices = np.unique(self._choose(observe_rules(config, _SAMPLED_GAMES))).tolist()
            numbers, digests = [1 + index for index in indices], [_digest(self._networks[index]) for index in indices]
        return f"network {', '.join(map(str, numbers))} of {self.num_networks} ({', '.join(digests)})"

    def _index_for(self, configs: Sequence[GameConfig]) -> int:
        rules = np.concatenate([observe_rules(config, _SAMPLED_GAMES) for config in configs])
        chosen = np.unique(self._choose(rules))
        return int(chosen[0] if len(chosen) == 1 else self._choose_by_board(rules[:, _OUTER_RING].max()))

    def _choose(self, rules: NDArray[np.int16]) -> NDArray[np.intp]:
        """Return the indices of the networks that play games with these rules, (n, features)."""
        chosen = self._choose_by_board(rules[:, _OUTER_RING])
        if len(self._rules) > 0:
            scaled = _scale_rules(rules)
            # The squared distances by the binomial formula: no array of all differences.
            squares = (scaled**2).sum(axis=1)[:, None] + (self._rules**2).sum(axis=1) - 2 * scaled @ self._rules.T
            is_near = squares.min(axis=1) <= MAX_DISTANCE**2
            chosen[is_near] = squares.argmin(axis=1)[is_near] // NUM_SIDES
        return chosen

    def _choose_by_board(self, outer_rings: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        first = len(self._networks) - len(self._outer_rings)  # behind those for certain rules
        return first + np.searchsorted(self._outer_rings[:-1], outer_rings)

    def choose_networks(self, observations: NDArray[np.int16]) -> list[tuple[Weights, Any]]:
        """Return the weights of the networks that play in some games, each with the rows of its games."""
        if len(self._networks) == 1:
            return [(self._networks[0], slice(None))]
        rules = observations[:, _RULE_COLUMNS]
        if len(rules) > 0 and (rules == rules[0]).all():
            rules = rules[:1]
        chosen = self._choose(rules)
        numbers = np.unique(chosen)
        if len(numbers) == 1:  # no copies where one network plays all games
            return [(self._networks[int(numbers[0])], slice(None))]
        return [(self._networks[int(number)], chosen == number) for number in numbers]

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11).

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        masks = check_masks(action_masks)
        seen, orders = check_observations(observations, len(masks)), np.empty(masks.shape[:2], np.int64)
        for weights, rows in self.choose_networks(seen):
            scores, rng = score_orders(weights, seen[rows], masks[rows]), None if self.greedy else generator
            orders[rows] = choose_orders(scores.has_choice, draw_components(scores, rng), rng)
        return orders

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return the probabilities of each satellite's orders, (n, 11, 28): 1 for the most likely ones if it is greedy.

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        weights, orders = self.component_probabilities(observations, action_masks)
        every: NDArray[np.float64] = np.einsum("nk,nkso->nso", weights, orders)
        return every

    def component_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """Return the probabilities of the components, (n, k), and of each satellite's orders by each, (n, k, 11, 28).

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        masks = check_masks(action_masks)
        seen = check_observations(observations, len(masks))
        components = max(widths_of(weights).components for weights in self._networks)
        every = np.zeros((len(masks), components))
        orders = np.zeros((len(masks), components, SATELLITES, ORDERS))
        orders[..., NOOP] = 1
        for weights, rows in self.choose_networks(seen):
            scores = score_orders(weights, seen[rows], masks[rows])
            likely, by_component = component_probabilities(scores, greedy=self.greedy)
            every[rows, : likely.shape[1]], orders[rows, : likely.shape[1]] = likely, by_component
        return every, orders

    def sample(
        self,
        observation: NDArray[np.int16],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Sample joint orders for one position, whether or not the agent is greedy.

        Args:
            observation: (size,), in the encoding "tokens".
            mask: (11, 28), 1 where an order is legal.
            count: the number of samples.
            generator: the source of randomness.
            temperature: above 1 makes unlikely orders more frequent.

        Returns:
            Orders, (count, 11), and their log-probabilities at temperature 1, (count,).
        """
        ((weights, _),) = self.choose_networks(observation[None])
        scores = score_orders(weights, observation[None], mask[None])
        logits = scores.logits[:, 0]
        components = scores.component_logits.shape[1]
        if components > 1:
            likely = probabilities(scores.component_logits / np.float32(temperature))[0]
            logits = scores.logits[:, generator.choice(components, count, p=likely / likely.sum())].swapaxes(0, 1)
        noise = generator.gumbel(size=(count, *scores.logits[:, 0].shape)).astype(np.float32)
        sampled = (logits / np.float32(temperature) + noise).argmax(axis=2)
        orders = np.full((count, SATELLITES), NOOP, np.int64)
        orders[:, scores.has_choice[0]] = sampled
        return orders, joint_log_probs(scores, orders, np.float32)

    def value(self, observations: NDArray[np.int16]) -> NDArray[np.float32]:
        """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
        values = np.empty(len(observations), np.float32)
        for weights, rows in self.choose_networks(observations):
            values[rows] = value_positions(weights, observations[rows])
        return values


def _digest(weights: Weights) -> str:
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(np.ascontiguousarray(weights[name], np.float32).tobytes())
    return digest.hexdigest()[:8]
