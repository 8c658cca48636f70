"""A data set for offline learning, with reference scores: ``python -m research.offline_data run``, then ``publish``.

Agents of different strength play matches against the same opponent, which are recorded; what they score is the scale for
policies that learn from the games. A replay holds seeds and orders, so a thousand games take a megabyte or two.
"""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pydantic import BaseModel

from benchmarks.documents import DOCS, ROOT, markdown_table, with_blocks
from geo_patrol import play_match
from geo_patrol.cli.output import Commands
from geo_patrol.replays.datasets import ReplayDataset
from research.downloads import enter, pack

DOCUMENT = DOCS / "results" / "experiments.md"
PUBLISHED = Path(__file__).with_name("offline_data.json")
"""The reference scores that the document shows."""
CONFIG, OPPONENT, BEHAVIORS = "geo_patrol", "scripted", ("random", "scripted", "policy:base")
LOWEST, HIGHEST = "random", "policy:base"
"""Their mean returns are 0 and 100 in normalized scores."""
NAME = "geo_patrol-scripted-v0"
_OUT = ROOT / "build" / "offline_data"
_SCORES = "scores.json"


class Reference(BaseModel):
    """What an agent scores against the opponent.

    Attributes:
        agent: its name.
        games: how many are recorded, half of them on each side.
        decisions: of this agent in them.
        mean_return: mean difference of the scores at the end.
        standard_error: of that mean, from pairs of games with the same seed.
        win_rate: wins over games.
        size: bytes of its file.
    """

    agent: str
    games: int
    decisions: int
    mean_return: float
    standard_error: float
    win_rate: float
    size: int


def record(agent: str, games: int, seed: int, folder: Path) -> Reference:
    """Record a match against the opponent, and return what the agent scores in it."""
    file = folder / f"{agent.replace(':', '-')}.jsonl.gz"
    play_match(agent, OPPONENT, config=CONFIG, games=games, seed=seed, save=file)
    samples = ReplayDataset(file, encoding="tokens", agent=agent).read()
    _, first = np.unique(samples.games, return_index=True)
    pairs = samples.returns[first].astype(float).reshape(-1, 2).mean(axis=1)
    return Reference(
        agent=agent,
        games=games,
        decisions=len(samples.actions),
        mean_return=round(float(pairs.mean()), 2),
        standard_error=round(float(pairs.std(ddof=1) / np.sqrt(len(pairs))), 2),
        win_rate=float((samples.outcomes[first] == 1).mean()),
        size=file.stat().st_size,
    )


def normalized(mean_return: float, references: list[Reference]) -> float:
    """Return a mean return on the scale of the references, where ``LOWEST`` is 0 and ``HIGHEST`` 100."""
    low, high = (next(r.mean_return for r in references if r.agent == agent) for agent in (LOWEST, HIGHEST))
    return 100 * (mean_return - low) / (high - low)


def table(references: list[Reference]) -> str:
    """Return the reference scores as the document shows them."""
    columns = ("agent", "games", "decisions", "mean return", "standard error", "normalized", "wins", "file")
    rows = [
        [
            f"`{r.agent}`",
            f"{r.games:,}",
            f"{r.decisions:,}",
            f"{r.mean_return:.1f}",
            f"{r.standard_error:.1f}",
            f"{normalized(r.mean_return, references):.1f}",
            f"{r.win_rate:.1%}",
            f"{r.size / 1e6:.1f} MB",
        ]
        for r in references
    ]
    return markdown_table(columns, rows)


app = Commands(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)
Out = Annotated[Path, typer.Option("--out", help="Folder of the data set.")]


@app.command()
def run(
    games: Annotated[int, typer.Option(min=4, help="Games of each agent.")] = 2000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    out: Out = _OUT,
) -> None:
    """Record the games, compute the reference scores, and pack both for a release."""
    folder = out / NAME
    folder.mkdir(parents=True)
    references = [record(agent, games, seed, folder) for agent in BEHAVIORS]
    scores = json.dumps([reference.model_dump() for reference in references], indent=1) + "\n"
    (folder / _SCORES).write_text(scores, encoding="utf-8")
    packed = out / f"{NAME}.zip"
    pack(packed, {file.name: file.read_bytes() for file in sorted(folder.iterdir())})
    print(table(references))
    print(f"{packed}: {packed.stat().st_size / 1e6:.1f} MB")


@app.command()
def publish(out: Out = _OUT) -> None:
    """Write the reference scores into docs/results/experiments.md, and enter the data set into the list of downloads."""
    scores = (out / NAME / _SCORES).read_text(encoding="utf-8")
    references = [Reference(**reference) for reference in json.loads(scores)]
    DOCUMENT.write_text(with_blocks(DOCUMENT, {"offline data": table(references)}), encoding="utf-8")
    PUBLISHED.write_text(scores, encoding="utf-8")
    enter(out / f"{NAME}.zip")


if __name__ == "__main__":
    app()
