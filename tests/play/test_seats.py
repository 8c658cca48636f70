"""Seats played by text: every legal order reads back, nothing else is accepted, and agents that talk nonsense are counted."""

import doctest
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import Game, OrderError, play_match, preset_names
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.game.notation import ENGAGEMENTS, MOVES, order_codes
from geo_patrol.play import text_game as textplay
from geo_patrol.play.telling import rules_text
from geo_patrol.play.text_game import (
    MAX_ANSWER,
    MAX_PROBLEMS,
    TextAgent,
    TextGame,
    legal_orders_text,
    observe_text,
    parse_orders,
    prompt_text,
    read_answer,
    system_text,
    turn_text,
)
from tests.support.strategies import OPEN_PRESETS, games, random_orders

positions = games(st.sampled_from(preset_names()), max_phases=12)


def as_fields(orders):
    return [{"satellite": one.satellite, "action": one.action, "target": one.target} for one in orders]


def by_satellite(orders):
    names = (f"Patrol {one.satellite}" if one.satellite else "HVA" for one in orders)
    return {name: {"action": one.action, "target": one.target} for name, one in zip(names, orders, strict=True)}


DECORATED = {
    "commas": lambda orders: ", ".join(map(str, orders)),
    "semicolons": lambda orders: "; ".join(map(str, orders)),
    "block": lambda orders: "P1 looks weak.\n```text\n{}\n```\nThat is all.".format("\n".join(map(str, orders))),
    "two blocks": lambda orders: "```\nP1 fly\n```\nNo:\n```\n{}\n```".format("\n".join(map(str, orders))),
    "JSON by satellite": lambda orders: json.dumps(dict(str(order).split(" ", 1) for order in orders)),
    "JSON list": lambda orders: json.dumps([str(order) for order in orders], indent=2),
    "JSON objects": lambda orders: f"```json\n{json.dumps({'plan': 'P1 attacks', 'orders': as_fields(orders)})}\n```",
    "JSON nested": lambda orders: json.dumps(by_satellite(orders)),
    "bullets": "- {name} {action}",
    "bold": "* **{long}**: `{action}`",
    "numbered": "{number}. {name} -> {spoken}",
    "table": "| {long} | {spoken} |",
    "quoted": "> {name}: {action}.",
    "CSV": '"{name}","{action}"',
    "capitals": "{NAME} = {ACTION}",
    "remark": "__{name}__ {action} (as planned; it costs fuel)",
    "full names": "{full} {action}",
}
"""How a model might write orders: whole, or each in a line."""


def decorated(orders, form):
    if callable(DECORATED[form]):
        return DECORATED[form](orders)
    lines = []
    for number, order in enumerate(orders, 1):
        name, action = str(order).split(" ", 1)
        names = {"name": name, "NAME": name.upper(), "long": name.replace("P", "Patrol ")}
        names["full"] = f"alpha:Patrol:{name[1:]}" if name != "HVA" else "alpha:HVA:0"
        actions = {"action": action, "ACTION": action.upper(), "spoken": action.replace("_", " ")}
        lines.append(DECORATED[form].format(number=number, **names, **actions))
    return "\n".join(lines)


@pytest.mark.parametrize("form", DECORATED)
@settings(max_examples=8)
@given(game=positions, rng=st.randoms(use_true_random=False))
def test_decorated_orders_are_the_same_orders(form, game, rng):
    options = [orders for orders in game.legal_orders("alpha").values() if len(orders) > 1]
    orders = [rng.choice(each) for each in rng.sample(options, rng.randint(0, len(options)))]
    if orders:
        assert read_answer(decorated(orders, form), game, "alpha") == (tuple(orders), ())


@given(positions, st.sampled_from(["alpha", "bravo"]))
def test_everything_that_is_listed_reads_back(game, side):
    listed = legal_orders_text(game, side)
    legal = {order for orders in game.legal_orders(side).values() for order in orders if order.action != "noop"}
    read = []
    for line in listed.splitlines() if legal else []:
        name, _, options = line.partition(": ")
        for option in options.split("; "):
            read += parse_orders(f"{name}: {option}", game, side)
    assert len(read) == len(legal)
    assert set(read) == legal
    if legal:  # a copy of the list is no choice, except where there is only one order
        answer = read_answer(listed, game, side)
        assert len(answer.orders) + len(answer.problems) >= min(len(legal), MAX_PROBLEMS)


@pytest.mark.parametrize(
    ("answer", "kept", "problem"),
    [
        ("P1 prograde\nP2 jump", "P1 prograde", "order 'P2 jump': 'jump' is not an action"),
        ("none", "", None),
        ("P1 prograde,; P2 retrograde,", "P1 prograde; P2 retrograde", None),
        ("I wait.\nNone.", "", None),
        ("**no orders**", "", None),
        ("P1 prograde; P1 retrograde", "P1 prograde", "order 'P1 retrograde': P1 has an order already"),
        ("P1 \x1b[31mjump", "", "order 'P1 31mjump'"),
        ("P11 prograde", "", "'p11' is not a satellite"),
        ("P3 shoot HVA", "", "alpha P3 shoot HVA: not in the movement phase"),
        ("P4 radial_out", "", "alpha P4 radial_out: ring 4 is the outermost of the board"),
        ("", "", "there is no order in the answer"),
        ("x" * (MAX_ANSWER + 1), "", "an answer must have at most 20,000 characters, got 20,001"),
        ("P1 prograde\nthen Patrol 2 goes retrograde", "P1 prograde", "order 'then p2 goes retrograde'"),
        ("P1, P2: prograde", "P2 prograde", "order 'P1': an order has a satellite, an action"),
        ("P1 prograde, Patrol 2. P3 prograde", "P1 prograde", "order 'P2 p3 prograde'"),
        ("P1 prograde is a bad idea", "", "order 'P1 prograde is a bad idea'"),
        ("P1 prograde\n(P2 retrograde)\nP3 retrograde", "P1 prograde; P2 retrograde; P3 retrograde", None),
        ("P1 prograde (P2 follows)", "", "order 'P1 prograde P2 follows'"),
        ("```\nP1 prograde\nretreat!\n```", "P1 prograde", "order 'retreat'"),
        ("```\n# go\nP1 prograde\n```", "P1 prograde", None),
        ("```\nP1 prograde\nP2 pro", "P1 prograde", "the block that ``` begins has no end"),
        ('{"P1": "prograde", "P2": 7}', "P1 prograde", "order 'P2 p7': 'p7' is not an action"),
        ('{"P1": "prograde", "P1": "retrograde"}', "P1 prograde", "P1 has an order already"),
        ('{"why": "P2 waits", "orders": {"P1": "prograde"}, "Patrol 2": "jump"}', "P1 prograde", "order 'P2 jump'"),
        ('{"orders": ["P1 prograde"], "orders": ["P1 retrograde"]}', "P1 prograde", "P1 has an order already"),
        ('{"satellite": "P1", "action": "prograde", "action": "retrograde"}', "", "order 'P1 prograde retrograde'"),
        ('{"satellite": "P1", "action": "prograde", "P2": "retrograde"}', "", "order 'P1 prograde P2'"),
        ('[{"satellite": ["P1", "P2"], "action": "prograde"}]', "", "'list' is not a satellite"),
        ("bravo:Patrol:1 prograde\nP2 prograde", "P2 prograde", "'bravo_p1' is not a satellite of alpha"),
        ("P1 prograde\nnone", "P1 prograde", '"none" means that everything holds, but there are orders'),
    ],
)
def test_what_is_not_understood_is_reported_and_the_rest_is_kept_or_refused(answer, kept, problem):
    game = Game("geo_patrol", seed=0)
    orders, problems = read_answer(answer, game, "alpha")
    assert "; ".join(map(str, orders)) == kept
    if problem is None:
        assert not problems
        return
    assert problem in problems[0]
    with pytest.raises(OrderError, match=re.escape(problem)):
        parse_orders(answer, game, "alpha")


@pytest.mark.parametrize(
    "answer", ["P1 jump\n" * 2_000, "[" * MAX_ANSWER, '{"a":' * 3_000, "(" * MAX_ANSWER, "P" * MAX_ANSWER]
)
def test_reports_are_bounded(answer):
    orders, problems = read_answer(answer, Game("case1", seed=0), "alpha")
    assert not orders
    assert 0 < len(problems) <= MAX_PROBLEMS
    assert all(len(problem) < 300 for problem in problems)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.one_of(st.text(max_size=300), st.from_regex(r"(?i)(hva|p\d+)[ :]+[a-z_ ]+(hva|p\d*)?\n")))
def test_any_other_text_is_refused_with_one_clear_line(text):
    game, message = Game("case1", seed=0), ""
    try:
        orders = parse_orders(text, game, "alpha")
    except OrderError as error:
        orders, message = (), str(error)
    assert all(game.is_legal("alpha", order) for order in orders)
    assert message.isprintable()
    assert len(message) <= 480


@settings(max_examples=20)
@given(games(st.sampled_from(OPEN_PRESETS), max_phases=12))
def test_a_position_is_the_same_text_for_both_sides_but_for_its_point_of_view(game):
    """Nothing is hidden, so what alpha reads of bravo is what bravo reads of itself; random numbers to come are not shown."""
    alpha, bravo = observe_text(game, "alpha"), observe_text(game, "bravo")
    assert observe_text(game.fork(seed=5), "alpha") == alpha
    own, enemy = (text.split("Your satellites:\n")[1].split("The enemy's satellites") for text in (alpha, bravo))
    assert own[0].strip() in bravo
    assert enemy[0].strip() in alpha
    for outcome in game.outcomes:
        assert f"{outcome.actor.side} {outcome.actor.short} " in alpha


def test_an_agent_is_asked_again_with_the_reason():
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return "none" if "could not be read" in prompt else "P1 jump"

    agent = TextAgent(model)
    total = play_match(agent, "idle", config="case1", games=2, seed=0).summary().total
    assert total.illegal_orders == (0, 0)
    assert agent.prompts == len(prompts) == 2 * sum("could not be read" in prompt for prompt in prompts)
    assert "Your last answer could not be read: order 'P1 jump': 'jump' is not an action" in prompts[1]
    assert agent.forfeited_phases == 0


@pytest.mark.parametrize("retries", [0, 2])
def test_phases_without_a_readable_answer_are_counted(retries):
    agent = TextAgent(lambda _: "I do not know.", retries=retries)
    total = play_match(agent, "idle", games=2, seed=0).summary().total
    assert total.illegal_orders == (agent.forfeited_phases, 0)
    assert agent.prompts == (1 + retries) * agent.forfeited_phases > 0


def test_an_agent_may_play_what_could_be_read():
    agent = TextAgent(lambda _: "HVA noop\nP1 jump", on_bad_lines="skip")
    total = play_match(agent, "idle", config="duel", games=2, seed=0).summary().total
    assert total.illegal_orders == (0, 0)
    assert agent.skipped_lines == agent.prompts > 0


def test_the_phases_since_the_last_prompt_are_told():
    game = Game("case1", seed=3)
    phases = [game.step("P1 prograde; P2 radial_in", "P3 radial_in")]
    text = observe_text(game, "bravo", phases)
    assert "What happened in turn 1, movement:\n- enemy (alpha): P1 prograde (to " in text
    assert "- you (bravo): P3 radial_in (to " in text
    phases.append(game.step())
    text = observe_text(game, "alpha", phases)
    assert text.index("turn 1, movement:") < text.index("turn 1, engagement:\n- no attacks\n- scored: you ")


@settings(max_examples=20)
@given(st.sampled_from(["case1", "geo_patrol", "skirmish"]), st.integers(0, 99))
def test_shots_and_losses_are_told_whole(preset, seed):
    game, rng = Game(preset, seed=seed), np.random.default_rng(seed)
    for _ in range(20):
        if game.is_over:
            break
        phase = game.step(**random_orders(game, rng))
        text = observe_text(game, "alpha", [phase])
        lost = [
            f"- lost: {side} {after.id.short} "
            for side in ("alpha", "bravo")
            for before, after in zip(phase.before.satellites(side), phase.after.satellites(side), strict=True)
            if before.fuel and not after.fuel
        ]
        assert all(line in text for line in lost)
        assert text.count("- lost: ") == len(lost)
        assert text.count("%") == sum(outcome.attacker is not None for outcome in phase.outcomes)


def test_the_rules_are_in_the_system_text_and_nowhere_else():
    game = Game("geo_patrol", seed=1)
    assert rules_text(game) in system_text(game)
    assert "Board: rings" not in turn_text(game, "alpha")
    assert prompt_text(game, "alpha") == f"{system_text(game)}\n\n{turn_text(game, 'alpha')}"
    assert "An illegal order loses the game" in rules_text(Game("geo_patrol", overrides={"illegal_orders": "forfeit"}))


@pytest.mark.parametrize("side", ["alpha", "bravo"])
@pytest.mark.parametrize("reward", ["outcome", "score"])
def test_rewards_are_those_of_the_gymnasium_environment(side, reward):
    """Against an opponent without chance, the same orders and the same seed are the same game."""
    text = TextGame("case1", "turtle", side, reward=reward, seed=5)
    env = SoloGeoPatrol("case1", opponent="turtle", seat=side, reward=reward)
    env.reset(seed=5)
    while not text.is_over:
        assert text.game.is_same_position(env.game())
        listed = text.prompt.partition("Legal orders:\n")[2].partition("\n\n")[0]
        answer = "\n".join(line.partition(";")[0] for line in listed.splitlines())
        orders = order_codes(parse_orders(answer, text.game, side), side)
        earned = text.answer(answer)
        _, expected, over, _, _ = env.step(np.array(orders))
        while not over and not env.game().is_same_position(text.game):  # phases in which the side can only hold
            _, more, over, _, _ = env.step(np.zeros(11, np.int64))
            expected += more
        assert earned == expected
        assert over == text.is_over
    assert text.outcome in (-1, 0, 1)
    assert text.unreadable == 0
    assert "The game is over: " in text.prompt
    with pytest.raises(ValueError, match="the game is over"):
        text.answer("none")


@pytest.mark.parametrize("side", ["alpha", "bravo"])
def test_a_side_that_forfeits_every_phase_earns_what_one_that_holds_earns(side):
    """Where illegal orders do nothing."""
    played = []
    for answer in ("P1 should fly to the moon and shoot everything.", "none"):
        text = TextGame("case1", "turtle", side, reward="score", seed=3)
        start, earned = text.score_difference, 0.0
        while not text.is_over:
            earned += text.answer(answer)
        assert start + earned == text.score_difference
        played.append((text.outcome, text.score_difference, earned))
        assert text.unreadable == (0 if answer == "none" else text.answers)
    assert played[0] == played[1]


def test_an_answer_that_cannot_be_read_changes_nothing_until_the_phase_is_forfeited():
    text = TextGame("case1", "idle", "bravo", seed=0, retries=1)
    start = text.game
    assert text.answer("Let me think.") == 0
    assert text.game.is_same_position(start)
    assert "Your last answer could not be read: there is no order in the answer" in text.prompt
    text.answer("P1 jump")
    assert not text.game.is_same_position(start)
    assert text.prompt.endswith("'jump' is not an action; actions are " + ", ".join((*MOVES, *ENGAGEMENTS)))
    assert "so you forfeited the phase" in text.prompt
    assert "- you (bravo): 1 illegal order" in text.prompt
    assert (text.answers, text.unreadable, text.forfeited_phases) == (2, 2, 1)


def test_what_was_skipped_is_told():
    text = TextGame("case1", "idle", "alpha", seed=0, on_bad_lines="skip")
    text.answer("P1 prograde\nP2 jump")
    assert "- you (alpha): P1 prograde (to " in text.prompt
    assert "Your last answer was played without what could not be read: order 'P2 jump'" in text.prompt
    assert (text.unreadable, text.skipped_lines) == (0, 1)


def test_prompts_have_the_values_of_the_game():
    prompt = prompt_text(Game("case4"), "bravo")
    assert "4 Patrols with 80 fuel and 3 ammo" in prompt
    single = Game("case4", overrides={"bravo.patrols.single.4.fuel": 90, "bravo.patrols.single.5.fuel": 70})
    assert "4 Patrols with 80 fuel and 3 ammo, but P4 with 90 fuel and 3 ammo" in prompt_text(single, "bravo")
    assert "P5 with" not in prompt_text(single, "bravo")
    assert "You are bravo." in prompt
    assert len(prompt) < 6_000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TextAgent(str, retries=-1), "retries must be a non-negative integer, got -1"),
        (lambda: TextAgent(str, on_bad_lines="warn"), "on_bad_lines must be 'error' or 'skip', got 'warn'"),
        (lambda: observe_text(Game("case1"), "gamma"), "got 'gamma'"),
        (lambda: read_answer("none", Game("case1"), "gamma"), "got 'gamma'"),
        (lambda: TextGame("case1", side="gamma"), "side must be 'alpha' or 'bravo', got 'gamma'"),
        (lambda: TextGame("case1", reward="points"), "reward must be 'outcome' or 'score', got 'points'"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises((ValueError, OrderError), match=message):
        make()


def test_example_of_the_module():
    result = doctest.testmod(textplay)
    assert result.attempted == 3
    assert result.failed == 0


def test_a_phase_that_was_forfeited_earlier_is_not_told_again():
    text = TextGame("case1", "idle", "alpha", seed=0, retries=0, on_bad_lines="skip")
    text.answer("Let me think.")
    assert "so you forfeited the phase" in text.prompt
    while not text.game.legal_orders("alpha")[1]:
        text.answer("none")
    text.answer(f"{text.game.legal_orders('alpha')[1][-1]}\nP2 jump")
    assert "Your last answer was played without what could not be read" in text.prompt
