"""A disk that is full after some calls."""

import errno
import os
from unittest import mock


class FullDisk:
    """Lets ``os.fsync``, without which nothing here is stored, fail in this process until it is closed.

    Attributes:
        calls: how many of it succeed before all fail; None while all do.
    """

    def __init__(self):
        self.calls, self._fsync = None, os.fsync
        self._patch = mock.patch.object(os, "fsync", self._call)
        self._patch.start()

    def _call(self, descriptor):
        if self.calls is not None:
            self.calls -= 1
            if self.calls < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        self._fsync(descriptor)

    def close(self):
        """Give the real function back."""
        self._patch.stop()
