"""The command ``geo-patrol``: its commands and its first page of help."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from geo_patrol.cli.arena import arena
from geo_patrol.cli.configs import configs
from geo_patrol.cli.exploit import exploit
from geo_patrol.cli.fly import fly
from geo_patrol.cli.join import join
from geo_patrol.cli.learn import learn
from geo_patrol.cli.match import match
from geo_patrol.cli.odds import odds
from geo_patrol.cli.output import Commands, plain_errors
from geo_patrol.cli.play import play
from geo_patrol.cli.print import print_sheets
from geo_patrol.cli.replay import replay
from geo_patrol.cli.report import report
from geo_patrol.cli.serve import serve
from geo_patrol.cli.solve import solve
from geo_patrol.cli.sprt import sprt
from geo_patrol.cli.study import study
from geo_patrol.cli.sweep import sweep
from geo_patrol.cli.tournament import tournament
from geo_patrol.cli.verify import verify
from geo_patrol.cli.warmup import warmup
from geo_patrol.cli.watch import watch

_EXAMPLES = """\
[bold]Examples[/bold]

[dim]How much better than random play is the scripted agent?[/dim]
geo-patrol match scripted random --games 1000 --seed 7

[dim]Who wins case 1 if the defenders have a single round?[/dim]
geo-patrol match scripted scripted -c case1 -s bravo.patrols.ammo=1

[dim]How many defenders may bravo have so that alpha wins 80% of case 2?[/dim]
geo-patrol study threshold -c case2 -v bravo.patrols.count=1..8 --rate 0.8

[dim]How does the scripted agent do that?[/dim]
geo-patrol watch scripted random -c case1

[dim]What are the rules of case 1, and where do they differ from case 4?[/dim]
geo-patrol configs case1
geo-patrol configs case1 case4

[dim]What is the best flight of Spaceship Commander's sample game?[/dim]
geo-patrol fly --mission sample --solve
"""

app = Commands(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        from geo_patrol.base.versions import __version__

        print(f"geo-patrol {__version__}")
        raise typer.Exit


@app.callback()
def geo_patrol(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Two-player orbital board games: GEO Patrol, Orbit Defender 2-D and King of the Hill.

    Both sides move their satellites at the same time, guard a High Value Asset in its orbit and hunt the enemy's.
    """


app.command(short_help="Play many games between two agents, and summarise them.")(match)
app.command(short_help="Rate agents in a round robin, on all cores.")(tournament)
app.command(short_help="Test sequentially whether one agent is stronger than another.")(sprt)
app.add_typer(study, name="study", short_help="Answer questions about scenarios, from a file.")
app.command(short_help="Score an agent against a frozen population.")(arena)
app.command(short_help="See how win rates depend on the values of a scenario.")(sweep)
app.command(short_help="Learn the rules in a guided first game.")(learn)
app.command(short_help="Play yourself, in the browser or at the terminal.")(play)
app.command(short_help="Watch two agents play, in a window.")(watch)
app.command(short_help="Serve games over the network, to browsers and bots.")(serve)
app.command(short_help="Play a seat of a server with an agent or a program.")(join)
app.command(short_help="Show recorded games, and export them.")(replay)
app.command(short_help="Summarise recorded games on an HTML page.")(report)
app.command("print", short_help="Print sheets to play on paper.")(print_sheets)
app.command(short_help="List the presets, show one, or compare two.")(configs)
app.command(short_help="Check recorded games against the rules.")(verify)
app.command(short_help="Train a best response to an agent.")(exploit)
app.command(short_help="Solve a small game exactly.")(solve)
app.command(short_help="Print the exact odds of an engagement.")(odds)
app.command(short_help="Play NASA's flight games: in the browser, as text, or solved.")(fly)
app.command(short_help="Compile ahead what the first use would compile.")(warmup)


def main() -> None:
    """Run the command ``geo-patrol`` with the arguments of the process."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names and titles may have letters that its encoding lacks
    with plain_errors():
        try:
            app(prog_name="geo-patrol")
        finally:
            sys.stdout.flush()
