"""The replay of a game as one self-contained HTML page, and the theme of pictures as custom properties of CSS."""

import base64
import gzip
import html
import json
from collections.abc import Iterable
from importlib.resources import files
from string import Template

from geo_patrol.browser.records import game_record
from geo_patrol.replays import Replay
from geo_patrol.replays.files import game_title, replay_timeline
from geo_patrol.scenes import theme
from geo_patrol.sessions.live import Timeline

_COLORS = {
    "panel": theme.PANEL,
    "card": theme.CARD,
    "card-bright": theme.CARD_BRIGHT,
    "line": theme.LINE,
    "text": theme.TEXT,
    "soft": theme.SOFT,
    "faint": theme.FAINT,
    "alpha": theme.SIDES_BRIGHT["alpha"],
    "bravo": theme.SIDES_BRIGHT["bravo"],
    "choice": theme.CHOICE,
    "warning": theme.WARNING,
    "lost": theme.LOST,
    "safe": theme.SAFE,
}
"""Names of the colors that styles use."""


def theme_css() -> str:
    """Return the colors of the theme, dark ones and light ones, as the user's system prefers.

    Shapes name colors as they are in dark pictures: ``--c-0d1320`` is what #0d1320 becomes on a light page.
    """
    light = {name: theme.LIGHT[color] for name, color in _COLORS.items()}
    light |= {f"c-{dark[1:]}": color for dark, color in theme.LIGHT.items()}
    return (
        f":root {{ color-scheme: dark light; {_properties(_COLORS)} --focus: {theme.HIT}; }}\n"
        f"@media (prefers-color-scheme: light) {{ :root {{ {_properties(light)} }} }}\n"
    )


def _properties(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


MAX_GAMES = 100
_FRAME_STYLE = "width: 100%; aspect-ratio: 16 / 10; min-height: 38rem; border: 0"
_SCRIPTS = ("scene.js", "panels.js", "playback.js", "replay.js")


def replay_page(games: Iterable[tuple[str, Timeline]], title: str) -> str:
    """Return a page that plays games.

    Args:
        games: the title and the timeline of each, at most 100; consumed one by one.
        title: title of the page, where it has several games.
    """
    options, records, name = [], [], title
    for number, (name, timeline) in enumerate(games):
        entry = f"{name}, {_result(timeline)}"
        options.append(f'<option value="{number}">{html.escape(entry)}</option>')
        for kind, is_narrow in (("game", False), ("narrow", True)):
            data = json.dumps(game_record(timeline, name, is_narrow=is_narrow), separators=(",", ":"))
            content = base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode()
            records.append(f'<script type="application/gzip" id="{kind}-{number}">{content}</script>')
    return Template(static_file("replay.html")).substitute(
        title=html.escape(name if len(options) == 1 else title),
        style=theme_css() + static_file("style.css"),
        one_game="hidden" if len(options) == 1 else "",
        options="".join(options),
        games="\n".join(records),
        script="\n".join(static_file(name) for name in _SCRIPTS),
    )


def _result(timeline: Timeline) -> str:
    game = timeline[-1]
    if not game.is_over:
        return f"not over in turn {game.turn}"
    return f"draw in turn {game.turn}" if game.winner is None else f"{game.winner} wins in turn {game.turn}"


def replay_frame(replay: Replay) -> str:
    """Return an HTML element with the page of one recorded game, for notebooks."""
    timeline, _ = replay_timeline(replay)
    page = replay_page([(game_title(replay), timeline)], game_title(replay))
    return f'<iframe srcdoc="{html.escape(page)}" title="A recorded game" style="{_FRAME_STYLE}"></iframe>'


def static_file(name: str) -> str:
    """Return a file of ``static``."""
    return files("geo_patrol.browser").joinpath("static", name).read_text("utf-8")
