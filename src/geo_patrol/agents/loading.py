"""Loading of user-defined agents by location: ``path/to/file.py:Name`` or ``module:Name``.

Loading runs that file or module with the rights of the current user, as ``python file.py`` would.

Python knows a module by its name alone, and agents of several people come with modules of the same names: ``agent.py``,
``helpers.py``. What a file imports from its own folder is therefore loaded anew for every agent, below a package of its own.
Everything else, such as installed packages, is shared.
"""

import builtins
import importlib
import importlib.util
import itertools
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from geo_patrol.agents.protocol import Agent, check_agent, describe_error
from geo_patrol.base.errors import AgentError, suggest
from geo_patrol.base.files import expand_user

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
            directory; a file may import its neighbours, but for those that are called like an installed package.
            ``Name`` is an agent, or is called without arguments to make one.
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
        found = find_attribute(module, source, attribute)
        is_agent = isinstance(found, Agent) and not isinstance(found, type)
        loaded = found() if callable(found) and not is_agent else found
    except NotFoundError as error:
        raise AgentError(f"agent {name!r}: {error}") from error
    except Exception as error:
        raise AgentError(f"agent {name!r} cannot be made: {describe_error(error)}") from error
    try:
        agent = check_agent(loaded, attribute)
    except ValueError as error:
        raise AgentError(f"agent {name!r} is not an agent (name, observation, reset, act): {error}") from error
    if agent is not found:
        release_with(agent, module)
    return agent


class NotFoundError(Exception):
    """The file, module or attribute does not exist."""


def import_file(path: Path) -> ModuleType:
    """Run a file of Python and return its module; the file may import its neighbours.

    Its modules stay registered until the file is run again, or what ``release_with`` was called with is gone.

    Raises:
        NotFoundError: there is no such file.
        Exception: whatever the file raises.
    """
    path = Path(expand_user(path)).resolve()
    if not path.is_file():
        raise NotFoundError(f"there is no file {str(path)!r}; {_FORM}")
    return _OwnModules(path.parent).load(path)


def _import_module(name: str, builtin_names: Iterable[str]) -> ModuleType:
    try:
        own = _OwnModules(Path.cwd())
        return own.load_module(name) if own.replaces(name.partition(".")[0]) else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            hint = suggest(name, builtin_names)
            form = f"{hint} Or {_FORM}" if hint else f"; {_FORM}"
            raise NotFoundError(f"there is no module {error.name!r}{form}") from error
        raise


_PACKAGE = "geo_patrol_agent_"
_numbers = itertools.count(1)
_registered: "dict[str, _OwnModules]" = {}
"""By package."""
_unowned: dict[Path, str] = {}
"""Packages that no object owns, by the file or the folder and module that they were loaded from."""


class _OwnModules:
    """The modules that one agent imports from its folder, below a package of its own.

    In their code, ``import`` statements look in the folder first. ``importlib.import_module`` and pickles, which name a module
    without saying who asks, find a module there by its plain name as long as no other agent's folder has one.

    Args:
        folder: absolute.

    Attributes:
        builtins: those of the modules.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._package = f"{_PACKAGE}{next(_numbers)}"
        self._finder = _file_finder(str(folder))
        self.builtins = {**vars(builtins), "__import__": self._import}

    def load(self, path: Path) -> ModuleType:
        """Run a file of the folder."""
        name = f"{self._package}.{path.stem.replace('.', '_')}"
        spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
        assert spec is not None
        assert spec.loader is not None
        with self._registering(path):
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        return module

    def load_module(self, name: str) -> ModuleType:
        """Run a module of the folder or of a package there."""
        with self._registering(self.folder / name):
            return importlib.import_module(f"{self._package}.{name}")

    def find(self, name: str) -> ModuleSpec | None:
        """Return the specification of a module of the folder by its name there; None if there is none, or it is installed."""
        spec = None if _is_installed(name) else self._finder.find_spec(name)
        is_folder = spec is not None and spec.loader is None  # which any module of that name hides
        return None if is_folder and PathFinder.find_spec(name) is not None else spec

    def replaces(self, name: str) -> bool:
        """Tell whether a module of the folder is meant by a name that is not imported in the folder's own code."""
        if self.find(name) is None:
            return False
        found = PathFinder.find_spec(name)
        if found is None or name not in sys.modules:
            return found is None
        return found.origin != getattr(sys.modules[name], "__file__", None)  # the working directory has changed since

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - the names of __import__
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import as ``__import__`` does, modules of the folder first."""
        top = name.partition(".")[0]
        with self._plain_names():
            if level > 0 or self.find(top) is None:
                return builtins.__import__(name, globals, locals, fromlist or (), level)
            if self._package not in _registered:
                self._register()
            module = builtins.__import__(f"{self._package}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self._package}.{top}"]

    @contextmanager
    def _registering(self, source: Path) -> Iterator[None]:
        """Register the package for what is loaded in the block, in place of what was loaded from there before."""
        _install_finders()
        _release(_unowned.pop(source, ""))
        for name in [name for name, folder in _served.items() if folder != self.folder and self.find(name) is not None]:
            del _served[name]
            _forget(name)
        self._register()
        _unowned[source] = self._package
        try:
            with self._plain_names():
                yield
        except BaseException:
            _release(_unowned.pop(source))
            raise

    def _register(self) -> None:
        root = sys.modules[self._package] = ModuleType(self._package)
        root.__path__ = [str(self.folder)]
        _registered[self._package] = self

    @contextmanager
    def _plain_names(self) -> Iterator[None]:
        """Let errors call modules as the code does that imports them."""
        try:
            yield
        except ModuleNotFoundError as error:
            prefix = f"{self._package}."
            if error.name is None or not error.name.startswith(prefix):
                raise
            plain = error.name.removeprefix(prefix)
            raise ModuleNotFoundError(str(error).replace(prefix, ""), name=plain, path=error.path) from None


def release_with(owner: Any, module: ModuleType) -> None:
    """Unregister the modules that a module was loaded with when an object is gone, rather than when it is loaded again."""
    package = module.__name__.partition(".")[0]
    source = next((source for source, unowned in _unowned.items() if unowned == package), None)
    if source is None:
        return
    try:
        weakref.finalize(owner, _release, package).atexit = False
    except TypeError:  # it cannot be referred to weakly
        return
    del _unowned[source]


def _release(package: str) -> None:
    """Unregister the modules of an agent; functions that are still in use keep what they need of them."""
    if _registered.pop(package, None) is not None:
        _forget(package)


def _forget(name: str) -> None:
    for known in [known for known in list(sys.modules) if known == name or known.startswith(f"{name}.")]:
        del sys.modules[known]


_INSTALLATIONS = ("site-packages", "dist-packages")
"""What folders of installed packages are called."""


@cache
def _is_installed(name: str) -> bool:
    """Tell whether a module is Python's or this package, or is installed where packages are."""
    if name in sys.stdlib_module_names or name in sys.builtin_module_names or name == __name__.partition(".")[0]:
        return True
    folders = [folder for folder in sys.path if Path(folder).name in _INSTALLATIONS]
    return PathFinder.find_spec(name, folders) is not None


class _Loader(SourceFileLoader):
    """Loads a module of an agent's folder, with builtins that import from there."""

    def get_code(self, _fullname: str) -> CodeType:
        """Compile the source: compiled files tell a change by its second and size alone."""
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the module."""
        vars(module)["__builtins__"] = _registered[module.__name__.partition(".")[0]].builtins
        super().exec_module(module)


def _file_finder(folder: str) -> FileFinder:
    return FileFinder(
        folder,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_Loader, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )


class _OwnFinder:
    """Finds the modules below the packages of agents."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the specification of a module of an agent; None for all others."""
        if path is None or name.partition(".")[0] not in _registered:
            return None
        folders: list[str] = []
        for folder in path:
            spec = _file_finder(folder).find_spec(name)
            if spec is not None and spec.loader is not None:
                return spec
            folders += spec.submodule_search_locations or [] if spec is not None else []
        if not folders:
            return None
        package = ModuleSpec(name, None, is_package=True)
        package.submodule_search_locations = folders
        return package


_served: dict[str, Path] = {}
"""The folders of modules that were found by their plain names."""


class _PlainFinder:
    """Finds modules of agents' folders by their plain names, after all others."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the specification of a module that is in the folder of one agent.

        Raises:
            ImportError: several folders have one of that name.
        """
        if path is not None:
            return None
        folders = sorted({own.folder for own in _registered.values() if own.find(name) is not None})
        if len(folders) > 1:
            listed = " and ".join(str(folder) for folder in folders)
            raise ImportError(f"agents in {listed} each have a module {name!r}: use an import statement", name=name)
        if not folders:
            return None
        _served[name] = folders[0]
        return PathFinder.find_spec(name, [str(folders[0])])


@cache
def _install_finders() -> None:
    sys.meta_path.insert(0, _OwnFinder)
    sys.meta_path.append(_PlainFinder)


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
