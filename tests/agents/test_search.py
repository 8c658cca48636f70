"""The searching agent: it finds winning orders, repeats them for a seed, and refuses invalid arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol import AgentError, load_config, make_agent, make_vec, play_match
from geo_patrol.agents.basic import RandomAgent
from geo_patrol.agents.protocol import compute_actions, copy_games
from geo_patrol.agents.scripted import Raid, RaiderAgent
from geo_patrol.agents.search import Branches, LookaheadAgent, Search, SearchAgent, num_to_evaluate, rounds_for
from geo_patrol.base.board import sector_at
from geo_patrol.engine.state import (
    COLLIDE,
    ENGAGEMENT,
    MOVEMENT,
    NOOP,
    NUM_SIDES,
    PROGRADE,
    RADIAL_IN,
    SHOOT,
)
from geo_patrol.game.game import Games
from geo_patrol.solving import solve, write_solution


def masks_of(games):
    """Return the action masks of positions that were changed by hand."""
    games.describe()
    return games.action_masks()


def start(preset="geo_patrol", count=1, seed=0):
    return Games(load_config(preset), count, seed=seed)


def play(batch, phases, seed=0):
    """Play with raiders; finished games stay."""
    generator = np.random.default_rng(seed)
    for _ in range(phases):
        seen, masks = batch.observe("tokens"), masks_of(batch)
        orders = np.stack([RaiderAgent().act(seen[:, s], masks[:, s], generator) for s in range(NUM_SIDES)], axis=1)
        batch.step(orders)


def search(**parameters):
    return SearchAgent(Search(**parameters))


def choose(agent, batch, side=0, seed=0, masks=None):
    """Return the orders that an agent plans for one side of all games, (n, 11)."""
    seen, legal = batch.observe("tokens")[:, side], masks_of(batch)[:, side] if masks is None else masks
    rng = np.random.default_rng(seed)
    return compute_actions(agent, agent.name, seen, legal, rng, lambda: copy_games(batch), side)


def contact():
    """Return a game in its engagement phase: a Patrol has met the enemy's HVA, whose side wins now unless it is hit."""
    batch = start()
    game = batch.state.games[0]
    game["phase"] = ENGAGEMENT
    game["sector"][0, 1:] = sector_at(4, 0)
    game["sector"][0, 4] = game["sector"][1, 0]
    game["sector"][1, 1:] = sector_at(4, 4)
    game["goal_points"], game["score"] = (120, 140), (320, 340)  # of 350; a turn in the goal sector counts 10
    return batch


def test_takes_the_shot_that_wins():
    batch = contact()
    orders = choose(search(rollouts=200), batch)
    assert orders[0, 4] == SHOOT


@pytest.mark.parametrize("phases", [4, 7])
def test_the_same_seed_and_rollouts_give_the_same_orders(phases):
    batch = start(count=3)
    play(batch, phases)
    first, second = (choose(search(rollouts=64), batch, side=1, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.take_along_axis(masks_of(batch)[:, 1], first[:, :, None], axis=2).all()


def test_the_real_game_is_left_alone():
    batch = start()
    before = batch.state.games.tobytes()
    choose(search(rollouts=32), batch)
    assert batch.state.games.tobytes() == before


def test_both_sides_see_the_shot_that_wins():
    batch = contact()
    for field in ("sector", "score", "goal_points"):
        batch.state.games[0][field] = batch.state.games[0][field][::-1].copy()
    batch.state.games[0]["goal"] = batch.state.games[0]["goal"][::-1].copy()
    assert choose(search(rollouts=200), batch, side=1)[0, 4] == SHOOT


def test_observations_are_not_planned_from():
    batch = start()
    with pytest.raises(AgentError, match="agent 'search' plans from games, not from observations: call plan"):
        make_agent("search").act(batch.observe("tokens")[:, 0], masks_of(batch)[:, 0], np.random.default_rng(0))


def test_orders_comply_with_masks():
    batch = start()
    masks = masks_of(batch)[:, 0].copy()
    masks[:, :5, 1:] = 0
    orders = choose(search(rollouts=64), batch, masks=masks)
    assert not orders[0, :5].any()


@pytest.mark.parametrize("preset", ["geo_patrol", "case3", "od2d"])
def test_beats_random_from_both_sides(preset):
    result = play_match(search(rollouts=32, candidates=8), "random", config=preset, games=20, seed=1)
    assert (result.winner == 0).mean() >= 0.9
    assert not result.illegal_orders.any()


@pytest.mark.slow
def test_looking_ahead_helps():
    result = play_match(search(rollouts=400), "raider", games=60, seed=11)
    assert (result.winner == 0).mean() >= 0.6


class Proposer:
    """Always proposes the same orders, and records the sizes of its batches."""

    name = "proposer"
    observation = "tokens"

    def __init__(self, orders):
        self.orders, self.batches = np.array(orders), []

    def reset(self, new_games):
        pass

    def act(self, observations, masks, generator):
        self.batches.append(len(masks))
        return np.tile(self.orders, (len(masks), 1))


def test_an_agent_may_propose():
    batch = start()
    proposer = Proposer([NOOP] * 10 + [RADIAL_IN])
    agent = SearchAgent(Search(rollouts=32, candidates=4, samples=3), proposer=proposer)
    orders = choose(agent, batch)
    assert orders.shape == (1, 11)
    assert proposer.batches == [3]


def test_proposed_orders_are_evaluated():
    """The scripts have no fuel left to raid, so only the proposer finds the winning shot."""
    batch = start()
    orders, proposer = _shot_that_wins(batch)
    agent = SearchAgent(Search(rollouts=64, candidates=2), own=[Raid(defenders=10, reach="sector")], proposer=proposer)
    chosen = choose(agent, batch)
    np.testing.assert_array_equal(chosen[0], orders)


def _shot_that_wins(batch):
    """Set up an engagement in which one Patrol can shoot the enemy HVA from next to it."""
    game = batch.state.games[0]
    game["phase"] = ENGAGEMENT
    game["sector"][0, 1:] = sector_at(4, 0)
    game["sector"][0, 4] = game["sector"][1, 0] + 1
    game["sector"][1, 1:] = sector_at(4, 4)
    game["score"][:] = 300, 200
    orders = np.zeros(11, np.int64)
    orders[4] = SHOOT
    return orders, Proposer(orders)


def test_proposed_orders_that_are_illegal_are_ignored():
    batch = start()
    agent = SearchAgent(Search(rollouts=32), proposer=Proposer([SHOOT] * 11))
    orders = choose(agent, batch)
    assert np.take_along_axis(masks_of(batch)[:, 0], orders[:, :, None], axis=2).all()


def test_an_agent_named_in_the_name_proposes():
    agent = make_agent("search:rollouts=32,samples=2,propose=raider:defenders=2,path=cheap")
    assert agent.name == "search:rollouts=32,samples=2,propose=raider:defenders=2,path=cheap"
    assert make_agent(agent.name).search == agent.search
    result = play_match(agent, "random", games=4, seed=1)
    assert (result.winner == 0).all()


def test_a_budget_of_time_is_respected_and_counted():
    agent = search(budget="20ms")
    batch = start()
    choose(agent, batch)
    assert agent.decisions == 1
    assert agent.rollouts >= 16


def test_plays_in_the_vector_environment():
    envs = make_vec("geo_patrol", 2, opponent="search:rollouts=16")
    envs.reset(seed=1)
    envs.step(envs.sample_actions())
    envs.close()


def test_names():
    assert make_agent("search").name == "search"
    assert make_agent("search:10ms").name == "search:10ms"
    assert make_agent("search:2.5ms,candidates=8").name == "search:2.5ms,candidates=8"
    assert make_agent("search:rollouts=256").search == Search(rollouts=256)
    assert make_agent("search:budget=1s").search == Search(budget="1s")
    assert make_agent("search:60s").search == Search(budget="60s")
    assert make_agent("search:propose=random").search == Search(propose="random")
    assert make_agent("search:enemy=idle").search == Search(enemy="idle")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("search:10", "budget must be a time such as 10ms or 1.5s, up to 60s, got '10'"),
        ("search:0ms", "budget must be a time such as 10ms or 1.5s, up to 60s, got '0ms'"),
        ("search:60.1s", "up to 60s"),
        ("search:9999s", "up to 60s"),
        ("search:propose=", "must be the name of an agent"),
        ("search:10ms,propose=search:20ms", "a search cannot propose to a search"),
        ("search:10ms,enemy=search,propose=random", "enemy = 'search': a search cannot be the enemy"),
        ("search:enemy=random,enemy=idle", "enemy is given twice"),
        ("search:10ms,enemy=nobody", "there is no agent 'nobody'"),
        ("search:10ms,propose=nobody", "there is no agent 'nobody'"),
        ("search:samples=-1", "samples must be at least 0, got '-1'"),
        ("search:-3ms", "budget must be a time such as 10ms or 1.5s, up to 60s, got '-3ms'"),
        ("search:", "parameters are name=value"),
        ("search:10ms,rollouts=5", "must be given"),
        ("search:rollouts=-1", "rollouts must be at least 0, got '-1'"),
        ("search:candidates=1", "candidates must be at least 2, got '1'"),
        ("search:rollout=5", "there is no parameter 'rollout'; did you mean 'rollouts'?"),
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


@pytest.fixture(scope="module")
def lookahead():
    return make_agent("search:rollouts=64,propose=policy:base")


def test_a_policy_that_proposes_makes_a_lookahead_agent(lookahead):
    assert isinstance(lookahead, LookaheadAgent)
    assert lookahead.name == "search:rollouts=64,propose=policy:base"
    assert isinstance(make_agent("search:propose=scripted"), SearchAgent)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["geo_patrol", "case4", "od2d"])
def test_looking_to_the_end_of_the_turn_orders_legally_and_the_same_for_a_seed(lookahead, preset):
    matches = [play_match(lookahead, "scripted", config=preset, games=4, seed=2) for _ in range(2)]
    assert matches[0].summary().total.illegal_orders[0] == 0
    assert (matches[0].scores == matches[1].scores).all()
    assert lookahead.rollouts > 0


def test_looking_ahead_sees_a_blow_that_decides():
    """With an uninformed critic, a shot that destroys the enemy's HVA still has the value of a won game."""
    batch = contact()
    agent = LookaheadAgent(Search(rollouts=1000, samples=64, candidates=64), Clueless())
    for seed in range(5):
        orders = choose(agent, batch, seed=seed)
        assert orders[0, 4] in {SHOOT, COLLIDE}  # at the HVA, which is number 0


def test_a_hurried_search_has_the_smallest_budget(lookahead):
    with_minimal_budget = lookahead.with_minimal_budget()
    assert (with_minimal_budget.seconds, with_minimal_budget.num_rollouts) == (0.0, 1)
    assert (lookahead.seconds, lookahead.num_rollouts) == (0.0, 64)


@pytest.mark.parametrize("phase", ["movement", "engagement"])
@pytest.mark.parametrize("budget", [2, 10, 50])
def test_lookahead_respects_and_uses_its_time(monkeypatch, budget, phase):
    """The clock of this test advances by 50 us for every position that is evaluated."""
    now = 0.0

    class Slow(Clueless):
        def value(self, observations):
            nonlocal now
            now += 50e-6 * len(observations) / 2  # both sides of it are
            return super().value(observations)

    monkeypatch.setattr("geo_patrol.agents.search.time.perf_counter", lambda: now)
    batch = contact() if phase == "engagement" else start()
    agent = LookaheadAgent(Search(f"{budget}ms", samples=64, candidates=64), Slow())
    for seed in range(3):
        begun = now
        choose(agent, batch, seed=seed)
        assert 0.5 <= (now - begun) / (budget / 1000) <= 1.25


def test_small_budgets_evaluate_few_candidates():
    assert [num_to_evaluate(16, positions) for positions in (0, 16, 64, 128, 10_000)] == [2, 4, 8, 16, 16]
    assert num_to_evaluate(1, 0) == 1
    assert num_to_evaluate(5, 10_000) == 5


@given(st.integers(1, 256), st.integers(0, 5_000))
def test_evaluated_candidates_get_enough_samples(candidates, positions):
    count = num_to_evaluate(candidates, positions)
    assert min(candidates, 2) <= count <= candidates
    assert count <= 2 or positions >= 2 * count * rounds_for(count)


def turn_begun():
    """Return a game in the movement phase of its third turn."""
    batch = start()
    play(batch, 4)
    return batch


def test_branches_begin_where_the_game_is_and_follow_its_rules():
    batch = turn_begun()
    branches = Branches(batch[0], 0, np.uint64(7))
    assert branches.phase == MOVEMENT
    branches.begin(0, 3, 2)
    orders = masks_of(batch)[0].shape[2] - 1 - masks_of(batch)[0, :, :, ::-1].argmax(axis=2)  # the last that is legal
    branches.games.step(np.stack([orders] * 6))
    batch.step(orders[None])
    for i in range(6):
        assert (branches.games.action_masks()[i] == masks_of(batch)[0]).all()
        assert (branches.games.observe("tokens")[i] == batch.observe("tokens")[0]).all()


def test_branches_of_a_sample_have_equal_random_numbers_and_samples_differ():
    batch = turn_begun()
    branches = Branches(batch[0], 0, np.uint64(7))
    branches.begin(5, 4, 3)
    keys = branches.games.state.games["rng_key"].reshape(4, 3)
    assert (keys == keys[:, :1]).all()
    assert len(set(keys[:, 0].tolist())) == 4
    again = Branches(batch[0], 0, np.uint64(7))
    again.begin(6, 1, 1)
    assert again.games.state.games["rng_key"][0] == keys[1, 0]


def test_outcomes_replace_estimates():
    batch = turn_begun()
    branches = Branches(batch[0], 0, np.uint64(7))
    branches.begin(0, 2, 1)
    games = branches.games.state.games
    games["done"][1], games["score"][1] = 1, (2, 1)
    assert branches.put_outcomes(np.array([0.25, 0.25])).tolist() == [0.25, 1.0]
    branches.side = 1
    assert branches.put_outcomes(np.array([0.25, 0.25])).tolist() == [0.25, -1.0]


def test_an_enemy_that_moved_as_a_script_replies_as_that_script():
    """Its replies to a movement come from the script that gave the movement."""
    batches = []

    class Silent(RandomAgent):
        observation = "tokens"
        name = "silent"

        def act(self, observations, action_masks, generator):
            batches.append(len(observations))
            return super().act(observations, action_masks, generator)

    batch = start()
    policy = make_agent("policy:base")
    agent = LookaheadAgent(Search(rollouts=96, candidates=2), policy, enemies=[(policy, 3), (Silent(), 1)])
    choose(agent, batch)
    moved, *answers = batches
    assert moved == 12
    assert sum(answers) == pytest.approx(96 / 4, abs=12)  # a quarter of the samples: 12 of the 48 orders


def test_an_enemy_that_is_known_alone_is_expected():
    batches = []

    class Known(RandomAgent):
        observation = "tokens"

        def act(self, observations, action_masks, generator):
            batches.append(len(observations))
            return super().act(observations, action_masks, generator)

    agent = LookaheadAgent(Search(rollouts=96, candidates=2), make_agent("policy:base"), enemies=[(Known(), 1)])
    choose(agent, start())
    moved, *answers = batches
    assert moved == 48
    assert sum(answers) == 96


@pytest.mark.parametrize(
    "agents",
    [
        "enemy=raider:path=cheap,defenders=3,propose=policy:base,greedy",
        "propose=policy:base,greedy,enemy=raider:path=cheap,defenders=3",
    ],
)
def test_names_of_the_enemy_and_the_proposer_hold_commas(agents):
    agent = make_agent(f"search:rollouts=8,{agents}")
    assert isinstance(agent, LookaheadAgent)
    assert (agent.search.enemy, agent.search.propose) == ("raider:path=cheap,defenders=3", "policy:base,greedy")
    assert agent.name == "search:rollouts=8,enemy=raider:path=cheap,defenders=3,propose=policy:base,greedy"


def test_equal_values_are_decided_by_the_policys_probabilities():
    class Partial(Clueless):
        """Gives orders a higher probability, the fewer satellites move prograde."""

        def sample(self, observation, mask, count, generator, temperature=1.0):
            orders, _ = super().sample(observation, mask, count, generator, temperature)
            return orders, -(orders == PROGRADE).sum(axis=1).astype(float)

    proposed = []

    class Watched(LookaheadAgent):
        def _propose(self, *arguments):
            proposed.append(super()._propose(*arguments))
            return proposed[-1]

    batch = start()
    agent = Watched(Search(rollouts=2000, samples=16, candidates=64), Partial())
    orders = choose(agent, batch, seed=4)
    ((candidates, log_probs),) = proposed
    assert len(candidates) == 32
    assert (log_probs == -(candidates == PROGRADE).sum(axis=1)).all()
    assert (orders == PROGRADE).sum() == -log_probs.max() < -log_probs[0]


@pytest.mark.slow
def test_the_enemy_may_be_known_as_an_agent_that_plans(tmp_path):
    """Such as a solution, which reads the positions themselves, in the engagement after a movement too."""
    write_solution(tmp_path / "duel.safetensors", solve(load_config("duel", {"turn_limit": 2})))
    search = f"search:rollouts=40,enemy=solved:{tmp_path / 'duel.safetensors'},propose=policy:base"
    match = play_match(search, "idle", config="duel", overrides={"turn_limit": 2}, games=4, seed=0)
    assert len(match) == 4
