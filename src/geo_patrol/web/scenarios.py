"""The scenario editor: changes to a scenario that somebody writes, what it looks like, or what is wrong with it, and studies of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, StringConstraints

from geo_patrol.base.errors import ConfigError
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.config.toml_files import (
    MAX_DEPTH,
    MAX_FILE_BYTES,
    Data,
    flatten,
    preset_names,
    remove_value,
    set_value,
    write_toml,
)
from geo_patrol.studies.plan import plan_study
from geo_patrol.studies.study import check_questions
from geo_patrol.studies.study_file import parse_study
from geo_patrol.web import requests
from geo_patrol.web.protocol import ProtocolError, Screen
from geo_patrol.web.records import scenario_record
from geo_patrol.web.tables import check_length

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


def edit_scenario(asked: ScenarioEdit) -> dict[str, Any]:
    """Return a scenario after its changes.

    Returns:
        ``scenario``, its text, rewritten if something was changed; ``extends``, the preset it names, or None; ``studies``,
        pairs of a question and a study file that asks it; and what ``scenario_record`` returns.

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
    config = load_config(data)
    check_length(config)
    return {
        "scenario": text,
        "extends": data.get("extends"),
        "studies": list(study_files(data, config)),
        **scenario_record(config, is_narrow=asked.screen == "narrow"),
    }


_QUESTIONS: dict[str, Mapping[str, Any]] = {
    "How much does the fuel of gold's Patrols decide?": {
        "factors": {"bravo.patrols.fuel": ["-40%", "-20%", "+0%", "+20%", "+40%"]},
        "games": 400,
    },
    "How many Patrols may gold have in a fair game?": {
        "question": [{"kind": "fair", "factor": {"bravo.patrols.count": "1..10"}, "games": 10_000, "check": 2_000}]
    },
    "What are a round, fuel and a Patrol worth to gold?": {
        "question": [
            {
                "kind": "worth",
                "of": {"bravo.patrols.ammo": "+1", "bravo.patrols.fuel": "+10%", "bravo.patrols.count": "-1"},
                "measure": "bravo wins",
            }
        ]
    },
}
_QUESTIONS_OF_BOTH: dict[str, Mapping[str, Any]] = {
    "How much does the fuel of Patrols decide?": {
        "factors": {"both.patrols.fuel": ["-40%", "-20%", "+0%", "+20%", "+40%"]},
        "games": 400,
    }
}
"""Of games in which bravo has alpha's values."""


def study_files(data: Data, config: GameConfig) -> Iterator[tuple[str, str]]:
    """Yield questions, each with the content of a study file that asks it about a scenario.

    The file holds the whole scenario: what it extends, and all values that it changes. A question that cannot be asked
    about the scenario is left out.
    """
    source = {key: value for key, value in data.items() if key not in ("extends", "title", "description", "both")}
    values = dict(flatten({"both": data.get("both", {}), **source}))  # a side's own values replace those of both
    scenario = {"name": config.title, "config": data.get("extends", "geo_patrol"), "set": values}
    for title, asked in (_QUESTIONS_OF_BOTH if config.mirror else _QUESTIONS).items():
        study = {"title": title, "agents": ["scripted", "policy"], **asked, "scenario": [scenario]}
        try:
            check_questions(plan_study(parse_study(study), Path()))
        except ConfigError:
            continue
        yield title, write_toml(study)


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
