"""Error messages for invalid configurations and missions: a line for every fault, with key, value and valid values."""

import difflib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from geo_patrol.errors import show

_MAX_FAULTS = 20
_VALID_BY_TYPE = {
    "model_type": "a table",
    "dict_type": "a table",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
}


def faults_of(model: type[BaseModel], data: dict[str, Any], prefix: str = "") -> list[str]:
    """Return the faults of data by a model, a line for each."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        return [_explain(model, detail, prefix) for each in error.errors() for detail in _split(each)]
    return []


def _split(error: ErrorDetails) -> Iterator[ErrorDetails]:
    """Yield the faults that a validator found at once as errors of their own."""
    if error["type"] == "wrong_values":
        for context in error["ctx"]["faults"]:
            yield {**error, "type": "wrong_value", "ctx": context}
    else:
        yield error


def faults_message(origin: str, faults: list[str]) -> str:
    """Return an error message that lists the first twenty faults."""
    lines = [f"  {fault}" for fault in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        lines.append(f"  and {len(faults) - _MAX_FAULTS} more")
    return "\n".join([f"{origin}: {len(faults)} fault{'s' * (len(faults) != 1)}", *lines])


def _explain(root: type[BaseModel], error: ErrorDetails, prefix: str) -> str:
    context = error.get("ctx", {})
    steps = [str(step) for step in error["loc"]]
    value = context.get("value", error["input"])
    if "key" in context:
        steps.append(str(context["key"]))
    path = prefix + ".".join(steps)
    match error["type"]:
        case "missing":
            return f"{path} is missing"
        case "extra_forbidden":
            message = f"there is no such key; {_known_keys(root, error['loc'])}"
        case "wrong_value":
            message = f"give {context['right']}"
        case "literal_error":
            message = f"give {context['expected']}"
        case kind:
            message = f"give {_VALID_BY_TYPE[kind]}" if kind in _VALID_BY_TYPE else error["msg"]
    return f"{path} = {show(value)}: {message}"


def _known_keys(root: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """Return the most similar key of a table, or all its keys."""
    model: Any = root
    for step in location[:-1]:
        if isinstance(step, str):
            model = model.model_fields[step].annotation
            arguments = [kind for kind in getattr(model, "__args__", ()) if kind is not Ellipsis]
            model = arguments[0] if arguments else model
    keys = list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []
    close = difflib.get_close_matches(str(location[-1]), keys, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return f"the keys here are {', '.join(keys)}"
