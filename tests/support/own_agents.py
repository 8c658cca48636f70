"""Agents as users write them, good and bad, for tests to load by file and name."""

import os
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from geo_patrol.agents.basic import RandomAgent


class Polite(RandomAgent):
    """Random under another name, that prints and uses the other encoding."""

    name = "polite"
    observation = "onehot"

    def act(self, observations, action_masks, generator):
        print("thinking ...")  # noqa: T201
        assert observations.shape == (len(action_masks), 1591)
        return super().act(observations, action_masks, generator)


class Raises(RandomAgent):
    """Raises an exception in the third phase."""

    def reset(self, new_games):
        self.phases = 0

    def act(self, observations, action_masks, generator):
        self.phases += 1
        if self.phases == 3:
            raise KeyError("where am I")
        return super().act(observations, action_masks, generator)


class Sleeps(RandomAgent):
    def act(self, *_):
        time.sleep(3600)


class Dozes(RandomAgent):
    def act(self, *arguments):
        time.sleep(0.3)
        return super().act(*arguments)


class Spins(RandomAgent):
    """Hangs where no signal is handled: in compiled code that keeps the interpreter's lock."""

    def act(self, *_):
        return 10 ** (10**10)


class Garbage(RandomAgent):
    def act(self, *_):
        return "prograde, please"


class Killed(RandomAgent):
    def act(self, *_):
        os.kill(os.getpid(), signal.SIGKILL)


class Leaves(RandomAgent):
    def act(self, *_):
        sys.exit(3)


class Stalls(RandomAgent):
    def reset(self, new_games):
        time.sleep(3600)


class Hogs(RandomAgent):
    """Reserves memory until that fails; pages that are never written to use none."""

    def act(self, *_):
        arrays = []
        try:
            while True:
                arrays.append(np.zeros(2**24))
        except MemoryError as error:
            raise MemoryError(f"after {len(arrays) / 8} GiB") from error


class Shouts(RandomAgent):
    def act(self, *_):
        raise ValueError("line one\nline two \x1b[31m" + 1000 * "!")


class Mute(RandomAgent):
    def act(self, *_):
        raise Unspeakable


class Unspeakable(Exception):  # noqa: N818
    def __str__(self):
        raise RuntimeError("no words")


class Special(np.ndarray):
    """An array class that only this module defines."""


class Disguises(RandomAgent):
    def act(self, observations, action_masks, generator):
        return super().act(observations, action_masks, generator).view(Special)


class NeverMade(RandomAgent):
    def __init__(self):
        raise FileNotFoundError("weights.npz")


class Counter(RandomAgent):
    """Idle in the first batch, and random in every later one: its state outlives the batch."""

    batches = 0

    def reset(self, new_games):
        self.batches += 1

    def act(self, observations, action_masks, generator):
        if self.batches == 1:
            return np.zeros(action_masks.shape[:2], np.int64)
        return super().act(observations, action_masks, generator)


class NoAgent:
    def act(self):
        pass


ready_made = Polite()


def channels():
    """Return the sockets of this process: a mean agent finds the one that its answers go through."""
    found = []
    for number in sorted(int(path.name) for path in Path("/dev/fd").iterdir()):
        try:
            if number > 2 and stat.S_ISSOCK(os.fstat(number).st_mode):
                found.append(number)
        except OSError:
            continue
    return found


class SendsHalf(RandomAgent):
    """Begins an answer and never ends it."""

    answer = struct.pack("!Q", 100) + b"{"

    def act(self, *_):
        for number in channels():
            os.write(number, self.answer)
        time.sleep(3600)


class SendsTooMuch(SendsHalf):
    answer = struct.pack("!Q", 1 << 40)


class SendsNoAnswer(SendsHalf):
    answer = struct.pack("!Q", 12) + b'{"orders":1}'


class SendsPickle(SendsHalf):
    """Returns an object that would create a file if it were unpickled."""

    content = b"cos\nsystem\n(S'touch unpickled'\ntR."
    answer = struct.pack("!Q", len(content)) + content


class StartsPrograms(RandomAgent):
    """Starts a program that starts another one; both keep standard error open."""

    def reset(self, new_games):
        subprocess.run(["/bin/sh", "-c", "sleep 3600 & sleep 3600 &"], check=True)


class StartsProgramsAndSpins(StartsPrograms):
    act = Spins.act


class LeavesChild(RandomAgent):
    """Dies and leaves a child that keeps the channel open."""

    def act(self, *_):
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(3)
