"""The files of the pages. A page names its scripts and styles by version: after an upgrade no browser uses older ones."""

import gzip
import hashlib
import json
import re
from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from geo_patrol.web.flights import map_css
from geo_patrol.web.records import resting_record
from geo_patrol.web.replay_page import theme_css

_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_LOCAL_FILE = re.compile(r'(src|href)="([a-z_]+\.(?:js|css))"')
_HEAD = """<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<link rel="stylesheet" href="theme.css">"""
"""What all pages have in common but those of recorded games, which need no other files."""
_FOREVER = "public, max-age=31536000, immutable"


def static_routes() -> list[BaseRoute]:
    """Return the routes of what needs no games: the pages, their scripts and styles, and a board at rest."""
    return [
        Route("/static/board.json", _board),
        Route("/static/{name}", _file),
        Route("/static/{version}/{name}", _file),
    ]


@cache
def _contents() -> tuple[str, dict[str, bytes]]:
    """Return the version of the files, and what is sent of each."""
    sources = {file.name: file.read_bytes() for file in files("geo_patrol.web").joinpath("static").iterdir()}
    sources["theme.css"] = (theme_css() + map_css()).encode()
    version = _digest(b"".join(name.encode() + _digest(content) for name, content in sorted(sources.items()))).decode()
    for name in [name for name in sources if name.endswith(".html")]:
        page = sources[name].decode().replace("<head>", "<head>" if name == "replay.html" else _HEAD)
        sources[name] = _LOCAL_FILE.sub(rf'\1="{version}/\2"', page).encode()
    return version, sources


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:16].encode()


async def _file(request: Request) -> Response:
    """Send a file; a browser keeps those of a version, and asks each time whether another one is still the same."""
    version, contents = _contents()
    name, asked = request.path_params["name"], request.path_params.get("version")
    if name not in contents or asked not in (None, version):
        raise HTTPException(404)
    etag = f'"{_digest(contents[name]).decode()}"'
    headers = {"etag": etag, "cache-control": "no-cache" if asked is None else _FOREVER}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(contents[name], media_type=_TYPES[name.rpartition(".")[2]], headers=headers)


def _board(_request: Request) -> Response:  # not in the event loop, because it is drawn the first time
    return Response(_board_content(), media_type="application/json", headers={"content-encoding": "gzip"})


@cache
def _board_content() -> bytes:
    return gzip.compress(json.dumps(resting_record(), separators=(",", ":")).encode())
