"""The speed at which one core copies memory, an upper bound for writing observations."""

import numpy as np

from benchmarks.contestants.base import Contestant, Workload

_MEBIBYTE = 2**20


def make_copy(batch: int) -> Workload:
    """Create a copy of ``batch`` MiB from one array to another; each byte copied counts once."""
    source = np.ones(batch * _MEBIBYTE, np.uint8)
    target = np.zeros_like(source)
    return Workload(lambda: np.copyto(target, source), payload=source.nbytes)


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
