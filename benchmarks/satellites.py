"""One agent for each satellite beside one for the side: ``python -m benchmarks.satellites --minutes 4 --seeds 3``.

Trains by each method of ``examples/mappo_satellites.py`` with each seed, one after the other on one thread. A run has so many
minutes of the processor, which do not pass while other work has it. It becomes a line of ``benchmarks/satellites.jsonl``; one
that is there is not trained again, and an interrupted one continues. Afterwards the table is in docs/baselines.md.
"""

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.baselines import DOCUMENT, ROOT, Run, append_line, read_lines, tables
from benchmarks.machine import machine_name
from benchmarks.publish import put_between_markers

EXAMPLE = ROOT / "examples" / "mappo_satellites.py"
METHODS = ("mappo", "ippo", "joint")
CONFIG = "geo_patrol"
RESULTS = Path(__file__).with_name("satellites.jsonl")
"""Every run with its win rates, command and the hash of its weights."""


def train(method: str, seed: int, minutes: float, out: Path) -> Run:
    """Train by a method in a process of its own, and return the result."""
    folder = out / f"{method}-{minutes:g}min-seed{seed}"
    budget = ["--minutes", f"{minutes:g}", "--clock", "cpu"]
    options = ["--method", method, *budget, "--seed", str(seed), "--config", CONFIG, "--device", "cpu"]
    subprocess.run([sys.executable, EXAMPLE, *options, "--out", folder], check=True)
    row = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    file = folder / "agent.pt"
    return Run(
        method=method,
        config=CONFIG,
        seed=seed,
        time_limit=minutes,
        minutes=row["minutes"],
        curve=[row],
        file=str(file.relative_to(out)),
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        machine=machine_name(),
        command=" ".join(["python", str(EXAMPLE.relative_to(ROOT)), *options]),
    )


def main() -> None:
    """Train what is missing, and write the table into the document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=4.0, help="processor time of each run (default: 4)")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each method (default: 3)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "satellites", help="folder for the trainings")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # docs/training.md, Threads
    done = {(run.method, run.seed, run.time_limit) for run in read_lines(RESULTS, Run)}
    for seed, method in itertools.product(range(arguments.seeds), METHODS):
        if (method, seed, arguments.minutes) not in done:
            append_line(RESULTS, train(method, seed, arguments.minutes, arguments.out))
    text = put_between_markers(DOCUMENT.read_text(encoding="utf-8"), tables(read_lines(RESULTS, Run)), "satellites")
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
