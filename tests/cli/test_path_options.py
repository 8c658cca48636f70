"""Paths in arguments and options of all commands: home directories."""

import os
import re
import subprocess
import sys
from functools import partial

import pytest
import typer

from geo_patrol.cli.app import app
from tests.support.commands import run as run_command


def parameters(command, *names):
    """Yield a command line for every argument and option of a command and its subcommands that names a file or a folder."""
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from parameters(subcommand, *names, name)
    for parameter in command.params:
        if re.search("FILE|DIR|FOLDER", parameter.metavar or "") and "AGENT" not in parameter.metavar:
            options = [option for option in parameter.opts if option.startswith("--")]
            yield [*names, *options]


PARAMETERS = list(parameters(typer.main.get_command(app)))
assert len(PARAMETERS) > 30

run = partial(run_command, columns=200)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=" ".join)
def test_every_path_of_a_command_may_begin_with_a_home_directory(parameter):
    ran = run(*parameter, "~nobody-of-that-name/x")
    assert ran.exit_code == 2
    assert "there is no user 'nobody-of-that-name'" in ran.output


def test_a_file_behind_an_equals_sign_is_written_into_the_home_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run("print", "--output=~/sheets/").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["sheets"]


WITHOUT_HOME = """
import os, pwd

os.environ.pop("HOME", None)
os.environ.pop("XDG_STATE_HOME", None)

def unknown(*_):
    raise KeyError("uid not found")

pwd.getpwuid = unknown
{more}
from geo_patrol_command import main; main()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="users of POSIX")
@pytest.mark.parametrize("command", ["play --text --against random --seed 1", "play", "learn", "fly"])
def test_no_home_directory_is_needed(command):
    """By a user whom the system does not know, without HOME; pages are not opened."""
    is_page = "--text" not in command
    more = "from geo_patrol.web.local import LocalPage; LocalPage.run = lambda *_: None" if is_page else ""
    words = [*command.split(), *(["--no-browser"] if is_page else [])]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_HOME.format(more=more), *words],
        input="rest\nq\n", env=os.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Games are not saved: ~/.local/state: no home directory is known, set HOME.\n" in done.stderr
