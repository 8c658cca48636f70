"""Pictures of a game: ``picture`` for screens, ``svg_writer`` as SVG, ``paper`` for print, ``film`` as video; windows."""

import os
from typing import TYPE_CHECKING, Any

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame's greeting on standard output

if TYPE_CHECKING:
    from geo_patrol.rendering.paper import figure, svg

__all__ = ["figure", "svg"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415

        module = import_module("geo_patrol.rendering.paper")
        globals().update({public: getattr(module, public) for public in __all__})
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
