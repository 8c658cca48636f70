"""How fast one core copies memory: the limit for everything that writes observations."""

import numpy as np

from benchmarks.contestants.base import Contestant, Load

_MEBIBYTE = 2**20


def make_copy(batch: int) -> Load:
    """Return a copy of ``batch`` MiB from one array to another by NumPy; each byte copied counts once."""
    source = np.ones(batch * _MEBIBYTE, np.uint8)
    target = np.zeros_like(source)
    return Load(lambda: np.copyto(target, source), payload=source.nbytes)


CONTESTANTS = [
    Contestant(
        name="copy",
        title="numpy.copyto, large arrays (batch: MiB)",
        process="memory",
        packages=("numpy",),
        batch=256,
        quick_batch=4,
        includes="bytes copied, counted once each",
        make=make_copy,
        is_peer=False,
    ),
]
