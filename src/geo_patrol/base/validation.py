"""Validation of data from outside by Pydantic models, with messages that name the field, its value and the fault."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from geo_patrol.base.errors import RecordingError, show
from geo_patrol.base.files import without_mark

_Model = TypeVar("_Model", bound=BaseModel)


def fault_message(fault: Mapping[str, Any]) -> str:
    """Return the message of a fault that Pydantic found; of one that our own validator found, its own words alone."""
    own = fault.get("ctx", {}).get("error")
    return str(own) if isinstance(own, Exception) else str(fault["msg"])


def parse_model(model: type[_Model], data: Any, where: str, max_errors: int = 1) -> _Model:
    """Validate saved or recorded data.

    Args:
        model: what the data must be.
        data: the data; bytes are JSON.
        where: where they are from, for the message.
        max_errors: how many faults the message names, each on a line of its own.

    Raises:
        RecordingError: the data are invalid.
    """
    try:
        return model.model_validate_json(without_mark(data)) if isinstance(data, bytes) else model.model_validate(data)
    except ValidationError as error:
        lines = []
        for fault in error.errors()[:max_errors]:
            field = ".".join(map(str, fault["loc"])) or "content"
            message = fault_message(fault)
            lines.append(f"{where}: {field} = {show(fault['input'])}: {message[:1].lower()}{message[1:]}")
        raise RecordingError("\n".join(lines)) from None
