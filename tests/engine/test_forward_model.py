"""The forward model: batches play what single games play, play-outs, keys, histories, and what an engagement leads to."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol import AgentError, Game, Games, OrderError, load_config, play_out
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from tests.support.strategies import games, play_on, random_orders, seeds

RANGES = {"alpha.patrols.fuel": {"low": 50, "high": 100}}
SIDES = ("alpha", "bravo")


def states(batch):
    return [game.save() for game in (batch[i] for i in range(len(batch)))]


def play_step_by_step(batch, max_phases=1000):
    for _ in range(max_phases):
        if batch.is_over.all():
            break
        batch.step(batch.sample_actions())
    return batch


@given(games(max_phases=10), st.none() | st.integers(0, 40))
def test_random_play_outs_are_steps_with_sampled_actions(game, max_phases):
    together, one_by_one = (game.repeat(5).reseed(3) for _ in range(2))
    assert play_out(together, max_phases=max_phases) is together
    play_step_by_step(one_by_one, 1000 if max_phases is None else max_phases)
    assert states(together) == states(one_by_one)
    assert max_phases is not None or together.is_over.all()


@pytest.mark.parametrize("agents", [("random", "random"), ("scripted", "random"), ("raider", RandomAgent())])
def test_a_play_out_may_be_interrupted_and_does_not_depend_on_the_size_of_the_batch(agents):
    whole = play_out(Games("geo_patrol", 4, seed=5, overrides=RANGES), *agents, max_phases=9)
    parts = play_out(Games("geo_patrol", 4, seed=5, overrides=RANGES), *agents, max_phases=4)
    assert states(play_out(parts, *agents, max_phases=5)) == states(whole)
    alone = [play_out(Games("geo_patrol", seed=5 + i, overrides=RANGES), *agents, max_phases=9) for i in range(4)]
    assert [states(games)[0] for games in alone] == states(whole)


def test_play_outs_by_agents_of_all_kinds_are_repeatable():
    class Unseeded(IdleAgent):
        name = "unseeded"
        act_seeded = None

        def act(self, observations, action_masks, generator):
            return RandomAgent().act(observations, action_masks, generator)

    class Planner(Unseeded):
        name = "planner"

        def plan(self, games, sides, observations, action_masks, generator):
            assert not sides.any()
            return self.act(observations, action_masks, generator)

    for alpha in (Unseeded(), Planner()):
        first, second = (play_out(Games("duel", 2, seed=1), alpha, "idle") for _ in range(2))
        assert first.is_over.all()
        assert states(first) == states(second)


def test_agents_that_fail_end_a_play_out():
    class Failing(IdleAgent):
        name = "failing"
        act_seeded = None

        def act(self, observations, action_masks, generator):
            raise RuntimeError("no")

    with pytest.raises(AgentError, match=r"agent 'failing \(bravo\)': act raised RuntimeError: no"):
        play_out(Games("duel", 2, seed=1), "random", Failing())


def test_games_that_are_not_there():
    batch = Games("duel", 2, seed=1)
    assert [game.key for game in batch] == [batch[0].key, batch[1].key]
    assert batch[-2] == batch[0]
    for index in (2, -3, np.int64(2)):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 2 games"):
            batch[index]
    for side in (2, -1, "alpha", None):
        with pytest.raises(ValueError, match=f"side must be 0 \\(alpha\\) or 1 \\(bravo\\), got {side!r}"):
            batch.seen_by(side)


@pytest.mark.parametrize("rows", [None, True, np.array([[0, 1]]), np.array(1)], ids=repr)
def test_games_are_selected_along_one_axis(rows):
    with pytest.raises(IndexError, match="games must be selected by an integer, a slice, indices or a mask, got "):
        Games("duel", 3, seed=1)[rows]


def test_no_games_can_be_selected():
    batch = Games("duel", 3, seed=1)
    none, size = batch[batch.is_over], batch.observe().shape[2]
    assert none.observe().shape == (0, 2, size)
    assert none.position_keys() == []
    assert none.sample_actions().shape == (0, 2, 11)


def test_faulty_arguments_of_play_outs():
    class Remembering(IdleAgent):
        act_seeded = None

    batch, agent = Games("duel", 2, seed=1), Remembering()
    for arguments, message in (
        ({"max_phases": -1}, "max_phases must be a non-negative integer or None, got -1"),
        ({"max_phases": True}, "max_phases must be a non-negative integer or None, got True"),
        ({"alpha": agent, "bravo": agent}, "agent 'idle' keeps a state between calls, so it cannot play both sides"),
        ({"bravo": 3}, "bravo must be an agent's name or an Agent, got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            play_out(batch, **arguments)
    assert not batch.is_over.any()


@given(games(), seeds, seeds)
def test_keys_are_equal_for_equal_positions_whatever_the_random_stream(game, seed, other_seed):
    assert (
        len({game.key, game.copy().key, game.fork(seed).key, *game.repeat(3).reseed(other_seed).position_keys()}) == 1
    )
    assert Game.restore(game.save()).key == game.key
    assert isinstance(hash(game.key), int)


@pytest.mark.slow
@given(games(max_phases=5), seeds)
def test_keys_differ_where_positions_do(game, seed):
    following = play_on(game.copy(), 1, seed % 2**32)
    assert (following.key == game.key) == game.is_over


def test_keys_hold_what_the_configuration_sampled():
    keys = Games("geo_patrol", 30, seed=1, overrides={"bravo.costs.prograde": {"low": 1, "high": 5}}).position_keys()
    assert 1 < len(set(keys)) <= 5
    assert Game("geo_patrol", seed=1).key != Game("geo_patrol", seed=1, overrides={"bravo.costs.prograde": 7}).key


@given(games(), st.sampled_from(SIDES))
def test_legal_actions_are_the_mask_and_the_legal_orders(game, side):
    actions, mask = game.legal_actions(side), game.action_mask(side)
    assert [list(np.flatnonzero(row)) for row in mask] == [list(codes) for codes in actions]
    orders = game.legal_orders(side)
    assert [tuple(order.code for order in own) for own in orders.values()] == list(actions[: len(orders)])
    assert set(actions[len(orders) :]) <= {(0,)}


def test_a_history_is_kept_where_it_is_asked_for():
    game = Game("geo_patrol", seed=7, keep_history=True)
    first = game.step("P1 radial_in")
    branch = game.copy()
    second = game.step()
    assert game.history == (first, second)
    assert first.before.history == ()
    assert first.after.history == branch.history == (first,)
    assert [phase.name for phase in game.history] == ["movement", "engagement"]
    assert Game.restore(game.save(), keep_history=True).history == ()
    with pytest.raises(AttributeError, match="keep_history=True"):
        _ = Game("geo_patrol", seed=7).history


CROWD = {"both": {"patrols": {"formation": [[0, 4]]}, "odds": {"shoot": [1.0, 1.0]}}, "extends": "king_of_the_hill"}


def test_games_out_of_a_batch_do_not_show_outcomes_of_another():
    batch = Games(CROWD, 40, seed=1)
    while not (batch.state.games["outcome_count"] > 0).any():
        batch.step(batch.sample_actions())
    assert all(batch[i].outcomes == batch[i : i + 1][0].outcomes == batch[[i]][0].outcomes == () for i in range(40))


def engaged_game(seed=1):
    """Return a game after an engagement with outcomes."""
    game = Game(CROWD, seed=seed)
    while not game.outcomes:
        game.step_actions(game.as_games().copy().sample_actions()[0])
    return game


def test_outcomes_are_those_of_a_games_own_last_engagement():
    game, other = engaged_game(), engaged_game(2)
    kept = game.outcomes
    assert game.copy().outcomes == game.fork(1).outcomes == kept != other.outcomes
    joined = Games.from_games([game, other])
    for batch in (Games.from_games([game]), joined, game.repeat(1), game.repeat(3)):
        assert batch[0].outcomes == ()
        batch.step(np.zeros((len(batch), 2, 11), np.int64))
        assert batch[0].outcomes == ()
    other.step_actions(np.zeros((2, 11), np.int64))
    assert other.outcomes == ()
    assert game.outcomes == kept


def test_a_finished_game_keeps_the_outcomes_of_its_last_phase():
    game = next(game for seed in range(100) if (game := engaged_game(seed)).is_over)
    kept, outcomes = game.copy(), game.outcomes
    game.step_actions(np.ones((2, 11), np.int64))
    assert game == kept
    assert game.outcomes == outcomes


def test_repeated_games_have_random_streams_of_their_own():
    game = Game("geo_patrol", seed=7)
    games = game.repeat(200)
    streams = [games.state.games["rng_key"], games.state.choices["stream"][:, 0]]
    assert [len(np.unique(stream)) for stream in streams] == [200, 200]
    assert game.as_games().state.games["rng_key"][0] not in streams[0]
    assert states(game.copy().repeat(3)) == states(games[:3])
    assert len(set(play_out(game.repeat(200), "scripted", "scripted").position_keys())) > 100
    together = game.repeat(5, same_chance=True)
    assert [twin == game for twin in (together[i] for i in range(5))] == [True] * 5
    assert len(set(play_out(together, "scripted", "scripted").position_keys())) == 1
    later = game.copy()
    while later.as_games().state.games["rng_counter"] == game.as_games().state.games["rng_counter"]:
        later.step_actions(later.as_games().copy().sample_actions()[0])
    assert not np.isin(later.repeat(200).state.games["rng_key"], streams[0]).any()


@pytest.mark.parametrize("n", [0, True, 2.0, 1 << 21])
def test_repeating_a_game_no_or_too_many_times(n):
    with pytest.raises(ValueError, match="n must be an integer from 1 to 1,048,576"):
        Game("duel", seed=1).repeat(n)


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))])
def test_copied_and_pickled_games_play_the_same_configuration(twin_of, tmp_path):
    path = tmp_path / "game.toml"
    path.write_text('extends = "case1"\nturn_limit = 3\n')
    data = load_config("case1").to_dict()
    made = [Games(data, 3, seed=1), Games(str(path), 3, seed=1), Games("geo_patrol", 3, seed=1, overrides=RANGES)]
    data["turn_limit"] = 99
    path.write_text('extends = "case1"\nturn_limit = 99\n')
    for batch in made:
        twin = twin_of(batch)
        assert twin.config == batch.config
        assert twin.config.turn_limit != 99
        assert states(play_step_by_step(twin)) == states(play_step_by_step(batch))


@pytest.mark.parametrize("actions", [np.full((2, 2, 11), 0.5), np.ones((2, 2, 11), bool)])
def test_actions_of_games_are_integers(actions):
    games = Games("duel", 2, seed=1)
    for call in (games.step, games.replace_illegal):
        with pytest.raises(ValueError, match=r"actions must be integers of shape \(2, 2, 11\)"):
            call(actions)


@pytest.mark.slow
@given(games(max_phases=30), st.integers(0, 2**32))
def test_what_an_engagement_leads_to_is_in_its_distribution(game, seed):
    if game.phase == "movement":
        play_on(game, 1, seed)
    if game.phase != "engagement":
        return
    orders = random_orders(game, np.random.default_rng(seed))
    try:
        distribution = game.outcome_distribution(**orders)
    except OrderError as error:
        assert "random branches" in str(error)  # noqa: PT017 - some random boards are too crowded
        return
    keys = distribution.games.position_keys()
    assert len(set(keys)) == len(keys) == len(distribution.probabilities)
    assert abs(distribution.probabilities.sum() - 1) < 1e-9
    for fork in range(5):
        played = game.fork(fork)
        played.step(**orders)
        assert played.key in keys
        assert played.phase == distribution.games[keys.index(played.key)].phase != "engagement"
    assert distribution.games[0].save()["chance"] == game.save()["chance"]


def test_copies_of_a_sampled_game_have_its_variant():
    config = load_config({"extends": "case1", "variants": [{"name": "a"}, {"name": "b"}]})
    game = next(game for seed in range(20) if (game := Game(config, seed=seed)).as_games().variant[0] == 1)
    assert game.repeat(3).variant.tolist() == [1, 1, 1]


def test_batches_are_made_of_games_of_one_configuration():
    with pytest.raises(ValueError, match="got none"):
        Games.from_games([])
    with pytest.raises(ValueError, match="of the same configuration"):
        Games.from_games([Game("duel", seed=1), Game("skirmish", seed=1)])
    singles = [Game("geo_patrol", seed=i, overrides=RANGES) for i in range(3)]
    batch = Games.from_games(singles)
    assert [batch[i] for i in range(3)] == singles
