"""Opponents of a vector environment: mixtures, agents of all kinds, and agents that fail."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from scipy import stats

from geo_patrol import AgentError, make_agent, make_vec
from geo_patrol.envs.single import SoloGeoPatrol
from tests.envs.vector_reference import assert_same

OPTIONS = {"observation": "tokens", "mask_in": "none"}


class Passive:
    """A stateless agent that gives no orders and records its calls."""

    observation = "tokens"
    stateless = True

    def __init__(self, name="passive"):
        self.name, self.rows, self.resets = name, [], []

    def reset(self, new_games):
        self.resets.append(new_games)

    def act(self, observations, action_masks, generator):
        self.rows.append(len(observations))
        assert observations.dtype == np.int16
        assert action_masks.shape == (len(observations), 11, 28)
        return np.zeros((len(observations), 11), np.int64)


class Remembering(Passive):
    """A stateful agent: counts the phases of each game since the reset of its row."""

    stateless = False

    def __init__(self, games, name="remembering"):
        super().__init__(name)
        self.ages = np.full(games, -1)

    def reset(self, new_games):
        super().reset(new_games.copy())
        self.ages[new_games] = 0

    def act(self, observations, action_masks, generator):
        self.ages += self.ages >= 0
        return super().act(observations, action_masks, generator)


class Busy(Passive):
    """A stateless agent that gives every satellite the last of its legal orders."""

    def act(self, observations, action_masks, generator):
        return super().act(observations, action_masks, generator) + 27 - np.argmax(action_masks[..., ::-1], axis=2)


def play(envs, steps):
    """Play so many steps; return the infos of all of them."""
    return [envs.step(envs.sample_actions())[4] for _ in range(steps)]


# Mixtures


@pytest.mark.parametrize("weights", [(1, 1, 1), (5, 3, 1), (0.01, 0, 0.03)])
def test_opponents_are_sampled_by_their_weights(weights):
    names = ("random", "idle", "scripted")
    envs = make_vec("case1", 900, opponent=dict(zip(names, weights, strict=True)), **OPTIONS)
    sampled = np.concatenate([envs.reset(seed=1000 * round_)[1]["opponent"] for round_ in range(4)])
    known = [name for name, weight in zip(names, weights, strict=True) if weight]
    assert envs.opponent_names == tuple(known)
    counts = np.bincount(sampled, minlength=len(known))
    expected = np.array([weight for weight in weights if weight], float)
    assert stats.chisquare(counts, expected / expected.sum() * len(sampled)).pvalue > 1e-4


def test_a_single_environment_meets_the_opponents_of_its_mixture():
    mixture = [("random", 1), (Busy(), 2), ("scripted", 1)]
    options = {"opponent": mixture, "max_cycles": 4, "observation": "tokens"}
    envs, solo = make_vec("case1", 1, autoreset="disabled", **options), SoloGeoPatrol("case1", **options)
    met = set()
    for episode in range(20):
        seed = 3 if episode == 0 else None
        infos, (observation, _) = envs.reset(seed=seed)[1], solo.reset(seed=seed)
        assert solo.opponent.name == envs.opponent_names[infos["opponent"][0]]
        met.add(solo.opponent.name)
        before, played = solo.save(), []
        for _ in range(4):
            played.append(envs.sample_actions())
            observations, *_ = envs.step(played[-1])
            observation, *_ = solo.step(played[-1][0])
            assert np.array_equal(observation, observations[0])
        after = solo.save()
        solo.restore(before)
        for actions in played:
            solo.step(actions[0])
        assert solo.save() == after
    assert met == {"random", "passive", "scripted"}


def test_opponents_of_the_same_name_are_told_apart():
    envs = make_vec("case1", 4, opponent=[(Passive(), 1), (Passive(), 1), (Passive(), 1)], **OPTIONS)
    assert envs.opponent_names == ("passive", "passive (2)", "passive (3)")


def test_later_episodes_sample_opponents_independently():
    envs = make_vec("case1", 400, opponent={"random": 1, "idle": 1}, max_cycles=1, **OPTIONS)
    rounds = [envs.reset(seed=3)[1]["opponent"].copy()]
    for _ in range(3):
        envs.step(envs.sample_actions())
        rounds.append(envs.step(envs.sample_actions())[4]["opponent"].copy())
    for one, other in itertools.pairwise(rounds):
        assert stats.chi2_contingency(np.histogram2d(one, other, 2)[0]).pvalue > 1e-4


def test_new_opponents_are_for_new_games():
    envs = make_vec("case1", 60, opponent="idle", seats="alternate", **OPTIONS)
    opponents = envs.reset(seed=1)[1]["opponent"].copy()
    assert set(opponents) == {0}
    envs.set_opponents({"random": 1, "scripted": 2})
    assert envs.opponent_names == ("idle", "random", "scripted")
    started, seen = np.zeros(60, bool), set()
    for _ in range(160):
        over = started
        _, _, terminations, truncations, infos = envs.step(envs.sample_actions())
        assert (infos["opponent"][~over] == opponents[~over]).all()
        assert set(infos["opponent"][over]) <= {1, 2}
        opponents = infos["opponent"].copy()
        started = terminations | truncations
        finished = infos["finished_episode"]["opponent"]
        assert (finished[started] == opponents[started]).all()
        seen |= set(opponents[over])
    assert seen == {1, 2}
    envs.set_opponents("idle")
    assert envs.opponent_names == ("idle", "random", "scripted")
    assert set(envs.reset()[1]["opponent"]) == {0}


def test_an_invalid_mixture_changes_nothing():
    envs, twin = (make_vec("case1", 8, opponent="random", max_cycles=5, **OPTIONS) for _ in range(2))
    for one in (envs, twin):
        one.reset(seed=4)
    for wrong in ("nobody", {}, [("idle", 1), ("nobody", 1)], 3, {"idle": 1, "random": float("nan")}):
        with pytest.raises(ValueError, match=r"opponent|agent"):
            envs.set_opponents(wrong)
    assert envs.opponent_names == ("random",)
    for _ in range(20):
        assert_same(envs.step(envs.sample_actions()), twin.step(twin.sample_actions()))


def test_both_sides_have_no_opponents():
    with pytest.raises(ValueError, match="both sides are played: there are no opponents to set"):
        make_vec("case1", 2).set_opponents("random")


def test_opponents_that_are_no_longer_sampled_are_released():
    first, second = Passive("first"), Passive("second")
    released, current = weakref.ref(first), weakref.ref(second)
    envs = make_vec("case1", 6, opponent=first, max_cycles=10, **OPTIONS)
    envs.reset(seed=1)
    play(envs, 3)
    envs.set_opponents(second)
    del first, second
    play(envs, 6)
    assert released() is not None, "games against it go on"
    play(envs, 4)
    gc.collect()
    assert released() is None
    assert current() is not None
    assert envs.opponent_names == ("first", "second")


# Agents by protocol


def test_stateless_agents_get_only_their_own_games():
    passive = Passive()
    envs = make_vec("case1", 50, opponent=[(passive, 1), ("random", 1)], **OPTIONS)
    for _ in range(30):
        opponents = envs.reset()[1]["opponent"].copy()
        envs.step(envs.sample_actions())
        assert passive.rows[-1] == (opponents == 0).sum()
    assert passive.resets == []


def test_stateful_agents_may_only_give_noop_in_games_of_others():
    class Counting(Remembering):
        def act(self, observations, action_masks, generator):
            allowed.append(action_masks.sum(axis=(1, 2)))
            return super().act(observations, action_masks, generator)

    agent, allowed = Counting(50), []
    envs = make_vec("case1", 50, opponent=[(agent, 1), ("random", 1)], **OPTIONS)
    opponents = envs.reset(seed=1)[1]["opponent"].copy()
    envs.step(envs.sample_actions())
    assert (allowed[0][opponents == 0] > 11).all()
    assert (allowed[0][opponents == 1] == 11).all()


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_stateful_agents_have_a_row_for_every_game(mode):
    games = 40
    agents = [Remembering(games, "one"), Remembering(games, "two")]
    envs = make_vec("case1", games, opponent=[(agent, 1) for agent in agents], autoreset=mode, max_cycles=7, **OPTIONS)
    infos = envs.reset(seed=2)[1]
    over = np.zeros(games, bool)
    ages = np.zeros(games, int)
    for _ in range(60):
        opponents = infos["opponent"].copy()
        _, _, terminations, truncations, infos = envs.step(envs.sample_actions())
        plays = ~over
        ages[plays] += 1
        for index, agent in enumerate(agents):
            mine = plays & (opponents == index)
            assert (agent.ages[mine] == ages[mine]).all()
            assert agent.rows[-1] == games
        over = terminations | truncations
        ages[over] = 0
        if mode == "disabled" and over.any():
            infos = envs.reset(options={"reset_mask": over})[1]
        if mode != "next_step":
            over = np.zeros(games, bool)
    masks = [mask for agent in agents for mask in agent.resets]
    assert all(mask.shape == (games,) and mask.any() for mask in masks)
    assert np.sum(masks) == games * {"next_step": 8, "same_step": 9, "disabled": 9}[mode], "once for each of its games"


@pytest.mark.parametrize("index", [0, 1, 2])
def test_each_game_gets_the_orders_of_its_own_opponent(index):
    agents = [Busy(), Remembering(60), Busy()]
    agents[2].stateless = False
    envs = make_vec("case1", 60, opponent=[*((agent, 1) for agent in agents), ("idle", 1)], **OPTIONS)
    alone = make_vec("case1", 60, opponent=agents[index], **OPTIONS)
    mine = envs.reset(seed=1)[1]["opponent"] == index
    alone.reset(seed=1)
    assert mine.any()
    for _ in range(12):
        actions = alone.sample_actions()
        ours, theirs = envs.step(actions), alone.step(actions)
        assert_same(ours[0][mine], theirs[0][mine])
        mine &= ~theirs[2]  # the next episode may be against another one


def test_opponents_observe_the_other_side_of_each_game():
    class Observer(Passive):
        def act(self, observations, action_masks, generator):
            self.observations, self.masks = observations, action_masks
            return super().act(observations, action_masks, generator)

    observer = Observer()
    envs = make_vec("od2d", 6, opponent=observer, seats="alternate", **OPTIONS)
    envs.reset(seed=9)
    for _ in range(12):
        boards = [envs.game(i) for i in range(6)]
        envs.step(envs.sample_actions())
        for i, board in enumerate(boards):
            side = ("bravo", "alpha")[i % 2]
            assert_same(observer.observations[i], board.observation(side, "tokens"))
            assert_same(observer.masks[i], board.action_mask(side))


# Agents that fail


def failing(orders):
    class Failing(Passive):
        stateless = False
        fails = False

        def act(self, observations, action_masks, generator):
            return orders(len(observations)) if self.fails else super().act(observations, action_masks, generator)

    return Failing("Eve")


class FailingReset(Remembering):
    fails = False

    def reset(self, new_games):
        if self.fails:
            raise OSError("not now")
        super().reset(new_games)


def raise_key_error(count):
    raise KeyError("no such thing")


WRONG = [
    (raise_key_error, "act raised KeyError: 'no such thing'"),
    (lambda _: None, "act must return a NumPy array, got NoneType"),
    (lambda count: [[0] * 11] * count, "act must return a NumPy array, got list"),
    (lambda count: np.zeros((count, 10), int), r"act must return orders of shape \(6, 11\), got \(6, 10\)"),
    (lambda count: np.zeros((count + 1, 11), int), r"act must return orders of shape \(6, 11\), got \(7, 11\)"),
    (lambda count: np.full((count, 11), np.nan), "act must return integers, got float64"),
]


@pytest.mark.parametrize(("orders", "message"), WRONG, ids=[message[:50] for _, message in WRONG])
def test_a_failing_agent_stops_the_step_before_any_game_is_played(orders, message):
    agents = [failing(orders), failing(orders)]
    envs, twin = (make_vec("case1", 6, opponent=agent, seats="bravo", **OPTIONS) for agent in agents)
    for one in (envs, twin):
        one.reset(seed=7)
    for step in range(12):
        actions = twin.sample_actions()
        if step % 4 == 2:
            before = [envs.game(i) for i in range(6)]
            agents[0].fails = True
            with pytest.raises(AgentError, match=f"agent 'Eve': {message}"):
                envs.step(actions)
            agents[0].fails = False
            assert [envs.game(i) for i in range(6)] == before
        assert_same(envs.step(actions), twin.step(actions))


def test_illegal_orders_of_agents_count_as_noop():
    codes = np.array([-1, 28, -(2**63), 2**63 - 1, 5, 27])
    eve = failing(lambda count: np.broadcast_to(codes[:, None], (count, 11)).copy())
    eve.fails = True
    envs, twin = (make_vec("case1", 6, opponent=opponent, **OPTIONS) for opponent in (eve, "idle"))
    for one in (envs, twin):
        one.reset(seed=7)
    assert_same(envs.step(envs.sample_actions())[:4], twin.step(twin.sample_actions())[:4])


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_failed_reset_is_repeated(mode):
    agents = [FailingReset(5), Remembering(5)]
    envs, twin = (make_vec("case1", 5, opponent=agent, autoreset=mode, max_cycles=4, **OPTIONS) for agent in agents)
    for one in (envs, twin):
        one.reset(seed=3)
    for step in range(20):
        agents[0].fails = step in (0, 4, 5, 9, 10, 13)
        actions = twin.sample_actions()
        try:
            played = envs.step(actions)
        except AgentError as error:
            assert str(error) == "agent 'remembering': reset raised OSError: not now"  # noqa: PT017
            agents[0].fails = False
            played = envs.step(actions)
        assert_same(played, twin.step(actions))
        assert agents[0].ages.tolist() == agents[1].ages.tolist()


def test_agents_are_not_reset_again_when_another_fails():
    agents = [Remembering(8, "first"), FailingReset(8, "second")]
    agents[1].fails = True
    envs = make_vec("case1", 8, opponent=[(agent, 1) for agent in agents], **OPTIONS)
    opponents = envs.reset(seed=1)[1]["opponent"].copy()
    for _ in range(2):
        with pytest.raises(AgentError, match="agent 'second': reset raised OSError"):
            envs.step(envs.sample_actions())
    agents[1].fails = False
    envs.step(envs.sample_actions())
    for index, agent in enumerate(agents):
        assert_same(agent.resets, [opponents == index])


@pytest.mark.parametrize("threads", [1, 2])
def test_seeded_agents_that_fail_in_a_thread(threads):
    class Seeded:
        name, observation = "Kay", "tokens"
        fails = 0

        def reset(self, new_games):
            raise AssertionError("seeded agents are stateless")

        def act(self, observations, action_masks, generator):
            raise AssertionError("act_seeded replaces act")

        def act_seeded(self, observations, action_masks, keys):
            assert len(np.unique(keys)) == len(keys)
            rows = len(observations)
            self.fails -= 1
            if self.fails >= 0:
                raise ZeroDivisionError
            return make_agent("random").act_seeded(observations, action_masks, keys) if rows else None

    agent = Seeded()
    envs = make_vec("case1", 20, opponent=agent, threads=threads, **OPTIONS)
    envs.reset(seed=1)
    play(envs, 5)
    for failures in (1, 2):
        before = [envs.game(i) for i in range(20)]
        agent.fails = failures
        for _ in range(failures if threads == 1 else 1):
            with pytest.raises(AgentError, match="agent 'Kay': act_seeded raised ZeroDivisionError"):
                envs.step(envs.sample_actions())
        assert [envs.game(i) for i in range(20)] == before
        agent.fails = 0
        play(envs, 5)
    envs.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_every_opponent_in_one_mixture_with_threads(threads):
    """Opponents inside the engine, seeded, stateless and stateful; results do not depend on batches and threads."""
    games = 18
    mixture = [("random", 1), ("idle", 1), ("scripted", 2), (Passive(), 1), (Remembering(games), 1)]
    envs = make_vec("case3", games, opponent=mixture, threads=threads, seats="alternate", max_cycles=30, **OPTIONS)
    halves = []
    for start, stop in ((0, 6), (6, games)):
        own = [*mixture[:4], (Remembering(stop - start), 1)]
        halves.append(make_vec("case3", stop - start, opponent=own, seats="alternate", max_cycles=30, **OPTIONS))
        halves[-1].reset(seed=50 + start)
    envs.reset(seed=50)
    for _ in range(60):
        actions = np.concatenate([half.sample_actions() for half in halves])
        whole = envs.step(actions)
        returned = [half.step(orders) for half, orders in zip(halves, (actions[:6], actions[6:]), strict=True)]
        for column in range(4):
            assert_same(whole[column], np.concatenate([half_returned[column] for half_returned in returned]))
        assert_same(whole[4]["opponent"], np.concatenate([half_returned[4]["opponent"] for half_returned in returned]))
    envs.close()
