"""Seats played by text: every legal order reads back, nothing else is accepted, and agents that talk nonsense are counted."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geo_patrol import Game, OrderError, load_config, play_match, preset_names, textplay
from geo_patrol.textplay import MAX_ANSWER, TextAgent, legal_orders_text, observe_text, parse_orders, prompt_text


def later(preset, seed, phases):
    """Return a game after some phases of random legal orders."""
    game, rng = Game(preset, seed=seed), np.random.default_rng(seed)
    for _ in range(phases):
        if game.is_over:
            break
        orders = [
            [options[rng.integers(len(options))] for options in game.legal_orders(side).values()]
            for side in ("alpha", "bravo")
        ]
        game.step(*orders)
    return game


positions = st.builds(later, st.sampled_from(preset_names()), st.integers(0, 99), st.integers(0, 12))


@settings(max_examples=40, deadline=None)
@given(positions, st.sampled_from(["alpha", "bravo"]), st.randoms(use_true_random=False))
def test_every_legal_order_is_listed_and_reads_back(game, side, rng):
    """So an answer with any of the listed orders, in any of the forms that people write, is read as these orders."""
    listed = {}
    for line in legal_orders_text(game, side).splitlines():
        name, _, options = line.partition(": ")
        if name != "None":
            listed[name] = [option.partition(" (")[0] for option in options.split("; ")]
    legal = {
        orders[0].satellite: [order for order in orders if order.action != "noop"]
        for orders in game.legal_orders(side).values()
    }
    assert sum(map(len, listed.values())) == sum(map(len, legal.values()))
    chosen, lines = [], ["Let me think: the enemy is near."]
    for number, orders in legal.items():
        if orders:
            order = rng.choice(orders)
            assert str(order).split(" ", 1)[1] in listed[str(order).split(" ", 1)[0]]
            form = rng.choice(["{0} {1}", "- {0}: {1}", "* **{0}** {1}.", "{2}. {0} - {1}", "  {0} = {1},"])
            name, action = str(order).split(" ", 1)
            lines.append(form.format(name, action.replace("_", " "), number))
            chosen.append(order)
    if chosen:
        assert parse_orders("\n".join(lines), game, side) == tuple(chosen)
        assert parse_orders("P1 fly\n```\n" + "; ".join(map(str, chosen)) + "\n```", game, side) == tuple(chosen)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), st.from_regex(r"(?i)(hva|p\d+)[ :]+[a-z_ ]+(hva|p\d*)?\n")))
def test_any_other_text_is_refused_with_one_clear_line(text):
    game, message = Game("case1", seed=0), ""
    try:
        orders = parse_orders(text, game, "alpha")
    except OrderError as error:
        orders, message = (), str(error)
    assert all(game.is_legal("alpha", order) for order in orders)
    assert message.isprintable()
    assert len(message) < 300


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "there is no order in the answer"),
        ("x" * (MAX_ANSWER + 1), "an answer must have at most 20,000 characters, got 20,001"),
        ("P3 shoot HVA", "alpha P3 shoot HVA: not in the movement phase"),
        ("P4 radial_out", "alpha P4 radial_out: ring 4 is the outermost of the board"),
        ("P1 prograde; P1 retrograde", "order 'P1 retrograde': P1 has an order already"),
        ("P1 jump", "order 'P1 jump': 'jump' is no action"),
        ("P1 \x1b[31mjump", r"order 'P1 \\x1b[31mjump'"),
        ("P11 prograde", "'p11' is no satellite"),
    ],
)
def test_messages_name_the_order_and_what_is_wrong(answer, message):
    with pytest.raises(OrderError) as raised:
        parse_orders(answer, Game("geo_patrol", seed=0), "alpha")
    assert message in str(raised.value)


@pytest.mark.parametrize("answer", ["none", "I wait.\nNone.", "**no orders**"])
def test_holding_has_to_be_explicit(answer):
    assert parse_orders(answer, Game("geo_patrol"), "bravo") == ()


@settings(max_examples=20, deadline=None)
@given(positions)
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
    assert "Your last answer could not be read: order 'P1 jump': 'jump' is no action" in prompts[1]
    assert agent.forfeited_phases == 0


@pytest.mark.parametrize("retries", [0, 2])
def test_phases_without_a_readable_answer_are_counted(retries):
    agent = TextAgent(lambda _: "I do not know.", retries=retries)
    total = play_match(agent, "idle", games=2, seed=0).summary().total
    assert total.illegal_orders == (agent.forfeited_phases, 0)
    assert agent.prompts == (1 + retries) * agent.forfeited_phases > 0


def test_a_configuration_can_make_them_lose_the_game():
    config = load_config("geo_patrol", {"illegal_orders": "forfeit"})
    result = play_match(TextAgent(lambda _: "?"), "idle", config=config, games=2, seed=0)
    assert result.summary().total.losses == 2


def test_prompts_have_the_values_of_the_game():
    prompt = prompt_text(Game("case4"), "bravo")
    assert "4 Patrols with 80 fuel and 3 ammo" in prompt
    assert "You are bravo." in prompt
    assert len(prompt) < 6_000


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"retries must be a non-negative integer, got -1"):
        TextAgent(str, retries=-1)
    with pytest.raises(OrderError, match="got 'gamma'"):
        observe_text(Game("case1"), "gamma")


def test_example_of_the_module():
    result = doctest.testmod(textplay)
    assert result.attempted == 3
    assert result.failed == 0
