"""``geo-patrol learn``: guided first games."""

from typing import Annotated

import typer

from geo_patrol.cli.errors import InputError, leave_at_once, plain_errors
from geo_patrol.cli.games import load_rules
from geo_patrol.errors import suggest

_GAMES = ("geo_patrol", "spaceship_commander")
_GAMES_TEXT = " or ".join(_GAMES)


@plain_errors
def learn(
    game: Annotated[str, typer.Argument(metavar="GAME", help=f"What to learn: {_GAMES_TEXT}.")] = "geo_patrol",
) -> None:
    """Learn the rules in a guided first game, in a window.

    Ten short steps (six of the flight game), in each of which you do something: move, pay for it, drift, shoot, guard,
    collide, score. The positions are prepared, the rules are the real ones.
    """
    if game not in _GAMES:
        raise InputError(f"there is no lesson {game!r}{suggest(game, _GAMES) or f'; give {_GAMES_TEXT}'}")
    from geo_patrol.rendering.screen import init_display

    init_display()
    if game == "geo_patrol":
        _learn_geo_patrol()
    else:
        _learn_spaceship_commander()


def _learn_geo_patrol() -> None:
    load_rules()
    from geo_patrol.rendering.learn import learn as show

    show()


def _learn_spaceship_commander() -> None:
    with leave_at_once():  # loads compiled code
        from geo_patrol.flight import Flight
        from geo_patrol.flight.pictures.learn import learn as show

        Flight().fly("launch D13")
    show()
