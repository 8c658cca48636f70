"""What a policy with a memory remembers of a game, and that it plays by that."""

import numpy as np
import pytest

from geo_patrol import Games, make_agent, play_match
from geo_patrol.agents.memory import MEMORY_FEATURES, MEMORY_SIZE, OrderMemory
from geo_patrol.agents.policy import (
    MemoryAgent,
    PolicyAgent,
    Widths,
    choose_orders,
    initial_weights,
    read_weights,
    score_orders,
    shapes,
    write_mixture,
    write_weights,
)
from geo_patrol.agents.registry import network_version
from geo_patrol.base.errors import PolicyError
from geo_patrol.engine.state import COLLIDE, NOOP, SHOOT

PROGRADE, RETROGRADE = 1, 2
NAMES = [feature.name.removeprefix("enemy_").removeprefix("patrols_") for feature in MEMORY_FEATURES]


def active_and_seen(batch):
    """Return which satellites of bravo have fuel and are in alpha's sight, (n, 11)."""
    return (batch.fuel[:, 1] > 0) & (batch.unseen[:, 1] == 0)


@pytest.mark.parametrize("preset", ["geo_patrol", "case3", "od2d", "duel", "geo_patrol_hidden"])
def test_orders_of_enemies_in_sight_are_counted(preset):
    """Guards and collisions together, as a collision in the own HVA's sector looks like a guard."""
    batch, memory = Games(preset, 150, seed=3), OrderMemory()
    moves, decisions, engagements = np.zeros((150, 8)), np.zeros((150, 2)), np.zeros((150, 2))
    memory.update(batch.observe("tokens")[:, 0])
    for phase in range(36):
        orders = batch.sample_actions()
        given, before, ring_1 = orders[:, 1].copy(), active_and_seen(batch), batch.sector[:, 1] < 3
        batch.step(orders)
        active = before & active_and_seen(batch)
        given[~active] = NOOP
        given[ring_1 & (given == RETROGRADE)] = PROGRADE  # its two sectors lie on either side of each other
        if phase % 2 == 0:
            moves += np.stack(
                [(given[:, 1:] == code).sum(axis=1) for code in range(1, 5)]
                + [given[:, 0] == code for code in range(1, 5)],
                axis=1,
            )
            decisions += np.stack([active[:, 1:].sum(axis=1), active[:, 0]], axis=1)
        else:
            is_shot = (given[:, 1:] >= SHOOT) & (given[:, 1:] < COLLIDE)
            engagements += np.stack([is_shot.sum(axis=1), (given[:, 1:] >= COLLIDE).sum(axis=1)], axis=1)
        expected = np.hstack([1000 * moves / np.maximum(decisions.repeat(4, axis=1), 1), engagements])
        found = dict(zip(NAMES, memory.update(batch.observe("tokens")[:, 0]).T, strict=True))
        found["collide or guard"] = found["collide"] + found["guard"]
        going_on = ~batch.is_over  # a game that is over has no further decision that could depend on it
        for name, values in zip([*NAMES[:8], "shoot", "collide or guard"], expected.T, strict=True):
            np.testing.assert_allclose(found[name][going_on], values[going_on], atol=0.51, err_msg=f"{name}, {phase}")
    assert moves.sum() > 50, "otherwise this test shows little"
    assert preset == "duel" or (engagements.sum(axis=0) > 10).all(), "otherwise this test shows little"


def test_the_order_of_moves_is_remembered():
    """Patrols that move forth and back spend as much, and stand where they did, as those that move back and forth."""
    remembered = []
    for first, second in ((PROGRADE, RETROGRADE), (RETROGRADE, PROGRADE)):
        batch, memory = Games("geo_patrol", 1, seed=0), OrderMemory()
        for code in (first, NOOP, second, NOOP):
            memory.update(batch.observe("tokens")[:, 0])
            orders = np.zeros((1, 2, 11), np.int64)
            orders[0, 1, 1:] = code
            batch.step(orders)
        remembered.append(memory.update(batch.observe("tokens")[:, 0])[0])
    half = MEMORY_SIZE // 2
    assert (remembered[0][:half] == remembered[1][:half]).all()
    assert (remembered[0][half : half + 2] == remembered[1][half : half + 2][::-1]).all()
    assert remembered[0][half] < remembered[0][half + 1]


@pytest.fixture
def weights():
    """Return weights of a policy whose orders depend on what it remembers."""
    made = initial_weights(shapes(Widths(memory=MEMORY_SIZE)), np.random.default_rng(0))
    assert not made["memory"].any(), "a training begins with the policy that it would be without a memory"
    made["memory"] = np.random.default_rng(1).normal(0, 3, made["memory"].shape).astype(np.float32)
    made["simple"] *= 30
    return made


def test_it_plays_by_what_it_remembers(weights, tmp_path):
    write_weights(tmp_path / "memory.safetensors", weights)
    assert read_weights(tmp_path / "memory.safetensors").keys() == weights.keys()
    agent = make_agent(f"policy:{tmp_path / 'memory.safetensors'},greedy")
    assert isinstance(agent, MemoryAgent)
    assert agent.name == f"policy:{tmp_path / 'memory.safetensors'},greedy"
    batch, memory, different = Games("geo_patrol", 20, seed=2), OrderMemory(), 0
    generator = np.random.default_rng(0)
    agent.reset(np.ones(20, np.bool_))
    for phase in range(12):
        if phase == 6:  # these forget, and play on as if they had begun here
            forgotten = np.arange(20) < 10
            agent.reset(forgotten)
            memory.reset(forgotten)
        observations, masks = batch.observe("tokens")[:, 0], batch.action_masks()[:, 0]
        remembered = memory.update(observations)
        assert phase != 6 or (not remembered[:10].any() and remembered[10:].any())
        scores = [score_orders(weights, observations, masks, each) for each in (remembered, 0 * remembered)]
        expected, forgetful = (choose_orders(each.has_choice, each.logits[:, 0], None) for each in scores)
        assert (agent.act(observations, masks, generator) == expected).all()
        different += (expected != forgetful).sum()
        batch.step(batch.sample_actions())
    assert different > 20, "otherwise this test shows nothing"


def test_its_matches_do_not_depend_on_other_games(weights, tmp_path):
    """Each game has a memory of its own."""
    write_weights(tmp_path / "memory.safetensors", weights)
    name = f"policy:{tmp_path / 'memory.safetensors'},greedy"
    many, few = (play_match(name, "idle", games=games, seed=4) for games in (40, 10))
    assert (many.games[:10] == few.games).all()
    assert network_version(name, many.config).startswith("network 1 of 1 (")


def test_one_that_remembers_needs_the_whole_game(weights, tmp_path):
    observations, masks = Games("geo_patrol", 2, seed=0).observe("tokens")[:, 0], np.ones((2, 11, 28), np.int8)
    agent = PolicyAgent(weights)
    message = "this policy remembers the orders of a game: it plays whole games, as make_agent makes it"
    for call in (
        lambda: agent.act(observations, masks, np.random.default_rng(0)),
        lambda: agent.order_probabilities(observations, masks),
        lambda: agent.sample(observations[0], masks[0], 2, np.random.default_rng(0)),
        lambda: agent.value(observations),
    ):
        with pytest.raises(PolicyError, match=message):
            call()
    with pytest.raises(PolicyError, match="policy 1: a policy with a memory must be in a file of its own"):
        write_mixture(tmp_path / "mixture.safetensors", [(PolicyAgent().weights, 1.0), (weights, 1.0)])
    assert not list(tmp_path.iterdir())


def test_wrong_weights(weights):
    with pytest.raises(PolicyError, match=r"memory has shape \(7, 128\): it must be \(22, 128\)"):
        PolicyAgent({**weights, "memory": weights["memory"][:7]})
