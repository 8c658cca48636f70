"""Average the weights of a policy and of one that was trained on from it.

python scripts/average_policies.py runs/base2/policy.safetensors runs/base3/policy.safetensors --share 0.7 --out base.safetensors

What training learns last it pays for with some of what it knew. Between the two lie policies that have most of both
(Wortsman et al., "Robust fine-tuning of zero-shot models", 2022).
"""

import argparse
from pathlib import Path

from geo_patrol.agents.policy.weights import read_weights, write_weights


def average(before: Path, after: Path, share: float, out: Path) -> None:
    """Write the policy that lies a share of the way from one to the other."""
    first, last = read_weights(before), read_weights(after)
    mixed = {name: (1 - share) * first[name] + share * last[name] for name in first}
    told = f"{1 - share:g} of the weights before a last stage of training, {share:g} of those after it"
    write_weights(out, mixed, {"average": told})


def main() -> None:
    """Read arguments and average."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="policy before the last stage of training")
    parser.add_argument("after", type=Path, help="policy after it")
    parser.add_argument("--share", type=float, default=0.7, help="how much the latter counts (default 0.7)")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    average(arguments.before, arguments.after, arguments.share, arguments.out)


if __name__ == "__main__":
    main()
