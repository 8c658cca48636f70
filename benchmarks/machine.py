"""A description of the machine and the software."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.results import Machine

CAN_PIN = hasattr(os, "sched_setaffinity")
_PACKAGES = (
    "SuperSuit",
    "envpool",
    "gymnasium",
    "jax",
    "jaxlib",
    "mpe2",
    "numba",
    "numpy",
    "pettingzoo",
    "pgx",
    "pygame-ce",
)


def processor_name() -> str:
    """Return the name of the processor."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()


def machine_name() -> str:
    """Return the processor, the number of cores and the version of Python, for the line below a table."""
    return f"{processor_name()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def describe_machine() -> Machine:
    """Return what is needed to interpret the results."""
    return Machine(
        processor=f"{processor_name()} ({platform.machine()})",
        cores=os.cpu_count() or 1,
        memory_gib=_memory_gib(),
        system=platform.system(),
        python=platform.python_version(),
        versions=_versions(),
        load=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        is_pinned=CAN_PIN,
    )


def _memory_gib() -> float:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return 0.0


def _versions() -> dict[str, str]:
    """Return the versions of the packages measured that are installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
