"""Reading studies: TOML files, files of the package, or the same content as a mapping."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from geo_patrol.base.errors import show, suggest
from geo_patrol.base.files import expand_user
from geo_patrol.config.schema import Fault, list_faults, refuse
from geo_patrol.config.toml_files import config_path, copy_plain, read_toml, study_names
from geo_patrol.studies.factors import Factor
from geo_patrol.studies.plan import StudyFile
from geo_patrol.studies.questions import QUESTIONS


def read_study_file(source: str | Path | Mapping[str, Any]) -> tuple[StudyFile, Path]:
    """Read a study file, one of the package by its name, or the same content as a mapping; return it with the folder that its paths are relative to.

    Raises:
        ConfigError: it cannot be read; the message lists its faults, each with its key, its value, and what is valid.
    """
    if isinstance(source, Mapping):
        return parse_study(source), Path.cwd()
    path = config_path(f"studies/{source}") if str(source) in study_names() else Path(expand_user(source))
    return parse_study(read_toml(path), path.name), path.parent


def parse_study(data: Mapping[str, Any], origin: str = "study") -> StudyFile:
    """Check the content of a study file.

    Raises:
        ConfigError: see ``read_study_file``.
    """
    content, faults = copy_plain(dict(data)), list[Fault]()
    factors, questions = content.get("factors"), content.get("question")
    if isinstance(factors, Mapping):
        content["factors"] = {}
        for name, spec in factors.items():
            try:
                content["factors"][name] = spec if isinstance(spec, Factor) else Factor.parse(str(name), spec)
            except ValidationError as error:
                faults += list_faults(Factor, error, f"factors.{name}.")
    if isinstance(questions, (list, tuple)):
        content["question"] = []
        for number, table in enumerate(questions):
            kind = table.get("kind") if isinstance(table, Mapping) else None
            if not isinstance(kind, str) or kind not in QUESTIONS:
                hint = suggest(str(kind), QUESTIONS)
                text = f"must be {', '.join(QUESTIONS)}, got {show(kind)}{hint}"
                faults.append(Fault(f"question.{number}.kind", text))
                continue
            try:
                content["question"].append(QUESTIONS[kind].model_validate(table))
            except ValidationError as error:
                faults += list_faults(QUESTIONS[kind], error, f"question.{number}.")
    if not faults:
        try:
            return StudyFile.model_validate(content)
        except ValidationError as error:
            faults += list_faults(StudyFile, error)
    refuse(origin, faults)
    raise AssertionError
