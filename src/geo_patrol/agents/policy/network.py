"""The policy's network in NumPy: from observations to logits and values.

One small network is applied to every satellite: its embedding and a context, which summarizes the whole position, give
the logits of the orders without a target, and a query, whose dot product with the key of a target scores an attack.
``geo_patrol.training.network`` is the same network in PyTorch.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.policy.weights import ATTACKS, KINDS, SECTORS, SIMPLE_ORDERS, Weights
from geo_patrol.engine.observe import (
    GAME_FEATURES,
    OBSERVED_SATELLITES,
    SATELLITE_FEATURES,
    TOKEN_COLUMNS,
    TOKEN_TABLE_SIZE,
)
from geo_patrol.engine.state import GUARD, NOOP, ORDERS, SATELLITES, SHOOT
from geo_patrol.errors import PolicyError

Floats = NDArray[np.float32]
_Real = TypeVar("_Real", np.float32, np.float64)

KIND_OF_ROW = np.array([0] + [1] * (SATELLITES - 1) + [2] + [3] * (SATELLITES - 1))
"""Own HVA, own Patrols, enemy HVA, enemy Patrols, as their indices in the tables of sectors."""
SATELLITE_SCALES = np.array([feature.scale / feature.token_scale for feature in SATELLITE_FEATURES], np.float32)
GAME_SCALES = np.array([feature.scale / feature.token_scale for feature in GAME_FEATURES], np.float32)
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


def read_inputs(observations: NDArray[np.int16]) -> Inputs:
    """Split observations in the encoding "tokens", (n, size), into inputs.

    Raises:
        PolicyError: a satellite is on a ring that no policy knows.
    """
    table = observations[:, :TOKEN_TABLE_SIZE].reshape(-1, OBSERVED_SATELLITES, TOKEN_COLUMNS)
    sectors = table[..., 0].astype(np.int64)
    if sectors.size and sectors.max() >= SECTORS:
        raise PolicyError(f"the board has more than {SECTORS - 1} sectors: policies know boards of up to five rings")
    features = np.clip(table[..., 1:] * SATELLITE_SCALES, 0, HIGHEST_INPUT)
    game = np.clip(observations[:, TOKEN_TABLE_SIZE:] * GAME_SCALES, -HIGHEST_INPUT, HIGHEST_INPUT)
    return Inputs(sectors, features, game)


def score_orders(
    weights: Weights, observations: NDArray[np.int16], masks: NDArray[np.int8]
) -> tuple[NDArray[np.bool_], Floats]:
    """Score the legal orders of all satellites that have a choice.

    Args:
        weights: arrays as ``weights.shapes`` says.
        observations: (n, size), in the encoding "tokens".
        masks: (n, 11, 28), 1 where an order is legal.

    Returns:
        Which satellites have a choice, (n, 11); and for these, in their order, the logits of all orders, (choices, 28),
        -inf where one is illegal.
    """
    inputs = read_inputs(observations)
    has_choice = masks.sum(axis=2) > 1
    rows, numbers = np.nonzero(has_choice)
    satellites = _embed_satellites(weights, inputs)
    context = _sum_up(weights, inputs, satellites)
    wishes = _relu(
        satellites[rows, numbers] @ weights["order"]
        + (context @ weights["order_context"])[rows]
        + weights["order_bias"]
    )
    logits = np.empty((len(rows), ORDERS), np.float32)
    simple = wishes @ weights["simple"] + weights["simple_bias"]
    logits[:, : SIMPLE_ORDERS - 1] = simple[:, : SIMPLE_ORDERS - 1]
    logits[:, GUARD] = simple[:, SIMPLE_ORDERS - 1]
    logits[:, SHOOT:GUARD] = _score_attacks(weights, inputs, satellites[:, SATELLITES:], wishes, rows, numbers)
    logits[masks[rows, numbers] == 0] = -np.inf
    return has_choice, logits


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


def value_positions(weights: Weights, observations: NDArray[np.int16]) -> Floats:
    """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
    inputs = read_inputs(observations)
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
    first = _relu(pool @ weights["pool"] + _count_sectors(inputs) @ weights["board"] + weights["pool_bias"])
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
    """Return the scores of shooting at and colliding with each enemy, (choices, 22)."""
    width = weights["key"].shape[1] // ATTACKS
    queries = np.zeros((len(enemies), SATELLITES, ATTACKS, width), np.float32)
    queries[rows, numbers] = (wishes @ weights["query"]).reshape(-1, ATTACKS, width)
    keys = (enemies @ weights["key"]).reshape(-1, SATELLITES, ATTACKS, width)
    scores = (queries.transpose(0, 2, 1, 3) @ keys.transpose(0, 2, 3, 1))[rows, :, numbers] / np.float32(width**0.5)
    scores += (wishes @ weights["attack"])[:, :, None]
    is_same = inputs.sectors[rows, numbers, None] == inputs.sectors[rows, SATELLITES:]
    scores += (wishes @ weights["attack_same_sector"])[:, :, None] * is_same[:, None]
    scored: Floats = scores.reshape(len(rows), ATTACKS * SATELLITES)
    return scored


def probabilities(logits: NDArray[_Real]) -> NDArray[_Real]:
    """Return the probabilities of orders, (choices, 28): the softmax of their logits."""
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    normalized: NDArray[_Real] = likely / likely.sum(axis=1, keepdims=True)
    return normalized


def initial_weights(shapes: dict[str, tuple[int, ...]], generator: np.random.Generator) -> dict[str, Floats]:
    """Sample weights to begin a training with: nearly uniform policies, biases 0."""
    weights: dict[str, Floats] = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            weights[name] = np.zeros(shape, np.float32)
            continue
        is_lookup = name in {"place", "number", "board"}
        spread = 0.3 if is_lookup else np.sqrt(2 / shape[0])
        if name in {"simple", "attack", "attack_same_sector", "query", "value"}:
            spread *= 0.1
        weights[name] = generator.normal(0, spread, shape).astype(np.float32)
    return weights
