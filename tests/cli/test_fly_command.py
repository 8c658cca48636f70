"""``geo-patrol fly``: solved, by orders, as text; pictures and sheets; wrong input."""

import re
from functools import partial

import pytest

from geo_patrol.cli import serve
from geo_patrol.flight import Flight, mission_names
from tests.support.commands import run as run_command

run = partial(run_command, "fly", columns=100)


def test_solve_prints_the_flight_log_and_that_it_is_optimal():
    shown = run("--mission", "sample", "--solve").stdout
    assert "Proved: no flight scores better than 21 points." in shown
    assert re.search(r"^total .* 21$", shown, re.MULTILINE)
    assert re.search(r"^ +1  E16 .*launch ", shown, re.MULTILINE)
    assert "Flight complete: 21 points" in shown


def test_solve_prints_the_best_flight_found_with_a_bound():
    shown = run("-m", "base_camp", "--solve", "--max-states", 200).stdout
    assert re.search(r"Best found: \d+ points; no flight has more than \d+\.", shown)
    assert "A flight with 47 points is known." in shown
    race = run("-m", "courier", "--solve", "--max-states", 300).stdout
    assert re.search(r"Best found: \d+ turns, \d+ points; no flight wins in under \d+\.", race)


def test_solve_reports_missions_that_cannot_be_fulfilled():
    shown = run("-s", 'survey=["E6"]', "-s", "turns=1", "--solve").stdout
    assert "Proved: no flight fulfils this mission" in shown
    assert "Mission failed" in shown


def test_solve_of_a_race_names_the_turns():
    assert "Proved: no flight scores better than 4 points in 6 turns." in run("-m", "docking_race", "--solve").stdout


def test_orders():
    shown = run("--orders", "launch D13; coast; engines down-right;").stdout
    assert str(Flight.from_orders("sample", ["launch D13", "coast", "engines down-right"])) in shown
    assert run("-m", "sample_probe", "-o", "launch D13").stdout.endswith(
        "Crashed: 8 points; crashed at E6 in turn 8.\n"
    )


def test_text_play():
    typed = "help\nlaunch d13\nhint\nfoo\nlaunch e13\n\ncoast\nback\nlog\nmap\nagain\nlaunch E13\nquit\n"
    ran = run("--text", typed=typed)
    assert ran.exit_code == 0
    assert "the order that the solver finds best" in ran.stdout
    assert ran.stdout.count("coast: leads to 21 points") == 1
    assert "order must be" in ran.stdout
    assert "only a ship on a planet is launched" in ran.stdout
    assert ran.stdout.rstrip().endswith("total          .      0")
    assert "launch      E13" in "\n".join(ran.stdout.splitlines()[-14:])


def test_text_play_to_the_end_of_the_input_and_of_the_game():
    ran = run("--text", "-m", "sample_probe", typed="launch D13\ncoast\n")
    assert ran.exit_code == 0
    assert "crashed at E6 in turn 8" in ran.stdout
    assert "the flight is over (crashed)" in ran.stdout
    assert "over > " in ran.stdout


def test_list_names_every_mission():
    shown = run("--list").stdout
    assert all(re.search(rf"^{name} ", shown, re.MULTILINE) for name in mission_names())


def test_random_missions_are_repeated_by_their_seed():
    first, second, other = (run("-m", "random", "--seed", seed, "--orders", "").stdout for seed in (7, 7, 8))
    assert first == second != other
    assert "Planetary Probe" in run("-m", "random", "--game", "planetary_probe", "--orders", "").stdout


@pytest.mark.parametrize(("suffix", "start"), [(".SVG", b"<svg "), (".png", b"\x89PNG"), (".txt", b"Sample game")])
def test_save(tmp_path, suffix, start):
    path = tmp_path / f"flight{suffix}"
    assert run("--orders", "launch D13; coast", "--save", path).exit_code == 0
    assert path.read_bytes().startswith(start)


def test_spaces_in_orders_are_no_error():
    shown = [
        run("--orders", orders).stdout
        for orders in ("launch D13;coast", " launch D 13 ;coast; ", "launch  d13;\tCoast")
    ]
    assert shown[0] == shown[1] == shown[2] != ""


def test_sheets_alone_need_no_window(tmp_path):
    blank, sheet = tmp_path / "map.svg", tmp_path / "sheet.png"
    ran = run("-m", "courier", "--blank-map", blank, "--score-sheet", sheet)
    assert (ran.exit_code, ran.output) == (0, "")
    assert blank.read_bytes().startswith(b"<svg ")
    assert sheet.read_bytes().startswith(b"\x89PNG")


def test_the_page_of_a_mission_is_opened(monkeypatch):
    opened = []
    monkeypatch.setattr(serve, "open_page", lambda open_first, *_, **__: opened.append(open_first(None)))
    assert run("--mission", "courier", "--no-browser").exit_code == 0
    assert run("--mission", "courier", "--set", "turns=12", "--no-browser").exit_code == 0
    assert opened[0] == "/static/flight.html#mission=courier"
    assert "turns+%3D+12" in opened[1]


def test_the_guided_flight_is_a_page(monkeypatch):
    opened = []
    monkeypatch.setattr(serve, "open_page", lambda open_first, **_: opened.append(open_first(None)))
    ran = run_command("learn", "spaceship_commander", "--no-browser")
    assert (ran.exit_code, ran.output, opened) == (0, "", ["/static/flight_lesson.html"])
