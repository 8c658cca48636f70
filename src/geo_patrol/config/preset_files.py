"""Names and paths of the presets, flight missions and lessons. Importing this module costs nothing."""

from functools import cache
from pathlib import Path


def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, in alphabetical order."""
    return _names(_folder(), "presets")


def preset_path(name: str) -> Path:
    """Return the path of a preset."""
    return _folder() / f"{name}.toml"


def mission_names() -> tuple[str, ...]:
    """Return the names of all missions of the flight games, in alphabetical order."""
    return _names(_folder() / "flight", "missions")


def mission_path(name: str) -> Path:
    """Return the path of a mission."""
    return _folder() / "flight" / f"{name}.toml"


def lesson_path(name: str) -> Path:
    """Return the path of a lesson."""
    return _folder() / "lessons" / f"{name}.toml"


def _folder() -> Path:
    """Return the folder of the presets: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "configs"
    return installed if installed.is_dir() else package.parents[1] / "configs"


@cache
def _names(folder: Path, kind: str) -> tuple[str, ...]:
    """Return the names of the TOML files in a folder.

    Raises:
        FileNotFoundError: there are none: the installation is damaged.
    """
    names = tuple(sorted(path.stem for path in folder.glob("*.toml")))
    if not names:
        raise FileNotFoundError(f"there are no {kind} in {folder}: install geo_patrol anew")
    return names
