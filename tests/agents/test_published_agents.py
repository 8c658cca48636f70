"""Agents of the GEO Patrol study: what its code shows of a position, and the orders that they choose by it."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import AgentError, Game, load_config, make_agent, play_match
from geo_patrol.agents.protocol import compute_actions
from geo_patrol.agents.published import (
    INPUT_SIZE,
    PUBLISHED_ORDERS,
    PublishedAgent,
    observe_published,
    published_mask,
)
from geo_patrol.agents.registry import is_user_defined
from geo_patrol.engine.state import COLLIDE, GUARD, NOOP, ORDERS, SHOOT

DATA = Path(__file__).parents[1] / "data" / "published_observations.jsonl.gz"
RECORDED = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).decode().splitlines()]
DEFAULT = load_config("geo_patrol", {"both.patrols.ammo": 2})  # costs and odds of the study's code are not shown


def recorded_game(recorded):
    """Return the game of a recorded position, which has satellites that a side does not have in sector 0."""
    position = dict(recorded["state"])
    fleets = [np.flatnonzero(sectors) for sectors in position["sector"]]
    for name in ("sector", "fuel", "ammo"):
        rows = zip(position[name], fleets, strict=True)
        position[name] = [[int(row[number]) for number in fleet] for row, fleet in rows]
    position["score"] = [*map(int, position["score"])]
    return Game.from_position(position, DEFAULT if recorded["config"] == "default" else recorded["config"])


def digits(array):
    return "".join(map(str, array))


def test_recorded_positions_are_shown_as_the_published_code_shows_them():
    assert {(recorded["config"], recorded["state"]["phase"]) for recorded in RECORDED} == {
        (name, phase)
        for name in ("default", "case1", "case2", "case3", "case4", "case5")
        for phase in ("movement", "engagement")
    }
    for recorded in RECORDED:
        game = recorded_game(recorded)
        for side in range(2):
            assert digits(observe_published(game, side)) == recorded["observation"][side]
            assert [*map(digits, published_mask(game, side))] == recorded["action_mask"][side]


FEW = load_config(
    {
        "title": "few",
        "extends": "geo_patrol",
        "rules": "code",
        "turn_limit": 63,
        "board": {"inner_ring": 2},
        "alpha": {"hva": {"fuel": 127, "ammo": 15}, "patrols": {"formation": [[0, 2]], "fuel": 9, "ammo": 1}},
        "bravo": {"patrols": {"formation": [[0, 1]], "fuel": 30}, "points": {"win": 2000}},
    }
)
POSITION = {
    "sector": [[15, 15, 30], [23, 15]],
    "fuel": [[127, 4, 0], [50, 30]],
    "ammo": [[15, 0, 1], [0, 1]],
    "goal": [15, 23],
    "score": [1023, 0],
    "turn": 63,
    "phase": "engagement",
}


def few(**values):
    return Game.from_position(POSITION | values, FEW)


def legal(game, side, number):
    return set(np.flatnonzero(published_mask(game, side)[number]).tolist())


def test_orders_that_cannot_be_paid_are_legal():
    game = few()
    patrol = SHOOT + 1, COLLIDE + 1  # of bravo, which is beside alpha's HVA
    assert legal(game, 0, 0) == {NOOP, patrol[0]}  # an HVA with ammo shoots, and never collides
    assert legal(game, 0, 1) == {NOOP, patrol[1], GUARD}  # no ammo; 4 fuel pay for neither
    assert legal(game, 0, 2) == legal(game, 0, 3) == {NOOP}  # without fuel, and absent
    assert legal(game, 1, 1) == {NOOP, SHOOT, SHOOT + 1, COLLIDE, COLLIDE + 1}  # nothing at P2, which has no fuel
    assert game.legal_actions("alpha")[1] == (NOOP,)


def test_legal_moves_know_the_rings_and_no_costs():
    game = few(phase="movement", sector=[[3, 7, 30], [23, 15]])
    assert legal(game, 0, 0) == {0, 1, 2, 4}
    assert legal(game, 0, 1) == {0, 1, 2, 3, 4}
    assert legal(game, 1, 1) == {0, 1, 2, 3}
    assert game.legal_actions("alpha")[1] == (0,)


def test_an_hva_without_fuel_can_be_guarded():
    game = few(fuel=[[0, 4, 0], [50, 30]])
    assert legal(game, 0, 0) == {NOOP}
    assert legal(game, 0, 1) == {NOOP, COLLIDE + 1, GUARD}


class Network:
    """Scores orders by what it is given, at random, and records that."""

    def __init__(self, seed=0):
        generator = np.random.default_rng(seed)
        self.weights = generator.normal(size=(INPUT_SIZE, 11 * PUBLISHED_ORDERS)).astype(np.float32)
        self.inputs = []

    def __call__(self, inputs):
        assert inputs.dtype == np.float32
        assert inputs.shape == (INPUT_SIZE,)
        if inputs.any():
            self.inputs.append(inputs)
        return inputs @ self.weights


def orders_of(network, game, side):
    agent, masks = PublishedAgent("net", network), game.as_games().action_masks()[:, side]
    return compute_actions(
        agent, "net", np.zeros((1, 249), np.int16), masks, np.random.default_rng(0), lambda: [game], side
    )[0]


def test_every_satellite_gets_the_order_with_the_highest_score():
    network = Network()
    for recorded in RECORDED:
        game = recorded_game(recorded)
        for side, name in enumerate(("alpha", "bravo")):
            mask = np.array([[*map(int, row)] for row in recorded["action_mask"][side]])
            inputs = np.concatenate([mask.ravel(), [*map(int, recorded["observation"][side])]]).astype(np.float32)
            best = np.where(mask, network(inputs).reshape(11, 38), -np.inf).argmax(axis=1)
            found = orders_of(network, game, side)
            np.testing.assert_array_equal(network.inputs[-1], inputs)
            payable = [order in legal for order, legal in zip(best.tolist(), game.legal_actions(name), strict=True)]
            np.testing.assert_array_equal(found, np.where(payable, best, NOOP))


def test_an_order_that_cannot_be_paid_is_a_noop():
    logits = np.zeros((11, PUBLISHED_ORDERS))
    logits[:, GUARD] = 1
    logits[:, GUARD + 1 :] = 2  # guards of Patrols, which never are legal
    assert orders_of(lambda _: logits, few(fuel=[[127, 9, 0], [50, 30]]), 0).tolist() == [0, GUARD, *[0] * 9]
    assert orders_of(lambda _: logits, few(), 0).tolist() == [0] * 11


def test_a_network_is_not_asked_where_nothing_can_be_chosen():
    network = Network()
    assert not orders_of(network, few(fuel=[[0, 0, 0], [50, 30]]), 0).any()
    assert not orders_of(network, few(phase="drift", done=True, reasons=4), 0).any()
    assert network.inputs == []


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (np.zeros((11, ORDERS)), r"its logits are float64 of shape \(11, 28\): give 418 floating-point numbers, 38 "),
        (np.zeros((11, 38), np.int64), r"its logits are int64 of shape \(11, 38\): give 418"),
        (np.full((11, 38), np.nan), "its logits of legal orders are NaN"),
    ],
)
def test_wrong_logits(logits, message):
    with pytest.raises(AgentError, match=f"agent 'net': {message}"):
        orders_of(lambda _: logits, few(), 0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"board.outer_ring": 5}, "board.outer_ring must be 4, got 5"),
        ({"board.inner_ring": 3}, "board.inner_ring must be 1 or 2, got 3"),
        ({"turn_limit": 64}, "turn_limit must be at most 63, got 64"),
        ({"alpha.hva.fuel": 128}, "alpha.hva.fuel must be at most 127, got 128"),
        ({"bravo.patrols.single.8.ammo": 16}, "bravo.patrols.single.8.ammo must be at most 15, got 16"),
    ],
)
def test_configurations_that_the_observation_cannot_hold(values, message):
    with pytest.raises(AgentError, match=f"^agent 'net' plays what its study's observation can hold: {message}$"):
        play_match(PublishedAgent("net", Network()), "random", config=load_config("case1", values), games=2, seed=0)


def test_scores_that_the_observation_cannot_hold():
    with pytest.raises(AgentError, match="the score of bravo must be at most 1023, got 1024"):
        orders_of(Network(), few(score=[0, 1024]), 0)


def test_it_plays_both_sides_the_same_in_any_batch():
    agent = PublishedAgent("net", Network())
    four, two = (play_match(agent, "scripted", config="case4", games=games, seed=5) for games in (4, 2))
    np.testing.assert_array_equal(four.scores[:2], two.scores)
    assert not four.games["illegal_orders"].any()


def test_names(tmp_path, monkeypatch):
    assert is_user_defined("published:model.pt")
    with pytest.raises(
        AgentError, match=r"^agent 'published': name its file behind published: as docs/train/networks.md says$"
    ):
        make_agent("published")
    with pytest.raises(AgentError, match=r"^agent 'published:nowhere.pt': there is no file 'nowhere.pt'$"):
        make_agent("published:nowhere.pt")
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "model.pt").write_bytes(b"")
    with pytest.raises(AgentError, match=r"model.pt': torch is not installed: pip install 'geo_patrol\[train\]'$"):
        make_agent(f"published:{tmp_path}/model.pt")
