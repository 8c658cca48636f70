"""Entering orders: the options that are offered, and which side enters orders next."""

import pytest
from positions import arranged

from geo_patrol import Game, Order, SatelliteId, load_config, make_agent
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.order_entry import OrderEntry
from geo_patrol.sessions.play_session import PlaySession


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
    assert options["P1 radial_in"].text == "radial in to 14"
    game = fighting()
    for side in ("alpha", "bravo"):
        entry = OrderEntry(game, side)
        for number, legal in game.legal_orders(side).items():
            assert {option.order for option in entry.options(number)} == {o for o in legal if o.action != "noop"}
            for option in entry.options(number):
                assert option.cost == game.cost(side, option.order)
                assert option.probability == game.probability(side, option.order)
    (guard,) = (one for one in OrderEntry(game, "alpha").options(5) if one.order.action == "guard")
    assert (guard.target, guard.text, guard.cost_text) == (SatelliteId("alpha", 0), "guard the HVA", "80%  -5 fuel")


def test_orders_are_added_replaced_held_and_undone():
    entry = OrderEntry(Game(seed=1), "alpha")
    assert (entry.orders, entry.can_undo) == ((), False)
    entry.select(2)
    entry.give(Order(2, "prograde"))
    assert entry.selected is None
    entry.give(Order(1, "radial_in"))
    entry.give(Order(2, "retrograde"))
    assert entry.orders == (Order(1, "radial_in"), Order(2, "retrograde"))
    entry.undo()
    assert entry.orders == (Order(1, "radial_in"), Order(2, "prograde"))
    entry.hold(1)
    entry.hold(1)
    assert entry.orders == (Order(2, "prograde"),)
    entry.hold_all()
    assert entry.orders == ()
    entry.undo()
    entry.undo()
    assert len(entry.orders) == 2
    for _ in range(5):
        entry.undo()
    assert (entry.orders, entry.can_undo) == ((), False)


def test_guard_all_orders_those_that_may():
    game = fighting()
    entry = OrderEntry(game, "alpha")
    entry.give(next(option.order for option in entry.options(5) if option.order.action == "shoot"))
    entry.guard_all()
    guards = {order.satellite for order in entry.orders}
    assert guards == {
        number for number, orders in game.legal_orders("alpha").items() if Order(number, "guard") in orders
    }
    assert {order.action for order in entry.orders} == {"guard"}
    entry.undo()
    assert [order.action for order in entry.orders] == ["shoot"]
    assert not OrderEntry(Game(seed=1), "alpha").can_guard


def test_the_next_satellite_without_an_order_is_selected():
    entry = OrderEntry(Game(seed=1), "alpha")
    seen = []
    for _ in range(12):
        entry.select_next()
        seen.append(entry.selected)
    assert seen == [*range(11), 0]
    entry.give(Order(1, "prograde"))
    entry.select_next()
    entry.select_next()
    assert entry.selected == 2


def session_of(agents, config="geo_patrol", observers=()):
    session = PlaySession(LiveGame(load_config(config), agents, 3, observers))
    session.begin_phase()
    return session


def test_the_agent_acts_after_the_person_has_committed():
    class Spy:
        name, observation = "spy", "tokens"
        num_calls = 0

        def reset(self, new_games):
            pass

        def act(self, observations, action_masks, generator):
            self.num_calls += 1
            return make_agent("idle").act(observations, action_masks, generator)

    spy = Spy()
    session = session_of((spy, None))
    assert (session.stage, session.side, session.people) == ("ordering", "bravo", ("bravo",))
    session.entry.give(Order(1, "prograde"))
    assert spy.num_calls == 0
    session.commit()
    assert (spy.num_calls, session.stage, session.entry) == (1, "showing", None)
    assert session.live.timeline.phases[0].orders == ((), (Order(1, "prograde"),))
    session.commit()
    assert session.stage == "showing"
    session.end_showing()
    assert session.live.game.phase == "movement"  # no satellite is in range: the engagement phase was skipped


def test_two_people_order_behind_a_curtain():
    notified = []
    session = session_of((None, None), observers=[lambda _, phase: notified.append(phase.orders)])
    assert (session.stage, session.side) == ("curtain", "alpha")
    session.commit()
    assert session.stage == "curtain"
    session.lift_curtain()
    session.entry.give(Order(1, "prograde"))
    session.commit()
    assert (session.stage, session.side, session.entry.orders, notified) == ("curtain", "bravo", (), [])
    session.lift_curtain()
    session.entry.give(Order(2, "radial_in"))
    session.commit()
    assert session.stage == "showing"
    assert notified == [((Order(1, "prograde"),), (Order(2, "radial_in"),))]


@pytest.mark.parametrize("agents", [(None, None), ("scripted", None), (None, "idle")])
def test_a_game_is_played_to_its_end(agents):
    session = session_of(tuple(name and make_agent(name) for name in agents), "case1")
    for _ in range(1000):
        if session.stage == "over":
            break
        session.lift_curtain()
        if session.stage == "ordering":
            for number in range(11):
                if number < len(session.live.game.satellites(session.side)) and session.entry.options(number):
                    session.entry.give(session.entry.options(number)[-1].order)
            session.commit()
        else:
            session.end_showing()
    assert session.live.is_over
    session.commit()
    session.end_showing()
    assert session.stage == "over"


def test_a_side_without_fuel_enters_no_orders():
    live = LiveGame(
        load_config({"extends": "geo_patrol", "both": {"hva": {"fuel": 1}, "patrols": {"fuel": 1}}}),
        (None, make_agent("idle")),
        1,
    )
    session = PlaySession(live)
    session.begin_phase()
    assert session.stage == "showing"  # one unit of fuel moves nothing
    session.end_showing()
    session.end_showing()
    assert session.stage == "over"
