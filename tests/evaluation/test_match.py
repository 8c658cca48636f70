"""Match play: seeds, sides, random streams, counts, and errors of agents."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest, t

from geo_patrol import ConfigError, Game, GeoPatrolError, make_agent
from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.base.errors import AgentError
from geo_patrol.engine.state import COLLIDE, FORFEIT, GUARD, ORDERS
from geo_patrol.evaluation.chunks import CHUNK_PAIRS, game_seed
from geo_patrol.evaluation.match import play_match
from geo_patrol.evaluation.results import DRAW, FIRST, REASONS, SECOND
from geo_patrol.evaluation.statistics import clustered_interval, student_quantile, wilson_interval
from geo_patrol.game.game import replay_orders
from geo_patrol.game.notation import read_reasons


def assert_same_games(one, other, games=slice(None)):
    np.testing.assert_array_equal(one.games[games], other.games[games])


class Scribe(RandomAgent):
    """A random agent that records the arguments of its calls."""

    def __init__(self, name="scribe", observation="tokens"):
        self.name, self.observation = name, observation
        self.resets, self.calls = [], []

    def reset(self, new_games):
        self.resets.append(new_games.copy())

    def act(self, observations, action_masks, generator):
        self.calls.append((observations, action_masks))
        return super().act(observations, action_masks, generator)


class Noisy(RandomAgent):
    """Takes as many random numbers as there are games, so that its orders depend on the size of the batch."""

    name = "noisy"

    def act(self, observations, action_masks, generator):
        generator.random(len(observations))
        return super().act(observations, action_masks, generator)


class Stubborn(IdleAgent):
    """Returns the same order codes in every phase."""

    name = "stubborn"

    def __init__(self, orders):
        self.orders = orders

    def act(self, observations, *_):
        return self.orders(len(observations)) if callable(self.orders) else self.orders


@pytest.mark.parametrize("seed", [7, 2**200])
def test_same_seed_same_match(seed):
    one, other = (play_match("scripted", "random", games=20, seed=seed) for _ in range(2))
    assert one.seed == seed
    assert_same_games(one, other)
    np.testing.assert_array_equal(one.first_game, other.first_game)
    assert (play_match("scripted", "random", games=20, seed=8).scores != one.scores).any()


def test_a_fresh_seed_can_be_repeated():
    one, other = play_match("random", "random", games=4), play_match("random", "random", games=4)
    assert one.seed != other.seed
    assert_same_games(one, play_match("random", "random", games=4, seed=one.seed))


def test_pairs_have_one_seed_and_swap_the_sides():
    result = play_match("random", "idle", games=10, seed=3)
    assert result.first_side.tolist() == [0, 1] * 5
    assert result.seeds.tolist() == [game_seed(3, pair) for pair in range(5) for _ in range(2)]
    assert len(set(result.seeds.tolist())) == 5
    assert all(0 <= seed < 2**53 for seed in result.seeds.tolist())


@pytest.mark.parametrize(("first", "second"), [("scripted", "random"), ("random", "idle")])
def test_swapping_the_agents_swaps_the_games_of_each_pair(first, second):
    config = "case3"  # its sides differ
    one = play_match(first, second, config=config, games=20, seed=11)
    other = play_match(second, first, config=config, games=20, seed=11)
    mirror = np.arange(20) ^ 1
    np.testing.assert_array_equal(one.scores, other.scores[mirror][:, ::-1])
    np.testing.assert_array_equal(one.reasons, other.reasons[mirror])
    np.testing.assert_array_equal(one.turns, other.turns[mirror])
    np.testing.assert_array_equal(one.winner == FIRST, other.winner[mirror] == SECOND)
    as_alpha, as_bravo = one.summary().as_alpha, other.summary().as_bravo
    assert (as_alpha.wins, as_alpha.draws, as_alpha.losses) == (as_bravo.losses, as_bravo.draws, as_bravo.wins)


def test_games_of_an_agent_against_itself_are_even_and_have_seeds_of_their_own():
    result = play_match("random", "random", games=600, seed=3)
    assert result.agents == ("random", "random (2)")
    assert result.seeds[::2].tolist() == [game_seed(3, pair) for pair in range(300)]
    assert len(set(result.seeds.tolist())) == 600
    assert (result.scores[::2] != result.scores[1::2, ::-1]).any(axis=1).mean() > 0.9
    total = result.summary().total
    assert total.won == wilson_interval(total.wins, 600)
    low, high = wilson_interval(total.wins, total.wins + total.losses, 0.9999).interval
    assert low < 0.5 < high


def test_a_chunk_does_not_depend_on_the_chunks_around_it():
    short = play_match(Noisy(), Scribe(), games=2 * CHUNK_PAIRS, seed=9)
    long = play_match(Noisy(), Scribe(), games=2 * CHUNK_PAIRS + 20, seed=9)
    assert_same_games(short, long, slice(2 * CHUNK_PAIRS))


def test_the_last_chunk_has_the_same_rows_for_the_agents_of_the_package():
    assert_same_games(
        play_match("scripted", "random", games=20, seed=9),
        play_match("scripted", "random", games=50, seed=9),
        slice(20),
    )


def test_games_are_those_that_a_single_game_plays():
    """Idle against idle needs no orders, so ``Game`` can play a game of the match from its seed alone."""
    overrides = {"both.hva.fuel": {"low": 20, "high": 60}, "turn_limit": 30}
    result = play_match("idle", "idle", overrides=overrides, games=6, seed=4)
    for index, seed in enumerate(result.seeds.tolist()):
        game = Game(seed=seed, overrides=overrides)
        while not game.is_over:
            game.step()
        scores = [game.scores["alpha"], game.scores["bravo"]]
        assert scores[:: -1 if result.first_side[index] else 1] == result.scores[index].tolist()
        assert (game.turn, game.reasons) == (result.turns[index], read_reasons(int(result.reasons[index])))


SAMPLED = {"both.patrols.fuel": {"low": 20, "high": 40}, "both.patrols.count": {"choices": [2, 4]}}


@pytest.mark.parametrize(("config", "overrides"), [("case2", {}), ("od2d", SAMPLED), ("case5", SAMPLED)])
def test_replay_is_the_first_game(config, overrides):
    result = play_match("scripted", "random", config=config, overrides=overrides, games=6, seed=2)
    phases = list(replay_orders(result.config, int(result.seeds[0]), result.first_game))
    end = phases[-1].after
    assert end.is_over
    assert [end.scores["alpha"], end.scores["bravo"]] == result.scores[0].tolist()
    assert end.turn == result.turns[0] == phases[-1].turn
    assert end.reasons == read_reasons(int(result.reasons[0]))
    assert {None: DRAW, "alpha": FIRST, "bravo": SECOND}[end.winner] == result.winner[0]
    by_hand = Game(config, seed=int(result.seeds[0]), overrides=overrides)
    for phase in phases:
        assert by_hand.step(*phase.orders).outcomes == phase.outcomes
        assert by_hand == phase.after


def test_replay_repeats_illegal_orders_and_forfeits():
    orders = np.full((1, 11), ORDERS + 99)
    result = play_match(
        Stubborn(lambda n: orders.repeat(n, 0)), "idle", overrides={"illegal_orders": "forfeit"}, games=2, seed=1
    )
    (phase,) = replay_orders(result.config, int(result.seeds[0]), result.first_game)
    assert phase.illegal_orders == (11, 0)
    assert phase.after.winner == "bravo"
    assert result.winner.tolist() == [SECOND, SECOND]
    assert result.reasons.tolist() == [FORFEIT, FORFEIT << 1]
    assert result.summary().total.endings["forfeit"].first == 2


def test_agents_receive_the_arguments_of_the_protocol():
    tokens, onehot = Scribe("tokens", "tokens"), Scribe("onehot", "onehot")
    games = 2 * CHUNK_PAIRS + 4
    result = play_match(tokens, onehot, games=games, seed=1)
    sizes = [CHUNK_PAIRS, CHUNK_PAIRS, 2, 2]
    for agent, kind in ((tokens, np.int16), (onehot, np.float32)):
        assert [len(new) for new in agent.resets] == sizes
        assert all(new.dtype == np.bool_ and new.all() for new in agent.resets)
        assert {len(observations) for observations, _ in agent.calls} == set(sizes)
        assert {observations.dtype for observations, _ in agent.calls} == {np.dtype(kind)}
        assert all(masks.shape == (len(seen), 11, 28) and masks.dtype == np.int8 for seen, masks in agent.calls)
    assert len(onehot.calls) == len(tokens.calls)
    game = Game(seed=int(result.seeds[0]))
    np.testing.assert_array_equal(tokens.calls[0][0][0], game.observation("alpha", "tokens"))
    np.testing.assert_array_equal(onehot.calls[0][0][0], game.observation("bravo", "onehot"))
    np.testing.assert_array_equal(onehot.calls[0][1][0], game.action_mask("bravo"))


def test_arrays_that_an_agent_received_do_not_change():
    received = []

    class Copies(Scribe):
        def act(self, observations, action_masks, generator):
            received.append((observations.copy(), action_masks.copy()))
            return super().act(observations, action_masks, generator)

    agent = Copies()
    play_match(agent, "idle", games=2, seed=1)
    for arrays, arrays_then in zip(agent.calls, received, strict=True):
        for array, then in zip(arrays, arrays_then, strict=True):
            np.testing.assert_array_equal(array, then)


def test_the_encoding_of_one_agent_does_not_change_the_game():
    one = play_match(Scribe(), "random", games=20, seed=6)
    assert_same_games(one, play_match(Scribe(observation="onehot"), "random", games=20, seed=6))


def test_illegal_orders_are_counted_by_agent():
    result = play_match(Stubborn(lambda n: np.full((n, 11), GUARD, np.int8)), "idle", games=4, seed=1)
    in_movement = 11 * result.turns  # guarding is no move; in the engagement phase there is nobody to guard against
    np.testing.assert_array_equal(result.illegal_orders[:, FIRST], 2 * in_movement)
    assert not result.illegal_orders[:, SECOND].any()
    assert result.summary().total.illegal_orders == (2 * in_movement.sum(), 0)


@pytest.mark.parametrize(
    "code", [*map(np.int64, (-1, -(2**62), 2**62, ORDERS)), np.uint64(2**64 - 1), np.uint8(ORDERS)], ids=repr
)
def test_orders_that_do_not_exist_are_illegal(code):
    result = play_match("idle", Stubborn(lambda n: np.full((n, 11), code)), games=2, seed=1)
    assert (result.illegal_orders[:, SECOND] == 22 * result.turns).all()


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        (lambda n: np.zeros((n, 12), np.int64), r"got \(2, 12\)"),
        (np.zeros((11,), np.int64), r"got \(11,\)"),
        (lambda n: np.zeros((n + 1, 11), np.int64), r"got \(3, 11\)"),
        (lambda n: np.zeros((n, 11)), "integers, got float64"),
        (lambda n: np.zeros((n, 11), np.bool_), "got bool"),
        (lambda n: [[0] * 11] * n, "a NumPy array, got list"),
        (None, "NoneType"),
    ],
)
def test_invalid_orders_are_reported_with_the_agents_name(orders, message):
    with pytest.raises(AgentError, match=f"agent 'stubborn': act must return .*{message}"):
        play_match("random", Stubborn(orders), games=4, seed=1)


def test_an_agent_that_raises_is_named():
    class Broken(IdleAgent):
        name = "broken"

        def act(self, *_):
            raise KeyError("lost")

    with pytest.raises(AgentError, match="agent 'broken': act raised KeyError: 'lost'") as caught:
        play_match("idle", Broken(), games=2)
    assert isinstance(caught.value.__cause__, KeyError)
    assert isinstance(caught.value, GeoPatrolError)


def test_interrupting_an_agent_interrupts_the_match():
    class Interrupted(IdleAgent):
        def act(self, *_):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match("idle", Interrupted(), games=2)


@pytest.mark.parametrize("games", [7, 0, -2, 2.0, "4", True])
def test_invalid_numbers_of_games(games):
    with pytest.raises(ValueError, match=r"games must be an even number of at least 2, got .*"):
        play_match("idle", "idle", games=games)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_invalid_seeds(seed):
    with pytest.raises(ValueError, match="seed must be a non-negative integer"):
        play_match("idle", "idle", games=2, seed=seed)


def test_invalid_agents():
    odd = IdleAgent()
    odd.observation = "pixels"
    same = make_agent("mixed")
    with pytest.raises(ValueError, match="no agent 'scriptd'; did you mean 'scripted'"):
        play_match("scriptd", "idle", games=2)
    with pytest.raises(ValueError, match="second must be an agent's name or an Agent, got 3"):
        play_match("idle", 3, games=2)
    with pytest.raises(ValueError, match="agent 'idle': observation must be 'onehot', 'tokens' or a"):
        play_match(odd, "idle", games=2)
    with pytest.raises(ValueError, match="agent 'mixed' keeps a state between calls, so it cannot play both sides"):
        play_match(same, same, games=2)
    with pytest.raises(ConfigError, match="no preset 'case9'"):
        play_match("idle", "idle", config="case9", games=2)


def test_progress_counts_up_to_all_games():
    reported = []
    games = 2 * CHUNK_PAIRS + 6
    play_match("random", "random", games=games, seed=1, progress=lambda done, total: reported.append((done, total)))
    counts = [done for done, _ in reported]
    assert counts == sorted(counts)
    assert reported[-1] == (games, games)
    assert {total for _, total in reported} == {games}


def test_summary_agrees_with_the_games():
    result = play_match("scripted", "random", config="case1", games=60, seed=7)
    summary = result.summary()
    for tally, mask in (
        (summary.as_alpha, result.first_side == 0),
        (summary.as_bravo, result.first_side == 1),
        (summary.total, np.ones(60, bool)),
    ):
        assert tally.games == mask.sum() == tally.wins + tally.draws + tally.losses
        assert tally.wins == (result.scores[mask, 0] > result.scores[mask, 1]).sum()
        assert tally.win_rate == tally.wins / tally.games
        assert tally.won == wilson_interval(tally.wins, tally.games)
        assert tally.mean_score_difference == np.mean(result.scores[mask, 0] - result.scores[mask, 1])
        assert tally.mean_turns == np.mean(result.turns[mask])
        assert tuple(tally.endings) == REASONS
    assert summary.games_per_second == pytest.approx(60 / result.seconds)
    for reason in REASONS:
        held = [[r for r in read_reasons(bits) if r.reason == reason] for bits in result.reasons.tolist()]
        ending = summary.total.endings[reason]
        assert ending.games == sum(bool(reasons) for reasons in held)
        sides = [(r.side, first) for reasons, first in zip(held, result.first_side, strict=True) for r in reasons]
        assert ending.first == sum(side == ("alpha", "bravo")[first] for side, first in sides)
        assert ending.second == sum(side == ("bravo", "alpha")[first] for side, first in sides)


def test_a_match_of_zero_seconds_has_a_speed():
    result = play_match("idle", "idle", games=2, seed=1, overrides={"turn_limit": 1})
    assert np.isfinite(replace(result, seconds=0.0).summary().games_per_second)
    assert replace(result, seconds=None).summary().games_per_second is None  # within a tournament


@pytest.mark.parametrize("trials", [1, 2, 10, 500, 12345])
def test_wilson_interval_is_that_of_scipy(trials):
    for successes in sorted({0, 1, trials // 3, trials // 2, trials - 1, trials}):
        for confidence in (0.5, 0.95, 0.999):
            expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
            found = wilson_interval(successes, trials, confidence)
            assert found.value == successes / trials
            assert found.interval == pytest.approx(tuple(expected), abs=1e-12)
    assert wilson_interval(0, 0).interval == (0.0, 1.0)


@pytest.mark.parametrize("arguments", [(-1, 2), (3, 2), (1, 2, 0.0), (1, 2, 1.0)])
def test_wilson_interval_of_invalid_counts(arguments):
    with pytest.raises(ValueError, match="0 <= successes <= trials and 0 < confidence < 1 must hold"):
        wilson_interval(*arguments)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 15, 49, 100, 101, 1000])
def test_student_quantile_is_that_of_scipy(confidence, degrees):
    assert student_quantile(confidence, degrees) == pytest.approx(t.ppf(0.5 + confidence / 2, degrees), rel=1e-7)


def test_the_seconds_of_a_match_are_those_on_the_clock(monkeypatch):
    clock = iter([100.0, 104.0])
    monkeypatch.setattr("geo_patrol.evaluation.match.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    result = play_match("random", "random", config="duel", games=2 * CHUNK_PAIRS + 2, seed=1)
    assert result.seconds == 4


def test_clustered_interval_of_independent_games_is_wilsons():
    assert clustered_interval({(1, 1): 30, (1, 0): 20}) == wilson_interval(30, 50)
    assert clustered_interval({(2, 2): 25}) == wilson_interval(50, 50)
    assert clustered_interval({(2, 0): 25}) == wilson_interval(0, 50)
    assert clustered_interval({(2, 1): 1}) == wilson_interval(1, 2)
    assert clustered_interval({}).interval == (0.0, 1.0)


def test_clustered_interval_is_wide_for_equal_games_and_narrow_for_opposite_ones():
    assert clustered_interval({(2, 2): 500, (2, 0): 500}) == pytest.approx(wilson_interval(500, 1000), abs=1e-3)
    _, low, high = clustered_interval({(2, 1): 1000})
    assert 0 < high - low < 0.005


@pytest.mark.parametrize("correlation", [-0.3, 0.0, 0.3, 0.8])
@pytest.mark.parametrize("p", [0.5, 0.7, 0.9])
def test_clustered_interval_covers_in_95_percent_of_matches(p, correlation):
    if correlation < 0 and p > 0.7:
        pytest.skip("not both games can be lost more seldom than never")
    generator = np.random.default_rng(5)
    both = p * p + correlation * p * (1 - p)
    probabilities = [1 - 2 * p + both, 2 * (p - both), both]  # of 0, 1 and 2 wins in a pair
    covered = 0
    for counts in generator.multinomial(50, probabilities, size=2000):
        _, low, high = clustered_interval({(2, wins): int(count) for wins, count in enumerate(counts)})
        covered += low <= p <= high
    assert 0.93 <= covered / 2000 <= 0.975


def test_collisions_with_absent_enemies_are_illegal_not_fatal():
    agent = Stubborn(lambda n: np.full((n, 11), COLLIDE + 10))
    result = play_match(agent, "random", config="case4", games=4, seed=1)
    assert (result.illegal_orders[:, FIRST] > 0).all()


def test_the_repr_is_short():
    result = play_match("idle", "idle", config="case1", overrides={"turn_limit": 1}, games=4, seed=1)
    total = result.summary().total
    text = repr(result)
    assert text.startswith(f"<MatchResult idle against idle (2), {result.config.title}, 4 games, seed 1:\n")
    assert f"wins {total.win_rate:.1%} (" in text
    assert len(text.splitlines()) == 2


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="on_failures"):
        play_match("idle", "random", games=2, on_failures="forfeit")
