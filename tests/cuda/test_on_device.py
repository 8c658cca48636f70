"""What needs a GPU: random phases by the million, and what the profiler and NVIDIA's memory checker see of a step."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba_cuda")
torch = pytest.importorskip("torch")

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_cuda.py"
CHECKER = shutil.which("compute-sanitizer")

if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)


def check(out, *arguments, run_by=()):
    command = [*run_by, sys.executable, str(SCRIPT), *arguments, "--out", str(out)]
    subprocess.run(command, check=True, timeout=7200)
    return json.loads(out.read_text(encoding="utf-8"))


def test_a_million_random_phases_of_each_preset_and_a_thousand_random_boards(tmp_path):
    found = check(tmp_path / "out.json", "equal", "--phases", "1000000", "--boards", "1000")["equal"]
    assert found["differences"] == {}
    assert (found["boards"], found["phases"] >= 1_000_000 * found["presets"]) == (1000, True)


def test_a_step_copies_nothing_to_the_host_or_from_it(tmp_path):
    found = check(tmp_path / "out.json", "copies")["copies"]
    assert found["events"] > 0
    assert found["copies"] == []


@pytest.mark.skipif(CHECKER is None, reason="compute-sanitizer is not installed")
def test_no_kernel_leaves_its_memory(tmp_path):
    memcheck = (CHECKER, "--tool", "memcheck", "--error-exitcode", "9")
    assert check(tmp_path / "out.json", "equal", "--small", run_by=memcheck)["equal"]["differences"] == {}
