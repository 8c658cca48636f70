"""``geo-patrol warmup``: compile ahead what the first use would compile."""

from enum import StrEnum
from typing import Annotated

import typer


class _Device(StrEnum):
    cpu = "cpu"
    cuda = "cuda"


def warmup(
    device: Annotated[
        _Device, typer.Option(help="What to compile for: with cuda, games on a GPU as well.")
    ] = _Device.cpu,
) -> None:
    """Compile the engine, the agents and the flight games for this machine, and keep the result.

    The first use of the package compiles what it needs, which takes up to a minute. Run this where that should
    not happen: when an image is built, before tests in parallel, before a class. It takes a second where all is compiled.
    """
    from geo_patrol.base.compile_cache import CACHE_FOLDER
    from geo_patrol.cli.compiling import compile_all

    for name, seconds in compile_all(device.value):
        print(f"{name}: ready after {seconds:.1f} s")
    if CACHE_FOLDER is None:
        print("Nothing was kept: no folder is writable. Set NUMBA_CACHE_DIR to one that is.")
