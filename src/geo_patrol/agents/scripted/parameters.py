"""Parameters of agents as text, as in ``raider:defenders=2,path=cheap``."""

from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from geo_patrol.errors import show, suggest

_Parameters = TypeVar("_Parameters", bound=NamedTuple)


@cache
def _adapters(kind: type[NamedTuple]) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: TypeAdapter(hints[name]) for name in kind._fields}


def read_parameters(agent: str, text: str, kind: type[_Parameters]) -> _Parameters:
    """Read ``name=value,name=value``.

    Args:
        agent: the agent's name.
        text: the parameters; those that it does not name keep their defaults.
        kind: a NamedTuple whose fields have a default and, as pydantic understands it, a type with bounds.

    Raises:
        ValueError: a parameter is unknown, given twice, or has a wrong value.
    """
    values: dict[str, Any] = {}
    for item in text.split(","):
        name, equals, value = (word.strip() for word in item.partition("="))
        if not equals:
            raise ValueError(f"agent {agent!r}: {show(item)}: give parameters as name=value,name=value")
        if name not in kind._fields:
            hint = suggest(name, kind._fields) or "."
            known = ", ".join(kind._fields)
            raise ValueError(f"agent {agent!r}: there is no parameter {show(name)}{hint} It takes: {known}.")
        if name in values:
            raise ValueError(f"agent {agent!r}: {name} is given twice")
        values[name] = _read_value(agent, name, value, kind)
    make: Any = kind
    parameters: _Parameters = make(**values)
    return parameters


def _read_value(agent: str, name: str, value: str, kind: type[NamedTuple]) -> Any:
    try:
        return _adapters(kind)[name].validate_python(value)
    except ValidationError as error:
        wrong = "; ".join(detail["msg"] for detail in error.errors())
        raise ValueError(f"agent {agent!r}: {name} = {show(value)}: {wrong}") from None


def describe_parameters(agent: str, parameters: NamedTuple) -> str:
    """Return an agent's name with those parameters that are not the default, as ``read_parameters`` reads them."""
    make: Any = type(parameters)
    defaults = make()
    changed = [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value, default in zip(parameters._fields, parameters, defaults, strict=True)
        if value != default
    ]
    return f"{agent}:{','.join(changed)}" if changed else agent
