"""The entry point of ``geo-patrol``: what must be done before anything else is imported.

It is a package of its own because importing any module of ``geo_patrol`` imports Gymnasium, PettingZoo and NumPy first.
Ctrl-C would print a traceback during that time, NumPy would start its threads, and the first file that is opened would get
the number of a standard stream that is closed.
"""

import os
import signal
import sys
from contextlib import suppress


def _leave(number: int, _frame: object) -> None:
    """Print that the program was interrupted, and end it immediately, with the exit status that shells give a signal."""
    with suppress(OSError):  # the terminal may be gone
        os.write(2, b"geo-patrol: interrupted\n")  # sys.stderr may be in the middle of a write
    os._exit(128 + number)


def _leave_on_interrupt() -> None:
    """Let Ctrl-C end the program immediately, unless it is ignored, as behind ``nohup``; commands handle it themselves."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _open_streams() -> None:
    """Open the null device for each standard stream that is closed; a file gets the lowest number that is free."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - pathlib is not imported yet


def _use_one_thread() -> None:
    """Let NumPy and PyTorch use one thread for linear algebra, here and in processes started from here.

    More wait for each other in busy loops; docs/results/experiments.md has figures. A number that the user has set stays.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def main() -> None:
    """Run the command line with the arguments of the process."""
    _leave_on_interrupt()
    _open_streams()
    _use_one_thread()
    from geo_patrol.cli.app import main as run

    run()
