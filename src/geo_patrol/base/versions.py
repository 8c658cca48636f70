"""The version of this package, and of the libraries that decide how a game is played."""

import platform

__version__ = "0.1.0"


def versions() -> dict[str, str]:
    """Return the versions of this package, Python, NumPy and Numba, for files that outlive them."""
    import numba  # noqa: PLC0415 - imported when the first file is written
    import numpy as np  # noqa: PLC0415

    return {
        "geo_patrol": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
