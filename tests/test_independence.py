"""The price of independent satellites: in a matrix game worked out by hand, and on a small board."""

import numpy as np
import pytest

from geo_patrol import load_config, solve
from geo_patrol.engine.state import NUM_SIDES, ORDERS, SATELLITES
from geo_patrol.game.game import Games
from geo_patrol.solving import Limits
from geo_patrol.solving.backward_induction import RESPONSES, Objective, OrderProbabilities, go_back, list_turns
from geo_patrol.solving.transitions import write_positions
from research import independence
from research.independence import fit, joint_of, measure

OUTCOME = 1
AGREE = np.array([[1.0, -1], [-1, -1], [-1, -1], [-1, 1]])
"""Two satellites must choose the same of two orders, and not the one that the enemy expects."""


@pytest.fixture(
    scope="module", autouse=True, params=["plain", pytest.param("compiled", marks=pytest.mark.nightly)], ids=str
)
def best_mixture(request):
    """As plain Python, which is done before it would be compiled; compiled as well at night."""
    names = "value_movements", "value_engagements", "best_mixture"
    with pytest.MonkeyPatch.context() as patch:
        for name in names if request.param == "plain" else ():
            patch.setattr(independence, name, getattr(independence, name).py_func)
        yield independence.best_mixture


@pytest.mark.parametrize(("components", "value"), [(1, -0.5), (2, 0)])
def test_satellites_that_must_agree(best_mixture, components, value):
    found, strategy = best_mixture(AGREE, np.array([2, 2]), components, 4)
    assert found == pytest.approx(value, abs=1e-12)
    assert (strategy @ AGREE).min() == pytest.approx(value, abs=1e-12)


def test_random_starts_find_better_products_than_the_marginals_alone(best_mixture):
    """In random games of two satellites with three orders each."""
    rng = np.random.default_rng(0)
    payoffs = []
    for _ in range(50):
        matrix = rng.normal(size=(9, 4))
        settings = (1, 1), (1, 20), (9, 1)
        payoffs.append([best_mixture(matrix, np.array([3, 3]), *setting)[0] for setting in settings])
    first, best, equilibrium = np.transpose(payoffs)
    assert (first <= best).all()
    assert (first < best - 1e-3).any()
    assert (best <= equilibrium + 1e-12).all()


@pytest.mark.parametrize("components", [1, 2, 4])
def test_fits_find_the_mixture_that_a_strategy_is(components):
    rng = np.random.default_rng(components)
    sizes = np.array([3, 2, 2])
    weights, orders = rng.dirichlet(np.ones(components)), rng.dirichlet(np.ones(3), (components, 3))
    orders[:, 1:] = 0
    orders[:, 1:, :2] = rng.dirichlet(np.ones(2), (components, 2))
    strategy = joint_of(sizes, weights, orders)
    fitted = joint_of(sizes, *fit(strategy, sizes, components, 8))
    assert fitted == pytest.approx(strategy, abs=1e-3)
    assert fitted.sum() == pytest.approx(1)


@pytest.fixture(scope="module")
def config():
    return load_config("duel", {"turn_limit": 1})


def marginals_of(solution):
    """Return the probabilities of the products of the marginals of a solution's strategies."""

    def query(positions, numbers):
        games = Games(solution.config, len(numbers), seed=np.zeros(len(numbers), np.uint64)).state.games
        write_positions(positions.board, positions.pairs(numbers), games)
        orders = np.zeros((len(numbers), NUM_SIDES, 1, SATELLITES, ORDERS))
        for game, chosen in zip(games, orders, strict=True):
            for side in range(NUM_SIDES):
                strategy = solution.strategy(game, side, "outcome")
                for satellite in range(SATELLITES):
                    np.add.at(chosen[side, 0, satellite], strategy.orders[:, satellite], strategy.probabilities)
        return OrderProbabilities(np.ones((len(numbers), NUM_SIDES, 1)), orders)

    return query


@pytest.mark.slow
def test_products_of_marginals_are_exploited_as_best_responses_to_them_say(config):
    found = measure(config, "outcome", (1,)).fitted[1]
    objective, limits = Objective(RESPONSES, np.full(2, OUTCOME)), Limits()
    *_, (_, values, _, _) = go_back(list_turns(config, limits), objective, limits, marginals_of(solve(config)))
    assert [found.as_alpha, found.as_bravo] == pytest.approx(values[0], abs=1e-12)
    assert found.mean > 0.01, "otherwise this test shows nothing"


@pytest.mark.slow
def test_the_best_mixtures_are_less_exploitable_than_fitted_ones_and_large_ones_not_at_all(config):
    price = measure(config, "score", (1, 32), starts=4)
    assert price.value == pytest.approx(solve(config).value["score"], abs=1e-9)
    assert 0.01 < price.best[1].mean < price.fitted[1].mean
    assert [price.best[32].mean, price.fitted[32].mean] == pytest.approx([0, 0], abs=1e-9)
