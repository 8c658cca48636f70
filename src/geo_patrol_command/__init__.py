"""The entry point of ``geo-patrol``: what must be done before anything else is imported.

It is a package of its own because importing any module of ``geo_patrol`` imports Gymnasium, PettingZoo and NumPy first.
Ctrl-C would print a traceback during that time, and NumPy would start its threads.
"""

import os
import signal
from contextlib import suppress

SIGNALLED = 128
"""Added to the number of a signal in exit statuses, as in shells."""
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


def leave(number: int = signal.SIGINT, _frame: object = None) -> None:
    """Print that the program was interrupted, and end it immediately, with the exit status that shells give a signal."""
    with suppress(OSError):  # the terminal may be gone
        os.write(2, b"geo-patrol: interrupted\n")  # sys.stderr may be in the middle of a write
    os._exit(SIGNALLED + number)


def leave_on_interrupt() -> None:
    """Let Ctrl-C end the program immediately, unless it is ignored, as behind ``nohup``."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def use_one_thread() -> None:
    """Let NumPy and PyTorch use one thread for linear algebra, here and in processes started from here.

    More wait for each other in busy loops; docs/experiments.md has figures. A number that the user has set stays.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def main() -> None:
    """Run the command line with the arguments of the process."""
    leave_on_interrupt()
    use_one_thread()
    from geo_patrol.cli.app import main as run

    run()
