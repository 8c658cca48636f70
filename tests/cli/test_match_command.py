"""``geo-patrol match``: its output, its files, and its messages about wrong input."""

import csv
import hashlib
import io
import json
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from geo_patrol import __version__, load_config
from geo_patrol.agents import basic
from geo_patrol.agents.registry import network_version
from geo_patrol.cli import match as command
from geo_patrol.cli.output import write_csv
from geo_patrol.evaluation.match import play_match
from geo_patrol.evaluation.results import FIRST
from geo_patrol.game.game import replay_orders
from geo_patrol.game.notation import read_reasons
from tests.support.commands import run as run_command

run = partial(run_command, "match")


@pytest.fixture(scope="module")
def result():
    return play_match("scripted", "random", config="case1", games=20, seed=7)


MATCH = ("scripted", "random", "--config", "case1", "--games", 20, "--seed", 7)
BOT = "from geo_patrol.agents import RandomAgent\nclass Bot(RandomAgent):\n    pass\n"


def test_table_shows_the_result(result):
    ran = run(*MATCH)
    assert ran.exit_code == 0
    assert ran.stderr == ""
    summary = result.summary()
    assert "scripted against random" in ran.stdout
    assert "Case 1: three rounds (case1), seed 7" in ran.stdout
    for side, tally in (("alpha", summary.as_alpha), ("bravo", summary.as_bravo), ("either", summary.total)):
        (row,) = re.findall(rf"^{side} +(.*)$", ran.stdout, re.MULTILINE)
        assert row.split()[:4] == [str(n) for n in (tally.games, tally.wins, tally.draws, tally.losses)]
        low, high = tally.win_interval
        assert f"{tally.win_rate:.1%}" in row
        assert f"{100 * low:.1f}-{100 * high:.1f}%" in row
        assert row.split()[-2:] == [f"{tally.mean_score_difference:+.1f}", f"{tally.mean_turns:.1f}"]
    destroyed = summary.total.endings["hva_destroyed"]
    (row,) = re.findall(r"^HVA destroyed +(.*)$", ran.stdout, re.MULTILINE)
    assert row.split() == [str(n) for n in (destroyed.games, destroyed.first, destroyed.second)]
    assert re.search(r"^20 games in \d+\.\d+ s: [\d,]+ games per second$", ran.stdout, re.MULTILINE)
    assert "Illegal" not in ran.stdout


def test_reasons_that_hold_together_are_explained():
    message = "Several reasons may hold at once."
    assert message not in run("idle", "idle", "--games", 2, "--set", "both.points.win=9999").stdout
    assert message in run("idle", "idle", "--games", 2, "--set", "both.points.win=1").stdout


def test_a_fresh_seed_is_printed_and_repeats_the_match():
    first = run("random", "random", "--games", 6).stdout
    (seed,) = re.findall(r"seed (\d+)$", first, re.MULTILINE)
    again = run("random", "random", "--games", 6, "--seed", seed).stdout
    assert first.split(" games in ")[0] == again.split(" games in ")[0]


def test_illegal_orders_are_reported_if_there_are_any(monkeypatch):
    def guard_always(self, observations, action_masks, generator):
        return action_masks[:, :, 0].astype("int64") * 27

    monkeypatch.setattr(basic.IdleAgent, "act", guard_always)
    result = play_match("idle", "random", games=4, seed=1)
    ran = run("idle", "random", "--games", 4, "--seed", 1)
    assert f"Illegal orders: idle {result.illegal_orders[:, FIRST].sum():,}, random 0" in ran.stdout


def test_an_agent_that_fails_loses_and_is_named(monkeypatch, tmp_path):
    def fail(*_):
        raise RuntimeError("no idea")

    monkeypatch.setattr(basic.IdleAgent, "act", fail)
    ran = run("random", "idle", "--games", 4, "--json", tmp_path / "match.json")
    assert ran.exit_code == 0
    assert ran.stdout.count("idle lost 2 games: agent 'idle': act raised RuntimeError: no idea\n") == 2
    assert re.search(r"^forfeit +4 +0 +4$", ran.stdout, re.MULTILINE)
    assert re.search(r"^either +4 +4 +0 +0 +100.0%", ran.stdout, re.MULTILINE)
    (one, other) = json.loads((tmp_path / "match.json").read_text())["failures"]
    assert one == other | {"side": 1}
    assert one["games"] == 2


@pytest.mark.slow
def test_names_of_the_users_own_agents_are_printed_as_they_are(tmp_path):
    path = tmp_path / "[red]" / "[" / "bold]" / "bot.py"
    path.parent.mkdir(parents=True)
    path.write_text(BOT)
    ran = run(f"{path}:Bot", "idle", "--games", 4, "--seed", 1, columns=400)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert f"{path}:Bot as" in ran.stdout
    assert f"\n{path}:Bot: " in ran.stdout


def test_set_replaces_values_of_a_configuration(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text('extends = "case1"\ntitle = "Short"\nturn_limit = 1\n')
    ran = run(
        "idle", "idle", "-c", path, "--games", 2, "--set", "turn_limit=2", "-s", "bravo.patrols.ammo=-3", "--json", "-"
    )
    written = json.loads(ran.stdout)
    assert written["config"]["overrides"] == ["turn_limit=2", "bravo.patrols.ammo=-3"]
    assert written["config"]["values"]["bravo"]["patrols"]["ammo"] == 0
    assert written["summary"]["total"]["mean_turns"] == 2
    ran = run("idle", "idle", "-c", path, "--games", 2, "--set", "turn_limit=2")
    assert "turn_limit 1 -> 2" in ran.stdout
    assert re.search(r"^turn limit +2", ran.stdout, re.MULTILINE)


def check_json(text, result):
    written = json.loads(text)
    summary = written.pop("summary")
    expected = json.loads(json.dumps(result.summary().to_dict()))
    for timing in ("seconds", "games_per_second"):
        assert summary.pop(timing) > 0
        expected.pop(timing)
    assert summary == expected
    assert written.pop("versions")["geo_patrol"] == __version__
    assert written == {
        "format": "geo_patrol match",
        "version": 1,
        "agents": {"first": "scripted", "second": "random"},
        "agent_versions": {"first": "", "second": ""},
        "games": 20,
        "seed": 7,
        "config": {
            "source": "case1",
            "overrides": [],
            "values": json.loads(json.dumps(load_config("case1").to_dict())),
        },
        "failures": [],
    }


def check_csv(text, result):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(result)
    for index, row in enumerate(rows):
        first, second = ("alpha", "bravo") if result.first_side[index] == 0 else ("bravo", "alpha")
        assert (row["game"], row["pair"], row["seed"]) == (str(index), str(index // 2), str(result.seeds[index]))
        assert (row[first], row[second]) == result.agents
        assert row["winner"] == (result.agents[result.winner[index]] if result.winner[index] >= 0 else "")
        assert row["winner_side"] == next((side for side in ("alpha", "bravo") if row[side] == row["winner"]), "")
        for column, values in (("score", result.scores), ("illegal_orders", result.illegal_orders)):
            assert [row[f"{first}_{column}"], row[f"{second}_{column}"]] == [str(value) for value in values[index]]
        assert row["turns"] == str(result.turns[index])
        assert row["reasons"] == "; ".join(map(str, read_reasons(int(result.reasons[index]))))


def test_files_hold_the_match(result, tmp_path):
    json_path, csv_path = tmp_path / "match.json", tmp_path / "games.csv"
    json_path.write_text("old")
    ran = run(*MATCH, "--json", json_path, "--csv", csv_path, "--quiet")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")
    check_json(json_path.read_text(), result)
    check_csv(csv_path.read_text(), result)
    assert sorted(tmp_path.iterdir()) == [csv_path, json_path]
    assert run(*MATCH, "--csv", "-", "--json", json_path).stdout == csv_path.read_text()
    check_json(run(*MATCH, "--json", "-").stdout, result)


def test_a_table_has_a_byte_order_mark_where_it_has_letters_beyond_ascii(tmp_path):
    table = {"name": ["Łódź"], "games": [2]}
    write_csv(str(tmp_path / "a.csv"), table)
    assert (tmp_path / "a.csv").read_bytes() == "\ufeffname,games\nŁódź,2\n".encode()
    write_csv(str(tmp_path / "b.csv"), {**table, "name": ["Lodz"]})
    assert (tmp_path / "b.csv").read_bytes() == b"name,games\nLodz,2\n"


def test_an_agent_against_itself_wins_on_a_side():
    ran = run("scripted", "scripted", "-c", "case1", "-n", 20, "--seed", 1, "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert {(row["alpha"], row["bravo"]) for row in rows} == {
        ("scripted", "scripted (2)"),
        ("scripted (2)", "scripted"),
    }
    assert {row["winner_side"] for row in rows} == {"alpha", "bravo"}
    for row in rows:
        higher = max(("alpha", "bravo"), key=lambda side: int(row[f"{side}_score"]))
        assert row["winner_side"] == higher or "hva" in row["reasons"]


@pytest.mark.slow
def test_networks_and_files_are_named(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text(BOT)
    name = f"{bot}:Bot"
    arguments = ("policy:base", name, "--games", 2, "--seed", 1, "--set", "turn_limit=1")
    network = network_version("policy:base", load_config("geo_patrol", {"turn_limit": 1}))
    digest = hashlib.sha256(bot.read_bytes()).hexdigest()[:8]
    ran = run(*arguments, "--csv", tmp_path / "games.csv", "--json", tmp_path / "match.json")
    assert f"policy:base: {network}\n" in ran.stdout
    assert f"{name}: {digest}\n" in ran.stdout
    written = json.loads((tmp_path / "match.json").read_text())
    assert written["agent_versions"] == {"first": network, "second": digest}
    rows = list(csv.DictReader((tmp_path / "games.csv").read_text().splitlines()))
    assert [(row["alpha_version"], row["bravo_version"]) for row in rows] == [(network, digest), (digest, network)]


def test_show_shows_the_first_game_of_the_table(result):
    ran = run(*MATCH, "--show")
    assert ran.exit_code == 0
    assert f"scripted (alpha) against random (bravo), seed of the game {result.seeds[0]}" in ran.stdout
    turns = [int(turn) for turn in re.findall(r"^--- Turn (\d+) -", ran.stdout, re.MULTILINE)]
    assert turns == list(range(1, result.turns[0] + 1))
    scores = re.findall(r"^SCORE: alpha (\d+), bravo (\d+)$", ran.stdout, re.MULTILINE)
    assert len(scores) == len(turns)
    assert [int(score) for score in scores[-1]] == result.scores[0].tolist()
    (row, *_) = csv.DictReader(io.StringIO(run(*MATCH, "--csv", "-").stdout))
    end = f"in turn {row['turns']}, {row['alpha_score']} to {row['bravo_score']}: {row['reasons'].replace(';', ',')}"
    assert f"{row['winner']} (alpha) wins {end}" in ran.stdout
    for phase in replay_orders(result.config, int(result.seeds[0]), result.first_game):
        shown = re.sub(r"\s+", " ", ran.stdout)
        for orders in phase.orders if phase.name == "movement" else ():
            assert not orders or ", ".join(map(str, orders)) in shown
        for outcome in phase.outcomes:
            assert re.search(rf"{outcome.action} .*{outcome.target} .*{outcome.probability:.1%}", ran.stdout)
    assert "either" in ran.stdout  # the table follows


def test_show_and_quiet_print_the_game_alone():
    ran = run("idle", "idle", "--games", 2, "--show", "--quiet", "--set", "turn_limit=2")
    assert ran.stdout.endswith("Draw in turn 2, 218 to 218: turn_limit\n\n")
    assert "games per second" not in ran.stdout
    assert ran.stdout.count("no orders") == 4


def test_narrow_tables_keep_their_names_and_say_what_is_left_out(result):
    lines = run(*MATCH, columns=60).stdout.splitlines()
    for side, tally in (("alpha", result.summary().as_alpha), ("bravo", result.summary().as_bravo)):
        (row,) = [line.split() for line in lines if line.startswith(f"{side} ")]
        assert row[1:3] == [str(tally.games), str(tally.wins)]
        assert row[-1].endswith("%")  # the interval
    assert "Too narrow for: losses, margin, turns." in lines
    assert "how games ended" in run(*MATCH, columns=40).stdout
    assert max(map(len, run(*MATCH).stdout.splitlines())) <= 80


def test_long_names_are_folded_on_narrow_terminals():
    long = "raider:defenders=2,path=cheap,reach=sector,first=patrols"
    shown = run(long, "random", "-n", 2, "--seed", 1, columns=60).stdout
    heading = next(
        i for i, line in enumerate(shown.splitlines()) if line.startswith(long[:12]) and "against" not in line
    )
    folded = [line.split()[0] for line in shown.splitlines()[heading : heading + 5]]
    assert "".join(folded).startswith(long[:48])
    assert re.search(r"^either ", shown, re.MULTILINE)


def test_tables_in_files_are_as_wide_as_their_names():
    long = "raider:defenders=2,path=cheap,reach=sector,first=patrols"
    shown = run(long, "random", "-n", 2, "--seed", 1, columns=None).stdout
    assert re.search(
        rf"^{long} as +games +wins +draws +losses +win rate +95% interval +margin +turns$", shown, re.MULTILINE
    )
    assert re.search(rf"^how games ended +games +{long} +random$", shown, re.MULTILINE)


def test_an_interrupted_match_leaves_old_files_alone(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_play", interrupt)
    path = tmp_path / "match.json"
    path.write_text("old")
    ran = run("idle", "idle", "--json", path)
    assert (ran.exit_code, ran.stderr) == (130, "geo-patrol: interrupted\n")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_a_match_with_status_130(tmp_path):
    table, replays = tmp_path / "games.csv", tmp_path / "games.jsonl"
    arguments = ["match", "scripted", "random", "--games", "10000000", "--csv", str(table), "--save", str(replays)]
    with subprocess.Popen(
        [sys.executable, "-m", "geo_patrol", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        deadline = time.monotonic() + 60
        while not (replays.exists() and replays.stat().st_size) and time.monotonic() < deadline:  # games were played
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode in (130, -signal.SIGINT)  # a shell calls both 130
    assert out == ""
    assert err.endswith("geo-patrol: interrupted\n")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [replays]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="closed pipes are message otherwise there")
@pytest.mark.parametrize("arguments", [["--csv", "-"], ["--show"]], ids=str)
def test_a_closed_pipe_is_no_traceback(arguments):
    command = [sys.executable, "-m", "geo_patrol", "match", "random", "idle", "--games", "2000", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        running.stdout.readline()
        running.stdout.close()
        err = running.stderr.read()
    assert err == ""
