"""Options that several commands take."""

from typing import Annotated, TypeAlias

import typer

AGENTS = (
    "random, idle, turtle, raider, mixed, scripted, search or policy; with parameters: raider:defenders=5, search:10ms"
)
"""What help says of the names of our agents."""
ANY_AGENT = f"{AGENTS}; your own: file.py:Name or module:Name"
"""What help says of agents' names."""

ConfigOption: TypeAlias = Annotated[
    str, typer.Option("--config", "-c", metavar="NAME|PATH", help="A preset's name, or a TOML file.")
]
OverridesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Replace a value of it; may be repeated."),
]
