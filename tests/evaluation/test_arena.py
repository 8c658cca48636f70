"""The arena: its population is frozen, results repeat, and files of strangers are checked."""

import json
from contextlib import contextmanager

import pytest

from geo_patrol.agents.files import collect_files, local_name, mentioned_files, unpack_files
from geo_patrol.cli import options
from geo_patrol.cli.arena import arena as arena_command
from geo_patrol.evaluation import arena
from geo_patrol.evaluation.arena import (
    Arena,
    ArenaError,
    CellResult,
    Score,
    differences,
    play_arena,
    read_arena,
    read_result,
)

FINGERPRINTS = {
    "random": "2b6e3ce24679c42d",
    "idle": "e68aca9e07602b0a",
    "turtle": "384e8fa01fdbd258",
    "raider": "0529c1cfd98a5544",
    "raider, 3 defenders": "d5b76f082bf22f19",
    "raider, cheap paths": "7d02fe160d674674",
    "scripted": "1968e6f838b3d6fd",
    "found script 1": "6747215382ae64e9",
    "search of scripts": "52dc0214bac47713",
    "policy 1": "800ac2f65c3e462c",
    "policy 2": "0f82f3a4a8db1c17",
    "policy 3": "5c1cad81a00fc098",
    "raider, 7 defenders": "c1bb2cb4461c6c31",
    "found script 2": "e7b23df97ba7264c",
    "found script 3": "02332fd0ffd092c9",
    "policy 2, greedy": "c25c17c0469f0ce4",
    "policy 4": "f7e4e4310b1f3c1c",
    "policy 5": "5683793e2402100d",
    "search with policy 4": "08593ec75540fe0f",
}
"""What every opponent is known by. They never change within a version of the arena."""


@pytest.fixture
def small_arena(monkeypatch):
    """Two visible opponents and a held-out one on a small board."""
    boards = [{"name": "duel"}, {"name": "little ammo", "config": "duel", "overrides": {"both.patrols.ammo": 0}}]
    opponents = [{"name": "random"}, {"name": "one", "agent": "raider:defenders=0"}, {"name": "idle", "held_out": True}]
    small = Arena.model_validate(
        {
            "version": 1,
            "seed": 5,
            "games": 8,
            "quick_games": 4,
            "quick_boards": ["duel"],
            "boards": boards,
            "opponents": opponents,
        }
    )
    monkeypatch.setattr(arena, "read_arena", lambda: small)
    return small


@pytest.mark.slow
@pytest.mark.parametrize("opponent", read_arena().opponents, ids=lambda opponent: opponent.name)
def test_the_population_is_frozen(opponent):
    assert arena.fingerprint(opponent) == FINGERPRINTS[opponent.name]


def test_a_part_of_opponents_and_of_boards_is_held_out():
    for members in (read_arena().opponents, read_arena().boards):
        assert 0 < sum(one.held_out for one in members) < len(members) / 2
        assert len({one.name for one in members}) == len(members)


def test_every_opponent_is_played_on_every_board_and_the_result_is_read_back(small_arena, tmp_path):
    result = play_arena("turtle", processes=1)
    assert [(cell.board, cell.opponent) for cell in result.cells] == [
        (board.name, opponent.name) for board in small_arena.boards for opponent in small_arena.opponents
    ]
    assert {cell.games for cell in result.cells} == {8}
    assert [cell.held_out for cell in result.cells] == 2 * [False, False, True]
    (tmp_path / "result.json").write_text(json.dumps(result.to_dict()))
    assert differences(read_result(tmp_path / "result.json"), result) == []


def test_the_quick_form_has_fewer_boards_and_games_and_what_differs_is_told(small_arena):
    turtle, idle = (play_arena(agent, quick=True, processes=1) for agent in ("turtle", "idle"))
    assert {cell.board for cell in turtle.cells} == {"duel"}
    assert {cell.games for cell in turtle.cells} == {4}
    assert any(line.startswith("one on duel: ") for line in differences(turtle, idle))


@pytest.mark.slow
def test_a_result_repeats_wherever_the_agents_file_is(small_arena, tmp_path):
    code = (
        "import numpy as np\nfrom geo_patrol.agents import RandomAgent\nclass Mine(RandomAgent):\n    name = 'mine'\n"
    )
    results = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.py").write_text(code)
        results.append(play_arena(f"{tmp_path / folder / 'bot.py'}:Mine", quick=True, processes=1))
    assert results[0].cells == results[1].cells
    assert list(results[0].files.values()) == list(results[1].files.values())


def test_scores_are_means_of_cells_and_draws_count_one_half():
    same = {"opponent": "a", "board": "b", "held_out": False, "games": 4, "standard_error": 0.1, "score_as_alpha": 0}
    cells = [CellResult(**same, wins=4, draws=0, score=1.0), CellResult(**same, wins=0, draws=2, score=0.25)]
    score = Score.of(cells)
    assert score.score == 0.625
    assert score.high - score.low == pytest.approx(2 * 1.96 * 0.1 / 2**0.5, rel=1e-3)


def test_a_cell_that_was_won_throughout_is_not_certain(small_arena):
    result = play_arena("scripted", processes=1)
    won = [cell for cell in result.cells if cell.wins == cell.games]
    assert won
    assert all(cell.standard_error > 0 for cell in won)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": 3}, "cells must be a list, got "),
        ({"arena": 99}, "a result of arena 99: this version has arena 1"),
        ({"extra": 1}, "extra = 1: there is no such key"),
        ({"format": "geo_patrol match"}, "format must be 'geo_patrol arena', got "),
    ],
)
def test_other_files_are_refused(small_arena, tmp_path, change, message):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**play_arena("idle", quick=True, processes=1).to_dict(), **change}))
    with pytest.raises(ArenaError, match=message):
        read_result(path)


def test_large_files_are_refused(tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(b" " * (1 << 21))
    with pytest.raises(ArenaError, match="larger"):
        read_result(path)


def test_the_files_of_all_opponents_travel_to_a_cluster(tmp_path, monkeypatch):
    """Where they are on this machine says nothing about the nodes."""
    bot, asked = tmp_path / "bot.py", []
    bot.write_text("")

    @contextmanager
    def open_workers(title, ray, agents, **_):
        asked.extend(agents)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(options, "open_workers", open_workers)
    monkeypatch.setattr(options, "check_workers", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        arena_command(agent="scripted", playing=options.Playing(ray="auto"))
    files = collect_files([*asked, f"{bot}:Bot"])
    monkeypatch.setenv("GEO_PATROL_AGENT_FILES", "")  # restores what it was
    with unpack_files(files):
        for name in read_arena().agents("scripted"):
            for path in mentioned_files([name]).values():
                assert files.contents[files.paths[str(path)]] == path.read_bytes()
                assert str(path) not in local_name(name)
    assert local_name(f"{bot}:Bot") == f"{bot}:Bot"  # whose copy is gone
