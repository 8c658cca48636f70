"""The text game: its dialogue, hidden orders, and saved games."""

import re

import numpy as np
import pytest

from geo_patrol import AgentError, Game, Order, load_config, make_agent
from geo_patrol.agents import basic
from geo_patrol.cli.play import GameSaver
from geo_patrol.game.text import board_text
from geo_patrol.play import text_game as textplay
from geo_patrol.play.advice import Hint
from geo_patrol.play.live import LiveGame
from geo_patrol.play.text_game import OrderDialogue, Quit, play_text
from geo_patrol.replays import check, read_replay
from geo_patrol.replays.files import unfinished_game
from tests.support.console import Script
from tests.support.positions import arrange
from tests.support.strategies import small

ILLEGAL = "Invalid selection. Please select a legal action"


def orders(game, side, *answers):
    """Return the orders that answers lead to, as texts, and the output."""
    script = Script(*answers)
    entered = [str(order) for order in OrderDialogue(script.console, game, side).run()]
    assert script.answers == []
    return entered, script.text


@pytest.fixture
def close():
    """A position in which everybody can do something: bravo's P1 next to alpha's HVA and its guards."""
    config = small(2, preset="geo_patrol")
    return arrange(config, {0: 15, 1: (16, 9), 2: 15}, {0: 23, 1: 15, 2: 16})


def test_numbers_of_orders_are_those_of_the_book(close):
    game = Game(small(2), seed=1)
    entered, output = orders(game, "alpha", "1", "2", "3", "")
    assert entered == ["HVA prograde", "P1 retrograde", "P2 radial_in"]
    assert "Turnphase: movement\nToken: alpha:HVA:0" in output
    assert " 0 - NOOP\n 1 - Prograde     5 fuel, to sector 16\n 2 - Retrograde   5 fuel, to sector 30" in output
    entered, output = orders(close, "alpha", "1", "1", "3", "")
    assert entered == ["P1 shoot P1", "P2 guard"]
    assert " 3 - Guard        5 fuel, 80% for the first attack" in output


def test_wrong_numbers_are_refused_with_the_words_of_the_book():
    game = Game(small(1), seed=1)
    undecodable = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    wrong = ("4", "9", "-1", "", "½", "1" * 5000, "P1 prograde", undecodable)
    entered, output = orders(game, "bravo", *wrong, "1", "0", "")
    assert entered == ["HVA prograde"]
    assert output.count(ILLEGAL) == 1  # radial out, from the outermost ring
    assert output.count("Invalid selection. Please select one of these: 0, 1, 2, 3 (? for help)") == 7


def test_targets_are_listed_with_range_cost_and_odds(close):
    entered, output = orders(close, "alpha", "0", "1", "7", "x", "3", "11", "2", "")
    assert entered == ["P2 shoot P2"]
    assert " 1 - bravo:Patrol:1  same sector       5 fuel, 80%   (it has fuel 100, ammo 1)" in output
    assert " 2 - bravo:Patrol:2  adjacent sector   7 fuel, 40%" in output
    assert output.count(ILLEGAL) == 2  # enemies that are out of range or do not exist: 7 and 3
    assert output.count("Invalid selection. Please select one of these: 1, 2\n") == 2


def test_only_what_can_be_paid_is_offered(close):
    _, output = orders(close, "alpha", "?", "2", "3", "1", "p2", "0", "")
    assert output.count(ILLEGAL) == 2  # with 9 fuel P1 can neither collide nor guard from here
    p1 = output.split("Token: alpha:Patrol:1")[1].split("Select action:")[0]
    assert "Collide" not in p1
    assert "Guard" not in p1
    assert "1 - Shoot      5 or 7 fuel, 80% or 40%, 2 targets" in p1
    assert "Answer with a number of the list" in output


def test_orders_may_be_typed_in_words(close):
    entered, _ = orders(close, "alpha", "shoot p1", "guard", "")
    assert entered == ["P1 shoot P1", "P2 guard"]
    entered, output = orders(close, "alpha", "shoot", "hva", "2", "shoot hva", "collide", "p1", "")
    assert output.count(ILLEGAL) == 2  # the enemy HVA is far away
    assert entered == ["P1 shoot P2", "P2 collide P1"]
    entered, _ = orders(Game(small(1), seed=1), "alpha", "radial in", "Radial-In", "")
    assert entered == ["HVA radial_in", "P1 radial_in"]


def test_undo_until_the_orders_are_committed(close):
    game = Game(small(2), seed=1)
    entered, output = orders(game, "alpha", "u", "1", "2", "u", "u", "3", "0", "u", "1", "2", "u", "1", "")
    assert entered == ["HVA radial_in", "P1 prograde", "P2 prograde"]
    assert "There is nothing to undo in this phase." in output
    assert "Undone: P1 retrograde" in output
    assert "MOVEMENT orders for 20 fuel:\n    alpha: HVA radial_in, P1 prograde, P2 prograde" in output
    entered, _ = orders(game, "alpha", "1", "1", "1", "r", "0", "0", "2", "nonsense", "y")
    assert entered == ["P2 retrograde"]
    entered, _ = orders(close, "alpha", "1", "u", "0", "0", "")  # u among the targets: another action
    assert entered == []


def test_one_answer_for_the_rest(close):
    game = Game(small(3), seed=1)
    assert orders(game, "alpha", "all radial in", "")[0] == [f"{name} radial_in" for name in ("HVA", "P1", "P2", "P3")]
    assert orders(game, "alpha", "1", "rest", "")[0] == ["HVA prograde"]
    assert orders(game, "alpha", "1", "all hold", "")[0] == ["HVA prograde"]
    assert orders(game, "alpha", "0", "prograde", "again", "rest", "")[0] == []
    entered, output = orders(game, "alpha", "all guard", "all", "o", "b", "rest", "")
    assert entered == []
    assert "all guard: it must be an action of this phase that takes no target" in output
    assert "alpha so far: no orders" in output
    assert "GEO Patrol | turn 1, movement" in output
    assert orders(close, "alpha", "all guard", "")[0] == ["P2 guard"]  # P1 cannot pay for it


def test_satellites_without_a_choice_are_not_prompted():
    game = Game("geo_patrol", seed=1)
    game.step()
    entered, output = orders(game, "alpha")
    assert entered == []
    assert output == "\nNo token of alpha has a choice in this engagement phase."


@pytest.mark.parametrize("answers", [("1", "quit"), ("1",)])
def test_leaving(answers):
    with pytest.raises(Quit):
        orders(Game("case1", seed=1), "alpha", *answers)


# Whole games


def play(target, agents, *answers, config="case1", seed=3):
    """Play a text game with answers; return the output."""
    script = Script(*answers)
    seated = tuple(None if name is None else make_agent(name) for name in agents)
    live = LiveGame(load_config(config), seated, seed)
    with GameSaver.create(str(target), live):
        play_text(live, script.console)
    return script.text


def endless(*first):
    """Answers that end every phase at once, after some others."""
    return [*first, *["rest", ""] * 200]


def test_a_game_against_an_agent_to_its_end(tmp_path):
    path = tmp_path / "game.jsonl"
    text = play(path, (None, "scripted"), *endless("9", "1", "u"))
    replay = read_replay(path)
    assert check(replay) is None
    assert replay.is_finished
    assert replay.agents == ("person", "scripted")
    assert "ENGAGEMENT OUTCOMES:" in text
    assert text.splitlines()[-1].startswith(f"scripted (bravo) wins in turn {replay.end.turns}, ")
    assert "bravo: P" in text  # what the other side did is printed afterwards


def test_two_people_at_one_keyboard_do_not_see_each_others_orders(tmp_path):
    answers = []
    for side in "ab":
        answers += ["", "radial in" if side == "a" else "prograde", "rest", ""]
    script = Script(*answers)
    with pytest.raises(Quit):
        play_text(LiveGame(small(2), (None, None), 3), script.console)
    first, second, results, *_ = re.split("\n{50,}", script.text)
    assert "alpha, turn 1, movement: press Enter when you sit alone." in first
    assert "bravo, turn 1, movement: press Enter when you sit alone." in second
    assert "alpha: HVA radial_in" in first
    assert "alpha: HVA radial_in" not in second
    assert "alpha: HVA radial_in" in results
    assert "bravo: HVA prograde" in results


def test_an_interrupted_game_is_resumed_where_it_was(tmp_path):
    whole, path = tmp_path / "whole.jsonl.gz", tmp_path / "part.jsonl.gz"
    play(whole, (None, "random"), *endless("1"))
    with pytest.raises(KeyboardInterrupt):
        play(path, (None, "random"), "1", "rest", "", "rest", "", "rest", KeyboardInterrupt())
    interrupted = unfinished_game(path)
    assert len(interrupted.phases) >= 2
    before = path.read_bytes()
    path.write_bytes(before[:-3])  # a crash in the middle of a phase
    with GameSaver.resume(path) as saver:
        play_text(saver.live, Script(*endless()).console)
    finished = read_replay(path)
    assert finished.is_finished
    assert check(finished) is None
    assert [phase.codes.tolist() for phase in finished.phases] == [
        phase.codes.tolist() for phase in read_replay(whole).phases
    ]
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_errors_end_the_game(tmp_path, monkeypatch):
    path = tmp_path / "game.jsonl"
    calls = []

    def act(self, observations, action_masks, generator):
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("no idea")
        return np.zeros((1, 11), np.int64)

    monkeypatch.setattr(basic.IdleAgent, "act", act)
    with pytest.raises(AgentError, match="agent 'idle': act raised RuntimeError: no idea"):
        play(path, (None, "idle"), *endless())
    assert len(read_replay(path).phases) == 2


def test_a_hint_is_printed_and_taken(monkeypatch):
    game = Game("case1", seed=3)
    suggested = Hint((Order.parse("P2 prograde"),), 0.75, 1200)
    monkeypatch.setattr(textplay, "find_hint", lambda *_: suggested)
    entered, text = orders(game, "alpha", "take", "hint", "rest", "undo", "hint", "t", "")
    assert entered == ["P2 prograde"]
    assert "Ask for a hint first." in text
    assert "hint: P2 prograde" in text
    assert "won 75% of 1,200 games" in text


def test_the_board_carries_the_numbers_of_its_sectors():
    game = Game("case1", seed=3)
    board = board_text(game, with_sectors=True)
    shown = {int(number) for number in re.findall(r"(?<![a-z\d])\d+", board)}
    rings = game.config.board
    assert shown == set(range((1 << rings.inner_ring) - 1, (2 << rings.outer_ring) - 1))
    _, text = orders(game, "alpha", "b", "rest", "")
    assert board in text
    assert board not in board_text(game)
