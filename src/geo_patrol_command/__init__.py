"""The entry point of ``geo-patrol``: it installs a handler for Ctrl-C before anything else is imported.

It is a package of its own because importing any module of ``geo_patrol`` imports Gymnasium and PettingZoo first, and
Ctrl-C would print a traceback during that time.
"""

import os
import signal

INTERRUPTED = 130
"""The exit status after Ctrl-C, as in shells."""


def leave(_signal: int = signal.SIGINT, _frame: object = None) -> None:
    """Print that the program was interrupted, and end it immediately."""
    os.write(2, b"geo-patrol: interrupted\n")  # sys.stderr may be in the middle of a write
    os._exit(INTERRUPTED)


def leave_on_interrupt() -> None:
    """Let Ctrl-C end the program immediately, unless it is ignored, as behind ``nohup``."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def main() -> None:
    """Run the command line with the arguments of the process."""
    leave_on_interrupt()
    from geo_patrol.cli.main import main as run

    run()
