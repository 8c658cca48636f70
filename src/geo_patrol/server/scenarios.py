"""The scenario editor: changes to a scenario that somebody writes, and what it looks like, or what is wrong with it."""

from functools import partial
from typing import Annotated, Any, TypeAlias

from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from geo_patrol.browser.records import scenario_record
from geo_patrol.config.presets import load_config
from geo_patrol.config.toml_files import (
    MAX_DEPTH,
    MAX_FILE_BYTES,
    Data,
    preset_names,
    remove_value,
    set_value,
    write_toml,
)
from geo_patrol.server import requests
from geo_patrol.server.protocol import ProtocolError, Screen
from geo_patrol.server.tables import check_length

_MAX_CHANGES = 20

_Key: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80)]
_Number: TypeAlias = Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)]
_Text: TypeAlias = Annotated[str, StringConstraints(max_length=200)]
_Formation: TypeAlias = Annotated[list[Annotated[list[_Number], Field(max_length=2)]], Field(max_length=20)]


class ScenarioEdit(requests.Body):
    """A scenario as TOML, and what somebody changes in it."""

    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)]
    changes: dict[_Key, _Number | float | _Text | _Formation | None] = Field(default={}, max_length=_MAX_CHANGES)
    """New values by their dotted keys; null removes one, which then is that of the preset."""
    screen: Screen = "wide"


class ScenarioRoutes:
    """The route of the editor.

    Args:
        limits: what clients may ask for.
        threads: in which scenarios are read.
    """

    def __init__(self, limits: requests.ClientLimits, threads: requests.FairThreads) -> None:
        self._limits, self._threads = limits, threads

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [Route("/api/scenario", self._edit, methods=["POST"])]

    async def _edit(self, request: Request) -> Response:
        asked, site = await requests.read_body(request, ScenarioEdit), requests.client_site(request)
        self._limits.take("requests", site)
        return JSONResponse(await self._threads.run(site, partial(edit_scenario, asked)))


def edit_scenario(asked: ScenarioEdit) -> dict[str, Any]:
    """Return a scenario after its changes.

    Returns:
        ``scenario``, its text, rewritten if something was changed; ``extends``, the preset it names, or None; and what
        ``scenario_record`` returns.

    Raises:
        ProtocolError: the text is no TOML, extends a file, or is too long.
        ConfigError: the scenario is wrong; the message lists the faults.
    """
    text = asked.scenario
    data = _read(text)
    if asked.changes:
        for key, value in asked.changes.items():
            _change(data, key, value)
        text = write_toml(data)
        if len(text) > MAX_FILE_BYTES:
            raise ProtocolError("bad_message", f"scenario: it is longer than {MAX_FILE_BYTES:,} characters")
        data = _read(text)
    extends = data.get("extends")
    config = load_config(data)
    check_length(config)
    return {"scenario": text, "extends": extends, **scenario_record(config, is_narrow=asked.screen == "narrow")}


def _read(text: str) -> Data:
    data = requests.read_scenario("preset", "", text, preset_names())
    assert isinstance(data, dict)  # as there is a text
    return data


def _change(data: Data, key: str, value: Any) -> None:
    path = key.split(".")
    if len(path) > MAX_DEPTH:
        raise ProtocolError("bad_message", f"changes: a key has at most {MAX_DEPTH} parts")
    if value is None:
        remove_value(data, path)
    else:
        set_value(data, key, path, value)
