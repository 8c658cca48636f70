"""``geo-patrol configs``: the presets, one in full, two compared."""

import re
from functools import partial

import pytest

from geo_patrol import environment_id, load_config, preset_names
from tests.support.commands import run as run_command

run = partial(run_command, "configs")


@pytest.mark.parametrize("columns", [80, 120])
def test_list_names_every_preset(columns):
    ran = run(columns=columns)
    assert ran.exit_code == 0
    assert "…" not in ran.stdout
    assert "\x1b" not in ran.stdout
    for name in preset_names():
        config = load_config(name)
        title = re.escape(config.title[:20])  # where there is no room, a long one is folded
        assert re.search(rf"^{name} +{title}.* {environment_id(name)} *$", ran.stdout, re.MULTILINE)
        (row,) = re.findall(rf"^{name} +(\d.*\S)", ran.stdout, re.MULTILINE)
        assert row.startswith(f"1-{config.board.outer_ring} ")
        assert re.search(rf" {config.alpha.points.win} +{config.turn_limit}$", row)
    assert max(map(len, ran.stdout.splitlines())) <= max(columns, 90)


def test_narrow_list_keeps_the_names():
    shown = run(columns=60).stdout.partition("geo_patrol -> ")[0]
    for name in preset_names():
        assert len(re.findall(rf"^{name[:12]}\S* ", shown, re.MULTILINE)) >= 2
    assert "Too narrow for: win at, turns." in shown


def test_list_shows_the_differences():
    differences = run().stdout.split("geo_patrol -> king_of_the_hill")[1].split("geo_patrol -> ")[0]
    assert [line.split()[0] for line in differences.splitlines() if re.match(r"  \S", line)] == [
        "board.outer_ring",
        "both.patrols.formation",
        "both.points.win",
    ]
    assert "350 -> 250" in differences


@pytest.mark.parametrize("name", preset_names())
def test_every_printed_line_is_an_argument_of_set(name):
    lines = run(name).stdout.splitlines()
    base = "od2d" if name != "od2d" else "case4"
    assert load_config(base, lines) == load_config(name)


def test_ranges_and_variants_survive_printing(tmp_path):
    path = tmp_path / "ranges.toml"
    path.write_text(
        'extends = "case1"\ntitle = "say \\"hi\\" # = \\\\"\n[alpha.patrols]\ncount = { choices = [3, 5] }\n'
        "fuel = { low = 40, high = 100 }\n[[variants]]\nname = 'a'\nchance = 2\nbravo = { patrols = { ammo = 1 } }\n"
        "[[variants]]\nname = 'b'\nmirror = true\n"
    )
    config = load_config(path)
    assert load_config("od2d", run(path).stdout.splitlines()) == config
    listed = run(path, "case1").stdout
    assert "{ low = 40, high = 100 } -> 100" in listed


def test_set_shows_what_it_changes():
    shown = run("case1", "--set", "bravo.patrols.ammo=1", "--set", "both.patrols.count=4").stdout
    assert "bravo.patrols.ammo = 1  # was 3\n" in shown
    assert "both.patrols.count = 4  # was not set\n" in shown
    assert shown.count("# was") == 2


def test_single_patrols_are_set_and_listed(tmp_path):
    shown = run("case1", "--set", "bravo.patrols.single.3.fuel=+20").stdout
    assert "bravo.patrols.single.3.fuel = 80  # was not set\n" in shown
    path = tmp_path / "single.toml"
    path.write_text(shown)
    assert load_config(path) == load_config("case1", {"bravo.patrols.single.3.fuel": 80})


def test_two_are_compared():
    assert run("case4", "case5").stdout.splitlines() == [
        "case4 (Case 4: four sharpshooters) -> case5 (Case 5: sharpshooters, low fuel)",
        "  alpha.patrols.fuel  100 -> 80",
    ]
    assert run("od2d", "od2d").stdout.endswith("  no differences\n")
    assert run("case4", "case5", "--set", "alpha.patrols.fuel=9").stdout.endswith("  no differences\n")


def test_equal_changes_of_both_sides_are_listed_once():
    compared = run("geo_patrol", "case3").stdout
    assert "both.patrols.fuel" in compared
    assert "100 -> 80" in compared
    assert re.search(r"alpha\.patrols\.ammo +1 -> 0\n +bravo\.patrols\.ammo +1 -> 4\n", compared)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("case6",), "there is no preset 'case6'; did you mean"),
        (("case1", "case2", "case3"), "3 names: none lists"),
        (("--set", "turn_limit=3"), "--set needs the name of a preset"),
        (("case1", "--set", "turn_limit=none"), "turn_limit must be an integer from 1 to 10000, got 'none'"),
        (("lost.toml",), "there is no configuration file 'lost.toml'"),
    ],
)
def test_wrong_input_is_one_message_and_status_2(arguments, message):
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert message in ran.stderr
