"""Hold the exact solver against independent computations; all of it takes about an hour.

    python scripts/check_solver.py matrices    # 10,000 random matrix games against SciPy's linear programming
    python scripts/check_solver.py duel        # the preset against a plain solver: recursion over Game, and SciPy
    python scripts/check_solver.py equations --solution duel.safetensors
                                               # values of random positions of every phase against the plain solver, which
                                               # takes those of the following positions from the solution
    python scripts/check_solver.py agents --solution duel.safetensors
                                               # the equilibrium against every kind of agent: it loses nothing on average

It needs SciPy, the extra ``[stats]``. The tests do the same on fewer and smaller games.
"""

import argparse
import runpy
import sys
from pathlib import Path

import numpy as np

from geo_patrol import Game, load_config, play_match
from geo_patrol.solving import read_solution, solve
from geo_patrol.solving.matrices import solve_matrix

PLAIN_SOLVER = Path(__file__).parents[1] / "tests" / "solving" / "plain_solver.py"
AGENTS = ("idle", "random", "turtle", "raider", "mixed", "scripted", "policy:base", "search:5ms")
MAX_ORDERS = 25
TOLERANCE = 1e-6


def random_matrix(rng: np.random.Generator) -> np.ndarray:
    """Return a matrix of one of four kinds: any numbers, few different ones, payoffs of two scales, a sum of two parts."""
    rows, columns = rng.integers(1, MAX_ORDERS + 1, 2)
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=(rows, columns))
    if kind == 1:
        return rng.integers(-3, 4, (rows, columns)).astype(float)
    if kind == 2:
        return 100.0 * rng.integers(0, 2, (rows, columns)) + 0.01 * rng.normal(size=(rows, columns))
    return rng.normal(size=(rows, 1)) + rng.normal(size=columns)


def check_matrices(count: int) -> bool:
    """Compare values of random games; their certificates stay within 1e-9."""
    rng, difference, gap = np.random.default_rng(1), 0.0, 0.0
    plain_value = runpy.run_path(str(PLAIN_SOLVER))["matrix_value"]
    for _ in range(count):
        matrix = random_matrix(rng)
        value, excess = solve_matrix(matrix, np.empty(len(matrix)), np.empty(matrix.shape[1]))
        difference, gap = max(difference, abs(value - plain_value(matrix))), max(gap, excess)
    print(f"{count:,} matrix games: values differ by up to {difference:.1e}, duality gaps up to {gap:.1e}")
    return difference <= TOLERANCE and gap <= 1e-9


def check_duel(turns: int) -> bool:
    """Compare the values of the duel, or of its first turns alone."""
    config = load_config("duel", {"turn_limit": turns})
    plain = runpy.run_path(str(PLAIN_SOLVER))["PlainSolver"]()
    expected = plain.values(Game(config, seed=0))
    value = solve(config).value
    print(f"duel, {turns} turns, {len(plain.known):,} positions with all points: plain {expected}, solved {value}")
    return bool(np.allclose(list(value.values()), expected, atol=TOLERANCE))


def check_equations(path: str, count: int) -> bool:
    """Compare the values of random positions with what the plain solver makes of the values of the positions that follow.

    Values that hold everywhere are, by induction from the last turn, those of the whole game.
    """
    solution, rng, largest = read_solution(path), np.random.default_rng(1), 0.0
    differences = runpy.run_path(str(PLAIN_SOLVER))["equation_differences"]
    for number, phase in enumerate(solution.phases):
        numbers = rng.permutation(len(phase.values))[:count]
        difference = differences(solution, number, numbers).max()
        print(f"phase {number + 1}: {len(numbers):,} of {len(phase.values):,} positions, up to {difference:.1e} apart")
        largest = max(largest, difference)
    return bool(largest <= TOLERANCE)


def check_agents(path: str, games: int) -> bool:
    """Play the equilibrium against agents; print its mean gain over the value of the game, 0, from both sides."""
    is_right = True
    print("| opponent | score difference | wins minus losses |\n|---|---|---|")
    for opponent in AGENTS:
        cells = []
        for suffix in (",score", ""):
            match = play_match(f"solved:{path}{suffix}", opponent, config="duel", games=games, seed=1)
            won = np.where(match.winner < 0, 0.0, 1.0 - 2.0 * match.winner)
            gains = (match.scores[:, 0] - match.scores[:, 1]).astype(float) if suffix else won
            pairs = gains.reshape(-1, 2).mean(axis=1)
            error = 1.96 * pairs.std(ddof=1) / np.sqrt(len(pairs))
            cells.append(f"{pairs.mean():+.3f} ± {error:.3f}")
            is_right &= bool(pairs.mean() > -1.5 * error)
        print(f"| `{opponent}` | {cells[0]} | {cells[1]} |", flush=True)
    return is_right


def main() -> int:
    """Run one check and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=("matrices", "duel", "equations", "agents"))
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=4, help="of the duel")
    parser.add_argument("--positions", type=int, default=500, help="of each phase whose equations are checked")
    parser.add_argument("--solution", default="duel.safetensors", help="geo-patrol solve duel --out FILE")
    arguments = parser.parse_args()
    if arguments.check == "matrices":
        return int(not check_matrices(arguments.games))
    if arguments.check == "duel":
        return int(not check_duel(arguments.turns))
    if arguments.check == "equations":
        return int(not check_equations(arguments.solution, arguments.positions))
    return int(not check_agents(arguments.solution, arguments.games))


if __name__ == "__main__":
    sys.exit(main())
