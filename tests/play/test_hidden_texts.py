"""Texts of games that hide enemies."""

import pytest

from geo_patrol import Game, load_config, make_agent
from geo_patrol.play.live import LiveGame
from geo_patrol.play.telling import rules_text
from geo_patrol.play.text_game import Quit, TextGame, observe_text, play_text, read_answer
from tests.support.console import Script

CONFIG = "geo_patrol_hidden"


def later(phases=3):
    game = Game(CONFIG, seed=1)
    for _ in range(phases):
        phase = game.step(bravo="P1 radial_in" if game.phase == "movement" else None)
    return game, phase


def test_a_position_says_when_enemies_were_seen():
    game, phase = later()
    text = observe_text(game, "alpha", [phase])
    assert "- P1: out of sight since turn 1, by drifting in sector 22, ring 4, 99 fuel, 1 ammo" in text
    assert "- enemy (bravo): no moves that you saw" in text
    assert f"enemy {game.seen_by('alpha').scores['bravo']} by what you know" in text
    assert "out of sight" not in observe_text(game, "bravo").split("The enemy's")[0]
    assert "radial_in" in observe_text(game, "bravo", [phase])


def test_the_rules_say_how_far_the_sides_see():
    assert "A side sees enemies within 2 steps of one of its satellites" in rules_text(Game(CONFIG, seed=1))
    assert "Sight" not in rules_text(Game("geo_patrol", seed=1))
    one = Game(load_config("geo_patrol", {"bravo.sensor_range": 1}), seed=1)
    assert "alpha everything; bravo enemies within 1 step of" in rules_text(one)


def test_an_answer_against_an_enemy_out_of_sight_says_nothing_of_where_it_is():
    game = Game(CONFIG, seed=1)
    game.step()
    problems = read_answer("P1 shoot P3", game, "alpha").problems
    assert problems == ("alpha P1 shoot P3: bravo:Patrol:3 is out of sight; it was last seen in turn 1",)


def test_a_conversation_is_about_what_the_side_knows():
    game = TextGame(CONFIG, "raider", "alpha", seed=3, reward="score")
    before = game.score_difference
    reward = game.answer("none")
    assert reward == game.score_difference - before
    scores = game.game.seen_by("alpha").scores
    assert game.score_difference == scores["alpha"] - scores["bravo"]
    while not game.is_over:
        game.answer("none")
    scores = game.game.scores
    assert game.score_difference == scores["alpha"] - scores["bravo"]


def session(agents, *answers):
    """Play at a terminal by some answers, and return all that is written."""
    script = Script(*answers)
    with pytest.raises(Quit):
        play_text(LiveGame(load_config(CONFIG), agents, 5), script.console)
    return script.output


def test_a_person_at_the_terminal_is_told_what_its_side_knows():
    text = "\n".join(session((None, make_agent("raider")), "rest", "", "rest", ""))
    assert "last seen in turn 1" in text
    assert "bravo: no orders" in text


def test_two_people_at_one_screen_are_told_when_they_sit_alone():
    # Both HVAs move; then alpha sits alone again, and has nothing to choose.
    written = session((None, None), "", "prograde", "rest", "", "", "radial in", "rest", "", "", "")
    hidden = [i for i, text in enumerate(written) if "\n" * 60 in text]
    assert len(hidden) == 3
    of_alpha, of_bravo, told, _ = (
        "\n".join(written[start:end]) for start, end in zip([0, *hidden], [*hidden, len(written)], strict=False)
    )
    assert "alpha: HVA prograde" in of_alpha
    assert "HVA prograde" not in of_bravo
    assert "alpha: HVA prograde" in told
    assert "radial_in" not in told
    assert "No token of alpha has a choice" in told
