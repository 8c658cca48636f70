"""The price of satellites that choose independently, on a solved preset: ``python -m research.independence``.

It measures the exact exploitability of two kinds of memoryless strategies, mixtures of K products over satellites (one
product: independent satellites), and writes the table of docs/results/solutions.md. It takes minutes on one core.

- *Fitted*: in each position, the mixture that is fitted to the equilibrium's joint strategy by expectation-maximization.
- *Best*: backward induction in which each position's strategy is the mixture that receives the most from its worst
  response, given what the same kind of strategy is sure of afterwards. It is searched for by alternating linear programs,
  from several starts, which may miss the best one: so the exploitability that is found is an upper bound of the least.
"""

import json
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.documents import DOCS, markdown_table, paragraph, with_blocks
from benchmarks.machine import processor_name
from geo_patrol import load_config
from geo_patrol.base.jit import jit, jitable_call
from geo_patrol.cli.output import Commands
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.evaluation.exploitability import Exploitability
from geo_patrol.solving import REWARDS, Limits, Reward
from geo_patrol.solving.backward_induction import (
    RESPONSES_TO_EQUILIBRIUM,
    Moves,
    Objective,
    OrderProbabilities,
    engagement_matrices,
    go_back,
    list_turns,
    movement_matrices,
)
from geo_patrol.solving.matrices import Floats, best_payoff, solve_matrix, worst_payoff
from geo_patrol.solving.transitions import Board, joint_orders_of, list_transitions, set_position, write_sets

Ints = NDArray[np.int64]
DOCUMENT = DOCS / "results" / "solutions.md"
RESULTS = Path(__file__).with_name("independence.json")
COMPONENTS, STARTS = (1, 2, 4, 8), 64
_KINDS = 4
"""Values for each number of components: fitted as alpha and as bravo, best as alpha and as bravo."""
_EXACT = 1e-12
_ITERATIONS, _SWEEPS = 1000, 100


@jitable_call
def digits_of(sizes: Ints) -> Ints:
    """Return which of its orders each satellite has in each joint order, (m, s), in the order of ``list_joint_orders``.

    ``sizes``: (s,), how many orders each satellite has.
    """
    digits = np.empty((sizes.prod(), len(sizes)), np.int64)
    for i in range(len(digits)):
        rest = i
        for satellite in range(len(sizes)):
            digits[i, satellite] = rest % sizes[satellite]
            rest //= sizes[satellite]
    return digits


@jitable_call
def write_joint(digits: Ints, weights: Floats, orders: Floats, shares: Floats, joint: Floats) -> None:
    """Write the probability of each joint order in each component, (m, k), and in the mixture, (m,).

    Args:
        digits: (m, s), see ``digits_of``.
        weights: (k,), of the components.
        orders: (k, s, largest size), the probabilities of each satellite's orders in each component.
        shares: (m, k), written; each includes the weight of its component.
        joint: (m,), written.
    """
    for i in range(len(joint)):
        joint[i] = 0.0
        for k in range(len(weights)):
            shares[i, k] = weights[k]
            for satellite in range(digits.shape[1]):
                shares[i, k] *= orders[k, satellite, digits[i, satellite]]
            joint[i] += shares[i, k]


@jitable_call
def joint_of(sizes: Ints, weights: Floats, orders: Floats) -> Floats:
    """Return the probability of each joint order by a mixture, (m,)."""
    digits = digits_of(sizes)
    joint = np.empty(len(digits))
    write_joint(digits, weights, orders, np.empty((len(digits), len(weights))), joint)
    return joint


@jitable_call
def normalize(sizes: Ints, weights: Floats, orders: Floats) -> None:
    """Divide the sums of ``orders`` by the weights; satellites of a component without weight choose evenly."""
    for k in range(len(weights)):
        for satellite in range(len(sizes)):
            for order in range(sizes[satellite]):
                if weights[k] > 0.0:
                    orders[k, satellite, order] /= weights[k]
                else:
                    orders[k, satellite, order] = 1.0 / sizes[satellite]


@jitable_call
def fit(strategy: Floats, sizes: Ints, components: int, starts: int) -> tuple[Floats, Floats]:
    """Fit a mixture of products to a joint strategy, (m,), by expectation-maximization.

    Returns:
        weights, (k,), and orders, (k, s, largest size): of the start whose Kullback-Leibler divergence is the smallest.
        The first start is the product of the marginals, the others are random, the same in every call; a strategy of at most k joint orders is returned exactly.
    """
    np.random.seed(0)  # noqa: NPY002 - a Generator is no stream of each thread's own
    digits = digits_of(sizes)
    best_weights, best_orders = np.zeros(components), np.zeros((components, len(sizes), sizes.max()))
    support = np.flatnonzero(strategy > 0.0)
    if len(support) <= components:
        for k in range(len(support)):
            best_weights[k] = strategy[support[k]]
            for satellite in range(len(sizes)):
                best_orders[k, satellite, digits[support[k], satellite]] = best_weights[k]
        normalize(sizes, best_weights, best_orders)
        return best_weights, best_orders
    weights, orders = best_weights.copy(), best_orders.copy()
    shares, joint = np.empty((len(strategy), components)), np.ones(len(strategy))
    smallest = np.inf
    for start in range(starts if components > 1 else 1):
        shares[:] = 0.0
        shares[:, 0] = 1.0
        if start > 0:
            shares[:] = np.random.random(shares.shape)  # noqa: NPY002
        for i in range(len(joint)):
            joint[i] = shares[i].sum()
        last = np.inf
        for _ in range(_ITERATIONS):
            weights[:] = 0.0
            orders[:] = 0.0
            for i in support:
                for k in range(components):
                    share = strategy[i] * shares[i, k] / joint[i]
                    weights[k] += share
                    for satellite in range(len(sizes)):
                        orders[k, satellite, digits[i, satellite]] += share
            normalize(sizes, weights, orders)
            write_joint(digits, weights, orders, shares, joint)
            divergence = 0.0
            for i in support:
                divergence += strategy[i] * np.log(strategy[i] / joint[i])
            if last - divergence < _EXACT:
                break
            last = divergence
        if divergence < smallest:
            smallest = divergence
            best_weights[:] = weights
            best_orders[:] = orders
        if smallest < _EXACT:
            break
    return best_weights, best_orders


@jitable_call
def improve(matrix: Floats, sizes: Ints, satellite: int, weights: Floats, orders: Floats) -> None:
    """Replace the orders of one satellite in all components, and the weights, by the best ones for the other satellites'.

    What a component receives is linear in its weight times the probability of the satellite's order: so these products,
    over all components, are a strategy of a matrix game.
    """
    digits, components, size = digits_of(sizes), len(weights), sizes[satellite]
    game = np.zeros((components * size, matrix.shape[1]))
    for i in range(len(digits)):
        for k in range(components):
            others = 1.0
            for other in range(len(sizes)):
                if other != satellite:
                    others *= orders[k, other, digits[i, other]]
            if others > 0.0:
                row = k * size + digits[i, satellite]
                for column in range(matrix.shape[1]):
                    game[row, column] += others * matrix[i, column]
    rows, columns = np.empty(len(game)), np.empty(matrix.shape[1])
    solve_matrix(game, rows, columns)
    for k in range(components):
        weights[k] = rows[k * size : (k + 1) * size].sum()
        if weights[k] > 0.0:
            for order in range(size):
                orders[k, satellite, order] = rows[k * size + order] / weights[k]


@jit
def best_mixture(matrix: Floats, sizes: Ints, components: int, starts: int) -> tuple[float, Floats]:
    """Search for the mixture of products that receives the most from its worst response.

    Args:
        matrix: (m, n), what the rows receive; m joint orders in the order of ``list_joint_orders``.
        sizes: (s,), how many orders each satellite has.
        components: k, of the mixture; with one, satellites are independent.
        starts: of ``fit`` to the equilibrium, which is the first of as many here; the others are random as well.

    Returns:
        what it receives, and the probabilities of its joint orders, (m,).
    """
    strategy, columns = np.empty(matrix.shape[0]), np.empty(matrix.shape[1])
    solve_matrix(matrix, strategy, columns)
    tolerance = _EXACT * max(1.0, np.abs(matrix).max())
    enough, highest = worst_payoff(matrix, strategy) - tolerance, -np.inf
    weights, orders = fit(strategy, sizes, components, starts)
    for start in range(starts):
        if start > 0:
            weights[:] = 1.0 / components
            orders[:] = 0.0
            for k in range(components):
                for satellite in range(len(sizes)):
                    chosen = orders[k, satellite, : sizes[satellite]]
                    chosen[:] = -np.log(1.0 - np.random.random(sizes[satellite]))  # noqa: NPY002
                    chosen /= chosen.sum()
        last = -np.inf
        for _ in range(_SWEEPS):
            joint = joint_of(sizes, weights, orders)
            payoff = worst_payoff(matrix, joint)
            if payoff > highest:
                highest = payoff
                strategy[:] = joint
            if highest >= enough:
                return highest, strategy
            if payoff - last < tolerance:
                break
            last = payoff
            for satellite in range(len(sizes)):
                improve(matrix, sizes, satellite, weights, orders)
    return highest, strategy


@jitable_call
def sizes_of(games: state.Records, board: Board, workspace: state.Workspace, side: int) -> Ints:
    """Return how many orders each satellite of a side has in the first of ``games``."""
    legal = write_sets(games, board, workspace)
    sizes = np.zeros(board.codec.fleets[side], np.int64)
    for number in range(len(sizes)):
        for order in range(state.ORDERS):
            sizes[number] += (legal[side, number] >> order) & 1
    return sizes


@jitable_call
def evaluate_mixtures(
    matrices: Floats, sizes: tuple[Ints, Ints], components: Ints, starts: int, values: Floats
) -> float:
    """Write the values of one position: that of the game, and ``_KINDS`` for each number of components.

    Returns:
        the duality gap of the game.
    """
    rows, columns = np.empty(matrices.shape[1]), np.empty(matrices.shape[2])
    values[0], gap = solve_matrix(matrices[0], rows, columns)
    for i in range(len(components)):
        k, first = components[i], 1 + _KINDS * i
        values[first] = worst_payoff(matrices[first], joint_of(sizes[0], *fit(rows, sizes[0], k, starts)))
        values[first + 1] = best_payoff(matrices[first + 1], joint_of(sizes[1], *fit(columns, sizes[1], k, starts)))
        values[first + 2], _ = best_mixture(matrices[first + 2], sizes[0], k, starts)
        negated, _ = best_mixture(np.ascontiguousarray(-matrices[first + 3].T), sizes[1], k, starts)
        values[first + 3] = -negated
    return gap


@jit
def value_movements(
    components: Ints,
    starts: int,
    board: Board,
    codes: Ints,
    indices: Ints,
    moves: tuple[Moves, Moves],
    following: Floats,
    objective: Objective,
    probabilities: OrderProbabilities,  # noqa: ARG001 - of no agent
) -> tuple[Floats, float]:
    """Return the values of ``evaluate_mixtures`` in a movement phase, as ``backward_induction.value_movements`` does."""
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 1)
    values, largest = np.empty((len(codes), len(objective.payoffs))), 0.0
    for index in range(len(codes)):
        set_position(games, board, codes[index])
        sizes = sizes_of(games, board, workspace, state.ALPHA), sizes_of(games, board, workspace, state.BRAVO)
        matrices = movement_matrices(indices[index], moves, following)
        largest = max(largest, evaluate_mixtures(matrices, sizes, components, starts, values[index]))
    return values, largest


@jit
def value_engagements(
    components: Ints,
    starts: int,
    board: Board,
    codes: Ints,
    next_codes: tuple[Ints, Ints],
    following: Floats,
    objective: Objective,
    probabilities: OrderProbabilities,  # noqa: ARG001 - of no agent
    transitions: state.Records,
) -> tuple[Floats, float]:
    """Return the values of ``evaluate_mixtures`` in an engagement phase."""
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 3)
    values, largest = np.empty((len(codes), len(objective.payoffs))), 0.0
    for position in range(len(codes)):
        set_position(games, board, codes[position])
        sizes = sizes_of(games, board, workspace, state.ALPHA), sizes_of(games, board, workspace, state.BRAVO)
        joints = joint_orders_of(games, board, workspace)
        transitions, ends = list_transitions(games, board, joints, transitions)
        shape = len(objective.payoffs), len(joints[0]), len(joints[1])
        matrices = engagement_matrices(transitions[:ends], shape, next_codes, following, objective.payoffs)
        largest = max(largest, evaluate_mixtures(matrices, sizes, components, starts, values[position]))
    return values, largest


@dataclass(frozen=True)
class Price:
    """What mixtures of products cost on a game, for one reward.

    Attributes:
        value: of the game, from alpha's view.
        fitted: by the number of components, the exploitability of the mixtures fitted to the equilibrium.
        best: that of the best mixtures that were found.
    """

    value: float
    fitted: dict[int, Exploitability]
    best: dict[int, Exploitability]


def measure(
    config: GameConfig,
    reward: Reward,
    components: tuple[int, ...] = COMPONENTS,
    starts: int = STARTS,
    limits: Limits | None = None,
) -> Price:
    """Measure what mixtures of some numbers of products cost on a small game.

    Raises:
        SolvingError: the game is too large, or its values are sampled at each reset.
    """
    limits = limits or Limits()
    payoffs = np.full(1 + _KINDS * len(components), REWARDS.index(reward))
    objective = Objective(RESPONSES_TO_EQUILIBRIUM, payoffs)  # the functions of this module have one kind alone
    chosen = np.array(components)
    valuers = partial(value_movements, chosen, starts), partial(value_engagements, chosen, starts)
    *_, (_, movement, _, _) = go_back(list_turns(config, limits), objective, limits, valuers=valuers)
    value, *others = movement[0].tolist()
    rows = dict(zip(components, np.reshape(others, (-1, 2, 2)).tolist(), strict=True))
    return Price(
        value,
        {k: Exploitability(*fitted) for k, (fitted, _) in rows.items()},
        {k: Exploitability(*best) for k, (_, best) in rows.items()},
    )


def table(results: dict[str, Any]) -> str:
    """Return stored results as the document shows them."""
    prices = results["rewards"]
    columns = ["strategies", *(f"{kind}, {reward}" for reward in prices for kind in ("fitted", "best found"))]
    rows = []
    for k in results["components"]:
        name = "one product" if k == 1 else f"mixtures of {k} products"
        figures = [f"{price[kind][str(k)]['mean']:.3f}" for price in prices.values() for kind in ("fitted", "best")]
        rows.append([name, *figures])
    note = paragraph(
        f"Measured by `python -m research.independence` with {results['starts']} starts, on one core of an "
        f"{results['processor']} shared with other work, in {results['seconds']} seconds."
    )
    return f"{markdown_table(columns, rows)}\n\n{note}"


app = Commands(add_completion=False, rich_markup_mode=None)


@app.command(help=__doc__)
def run(
    config: Annotated[str, typer.Option("-c", "--config", help="Preset, or the path of a TOML file.")] = "duel",
    starts: Annotated[int, typer.Option(min=2, help="Of each search, all but the first random.")] = STARTS,
    publish: Annotated[
        bool, typer.Option(help="Store the results and write the table of docs/results/solutions.md.")
    ] = True,
) -> None:
    """Measure, store and write."""
    begin = time.perf_counter()
    rewards = {}
    for reward in reversed(REWARDS):
        price = measure(load_config(config), reward, starts=starts)
        fitted, best = ({str(k): each.to_dict() for k, each in found.items()} for found in (price.fitted, price.best))
        rewards[reward] = {"value": price.value, "fitted": fitted, "best": best}
    results = {
        "config": config,
        "components": list(COMPONENTS),
        "starts": starts,
        "rewards": rewards,
        "processor": processor_name(),
        "seconds": round(time.perf_counter() - begin),
    }
    if publish:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        DOCUMENT.write_text(with_blocks(DOCUMENT, {"independence": table(results)}), encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    app()
