"""Ctrl-C at any moment of a command: one line, exit status 130, no traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
GAMES = Path(__file__).parents[1] / "data" / "replay.jsonl.gz"
START = "from geo_patrol_command import main; main()"
MATCH = ("match", "idle", "random", "-n", "2")
INTERRUPT = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"

if sys.platform == "win32":
    pytest.skip("processes there cannot send themselves Ctrl-C, and there is no SIGHUP", allow_module_level=True)


def run(code, *arguments, path=SOURCE):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{SOURCE}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("imported", ["gymnasium", "typer", "pydantic_core"])
def test_while_a_library_is_imported(imported, tmp_path):
    (tmp_path / f"{imported}.py").write_text(INTERRUPT)
    ran = run(START, "configs", path=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "geo-patrol: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("called", "arguments"),
    [
        ("typer.core.TyperGroup.make_context", ["configs"]),
        ("geo_patrol.config.presets.load_config", ["configs", "case1"]),
    ],
)
def test_while_arguments_are_read_and_while_a_command_runs(called, arguments):
    interrupt = "lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)"
    patch = f"import os, signal; from unittest import mock; mock.patch({called!r}, {interrupt}).start()\n"
    ran = run(patch + START, *arguments)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "geo-patrol: interrupted\n")


@pytest.mark.slow
def test_while_code_is_compiled_or_loaded(tmp_path):
    """An exception would be lost inside of LLVM: the process ends at once."""
    interrupt = "lambda *_: (os.kill(os.getpid(), signal.SIGINT), print('went on'))"
    patch = (
        "import os, signal; from unittest import mock\n"
        f"mock.patch('geo_patrol.base.compile_cache.CheckedCache.load_overload', {interrupt}).start()\n"
    )
    ran = run(patch + START, "match", "idle", "random", "-n", "2", "--save", tmp_path / "games.jsonl")
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr.endswith("geo-patrol: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def ending(name, number):
    """Patch a function to send the process a signal twice, as timeout does, to it and to its group."""
    send = f"(os.kill(os.getpid(), {number:d}), os.kill(os.getpid(), {number:d}), time.sleep(1))"
    return f"import os, time; from unittest import mock\nmock.patch({name!r}, lambda *_, **__: {send}).start()\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("called", "arguments", "number"),
    [
        (*case, signal.SIGTERM)
        for case in (
            ("geo_patrol.evaluation.executors.play_chunk", [*MATCH, "--save", "x.jsonl"]),
            ("geo_patrol.replays.files.LineStream.write", [*MATCH, "--save", "x.jsonl.gz"]),
            ("json.dump", [*MATCH, "--json", "x.json"]),
            ("geo_patrol.play.text_game.play_text", ["play", "--text", "--against", "random", "--save", "x.jsonl.zst"]),
            ("geo_patrol.cli.print._write_pdf", ["print", "--output", "x.pdf"]),
            ("geo_patrol.window.film._encode", ["replay", GAMES, "--mp4", "x.mp4"]),
        )
    ]
    + [("geo_patrol.replays.summaries.summarise", ["replay", GAMES, "--csv", "x.csv"], signal.SIGHUP)],
)
def test_a_file_that_is_being_written_is_removed(called, arguments, number, tmp_path):
    *options, target = arguments
    ran = run(ending(called, number) + START, *options, tmp_path / target)
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (128 + number, "geo-patrol: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_hangup_that_nohup_ignores_is_ignored():
    ran = run(
        f"import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{ending('os.getlogin', signal.SIGHUP)}os.getlogin()\n{START}",
        "configs",
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_at_exit():
    ran = run("import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)\n" + START, "--version")
    assert (ran.returncode, ran.stderr) == (130, "geo-patrol: interrupted\n")
    assert ran.stdout.startswith("geo-patrol ")


def test_a_process_that_ignores_it_continues():
    ran = run(f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{INTERRUPT}{START}", "--version")
    assert (ran.returncode, ran.stderr) == (0, "")
