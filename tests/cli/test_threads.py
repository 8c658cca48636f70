"""Commands use one thread for linear algebra, unless the user chooses a number."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")

VARIABLES = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
COUNT = "import os, numpy; print(len(os.listdir('/proc/self/task')))"
COUNT_IN_COMMAND = f"""
import contextlib, sys
sys.argv = ["geo-patrol", "--version"]
from geo_patrol_command import main
with contextlib.suppress(SystemExit):
    main()
{COUNT}
"""


def count_threads(code, **variables):
    """Return the number of threads of a new process after some code, which include those that NumPy has started."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | variables
    source = str(Path(__file__).parents[2] / "src")
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(ran.stdout.splitlines()[-1])


def test_one_thread():
    assert count_threads(COUNT_IN_COMMAND) == 1


def test_a_number_that_the_user_has_set_stays():
    expected = count_threads(COUNT, OMP_NUM_THREADS="2")  # 1 on a single core
    assert count_threads(COUNT_IN_COMMAND, OMP_NUM_THREADS="2") == expected
