"""The versions that decide how a game is played, for files that outlive them."""

import platform


def versions() -> dict[str, str]:
    """Return the versions of this package and of what computes for it."""
    import numba  # noqa: PLC0415 - a light module until it is asked
    import numpy as np  # noqa: PLC0415

    from geo_patrol import __version__  # noqa: PLC0415

    return {
        "geo_patrol": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
