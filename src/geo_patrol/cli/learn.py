"""``geo-patrol learn``: a guided first game."""

from geo_patrol.cli.errors import plain_errors
from geo_patrol.cli.games import load_rules


@plain_errors
def learn() -> None:
    """Learn the rules in a guided first game, in a window: ten short steps, in each of which you do something.

    Move, pay for it, drift, shoot, guard, collide, score: the positions are prepared, the rules are the real ones.
    """
    from geo_patrol.rendering.screen import init_display

    init_display()
    load_rules()
    from geo_patrol.rendering.learn import learn as show

    show()
