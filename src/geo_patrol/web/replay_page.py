"""Recorded games as pages: one file that needs nothing else."""

import base64
import gzip
import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from string import Template

from geo_patrol.base.sides import COLORS
from geo_patrol.drawing.shapes import Color
from geo_patrol.game.timeline import Timeline
from geo_patrol.replays import Replay
from geo_patrol.replays.files import replay_timeline
from geo_patrol.scenes import theme
from geo_patrol.web.names import versus
from geo_patrol.web.records import game_record

MAX_GAMES = 100
_FRAME_STYLE = "width: 100%; aspect-ratio: 16 / 10; min-height: 38rem; border: 0"
_IMPORT, _EXPORT = re.compile(r"^import .*\n", re.MULTILINE), re.compile(r"^export ", re.MULTILINE)
_SCRIPTS = ("scene.js", "words.js", "playback.js", "replay.js")


def theme_css() -> str:
    """Return what the colors of pictures become in light pages: ``--c-0d1320`` is what #0d1320 becomes there."""
    board = color_variable("--board", theme.LIGHT[theme.SPACE], theme.SPACE)
    colors = (color_variable(f"--c-{dark[1:]}", light, dark) for dark, light in theme.LIGHT.items())
    return f":root {{{board}{''.join(colors)} }}\n"


def color_variable(name: str, light: Color, dark: Color) -> str:
    """Return CSS for a color that has two values, of which a page's look chooses one."""
    return f" {name}: light-dark({light}, {dark});"


def replay_page(games: Iterable[tuple[str, Timeline]], title: str) -> str:
    """Return a page that plays games.

    Args:
        games: what each is called, and its timeline, which knows who plays; at most 100, consumed one by one.
        title: title of the page, where it has several games.
    """
    options, records, name = [], [], title
    for number, (called, timeline) in enumerate(games):
        name = f"{called}: {versus(timeline.names)}" if any(timeline.names) else called
        entry = f"{name}, {_result(timeline)}"
        options.append(f'<option value="{number}">{html.escape(entry)}</option>')
        for kind, is_narrow in (("game", False), ("narrow", True)):
            data = json.dumps(game_record(timeline, name, is_narrow=is_narrow), separators=(",", ":"))
            content = base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode()
            records.append(f'<script type="application/gzip" id="{kind}-{number}">{content}</script>')
    return Template(static_file("replay.html")).substitute(
        title=html.escape(name if len(options) == 1 else title),
        style=static_file("page.css") + theme_css(),
        one_game="hidden" if len(options) == 1 else "",
        options="".join(options),
        games="\n".join(records),
        script="\n".join(map(_inline_module, _SCRIPTS)),
    )


def _inline_module(name: str) -> str:
    """Return a script as a part of one module that holds all of them: nothing is imported or exported."""
    return _EXPORT.sub("", _IMPORT.sub("", static_file(name)))


def _result(timeline: Timeline) -> str:
    turn = timeline[-1].turn
    if not timeline.is_complete:
        return f"not over in turn {turn}"
    return f"draw in turn {turn}" if timeline.winner is None else f"{COLORS[timeline.winner]} wins in turn {turn}"


def replay_frame(replay: Replay) -> str:
    """Return an HTML element with the page of one recorded game, for notebooks."""
    timeline, _ = replay_timeline(replay)
    page = replay_page([(f"game {replay.number}", timeline)], f"game {replay.number}")
    return f'<iframe srcdoc="{html.escape(page)}" title="A recorded game" style="{_FRAME_STYLE}"></iframe>'


def static_file(name: str) -> str:
    """Return a file of ``static``."""
    return files("geo_patrol.web").joinpath("static", name).read_text("utf-8")
