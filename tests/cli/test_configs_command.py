"""``geo-patrol configs``: the presets, one in full, two compared."""

import re
from functools import partial

import pytest

from geo_patrol import environment_id, load_config, preset_names
from tests.support.commands import run as run_command

run = partial(run_command, "configs")


def test_list_names_every_preset():
    ran = run(columns=120)
    assert ran.exit_code == 0
    assert "…" not in ran.stdout
    for name in preset_names():
        config = load_config(name)
        title = re.escape(config.title[:20])  # where there is no room, a long one is folded
        assert re.search(rf"^{name} +{title}.* {environment_id(name)} *$", ran.stdout, re.MULTILINE)
        (row,) = re.findall(rf"^{name} +(\d.*\S)", ran.stdout, re.MULTILINE)
        assert row.startswith(f"1-{config.board.outer_ring} ")
        assert re.search(rf" {config.alpha.points.win} +{config.turn_limit}$", row)
    assert max(map(len, run().stdout.splitlines())) <= 90


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
    changes = ("bravo.patrols.ammo=1", "both.patrols.count=4", "bravo.patrols.single.3.fuel=+20")
    shown = run("case1", *(word for change in changes for word in ("--set", change))).stdout
    assert "bravo.patrols.ammo = 1  # was 3\n" in shown
    assert "both.patrols.count = 4  # was not set\n" in shown
    assert "bravo.patrols.single.3.fuel = 80  # was not set\n" in shown
    assert shown.count("# was") == 3


def test_two_are_compared():
    assert run("case4", "case5").stdout.splitlines() == [
        "case4 (Case 4: four sharpshooters) -> case5 (Case 5: sharpshooters, low fuel)",
        "  alpha.patrols.fuel  100 -> 80",
    ]
    assert re.search(
        r"alpha\.patrols\.ammo +1 -> 0\n +bravo\.patrols\.ammo +1 -> 4\n", run("geo_patrol", "case3").stdout
    )
    assert run("case4", "case5", "--set", "alpha.patrols.fuel=9").stdout.endswith("  no differences\n")
