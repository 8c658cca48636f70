"""The searching agent: it finds winning orders, repeats them for a seed, and refuses invalid arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol import Games, load_config, make_agent, play_match, play_out
from geo_patrol.agents.basic import RandomAgent, StatelessPlanner
from geo_patrol.agents.protocol import compute_actions, copy_games
from geo_patrol.agents.scripted import Raid
from geo_patrol.agents.search import Branches, LookaheadAgent, Search, SearchAgent, num_to_evaluate, rounds_for
from geo_patrol.base.board import sector_at
from geo_patrol.engine.state import COLLIDE, ENGAGEMENT, NOOP, PROGRADE, SHOOT


def start(count=1):
    return Games(load_config("geo_patrol"), count, seed=0)


def search(**parameters):
    return SearchAgent(Search(**parameters))


def choose(agent, batch, side=0, seed=0, masks=None):
    """Return the orders that an agent plans for one side of all games, (n, 11)."""
    batch.describe()
    masks = batch.action_masks() if masks is None else masks
    seen, rng = batch.observe("tokens")[:, side], np.random.default_rng(seed)
    return compute_actions(agent, agent.name, seen, masks[:, side], rng, lambda: copy_games(batch), side)


def engagement(side=0, patrol=4, offset=0):
    """Return a game in its engagement phase: only one Patrol of a side is near an enemy, the HVA."""
    batch = start()
    game, enemy = batch.state.games[0], 1 - side
    game["phase"] = ENGAGEMENT
    game["sector"][side, 1:] = sector_at(4, 8 * side)
    game["sector"][side, patrol] = game["sector"][enemy, 0] + offset
    game["sector"][enemy, 1:] = sector_at(4, 4)
    return batch


def contact(side=0):
    """Return an engagement in which the enemy wins in the next turn unless its HVA is hit."""
    batch = engagement(side)
    game = batch.state.games[0]
    game["goal_points"][[side, 1 - side]], game["score"][[side, 1 - side]] = (120, 140), (320, 340)
    return batch  # a turn in the goal sector counts 10, and 350 win


@pytest.mark.parametrize("side", [0, 1])
def test_takes_the_shot_that_wins(side):
    assert choose(search(rollouts=200), contact(side), side)[0, 4] == SHOOT


@pytest.mark.parametrize("side", [0, 1])
def test_looking_ahead_sees_a_blow_that_decides(side):
    """With an uninformed critic, a shot that destroys the enemy's HVA still has the value of a won game."""
    agent = LookaheadAgent(Search(rollouts=1000, samples=64, candidates=64), Clueless())
    for seed in range(3):
        assert choose(agent, contact(side), side, seed)[0, 4] in {SHOOT, COLLIDE}  # at the HVA, which is number 0


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
def test_rollouts_are_won_as_often_as_matches_of_their_scripts(side):
    own, enemy = Raid(defenders=2), Raid(defenders=8)
    agent = SearchAgent(Search(rollouts=3000, candidates=2, doubt=10), own=[own], enemies=[enemy], models=[])
    advice = agent.advise(start()[0], side, np.random.default_rng(0))
    match = play_match("raider:defenders=2", "raider:defenders=8", games=2000, seed=1)
    played = (match.summary().as_alpha, match.summary().as_bravo)[side]
    assert 0.1 < played.score < 0.9, "otherwise this test shows little"
    assert advice.rollouts == 1500
    assert advice.win_probability == pytest.approx(played.score, abs=0.08)  # four standard errors


@pytest.mark.parametrize("phases", [4, 7])
def test_the_same_seed_and_rollouts_give_the_same_orders(phases):
    batch = play_out(start(3), "raider", "raider", max_phases=phases)
    first, second = (choose(search(rollouts=64), batch, side=1, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.take_along_axis(batch.action_masks()[:, 1], first[:, :, None], axis=2).all()


def test_orders_comply_with_masks():
    masks = start().action_masks()
    masks[:, :, :5, 1:] = 0
    assert not choose(search(rollouts=64), start(), masks=masks)[0, :5].any()


@pytest.mark.parametrize("preset", ["geo_patrol", "od2d"])
def test_beats_random_from_both_sides(preset):
    result = play_match(search(rollouts=32, candidates=8), "random", config=preset, games=20, seed=1)
    assert (result.winner == 0).mean() >= 0.9
    assert not result.illegal_orders.any()


class Watched(RandomAgent):
    """Gives random orders, or always the same ones, and records the sizes of its batches."""

    name = "watched"
    observation = "tokens"

    def __init__(self, orders=None):
        self.orders, self.batches = orders, []

    def act(self, observations, action_masks, generator):
        self.batches.append(len(action_masks))
        if self.orders is None:
            return super().act(observations, action_masks, generator)
        return np.tile(self.orders, (len(action_masks), 1))


def test_proposed_orders_are_evaluated():
    """The scripts have no fuel left to raid, so only the proposer finds the winning shot."""
    batch, orders = engagement(offset=1), np.zeros(11, np.int64)
    batch.state.games[0]["score"][:] = 300, 200
    orders[4] = SHOOT
    proposer = Watched(orders)
    sampling = Search(rollouts=64, candidates=2, samples=3)
    agent = SearchAgent(sampling, own=[Raid(defenders=10, reach="sector")], proposer=proposer)
    np.testing.assert_array_equal(choose(agent, batch)[0], orders)
    assert proposer.batches == [3]


def test_proposed_orders_that_are_illegal_are_ignored():
    orders = choose(SearchAgent(Search(rollouts=32), proposer=Watched(np.full(11, SHOOT))), start())
    assert np.take_along_axis(start().action_masks()[:, 0], orders[:, :, None], axis=2).all()


@pytest.mark.parametrize(
    ("agent", "most"), [(search(budget="20ms"), 1e6), (search(budget="60s").with_minimal_budget(), 99)]
)
def test_a_budget_of_time_is_respected_and_counted(agent, most):
    choose(agent, start())
    assert agent.decisions == 1
    assert 16 <= agent.rollouts <= most


RAIDER = "raider:path=cheap,defenders=3"


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("search", SearchAgent, Search()),
        ("search:2.5ms,candidates=8", SearchAgent, Search("2.5ms", candidates=8)),
        ("search:60s", SearchAgent, Search(budget="60s")),
        ("search:rollouts=32,samples=2", SearchAgent, Search(rollouts=32, samples=2)),
        ("search:enemy=idle", SearchAgent, Search(enemy="idle")),
        (f"search:propose={RAIDER}", SearchAgent, Search(propose=RAIDER)),
        (
            f"search:rollouts=8,enemy={RAIDER},propose=policy:base,greedy",
            LookaheadAgent,
            Search(rollouts=8, enemy=RAIDER, propose="policy:base,greedy"),
        ),
    ],
)
def test_names(name, kind, expected):
    """Those of the enemy and of the proposer may hold commas."""
    agent = make_agent(name)
    assert (type(agent), agent.search, agent.name) == (kind, expected, name)


def test_parameters_stand_in_any_order():
    assert make_agent("search:budget=1s").name == "search:1s"
    agent = make_agent(f"search:rollouts=8,propose=policy:base,greedy,enemy={RAIDER}")
    assert agent.name == f"search:rollouts=8,enemy={RAIDER},propose=policy:base,greedy"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("search:10", "budget must be a time such as 10ms or 1.5s, up to 60s, got '10'"),
        ("search:0ms", "up to 60s, got '0ms'"),
        ("search:60.1s", "up to 60s"),
        ("search:propose=", "must be the name of an agent"),
        ("search:10ms,propose=search:20ms", "a search cannot propose to a search"),
        ("search:10ms,enemy=search,propose=random", "enemy = 'search': a search cannot be the enemy"),
        ("search:enemy=random,enemy=idle", "enemy is given twice"),
        ("search:10ms,enemy=nobody", "there is no agent 'nobody'"),
        ("search:", "parameters are name=value"),
        ("search:10ms,rollouts=5", "must be given"),
        ("search:candidates=1", "candidates must be at least 2, got '1'"),
    ],
)
def test_wrong_parameters(name, message):
    with pytest.raises(ValueError, match="search") as raised:
        make_agent(name)
    assert message in str(raised.value)


class Clueless(RandomAgent):
    """A policy that proposes random orders, and values every position at zero."""

    observation = "tokens"

    def sample(self, observation, mask, count, generator, temperature=1.0):
        orders = self.act(np.repeat(observation[None], count, 0), np.repeat(mask[None], count, 0), generator)
        return orders, np.zeros(count)

    def value(self, observations):
        return np.zeros(len(observations), np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["geo_patrol", "od2d"])
def test_looking_to_the_end_of_the_turn_orders_legally_and_the_same_for_a_seed(preset):
    agent, settings = make_agent("search:rollouts=64,propose=policy:base"), {"games": 2, "seed": 2}
    matches = [play_match(agent, "scripted", config=preset, overrides={"turn_limit": 9}, **settings) for _ in range(2)]
    assert matches[0].summary().total.illegal_orders[0] == 0
    assert (matches[0].scores == matches[1].scores).all()
    assert agent.rollouts > 0


@pytest.mark.parametrize("make", [start, contact])
@pytest.mark.parametrize("budget", [2, 50])
def test_lookahead_respects_and_uses_its_time(monkeypatch, budget, make):
    """The clock of this test advances by 50 us for every position that is evaluated."""
    now = 0.0

    class Slow(Clueless):
        def value(self, observations):
            nonlocal now
            now += 50e-6 * len(observations) / 2  # both sides of it are
            return super().value(observations)

    monkeypatch.setattr("geo_patrol.agents.search.time.perf_counter", lambda: now)
    agent = LookaheadAgent(Search(f"{budget}ms", samples=64, candidates=64), Slow())
    for seed in range(3):
        begun = now
        choose(agent, make(), seed=seed)
        assert 0.5 <= (now - begun) / (budget / 1000) <= 1.25


@given(st.integers(1, 256), st.integers(0, 5_000))
def test_as_many_candidates_are_evaluated_as_get_enough_samples(candidates, positions):
    count = num_to_evaluate(candidates, positions)
    assert min(candidates, 2) <= count <= candidates
    assert count <= 2 or positions >= 2 * count * rounds_for(count)
    assert count == candidates or positions < 4 * count * rounds_for(2 * count)


def test_branches_of_a_sample_have_equal_random_numbers_and_samples_differ():
    game = play_out(start(), "raider", "raider", max_phases=4)[0]
    branches = Branches(game, 0, np.uint64(7))
    branches.begin(5, 4, 3)
    keys = branches.games.state.games["rng_key"].reshape(4, 3)
    assert (keys == keys[:, :1]).all()
    assert len(set(keys[:, 0].tolist())) == 4
    again = Branches(game, 0, np.uint64(7))
    again.begin(6, 1, 1)
    assert again.games.state.games["rng_key"][0] == keys[1, 0]


def test_an_enemy_that_moved_as_one_agent_replies_as_that_agent():
    policy, one = make_agent("policy:base"), Watched()
    choose(LookaheadAgent(Search(rollouts=96, candidates=2), policy, enemies=[(policy, 3), (one, 1)]), start())
    moved, *replies = one.batches
    assert moved == 12
    assert sum(replies) == pytest.approx(96 / 4, abs=12)  # a quarter of the samples: 12 of the 48 orders
    known = Watched()
    choose(LookaheadAgent(Search(rollouts=96, candidates=2), policy, enemies=[(known, 1)]), start())
    assert (known.batches[0], sum(known.batches[1:])) == (48, 96)


def test_equal_values_are_decided_by_the_policys_probabilities():
    proposed = []

    class Partial(Clueless):
        """Gives orders a higher probability, the fewer satellites move prograde."""

        def sample(self, observation, mask, count, generator, temperature=1.0):
            orders, _ = super().sample(observation, mask, count, generator, temperature)
            proposed.extend((orders == PROGRADE).sum(axis=1).tolist())
            return orders, -(orders == PROGRADE).sum(axis=1).astype(float)

    orders = choose(LookaheadAgent(Search(rollouts=2000, samples=16, candidates=64), Partial()), start(), seed=4)
    candidates = proposed[:32]  # other samples are of the enemy
    assert (orders == PROGRADE).sum() == min(candidates) < candidates[0]


def test_the_enemy_may_be_known_as_an_agent_that_plans():
    """Such as a solution, which reads the positions themselves, in the engagement after a movement too."""
    phases = []

    class Plans(StatelessPlanner):
        name = "plans"

        def plan(self, games, sides, observations, action_masks, generator):
            phases.extend(game.phase for game in games)
            return np.full(action_masks.shape[:2], NOOP)

    choose(LookaheadAgent(Search(rollouts=8, candidates=2), Clueless(), enemies=[(Plans(), 1)]), start())
    assert set(phases) == {"movement", "engagement"}
