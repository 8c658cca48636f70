"""When things happen in a training run: a clock, and events at even distances."""

import time

import numpy as np


class Clock:
    """Measures a run that may continue an interrupted one.

    Args:
        steps: environment steps before this run.
        minutes: training time before this run.
    """

    def __init__(self, steps: int, minutes: float) -> None:
        self._first_step, self._first_minutes = steps, minutes
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Return the time since the run started or continued."""
        return time.perf_counter() - self._start

    def minutes(self) -> float:
        """Return the training time in all."""
        return self._first_minutes + self.seconds() / 60

    def steps_per_second(self, steps: int) -> float:
        """Return the speed since the run started or continued."""
        return (steps - self._first_step) / self.seconds()


class EvenSchedule:
    """Events that divide a run into equal intervals; its end is none of them.

    Args:
        intervals: how many intervals.
        progress: fraction of the run that is over already.
    """

    def __init__(self, intervals: int, progress: float) -> None:
        self._remaining = [fraction for fraction in np.linspace(0, 1, intervals + 1)[1:-1] if fraction > progress]

    def is_due(self, progress: float) -> bool:
        """Return whether an event was passed since the last call."""
        is_passed = bool(self._remaining) and progress >= self._remaining[0]
        self._remaining = [fraction for fraction in self._remaining if fraction > progress]
        return is_passed and progress < 1
