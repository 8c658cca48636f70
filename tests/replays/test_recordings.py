"""The recorded games and odds of the published code, and the differences that the verifier finds in tampered ones."""

import copy
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from geo_patrol import ConfigError, RecordingError
from geo_patrol.base.validation import parse_model
from geo_patrol.game.notation import PHASES
from geo_patrol.replays import ReplayReader, check
from geo_patrol.replays.odds import PublishedOdds, check_odds, count_outcomes, homogeneity, survival
from geo_patrol.replays.published import PublishedGame, read_published
from tests.support.commands import run
from tests.support.damage import MISSING, damaged

DATA = Path(__file__).parents[1] / "data"
GAMES, ODDS = DATA / "reference_games.jsonl.gz", DATA / "reference_odds.json"
LINES = gzip.decompress(GAMES.read_bytes()).decode().splitlines()
RECORDED_ODDS = json.loads(ODDS.read_text())


def test_games_of_a_seed_play_as_they_were_recorded():
    replays = list(ReplayReader(DATA / "replay.jsonl.gz"))
    assert [replay.agents for replay in replays] == [("scripted", "random"), ("random", "scripted")]
    assert [check(replay) for replay in replays] == [None, None]
    assert [len(replay.phases) for replay in replays] == [2 * replay.end.turns for replay in replays]


def verify(*paths):
    """Run the command; return its exit status, what it prints, and what it says on standard error."""
    ran = run("verify", *paths)
    return ran.exit_code, ran.stdout, ran.stderr


def find_difference(game):
    replay = read_published(parse_model(PublishedGame, game, "line 1"))
    return check(replay) or replay.fault


def place(number):
    """Return how the place of a recorded phase is named: three phases are a turn."""
    return f"game 0, turn {number // 3 + 1}, {PHASES[number % 3]}"


@pytest.fixture
def game():
    """A recorded game with guards, shots and collisions."""
    wanted = '"guardian":["', '"action":"collide"', '"action":"shoot"'
    return next(json.loads(line) for line in LINES if all(text in line for text in wanted))


# What agrees


def test_recorded_games_cover_all_configurations_and_actions():
    text = "\n".join(LINES)
    assert len({json.loads(line)["config_name"] for line in LINES}) == 10
    for action in ("guard", "shoot", "collide"):
        assert f'"action":"{action}"' in text


@pytest.mark.slow
def test_command_says_how_many_agree():
    code, out, err = verify(GAMES, ODDS)
    assert (code, [line for line in err.splitlines() if "compiling" not in line]) == (0, [])
    assert out == (f"{GAMES}: 300 of 300 games agree with the rules\n{ODDS}: 4 of 4 engagements agree with the rules\n")


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 31, 60])
def test_chi_square_agrees_with_scipy(degrees):
    for statistic in np.linspace(0, 150, 61):
        assert survival(statistic, degrees) == pytest.approx(chi2.sf(statistic, degrees), rel=1e-9, abs=1e-15)


def test_homogeneity_of_equal_and_unequal_counts():
    assert homogeneity({"a": 500, "b": 500}, {"a": 505, "b": 495}) > 0.5
    assert homogeneity({"a": 500, "b": 500}, {"a": 600, "b": 400}) == pytest.approx(chi2.sf(20.2020202, 1), rel=1e-6)
    assert homogeneity({"a": 1000}, {"b": 1000}) < 1e-200
    pooled = chi2_contingency([[1000, 900], [3, 10], [30, 20]], correction=False).pvalue
    assert homogeneity({"a": 1000, "x": 3, "b": 30}, {"a": 900, "y": 10, "b": 20}) == pytest.approx(pooled)


# Tampered games


def first(game, *actions):
    """Return the number of the first phase with outcomes of all kinds, its outcomes, and the index of the first kind."""
    for number, phase in enumerate(game["phases"]):
        found = [outcome["action"] for outcome in phase.get("outcomes") or []]
        if set(actions) <= set(found):
            return number, phase["outcomes"], found.index(actions[0])
    return None


def value_at(game, path):
    for step in path.split("."):
        game = game[int(step) if step.isdigit() else step]
    return game


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("initial.sector.0.0", "game 0, turn 1, start: sector of alpha HVA"),
        ("initial.ammo.0.0", "game 0, turn 1, start: ammo of alpha HVA"),
        ("initial.goal.0", "game 0, turn 1, start: goal of alpha"),
        ("phases.4.after.fuel.1.3", f"{place(4)}: after.fuel of bravo P3"),
        ("phases.2.after.score.0", f"{place(2)}: after.score of alpha"),
        ("phases.0.after.turn", f"{place(0)}: after.turn"),
    ],
)
def test_tampered_values(game, path, name):
    value = value_at(game, path)
    fault = find_difference(damaged(game, path, value + 1))
    assert re.fullmatch(rf"{name}: recorded {value + 1}(\.0)?, replayed {int(value)}", fault)


@pytest.mark.parametrize("value", [1e300, -1e300, float("inf"), float("nan"), 10**300])
def test_huge_values_differ(game, value):
    fault = find_difference(damaged(game, "phases.0.after.fuel.0.0", value))
    assert fault.startswith(f"{place(0)}: after.fuel of alpha HVA: recorded ")


@pytest.mark.parametrize("action", ["shoot", "collide", "guard"])
def test_tampered_outcomes(game, action):
    """An inverted outcome shows in what follows it; that of a guard in the target of the attack."""
    number, outcomes, index = first(game, action)
    truth = dict(outcomes[index])
    outcomes[index] = truth | {"probability": 0.123}
    expected = f"{place(number)}: outcomes.{index}.probability: recorded 0.123, replayed {truth['probability']}"
    assert find_difference(game) == expected
    outcomes[index] = truth | {"target": [truth["target"][0], (truth["target"][1] + 1) % 11]}
    assert find_difference(game).startswith(f"{place(number)}: outcomes.{index}.target: recorded ")
    outcomes[index] = truth | {"success": not truth["success"]}
    assert find_difference(game).startswith(f"{place(number)}: ")
    outcomes.insert(index, truth)
    assert re.match(rf"{place(number)}: (outcomes\.\d+\.|number of outcomes)", find_difference(game))
    del outcomes[index : index + 2]
    assert re.match(rf"{place(number)}: (outcomes\.\d+\.|number of outcomes)", find_difference(game))


def test_a_shot_has_no_guardian(game):
    number, outcomes, index = first(game, "shoot")
    outcomes[index]["guardian"] = ["alpha", 9]
    assert (
        find_difference(game) == f"{place(number)}: outcomes.{index}.guardian: recorded alpha:Patrol:9, replayed None"
    )


def test_outcomes_out_of_order():
    game = next(game for game in map(json.loads, LINES) if first(game, "guard", "shoot"))
    number, outcomes, _ = first(game, "guard", "shoot")
    outcomes.reverse()
    assert re.match(rf"{place(number)}: outcomes\.0\.action: recorded \w+, replayed guard", find_difference(game))


def test_legal_orders_are_compared(game):
    legal = game["phases"][0]["legal"]
    assert find_difference(damaged(game, "phases.0.legal.1.2", [*legal[1][2], "guard"])).startswith(
        f"{place(0)}: legal of bravo P2: recorded [noop"
    )
    legal[0][1].remove("prograde")
    fault = find_difference(game)
    assert fault.startswith(f"{place(0)}: legal of alpha P1: recorded [noop, retrograde")
    assert "replayed [noop, prograde, retrograde" in fault


def test_unpayable_legal_order_missing():
    """The recordings also list orders that cannot be paid; all of them are compared."""
    game, number, satellite = next(
        (game, number, satellite)
        for game in map(json.loads, LINES)
        for number, phase in enumerate(game["phases"])
        for satellite, fuel in enumerate(
            (game["phases"][number - 1]["after"] if number else game["initial"])["fuel"][0]
        )
        if phase["phase"] == "movement" and 0 < fuel < 5
    )
    game["phases"][number]["legal"][0][satellite].remove("prograde")
    assert find_difference(game).startswith(f"{place(number)}: legal of alpha")


@pytest.mark.parametrize(("probability", "success"), [(0.0, True), (1.0, False)])
def test_impossible_success_or_failure(game, probability, success):
    _, outcomes, index = first(game, "collide")
    outcome = outcomes[index]
    game["config"][outcome["attacker"][0]]["collide_probability"] = [probability, probability]
    outcome["probability"], outcome["success"] = probability, success
    assert f"success: recorded {success}, replayed {not success}" in find_difference(game)


def test_number_of_satellites(game):
    for field in ("sector", "fuel", "ammo"):
        game["phases"][2]["after"][field][0].pop()
    assert "after.number of sector values of alpha: recorded 10, replayed 11" in find_difference(game)
    for field in ("sector", "fuel", "ammo"):
        game["initial"][field][1].pop()
    assert find_difference(game) == "initial: number of sector values of bravo: recorded 10, replayed 11"


def test_phases_after_the_end(game):
    game["phases"] += game["phases"][-3:]
    assert "phase: recorded 'movement', replayed 'drift'" in find_difference(game)


def test_other_order_than_the_recorded_one(game):
    fault = find_difference(damaged(game, "phases.0.orders.0.1", "radial_out"))
    assert fault == f"{place(0)}: orders of alpha: recorded 'P1 radial_out', which is not legal"
    orders = game["phases"][0]["orders"][0]
    number = next(index for index, order in enumerate(orders) if order == "noop")
    orders[number] = "prograde"
    name = "HVA" if number == 0 else f"P{number}"
    assert re.match(rf"{place(0)}: after\.sector of alpha {name}: recorded \d+\.0, replayed \d+", find_difference(game))


ORDER = r"order must be a move, guard, or \[shoot, n\] or \[collide, n\]"
BROKEN = [
    ("phases", 3, "phases must be a list, got 3"),
    ("umpire", 1, "umpire = 1: there is no such key"),
    ("initial.fuel", [[1], [2], [3]], "initial.fuel must have a length of at most 2"),
    ("initial.fuel.0.0", "full", "initial.fuel.0.0 must be a number, got 'full'"),
    ("initial.phase", "lunch", "initial.phase must be 'movement', 'engagement' or 'drift', got 'lunch'"),
    ("phases.0.after", None, "phases.0.after must be a table, got None"),
    ("phases.0.orders", [[]], "phases.0.orders must have a length of at least 2"),
    ("phases.0.orders.0.0", ["shoot", 11], "phases.0.orders.0.0"),
    ("phases.0.orders.0.0", 7, "phases.0.orders.0.0"),
    ("phases.0.orders.0.0", "jump", ORDER),
    ("phases.0.orders.0.0", "shoot", ORDER),
    ("phases.0.orders.0.0", ["guard", 0], ORDER),
    ("config.alpha", None, "config: .* is missing or no table"),
    ("config.goal_ring", MISSING, "config: 'goal_ring' is missing or no table"),
    ("config.max_ring", 99, "board.outer_ring must be an integer from 1 to 10, got 99"),
    ("config.bravo.shoot_probability", [2, 0], "bravo.odds.shoot.0 must be a number from 0 to 1, got 2"),
    ("config.bravo.formation", [], r"bravo.patrols.formation must be a list of \[azimuth offset from the goal sector"),
    ("config.alpha.hva_fuel", {"low": 50, "high": 100}, "config: a recording holds every value as it was sampled"),
]


@pytest.mark.parametrize(("path", "value", "message"), BROKEN, ids=str)
def test_invalid_recording(game, path, value, message):
    with pytest.raises((RecordingError, ConfigError), match=message):
        find_difference(damaged(game, path, value))


# Files


def write_games(path, *games):
    """Write recorded games, each as text or as data."""
    path.write_text("".join(f"{game if isinstance(game, str) else json.dumps(game)}\n" for game in games))
    return path


def test_first_difference_is_named_with_its_game(tmp_path):
    game = json.loads(LINES[3])
    game["phases"][2]["after"]["score"][1] = -5
    path = write_games(tmp_path / "games.jsonl", *LINES[:3], game, LINES[4])
    code, out, _ = verify(path)
    assert code == 1
    assert out.startswith(
        f"{path}: 4 of 5 games agree with the rules\n"
        "  first difference: game 3, turn 1, drift: after.score of bravo: recorded -5.0, replayed "
    )


def test_a_game_with_a_missing_phase_does_not_agree(tmp_path, game):
    del game["phases"][4]
    path = write_games(tmp_path / "games.jsonl", LINES[0], game)
    code, out, err = verify(path)
    assert (code, out) == (1, f"{path}: 1 of 2 games agree with the rules\n")
    assert err == f"geo-patrol: {path}: line 2: phase 4 (drift): phase: recorded 'drift', replayed 'engagement'\n"


def test_games_that_agree_beside_damage(tmp_path):
    mixed, bad = write_games(tmp_path / "mixed.jsonl", LINES[0], "{]"), tmp_path / "bad.jsonl"
    bad.write_text("{")
    code, out, err = verify(bad, mixed)
    assert (code, out) == (1, f"{mixed}: 1 of 1 games agree with the rules\n")
    assert err.startswith(f"geo-patrol: {bad}: line 1 is cut short\ngeo-patrol: {mixed}: line 2: not JSON: ")


BAD_FILES = [
    (b"", "there is no game in it"),
    (b"not json\n", "line 1: not JSON: "),
    (b"{}\n", "line 1: type must be 'game', 'phase' or 'end', got None"),
    (b'{"phases": []}\n', "line 1: config is missing"),
    (b"\xff\xfe\x00", "line 1 is cut short"),
    (b"[" * 100_000, "content = .*: invalid JSON: recursion limit exceeded"),
    (b"3\n", "line 1 must be an object, got 3"),
    (b"\x1f\x8b\x08\x00" + b"x" * 50, "is damaged: "),
    (b"[3]", "0 must be a table, got 3"),
    (b"[]", r"content must have a length of at least 1, got \[\]"),
    (gzip.compress(LINES[0].encode(), mtime=0)[:-400], "is cut short: the packed file has no end"),
    (LINES[0][: len(LINES[0]) // 2].encode(), "line 1 is cut short"),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES, ids=lambda value: str(value)[:25])
def test_file_that_is_no_recording(tmp_path, content, message):
    path = tmp_path / "recorded"
    path.write_bytes(content)
    code, out, err = verify(path)
    assert (code, out) == (1, "")
    assert re.match(rf"geo-patrol: {re.escape(str(path))}: {message}", err)


def test_missing_file_and_folder(tmp_path):
    code, out, err = verify(tmp_path / "none.jsonl", tmp_path)
    assert (code, out) == (1, "")
    assert "none.jsonl: cannot be read: No such file" in err
    assert len(err.splitlines()) == 2


# Tampered odds


def read_odds(data):
    return parse_model(PublishedOdds, data, "engagement 0")


@pytest.fixture
def odds():
    """The engagement with one guard and three attacks, as one of the odds."""
    return copy.deepcopy(RECORDED_ODDS[0])


def test_counts_are_drawn_by_the_seed(odds):
    drawn = destroyed, kinds = count_outcomes(read_odds(odds))
    assert destroyed.total() == kinds.total() == odds["draws"] == 200_000
    assert count_outcomes(read_odds(odds)) == drawn != count_outcomes(read_odds(odds), seed=1)


@pytest.mark.slow
def test_tampered_counts_are_rejected(odds, tmp_path):
    counts = odds["destroyed_counts"]
    counts[max(counts, key=counts.get)] -= 3000
    counts[min(counts, key=counts.get)] += 3000
    path = tmp_path / "odds.json"
    path.write_text(json.dumps([RECORDED_ODDS[1], odds], indent=1))
    code, out, _ = verify(path)
    assert code == 1
    assert f"{path}: 1 of 2 engagements agree with the rules\n" in out
    assert f"  first difference: engagement 1 ({odds['name']}), destroyed_counts: recorded {{" in out
    assert re.search(r"drawn \{.*\}: p = .* < 0\.0001", out)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("draws", 0, "1.draws must be at least 1, got 0"),
        ("draws", 10**9, "1.draws must be at most 2000000, got 1000000000"),
        ("destroyed_counts", {"": 0.5}, "1.destroyed_counts. must be an integer, got 0.5"),
        ("orders", [[]], "1.orders must have a length of at least 2"),
        ("umpire", 1, "1.umpire = 1: there is no such key"),
        ("orders", [["jump"], []], "engagement 1 \\(.*\\): order must be a move, guard, or"),
        ("config", {}, "engagement 1 \\(.*\\): config: 'max_turns' is missing"),
    ],
)
def test_a_file_with_an_engagement_that_cannot_be_read_is_refused(odds, key, value, message, tmp_path):
    path = tmp_path / "odds.json"
    path.write_text(json.dumps([RECORDED_ODDS[1], odds | {key: value}]))
    code, out, err = verify(path)
    assert (code, out) == (1, "")
    assert re.match(rf"geo-patrol: {re.escape(str(path))}: {message}", err)


def test_tampered_outcome_counts_are_rejected(odds):
    odds["outcome_counts_guard_shoot_collide"] = {"9/9/9": odds["draws"]}
    assert check_odds(read_odds(odds)).startswith("outcome_counts_guard_shoot_collide: recorded {9/9/9: 1.0000")


@pytest.mark.parametrize("key", ["shoot_probability", "collide_probability", "guard_probability"])
def test_odds_of_other_rules_are_rejected(odds, key):
    for side in ("alpha", "bravo"):
        odds["config"][side][key] = [value * 0.95 for value in odds["config"][side][key]]
    assert "p = " in check_odds(read_odds(odds))


def test_odds_of_guards_a_little_too_good_are_rejected(odds):
    """As without the decay: bravo's HVA is destroyed less often, and no other satellite more often."""
    counts = odds["destroyed_counts"]
    fallen = max((label for label in counts if "b0" in label.split(",")), key=counts.get)
    nobody = min(counts, key=len)
    shift = odds["draws"] // 100
    counts[fallen], counts[nobody] = counts[fallen] - shift, counts[nobody] + shift
    assert check_odds(read_odds(odds)).startswith("destroyed_counts: recorded {")


@pytest.mark.parametrize(("field", "value"), [("fuel", 10**9), ("sector", -1), ("ammo", 0.5)])
def test_odds_with_impossible_values(odds, field, value):
    odds["state"][field][0][0] = value
    with pytest.raises(RecordingError, match=rf"state: {field}\.0\.0"):
        check_odds(read_odds(odds))


def test_draws_of_a_file_are_bounded(odds, tmp_path):
    path = tmp_path / "odds.json"
    path.write_text(json.dumps([odds] * 11))
    code, out, err = verify(path)
    assert (code, out) == (1, "")
    assert "more than 2,000,000 draws in a file" in err
