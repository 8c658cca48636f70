"""How long it takes to import the package and to get to the first step, in fresh interpreters."""

import os
import subprocess
import sys
import tempfile

from benchmarks.results import Startup

_UNDER_IT = "import numpy, numba, gymnasium, pettingzoo"
_FIRST_STEP = """
import time
import geo_patrol
start = time.perf_counter()
from geo_patrol import geo_patrol_v0
env = geo_patrol_v0.parallel_env()
env.reset(seed=0)
env.step(env.sample_actions())
print(time.perf_counter() - start)
"""


def _seconds_said_by(code: str, cache: str | None = None) -> float:
    """Return the number that a fresh interpreter prints when it runs code."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(result.stdout)


def _seconds_of(code: str) -> float:
    """Return how long a fresh interpreter takes to run code, its own start left aside."""
    return _seconds_said_by(f"import time; start = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)")


def measure_round(startup: Startup) -> None:
    """Measure everything once, but for the compilation."""
    startup.imports.append((_seconds_of("import geo_patrol"), _seconds_of(_UNDER_IT)))
    startup.warm.append(_seconds_said_by(_FIRST_STEP))


def measure_compilation(startup: Startup) -> None:
    """Measure the first step with nothing compiled, in a cache folder of its own."""
    with tempfile.TemporaryDirectory() as cache:
        startup.cold = _seconds_said_by(_FIRST_STEP, cache)
