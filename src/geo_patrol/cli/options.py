"""Options shared by several commands."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ANY_AGENT = (
    "random, idle, turtle, raider, mixed, scripted, search or policy; with parameters: raider:defenders=5, "
    "search:10ms, solved:FILE; your own: file.py:Name, module:Name, onnx:FILE.onnx, torch:file.py:make, rllib:FOLDER"
)
"""Help text: the names of agents."""

ConfigOption: TypeAlias = Annotated[
    str, typer.Option("--config", "-c", metavar="NAME|PATH", help="A preset's name, or a TOML file.")
]
OverridesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Replace a value in it; may be repeated."),
]
First: TypeAlias = Annotated[str, typer.Argument(metavar="FIRST", help=f"Agent: {ANY_AGENT}.")]
Second: TypeAlias = Annotated[str, typer.Argument(metavar="SECOND", help="Its opponent; may be the same agent.")]
AgentNames: TypeAlias = Annotated[list[str], typer.Argument(metavar="AGENT...", help=f"Agents: {ANY_AGENT}.")]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Repeats all games exactly; random by default.")
]
Processes: TypeAlias = Annotated[
    int | None,
    typer.Option("--processes", "-p", metavar="N", help="Number of worker processes; one per core by default."),
]
Ray: TypeAlias = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Play on a Ray cluster, such as HOST:6379; local: start one here."),
]
MoveTime: TypeAlias = Annotated[
    float,
    typer.Option("--move-time", metavar="SECONDS", help="Time for a decision in one game, for your own agents."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder for games and tables; the same command resumes."),
]
Json: TypeAlias = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write the results as JSON.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")]
