"""Options shared by several commands."""

from typing import Annotated, TypeAlias

import typer

ANY_AGENT = (
    "random, idle, turtle, raider, mixed, scripted, search or policy; with parameters: raider:defenders=5, "
    "search:10ms; your own: file.py:Name or module:Name"
)
"""Help text: the names of agents."""

ConfigOption: TypeAlias = Annotated[
    str, typer.Option("--config", "-c", metavar="NAME|PATH", help="A preset's name, or a TOML file.")
]
OverridesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Replace a value of it; may be repeated."),
]
