"""Interpolate between the weights of a policy and of one that was fine-tuned from it.

python scripts/average_policies.py runs/before/policy.safetensors runs/after/policy.safetensors --weight 0.7 --out base.safetensors

Fine-tuning forgets some of what was learned before; policies between the two have most of both (Wortsman et al.,
"Robust fine-tuning of zero-shot models", 2022).
"""

import argparse
from pathlib import Path

from geo_patrol.agents.policy import read_weights, write_weights


def average(before: Path, after: Path, weight: float, out: Path) -> None:
    """Write (1 - weight) times the first policy plus weight times the second."""
    first, last = read_weights(before), read_weights(after)
    interpolated = {name: (1 - weight) * first[name] + weight * last[name] for name in first}
    description = f"{1 - weight:g} of the weights before a last stage of training, {weight:g} of those after it"
    write_weights(out, interpolated, {"average": description})


def main() -> None:
    """Parse arguments and write the average."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="policy before fine-tuning")
    parser.add_argument("after", type=Path, help="policy after fine-tuning")
    parser.add_argument("--weight", type=float, default=0.7, help="weight of the latter (default 0.7)")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    average(arguments.before, arguments.after, arguments.weight, arguments.out)


if __name__ == "__main__":
    main()
