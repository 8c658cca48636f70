"""A slow and simple solver: recursion over ``Game``, with SciPy's linear programming for every matrix."""

from itertools import product

import numpy as np
from scipy.optimize import linprog

from geo_patrol import Game
from geo_patrol.agents.protocol import CorrelatedAgent
from geo_patrol.engine.state import MOVEMENT, NUM_SIDES
from geo_patrol.game.game import Games
from geo_patrol.solving.transitions import encode_side, write_positions

REWARDS = ("score", "outcome")


def matrix_value(matrix):
    """Return the value of a zero-sum game."""
    matrix = np.asarray(matrix, float)
    if matrix.min(axis=1).max() == matrix.max(axis=0).min():
        return matrix.min(axis=1).max()
    rows, columns = matrix.shape
    result = linprog(
        np.append(np.zeros(rows), -1),
        A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0)[None],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return -result.fun


def joint_orders(game, side):
    """Return all combinations of the legal orders of a side."""
    legal = game.legal_orders(side)
    return [list(orders) for orders in product(*legal.values())]


class PlainSolver:
    """Values of positions from alpha's view, for both rewards.

    ``judge`` returns the value of a position from the matrices of what follows, (m, n, 2).
    """

    def __init__(self, judge=None):
        self.judge = judge or (lambda _, payoffs: [matrix_value(payoffs[..., k]) for k in range(len(REWARDS))])
        self.known = {}

    def values(self, game):
        if game.is_over:
            difference = game.scores["alpha"] - game.scores["bravo"]
            return np.array([difference, game.returns["alpha"]], float)
        key = game.key
        if key not in self.known:
            follow = self.after_moves if game.phase == "movement" else self.after_engagements
            payoffs = [
                [follow(game, first, second) for second in joint_orders(game, "bravo")]
                for first in joint_orders(game, "alpha")
            ]
            self.known[key] = np.array(self.judge(game, np.array(payoffs)))
        return self.known[key]

    def after_moves(self, game, first, second):
        following = game.copy()
        following.step(first, second)
        return self.values(following)

    def after_engagements(self, game, first, second):
        games, probabilities = game.outcome_distribution(first, second)
        return sum(probability * self.values(games[i]) for i, probability in enumerate(probabilities))


class OneStepSolver(PlainSolver):
    """Takes the values of all positions but the one that is asked for from a solution."""

    def __init__(self, solution):
        super().__init__()
        self.solution = solution

    def values(self, game):
        return super().values(game) if game.is_over else solved_values(self.solution, game)

    def value_of_equation(self, game):
        return super().values(game)


def solved_values(solution, game):
    """Return the values that a solution gives a position: of the score difference at the end, and of the outcome."""
    record = game.as_games().state.games[0]
    phase = solution.phases[2 * int(record.turn) + (record.phase != MOVEMENT)]
    alpha, bravo = (np.array([encode_side(record, phase.positions.board.codec, side)]) for side in range(NUM_SIDES))
    points = game.goal_points
    return phase.find(alpha, bravo)[0] + [points["alpha"] - points["bravo"], 0]


def equation_differences(solution, number, positions):
    """Return how far the values of some positions of a phase are from those that follow from the next phase, (n, 2)."""
    phase = solution.phases[number]
    batch = Games(solution.config, len(positions), seed=np.zeros(len(positions), np.uint64))
    write_positions(phase.positions.board, phase.positions.pairs(positions), batch.state.games)
    batch.describe()
    games = [batch[i] for i in range(len(positions))]
    expected = [OneStepSolver(solution).value_of_equation(game) for game in games]
    return np.abs(np.array(expected) - [solved_values(solution, game) for game in games])


def strategy(agent, game, side):
    """Return the probabilities of all joint orders of an agent."""
    observation, mask = game.observation(side, agent.observation)[None], game.action_mask(side)[None]
    weights, components = np.ones((1, 1)), agent.order_probabilities(observation, mask)[:, None]
    if isinstance(agent, CorrelatedAgent):
        weights, components = agent.component_probabilities(observation, mask)
    return np.array(
        [
            sum(
                weight * np.prod([independent[order.satellite, order.code] for order in orders])
                for weight, independent in zip(weights[0], components[0], strict=True)
            )
            for orders in joint_orders(game, side)
        ]
    )


def plain_responses(config, agent, side):
    """Return the payoffs from alpha's view when the enemy of an agent, which plays a side, responds best to each reward."""

    def judge(game, payoffs):
        probabilities, matrices = strategy(agent, game, side), np.moveaxis(payoffs, -1, 0)
        if side == "alpha":
            return [(probabilities @ matrix).min() for matrix in matrices]
        return [(matrix @ probabilities).max() for matrix in matrices]

    return PlainSolver(judge).values(Game(config, seed=0))
