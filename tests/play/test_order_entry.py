"""Entering orders: the options that are offered, and the orders that are given."""

from geo_patrol import Game, Order, SatelliteId, load_config
from geo_patrol.play.order_entry import OrderEntry
from tests.support.positions import arranged


def fighting():
    return arranged(phase="engagement", bravo={1: {"sector": 15}, 2: {"sector": 16}, 3: {"sector": 7}})


def test_options_are_the_legal_orders_with_cost_odds_and_aim():
    game = Game(seed=1)
    entry = OrderEntry(game, "alpha")
    options = {str(option.order): option for option in entry.options(1)}
    assert set(options) == {"P1 prograde", "P1 retrograde", "P1 radial_in"}
    assert [(one.cost, one.sector, one.probability, one.target) for one in options.values()] == [
        (5, 30, None, None),
        (5, 28, None, None),
        (10, 14, None, None),
    ]
    game = fighting()
    for side in ("alpha", "bravo"):
        entry = OrderEntry(game, side)
        for number, legal in game.legal_orders(side).items():
            assert {option.order for option in entry.options(number)} == {o for o in legal if o.action != "noop"}
            for option in entry.options(number):
                assert option.cost == game.cost(side, option.order)
                assert option.probability == game.probability(side, option.order)
    (guard,) = (one for one in OrderEntry(game, "alpha").options(5) if one.order.action == "guard")
    assert (guard.target, guard.cost, guard.probability) == (SatelliteId("alpha", 0), 5, 0.8)


def test_orders_are_given_and_replaced():
    entry = OrderEntry(Game(seed=1), "alpha")
    assert entry.orders == ()
    entry.select(2)
    entry.give(Order(2, "prograde"))
    assert entry.selected is None
    entry.give(Order(1, "radial_in"))
    entry.give(Order(2, "retrograde"))
    assert entry.orders == (Order(1, "radial_in"), Order(2, "retrograde"))
    entry.give_all([Order(3, "prograde")])
    assert entry.orders == (Order(3, "prograde"),)


def test_a_side_without_fuel_has_no_choice():
    config = load_config({"extends": "geo_patrol", "both": {"hva": {"fuel": 1}, "patrols": {"fuel": 1}}})
    assert not OrderEntry(Game(config, seed=1), "alpha").has_choice  # one unit of fuel moves nothing
