"""Packages that only the statistics need, and what to do where they are missing."""

import importlib
from typing import Any

from geo_patrol.errors import MissingPackageError


def load_scipy(part: str) -> Any:
    """Return a part of SciPy, such as "optimize".

    Raises:
        MissingPackageError: SciPy is not installed.
    """
    return _load(f"scipy.{part}", "SciPy", "stats", "ratings and equilibria are computed")


def load_matplotlib() -> Any:
    """Return Matplotlib's figures, drawn without a screen.

    Raises:
        MissingPackageError: Matplotlib is not installed.
    """
    return _load("matplotlib.figure", "Matplotlib", "plots", "pictures are drawn")


def _load(module: str, package: str, extra: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = f"{what} with {package}, which is not installed: pip install 'geo_patrol[{extra}]'"
        raise MissingPackageError(missing) from error
