"""A position as shapes: the whole picture (``picture``), the board on paper (``paper``), sheets to print."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geo_patrol.scenes.paper import figure, svg

__all__ = ["figure", "svg"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in __all__:
        from geo_patrol.scenes import paper  # noqa: PLC0415

        return getattr(paper, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
