"""The program ``geo-patrol``, which hears Ctrl-C before anything else is imported.

It stands beside the package: whatever is imported of that imports Gymnasium and PettingZoo first, and a Ctrl-C
meanwhile would end in a traceback.
"""

import os
import signal

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def leave(_signal: int = signal.SIGINT, _frame: object = None) -> None:
    """Say that the program was interrupted, and end it on the spot."""
    os.write(2, b"geo-patrol: interrupted\n")  # the streams may be in the middle of something
    os._exit(INTERRUPTED)


def leave_on_interrupt() -> None:
    """Let Ctrl-C end the program on the spot, unless it is to be ignored, as behind ``nohup``."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def main() -> None:
    """Run the command with the arguments of the process."""
    leave_on_interrupt()
    from geo_patrol.cli.main import main as run

    run()
