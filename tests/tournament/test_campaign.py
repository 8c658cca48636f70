"""Tournaments, sequential tests and sweeps: the same games whoever plays them, kept when they are killed."""

import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import AgentError, ConfigError, play_match
from geo_patrol.agents.match import CHUNK_PAIRS
from geo_patrol.agents.results import DRAW, PER_GAME
from geo_patrol.ratings import Sprt
from geo_patrol.tournament import FolderError, play_sprt, play_sweep, play_tournament
from geo_patrol.tournament.journal import GAMES, PLAN
from geo_patrol.tournament.pool import usable_cores

OWN = Path(__file__).parents[1] / "agents" / "own_agents.py"
SETTINGS = {"config": "case4", "games": 2 * CHUNK_PAIRS + 4, "seed": 5}
AGENTS = ("scripted", "random", "idle")


def tables(tournament):
    return json.dumps(tournament.to_dict())


@pytest.fixture(scope="module")
def tournament(tmp_path_factory):
    return play_tournament(AGENTS, **SETTINGS, processes=2, folder=tmp_path_factory.mktemp("whole"))


def test_every_pairing_is_the_match_of_that_seed(tournament):
    for (first, second), match in zip(tournament.pairings, tournament.matches, strict=True):
        alone = play_match(AGENTS[first], AGENTS[second], **SETTINGS)
        assert match.agents == alone.agents
        for field in PER_GAME:
            np.testing.assert_array_equal(getattr(match, field), getattr(alone, field))


def test_tables_count_what_was_played(tournament):
    match = tournament.matches[1]  # scripted against idle
    as_alpha = match.winner[match.first_side == 0]
    as_bravo = match.winner[match.first_side == 1]
    assert tournament.counts[0, 2].tolist() == [(as_alpha == 0).sum(), (as_alpha == DRAW).sum(), (as_alpha == 1).sum()]
    assert tournament.counts[2, 0].tolist() == [(as_bravo == 1).sum(), (as_bravo == DRAW).sum(), (as_bravo == 0).sum()]
    summary = match.summary()
    for side, tally in ((0, summary.as_alpha), (1, summary.as_bravo), (None, summary.total)):
        record = tournament.record(0, 2, side)
        assert (record.wins, record.draws, record.losses) == (tally.wins, tally.draws, tally.losses)
        assert record.win_interval == tally.win_interval
    total = tournament.record(0)
    assert total.games == 2 * SETTINGS["games"]
    assert total.wins == sum(int((match.winner == 0).sum()) for match in tournament.matches[:2])
    best, worst = int(tournament.ratings.elo.argmax()), int(tournament.ratings.elo.argmin())
    assert (AGENTS[best], AGENTS[worst]) == ("scripted", "random")
    np.testing.assert_allclose(tournament.mixture.rows, [1, 0, 0], atol=1e-9)
    assert tournament.mixture.value == pytest.approx(0, abs=1e-9)
    assert tournament.troubles == ()


@pytest.mark.parametrize("processes", [1, 3])
def test_the_number_of_processes_does_not_matter(tournament, processes):
    assert tables(play_tournament(AGENTS, **SETTINGS, processes=processes)) == tables(tournament)
    assert multiprocessing.active_children() == []


SCRIPT = """
import sys
from geo_patrol.tournament import play_tournament
if __name__ == "__main__":
    agents, folder = sys.argv[2:], sys.argv[1]
    play_tournament(agents, config="case4", games={games}, seed=5, processes=2, folder=folder)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process groups")
def test_a_tournament_that_is_killed_goes_on(tournament, tmp_path):
    """It is killed twice as soon as another line is written, and ends with the same tables."""
    script, folder = tmp_path / "play.py", tmp_path / "out"
    script.write_text(SCRIPT.format(games=SETTINGS["games"]))
    journal, kills, lines = folder / GAMES, 0, 0
    while True:
        process = subprocess.Popen([sys.executable, script, folder, *AGENTS], start_new_session=True)
        if kills == 2:
            process.wait()
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") <= lines):
            time.sleep(0.005)
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        wait_for_end_of_group(process.pid)  # its workers do not outlive it
        kills, lines = kills + 1, journal.read_bytes().count(b"\n")
        with journal.open("ab") as file:
            file.write(b'{"task": 2, "seconds"')  # as a kill in the middle of writing would leave it
    assert kills >= 1
    assert process.returncode == 0
    again = play_tournament(AGENTS, **SETTINGS, folder=folder)
    assert tables(again) == tables(tournament)
    assert journal.read_bytes().count(b"\n") >= 6


def test_what_is_finished_is_not_played_again(tmp_path, monkeypatch):
    heard = []
    arguments = {"games": 4, "seed": 3, "folder": tmp_path, "processes": 1}
    first = play_tournament(["random", "idle"], **arguments)

    def refuse(*_):
        raise AssertionError("played again")

    monkeypatch.setattr("geo_patrol.tournament.campaign.play_tasks", refuse)
    again = play_tournament(["random", "idle"], **arguments, progress=lambda *counts: heard.append(counts))
    assert tables(again) == tables(first)
    assert heard == [(4, 4)]
    fresh = play_tournament(["random", "idle"], **{**arguments, "seed": None})  # takes that of the folder
    assert tables(fresh) == tables(first)


def test_a_folder_with_something_else_is_refused(tmp_path):
    arguments = {"games": 4, "seed": 3, "folder": tmp_path / "out", "processes": 1}
    play_tournament(["random", "idle"], **arguments)
    for changed, told in (
        ({"games": 6}, "its games is 4, not 6"),
        ({"seed": 4}, "its seed is 3, not 4"),
        ({"config": "case1"}, "its config is"),
        ({"mirror": True}, "its mirror is False, not True"),
        ({"move_time": 0.5}, "its move_time is 0.1, not 0.5"),
    ):
        with pytest.raises(FolderError, match=told):
            play_tournament(["random", "idle"], **{**arguments, **changed})
    with pytest.raises(FolderError, match="its agents is"):
        play_tournament(["idle", "random"], **arguments)
    with pytest.raises(FolderError, match="its kind is 'tournament', not 'sweep'"):
        play_sweep("random", "idle", ["turn_limit=1"], **arguments)
    journal = tmp_path / "out" / GAMES
    for damage in (b"no json", b"{}", journal.read_bytes().replace(b'"task":0', b'"task":9').strip()):
        journal.write_bytes(damage + b"\n")
        with pytest.raises(FolderError, match="is damaged in line 1: delete that line"):
            play_tournament(["random", "idle"], **arguments)
    (tmp_path / "out" / PLAN).write_text("[1]")
    with pytest.raises(FolderError, match="is no plan of geo-patrol"):
        play_tournament(["random", "idle"], **arguments)
    (tmp_path / "out" / PLAN).unlink()
    with pytest.raises(FolderError, match=r"has games\.jsonl and no plan\.json"):
        play_tournament(["random", "idle"], **arguments)
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="is no folder"):
        play_tournament(["random", "idle"], **{**arguments, "folder": tmp_path / "file"})


def test_another_version_of_an_agents_file_is_noticed(tmp_path):
    path = tmp_path / "bot.py"
    path.write_text(OWN.read_text())
    arguments = {"games": 2, "seed": 3, "folder": tmp_path / "out", "processes": 1}
    play_tournament([f"{path}:Polite", "idle"], **arguments)
    path.write_text(OWN.read_text() + "\n")
    with pytest.raises(FolderError, match="its files is"):
        play_tournament([f"{path}:Polite", "idle"], **arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_agents_that_break_lose_and_are_named(tmp_path):
    names = ["idle", f"{OWN}:Killed", f"{OWN}:Sleeps"]
    result = play_tournament(names, games=2, seed=3, move_time=0.01, processes=2)
    assert [trouble.agent for trouble in result.troubles] == names[1:]
    for number, told in enumerate(("SIGKILL", "took longer than 10.01 s"), start=1):
        assert result.record(number, 0).losses == 2
        trouble = result.troubles[number - 1]
        assert told in trouble.message
        assert (trouble.failures, trouble.games_lost, trouble.illegal_orders) == (4, 4, 0)  # two batches a match
    assert result.record(1, 2).draws == 2  # both failed in the same phase
    assert multiprocessing.active_children() == []


def test_an_agent_that_remembers_gives_the_same_tournament(tmp_path):
    """Counter plays otherwise after its first batch: every task begins with a fresh one."""
    names = [f"{OWN}:Counter", "random"]
    one, two = (play_tournament(names, games=4, seed=3, processes=count) for count in (1, 2))
    assert tables(one) == tables(two)


def test_mirror_matches_tell_what_a_side_is_worth():
    result = play_tournament(["idle", "random"], config="case1", games=40, seed=1, mirror=True, processes=1)
    assert result.pairings == [(0, 1), (0, 0), (1, 1)]
    assert result.counts[1, 1].sum() == 40
    assert result.counts[0, 1].sum() == 20
    assert result.record(1).games == 40  # against others only
    match = result.matches[2]
    assert result.counts[1, 1, 0] == ((match.winner != DRAW) & (match.winner == match.first_side)).sum()
    sides = result.side_mixtures
    assert (sides.rows @ result.payoffs).min() == pytest.approx(sides.value)
    assert result.to_dict()["side_equilibrium"]["value"] == sides.value


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"agents": ["idle"]}, "1 agents: give 2 to 100"),
        ({"agents": ["idle", "idle"]}, "agent 'idle' is there twice"),
        ({"agents": ["idle", "idel"]}, "there is no agent 'idel'; did you mean 'idle'"),
        ({"games": 3}, "games = 3: give an even number"),
        ({"seed": -1}, "seed = -1"),
        ({"processes": 0}, "processes = 0: give a whole number from 1 to 1024"),
        ({"config": "case9"}, "there is no preset 'case9'"),
        ({"move_time": 0}, "move time = 0"),
    ],
)
def test_wrong_arguments(arguments, told):
    with pytest.raises(ValueError, match=told):
        play_tournament(**{"agents": ["idle", "random"], **arguments})


def test_an_agent_that_cannot_be_made_is_said_before_anything_is_played(tmp_path):
    with pytest.raises(AgentError, match=r"cannot be made: FileNotFoundError: weights\.npz"):
        play_tournament(["idle", f"{OWN}:NeverMade"], folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_cores():
    assert 1 <= usable_cores() <= os.cpu_count()


# Sequential tests


def test_a_sequential_test_stops_at_the_same_game_whatever_the_processes():
    results = [play_sprt("random", "random", Sprt(0, 100), seed=2, processes=count) for count in (1, 2)]
    one, two = results
    assert one.to_dict() == two.to_dict()
    assert one.verdict == "elo0"
    alone = play_match("random", "random", games=len(one.match), seed=2)
    if len(one.match) <= 2 * CHUNK_PAIRS:
        np.testing.assert_array_equal(one.match.winner[:32], alone.winner[:32])
    low, _ = one.test.bounds
    assert one.ratios[-1] <= low
    assert (one.ratios[15:-1] > low).all()
    assert one.counts.sum() == len(one.ratios) == len(one.match) // 2
    mean, below, above = one.score
    assert below < mean < above


def test_a_sequential_test_gives_up():
    result = play_sprt("random", "random", Sprt(0, 2), max_games=40, seed=1, processes=1)
    assert result.verdict is None
    assert len(result.match) == 40
    assert result.to_dict()["accepted"] is None


def test_the_better_agent_is_found():
    result = play_sprt("scripted", "idle", seed=1, processes=1)
    assert (result.verdict, len(result.match)) == ("elo1", 32)
    assert result.to_dict()["elo"][0] is None  # nothing was lost: infinite
    assert math.isfinite(result.ratios[-1])


# Sweeps


def test_every_cell_is_the_match_of_its_configuration():
    sweep = play_sweep(
        "scripted", "random", ["bravo.patrols.ammo=0..1", "alpha.patrols.fuel=60,100"], config="case1", games=6, seed=4
    )
    assert sweep.cells == (("0", "60"), ("0", "100"), ("1", "60"), ("1", "100"))
    assert sweep.shape == (2, 2)
    for (ammo, fuel), match in zip(sweep.cells, sweep.matches, strict=True):
        overrides = [f"bravo.patrols.ammo={ammo}", f"alpha.patrols.fuel={fuel}"]
        alone = play_match("scripted", "random", config="case1", overrides=overrides, games=6, seed=4)
        np.testing.assert_array_equal(match.scores, alone.scores)
    as_alpha, as_bravo = sweep.win_rates().values()
    summary = sweep.matches[3].summary()
    assert (as_alpha[3].wins, as_alpha[3].games) == (summary.as_alpha.wins, 3)
    assert as_bravo[3].interval == summary.as_bravo.win_interval


def test_an_agent_against_itself_shows_the_sides():
    sweep = play_sweep("random", "random", ["alpha.patrols.fuel=1,100"], config="case1", games=20, seed=4, processes=1)
    alpha, bravo = sweep.win_rates().values()
    for place, match in enumerate(sweep.matches):
        alpha_won = (match.winner != DRAW) & (match.winner == match.first_side)
        assert (alpha[place].wins, alpha[place].games) == (alpha_won.sum(), 20)
        assert alpha[place].wins + bravo[place].wins + (match.winner == DRAW).sum() == 20


def test_a_sweep_goes_on(tmp_path):
    arguments = {"config": "case1", "games": 4, "seed": 1, "processes": 1}
    vary = ["bravo.patrols.ammo=0..2"]
    whole = play_sweep("random", "idle", vary, **arguments, folder=tmp_path)
    lines = (tmp_path / GAMES).read_bytes().splitlines(keepends=True)
    (tmp_path / GAMES).write_bytes(lines[1])
    again = play_sweep("random", "idle", vary, **arguments, folder=tmp_path)
    assert again.to_dict() == whole.to_dict()
    written = (tmp_path / GAMES).read_bytes().splitlines(keepends=True)
    assert written[0] == lines[1]  # kept as it was
    assert sorted(json.loads(line)["task"] for line in written) == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=0..4", ("0", "1", "2", "3", "4")),
        ("a.b = 60, 80,100", ("60", "80", "100")),
        ("a=0..1..0.25", ("0.00", "0.25", "0.50", "0.75", "1.00")),
        ("a=-2..0,5", ("-2", "-1", "0", "5")),
        ("rules=book,code", ("book", "code")),
        ("a=[[0, 2]],[[-1, 1], [1, 1]]", ("[[0, 2]]", "[[-1, 1], [1, 1]]")),
        ('title="a, b",c', ('"a, b"', "c")),
        ("a={ low = 1, high = 2 },3", ("{ low = 1, high = 2 }", "3")),
        ("a=0.5", ("0.5",)),
    ],
)
def test_reading_what_varies(text, values):
    from geo_patrol.tournament.sweep import parse_variation

    assert parse_variation(text).values == values


@pytest.mark.parametrize(
    ("vary", "told"),
    [
        ([], "nothing is varied: give key=values"),
        (["a"], "vary 'a': give key=values, such as"),
        (["=1"], "give key=values"),
        (["a="], "give key=values"),
        (["a=1,,2"], "a value is missing between commas"),
        (["a=4..0"], "4..0: give the smaller end first, and a step above 0"),
        (["a=0..4..-1"], "a step above 0"),
        (["a=0..99999"], "are 100,000 values: give 10,000 at most"),
        (["a=1,1"], "1 is there twice"),
        (["a=1", "a=2"], "vary a: it is there twice"),
        (["a=1..200", "b=1..200"], "the values vary in 40,000 ways"),
        (["bravo.patrols.amo=0..4"], r"bravo\.patrols\.amo = 0: there is no such key; did you mean ammo"),
        (["bravo.odds.shoot.0=0..2"], r"bravo\.odds\.shoot\.0 = 2: give a number from 0 to 1"),
        (["turn_limit=many"], "turn_limit = 'many': give"),
    ],
)
def test_wrong_variations(vary, told, tmp_path):
    with pytest.raises(ConfigError, match=told):
        play_sweep("idle", "idle", vary, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_ctrl_c_leaves_no_process_behind_and_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "geo_patrol", "tournament", *AGENTS, "-n", "20000", "--seed", "1", "-p", "2"]
    process = subprocess.Popen(
        [*command, "--out", tmp_path / "out"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    journal = tmp_path / "out" / GAMES
    while not journal.exists() or not journal.read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: everybody hears it
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines() == [
        f"geo-patrol: finished games are kept in {tmp_path / 'out'}: the same command goes on",
        "geo-patrol: interrupted",
    ]
    wait_for_end_of_group(process.pid)


def wait_for_end_of_group(group):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("a process is still there")
