"""Loading of user-defined agents by location: ``path/to/file.py:Name`` or ``module:Name``.

Loading runs that file or module with the rights of the current user, as ``python file.py`` would.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from geo_patrol.agents.protocol import Agent, check_agent, describe_error
from geo_patrol.errors import AgentError, suggest
from geo_patrol.files import expand_user

_FORM = "it must be path/to/file.py:Name or module:Name, where Name is a class without arguments or an agent"


def split_location(name: str) -> tuple[str, str] | None:
    """Split ``file.py:Name`` or ``package.module:Name`` at the last colon; return None if it is neither."""
    source, colon, attribute = name.rpartition(":")
    if not colon or not attribute.isidentifier():
        return None
    is_module = all(word.isidentifier() for word in source.split("."))
    return (source, attribute) if _is_file(source) or is_module else None


def _is_file(source: str) -> bool:
    return source.endswith(".py")


def load_agent(name: str, builtin_names: Iterable[str] = ()) -> Agent:
    """Load a user-defined agent.

    Args:
        name: ``path/to/file.py:Name`` or ``module:Name``. Modules are searched on ``sys.path`` and in the working
            directory; a file may import its neighbours. ``Name`` is an agent, or is called without arguments to make
            one.
        builtin_names: names to suggest where a module does not exist.

    Raises:
        AgentError: the file, module or name does not exist, its code raises an exception, or the result is no agent.
    """
    location = split_location(name)
    if location is None:
        raise AgentError(f"agent {name!r}: {_FORM}")
    source, attribute = location
    try:
        module = import_file(Path(source)) if _is_file(source) else _import_module(source, builtin_names)
        loaded = _find_agent(module, source, attribute)
    except NotFoundError as error:
        raise AgentError(f"agent {name!r}: {error}") from error
    except Exception as error:
        raise AgentError(f"agent {name!r} cannot be made: {describe_error(error)}") from error
    try:
        return check_agent(loaded, attribute)
    except ValueError as error:
        raise AgentError(f"agent {name!r} is not an agent (name, observation, reset, act): {error}") from error


class NotFoundError(Exception):
    """The file, module or attribute does not exist."""


def import_file(path: Path) -> ModuleType:
    """Run a file of Python and return its module; the file may import its neighbours.

    Raises:
        NotFoundError: there is no such file.
        Exception: whatever the file raises.
    """
    path = Path(expand_user(path)).resolve()
    if not path.is_file():
        raise NotFoundError(f"there is no file {str(path)!r}; {_FORM}")
    _append_to_path(path.parent)
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules.setdefault(path.stem, module)  # dataclasses and pickle find a class's module by its name
    specification.loader.exec_module(module)
    return module


def _import_module(name: str, builtin_names: Iterable[str]) -> ModuleType:
    _append_to_path(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            hint = suggest(name, builtin_names)
            form = f"{hint} Or {_FORM}" if hint else f"; {_FORM}"
            raise NotFoundError(f"there is no module {error.name!r}{form}") from error
        raise


def _append_to_path(folder: Path) -> None:
    """Append a folder to ``sys.path``: at its end, so that no neighbour of a file hides an installed package."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def find_attribute(module: ModuleType, source: str, attribute: str) -> Any:
    """Return an attribute of a user's module.

    Raises:
        NotFoundError: there is none of that name.
    """
    if not hasattr(module, attribute):
        classes = [name for name, value in vars(module).items() if isinstance(value, type) and hasattr(value, "act")]
        listed = f"; its classes with act are {', '.join(classes)}" if classes else ""
        raise NotFoundError(f"{source} has no {attribute!r}{listed}")
    return getattr(module, attribute)


def _find_agent(module: ModuleType, source: str, attribute: str) -> Any:
    found = find_attribute(module, source, attribute)
    is_agent = isinstance(found, Agent) and not isinstance(found, type)
    return found() if callable(found) and not is_agent else found
