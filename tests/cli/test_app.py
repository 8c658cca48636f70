"""``geo-patrol``: its overview, its version, its commands."""

import os
import subprocess
import sys
from pathlib import Path

import pygame
import pytest
import typer

from geo_patrol import ConfigError, __version__, agent_names
from geo_patrol.cli.app import app
from geo_patrol.cli.output import InputError, output_file, plain_errors
from geo_patrol.drawing import screen
from tests.support.commands import run

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ()])
def test_overview_lists_the_commands(arguments):
    shown = run(*arguments).output
    assert all(name[0] in shown for name, _ in list_commands())
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
def test_examples_of_the_overview_run(monkeypatch):
    # Every window is closed as soon as it is shown.
    monkeypatch.setattr(screen.Screen, "show", lambda *_: pygame.event.post(pygame.event.Event(pygame.QUIT)))
    examples = [line.split()[1:] for line in run("--help").output.splitlines() if line.startswith(" geo-patrol ")]
    assert len(examples) >= 3
    for command, *arguments in examples:
        given = [word for word in arguments if word not in ("--games", "1000")]
        shorter = {"match": ["--games", 20], "study": ["--dry-run"]}.get(command, [])
        assert run(command, *given, *shorter).exit_code == 0


def test_help_names_every_agent():
    shown = run("match", "--help").output
    assert all(name in shown for name in agent_names())


def test_version():
    assert run("--version").output == f"geo-patrol {__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["match", "idle", "idle", "--games", "2"]])
def test_output_for_terminals_without_unicode(arguments):
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(
        [sys.executable, "-m", "geo_patrol", *arguments],
        capture_output=True,
        encoding="ascii",
        check=False,
        env=environment,
    )
    errors = [line for line in ran.stderr.splitlines() if "compiling the game engine" not in line]
    assert (ran.returncode, errors) == (0, [])


def list_commands(group=None, names=()):
    """Yield the words and the options of every command."""
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, (*names, name))
        else:
            yield (*names, name), [each for each in command.params if each.param_type_name == "option"]


@pytest.mark.slow
def test_every_option_of_every_command_is_collected_or_given_once():
    """By any of its names."""
    single = [(names, option) for names, options in list_commands() for option in options if not option.multiple]
    assert len(single) > 150
    for names, option in single:
        given = [(name, *(["1"] * option.nargs if not option.is_flag else [])) for name in option.opts]
        ran = run(*names, *given[0], *given[-1], columns=200)
        assert (ran.exit_code, f"Option '{option.opts[0]}' must be given once, got it 2 times." in ran.stderr) == (
            2,
            True,
        ), names


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
def test_output_file_replaces_an_older_one_at_the_end(tmp_path, monkeypatch):
    path, link = tmp_path / "x.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    with output_file(str(link)) as stream:
        stream.write("new")
        assert path.read_text() == "old"
    assert link.is_symlink()
    with pytest.raises(ZeroDivisionError), output_file(str(path)) as stream:
        stream.write(f"half {1 / 0}")
    assert path.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [link, path]
    with output_file(os.devnull) as stream:
        stream.write("gone")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=r"x\.txt cannot be written: it is write-protected"), output_file(str(path)):
        pass


@pytest.mark.parametrize(
    "arguments",
    [
        ("match", "idle", "idle", "-n", 2, "--json", "{}"),
        ("match", "idle", "idle", "-n", 2, "--csv", "{}"),
        ("match", "idle", "idle", "-n", 2, "--save", "{}.jsonl"),
        ("tournament", "idle", "random", "-n", 2, "--out", "{}"),
        ("sweep", "-v", "turn_limit=1", "-n", 2, "--csv", "{}"),
        ("sweep", "-v", "turn_limit=1", "-n", 2, "--out", "{}"),
        ("sprt", "idle", "idle", "--json", "{}"),
        ("exploit", "random", "--out", "{}"),
        ("solve", "duel", "--out", "{}"),
        ("print", "-o", "{}"),
        ("print", "-o", "{}.pdf"),
        ("fly", "--orders", "launch D13", "--save", "{}.svg"),
        ("fly", "--blank-map", "{}.svg"),
        ("report", DATA / "replay.jsonl.gz", "-o", "{}"),
        ("replay", DATA / "replay.jsonl.gz", "--csv", "{}"),
        ("replay", DATA / "replay.jsonl.gz", "--html", "{}"),
        ("replay", DATA / "replay.jsonl.gz", "--svg", 1, "-o", "{}.svg"),
        ("replay", DATA / "replay.jsonl.gz", "--gif", "{}.gif"),
        ("replay", DATA / "replay.jsonl.gz", "--mp4", "{}.mp4"),
    ],
    ids=lambda arguments: " ".join(str(word) for word in arguments if str(word).startswith("-") or str(word).isalpha()),
)
def test_outputs_that_cannot_be_written_are_named_before_anything_is_played(arguments, tmp_path, monkeypatch):
    monkeypatch.setattr("geo_patrol.evaluation.executors.play_chunk", lambda *_: pytest.fail("played"))
    (tmp_path / "file").write_text("")
    target = str(tmp_path / "file" / "inside")  # below a file
    ran = run(*(str(word).replace("{}", target) for word in arguments))
    assert ran.exit_code == 2, ran.output
    assert ran.stderr.startswith("geo-patrol: ")
    assert target in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_errors_of_the_library_are_one_line_and_bugs_keep_their_traceback(capsys):
    with pytest.raises(SystemExit) as leaving, plain_errors():
        raise ConfigError("alpha.fuel is negative")
    assert leaving.value.code == 2
    assert capsys.readouterr().err == "geo-patrol: alpha.fuel is negative\n"
    with pytest.raises(ValueError, match="a bug"), plain_errors():
        raise ValueError("a bug")
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("play", "--text", "--against", "idle", "-c", "duel", "-s", "turn_limit=+2"), "turn_limit 4 -> 6"),
        (
            ("print", "-o", "sheets", "--sheets", "board", "-c", "case1", "-s", "alpha.patrols.fuel=-1"),
            "alpha.patrols.fuel 100 -> 99",
        ),
        (("print", "-o", "sheets", "--sheets", "map", "-m", "sample", "-s", "turns=+2"), "turns 15 -> 17"),
        (("fly", "--orders", "launch D13", "-s", "turns=-20%"), "turns 15 -> 12"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_commands_say_what_an_override_has_changed(arguments, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ran = run(*arguments)
    assert (ran.exit_code, f"geo-patrol: {shown}\n" in ran.stderr) == (0, True), ran.stderr
