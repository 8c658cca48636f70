"""Command line: one file a command."""

import os
import sys

from geo_patrol_command import leave_on_interrupt


def main() -> None:
    """Run the command ``geo-patrol`` with the arguments of the process."""
    leave_on_interrupt()  # a command hears Ctrl-C by itself, while it runs
    from geo_patrol.cli.app import app

    status: str | int | None = 0
    try:
        app(prog_name="geo-patrol")
    except SystemExit as leaving:
        status = leaving.code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more; without this the interpreter would complain when it flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    sys.exit(status)
