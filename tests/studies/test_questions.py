"""Questions of studies: answers about made-up agents of which the truth is known."""

import math
import re

import numpy as np
import pytest

from geo_patrol import load_config
from geo_patrol.evaluation.statistics import difference_interval, paired_interval, wilson_interval
from geo_patrol.studies.answers import GAME, Estimate, compare_games
from geo_patrol.studies.factors import Factor
from geo_patrol.studies.plan import Design
from geo_patrol.studies.questions import (
    ThresholdQuestion,
    WorthQuestion,
    answer_questions,
    possible_ranks,
    rank_factors,
)
from geo_patrol.studies.search import ThresholdSearch, differ
from geo_patrol.studies.study import load_plan


class MadeUpGames:
    """Games that alpha wins with a probability that depends on a value of their cell."""

    def __init__(self, key, chances):
        self.key, self.chances, self.played = key, chances, {}

    def play(self, requests, remaining=0):
        return [self._play(request) for request in requests]

    def _play(self, request):
        value = dict(request.cell.overrides).get(self.key)
        chance = self.chances(value, request.pair)
        self.played[value, request.pair, request.seed] = request.games
        shared = np.random.default_rng([request.seed, 7]).random(request.games)
        games = np.zeros(request.games, GAME)
        games["winner"] = shared >= chance
        games["scores"][:, 0] = np.where(games["winner"] == 0, 10, 4)
        return games


def logistic(x):
    return 1 / (1 + math.exp(x))


COUNT = "bravo.patrols.count"


def ask(question, chances, agents=("scripted",), *, key=COUNT, versions=None, **settings):
    """Return the answers of a question about made-up games, and the games."""
    plan = load_plan({"title": "t", "config": "case2", "agents": list(agents), "question": [question], **settings})
    source = MadeUpGames(key, chances)
    (answered,) = answer_questions(plan, source, *([versions] if versions else []))
    return answered, source


THRESHOLD = {"kind": "threshold", "factor": {COUNT: "1..8"}, "rate": 0.8}


def test_a_threshold_is_found_where_the_rate_is_reached():
    answered, source = ask(THRESHOLD, lambda count, _: logistic(1.2 * (count - 6.6)))
    (answer,) = answered.answers
    truth = 5 + (logistic(1.2 * -1.6) - 0.8) / (logistic(1.2 * -1.6) - logistic(1.2 * -0.6))
    assert answer.answer == "5"
    assert answer.interval[0] <= truth <= answer.interval[1]
    assert answer.interval[1] - answer.interval[0] <= 0.5
    assert "the largest number of bravo's Patrols for which alpha wins at least 80% of the games is 5" in answer.text
    assert answer.answer_interval == ("5", "5")
    assert "(95% interval 5 to 5)" in answer.text
    games = {level.value: level.games for level in answer.levels}
    assert min(games[5], games[6]) >= max(games[1], games[8])
    assert sum(games.values()) == answer.games == sum(source.played.values())


def test_the_smallest_value_of_a_rate_that_rises():
    question = {**THRESHOLD, "find": "smallest", "measure": "bravo wins", "rate": 0.5}
    answered, _ = ask(question, lambda count, _: logistic(1.5 * (count - 3.4)))
    assert answered.answers[0].answer == "4"
    assert answered.title == "How few Patrols may bravo have so that bravo wins at least 50% of the games?"
    assert "for which bravo wins at least 50% of the games is 4" in answered.answers[0].text


@pytest.mark.parametrize(
    ("chance", "answer", "words"),
    [
        (0.99, "8", "alpha wins at least 80% of the games with every number of bravo's Patrols from 1 to 8 (lowest: "),
        (0.1, "none", "alpha does not reach 80% with any number of bravo's Patrols from 1 to 8 (highest: "),
    ],
)
def test_a_rate_that_is_always_or_never_reached(chance, answer, words):
    answered, _ = ask(THRESHOLD, lambda *_: chance)
    assert answered.answers[0].answer == answer
    assert words in answered.answers[0].text


def test_a_sentence_says_where_pairs_of_agents_disagree():
    def chances(count, pair):
        return logistic(2 * (count - (7.4 if pair == ("scripted", "scripted") else 4.3)))

    answered, _ = ask(THRESHOLD, chances, ["scripted", "policy"])
    assert answered.summary == (
        "The answer depends on the agents: 6 with scripted on both sides; 3 with policy on both sides.",
    )
    answered, _ = ask(THRESHOLD, lambda count, _: logistic(2 * (count - 4.3)), ["scripted", "policy"])
    assert answered.summary == ("With both pairs of agents the answer is the same: 3.",)


TURNS = {1: 0.999, 2: 0.99, 3: 0.988, 4: 0.888, 5: 0.885, 6: 0.956, 7: 0.799, 8: 0.5}


@pytest.mark.parametrize(
    ("find", "answer", "sentence"),
    [
        ("largest", "6", r"At some smaller values the rate is lower: 8\d.\d% at 4 and 8\d.\d% at 5\."),
        ("smallest", "1", "at 8"),
    ],
)
def test_the_last_or_first_value_of_a_rate_that_turns(find, answer, sentence):
    question = {**THRESHOLD, "rate": 0.9, "find": find, "games": 30_000}
    answered, source = ask(question, lambda count, _: TURNS[count], ["policy"])
    (found,) = answered.answers
    assert {value for value, *_ in source.played} == set(range(1, 9))
    assert (found.answer, found.answer_interval) == (answer, (answer, answer))
    assert re.search(sentence, found.text)


def test_a_long_axis_is_scanned():
    question = {**THRESHOLD, "factor": {"turn_limit": "1..200"}, "rate": 0.5}
    answered, _ = ask(question, lambda turns, _: 0.9 if turns < 20 or 100 < turns < 150 else 0.2, key="turn_limit")
    (found,) = answered.answers
    assert 130 < float(found.answer) <= 150
    assert "At some smaller values the rate is lower" in found.text


def test_a_fair_value_is_checked_by_new_games():
    question = {"kind": "fair", "factor": {COUNT: "1..8"}, "check": 1000}
    answered, source = ask(question, lambda count, _: logistic(0.8 * (count - 5.2)))
    found, check = answered.answers
    assert found.answer == "5"
    assert check.games == 1000
    assert check.interval[0] <= logistic(0.8 * -0.2) <= check.interval[1]
    assert source.played[5, ("scripted", "scripted"), 2] == 1000


@pytest.mark.parametrize("middle", [4.1, 4.6])
def test_the_interval_of_a_fair_value_has_the_values_closest_to_its_ends(middle):
    question = {"kind": "fair", "factor": {COUNT: "1..8"}, "games": 4000, "check": 0}
    answered, _ = ask(question, lambda count, _: 0.5 - 0.03 * (count - middle))
    (found,) = answered.answers
    assert found.interval[1] - found.interval[0] > 1
    assert found.answer_interval == tuple(f"{end:.0f}" for end in found.interval)


FAIR = {"kind": "fair", "factor": {COUNT: "1..8"}, "games": 4000, "check": 1000}


def test_a_factor_without_an_effect_cannot_balance_the_game():
    answered, _ = ask(FAIR, lambda *_: 0.51)
    found, check = answered.answers
    assert "no two of these values can be told apart" in found.text
    assert "no effect of the number of bravo's Patrols there: it cannot balance the scenario" in found.text
    assert (found.interval, found.answer_interval) == ((-math.inf, math.inf), ("1", "8"))
    assert check.text.endswith("not distinguishable from one half.")


def test_no_value_is_fair():
    answered, _ = ask(FAIR, lambda count, _: 0.3 - 0.01 * (count or 8))
    found, check = answered.answers
    assert "no value from 1 to 8 is fair, so the number of bravo's Patrols cannot balance the scenario" in found.text
    assert (found.answer, found.estimate, found.interval, found.answer_interval) == ("none", None, None, None)
    assert "less than one half, so this value is not quite fair" in check.text


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("chance", [0.0, 0.5])
def test_a_check_of_few_games(count, chance):
    answered, _ = ask({**FAIR, "check": count}, lambda *_: chance, [["scripted", "random"]])
    check = answered.answers[-1]
    assert check.games == count
    assert 0 <= check.interval[0] <= check.estimate <= check.interval[1] <= 1
    assert check.interval[1] - check.interval[0] > 0.4
    assert "nan" not in check.text


def test_a_place_has_the_digits_that_the_games_support():
    key = "alpha.odds.shoot.0"
    question = {"kind": "fair", "factor": {key: {"low": 0.2, "high": 1.0}}, "games": 4000, "check": 2}
    answered, source = ask(question, lambda odds, _: 0.1 + 0.7 * odds, key=key, config="king_of_the_hill")
    found, check = answered.answers
    width = found.interval[1] - found.interval[0]
    assert 0.01 < width < 0.2
    assert len(found.answer) <= len("0.57")
    assert float(found.answer) == pytest.approx(0.571, abs=0.06)
    assert (float(found.answer), ("scripted", "scripted"), 2) in source.played  # what was said is what was checked
    assert f"and {found.answer}, alpha wins" in check.text


def test_a_rate_that_is_not_told_from_the_one_that_is_asked_for():
    answered, _ = ask({**THRESHOLD, "games": 2000}, lambda *_: 0.8)
    assert "The games leave the answer open: from 1 to 8 the rate is" in answered.answers[0].text


class Versions:
    """Networks that depend on the number of Patrols."""

    def versions(self, cell, pair):
        count = dict(cell.overrides).get("bravo.patrols.count", 8)
        return ("", "") if pair[0] == "scripted" else ("network 1", "network 1" if count < 5 else "network 2")


@pytest.mark.parametrize("kind", ["threshold", "fair"])
def test_nothing_is_interpolated_where_another_network_takes_over(kind):
    question = {**(THRESHOLD if kind == "threshold" else FAIR), "games": 20_000}
    if kind == "threshold":
        question["rate"] = 0.5
    answered, _ = ask(question, lambda count, _: 0.7 if count < 5 else 0.3, ["policy"], versions=Versions())
    found = answered.answers[0]
    assert found.answer == "4"
    assert "both sides would win half at" not in found.text
    assert "the rate is 50% at" not in found.text
    assert re.search(r"another network takes over.*at 4 \(.*network 1.*at 5 \(.*network 2", found.text)
    assert found.estimate == 4
    assert found.interval == (4, 5)
    assert [level.versions[1] for level in found.levels] == ["network 1"] * 4 + ["network 2"] * 4
    assert found.games < 20_000


def made_up_answers(estimates, answers):
    return [
        Estimate("x", "largest value", None, ("a", "b"), value, (value - margin, value + margin), answer, 1, "")
        for (value, margin), answer in zip(estimates, answers, strict=True)
    ]


def test_the_difference_is_tested_where_intervals_overlap():
    question = ThresholdQuestion.model_validate({**THRESHOLD, "kind": "threshold"})
    overlapping = made_up_answers([(6.0, 0.5), (6.9, 0.5)], ["6", "7"])  # the difference is 0.9 with a margin of 0.71
    assert question.compare(overlapping).startswith("The answer depends on the agents: 6 with")
    close = made_up_answers([(6.0, 0.5), (6.5, 0.5)], ["6", "7"])
    assert question.compare(close).startswith("The pairs of agents differ by no more than chance: 6 with")


@pytest.mark.parametrize("end", [math.inf, -math.inf])
def test_an_answer_beyond_the_values_differs_from_one_among_them(end):
    question = ThresholdQuestion.model_validate({**THRESHOLD, "kind": "threshold"})
    beyond, among = made_up_answers([(end, 0.0), (3.3, 0.2)], ["none", "4"])
    assert question.compare([beyond, among]).startswith("The answer depends on the agents: none with")
    perhaps = made_up_answers([(3.3, math.inf)], ["4"])  # whose interval has no end
    assert "no more than chance" in question.compare([beyond, *perhaps])


def test_effects_that_differ_by_chance_are_said_to():
    question = WorthQuestion(of={"x": "+1"})
    close = made_up_answers([(0.03, 0.028), (0.02, 0.025)], ["", ""])
    assert "differs between the agents by no more than chance" in question.compare(close)
    apart = made_up_answers([(0.10, 0.02), (0.02, 0.025)], ["", ""])
    assert "depends on the agents" in question.compare(apart)


def test_a_change_that_changes_nothing():
    question = {"kind": "worth", "of": {COUNT: "-1"}, "games": 400}
    answered, _ = ask(question, lambda *_: 0.5)
    text = answered.answers[0].text
    assert "alpha wins as often (95% interval" in text
    assert ", not distinguishable from no change; 400 games each." in text
    assert "-0.0 " not in text


def test_differences_that_are_none_are_found_as_rarely_as_is_said():
    generator, found = np.random.default_rng(3), 0
    for _ in range(1_000):
        found += differ([(generator.random(500) < 0.5).astype(np.float64) for _ in range(4)])
    assert found <= 65  # 5% of all tests, and two and a half standard errors


def test_worth_is_the_difference_between_games_that_share_seeds():
    question = {"kind": "worth", "of": {COUNT: "-1"}, "games": 400}
    answered, source = ask(question, lambda count, _: 0.5 if count is None else 0.6)
    (answer,) = answered.answers
    assert answer.estimate == pytest.approx(0.1, abs=0.04)
    assert answer.interval[1] - answer.interval[0] < 0.07  # of independent games it would be 0.14
    assert "points" in answer.text
    assert source.played[7, ("scripted", "scripted"), 1] == 400


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "falls"), [(0.8, True), (0.3, False)])
def test_intervals_of_thresholds_cover_the_truth(rate, falls):
    positions = np.arange(1.0, 9.0)
    chances = 1 / (1 + np.exp((1 if falls else -1) * 0.9 * (positions - 5.2)))
    truth = np.interp(rate, *((chances[::-1], positions[::-1]) if falls else (chances, positions)))
    covered = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        shared, own = generator.random(20_000), generator.random((8, 20_000))
        search = ThresholdSearch(positions, rate, falls=falls, budget=20_000, tolerance=0.5, block=128)
        while wanted := search.wanted():
            for level, games in wanted.items():
                mixed = np.where(
                    own[level] < 0.5, shared, 2 * own[level] - 1
                )  # half the games depend on the seed alone
                search.outcomes[level] = (mixed[:games] < chances[level]).astype(np.float64)
        ends = search.turn(np.array(search.locate()[1:]))
        covered += ends.min() <= truth <= ends.max()
    assert 90 <= covered <= 99


def test_a_search_ends_with_its_budget():
    search = ThresholdSearch(np.arange(3.0), 0.5, falls=True, budget=1000, tolerance=0.001, block=128)
    generator = np.random.default_rng(0)
    while wanted := search.wanted():
        for level, games in wanted.items():
            search.outcomes[level] = (generator.random(games) < 0.6 - 0.1 * level).astype(np.float64)
    assert 990 <= search.spent <= 1000


def test_intervals_of_paired_differences_cover_the_truth():
    generator, rates, means = np.random.default_rng(1), 0, 0
    for _ in range(1_600):
        shared, noise = generator.random(200), generator.random(200)
        before, after = shared < 0.6, np.where(noise < 0.7, shared, generator.random(200)) < 0.65
        _, low, high = paired_interval(after.astype(int) - before.astype(int), is_rate=True)
        rates += low <= 0.05 <= high
        _, low, high = paired_interval(generator.normal(1, 5, 30))
        means += low <= 1 <= high
    assert 1_490 <= rates <= 1_550
    assert 1_490 <= means <= 1_550


def test_newcombes_interval():
    found = difference_interval(
        wilson_interval(48, 80), wilson_interval(56, 70)
    )  # the published example (a), with its sign turned
    np.testing.assert_allclose(found, (0.2, 0.0524, 0.3339), atol=5e-5)


def test_equal_games_do_notdiffer():
    games = np.zeros(50, GAME)
    mean, low, high = compare_games(games, games, "alpha wins")
    assert (mean, -low) == (0, high)
    assert 0 < high < 0.06
    assert compare_games(games, games, "turns") == (0, 0, 0)


ANGLE = {name: Factor(keys=(name,), low=-math.pi, high=math.pi) for name in ("x1", "x2", "x3")}


def values_of(design):
    return -math.pi + 2 * math.pi * design.units


@pytest.mark.slow
def test_indices_of_the_ishigami_function():
    pytest.importorskip("SALib")
    design = Design.make("saltelli", ANGLE, 1024, seed=1)
    x1, x2, x3 = values_of(design).T
    effects = rank_factors(design, np.sin(x1) + 7 * np.sin(x2) ** 2 + 0.1 * x3**4 * np.sin(x1))
    assert [effect.name for effect in effects] == ["x1", "x2", "x3"]
    np.testing.assert_allclose([effect.effect for effect in effects], [0.5576, 0.4424, 0.2437], atol=0.02)
    np.testing.assert_allclose(
        [effect.others["first-order index"][0] for effect in effects], [0.3139, 0.4424, 0], atol=0.02
    )
    assert all(0 < effect.margin < 0.1 for effect in effects)


def test_elementary_effects_of_a_linear_function():
    pytest.importorskip("SALib")
    design = Design.make("morris", ANGLE, 10, seed=1)
    first, second, _ = design.units.T
    effects = rank_factors(design, 3 * first - 5 * second)
    assert [effect.name for effect in effects] == ["x2", "x1", "x3"]
    np.testing.assert_allclose([effect.effect for effect in effects], [5, 3, 0], atol=1e-9)
    assert effects[0].others["mean effect"][0] == pytest.approx(-5)


@pytest.mark.parametrize(("kind", "others"), [("morris", 2), ("saltelli", 1)])
def test_no_factor_matters_where_nothing_changes(kind, others):
    pytest.importorskip("SALib")
    design = Design.make(kind, ANGLE, 8, seed=1)
    for effect in rank_factors(design, np.full(len(design.units), 0.3)):
        assert (effect.effect, effect.margin) == (0, 0)
        assert [value for value, _ in effect.others.values()] == [0] * others


def test_effects_are_over_the_whole_range_that_was_played():
    pytest.importorskip("SALib")
    factors = {COUNT: [4, 10], "turn_limit": {"low": 10, "high": 20}}
    design = {"factors": factors, "design": "morris", "samples": 20, "games": 2000}
    answered, source = ask({"kind": "ranking"}, lambda count, _: 0.9 if count == 4 else 0.3, ["policy"], **design)
    first = answered.answers[0]
    assert first.subject == COUNT
    assert first.estimate == pytest.approx(0.6, abs=0.02)
    assert "mean absolute effect over the whole range" in first.text
    assert {count for count, *_ in source.played} == {4, 10}


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_both_steps_of_a_trajectory_are_as_long_as_is_said(count):
    config = load_config("case2")
    for factor in (
        Factor(keys=("bravo.patrols.ammo",), low=3, high=count + 2),
        Factor(keys=("bravo.patrols.ammo",), values=tuple(range(3, count + 3))),
    ):
        first, second, third, last = (factor.at(config, unit / 3, nearest=True) for unit in range(4))
        assert (first, last) == (3, count + 2)
        step = factor.morris_step(config) * (count - 1)
        assert [third - first, last - second] == pytest.approx([step, step])


def test_ranks_that_cannot_be_told_apart():
    assert possible_ranks([(0.6, 0.9), (0.4, 0.7), (0.3, 0.5), (0.1, 0.2)]) == [(1, 2), (1, 3), (2, 3), (4, 4)]


def test_rankings_of_every_pair():
    pytest.importorskip("SALib")
    factors = {COUNT: "1..8", "turn_limit": {"low": 10, "high": 20}}
    design = {"factors": factors, "design": "morris", "samples": 8, "games": 100}
    answered, _ = ask(
        {"kind": "ranking"}, lambda count, _: logistic(0.5 * (count - 4)), ["scripted", "policy"], **design
    )
    assert answered.summary == (
        "With both pairs of agents, what matters most is the same: the number of bravo's Patrols.",
    )
    assert "1. number of bravo's Patrols: mean absolute effect" in answered.answers[0].text
    texts = [answer.text for answer in answered.answers if answer.statistic == "ranks"]
    assert texts[0] == "With scripted on both sides, all ranks can be told apart."
