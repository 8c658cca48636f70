"""Legal orders for a browser: they are those of the game, and every one of them can be clicked."""

import json

import pytest

from geo_patrol.agents import make_agent
from geo_patrol.base.sides import SIDES
from geo_patrol.config.presets import load_config
from geo_patrol.play.live import LiveGame
from geo_patrol.web.records import SceneEncoder, choices_record


@pytest.fixture(scope="module")
def games():
    """A movement phase, and an engagement phase in which a side may attack, with the sides that order."""
    live = LiveGame(load_config("case1"), (make_agent("scripted"), make_agent("raider")), seed=4)
    found = {"movement": (live.game, "alpha")}
    while "engagement" not in found and not live.is_over:
        live.advance()
        for side in SIDES:
            if any(order.action == "shoot" for orders in live.game.legal_orders(side).values() for order in orders):
                found["engagement"] = (live.game, side)
    return found


@pytest.mark.parametrize("phase", ["movement", "engagement"])
def test_choices_are_the_legal_orders_and_can_be_clicked(games, phase):
    game, side = games[phase]
    record = choices_record(game, side, SceneEncoder(game.config).layout)
    shown = [option["order"] for one in record["satellites"] for option in one["options"]]
    legal = [str(order) for orders in game.legal_orders(side).values() for order in orders if order.action != "noop"]
    assert shown == legal
    assert (record["side"], record["turn"], record["phase"]) == (side, game.turn, phase)
    areas = {one["area"] for one in record["satellites"]} | {
        option["area"] for one in record["satellites"] for option in one["options"]
    }
    assert areas == set(record["areas"])
    used = {
        shape[1]
        for one in record["satellites"]
        for option in one["options"]
        for shape in option["arrow"]
        if shape[0] == "U"
    }
    assert used == set(record["symbols"])
    json.dumps(record, allow_nan=False)
