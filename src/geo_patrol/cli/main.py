"""The entry point of the command line."""

import sys

from geo_patrol_command import leave_on_interrupt


def main() -> None:
    """Run the command ``geo-patrol`` with the arguments of the process."""
    leave_on_interrupt()  # a running command handles Ctrl-C itself
    from geo_patrol.cli.app import app
    from geo_patrol.cli.errors import discard_output

    status: str | int | None = 0
    try:
        app(prog_name="geo-patrol")
    except SystemExit as exit_request:
        status = exit_request.code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        status = status or 1
    sys.exit(status)
