"""``geo-patrol learn``: a guided first game."""

from typing import Annotated

import typer

from geo_patrol.base.errors import suggest
from geo_patrol.cli.options import NoBrowser, Port
from geo_patrol.cli.output import InputError

_GAMES = ("geo_patrol", "spaceship_commander")
_GAMES_TEXT = " or ".join(_GAMES)


def learn(
    game: Annotated[str, typer.Argument(metavar="GAME", help=f"What to learn: {_GAMES_TEXT}.")] = "geo_patrol",
    no_browser: NoBrowser = False,
    port: Port = 0,
) -> None:
    """Learn the rules in a guided first game, in the browser.

    Six steps, about three minutes, in each of which you do something: look at fuel, move, shoot, guard, score, win; six of
    the flight game as well. The positions are prepared, the rules are the real ones.
    """
    if game not in _GAMES:
        raise InputError(f"there is no lesson {game!r}{suggest(game, _GAMES) or f'; lessons are {_GAMES_TEXT}'}")
    from geo_patrol.cli.serve import check_pages, open_page

    check_pages("; a game at the terminal: geo-patrol play --text")
    page = "learn" if game == "geo_patrol" else "flight_lesson"
    open_page(lambda _: f"/static/{page}.html", has_browser=not no_browser, port=port)
