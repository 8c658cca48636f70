"""Command line: one file a command."""

import os
import sys


def main() -> None:
    """Run the command ``geo-patrol`` with the arguments of the process."""
    status: str | int | None = 0
    try:
        from geo_patrol.cli.app import app

        app(prog_name="geo-patrol")
    except SystemExit as leaving:
        status = leaving.code
    except KeyboardInterrupt:  # while the commands were being imported
        print("geo-patrol: interrupted", file=sys.stderr)
        status = 130
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more; without this the interpreter would complain when it flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    sys.exit(status)
