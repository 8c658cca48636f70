"""The time to import the package and to get to the first step, in fresh interpreters."""

import os
import subprocess
import sys
import tempfile

from benchmarks.results import Startup

_LIBRARIES = "import numpy, numba, gymnasium, pettingzoo"
_FIRST_STEP = """
import time
import geo_patrol
start = time.perf_counter()
from geo_patrol import geo_patrol_v0
env = geo_patrol_v0.parallel_env()
env.reset(seed=0)
env.step(env.sample_actions())
"""
_FIRST_USE = """
envs = geo_patrol.make_vec("geo_patrol", 2)
envs.reset(seed=0)
envs.step(envs.sample_actions())
geo_patrol.play_match("scripted", "random", games=2, seed=0)
"""
_PRINT = "print(time.perf_counter() - start)\n"


def _run_timer(code: str, cache: str | None = None) -> float:
    """Run code that prints seconds in a fresh interpreter, and return them."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(result.stdout)


def _time_code(code: str) -> float:
    """Return the seconds that a fresh interpreter takes to run code, without its own start."""
    return _run_timer(f"import time; start = time.perf_counter()\n{code}\n{_PRINT}")


def measure_round(startup: Startup) -> None:
    """Measure imports and the first step once, with compiled code in the cache."""
    startup.imports.append((_time_code("import geo_patrol"), _time_code(_LIBRARIES)))
    startup.warm.append(_run_timer(_FIRST_STEP + _PRINT))


def measure_compilation(startup: Startup) -> None:
    """Measure the first step, and the first use of everything common, each with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        startup.cold = _run_timer(_FIRST_STEP + _PRINT, cache)
    with tempfile.TemporaryDirectory() as cache:
        startup.first_use = _run_timer(_FIRST_STEP + _FIRST_USE + _PRINT, cache)
