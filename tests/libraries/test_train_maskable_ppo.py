"""The training example runs in its short mode, and writes a policy and a learning curve."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sb3_contrib = pytest.importorskip("sb3_contrib")
pytest.importorskip("matplotlib")

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_maskable_ppo.py"


def test_short_training(tmp_path):
    short = ["--minutes", "0.2", "--games", "20", "--evaluations", "2", "--out", str(tmp_path / "new" / "folder")]
    result = subprocess.run([sys.executable, EXAMPLE, *short], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "training against random" in result.stdout
    assert "training against scripted" in result.stdout
    assert result.stdout.count("win rate against random") >= 2
    loaded = sb3_contrib.MaskablePPO.load(tmp_path / "new" / "folder" / "maskable_ppo.zip", device="cpu")
    orders, _ = loaded.predict(np.zeros((2, 1591), np.float32), action_masks=np.ones((2, 308), bool))
    assert orders.shape == (2, 11)
    assert (tmp_path / "new" / "folder" / "maskable_ppo.png").read_bytes().startswith(b"\x89PNG")
