"""Where the presets and the flight missions are: their names and files. Importing this costs nothing."""

from functools import cache
from pathlib import Path


def _folder() -> Path:
    """Return the folder of the presets: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "configs"
    return installed if installed.is_dir() else package.parents[1] / "configs"


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, in alphabetical order.

    Raises:
        FileNotFoundError: the installation is damaged: there are none.
    """
    names = tuple(sorted(path.stem for path in _folder().glob("*.toml")))
    if not names:
        raise FileNotFoundError(f"there are no presets in {_folder()}: install geo_patrol anew")
    return names


def preset_path(name: str) -> Path:
    """Return the file of a preset."""
    return _folder() / f"{name}.toml"


@cache
def mission_names() -> tuple[str, ...]:
    """Return the names of all missions of the flight games, in alphabetical order.

    Raises:
        FileNotFoundError: the installation is damaged: there are none.
    """
    folder = _folder() / "flight"
    names = tuple(sorted(path.stem for path in folder.glob("*.toml")))
    if not names:
        raise FileNotFoundError(f"there are no missions in {folder}: install geo_patrol anew")
    return names


def mission_path(name: str) -> Path:
    """Return the file of a mission."""
    return _folder() / "flight" / f"{name}.toml"
