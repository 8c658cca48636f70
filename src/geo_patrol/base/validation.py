"""Validation of data from outside by Pydantic models, with messages that name the field, its value and the fault."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from geo_patrol.base.errors import RecordingError, show
from geo_patrol.base.files import without_mark

_Model = TypeVar("_Model", bound=BaseModel)


_RIGHT = {
    "bool_parsing": "be true or false",
    "bool_type": "be true or false",
    "dict_type": "be a table",
    "finite_number": "be a finite number",
    "float_parsing": "be a number",
    "float_type": "be a number",
    "greater_than": "be above {gt}",
    "greater_than_equal": "be at least {ge}",
    "int_from_float": "be an integer",
    "int_parsing": "be an integer",
    "int_type": "be an integer",
    "less_than": "be below {lt}",
    "less_than_equal": "be at most {le}",
    "list_type": "be a list",
    "literal_error": "be {expected}",
    "model_attributes_type": "be a table",
    "model_type": "be a table",
    "string_too_long": "have a length of at most {max_length}",
    "string_too_short": "have a length of at least {min_length}",
    "string_type": "be a text in quotes",
    "too_long": "have a length of at most {max_length}",
    "too_short": "have a length of at least {min_length}",
    "tuple_type": "be a list",
    "wrong_value": "be {right}",
}
"""What a value must be or have, by the type of the fault that Pydantic found."""


def describe_fault(fault: Mapping[str, Any]) -> str:
    """Return what follows a field's name in messages, such as "must be at least 1000, got 5", for a fault that Pydantic found."""
    context, value = fault.get("ctx", {}), show(fault["input"])
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return f"= {value}: there is no such key"
        case kind if kind in _RIGHT:
            bounds = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in context.items()}
            return f"must {_RIGHT[kind].format_map(bounds)}, got {value}"
        case _:
            own = context.get("error")
            message = str(own if isinstance(own, Exception) else fault["msg"])
            return f"= {value}: {message[:1].lower()}{message[1:]}"


def field_of(fault: Mapping[str, Any], default: str = "content") -> str:
    """Return the dotted path of the field in which a fault is; a default for that of the whole."""
    return ".".join(map(str, fault["loc"])) or default


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
        faults = error.errors()[:max_errors]
        raise RecordingError(
            "\n".join(f"{where}: {field_of(each)} {describe_fault(each)}" for each in faults)
        ) from None
