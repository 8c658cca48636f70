"""Agents of your own: ``path/to/file.py:Name`` or ``module:Name``, loaded by running that file or module.

Loading runs the code with the rights of the user who named it, as ``python file.py`` would.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from geo_patrol.agents.protocol import Agent, check_agent, describe_error
from geo_patrol.errors import AgentError

_FORM = "give path/to/file.py:Name or module:Name, where Name is a class without arguments or an agent"


def split_location(name: str) -> tuple[str, str] | None:
    """Split ``file.py:Name`` or ``package.module:Name`` into its two halves; None if it is neither."""
    home, colon, attribute = name.rpartition(":")
    if not colon or not attribute.isidentifier():
        return None
    is_module = all(part.isidentifier() for part in home.split("."))
    return (home, attribute) if is_file(home) or is_module else None


def is_file(home: str) -> bool:
    """Tell a file from a module."""
    return home.endswith(".py")


def load_agent(name: str) -> Agent:
    """Make an agent of the user's own.

    Args:
        name: ``path/to/file.py:Name`` or ``module:Name``. Modules are looked for where Python looks and in the working
            directory; a file may import its neighbours. ``Name`` is called without arguments, or is an agent already.

    Raises:
        AgentError: there is no such file, module or name, its code raises an exception, or what it makes is no agent.
    """
    location = split_location(name)
    if location is None:
        raise AgentError(f"agent {name!r}: {_FORM}")
    home, attribute = location
    try:
        module = _import_file(Path(home)) if is_file(home) else _import_module(home)
        made = _make(module, home, attribute)
    except _NotThereError as error:
        raise AgentError(f"agent {name!r}: {error}") from error
    except Exception as error:
        raise AgentError(f"agent {name!r} cannot be made: {describe_error(error)}") from error
    try:
        return check_agent(made, attribute)
    except ValueError as error:
        raise AgentError(f"agent {name!r} is no agent (name, observation, reset, act): {error}") from error


class _NotThereError(Exception):
    """What was named does not exist."""


def _import_file(path: Path) -> ModuleType:
    path = path.expanduser().resolve()
    if not path.is_file():
        raise _NotThereError(f"there is no file {str(path)!r}; {_FORM}")
    _look_in(path.parent)
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules.setdefault(path.stem, module)  # dataclasses and pickle look a class's module up by its name
    specification.loader.exec_module(module)
    return module


def _import_module(name: str) -> ModuleType:
    _look_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            from geo_patrol.agents.registry import hint  # noqa: PLC0415 - which imports this module

            meant = hint(name)
            form = f"{meant} Or {_FORM}" if meant else f"; {_FORM}"
            raise _NotThereError(f"there is no module {error.name!r}{form}") from error
        raise


def _look_in(folder: Path) -> None:
    """Let imports find a folder, last of all: a neighbour of a common name must not hide an installed package."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _make(module: ModuleType, home: str, attribute: str) -> Any:
    if not hasattr(module, attribute):
        classes = [name for name, value in vars(module).items() if isinstance(value, type) and hasattr(value, "act")]
        listed = f"; its classes with act are {', '.join(classes)}" if classes else ""
        raise _NotThereError(f"{home} has no {attribute!r}{listed}")
    found = getattr(module, attribute)
    is_agent = isinstance(found, Agent) and not isinstance(found, type)
    return found() if callable(found) and not is_agent else found
