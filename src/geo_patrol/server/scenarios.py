"""Scenarios and missions of clients: bounded, and without files of the server."""

import tomllib
from typing import Any

from geo_patrol.config.toml_files import copy_plain
from geo_patrol.errors import show
from geo_patrol.server.protocol import ProtocolError

_MAX_DOTS = 200


def read_scenario(key: str, name: str, text: str | None, names: tuple[str, ...]) -> str | dict[str, Any]:
    """Return a name, or the content of a scenario as TOML, which extends no file.

    Args:
        key: what messages call the name.
        name: one of ``names``, unless there is a text.
        text: the scenario.
        names: of the files of the package, which may be extended.

    Raises:
        ProtocolError: the name is unknown, or the text is no TOML.
    """
    if text is None:
        if name not in names:
            raise ProtocolError("bad_message", f"{key} = {show(name)}: give one of {', '.join(names)}")
        return name
    if any(line.count(".") > _MAX_DOTS for line in text.splitlines()):
        raise ProtocolError("bad_message", f"scenario: a line has more than {_MAX_DOTS} dots")
    try:
        data: dict[str, Any] = copy_plain(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("bad_message", f"scenario: {error}") from None
    if "extends" in data and data["extends"] not in names:
        raise ProtocolError("bad_message", f"scenario: extends = {show(data['extends'])}: give the name of a {key}")
    return data
