"""A short run of ``scripts/fuzz_server.py``."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the server as Linux tells it")
def test_damaged_messages_and_requests_disturb_no_game():
    command = [sys.executable, "-m", "scripts.fuzz_server", "--messages", "150", "--seed", "1", "--max-wait", "10"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    games, phases, refused = re.search(
        r"requests, (\d+) games; (\d+) phases.*'bad_message': (\d+)", result.stdout
    ).groups()
    assert int(games) >= 1
    assert int(phases) >= 1
    assert int(refused) > 50
